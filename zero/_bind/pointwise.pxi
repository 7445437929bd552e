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


arctan2 = atan2
arctan2_ = atan2_

as_methods("""
    fmod atan2 arctan2 addcmul addcdiv lerp
""")
as_methods_only("""
    fmod_ atan2_ arctan2_ addcmul_ addcdiv_ lerp_
""")
