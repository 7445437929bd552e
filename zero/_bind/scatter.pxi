# Single elements that an index names: along a dimension, or counted in row-major order.


def gather(Tensor input not None, dim, Tensor index not None, *, sparse_grad=False, out=None):
    """Picks one element per place along a dimension: ``y[i, j] = input[index[i, j], j]`` for dim 0.

    Args:
        input: tensor of any shape.
        dim: the dimension that `index` counts along.
        index: tensor of integers from 0 on, with as many dimensions as `input` and sizes up to
            its, but for `dim`.
        sparse_grad: only False; there are no sparse tensors.
        out: where to write the result: a tensor of its shape, or one without elements.

    Returns:
        A tensor of the shape of `index`.

    Raises:
        IndexError: an index or the dimension is out of range.
        ShapeError: the index has other dimensions, or larger ones.
        DTypeError: the index is not of integers.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1, 2], [3, 4]])
        >>> zero.gather(x, 1, zero.tensor([[0, 0], [1, 0]])).tolist()
        [[1, 1], [4, 3]]
    """
    if flag_of(sparse_grad, "gather", "sparse_grad"):
        raise NotImplementedError("gather: sparse gradients are not supported; got "
                                  "sparse_grad=True, expected False")
    return deliver(ops.gather(input.c, dim_of(dim, "gather"), index.c), out, "gather")


cdef CCombine combine_of(object reduce, bint older, str op) except *:
    """The names of scatter_reduce, or the older ones of scatter."""
    if older:
        if reduce == "add":
            return CCombine.Add
        if reduce == "multiply":
            return CCombine.Mul
        raise ZeroValueError(f"{op}: no such reduction; got {short_repr(reduce)}, expected 'add' "
                             "or 'multiply'")
    if reduce == "sum" and not op.startswith("index"):
        return CCombine.Add
    if reduce == "prod":
        return CCombine.Mul
    if reduce == "mean":
        return CCombine.Mean
    if reduce == "amax":
        return CCombine.Max
    if reduce == "amin":
        return CCombine.Min
    raise ZeroValueError(f"{op}: no such reduction; got {short_repr(reduce)}, expected "
                         f"{'' if op.startswith('index') else repr('sum') + ', '}'prod', 'mean', "
                         "'amax' or 'amin'")


cdef CTensor scattered(const char* op, Tensor x, object dim, Tensor index, object src, object value,
                       object reduce, CTarget target) except *:
    cdef str name = op.decode()
    cdef CCombine combine = CCombine.Assign
    if (src is None) == (value is None):
        raise TypeError(f"{name}: either src or value is needed; got "
                        f"{'none' if src is None else 'both'}, expected one")
    if reduce is not None:
        combine = combine_of(reduce, True, name)
    return ops.scatter(op, x.c, dim_of(dim, name), index.c,
                       as_operand(value, name, "value") if src is None else
                       as_operand(src, name, "src"), combine, True, target)


def scatter(Tensor input not None, dim, Tensor index not None, src=None, *, value=None, reduce=None,
            out=None):
    """Writes one element per place along a dimension: ``y[index[i, j], j] = src[i, j]`` for dim 0.

    The opposite of :func:`gather`. Of several values for one place the last stays, and only it has
    a gradient.

    Args:
        input: tensor of any shape, which is copied.
        dim: the dimension that `index` counts along.
        index: tensor of integers from 0 on, with as many dimensions as `input` and sizes up to
            its, but for `dim`.
        src: a number, or a tensor of the same dtype with at least the sizes of `index`; where
            it is larger, its first elements count.
        value: a number, instead of `src`.
        reduce: None; 'add' or 'multiply' to add the values to what was there, or multiply it.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: an index or the dimension is out of range.
        ShapeError: the index has other dimensions, or larger ones.
        DTypeError: the index is not of integers, or the dtypes differ.

    Example:
        >>> import zero
        >>> zero.scatter(zero.zeros(2, 3), 1, zero.tensor([[2], [0]]), 1.0).tolist()
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    return deliver(scattered(b"scatter", input, dim, index, src, value, reduce, CTarget()), out,
                   "scatter")


def scatter_(Tensor input not None, dim, Tensor index not None, src=None, *, value=None,
             reduce=None):
    """`scatter` in place: overwrites the tensor, whose shape stays, and returns it."""
    scattered(b"scatter_", input, dim, index, src, value, reduce, inplace.inplace(input.c))
    return input


def scatter_add(Tensor input not None, dim, Tensor index not None, Tensor src not None, *,
                out=None):
    """Adds one element per place along a dimension: ``y[index[i, j], j] += src[i, j]`` for dim 0.

    Values for one place are added in their order, so results do not depend on threads.

    Args:
        input: tensor of any shape, which is copied.
        dim: the dimension that `index` counts along.
        index: tensor of integers from 0 on, with as many dimensions as `input` and sizes up to
            its, but for `dim`.
        src: tensor of the same dtype with at least the sizes of `index`; where it is larger, its
            first elements count.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: an index or the dimension is out of range.
        ShapeError: the index has other dimensions, or larger ones.
        DTypeError: the index is not of integers, or the dtypes differ.

    Example:
        >>> import zero
        >>> counts = zero.zeros(3, dtype=zero.int64)
        >>> labels = zero.tensor([0, 2, 2, 2])
        >>> zero.scatter_add(counts, 0, labels, zero.ones_like(labels)).tolist()
        [1, 0, 3]
    """
    return deliver(ops.scatter(b"scatter_add", input.c, dim_of(dim, "scatter_add"), index.c,
                               COperand(src.c), CCombine.Add, True, CTarget()), out, "scatter_add")


def scatter_add_(Tensor input not None, dim, Tensor index not None, Tensor src not None):
    """`scatter_add` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.scatter(b"scatter_add_", input.c, dim_of(dim, "scatter_add_"), index.c, COperand(src.c),
                CCombine.Add, True, inplace.inplace(input.c))
    return input


