# Views: the same elements under other sizes and strides.

# PyTorch's functions take a tuple of sizes and its methods *sizes; these functions take both.


cdef CDims dims_given(tuple args, object by_name, str op, str name) except *:
    if by_name is None:
        if not args:
            raise TypeError(f"{op}: {name} is missing; expected ints or a tuple of ints")
        return as_dims(args, op)
    if args:
        raise TypeError(f"{op}: {name} is given twice; got {short_repr(args)} and "
                        f"{name}={short_repr(by_name)}, expected one of them")
    return as_dims(by_name, op)


def view(Tensor self not None, *args, size=None, dtype=None):
    """The same memory with another shape, or its bytes read as another dtype.

    Args:
        args: the sizes, as ints or one tuple, of which one may be -1 and follows from the others;
            or a dtype. Where its elements are larger or smaller, the last dimension changes.
        size: the sizes by name.
        dtype: the dtype by name. Such a view has no gradient.

    Raises:
        ShapeError: the number of elements differs, or no strides give this shape without a copy
            (then use `reshape`); or the elements of the dtype don't fit.

    Example:
        >>> import zero
        >>> x = zero.arange(6)
        >>> x.view(2, -1).tolist()
        [[0, 1, 2], [3, 4, 5]]
        >>> zero.tensor(1.0).view(zero.int32).item() == 0x3F800000
        True
    """
    if dtype is not None or (PyTuple_GET_SIZE(args) == 1 and isinstance(args[0], DTypeObject)):
        if (args if dtype is not None else ()) or size is not None:
            raise TypeError("view: both sizes and a dtype are given; expected one of them")
        return wrap(ops.view_as_type(self.c, as_dtype(args[0] if dtype is None else dtype,
                                                      "view")))
    return wrap(ops.view(self.c, dims_given(args, size, "view", "size")))


def _unsafe_view(Tensor input not None, size):
    """The memory of a result that nobody else holds, with another shape: no view of anything.

    Args:
        input: a tensor that is not used afterwards.
        size: the sizes; one may be -1.
    """
    return wrap(ops.unsafe_view(input.c, as_dims(size, "_unsafe_view")))


def view_as(Tensor self not None, Tensor other not None):
    """The same memory with the shape of another tensor: ``self.view(other.shape)``.

    Args:
        other: the tensor with the wanted shape.

    Raises:
        ShapeError: the number of elements differs, or the view would need a copy.

    Example:
        >>> import zero
        >>> zero.arange(4).view_as(zero.ones(2, 2)).tolist()
        [[0, 1], [2, 3]]
    """
    return wrap(ops.view(self.c, other.c.sizes()))


def reshape(Tensor input not None, *sizes, shape=None):
    """The same elements with another shape: a view where that is possible, else a copy.

    Called as ``zero.reshape(x, (2, 3))``, ``x.reshape(2, 3)`` or ``x.reshape((2, 3))``.

    Args:
        input: tensor of any shape.
        sizes: the sizes; one may be -1 and follows from the others.
        shape: the same by name.

    Raises:
        ShapeError: the number of elements differs.

    Example:
        >>> import zero
        >>> zero.reshape(zero.arange(6), (3, -1)).tolist()
        [[0, 1], [2, 3], [4, 5]]
    """
    return wrap(ops.reshape(input.c, dims_given(sizes, shape, "reshape", "shape")))


def reshape_as(Tensor self not None, Tensor other not None):
    """The same elements with the shape of another tensor: ``self.reshape(other.shape)``.

    Args:
        other: the tensor with the wanted shape.

    Raises:
        ShapeError: the number of elements differs.

    Example:
        >>> import zero
        >>> zero.arange(4).reshape_as(zero.ones(2, 2)).tolist()
        [[0, 1], [2, 3]]
    """
    return wrap(ops.reshape(self.c, other.c.sizes()))


def flatten(Tensor input not None, start_dim=0, end_dim=-1):
    """Makes one dimension of several neighbouring ones.

    Args:
        input: tensor of any shape.
        start_dim: the first of them.
        end_dim: the last of them, included.

    Raises:
        IndexError: a dimension is out of range.
        ValueError: `start_dim` comes after `end_dim`.

    Example:
        >>> import zero
        >>> zero.flatten(zero.ones(2, 3, 4), 1).shape
        zero.Size([2, 12])
    """
    return wrap(ops.flatten(input.c, as_int(start_dim, "flatten", "start_dim"),
                            as_int(end_dim, "flatten", "end_dim")))


