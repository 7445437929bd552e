# Sorting and selection along a dimension.

cdef object sort_result = _return_types.sort
cdef object topk_result = _return_types.topk
cdef object kthvalue_result = _return_types.kthvalue
cdef object median_result = _return_types.median
cdef object nanmedian_result = _return_types.nanmedian
cdef object mode_result = _return_types.mode


cdef object deliver_named(object type, const pair[CTensor, CTensor]& both, object out, str op):
    """A pair under the names of a result type, or copied to `out`."""
    if out is not None:
        return type(deliver_two(both, out, op))
    return named_pair(type, both)


cdef object one_dim(object dim, object axis, str op):
    return dim if axis is None else numpy_names(None if dim == -1 else dim, False, axis, None,
                                                op)[0]


def sort(Tensor input not None, dim=-1, descending=False, *, stable=None, out=None, axis=None):
    """The elements along a dimension in order, and where each stood.

    Equal elements always keep their order. nan counts as largest.

    Args:
        input: tensor of any shape.
        dim: the dimension.
        descending: whether the largest element comes first.
        stable: the order of equal elements is kept in any case.
        out: a pair of tensors to write to.
        axis: NumPy's name for `dim`.

    Returns:
        The pair ``(values, indices)``, both of the shape of `input`.

    Raises:
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> values, indices = zero.sort(zero.tensor([3, 1, 2]))
        >>> values.tolist(), indices.tolist()
        ([1, 2, 3], [1, 2, 0])

    Source: radix sort, least significant digit first: Knuth, The Art of Computer Programming,
    volume 3, section 5.2.5.
    """
    if stable is not None:
        flag_of(stable, "sort", "stable")
    return deliver_named(sort_result, ops.sort(input.c, dim_of(one_dim(dim, axis, "sort"), "sort"),
                                               flag_of(descending, "sort", "descending")),
                         out, "sort")


def argsort(Tensor input not None, dim=-1, descending=False, *, stable=False, out=None, axis=None):
    """The indices that put the elements along a dimension in order.

    Equal elements always keep their order. nan counts as largest.

    Args:
        input: tensor of any shape.
        dim: the dimension.
        descending: whether the largest element comes first.
        stable: the order of equal elements is kept in any case.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.

    Raises:
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> zero.argsort(zero.tensor([3, 1, 2])).tolist()
        [1, 2, 0]
    """
    flag_of(stable, "argsort", "stable")
    return deliver(ops.argsort(input.c, dim_of(one_dim(dim, axis, "argsort"), "argsort"),
                               flag_of(descending, "argsort", "descending")), out, "argsort")


def msort(Tensor input not None, *, out=None):
    """The elements along the first dimension in order: the values of ``zero.sort(input, dim=0)``.

    Args:
        input: tensor of any shape.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.msort(zero.tensor([[3, 1], [2, 4]])).tolist()
        [[2, 1], [3, 4]]
    """
    return deliver(ops.sort(input.c, 0, False).first, out, "msort")


def topk(Tensor input not None, k, dim=None, largest=True, sorted=True, *, out=None, axis=None):
    """The k largest or smallest elements along a dimension, and where they stand.

    They are in order; of equal ones the first are taken. nan counts as largest.

    Args:
        input: tensor of any shape.
        k: how many.
        dim: the dimension; None is the last.
        largest: False for the smallest.
        sorted: the elements are in order in any case.
        out: a pair of tensors to write to.
        axis: NumPy's name for `dim`.

    Returns:
        The pair ``(values, indices)``, both with size k along the dimension.

    Raises:
        IndexError: the dimension is out of range, or has less than k elements.

    Example:
        >>> import zero
        >>> values, indices = zero.topk(zero.tensor([1.0, 4.0, 3.0]), 2)
        >>> values.tolist(), indices.tolist()
        ([4.0, 3.0], [1, 2])
    """
    flag_of(sorted, "topk", "sorted")
    dim = one_dim(-1 if dim is None else dim, axis, "topk")
    return deliver_named(topk_result, ops.topk(input.c, as_int(k, "topk", "k"), dim_of(dim, "topk"),
                                               flag_of(largest, "topk", "largest")), out, "topk")


