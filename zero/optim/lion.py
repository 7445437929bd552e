"""Lion."""

from __future__ import annotations

from zero import Tensor
from zero.optim._fused import INF, Fused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["Lion"]


class Lion(Fused):
    """Steps of one size, by the sign of a mean of gradients: less state than Adam's.

    PyTorch has none. With gradient g, parameter p and the running mean m, which starts at 0::

        g = -g                                  if maximize
        c = beta1 * m + (1 - beta1) * g
        p = p * (1 - lr * weight_decay) - lr * sign(c)
        m = beta2 * m + (1 - beta2) * g

    The state of a parameter is "exp_avg" (m). Steps are larger than Adam's: a third to a tenth of
    Adam's learning rate, and a decay larger by as much, are a place to start from.

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: step size, a number or a tensor of one.
        betas: (beta1, beta2): how much m counts in a step, and how much of it stays; both in
            [0, 1).
        weight_decay: strength of the pull to zero, by which m is not touched.
        maximize: go up instead of down.
        foreach, fused: PyTorch's choices of an implementation. There is one here, which is fused;
            any of True, False and None selects it.
        capturable: of GPUs; accepted, without effect.
        differentiable: autograd records the step, so that gradients flow through it, to options
            that are tensors, too. Parameters must have been computed then, not be leaves.

    Raises:
        ValueError: an option out of its range; parameters as in :class:`Optimizer`.

    Chen et al., "Symbolic discovery of optimization algorithms", 2023.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -2.0]))
        >>> optimizer = zero.optim.Lion([p], lr=0.02)
        >>> for _ in range(300):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all())
        True
    """

    _kind = "Lion"
    _limits = {"lr": (0, INF), "weight_decay": (0, INF), "betas": (0, 1)}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-4,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.99),
        weight_decay: float = 0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        m, (beta1, beta2) = state["exp_avg"], group["betas"]
        step = group["lr"] * (m + (1 - beta1) * (g - m)).sign()
        p = p * (1 - group["lr"] * group["weight_decay"]) - step
        return p, {"exp_avg": m + (1 - beta2) * (g - m)}
