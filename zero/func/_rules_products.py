"""Rules of products: of matrices and vectors, and convolutions."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.func._batched import Misfit, at, cannot_write, each, named, physical, whole, wrapped
from zero.func._pointwise import aligned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zero.func._batched import Rule

__all__ = ["FAMILIES"]


# ---- matrices and vectors ------------------------------------------------------------------------
def matmuls(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """matmul and its cases mm, mv, dot and bmm."""
    a, b = args if len(args) == 2 else named(f, args, kwargs).values()
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        raise Misfit("an operand is no tensor")
    if not _fits(f, a, b):
        raise Misfit("shapes")
    return wrapped(_product(a, b, level), level)


# The numbers of dimensions that functions take, beside matmul.
_RANKS = {"mm": (2, 2), "mv": (2, 1), "dot": (1, 1), "bmm": (3, 3)}


def _fits(f: Any, a: Tensor, b: Tensor) -> bool:
    ranks = _RANKS.get(f.__name__)
    if ranks is None:
        return a.ndim > 0 and b.ndim > 0
    return (a.ndim, b.ndim) == ranks and (a.ndim < 3 or a.shape[0] == b.shape[0])


def _product(a: Tensor, b: Tensor, level: Any) -> Tensor:
    """The batch of a @ b, of at least one batch."""
    x: Tensor = physical(a, level)
    y: Tensor = physical(b, level)
    if not at(b, level):
        if a.ndim == 1 and b.ndim > 2:  # [B, n] @ [..., n, m]
            return _rows(_padded(x, b.ndim, 1), b)
        return _padded(x, b.ndim, a.ndim) @ b if a.ndim > 1 else x @ b
    if not at(a, level):
        if b.ndim == 1:  # [..., m, n] @ [B, n]
            return y @ (a if a.ndim == 1 else a.mT) if a.ndim < 3 else _columns(a, y, a.ndim)
        return _rows(a.unsqueeze(0), y) if a.ndim == 1 else a @ _padded(y, a.ndim, b.ndim)
    if a.ndim == 1 and b.ndim == 1:
        return (x.unsqueeze(1) @ y.unsqueeze(2)).flatten()
    if a.ndim == 1:
        return _rows(_padded(x, b.ndim, 1), y)
    if b.ndim == 1:
        return _columns(x, y, a.ndim)
    return _padded(x, b.ndim, a.ndim) @ _padded(y, a.ndim, b.ndim)


def _rows(x: Tensor, y: Tensor) -> Tensor:
    return (x @ y).squeeze(-2)


def _columns(x: Tensor, y: Tensor, rank: int) -> Tensor:
    """[..., m, n], of a sample's rank, times vectors [B, n]."""
    return (x @ _padded(y, rank - 2, 0).unsqueeze(-1)).squeeze(-1)


def _padded(batch: Tensor, other: int, own: int) -> Tensor:
    """A batch of samples of `own` dimensions, with as many as the other operand has."""
    missing = other - own
    if missing <= 0:
        return batch
    return batch.reshape(batch.shape[0], *(1,) * missing, *batch.shape[1:])


