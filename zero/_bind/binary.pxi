# Two inputs, elementwise, broadcast against each other.

cdef object one = 1
cdef CScalar c_one = CScalar(<int64_t> 1)


cdef Tensor binary(ops.BinaryOp op, object a, object b, str name, object out=None):
    return wrap(op(as_operand(a, name, "input"), as_operand(b, name, "other"),
                   target_of(out, name)))


cdef int need_tensor(object a, object b, str name) except -1:
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        raise TypeError(f"{name}: neither argument is a tensor; got {type_name(a)} and "
                        f"{type_name(b)}, expected at least one Tensor")
    return 0


cdef object one_tensor(object a, object b, str name):
    """a; of two numbers, with which PyTorch does arithmetic, too, its tensor."""
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return a
    cdef CScalar value = as_scalar(a, name, "input")
    return wrap(ops.full(CDims(), value, options_for(value, None, "cpu", name)))


cdef Tensor binary_in_place(ops.BinaryOp op, Tensor a, object b, str name):
    op(COperand(a.c), as_operand(b, name, "other"), inplace.inplace(a.c))
    return a


def add(input, other, *, alpha=1, out=None):
    """The sum, element by element: ``y = input + alpha * other``.

    Args:
        input: tensor of any shape, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        alpha: a number that scales `other`; a float only where the result is of floats.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.add(zero.tensor([1.0, 2.0]), zero.tensor([10.0, 20.0]), alpha=2).tolist()
        [21.0, 42.0]
    """
    if isinstance(input, Tensor) and isinstance(other, Tensor) and alpha is one \
            and out is None:
        return wrap(ops.add(COperand((<Tensor> input).c), COperand((<Tensor> other).c), c_one,
                            CTarget()))
    input = one_tensor(input, other, "add")
    return wrap(ops.add(as_operand(input, "add", "input"), as_operand(other, "add", "other"),
                        as_scalar(alpha, "add", "alpha"), target_of(out, "add")))


def add_(Tensor input not None, other, *, alpha=1):
    """`add` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.add(COperand(input.c), as_operand(other, "add_", "other"),
            as_scalar(alpha, "add_", "alpha"), inplace.inplace(input.c))
    return input


def sub(input, other, *, alpha=1, out=None):
    """The difference, element by element: ``y = input - alpha * other``.

    Args:
        input: tensor of any shape, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        alpha: a number that scales `other`; a float only where the result is of floats.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: both are bool.

    Example:
        >>> import zero
        >>> zero.sub(zero.tensor([5.0, 7.0]), 1).tolist()
        [4.0, 6.0]
    """
    if isinstance(input, Tensor) and isinstance(other, Tensor) and alpha is one \
            and out is None:
        return wrap(ops.sub(COperand((<Tensor> input).c), COperand((<Tensor> other).c), c_one,
                            CTarget()))
    input = one_tensor(input, other, "sub")
    return wrap(ops.sub(as_operand(input, "sub", "input"), as_operand(other, "sub", "other"),
                        as_scalar(alpha, "sub", "alpha"), target_of(out, "sub")))


def sub_(Tensor input not None, other, *, alpha=1):
    """`sub` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.sub(COperand(input.c), as_operand(other, "sub_", "other"),
            as_scalar(alpha, "sub_", "alpha"), inplace.inplace(input.c))
    return input


def mul(input, other, *, out=None):
    """The product, element by element: ``y = input * other``.

    Args:
        input: tensor of any shape, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.mul(zero.tensor([[1.0], [2.0]]), zero.tensor([3.0, 4.0])).tolist()
        [[3.0, 4.0], [6.0, 8.0]]
    """
    if out is None and isinstance(input, Tensor) and isinstance(other, Tensor):
        return wrap(ops.mul(COperand((<Tensor> input).c), COperand((<Tensor> other).c), CTarget()))
    input = one_tensor(input, other, "mul")
    return binary(ops.mul, input, other, "mul", out)


def mul_(Tensor input not None, other):
    """`mul` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.mul, input, other, "mul_")


cdef int check_rounding(object mode, str name) except -1:
    if mode is not None and mode != "floor" and mode != "trunc":
        raise ZeroValueError(f"{name}: unknown rounding_mode; got {short_repr(mode)}, "
                             "expected None, 'trunc' or 'floor'")
    return 0


def div(input, other, *, rounding_mode=None, out=None):
    """The quotient, element by element: ``y = input / other``.

    Args:
        input: tensor of any shape, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        rounding_mode: None divides truly, and integers give the default float dtype; 'floor' rounds
            down and 'trunc' toward zero: integers stay integers, and the gradient is 0.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        ValueError: an unknown rounding mode.
        RuntimeError: an integer is divided by zero in a rounding mode.

    Example:
        >>> import zero
        >>> x = zero.tensor([-7, 7])
        >>> zero.div(x, 2).tolist()
        [-3.5, 3.5]
        >>> zero.div(x, 2, rounding_mode="floor").tolist()
        [-4, 3]
        >>> zero.div(x, 2, rounding_mode="trunc").tolist()
        [-3, 3]
    """
    input = one_tensor(input, other, "div")
    check_rounding(rounding_mode, "div")
    if rounding_mode is None:
        return binary(ops.div, input, other, "div", out)
    return binary(ops.div_floor if rounding_mode == "floor" else ops.div_trunc, input, other, "div",
                  out)


def div_(Tensor input not None, other, *, rounding_mode=None):
    """`div` in place: overwrites the tensor, whose shape stays, and returns it."""
    check_rounding(rounding_mode, "div_")
    if rounding_mode is None:
        return binary_in_place(ops.div, input, other, "div_")
    return binary_in_place(ops.div_floor if rounding_mode == "floor" else ops.div_trunc, input,
                           other, "div_")


def true_divide(input, other, *, out=None):
    """The true quotient: `div` without a rounding mode.

    Args:
        input: tensor of any shape, or a number; integers give the default float dtype.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.true_divide(zero.tensor([1, 3]), 2).tolist()
        [0.5, 1.5]
    """
    input = one_tensor(input, other, "true_divide")
    return binary(ops.div, input, other, "true_divide", out)


def true_divide_(Tensor input not None, other):
    """`true_divide` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.div, input, other, "true_divide_")


