# Two and three inputs, elementwise: what binary.pxi has no room for.


def fmod(Tensor input not None, other, *, out=None):
    """What a division rounded toward 0 leaves: ``y = input - trunc(input / other) * other``.

    It has the sign of `input`.

    Args:
        input: tensor of any shape.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        RuntimeError: an integer is divided by zero.

    Example:
        >>> import zero
        >>> zero.fmod(zero.tensor([-7, 7]), 3).tolist()
        [-1, 1]
    """
    return binary(ops.fmod, input, other, "fmod", out)


def fmod_(Tensor input not None, other):
    """`fmod` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.fmod, input, other, "fmod_")


def atan2(Tensor input not None, Tensor other not None, *, out=None):
    """The angle of the point (other, input), from -pi to pi. The gradient at (0, 0) is 0.

    Args:
        input: the ordinates, a tensor of any shape.
        other: the abscissas, a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.atan2(zero.tensor([0.0, 0.0]), zero.tensor([1.0, -1.0]))
        tensor([0.0000, 3.1416])
    """
    return binary(ops.atan2, input, other, "atan2", out)


def atan2_(Tensor input not None, Tensor other not None):
    """`atan2` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.atan2, input, other, "atan2_")


def addcmul(Tensor input not None, Tensor tensor1 not None, Tensor tensor2 not None, *, value=1,
            out=None):
    """A sum with a product: ``y = input + value * tensor1 * tensor2``.

    Args:
        input: tensor of any shape.
        tensor1: one factor, a tensor whose shape broadcasts.
        tensor2: the other factor.
        value: a number that scales the product.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> x = zero.tensor([2.0, 3.0])
        >>> zero.addcmul(zero.ones(2), x, x, value=10).tolist()
        [41.0, 91.0]
    """
    return wrap(ops.addcmul(input.c, tensor1.c, tensor2.c, as_scalar(value, "addcmul", "value"),
                            target_of(out, "addcmul")))


def addcmul_(Tensor input not None, Tensor tensor1 not None, Tensor tensor2 not None, *, value=1):
    """`addcmul` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.addcmul(input.c, tensor1.c, tensor2.c, as_scalar(value, "addcmul_", "value"),
                inplace.inplace(input.c))
    return input


def addcdiv(Tensor input not None, Tensor tensor1 not None, Tensor tensor2 not None, *, value=1,
            out=None):
    """A sum with a quotient: ``y = input + value * tensor1 / tensor2``.

    Args:
        input: tensor of any shape.
        tensor1: the dividend, a tensor whose shape broadcasts.
        tensor2: the divisor, likewise.
        value: a number that scales the quotient.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.addcdiv(zero.ones(2), zero.tensor([2.0, 3.0]), zero.tensor([1.0, 2.0])).tolist()
        [3.0, 2.5]
    """
    return wrap(ops.addcdiv(input.c, tensor1.c, tensor2.c, as_scalar(value, "addcdiv", "value"),
                            target_of(out, "addcdiv")))


def addcdiv_(Tensor input not None, Tensor tensor1 not None, Tensor tensor2 not None, *, value=1):
    """`addcdiv` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.addcdiv(input.c, tensor1.c, tensor2.c, as_scalar(value, "addcdiv_", "value"),
                inplace.inplace(input.c))
    return input


def lerp(Tensor input not None, Tensor end not None, weight, *, out=None):
    """Between two tensors: ``y = input + weight * (end - input)``; exactly `end` for weight 1.

    Args:
        input: the start, a tensor of any shape.
        end: the end, a tensor whose shape broadcasts.
        weight: a number, or a tensor whose shape broadcasts.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.lerp(zero.tensor([0.0, 10.0]), zero.tensor([4.0, 20.0]), 0.25).tolist()
        [1.0, 12.5]
    """
    if isinstance(weight, Tensor):
        return wrap(ops.lerp_by_tensor(input.c, end.c, (<Tensor> weight).c, target_of(out, "lerp")))
    return wrap(ops.lerp(input.c, end.c, as_scalar(weight, "lerp", "weight"),
                         target_of(out, "lerp")))