def ravel(Tensor input not None):
    """All elements in one dimension; a copy only where a view is impossible.

    Args:
        input: tensor of any shape.

    Example:
        >>> import zero
        >>> zero.ravel(zero.tensor([[1, 2], [3, 4]])).tolist()
        [1, 2, 3, 4]
    """
    cdef CDims one_dimension
    one_dimension.push_back(-1)
    return wrap(ops.reshape(input.c, one_dimension))


def expand(Tensor self not None, *args, size=None, implicit=False):
    """Repeats dimensions of size 1 without a copy.

    Args:
        args: the sizes, as ints or one tuple; -1 keeps a size. New dimensions come in front.
        size: the same by name.
        implicit: has no meaning outside PyTorch's compilers.

    Raises:
        ShapeError: a size other than 1 would change.

    Example:
        >>> import zero
        >>> zero.tensor([[1], [2]]).expand(2, 3).tolist()
        [[1, 1, 1], [2, 2, 2]]
    """
    return wrap(ops.expand(self.c, dims_given(args, size, "expand", "size")))


def expand_as(Tensor self not None, Tensor other not None):
    """Repeats dimensions of size 1 up to the shape of another tensor: ``self.expand(other.shape)``.

    Args:
        other: the tensor with the wanted shape.

    Raises:
        ShapeError: a size other than 1 would change.

    Example:
        >>> import zero
        >>> zero.tensor([[1], [2]]).expand_as(zero.ones(2, 2)).tolist()
        [[1, 1], [2, 2]]
    """
    return wrap(ops.expand(self.c, other.c.sizes()))


def broadcast_to(Tensor input not None, size):
    """Repeats dimensions of size 1 without a copy, as broadcasting does.

    Args:
        input: tensor of any shape.
        size: the sizes, an int, tuple or list; -1 keeps a size.

    Raises:
        ShapeError: a size other than 1 would change.

    Example:
        >>> import zero
        >>> zero.broadcast_to(zero.tensor([1, 2]), (2, 2)).tolist()
        [[1, 2], [1, 2]]
    """
    return wrap(ops.expand(input.c, as_dims(size, "broadcast_to")))


def transpose(Tensor input not None, dim0, dim1):
    """Swaps two dimensions; a view.

    Args:
        input: tensor of any shape.
        dim0: one dimension.
        dim1: the other.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> zero.transpose(zero.tensor([[1, 2], [3, 4]]), 0, 1).tolist()
        [[1, 3], [2, 4]]
    """
    return wrap(ops.transpose(input.c, as_int(dim0, "transpose", "dim0"),
                              as_int(dim1, "transpose", "dim1")))


def swapaxes(Tensor input not None, axis0, axis1):
    """NumPy's name for `transpose`.

    Args:
        input: tensor of any shape.
        axis0: one dimension.
        axis1: the other.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> zero.swapaxes(zero.ones(2, 3), 0, 1).shape
        zero.Size([3, 2])
    """
    return wrap(ops.transpose(input.c, as_int(axis0, "swapaxes", "axis0"),
                              as_int(axis1, "swapaxes", "axis1")))


def t(Tensor input not None):
    """The transpose of a matrix; a view. Tensors of fewer dimensions come back as they are.

    Args:
        input: tensor of at most two dimensions.

    Raises:
        ShapeError: there are more than two dimensions.

    Example:
        >>> import zero
        >>> zero.t(zero.tensor([[1, 2], [3, 4]])).tolist()
        [[1, 3], [2, 4]]
    """
    if input.c.dim() > 2:
        raise ShapeError(f"t: too many dimensions; got a tensor of shape {tuple(input.shape)}, "
                         "expected at most 2 dimensions; use transpose or permute")
    if input.c.dim() < 2:
        return wrap(ops.view(input.c, input.c.sizes()))
    return wrap(ops.transpose(input.c, 0, 1))


def permute(Tensor input not None, *args, dims=None):
    """Puts the dimensions into another order; a view.

    Called as ``zero.permute(x, (2, 0, 1))``, ``x.permute(2, 0, 1)`` or ``x.permute((2, 0, 1))``.

    Args:
        input: tensor of any shape.
        args: each dimension once, in the wanted order.
        dims: the same by name.

    Raises:
        IndexError: a dimension is out of range.
        ShapeError: a dimension is missing or repeated.

    Example:
        >>> import zero
        >>> zero.permute(zero.ones(2, 3, 4), (2, 0, 1)).shape
        zero.Size([4, 2, 3])
    """
    if not args and dims is None:
        return wrap(ops.permute(input.c, as_dims(args, "permute")))
    return wrap(ops.permute(input.c, dims_given(args, dims, "permute", "dims")))


