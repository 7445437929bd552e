# Optimizer steps: one C++ call over all parameters.


cdef CTensors optional_tensors(list tensors, str op, str name) except *:
    """The entries of a list; undefined where one is None."""
    cdef CTensors result
    cdef CTensor undefined
    for item in tensors:
        if item is None:
            result.push_back(undefined)
        elif isinstance(item, Tensor):
            result.push_back((<Tensor> item).c)
        else:
            raise TypeError(f"{op}: an entry of {name} is neither a tensor nor None; got "
                            f"{type_name(item)}")
    return result


def _drop_grads(parameters):
    """Sets the ``.grad`` of each parameter to None, as ``zero_grad()`` of optimizers does.

    Args:
        parameters: tensors.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0])
        >>> x.grad = zero.tensor([1.0, 1.0])
        >>> zero._drop_grads([x])
        >>> x.grad
    """
    for parameter in parameters:
        meta.set_grad((<Tensor?> parameter).c, CTensor())


def _sgd_step(list parameters not None, list momentum_buffers, double lr, double momentum,
              double dampening, double weight_decay, bint nesterov, bint maximize):
    """One step of stochastic gradient descent, in place and unrecorded.

    It covers all parameters whose ``.grad`` is not None.
    With gradient g (negated if `maximize`) plus ``weight_decay * parameter``, and momentum m::

        buffer = m * buffer + (1 - dampening) * g        (g in the first step)
        parameter -= lr * (g + m * buffer if nesterov else buffer)

    Args:
        parameters: tensors of floats.
        momentum_buffers: a tensor or None for each; where momentum is used, None becomes a new
            tensor. Without momentum the list may be None.
        lr: the learning rate.
        momentum: m.
        dampening: see above.
        weight_decay: the factor of the L2 penalty.
        nesterov: whether to look ahead.
        maximize: whether to climb instead.

    Raises:
        ValueError: the lists differ in length.
        ShapeError: a gradient has another shape than its parameter.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0])
        >>> x.grad = zero.tensor([1.0, 1.0])
        >>> zero._sgd_step([x], None, 0.5, 0, 0, 0, False, False)
        >>> x.tolist()
        [0.5, 1.5]

    Source: Sutskever et al., On the importance of initialization and momentum in deep
    learning, 2013.
    """
    cdef CTensors c_parameters = as_tensors(parameters, "sgd", "parameters")
    cdef CTensors c_grads, buffers
    cdef ops.CSgdOptions options
    cdef Py_ssize_t i, n = len(parameters)
    if momentum_buffers is not None:
        if len(momentum_buffers) != n:
            raise ZeroValueError(f"sgd: the lists differ in length; got {n} parameters and "
                                 f"{len(momentum_buffers)} momentum_buffers")
        buffers = optional_tensors(momentum_buffers, "sgd", "momentum_buffers")
    elif momentum != 0:
        raise ZeroValueError("sgd: momentum needs momentum_buffers; got None, expected a list")
    for i in range(n):
        c_grads.push_back(meta.grad_of(c_parameters[i]))
    options.lr = lr
    options.momentum = momentum
    options.dampening = dampening
    options.weight_decay = weight_decay
    options.nesterov = nesterov
    options.maximize = maximize
    ops.sgd_step(c_parameters, c_grads, buffers, options)
    if momentum_buffers is not None:
        for i in range(n):
            if momentum_buffers[i] is None and buffers[i].defined():
                momentum_buffers[i] = wrap(buffers[i])


cdef CTensor state_tensor(dict state, str name) except *:
    """An entry of a parameter's state; undefined where it is missing."""
    cdef CTensor undefined
    x = state.get(name)
    if x is None:
        return undefined
    if not isinstance(x, Tensor):
        raise TypeError(f"adam: {name} is not a tensor; got {type_name(x)}, expected what a step "
                        "before this one left")
    return (<Tensor> x).c


cdef double steps_so_far(dict state) except *:
    """The count of a parameter's steps: a number in old checkpoints."""
    count = state.get("step")
    if count is None:
        return 0
    if not isinstance(count, Tensor):
        return as_float(count, "adam", "step")
    if (<Tensor> count).c.numel() != 1:
        raise ZeroValueError(f"adam: step is not one number; got shape {tuple(count.shape)}")
    return ops.item((<Tensor> count).c).to_double()


