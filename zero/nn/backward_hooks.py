"""Full backward hooks: what flows back into a module's outputs and out of its inputs."""

from __future__ import annotations

from collections.abc import Callable

import zero
from zero import Tensor
from zero.autograd import Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zero.nn.module import Module

__all__ = ["BackwardHooks"]


class BackwardHookFunction(Function):
    """The identity; on the way back, `through` gets all gradients and returns those to go on.

    Gradients that did not come are None for it, but zeros for what lies beyond.
    """

    @staticmethod
    def forward(ctx: Any, through: Callable[..., Any], *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.through = through
        ctx.like = [(t.shape, t.dtype, t.device) if t.requires_grad else None for t in tensors]
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        passed: list[Tensor | None] = [None]
        for grad, like in zip(ctx.through(grads), ctx.like, strict=True):
            if grad is None and like is not None:
                shape, dtype, device = like
                grad = zero.zeros(shape, dtype=dtype, device=device)
            passed.append(grad)
        return tuple(passed)


class BackwardHooks:
    """The hooks of one call of a module.

    Args:
        module: what is called.
        hooks: called with the gradients of inputs and outputs, once both are there.
        pre_hooks: called with the gradients of the outputs.
    """

    def __init__(
        self,
        module: Module,
        hooks: list[Callable[..., Any]],
        pre_hooks: list[Callable[..., Any]],
    ) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.inputs: list[int] | None = None  # the positions of tensors, if gradients flow there
        self.outputs: list[int] = []
        self.n_inputs = self.n_outputs = 0
        self.grad_outputs: tuple[Any, ...] | None = None

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, ready to be given to forward."""
        self.n_inputs = len(args)
        args, self.inputs = _pass(args, self._at_inputs)
        return args

    def leave(self, result: Any) -> Any:
        """The result, ready to be returned by the module."""
        results = result if isinstance(result, tuple) else (result,)
        self.n_outputs = len(results)
        passed, positions = _pass(results, self._at_outputs)
        self.outputs = positions or []
        return passed if isinstance(result, tuple) else passed[0]

    def _at_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        grad_outputs = _spread(grads, self.outputs, self.n_outputs)
        for hook in self.pre_hooks:
            grad_outputs = self._replaced(
                grad_outputs, hook(self.module, grad_outputs), "pre-hook", "grad_output"
            )
        self.grad_outputs = grad_outputs
        if self.inputs is None:  # nothing flows on: this is the only moment for the hooks
            grad_inputs = (None,) * self.n_inputs
            for hook in self.hooks:
                changed = hook(self.module, grad_inputs, grad_outputs)
                if changed is not None and any(grad is not None for grad in changed):
                    raise RuntimeError(
                        f"{type(self.module).__name__}: a backward hook returned gradients of "
                        "inputs, none of which requires gradients; expected None"
                    )
            self.grad_outputs = None
        return tuple(grad_outputs[i] for i in self.outputs)

    def _at_inputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        # Gradients may get here by another way than the outputs, as in a double backward.
        if self.grad_outputs is None or self.inputs is None:
            return grads
        grad_inputs = _spread(grads, self.inputs, self.n_inputs)
        for hook in self.hooks:
            grad_inputs = self._replaced(
                grad_inputs,
                hook(self.module, grad_inputs, self.grad_outputs),
                "hook",
                "grad_input",
            )
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.inputs)

    def _replaced(self, grads: tuple[Any, ...], new: Any, hook: str, what: str) -> tuple[Any, ...]:
        if new is None:
            return grads
        if not isinstance(new, (Tensor, tuple, list)):
            raise TypeError(
                f"{type(self.module).__name__}: a backward {hook} returned no gradients; got "
                f"{type(new).__name__}, expected None, a Tensor or a tuple of them"
            )
        replaced: tuple[Any, ...] = (new,) if isinstance(new, Tensor) else tuple(new)
        if len(replaced) != len(grads):
            raise RuntimeError(
                f"{type(self.module).__name__}: a backward {hook} returned {len(replaced)} "
                f"gradients, expected None or as many as {what} has: {len(grads)}"
            )
        return replaced


def _spread(values: tuple[Any, ...], positions: list[int], n: int) -> tuple[Any, ...]:
    spread = [None] * n
    for i, value in zip(positions, values, strict=True):
        spread[i] = value
    return tuple(spread)


def _pass(
    args: tuple[Any, ...], through: Callable[..., Any]
) -> tuple[tuple[Any, ...], list[int] | None]:
    """Sends the tensors among args through one gate, if any requires gradients."""
    positions = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
    if not (zero.is_grad_enabled() and any(args[i].requires_grad for i in positions)):
        return args, None
    passed = list(args)
    gated: Any = BackwardHookFunction.apply(through, *(args[i] for i in positions))
    for i, tensor in zip(positions, gated, strict=True):
        passed[i] = tensor
    if type(args) is tuple:
        return tuple(passed), positions
    return type(args)(*passed), positions  # a named tuple
