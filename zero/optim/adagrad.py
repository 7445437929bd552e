"""Adagrad."""

from __future__ import annotations

from zero import Tensor, _start_states
from zero.optim._fused import INF, Fused, count, decayed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["Adagrad"]


class Adagrad(Fused):
    """Gradient descent whose steps shrink with the sum of the squares of all gradients.

    With gradient g, parameter p and, at step t, the sum s::

        g = -g                                  if maximize
        g = g + weight_decay * p
        s = s + g^2
        p = p - lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)

    The state of a parameter is "step" and "sum" (s); it is there before the first step.

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: step size, a number or a tensor of one.
        lr_decay: how fast the step size falls with the steps.
        weight_decay: strength of the pull to zero.
        initial_accumulator_value: what s starts with.
        eps: added to the divisor.
        maximize: go up instead of down.
        foreach, fused: PyTorch's choices of an implementation. There is one here, which is fused;
            any of True, False and None selects it.
        differentiable: autograd records the step, so that gradients flow through it, to options
            that are tensors, too. Parameters must have been computed then, not be leaves.

    Raises:
        ValueError: an option out of its range; parameters as in :class:`Optimizer`.

    Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", 2011.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -2.0]))
        >>> optimizer = zero.optim.Adagrad([p], lr=1.0)
        >>> for _ in range(100):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all())
        True
    """

    _kind = "Adagrad"
    _limits = {
        "lr": (0, INF),
        "lr_decay": (0, INF),
        "weight_decay": (0, INF),
        "initial_accumulator_value": (0, INF),
        "eps": (0, INF),
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                _start_states(self._kind, group, p, self.state[p])

    def share_memory(self) -> None:
        """Lets other processes see the sums, as for training by several of them."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        p, g = decayed(p, g, group)
        total = state["sum"] + g * g
        step = group["lr"] / (1 + (count(state) - 1) * group["lr_decay"])
        return p - step * g / (total.sqrt() + group["eps"]), {"sum": total}
