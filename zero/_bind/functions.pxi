# One input, elementwise: powers, logarithms, circular and hyperbolic functions, rounding.


def exp2(Tensor input not None, *, out=None):
    """Two to the power of each element: ``y = 2^x``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.exp2(zero.tensor([0.0, 3.0])).tolist()
        [1.0, 8.0]
    """
    return wrap(ops.exp2(input.c, target_of(out, "exp2")))


def exp2_(Tensor input not None):
    """`exp2` in place: overwrites the tensor and returns it."""
    ops.exp2(input.c, inplace.inplace(input.c))
    return input


def expm1(Tensor input not None, *, out=None):
    """The exponential less one, exact near 0: ``y = e^x - 1``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.expm1(zero.tensor([0.0, float('-inf')])).tolist()
        [0.0, -1.0]
    """
    return wrap(ops.expm1(input.c, target_of(out, "expm1")))


def expm1_(Tensor input not None):
    """`expm1` in place: overwrites the tensor and returns it."""
    ops.expm1(input.c, inplace.inplace(input.c))
    return input


def log2(Tensor input not None, *, out=None):
    """The logarithm to base 2; -inf at 0, nan below.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.log2(zero.tensor([1.0, 8.0])).tolist()
        [0.0, 3.0]
    """
    return wrap(ops.log2(input.c, target_of(out, "log2")))


def log2_(Tensor input not None):
    """`log2` in place: overwrites the tensor and returns it."""
    ops.log2(input.c, inplace.inplace(input.c))
    return input


def log10(Tensor input not None, *, out=None):
    """The logarithm to base 10; -inf at 0, nan below.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.log10(zero.tensor([1.0, 100.0])).tolist()
        [0.0, 2.0]
    """
    return wrap(ops.log10(input.c, target_of(out, "log10")))


def log10_(Tensor input not None):
    """`log10` in place: overwrites the tensor and returns it."""
    ops.log10(input.c, inplace.inplace(input.c))
    return input


def log1p(Tensor input not None, *, out=None):
    """The natural logarithm of one more, exact near 0: ``y = ln(1 + x)``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.log1p(zero.tensor([0.0, -1.0])).tolist()
        [0.0, -inf]
    """
    return wrap(ops.log1p(input.c, target_of(out, "log1p")))


def log1p_(Tensor input not None):
    """`log1p` in place: overwrites the tensor and returns it."""
    ops.log1p(input.c, inplace.inplace(input.c))
    return input


def rsqrt(Tensor input not None, *, out=None):
    """One over the square root: ``y = 1 / sqrt(x)``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.rsqrt(zero.tensor([4.0, 16.0])).tolist()
        [0.5, 0.25]
    """
    return wrap(ops.rsqrt(input.c, target_of(out, "rsqrt")))


def rsqrt_(Tensor input not None):
    """`rsqrt` in place: overwrites the tensor and returns it."""
    ops.rsqrt(input.c, inplace.inplace(input.c))
    return input


def sin(Tensor input not None, *, out=None):
    """The sine of angles in radians.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.sin(zero.tensor([0.0])).tolist()
        [0.0]
    """
    return wrap(ops.sin(input.c, target_of(out, "sin")))


def sin_(Tensor input not None):
    """`sin` in place: overwrites the tensor and returns it."""
    ops.sin(input.c, inplace.inplace(input.c))
    return input


def cos(Tensor input not None, *, out=None):
    """The cosine of angles in radians.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.cos(zero.tensor([0.0])).tolist()
        [1.0]
    """
    return wrap(ops.cos(input.c, target_of(out, "cos")))


def cos_(Tensor input not None):
    """`cos` in place: overwrites the tensor and returns it."""
    ops.cos(input.c, inplace.inplace(input.c))
    return input


def tan(Tensor input not None, *, out=None):
    """The tangent of angles in radians.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.tan(zero.tensor([0.0])).tolist()
        [0.0]
    """
    return wrap(ops.tan(input.c, target_of(out, "tan")))


def tan_(Tensor input not None):
    """`tan` in place: overwrites the tensor and returns it."""
    ops.tan(input.c, inplace.inplace(input.c))
    return input


def asin(Tensor input not None, *, out=None):
    """The angle, from -pi/2 to pi/2, whose sine is x; nan outside [-1, 1].

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.asin(zero.tensor([0.0])).tolist()
        [0.0]
    """
    return wrap(ops.asin(input.c, target_of(out, "asin")))


def asin_(Tensor input not None):
    """`asin` in place: overwrites the tensor and returns it."""
    ops.asin(input.c, inplace.inplace(input.c))
    return input


