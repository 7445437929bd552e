"""What a worker process of a DataLoader does, and the messages between it and the main program.

A task is ``(round, number, slot, fresh, more, seed, indices)``, the indices as a pickle or the size
of one in the slot, an answer ``(round, number, kind, used, buffers, content)``: the batch as a
pickle whose tensors and NumPy arrays lie in the first `used` bytes of the slot. Answers are short,
so that they always fit into the pipe, and a worker never waits for the main program while that
waits for the worker to take a task.
"""

from __future__ import annotations

import gc
import io
import os
import pickle
import random
import select
import signal
import sys
import threading
import traceback
from typing import Any

import zero
from zero import Tensor
from zero.utils.data._arena import File, NoRoom, Slots
from zero.utils.data._parcel import Parcel
from zero.utils.data._utils import collate
from zero.utils.data._utils.worker import WorkerInfo, enter, seed_all

__all__ = ["BATCH", "END", "FAILURE", "SKIPPED", "Failure", "Worker", "open_batch"]

BATCH, END, FAILURE, SKIPPED = range(4)
SHORT = 512  # bytes of an answer; longer contents go to the slot
PATIENCE = 2000  # ms between looks at whether the main program lives


# ---- batches in slots ----------------------------------------------------------------------------
class Buffers:
    """Puts the memory of NumPy arrays into the slot, and remembers where."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.places: list[tuple[int, int]] = []

    def put(self, buffer: pickle.PickleBuffer) -> bool:
        """Takes an array; True leaves it in the pickle."""
        with buffer.raw() as raw:
            if raw.nbytes < 64:
                return True
            begin = self.slots.place(raw.nbytes)
            assert self.slots.memory is not None
            self.slots.memory.view[begin : begin + raw.nbytes] = raw
            self.places.append((begin, raw.nbytes))
        return False


class Packer(pickle.Pickler):
    """Writes a batch down, less its tensors and arrays, which are in the slot or go there.

    It doesn't know itself, by a method for example: then the batch would not end with it.

    Args:
        file: where the pickle goes.
        slots: where the rest goes; None for the pickle too.
        buffers: for arrays.
    """

    def __init__(self, file: Any, slots: Slots | None, buffers: Buffers | None) -> None:
        self.slots = slots
        super().__init__(file, 5, buffer_callback=None if buffers is None else buffers.put)

    def reducer_override(self, x: Any) -> Any:
        if not isinstance(x, Tensor):
            return NotImplemented
        if x.requires_grad and not x.is_leaf:
            raise RuntimeError(
                "DataLoader: a tensor in a batch has a graph, which cannot leave a worker; got one "
                "that requires grad and is no leaf, expected x.detach()"
            )
        if x.is_meta or self.slots is None:
            return NotImplemented
        values = x.detach()
        begin = self.slots.begin_of(values)
        if begin is None:
            stride = zero.empty_like(values, device="meta").stride()
            place = self.slots.place(values.numel() * values.element_size())
            assert self.slots.memory is not None
            packed = self.slots.memory.tensor(values.dtype, values.shape, stride, begin=place)
            packed.copy_(values)
            values, begin = packed, place
        size, stride = tuple(values.shape), values.stride()
        if values.is_contiguous():
            elements, stride = values.numel(), None
        else:
            elements = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        where = (begin, elements * values.element_size(), values.dtype, size, stride)
        plain = type(x) is Tensor and not x.requires_grad and not x.__dict__
        return _tensor, where if plain else (
            *where, (type(x), x.requires_grad, dict(x.__dict__) or None)
        )  # fmt: skip


def pack(batch: Any, slots: Slots | None) -> tuple[int, list[tuple[int, int]], Any]:
    """(bytes of the slot, arrays in it, the pickle, or where it is in the slot)."""
    file = io.BytesIO()
    buffers = None if slots is None else Buffers(slots)
    Packer(file, slots, buffers).dump(batch)
    content: Any = file.getvalue()
    if slots is None or buffers is None:
        return 0, [], content
    if len(content) > SHORT:
        begin = slots.place(len(content))
        assert slots.memory is not None
        slots.memory.view[begin : begin + len(content)] = content
        content = begin, len(content)
    return slots.used if slots.used > slots.first else 0, buffers.places, content


_opening = threading.local()


def _tensor(
    begin: int,
    nbytes: int,
    dtype: zero.dtype,
    size: tuple[int, ...],
    stride: tuple[int, ...] | None,
    more: tuple[Any, ...] | None = None,
) -> Tensor:
    memory: zero._Memory = _opening.memory
    x = memory.tensor(dtype, size, stride, begin=begin, nbytes=nbytes)
    return x if more is None else zero._dressed(x, *more)


def open_batch(memory: zero._Memory | None, buffers: list[tuple[int, int]], content: Any) -> Any:
    """The batch that a worker has packed."""
    if memory is None:
        return pickle.loads(content)
    view = memory.view
    if not isinstance(content, bytes):
        content = view[content[0] : content[0] + content[1]]
    _opening.memory = memory
    try:
        return pickle.loads(content, buffers=[view[b : b + n] for b, n in buffers])
    finally:
        _opening.memory = None


# ---- failures ------------------------------------------------------------------------------------
class Text(str):
    """A message that shows as it is also in a KeyError."""

    def __repr__(self) -> str:
        return str(self)


class Failure:
    """What a worker raised.

    Args:
        error: the exception.
        worker: the worker's number.
    """

    def __init__(self, error: BaseException, worker: int) -> None:
        kind = type(error)
        trace = "".join(traceback.format_exception(kind, error, error.__traceback__))
        name = kind.__qualname__
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        self.text = (
            f"{text}\n\n{name} was raised in worker {worker} of a DataLoader (DataLoader worker "
            f"process {worker}), where it came from:\n{trace}"
        )
        self.kind = kind if _travels(kind) else None
        attributes = dict(vars(error)) if hasattr(error, "__dict__") else {}
        if isinstance(error, OSError):
            attributes["errno"] = error.errno
        self.attributes = attributes if _travels(attributes) else {}

    def exception(self) -> BaseException:
        """The same exception for the main program."""
        text = Text(self.text)
        kind = self.kind
        if kind is None or not issubclass(kind, Exception):
            return RuntimeError(text)
        if issubclass(kind, (StopIteration, StopAsyncIteration)):
            return RuntimeError(text)
        for make in (kind, lambda text: kind.__new__(kind, text)):
            try:
                error: Exception = make(text)
                for name, value in self.attributes.items():
                    setattr(error, name, value)
                if self.text in str(error):
                    return error
            except Exception:  # a constructor may do anything
                continue
        return RuntimeError(text)


def _travels(x: Any) -> bool:
    try:
        pickle.loads(pickle.dumps(x))
    except Exception:  # pickling runs anybody's code
        return False
    return True


# ---- the process ---------------------------------------------------------------------------------
def random_states() -> dict[str, Any]:
    states: dict[str, Any] = {
        "zero": tuple(zero.get_rng_state().tolist()),
        "random": random.getstate(),
    }
    if "numpy" in sys.modules:
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        states["numpy"] = name, keys.tobytes(), *rest
    return states


class Worker:
    """The main loop of a worker process.

    Args:
        number: which worker it is.
        count: how many there are.
        parcel: its copy of the dataset, what makes what reads batches, and ``worker_init_fn``.
        file: where batches go; None for the pipe.
        keep: how many slots to keep mapped.
        tasks: the pipe that they come from.
        answers: the pipe that answers go to.
    """

    def __init__(
        self,
        number: int,
        count: int,
        parcel: Parcel,
        file: File | None,
        keep: int,
        tasks: Any,
        answers: Any,
    ) -> None:
        self.number, self.count, self.parcel = number, count, parcel
        self.file, self.keep = file, keep
        self.tasks, self.answers = tasks, answers
        self.parent = os.getpid()

    def __call__(self, others: Any = ()) -> None:
        """Works until the main program closes the pipe.

        Args:
            others: pipes of the main program's that a fork has copied, and that must end with it.
        """
        gc.freeze()  # looking for garbage would write to, and so copy, what the fork shares
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main program decides what ends
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # and its own handler is not for workers
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        for pipe in others:
            pipe.close()
        zero.set_num_threads(1)
        self.dataset, self.fetchers, self.init = self.parcel.content
        self.parent = os.getppid()
        self.started = False
        self.own: frozenset[str] = frozenset()  # generators that worker_init_fn has seeded
        self.failure: Failure | None = None
        self.slots = None if self.file is None else Slots(self.file, self.keep)
        in_place = self.slots is not None and os.name == "posix"
        collate.allocate = self.slots.allocate if in_place and self.slots is not None else None
        self.can_wait = hasattr(select, "poll")
        if self.can_wait:
            self.poll = select.poll()
            self.poll.register(self.tasks.fileno(), select.POLLIN)
        try:
            self.run()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            pass
        finally:
            collate.allocate = None

    def run(self) -> None:
        while True:
            while self.can_wait and not self.poll.poll(PATIENCE):
                if os.getppid() != self.parent or (
                    self.slots is not None and self.slots.round[0] < 0
                ):
                    return
            task = pickle.loads(self.tasks.recv_bytes())
            if task is None:
                return
            if len(task) == 3:
                self.enter(*task)
            else:
                self.answers.send_bytes(pickle.dumps(self.answer(*task), 5))

    def enter(self, round: int, base_seed: int, share: Any) -> None:
        """A new epoch."""
        seed = base_seed + self.number
        seed_all(seed, but=self.own)
        enter(WorkerInfo(self.number, self.count, seed, self.dataset))
        self.iterable = share is not None
        try:
            if not self.started and self.init is not None:
                before = random_states()
                self.init(self.number)
                after = random_states()
                self.own = frozenset(n for n in after if n in before and after[n] != before[n])
            self.fetcher = self.fetchers(self.dataset, share)
        except Exception as error:
            self.failure = Failure(error, self.number)
        self.started = True

    def answer(
        self,
        round: int,
        number: int,
        slot: int,
        fresh: bool,
        more: bool,
        seed: int,
        indices: Any,
    ) -> tuple[Any, ...]:
        slots = self.slots
        if slots is not None:
            if slots.round[0] != round:
                return round, number, SKIPPED, 0, [], b""
            slots.begin(slot, fresh, more)
            if isinstance(indices, int):  # so many bytes in the slot
                assert slots.memory is not None
                indices = bytes(slots.memory.view[:indices])
        kind: int = FAILURE
        content: Any = self.failure
        if content is None:
            try:
                kind, content = BATCH, self.fetch(seed, pickle.loads(indices))
            except StopIteration:
                kind, content = END, None
            except SystemExit:
                raise
            except BaseException as error:
                kind, content = FAILURE, Failure(error, self.number)
        try:
            packed = pack(content, slots)
        except NoRoom:
            packed = pack(content, None)
        except Exception as error:
            kind = FAILURE
            packed = pack(Failure(error, self.number), None)
        del content
        if slots is not None:
            slots.end()
        return round, number, kind, *packed

    def fetch(self, seed: int, indices: Any) -> Any:
        if self.iterable:
            batch = self.fetcher.fetch()
            return (self.number, self.fetcher.snapshot()), batch
        seed_all(seed, but=self.own)
        return None, self.fetcher.fetch(indices)
