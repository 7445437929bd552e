"""The names of PyTorch's CUDA module, answered for a machine that has no such device.

Questions have answers (``is_available()`` is False), what concerns all devices does nothing
(``empty_cache()``, ``manual_seed_all()``), and what needs a device raises an error.

Example:
    >>> import zero
    >>> device = zero.device("cuda" if zero.cuda.is_available() else "cpu")
    >>> device
    device(type='cpu')
"""

from __future__ import annotations

from zero import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, NoReturn

OutOfMemoryError = errors.OutOfMemoryError
has_half = False
has_magma = False
default_generators: tuple[object, ...] = ()

CLASSES = ("CUDAGraph", "Event", "ExternalStream", "Stream", "StreamContext", "device", "graph")
TENSORS = (
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
)
# Functions that are about one device, or about what computes on it.
NEED_A_DEVICE = (
    "can_device_access_peer",
    "clock_rate",
    "current_blas_handle",
    "current_device",
    "current_stream",
    "default_stream",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "init",
    "initial_seed",
    "make_graphed_callables",
    "mem_get_info",
    "memory_summary",
    "memory_usage",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_stream",
    "stream",
    "utilization",
)

__all__ = [
    *CLASSES,
    *TENSORS,
    *NEED_A_DEVICE,
    "OutOfMemoryError",
    "amp",
    "default_generators",
    "device_count",
    "empty_cache",
    "get_arch_list",
    "get_rng_state_all",
    "has_half",
    "has_magma",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_rng_state_all",
    "synchronize",
]


def no_device(name: str) -> NoReturn:
    raise RuntimeError(
        f"{name}: there is no CUDA device; zero computes on CPUs only, expected a check of "
        "zero.cuda.is_available()"
    )


class Unavailable(type):
    """The class of classes that need a CUDA device: they have no instances."""

    unavailable = True

    def __call__(cls, *args: object, **kwargs: object) -> NoReturn:
        no_device(f"cuda.{cls.__name__}")

    def __instancecheck__(cls, x: object) -> bool:
        return False


def unavailable_function(name: str) -> Any:
    def function(*args: object, **kwargs: object) -> NoReturn:
        no_device(f"cuda.{name}")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "An error: there is no CUDA device."
    return function


for _name in NEED_A_DEVICE:
    globals()[_name] = unavailable_function(_name)
for _name in (*CLASSES, *TENSORS):
    _about = {"__doc__": "No instances: there is no CUDA device.", "__module__": "zero.cuda"}
    globals()[_name] = Unavailable(_name, (), _about)
del _name, _about


def __getattr__(name: str) -> ModuleType:
    if name == "amp":
        from importlib import import_module

        return import_module("zero.cuda.amp")
    raise AttributeError(f"module 'zero.cuda' has no attribute {name!r}")


# ---- questions -----------------------------------------------------------------------------------
def is_available() -> bool:
    """False: zero computes on CPUs only."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialize."""
    return False


def device_count() -> int:
    """0: there are no CUDA devices."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no CUDA device. On the CPU, bfloat16 works."""
    return False


def is_tf32_supported() -> bool:
    """False: there is no CUDA device."""
    return False


def is_current_stream_capturing() -> bool:
    """False: there are no streams."""
    return False


def get_arch_list() -> list[str]:
    """No architectures."""
    return []


def get_rng_state_all() -> list[object]:
    """No states: one for each device."""
    return []


def memory_allocated(device: object = None) -> int:
    """0 bytes; :func:`zero.memory_stats` tells what tensors take on the CPU."""
    return 0


def max_memory_allocated(device: object = None) -> int:
    """0 bytes; :func:`zero.memory_stats` has the CPU's peak."""
    return 0


def memory_reserved(device: object = None) -> int:
    """0 bytes."""
    return 0


def max_memory_reserved(device: object = None) -> int:
    """0 bytes."""
    return 0


def memory_cached(device: object = None) -> int:
    """0 bytes; an older name of :func:`memory_reserved`."""
    return 0


def max_memory_cached(device: object = None) -> int:
    """0 bytes; an older name of :func:`max_memory_reserved`."""
    return 0


def memory_stats(device: object = None) -> dict[str, object]:
    """No statistics."""
    return {}


# ---- what concerns all devices, of which there are none ------------------------------------------
def empty_cache() -> None:
    """Does nothing; :func:`zero.empty_cache` returns the CPU's memory."""


def synchronize(device: object = None) -> None:
    """Does nothing: operations have ended when their calls return."""


def ipc_collect() -> None:
    """Does nothing."""


def manual_seed(seed: int) -> None:
    """Does nothing but check the seed; :func:`zero.manual_seed` seeds the CPU's generator."""
    from zero import Generator

    Generator().manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Does nothing but check the seed; :func:`zero.manual_seed` seeds the CPU's generator."""
    manual_seed(seed)


def seed() -> None:
    """Does nothing."""


def seed_all() -> None:
    """Does nothing."""


def set_rng_state_all(new_states: list[object]) -> None:
    """Takes the states of :func:`get_rng_state_all`: none.

    Raises:
        RuntimeError: there are states.
    """
    if list(new_states):
        no_device("cuda.set_rng_state_all")


def reset_peak_memory_stats(device: object = None) -> None:
    """Does nothing; :func:`zero.reset_peak_memory_stats` is for the CPU."""


def reset_accumulated_memory_stats(device: object = None) -> None:
    """Does nothing."""


def reset_max_memory_allocated(device: object = None) -> None:
    """Does nothing."""


def reset_max_memory_cached(device: object = None) -> None:
    """Does nothing."""


class device_of:
    """Context manager: the device of a tensor as the current one. Tensors are on no CUDA device.

    Args:
        obj: a tensor.
    """

    idx = -1

    def __init__(self, obj: object) -> None:
        self.obj = obj

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


__all__ += ["device_of"]
