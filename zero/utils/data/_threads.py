"""Workers that are threads, for data whose reading releases the interpreter's lock."""

from __future__ import annotations

import copy
import queue
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from zero.errors import Error
from zero.utils.data._utils.worker import RNG, WorkerInfo, enter
from zero.utils.data.dataset import Dataset

if TYPE_CHECKING:
    from zero.utils.data._iterate import Epoch
    from zero.utils.data.dataloader import DataLoader

__all__ = ["ThreadSource"]

POLL_SECONDS = 0.2  # after so long an idle thread notices that the program ends
END = object()


class Failure:
    """What a worker raised."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Round:
    """The work of one epoch: what threads make of it, by the key of its task.

    Attributes:
        broken: why a worker could not begin.
        stopped: nobody waits for more.
    """

    def __init__(self, epoch: Epoch) -> None:
        self.epoch = epoch
        self.results: dict[Any, Any] = {}
        self.changed = threading.Condition()
        self.broken: BaseException | None = None
        self.stopped = False

    def put(self, key: Any, result: Any) -> None:
        with self.changed:
            self.results[key] = result
            self.changed.notify_all()

    def stop(self, broken: BaseException | None = None) -> None:
        with self.changed:
            self.stopped, self.broken = True, broken
            self.changed.notify_all()


class Worker:
    """The body of a thread: it answers tasks ``(round, key, indices)``; None ends it.

    Args:
        number: which worker it is.
        loader: whose.
        tasks: where it takes them from.
    """

    def __init__(self, number: int, loader: DataLoader[Any], tasks: queue.SimpleQueue[Any]) -> None:
        self.number, self.count, self.tasks = number, loader.num_workers, tasks
        self.fetchers, self.init = loader._fetchers, loader.worker_init_fn
        # Of its own, as in a process: worker_init_fn may change it.
        dataset = loader.dataset
        self.dataset = copy.copy(dataset) if isinstance(dataset, Dataset) else dataset
        self.epoch: Epoch | None = None

    def run(self, round: Round) -> None:
        self.begin(round)
        del round  # an idle thread keeps nothing alive
        while True:
            try:
                task = self.tasks.get(timeout=POLL_SECONDS)
            except queue.Empty:
                if threading.main_thread().is_alive():
                    continue
                return
            if task is None:
                return
            round, key, indices = task
            if round.epoch is not self.epoch:
                self.begin(round)
            if not round.stopped:
                round.put(key, self.answer(round.epoch, key, indices))
            del task, round, indices

    def begin(self, round: Round) -> None:
        epoch = round.epoch
        self.seed = epoch.base_seed + self.number
        self.introduce(self.seed)
        try:
            if self.epoch is None and self.init is not None:
                self.init(self.number)
            share = epoch.shares[self.number] if epoch.iterable else None
            self.fetcher = self.fetchers(self.dataset, share)
        except BaseException as error:
            round.stop(self.noted(error))
        self.epoch = epoch

    def introduce(self, random_seed: int) -> None:
        rng = RNG(random_seed)
        enter(WorkerInfo(self.number, self.count, self.seed, self.dataset, rng, "thread"))

    def answer(self, epoch: Epoch, key: Any, indices: Any) -> Any:
        try:
            if epoch.iterable:
                batch = self.fetcher.fetch()
                return (self.number, self.fetcher.snapshot()), batch
            self.introduce(epoch.seed_of(key))
            return key, self.fetcher.fetch(indices)
        except StopIteration:
            return END
        except BaseException as error:
            return Failure(self.noted(error))

    def noted(self, error: BaseException) -> BaseException:
        if hasattr(error, "add_note"):  # from Python 3.11 on
            error.add_note(f"It was raised in worker {self.number} of a DataLoader, a thread.")
        return error


class ThreadSource:
    """Batches made by threads; see ``zero.utils.data._iterate``."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.loader = copy.copy(loader)  # without its iterator, which is the owner of this
        self.iterable = loader._is_iterable
        self.round: Round | None = None
        self.queues: list[queue.SimpleQueue[Any]] = []

    def begin(self, epoch: Epoch) -> None:
        if self.round is not None:
            self.round.stop()
        self.round = Round(epoch)
        self.keys: deque[Any] = deque()  # of batches on their way, in order
        if not self.queues:
            self._start()
        n = len(self.queues)
        for _ in range(max(self.loader.prefetch_factor or 0, 1)):
            for i in range(n):
                self._ask((epoch.turn + i) % n)

    def _start(self) -> None:
        # Of a map-style dataset whoever is free takes the next batch.
        shared: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for i in range(self.loader.num_workers):
            self.queues.append(queue.SimpleQueue() if self.iterable else shared)
            worker = Worker(i, self.loader, self.queues[i])
            name = f"DataLoader worker {i}"
            threading.Thread(target=worker.run, args=(self.round,), name=name).start()

    def _ask(self, worker: int) -> None:
        """Asks for another batch; of an iterable dataset from this worker."""
        assert self.round is not None
        key: Any = (worker, object())
        indices = None
        if not self.iterable:
            key, indices = next(self.round.epoch.batches, (None, None))
            if key is None:
                return
        self.keys.append(key)
        self.queues[worker].put((self.round, key, indices))

    def next(self) -> tuple[Any, Any]:
        round = self.round
        while round is not None and self.keys:
            key = self._wait(round)
            result = round.results.pop(key)
            self.keys.remove(key)
            if result is END:
                continue
            self._ask(key[0] if self.iterable else 0)
            if isinstance(result, Failure):
                error = result.error
                del result  # the traceback has this frame: no circle, which would keep everything
                try:
                    raise error
                finally:
                    del error
            return result  # type: ignore[no-any-return]
        raise StopIteration

    def _wait(self, round: Round) -> Any:
        """The key of the batch that comes next, when it is there."""
        in_order, timeout = self.loader.in_order, self.loader.timeout

        def found() -> bool:
            return round.stopped or bool(
                self.keys[0] in round.results if in_order else round.results
            )

        with round.changed:
            if not round.changed.wait_for(found, timeout or None):
                raise Error(
                    f"DataLoader: no batch came from {len(self.queues)} threads within {timeout} s "
                    "(timeout)"
                )
            if not round.stopped:
                return self.keys[0] if in_order else next(iter(round.results))
        error, round.broken = round.broken, None
        self.close()
        try:
            raise error or StopIteration
        finally:
            del error

    def close(self) -> None:
        if self.round is not None:
            self.round.stop(self.round.broken)
            self.round = None
        for tasks in self.queues:
            tasks.put(None)
        self.queues = []
