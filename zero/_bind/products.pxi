# Products with a sum, Kronecker's product and the cross product.

ctypedef CTensor (*ProductSum)(const CTensor&, const CTensor&, const CTensor&, const CScalar&,
                               const CScalar&, CTarget) except +raise_error


cdef Tensor product_sum_(ProductSum function, Tensor input, Tensor a, Tensor b, object beta,
                         object alpha, str op):
    """In place: the operator writes to `input` itself where it can."""
    cdef CTensor y = function(input.c, a.c, b.c, as_scalar(beta, op, "beta"),
                              as_scalar(alpha, op, "alpha"), inplace.inplace(input.c))
    if y.is_same(input.c):
        return input
    return overwrite(input, move(y), op)


def addmm(Tensor input not None, Tensor mat1 not None, Tensor mat2 not None, *, beta=1, alpha=1,
          out=None):
    """A matrix product added: ``y = beta * input + alpha * mat1 @ mat2``.

    Args:
        input: broadcasts to [I, J].
        mat1: shape [I, K].
        mat2: shape [K, J].
        beta: scales the input; with 0 it is left out, nan or not.
        alpha: scales the product.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.addmm(zero.ones(1), zero.ones(2, 3), zero.ones(3, 2)).tolist()
        [[4.0, 4.0], [4.0, 4.0]]
    """
    return deliver(ops.addmm(input.c, mat1.c, mat2.c, as_scalar(beta, "addmm", "beta"),
                   as_scalar(alpha, "addmm", "alpha"), CTarget()), out, "addmm")


def addmm_(Tensor input not None, Tensor mat1 not None, Tensor mat2 not None, *, beta=1, alpha=1):
    """`addmm` in place: overwrites the tensor, whose shape stays, and returns it."""
    return product_sum_(ops.addmm, input, mat1, mat2, beta, alpha, "addmm_")


def addmv(Tensor input not None, Tensor mat not None, Tensor vec not None, *, beta=1, alpha=1,
          out=None):
    """A matrix-vector product added: ``y = beta * input + alpha * mat @ vec``.

    Args:
        input: broadcasts to [I].
        mat: shape [I, K].
        vec: shape [K].
        beta: scales the input; with 0 it is left out, nan or not.
        alpha: scales the product.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.addmv(zero.ones(2), zero.ones(2, 3), zero.ones(3)).tolist()
        [4.0, 4.0]
    """
    return deliver(ops.addmv(input.c, mat.c, vec.c, as_scalar(beta, "addmv", "beta"),
                   as_scalar(alpha, "addmv", "alpha"), CTarget()), out, "addmv")


def addmv_(Tensor input not None, Tensor mat not None, Tensor vec not None, *, beta=1, alpha=1):
    """`addmv` in place: overwrites the tensor, whose shape stays, and returns it."""
    return product_sum_(ops.addmv, input, mat, vec, beta, alpha, "addmv_")


def addr(Tensor input not None, Tensor vec1 not None, Tensor vec2 not None, *, beta=1, alpha=1,
         out=None):
    """An outer product added: ``y = beta * input + alpha * outer(vec1, vec2)``.

    Args:
        input: broadcasts to [I, J].
        vec1: shape [I].
        vec2: shape [J].
        beta: scales the input; with 0 it is left out, nan or not.
        alpha: scales the product.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.addr(zero.zeros(1, 1), zero.ones(1), zero.ones(2)).tolist()
        [[1.0, 1.0]]
    """
    return deliver(ops.addr(input.c, vec1.c, vec2.c, as_scalar(beta, "addr", "beta"),
                   as_scalar(alpha, "addr", "alpha"), CTarget()), out, "addr")


def addr_(Tensor input not None, Tensor vec1 not None, Tensor vec2 not None, *, beta=1, alpha=1):
    """`addr` in place: overwrites the tensor, whose shape stays, and returns it."""
    return product_sum_(ops.addr, input, vec1, vec2, beta, alpha, "addr_")


