"""One pass over a DataLoader: what it needs, what makes its batches, and the iterator.

A *source* makes batches. There is one without workers here, one of threads in ``_threads``, and one
of processes in ``_workers``. All have the same methods:

``Source(loader)``
    Keeps what it needs of the loader, or ``copy.copy`` of it, but not the loader itself, which owns
    its persistent workers:
    ``dataset``, ``num_workers``, ``prefetch_factor`` (batches in advance for each worker),
    ``timeout``, ``worker_init_fn``, ``in_order``, ``multiprocessing_context``,
    ``persistent_workers``, and ``loader._fetchers``, a picklable object: ``_fetchers(dataset)``
    makes the fetcher of a worker, ``_fetchers(dataset, share)`` that of an iterable dataset.
``begin(epoch)``
    A new pass begins. With persistent workers it comes again for each epoch, also while the batches
    of an epoch that was left half way are still on their way.
``next()``
    (ticket, batch), or StopIteration. What a worker raised is raised here; the next call goes on
    with the batch after that.
``close()``
    Ends the workers; called when a pass is over (unless they persist), when the iterator is
    dropped, and again at will; with pinned memory also while another thread is in ``next``, which
    ends.

A map-style dataset: ``epoch.batches`` gives pairs of a number and indices, in order, and
``fetcher.fetch(indices)`` makes the batch of them, here or in a worker; its ticket is the number.
Indices are lists, or, where ``epoch.gathers``, also int64 tensors and ranges. Before it reads a
batch, a worker process seeds all generators by ``seed_all(epoch.seed_of(number))``, but those that
``worker_init_fn`` has changed: so random samples depend neither on the number of workers nor on
where a run was resumed.

An iterable dataset: each worker has a fetcher and calls ``fetcher.fetch()`` until StopIteration.
The batches come from the workers in turn, from ``epoch.turn`` on, those that have ended left out;
their ticket is (worker, ``fetcher.snapshot()`` behind that batch). Where a worker begins,
``epoch.shares[worker]`` says.

``epoch.base_seed`` is drawn anew for each epoch. Worker i begins with the seed ``base_seed + i``
(``get_worker_info().seed``) for all generators; then comes ``worker_init_fn(i)``.
"""

from __future__ import annotations

import os
import queue
import threading
import warnings
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from zero.errors import Error
from zero.utils.data._state import Replay
from zero.utils.data._utils.pin_memory import pin_memory
from zero.utils.data._utils.worker import mix
from zero.utils.data.sampler import batches_of, seed_of

if TYPE_CHECKING:
    from zero.utils.data.dataloader import DataLoader

__all__ = ["Epoch", "LoaderIterator", "SerialSource", "Share"]


class Share:
    """What one worker of an iterable dataset has delivered.

    Attributes:
        delivered: how many batches.
        state: what the fetcher's ``snapshot()`` is behind them, or that method itself.
    """

    def __init__(self, delivered: int = 0, state: Any = None) -> None:
        self.delivered, self.state = delivered, state


class Epoch:
    """What a pass needs to know, and how far it is; see the module.

    Args:
        loader: the loader.
        gathers: batches of indices may be tensors and ranges.
        state: where to go on, see ``DataLoader.state_dict``; None for the beginning.
    """

    def __init__(
        self, loader: DataLoader[Any], gathers: bool, state: dict[str, Any] | None = None
    ) -> None:
        self.gathers = gathers
        self.iterable = loader._is_iterable
        self.finished = False
        self.delivered = 0  # so many from the beginning on, and
        self.ahead: set[int] = set()  # these behind one that is not, as it failed or is late
        self.shares = [Share() for _ in range(max(loader.num_workers, 1))]
        self.turn = 0
        if state is not None:
            self.delivered, self.ahead = state["delivered"], set(state["ahead"])
            if self.iterable:
                self.shares = [Share(*share) for share in state["shares"]]
            self.turn = state["turn"]
        with Replay(loader, None if state is None else state["start"]) as replay:
            self.start = replay.start
            self.base_seed = seed_of(loader.generator)
            self.batches = self._numbered(loader, state is not None)

    def _numbered(self, loader: DataLoader[Any], again: bool) -> Iterator[tuple[int, Any]]:
        if self.iterable:
            return iter(())
        if loader.batch_sampler is not None:
            indices = batches_of(loader.batch_sampler, self.gathers)
        else:
            indices = iter(loader.sampler)
        numbered = enumerate(indices)
        if not again:
            return numbered
        # A sampler draws its order when the first batch is asked of it: within Replay.
        left = islice(numbered, self.delivered, None)
        first = list(islice(left, 1))
        had = set(self.ahead)
        return (pair for pair in chain(first, left) if pair[0] not in had)

    def seed_of(self, number: int) -> int:
        """The seed for random numbers in the batch of this number."""
        return mix(self.base_seed, number)

    def deliver(self, ticket: Any) -> None:
        """A batch has reached the training loop."""
        if self.iterable:
            worker, state = ticket
            share = self.shares[worker]
            share.delivered += 1
            share.state = state
            self.turn = (worker + 1) % len(self.shares)
            self.delivered += 1
        elif ticket == self.delivered:
            self.delivered += 1
            while self.delivered in self.ahead:
                self.ahead.remove(self.delivered)
                self.delivered += 1
        else:
            self.ahead.add(ticket)

    def state_dict(self) -> dict[str, Any]:
        shares = []
        for share in self.shares if self.iterable else ():
            state = share.state() if callable(share.state) else share.state
            shares.append([share.delivered, state])
        return {
            "start": self.start,
            "delivered": self.delivered,
            "ahead": sorted(self.ahead),
            "shares": shares,
            "turn": self.turn,
        }


