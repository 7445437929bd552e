"""autocast, and its decorators for custom functions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable

import zero
from zero import (
    Tensor,
    _autocast_cache,
    _autocast_nesting,
    _autocast_state,
    _set_autocast_state,
    dtype as DType,
)
from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_DEVICES = ("cpu", "cuda", "xpu", "mps")


def is_autocast_available(device_type: str) -> bool:
    """Whether :class:`autocast` takes a device, which need not be there.

    Args:
        device_type: such as 'cpu'.

    Example:
        >>> import zero
        >>> zero.amp.is_autocast_available("cpu"), zero.amp.is_autocast_available("abacus")
        (True, False)
    """
    return device_type in _DEVICES


def _check_device(op: str, device_type: object) -> None:
    if not isinstance(device_type, str):
        raise ValueError(
            f"{op}: device_type is not a str; got {type(device_type).__name__}, expected 'cpu'"
        )


class autocast:
    """Context manager and decorator under which operators choose their precision.

    Products of matrices, convolutions, attention and recurrent layers are computed in 16 bits, with
    sums in float32; losses and a few other operators in float32; operators that join tensors in the
    widest dtype that they get. All others compute in the dtype of their inputs. Tensors of float64
    stay as they are, and parameters keep their dtype and get gradients in it. The casts of
    parameters are made once, and freed at the end of the outermost context. A backward pass
    computes in the dtypes of the forward pass, wherever it is called.

    Args:
        device_type: 'cpu'. For other devices it is switched off, with a warning.
        dtype: bfloat16 or float16; None is what :func:`zero.get_autocast_dtype` gives, bfloat16.
        enabled: False switches it off, also inside of another context.
        cache_enabled: whether casts of parameters are kept; None leaves that as it is.

    Raises:
        ValueError: device_type is not a string.
        RuntimeError: there is no such device.

    Example:
        >>> import zero
        >>> x, w = zero.ones(2, 3), zero.ones(3, 2)
        >>> with zero.autocast("cpu", dtype=zero.bfloat16):
        ...     y = x @ w
        ...     with zero.autocast("cpu", enabled=False):
        ...         z = w @ y.float()
        >>> y.dtype, z.dtype
        (zero.bfloat16, zero.float32)

    Source: Micikevicius et al., Mixed precision training, 2018.
    """

    def __init__(
        self,
        device_type: str,
        dtype: DType | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        _check_device("autocast", device_type)
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"autocast: no such device; got {device_type!r}, expected one of "
                f"{', '.join(_DEVICES)}"
            )
        self.device = device_type
        self.fast_dtype = _autocast_state(device_type)[1] if dtype is None else dtype
        self._cache_enabled = _autocast_cache() if cache_enabled is None else cache_enabled
        self._enabled = enabled and self._is_supported()
        self._before: list[tuple[bool, DType, bool]] = []  # one object may be entered several times

    def _is_supported(self) -> bool:
        if self.device != "cpu":
            problem = f"there is no device '{self.device}'"
        elif self.fast_dtype not in (zero.bfloat16, zero.float16):
            problem = f"got dtype {self.fast_dtype}, expected bfloat16 or float16"
        else:
            return True
        warnings.warn(f"autocast: switched off, {problem}", stacklevel=3)
        return False

    def __enter__(self) -> autocast:
        before = _autocast_state(self.device)
        _set_autocast_state(self.device, self._enabled, self.fast_dtype)  # may refuse the dtype
        self._before.append((*before, _autocast_cache(self._cache_enabled)))
        _autocast_nesting(1)
        return self

    def __exit__(self, *exception: object) -> None:
        if _autocast_nesting(-1) == 0:
            _autocast_nesting(0)
        enabled, dtype, cache = self._before.pop()
        _set_autocast_state(self.device, enabled, dtype)
        _autocast_cache(cache)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise TypeError(
                f"autocast: only functions can be decorated; got {type(function).__name__}"
            )

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            # One for this call, which may be one of several threads'.
            context = object.__new__(autocast)
            context.__dict__.update(self.__dict__, _before=[])
            with context:
                return function(*args, **kwargs)

        return decorated


def _cast(value: Any, device_type: str, dtype: DType) -> Any:
    """Floats on the device, but float64, in a dtype; also those in tuples, lists and dicts."""
    if isinstance(value, Tensor):
        suits = value.is_floating_point() and value.dtype is not zero.float64
        return value.to(dtype) if suits and value.device.type == device_type else value
    if isinstance(value, dict):
        return {key: _cast(item, device_type, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_cast(item, device_type, dtype) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: DType | None = None
) -> Any:
    """A decorator for the forward method of a :class:`zero.autograd.Function`.

    Together with :func:`custom_bwd` it makes backward run as forward did.

    Args:
        fwd: the method.
        device_type: 'cpu'.
        cast_inputs: a dtype in which the function wants its floats under autocast, which is off
            while it runs then; None leaves both as they are.

    Raises:
        ValueError: device_type is not a string.

    Example:
        >>> import zero
        >>> class Product(zero.autograd.Function):
        ...     @staticmethod
        ...     @zero.amp.custom_fwd(device_type="cpu", cast_inputs=zero.float32)
        ...     def forward(ctx, a, b):
        ...         ctx.save_for_backward(a, b)
        ...         return a @ b
        ...     @staticmethod
        ...     @zero.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, g):
        ...         a, b = ctx.saved_tensors
        ...         return g @ b.t(), a.t() @ g
        >>> with zero.autocast("cpu"):
        ...     Product.apply(zero.ones(2, 2).bfloat16(), zero.ones(2, 2)).dtype
        zero.float32
    """
    _check_device("custom_fwd", device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    forward = fwd

    @functools.wraps(forward)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        enabled, ctx._dtype = _autocast_state(device_type)
        ctx._fwd_used_autocast = enabled and cast_inputs is None
        if cast_inputs is None or not enabled:
            return forward(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return forward(
                ctx,
                *_cast(args, device_type, cast_inputs),
                **_cast(kwargs, device_type, cast_inputs),
            )

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """A decorator for the backward method whose forward has :func:`custom_fwd`.

    Args:
        bwd: the method.
        device_type: 'cpu'.

    Raises:
        ValueError: device_type is not a string.
    """
    _check_device("custom_bwd", device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    backward = bwd

    @functools.wraps(backward)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, ctx._dtype, ctx._fwd_used_autocast):
            return backward(ctx, *args, **kwargs)

    return decorated
