"""Clipping of gradients by their common norm, or element by element."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from types import GeneratorType

from zero import (
    Tensor,
    _clip_grad_norm_,
    _clip_grad_value_,
    _clip_grads_with_norm_,
    _get_total_norm,
)

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]


def _check_foreach(op: str, foreach: object) -> None:
    if not isinstance(foreach, bool):
        raise TypeError(f"{op}: foreach must be a bool or None; got {type(foreach).__name__}")


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
    if foreach is not None:
        _check_foreach("get_total_norm", foreach)
    return _get_total_norm(
        tensors,
        norm_type,
        error_if_nonfinite,
    )


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
    if foreach is not None:
        _check_foreach("clip_grads_with_norm_", foreach)
    _clip_grads_with_norm_(
        parameters,
        max_norm,
        total_norm,
    )


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
    if type(parameters) is GeneratorType:
        parameters = list(parameters)
        if not parameters:
            warnings.warn(
                "clip_grad_norm_: the generator gave no parameters, perhaps because it was used up "
                "before; nothing is clipped",
                stacklevel=2,
            )
    if foreach is not None:
        _check_foreach("clip_grad_norm_", foreach)
    return _clip_grad_norm_(
        parameters,
        max_norm,
        norm_type,
        error_if_nonfinite,
    )


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
    if foreach is not None:
        _check_foreach("clip_grad_value_", foreach)
    _clip_grad_value_(
        parameters,
        clip_value,
    )
