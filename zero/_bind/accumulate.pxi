# Products, norms, running sums and products.


cdef tuple names_for_dim(object dim, object axis, str op):
    if axis is None:
        if dim is None:
            raise TypeError(f"{op}: dim is missing; expected an int")
        return dim,
    return numpy_names(dim, False, axis, None, op)[:1]


def prod(Tensor input not None, dim=None, keepdim=False, *, dtype=None, out=None, axis=None,
         keepdims=None):
    """The product of the elements, of all or along a dimension.

    The gradient is right where elements are 0, too.

    Args:
        input: tensor of any shape.
        dim: the dimension or dimensions to reduce; all for None.
        keepdim: whether reduced dimensions stay, with size 1.
        dtype: what the elements become first; by default integers and bools give int64.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> zero.prod(x).item(), zero.prod(x, dim=0).tolist()
        (24.0, [3.0, 8.0])
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "prod")
    return deliver(ops.prod(input.c, dims_of(dim, "prod"), flag_of(keepdim, "prod", "keepdim"),
                            optional_dtype(dtype, "prod")), out, "prod")


def nansum(Tensor input not None, dim=None, keepdim=False, *, dtype=None, out=None, axis=None,
           keepdims=None):
    """The sum of the elements that are not nan.

    Args:
        input: tensor of any shape.
        dim: the dimension or dimensions to reduce; all for None.
        keepdim: whether reduced dimensions stay, with size 1.
        dtype: what the elements become first; by default integers and bools give int64.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> zero.nansum(zero.tensor([1.0, float("nan"), 2.0])).item()
        3.0
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "nansum")
    return deliver(ops.nansum(input.c, dims_of(dim, "nansum"),
                              flag_of(keepdim, "nansum", "keepdim"),
                              optional_dtype(dtype, "nansum")), out, "nansum")


def count_nonzero(Tensor input not None, dim=None):
    """How many elements are not zero, of all or along dimensions; nan is not.

    Args:
        input: tensor of any shape.
        dim: the dimension or dimensions to count along; all for None.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> zero.count_nonzero(zero.tensor([[0, 1], [2, 3]]), dim=0).tolist()
        [1, 2]
    """
    return wrap(ops.count_nonzero(input.c, dims_of(dim, "count_nonzero")))


def cumsum(Tensor input not None, dim=None, *, dtype=None, out=None, axis=None):
    """Running sums along a dimension: ``y[i] = x[0] + … + x[i]``.

    Args:
        input: tensor of any shape.
        dim: the dimension.
        dtype: what the elements become first; by default integers and bools give int64.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.

    Raises:
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> zero.cumsum(zero.tensor([1.0, 2.0, 3.0]), 0).tolist()
        [1.0, 3.0, 6.0]
    """
    dim, = names_for_dim(dim, axis, "cumsum")
    return deliver(ops.cumsum(input.c, dim_of(dim, "cumsum"), optional_dtype(dtype, "cumsum")),
                   out, "cumsum")


def cumprod(Tensor input not None, dim=None, *, dtype=None, out=None, axis=None):
    """Running products along a dimension: ``y[i] = x[0] * … * x[i]``.

    The gradient is right where elements are 0, too; it then needs memory for n^2 numbers.

    Args:
        input: tensor of any shape.
        dim: the dimension.
        dtype: what the elements become first; by default integers and bools give int64.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.

    Raises:
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> zero.cumprod(zero.tensor([1.0, 2.0, 3.0]), 0).tolist()
        [1.0, 2.0, 6.0]
    """
    dim, = names_for_dim(dim, axis, "cumprod")
    return deliver(ops.cumprod(input.c, dim_of(dim, "cumprod"), optional_dtype(dtype, "cumprod")),
                   out, "cumprod")


def cumsum_(Tensor input not None, dim, *, dtype=None):
    """`cumsum` in place: overwrites the tensor and returns it."""
    return overwrite(input, ops.cumsum(input.c, dim_of(dim, "cumsum_"),
                                       optional_dtype(dtype, "cumsum_")), "cumsum_")


def cumprod_(Tensor input not None, dim, *, dtype=None):
    """`cumprod` in place: overwrites the tensor and returns it."""
    cdef CTensor x = input.c
    if meta.requires_grad(x):  # the gradient needs what is overwritten
        x = ops.clone(x)
    return overwrite(input, ops.cumprod(x, dim_of(dim, "cumprod_"),
                                        optional_dtype(dtype, "cumprod_")), "cumprod_")


cdef object cummax_result = _return_types.cummax
cdef object cummin_result = _return_types.cummin


