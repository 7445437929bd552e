"""ASGD."""

from __future__ import annotations

from zero import Tensor, full_like, zeros_like
from zero.optim._fused import INF, Fused, count, decayed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["ASGD"]


class ASGD(Fused):
    """Gradient descent that also keeps the mean of the parameters of many steps.

    With gradient g, parameter p and, at step t, the mean a, eta, which starts at lr, and mu, which
    starts at 1::

        g = -g                                  if maximize
        g = g + weight_decay * p
        p = p * (1 - lambd * eta) - eta * g
        a = a + mu * (p - a)
        eta = lr / (1 + lambd * lr * t)^alpha
        mu = 1 / max(1, t - t0)

    The state of a parameter is "step", "eta", "mu" and "ax" (a).

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: step size, a number or a tensor of one.
        lambd: how fast parameters and step size fall.
        alpha: power by which the step size falls.
        t0: the step from which on a is a mean; before, it is the parameter.
        weight_decay: strength of the pull to zero.
        maximize: go up instead of down.
        foreach: PyTorch's choice of an implementation. There is one here: any of True, False and
            None selects it.
        capturable: of GPUs; accepted, without effect.
        differentiable: autograd records the step, so that gradients flow through it, to options
            that are tensors, too. Parameters must have been computed then, not be leaves.

    Raises:
        ValueError: an option out of its range; parameters as in :class:`Optimizer`.

    Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -2.0]))
        >>> optimizer = zero.optim.ASGD([p], lr=0.1)
        >>> for _ in range(100):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all())
        True
    """

    _kind = "ASGD"
    _limits = {
        "lr": (0, INF),
        "weight_decay": (0, INF),
        "lambd": (-INF, INF),
        "alpha": (-INF, INF),
        "t0": (-INF, INF),
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
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
        t, lr, lambd, eta = count(state), group["lr"], group["lambd"], state["eta"]
        p, g = decayed(p, g, group)
        p = p * (1 - lambd * eta) - eta * g
        a = state["ax"] + state["mu"] * (p - state["ax"])
        power = (1 + lambd * lr * t) ** group["alpha"]
        new = {"ax": a, "mu": full_like(eta, 1 / max(1, t - group["t0"]))}
        return p, {**new, "eta": zeros_like(eta) + lr / power}
