# Elements seen or put elsewhere, or left out, by the shape alone.


def flip(Tensor input not None, *args, dims=None):
    """The order of the elements reversed along dimensions; a copy.

    Called as ``zero.flip(x, (0, 1))``, ``x.flip(0, 1)`` or ``x.flip((0, 1))``.

    Args:
        input: any shape.
        args: the dimensions to reverse.
        dims: the same by name.

    Raises:
        IndexError: a dimension is out of range.
        ValueError: a dimension is repeated.

    Example:
        >>> import zero
        >>> zero.flip(zero.tensor([[1, 2], [3, 4]]), (1,)).tolist()
        [[2, 1], [4, 3]]
    """
    if (dims is None) == (not args):
        raise TypeError("flip: dims is missing, or given twice; expected ints or a tuple of ints")
    return wrap(ops.flip(input.c, as_dims(args if dims is None else dims, "flip")))


def tril(Tensor input not None, diagonal=0, *, out=None):
    """The lower triangle of matrices: zeros above a diagonal.

    Args:
        input: shape [..., I, J].
        diagonal: 0 is the main one, positive ones are above it.
        out: where to write the result.

    Raises:
        ShapeError: there are fewer than two dimensions.

    Example:
        >>> import zero
        >>> zero.tril(zero.ones(2, 2)).tolist()
        [[1.0, 0.0], [1.0, 1.0]]
    """
    return deliver(ops.tril(input.c, as_int(diagonal, "tril", "diagonal"), CTarget()), out, "tril")


def triu(Tensor input not None, diagonal=0, *, out=None):
    """The upper triangle of matrices: zeros below a diagonal.

    Args:
        input: shape [..., I, J].
        diagonal: 0 is the main one, positive ones are above it.
        out: where to write the result.

    Raises:
        ShapeError: there are fewer than two dimensions.

    Example:
        >>> import zero
        >>> zero.triu(zero.ones(2, 2), 1).tolist()
        [[0.0, 1.0], [0.0, 0.0]]
    """
    return deliver(ops.triu(input.c, as_int(diagonal, "triu", "diagonal"), CTarget()), out, "triu")


def tril_(Tensor input not None, diagonal=0):
    """`tril` in place: overwrites the tensor and returns it."""
    ops.tril(input.c, as_int(diagonal, "tril_", "diagonal"), inplace.inplace(input.c))
    return input


def triu_(Tensor input not None, diagonal=0):
    """`triu` in place: overwrites the tensor and returns it."""
    ops.triu(input.c, as_int(diagonal, "triu_", "diagonal"), inplace.inplace(input.c))
    return input


cdef Tensor triangle_indices(object row, object col, object offset, object dtype, object layout,
                             object device, object requires_grad, object pin_memory, bint lower):
    cdef str op = "tril_indices" if lower else "triu_indices"
    cdef CTensorOptions options = as_options(dtype, device, op)
    if dtype is None:
        options.dtype = CDType.Int64
    only_plain(layout, pin_memory, op)
    return finish(ops.to(ops.triangle_indices(as_int(row, op, "row"), as_int(col, op, "col"),
                                              as_int(offset, op, "offset"), lower),
                         options.dtype, options.device, False), requires_grad, pin_memory)


def tril_indices(row, col, offset=0, *, dtype=None, layout=None, device=None, requires_grad=False,
                 pin_memory=False):
    """Rows and columns of the places in a lower triangle, as a tensor of shape [2, n].

    Args:
        row: the number of rows.
        col: the number of columns.
        offset: which diagonal bounds it: 0 is the main one, positive ones are above it.
        dtype: the element type; int64 for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: a size is negative.

    Example:
        >>> import zero
        >>> zero.tril_indices(2, 2).tolist()
        [[0, 1, 1], [0, 0, 1]]
    """
    return triangle_indices(row, col, offset, dtype, layout, device, requires_grad, pin_memory,
                            True)


def triu_indices(row, col, offset=0, *, dtype=None, layout=None, device=None, requires_grad=False,
                 pin_memory=False):
    """Rows and columns of the places in an upper triangle, as a tensor of shape [2, n].

    Args:
        row: the number of rows.
        col: the number of columns.
        offset: which diagonal bounds it: 0 is the main one, positive ones are above it.
        dtype: the element type; int64 for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: a size is negative.

    Example:
        >>> import zero
        >>> zero.triu_indices(2, 2).tolist()
        [[0, 0, 1], [0, 1, 1]]
    """
    return triangle_indices(row, col, offset, dtype, layout, device, requires_grad, pin_memory,
                            False)