def cummax(Tensor input not None, dim=None, *, out=None, axis=None):
    """The largest element so far along a dimension, and its index: of equal ones the last.

    From the first nan on it is nan.

    Args:
        input: tensor of any shape.
        dim: the dimension.
        out: a pair of tensors to write to.
        axis: NumPy's name for `dim`.

    Returns:
        The pair ``(values, indices)``, both of the shape of `input`.

    Raises:
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> values, indices = zero.cummax(zero.tensor([1, 3, 2]), 0)
        >>> values.tolist(), indices.tolist()
        ([1, 3, 3], [0, 1, 1])
    """
    cdef pair[CTensor, CTensor] both
    dim, = names_for_dim(dim, axis, "cummax")
    both = ops.cummax(input.c, dim_of(dim, "cummax"))
    if out is not None:
        return cummax_result(deliver_two(both, out, "cummax"))
    return named_pair(cummax_result, both)


def cummin(Tensor input not None, dim=None, *, out=None, axis=None):
    """The smallest element so far along a dimension, and its index: of equal ones the last.

    From the first nan on it is nan.

    Args:
        input: tensor of any shape.
        dim: the dimension.
        out: a pair of tensors to write to.
        axis: NumPy's name for `dim`.

    Returns:
        The pair ``(values, indices)``, both of the shape of `input`.

    Raises:
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> values, indices = zero.cummin(zero.tensor([3, 1, 2]), 0)
        >>> values.tolist(), indices.tolist()
        ([3, 1, 1], [0, 1, 1])
    """
    cdef pair[CTensor, CTensor] both
    dim, = names_for_dim(dim, axis, "cummin")
    both = ops.cummin(input.c, dim_of(dim, "cummin"))
    if out is not None:
        return cummin_result(deliver_two(both, out, "cummin"))
    return named_pair(cummin_result, both)


def logcumsumexp(Tensor input not None, dim=None, *, out=None, axis=None):
    """The logarithm of running sums of exponentials: ``y[i] = ln(e^x[0] + … + e^x[i])``.

    Sums are in float64 and scaled by the largest exponential so far, so large values don't
    overflow.

    Args:
        input: tensor of any shape, of floats.
        dim: the dimension.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.

    Raises:
        IndexError: the dimension is out of range.
        DTypeError: the tensor is not of floats.

    Example:
        >>> import zero
        >>> zero.logcumsumexp(zero.tensor([1000.0, 1000.0]), 0)
        tensor([1000.0000, 1000.6932])
    """
    dim, = names_for_dim(dim, axis, "logcumsumexp")
    return deliver(ops.logcumsumexp(input.c, dim_of(dim, "logcumsumexp")), out, "logcumsumexp")


cdef double order_of(object p, str op) except? -1:
    """A norm's p: a number, or one of the names that mean 2 for vectors."""
    if p is None or (isinstance(p, str) and p == "fro"):
        return 2
    if isinstance(p, str):
        raise ZeroValueError(f"{op}: unknown norm; got {short_repr(p)}, expected a number, 'fro' "
                             "or 'nuc'")
    return as_float(p, op, "p")


def norm(Tensor input not None, p="fro", dim=None, keepdim=False, *, dtype=None, out=None,
         axis=None, keepdims=None):
    """The norm of the elements, of all or along dimensions: ``y = (sum |x|^p)^(1/p)``.

    ``p = inf`` and ``-inf`` give the largest and smallest magnitude, ``p = 0`` counts what is not
    0. Squares are summed in float64, so ``p = 2`` does not overflow. Where the norm is 0 its
    gradient is 0.

    Args:
        input: tensor of any shape, of floats.
        p: the order: a number; 'fro', which is 2; or 'nuc', the nuclear norm of matrices, which
            is the sum of their singular values.
        dim: the dimension or dimensions to reduce; all for None.
        keepdim: whether reduced dimensions stay, with size 1.
        dtype: what the elements become first.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range.
        DTypeError: the tensor is not of floats.
        ShapeError: a nuclear norm of other than two dimensions.

    Example:
        >>> import zero
        >>> x = zero.tensor([[3.0, 4.0], [0.0, 2.0]])
        >>> zero.norm(x, dim=1).tolist(), zero.norm(x, 1).item()
        ([5.0, 2.0], 9.0)
    """
    cdef CTensor x = input.c
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "norm")
    if dtype is not None:
        x = ops.to(x, as_dtype(dtype, "norm"), x.device(), False)
    if isinstance(p, str) and p == "nuc":
        from zero._composed.nuclear import nuclear_norm
        total = nuclear_norm(wrap(x), dim, flag_of(keepdim, "norm", "keepdim"))
        return deliver((<Tensor> total).c, out, "norm")
    return deliver(ops.norm(x, order_of(p, "norm"), dims_of(dim, "norm"),
                            flag_of(keepdim, "norm", "keepdim")), out, "norm")


as_methods("""
    prod nansum count_nonzero cumsum cumprod cummax cummin logcumsumexp norm
""")
as_methods_only("""
    cumsum_ cumprod_
""")