def pow(input, exponent, *, out=None):
    """Powers, element by element: ``y = input^exponent``.

    Args:
        input: the base: a tensor of any shape, or a number.
        exponent: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        RuntimeError: an integer to a negative integer power.

    Example:
        >>> import zero
        >>> zero.pow(zero.tensor([1.0, 2.0, 3.0]), 2).tolist()
        [1.0, 4.0, 9.0]
        >>> zero.pow(2, zero.tensor([1.0, 2.0])).tolist()
        [2.0, 4.0]
    """
    need_tensor(input, exponent, "pow")
    return wrap(ops.pow(as_operand(input, "pow", "input"),
                        as_operand(exponent, "pow", "exponent"), target_of(out, "pow")))


def pow_(Tensor input not None, exponent):
    """`pow` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.pow(COperand(input.c), as_operand(exponent, "pow_", "exponent"), inplace.inplace(input.c))
    return input


def where(Tensor condition not None, input=None, other=None, *, out=None):
    """Chooses between two values: ``y = input if condition else other``, element by element.

    The gradient goes to the value that was chosen. With the condition alone it gives the indices
    of its elements that are not zero, as ``nonzero(condition, as_tuple=True)`` does.

    Args:
        condition: a bool tensor of any shape.
        input: a number or tensor, taken where the condition is True.
        other: a number or tensor, taken where it is False. All shapes broadcast together.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the condition is not bool.
        TypeError: only one of `input` and `other` is given.

    Example:
        >>> import zero
        >>> x = zero.tensor([-1.0, 2.0])
        >>> zero.where(x > 0, x, 0).tolist()
        [0.0, 2.0]
        >>> zero.where(x > 0)
        (tensor([1]),)
    """
    cdef CTensors columns
    if input is None and other is None:
        columns = ops.nonzero_as_tuple(condition.c)
        return wrap_all(columns)
    return wrap(ops.where(condition.c, as_operand(input, "where", "input"),
                          as_operand(other, "where", "other"), target_of(out, "where")))


def tensor_where(Tensor self not None, Tensor condition not None, other):
    """Keeps the elements where the condition is True, takes those of `other` elsewhere.

    The order of arguments differs from the function's: ``x.where(condition, other)``.

    Example:
        >>> import zero
        >>> x = zero.tensor([-1.0, 2.0])
        >>> x.where(x > 0, 0).tolist()
        [0.0, 2.0]
    """
    return wrap(ops.where(condition.c, COperand(self.c), as_operand(other, "where", "other"),
                          CTarget()))


def floor_divide(input, other, *, out=None):
    """The quotient rounded down: ``y = floor(input / other)``.

    Args:
        input: tensor of any shape, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        RuntimeError: an integer is divided by zero.

    Example:
        >>> import zero
        >>> zero.floor_divide(zero.tensor([-7, 7]), 2).tolist()
        [-4, 3]
    """
    input = one_tensor(input, other, "floor_divide")
    return binary(ops.floor_divide, input, other, "floor_divide", out)


def floor_divide_(Tensor input not None, other):
    """`floor_divide` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.floor_divide, input, other, "floor_divide_")


def remainder(input, other, *, out=None):
    """What a floored division leaves: ``y = input - floor(input / other) * other``.

    It has the sign of `other`.

    Args:
        input: tensor of any shape, or a number.
        other: a number, or a tensor whose shape broadcasts with that of `input`. One of the two
            must be a tensor.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        RuntimeError: an integer is divided by zero.

    Example:
        >>> import zero
        >>> zero.remainder(zero.tensor([-7, 7]), 3).tolist()
        [2, 1]
    """
    need_tensor(input, other, "remainder")
    return binary(ops.remainder, input, other, "remainder", out)


def remainder_(Tensor input not None, other):
    """`remainder` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.remainder, input, other, "remainder_")


def maximum(Tensor input not None, Tensor other not None, *, out=None):
    """The larger of two elements; nan if one is nan. At a tie, each gets half of the gradient.

    Args:
        input: tensor of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.maximum(zero.tensor([1.0, 5.0]), zero.tensor([3.0, 2.0])).tolist()
        [3.0, 5.0]
    """
    return binary(ops.maximum, input, other, "maximum", out)


def minimum(Tensor input not None, Tensor other not None, *, out=None):
    """The smaller of two elements; nan if one is nan. At a tie, each gets half of the gradient.

    Args:
        input: tensor of any shape.
        other: tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import zero
        >>> zero.minimum(zero.tensor([1.0, 5.0]), zero.tensor([3.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return binary(ops.minimum, input, other, "minimum", out)


subtract = sub
subtract_ = sub_
multiply = mul
multiply_ = mul_
divide = div
divide_ = div_

as_methods("""
    add subtract sub mul multiply div divide true_divide pow floor_divide remainder maximum
    minimum
""")
as_methods_only("""
    add_ sub_ subtract_ mul_ multiply_ div_ divide_ true_divide_ pow_ floor_divide_
    remainder_
""")
as_method("where", tensor_where)
