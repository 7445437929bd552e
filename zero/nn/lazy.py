"""Layers whose sizes are known only when the first input comes, and their parameters."""

from __future__ import annotations

from itertools import chain

import zero
from zero import Parameter, Tensor, _become
from zero._later import Method
from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = [
    "LazyModuleMixin",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]

_REMEDY = "call the layer with an input first, which tells its sizes"


class UninitializedTensorMixin:
    """What a parameter or buffer is before its shape is known: a dtype and a device."""

    cls_to_become: type[Tensor]

    if TYPE_CHECKING:
        data: Tensor
        requires_grad: bool

        def __init__(
            self,
            requires_grad: bool = ...,
            device: zero.device | str | None = None,
            dtype: zero.dtype | None = None,
        ) -> None: ...

    def materialize(
        self,
        shape: Sequence[int],
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        """Gives it a shape, and memory without values; the object is then an ordinary one.

        Args:
            shape: of the tensor.
            device: where it is; as said before if None.
            dtype: its dtype, likewise.

        Example:
            >>> import zero
            >>> weight = zero.nn.UninitializedParameter()
            >>> weight.materialize((2, 3))
            >>> type(weight) is zero.nn.Parameter, weight.shape
            (True, zero.Size([2, 3]))
        """
        data = self.data
        self.data = zero.empty(
            tuple(shape),
            device=data.device if device is None else device,
            dtype=data.dtype if dtype is None else dtype,
        )
        _become(self, self.cls_to_become)  # type: ignore[arg-type]  # a mixin of tensors

    @classmethod
    def forget(cls, tensor: Tensor, data: Tensor) -> None:
        """Undoes :meth:`materialize`: `data` is what the tensor's was before."""
        tensor.data = data
        _become(tensor, cls)  # type: ignore[arg-type]

    def like(self, data: Tensor) -> Any:
        """The same object, with the dtype and device of a tensor."""
        self.data = data.new_empty(0)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """With another dtype or device; the shape stays unknown."""
        data = self.data
        new = data.to(*args, **kwargs)
        return (
            self if new is data else _rebuild(type(self), self.requires_grad, new.device, new.dtype)
        )

    def float(self) -> Any:
        return self.to(zero.float32)

    def double(self) -> Any:
        return self.to(zero.float64)

    def half(self) -> Any:
        return self.to(zero.float16)

    def bfloat16(self) -> Any:
        return self.to(zero.bfloat16)

    def cpu(self) -> Any:
        return self.to("cpu")

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            data = self.data
            memo[id(self)] = _rebuild(type(self), self.requires_grad, data.device, data.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuild, (type(self), self.requires_grad, str(self.data.device), self.data.dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            f"shape: that of an {type(self).__name__} is not known; got none, expected one: "
            f"{_REMEDY}"
        )


def _rebuild(cls: Any, requires_grad: bool, device: zero.device | str, dtype: zero.dtype) -> Any:
    return cls(requires_grad, device=device, dtype=dtype)


def _refused(name: str) -> Any:
    def method(self: object, *args: object, **kwargs: object) -> Any:
        raise ValueError(
            f"{name}: an {type(self).__name__} has no elements yet; got no shape, expected one: "
            f"{_REMEDY}"
        )

    method.__name__ = name
    return method


_ALLOWED = (
    "H get_device imag is_complex is_floating_point mH real register_hook requires_grad_".split()
)

for _class in Tensor.__mro__:
    for _name, _value in vars(_class).items():  # getattr would import the modules of rare methods
        if hasattr(UninitializedTensorMixin, _name) or _name in _ALLOWED:
            continue
        if _name.startswith("_"):
            _refuses = _name in "__add__ __getitem__ __iter__ __len__ __matmul__ __mul__".split()
        else:
            _refuses = not _name.startswith("is_") and (
                callable(_value) or isinstance(_value, Method)
            )
        if _refuses:
            setattr(UninitializedTensorMixin, _name, _refused(_name))


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter whose shape is not known yet.

    It can be moved and cast, and :meth:`materialize` makes it an ordinary parameter; what asks for
    its shape or elements raises.

    Args:
        requires_grad: whether it gets gradients.
        device: where it will be.
        dtype: its dtype; the default dtype if None.

    Example:
        >>> import zero
        >>> zero.nn.UninitializedParameter()
        <UninitializedParameter>
    """

    cls_to_become = Parameter

    def __init__(
        self,
        requires_grad: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        Parameter.__init__(self, zero.empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer whose shape is not known yet; see :class:`UninitializedParameter`.

    Args:
        requires_grad: whether it gets gradients.
        device: where it will be.
        dtype: its dtype; the default dtype if None.
        persistent: whether state_dict holds it once it is a buffer.
    """

    cls_to_become = Tensor

    def __init__(
        self,
        requires_grad: bool = False,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
        persistent: bool = True,
    ) -> None:
        self.data = zero.empty(0, device=device, dtype=dtype)
        self.requires_grad_(requires_grad)
        self.persistent = persistent
        self._is_buffer = True


def is_lazy(param: object) -> bool:
    """Whether a parameter or buffer still waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


class LazyModuleMixin:
    """The part of a layer that finds its sizes in the first input.

    A lazy layer has :class:`UninitializedParameter` s. Its first call calls
    ``initialize_parameters`` with the arguments, which materializes them, then the layer becomes
    one of the class ``cls_to_become``. A state_dict with shapes does the same for the parameters.

    Example:
        >>> import zero
        >>> layer = zero.nn.LazyBatchNorm1d()
        >>> layer.weight
        <UninitializedParameter>
        >>> y = layer(zero.randn(8, 3))
        >>> layer.weight.shape, type(layer).__name__
        (zero.Size([3]), 'BatchNorm1d')
    """

    cls_to_become: type[Any] | None = None

    if TYPE_CHECKING:
        _parameters: dict[str, Any]
        _buffers: dict[str, Any]

        register_forward_pre_hook: Any  # of the Module that it is mixed with
        register_load_state_dict_pre_hook: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self.register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materializes all parameters and buffers by what the first call was given.

        Raises:
            NotImplementedError: the class does not define it.
        """
        raise NotImplementedError(
            f"{type(self).__name__}: has no initialize_parameters(), which materializes its "
            "parameters"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of the layer still waits for its shape."""
        return any(map(is_lazy, chain(self._parameters.values(), self._buffers.values())))

    def _lazy_load_hook(
        self, module: Any, state_dict: dict[str, Any], prefix: str, *others: object
    ) -> None:
        for name, member in module._own_state().items():
            value = state_dict.get(prefix + name)
            if is_lazy(member) and isinstance(value, Tensor) and not is_lazy(value):
                member.materialize(value.shape)

    def _infer_parameters(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(
                f"{type(module).__name__}: initialize_parameters() left a parameter without a shape"
            )
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