def acos(Tensor input not None, *, out=None):
    """The angle, from 0 to pi, whose cosine is x; nan outside [-1, 1].

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.acos(zero.tensor([1.0])).tolist()
        [0.0]
    """
    return wrap(ops.acos(input.c, target_of(out, "acos")))


def acos_(Tensor input not None):
    """`acos` in place: overwrites the tensor and returns it."""
    ops.acos(input.c, inplace.inplace(input.c))
    return input


def atan(Tensor input not None, *, out=None):
    """The angle, from -pi/2 to pi/2, whose tangent is x.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.atan(zero.tensor([0.0])).tolist()
        [0.0]
    """
    return wrap(ops.atan(input.c, target_of(out, "atan")))


def atan_(Tensor input not None):
    """`atan` in place: overwrites the tensor and returns it."""
    ops.atan(input.c, inplace.inplace(input.c))
    return input


def sinh(Tensor input not None, *, out=None):
    """The hyperbolic sine: ``y = (e^x - e^-x) / 2``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.sinh(zero.tensor([0.0])).tolist()
        [0.0]
    """
    return wrap(ops.sinh(input.c, target_of(out, "sinh")))


def sinh_(Tensor input not None):
    """`sinh` in place: overwrites the tensor and returns it."""
    ops.sinh(input.c, inplace.inplace(input.c))
    return input


def cosh(Tensor input not None, *, out=None):
    """The hyperbolic cosine: ``y = (e^x + e^-x) / 2``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.cosh(zero.tensor([0.0])).tolist()
        [1.0]
    """
    return wrap(ops.cosh(input.c, target_of(out, "cosh")))


def cosh_(Tensor input not None):
    """`cosh` in place: overwrites the tensor and returns it."""
    ops.cosh(input.c, inplace.inplace(input.c))
    return input


def asinh(Tensor input not None, *, out=None):
    """The number whose hyperbolic sine is x: ``y = ln(x + sqrt(x^2 + 1))``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.asinh(zero.tensor([0.0])).tolist()
        [0.0]
    """
    return wrap(ops.asinh(input.c, target_of(out, "asinh")))


def asinh_(Tensor input not None):
    """`asinh` in place: overwrites the tensor and returns it."""
    ops.asinh(input.c, inplace.inplace(input.c))
    return input


def acosh(Tensor input not None, *, out=None):
    """The number from 0 on whose hyperbolic cosine is x; nan below 1.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.acosh(zero.tensor([1.0])).tolist()
        [0.0]
    """
    return wrap(ops.acosh(input.c, target_of(out, "acosh")))


def acosh_(Tensor input not None):
    """`acosh` in place: overwrites the tensor and returns it."""
    ops.acosh(input.c, inplace.inplace(input.c))
    return input


def atanh(Tensor input not None, *, out=None):
    """The number whose hyperbolic tangent is x; nan outside [-1, 1].

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.atanh(zero.tensor([0.0, 1.0])).tolist()
        [0.0, inf]
    """
    return wrap(ops.atanh(input.c, target_of(out, "atanh")))


def atanh_(Tensor input not None):
    """`atanh` in place: overwrites the tensor and returns it."""
    ops.atanh(input.c, inplace.inplace(input.c))
    return input


def erf(Tensor input not None, *, out=None):
    """The error function: ``y = 2 / sqrt(pi)`` times the integral of ``e^-t^2`` from 0 to x.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.erf(zero.tensor([0.0, float('inf')])).tolist()
        [0.0, 1.0]
    """
    return wrap(ops.erf(input.c, target_of(out, "erf")))


def erf_(Tensor input not None):
    """`erf` in place: overwrites the tensor and returns it."""
    ops.erf(input.c, inplace.inplace(input.c))
    return input


def erfc(Tensor input not None, *, out=None):
    """One less the error function, exact where it is small: ``y = 1 - erf(x)``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.erfc(zero.tensor([0.0, float('inf')])).tolist()
        [1.0, 0.0]
    """
    return wrap(ops.erfc(input.c, target_of(out, "erfc")))


def erfc_(Tensor input not None):
    """`erfc` in place: overwrites the tensor and returns it."""
    ops.erfc(input.c, inplace.inplace(input.c))
    return input


def floor(Tensor input not None, *, out=None):
    """The largest whole number that is not above each element. The gradient is 0.

    Args:
        input: tensor of any shape, not bool; integers stay as they are.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: the tensor is bool.

    Example:
        >>> import zero
        >>> zero.floor(zero.tensor([-1.5, 1.5])).tolist()
        [-2.0, 1.0]
    """
    return wrap(ops.floor(input.c, target_of(out, "floor")))


def floor_(Tensor input not None):
    """`floor` in place: overwrites the tensor and returns it."""
    ops.floor(input.c, inplace.inplace(input.c))
    return input


