"""Clipping of gradients by their common norm, or element by element."""

from __future__ import annotations

import math
import warnings
from collections.abc import Generator, Iterable

import zero
from zero import Tensor

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]


def _listed(op: str, tensors: Tensor | Iterable[Tensor], name: str) -> list[Tensor]:
    if isinstance(tensors, Tensor):
        return [tensors]
    if not isinstance(tensors, Iterable):
        raise TypeError(f"{op}: {name} must be Tensors; got {type(tensors).__name__}")
    tensors = list(tensors)
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{op}: {name} must be Tensors; got {type(tensor).__name__} among them")
    return tensors


def _number(op: str, name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # 'inf', too, as in PyTorch
    except (TypeError, ValueError):
        raise TypeError(f"{op}: {name} is not a number; got {value!r}, expected a float") from None


def _checked_foreach(op: str, foreach: bool | None) -> None:
    if foreach is not None and not isinstance(foreach, bool):
        raise TypeError(f"{op}: foreach must be a bool or None; got {type(foreach).__name__}")


def _vector_norm(x: Tensor, p: float) -> Tensor:
    """(sum |x_i|^p)^(1/p), its limits for infinite p, the number of nonzeros for p = 0."""
    if x.dtype in (zero.float16, zero.bfloat16):  # squares of gradients leave the range
        return _vector_norm(x.float(), p).to(x.dtype)
    if p == 2:
        return x.square().sum().sqrt()
    if x.numel() == 0:
        return x.new_full((), math.inf if p < 0 else 0.0)
    if math.isinf(p):
        return x.abs().max() if p > 0 else x.abs().min()
    if p == 0:
        return (x != 0).sum().to(x.dtype)
    if p == 1:
        return x.abs().sum()
    return x.abs().pow(p).sum().pow(1 / p)


@zero.no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements of some tensors, as of one vector; 0 for no tensors.

    Args:
        tensors: a tensor or several, of floats.
        norm_type: p of the p-norm; ``inf`` for the largest absolute value.
        error_if_nonfinite: raise if the norm is inf or nan.
        foreach: how PyTorch computes; here it makes no difference.

    Raises:
        RuntimeError: the norm is not finite, and that is an error.

    Example:
        >>> import zero
        >>> zero.nn.utils.get_total_norm([zero.tensor([3.0]), zero.tensor([0.0, 4.0])])
        tensor(5.)
    """
    tensors = _listed("get_total_norm", tensors, "tensors")
    _checked_foreach("get_total_norm", foreach)
    norm_type = _number("get_total_norm", "norm_type", norm_type)
    if not tensors:
        return zero.tensor(0.0)
    norms = [_vector_norm(tensor, norm_type) for tensor in tensors]
    one = len(norms) == 1 and norm_type != 0  # the 0-norm counts tensors
    total = norms[0] if one else _vector_norm(zero.stack(norms), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"get_total_norm: the norm of order {norm_type} is {total.item()}, expected a finite "
            "one; error_if_nonfinite=False lets it pass"
        )
    return total


@zero.no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Multiplies all gradients by ``min(max_norm / (total_norm + 1e-6), 1)``, in place.

    Args:
        parameters: a tensor or several; those without gradient are left out.
        max_norm: what the norm is to be at most.
        total_norm: what :func:`get_total_norm` gave for the gradients.
        foreach: how PyTorch computes; here it makes no difference.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.zeros(2))
        >>> p.grad = zero.tensor([30.0, 40.0])
        >>> zero.nn.utils.clip_grads_with_norm_(p, 5.0, zero.tensor(50.0))
        >>> p.grad
        tensor([3., 4.])
    """
    parameters = _listed("clip_grads_with_norm_", parameters, "parameters")
    _checked_foreach("clip_grads_with_norm_", foreach)
    factor = (_number("clip_grads_with_norm_", "max_norm", max_norm) / (total_norm + 1e-6)).clamp(
        max=1.0
    )
    if factor.device.type != "meta" and factor.item() == 1:
        return
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad.mul_(factor)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients down, in place, so that their common norm is at most max_norm.

    With g all gradients as one vector: ``g *= min(max_norm / (|g|_p + 1e-6), 1)``. A norm that is
    not finite makes all gradients nan or 0, unless it is an error.

    Args:
        parameters: a tensor or several; those without gradient are left out.
        max_norm: what the norm is to be at most.
        norm_type: p of the p-norm; ``inf`` for the largest absolute value.
        error_if_nonfinite: raise, and change nothing, if the norm is inf or nan.
        foreach: how PyTorch computes; here it makes no difference.

    Returns:
        The norm before clipping.

    Raises:
        RuntimeError: the norm is not finite, and that is an error.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.zeros(2))
        >>> p.grad = zero.tensor([30.0, 40.0])
        >>> zero.nn.utils.clip_grad_norm_([p], max_norm=5.0)
        tensor(50.)
        >>> p.grad
        tensor([3., 4.])

    Source: Pascanu et al., On the difficulty of training recurrent neural networks, 2013.
    """
    given = parameters
    parameters = _listed("clip_grad_norm_", parameters, "parameters")
    if not parameters and isinstance(given, Generator):
        warnings.warn(
            "clip_grad_norm_: the generator gave no parameters, perhaps because it was used up "
            "before; nothing is clipped",
            stacklevel=2,
        )
    grads = [p.grad for p in parameters if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of :func:`clip_grad_norm_`; warns."""
    warnings.warn("clip_grad_norm: is the old name of clip_grad_norm_", FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@zero.no_grad()
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Limits every element of the gradients to [-clip_value, clip_value], in place.

    Args:
        parameters: a tensor or several; those without gradient are left out.
        clip_value: the largest absolute value.
        foreach: how PyTorch computes; here it makes no difference.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.zeros(2))
        >>> p.grad = zero.tensor([-30.0, 0.5])
        >>> zero.nn.utils.clip_grad_value_(p, 1.0)
        >>> p.grad
        tensor([-1.0000,  0.5000])
    """
    parameters = _listed("clip_grad_value_", parameters, "parameters")
    _checked_foreach("clip_grad_value_", foreach)
    clip_value = _number("clip_grad_value_", "clip_value", clip_value)
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad.clamp_(-clip_value, clip_value)
