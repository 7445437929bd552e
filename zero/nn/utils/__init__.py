"""Functions on the parameters of models and their gradients."""

from zero import _later
from zero.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from zero.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "vector_to_parameters",
]

TYPE_CHECKING = False
if not TYPE_CHECKING:  # else any name would do
    __getattr__ = _later.missing(__name__)
