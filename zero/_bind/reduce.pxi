# Reductions: over all elements, or along dimensions.
from zero import return_types as _return_types

cdef object max_result = _return_types.max
cdef object min_result = _return_types.min


cdef CDims no_dims
cdef optional[CDType] no_dtype


cdef CDims dims_of(object dim, str op) except *:
    """A dim argument: None for all, an int, or a tuple of ints."""
    return no_dims if dim is None else as_dims(dim, op)


cdef object named_pair(object type, const pair[CTensor, CTensor]& both):
    """A tuple of zero.return_types, made without its Python constructor."""
    cdef Tensor first = wrap(both.first), second = wrap(both.second)
    cdef object result = new_tuple(type, 2)
    Py_INCREF(first)
    Py_INCREF(second)
    set_tuple_item(result, 0, <PyObject*> first)
    set_tuple_item(result, 1, <PyObject*> second)
    return result


# NumPy's names for dim and keepdim.
cdef tuple numpy_names(object dim, object keepdim, object axis, object keepdims, str op):
    if axis is not None:
        if dim is not None and dim != ():
            raise TypeError(f"{op}: both dim and axis are given; got {short_repr(dim)} and "
                            f"{short_repr(axis)}, expected one of them")
        dim = axis
    if keepdims is not None:
        if keepdim is not False:
            raise TypeError(f"{op}: both keepdim and keepdims are given; got {short_repr(keepdim)} "
                            f"and {short_repr(keepdims)}, expected one of them")
        keepdim = keepdims
    return dim, keepdim


cdef int64_t dim_of(object dim, str op) except? -1:
    return as_int(dim, op, "dim")


def sum(Tensor input not None, dim=None, keepdim=False, *, dtype=None,
        out=None, axis=None, keepdims=None):
    """The sum of the elements, of all or along dimensions.

    Args:
        input: tensor of any shape.
        dim: the dimension or dimensions to reduce; all for None.
        keepdim: whether reduced dimensions stay, with size 1.
        dtype: what the elements become first; by default integers and bools are summed as int64.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> zero.sum(x).item(), zero.sum(x, dim=0).tolist()
        (10.0, [4.0, 6.0])
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "sum")
    if dim is None and keepdim is False and dtype is None and out is None:
        return wrap(ops.sum(input.c, no_dims, False, no_dtype))
    return deliver(ops.sum(input.c, dims_of(dim, "sum"), flag_of(keepdim, "sum", "keepdim"),
                           optional_dtype(dtype, "sum")), out, "sum")


def mean(Tensor input not None, dim=None, keepdim=False, *, dtype=None,
         out=None, axis=None, keepdims=None):
    """The mean of the elements, of all or along dimensions: ``y = sum(x) / n``.

    Args:
        input: tensor of any shape.
        dim: the dimension or dimensions to reduce; all for None.
        keepdim: whether reduced dimensions stay, with size 1.
        dtype: what the elements become first; integers need one.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range.
        DTypeError: the tensor is not of floats and no `dtype` is given.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> zero.mean(x).item(), zero.mean(x, dim=0).tolist()
        (2.5, [2.0, 3.0])
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "mean")
    if dim is None and keepdim is False and dtype is None and out is None:
        return wrap(ops.mean(input.c, no_dims, False, no_dtype))
    return deliver(ops.mean(input.c, dims_of(dim, "mean"), flag_of(keepdim, "mean", "keepdim"),
                            optional_dtype(dtype, "mean")), out, "mean")


# var(x, False), var(x, dim, False), var(x, dim, correction=0) and so on.
cdef Tensor spread(Tensor x, object dim, object unbiased, object keepdim, object correction,
                   bint root, object out):
    cdef str op = "std" if root else "var"
    cdef double minus = 1
    cdef CDims dims
    if dim is True or dim is False:
        if unbiased is not None:
            raise TypeError(f"{op}: unbiased is given twice; got {dim} and {unbiased}, "
                            "expected one of them")
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(f"{op}: both unbiased and correction are given; got "
                            f"{short_repr(unbiased)} and {short_repr(correction)}, expected one "
                            "of them")
        minus = 1 if flag_of(unbiased, op, "unbiased") else 0
    elif correction is not None:
        minus = as_float(correction, op, "correction")
    dims = dims_of(dim, op)
    if root:
        return deliver(ops.std_dev(x.c, dims, minus, flag_of(keepdim, op, "keepdim")), out, op)
    return deliver(ops.var(x.c, dims, minus, flag_of(keepdim, op, "keepdim")), out, op)