class SerialSource:
    """Batches that the calling thread makes when they are asked for."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.dataset, self.fetchers = loader.dataset, loader._fetchers

    def begin(self, epoch: Epoch) -> None:
        self.batches, self.iterable = epoch.batches, epoch.iterable
        self.fetcher = self.fetchers(self.dataset, epoch.shares[0])

    def next(self) -> tuple[Any, Any]:
        if self.iterable:
            return (0, self.fetcher.snapshot), self.fetcher.fetch()
        number, indices = next(self.batches)
        return number, self.fetcher.fetch(indices)

    def close(self) -> None:
        pass


class PinnedSource:
    """Batches of another source, which a thread takes from it and copies to pinned memory.

    Args:
        source: the other one.
        ahead: how many batches may wait.
    """

    def __init__(self, source: Any, ahead: int = 2) -> None:
        self.source, self.ahead = source, ahead
        self.stop: threading.Event | None = None

    def begin(self, epoch: Epoch) -> None:
        self._end()
        self.source.begin(epoch)
        self.ready: queue.Queue[Any] = queue.Queue(self.ahead)
        self.stop = threading.Event()
        arguments = (self.source, self.ready, self.stop)
        self.thread = threading.Thread(target=self._run, args=arguments, daemon=True)
        self.thread.start()

    @staticmethod
    def _run(source: Any, ready: queue.Queue[Any], stop: threading.Event) -> None:
        while not stop.is_set():
            found: Any
            try:
                ticket, batch = source.next()
                found = ticket, pin_memory(batch), None
            except BaseException as error:
                found = None, None, error
            while not stop.is_set():
                try:
                    ready.put(found, timeout=0.1)
                    break
                except queue.Full:
                    pass
            if isinstance(found[2], StopIteration):
                return
            del found

    def next(self) -> tuple[Any, Any]:
        ticket, batch, error = self.ready.get()
        if error is not None:
            try:
                raise error
            finally:
                del error  # the traceback has this frame
        return ticket, batch

    def _end(self) -> None:
        if self.stop is not None:
            self.stop.set()
            if self.thread is not threading.current_thread():  # where the collector may run
                self.thread.join()
            self.stop = None

    def close(self) -> None:
        if self.stop is not None:
            self.stop.set()
        self.source.close()
        self._end()


class LoaderIterator:
    """The batches of one epoch of a DataLoader; with persistent workers, of one after another."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._source: Any = loader._make_source()
        self._pins = loader.pin_memory
        if self._pins and loader.num_workers:
            self._source, self._pins = PinnedSource(self._source), False
        self._persistent = loader.persistent_workers
        self._num_workers = loader.num_workers
        self._pid = os.getpid()
        self._dataset = loader.dataset
        self._index_sampler = loader._index_sampler
        self._reset(loader)

    def _reset(self, loader: DataLoader[Any]) -> None:
        self._epoch = loader._begin_epoch()
        self._length = loader._promised_length
        self._source.begin(self._epoch)

    def _is_mine(self) -> bool:
        """Whether this is the process that has the workers, and no fork of it."""
        return self._pid == os.getpid()

    def __len__(self) -> int:
        """The number of batches of an epoch, of a map-style dataset."""
        return len(self._index_sampler)

    def __iter__(self) -> LoaderIterator:
        return self

    def __next__(self) -> Any:
        epoch = self._epoch
        if epoch.finished:
            raise StopIteration
        if self._num_workers and not self._is_mine():
            raise Error(
                "DataLoader: an iterator with workers belongs to the process that made it; got one "
                f"of process {self._pid} in its fork {os.getpid()}, expected iter(loader) here"
            )
        try:
            ticket, batch = self._source.next()
        except StopIteration:
            epoch.finished = True
            if not self._persistent:
                self._source.close()
            raise
        if self._pins:
            batch = pin_memory(batch)
        epoch.deliver(ticket)
        if self._length is not None and epoch.delivered > self._length[1]:
            self._warn_of_length()
        return batch

    def _warn_of_length(self) -> None:
        assert self._length is not None
        samples, batches = self._length
        self._length = None
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {samples} (when len() "
            f"of the DataLoader was asked for), which is {batches} batches, but one more was read"
        )
        if self._num_workers > 1:
            text += ": maybe every worker reads all data (see zero.utils.data.get_worker_info)"
        warnings.warn(text, stacklevel=3)

    def __del__(self) -> None:
        source = self.__dict__.get("_source")
        if source is not None:
            source.close()

    def __getstate__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: an iterator cannot be pickled")
