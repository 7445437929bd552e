"""NAdam."""

from __future__ import annotations

from zero import Tensor
from zero.optim._fused import INF, Fused, count, decayed, means

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["NAdam"]


class NAdam(Fused):
    """Adam with Nesterov's momentum, whose strength grows with the steps.

    With gradient g, parameter p and, at step t, the running means m and v, which start at 0::

        g = -g                                              if maximize
        g = g + weight_decay * p                            unless decoupled_weight_decay
        p = p * (1 - lr * weight_decay)                     if decoupled_weight_decay
        mu(t) = beta1 * (1 - 0.96^(t * momentum_decay) / 2)
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        c = mu(1) * ... * mu(t)
        d = (1 - mu(t)) * g / (1 - c) + mu(t+1) * m / (1 - c * mu(t+1))
        p = p - lr * d / (sqrt(v / (1 - beta2^t)) + eps)

    The state of a parameter is "step", "mu_product" (c), "exp_avg" (m) and "exp_avg_sq" (v).

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: step size, a number or a tensor of one.
        betas: (beta1, beta2), how much of the running means stays at each step, both in [0, 1).
        eps: added to the divisor.
        weight_decay: strength of the pull to zero.
        momentum_decay: how fast mu nears beta1.
        decoupled_weight_decay: let the decay pass by m and v: p shrinks by 1 - lr *
            weight_decay.
        maximize: go up instead of down.
        foreach: PyTorch's choice of an implementation. There is one here: any of True, False and
            None selects it.
        capturable: of GPUs; accepted, without effect.
        differentiable: autograd records the step, so that gradients flow through it, to options
            that are tensors, too. Parameters must have been computed then, not be leaves.

    Raises:
        ValueError: an option out of its range; parameters as in :class:`Optimizer`.

    Dozat, "Incorporating Nesterov momentum into Adam", 2016.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -2.0]))
        >>> optimizer = zero.optim.NAdam([p], lr=0.1)
        >>> for _ in range(100):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all())
        True
    """

    _kind = "NAdam"
    _limits = {
        "lr": (0, INF),
        "eps": (0, INF),
        "weight_decay": (0, INF),
        "momentum_decay": (0, INF),
        "betas": (0, 1),
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        t, decay = count(state), group["momentum_decay"]
        beta1, beta2 = group["betas"]
        p, g = decayed(p, g, group)
        m, v = means(g, state, group)
        mu = beta1 * (1 - 0.5 * 0.96 ** (t * decay))
        ahead = beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * decay))
        c = state["mu_product"] * mu
        d = (1 - mu) / (1 - c) * g + ahead / (1 - c * ahead) * m
        p = p - group["lr"] * d / ((v / (1 - beta2**t)).sqrt() + group["eps"])
        return p, {"mu_product": c, "exp_avg": m, "exp_avg_sq": v}