def roll(Tensor input not None, shifts, dims=()):
    """Elements moved on by `shifts`; those pushed out at the end come in again at the front.

    Args:
        input: any shape.
        shifts: how far, one number per dimension; negative ones move back.
        dims: the dimensions; by default all elements count as one dimension.

    Raises:
        IndexError: a dimension is out of range.
        ShapeError: there is not one shift per dimension.

    Example:
        >>> import zero
        >>> zero.roll(zero.tensor([1, 2, 3]), 1).tolist()
        [3, 1, 2]
    """
    return wrap(ops.roll(input.c, as_dims(shifts, "roll"),
                         as_dims(() if dims is None else dims, "roll")))


def repeat_interleave(Tensor input not None, repeats=None, dim=None, *, output_size=None):
    """Each element, or each slice along a dimension, several times in a row.

    Called with one tensor of counts alone, it gives the index of each copy.

    Args:
        input: any shape; or the counts.
        repeats: how often: a number for all, or one for each in a 1-d tensor.
        dim: the dimension; None takes all elements as one dimension.
        output_size: the size of the result along `dim`, which is checked.

    Raises:
        ShapeError: not one count per slice, or another `output_size` than there is.
        ValueError: a count is negative.

    Example:
        >>> import zero
        >>> x = zero.tensor([1, 2, 3])
        >>> zero.repeat_interleave(x, 2).tolist()
        [1, 1, 2, 2, 3, 3]
        >>> zero.repeat_interleave(x, zero.tensor([0, 2, 1])).tolist()
        [2, 2, 3]
    """
    cdef CTensor x = input.c, y
    cdef CDims sizes, flat
    cdef int64_t d = 0, size, times
    flat.push_back(-1)
    if repeats is None:
        y = ops.repeat_interleave(x)
    else:
        if dim is None or x.dim() == 0:
            x = ops.reshape(x, flat)
        if dim is not None:
            d = shapes.wrap_dim(b"repeat_interleave", dim_of(dim, "repeat_interleave"), x.dim())
        size = x.size(d)
        if isinstance(repeats, (tuple, list)):
            repeats = wrap(tensor_from(repeats, dtype_object(CDType.Int64), x.device(), False))
        if isinstance(repeats, Tensor) and (<Tensor> repeats).c.numel() != 1:
            if (<Tensor> repeats).c.dim() != 1 or (<Tensor> repeats).c.numel() != size:
                raise ShapeError("repeat_interleave: not one count per slice; got counts "
                                 f"{tuple(repeats.shape)}, expected ({size},)")
            y = ops.index_select(x, d, ops.repeat_interleave((<Tensor> repeats).c))
        else:
            times = as_int(repeats, "repeat_interleave", "repeats")
            if times < 0:
                raise ZeroValueError("repeat_interleave: a count is negative; got "
                                     f"{times}, expected >= 0")
            # [.., size, times, ..] repeated without a copy, then copied, then both as one.
            y = ops.unsqueeze(x, d + 1)
            sizes = y.sizes()
            sizes.data()[d + 1] = times
            y = ops.expand(y, sizes)
            y = ops.clone(y) if y.is_contiguous() else ops.contiguous(y)
            sizes = x.sizes()
            sizes.data()[d] = size * times
            y = ops.reshape(y, sizes)
    if output_size is not None and y.size(d) != as_int(output_size, "repeat_interleave",
                                                       "output_size"):
        raise ShapeError(f"repeat_interleave: another output_size; got {output_size}, expected "
                         f"{y.size(d)}")
    return wrap(move(y))


def diag_embed(Tensor input not None, offset=0, dim1=-2, dim2=-1):
    """Matrices that have the last dimension as their diagonal, and zeros elsewhere.

    Args:
        input: shape [..., I].
        offset: which diagonal: 0 is the main one, positive ones are above it.
        dim1: where the rows stand in the result.
        dim2: where the columns stand.

    Raises:
        IndexError: a dimension is out of range.
        ShapeError: the tensor has no dimensions, or both are the same.

    Example:
        >>> import zero
        >>> zero.diag_embed(zero.tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    return wrap(ops.diag_embed(input.c, as_int(offset, "diag_embed", "offset"),
                               as_int(dim1, "diag_embed", "dim1"),
                               as_int(dim2, "diag_embed", "dim2")))


as_methods("flip tril triu diag_embed roll repeat_interleave")
as_methods_only("tril_ triu_")
