"""What the optimizers have in common whose step is one formula for every element."""

from __future__ import annotations

from collections.abc import Callable

import zero
from zero import Tensor, _optimizer_step, _start_states
from zero.optim.optimizer import Optimizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from zero.optim.optimizer import Group, Params

    State = dict[str, Any]

__all__ = ["Fused"]

INF = float("inf")
PAIRS = ("betas", "etas", "step_sizes")  # options of two numbers


class Fused(Optimizer):
    """Base of the optimizers that compute each element of a parameter by itself.

    A step is one call over all parameters of a group; the C++ core has names and formula under
    `_kind`. With differentiable=True autograd records :meth:`_formula` instead.

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        defaults: options of the groups that don't say otherwise.
    """

    _kind: ClassVar[str]
    # Of options that are numbers or tuples of them: the least, and a bound that they stay below.
    _limits: ClassVar[dict[str, tuple[float, float]]]

    def __init__(self, params: Params, defaults: Group) -> None:
        self._check(defaults)
        super().__init__(params, defaults)

    def _check(self, options: Group) -> None:
        for name, (low, high) in self._limits.items():
            value = options[name]
            if name not in PAIRS:
                self._check_number(name, value, low, high)
                continue
            if not isinstance(value, (tuple, list)) or len(value) != 2:
                raise ValueError(f"{type(self).__name__}: {name} must be two numbers; got {value}")
            for i, item in enumerate(value):
                self._check_number(f"{name}[{i}]", item, low, high)
        if options.get("fused"):
            for name in ("foreach", "differentiable"):
                if options.get(name):
                    raise zero.errors.ValueError(
                        f"{type(self).__name__}: fused and {name} exclude each other; got both"
                    )

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates all parameters that have a gradient.

        Args:
            closure: computes the loss anew, with gradients; what it returns is returned.
        """
        loss = None if closure is None else self._evaluate(closure)
        for group in self.param_groups:
            if group.get("differentiable"):
                self._recorded_step(group)
            else:
                _optimizer_step(self._kind, group, self.state)
        return loss

    def _recorded_step(self, group: Group) -> None:
        """The step as operations that gradients flow through, also to options that are tensors.

        States become new tensors; a parameter is overwritten, which it must not be a leaf for.
        """
        with zero.enable_grad():
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = dict(self.state.get(p, {}))
                first = not state
                _start_states(self._kind, group, p.detach(), state)
                g = -p.grad if group["maximize"] else p.grad
                old = p.clone()  # formulas may keep it for their gradients
                if "step" in state:
                    state["step"] = state["step"].detach() + 1
                new, changed = self._formula(old, g, state, group, first)
                p.copy_(new)
                state.update(changed)
                if state:
                    self.state[p] = state

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        """What a step makes of a parameter and of its states, in new tensors.

        Args:
            p: the parameter.
            g: its gradient, negative if the aim is a maximum.
            state: as the step begins, but that it is counted already.
            group: the options.
            first: nothing is remembered yet.
        """
        raise NotImplementedError


def decayed(p: Tensor, g: Tensor, group: Group) -> tuple[Tensor, Tensor]:
    """Parameter and gradient after weight decay, which works on one of them."""
    decay = group["weight_decay"]
    if not isinstance(decay, Tensor) and decay == 0:
        return p, g
    if group.get("decoupled_weight_decay"):
        return p * (1 - group["lr"] * decay), g
    return p, g + decay * p


def means(g: Tensor, state: State, group: Group) -> tuple[Tensor, Tensor]:
    """The running means of gradients and of their squares."""
    beta1, beta2 = group["betas"]
    m, v = state["exp_avg"], state["exp_avg_sq"]
    return m + (1 - beta1) * (g - m), beta2 * v + (1 - beta2) * g * g


def count(state: State) -> float:
    """How many steps there were, this one included."""
    return float(state["step"])
