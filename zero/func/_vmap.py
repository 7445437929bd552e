"""vmap: a function of samples as a function of batches."""

from __future__ import annotations

from functools import wraps

from zero import (
    Tensor,
    _enter_vmap,
    _leave_vmap,
    _set_batching,
    cat,
    errors,
    get_rng_state,
    set_rng_state,
)
from zero.func._batched import BatchedTensor, call, physical, whole
from zero.func._rules import DRAWS
from zero.utils._pytree import tree_flatten, tree_leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zero.utils._pytree import TreeSpec

__all__ = ["debug_unwrap", "vmap"]

_set_batching(BatchedTensor, call, DRAWS)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Any:
    """A function that calls another for all samples of a batch at once.

    ``vmap(f)(x)`` gives ``stack([f(sample) for sample in x])``. Inside of `func` a tensor has the
    shape of a sample; its operations run on the batch. What needs the numbers of one sample, such
    as ``if x > 0``, ``x.item()`` or a result whose size depends on values, is an error. It can be
    nested, and combined with the other transforms: ``vmap(grad(f))`` gives a gradient for each
    sample.

    Args:
        func: takes and returns tensors, in any trees. It is called once, or once for each chunk.
        in_dims: which dimension of each positional argument runs over samples; None for what is the
            same for all. An int is for all tensors, a tuple has an entry for each argument, which
            can be a tree like it. Keyword arguments are the same for all samples.
        out_dims: where the dimension of samples shall be in each output, likewise; None for outputs
            that don't depend on the sample, which stay single.
        randomness: what random numbers are: "error", "different" or "same" for the samples.
        chunk_size: how many samples are computed at a time, which bounds the memory; None for all.

    Returns:
        A function of the same arguments.

    Raises:
        ValueError: `in_dims`, `out_dims` or `chunk_size` don't fit, or an output is no tensor.
        RuntimeError: `randomness` is none of the three; or, when called, `func` needs numbers of a
            sample, draws random numbers with "error", or writes what differs between samples to a
            tensor that is the same for all.

    Example:
        >>> import zero
        >>> vectors, matrix = zero.ones(5, 3), zero.ones(2, 3)
        >>> zero.vmap(zero.mv, in_dims=(None, 0))(matrix, vectors).shape
        zero.Size([5, 2])
        >>> zero.vmap(zero.func.grad(lambda x: (x**2).sum()))(vectors[:2])
        tensor([[2., 2., 2.],
                [2., 2., 2.]])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"vmap: no such randomness; got {randomness!r}, expected 'error', 'different' or 'same'"
        )
    if chunk_size is not None and not (type(chunk_size) is int and chunk_size > 0):
        raise errors.ValueError(f"vmap: chunk_size is no positive int; got {chunk_size!r}")
    if not isinstance(in_dims, (int, tuple)):
        raise errors.ValueError(
            "vmap: in_dims is neither an int nor a tuple with an entry for each argument; got "
            f"{in_dims!r}"
        )

    @wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = tree_flatten(args)
        dims = _spread(in_dims, args, "in_dims", "the arguments")
        dims, size = _checked(leaves, dims)
        leaves = [x.movedim(dim, 0) if dim else x for x, dim in zip(leaves, dims, strict=True)]
        chunks = _Calls(func, spec, dims, out_dims, randomness, kwargs)
        if chunk_size is None or chunk_size >= size:
            return chunks.run(leaves, size)
        return chunks.run_in_parts(leaves, size, chunk_size)

    return batched


class _Calls:
    """Calls of a function with batches, along the first dimension of its arguments' leaves."""

    def __init__(
        self,
        func: Callable[..., Any],
        spec: TreeSpec,
        dims: list[int | None],
        out_dims: Any,
        randomness: str,
        kwargs: dict[str, Any],
    ) -> None:
        self.func, self.spec, self.dims, self.out_dims = func, spec, dims, out_dims
        self.randomness, self.kwargs = randomness, kwargs

    def run(self, leaves: list[Any], size: int) -> Any:
        from zero import _batched

        level = _enter_vmap(size, self.randomness)
        try:
            samples = [
                x if dim is None else _batched(x, level)
                for x, dim in zip(leaves, self.dims, strict=True)
            ]
            result = self.func(*self.spec.unflatten(samples), **self.kwargs)
        finally:
            _leave_vmap(level)
        outputs, spec = tree_flatten(result)
        dims = _out_dims(self.out_dims, result)
        return spec.unflatten(
            _unbatched(y, dim, level) for y, dim in zip(outputs, dims, strict=True)
        )

    def run_in_parts(self, leaves: list[Any], size: int, chunk_size: int) -> Any:
        state = get_rng_state() if self.randomness == "same" else None
        parts = []
        for start in range(0, size, chunk_size):
            n = min(chunk_size, size - start)
            if state is not None:
                set_rng_state(state)
            part = [
                x if dim is None else x.narrow(0, start, n)
                for x, dim in zip(leaves, self.dims, strict=True)
            ]
            parts.append(tree_flatten(self.run(part, n)))
        spec = parts[0][1]
        dims = _out_dims(self.out_dims, spec.unflatten(parts[0][0]))
        columns = zip(*(outputs for outputs, _ in parts), strict=True)
        return spec.unflatten(
            ys[0] if dim is None else cat(ys, dim) for ys, dim in zip(columns, dims, strict=True)
        )


