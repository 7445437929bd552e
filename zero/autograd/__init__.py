"""Automatic differentiation: backward passes, modes, checks of gradients."""

from zero import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from zero.autograd.engine import backward, grad
from zero.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "GradcheckError",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
