# Elements that tensors name: by masks, by indices along one dimension, by one index per dimension.


cdef CTensors as_indices(object indices, str op) except *:
    """A sequence of index tensors; None stands for all of a dimension."""
    cdef CTensors result
    if isinstance(indices, Tensor) or not isinstance(indices, (tuple, list)):
        raise TypeError(f"{op}: indices are not a sequence of tensors; got {type_name(indices)}, "
                        "expected a tuple of tensors")
    for i, item in enumerate(indices):
        if item is not None and not isinstance(item, Tensor):
            raise TypeError(f"{op}: indices[{i}] is not a tensor; got {type_name(item)}, expected "
                            "a Tensor or None")
        result.push_back((<Tensor> item).c if item is not None else CTensor())
    return result


def index_put(Tensor input not None, indices, Tensor values not None, accumulate=False):
    """A copy of a tensor with new values at the places that indices name.

    ``y = input.clone(); y[indices] = values``. Of several values for one place the last stays, and
    only it has a gradient; with ``accumulate`` all are added to what was there, in their order.

    Args:
        input: tensor of any shape.
        indices: a tuple of tensors of integers or bools, one per dimension of `input` from the
            first on; a mask covers as many dimensions as it has, None stands for all of one.
        values: tensor of the same dtype, whose shape broadcasts to that of ``input[indices]``.
        accumulate: whether values are added.

    Raises:
        IndexError: an index is out of range, or a mask has another shape than what it covers.
        ShapeError: the values do not broadcast.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> i = zero.tensor([0, 2, 0])
        >>> zero.index_put(zero.zeros(3), (i,), zero.tensor([1.0, 2.0, 3.0])).tolist()
        [3.0, 0.0, 2.0]
        >>> zero.index_put(zero.zeros(3), (i,), zero.tensor(1.0), accumulate=True).tolist()
        [2.0, 0.0, 1.0]
    """
    return wrap(ops.index_put(input.c, as_indices(indices, "index_put"), values.c,
                              flag_of(accumulate, "index_put", "accumulate"), CTarget()))