def baddbmm(Tensor input not None, Tensor batch1 not None, Tensor batch2 not None, *, beta=1,
            alpha=1, out=None):
    """Products of matrices added: ``y[b] = beta * input[b] + alpha * batch1[b] @ batch2[b]``.

    Args:
        input: broadcasts to [B, I, J].
        batch1: shape [B, I, K].
        batch2: shape [B, K, J].
        beta: scales the input; with 0 it is left out, nan or not.
        alpha: scales the products.
        out: where to write the result.

    Example:
        >>> import zero
        >>> a, b = zero.ones(2, 1, 3), zero.ones(2, 3, 1)
        >>> zero.baddbmm(zero.ones(1, 1, 1), a, b).flatten().tolist()
        [4.0, 4.0]
    """
    return deliver(ops.baddbmm(input.c, batch1.c, batch2.c, as_scalar(beta, "baddbmm", "beta"),
                   as_scalar(alpha, "baddbmm", "alpha"), CTarget()), out, "baddbmm")


def baddbmm_(Tensor input not None, Tensor batch1 not None, Tensor batch2 not None, *, beta=1,
             alpha=1):
    """`baddbmm` in place: overwrites the tensor, whose shape stays, and returns it."""
    return product_sum_(ops.baddbmm, input, batch1, batch2, beta, alpha, "baddbmm_")


def addbmm(Tensor input not None, Tensor batch1 not None, Tensor batch2 not None, *, beta=1,
           alpha=1, out=None):
    """Products summed and added: ``y = beta * input + alpha * sum_b batch1[b] @ batch2[b]``.

    Args:
        input: broadcasts to [I, J].
        batch1: shape [B, I, K].
        batch2: shape [B, K, J].
        beta: scales the input; with 0 it is left out, nan or not.
        alpha: scales the products.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.addbmm(zero.ones(1, 1), zero.ones(2, 1, 3), zero.ones(2, 3, 1)).item()
        7.0
    """
    return deliver(ops.addbmm(input.c, batch1.c, batch2.c, as_scalar(beta, "addbmm", "beta"),
                   as_scalar(alpha, "addbmm", "alpha"), CTarget()), out, "addbmm")


def addbmm_(Tensor input not None, Tensor batch1 not None, Tensor batch2 not None, *, beta=1,
            alpha=1):
    """`addbmm` in place: overwrites the tensor, whose shape stays, and returns it."""
    return product_sum_(ops.addbmm, input, batch1, batch2, beta, alpha, "addbmm_")


def kron(Tensor input not None, Tensor other not None, *, out=None):
    """The Kronecker product: ``y[i M + k, j N + l] = input[i, j] other[k, l]``, other of size M, N.

    Args:
        input: any shape; the tensor with fewer dimensions gets more of size 1 in front.
        other: any shape.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.kron(zero.eye(2), zero.tensor([[1.0, 2.0]])).tolist()
        [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0]]

    Source: Van Loan, The ubiquitous Kronecker product, 2000.
    """
    return deliver(ops.kron(input.c, other.c), out, "kron")


def cross(Tensor input not None, Tensor other not None, dim=None, *, out=None):
    """The cross product of vectors of three elements along a dimension.

    ``y = (a1 b2 - a2 b1, a2 b0 - a0 b2, a0 b1 - a1 b0)``

    Args:
        input: size 3 in dimension `dim`.
        other: the same; the other dimensions broadcast.
        dim: the dimension of the vectors; the first of size 3 for None.
        out: where to write the result.

    Raises:
        ShapeError: the dimension has another size, or there is none of size 3.

    Example:
        >>> import zero
        >>> zero.cross(zero.tensor([1.0, 0.0, 0.0]), zero.tensor([0.0, 1.0, 0.0])).tolist()
        [0.0, 0.0, 1.0]
    """
    cdef optional[int64_t] at
    if dim is not None:
        at = as_int(dim, "cross", "dim")
    return deliver(ops.cross(input.c, other.c, at), out, "cross")


as_methods("""
    addmm addmv addr baddbmm addbmm kron cross
""")
as_methods_only("""
    addmm_ addmv_ addr_ baddbmm_ addbmm_
""")
