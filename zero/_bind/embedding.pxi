# Rows of a table.


cdef int no_sparse(object sparse, str op) except -1:
    if flag_of(sparse, op, "sparse"):
        raise NotImplementedError(f"{op}: sparse gradients are not supported; got sparse=True, "
                                  "expected False")
    return 0


def embedding(Tensor weight not None, Tensor indices not None, padding_idx=-1,
              scale_grad_by_freq=False, sparse=False):
    """The rows of a table that indices name: ``weight[indices]``.

    The gradient of a row is the sum of those of its copies, added in their order, so it does not
    depend on threads.

    Args:
        weight: the table, [rows, features].
        indices: tensor of int64 or int32 of any shape, from 0 on.
        padding_idx: a row that gets no gradient; -1 for none.
        scale_grad_by_freq: divides the gradient of a row by how often it was looked up.
        sparse: True is not supported.

    Raises:
        ShapeError: the weight does not have two dimensions.
        DTypeError: the indices are not integers.
        IndexError: an index is out of range.

    Example:
        >>> import zero
        >>> table = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> zero.embedding(table, zero.tensor([1, 0, 1])).tolist()
        [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
    """
    no_sparse(sparse, "embedding")
    return wrap(embeddings.embedding(
        weight.c, indices.c, as_int(padding_idx, "embedding", "padding_idx"),
        flag_of(scale_grad_by_freq, "embedding", "scale_grad_by_freq")))


def embedding_bag(Tensor weight not None, Tensor indices not None, Tensor offsets not None,
                  scale_grad_by_freq=False, mode=0, sparse=False, Tensor per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    """The sum, mean or maximum of rows of a table, bag by bag.

    Bag b is the list of indices from ``offsets[b]`` to the next offset. An empty one gives 0.

    Args:
        weight: the table, [rows, features], of floats.
        indices: [n], of int64 or int32, from 0 on.
        offsets: [bags], rising, the first 0.
        scale_grad_by_freq: divides the gradient of a row by how often it was looked up.
        mode: 0 for the sum, 1 for the mean, 2 for the maximum.
        sparse: True is not supported.
        per_sample_weights: [n], factors of the rows in a sum; or None.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: a row that is no part of its bags, and gets no gradient.

    Returns:
        The result [bags, features], the bag of each index, the size of each bag, and the index of
        each maximum (empty in other modes).

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the indices are not integers, or the dtypes differ.
        IndexError: an index is out of range.
        ValueError: the offsets do not rise from 0, or the mode does not go with another option.

    Example:
        >>> import zero
        >>> table = zero.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]])
        >>> indices, offsets = zero.tensor([0, 1, 2]), zero.tensor([0, 2])
        >>> zero.embedding_bag(table, indices, offsets)[0].tolist()
        [[4.0, 6.0], [5.0, 0.0]]
    """
    cdef int64_t padding = -1
    cdef int64_t chosen = as_int(mode, "embedding_bag", "mode")
    cdef CBagMode kind = CBagMode.Sum
    cdef CTensors results
    no_sparse(sparse, "embedding_bag")
    if chosen == 1:
        kind = CBagMode.Mean
    elif chosen == 2:
        kind = CBagMode.Max
    elif chosen != 0:
        raise ZeroValueError(f"embedding_bag: no such mode; got {mode}, expected 0, 1 or 2")
    if padding_idx is not None:
        padding = as_int(padding_idx, "embedding_bag", "padding_idx")
        rows = weight.c.sizes()[0] if weight.c.dim() > 0 else 0
        if not -rows <= padding < rows:
            raise ZeroValueError(f"embedding_bag: padding_idx is no row; got {padding}, expected "
                                 f"-{rows} to {rows - 1}")
        if padding < 0:
            padding += rows
    results = embeddings.embedding_bag(
        weight.c, indices.c, offsets.c,
        flag_of(scale_grad_by_freq, "embedding_bag", "scale_grad_by_freq"), kind,
        given_or_none(per_sample_weights)[0],
        flag_of(include_last_offset, "embedding_bag", "include_last_offset"), padding)
    return wrap_all(results)