def _spread(dims: Any, tree: Any, name: str, what: str) -> list[Any]:
    """A dimension for each leaf of a tree from one for each of its branches."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(tree_leaves(tree))
    given, spec = tree_flatten(dims)
    try:
        branches = spec.flatten_up_to(tree)
    except ValueError as error:
        raise errors.ValueError(
            f"vmap: {name} does not have the structure of {what}: {error}"
        ) from None
    result = []
    for dim, branch in zip(given, branches, strict=True):
        result += [dim] * len(tree_leaves(branch))
    return result


def _checked(leaves: list[Any], dims: list[Any]) -> tuple[list[int | None], int]:
    """Dimensions that aren't negative, and the size of the batch."""
    if not leaves:
        raise errors.ValueError("vmap: there is nothing to run over; got no arguments")
    sizes: dict[int, None] = {}
    result: list[int | None] = []
    for x, dim in zip(leaves, dims, strict=True):
        if dim is None:
            result.append(None)
            continue
        if type(dim) is not int:
            raise errors.ValueError(
                f"vmap: an entry of in_dims is neither an int nor None; got {dim!r}"
            )
        if not isinstance(x, Tensor):
            raise errors.ValueError(
                f"vmap: only tensors have samples; got in_dims {dim} for {type(x).__name__}, "
                "expected None for it"
            )
        if not -x.ndim <= dim < x.ndim:
            raise errors.ValueError(
                f"vmap: in_dims is out of range; got {dim} for a tensor of shape {tuple(x.shape)}"
            )
        result.append(dim % x.ndim)
        sizes[x.shape[dim]] = None
    if not sizes:
        raise errors.ValueError("vmap: nothing has samples; got in_dims None for all arguments")
    if len(sizes) > 1:
        raise errors.ValueError(
            "vmap: the arguments have different numbers of samples; got "
            f"{', '.join(map(str, sizes))} along in_dims, expected one number"
        )
    return result, next(iter(sizes))


def _out_dims(out_dims: Any, result: Any) -> list[Any]:
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and isinstance(result, Tensor):
        (out_dims,) = out_dims
    return _spread(out_dims, result, "out_dims", "the outputs")


def _unbatched(y: Any, dim: Any, level: Any) -> Any:
    """An output with its batch dimension in place `dim`."""
    if dim is None:
        if physical(y, level) is not y:
            raise errors.ValueError(
                "vmap: an output differs between samples; got out_dims None for it, expected an int"
            )
        return y
    if type(dim) is not int:
        raise errors.ValueError(
            f"vmap: an entry of out_dims is neither an int nor None; got {dim!r}"
        )
    if not isinstance(y, Tensor):
        raise errors.ValueError(
            f"vmap: func must return tensors; got {type(y).__name__}, expected a Tensor, or "
            "out_dims None for it"
        )
    if type(y) is BatchedTensor and y.level is not level and not y.level.alive:
        raise RuntimeError(
            "vmap: an output is a tensor of a call that has ended; expected what that returned"
        )
    y = whole(y, level)
    if not -y.ndim <= dim < y.ndim:
        raise errors.IndexError(
            f"vmap: out_dims is out of range; got {dim} for an output of shape {tuple(y.shape)} "
            "with its samples"
        )
    return y.movedim(0, dim) if dim % y.ndim else y


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The batch that a tensor stands for inside of :func:`vmap`, to look at it.

    Args:
        tensor: any tensor; one that is the same for all samples comes back as it is.
        recurse: whether those of vmaps around are unwrapped, too.

    Returns:
        The batch, with the dimensions of samples in front, the outermost first.

    Example:
        >>> import zero
        >>> seen = []
        >>> _ = zero.vmap(lambda x: seen.append(zero.func.debug_unwrap(x)) or x)(zero.ones(2, 3))
        >>> seen[0].shape
        zero.Size([2, 3])
    """
    while type(tensor) is BatchedTensor:
        tensor = tensor.physical
        if not recurse:
            break
    return tensor