def ceil(Tensor input not None, *, out=None):
    """The smallest whole number that is not below each element. The gradient is 0.

    Args:
        input: tensor of any shape, not bool; integers stay as they are.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: the tensor is bool.

    Example:
        >>> import zero
        >>> zero.ceil(zero.tensor([-1.5, 1.5])).tolist()
        [-1.0, 2.0]
    """
    return wrap(ops.ceil(input.c, target_of(out, "ceil")))


def ceil_(Tensor input not None):
    """`ceil` in place: overwrites the tensor and returns it."""
    ops.ceil(input.c, inplace.inplace(input.c))
    return input


def trunc(Tensor input not None, *, out=None):
    """The whole part, toward 0. The gradient is 0.

    Args:
        input: tensor of any shape, not bool; integers stay as they are.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: the tensor is bool.

    Example:
        >>> import zero
        >>> zero.trunc(zero.tensor([-1.5, 1.5])).tolist()
        [-1.0, 1.0]
    """
    return wrap(ops.trunc(input.c, target_of(out, "trunc")))


def trunc_(Tensor input not None):
    """`trunc` in place: overwrites the tensor and returns it."""
    ops.trunc(input.c, inplace.inplace(input.c))
    return input


def frac(Tensor input not None, *, out=None):
    """What `trunc` cuts off: ``y = x - trunc(x)``.

    Args:
        input: tensor of any shape, of floats.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: the tensor is not of floats.

    Example:
        >>> import zero
        >>> zero.frac(zero.tensor([-1.5, 1.25])).tolist()
        [-0.5, 0.25]
    """
    return wrap(ops.frac(input.c, target_of(out, "frac")))


def frac_(Tensor input not None):
    """`frac` in place: overwrites the tensor and returns it."""
    ops.frac(input.c, inplace.inplace(input.c))
    return input


# 10^|decimals| times or through x, rounded, and back.
cdef CTensor rounded(const CTensor& x, object decimals, str op) except *:
    cdef int64_t places = as_int(decimals, op, "decimals")
    cdef CTensor y
    cdef COperand power
    if not is_floating(x.dtype()):
        if places < 0:
            raise DTypeError(f"{op}: decimals are not supported for integers; got {places} for "
                             f"{dtype_object(x.dtype())}, expected 0 or floats")
        return ops.round(x, CTarget())
    power = COperand(CScalar(<double> (10.0 ** (places if places >= 0 else -places))))
    y = ops.mul(COperand(x), power, CTarget()) if places >= 0 else \
        ops.div(COperand(x), power, CTarget())
    y = ops.round(y, CTarget())
    if places >= 0:
        return ops.div(COperand(y), power, CTarget())
    return ops.mul(COperand(y), power, CTarget())


def round(Tensor input not None, *, decimals=0, out=None):
    """The nearest whole number, of two equally near the even one. The gradient is 0.

    Args:
        input: tensor of any shape, not bool; integers stay as they are.
        decimals: digits to keep behind the point; negative ones round before it.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: the tensor is bool, or of integers with negative `decimals`.

    Example:
        >>> import zero
        >>> zero.round(zero.tensor([0.5, 1.5, 2.6])).tolist()
        [0.0, 2.0, 3.0]
        >>> zero.round(zero.tensor([1.26]), decimals=1)
        tensor([1.3000])
    """
    if decimals == 0:
        return wrap(ops.round(input.c, target_of(out, "round")))
    return deliver(rounded(input.c, decimals, "round"), out, "round")


def round_(Tensor input not None, *, decimals=0):
    """`round` in place: overwrites the tensor and returns it."""
    if decimals == 0:
        ops.round(input.c, inplace.inplace(input.c))
        return input
    return overwrite(input, rounded(input.c, decimals, "round_"), "round_")


arcsin = asin
arcsin_ = asin_
arccos = acos
arccos_ = acos_
arctan = atan
arctan_ = atan_
arcsinh = asinh
arcsinh_ = asinh_
arccosh = acosh
arccosh_ = acosh_
arctanh = atanh
arctanh_ = atanh_
fix = trunc
fix_ = trunc_

as_methods("""
    exp2 exp2_ expm1 expm1_ log2 log2_ log10 log10_ log1p log1p_ rsqrt rsqrt_ sin sin_ cos cos_
    tan tan_ asin asin_ acos acos_ atan atan_ sinh sinh_ cosh cosh_ asinh asinh_ acosh acosh_
    atanh atanh_ erf erf_ erfc erfc_ floor floor_ ceil ceil_ trunc trunc_ frac frac_ round
    round_ arcsin arcsin_ arccos arccos_ arctan arctan_ arcsinh arcsinh_ arccosh arccosh_
    arctanh arctanh_ fix fix_
""")
