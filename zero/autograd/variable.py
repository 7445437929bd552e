"""Variable, PyTorch's name of a tensor with gradients before its version 0.4."""

from __future__ import annotations

from zero import Tensor

__all__ = ["Variable"]


class _VariableMeta(type):
    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=_VariableMeta):
    """A tensor over the same memory: ``Variable(data)`` is ``data.detach()``.

    Args:
        data: a tensor.
        requires_grad: whether operations on the result are recorded.
        volatile: must be False; :func:`zero.no_grad` took its place.

    Example:
        >>> import zero
        >>> x = zero.autograd.Variable(zero.ones(2), requires_grad=True)
        >>> x
        tensor([1., 1.], requires_grad=True)
        >>> isinstance(x, zero.autograd.Variable)
        True
    """

    def __new__(  # type: ignore[misc]
        cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False
    ) -> Tensor:
        if volatile:
            raise NotImplementedError(
                "Variable: volatile was removed; got True, expected zero.no_grad() around the code"
            )
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable: not a tensor; got {type(data).__name__}, expected a Tensor")
        return data.detach().requires_grad_(requires_grad)
