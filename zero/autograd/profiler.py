"""The profiler: what each operator took, forward and backward, and in which module it ran."""

from __future__ import annotations

import functools
from collections.abc import Callable

from zero import (
    _later,
    _profile_begin,
    _profile_end,
    _profile_events,
    _profile_start,
    _profile_stop,
)
from zero.autograd.profiler_util import (
    EventList as EventList,
    FunctionEvent as FunctionEvent,
    FunctionEventAvg,
    events_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self
else:
    __getattr__ = _later.missing(__name__)

__all__ = ["EventList", "FunctionEvent", "profile", "record_function"]


class record_function:
    """Context manager and decorator: a range of the program with a name of its own in the profile.

    It costs next to nothing while no profile runs.

    Args:
        name: of the range.
        args: a text that is added to the name in parentheses.

    Example:
        >>> import zero
        >>> with zero.profiler.profile() as prof:
        ...     with zero.profiler.record_function("prepare"):
        ...         x = zero.ones(2) * 2
        >>> [event.key for event in prof.key_averages()]
        ['prepare', 'ones', 'mul']
    """

    __slots__ = ("args", "name", "span")

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self.span = -1

    def __enter__(self) -> Self:
        self.span = _profile_begin(self.name if self.args is None else f"{self.name}({self.args})")
        return self

    def __exit__(self, *exception: object) -> None:
        _profile_end(self.span)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return call


class Recording:
    """One profile at a time, for all threads."""

    running: Recording | None = None

    def __init__(self, record_shapes: bool) -> None:
        self.record_shapes = record_shapes
        self.events: EventList | None = None

    def start(self) -> None:
        """Begins; forgets what was found before."""
        from time import monotonic_ns

        if Recording.running is not None:
            raise RuntimeError(
                "profile: another profile is running; got a second one, expected the end of the "
                "first"
            )
        Recording.running = self
        self.events = None
        self.origin = monotonic_ns()
        _profile_start(self.record_shapes)

    def stop(self) -> None:
        """Ends, and makes the events."""
        _profile_stop()
        Recording.running = None
        self.events = events_of(_profile_events(), self.origin)

    def discard(self) -> None:
        """Ends, and forgets."""
        _profile_stop()
        Recording.running = None
        _profile_events()


class profile:
    """Context manager that measures the operators in it; :class:`zero.profiler.profile` has more.

    Args:
        enabled: False measures nothing.
        use_cuda: must be False.
        use_device: 'cpu' or None.
        record_shapes: whether the sizes of arguments are noted, of those given by position.
        with_flops: must be False; :func:`zero.utils.summary` counts them.
        profile_memory: makes no difference: memory is always noted.
        with_stack: must be False.
        with_modules: makes no difference: modules are always noted.
        use_kineto: must be False.
        use_cpu: must be True.
        experimental_config: must be None.
        acc_events: makes no difference: each profile has its own events.
        custom_trace_id_callback: must be None.

    Example:
        >>> import zero
        >>> with zero.autograd.profiler.profile() as prof:
        ...     x = zero.ones(2) * 2
        >>> [event.name for event in prof.function_events]
        ['ones', 'mul']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: object = None,
        acc_events: bool = False,
        custom_trace_id_callback: object = None,
    ) -> None:
        refuse(
            "profile",
            use_cuda=use_cuda,
            use_device=use_device if use_device != "cpu" else None,
            with_flops=with_flops,
            with_stack=with_stack,
            use_kineto=use_kineto,
            use_cpu=not use_cpu,
            experimental_config=experimental_config,
            custom_trace_id_callback=custom_trace_id_callback,
        )
        self.enabled = enabled
        self._recording = Recording(record_shapes)

    def __enter__(self) -> Self:
        if self.enabled:
            self._recording.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.enabled:
            self._recording.stop()

    @property
    def function_events(self) -> EventList:
        """All events, in the order of their beginnings."""
        return found(self._recording)

    def __str__(self) -> str:
        return str(self.function_events)

    @functools.wraps(EventList.table)
    def table(self, *args: Any, **kwargs: Any) -> str:
        return self.function_events.table(*args, **kwargs)

    @functools.wraps(EventList.key_averages)
    def key_averages(self, *args: Any, **kwargs: Any) -> EventList:
        return self.function_events.key_averages(*args, **kwargs)

    @functools.wraps(EventList.export_chrome_trace)
    def export_chrome_trace(self, path: str) -> None:
        self.function_events.export_chrome_trace(path)

    @functools.wraps(EventList.total_average)
    def total_average(self) -> FunctionEventAvg:
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events."""
        return self.function_events.self_cpu_time_total


def found(recording: Recording) -> EventList:
    """The events of a profile that has ended."""
    if recording.events is None:
        raise RuntimeError(
            "profile: there are no events; got a profile that has not ended, expected one whose "
            "`with` block, or start() and stop(), are over"
        )
    return recording.events


_REASONS = {
    "use_cuda": "there is no such device",
    "use_device": "there is no such device",
    "use_kineto": "zero has a profiler of its own",
    "use_cpu": "there is no other device",
    "with_flops": "operations are not counted here; zero.utils.summary counts those of a model",
    "with_stack": "stacks are not recorded; events say in which module they ran",
}


def refuse(op: str, **options: object) -> None:
    """Raises for the first option that is neither None nor False."""
    for name, value in options.items():
        if value is not None and value is not False:
            reason = _REASONS.get(name, "it is not supported")
            raise NotImplementedError(f"{op}: {name} can't be used: {reason}; got {value!r}")
