# Indexing. Ints, slices, None and ... make a view; tensors, arrays, lists and bools then name
# places in it: a read copies those, a write reaches them in the view's memory.
cdef extern from "Python.h":
    int PySlice_Unpack(object s, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t* step) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t n, Py_ssize_t* start, Py_ssize_t* stop,
                                     Py_ssize_t step) noexcept

cdef extern from *:
    """
    #include "zero/autograd/inplace.h"

    // For x[...] = value: the functions that write would name themselves in an error.
    static void zero_check_assignment(const zero::Tensor& place, const zero::Tensor& value) {
      zero::check_inplace("index", place, zero::needs_history({&place, &value}));
    }
    """
    void check_assignment "zero_check_assignment"(const CTensor& place,
                                                  const CTensor& value) except +raise_error


cdef bint is_mask(const CTensor& x) noexcept:
    """uint8, too, as in PyTorch, from the time before it had bool."""
    return x.dtype() == CDType.Bool or x.dtype() == CDType.UInt8


cdef bint is_numpy_bool(object item) except -1:
    return getattr(getattr(item, "dtype", None), "kind", None) == "b" and item.shape == ()


cdef bint index_value(object item, int64_t* out) except -1:
    """Whether item stands for an int."""
    if PyBool_Check(item):
        return False
    if PyLong_Check(item):
        out[0] = int64_of(item, "index", "an index")
        return True
    if isinstance(item, Tensor):
        if (<Tensor> item).c.dim() > 0 or is_floating((<Tensor> item).c.dtype()) \
                or is_mask((<Tensor> item).c):
            return False
        out[0] = ops.item((<Tensor> item).c).to_int()
        return True
    if PyIndex_Check(item) and getattr(item, "shape", ()) == () and not is_numpy_bool(item):
        out[0] = int64_of(item.__index__(), "index", "an index")
        return True
    return False


cdef object not_an_index(object item):
    raise ZeroIndexError(f"index: not an index; got {short_repr(item)} of type {type_name(item)}, "
                         "expected ints, slices, None, ..., or tensors, arrays and lists of ints "
                         "or bools")


cdef object as_index(object item):
    """A bool, or a tensor of at least one dimension: what takes the indexing beyond views."""
    cdef Tensor x
    if PyBool_Check(item):
        return item
    if isinstance(item, Tensor):
        x = item
    elif is_numpy_bool(item):
        return item.__bool__()
    elif isinstance(item, (list, tuple, range)) or has_array(item):
        x = wrap(tensor_from(item, None, CDevice.Cpu, False))
        if isinstance(item, (list, tuple, range)) and x.c.numel() == 0:  # [] has no dtype
            x = wrap(ops.to(x.c, CDType.Int64, CDevice.Cpu, False))
    else:
        return not_an_index(item)
    if is_floating(x.c.dtype()):
        return not_an_index(item)
    return ops.item(x.c).to_bool() != 0 if x.c.dim() == 0 else x


cdef tuple index_items(object index):
    """The items of an index. A list of more than numbers is taken for a tuple, as in PyTorch, which
    warns that this will change."""
    if isinstance(index, tuple):
        return tuple(index)
    if isinstance(index, list) and len(index) < 32:
        for item in index:
            if item is None or item is Ellipsis or isinstance(item, (slice, list, tuple, Tensor)):
                import warnings
                warnings.warn("index: a list of lists, tensors or slices is taken for a tuple, "
                              "x[tuple(index)]; write that, or x[zero.tensor(index)] for an array "
                              "of indices", UserWarning, stacklevel=2)
                return tuple(index)
    return (index,)


cdef CTensor sliced(const CTensor& x, int64_t dim, object item) except *:
    """x with the slice `item` of dimension `dim`."""
    cdef Py_ssize_t start, stop, step, n, first, last
    if dim >= x.dim():
        too_many_indices(x)
    n = <Py_ssize_t> x.size(dim)
    if item.start is None and item.stop is None and item.step is None:
        return x
    if item.step is not None and as_int(item.step, "index", "a step") < 1:
        raise ZeroValueError(f"index: the step of a slice is not positive; got {item.step}, "
                             "expected a step of at least 1")
    PySlice_Unpack(item, &start, &stop, &step)
    first, last = start, stop
    PySlice_AdjustIndices(n, &start, &stop, step)
    if first == 0 and last >= n and step == 1:  # 0:-1 is a slice, also of nothing
        return x
    return ops.slice(x, dim, start, stop, step)


cdef int too_many_indices(const CTensor& x) except -1:
    raise ZeroIndexError(f"index: too many indices; got more than the tensor of shape "
                         f"{tuple_of(x.sizes())} has dimensions, expected at most {x.dim()}")


