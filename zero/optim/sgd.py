"""Stochastic gradient descent."""

from __future__ import annotations

from zero import Tensor
from zero.optim._fused import INF, Fused, decayed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim._fused import State
    from zero.optim.optimizer import Group, Params

__all__ = ["SGD"]


class SGD(Fused):
    """Stochastic gradient descent, with momentum if wanted.

    With gradient g, parameter p and momentum buffer b (which starts as the first g)::

        g = -g                                   if maximize
        g = g + weight_decay * p
        b = momentum * b + (1 - dampening) * g   if momentum; g itself in the first step
        g = g + momentum * b if nesterov else b  if momentum
        p = p - lr * g

    All parameters of a group are updated by one call, in place: their views see the update.

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: step size.
        momentum: how much of the last step goes into the next one.
        dampening: how much of a gradient is kept out of the momentum.
        weight_decay: strength of the pull to zero (an L2 penalty).
        nesterov: look ahead by one step; needs momentum, and no dampening.
        maximize: go up instead of down.
        foreach, fused: PyTorch's choices of an implementation. There is one here, which is fused;
            any of True, False and None selects it.
        differentiable: autograd records the step, so that gradients flow through it, to options
            that are tensors, too. Parameters must have been computed then, not be leaves.

    Raises:
        ValueError: a negative option, nesterov without momentum or with dampening; parameters as in
            :class:`Optimizer`.

    Momentum is from Polyak, "Some methods of speeding up the convergence of iteration methods",
    1964; nesterov from Sutskever et al., "On the importance of initialization and momentum", 2013.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0]))
        >>> optimizer = zero.optim.SGD([p], lr=0.5, momentum=0.9)
        >>> for _ in range(2):
        ...     optimizer.zero_grad()
        ...     (3 * p).sum().backward()
        ...     optimizer.step()
        ...     print(p.item())
        -0.5
        -3.3499999046325684
    """

    _kind = "SGD"
    _limits = {
        "lr": (0, INF),
        "momentum": (0, INF),
        "weight_decay": (0, INF),
        "dampening": (-INF, INF),
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _check(self, options: Group) -> None:
        super()._check(options)
        if options["nesterov"] and (options["momentum"] <= 0 or options["dampening"] != 0):
            raise ValueError(
                "SGD: nesterov needs momentum above 0 and no dampening; "
                f"got momentum {options['momentum']} and dampening {options['dampening']}"
            )

    def _formula(
        self, p: Tensor, g: Tensor, state: State, group: Group, first: bool
    ) -> tuple[Tensor, State]:
        p, g = decayed(p, g, group)
        momentum, new = group["momentum"], {}
        if momentum:
            b = g if first else momentum * state["momentum_buffer"] + (1 - group["dampening"]) * g
            new["momentum_buffer"] = b
            g = g + momentum * b if group["nesterov"] else b
        return p - group["lr"] * g, new
