# One input, elementwise.


cdef int as_methods(str names) except -1:
    """Attaches module functions to Tensor, under the same names."""
    for name in names.split():
        attach(name, globals()[name])
    return 0


cdef int as_methods_only(str names) except -1:
    """Moves functions from the module to Tensor: PyTorch has them as methods only."""
    for name in names.split():
        attach(name, globals().pop(name))
    return 0


cdef int as_method(str name, object function) except -1:
    """Moves one function, which has another meaning than the module's of this name."""
    del globals()[function.__name__]
    function.__name__ = name
    function.__qualname__ = "Tensor." + name
    attach(name, function)
    return 0


cdef Tensor overwrite(Tensor x, const CTensor& result, str op):
    """The end of a composed write in place: the result goes to x if its kind of dtype fits."""
    cdef CTensor source = result
    if category(source.dtype()) > category(x.c.dtype()):
        raise DTypeError(f"{op}: the result does not fit in place; got "
                         f"{dtype_object(source.dtype())} for a tensor of "
                         f"{dtype_object(x.c.dtype())}")
    ops.copy_(x.c, source)
    return x


def neg(Tensor input not None, *, out=None):
    """The elements with the opposite sign: ``y = -x``.

    Args:
        input: tensor of any shape, not bool.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: the tensor is bool.

    Example:
        >>> import zero
        >>> zero.neg(zero.tensor([1.0, -2.0])).tolist()
        [-1.0, 2.0]
    """
    return wrap(ops.neg(input.c, target_of(out, "neg")))


def neg_(Tensor input not None):
    """`neg` in place: overwrites the tensor and returns it."""
    ops.neg(input.c, inplace.inplace(input.c))
    return input


def abs(Tensor input not None, *, out=None):
    """The magnitudes: ``y = |x|``. The gradient at 0 is 0.

    Args:
        input: tensor of any shape, not bool.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: the tensor is bool.

    Example:
        >>> import zero
        >>> zero.abs(zero.tensor([-1.5, 2.0])).tolist()
        [1.5, 2.0]
    """
    return wrap(ops.abs(input.c, target_of(out, "abs")))


def abs_(Tensor input not None):
    """`abs` in place: overwrites the tensor and returns it."""
    ops.abs(input.c, inplace.inplace(input.c))
    return input


def sign(Tensor input not None, *, out=None):
    """The signs: -1, 0 or 1. The gradient is 0 everywhere.

    Args:
        input: tensor of any shape.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.sign(zero.tensor([-3.0, 0.0, 5.0])).tolist()
        [-1.0, 0.0, 1.0]
    """
    return wrap(ops.sign(input.c, target_of(out, "sign")))


def sign_(Tensor input not None):
    """`sign` in place: overwrites the tensor and returns it."""
    ops.sign(input.c, inplace.inplace(input.c))
    return input


def exp(Tensor input not None, *, out=None):
    """The exponential: ``y = e^x``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.exp(zero.tensor([0.0, float('-inf')])).tolist()
        [1.0, 0.0]
    """
    return wrap(ops.exp(input.c, target_of(out, "exp")))


def exp_(Tensor input not None):
    """`exp` in place: overwrites the tensor and returns it."""
    ops.exp(input.c, inplace.inplace(input.c))
    return input


def log(Tensor input not None, *, out=None):
    """The natural logarithm: ``y = ln(x)``; -inf at 0, nan below.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.log(zero.tensor([1.0, 0.0])).tolist()
        [0.0, -inf]
    """
    return wrap(ops.log(input.c, target_of(out, "log")))


def log_(Tensor input not None):
    """`log` in place: overwrites the tensor and returns it."""
    ops.log(input.c, inplace.inplace(input.c))
    return input


def sqrt(Tensor input not None, *, out=None):
    """The square root; nan for negative elements.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.sqrt(zero.tensor([4.0, 9.0])).tolist()
        [2.0, 3.0]
    """
    return wrap(ops.sqrt(input.c, target_of(out, "sqrt")))


def sqrt_(Tensor input not None):
    """`sqrt` in place: overwrites the tensor and returns it."""
    ops.sqrt(input.c, inplace.inplace(input.c))
    return input


