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
