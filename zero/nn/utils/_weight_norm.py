"""Weights as a length times a direction, by a hook before each forward()."""

from __future__ import annotations

import warnings

import zero
from zero import Parameter, Tensor
from zero.errors import ValueError
from zero.nn.lazy import is_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from zero.nn.module import Module

    AnyModule = TypeVar("AnyModule", bound=Module)

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def norm_except_dim(v: Tensor, dim: int) -> Tensor:
    """The Euclidean norms over all dimensions but one, which stay with size 1; over all for -1."""
    if dim == -1:
        return v.norm()
    others = [d for d in range(v.dim()) if d != dim]
    return v.norm(2, others, keepdim=True) if others else v.abs()


def scaled_direction(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """``g v / |v|``."""
    return v * (g / norm_except_dim(v, dim))


def checked_dim(op: str, weight: Tensor, dim: int | None) -> int:
    """The dimension from the start; -1 for None, and for -1 itself, as PyTorch has it."""
    if dim is None or dim == -1:
        return -1
    if not -weight.dim() <= dim < weight.dim():
        raise ValueError(
            f"{op}: no such dimension; got dim={dim}, expected one of a weight of shape "
            f"{tuple(weight.shape)}"
        )
    return dim % weight.dim()


class WeightNorm:
    """The hook of :func:`weight_norm`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight, from its length and its direction."""
        v: Tensor = getattr(module, self.name + "_v")
        return scaled_direction(v, getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Makes the two parameters and registers the hook."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"weight_norm: the parameter {name!r} has one already")
        weight = getattr(module, name)
        checked_lazy("weight_norm", name, weight)
        fn = WeightNorm(name, checked_dim("weight_norm", weight, dim))
        with zero.no_grad():
            length = norm_except_dim(weight, fn.dim)
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(length))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, fn.compute_weight(module))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module: Module) -> None:
        """Makes the weight a parameter again."""
        with zero.no_grad():
            weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def checked_lazy(op: str, name: str, weight: object) -> None:
    """Raises for a parameter that waits for its shape."""
    if is_lazy(weight):
        raise ValueError(
            f"{op}: the parameter {name!r} has no shape yet; call the module with an input first"
        )


def weight_norm(module: AnyModule, name: str = "weight", dim: int | None = 0) -> AnyModule:
    """Replaces a weight by its length and its direction: ``w = g v / |v|``.

    Both are parameters, `<name>_g` and `<name>_v`; the weight is computed from them before each
    forward(). The newer form is :func:`zero.nn.utils.parametrizations.weight_norm`.

    Args:
        module: the layer, which is changed and returned.
        name: of the parameter.
        dim: the dimension along which each slice has a length of its own; None for one length.

    Raises:
        RuntimeError: the parameter is normalised already.
        ValueError: there is no such dimension.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.weight_norm(zero.nn.Linear(20, 40))
        >>> layer.weight_g.shape, layer.weight_v.shape
        (zero.Size([40, 1]), zero.Size([40, 20]))

    Source: Salimans and Kingma, Weight normalization, 2016.
    """
    warnings.warn(
        "weight_norm: is the old form of parametrizations.weight_norm", FutureWarning, stacklevel=2
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Undoes :func:`weight_norm`: the weight is a parameter again.

    Args:
        module: the layer, which is changed and returned.
        name: of the parameter.

    Raises:
        ValueError: it is not normalised.

    Example:
        >>> import zero, warnings
        >>> warnings.simplefilter("ignore")
        >>> layer = zero.nn.utils.weight_norm(zero.nn.Linear(20, 40))
        >>> sorted(dict(zero.nn.utils.remove_weight_norm(layer).named_parameters()))
        ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"remove_weight_norm: {name!r} of {type(module).__name__} has no weight_norm")
