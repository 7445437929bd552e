"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from zero import Tensor, _sgd_step
from zero.optim.optimizer import Optimizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim.optimizer import Group, Params

__all__ = ["SGD"]

NO_STATE: dict[str, Tensor] = {}  # of a parameter that had no step yet; never written to


class SGD(Optimizer):
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
        differentiable: True is not supported: steps are not recorded by autograd.

    Raises:
        ValueError: a negative option, nesterov without momentum or with dampening; parameters as in
            :class:`Optimizer`.
        NotImplementedError: differentiable is True.

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
        self._check(defaults)
        super().__init__(params, defaults)

    def _check(self, options: Group) -> None:
        for name in ("lr", "momentum", "weight_decay"):
            self._check_number(name, options[name])
        self._check_number("dampening", options["dampening"], low=-inf)
        if options["nesterov"] and (options["momentum"] <= 0 or options["dampening"] != 0):
            raise ValueError(
                "SGD: nesterov needs momentum above 0 and no dampening; "
                f"got momentum {options['momentum']} and dampening {options['dampening']}"
            )
        self._check_variant(options)

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates all parameters that have a gradient.

        Args:
            closure: computes the loss anew, with gradients; what it returns is returned.
        """
        loss = None if closure is None else self._evaluate(closure)
        for group in self.param_groups:
            params = group["params"]
            buffers = None
            if group["momentum"]:
                state = self.state
                buffers = [state.get(p, NO_STATE).get("momentum_buffer") for p in params]
                new = [i for i, buffer in enumerate(buffers) if buffer is None]
            _sgd_step(
                params,
                buffers,
                group["lr"],
                group["momentum"],
                group["dampening"],
                group["weight_decay"],
                group["nesterov"],
                group["maximize"],
            )
            if buffers:
                for i in new:
                    if buffers[i] is not None:  # made now; without a gradient there is none yet
                        state[params[i]]["momentum_buffer"] = buffers[i]
        return loss