def lerp_(Tensor input not None, Tensor end not None, weight):
    """`lerp` in place: overwrites the tensor, whose shape stays, and returns it."""
    if isinstance(weight, Tensor):
        ops.lerp_by_tensor(input.c, end.c, (<Tensor> weight).c, inplace.inplace(input.c))
    else:
        ops.lerp(input.c, end.c, as_scalar(weight, "lerp_", "weight"), inplace.inplace(input.c))
    return input


def copysign(Tensor input not None, other, *, out=None):
    """The magnitude of one tensor with the sign of another, also of a zero.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.copysign(zero.tensor([1.0, -2.0]), -0.0).tolist()
        [-1.0, -2.0]
    """
    return binary(ops.copysign, input, other, "copysign", out)


def copysign_(Tensor input not None, other):
    """`copysign` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.copysign, input, other, "copysign_")


def fmax(Tensor input not None, Tensor other not None, *, out=None):
    """The larger of two elements; nan only if both are. At a tie, `input` gets the gradient.

    Args:
        input: tensor of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.fmax(zero.tensor([1.0, float("nan")]), zero.tensor([3.0, 2.0])).tolist()
        [3.0, 2.0]
    """
    return binary(ops.fmax, input, other, "fmax", out)


def fmin(Tensor input not None, Tensor other not None, *, out=None):
    """The smaller of two elements; nan only if both are. At a tie, `input` gets the gradient.

    Args:
        input: tensor of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.fmin(zero.tensor([1.0, float("nan")]), zero.tensor([3.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return binary(ops.fmin, input, other, "fmin", out)


def heaviside(Tensor input not None, Tensor values not None, *, out=None):
    """The step function: 0 below 0, 1 above, `values` at 0. It has no gradient.

    Args:
        input: tensor of any shape.
        values: tensor of the same dtype, whose shape broadcasts.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> zero.heaviside(zero.tensor([-1.0, 0.0, 2.0]), zero.tensor(0.5)).tolist()
        [0.0, 0.5, 1.0]
    """
    return binary(ops.heaviside, input, values, "heaviside", out)


def heaviside_(Tensor input not None, Tensor values not None):
    """`heaviside` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.heaviside, input, values, "heaviside_")


def nextafter(Tensor input not None, Tensor other not None, *, out=None):
    """The next number of the dtype after `input` in the direction of `other`.

    Args:
        input: tensor of floats, of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: both are integers or bool.

    Example:
        >>> import zero
        >>> (zero.nextafter(zero.tensor([1.0]), zero.tensor([2.0])) - 1).item() == 2.0 ** -23
        True
    """
    return binary(ops.nextafter, input, other, "nextafter", out)


def nextafter_(Tensor input not None, Tensor other not None):
    """`nextafter` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.nextafter, input, other, "nextafter_")


def hypot(Tensor input not None, Tensor other not None, *, out=None):
    """The length of the vector (input, other): ``y = sqrt(input^2 + other^2)``; never overflows.

    Args:
        input: tensor of floats, of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: both are integers or bool.

    Example:
        >>> import zero
        >>> zero.hypot(zero.tensor([3.0]), zero.tensor([4.0])).tolist()
        [5.0]
    """
    return binary(ops.hypot, input, other, "hypot", out)


def hypot_(Tensor input not None, Tensor other not None):
    """`hypot` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.hypot, input, other, "hypot_")


def logaddexp(Tensor input not None, Tensor other not None, *, out=None):
    """The logarithm of a sum of exponentials: ``y = ln(e^input + e^other)``; never overflows.

    Args:
        input: tensor of floats, of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: both are integers or bool.

    Example:
        >>> import zero
        >>> zero.logaddexp(zero.tensor([1000.0]), zero.tensor([1000.0]))
        tensor([1000.6932])
    """
    return binary(ops.logaddexp, input, other, "logaddexp", out)


def logaddexp2(Tensor input not None, Tensor other not None, *, out=None):
    """The logarithm to base 2 of a sum of powers of 2: ``y = log2(2^input + 2^other)``.

    Args:
        input: tensor of floats, of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: both are integers or bool.

    Example:
        >>> import zero
        >>> zero.logaddexp2(zero.tensor([1000.0]), zero.tensor([1000.0])).tolist()
        [1001.0]
    """
    return binary(ops.logaddexp2, input, other, "logaddexp2", out)


def xlogy(input, other, *, out=None):
    """A factor times a logarithm: ``y = input ln(other)``; 0 for a factor 0, unless `other` is nan.

    Args:
        input: tensor of any shape, or a number; integers and bools give the default float dtype.
        other: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.xlogy(zero.tensor([0.0, 2.0]), zero.tensor([0.0, 1.0])).tolist()
        [0.0, 0.0]
    """
    need_tensor(input, other, "xlogy")
    return binary(ops.xlogy, input, other, "xlogy", out)


def xlogy_(Tensor input not None, other):
    """`xlogy` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.xlogy, input, other, "xlogy_")


def bitwise_left_shift(input, other, *, out=None):
    """The bits moved up: ``y = input * 2^other``; 0 where all are moved out.

    Args:
        input: tensor of integers of any shape, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: one is of floats or bool.

    Example:
        >>> import zero
        >>> zero.bitwise_left_shift(zero.tensor([1, 3]), 4).tolist()
        [16, 48]
    """
    need_tensor(input, other, "bitwise_left_shift")
    return binary(ops.bitwise_left_shift, input, other, "bitwise_left_shift", out)


def bitwise_left_shift_(Tensor input not None, other):
    """`bitwise_left_shift` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.bitwise_left_shift, input, other, "bitwise_left_shift_")


def bitwise_right_shift(input, other, *, out=None):
    """The bits moved down, the sign kept: ``y = floor(input / 2^other)``.

    Args:
        input: tensor of integers of any shape, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: one is of floats or bool.

    Example:
        >>> import zero
        >>> zero.bitwise_right_shift(zero.tensor([17, -17]), 4).tolist()
        [1, -2]
    """
    need_tensor(input, other, "bitwise_right_shift")
    return binary(ops.bitwise_right_shift, input, other, "bitwise_right_shift", out)


def bitwise_right_shift_(Tensor input not None, other):
    """`bitwise_right_shift` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.bitwise_right_shift, input, other, "bitwise_right_shift_")


