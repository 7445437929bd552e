# One input, elementwise: kinds and parts of numbers.


def signbit(Tensor input not None, *, out=None):
    """True where the sign bit is set: of negative numbers, of -0.0 and of some nan.

    Args:
        input: tensor of any shape.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.signbit(zero.tensor([-1.0, -0.0, 0.0])).tolist()
        [True, True, False]
    """
    return wrap(ops.signbit(input.c, target_of(out, "signbit")))


def isposinf(Tensor input not None, *, out=None):
    """True where an element is inf.

    Args:
        input: tensor of any shape.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.isposinf(zero.tensor([1.0, float("inf"), float("-inf")])).tolist()
        [False, True, False]
    """
    return wrap(ops.isposinf(input.c, target_of(out, "isposinf")))


def isneginf(Tensor input not None, *, out=None):
    """True where an element is -inf.

    Args:
        input: tensor of any shape.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.isneginf(zero.tensor([1.0, float("inf"), float("-inf")])).tolist()
        [False, False, True]
    """
    return wrap(ops.isneginf(input.c, target_of(out, "isneginf")))


def angle(Tensor input not None, *, out=None):
    """The angle of a number in the complex plane: pi for negative numbers, 0 for others; nan stays.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.angle(zero.tensor([2.0, -2.0]))
        tensor([0.0000, 3.1416])
    """
    return wrap(ops.angle(input.c, target_of(out, "angle")))


cdef optional[double] optional_float(object x, str op, str name) except *:
    cdef optional[double] result
    if x is not None:
        result = as_float(x, op, name)
    return result


def nan_to_num(Tensor input not None, nan=None, posinf=None, neginf=None, *, out=None):
    """Numbers in place of nan and infinities; these get no gradient.

    Args:
        input: tensor of any shape; integers and bools have none, and are copied.
        nan: what nan becomes; 0 for None.
        posinf: what inf becomes; the largest number of the dtype for None.
        neginf: what -inf becomes; the least number of the dtype for None.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, float("nan"), float("-inf")])
        >>> zero.nan_to_num(x, neginf=-9).tolist()
        [1.0, 0.0, -9.0]
    """
    return wrap(ops.nan_to_num(input.c, 0 if nan is None else as_float(nan, "nan_to_num", "nan"),
                               optional_float(posinf, "nan_to_num", "posinf"),
                               optional_float(neginf, "nan_to_num", "neginf"),
                               target_of(out, "nan_to_num")))


def nan_to_num_(Tensor input not None, nan=None, posinf=None, neginf=None):
    """`nan_to_num` in place: overwrites the tensor and returns it."""
    ops.nan_to_num(input.c, 0 if nan is None else as_float(nan, "nan_to_num_", "nan"),
                   optional_float(posinf, "nan_to_num_", "posinf"),
                   optional_float(neginf, "nan_to_num_", "neginf"), inplace.inplace(input.c))
    return input


def frexp(Tensor input not None, *, out=None):
    """Mantissas and exponents: ``input = mantissa * 2^exponent`` with ``1/2 <= |mantissa| < 1``.

    Zeros, infinities and nan are their own mantissa, with the exponent 0.

    Args:
        input: tensor of floats, of any shape.
        out: a pair of tensors to write to.

    Returns:
        The pair ``(mantissa, exponent)``; exponents are int32.

    Raises:
        DTypeError: the tensor is not of floats.

    Example:
        >>> import zero
        >>> mantissa, exponent = zero.frexp(zero.tensor([3.0, 8.0]))
        >>> mantissa.tolist(), exponent.tolist()
        ([0.75, 0.5], [2, 4])
    """
    from zero.return_types import frexp as pair_of
    cdef pair[CTensor, CTensor] parts = ops.frexp(input.c)
    if out is not None:
        return pair_of(deliver_two(parts, out, "frexp"))
    return pair_of((wrap(parts.first), wrap(parts.second)))


sgn = sign
sgn_ = sign_

as_methods("""
    signbit isposinf isneginf angle nan_to_num nan_to_num_ frexp sgn
""")
as_methods_only("""
    sgn_ sign_
""")
