"""Learning rates that change during training."""

from zero.optim.lr_scheduler.base import (
    EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING,
    LRScheduler as LRScheduler,
    _LRScheduler as _LRScheduler,
)
from zero.optim.lr_scheduler.combined import (
    ChainedScheduler as ChainedScheduler,
    SequentialLR as SequentialLR,
)
from zero.optim.lr_scheduler.cosine import (
    CosineAnnealingLR as CosineAnnealingLR,
    CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts,
)
from zero.optim.lr_scheduler.cycle import CyclicLR as CyclicLR, OneCycleLR as OneCycleLR
from zero.optim.lr_scheduler.factor import (
    ConstantLR as ConstantLR,
    ExponentialLR as ExponentialLR,
    LinearLR as LinearLR,
    MultiStepLR as MultiStepLR,
    PolynomialLR as PolynomialLR,
    StepLR as StepLR,
)
from zero.optim.lr_scheduler.function import (
    LambdaLR as LambdaLR,
    MultiplicativeLR as MultiplicativeLR,
)
from zero.optim.lr_scheduler.plateau import ReduceLROnPlateau as ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
