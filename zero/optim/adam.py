"""Adam."""

from __future__ import annotations

from zero import Tensor, maximum
from zero.optim._fused import INF, Fused, count, decayed, means

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["Adam"]


class Adam(Fused):
    """Gradient descent whose step adapts to each parameter's mean and mean square of gradients.

    With gradient g, parameter p and, at step t, the running means m and v, which start at 0::

        g = -g                                     if maximize
        g = g + weight_decay * p                   unless decoupled_weight_decay
        p = p * (1 - lr * weight_decay)            if decoupled_weight_decay
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        p = p - lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

    All parameters of a group are updated by one call, in place: their views see the update. The
    state of a parameter is "step", "exp_avg" (m), "exp_avg_sq" (v) and, with amsgrad,
    "max_exp_avg_sq".

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: step size.
        betas: (beta1, beta2), how much of the running means stays at each step, both in [0, 1).
        eps: added to the divisor, so that a vanishing gradient does not give an infinite step.
        weight_decay: strength of the pull to zero.
        amsgrad: divide by the largest v so far.
        foreach, fused: PyTorch's choices of an implementation. There is one here, which is fused;
            any of True, False and None selects it.
        maximize: go up instead of down.
        capturable: of GPUs; accepted, without effect.
        differentiable: autograd records the step, so that gradients flow through it, to options
            that are tensors, too. Parameters must have been computed then, not be leaves.
        decoupled_weight_decay: let the decay pass by m and v, which makes this AdamW.

    Raises:
        ValueError: an option out of its range, one beta a tensor and the other not; parameters as
            in :class:`Optimizer`.

    Kingma and Ba, "Adam: a method for stochastic optimization", 2015; amsgrad from Reddi et al.,
    "On the convergence of Adam and beyond", 2018.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -2.0]))
        >>> optimizer = zero.optim.Adam([p], lr=0.1)
        >>> for _ in range(100):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all())
        True
    """

    _kind = "Adam"
    _limits = {"lr": (0, INF), "eps": (0, INF), "weight_decay": (0, INF), "betas": (0, 1)}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _check(self, options: Group) -> None:
        super()._check(options)
        if len({isinstance(beta, Tensor) for beta in options["betas"]}) == 2:
            raise ValueError(
                f"{type(self).__name__}: betas must be two numbers, or two tensors; got one of each"
            )

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        t = count(state)
        beta1, beta2 = group["betas"]
        p, g = decayed(p, g, group)
        m, v = means(g, state, group)
        new, below = {"exp_avg": m, "exp_avg_sq": v}, v
        if group["amsgrad"]:
            new["max_exp_avg_sq"] = below = maximum(state["max_exp_avg_sq"], v)
        root = below.sqrt() / (1 - beta2**t) ** 0.5
        return p - group["lr"] / (1 - beta1**t) * m / (root + group["eps"]), new
