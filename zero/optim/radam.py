"""RAdam."""

from __future__ import annotations

from zero import Tensor
from zero.optim._fused import INF, Fused, count, decayed, means

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["RAdam"]


class RAdam(Fused):
    """Adam that trusts its mean of squares only once that has seen enough gradients.

    With gradient g, parameter p and, at step t, the running means m and v, which start at 0::

        g = -g                                              if maximize
        g = g + weight_decay * p                            unless decoupled_weight_decay
        p = p * (1 - lr * weight_decay)                     if decoupled_weight_decay
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        l = 2 / (1 - beta2) - 1
        n = l - 2 * t * beta2^t / (1 - beta2^t)
        r = sqrt((n - 4) * (n - 2) * l / ((l - 4) * (l - 2) * n))
        d = m / (1 - beta1^t)
        p = p - lr * d * r * sqrt(1 - beta2^t) / (sqrt(v) + eps)   if n > 5
        p = p - lr * d                                             otherwise

    The state of a parameter is "step", "exp_avg" (m) and "exp_avg_sq" (v).

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: step size, a number or a tensor of one.
        betas: (beta1, beta2), how much of the running means stays at each step, both in [0, 1).
        eps: added to the divisor.
        weight_decay: strength of the pull to zero.
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

    Liu et al., "On the variance of the adaptive learning rate and beyond", 2020.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -2.0]))
        >>> optimizer = zero.optim.RAdam([p], lr=0.1)
        >>> for _ in range(200):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all())
        True
    """

    _kind = "RAdam"
    _limits = {"lr": (0, INF), "eps": (0, INF), "weight_decay": (0, INF), "betas": (0, 1)}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        t = count(state)
        beta1, beta2 = group["betas"]
        p, g = decayed(p, g, group)
        m, v = means(g, state, group)
        longest = 2 / (1 - beta2) - 1
        n = longest - 2 * t * beta2**t / (1 - beta2**t)
        d = m / (1 - beta1**t) * group["lr"]
        if n > 5:
            r = (n - 4) * (n - 2) * longest / ((longest - 4) * (longest - 2) * n)
            d = d * (r * (1 - beta2**t)) ** 0.5 / (v.sqrt() + group["eps"])
        return p - d, {"exp_avg": m, "exp_avg_sq": v}
