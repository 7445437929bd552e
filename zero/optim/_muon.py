"""Muon."""

from __future__ import annotations

from collections.abc import Callable

from zero import Tensor, _optimizer_step
from zero.optim.optimizer import Optimizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim.optimizer import Group, Params

__all__ = ["Muon"]


class Muon(Optimizer):
    """Momentum whose matrix is made nearly orthogonal before each step, for hidden layers.

    With gradient g, parameter p, a matrix of a rows and b columns, and the running mean m, which
    starts at 0::

        m = momentum * m + (1 - momentum) * g
        u = momentum * m + (1 - momentum) * g     if nesterov; m otherwise
        u = orthogonal(u)
        p = p * (1 - lr * weight_decay)
        p = p - lr * sqrt(max(1, a / b)) * u      or, to match AdamW's size of steps,
        p = p - lr * 0.2 * sqrt(max(a, b)) * u    with adjust_lr_fn="match_rms_adamw"

    orthogonal(u) brings all singular values of u near 1, by the iteration of Newton and Schulz in
    bfloat16: with u over the larger of its size and eps to begin with, and (q0, q1, q2) =
    ns_coefficients, in each of ns_steps steps::

        w = u u^T
        u = (q0 + q1 w + q2 w w) u

    The state of a parameter is "momentum_buffer" (m). Biases, embeddings and the like want another
    optimizer, such as :class:`AdamW`.

    Args:
        params: matrices, (name, matrix) pairs, or dicts: groups with options of their own.
        lr: step size.
        weight_decay: strength of the pull to zero.
        momentum: how much of the mean stays at each step.
        nesterov: look ahead by one step.
        ns_coefficients: see above.
        eps: the least size that u is divided by.
        ns_steps: see above, below 100.
        adjust_lr_fn: 'original' or None, or 'match_rms_adamw': see above.

    Raises:
        ValueError: an option out of its range, a parameter that is no matrix; others as in
            :class:`Optimizer`.

    Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024; the size of
    AdamW from Liu et al., "Muon is scalable for LLM training", 2025.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.eye(2))
        >>> p.grad = zero.tensor([[1.0, 0.0], [0.0, 5.0]])
        >>> zero.optim.Muon([p], lr=0.5, weight_decay=0).step()
        >>> bool(((p - 0.5 * zero.eye(2)).abs() < 0.3).all())  # steps of one size, whatever g's
        True
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        self._check(defaults)
        super().__init__(params, defaults)

    def _check(self, options: Group) -> None:
        for name in ("lr", "weight_decay", "momentum"):
            self._check_number(name, options[name])
        if options["adjust_lr_fn"] not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                f"Muon: adjust_lr_fn must be 'original' or 'match_rms_adamw'; got "
                f"{options['adjust_lr_fn']!r}"
            )
        if not 0 <= options["ns_steps"] < 100:
            raise ValueError(f"Muon: ns_steps must be below 100; got {options['ns_steps']}")
        if len(options["ns_coefficients"]) != 3:
            raise ValueError(
                f"Muon: ns_coefficients must be three numbers; got {options['ns_coefficients']}"
            )
        for p in options.get("params", ()):
            if p.dim() != 2:
                raise ValueError(
                    f"Muon: parameters must be matrices; got one of shape {tuple(p.shape)}"
                )

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates all parameters that have a gradient.

        Args:
            closure: computes the loss anew, with gradients; what it returns is returned.
        """
        loss = None if closure is None else self._evaluate(closure)
        for group in self.param_groups:
            match = group["adjust_lr_fn"] == "match_rms_adamw"
            _optimizer_step("Muon", {**group, "adjust_lr_fn": match}, self.state)
        return loss
