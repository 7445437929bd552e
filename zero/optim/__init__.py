"""Optimizers."""

from zero.optim.adam import Adam, AdamW
from zero.optim.optimizer import Optimizer
from zero.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
