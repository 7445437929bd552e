"""RMSprop."""

from __future__ import annotations

from zero import Tensor
from zero.optim._fused import INF, Fused, decayed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["RMSprop"]


class RMSprop(Fused):
    """Gradients over the root of the running mean of their squares.

    With gradient g, parameter p and the means v and a and the buffer b, which start at 0::

        g = -g                                  if maximize
        g = g + weight_decay * p
        v = alpha * v + (1 - alpha) * g^2
        a = alpha * a + (1 - alpha) * g         if centered
        d = g / (sqrt(v - a^2) + eps)           if centered
        d = g / (sqrt(v) + eps)                 otherwise
        b = momentum * b + d                    if momentum
        p = p - lr * (b if momentum else d)

    The state of a parameter is "step", "square_avg" (v), with momentum "momentum_buffer" (b) and,
    if centered, "grad_avg" (a).

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: step size, a number or a tensor of one.
        alpha: how much of the means stays at each step.
        eps: added to the divisor.
        weight_decay: strength of the pull to zero.
        momentum: how much of the last step goes into the next one.
        centered: divide by an estimate of the standard deviation. Where rounding makes the
            variance negative it is 0; PyTorch's root of it is NaN.
        maximize: go up instead of down.
        foreach: PyTorch's choice of an implementation. There is one here: any of True, False and
            None selects it.
        capturable: of GPUs; accepted, without effect.
        differentiable: autograd records the step, so that gradients flow through it, to options
            that are tensors, too. Parameters must have been computed then, not be leaves.

    Raises:
        ValueError: an option out of its range; parameters as in :class:`Optimizer`.

    Tieleman and Hinton, "Neural networks for machine learning", lecture 6.5, 2012; centered from
    Graves, "Generating sequences with recurrent neural networks", 2013.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -2.0]))
        >>> optimizer = zero.optim.RMSprop([p], lr=0.05)
        >>> for _ in range(100):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all())
        True
    """

    _kind = "RMSprop"
    _limits = {
        "lr": (0, INF),
        "eps": (0, INF),
        "momentum": (0, INF),
        "weight_decay": (0, INF),
        "alpha": (0, INF),
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        alpha = group["alpha"]
        p, g = decayed(p, g, group)
        v = alpha * state["square_avg"] + (1 - alpha) * g * g
        new, variance = {"square_avg": v}, v
        if group["centered"]:
            new["grad_avg"] = a = alpha * state["grad_avg"] + (1 - alpha) * g
            variance = (v - a * a).clamp(min=0)
        d = g / (variance.sqrt() + group["eps"])
        if group["momentum"]:
            new["momentum_buffer"] = d = group["momentum"] * state["momentum_buffer"] + d
        return p - group["lr"] * d, new
