# Views of any strides, windows, views and other sizes in place, and tensors with strides that are
# asked for.


cdef Tensor strided_view(str op, Tensor input, size, stride, storage_offset):
    cdef int64_t offset = input.c.storage_offset()
    if storage_offset is not None:
        offset = as_int(storage_offset, op, "storage_offset")
    return wrap(ops.as_strided(input.c, as_dims(size, op), as_dims(stride, op), offset))


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
    return strided_view("as_strided", input, size, stride, storage_offset)


def unfold(Tensor self not None, dimension, size, step):
    """All windows of a size along a dimension, as a last dimension; a view.

    Args:
        dimension: the dimension that the windows move along; its size becomes their number.
        size: the size of each window.
        step: how far it is from one window to the next.

    Raises:
        IndexError: the dimension is out of range.
        ShapeError: the window is larger than the dimension.

    Example:
        >>> import zero
        >>> zero.arange(5).unfold(0, 3, 1).tolist()
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    return wrap(ops.unfold(self.c, as_int(dimension, "unfold", "dimension"),
                           as_int(size, "unfold", "size"), as_int(step, "unfold", "step")))


def squeeze_(Tensor self not None, dim=None):
    """`squeeze` in place: the tensor itself gets the shape."""
    ops.restride_(b"squeeze_", self.c, ops.squeeze_all(self.c) if dim is None else
                  ops.squeeze(self.c, as_dims(dim, "squeeze_")))
    return self


def unsqueeze_(Tensor self not None, dim):
    """`unsqueeze` in place: the tensor itself gets the shape."""
    ops.restride_(b"unsqueeze_", self.c, ops.unsqueeze(self.c, as_int(dim, "unsqueeze_", "dim")))
    return self


def transpose_(Tensor self not None, dim0, dim1):
    """`transpose` in place: the tensor itself gets the order of dimensions."""
    ops.restride_(b"transpose_", self.c, ops.transpose(self.c, as_int(dim0, "transpose_", "dim0"),
                                                       as_int(dim1, "transpose_", "dim1")))
    return self


def swapaxes_(Tensor self not None, axis0, axis1):
    """`swapaxes` in place: the tensor itself gets the order of dimensions."""
    ops.restride_(b"swapaxes_", self.c, ops.transpose(self.c, as_int(axis0, "swapaxes_", "axis0"),
                                                      as_int(axis1, "swapaxes_", "axis1")))
    return self


def swapdims_(Tensor self not None, dim0, dim1):
    """`swapdims` in place: the tensor itself gets the order of dimensions."""
    ops.restride_(b"swapdims_", self.c, ops.transpose(self.c, as_int(dim0, "swapdims_", "dim0"),
                                                      as_int(dim1, "swapdims_", "dim1")))
    return self


def t_(Tensor self not None):
    """`t` in place: the tensor itself is transposed."""
    cdef Tensor transposed = t(self)
    ops.restride_(b"t_", self.c, transposed.c)
    return self


def as_strided_(Tensor self not None, size, stride, storage_offset=None):
    """`as_strided` in place: the tensor itself shows its memory with these sizes and strides."""
    cdef Tensor shown = strided_view("as_strided_", self, size, stride, storage_offset)
    ops.restride_(b"as_strided_", self.c, shown.c)
    return self


def resize_(Tensor self not None, *args, size=None, memory_format=None):
    """Gives the tensor itself other sizes, row-major, over the same memory.

    More elements than there is room for lie in new memory, which begins with what the old held; the
    others are undefined. Views of the tensor keep the old memory.

    Args:
        args: the sizes, as ints or one tuple.
        size: the same by name.
        memory_format: None or zero.contiguous_format.

    Raises:
        RuntimeError: the tensor requires grad.

    Example:
        >>> import zero
        >>> zero.tensor([[1, 2], [3, 4]]).resize_(3)
        tensor([1, 2, 3])
    """
    only_contiguous(memory_format, "resize_")
    ops.resize_(self.c, dims_given(args, size, "resize_", "size") if args or size is not None
                else as_dims(args, "resize_"))
    return self


def resize_as_(Tensor self not None, Tensor the_template not None, *, memory_format=None):
    """`resize_` to the shape of another tensor.

    Args:
        the_template: the tensor with the wanted shape.
        memory_format: None or zero.contiguous_format.

    Example:
        >>> import zero
        >>> zero.tensor([1, 2, 3, 4]).resize_as_(zero.ones(2, 2)).tolist()
        [[1, 2], [3, 4]]
    """
    only_contiguous(memory_format, "resize_as_")
    ops.resize_(self.c, the_template.c.sizes())
    return self


def resize(Tensor self not None, *size):
    """The older name of `reshape` for as many elements; a new tensor with a gradient.

    Args:
        size: the sizes, as ints or one tuple.

    Raises:
        ShapeError: the number of elements differs.

    Example:
        >>> import zero
        >>> zero.arange(4).resize(2, 2).tolist()
        [[0, 1], [2, 3]]
    """
    return wrap(ops.reshape(self.c, as_dims(size, "resize")))


def resize_as(Tensor self not None, Tensor tensor not None):
    """The older name of `reshape_as`."""
    return wrap(ops.reshape(self.c, tensor.c.sizes()))


cdef int only_contiguous(object format, str op) except -1:
    if format is not None and format is not contiguous_format and format is not preserve_format:
        raise NotImplementedError(f"{op}: this memory format is not supported; got {format!r}, "
                                  "expected zero.contiguous_format")
    return 0


cdef CTensor strided_tensor(CDims sizes, CDims strides, CTensorOptions options, str op) except *:
    cdef int64_t i
    if sizes.size() != strides.size():
        raise ShapeError(f"{op}: not one stride per size; got {tuple_of(strides)} for "
                         f"{tuple_of(sizes)}, expected as many")
    for i in range(strides.size()):
        if sizes[i] < 0 or strides[i] < 0:
            raise ZeroValueError(f"{op}: a size or stride is negative; got {tuple_of(sizes)} and "
                                 f"{tuple_of(strides)}, expected numbers >= 0")
    return core.empty_strided(sizes, strides, options)


cdef int only_plain(object layout, object pin_memory, str op) except -1:
    if layout is not None and layout is not strided:
        raise NotImplementedError(f"{op}: this layout is not supported; got {layout!r}, expected "
                                  "zero.strided")
    flag_of(pin_memory, op, "pin_memory")
    return 0


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False,
                  pin_memory=False):
    """A tensor of given sizes and strides whose elements are whatever the memory held.

    Args:
        size: the sizes.
        stride: how many elements apart neighbours are, for each dimension.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ShapeError: there is not one stride per size.
        ValueError: a size or stride is negative.

    Example:
        >>> import zero
        >>> zero.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    only_plain(layout, pin_memory, "empty_strided")
    return finish(strided_tensor(as_dims(size, "empty_strided"), as_dims(stride, "empty_strided"),
                                 as_options(dtype, device, "empty_strided"), "empty_strided"),
                  requires_grad, pin_memory)


