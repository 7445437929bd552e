"""Adafactor."""

from __future__ import annotations

from collections.abc import Callable

from zero import Tensor, _optimizer_step
from zero.optim.optimizer import Optimizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim.optimizer import Group, Params

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Steps like Adam's with a state of rows and columns, in place of one for each element.

    With gradient g, parameter p of n elements and, at step t, the means r over rows (the last
    dimension) and c over columns (the one before), which start at 0; size(x) is the root of the sum
    of squares::

        g = -g                                        if maximize
        a = max(eps[1], size(p) / sqrt(n)) * min(lr, 1 / sqrt(t))
        b = t^beta2_decay
        p = p * (1 - lr * weight_decay)
        r = r + b * (mean of g^2 over rows - r)
        c = c + b * (mean of g^2 over columns - c)
        v = r * c / max(mean of r over columns, eps[0])
        u = g / sqrt(max(v, eps[0]^2))
        p = p - a / max(1, size(u) / (sqrt(n) * d)) * u

    Of a parameter with fewer than two dimensions, v is a mean of g^2 itself. The state of a
    parameter is "step" and "row_var" (r) and "col_var" (c), or "variance" (v).

    Args:
        params: parameters, (name, parameter) pairs, or dicts: groups with options of their own.
        lr: the largest step size, in proportion to the parameter's own size.
        beta2_decay: 0 or less, the power by which older gradients count less.
        eps: (least of v's factors and root, or None for the smallest difference from 1 in the
            parameter's dtype; least size of a parameter for its step).
        d: 1 or more: from which size on updates are made smaller.
        weight_decay: strength of the pull to zero.
        foreach: PyTorch's choice of an implementation. There is one here: any of True, False and
            None selects it.
        maximize: go up instead of down.

    Raises:
        ValueError: an option out of its range; parameters as in :class:`Optimizer`.

    Shazeer and Stern, "Adafactor: adaptive learning rates with sublinear memory cost", 2018.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.ones(3, 2))
        >>> optimizer = zero.optim.Adafactor([p], lr=0.1)
        >>> for _ in range(100):
        ...     optimizer.zero_grad()
        ...     (p * p).sum().backward()
        ...     optimizer.step()
        >>> bool((p.abs() < 0.1).all()), tuple(optimizer.state[p]["row_var"].shape)
        (True, (3, 1))
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        self._check(defaults)
        super().__init__(params, defaults)

    def _check(self, options: Group) -> None:
        for name in ("lr", "weight_decay"):
            self._check_number(name, options[name])
        self._check_number("d", options["d"], low=1)
        if not options["beta2_decay"] <= 0:
            raise ValueError(
                f"Adafactor: beta2_decay must be 0 or less; got {options['beta2_decay']}"
            )
        eps = options["eps"]
        if not isinstance(eps, (tuple, list)) or len(eps) != 2:
            raise ValueError(f"Adafactor: eps must be two numbers; got {eps!r}")
        if eps[0] is not None:
            self._check_number("eps[0]", eps[0])
        self._check_number("eps[1]", eps[1])

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates all parameters that have a gradient.

        Args:
            closure: computes the loss anew, with gradients; what it returns is returned.
        """
        loss = None if closure is None else self._evaluate(closure)
        for group in self.param_groups:
            least, least_size = group["eps"]
            if least is None:  # by the dtype of each parameter
                group = {**group, "eps": (-1, least_size)}
            _optimizer_step("Adafactor", group, self.state)
        return loss
