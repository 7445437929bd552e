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
    """The work of one epoch: what threads make of it, by the key of its task."""

    def __init__(self, epoch: Epoch) -> None:
        self.epoch = epoch
        self.results: dict[Any, Any] = {}
        self.changed = threading.Condition()
        self.stopped = False

    def put(self, key: Any, result: Any) -> None:
        with self.changed:
            self.results[key] = result
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
        self.round: Round | None = None
        self.failure: Failure | None = None

    def run(self) -> None:
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
            if round is not self.round:
                self.enter(round)
            if not round.stopped:
                round.put(key, self.failure or self.answer(round, key, indices))
            del task, round, indices  # an idle thread keeps nothing alive

    def introduce(self, seed: int, random_seed: int) -> None:
        info = (self.number, self.count, seed, self.dataset, RNG(random_seed), "thread")
        enter(WorkerInfo(*info))

    def enter(self, round: Round) -> None:
        epoch = round.epoch
        self.seed = epoch.base_seed + self.number
        self.introduce(self.seed, self.seed)
        try:
            if self.round is None and self.init is not None:
                self.init(self.number)
            share = epoch.shares[self.number] if epoch.iterable else None
            self.fetcher = self.fetchers(self.dataset, share)
        except BaseException as error:
            self.failure = Failure(self.noted(error))
        self.round = round

    def answer(self, round: Round, key: Any, indices: Any) -> Any:
        try:
            if round.epoch.iterable:
                batch = self.fetcher.fetch()
                return (self.number, self.fetcher.snapshot()), batch
            self.introduce(self.seed, round.epoch.seed_of(key))
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
        self.in_order, self.timeout = loader.in_order, loader.timeout
        self.iterable, self.ahead = loader._is_iterable, max(loader.prefetch_factor or 0, 1)
        self.round: Round | None = None
        n = loader.num_workers
        # Of a map-style dataset whoever is free takes the next batch.
        shared: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.queues = [queue.SimpleQueue() if self.iterable else shared for _ in range(n)]
        for i in range(n):
            worker = Worker(i, loader, self.queues[i])
            threading.Thread(target=worker.run, name=f"DataLoader worker {i}").start()

    def begin(self, epoch: Epoch) -> None:
        self._drop_round()
        self.round = Round(epoch)
        self.keys: deque[Any] = deque()  # of batches on their way, in order
        n = len(self.queues)
        for _ in range(self.ahead):
            for i in range(n):
                self._ask((epoch.turn + i) % n)

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
        while self.keys:
            key = self._wait()
            assert self.round is not None
            result = self.round.results.pop(key)
            self.keys.remove(key)
            if result is END:
                continue
            self._ask(key[0] if self.iterable else 0)
            if isinstance(result, Failure):
                raise result.error
            return result  # type: ignore[no-any-return]
        raise StopIteration

    def _wait(self) -> Any:
        """The key of the batch that comes next, when it is there."""
        round = self.round
        if round is None:
            raise StopIteration

        def found() -> bool:
            return round.stopped or bool(
                self.keys[0] in round.results if self.in_order else round.results
            )

        with round.changed:
            if not round.changed.wait_for(found, self.timeout or None):
                raise Error(
                    f"DataLoader: no batch came from {len(self.queues)} threads within "
                    f"{self.timeout} s (timeout)"
                )
            if round.stopped:
                raise StopIteration
            return self.keys[0] if self.in_order else next(iter(round.results))

    def _drop_round(self) -> None:
        if self.round is not None:
            with self.round.changed:
                self.round.stopped = True
                self.round.changed.notify_all()
            self.round = None

    def close(self) -> None:
        self._drop_round()
        for tasks in self.queues:
            tasks.put(None)
        self.queues = []
