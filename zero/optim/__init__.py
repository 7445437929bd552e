"""Optimizers."""

from zero.optim.optimizer import Optimizer
from zero.optim.sgd import SGD

__all__ = ["SGD", "Optimizer"]
