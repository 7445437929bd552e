"""Pruning: elements or channels of a parameter are set to 0 by a mask that is kept.

A pruned parameter `<name>` becomes the parameter `<name>_orig` and the buffer `<name>_mask`; before
each forward() their product is stored as the attribute `<name>`.
"""

from __future__ import annotations

from collections.abc import Iterable

import zero
from zero import Tensor
from zero.errors import ValueError
from zero.nn.utils._pruning import (
    BasePruningMethod,
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    PruningContainer,
    RandomStructured,
    RandomUnstructured,
    check_scores,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from zero.nn.module import Module

    AnyModule = TypeVar("AnyModule", bound=Module)

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


def identity(module: AnyModule, name: str) -> AnyModule:
    """Makes the mask of a parameter without pruning anything.

    Args:
        module: which is changed and returned.
        name: of the parameter.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.prune.identity(zero.nn.Linear(2, 3), "bias")
        >>> layer.bias_mask
        tensor([1., 1., 1.])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: AnyModule, name: str, amount: float) -> AnyModule:
    """Prunes elements of a parameter at random.

    Args:
        module: which is changed and returned.
        name: of the parameter.
        amount: how many, an int, or which part of them, a float in [0, 1].

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.prune.random_unstructured(zero.nn.Linear(2, 3), "weight", 1)
        >>> int(layer.weight_mask.sum())
        5
    """
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(
    module: AnyModule, name: str, amount: float, importance_scores: Tensor | None = None
) -> AnyModule:
    """Prunes the elements of a parameter that are nearest to 0.

    Args:
        module: which is changed and returned.
        name: of the parameter.
        amount: how many, an int, or which part of them, a float in [0, 1].
        importance_scores: numbers to go by instead of the parameter.

    Example:
        >>> import zero
        >>> layer = zero.nn.Linear(2, 1)
        >>> layer.weight.data = zero.tensor([[0.1, -3.0]])
        >>> zero.nn.utils.prune.l1_unstructured(layer, "weight", amount=0.5).weight.tolist()
        [[0.0, -3.0]]
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: AnyModule, name: str, amount: float, dim: int) -> AnyModule:
    """Prunes channels of a parameter at random.

    Args:
        module: which is changed and returned.
        name: of the parameter.
        amount: how many, an int, or which part of them, a float in [0, 1].
        dim: the dimension of the channels.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.prune.random_structured(zero.nn.Linear(2, 3), "weight", 1, dim=1)
        >>> sorted(layer.weight_mask.sum(0).tolist())
        [0.0, 3.0]
    """
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(
    module: AnyModule,
    name: str,
    amount: float,
    n: float,
    dim: int,
    importance_scores: Tensor | None = None,
) -> AnyModule:
    """Prunes the channels of a parameter with the smallest norms.

    Args:
        module: which is changed and returned.
        name: of the parameter.
        amount: how many, an int, or which part of them, a float in [0, 1].
        n: of the n-norm.
        dim: the dimension of the channels.
        importance_scores: numbers to go by instead of the parameter.

    Example:
        >>> import zero
        >>> layer = zero.nn.Linear(2, 2)
        >>> layer.weight.data = zero.tensor([[0.1, 3.0], [1.0, 1.0]])
        >>> zero.nn.utils.prune.ln_structured(layer, "weight", 1, n=2, dim=0).weight.tolist()
        [[0.10000000149011612, 3.0], [0.0, 0.0]]
    """
    LnStructured.apply(
        module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
    )
    return module


def custom_from_mask(module: AnyModule, name: str, mask: Tensor) -> AnyModule:
    """Prunes what a mask says.

    Args:
        module: which is changed and returned.
        name: of the parameter.
        mask: of the parameter's shape; 0 where it is pruned.

    Example:
        >>> import zero
        >>> layer, mask = zero.nn.Linear(2, 3), zero.tensor([0, 1, 0])
        >>> layer.bias.data = zero.tensor([1.0, 2.0, 3.0])
        >>> zero.nn.utils.prune.custom_from_mask(layer, "bias", mask).bias.tolist()
        [0.0, 2.0, 0.0]
    """
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prunes several parameters as if their elements were those of one.

    Args:
        parameters: pairs of a module and the name of its parameter.
        pruning_method: the class, an unstructured one.
        importance_scores: for some of the pairs numbers to go by instead of the parameter.
        kwargs: for the class.

    Raises:
        TypeError: the method is not unstructured, or an argument is of another type.
        ShapeError: importance_scores are not of their parameter's shape.

    Example:
        >>> import zero
        >>> a, b = zero.nn.Linear(1, 2, bias=False), zero.nn.Linear(1, 2, bias=False)
        >>> a.weight.data, b.weight.data = zero.tensor([[1.0], [2.0]]), zero.tensor([[3.0], [4.0]])
        >>> prune, pairs = zero.nn.utils.prune, [(a, "weight"), (b, "weight")]
        >>> prune.global_unstructured(pairs, prune.L1Unstructured, amount=2)
        >>> a.weight.flatten().tolist(), b.weight.flatten().tolist()
        ([0.0, 0.0], [3.0, 4.0])
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured: parameters are no iterable of pairs")
    pairs = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured: importance_scores are no dict")
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f"global_unstructured: got a method of type {method.PRUNING_TYPE!r}, expected "
            "'unstructured'"
        )
    tensors = [getattr(module, name) for module, name in pairs]
    masks = [
        getattr(module, name + "_mask", zero.ones_like(t.detach()))
        for (module, name), t in zip(pairs, tensors, strict=True)
    ]
    important = zero.cat(
        [
            check_scores(scores.get(pair), t).detach().reshape(-1)
            for pair, t in zip(pairs, tensors, strict=True)
        ]
    )
    mask = container.compute_mask(important, zero.cat([m.reshape(-1) for m in masks]))
    begin = 0
    for (module, name), t in zip(pairs, tensors, strict=True):
        custom_from_mask(module, name, mask[begin : begin + t.numel()].view(t.shape))
        begin += t.numel()


def remove(module: AnyModule, name: str) -> AnyModule:
    """Makes a pruned parameter an ordinary one; what was pruned stays 0.

    Args:
        module: which is changed and returned.
        name: of the parameter.

    Raises:
        ValueError: it is not pruned.

    Example:
        >>> import zero
        >>> prune = zero.nn.utils.prune
        >>> layer = prune.remove(prune.identity(zero.nn.Linear(2, 3), "bias"), "bias")
        >>> sorted(layer.state_dict())
        ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"remove: {name!r} of {type(module).__name__} is not pruned")


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned.

    Args:
        module: the module.

    Example:
        >>> import zero
        >>> model = zero.nn.Sequential(zero.nn.Linear(2, 3))
        >>> zero.nn.utils.prune.is_pruned(model)
        False
        >>> _ = zero.nn.utils.prune.identity(model[0], "bias")
        >>> zero.nn.utils.prune.is_pruned(model)
        True
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for submodule in module.modules()
        for hook in submodule._forward_pre_hooks.values()
    )
