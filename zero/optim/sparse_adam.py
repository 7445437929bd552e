"""SparseAdam, which there is no use for."""

from __future__ import annotations

from zero.optim.optimizer import Optimizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero import Tensor
    from zero.optim.optimizer import Params

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients, of which there are none here: it can't be made.

    Gradients of embeddings are dense, whatever their option sparse says; :class:`Adam` takes them.

    Args:
        params, lr, betas, eps, maximize: as in PyTorch.

    Raises:
        NotImplementedError: always.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        raise NotImplementedError(
            "SparseAdam: it works on sparse gradients, which don't exist here; expected Adam, for "
            "dense ones"
        )
