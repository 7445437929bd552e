"""Optimizers."""

from zero import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.optim import lr_scheduler as lr_scheduler, swa_utils as swa_utils
    from zero.optim._adafactor import *
    from zero.optim._muon import *
    from zero.optim.adadelta import *
    from zero.optim.adagrad import *
    from zero.optim.adam import *
    from zero.optim.adamax import *
    from zero.optim.adamw import *
    from zero.optim.asgd import *
    from zero.optim.lbfgs import *
    from zero.optim.lion import *
    from zero.optim.nadam import *
    from zero.optim.optimizer import Optimizer as Optimizer
    from zero.optim.radam import *
    from zero.optim.rmsprop import *
    from zero.optim.rprop import *
    from zero.optim.sgd import *
    from zero.optim.sparse_adam import *
else:
    __getattr__, __dir__, __all__ = _later.attributes(
        "zero.optim",
        [],
        modules="lr_scheduler swa_utils",
        names={
            "_adafactor": "Adafactor",
            "_muon": "Muon",
            "adadelta": "Adadelta",
            "adagrad": "Adagrad",
            "adam": "Adam",
            "adamax": "Adamax",
            "adamw": "AdamW",
            "asgd": "ASGD",
            "lbfgs": "LBFGS",
            "lion": "Lion",
            "nadam": "NAdam",
            "optimizer": "Optimizer",
            "radam": "RAdam",
            "rmsprop": "RMSprop",
            "rprop": "Rprop",
            "sgd": "SGD",
            "sparse_adam": "SparseAdam",
        },
    )