def var(Tensor input not None, dim=None, unbiased=None, keepdim=False, *, correction=None,
        out=None, axis=None, keepdims=None):
    """The variance, of all elements or along dimensions: ``y = sum((x - mean)^2) / (n -
    correction)``.

    Args:
        input: tensor of any shape, of floats.
        dim: the dimension or dimensions to reduce; all for None.
        unbiased: True is ``correction=1``, False is ``correction=0``.
        keepdim: whether reduced dimensions stay, with size 1.
        correction: what is taken from the number of elements; 1 for None (Bessel's correction).
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range.
        DTypeError: the tensor is not of floats.
        TypeError: both `unbiased` and `correction` are given.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 1.0, 4.0])
        >>> zero.var(x).item(), zero.var(x, correction=0, dim=0).item()
        (3.0, 2.0)

    Source: Welford, Note on a method for calculating corrected sums of squares and products, 1962.
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "var")
    return spread(input, dim, unbiased, keepdim, correction, False, out)


def std(Tensor input not None, dim=None, unbiased=None, keepdim=False, *, correction=None,
        out=None, axis=None, keepdims=None):
    """The standard deviation, of all elements or along dimensions: the square root of `var`.

    Args:
        input: tensor of any shape, of floats.
        dim: the dimension or dimensions to reduce; all for None.
        unbiased: True is ``correction=1``, False is ``correction=0``.
        keepdim: whether reduced dimensions stay, with size 1.
        correction: what is taken from the number of elements; 1 for None (Bessel's correction).
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range.
        DTypeError: the tensor is not of floats.
        TypeError: both `unbiased` and `correction` are given.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 3.0, 5.0])
        >>> zero.std(x).item()
        2.0

    Source: Welford, Note on a method for calculating corrected sums of squares and products, 1962.
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "std")
    return spread(input, dim, unbiased, keepdim, correction, True, out)


def max(Tensor input not None, dim=None, keepdim=False, *, other=None,
        out=None, axis=None, keepdims=None):
    """The largest element: of all, along a dimension, or of two tensors.

    ``max(x)`` gives one tensor without dimensions; at a tie, the gradient is shared evenly.
    ``max(x, dim)`` gives the pair ``(values, indices)``; at a tie, the first index.
    ``max(x, y)`` is `maximum`. nan counts as largest.

    Args:
        input: tensor of any shape, not empty.
        dim: the dimension to reduce, or the other tensor.
        keepdim: whether the reduced dimension stays, with size 1.
        other: the other tensor, by name.
        out: where to write the result: a tensor of its shape, or one without elements;
            for a pair, two such tensors.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: the dimension is out of range, or has size 0.
        ShapeError: the shapes of two tensors do not broadcast.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 3.0], [4.0, 2.0]])
        >>> zero.max(x).item()
        4.0
        >>> values, indices = zero.max(x, dim=1)
        >>> values.tolist(), indices.tolist()
        ([3.0, 4.0], [1, 0])
    """
    cdef pair[CTensor, CTensor] both
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "max")
    if other is not None:
        if dim is not None:
            raise TypeError("max: dim and other are given; expected one of them")
        dim = other
    if isinstance(dim, Tensor):
        if flag_of(keepdim, "max", "keepdim"):
            raise TypeError("max: keepdim needs a dim; got two tensors, expected max(x, other)")
        return binary(ops.maximum, input, dim, "max", out)
    if dim is None:
        if flag_of(keepdim, "max", "keepdim"):
            raise TypeError("max: keepdim needs a dim; expected max(x, dim, keepdim=True)")
        return deliver(ops.max_of_all(input.c), out, "max")
    both = ops.max(input.c, dim_of(dim, "max"), flag_of(keepdim, "max", "keepdim"))
    if out is not None:
        return max_result(deliver_two(both, out, "max"))
    return named_pair(max_result, both)


def min(Tensor input not None, dim=None, keepdim=False, *, other=None,
        out=None, axis=None, keepdims=None):
    """The smallest element: of all, along a dimension, or of two tensors.

    ``min(x)`` gives one tensor without dimensions; at a tie, the gradient is shared evenly.
    ``min(x, dim)`` gives the pair ``(values, indices)``; at a tie, the first index.
    ``min(x, y)`` is `minimum`. nan counts as smallest.

    Args:
        input: tensor of any shape, not empty.
        dim: the dimension to reduce, or the other tensor.
        keepdim: whether the reduced dimension stays, with size 1.
        other: the other tensor, by name.
        out: where to write the result: a tensor of its shape, or one without elements;
            for a pair, two such tensors.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: the dimension is out of range, or has size 0.
        ShapeError: the shapes of two tensors do not broadcast.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 3.0], [4.0, 2.0]])
        >>> zero.min(x).item()
        1.0
        >>> values, indices = zero.min(x, dim=1)
        >>> values.tolist(), indices.tolist()
        ([1.0, 2.0], [0, 1])
    """
    cdef pair[CTensor, CTensor] both
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "min")
    if other is not None:
        if dim is not None:
            raise TypeError("min: dim and other are given; expected one of them")
        dim = other
    if isinstance(dim, Tensor):
        if flag_of(keepdim, "min", "keepdim"):
            raise TypeError("min: keepdim needs a dim; got two tensors, expected min(x, other)")
        return binary(ops.minimum, input, dim, "min", out)
    if dim is None:
        if flag_of(keepdim, "min", "keepdim"):
            raise TypeError("min: keepdim needs a dim; expected min(x, dim, keepdim=True)")
        return deliver(ops.min_of_all(input.c), out, "min")
    both = ops.min(input.c, dim_of(dim, "min"), flag_of(keepdim, "min", "keepdim"))
    if out is not None:
        return min_result(deliver_two(both, out, "min"))
    return named_pair(min_result, both)