def gcd(Tensor input not None, Tensor other not None, *, out=None):
    """The greatest common divisor, at least 0; gcd(0, 0) is 0.

    Args:
        input: tensor of integers of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: one is of floats or bool.

    Example:
        >>> import zero
        >>> zero.gcd(zero.tensor([12, 0]), zero.tensor([18, 5])).tolist()
        [6, 5]
    """
    return binary(ops.gcd, input, other, "gcd", out)


def gcd_(Tensor input not None, Tensor other not None):
    """`gcd` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.gcd, input, other, "gcd_")


def lcm(Tensor input not None, Tensor other not None, *, out=None):
    """The least common multiple, at least 0; 0 where one is 0.

    Args:
        input: tensor of integers of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: one is of floats or bool.

    Example:
        >>> import zero
        >>> zero.lcm(zero.tensor([4, 0]), zero.tensor([6, 5])).tolist()
        [12, 0]
    """
    return binary(ops.lcm, input, other, "lcm", out)


def lcm_(Tensor input not None, Tensor other not None):
    """`lcm` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.lcm, input, other, "lcm_")


arctan2 = atan2
arctan2_ = atan2_

as_methods("""
        fmod atan2 arctan2 addcmul addcdiv lerp copysign fmax fmin heaviside nextafter hypot
    logaddexp logaddexp2 xlogy xlogy_ bitwise_left_shift bitwise_right_shift gcd gcd_ lcm
    lcm_
""")
as_methods_only("""
        fmod_ atan2_ arctan2_ addcmul_ addcdiv_ lerp_ copysign_ heaviside_ nextafter_ hypot_
    bitwise_left_shift_ bitwise_right_shift_
""")
