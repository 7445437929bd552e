"""What distributions share: arguments, probabilities and logits, parameters computed when asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import zero
from zero import Tensor

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286060
T = TypeVar("T")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Numbers and tensors as tensors of one shape.

    Args:
        values: numbers get the dtype of the first tensor, or the default dtype.

    Raises:
        ValueError: a value is neither, or shapes do not broadcast.

    Example:
        >>> import zero
        >>> from zero.distributions.utils import broadcast_all
        >>> [x.shape for x in broadcast_all(zero.ones(2), 1.0)]
        [zero.Size([2]), zero.Size([2])]
    """
    first = None
    for value in values:
        if isinstance(value, Tensor):
            first = value if first is None else first
        elif not isinstance(value, (int, float)):
            raise zero.errors.ValueError(
                f"broadcast_all: neither a number nor a tensor; got {type(value).__name__}"
            )
    dtype = zero.get_default_dtype() if first is None else first.dtype
    device = None if first is None else first.device
    tensors = [
        value if isinstance(value, Tensor) else zero.tensor(value, dtype=dtype, device=device)
        for value in values
    ]
    shape = tensors[0].shape
    if all(x.shape == shape for x in tensors):
        return tuple(tensors)
    return tuple(zero.broadcast_tensors(*tensors))


def sum_rightmost(value: Tensor, ndims: int) -> Tensor:
    """The sum over the last `ndims` dimensions."""
    return value if ndims == 0 else value.sum(tuple(range(-ndims, 0)))


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)) without overflow."""
    return zero.relu(x) + zero.log1p(zero.exp(-x.abs()))


def times_log(x: Tensor, p: Tensor) -> Tensor:
    """x log p, which is 0 where x is."""
    none = x == 0
    return zero.where(none, 0.0, x * zero.where(none, 1.0, p).log())


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept off 0 and 1 by the dtype's eps."""
    eps = zero.finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of logits: sigmoid, or softmax over the last dimension.

    Args:
        logits: any shape.
        is_binary: whether each is the log of odds; else those of a row go together.
    """
    return zero.sigmoid(logits) if is_binary else zero.softmax(logits, -1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Logits of probabilities, which are kept off 0 and 1.

    Args:
        probs: any shape.
        is_binary: whether each is a probability by itself; else a row is a distribution.
    """
    p = clamp_probs(probs)
    return zero.log(p) - zero.log1p(-p) if is_binary else zero.log(p)


class lazy_property(Generic[T]):
    """A property that is computed at its first use, with gradients, and then kept."""

    def __init__(self, wrapped: Callable[[Any], T]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__
        self.__name__ = wrapped.__name__

    @overload
    def __get__(self, instance: None, owner: Any = None) -> lazy_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> T: ...
    def __get__(self, instance: object, owner: Any = None) -> T | lazy_property[T]:
        if instance is None:
            return self
        with zero.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.__name__, value)
        return value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of a lower triangle, row by row.

    Args:
        mat: shape [..., N, N].
        diag: the highest diagonal that belongs to it.

    Example:
        >>> import zero
        >>> from zero.distributions.utils import tril_matrix_to_vec
        >>> tril_matrix_to_vec(zero.tensor([[1, 0], [2, 3]])).tolist()
        [1, 2, 3]
    """
    n = mat.shape[-1]
    if not -n < diag < n:
        raise zero.errors.ValueError(f"tril_matrix_to_vec: diag is out of range; got {diag}")
    rows, columns = zero.tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The lower triangle that has these elements, row by row; zeros elsewhere.

    Args:
        vec: shape [..., D], where D elements fill a triangle.
        diag: the highest diagonal that belongs to it.

    Raises:
        ValueError: no triangle has so many elements.

    Example:
        >>> import zero
        >>> from zero.distributions.utils import vec_to_tril_matrix
        >>> vec_to_tril_matrix(zero.tensor([1, 2, 3])).tolist()
        [[1, 0], [2, 3]]
    """
    d = vec.shape[-1]
    square = (1 + 2 * diag) ** 2 + 8 * d + 4 * abs(diag) * (diag + 1)
    n = int((square**0.5 - (1 + 2 * diag)) / 2)
    rows, columns = zero.tril_indices(n, n, diag)
    if rows.numel() != d:
        raise zero.errors.ValueError(
            f"vec_to_tril_matrix: {d} elements fill no lower triangle up to diagonal {diag}"
        )
    mat = zero.zeros(*vec.shape[:-1], n, n, dtype=vec.dtype, device=vec.device)
    places = (rows * n + columns).expand(vec.shape)
    return mat.flatten(-2).scatter(-1, places, vec).unflatten(-1, (n, n))