def amax(Tensor input not None, dim=(), keepdim=False, *,
         out=None, axis=None, keepdims=None):
    """The largest elements along one or several dimensions, without indices.

    At a tie, the gradient is shared evenly. nan counts as largest.

    Args:
        input: tensor of any shape; the reduced dimensions are not empty.
        dim: the dimension or dimensions to reduce; all for None or ``()``.
        keepdim: whether reduced dimensions stay, with size 1.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range, or has size 0.

    Example:
        >>> import zero
        >>> zero.amax(zero.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=(0, 1)).item()
        4.0
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "amax")
    return deliver(ops.amax(input.c, dims_of(dim, "amax"), flag_of(keepdim, "amax", "keepdim")),
                   out, "amax")


def amin(Tensor input not None, dim=(), keepdim=False, *,
         out=None, axis=None, keepdims=None):
    """The smallest elements along one or several dimensions, without indices.

    At a tie, the gradient is shared evenly. nan counts as smallest.

    Args:
        input: tensor of any shape; the reduced dimensions are not empty.
        dim: the dimension or dimensions to reduce; all for None or ``()``.
        keepdim: whether reduced dimensions stay, with size 1.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range, or has size 0.

    Example:
        >>> import zero
        >>> zero.amin(zero.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=(0, 1)).item()
        1.0
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "amin")
    return deliver(ops.amin(input.c, dims_of(dim, "amin"), flag_of(keepdim, "amin", "keepdim")),
                   out, "amin")


def argmax(Tensor input not None, dim=None, keepdim=False, *,
           out=None, axis=None, keepdims=None):
    """The index of the largest element; of the first if there are several.

    Args:
        input: tensor of any shape, not empty.
        dim: the dimension along which to search; None searches all, and counts in row-major order.
        keepdim: whether the reduced dimension stays, with size 1.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: the dimension is out of range, or has size 0.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 3.0], [4.0, 2.0]])
        >>> zero.argmax(x).item(), zero.argmax(x, dim=1).tolist()
        (2, [1, 0])
    """
    cdef optional[int64_t] c_dim
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "argmax")
    if dim is not None:
        c_dim = dim_of(dim, "argmax")
    return deliver(ops.argmax(input.c, c_dim, flag_of(keepdim, "argmax", "keepdim")),
                   out, "argmax")


def argmin(Tensor input not None, dim=None, keepdim=False, *,
           out=None, axis=None, keepdims=None):
    """The index of the smallest element; of the first if there are several.

    Args:
        input: tensor of any shape, not empty.
        dim: the dimension along which to search; None searches all, and counts in row-major order.
        keepdim: whether the reduced dimension stays, with size 1.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: the dimension is out of range, or has size 0.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 3.0], [4.0, 2.0]])
        >>> zero.argmin(x).item(), zero.argmin(x, dim=1).tolist()
        (0, [0, 1])
    """
    cdef optional[int64_t] c_dim
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "argmin")
    if dim is not None:
        c_dim = dim_of(dim, "argmin")
    return deliver(ops.argmin(input.c, c_dim, flag_of(keepdim, "argmin", "keepdim")),
                   out, "argmin")


