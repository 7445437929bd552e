"""Adadelta."""

from __future__ import annotations

from math import nextafter

from zero import Tensor
from zero.optim._fused import INF, Fused, decayed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["Adadelta"]


class Adadelta(Fused):
    """Steps as large as the last ones were, in proportion to the gradients.

    With gradient g, parameter p and the running means v and u, which start at 0::

        g = -g                                  if maximize
        g = g + weight_decay * p
        v = rho * v + (1 - rho) * g^2
        d = sqrt(u + eps) / sqrt(v + eps) * g
        u = rho * u + (1 - rho) * d^2
        p = p - lr * d

    The state of a parameter is "step", "square_avg" (v) and "acc_delta" (u).

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: a factor of the steps, a number or a tensor of one.
        rho: how much of the means stays at each step, in [0, 1].
        eps: added under both roots.
        weight_decay: strength of the pull to zero.
        maximize: go up instead of down.
        foreach: PyTorch's choice of an implementation. There is one here: any of True, False and
            None selects it.
        capturable: of GPUs; accepted, without effect.
        differentiable: autograd records the step, so that gradients flow through it, to options
            that are tensors, too. Parameters must have been computed then, not be leaves.

    Raises:
        ValueError: an option out of its range; parameters as in :class:`Optimizer`.

    Zeiler, "ADADELTA: an adaptive learning rate method", 2012.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -2.0]))
        >>> optimizer = zero.optim.Adadelta([p], lr=1.0)
        >>> for _ in range(2000):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all())
        True
    """

    _kind = "Adadelta"
    _limits = {
        "lr": (0, INF),
        "rho": (0, nextafter(1, 2)),
        "eps": (0, INF),
        "weight_decay": (0, INF),
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        rho, eps = group["rho"], group["eps"]
        p, g = decayed(p, g, group)
        v = rho * state["square_avg"] + (1 - rho) * g * g
        d = (state["acc_delta"] + eps).sqrt() / (v + eps).sqrt() * g
        u = rho * state["acc_delta"] + (1 - rho) * d * d
        return p - group["lr"] * d, {"square_avg": v, "acc_delta": u}
