# Comparisons and logic, elementwise, broadcast.


def eq(Tensor input not None, other, *, out=None):
    """True where the elements are equal; nan equals nothing.

    Args:
        input: tensor of any shape.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.eq(zero.tensor([1, 2]), zero.tensor([1, 3])).tolist()
        [True, False]
    """
    return binary(ops.eq, input, other, "eq", out)


def eq_(Tensor input not None, other):
    """`eq` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.eq, input, other, "eq_")


def ne(Tensor input not None, other, *, out=None):
    """True where the elements differ; nan differs from all.

    Args:
        input: tensor of any shape.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.ne(zero.tensor([1, 2]), zero.tensor([1, 3])).tolist()
        [False, True]
    """
    return binary(ops.ne, input, other, "ne", out)


def ne_(Tensor input not None, other):
    """`ne` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.ne, input, other, "ne_")


def lt(Tensor input not None, other, *, out=None):
    """True where ``input < other``.

    Args:
        input: tensor of any shape.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.lt(zero.tensor([1, 2, 3]), 2).tolist()
        [True, False, False]
    """
    return binary(ops.lt, input, other, "lt", out)


def lt_(Tensor input not None, other):
    """`lt` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.lt, input, other, "lt_")


def le(Tensor input not None, other, *, out=None):
    """True where ``input <= other``.

    Args:
        input: tensor of any shape.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.le(zero.tensor([1, 2, 3]), 2).tolist()
        [True, True, False]
    """
    return binary(ops.le, input, other, "le", out)


def le_(Tensor input not None, other):
    """`le` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.le, input, other, "le_")


def gt(Tensor input not None, other, *, out=None):
    """True where ``input > other``.

    Args:
        input: tensor of any shape.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.gt(zero.tensor([1, 2, 3]), 2).tolist()
        [False, False, True]
    """
    return binary(ops.gt, input, other, "gt", out)


def gt_(Tensor input not None, other):
    """`gt` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.gt, input, other, "gt_")


def ge(Tensor input not None, other, *, out=None):
    """True where ``input >= other``.

    Args:
        input: tensor of any shape.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.ge(zero.tensor([1, 2, 3]), 2).tolist()
        [False, True, True]
    """
    return binary(ops.ge, input, other, "ge", out)


def ge_(Tensor input not None, other):
    """`ge` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.ge, input, other, "ge_")


def bitwise_and(input, other, *, out=None):
    """The bits that both elements have; for bools, the logical and.

    Args:
        input: tensor of any shape, integer or bool, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: one is of floats.

    Example:
        >>> import zero
        >>> zero.bitwise_and(zero.tensor([5, 6]), 3).tolist()
        [1, 2]
    """
    need_tensor(input, other, "bitwise_and")
    return binary(ops.bitwise_and, input, other, "bitwise_and", out)


def bitwise_and_(Tensor input not None, other):
    """`bitwise_and` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.bitwise_and, input, other, "bitwise_and_")


def bitwise_or(input, other, *, out=None):
    """The bits that either element has; for bools, the logical or.

    Args:
        input: tensor of any shape, integer or bool, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: one is of floats.

    Example:
        >>> import zero
        >>> zero.bitwise_or(zero.tensor([5, 6]), 3).tolist()
        [7, 7]
    """
    need_tensor(input, other, "bitwise_or")
    return binary(ops.bitwise_or, input, other, "bitwise_or", out)


def bitwise_or_(Tensor input not None, other):
    """`bitwise_or` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.bitwise_or, input, other, "bitwise_or_")


def bitwise_xor(input, other, *, out=None):
    """The bits that just one element has; for bools, the exclusive or.

    Args:
        input: tensor of any shape, integer or bool, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: one is of floats.

    Example:
        >>> import zero
        >>> zero.bitwise_xor(zero.tensor([5, 6]), 3).tolist()
        [6, 5]
    """
    need_tensor(input, other, "bitwise_xor")
    return binary(ops.bitwise_xor, input, other, "bitwise_xor", out)


def bitwise_xor_(Tensor input not None, other):
    """`bitwise_xor` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.bitwise_xor, input, other, "bitwise_xor_")


def logical_and(Tensor input not None, Tensor other not None, *, out=None):
    """True where both elements are nonzero.

    Args:
        input: tensor of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.logical_and(zero.tensor([0, 1, 2]), zero.tensor([1, 0, 3])).tolist()
        [False, False, True]
    """
    return binary(ops.logical_and, input, other, "logical_and", out)


def logical_and_(Tensor input not None, Tensor other not None):
    """`logical_and` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.logical_and, input, other, "logical_and_")


def logical_or(Tensor input not None, Tensor other not None, *, out=None):
    """True where an element is nonzero.

    Args:
        input: tensor of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.logical_or(zero.tensor([0, 1, 0]), zero.tensor([1, 0, 0])).tolist()
        [True, True, False]
    """
    return binary(ops.logical_or, input, other, "logical_or", out)


def logical_or_(Tensor input not None, Tensor other not None):
    """`logical_or` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.logical_or, input, other, "logical_or_")


def logical_xor(Tensor input not None, Tensor other not None, *, out=None):
    """True where just one element is nonzero.

    Args:
        input: tensor of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.logical_xor(zero.tensor([0, 1, 2]), zero.tensor([1, 0, 3])).tolist()
        [True, True, False]
    """
    return binary(ops.logical_xor, input, other, "logical_xor", out)


def logical_xor_(Tensor input not None, Tensor other not None):
    """`logical_xor` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.logical_xor, input, other, "logical_xor_")


not_equal = ne
not_equal_ = ne_
less = lt
less_ = lt_
less_equal = le
less_equal_ = le_
greater = gt
greater_ = gt_
greater_equal = ge
greater_equal_ = ge_

as_methods("""
    eq ne not_equal lt less le less_equal gt greater ge greater_equal bitwise_and bitwise_or
    bitwise_xor logical_and logical_or logical_xor
""")
as_methods_only("""
    eq_ ne_ not_equal_ lt_ less_ le_ less_equal_ gt_ greater_ ge_ greater_equal_
    bitwise_and_ bitwise_or_ bitwise_xor_ logical_and_ logical_or_ logical_xor_
""")
