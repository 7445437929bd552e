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
    return deliver(ops.tril(input.c, as_int(diagonal, "tril", "diagonal")), out, "tril")


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
    return deliver(ops.triu(input.c, as_int(diagonal, "triu", "diagonal")), out, "triu")


def tril_(Tensor input not None, diagonal=0):
    """`tril` in place: overwrites the tensor and returns it."""
    return overwrite(input, ops.tril(input.c, as_int(diagonal, "tril_", "diagonal")), "tril_")


def triu_(Tensor input not None, diagonal=0):
    """`triu` in place: overwrites the tensor and returns it."""
    return overwrite(input, ops.triu(input.c, as_int(diagonal, "triu_", "diagonal")), "triu_")


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


def as_strided(Tensor input not None, size, stride, storage_offset=None):
    """A view of any sizes and strides on the memory of a tensor.

    Elements may show up several times (stride 0, or smaller than what lies below it); their
    gradients are added. Such a view can't be written in place.

    Args:
        input: tensor of any shape.
        size: the sizes of the view.
        stride: how many elements apart its neighbours are, for each dimension.
        storage_offset: where it begins in the memory; by default where `input` does.

    Raises:
        ShapeError: the view reaches outside the memory, or there is not one stride per size.
        ValueError: a stride is negative.

    Example:
        >>> import zero
        >>> zero.as_strided(zero.arange(5), (3, 2), (1, 2)).tolist()
        [[0, 2], [1, 3], [2, 4]]
    """
    cdef int64_t offset = input.c.storage_offset()
    if storage_offset is not None:
        offset = as_int(storage_offset, "as_strided", "storage_offset")
    return wrap(ops.as_strided(input.c, as_dims(size, "as_strided"), as_dims(stride, "as_strided"),
                               offset))


as_methods("as_strided flip tril triu diag_embed")
as_methods_only("tril_ triu_")