def index_put_(Tensor input not None, indices, Tensor values not None, accumulate=False):
    """`index_put` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.index_put(input.c, as_indices(indices, "index_put_"), values.c,
                  flag_of(accumulate, "index_put_", "accumulate"), inplace.inplace(input.c))
    return input


def nonzero(Tensor input not None, *, as_tuple=False, out=None):
    """The indices of the elements that are not zero, in row-major order.

    Args:
        input: tensor of any shape.
        as_tuple: whether to return one tensor per dimension, which together index `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Returns:
        An int64 tensor of shape (n, input.dim()), a row per element; or the tuple of its columns.

    Raises:
        NotImplementedError: the tensor is on the meta device: n depends on values.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1, 0], [2, 3]])
        >>> zero.nonzero(x).tolist()
        [[0, 0], [1, 0], [1, 1]]
        >>> x[zero.nonzero(x, as_tuple=True)].tolist()
        [1, 2, 3]
    """
    cdef CTensors columns
    if not flag_of(as_tuple, "nonzero", "as_tuple"):
        return deliver(ops.nonzero(input.c), out, "nonzero")
    columns = ops.nonzero_as_tuple(input.c)
    return wrap_all(columns)


def masked_fill(Tensor input not None, Tensor mask not None, value):
    """A copy with one value where the mask is True: ``y = value if mask else input``.

    Args:
        input: tensor of any shape.
        mask: bool tensor whose shape broadcasts with that of `input`.
        value: a number or a 0-d tensor; cast to the dtype of `input`.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the mask is not of bools.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, -2.0, 3.0])
        >>> zero.masked_fill(x, x < 0, 0).tolist()
        [1.0, 0.0, 3.0]
    """
    return wrap(ops.masked_fill(input.c, mask.c, as_operand(value, "masked_fill", "value"),
                                CTarget()))


def masked_fill_(Tensor input not None, Tensor mask not None, value):
    """`masked_fill` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.masked_fill(input.c, mask.c, as_operand(value, "masked_fill_", "value"),
                    inplace.inplace(input.c))
    return input


def masked_select(Tensor input not None, Tensor mask not None, *, out=None):
    """The elements where the mask is True, as a 1-d tensor in row-major order.

    Args:
        input: tensor of any shape.
        mask: bool tensor whose shape broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the mask is not of bools.
        NotImplementedError: the mask is on the meta device: the length depends on values.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1, 2], [3, 4]])
        >>> zero.masked_select(x, x > 1).tolist()
        [2, 3, 4]
    """
    return deliver(ops.masked_select(input.c, mask.c), out, "masked_select")


def index_select(Tensor input not None, dim, Tensor index not None, *, out=None):
    """The entries of a dimension that an index lists: ``y[i] = input[index[i]]`` for dim 0.

    Args:
        input: tensor of any shape.
        dim: the dimension.
        index: 1-d tensor of integers from 0 on; entries may repeat.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: an index or the dimension is out of range.
        DTypeError: the index is not of integers.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1, 2], [3, 4]])
        >>> zero.index_select(x, 1, zero.tensor([1, 1, 0])).tolist()
        [[2, 2, 1], [4, 4, 3]]
    """
    return deliver(ops.index_select(input.c, dim_of(dim, "index_select"), index.c), out,
                   "index_select")


def index_add(Tensor input not None, dim, Tensor index not None, Tensor source not None, *,
              alpha=1, out=None):
    """Adds rows where an index says: ``y[index[i]] += alpha * source[i]`` for dim 0.

    Rows for one place are added in their order, so results do not depend on threads.

    Args:
        input: tensor of any shape.
        dim: the dimension.
        index: 1-d tensor of integers from 0 on; entries may repeat.
        source: tensor of the same dtype, of the shape of `input` but for as many entries along
            `dim` as `index` has.
        alpha: a number that scales `source`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: an index or the dimension is out of range.
        ShapeError: the source does not fit.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> rows = zero.tensor([[1.0, 2.0], [10.0, 20.0]])
        >>> zero.index_add(zero.zeros(3, 2), 0, zero.tensor([2, 2]), rows).tolist()
        [[0.0, 0.0], [0.0, 0.0], [11.0, 22.0]]
    """
    return deliver(ops.index_add(input.c, dim_of(dim, "index_add"), index.c, source.c,
                                 as_scalar(alpha, "index_add", "alpha"), CTarget()), out,
                   "index_add")


def index_add_(Tensor input not None, dim, Tensor index not None, Tensor source not None, *,
               alpha=1):
    """`index_add` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.index_add(input.c, dim_of(dim, "index_add_"), index.c, source.c,
                  as_scalar(alpha, "index_add_", "alpha"), inplace.inplace(input.c))
    return input


def masked_scatter(Tensor input not None, Tensor mask not None, Tensor source not None):
    """A copy with the elements of another tensor, in their order, where the mask is True.

    Args:
        input: tensor of any shape.
        mask: bool tensor whose shape broadcasts with that of `input`.
        source: tensor of the same dtype with at least as many elements as the mask is True.

    Raises:
        ShapeError: the shapes do not broadcast, or the source has too few elements.
        DTypeError: the mask is not of bools, or the dtypes differ.

    Example:
        >>> import zero
        >>> mask = zero.tensor([True, False, True])
        >>> zero.masked_scatter(zero.zeros(3), mask, zero.tensor([1.0, 2.0])).tolist()
        [1.0, 0.0, 2.0]
    """
    return wrap(ops.masked_scatter(input.c, mask.c, source.c, CTarget()))


def masked_scatter_(Tensor input not None, Tensor mask not None, Tensor source not None):
    """`masked_scatter` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.masked_scatter(input.c, mask.c, source.c, inplace.inplace(input.c))
    return input


def index_copy(Tensor input not None, dim, Tensor index not None, Tensor source not None, *,
               out=None):
    """Rows in the places that an index names along a dimension: ``y[index[i]] = source[i]`` for
    dim 0.

    Of several rows for one place the last stays, and gets the gradient.

    Args:
        input: tensor of any shape.
        dim: the dimension.
        index: 1-d tensor of integers from 0 on.
        source: tensor of the same dtype, of the shape of `input` but for as many entries along
            `dim` as `index` has.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: an index or the dimension is out of range, or the index is no list.
        ShapeError: the source does not fit.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> rows = zero.tensor([[1.0, 2.0]])
        >>> zero.index_copy(zero.zeros(2, 2), 0, zero.tensor([1]), rows).tolist()
        [[0.0, 0.0], [1.0, 2.0]]
    """
    return deliver(ops.index_copy(input.c, dim_of(dim, "index_copy"), index.c, source.c, CTarget()),
                   out, "index_copy")


def index_copy_(Tensor input not None, dim, Tensor index not None, Tensor source not None):
    """`index_copy` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.index_copy(input.c, dim_of(dim, "index_copy_"), index.c, source.c, inplace.inplace(input.c))
    return input


def index_fill(Tensor input not None, dim, Tensor index not None, value, *, out=None):
    """One number in all places that an index names along a dimension: ``y[index] = value`` for
    dim 0.

    Args:
        input: tensor of any shape.
        dim: the dimension.
        index: 1-d tensor of integers from 0 on.
        value: a number, or a tensor without dimensions, which gets a gradient.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: an index or the dimension is out of range, or the index is no list.
        ShapeError: the value is no number.

    Example:
        >>> import zero
        >>> zero.index_fill(zero.zeros(2, 2), 1, zero.tensor([0]), 3).tolist()
        [[3.0, 0.0], [3.0, 0.0]]
    """
    return deliver(ops.index_fill(input.c, dim_of(dim, "index_fill"), index.c,
                                  as_operand(value, "index_fill", "value"), CTarget()), out,
                   "index_fill")


def index_fill_(Tensor input not None, dim, Tensor index not None, value):
    """`index_fill` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.index_fill(input.c, dim_of(dim, "index_fill_"), index.c,
                   as_operand(value, "index_fill_", "value"), inplace.inplace(input.c))
    return input


as_methods("""
    index_put index_put_ nonzero masked_fill masked_select masked_scatter index_select index_add
    index_copy index_fill
""")
as_methods_only("""
    masked_fill_ masked_scatter_ index_add_ index_copy_ index_fill_
""")
