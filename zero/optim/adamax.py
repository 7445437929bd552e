"""Adamax."""

from __future__ import annotations

from zero import Tensor, maximum
from zero.optim._fused import INF, Fused, count, decayed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["Adamax"]


class Adamax(Fused):
    """Adam with the largest gradient, fading, in place of the mean of squares.

    With gradient g, parameter p and, at step t, m and u, which start at 0::

        g = -g                                  if maximize
        g = g + weight_decay * p
        m = beta1 * m + (1 - beta1) * g
        u = max(beta2 * u, |g| + eps)
        p = p - lr / (1 - beta1^t) * m / u

    The state of a parameter is "step", "exp_avg" (m) and "exp_inf" (u).

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: step size, a number or a tensor of one.
        betas: (beta1, beta2), how much of m and u stays at each step, both in [0, 1).
        eps: keeps u from 0.
        weight_decay: strength of the pull to zero.
        maximize: go up instead of down.
        foreach: PyTorch's choice of an implementation. There is one here: any of True, False and
            None selects it.
        capturable: of GPUs; accepted, without effect.
        differentiable: autograd records the step, so that gradients flow through it, to options
            that are tensors, too. Parameters must have been computed then, not be leaves.

    Raises:
        ValueError: an option out of its range; parameters as in :class:`Optimizer`.

    Kingma and Ba, "Adam: a method for stochastic optimization", 2015.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -2.0]))
        >>> optimizer = zero.optim.Adamax([p], lr=0.1)
        >>> for _ in range(100):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all())
        True
    """

    _kind = "Adamax"
    _limits = {"lr": (0, INF), "eps": (0, INF), "weight_decay": (0, INF), "betas": (0, 1)}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        beta1, beta2 = group["betas"]
        p, g = decayed(p, g, group)
        m = state["exp_avg"] + (1 - beta1) * (g - state["exp_avg"])
        u = maximum(beta2 * state["exp_inf"], g.abs() + group["eps"])
        p = p - group["lr"] / (1 - beta1 ** count(state)) * m / u
        return p, {"exp_avg": m, "exp_inf": u}
