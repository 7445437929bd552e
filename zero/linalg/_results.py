"""What the functions of zero.linalg share: checks, infos and out= for several results."""

from __future__ import annotations

import zero
from zero import Tensor, _deliver, _first_failure
from zero.errors import DTypeError, LinAlgError, ShapeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_info", "check_matrices", "check_square", "deliver_all"]


def check_matrices(op: str, A: Tensor) -> None:
    if A.dtype not in (zero.float32, zero.float64):
        raise DTypeError(
            f"{op}: not for this dtype; got {A.dtype}, expected float32 or float64; to() converts"
        )
    if A.ndim < 2:
        raise ShapeError(
            f"{op}: not a matrix; got {tuple(A.shape)}, expected at least 2 dimensions"
        )


def check_square(op: str, A: Tensor) -> None:
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ShapeError(
            f"{op}: not square matrices; got {tuple(A.shape)}, expected as many rows as columns"
        )


def check_info(op: str, info: Tensor, text: str) -> None:
    """Raises LinAlgError for the first matrix whose info is not 0.

    Args:
        op: the name of the function.
        info: int32, a number for each matrix.
        text: the message, in which ``{}`` stands for the number.
    """
    info = zero._all_values(info)
    if (first := _first_failure(info)) >= 0:
        element = f" (Batch element {first})" if info.ndim else ""
        raise LinAlgError(f"{op}:{element} " + text.format(int(info.reshape(-1)[first])))


def deliver_all(
    results: tuple[Tensor, ...], out: Sequence[Tensor] | None, op: str
) -> tuple[Tensor, ...]:
    """The results, or the tensors of `out` with copies of them."""
    if out is None:
        return results
    if not isinstance(out, (tuple, list)) or len(out) != len(results):
        raise TypeError(
            f"{op}: out is no tuple of {len(results)} tensors; got {type(out).__name__}, expected "
            "one for each result"
        )
    pairs = list(zip(results, out, strict=True))

    def fits(y: Tensor, place: Tensor) -> bool:
        return (
            isinstance(place, Tensor)
            and (place.shape == y.shape or place.numel() == 0)
            and place.device == y.device
            and zero.can_cast(y.dtype, place.dtype)
            and not place.requires_grad
        )

    # What doesn't fit comes first: it raises before anything is written.
    for y, place in sorted(pairs, key=lambda pair: fits(*pair)):
        _deliver(y, place, op)
    return tuple(out)
