"""Workers that are processes; see ``_iterate`` for what a source is, ``_arena`` for the memory in
which batches come, and ``_process`` for the other side.

Each worker has two pipes, one for tasks and one for answers, and nothing is shared but memory: no
queue or lock that a worker which is killed could leave in a state to wait for. Its end closes its
pipe, which the main program notices at once.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import select
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from zero.errors import Error
from zero.utils.data._arena import UNIT, Arena, Slot
from zero.utils.data._parcel import Parcel, Shelf
from zero.utils.data._process import END, FAILURE, SKIPPED, Worker, open_batch

if TYPE_CHECKING:
    from zero.utils.data._iterate import Epoch
    from zero.utils.data.dataloader import DataLoader

__all__ = ["ProcessSource"]

LONG = 1 << 14  # bytes of a task; longer ones go to the slot, as a pipe holds 64 KiB
MOST = 64  # tasks that a worker may have, so that their answers fit into a pipe
GRACE = 5.0  # seconds for a worker to finish the sample that it is reading
CAUSES = {
    "SIGKILL": "the system has run out of memory, or somebody has killed it (dmesg tells); fewer "
    "workers or smaller batches need less",
    "SIGBUS": "the memory for shared batches is full, or a file that it maps was cut off",
    "SIGSEGV": "a library that the dataset uses has crashed (PYTHONFAULTHANDLER=1 shows where)",
    "SIGABRT": "a library that the dataset uses has given up (its message stands above)",
    "SIGTERM": "somebody has ended it",
}


class Handle:
    """A worker, as the main program sees it."""

    def __init__(self, process: Any, tasks: Any, answers: Any, forked: bool) -> None:
        self.process, self.tasks, self.answers, self.forked = process, tasks, answers, forked
        self.pending: dict[int, tuple[int, Slot | None]] = {}  # by task: epoch and slot
        self.answered = False

    def cause(self) -> str:
        """Why it has ended."""
        self.process.join(1)
        code = self.process.exitcode
        if code is None:
            return "closed its pipe"
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            cause = f": probably {CAUSES[name]}" if name in CAUSES else ""
            return f"was killed by signal {-code} ({name}){cause}"
        hint = "its message, if any, stands above"
        if not self.answered and not self.forked:
            hint += (
                "; with the start methods spawn and forkserver, a program must be guarded by "
                "if __name__ == '__main__':"
            )
        return f"has exited with code {code} ({hint})"


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Within it this thread, and processes that it starts, get no SIGINT; it comes afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ProcessSource:
    """Batches made by worker processes."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.dataset, self.fetchers = loader.dataset, loader._fetchers
        self.count, self.init = loader.num_workers, loader.worker_init_fn
        self.ahead = min(max(loader.prefetch_factor or 0, 1), MOST)
        self.timeout, self.in_order = loader.timeout, loader.in_order
        self.iterable, self.pins = loader._is_iterable, loader.pin_memory
        self.context = loader.multiprocessing_context or multiprocessing.get_context()
        self.lock = threading.RLock()  # of next() and the end of it all
        self.sending = threading.RLock()  # of the pipes for tasks
        self.pid = os.getpid()
        self.round = 0
        self.number = 0  # of the next task
        self.closed = True
        self.warned = False
        self.handles: list[Handle] = []
        self.ready: dict[int, tuple[Any, ...]] = {}  # answers that came, by task
        self.order: deque[int] = deque()  # tasks whose batches are not delivered
        self.arena: Arena | None = None
        self.shelf: Shelf | None = None

    # ---- processes -------------------------------------------------------------------------------
    def _start(self) -> None:
        with uninterrupted():  # the import may lose a KeyboardInterrupt
            import numpy.random  # noqa: F401  # or each worker would do so, to seed it
        self.closed = False
        self.arena = None
        try:
            self.arena = Arena(self.count, self.ahead + 2, self.pins)
        except (OSError, MemoryError) as error:
            self._warn(str(error))
        self.can_poll = hasattr(select, "poll")
        if self.can_poll:
            self.poll = select.poll()
        self.ends: dict[int, Handle] = {}
        method = self.context.get_start_method()
        # Servers of multiprocessing start before signals are held back, as they let them through.
        if method == "spawn" and os.name == "posix":
            from multiprocessing import resource_tracker

            resource_tracker.ensure_running()
        if method == "forkserver":
            from multiprocessing import forkserver

            forkserver.ensure_running()
        self.shelf = None
        if method != "fork" and self.arena is not None:
            self.shelf = Shelf(self.arena)
        parcel = Parcel((self.dataset, self.fetchers, self.init), self.shelf)
        with uninterrupted():
            for i in range(self.count):
                self._start_worker(i, parcel, method == "fork")
        if self.shelf is not None:
            self.shelf.done()
            if self.shelf.full:
                self._warn_once("each worker has a copy of the dataset's arrays: no room to share")

    def _start_worker(self, number: int, parcel: Parcel, forks: bool) -> None:
        tasks, my_tasks = self.context.Pipe(duplex=False)
        my_answers, answers = self.context.Pipe(duplex=False)
        file = None if self.arena is None else self.arena.file
        worker = Worker(
            number,
            self.count,
            parcel,
            file,
            self.ahead + 2,
            tasks,
            answers,
        )
        mine = [pipe for handle in self.handles for pipe in (handle.tasks, handle.answers)]
        others = [*mine, my_tasks, my_answers] if forks else ()
        process = self.context.Process(
            target=worker, args=(others,), name=f"DataLoader worker {number}", daemon=True
        )
        process.start()
        tasks.close()
        answers.close()
        handle = Handle(process, my_tasks, my_answers, forks)
        self.handles.append(handle)
        self.ends[my_answers.fileno()] = handle
        if self.can_poll:
            self.poll.register(my_answers.fileno(), select.POLLIN)

    def close(self) -> None:
        if self.closed or os.getpid() != self.pid:
            return
        self.closed = True  # next() in another thread returns as the workers end
        if self.arena is not None:
            self.arena.round = -1
        with self.sending:
            for handle in self.handles:
                handle.tasks.close()
        processes = [handle.process for handle in self.handles]
        try:
            end = time.monotonic() + GRACE
            for process in processes:
                process.join(max(end - time.monotonic(), 0))
            for process in processes:
                if process.is_alive():
                    process.terminate()
            for process in processes:
                process.join(1)
        finally:  # also after another Ctrl-C
            for process in processes:
                process.kill()
                process.join()
            with self.lock:
                self._clean_up()

    def _clean_up(self) -> None:
        self._forget()
        for handle in self.handles:
            handle.answers.close()
            handle.process.close()
            for _, slot in handle.pending.values():
                if self.arena is not None and slot is not None:
                    self.arena.wipe(slot)
        self.handles.clear()
        if self.arena is not None:
            if self.shelf is not None:
                self.arena.wipe(self.shelf.slot)
                self.shelf = None
            self.arena.close()

    def __del__(self) -> None:
        if "closed" in self.__dict__:
            self.close()

    # ---- an epoch --------------------------------------------------------------------------------
    def begin(self, epoch: Epoch) -> None:
        try:
            if self.closed:
                self._start()
            self._forget()
            self.round += 1
            self.epoch = epoch
            self.order.clear()
            self.tickets: dict[int, Any] = {}
            self.left = [self.iterable] * self.count  # workers that have more of iterable data
            self.turn = epoch.turn
            if self.arena is not None:
                self.arena.round = self.round
            for i, handle in enumerate(self.handles):
                share = epoch.shares[i] if self.iterable else None
                self._send(handle, pickle.dumps((self.round, epoch.base_seed, share), 5))
            for _ in range(self.ahead * self.count):
                self._ask(self.turn)
        except BaseException:
            self.close()
            raise

    def _forget(self) -> None:
        """Drops what is left of an epoch."""
        for answer in self.ready.values():
            self._release(answer)
        self.ready.clear()

    def _release(self, answer: tuple[Any, ...]) -> None:
        slot = answer[-1]
        if self.arena is not None and slot is not None:
            self.arena.give_back(slot)

    def _ask(self, worker: int) -> None:
        """Asks this worker for another batch.

        All in turn, so that a worker has the same batches in each run, and draws the same numbers
        from a generator of its own; where the order is free, whoever has least to do.
        """
        seed, indices = 0, None
        if self.iterable:
            if not self.left[worker]:
                return
            ticket = None
        else:
            try:
                ticket, indices = next(self.epoch.batches)
            except StopIteration:
                return
            seed = self.epoch.seed_of(ticket)
            if not self.in_order:
                turns = [(worker + i) % self.count for i in range(self.count)]
                worker = min(turns, key=lambda i: len(self.handles[i].pending))
        self.turn = (worker + 1) % self.count
        handle, number = self.handles[worker], self.number
        packed: Any = pickle.dumps(indices, 5)
        slot, where = None, (0, True, False)
        if self.arena is not None:
            is_long = len(packed) > LONG
            slot = self.arena.take(worker, alone=is_long)
            where = slot.number, slot.memory is None, slot.uses > 1
            if is_long:
                packed = self._put(slot, packed)
        task = pickle.dumps((self.round, number, *where, seed, packed), 5)
        self.number += 1
        handle.pending[number] = self.round, slot
        self.tickets[number] = ticket
        self.order.append(number)
        self._send(handle, task)

    def _put(self, slot: Slot, data: bytes) -> int:
        assert self.arena is not None
        memory = slot.memory
        if memory is None or len(memory) < len(data):
            memory = self.arena.file.map(slot.number, -(-len(data) // UNIT) * UNIT)
        memory.view[: len(data)] = data
        return len(data)

    def _send(self, handle: Handle, task: bytes) -> None:
        try:
            with self.sending:
                if not self.closed:
                    handle.tasks.send_bytes(task)
        except OSError:  # the other end is closed
            self._died(handle)

    # ---- answers ---------------------------------------------------------------------------------
    def next(self) -> tuple[Any, Any]:
        with self.lock:
            try:
                return self._next()
            except (Exception, GeneratorExit):
                raise
            except BaseException:  # Ctrl-C: half of something may have been done
                self.close()
                raise

    def _next(self) -> tuple[Any, Any]:
        while self.order and not self.closed:
            number = self._wait()
            if number is None:
                break
            _, _, kind, used, buffers, content, worker, slot = self.ready.pop(number)
            self.order.remove(number)
            ticket = self.tickets.pop(number)
            memory = None
            if slot is not None:
                assert self.arena is not None
                if used:
                    memory = self.arena.show(slot, used)
                else:
                    self.arena.give_back(slot)
            if kind == END:
                self.left[worker] = False
                continue
            self._ask(worker if self.iterable else self.turn)
            batch = open_batch(memory, buffers, content)
            del memory
            if kind == FAILURE:
                raise batch.exception() from None
            if not used and self.arena is not None and len(content) > 1 << 16:
                self._warn("a batch found no room")
            share, batch = batch
            return (share if self.iterable else ticket), batch
        raise StopIteration

    def _wait(self) -> int | None:
        """The task whose batch comes next, when that is there; None after close()."""
        end = time.monotonic() + self.timeout if self.timeout else None
        while True:
            if self.in_order:
                if self.order[0] in self.ready:
                    return self.order[0]
            else:
                for number in self.ready:
                    return number
            left = None if end is None else max(end - time.monotonic(), 0)
            handles = self._readable(left)
            if not handles and left == 0:
                raise Error(
                    f"DataLoader: no batch came from {self.count} workers within {self.timeout} s "
                    "(timeout)"
                )
            for handle in handles:
                try:
                    answer = pickle.loads(handle.answers.recv_bytes())
                except (EOFError, OSError):
                    if self.closed:
                        return None
                    self._died(handle)
                self._take(handle, answer)

    def _readable(self, timeout: float | None) -> list[Handle]:
        if self.can_poll:
            found = self.poll.poll(None if timeout is None else timeout * 1000)
            return [self.ends[descriptor] for descriptor, _ in found]
        pipes = {handle.answers: handle for handle in self.handles}
        return [pipes[pipe] for pipe in connection.wait(list(pipes), timeout)]

    def _take(self, handle: Handle, answer: tuple[Any, ...]) -> None:
        handle.answered = True
        number = answer[1]
        _, slot = handle.pending.pop(number)
        known = (*answer, self.handles.index(handle), slot)
        if answer[0] == self.round and answer[2] != SKIPPED:
            self.ready[number] = known
        else:
            self._release(known)

    def _died(self, handle: Handle) -> None:
        number = self.handles.index(handle)
        text = f"DataLoader: worker {number} (pid {handle.process.pid}) {handle.cause()}"
        self.close()
        raise Error(text) from None

    def _warn(self, why: str) -> None:
        self._warn_once(f"batches go through pipes, which is slower than shared memory: {why}")

    def _warn_once(self, text: str) -> None:
        if not self.warned:
            self.warned = True
            warnings.warn(f"DataLoader: {text}", UserWarning, stacklevel=3)
