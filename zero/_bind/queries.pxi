# What tensors and dtypes are asked: sizes, kinds, promotion.


def is_tensor(obj):
    """Whether an object is a Tensor.

    Args:
        obj: anything.

    Example:
        >>> import zero
        >>> zero.is_tensor(zero.ones(2)), zero.is_tensor([1.0])
        (True, False)
    """
    return isinstance(obj, Tensor)


def numel(Tensor input not None):
    """The number of elements: the product of the sizes.

    Args:
        input: tensor of any shape.

    Example:
        >>> import zero
        >>> zero.numel(zero.ones(2, 3))
        6
    """
    return input.c.numel()


def is_complex(Tensor input not None):
    """False: zero has no complex types yet.

    Args:
        input: tensor of any shape.

    Example:
        >>> import zero
        >>> zero.is_complex(zero.ones(2))
        False
    """
    return False


def is_floating_point(Tensor input not None):
    """Whether the elements are floats.

    Args:
        input: tensor of any shape.

    Example:
        >>> import zero
        >>> zero.is_floating_point(zero.ones(2)), zero.is_floating_point(zero.arange(2))
        (True, False)
    """
    return is_floating(input.c.dtype())


def result_type(tensor1, tensor2):
    """The dtype that an operator gives for two operands.

    The wider of the two dtypes; a number or a tensor without dimensions counts only if it is of a
    higher kind (bool < integer < float).

    Args:
        tensor1: a tensor or a number.
        tensor2: a tensor or a number.

    Example:
        >>> import zero
        >>> zero.result_type(zero.arange(3), 1.5), zero.result_type(zero.ones(3), zero.arange(3))
        (zero.float32, zero.float32)
    """
    return dtype_object(ops.result_type(as_operand(tensor1, "result_type", "tensor1"),
                                        as_operand(tensor2, "result_type", "tensor2")))


def promote_types(type1, type2):
    """The smallest dtype that holds the values of both.

    Args:
        type1: a dtype.
        type2: a dtype.

    Example:
        >>> import zero
        >>> zero.promote_types(zero.int64, zero.float32), zero.promote_types(zero.uint8, zero.int8)
        (zero.float32, zero.int16)
    """
    return dtype_object(promote(as_dtype(type1, "promote_types"), as_dtype(type2, "promote_types")))


def can_cast(from_, to):
    """Whether a result of one dtype may be stored in a tensor of another.

    True unless the kind falls: float to integer, or anything else to bool.

    Args:
        from_: a dtype.
        to: a dtype.

    Example:
        >>> import zero
        >>> zero.can_cast(zero.int64, zero.float32), zero.can_cast(zero.float32, zero.int64)
        (True, False)
    """
    return category(as_dtype(from_, "can_cast")) <= category(as_dtype(to, "can_cast"))
