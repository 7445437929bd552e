"""Calls of functions that are recorded, to be differentiated by some of their arguments."""

from __future__ import annotations

from zero import (
    Tensor,
    _batched,
    _grad,
    _reaches_others,
    _vmap_level,
    enable_grad,
    is_grad_enabled,
    stack,
    zeros,
    zeros_like,
)
from zero.errors import DTypeError, ValueError
from zero.utils._pytree import tree_flatten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeAlias

    from zero.utils._pytree import TreeSpec

    ArgNums: TypeAlias = int | tuple[int, ...]

__all__ = ["Record", "chosen", "plain", "shown"]


# ---- inside of vmap ------------------------------------------------------------------------------
def plain(x: Tensor, level: Any = None) -> Tensor:
    """A tensor with the batch dimensions of all vmaps around, outermost first: […vmaps, …shape].

    One that is the same for all samples of a vmap is expanded, so that each has a gradient.
    """
    level = level or _vmap_level()
    while level is not None:
        if getattr(x, "level", None) is level:
            x = x.physical  # type: ignore[attr-defined]  # of a BatchedTensor
        else:
            x = x.unsqueeze(0).expand(level.size, *x.shape)
        level = level.outer
    return x


def shown(x: Tensor, level: Any = None) -> Tensor:
    """The inverse of plain: the tensor that code inside of the vmaps works with."""
    level = level or _vmap_level()
    if level is None:
        return x
    return _batched(x if level.outer is None else shown(x, level.outer), level)


def vmaps() -> int:
    """How many vmaps are around."""
    level = _vmap_level()
    return 0 if level is None else int(level.depth)


# ---- arguments -----------------------------------------------------------------------------------
def chosen(args: tuple[Any, ...], argnums: ArgNums, op: str) -> Any:
    """The arguments that argnums names."""
    for n in argnums if isinstance(argnums, tuple) else (argnums,):
        if type(n) is not int:
            raise TypeError(f"{op}: argnums is neither an int nor a tuple of ints; got {argnums!r}")
        if not -len(args) <= n < len(args):
            raise RuntimeError(
                f"{op}: argnums names no positional argument; got {n}, expected at least "
                f"{-len(args)} and less than {len(args)}"
            )
    if isinstance(argnums, int):
        return args[argnums]
    places = [n % len(args) for n in argnums]
    if not places or len(set(places)) < len(places):
        raise ValueError(
            f"{op}: argnums is empty or names an argument twice; got {argnums}, expected "
            "different arguments"
        )
    return tuple(args[n] for n in argnums)


def with_chosen(args: tuple[Any, ...], argnums: ArgNums, new: Any) -> list[Any]:
    """The arguments with others in the places that argnums names."""
    result = list(args)
    if isinstance(argnums, int):
        result[argnums] = new
    else:
        for n, value in zip(argnums, new, strict=True):
            result[n] = value
    return result


def tensors_of(tree: Any, op: str, what: str) -> tuple[list[Tensor], TreeSpec]:
    leaves, spec = tree_flatten(tree)
    for x in leaves:
        if not isinstance(x, Tensor):
            raise ValueError(
                f"{op}: {what} is not made of tensors; got {type(x).__name__}, expected Tensors in "
                "tuples, lists and dicts"
            )
    return leaves, spec


