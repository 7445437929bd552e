"""AdamW."""

from __future__ import annotations

from zero import Tensor
from zero.optim.adam import Adam

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zero.optim.optimizer import Params

__all__ = ["AdamW"]


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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True  # what a state of Adam does not say
