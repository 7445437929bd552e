"""Parameter under PyTorch's path ``nn.parameter.Parameter``, and Buffer."""

from __future__ import annotations

import zero
from zero import Parameter, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Buffer", "Parameter"]


def __getattr__(name: str) -> Any:  # PyTorch has these here, too
    if name in (
        "UninitializedBuffer",
        "UninitializedParameter",
        "UninitializedTensorMixin",
        "is_lazy",
    ):
        from zero.nn import lazy

        return getattr(lazy, name)
    from zero._missing import no_attribute

    raise no_attribute(__name__, name)


class _BufferClass(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferClass):
    """Makes a tensor that becomes a buffer of the module to whose attribute it is assigned.

    The result is a Tensor on the same memory that says so. Other ways of making a buffer:
    :meth:`Module.register_buffer`.

    Args:
        data: the values; an empty tensor if None.
        persistent: whether state_dict holds it.

    Raises:
        TypeError: data is no Tensor.

    Example:
        >>> import zero
        >>> norm = zero.nn.Module()
        >>> norm.running_mean = zero.nn.Buffer(zero.zeros(2))
        >>> dict(norm.state_dict())
        {'running_mean': tensor([0., 0.])}
    """

    persistent: bool  # of what __new__ returns

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:  # type: ignore[misc]
        if data is None:
            data = zero.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Buffer: data must be a Tensor; got {type(data).__name__}")
        tensor = data.detach().requires_grad_(data.requires_grad)
        tensor.__dict__.update(_is_buffer=True, persistent=persistent)
        return tensor