def new_empty_strided(Tensor self not None, size, stride, *, dtype=None, layout=None, device=None,
                      requires_grad=False, pin_memory=False):
    """`zero.empty_strided`, by default of this dtype and device.

    Example:
        >>> import zero
        >>> zero.arange(2).new_empty_strided((2, 3), (1, 2)).dtype
        zero.int64
    """
    only_plain(layout, pin_memory, "new_empty_strided")
    return finish(strided_tensor(as_dims(size, "new_empty_strided"),
                                 as_dims(stride, "new_empty_strided"),
                                 options_like(self, dtype, device, "new_empty_strided"),
                                 "new_empty_strided"), requires_grad, pin_memory)


def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None,
                   requires_grad=False, pin_memory=False):
    """A tensor of given sizes whose dimensions lie in a given order in memory, without gaps; its
    elements are whatever the memory held.

    Args:
        size: the sizes.
        physical_layout: the dimensions, from the one with the largest steps to the one whose
            elements are neighbours.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ShapeError: a dimension is missing or repeated.

    Example:
        >>> import zero
        >>> zero.empty_permuted((2, 3, 4), (0, 2, 1)).stride()
        (12, 1, 3)
    """
    cdef CDims sizes = as_dims(size, "empty_permuted"), order, strides
    cdef int64_t i, step = 1
    only_plain(layout, pin_memory, "empty_permuted")
    order = as_dims(physical_layout, "empty_permuted")
    if sorted(tuple_of(order)) != list(range(sizes.size())):
        raise ShapeError(f"empty_permuted: not each dimension once; got {tuple_of(order)} for "
                         f"{tuple_of(sizes)}, expected the numbers 0 to {sizes.size() - 1}")
    strides.resize(sizes.size())
    for i in range(sizes.size() - 1, -1, -1):
        strides.data()[order[i]] = step
        if sizes[order[i]] > 1:
            step *= sizes[order[i]]
    return finish(strided_tensor(sizes, strides, as_options(dtype, device, "empty_permuted"),
                                 "empty_permuted"), requires_grad, pin_memory)


