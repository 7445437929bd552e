# Different values, places in sorted values, counts by value.


cdef object asked_of(CUnique found, bint inverse, bint counts):
    if not inverse and not counts:
        return wrap(found.values)
    result = [wrap(found.values)]
    if inverse:
        result.append(wrap(found.inverse))
    if counts:
        result.append(wrap(found.counts))
    return tuple(result)


def unique(Tensor input not None, sorted=True, return_inverse=False, return_counts=False,
           dim=None):
    """The different elements of a tensor, or the different slices along a dimension, in order.

    nan differs from nan.

    Args:
        input: tensor of any shape.
        sorted: the result is in order in any case.
        return_inverse: whether to return, too, where in the result each element of `input` is.
        return_counts: whether to return, too, how often each element occurs.
        dim: the dimension whose slices are compared; None compares elements.

    Returns:
        The elements in one dimension (or the slices along `dim`); a tuple if more is asked for.

    Raises:
        NotImplementedError: the tensor is on the meta device: the shape depends on values.

    Example:
        >>> import zero
        >>> x = zero.tensor([3, 1, 3])
        >>> values, inverse, counts = zero.unique(x, return_inverse=True, return_counts=True)
        >>> values.tolist(), inverse.tolist(), counts.tolist()
        ([1, 3], [1, 0, 1], [1, 2])
    """
    cdef bint inverse = flag_of(return_inverse, "unique", "return_inverse")
    cdef bint counts = flag_of(return_counts, "unique", "return_counts")
    cdef CUnique found
    flag_of(sorted, "unique", "sorted")
    if dim is None:
        found = ops.unique(input.c, inverse, counts)
    else:
        found = ops.unique_along("unique", input.c, dim_of(dim, "unique"), inverse, counts, True)
    return asked_of(found, inverse, counts)


def unique_consecutive(Tensor input not None, return_inverse=False, return_counts=False,
                       dim=None):
    """The first element of each run of equal neighbours, or the first slice along a dimension.

    nan differs from nan.

    Args:
        input: tensor of any shape.
        return_inverse: whether to return, too, the run that each element of `input` is in.
        return_counts: whether to return, too, the length of each run.
        dim: the dimension whose slices are compared; None compares the elements in their order.

    Returns:
        The elements in one dimension (or the slices along `dim`); a tuple if more is asked for.

    Raises:
        NotImplementedError: the tensor is on the meta device: the shape depends on values.

    Example:
        >>> import zero
        >>> zero.unique_consecutive(zero.tensor([1, 1, 2, 1])).tolist()
        [1, 2, 1]
    """
    cdef bint inverse = flag_of(return_inverse, "unique_consecutive", "return_inverse")
    cdef bint counts = flag_of(return_counts, "unique_consecutive", "return_counts")
    if dim is None:
        return asked_of(ops.unique_consecutive(input.c, inverse, counts), inverse, counts)
    return asked_of(ops.unique_along("unique_consecutive", input.c,
                                     dim_of(dim, "unique_consecutive"), inverse, counts, False),
                    inverse, counts)


cdef Tensor search(str op, Tensor sorted, object values, object right, object out_int32,
                   object sorter, object out):
    cdef CTensor order, v
    cdef CTensorOptions options
    cdef CScalar number
    if sorter is not None:
        if not isinstance(sorter, Tensor):
            raise TypeError(f"{op}: sorter is not a Tensor; got {type_name(sorter)}, expected a "
                            "Tensor or None")
        order = (<Tensor> sorter).c
    if isinstance(values, Tensor):
        v = (<Tensor> values).c
    elif number_of(values, &number, op, "input"):
        options = sorted.c.options()
        options.dtype = ops.result_type(COperand(sorted.c), COperand(number))
        v = ops.scalar_tensor(number, options)
    else:
        raise TypeError(f"{op}: input is neither a tensor nor a number; got {type_name(values)}, "
                        "expected a Tensor, bool, int or float")
    return deliver(ops.searchsorted(op.encode(), sorted.c, v, flag_of(right, op, "right"),
                                    flag_of(out_int32, op, "out_int32"), order), out, op)


