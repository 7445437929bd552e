# Optimizer steps: one C++ call over all parameters of a group.


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


from sys import intern as _intern


cdef extern from "Python.h":
    PyObject* PyDict_GetItemWithError(object d, object key) except? NULL


cdef object item_or_none(object d, object key):
    """The entry of a dict, or of an object of a derived class; None where there is none."""
    cdef PyObject* item = NULL
    if not isinstance(d, dict):
        raise TypeError(f"an optimizer's groups and states must be dicts; got {type_name(d)}")
    item = PyDict_GetItemWithError(d, key)
    return None if item is NULL else <object> item


cdef class OptimizerNames:
    """What C++ knows of a kind of optimizers, as Python's names."""
    cdef const COptimizerKind* kind
    cdef str name
    cdef tuple options, states
    cdef int numbers  # that the options have in all


cdef dict optimizer_names = {}


cdef OptimizerNames names_of(str name):
    cdef OptimizerNames result = optimizer_names.get(name)
    cdef list states = []
    cdef int k
    if result is not None:
        return result
    result = OptimizerNames()
    result.kind = optimizers.find_optimizer(name.encode())
    if result.kind is NULL:
        raise ZeroValueError(f"_optimizer_step: there is no such optimizer; got {name!r}")
    for k in range(result.kind.count()):
        states.append(_intern(result.kind.states[k].name.decode()))
    result.name = name
    result.states = tuple(states)
    words = result.kind.options.decode().split()
    result.numbers = len(words)
    result.options = tuple(dict.fromkeys(map(_intern, words)))
    optimizer_names[name] = result
    return result


cdef int read_options(OptimizerNames names, object group, double* values) except -1:
    """The numbers of a group's options, in C++'s order; those of a tuple follow each other."""
    cdef int n = 0
    cdef str name
    for name in names.options:
        value = item_or_none(group, name)
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if n == names.numbers:
                raise ZeroValueError(f"{names.name}: {name} has too many numbers; got {value!r}")
            values[n] = as_float(item, names.name, name)
            n += 1
    if n < names.numbers:
        raise ZeroValueError(f"{names.name}: an option of several numbers has too few; got "
                             f"{n} in all, expected {names.numbers}")
    return 0


cdef bint read_states(OptimizerNames names, object state, const double* options,
                      const CTensor& parameter, CTensors& result) except -1:
    """The tensors of a parameter's state; undefined, and counted, where there are none yet."""
    cdef CTensor undefined
    cdef CTensorOptions single
    cdef bint incomplete = False
    cdef int k
    for k in range(len(names.states)):
        if not optimizers.is_used(names.kind.states[k], options, parameter):
            result.push_back(undefined)
            continue
        x = None if state is None else item_or_none(state, names.states[k])
        if isinstance(x, Tensor):
            result.push_back((<Tensor> x).c)
            continue
        incomplete = True
        if x is None:
            result.push_back(undefined)
        else:  # a number, as in old checkpoints
            single.dtype = CDType.Float32
            x = as_float(x, names.name, names.states[k])
            result.push_back(ops.scalar_tensor(CScalar(<double> x), single))
    return incomplete


cdef int keep_states(OptimizerNames names, object state, CTensors& tensors,
                     int64_t first) except -1:
    """Puts what a step has made into a parameter's state."""
    cdef str name
    for name in names.states:
        if tensors[first].defined() and not isinstance(item_or_none(state, name), Tensor):
            state[name] = wrap(tensors[first])
        first += 1
    return 0


def _start_states(str kind not None, group not None, Tensor parameter not None,
                  state not None):
    """Gives a parameter the states that a step of its optimizer needs and it has not.

    Args:
        kind: the name of a class of optimizers.
        group: its options.
        parameter: a tensor of floats.
        state: what the optimizer remembers of it.

    Example:
        >>> import zero
        >>> group, state = {"lr": 0.1, "betas": (0.9, 0.99), "weight_decay": 0}, {}
        >>> zero._start_states("Lion", {**group, "maximize": False}, zero.ones(2), state)
        >>> state
        {'exp_avg': tensor([0., 0.])}
    """
    cdef OptimizerNames names = names_of(kind)
    cdef double options[16]
    cdef CTensors parameters, states
    read_options(names, group, options)
    read_states(names, state, options, parameter.c, states)
    parameters.push_back(parameter.c)
    optimizers.start_states(names.kind[0], options, parameters, states)
    keep_states(names, state, states, 0)


def _optimizer_step(str kind not None, group not None, state not None):
    """One step of an optimizer, in place and unrecorded, of all parameters that have a gradient.

    Args:
        kind: the name of a class of optimizers.
        group: "params" and options: numbers, tuples of numbers, or tensors of one number.
        state: a dict for each parameter that had a step. What is missing is made.

    Raises:
        ShapeError: a gradient or state has another shape than its parameter.
        DTypeError: it has another dtype, or the parameter has no floats.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0])
        >>> x.grad = zero.tensor([1.0, -3.0])
        >>> group, state = {"params": [x], "lr": 0.5, "betas": (0.9, 0.99)}, {}
        >>> zero._optimizer_step("Lion", {**group, "weight_decay": 0, "maximize": False}, state)
        >>> x
        tensor([0.5000, 2.5000])
    """
    cdef OptimizerNames names = names_of(kind)
    cdef double options[16]
    cdef CTensors parameters, grads, states
    cdef CTensor grad
    cdef list incomplete = []
    cdef int64_t first
    read_options(names, group, options)
    for parameter in item_or_none(group, "params"):
        grad = meta.grad_of((<Tensor?> parameter).c)
        if not grad.defined():
            continue
        entry = item_or_none(state, parameter)
        first = states.size()
        if read_states(names, entry, options, (<Tensor> parameter).c, states):
            incomplete.append((parameter, {} if entry is None else entry, first))
        parameters.push_back((<Tensor> parameter).c)
        grads.push_back(move(grad))
    optimizers.optimizer_step(names.kind[0], options, parameters, grads, states)
    for parameter, entry, first in incomplete:
        keep_states(names, entry, states, first)
        state[parameter] = entry
