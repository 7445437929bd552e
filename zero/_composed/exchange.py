"""Memory and functions shared with other array libraries: DLPack, and NumPy's functions."""

from __future__ import annotations

import zero
from zero import Tensor, _attach, _from_dlpack, _to_dlpack
from zero._composed.arguments import attach
from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = ["from_dlpack", "to_dlpack"]


# ---- DLPack --------------------------------------------------------------------------------------
def to_dlpack(tensor: Tensor) -> Any:
    """A capsule of DLPack that shares the memory of a tensor, in the form before DLPack 1.

    Other libraries take the tensor itself; a capsule can be used once.

    Args:
        tensor: on the CPU; its memory lives as long as either side uses it.

    Raises:
        BufferError: the tensor requires grad, or is on meta.

    Example:
        >>> import zero
        >>> x = zero.ones(2)
        >>> y = zero.from_dlpack(zero.to_dlpack(x))
        >>> y[0] = 5
        >>> x
        tensor([5., 1.])

    Source: DLPack, an open in-memory tensor structure, version 1.0.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"to_dlpack: not a tensor; got {type(tensor).__name__}, expected a Tensor")
    return _to_dlpack(tensor, versioned=False)


def from_dlpack(
    ext_tensor: Any, *, device: zero.device | str | None = None, copy: bool | None = None
) -> Tensor:
    """A tensor in the memory of another library's array: a write to one is seen in the other.

    Args:
        ext_tensor: an array that has ``__dlpack__``, such as those of NumPy, JAX and PyTorch, or a
            capsule of DLPack, which is used up.
        device: None or 'cpu'.
        copy: True for new memory; False and None share it, and False is passed on to the array.

    Raises:
        BufferError: the memory is on another device, or no tensor has such elements.
        ValueError: a stride is negative, or elements are not aligned.
        RuntimeError: a capsule was used before.

    Example:
        >>> import numpy, zero
        >>> a = numpy.zeros(2)
        >>> zero.from_dlpack(a)[0] = 5
        >>> print(a)
        [5. 0.]

    Source: DLPack, an open in-memory tensor structure, version 1.0.
    """
    if device is not None and zero.device(device).type != "cpu":
        raise BufferError(f"from_dlpack: not on this device; got {device!r}, expected 'cpu'")
    if not hasattr(ext_tensor, "__dlpack__"):
        x, writable = _from_dlpack(ext_tensor)
        return x.clone() if copy else _checked(x, writable)
    where = getattr(ext_tensor, "__dlpack_device__", lambda: (1, 0))()[0]
    if where != 1:  # asked first, as the array may wait for its device
        raise BufferError(
            f"from_dlpack: the memory is not the processor's; got a device of kind {int(where)}, "
            "expected kDLCPU, 1; copy the array to the CPU in its own library"
        )
    options = {} if copy is None else {"copy": copy}
    try:
        capsule = ext_tensor.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # made for a DLPack before version 1
        if copy is False:
            raise
        capsule = ext_tensor.__dlpack__()
        x, writable = _from_dlpack(capsule)
        return x.clone() if copy else _checked(x, writable)
    x, writable = _from_dlpack(capsule)
    return x if copy else _checked(x, writable)


def _checked(x: Tensor, writable: bool) -> Tensor:
    if not writable:
        import warnings

        warnings.warn(
            "from_dlpack: the memory may not be written; got a read-only array. Writing to the "
            "tensor is undefined; copy=True avoids that",
            UserWarning,
            stacklevel=3,
        )
    return x


def __dlpack__(
    self: Tensor,
    *,
    stream: object = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A capsule with the tensor's memory, which other libraries' ``from_dlpack`` ask for.

    Args:
        stream: None or -1, as the CPU has no streams.
        max_version: the newest form that the caller knows: from (1, 0) on the capsule is versioned.
        dl_device: None or (1, 0), the CPU.
        copy: True for new memory.

    Raises:
        BufferError: the tensor requires grad, is on meta, or is asked for on another device.
        ValueError: a stream is given.

    Example:
        >>> import numpy, zero
        >>> x = zero.zeros(2)
        >>> array = numpy.from_dlpack(x)
        >>> x[0] = 5
        >>> print(array)
        [5. 0.]
    """
    if stream not in (None, -1):
        raise ValueError(f"__dlpack__: the CPU has no streams; got {stream!r}, expected None or -1")
    if dl_device is not None and dl_device[0] != 1:
        raise BufferError(
            f"__dlpack__: not on this device; got {dl_device}, expected (1, 0), the CPU"
        )
    x = self.detach().clone() if copy and not self.requires_grad else self
    versioned = max_version is not None and max_version[0] >= 1
    return _to_dlpack(x, versioned=versioned, copied=bool(copy))


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """The device in DLPack's numbers: (1, 0), the CPU.

    Raises:
        ValueError: a meta tensor has no device there.
    """
    if self.device.type != "cpu":
        raise ValueError(f"__dlpack_device__: DLPack has no device {self.device.type!r}")
    from zero.utils.dlpack import DLDeviceType

    return DLDeviceType.kDLCPU, 0