def searchsorted(Tensor sorted_sequence not None, input, *, out_int32=False, right=False, side=None,
                 sorter=None, out=None):
    """Where values belong among sorted ones: how many of these are below each.

    ``sorted[i - 1] < value <= sorted[i]`` for the result i, or ``sorted[i - 1] <= value <
    sorted[i]`` with ``right``.

    Args:
        sorted_sequence: shape [n], or [..., n]: one row for each row of `input`. Its elements rise
            along the last dimension.
        input: the values: a tensor, with the same sizes as `sorted_sequence` but for the last
            dimension unless that is 1-d; or a number.
        out_int32: whether the result is of int32 rather than int64.
        right: whether equal elements count as below.
        side: "left" or "right", as NumPy says it.
        sorter: indices that put `sorted_sequence`, which then need not be sorted, in order.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not fit.
        ValueError: `right` and `side` contradict each other.

    Example:
        >>> import zero
        >>> edges = zero.tensor([1, 3, 5])
        >>> zero.searchsorted(edges, zero.tensor([0, 3, 6])).tolist()
        [0, 1, 3]
        >>> zero.searchsorted(edges, 3, side="right").item()
        2
    """
    if side is not None:
        if side != "left" and side != "right":
            raise ZeroValueError(f"searchsorted: unknown side; got {short_repr(side)}, expected "
                                 "'left' or 'right'")
        if right is True and side == "left":
            raise ZeroValueError("searchsorted: right and side contradict each other; got True and "
                                 "'left', expected one of them")
        right = side == "right"
    return search("searchsorted", sorted_sequence, input, right, out_int32, sorter, out)


def bucketize(input, Tensor boundaries not None, *, out_int32=False, right=False, out=None):
    """The bucket of each value: how many boundaries are below it.

    Args:
        input: a tensor of any shape, or a number.
        boundaries: shape [n], in order.
        out_int32: whether the result is of int32 rather than int64.
        right: whether a value equal to a boundary belongs to the bucket on its right.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the boundaries have not one dimension.

    Example:
        >>> import zero
        >>> zero.bucketize(zero.tensor([0, 3, 6]), zero.tensor([1, 3, 5])).tolist()
        [0, 1, 3]
    """
    if boundaries.c.dim() != 1:
        raise ShapeError("bucketize: the boundaries are no list; got shape "
                         f"{tuple(boundaries.shape)}, expected 1 dimension")
    return search("bucketize", boundaries, input, right, out_int32, None, out)


def bincount(Tensor input not None, weights=None, minlength=0):
    """How often each number from 0 on occurs, or the sum of the weights where it does.

    Args:
        input: shape [n], integers from 0 on.
        weights: shape [n]; summed in float64.
        minlength: the least length of the result.

    Returns:
        Shape [max(input) + 1], or longer; of int64, or of floats with weights.

    Raises:
        ValueError: an element is negative, or `input` is no list of integers.
        ShapeError: not one weight per element.

    Example:
        >>> import zero
        >>> zero.bincount(zero.tensor([0, 2, 2])).tolist()
        [1, 0, 2]
    """
    cdef CTensor w
    if weights is not None:
        if not isinstance(weights, Tensor):
            raise TypeError(f"bincount: weights is not a Tensor; got {type_name(weights)}, "
                            "expected a Tensor or None")
        w = (<Tensor> weights).c
    return wrap(ops.bincount(input.c, w, as_int(minlength, "bincount", "minlength")))


def _bin_counts(Tensor points not None, edges, uniform, Tensor weight):
    """How many of the points [n, d] are between the edges, d lists, or their weight: the counts of
    histogram and histogramdd."""
    cdef CTensor w
    if weight is not None:
        w = weight.c
    return wrap(ops.bin_counts(points.c, as_tensors(edges, "histogram", "edges"),
                               flag_of(uniform, "histogram", "uniform"), w))


def histc(Tensor input not None, bins=100, min=0, max=0, *, out=None):
    """How many elements lie in each of several bins of equal width.

    A bin holds its left edge, the last one its right edge, too. Elements outside and nan are not
    counted.

    Args:
        input: tensor of any shape, of floats.
        bins: how many bins.
        min: the left edge of the first one.
        max: the right edge of the last one; the smallest and the largest element are the edges if
            both are equal.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ValueError: no bins, `min` above `max`, or the range is not finite.
        DTypeError: the tensor is not of floats.

    Example:
        >>> import zero
        >>> zero.histc(zero.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist()
        [0.0, 2.0, 1.0, 0.0]
    """
    return deliver(ops.histc(input.c, as_int(bins, "histc", "bins"),
                             as_float(min, "histc", "min"), as_float(max, "histc", "max")),
                   out, "histc")


as_methods("""
    unique unique_consecutive bincount histc
""")
