"""The profiler with a schedule of steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from enum import Enum

from zero.autograd.profiler import Recording, found, record_function, refuse
from zero.autograd.profiler_util import EventList, write_trace
from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(Enum):
    """What a profile may measure; zero has CPU only."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What a profile does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """What can be measured.

    Example:
        >>> import zero
        >>> zero.profiler.supported_activities()
        {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Which steps of a loop to measure: cycles of steps to wait, to warm up and to record.

    Args:
        wait: steps of a cycle that nothing is done in.
        warmup: steps after that whose events are thrown away.
        active: steps after that whose events are kept.
        repeat: how many cycles; 0 is until the end.
        skip_first: steps before the first cycle.
        skip_first_wait: another number than 0 leaves the waiting out in the first cycle.

    Returns:
        A function from the number of a step to a :class:`ProfilerAction`, for :class:`profile`.

    Raises:
        ValueError: a negative number, or active is 0.

    Example:
        >>> import zero
        >>> plan = zero.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
        >>> [plan(step).name for step in range(5)]
        ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise ValueError(
            f"schedule: a number of steps is too small; got wait={wait}, warmup={warmup}, "
            f"active={active}, repeat={repeat}, skip_first={skip_first}, expected active of at "
            "least 1, and at least 0 for the others"
        )
    if warmup == 0:
        warnings.warn(
            "schedule: without warmup the first steps may be slower than others", stacklevel=2
        )
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"schedule: a step is negative; got {step}")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait != 0:
            step += wait
        if repeat > 0 and step >= repeat * length:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        last = place == length - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """For ``on_trace_ready``: writes each trace to a file of its own in a folder.

    Args:
        dir_name: the folder, which is made if it is not there.
        worker_name: begins the file's name; by default the machine's name and the process.
        use_gzip: whether the files are compressed.
    """

    def handler(prof: profile) -> None:
        import os
        import socket
        import time

        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