# ---- NumPy ---------------------------------------------------------------------------------------
def __array_interface__(self: Tensor) -> dict[str, Any]:
    """Where the elements lie, and how, for libraries that read NumPy's array interface.

    Raises:
        AttributeError: the tensor requires grad, is on meta, or has no dtype of NumPy's.
    """
    try:
        array = self.numpy()
    except (RuntimeError, TypeError) as error:
        raise AttributeError(f"__array_interface__: {error}") from None
    return dict(array.__array_interface__)


def __array_wrap__(
    self: Tensor, array: Any, context: object = None, return_scalar: bool = False
) -> Any:
    """What NumPy's universal functions give for tensors: their result, an array, as a tensor.

    Args:
        array: the result.
        context: the function and its arguments; not needed.
        return_scalar: whether NumPy would give a number; a tensor without dimensions is one.

    Returns:
        The array itself, if no tensor has such elements.

    Example:
        >>> import numpy, zero
        >>> numpy.maximum(zero.tensor([1.0, 3.0]), 2.0)
        tensor([2., 3.])
    """
    return _as_tensor(array)


def _as_tensor(array: Any) -> Any:
    try:
        return zero.as_tensor(array)
    except TypeError:  # of a dtype that tensors don't have
        return array


# Functions that are methods of arrays, too. Their results are tensors; those of the others, arrays.
_METHODS = frozenset(
    "all amax amin any argmax argmin argpartition argsort around choose clip compress cumprod "
    "cumsum max mean min prod ptp repeat reshape round searchsorted squeeze std sum swapaxes take "
    "transpose var".split()
)


def __array_function__(
    self: Tensor,
    func: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """NumPy's functions on tensors: they compute with arrays that share the tensors' memory.

    Args:
        func: the function.
        types: of its arguments that take part in NumPy's protocol.
        args: of the function.
        kwargs: of the function.

    Returns:
        A tensor, where the function is also a method of arrays or belongs to ``numpy.linalg``;
        else what NumPy gives.

    Raises:
        RuntimeError: a tensor requires grad, which NumPy would not see.

    Example:
        >>> import numpy, zero
        >>> float(numpy.median(zero.tensor([1.0, 5.0, 2.0]))), numpy.sum(zero.ones(3), axis=0)
        (2.0, tensor(3.))
    """
    import numpy

    if not all(issubclass(kind, (Tensor, numpy.ndarray)) for kind in types):
        return NotImplemented

    only_sizes = func.__name__ in ("shape", "ndim", "size")  # of any tensor
    result = func(
        *_as_arrays(args, only_sizes),
        **{name: _as_arrays(x, only_sizes) for name, x in kwargs.items()},
    )
    if isinstance(kwargs.get("out"), Tensor):
        return kwargs["out"]
    methods = func.__name__ in _METHODS or func.__module__ == "numpy.linalg"
    return _as_tensor(result) if methods and isinstance(result, numpy.generic | numpy.ndarray) \
        else result  # fmt: skip


def _as_arrays(x: Any, only_sizes: bool) -> Any:
    """The arguments of a function of NumPy's with arrays in place of tensors."""
    if isinstance(x, Tensor):
        import numpy

        return numpy.broadcast_to(0, tuple(x.shape)) if only_sizes else x.numpy()
    if type(x) in (list, tuple):
        return type(x)(_as_arrays(y, only_sizes) for y in x)
    return x


attach(__dlpack__, __dlpack_device__, __array_wrap__, __array_function__)
_attach("__array_interface__", property(__array_interface__, doc=__array_interface__.__doc__))
