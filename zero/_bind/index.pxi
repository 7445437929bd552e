# Basic indexing: x[1, 2:5, None, ..., ::2] gives views, and writes go through them.
cdef extern from "Python.h":
    int PySlice_Unpack(object s, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t* step) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t n, Py_ssize_t* start, Py_ssize_t* stop,
                                     Py_ssize_t step) noexcept


cdef bint index_value(object item, int64_t* out) except -1:
    """Whether item stands for an int."""
    if PyBool_Check(item):
        return False
    if PyLong_Check(item):
        out[0] = int64_of(item, "index", "an index")
        return True
    if isinstance(item, Tensor):
        if (<Tensor> item).c.dim() > 0 or is_floating((<Tensor> item).c.dtype()) \
                or (<Tensor> item).c.dtype() == CDType.Bool:
            return False
        out[0] = ops.item((<Tensor> item).c).to_int()
        return True
    if PyIndex_Check(item) and getattr(item, "shape", ()) == ():
        out[0] = int64_of(item.__index__(), "index", "an index")
        return True
    return False


cdef int not_an_index(object item) except -1:
    """Raises for what basic indexing does not take."""
    if isinstance(item, (Tensor, list, tuple, range, type(True))) or has_array(item):
        raise NotImplementedError(
            f"index: indexing by tensors, arrays, lists and bools is not supported yet; got "
            f"{type_name(item)}, expected ints, slices, None and ...")
    raise ZeroIndexError(f"index: not an index; got {short_repr(item)} of type {type_name(item)}, "
                         "expected ints, slices, None and ...")


cdef CTensor sliced(const CTensor& x, int64_t dim, object item) except *:
    """x with the slice `item` of dimension `dim`."""
    cdef Py_ssize_t start, stop, step, n
    if dim >= x.dim():
        too_many_indices(x)
    n = <Py_ssize_t> x.size(dim)
    if item.start is None and item.stop is None and item.step is None:
        return x
    if item.step is not None and as_int(item.step, "index", "a step") < 1:
        raise ZeroValueError(f"index: the step of a slice is not positive; got {item.step}, "
                             "expected a step of at least 1")
    PySlice_Unpack(item, &start, &stop, &step)
    PySlice_AdjustIndices(n, &start, &stop, step)
    if start == 0 and stop == n and step == 1:
        return x
    return ops.slice(x, dim, start, stop, step)


cdef int too_many_indices(const CTensor& x) except -1:
    raise ZeroIndexError(f"index: too many indices; got more than the tensor of shape "
                         f"{tuple_of(x.sizes())} has dimensions, expected at most {x.dim()}")


cdef CTensor apply_index(const CTensor& x, object index) except *:
    """The view that x[index] is; x itself where the index selects all of it."""
    cdef CTensor result = x
    cdef tuple items = tuple(index) if isinstance(index, tuple) else (index,)
    cdef int64_t dim = 0, at = 0, used = 0, dims = x.dim()
    cdef bint ellipsis = False
    for item in items:  # errors before anything is made
        if item is None:
            continue
        if item is Ellipsis:
            if ellipsis:
                raise ZeroIndexError("index: more than one ellipsis; got several ..., expected one")
            ellipsis = True
        else:
            if not isinstance(item, slice) and not index_value(item, &at):
                not_an_index(item)
            used += 1
    if used > dims:
        too_many_indices(x)
    for item in items:
        if item is None:
            result = ops.unsqueeze(result, dim)
            dim += 1
        elif item is Ellipsis:
            dim += dims - used
        elif isinstance(item, slice):
            result = sliced(result, dim, item)
            dim += 1
        else:
            index_value(item, &at)
            result = ops.select(result, dim, at)
    return result


cdef object get_item(Tensor x, object index):
    cdef CTensor result
    if PyLong_CheckExact(index):
        return wrap(ops.select(x.c, 0, int64_of(index, "index", "an index")))
    result = apply_index(x.c, index)
    if result.is_same(x.c):  # x[...] is a view of its own
        return wrap(ops.view(x.c, x.c.sizes()) if x.c.is_contiguous() else
                    ops.as_strided(x.c, x.c.sizes(), x.c.strides(), x.c.storage_offset()))
    return wrap(move(result))


cdef bint same_place(const CTensor& a, const CTensor& b) noexcept:
    return a.data() == b.data() and a.data() is not NULL and a.dtype() == b.dtype() \
        and a.sizes() == b.sizes() and a.strides() == b.strides()


cdef int set_item(Tensor x, object index, object value) except -1:
    cdef CTensor place = apply_index(x.c, index)
    cdef CTensor source
    cdef CScalar number
    cdef CDims sizes
    cdef int64_t i, extra
    if not isinstance(value, Tensor) and number_of(value, &number, "index", "the value"):
        ops.fill_number_(place, number)
        return 0
    if isinstance(value, Tensor):
        source = (<Tensor> value).c
    else:
        source = tensor_from(value, dtype_object(x.c.dtype()) if not has_array(value) else None,
                             x.c.device(), False)
    if same_place(place, source) and meta.requires_grad(place) == meta.requires_grad(source):
        # x[i] += y has written already
        inplace.check_inplace(b"copy_", place, meta.requires_grad(place) or
                              meta.requires_grad(source))
        return 0
    extra = source.dim() - place.dim()
    if extra > 0:  # leading dimensions of size 1 are dropped
        for i in range(source.dim()):
            if i >= extra or source.size(i) != 1:
                sizes.push_back(source.size(i))
        if sizes.size() == place.dim():
            source = ops.reshape(source, sizes)
    ops.copy_(place, source)
    return 0
