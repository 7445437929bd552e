"""Modules as functions of their parameters."""

from __future__ import annotations

from zero import Tensor, stack
from zero.errors import ValueError
from zero.nn.utils.stateless import functional_call as _call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zero.nn import Module

__all__ = ["functional_call", "replace_all_batch_norm_modules_", "stack_module_state"]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls a module with other tensors in the place of its parameters and buffers.

    Args:
        module: what is called. It has its own tensors again afterwards.
        parameter_and_buffer_dicts: tensors by path, in one dict or several. What is not given stays
            the module's own. Buffers that the call assigns are found in a dict that was given.
        args: for the call, a tuple or a single argument.
        kwargs: for the call.
        tie_weights: whether what is given for a tensor holds for all its paths.
        strict: whether all paths have to be given.

    Raises:
        ValueError: a path is given twice, does not exist or, with `strict`, is not given; or two
            values are given for one tensor.
        TypeError: a value is no tensor.

    Example:
        >>> import zero
        >>> layer = zero.nn.Linear(2, 1)
        >>> state = {"weight": zero.ones(1, 2)}, {"bias": zero.ones(1)}
        >>> zero.func.functional_call(layer, state, zero.ones(3, 2)).flatten()
        tensor([3., 3., 3.])
    """
    state = parameter_and_buffer_dicts
    if not isinstance(state, dict):
        if not isinstance(state, (list, tuple)) or not all(isinstance(d, dict) for d in state):
            raise ValueError(
                "functional_call: parameter_and_buffer_dicts is neither a dict nor a sequence of "
                f"dicts; got {type(state).__name__}"
            )
        dicts, state = state, {}
        for given in dicts:
            twice = sorted(state.keys() & given.keys())
            if twice:
                raise ValueError(f"functional_call: a path is given twice; got {twice[0]!r} again")
            state.update(given)
    return _call(module, state, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(
    models: Sequence[Module],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several models of one architecture, stacked.

    With :func:`vmap` over them, and :func:`functional_call`, the models are called as one.

    Args:
        models: modules of one class, all in training mode or none.

    Returns:
        Two dicts by path: parameters [len(models), …shape], which are new leaves, and buffers
        likewise.

    Raises:
        RuntimeError: there are no models, or their classes, modes or paths differ.

    Example:
        >>> import zero
        >>> models = [zero.nn.Linear(2, 1) for _ in range(3)]
        >>> params, buffers = zero.func.stack_module_state(models)
        >>> params["weight"].shape
        zero.Size([3, 1, 2])
        >>> def call(params, x):
        ...     return zero.func.functional_call(models[0], params, (x,))
        >>> zero.func.vmap(call, in_dims=(0, None))(params, zero.ones(4, 2)).shape
        zero.Size([3, 4, 1])
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: there is nothing to stack; got no models")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: models in training mode and others; expected one mode for all"
        )
    if len({type(model) for model in models}) > 1:
        names = sorted({type(model).__name__ for model in models})
        raise RuntimeError(
            f"stack_module_state: models of several classes; got {', '.join(names)}, expected one"
        )
    return (
        _stacked([dict(model.named_parameters()) for model in models]),
        _stacked([dict(model.named_buffers()) for model in models]),
    )


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    if any(state.keys() != states[0].keys() for state in states):
        raise RuntimeError("stack_module_state: the models have parameters of different names")
    result = {}
    for path in states[0]:
        tensors = [state[path] for state in states]
        if len({x.requires_grad for x in tensors}) > 1:
            raise RuntimeError(
                f"stack_module_state: {path!r} requires grad in some models only; expected all or "
                "none"
            )
        result[path] = stack([x.detach() for x in tensors])
        if tensors[0].requires_grad:
            result[path].requires_grad_()
    return result


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Makes all batch normalisation in a module forget its running statistics, in place.

    It then uses those of the batch at hand in training and in evaluation, writes to no buffer, and
    so can be called under :func:`vmap`.

    Args:
        root: the module.

    Returns:
        The module itself.

    Example:
        >>> import zero
        >>> net = zero.func.replace_all_batch_norm_modules_(zero.nn.BatchNorm1d(3))
        >>> net.running_mean is None
        True
    """
    from zero.nn.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = None
            module.running_var = None
            module.num_batches_tracked = None
            module.track_running_stats = False
    return root
