"""What a profiler found: events, their averages, tables and traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from zero import nn
from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "events_of"]

KINDS = ("operator", "backward", "module", "user")


class Interval:
    """A span of time in microseconds since the profile began."""

    __slots__ = ("end", "start")

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """Its length."""
        return self.end - self.start


class FunctionEvent:
    """One span of time: an operator, a node of a backward pass, a module, or a range of the user's.

    Times are in microseconds, memory in bytes. What runs inside of it is in its totals; its self
    values are without. Modules count as something inside of modules only: the self time of a range
    contains what Python does in the modules that it calls, that of a module its operators.

    Attributes:
        name: of the operator (``"linear"``), node (``"AddmmBackward0"``), class of the module, or
            range.
        kind: "operator", "backward", "module" or "user".
        id: its number.
        thread: number of its thread.
        time_range: an :class:`Interval`.
        module: path of the module it ran in, such as ``"GPT.blocks.0.attn"``; of a node, that of
            the operator it belongs to; "" outside of modules.
        cpu_parent: the event it lies in (a module for modules, none for others); None at the top.
        cpu_children: the events that lie in it.
        cpu_memory_usage: bytes it took from the allocator and did not give back; a tensor as such,
            also a view, is some 250 of them.
        copies: how often a tensor was made contiguous by a copy.
        copied_bytes: the size of these copies.
        input_shapes: sizes of the arguments that are tensors, [] for others, in their positions;
            None without ``record_shapes``.
        sequence_nr: of a node, its number; of an operator, that of the last node it made, -1
            without.
        forward: of a node, the operator that made it, if that was recorded.
    """

    def __init__(self, id: int, name: str, kind: str, thread: int, time_range: Interval) -> None:
        self.id = id
        self.name = name
        self.kind = kind
        self.thread = thread
        self.time_range = time_range
        self.module = ""
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_memory_usage = 0
        self.copies = 0
        self.copied_bytes = 0
        self.input_shapes: list[list[int]] | None = None
        self.sequence_nr = -1
        self.forward: FunctionEvent | None = None
        self.count = 1

    key = property(lambda self: self.name, doc="The name.")
    is_user_annotation = property(lambda self: self.kind == "user", doc="A range of the user's.")

    @property
    def cpu_time_total(self) -> float:
        """Microseconds from beginning to end."""
        return self.time_range.elapsed_us()

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds without those of what lies in it."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes without those of what lies in it."""
        return self.cpu_memory_usage - sum(c.cpu_memory_usage for c in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent name={self.name} kind={self.kind} thread={self.thread} "
            f"cpu_time={time_text(self.cpu_time_total)} module={self.module!r}>"
        )