def is_set_to(Tensor self not None, Tensor tensor not None):
    """Whether another tensor shows the same memory with the same sizes and strides."""
    return same_place(self.c, tensor.c)


def untyped_storage(Tensor self not None):
    """All bytes of the memory that this tensor is a part of.

    Example:
        >>> import zero
        >>> zero.ones(3)[1:].untyped_storage().nbytes()
        12
    """
    from zero.storage import UntypedStorage
    return UntypedStorage(wrap(ops.storage_bytes(self.c)))


def storage(Tensor self not None):
    """All elements of the memory that this tensor is a part of.

    Example:
        >>> import zero
        >>> zero.arange(3)[1:].storage().tolist()
        [0, 1, 2]
    """
    from zero.storage import TypedStorage
    cdef CTensor memory = ops.storage_bytes(self.c)
    cdef int64_t item = itemsize(self.c.dtype())
    return TypedStorage(wrap(ops.view_as_type(
        ops.slice(memory, 0, 0, memory.numel() // item * item, 1), self.c.dtype())))


def set_(Tensor self not None, source=None, storage_offset=0, size=None, stride=None):
    """Makes the tensor show other memory: that of another tensor, or a part of a storage.

    Args:
        source: a tensor, or what `storage()` or `untyped_storage()` gives; None for no elements.
        storage_offset: where it begins in the storage, in elements.
        size: its sizes; all of the storage for None.
        stride: its strides; row-major for None.

    Raises:
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> x = zero.zeros(2)
        >>> x.set_(zero.ones(3).storage(), 1, (2,))
        tensor([1., 1.])
    """
    cdef CTensor shown
    cdef CDims sizes
    cdef int64_t offset = as_int(storage_offset, "set_", "storage_offset")
    if source is None:
        sizes.push_back(0)
        shown = core.empty(sizes, self.c.options())
    elif isinstance(source, Tensor):
        shown = (<Tensor> source).c
    else:
        if not isinstance(getattr(source, "_data", None), Tensor):
            raise TypeError(f"set_: source is of another type; got {type_name(source)}, "
                            "expected a tensor or a storage")
        shown = (<Tensor> source._data).c
        if shown.dtype() != self.c.dtype() and hasattr(source, "nbytes") \
                and not hasattr(source, "dtype"):
            shown = ops.view_as_type(shown, self.c.dtype())
        if size is None:
            sizes = shown.sizes()
        else:
            sizes = as_dims(size, "set_")
    if shown.dtype() != self.c.dtype():
        raise DTypeError(f"set_: dtypes differ; got {dtype_object(shown.dtype())}, expected "
                         f"{dtype_object(self.c.dtype())}")
    if source is not None and (not isinstance(source, Tensor) or size is not None):
        if isinstance(source, Tensor):
            sizes = as_dims(size, "set_")
        shown = ops.as_strided(inplace.detach(shown), sizes,
                               shapes.contiguous_strides(sizes) if stride is None
                               else as_dims(stride, "set_"),
                               offset)
    inplace.set_data(self.c, shown)
    return self


as_methods("as_strided as_strided_ resize_as_")
as_methods_only("""
    unfold squeeze_ unsqueeze_ transpose_ swapaxes_ swapdims_ t_ resize_ resize resize_as
    new_empty_strided is_set_to untyped_storage storage set_
""")