cdef CTensor apply_index(const CTensor& x, object index, CTensors* indices) except *:
    """The view that x[index] starts from; x itself where that is all of it. To *indices go the
    tensors that select from the view, one per dimension or mask, undefined where there is none."""
    cdef CTensor result = x
    cdef tuple items = index_items(index)
    cdef list known = None  # the items with tensors for arrays, lists and the like
    cdef int64_t dim = 0, at = 0, used = 0, dims = x.dim(), covered = 0, i
    cdef bint ellipsis = False
    for i, item in enumerate(items):  # errors before anything is made
        if item is None:
            continue
        if item is Ellipsis:
            if ellipsis:
                raise ZeroIndexError("index: more than one ellipsis; got several ..., expected one")
            ellipsis = True
        elif isinstance(item, slice) or index_value(item, &at):
            used += 1
        else:
            if known is None:
                known = list(items)
            item = known[i] = as_index(item)
            if isinstance(item, Tensor):
                used += (<Tensor> item).c.dim() if is_mask((<Tensor> item).c) else 1
    if used > dims:
        too_many_indices(x)
    for item in (items if known is None else known):
        if item is None:
            result = ops.unsqueeze(result, dim)
            dim += 1
        elif item is Ellipsis:
            dim += dims - used
        elif isinstance(item, slice):
            result = sliced(result, dim, item)
            dim += 1
        elif known is None or not (PyBool_Check(item) or isinstance(item, Tensor)
                                   and not index_value(item, &at)):
            index_value(item, &at)
            result = ops.select(result, dim, at)
        else:
            while covered < dim:
                indices.push_back(CTensor())
                covered += 1
            if PyBool_Check(item):  # all of a new dimension of size 1, or nothing of it
                result = ops.unsqueeze(result, dim)
                indices.push_back(places_of_bool(item is True))
                covered += 1
            else:
                indices.push_back((<Tensor> item).c)
                covered += (<Tensor> item).c.dim() if is_mask((<Tensor> item).c) else 1
            dim = covered
    return result


cdef CTensor places_of_bool(bint on) except *:
    cdef CDims sizes
    cdef CTensorOptions options
    sizes.push_back(1 if on else 0)
    options.dtype = CDType.Int64
    return ops.zeros(sizes, options)


cdef object get_item(Tensor x, object index):
    cdef CTensor result
    cdef CTensors indices
    if PyLong_CheckExact(index):
        return wrap(ops.select(x.c, 0, int64_of(index, "index", "an index")))
    result = apply_index(x.c, index, &indices)
    if indices.size() > 0:
        return wrap(ops.index(result, indices))
    if result.is_same(x.c):  # x[...] is a view of its own, x[:] a slice even if it is all of x
        if isinstance(index, slice):
            return wrap(ops.slice(x.c, 0, 0, x.c.size(0), 1))
        return wrap(ops.whole_view(x.c))
    return wrap(move(result))


cdef bint same_place(const CTensor& a, const CTensor& b) noexcept:
    return a.data() == b.data() and a.data() is not NULL and a.numel() > 0 \
        and a.dtype() == b.dtype() and a.sizes() == b.sizes() and a.strides() == b.strides()


cdef bint fill_mask(const CTensor& place, CTensors& indices, object value) except -1:
    """Whether this was place[mask] = a number, which needs no list of places; then it is done."""
    cdef int64_t last = indices.size() - 1, i
    cdef CTensor mask = indices[last]
    cdef CDims sizes
    cdef CScalar number
    if mask.dtype() != CDType.Bool or place.is_meta() or mask.is_meta():
        return False
    for i in range(last):
        if indices[i].defined():
            return False
    for i in range(mask.dim()):
        if mask.size(i) != place.size(last + i):
            return False  # indexing says what is wrong
        sizes.push_back(mask.size(i))
    for i in range(last + mask.dim(), place.dim()):
        sizes.push_back(1)
    if not number_of(value, &number, "index", "the value"):
        return False
    check_assignment(place, place)
    if mask.dim() < sizes.size():
        mask = ops.view(ops.contiguous(mask), sizes)
    ops.masked_fill(place, mask, COperand(number), inplace.inplace(place))
    return True


cdef CTensor value_for(Tensor x, object value) except *:
    """The right side of an assignment to elements of x, as a tensor."""
    cdef CScalar number
    if isinstance(value, Tensor):
        return (<Tensor> value).c
    if number_of(value, &number, "index", "the value"):
        return ops.scalar_tensor(number, x.c.options())
    return tensor_from(value, dtype_object(x.c.dtype()) if not has_array(value) else None,
                       x.c.device(), False)


cdef CTensor without_leading_ones(const CTensor& source, int64_t dims) except *:
    """Leading dimensions of size 1 are dropped where there are more than `dims`."""
    cdef CDims sizes
    cdef int64_t i, extra = source.dim() - dims
    if extra <= 0:
        return source
    for i in range(source.dim()):
        if i >= extra or source.size(i) != 1:
            sizes.push_back(source.size(i))
    return ops.reshape(source, sizes) if sizes.size() == dims else source


cdef int set_item(Tensor x, object index, object value) except -1:
    cdef CTensors indices
    cdef CTensor place = apply_index(x.c, index, &indices)
    cdef CTensor source
    cdef CScalar number
    if indices.size() > 0:
        if isinstance(value, Tensor) or not fill_mask(place, indices, value):
            ops.set_index(place, indices, value_for(x, value))
        return 0
    if not isinstance(value, Tensor) and number_of(value, &number, "index", "the value"):
        check_assignment(place, place)
        ops.fill_number_(place, number)
        return 0
    source = value_for(x, value)
    if same_place(place, source) and meta.requires_grad(place) == meta.requires_grad(source):
        # x[i] += y has written already
        check_assignment(place, source)
        inplace.count_write(place)
        return 0
    source = without_leading_ones(source, place.dim())
    if not shapes.expands_to(source.sizes(), place.sizes()):
        raise ShapeError(f"index: the values do not broadcast; got {tuple_of(source.sizes())}, "
                         f"expected a shape that broadcasts to {tuple_of(place.sizes())}")
    check_assignment(place, source)
    ops.copy_(place, source)
    return 0
