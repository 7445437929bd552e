"""Layers, losses and their base class."""

from zero.nn import functional, init, utils
from zero.nn.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from zero.nn.container import ModuleDict, ModuleList, Sequential
from zero.nn.dropout import (
    AlphaDropout,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    FeatureAlphaDropout,
)
from zero.nn.flatten import Flatten
from zero.nn.linear import Identity, Linear
from zero.nn.loss import CrossEntropyLoss, MSELoss, NLLLoss
from zero.nn.module import Module
from zero.nn.parameter import Buffer, Parameter
from zero.nn.parameter_container import ParameterDict, ParameterList

__all__ = [
    "AlphaDropout",
    "Buffer",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
    "Flatten",
    "Identity",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "init",
    "utils",
]