def tanh(Tensor input not None, *, out=None):
    """The hyperbolic tangent: ``y = (e^x - e^-x) / (e^x + e^-x)``; never overflows.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.tanh(zero.tensor([0.0, 100.0])).tolist()
        [0.0, 1.0]
    """
    return wrap(ops.tanh(input.c, target_of(out, "tanh")))


def tanh_(Tensor input not None):
    """`tanh` in place: overwrites the tensor and returns it."""
    ops.tanh(input.c, inplace.inplace(input.c))
    return input


def sigmoid(Tensor input not None, *, out=None):
    """The logistic function: ``y = 1 / (1 + e^-x)``; never overflows.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.sigmoid(zero.tensor([0.0, -1000.0])).tolist()
        [0.5, 0.0]
    """
    return wrap(ops.sigmoid(input.c, target_of(out, "sigmoid")))


def sigmoid_(Tensor input not None):
    """`sigmoid` in place: overwrites the tensor and returns it."""
    ops.sigmoid(input.c, inplace.inplace(input.c))
    return input


def relu(Tensor input not None):
    """The positive part: ``y = max(x, 0)``. The gradient at 0 is 0; nan stays nan.

    Args:
        input: tensor of any shape, not bool.

    Raises:
        DTypeError: the tensor is bool.

    Example:
        >>> import zero
        >>> zero.relu(zero.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]

    Source: Nair and Hinton, Rectified linear units improve restricted Boltzmann machines, 2010.
    """
    return wrap(ops.relu(input.c, CTarget()))


def relu_(Tensor input not None):
    """`relu` in place: overwrites the tensor and returns it."""
    ops.relu(input.c, inplace.inplace(input.c))
    return input


def reciprocal(Tensor input not None, *, out=None):
    """One over each element: ``y = 1 / x``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.reciprocal(zero.tensor([2.0, 4.0])).tolist()
        [0.5, 0.25]
    """
    return wrap(ops.reciprocal(input.c, target_of(out, "reciprocal")))


def reciprocal_(Tensor input not None):
    """`reciprocal` in place: overwrites the tensor and returns it."""
    ops.reciprocal(input.c, inplace.inplace(input.c))
    return input


def bitwise_not(Tensor input not None, *, out=None):
    """The complement of each bit; for bools the logical not.

    Args:
        input: tensor of any shape, integer or bool.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: the tensor is of floats.

    Example:
        >>> import zero
        >>> zero.bitwise_not(zero.tensor([0, 5])).tolist()
        [-1, -6]
    """
    return wrap(ops.bitwise_not(input.c, target_of(out, "bitwise_not")))


def bitwise_not_(Tensor input not None):
    """`bitwise_not` in place: overwrites the tensor and returns it."""
    ops.bitwise_not(input.c, inplace.inplace(input.c))
    return input


def logical_not(Tensor input not None, *, out=None):
    """True where an element is zero. In place, the dtype stays and the values are 0 and 1.

    Args:
        input: tensor of any shape.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.logical_not(zero.tensor([0, 5])).tolist()
        [True, False]
    """
    return wrap(ops.logical_not(input.c, target_of(out, "logical_not")))


def logical_not_(Tensor input not None):
    """`logical_not` in place: overwrites the tensor and returns it."""
    ops.logical_not(input.c, inplace.inplace(input.c))
    return input


def isnan(Tensor input not None):
    """True where an element is not a number.

    Args:
        input: tensor of any shape.

    Example:
        >>> import zero
        >>> zero.isnan(zero.tensor([1.0, float('nan')])).tolist()
        [False, True]
    """
    return wrap(ops.isnan(input.c))


def isinf(Tensor input not None):
    """True where an element is inf or -inf.

    Args:
        input: tensor of any shape.

    Example:
        >>> import zero
        >>> zero.isinf(zero.tensor([1.0, float('-inf')])).tolist()
        [False, True]
    """
    return wrap(ops.isinf(input.c))


def isfinite(Tensor input not None):
    """True where an element is neither infinite nor nan.

    Args:
        input: tensor of any shape.

    Example:
        >>> import zero
        >>> zero.isfinite(zero.tensor([1.0, float('inf'), float('nan')])).tolist()
        [True, False, False]
    """
    return wrap(ops.isfinite(input.c))