def scatter_reduce(Tensor input not None, dim, Tensor index not None, Tensor src not None, reduce,
                   *, include_self=True, out=None):
    """Combines the elements for each place along a dimension: for dim 0 and 'sum',
    ``y[index[i, j], j] += src[i, j]``.

    Values for one place are taken in their order, so results do not depend on threads. The gradient
    of 'amax' and 'amin' is shared among all elements that are the result; that of 'prod' is right
    also where factors are 0.

    Args:
        input: tensor of any shape, which is copied.
        dim: the dimension that `index` counts along.
        index: tensor of integers from 0 on, with as many dimensions as `input` and sizes up to
            its, but for `dim`.
        src: tensor of the same dtype with at least the sizes of `index`; where it is larger, its
            first elements count.
        reduce: 'sum', 'prod', 'mean' (of integers, rounded down), 'amax' or 'amin'.
        include_self: whether the element of `input` counts among them; places that no index names
            keep theirs in any case.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: an index or the dimension is out of range.
        ShapeError: the index has other dimensions, or larger ones.
        DTypeError: the index is not of integers, or the dtypes differ.
        ValueError: another reduction.

    Example:
        >>> import zero
        >>> index, src = zero.tensor([0, 0, 1]), zero.tensor([1.0, 5.0, 3.0])
        >>> zero.scatter_reduce(zero.ones(2), 0, index, src, "amax").tolist()
        [5.0, 3.0]
        >>> zero.scatter_reduce(zero.ones(2), 0, index, src, "mean", include_self=False).tolist()
        [3.0, 3.0]
    """
    return deliver(ops.scatter(b"scatter_reduce", input.c, dim_of(dim, "scatter_reduce"), index.c,
                               COperand(src.c), combine_of(reduce, False, "scatter_reduce"),
                               flag_of(include_self, "scatter_reduce", "include_self"), CTarget()),
                   out, "scatter_reduce")