# ---- the record ----------------------------------------------------------------------------------
class Record:
    """Outputs of a function as functions of some of its inputs.

    Tensors of a record are plain ones, with a dimension in front for each vmap around. The outer
    graph is kept, so that derivatives have derivatives, only where there is one.

    Args:
        op: the transform that asks, for errors.
        inputs: a tree of tensors to differentiate by.
        call: gets such a tree, and returns what the function returned.
        has_aux: whether that is a pair of outputs and something else, which is not differentiated.
    """

    def __init__(self, op: str, inputs: Any, call: Callable[[Any], Any], has_aux: bool) -> None:
        given, self.inputs_spec = tensors_of(inputs, op, "what is differentiated by")
        for x in given:
            if not x.is_floating_point():
                raise DTypeError(
                    f"{op}: only functions of floats have derivatives; got a tensor of {x.dtype} "
                    "among the inputs to differentiate by, expected floats"
                )
        self.op = op
        self.level, self.dims = _vmap_level(), vmaps()
        outer = is_grad_enabled()
        with enable_grad():
            whole = [plain(x) for x in given]
            depends = outer and any(x.requires_grad for x in whole)
            self.inputs = [
                x.view_as(x) if outer and x.requires_grad else x.detach().requires_grad_()
                for x in whole
            ]
            result = call(self.inputs_spec.unflatten(shown(x) for x in self.inputs))
            self.aux: Any = None
            if has_aux:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"{op}: has_aux=True is for functions that return a pair of outputs and "
                        f"auxiliary data; got {_kind(result)}"
                    )
                result, self.aux = result
            self.shown, self.outputs_spec = tensors_of(result, op, "the result of func")
            self.outputs = [plain(y) for y in self.shown]
            recorded = [y for y in self.outputs if y.requires_grad]
            if outer and recorded and not depends:
                depends = _reaches_others(recorded, self.inputs)
        self.depends = depends

    def result(self) -> Any:
        """What the function returned."""
        return self.outputs_spec.unflatten(map(self._released, self.outputs))

    def auxiliary(self) -> Any:
        """What else it returned."""
        if self.depends:
            return self.aux
        leaves, spec = tree_flatten(self.aux)
        return spec.unflatten(
            x.detach() if isinstance(x, Tensor) and x.requires_grad else x for x in leaves
        )

    def _released(self, x: Tensor) -> Tensor:
        return shown(x if self.depends else x.detach())

    def pull(
        self, vectors: Sequence[Tensor | None], retain: bool, create: bool
    ) -> tuple[Tensor, ...]:
        """Vectors times the Jacobian: a tensor for each input. None is for outputs to leave out."""
        pairs = [
            (y, v)
            for y, v in zip(self.outputs, vectors, strict=True)
            if v is not None and y.requires_grad
        ]
        return _products(pairs, self.inputs, retain, create)

    def linear(self) -> Linear:
        """The Jacobian as a linear map of vectors for the inputs."""
        return Linear(self)


def _products(
    pairs: list[tuple[Tensor, Tensor]], inputs: Sequence[Tensor], retain: bool, create: bool
) -> tuple[Tensor, ...]:
    """Of pairs of an output and a vector, the vectors times the Jacobian: one for each input."""
    if not pairs:
        return tuple(map(zeros_like, inputs))
    found: Any = _grad(
        [y for y, _ in pairs],
        inputs,
        [v for _, v in pairs],
        retain_graph=retain,
        create_graph=create,
        allow_unused=True,
        materialize_grads=True,  # so that none is None
    )
    return tuple(found)


def for_each(
    record: Record, vectors: list[Tensor], run: Callable[[list[Tensor]], tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    """Products with vectors that vmaps inside of those of the record made batches: one by one.

    Args:
        record: of the function.
        vectors: plain tensors […vmaps of the record, …later ones, …shape].
        run: gets vectors without the later dimensions.
    """
    sizes, dims = later_sizes(record), record.dims
    if not sizes:
        return run(vectors)
    flat = [v.flatten(dims, dims + len(sizes) - 1) for v in vectors]
    found = [run([v.select(dims, i) for v in flat]) for i in range(flat[0].shape[dims])]
    return tuple(stack(ys, dims).unflatten(dims, sizes) for ys in zip(*found, strict=True))


def later_sizes(record: Record) -> list[int]:
    """The sizes of the vmaps around that were not around yet when the record was made."""
    sizes: list[int] = []
    level = _vmap_level()
    while level is not record.level:
        if level is None:
            raise RuntimeError(f"{record.op}: called in a vmap that has ended; call it inside")
        sizes.insert(0, level.size)
        level = level.outer
    return sizes


class Linear:
    """A Jacobian times vectors: the map u -> u J, which is linear, differentiated by u."""

    def __init__(self, record: Record) -> None:
        with enable_grad():
            self.us = [zeros_like(y).requires_grad_() for y in record.outputs]
            rows = record.pull(self.us, retain=True, create=True)
        self.rows = [(i, row) for i, row in enumerate(rows) if row.requires_grad]

    def push(
        self, vectors: Sequence[Tensor | None], retain: bool, create: bool
    ) -> tuple[Tensor, ...]:
        """A tensor for each output. None is for inputs to leave out."""
        pairs = [(row, v) for i, row in self.rows if (v := vectors[i]) is not None]
        return _products(pairs, self.us, retain, create)


def unit_vectors(x: Tensor, dims: int) -> Iterator[Tensor]:
    """For each element of x […vmaps, …shape] a tensor with 1 there and 0 elsewhere.

    Args:
        x: a plain tensor.
        dims: how many of its dimensions are those of vmaps.
    """
    shape = x.shape
    n = shape[dims:].numel()
    for i in range(n):
        e = zeros(*shape[:dims], n, dtype=x.dtype, device=x.device)
        e[..., i] = 1
        yield e.reshape(shape)


def _kind(x: object) -> str:
    return f"a tuple of {len(x)}" if isinstance(x, tuple) else type(x).__name__
