"""Layers, losses and their base class."""

from zero.nn import functional
from zero.nn.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from zero.nn.container import Sequential
from zero.nn.flatten import Flatten
from zero.nn.linear import Identity, Linear
from zero.nn.loss import CrossEntropyLoss, MSELoss, NLLLoss
from zero.nn.module import Module
from zero.nn.parameter import Parameter

__all__ = [
    "CrossEntropyLoss",
    "Flatten",
    "Identity",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
]
