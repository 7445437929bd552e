# Products of matrices and vectors.

cdef CTensor no_tensor  # an argument that is absent


cdef CTensor product(Tensor a, int64_t ndim_a, Tensor b, int64_t ndim_b, str op, str name,
                     CTarget target) except *:
    """matmul for operands that must have just these dimensions."""
    if a.c.dim() != ndim_a or b.c.dim() != ndim_b:
        raise ShapeError(f"{op}: wrong number of dimensions; got input {tuple(a.shape)} and {name} "
                         f"{tuple(b.shape)}, expected {ndim_a} and {ndim_b} dimensions; use matmul "
                         "for others")
    return ops.matmul(a.c, b.c, target, op.encode())


def matmul(Tensor input not None, Tensor other not None, *, out=None):
    """The matrix product: ``y[..., i, j] = sum_k input[..., i, k] * other[..., k, j]``.

    It is also written ``a @ b``. A vector counts as a row on the left and as a column on the right,
    and that dimension disappears from the result. Leading dimensions broadcast.

    Args:
        input: tensor of shape [..., I, K] or [K].
        other: tensor of shape [..., K, J] or [K].
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the inner sizes differ, the leading ones do not broadcast, or a tensor has no
            dimensions.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> a = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> zero.matmul(a, a).tolist(), zero.matmul(a, zero.tensor([1.0, 1.0])).tolist()
        ([[7.0, 10.0], [15.0, 22.0]], [3.0, 7.0])
    """
    return wrap(ops.matmul(input.c, other.c, target_of(out, "matmul")))


def mm(Tensor input not None, Tensor mat2 not None, *, out=None):
    """The product of two matrices: `matmul` without broadcasting.

    Args:
        input: tensor of shape [I, K].
        mat2: tensor of shape [K, J].
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: a tensor is not a matrix, or the inner sizes differ.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> zero.mm(zero.tensor([[1.0, 2.0]]), zero.tensor([[3.0], [4.0]])).tolist()
        [[11.0]]
    """
    return wrap(product(input, 2, mat2, 2, "mm", "mat2", target_of(out, "mm")))


def bmm(Tensor input not None, Tensor mat2 not None, *, out=None):
    """The products of a batch of matrices: ``y[b] = input[b] @ mat2[b]``.

    Args:
        input: tensor of shape [B, I, K].
        mat2: tensor of shape [B, K, J].
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: a tensor has not three dimensions, or the sizes B or K differ.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> zero.bmm(zero.ones(5, 2, 3), zero.ones(5, 3, 4)).shape
        zero.Size([5, 2, 4])
    """
    if input.c.dim() == 3 and mat2.c.dim() == 3 and input.c.size(0) != mat2.c.size(0):
        raise ShapeError(f"bmm: batch sizes differ; got input {tuple(input.shape)} and mat2 "
                         f"{tuple(mat2.shape)}, expected input.shape[0] == mat2.shape[0]; use "
                         "matmul to broadcast")
    return wrap(product(input, 3, mat2, 3, "bmm", "mat2", target_of(out, "bmm")))


def mv(Tensor input not None, Tensor vec not None, *, out=None):
    """The product of a matrix and a vector.

    Args:
        input: tensor of shape [I, K].
        vec: tensor of shape [K].
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the operands are not a matrix and a vector, or the sizes K differ.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> zero.mv(zero.tensor([[1.0, 2.0], [3.0, 4.0]]), zero.tensor([1.0, 1.0])).tolist()
        [3.0, 7.0]
    """
    return wrap(product(input, 2, vec, 1, "mv", "vec", target_of(out, "mv")))


def dot(Tensor input not None, Tensor tensor not None, *, out=None):
    """The inner product of two vectors: ``y = sum_k input[k] * tensor[k]``.

    Args:
        input: tensor of shape [K].
        tensor: tensor of shape [K].
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: a tensor is not a vector, or the sizes differ.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> zero.dot(zero.tensor([1.0, 2.0]), zero.tensor([3.0, 4.0])).item()
        11.0
    """
    return wrap(product(input, 1, tensor, 1, "dot", "tensor", target_of(out, "dot")))


def linear(Tensor input not None, Tensor weight not None, Tensor bias=None):
    """An affine map of the last dimension, as one operation: ``y = input @ weight.T + bias``.

    Args:
        input: tensor of shape [..., K].
        weight: tensor of shape [J, K], or [K].
        bias: tensor of shape [J]; none for None.

    Raises:
        ShapeError: the sizes do not fit.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> x, weight = zero.tensor([[1.0, 2.0]]), zero.tensor([[3.0, 4.0], [5.0, 6.0]])
        >>> zero.linear(x, weight, zero.tensor([0.5, 0.0])).tolist()
        [[11.5, 17.0]]
    """
    if bias is None:
        return wrap(ops.linear(input.c, weight.c, no_tensor))
    return wrap(ops.linear(input.c, weight.c, bias.c))


def cdist(Tensor x1 not None, Tensor x2 not None, p=2.0, compute_mode=None):
    """Distances of all pairs of rows: ``y[..., i, j] = (sum_m |x1[i, m] - x2[j, m]|^p)^(1/p)``.

    For p = 0 it is the number of elements that differ, for p = inf the largest difference.
    Differences are taken first: rows that are close have exact distances, which they have not by
    way of ``|x|^2 - 2 x y + |y|^2``. The gradient at distance 0 is 0.

    Args:
        x1: shape [..., P, M], of floats.
        x2: shape [..., R, M]; leading dimensions broadcast.
        p: at least 0.
        compute_mode: None or one of PyTorch's three, such as
            'use_mm_for_euclid_dist_if_necessary'; it chooses nothing, every mode is exact and as
            fast as a matrix product.

    Raises:
        ShapeError: a tensor is no matrix, or the rows have different lengths.
        ValueError: p is negative, or the mode is unknown.
        DTypeError: a tensor is not of floats.

    Example:
        >>> import zero
        >>> x = zero.tensor([[0.0, 0.0], [3.0, 4.0]])
        >>> zero.cdist(x, x).tolist()
        [[0.0, 5.0], [5.0, 0.0]]
        >>> zero.cdist(x, x, p=1)[0, 1].item()
        7.0
    """
    if compute_mode not in (None, 0, 1, 2, "use_mm_for_euclid_dist_if_necessary",
                            "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        raise ZeroValueError(f"cdist: unknown compute_mode; got {short_repr(compute_mode)}, "
                             "expected 'use_mm_for_euclid_dist_if_necessary', "
                             "'use_mm_for_euclid_dist' or 'donot_use_mm_for_euclid_dist'")
    return wrap(ops.cdist(x1.c, x2.c, as_float(p, "cdist", "p")))


def _linalg(str name not None, tuple tensors not None, option=0, number=0.0):
    """The results of a function of ops/linalg.h, of which zero.linalg makes public ones."""
    cdef CTensors inputs, results
    cdef object x
    for x in tensors:
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}: not a tensor; got {type_name(x)}, expected a Tensor")
        inputs.push_back((<Tensor> x).c)
    results = linalgs.linalg(name.encode(), inputs, option, number)
    return wrap_all(results)


def _first_failure(Tensor info not None):
    """The first element of an int32 tensor that is not 0, counted in row-major order; or -1."""
    return linalgs.first_failure(info.c)


as_methods("""
    matmul mm bmm mv dot
""")
