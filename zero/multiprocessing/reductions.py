"""How tensors travel between processes: by the name of their memory."""

from __future__ import annotations

from typing import Any

import zero
from zero import Parameter, Tensor
from zero.multiprocessing._blocks import attach, share

__all__ = ["init_reductions", "rebuild_tensor", "reduce_tensor"]


def reduce_tensor(tensor: Tensor) -> Any:
    """What a message says of a tensor, whose memory is shared from then on.

    Args:
        tensor: a tensor; `__reduce_ex__` asks for this when a pickler of multiprocessing is at
            work, also for subclasses.

    Raises:
        RuntimeError: it is no leaf and requires grad, as graphs don't leave a process.
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "multiprocessing: the tensor has a graph, which cannot be sent; got one that requires "
            "grad and is no leaf, expected x.detach(), with gradients sent on their own"
        )
    block = share(tensor, "multiprocessing")
    return rebuild_tensor, (
        type(tensor),
        block.ticket(),
        len(block),
        tensor.dtype,
        tuple(tensor.shape),
        tensor.stride(),
        tensor.storage_offset(),
        tensor.requires_grad,
        dict(tensor.__dict__) or None,
    )


def rebuild_tensor(
    cls: type[Tensor],
    name: str,
    nbytes: int,
    dtype: zero.dtype,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    offset: int,
    requires_grad: bool,
    attributes: dict[str, Any] | None,
) -> Tensor:
    """A tensor on memory that another process has shared."""
    shown = attach(name, nbytes).tensor(dtype, size, stride, offset)
    return zero._dressed(shown, cls, requires_grad, attributes)


def init_reductions() -> None:
    """Makes picklers of multiprocessing share tensors; done when this module is imported."""
    from multiprocessing.reduction import ForkingPickler

    for cls in (Tensor, Parameter):
        ForkingPickler.register(cls, _reduce)


def _reduce(tensor: Tensor) -> Any:
    return tensor.__reduce_ex__(4) if tensor.is_meta else reduce_tensor(tensor)
