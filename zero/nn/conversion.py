"""Casts and moves of all parameters and buffers of a module."""

from __future__ import annotations

import zero
from zero import Parameter, Tensor
from zero.nn.state_dict import waits_for_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterator
    from typing import Any

    from typing_extensions import Self

__all__ = ["Conversion"]


class Conversion:
    """The part of :class:`Module` that goes over all parameters and buffers."""

    if TYPE_CHECKING:

        def modules(self) -> Iterator[Any]: ...
        def parameters(self) -> Iterator[Parameter]: ...

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces every parameter, gradient and buffer by fn of it; shared ones stay shared.

        A parameter remains the same object where its device allows, so that optimizers keep it.
        """
        done: dict[int, tuple[Tensor, Tensor]] = {}
        with zero.no_grad():
            for module in self.modules() if recurse else (self,):
                for kind in ("_parameters", "_buffers"):
                    members = module.__dict__[kind]
                    for name, old in members.items():
                        if old is not None:
                            if id(old) not in done:
                                done[id(old)] = old, _converted(old, fn)  # old: its id stays taken
                            members[name] = done[id(old)][1]
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Moves or casts the module in place: ``to(device)``, ``to(dtype)``, ``to(tensor)``.

        A dtype applies to floating-point parameters and buffers only.

        Args:
            device: where to; moving to "meta" drops the values.
            dtype: a floating-point dtype.
            tensor: one whose dtype and device to take.
            non_blocking: has no effect on these devices.

        Returns:
            The module itself.

        Raises:
            TypeError: dtype is not a floating-point one, or an argument is of another type.

        Example:
            >>> import zero
            >>> zero.nn.Linear(2, 1).to(zero.float64).weight.dtype
            zero.float64
        """
        device, dtype = _parse_to(*args, **kwargs)

        def convert(t: Tensor) -> Tensor:
            if dtype is not None and t.is_floating_point():
                t = t.to(dtype)
            return t if device is None else t.to(device)

        return self._apply(convert)

    def type(self, dst_type: zero.dtype | str | builtins.type) -> Self:
        """Casts all parameters and buffers, those of integers too.

        Args:
            dst_type: a dtype, or what else :meth:`zero.Tensor.type` takes.
        """
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Casts floating-point parameters and buffers to float32."""
        return self.to(zero.float32)

    def double(self) -> Self:
        """Casts floating-point parameters and buffers to float64."""
        return self.to(zero.float64)

    def half(self) -> Self:
        """Casts floating-point parameters and buffers to float16."""
        return self.to(zero.float16)

    def bfloat16(self) -> Self:
        """Casts floating-point parameters and buffers to bfloat16."""
        return self.to(zero.bfloat16)

    def cpu(self) -> Self:
        """Moves all parameters and buffers to the CPU."""
        return self.to("cpu")

    def cuda(self, device: zero.device | int | None = None) -> Self:
        """Raises the error that says which devices there are; for programs that ask for others."""
        return self.to("cuda" if device is None or isinstance(device, int) else device)

    def to_empty(self, *, device: zero.device | str | None, recurse: bool = True) -> Self:
        """Gives all parameters and buffers memory on a device without setting values.

        A model made on "meta", which needs no memory, is so brought to the CPU; its values then
        come from load_state_dict or an initialization.

        Args:
            device: where the memory is.
            recurse: that of the sub-modules too.

        Example:
            >>> import zero
            >>> model = zero.nn.Linear(2, 3, device="meta").to_empty(device="cpu")
            >>> model.weight.device
            device(type='cpu')
        """
        return self._apply(lambda t: zero.empty_like(t, device=device), recurse)

    def share_memory(self) -> Self:
        """Moves parameters, their gradients and buffers to memory that other processes can see.

        See :meth:`zero.Tensor.share_memory_`. Returns the module.

        Example:
            >>> import zero
            >>> zero.nn.Linear(2, 3).share_memory().weight.is_shared()
            True
        """
        for parameter in self.parameters():
            parameter.share_memory_()
            if parameter.grad is not None:
                parameter.grad.share_memory_()
        for buffer in self.buffers():  # type: ignore[attr-defined]
            buffer.share_memory_()
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Says for all parameters whether gradients are recorded; False freezes them."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the gradients of all parameters.

        Args:
            set_to_none: drop them; else fill them with zeros.
        """
        for parameter in self.parameters():
            grad = None if set_to_none else parameter.grad
            if grad is None:
                parameter.grad = None
            elif grad.requires_grad:  # of create_graph
                parameter.grad = grad.detach().zero_()
            else:
                grad.zero_()


def _converted(old: Tensor, fn: Callable[[Tensor], Tensor]) -> Tensor:
    if waits_for_shape(type(old)):
        return old.like(fn(old.data))  # type: ignore[attr-defined, no-any-return]
    new = fn(old)
    if new is old or not isinstance(old, Parameter):
        return new
    grad = None if old.grad is None else fn(old.grad)
    if new.device == old.device:
        parameter = old
        parameter.grad = None  # it has to fit the data
        parameter.data = new
    else:
        parameter = Parameter(new, old.requires_grad)
    parameter.grad = grad
    return parameter


def _parse_to(
    *args: object,
    device: zero.device | str | None = None,
    dtype: zero.dtype | None = None,
    tensor: Tensor | None = None,
    non_blocking: bool = False,
) -> tuple[zero.device | None, zero.dtype | None]:
    given = [what for what in (device, dtype, tensor) if what is not None]
    for arg in args:
        if isinstance(arg, (Tensor, zero.dtype, str, zero.device)):
            given.append(arg)
        elif arg is not None and not isinstance(arg, bool):  # a bool is non_blocking
            raise TypeError(
                f"Module.to: expected a dtype, a device or a tensor; got {type(arg).__name__}"
            )
    for what in given:
        if isinstance(what, Tensor):
            tensor = what
        elif isinstance(what, zero.dtype):
            dtype = what
        else:
            device = what
    if len(given) != sum(what is not None for what in (device, dtype, tensor)) or (
        tensor is not None and len(given) > 1
    ):
        raise TypeError(
            f"Module.to: got {len(given)} targets of the same kind, expected a device and a dtype, "
            "or a tensor"
        )
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if dtype is not None and not dtype.is_floating_point:
        raise TypeError(f"Module.to: expected a floating-point dtype; got {dtype}")
    return (None if device is None else zero.device(device)), dtype
