"""Custom functions: operations whose gradient the user writes."""

from __future__ import annotations

import functools
from collections.abc import Callable

from zero import Tensor, _function_apply, _FunctionContext, is_grad_enabled, no_grad, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Function", "FunctionCtx", "once_differentiable"]

FunctionCtx = _FunctionContext


class BackwardCFunction(_FunctionContext):
    """The context of a custom function, and the grad_fn of its outputs.

    Each Function has a subclass of its own, called after it.
    """

    _forward_cls: type[Function]

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for ``jvp``, which zero does not call: there is no forward mode."""
        self.saved_for_forward = tensors


class FunctionMeta(type):
    """Gives each Function the class of its contexts."""

    _backward_cls: type[BackwardCFunction]

    def __init__(cls, name: str, bases: tuple[type, ...], attributes: dict[str, Any]) -> None:
        own = {"_forward_cls": cls, "__module__": cls.__module__, "__slots__": ()}
        cls._backward_cls = type(name + "Backward", (BackwardCFunction,), own)
        super().__init__(name, bases, attributes)


class Function(metaclass=FunctionMeta):
    """An operation with a gradient of its own.

    A subclass has two static methods. ``forward(ctx, *args)`` computes the outputs, without being
    recorded. ``backward(ctx, *grad_outputs)`` gets one gradient for each output and returns one for
    each argument of forward: a tensor, or None for what needs none. It is recorded under
    ``create_graph=True``, so that gradients of gradients work. The function is called by ``apply``.

    ``ctx`` carries what backward needs: tensors by ``ctx.save_for_backward(…)`` and
    ``ctx.saved_tensors``, other things as attributes. ``ctx.needs_input_grad[i]`` says whether
    argument i needs a gradient. An input that forward writes to in place is named in
    ``ctx.mark_dirty(…)`` and returned; outputs without a gradient are named in
    ``ctx.mark_non_differentiable(…)``.

    In the other form ``forward(*args)`` has no context, and ``setup_context(ctx, inputs, output)``
    fills it.

    Example:
        >>> import zero
        >>> class Exp(zero.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         y = x.exp()
        ...         ctx.save_for_backward(y)
        ...         return y
        ...
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (y,) = ctx.saved_tensors
        ...         return grad * y
        >>> x = zero.tensor([0.0, 1.0], requires_grad=True)
        >>> y = Exp.apply(x)
        >>> y.sum().backward()
        >>> x.grad
        tensor([1.0000, 2.7183])
    """

    _function_base: type[Function]
    generate_vmap_rule = False

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError(
            f"{type(self).__name__}: a Function has no instances; got a call of the class, "
            f"expected {type(self).__name__}.apply(…) with static forward and backward"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Computes the outputs; to be defined by the subclass."""
        raise NotImplementedError(
            "Function: forward is not defined; got none, expected a static method "
            "forward(ctx, *args), or forward(*args) beside setup_context"
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Fills the context after a forward that has none; may be defined by the subclass."""
        raise NotImplementedError("Function: setup_context is not defined")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Computes the gradients of the arguments; to be defined by the subclass."""
        raise NotImplementedError("Function: backward is not defined")

    vjp = backward  # another name for it

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The derivative in forward mode, which zero does not have.

        A definition in a subclass is never called.
        """
        raise NotImplementedError(
            "Function.jvp: forward mode is not supported; zero.autograd.functional.jvp computes "
            "the product from the backward function"
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """The function for a batch, for :func:`zero.vmap`; may be defined by the subclass.

        Without it the function is called for each sample.

        Args:
            info: has the attributes `batch_size` and `randomness`.
            in_dims: the dimension of samples in each argument, or None.
            *args: the arguments for :meth:`apply`, batches for tensors.

        Returns:
            The outputs for the batch, and the dimension of samples in each, or None.
        """
        raise NotImplementedError("Function.vmap: it is not defined")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls the function.

        Gradients flow to the tensors among the positional arguments. Those in lists, dicts and
        keyword arguments are constants.
        """
        separate = cls.setup_context is not Function.setup_context
        if separate and (kwargs or cls.forward.__defaults__):
            from inspect import signature

            bound = signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        return _function_apply(cls, args, kwargs, separate)


Function._function_base = Function


class _Refuse(Function):
    """Passes tensors on, and raises when differentiated."""

    @staticmethod
    def forward(ctx: Any, name: str, reason: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.name = name
        return tuple(t.detach() for t in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise RuntimeError(
            f"{ctx.name}: trying to differentiate twice a function that was marked with "
            "@once_differentiable; got create_graph=True, expected one derivative only"
        )


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a ``backward`` that must not be differentiated itself.

    It runs unrecorded. Under ``create_graph=True`` its results raise when a gradient of them is
    asked for, instead of having a wrong one.

    Example:
        >>> import zero
        >>> class Square(zero.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...
        ...     @staticmethod
        ...     @zero.autograd.function.once_differentiable
        ...     def backward(ctx, grad):
        ...         return grad * ctx.saved_tensors[0] * 2
        >>> x = zero.tensor(3.0, requires_grad=True)
        >>> (first,) = zero.autograd.grad(Square.apply(x), x, create_graph=True)
        >>> first.item()
        6.0
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not is_grad_enabled() or not any(
            isinstance(a, Tensor) and a.requires_grad for a in args
        ):
            return outputs
        items = outputs if isinstance(outputs, tuple) else (outputs,)
        tensors = [t for t in items if isinstance(t, Tensor)]
        if tensors:
            reason = zeros((), requires_grad=True)
            refusing = iter(_Refuse.apply(type(ctx).__name__, reason, *tensors))
            items = tuple(next(refusing) if isinstance(t, Tensor) else t for t in items)
        return items if isinstance(outputs, tuple) else items[0]

    return wrapper