def square(Tensor input not None, *, out=None):
    """Each element times itself: ``y = x^2``.

    Args:
        input: tensor of any shape.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.square(zero.tensor([-3.0, 2.0])).tolist()
        [9.0, 4.0]
    """
    return wrap(ops.pow(COperand(input.c), COperand(CScalar(<int64_t> 2)),
                        target_of(out, "square")))


def square_(Tensor input not None):
    """`square` in place: overwrites the tensor and returns it."""
    ops.pow(COperand(input.c), COperand(CScalar(<int64_t> 2)), inplace.inplace(input.c))
    return input


cdef Tensor clamp_to(Tensor x, object low, object high, bint in_place, str op, object out=None):
    cdef optional[CScalar] c_low, c_high
    cdef COperand low_operand, high_operand
    cdef const COperand* c_min = NULL
    cdef const COperand* c_max = NULL
    if low is None and high is None:
        raise ZeroValueError(f"{op}: no bound is given; got min=None and max=None, "
                             "expected a number or tensor")
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        if low is not None:
            low_operand = as_operand(low, op, "min")
            c_min = &low_operand
        if high is not None:
            high_operand = as_operand(high, op, "max")
            c_max = &high_operand
        if in_place:
            ops.clamp_between(x.c, c_min, c_max, inplace.inplace(x.c))
            return x
        return wrap(ops.clamp_between(x.c, c_min, c_max, target_of(out, op)))
    if low is not None:
        c_low = as_scalar(low, op, "min")
    if high is not None:
        c_high = as_scalar(high, op, "max")
    if in_place:
        ops.clamp(x.c, c_low, c_high, inplace.inplace(x.c))
        return x
    return wrap(ops.clamp(x.c, c_low, c_high, target_of(out, op)))


def clamp(Tensor input not None, min=None, max=None, *, out=None):
    """Limits each element: ``y = min(max(x, low), high)``.

    Args:
        input: tensor of any shape; nan stays nan.
        min: lower bound: a number, or a tensor that broadcasts with `input`; None for none.
        max: upper bound, likewise. Where `min` exceeds `max`, the result is `max`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ValueError: both bounds are None.
        ShapeError: a tensor bound does not broadcast.

    Example:
        >>> import zero
        >>> zero.clamp(zero.tensor([-2.0, 0.5, 2.0]), min=-1, max=1).tolist()
        [-1.0, 0.5, 1.0]
    """
    return clamp_to(input, min, max, False, "clamp", out)


def clamp_(Tensor input not None, min=None, max=None):
    """`clamp` in place: overwrites the tensor and returns it."""
    return clamp_to(input, min, max, True, "clamp_")


def clamp_min(Tensor input not None, min, *, out=None):
    """Limits each element from below: ``y = max(x, min)``.

    Args:
        input: tensor of any shape; nan stays nan.
        min: a number, or a tensor that broadcasts with `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.clamp_min(zero.tensor([-2.0, 0.5]), 0).tolist()
        [0.0, 0.5]
    """
    return clamp_to(input, min, None, False, "clamp_min", out)


def clamp_min_(Tensor input not None, min):
    """`clamp_min` in place: overwrites the tensor and returns it."""
    return clamp_to(input, min, None, True, "clamp_min_")


def clamp_max(Tensor input not None, max, *, out=None):
    """Limits each element from above: ``y = min(x, max)``.

    Args:
        input: tensor of any shape; nan stays nan.
        max: a number, or a tensor that broadcasts with `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.clamp_max(zero.tensor([2.0, 0.5]), 1).tolist()
        [1.0, 0.5]
    """
    return clamp_to(input, None, max, False, "clamp_max", out)


def clamp_max_(Tensor input not None, max):
    """`clamp_max` in place: overwrites the tensor and returns it."""
    return clamp_to(input, None, max, True, "clamp_max_")


negative = neg
negative_ = neg_
absolute = abs
absolute_ = abs_
clip = clamp
clip_ = clamp_


as_methods("""
    neg negative abs absolute sign exp log sqrt tanh sigmoid relu reciprocal bitwise_not
    logical_not isnan isinf isfinite square clamp clip clamp_min clamp_max
    abs_ absolute_ clamp_ clamp_max_ clamp_min_ clip_ exp_ log_ neg_ negative_ reciprocal_ relu_
    sigmoid_ sqrt_ square_ tanh_
""")
as_methods_only("""
    bitwise_not_ logical_not_
""")