def linears(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    x, weight, bias = given["input"], given["weight"], given.get("bias")
    if not at(weight, level) and not at(bias, level):
        return wrapped(f(x.physical, weight, bias), level)
    w = physical(weight, level)
    if weight.ndim != 2:
        return each(f, args, kwargs, level)
    if not at(weight, level):
        y = f(physical(x, level), w)
    elif x.ndim == 1:
        rows = whole(x, level).unsqueeze(1)
        if bias is not None:  # [B, 1, n] @ [B, n, m] + [B, 1, m]
            return wrapped(
                zero.baddbmm(whole(bias, level).unsqueeze(1), rows, w.mT).squeeze(1), level
            )
        return wrapped((rows @ w.mT).squeeze(1), level)
    else:
        rows = whole(x, level).flatten(1, -2)
        y = (rows @ w.mT).reshape(level.size, *x.shape[:-1], w.shape[1])
    if bias is not None:
        b = physical(bias, level)
        y = y + (_padded(b, x.ndim, 1) if at(bias, level) else b)
    return wrapped(y, level)


def sums_of_products(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """addmm, addmv, addr, baddbmm and addbmm: beta input + alpha a b, of samples."""
    given = named(f, args, kwargs)
    x, a, b = list(given.values())[:3]
    name = f.__name__.rstrip("_")
    beta, alpha = given.get("beta", 1), given.get("alpha", 1)
    ranks = {"addmm": (2, 2), "addmv": (2, 1), "addr": (1, 1)}.get(name, (3, 3))
    if (a.ndim, b.ndim) != ranks:
        raise Misfit("shapes")
    if name == "addr":
        product = a.unsqueeze(1) * b
    else:
        product = zero.matmul(a, b)
        if name == "addbmm":
            product = product.sum(0)
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        result = product + zero.zeros_like(x)
    else:
        result = product + (x if beta == 1 else x * beta)
    if f.__name__.endswith("_"):
        if not at(x, level):
            raise cannot_write(f.__name__)
        return x.copy_(result)
    return result


def distances(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """cdist, which broadcasts leading dimensions."""
    given = named(f, args, kwargs)
    a, b = given.pop("input", given.pop("x1", None)), given.pop("other", given.pop("x2", None))
    rank = max(a.ndim, b.ndim)
    a = aligned(a, rank) if at(a, level) else a
    b = aligned(b, rank) if at(b, level) else b
    return wrapped(f(a, b, **given), level)


def crosses(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    a, b, dim = given["input"], given["other"], given.get("dim")
    if dim is None:  # the first dimension of size 3
        dim = next((d for d, n in enumerate(zero.broadcast_shapes(a.shape, b.shape)) if n == 3), 0)
    rank = a.ndim
    if b.ndim != rank or not -rank <= dim < rank:
        raise Misfit("dim")
    return wrapped(f(whole(a, level), whole(b, level), dim=dim % rank + 1), level)


def decompositions(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """What zero.linalg is made of: functions of batches of matrices, and of vectors beside them."""
    given = named(f, args, kwargs)
    tensors = given["tensors"]
    vectors = {"householder_product": 1, "lu_solve": 1, "ldl_solve": 1}.get(given["name"])
    leading = {x.shape[: -1 if i == vectors else -2] for i, x in enumerate(tensors)}
    if len(leading) > 1:
        return each(f, args, kwargs, level)
    given["tensors"] = tuple(whole(x, level) for x in tensors)
    return wrapped(f(**given), level)


# ---- convolutions --------------------------------------------------------------------------------
def convolutions(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """Samples of one weight are more images; a weight for each sample makes them groups.

    Images [N, C, …], weights [O, C / groups, …], or [C, O / groups, …] of a transposed one.
    """
    given = named(f, args, kwargs)
    x, weight = given["input"], given["weight"]
    bias: Any = given.get("bias")
    dims = weight.ndim - 2
    if dims < 1 or x.ndim not in (dims + 1, dims + 2):
        raise Misfit("shapes")
    single = x.ndim == dims + 1
    size = level.size
    transposed = "transpose" in f.__name__ or given.get("transposed", False)
    groups = given.get("groups", 1)
    if not at(weight, level):
        batch = whole(x, level)
        images = batch if single else batch.flatten(0, 1)
        given.update(input=images, bias=None if at(bias, level) else bias)
        y = f(**given)
        if not single:
            y = y.unflatten(0, (size, x.shape[0]))
        if at(bias, level):
            y = y + bias.physical.reshape(size, *(1,) * (not single), -1, *(1,) * dims)
        return wrapped(y, level)
    w = weight.physical.flatten(0, 1)  # [B O, C / groups, ...] or [B C, O / groups, ...]
    out = weight.shape[1] * groups if transposed else weight.shape[0]
    if at(x, level):
        batch = x.physical if not single else x.physical.unsqueeze(1)
        images = batch.movedim(0, 1).flatten(1, 2)  # [N, B C, ...]
    else:
        images = (x.unsqueeze(0) if single else x).repeat(1, size, *(1,) * dims)
    given.update(input=images, weight=w, groups=groups * size)
    given["bias"] = None if bias is None else whole(bias, level).flatten()
    y = f(**given)  # [N, B O, ...]
    y = y.unflatten(1, (size, out)).movedim(1, 0)
    return wrapped(y.squeeze(1) if single else y, level)


FAMILIES: dict[str, Rule] = {
    "matmul mm mv dot bmm": matmuls,
    "linear": linears,
    "addmm addmv addr baddbmm addbmm addmm_ addmv_ addr_ baddbmm_ addbmm_": sums_of_products,
    "cdist": distances,
    "cross": crosses,
    "_linalg": decompositions,
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution": (
        convolutions
    ),
    "kron conv_tbc": each,
}
