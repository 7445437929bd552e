"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import zero
from zero import Tensor
from zero.errors import ShapeError

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Joins all elements of the parameters to one vector; gradients flow back.

    Args:
        parameters: tensors on one device.

    Example:
        >>> import zero
        >>> zero.nn.utils.parameters_to_vector(zero.nn.Linear(3, 4).parameters()).shape
        zero.Size([16])
    """
    return zero.cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes parts of a vector the data of the parameters, one after the other.

    The parameters then share their memory with the vector.

    Args:
        vec: [n], n at least the number of all their elements.
        parameters: tensors to be given new data.

    Raises:
        TypeError: vec is not a Tensor.
        ShapeError: vec is no vector, or too short; nothing is changed then.

    Example:
        >>> import zero
        >>> layer = zero.nn.Linear(2, 1)
        >>> zero.nn.utils.vector_to_parameters(zero.tensor([1.0, 2.0, 3.0]), layer.parameters())
        >>> layer.weight.tolist(), layer.bias.tolist()
        ([[1.0, 2.0]], [3.0])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"vector_to_parameters: vec must be a Tensor; got {type(vec).__name__}")
    parameters = list(parameters)
    needed = sum(parameter.numel() for parameter in parameters)
    if vec.dim() != 1 or len(vec) < needed:
        raise ShapeError(
            f"vector_to_parameters: got vec of shape {tuple(vec.shape)}, expected one dimension "
            f"with at least {needed} elements"
        )
    begin = 0
    for parameter in parameters:
        end = begin + parameter.numel()
        parameter.data = vec[begin:end].view(parameter.shape).data
        begin = end
