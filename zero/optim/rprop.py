"""Rprop."""

from __future__ import annotations

from zero import Tensor, where, zeros_like
from zero.optim._fused import INF, Fused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["Rprop"]


class Rprop(Fused):
    """Steps of a size of their own for each element, from the signs of the gradients alone.

    With gradient g, that of the last step h, which starts at 0, parameter p and step sizes s, which
    start at lr::

        g = -g                                  if maximize
        s = s * etas[1]                         where g * h > 0
        s = s * etas[0], and g = 0              where g * h < 0
        s = s within step_sizes
        p = p - sign(g) * s
        h = g

    The state of a parameter is "step", "prev" (h) and "step_size" (s).

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: the first step size, a number or a tensor of one.
        etas: (eta-, eta+), by which sizes shrink and grow, with 0 < eta- < 1 < eta+.
        step_sizes: (least, largest) size.
        maximize: go up instead of down.
        foreach: PyTorch's choice of an implementation. There is one here: any of True, False and
            None selects it.
        capturable: of GPUs; accepted, without effect.
        differentiable: autograd records the step, so that gradients flow through it, to options
            that are tensors, too. Parameters must have been computed then, not be leaves.

    Raises:
        ValueError: an option out of its range; parameters as in :class:`Optimizer`.

    Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning: the RPROP
    algorithm", 1993.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0, -2.0]))
        >>> optimizer = zero.optim.Rprop([p], lr=0.1)
        >>> for _ in range(100):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all())
        True
    """

    _kind = "Rprop"
    _limits = {"lr": (0, INF), "etas": (0, INF), "step_sizes": (-INF, INF)}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _check(self, options: Group) -> None:
        super()._check(options)
        shrink, grow = options["etas"]
        if not 0 < shrink < 1 < grow:
            raise ValueError(f"Rprop: etas must be below and above 1; got {options['etas']}")

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        shrink, grow = group["etas"]
        turn = (g * state["prev"]).sign().detach()
        factor = where(turn > 0, grow, where(turn < 0, shrink, turn + 1))
        size = (state["step_size"] * factor).clamp(*group["step_sizes"])
        g = where(turn < 0, zeros_like(g), g)
        return p - g.sign() * size, {"prev": g, "step_size": size}