cdef int keep_state(dict state, CAdamState& values, int64_t i, bint amsgrad) except -1:
    """Puts what one step made new into a parameter's state, and counts the step."""
    cdef CTensorOptions options
    count = state.get("step")
    if isinstance(count, Tensor):
        ops.fill_number_((<Tensor> count).c, CScalar(values.steps[i]))
    else:
        options.dtype = CDType.Float32
        state["step"] = wrap(ops.scalar_tensor(CScalar(values.steps[i]), options))
    if "exp_avg" not in state:
        state["exp_avg"] = wrap(values.exp_avg[i])
    if "exp_avg_sq" not in state:
        state["exp_avg_sq"] = wrap(values.exp_avg_sq[i])
    if amsgrad and "max_exp_avg_sq" not in state:
        state["max_exp_avg_sq"] = wrap(values.max_exp_avg_sq[i])
    return 0


def _adam_step(list parameters not None, state not None, double lr, double beta1,
               double beta2, double eps, double weight_decay, bint decoupled, bint amsgrad,
               bint maximize):
    """One step of Adam or AdamW, in place and unrecorded, of all parameters that have a gradient.

    With gradient g (negated if `maximize`) plus ``weight_decay * parameter`` (AdamW, `decoupled`,
    shrinks the parameter by ``1 - lr * weight_decay`` instead), at step t::

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2                     (amsgrad: the largest v so far)
        parameter -= lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)

    Args:
        parameters: tensors of floats.
        state: a dict for each parameter that had a step: "step", "exp_avg" (m), "exp_avg_sq" (v)
            and, with amsgrad, "max_exp_avg_sq". What is missing is made.
        lr: the learning rate.
        beta1: how much of m stays.
        beta2: how much of v stays.
        eps: keeps the divisor from 0.
        weight_decay: strength of the pull to zero.
        decoupled: whether the decay passes by m and v.
        amsgrad: whether the largest v so far is the divisor.
        maximize: whether to climb instead.

    Raises:
        ShapeError: a gradient or state has another shape than its parameter.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0])
        >>> x.grad = zero.tensor([1.0, -3.0])
        >>> state = {}
        >>> zero._adam_step([x], state, 0.5, 0.9, 0.999, 1e-8, 0, False, False, False)
        >>> x, state[x]["step"]
        (tensor([0.5000, 2.5000]), tensor(1.))

    Source: Kingma and Ba, Adam, 2015; Loshchilov and Hutter, Decoupled weight decay
    regularization, 2019; Reddi et al., On the convergence of Adam and beyond, 2018 (amsgrad).
    """
    cdef CTensors c_parameters = as_tensors(parameters, "adam", "parameters")
    cdef CTensors c_grads
    cdef CAdamState values
    cdef CAdamOptions options
    cdef CTensor grad
    cdef Py_ssize_t i, n = len(parameters)
    cdef list entries = []
    for i in range(n):
        grad = meta.grad_of(c_parameters[i])
        entry = state.get(parameters[i])
        if entry is None or not grad.defined():
            entry = {}
        entries.append(entry)
        values.exp_avg.push_back(state_tensor(entry, "exp_avg"))
        values.exp_avg_sq.push_back(state_tensor(entry, "exp_avg_sq"))
        values.max_exp_avg_sq.push_back(state_tensor(entry, "max_exp_avg_sq"))
        values.steps.push_back(steps_so_far(entry))
        c_grads.push_back(move(grad))
    options.lr = lr
    options.beta1 = beta1
    options.beta2 = beta2
    options.eps = eps
    options.weight_decay = weight_decay
    options.decoupled = decoupled
    options.amsgrad = amsgrad
    options.maximize = maximize
    ops.adam_step(c_parameters, c_grads, values, options)
    for i in range(n):
        if not c_grads[i].defined():
            continue
        keep_state(entries[i], values, i, amsgrad)
        if parameters[i] not in state:
            state[parameters[i]] = entries[i]