def scatter_reduce_(Tensor input not None, dim, Tensor index not None, Tensor src not None, reduce,
                    *, include_self=True):
    """`scatter_reduce` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.scatter(b"scatter_reduce_", input.c, dim_of(dim, "scatter_reduce_"), index.c,
                COperand(src.c), combine_of(reduce, False, "scatter_reduce_"),
                flag_of(include_self, "scatter_reduce_", "include_self"), inplace.inplace(input.c))
    return input


def index_reduce(Tensor input not None, dim, Tensor index not None, Tensor source not None, reduce,
                 *, include_self=True, out=None):
    """Combines the rows for each place along a dimension: for dim 0 and 'prod',
    ``y[index[i]] *= source[i]``.

    Args:
        input: tensor of any shape, which is copied.
        dim: the dimension.
        index: 1-d tensor of integers from 0 on; entries may repeat.
        source: tensor of the same dtype, of the shape of `input` but for as many entries along
            `dim` as `index` has.
        reduce: 'prod', 'mean' (of integers, rounded down), 'amax' or 'amin'.
        include_self: whether the rows of `input` count among them; those that no index names stay
            in any case.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: an index or the dimension is out of range, or the index is no list.
        ShapeError: the source does not fit.
        DTypeError: the dtypes differ.
        ValueError: another reduction.

    Example:
        >>> import zero
        >>> rows = zero.tensor([[1.0, 4.0], [3.0, 2.0]])
        >>> zero.index_reduce(zero.zeros(2, 2), 0, zero.tensor([1, 1]), rows, "amax").tolist()
        [[0.0, 0.0], [3.0, 4.0]]
    """
    return deliver(ops.index_reduce(input.c, dim_of(dim, "index_reduce"), index.c, source.c,
                                    combine_of(reduce, False, "index_reduce"),
                                    flag_of(include_self, "index_reduce", "include_self"),
                                    CTarget()), out, "index_reduce")


def index_reduce_(Tensor input not None, dim, Tensor index not None, Tensor source not None, reduce,
                  *, include_self=True):
    """`index_reduce` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.index_reduce(input.c, dim_of(dim, "index_reduce_"), index.c, source.c,
                     combine_of(reduce, False, "index_reduce_"),
                     flag_of(include_self, "index_reduce_", "include_self"),
                     inplace.inplace(input.c))
    return input


def take(Tensor input not None, Tensor index not None, *, out=None):
    """The elements that an index names as if the tensor had one dimension.

    Args:
        input: tensor of any shape.
        index: tensor of integers of any shape, which the result has; negative ones count from the
            end.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        DTypeError: the index is not of integers.
        IndexError: an index is out of range.

    Example:
        >>> import zero
        >>> zero.take(zero.tensor([[1, 2], [3, 4]]), zero.tensor([0, 3])).tolist()
        [1, 4]
    """
    return deliver(ops.take(input.c, index.c), out, "take")


def put(Tensor input not None, Tensor index not None, Tensor source not None, accumulate=False):
    """A copy with new elements at places that are counted as if the tensor had one dimension.

    Of several values for one place the last stays, and only it has a gradient; with ``accumulate``
    all are added to what was there, in their order.

    Args:
        input: tensor of any shape.
        index: tensor of integers of any shape; negative ones count from the end.
        source: tensor of the same dtype with as many elements as `index`.
        accumulate: whether values are added.

    Raises:
        DTypeError: the index is not of integers, or the dtypes differ.
        IndexError: an index is out of range.
        ShapeError: there are not as many values as indices.

    Example:
        >>> import zero
        >>> zero.put(zero.zeros(2, 2), zero.tensor([0, -1]), zero.tensor([5.0, 6.0])).tolist()
        [[5.0, 0.0], [0.0, 6.0]]
    """
    return wrap(ops.put(input.c, index.c, source.c, flag_of(accumulate, "put", "accumulate"),
                        CTarget()))


def put_(Tensor input not None, Tensor index not None, Tensor source not None, accumulate=False):
    """`put` in place: overwrites the tensor, whose shape stays, and returns it."""
    ops.put(input.c, index.c, source.c, flag_of(accumulate, "put_", "accumulate"),
            inplace.inplace(input.c))
    return input


def take_along_dim(Tensor input not None, Tensor indices not None, dim=None, *, out=None):
    """`gather` with shapes that broadcast but for the dimension: what argsort and argmax ask for.

    Args:
        input: tensor of any shape.
        indices: tensor of integers from 0 on, with as many dimensions as `input`.
        dim: the dimension; None takes both tensors as 1-d, in row-major order.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: an index or the dimension is out of range.
        ShapeError: the shapes do not broadcast.
        DTypeError: the indices are not integers.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1, 5], [4, 2]])
        >>> zero.take_along_dim(x, x.argmax(1, keepdim=True), dim=1).tolist()
        [[5], [4]]
    """
    cdef CDims flat
    if dim is not None:
        return deliver(ops.take_along_dim(input.c, indices.c, dim_of(dim, "take_along_dim")),
                       out, "take_along_dim")
    flat.push_back(-1)
    return deliver(ops.take_along_dim(ops.reshape(input.c, flat),
                                      ops.reshape(indices.c, flat), 0), out, "take_along_dim")


as_methods("""
    gather scatter scatter_add scatter_reduce index_reduce take put take_along_dim
""")
as_methods_only("scatter_ scatter_add_ scatter_reduce_ index_reduce_ put_")
