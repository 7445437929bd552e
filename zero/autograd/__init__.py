"""Automatic differentiation: backward passes, custom functions, hooks, modes, checks."""

from zero import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from zero.autograd import anomaly_mode, function, functional, graph, variable
from zero.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from zero.autograd.engine import backward, grad
from zero.autograd.function import Function
from zero.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from zero.autograd.variable import Variable

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "variable",
]