class FunctionEventAvg:
    """Events of one name, added up; with the attributes of :class:`FunctionEvent`.

    Attributes:
        key: the name.
        count: how many events.
    """

    def __init__(self, key: str, kind: str) -> None:
        self.key = key
        self.kind = kind
        self.module: str | None = None  # unless grouped by it
        self.input_shapes: list[list[int]] | None = None
        self.count = 0
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = 0
        self.self_cpu_memory_usage = 0
        self.copies = 0
        self.copied_bytes = 0

    @property
    def cpu_time(self) -> float:
        """Microseconds of one event on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, event: FunctionEvent) -> FunctionEventAvg:
        """Adds an event; returns itself."""
        self.count += 1
        for name in (*_SUMS, "copies", "copied_bytes"):
            setattr(self, name, getattr(self, name) + getattr(event, name))
        return self

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} count={self.count} "
            f"self_cpu_time={time_text(self.self_cpu_time_total)} "
            f"cpu_time={time_text(self.cpu_time)}>"
        )


_SUMS = ("cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage")
_SORTABLE = (*_SUMS, "cpu_time", "count", "copies", "copied_bytes")


class EventList(list):  # type: ignore[type-arg]
    """A list of events, or of their averages, that can be shown as a table.

    Example:
        >>> import zero
        >>> with zero.profiler.profile() as prof:
        ...     x = zero.ones(2, 3).t().contiguous()
        >>> [(e.key, e.count, e.copies, e.copied_bytes) for e in prof.key_averages()]
        [('ones', 1, 0, 0), ('t', 1, 0, 0), ('contiguous', 1, 1, 24)]
    """

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events."""
        return float(sum(e.self_cpu_time_total for e in self if e.kind != "module"))

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        group_by_module: bool = False,
    ) -> EventList:
        """Adds up events of one name.

        Args:
            group_by_input_shapes: apart for each kind of input sizes.
            group_by_stack_n: must be 0: there are no stacks.
            group_by_overload_name: makes no difference: operators have no overloads.
            group_by_module: apart for each module; a module of its own is a row, too.
        """
        if group_by_stack_n:
            raise NotImplementedError(
                f"key_averages: stacks are not recorded; got group_by_stack_n={group_by_stack_n}, "
                "expected 0, or group_by_module=True"
            )
        found: dict[tuple[Any, ...], FunctionEventAvg] = {}
        for event in self:
            if event.kind == "module" and not group_by_module:
                continue
            shapes = event.input_shapes if group_by_input_shapes else None
            module = event.module if group_by_module else None
            key = event.name, event.kind, module, str(shapes)
            if key not in found:
                found[key] = FunctionEventAvg(event.name, event.kind)
                found[key].module, found[key].input_shapes = module, shapes
            found[key].add(event)
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events; of times only what counts for itself is meaningful."""
        total = FunctionEventAvg("Total", "user")
        for event in self:
            if event.kind != "module":
                total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as a table.

        Args:
            sort_by: a column, such as "self_cpu_time_total", "cpu_time_total", "cpu_time",
                "self_cpu_memory_usage", "count", "copies" or "copied_bytes"; the largest is first.
                None leaves the order of the first calls.
            row_limit: how many rows at most; -1 for all.
            max_src_column_width: of a column for sources, which there is none of.
            max_name_column_width: longer names end in "...".
            max_shapes_column_width: the same for input sizes.
            header: a line above the table.
            top_level_events_only: whether events inside of others are left out.
            time_unit: "s", "ms" or "us" for all times; by default each has one that suits it.

        Returns:
            The text. "Self" is without what runs inside, "CPU Mem" the bytes taken from the
            allocator and not given back, "Copies" how often a tensor was made contiguous by a copy.
        """
        from zero.utils.text_table import text_table

        if sort_by is not None and sort_by not in _SORTABLE:
            raise ValueError(
                f"table: no such column; got sort_by={sort_by!r}, expected one of "
                f"{', '.join(_SORTABLE)}"
            )
        rows = [e for e in self if not (top_level_events_only and getattr(e, "cpu_parent", None))]
        whole = sum(e.self_cpu_time_total for e in rows if e.kind != "module")
        if sort_by is not None:
            rows.sort(key=lambda e: getattr(e, sort_by), reverse=True)
        if row_limit >= 0:
            del rows[row_limit:]
        by_module = any(getattr(e, "module", None) for e in rows)
        by_shapes = any(e.input_shapes is not None for e in rows)

        def time(value: float) -> str:
            return time_text(value, time_unit)

        def part(value: float) -> str:
            return f"{100 * value / whole:.2f}%" if whole else "-"

        columns: list[tuple[str, Callable[[Any], str]]] = [
            ("Name", lambda e: _cut(e.key, max_name_column_width)),
            ("Module", lambda e: _cut(e.module or "", max_name_column_width)),
            ("Self CPU %", lambda e: part(e.self_cpu_time_total)),
            ("Self CPU", lambda e: time(e.self_cpu_time_total)),
            ("CPU total %", lambda e: part(e.cpu_time_total)),
            ("CPU total", lambda e: time(e.cpu_time_total)),
            ("CPU time avg", lambda e: time(e.cpu_time)),
            ("CPU Mem", lambda e: memory_text(e.cpu_memory_usage)),
            ("Self CPU Mem", lambda e: memory_text(e.self_cpu_memory_usage)),
            ("Copies", lambda e: str(e.copies)),
            ("Copied", lambda e: memory_text(e.copied_bytes)),
            ("# of Calls", lambda e: str(e.count)),
            ("Input Shapes", lambda e: _cut(str(e.input_shapes), max_shapes_column_width)),
        ]
        shown = {"Module": by_module, "Input Shapes": by_shapes}
        columns = [column for column in columns if shown.get(column[0], True)]
        names = [name for name, _ in columns]
        cells = [[text(row) for _, text in columns] for row in rows]
        table = text_table(names, cells, left=1 + by_module)
        return "\n".join(
            [*([header] if header else []), table, "", f"Self CPU time total: {time(whole)}"]
        )

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events for chrome://tracing or https://ui.perfetto.dev.

        Args:
            path: of the file to write; one that ends in .gz is compressed.
        """
        write_trace(path, self, {})


def _cut(text: str, width: int | None) -> str:
    return text if width is None or len(text) <= width else text[: max(width - 3, 0)] + "..."


def time_text(microseconds: float, unit: str | None = None) -> str:
    """Such as "1.234ms"."""
    scales = {"s": 1e6, "ms": 1e3, "us": 1.0}
    if unit is None:
        unit = next((u for u in ("s", "ms") if abs(microseconds) >= scales[u]), "us")
    elif unit not in scales:
        raise ValueError(f"table: no such time_unit; got {unit!r}, expected 's', 'ms' or 'us'")
    return f"{microseconds / scales[unit]:.3f}{unit}"


def memory_text(nbytes: float) -> str:
    """Such as "1.50 MB"; a KB is 1024 bytes."""
    for unit in ("B", "KB", "MB"):
        if abs(nbytes) < 1024:
            return f"{nbytes} B" if unit == "B" else f"{nbytes:.2f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.2f} GB"


# ---- from what was noted to events ---------------------------------------------------------------
class _Paths:
    """Paths of modules: below the outermost one that was called, whose class is the first name."""

    def __init__(self) -> None:
        self.roots: dict[int, dict[int, str]] = {}

    def of(self, calls: Sequence[nn.Module]) -> str:
        """The path of the last of the calls that lie in each other."""
        module = calls[-1]
        for root in calls:
            if id(root) not in self.roots:
                first = type(root).__name__
                self.roots[id(root)] = {
                    id(m): f"{first}.{path}" if path else first for path, m in root.named_modules()
                }
            path = self.roots[id(root)].get(id(module))
            if path is not None:
                return path
        return type(module).__name__


def events_of(noted: Iterable[tuple[Any, ...]], origin: int) -> EventList:
    """Events of what ``zero._profile_events`` returns.

    Args:
        noted: that.
        origin: the time of the clock at which the profile began, in nanoseconds.
    """
    events: list[FunctionEvent] = []
    parents: list[int] = []
    calls: dict[int, tuple[nn.Module, ...]] = {}  # by event: the modules it lies in
    makers: dict[tuple[int, int], FunctionEvent] = {}  # by thread and number: who made a node
    paths = _Paths()
    for i, (
        kind,
        what,
        parent,
        thread,
        start,
        end,
        nbytes,
        copies,
        copied,
        first,
        last,
        sizes,
    ) in enumerate(noted):
        inside = calls.get(parent, ())
        parents.append(parent)
        if KINDS[kind] == "module":
            inside = (*inside, what)
            what = type(what).__name__
        calls[i] = inside
        interval = Interval((start - origin) / 1e3, (end - origin) / 1e3)
        event = FunctionEvent(i, what, KINDS[kind], thread, interval)
        event.cpu_memory_usage, event.copies, event.copied_bytes = nbytes, copies, copied
        event.input_shapes = sizes
        event.module = paths.of(inside) if inside else ""
        # Modules lie in modules, and all others in what is no module.
        while parent >= 0 and (events[parent].kind == "module") != (event.kind == "module"):
            parent = parents[parent]
        if parent >= 0:
            event.cpu_parent = events[parent]
            events[parent].cpu_children.append(event)
        if event.kind == "operator" and last > first:
            event.sequence_nr = last
            makers.update(dict.fromkeys(((thread, n) for n in range(first + 1, last + 1)), event))
        elif event.kind == "backward":
            event.sequence_nr = first
            event.forward = makers.get((thread, first))
        events.append(event)
    anywhere = {number: maker for (_, number), maker in makers.items()}
    for event in events:
        if event.kind == "backward":
            event.forward = event.forward or anywhere.get(event.sequence_nr)
            event.module = event.forward.module if event.forward else event.module
    return EventList(events)


def write_trace(path: str, events: Iterable[FunctionEvent], metadata: dict[str, Any]) -> None:
    """A file of the Trace Event Format; compressed if its name ends in .gz."""
    import gzip
    import json

    trace = json.dumps({"traceEvents": list(trace_events(events)), **metadata}).encode()
    with open(path, "wb") as file:
        file.write(gzip.compress(trace) if path.endswith(".gz") else trace)


def trace_events(events: Iterable[FunctionEvent]) -> Iterable[dict[str, Any]]:
    """The events in the Trace Event Format."""
    from os import getpid

    process = getpid()
    categories = dict(zip(KINDS, ("cpu_op", "cpu_op", "module", "user_annotation"), strict=True))
    yield _named("process_name", process, 0, "zero")
    threads: set[int] = set()
    for event in events:
        if event.thread not in threads:
            threads.add(event.thread)
            yield _named("thread_name", process, event.thread, f"thread {event.thread}")
        place = {"pid": process, "tid": event.thread, "ts": event.time_range.start}
        details = {
            "Module": event.module,
            "CPU Mem": event.cpu_memory_usage,
            "Copies": event.copies,
            "Copied": event.copied_bytes,
            "Sequence number": event.sequence_nr,
            "Input Dims": event.input_shapes,
        }
        yield {
            "ph": "X",
            "cat": categories[event.kind],
            "name": event.name,
            **place,
            "dur": event.cpu_time_total,
            "args": {key: value for key, value in details.items() if value not in ("", None)},
        }
        if event.forward is not None:  # an arrow from the operator to its node
            flow = {"cat": "fwdbwd", "name": "fwdbwd", "id": event.id}
            made = event.forward
            began = {"pid": process, "tid": made.thread, "ts": made.time_range.start}
            yield from chain(
                [{"ph": "s", **flow, **began}], [{"ph": "f", "bp": "e", **flow, **place}]
            )


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}