class profile:
    """Context manager that measures operators: time, calls, memory, copies, modules.

    Operators are those that the program calls, and the nodes of backward passes. Functions that
    zero composes of operators are seen as these; properties such as ``x.T``, queries such as
    ``x.size()``, and ``+`` and its like on subclasses that a program makes of Tensor, not at all.
    One profile runs at a time; it sees all threads. It costs about 0.1 µs an operator while it
    runs, and nothing otherwise.

    Memory is what the calling thread took from the allocator and did not give back; copies are
    those that ``contiguous()`` and ``reshape()`` made, also inside of other operators. Both are
    always noted, and so are modules: an event's ``module`` is the path below the outermost module
    that was called, in backward that of the operator which made the node.

    Args:
        activities: of :class:`ProfilerActivity`; others than CPU are ignored with a warning.
        schedule: from the number of a step to a :class:`ProfilerAction`; see
            :func:`zero.profiler.schedule`. By default everything is recorded.
        on_trace_ready: gets the profile when the recorded steps of a cycle, or all, are over.
        record_shapes: whether the sizes of arguments are noted, too, of those given by position.
        profile_memory: makes no difference: memory is always noted.
        with_stack: must be False.
        with_flops: must be False; :func:`zero.utils.summary` counts them.
        with_modules: makes no difference: modules are always noted.
        experimental_config: must be None.
        execution_trace_observer: must be None.
        acc_events: whether the events of all cycles are kept, not only those of the last.
        use_cuda: must be False or None.
        custom_trace_id_callback: must be None.
        post_processing_timeout_s: must be None.

    Raises:
        NotImplementedError: an option that can't be used.

    Example:
        >>> import zero
        >>> from zero import nn
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        >>> with zero.profiler.profile() as prof:
        ...     model(zero.ones(2, 4)).sum().backward()
        >>> [e.name for e in prof.events() if e.module == "Sequential.0" and e.kind != "module"]
        ['linear', 'AddmmBackward0']
        >>> table = prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=5)
        >>> table.split()[:5]
        ['Name', 'Self', 'CPU', '%', 'Self']
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: object = None,
        execution_trace_observer: object = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: object = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        refuse(
            "profile",
            with_stack=with_stack,
            with_flops=with_flops,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer,
            use_cuda=use_cuda,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s,
        )
        self.activities = _checked(activities)
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self._schedule = schedule or _always
        self._has_steps = schedule is not None
        self._step: record_function | None = None
        self._recording = Recording(record_shapes)
        self._acc_events = acc_events
        self._past = EventList()
        self._metadata: dict[str, Any] = {}
        self.current_action = self._schedule(0)

    # ---- beginning, steps, end -------------------------------------------------------------------
    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begins with the first step."""
        if self.current_action is not ProfilerAction.NONE:
            self._recording.start()
        self._begin_step()

    def step(self) -> None:
        """Ends a step and begins the next."""
        self._end_step()
        self.step_num += 1
        before, self.current_action = self.current_action, self._schedule(self.step_num)
        self._end_of(before, self.current_action)
        if self.current_action is not ProfilerAction.NONE and Recording.running is None:
            self._recording.start()
        self._begin_step()

    def stop(self) -> None:
        """Ends with the last step."""
        self._end_step()
        self._end_of(self.current_action, None)

    def _begin_step(self) -> None:
        if self._has_steps:
            self._step = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.__exit__()
            self._step = None

    def _end_of(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        """What is done between two steps, or after the last."""
        recording = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if Recording.running is not self._recording:
            return
        if before is ProfilerAction.WARMUP and after is not ProfilerAction.WARMUP:
            self._recording.discard()
        elif before is ProfilerAction.RECORD_AND_SAVE or (
            before is ProfilerAction.RECORD and after not in recording
        ):
            self._recording.stop()
            if self._acc_events:
                self._past.extend(found(self._recording))
            if self.on_trace_ready is not None and not (
                before is ProfilerAction.RECORD and after is not None
            ):
                self.on_trace_ready(self)

    # ---- what was found --------------------------------------------------------------------------
    def events(self) -> EventList:
        """All events of the last cycle that has ended, in the order of their beginnings.

        Raises:
            RuntimeError: none has ended.
        """
        events = found(self._recording)
        return self._past if self._acc_events else events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        group_by_module: bool = False,
    ) -> EventList:
        """The events, those of one name added up.

        Args:
            group_by_input_shape: apart for each kind of input sizes; with ``record_shapes``.
            group_by_stack_n: must be 0.
            group_by_overload_name: makes no difference: operators have no overloads.
            group_by_module: apart for each module; a module of its own is a row, too.

        Returns:
            A list of :class:`zero.autograd.profiler_util.FunctionEventAvg` whose ``table()`` is the
            table.
        """
        return self.events().key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name, group_by_module
        )

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events for chrome://tracing or https://ui.perfetto.dev.

        Args:
            path: of the file to write; one that ends in .gz is compressed.
        """
        write_trace(path, self.events(), self._metadata)

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a text to the trace.

        Args:
            key: its name.
            value: the text.
        """
        self._metadata[key] = str(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Adds a value to the trace.

        Args:
            key: its name.
            value: the value as JSON.
        """
        import json

        self._metadata[key] = json.loads(value)


def _checked(activities: Iterable[ProfilerActivity] | None) -> set[ProfilerActivity]:
    given = {ProfilerActivity.CPU} if activities is None else set(activities)
    for activity in given:
        if not isinstance(activity, ProfilerActivity):
            raise TypeError(
                f"profile: activities holds no ProfilerActivity; got {activity!r}, expected "
                "ProfilerActivity.CPU"
            )
    if ProfilerActivity.CPU not in given:
        raise ValueError(
            "profile: there is nothing to measure; got activities="
            f"{sorted(a.name for a in given)}, expected ProfilerActivity.CPU"
        )
    for activity in given - {ProfilerActivity.CPU}:
        warnings.warn(f"profile: {activity.name} is ignored: there is no such device", stacklevel=4)
    return {ProfilerActivity.CPU}
