"""Jacobians and Hessians of functions, in full."""

from __future__ import annotations

from functools import wraps

from zero import Tensor, stack
from zero.errors import ValueError
from zero.func._record import Record, chosen, shown, unit_vectors, vmaps, with_chosen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zero.func._record import ArgNums

__all__ = ["hessian", "jacfwd", "jacrev"]


def _recorded(
    op: str,
    func: Callable[..., Any],
    argnums: ArgNums,
    has_aux: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Record:
    record = Record(
        op,
        chosen(args, argnums, op),
        lambda new: func(*with_chosen(args, argnums, new), **kwargs),
        has_aux,
    )
    for y in record.outputs:
        if not y.is_floating_point():
            raise RuntimeError(
                f"{op}: only outputs of floats have derivatives; got a tensor of {y.dtype} from "
                "func, expected floats"
            )
    return record


def _result(record: Record, blocks: list[list[Tensor]], has_aux: bool) -> Any:
    """Blocks by output and input as a tree like the outputs, of trees like the inputs."""
    rows = [record.inputs_spec.unflatten(map(shown, row)) for row in blocks]
    jacobian = record.outputs_spec.unflatten(rows)
    return (jacobian, record.auxiliary()) if has_aux else jacobian


def jacrev(
    func: Callable[..., Any],
    argnums: ArgNums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Any:
    """A function that computes the Jacobian of another by backward passes, one for each output.

    Right where outputs are fewer than inputs; see :func:`jacfwd` for others. The function is called
    once.

    Args:
        func: returns tensors, in any tree; with `has_aux` a pair of those and anything else.
        argnums: which positional argument or arguments to differentiate by, trees of tensors.
        has_aux: whether `func` returns such a pair.
        chunk_size: how many rows PyTorch computes at a time, which bounds its memory. Here it is
            always one, whatever is given.
        _preallocate_and_copy: how PyTorch joins chunks; of no meaning here.

    Returns:
        A function of the same arguments. For one output and one input it returns a tensor of shape
        […output.shape, …input.shape]; otherwise a tree like the outputs, of trees like the inputs.

    Raises:
        ValueError: `chunk_size` is not positive.
        RuntimeError: when called: an output is not of floats, or `argnums` names no argument.

    Example:
        >>> import zero
        >>> zero.func.jacrev(lambda x: x * x)(zero.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if chunk_size is not None and not (type(chunk_size) is int and chunk_size > 0):
        raise ValueError(f"jacrev: chunk_size is no positive int; got {chunk_size!r}")

    @wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        record = _recorded("jacrev", func, argnums, has_aux, args, kwargs)
        dims = vmaps()
        blocks = []
        for k, y in enumerate(record.outputs):
            rows: list[list[Tensor]] = [[] for _ in record.inputs]
            vectors: list[Tensor | None] = [None] * len(record.outputs)
            for e in unit_vectors(y, dims):
                vectors[k] = e
                found = record.pull(vectors, retain=True, create=record.depends)
                for row, g in zip(rows, found, strict=True):
                    row.append(g)
            blocks.append(
                [
                    _joined(row, dims).reshape(*y.shape, *x.shape[dims:])
                    if row
                    else x.new_zeros(*y.shape, *x.shape[dims:])
                    for row, x in zip(rows, record.inputs, strict=True)
                ]
            )
        return _result(record, blocks, has_aux)

    return jacobian


def _joined(parts: list[Tensor], dim: int) -> Tensor:
    return parts[0].unsqueeze(dim) if len(parts) == 1 else stack(parts, dim)


def jacfwd(
    func: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Any:
    """A function that computes the Jacobian of another by columns, one for each element of inputs.

    Right where inputs are fewer than outputs; see :func:`jacrev` for others. The function is called
    once, then differentiated along each input as in :func:`jvp`.

    Args:
        func: returns tensors, in any tree; with `has_aux` a pair of those and anything else.
        argnums: which positional argument or arguments to differentiate by, trees of tensors.
        has_aux: whether `func` returns such a pair.
        randomness: whether `func` may draw random numbers: "error", or "same" for all columns.

    Returns:
        A function of the same arguments. For one output and one input it returns a tensor of shape
        […output.shape, …input.shape]; otherwise a tree like the outputs, of trees like the inputs.

    Raises:
        ValueError: `randomness` is neither.
        NotImplementedError: `randomness` is "different": one call serves all columns.
        RuntimeError: when called: an output is not of floats, or `argnums` names no argument; or
            `func` draws random numbers with `randomness` "error".

    Example:
        >>> import zero
        >>> zero.func.jacfwd(lambda x: x * x)(zero.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if randomness == "different":
        raise NotImplementedError(
            "jacfwd: one call serves all columns; got randomness='different', expected 'error' or "
            "'same'"
        )
    if randomness not in ("error", "same"):
        raise ValueError(
            f"jacfwd: no such randomness; got {randomness!r}, expected 'error' or 'same'"
        )

    @wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        record = _recorded("jacfwd", func, argnums, has_aux, args, kwargs)
        dims = vmaps()
        linear = record.linear()
        blocks: list[list[Tensor]] = [[] for _ in record.outputs]
        for k, x in enumerate(record.inputs):
            columns: list[list[Tensor]] = [[] for _ in record.outputs]
            vectors: list[Tensor | None] = [None] * len(record.inputs)
            for e in unit_vectors(x, dims):
                vectors[k] = e
                found = linear.push(vectors, retain=True, create=record.depends)
                for column, g in zip(columns, found, strict=True):
                    column.append(g)
            for block, column, y in zip(blocks, columns, record.outputs, strict=True):
                shape = *y.shape, *x.shape[dims:]
                block.append(stack(column, -1).reshape(shape) if column else y.new_zeros(shape))
        return _result(record, blocks, has_aux)

    return jacobian


def hessian(func: Callable[..., Any], argnums: ArgNums = 0) -> Any:
    """A function that computes all second derivatives of another.

    It is ``jacrev(jacrev(func))``: of a function with one number one recorded backward pass, and
    another one for each element of the inputs.

    Args:
        func: returns tensors, in any tree.
        argnums: which positional argument or arguments to differentiate by, trees of tensors.

    Returns:
        A function of the same arguments. For one output and one input it returns a tensor of shape
        […output.shape, …input.shape, …input.shape]; otherwise a tree like the outputs, of trees
        like the inputs, of such trees.

    Raises:
        RuntimeError: when called: an output is not of floats, or `argnums` names no argument.

    Example:
        >>> import zero
        >>> zero.func.hessian(lambda x: (x**3).sum())(zero.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)