def all(Tensor input not None, dim=None, keepdim=False, *,
        out=None, axis=None, keepdims=None):
    """Whether every element is nonzero, over all or along dimensions.

    Args:
        input: tensor of any shape.
        dim: the dimension or dimensions to reduce; all for None, none for ``()``.
        keepdim: whether reduced dimensions stay, with size 1.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> x = zero.tensor([[True, False], [True, True]])
        >>> zero.all(x).item(), zero.all(x, dim=1).tolist()
        (False, [False, True])
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "all")
    if isinstance(dim, (tuple, list)) and not dim:
        return binary(ops.ne, input, 0, "all", out)
    return deliver(ops.all(input.c, dims_of(dim, "all"), flag_of(keepdim, "all", "keepdim")),
                   out, "all")


def any(Tensor input not None, dim=None, keepdim=False, *,
        out=None, axis=None, keepdims=None):
    """Whether an element is nonzero, over all or along dimensions.

    Args:
        input: tensor of any shape.
        dim: the dimension or dimensions to reduce; all for None, none for ``()``.
        keepdim: whether reduced dimensions stay, with size 1.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> x = zero.tensor([[True, False], [True, True]])
        >>> zero.any(x).item(), zero.any(x, dim=1).tolist()
        (True, [True, True])
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "any")
    if isinstance(dim, (tuple, list)) and not dim:
        return binary(ops.ne, input, 0, "any", out)
    return deliver(ops.any(input.c, dims_of(dim, "any"), flag_of(keepdim, "any", "keepdim")),
                   out, "any")


def equal(Tensor input not None, Tensor other not None):
    """Whether two tensors have the same shape and the same elements; nan equals nothing.

    Args:
        input: tensor of any shape.
        other: the other tensor.

    Example:
        >>> import zero
        >>> zero.equal(zero.tensor([1, 2]), zero.tensor([1, 2]))
        True
    """
    return ops.equal(input.c, other.c)


cdef CTensor close(Tensor a, Tensor b, object relative, object absolute, object equal_nan,
                   str op) except *:
    cdef double rtol = as_float(relative, op, "rtol"), atol = as_float(absolute, op, "atol")
    cdef CTensor same, distance, limit, finite, nan_a, nan_b
    if a.c.dtype() != b.c.dtype():
        raise DTypeError(f"{op}: dtypes differ; got {dtype_object(a.c.dtype())} and "
                         f"{dtype_object(b.c.dtype())}, expected the same")
    if not rtol >= 0 or not atol >= 0:
        raise ZeroValueError(f"{op}: a tolerance is negative; got rtol={rtol} and atol={atol}")
    same = ops.eq(COperand(a.c), COperand(b.c), CTarget())
    if flag_of(equal_nan, op, "equal_nan") and is_floating(a.c.dtype()):
        nan_a = ops.isnan(a.c)
        nan_b = ops.isnan(b.c)
        nan_a = ops.logical_and(COperand(nan_a), COperand(nan_b), CTarget())
        same = ops.logical_or(COperand(same), COperand(nan_a), CTarget())
    if (rtol == 0 and atol == 0) or a.c.dtype() == CDType.Bool:
        return same
    limit = ops.mul(COperand(b.c), COperand(CScalar(rtol)), CTarget())
    limit = ops.abs(limit, CTarget())
    limit = ops.add(COperand(limit), COperand(CScalar(atol)), c_one, CTarget())
    distance = ops.sub(COperand(a.c), COperand(b.c), c_one, CTarget())
    distance = ops.abs(distance, CTarget())
    finite = ops.isfinite(distance)
    distance = ops.le(COperand(distance), COperand(limit), CTarget())
    distance = ops.logical_and(COperand(distance), COperand(finite), CTarget())
    return ops.logical_or(COperand(same), COperand(distance), CTarget())


def isclose(Tensor input not None, Tensor other not None, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where two tensors are nearly equal: ``|input - other| <= atol + rtol * |other|``.

    Args:
        input: tensor of any shape.
        other: tensor of the same dtype, whose shape broadcasts with that of `input`.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether two nans count as close.

    Raises:
        DTypeError: the dtypes differ.
        ValueError: a tolerance is negative.

    Example:
        >>> import zero
        >>> a, b = zero.tensor([1.0, 2.0]), zero.tensor([1.0, 2.1])
        >>> zero.isclose(a, b).tolist()
        [True, False]
    """
    return wrap(close(input, other, rtol, atol, equal_nan, "isclose"))


def allclose(Tensor input not None, Tensor other not None, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether two tensors are nearly equal everywhere, as `isclose` says.

    Args:
        input: tensor of any shape.
        other: tensor of the same dtype, whose shape broadcasts with that of `input`.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether two nans count as close.

    Raises:
        DTypeError: the dtypes differ.
        ValueError: a tolerance is negative.

    Example:
        >>> import zero
        >>> a, b = zero.tensor([1.0, 2.0]), zero.tensor([1.0, 2.1])
        >>> zero.allclose(a, b), zero.allclose(a, b, atol=0.2)
        (False, True)
    """
    cdef CTensor near = close(input, other, rtol, atol, equal_nan, "allclose")
    near = ops.all(near, no_dims, False)
    return ops.item(near).to_bool()


as_methods("""
    sum mean var std max min amax amin argmax argmin all any equal isclose allclose
""")