def squeeze(Tensor input not None, dim=None):
    """Leaves out dimensions of size 1; a view.

    Args:
        input: tensor of any shape.
        dim: the dimension or dimensions to leave out if their size is 1; all such for None.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> x = zero.ones(1, 2, 1)
        >>> zero.squeeze(x).shape, zero.squeeze(x, 0).shape
        (zero.Size([2]), zero.Size([2, 1]))
    """
    if dim is None:
        return wrap(ops.squeeze_all(input.c))
    return wrap(ops.squeeze(input.c, as_dims(dim, "squeeze")))


def unsqueeze(Tensor input not None, dim):
    """Inserts a dimension of size 1; a view.

    Args:
        input: tensor of any shape.
        dim: where the new dimension shall stand, from ``-input.ndim - 1`` to ``input.ndim``.

    Raises:
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> zero.unsqueeze(zero.ones(3), 0).shape
        zero.Size([1, 3])
    """
    return wrap(ops.unsqueeze(input.c, as_int(dim, "unsqueeze", "dim")))


def select(Tensor input not None, dim, index):
    """One place along a dimension, which disappears; a view.

    Args:
        input: tensor of at least one dimension.
        dim: the dimension.
        index: the place; negative ones count from the end.

    Raises:
        IndexError: the dimension or the index is out of range.

    Example:
        >>> import zero
        >>> zero.select(zero.tensor([[1, 2], [3, 4]]), 1, 0).tolist()
        [1, 3]
    """
    return wrap(ops.select(input.c, as_int(dim, "select", "dim"), as_int(index, "select", "index")))


def narrow(Tensor input not None, dim, start, length):
    """A range of places along a dimension: ``start`` to ``start + length - 1``; a view.

    Args:
        input: tensor of at least one dimension.
        dim: the dimension.
        start: the first place; negative ones count from the end.
        length: how many places.

    Raises:
        IndexError: the dimension or the range is out of bounds.
        ShapeError: the tensor has no dimensions.

    Example:
        >>> import zero
        >>> zero.narrow(zero.arange(5), 0, 1, 3).tolist()
        [1, 2, 3]
    """
    cdef int64_t c_dim = as_int(dim, "narrow", "dim"), begin = as_int(start, "narrow", "start")
    cdef int64_t count = as_int(length, "narrow", "length"), size
    if isinstance(start, Tensor) and (<Tensor> start).c.dim() > 0:
        raise ShapeError(f"narrow: start is not one number; got a tensor of shape "
                         f"{tuple(start.shape)}, expected an int or a 0-d tensor")
    if input.c.dim() == 0:
        raise ShapeError("narrow: the tensor has no dimensions; expected at least one")
    c_dim = shapes.wrap_dim("narrow", c_dim, input.c.dim())
    size = input.c.size(c_dim)
    if begin < -size or begin > size:
        raise ZeroIndexError(f"narrow: start is out of range; got {begin}, expected {-size} to "
                             f"{size} for dimension {c_dim} of size {size}")
    if begin < 0:
        begin += size
    if count < 0 or count > size - begin:
        raise ZeroIndexError(f"narrow: length is out of range; got {count}, expected 0 to "
                             f"{size - begin} for start {begin} in dimension {c_dim} of size "
                             f"{size}")
    return wrap(ops.slice(input.c, c_dim, begin, begin + count, 1))


def unbind(Tensor input not None, dim=0):
    """All places along a dimension, which disappears, as a tuple of views.

    The views cannot be written in place where gradients are recorded.

    Args:
        input: tensor of at least one dimension.
        dim: the dimension.

    Raises:
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> [row.tolist() for row in zero.unbind(zero.tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    cdef CTensors parts = ops.unbind(input.c, as_int(dim, "unbind", "dim"))
    return wrap_all(parts)


def diagonal(Tensor input not None, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions, as the last dimension of a view.

    Args:
        input: tensor of at least two dimensions.
        offset: which diagonal: 0 the main one, above it if positive, below it if negative.
        dim1: the dimension of the rows.
        dim2: the dimension of the columns.

    Raises:
        IndexError: a dimension is out of range.
        ShapeError: there are fewer than two dimensions, or both are the same.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1, 2], [3, 4]])
        >>> zero.diagonal(x).tolist(), zero.diagonal(x, 1).tolist()
        ([1, 4], [2])
    """
    return wrap(ops.diagonal(input.c, as_int(offset, "diagonal", "offset"),
                             as_int(dim1, "diagonal", "dim1"), as_int(dim2, "diagonal", "dim2")))


