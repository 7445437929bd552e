"""Optimizers."""

from zero import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim import lr_scheduler as lr_scheduler, swa_utils as swa_utils
    from zero.optim.adam import *
    from zero.optim.optimizer import *
    from zero.optim.sgd import *
else:
    __getattr__, __dir__, __all__ = _later.attributes(
        "zero.optim",
        [],
        modules="lr_scheduler swa_utils",
        names={"adam": "Adam AdamW", "optimizer": "Optimizer", "sgd": "SGD"},
    )
