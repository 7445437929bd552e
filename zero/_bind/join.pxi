# Several tensors into one.


def cat(tensors, dim=0, *, out=None, axis=None):
    """Puts tensors one after the other along a dimension.

    Args:
        tensors: a list or tuple of tensors that have the same sizes but for `dim`.
        dim: the dimension.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.

    Raises:
        ShapeError: other sizes differ, or there are no tensors.
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> zero.cat([zero.tensor([[1, 2]]), zero.tensor([[3, 4], [5, 6]])]).tolist()
        [[1, 2], [3, 4], [5, 6]]
    """
    if axis is not None:
        dim = axis
    cdef CTensors parts = as_tensors(tensors, "cat", "tensors")
    cdef int64_t i
    if isinstance(out, Tensor):
        for i in range(parts.size()):
            inplace.check_overlap("cat", (<Tensor> out).c, parts[i], COverlap.Any)
    return deliver(ops.cat(parts, dim_of(dim, "cat")), out, "cat")


def stack(tensors, dim=0, *, out=None, axis=None):
    """Puts tensors of one shape side by side along a new dimension.

    Args:
        tensors: a list or tuple of tensors of the same shape.
        dim: where the new dimension stands in the result.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.

    Raises:
        ShapeError: the shapes differ, or there are no tensors.
        IndexError: the dimension is out of range.

    Example:
        >>> import zero
        >>> zero.stack([zero.tensor([1, 2]), zero.tensor([3, 4])], dim=1).tolist()
        [[1, 3], [2, 4]]
    """
    if axis is not None:
        dim = axis
    return deliver(ops.stack(as_tensors(tensors, "stack", "tensors"), dim_of(dim, "stack")), out,
                   "stack")


concat = cat
concatenate = cat