def kthvalue(Tensor input not None, k, dim=-1, keepdim=False, *, out=None):
    """The k-th smallest element along a dimension, and where it stands.

    It is the one at place k - 1 of :func:`zero.sort`. nan counts as largest.

    Args:
        input: tensor of any shape, not empty along the dimension.
        k: which, from 1 on.
        dim: the dimension.
        keepdim: whether the dimension stays, with size 1.
        out: a pair of tensors to write to.

    Returns:
        The pair ``(values, indices)``.

    Raises:
        IndexError: the dimension or k is out of range.

    Example:
        >>> import zero
        >>> value, index = zero.kthvalue(zero.tensor([3.0, 1.0, 2.0]), 2)
        >>> value.item(), index.item()
        (2.0, 2)

    Source: selection by digits: Knuth, The Art of Computer Programming, volume 3, section 5.3.3.
    """
    return deliver_named(kthvalue_result,
                         ops.kthvalue(input.c, as_int(k, "kthvalue", "k"), dim_of(dim, "kthvalue"),
                                      flag_of(keepdim, "kthvalue", "keepdim")), out, "kthvalue")


cdef bint over_all(object dim, object keepdim, str op) except -1:
    if dim is None and flag_of(keepdim, op, "keepdim"):
        raise TypeError(f"{op}: keepdim needs a dim; expected {op}(x, dim, keepdim=True)")
    return dim is None


def median(Tensor input not None, dim=None, keepdim=False, *, out=None):
    """The middle element, of all or along a dimension; of two middle ones the smaller.

    ``median(x)`` gives one tensor without dimensions, whose gradient equal elements share evenly.
    ``median(x, dim)`` gives the pair ``(values, indices)``. Where there is a nan, it is the median.

    Args:
        input: tensor of any shape, not empty along the dimension.
        dim: the dimension.
        keepdim: whether the dimension stays, with size 1.
        out: where to write the result: a tensor of its shape, or one without elements;
            for a pair, two such tensors.

    Raises:
        IndexError: the dimension is out of range, or has size 0.

    Example:
        >>> import zero
        >>> zero.median(zero.tensor([3.0, 1.0, 2.0, 4.0])).item()
        2.0
        >>> zero.median(zero.tensor([[3.0, 1.0, 2.0]]), dim=1).indices.tolist()
        [2]
    """
    if over_all(dim, keepdim, "median"):
        return deliver(ops.median_of_all(input.c), out, "median")
    return deliver_named(median_result,
                         ops.median(input.c, dim_of(dim, "median"),
                                    flag_of(keepdim, "median", "keepdim")), out, "median")


def nanmedian(Tensor input not None, dim=None, keepdim=False, *, out=None):
    """The middle element of those that are not nan; of two middle ones the smaller.

    As :func:`zero.median` otherwise. Where there are only nan, it is nan.

    Args:
        input: tensor of any shape, not empty along the dimension.
        dim: the dimension.
        keepdim: whether the dimension stays, with size 1.
        out: where to write the result: a tensor of its shape, or one without elements;
            for a pair, two such tensors.

    Raises:
        IndexError: the dimension is out of range, or has size 0.

    Example:
        >>> import zero
        >>> zero.nanmedian(zero.tensor([3.0, float("nan"), 1.0])).item()
        1.0
    """
    if over_all(dim, keepdim, "nanmedian"):
        return deliver(ops.nanmedian_of_all(input.c), out, "nanmedian")
    return deliver_named(nanmedian_result,
                         ops.nanmedian(input.c, dim_of(dim, "nanmedian"),
                                       flag_of(keepdim, "nanmedian", "keepdim")), out, "nanmedian")


def mode(Tensor input not None, dim=-1, keepdim=False, *, out=None):
    """The most frequent element along a dimension, and the last place where it stands.

    Of several that are as frequent it is the smallest. nan differs from nan.

    Args:
        input: tensor of any shape, not empty along the dimension.
        dim: the dimension.
        keepdim: whether the dimension stays, with size 1.
        out: a pair of tensors to write to.

    Returns:
        The pair ``(values, indices)``.

    Raises:
        IndexError: the dimension is out of range, or has size 0.

    Example:
        >>> import zero
        >>> value, index = zero.mode(zero.tensor([2, 1, 2, 3]))
        >>> value.item(), index.item()
        (2, 2)
    """
    return deliver_named(mode_result, ops.mode(input.c, dim_of(dim, "mode"),
                                               flag_of(keepdim, "mode", "keepdim")), out, "mode")


as_methods("""
    sort argsort msort topk kthvalue median nanmedian mode
""")