cdef tuple parts_of(Tensor x, const CDims& lengths, int64_t dim):
    cdef CTensors parts = ops.split(x.c, lengths, dim)
    return wrap_all(parts)


cdef int check_parts(int64_t n, str op) except -1:
    if n > 0x7FFFFFFF:
        raise ZeroValueError(f"{op}: too many parts; got {n}, expected at most 2**31 - 1")
    return 0


# Parts of `step` places, the last one smaller; at least one.
cdef tuple even_parts(Tensor x, int64_t step, int64_t dim, str op):
    cdef CDims lengths
    cdef int64_t left = x.c.size(dim)
    if left > 0:
        check_parts((left - 1) // step + 1, op)
    while left > step:
        lengths.push_back(step)
        left -= step
    lengths.push_back(left)
    return parts_of(x, lengths, dim)


cdef int64_t dim_to_split(Tensor x, object dim, str op) except -1:
    if x.c.dim() == 0:
        raise ShapeError(f"{op}: a 0-d tensor has no dimension to split; expected at least one")
    return shapes.wrap_dim(op.encode(), dim_of(dim, op), x.c.dim())


def split(Tensor tensor not None, split_size_or_sections, dim=0):
    """Cuts a dimension into parts, as a tuple of views.

    The views cannot be written in place where gradients are recorded.

    Args:
        tensor: tensor of at least one dimension.
        split_size_or_sections: the size of each part (the last may be smaller), or a list of sizes.
        dim: the dimension.

    Raises:
        IndexError: the dimension is out of range.
        ShapeError: the sizes don't add up to that of the dimension.
        ValueError: the size of the parts is not positive.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.split(zero.arange(5), 2)]
        [[0, 1], [2, 3], [4]]
        >>> [part.tolist() for part in zero.split(zero.arange(5), [1, 4])]
        [[0], [1, 2, 3, 4]]
    """
    cdef int64_t d = dim_to_split(tensor, dim, "split"), step
    if isinstance(split_size_or_sections, (tuple, list)):
        return parts_of(tensor, as_dims(split_size_or_sections, "split"), d)
    step = as_int(split_size_or_sections, "split", "split_size")
    if step < 0 or (step == 0 and tensor.c.size(d) > 0):
        raise ZeroValueError(f"split: the size of the parts is not positive; got {step}")
    return even_parts(tensor, step, d, "split")


def tensor_split(Tensor self not None, split_size, dim=0):
    """`split` as the method's argument names have it: ``x.split(split_size, dim)``.

    Args:
        split_size: the size of each part (the last may be smaller), or a list of sizes.
        dim: the dimension.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.arange(5).split(3)]
        [[0, 1, 2], [3, 4]]
    """
    return split(self, split_size, dim)


def chunk(Tensor input not None, chunks, dim=0):
    """Cuts a dimension into a number of parts of equal size, as a tuple of views.

    The last part may be smaller, and there may be fewer than asked for.

    Args:
        input: tensor of at least one dimension.
        chunks: how many parts.
        dim: the dimension.

    Raises:
        IndexError: the dimension is out of range.
        ValueError: `chunks` is not positive.

    Example:
        >>> import zero
        >>> [part.tolist() for part in zero.chunk(zero.arange(5), 2)]
        [[0, 1, 2], [3, 4]]
    """
    cdef int64_t d = dim_to_split(input, dim, "chunk"), n = as_int(chunks, "chunk", "chunks"), step
    cdef CDims lengths
    if n <= 0:
        raise ZeroValueError(f"chunk: the number of parts is not positive; got {n}")
    if input.c.size(d) == 0:
        check_parts(n, "chunk")
        lengths.resize(n)
        return parts_of(input, lengths, d)
    step = (input.c.size(d) - 1) // n + 1
    return even_parts(input, step, d, "chunk")


swapdims = transpose

as_methods("""
    reshape flatten ravel broadcast_to transpose swapaxes swapdims t permute squeeze unsqueeze
    select narrow unbind diagonal chunk
""")
as_methods_only("""
    view view_as reshape_as expand expand_as
""")
as_method("split", tensor_split)
