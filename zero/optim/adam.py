"""Adam and AdamW."""

from __future__ import annotations

from collections.abc import Callable

from zero import Tensor, _adam_step
from zero.optim.optimizer import Optimizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim.optimizer import Group, Params

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
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
        capturable, differentiable: True is not supported.
        decoupled_weight_decay: let the decay pass by m and v, which makes this AdamW.

    Raises:
        ValueError: an option out of its range; parameters as in :class:`Optimizer`.
        NotImplementedError: capturable or differentiable is True.

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
        self._check(defaults)
        super().__init__(params, defaults)

    def _check(self, options: Group) -> None:
        for name in ("lr", "eps", "weight_decay"):
            self._check_number(name, options[name])
        betas = options["betas"]
        if not isinstance(betas, (tuple, list)) or len(betas) != 2:
            raise ValueError(f"{type(self).__name__}: betas must be two numbers; got {betas!r}")
        for i, beta in enumerate(betas):
            self._check_number(f"betas[{i}]", beta, high=1)
        self._check_variant(options)

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates all parameters that have a gradient.

        Args:
            closure: computes the loss anew, with gradients; what it returns is returned.
        """
        loss = None if closure is None else self._evaluate(closure)
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            _adam_step(
                group["params"],
                self.state,
                group["lr"],
                beta1,
                beta2,
                group["eps"],
                group["weight_decay"],
                group["decoupled_weight_decay"],
                group["amsgrad"],
                group["maximize"],
            )
        return loss


class AdamW(Adam):
    """Adam with decoupled weight decay: parameters shrink by ``1 - lr * weight_decay`` at each
    step, whatever their gradients.

    Args:
        params, lr, betas, eps, weight_decay, amsgrad: as in :class:`Adam`, but the decay is 0.01
            where nothing else is said.
        maximize, foreach, capturable, differentiable, fused: as in :class:`Adam`.

    Raises: as :class:`Adam`.

    Loshchilov and Hutter, "Decoupled weight decay regularization", 2019.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([1.0]))
        >>> p.grad = zero.zeros(1)
        >>> zero.optim.AdamW([p], lr=0.5, weight_decay=0.1).step()
        >>> p.item()
        0.949999988079071
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
