"""DataLoader: batches of a dataset's samples, in an order, made here or by workers.

How a pass over it works, and what a kind of workers has to do, is in ``zero.utils.data._iterate``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from zero import Generator
from zero.errors import DTypeError, ValueError
from zero.utils.data._iterate import Epoch, LoaderIterator, SerialSource, Share
from zero.utils.data._state import own_generators
from zero.utils.data._utils.collate import default_collate, default_convert
from zero.utils.data._utils.fetch import IterableFetcher, MapFetcher
from zero.utils.data._utils.worker import get_worker_info
from zero.utils.data.dataset import Dataset, IterableDataset
from zero.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    flag,
    positive,
)

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T = TypeVar("T", covariant=True)

_BaseDataLoaderIter = LoaderIterator
VERSION = 1  # of state_dict
FIXED = {"batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"}


class _DatasetKind:
    Map = 0
    Iterable = 1


class _InfiniteConstantSampler(Sampler[None]):
    """None for ever: the sampler of an iterable dataset, which has no indices."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class Fetchers:
    """Makes what reads batches, for every worker one: ``fetchers(dataset, share)``."""

    def __init__(
        self,
        iterable: bool,
        auto_collation: bool,
        batch_size: int | None,
        collate_fn: Callable[[Any], Any],
        drop_last: bool,
    ) -> None:
        self.iterable, self.auto_collation = iterable, auto_collation
        self.batch_size, self.collate_fn, self.drop_last = batch_size, collate_fn, drop_last

    def __call__(self, dataset: Any, share: Share | None = None) -> Any:
        if not self.iterable:
            return MapFetcher(dataset, self.auto_collation, self.collate_fn)
        skip, state = (share.delivered, share.state) if share else (0, None)
        return IterableFetcher(
            dataset, self.batch_size, self.collate_fn, self.drop_last, skip, state
        )


class DataLoader(Generic[T]):
    """Batches of a dataset: ``for batch in DataLoader(dataset, batch_size=64, shuffle=True)``.

    The order comes from a sampler, a batch from `collate_fn`. Batches are made where they are asked
    for, or in advance by workers, which are processes (or threads). Neither the order nor the
    content of the batches depends on the number of workers, with one exception: where a dataset
    draws random numbers, it draws them from the program's own generators if `num_workers` is 0, as
    in PyTorch, and from generators that are seeded for each batch with 1 worker or more, so that
    any number of them gives the same samples, but others than none.

    With the default `collate_fn`, batches of a :class:`TensorDataset`, and of any dataset with
    ``__getbatch__``, are gathered without reading single samples.

    Args:
        dataset: has samples by index (:class:`Dataset`, or anything with ``__getitem__`` and
            ``__len__``), or gives one after another (:class:`IterableDataset`).
        batch_size: how many samples make a batch; None gives single samples.
        shuffle: in a new random order each time.
        sampler: the order: an iterable of indices; excludes `shuffle`.
        batch_sampler: the batches: an iterable of lists of indices; excludes `batch_size`,
            `shuffle`, `sampler` and `drop_last`.
        num_workers: how many workers make batches in advance; 0 for none.
        collate_fn: makes a batch of a list of samples; None for :func:`default_collate`, or
            :func:`default_convert` where batch_size is None.
        pin_memory: batches come in pinned memory, see ``Tensor.pin_memory``.
        drop_last: leave out a last batch that is smaller.
        timeout: for how many seconds to wait for a batch of workers; 0 for ever.
        worker_init_fn: called in each worker at its beginning, with its number.
        multiprocessing_context: how worker processes start: ``"fork"``, ``"spawn"``,
            ``"forkserver"``, or a context of multiprocessing; None for the system's way.
        generator: where the random order and the workers' seeds come from; None for the default.
        prefetch_factor: how many batches each worker makes in advance; None for 2.
        persistent_workers: keep the workers from one epoch to the next.
        pin_memory_device: accepted as in PyTorch; there is one kind of pinned memory.
        in_order: False gives batches as soon as they are ready, in any order.
        worker_type: ``"process"``, or ``"thread"`` (zero's own): threads share the dataset without
            a copy and are there at once, but run Python code one at a time. Good for data whose
            reading releases the interpreter's lock: files, images, NumPy on large arrays.

    Raises:
        ValueError: options that exclude each other, or are out of range.
        DTypeError: options of wrong types.

    Example:
        >>> import zero
        >>> from zero.utils.data import DataLoader, TensorDataset
        >>> data = TensorDataset(zero.arange(10).view(5, 2), zero.arange(5))
        >>> for x, y in DataLoader(data, batch_size=2):
        ...     print(x.shape, y)
        zero.Size([2, 2]) tensor([0, 1])
        zero.Size([2, 2]) tensor([2, 3])
        zero.Size([1, 2]) tensor([4])
    """

    dataset: Any
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Any
    batch_sampler: Any
    pin_memory_device: str
    prefetch_factor: int | None
    _iterator: Any
    __initialized = False

    def __init__(
        self,
        dataset: Dataset[T] | Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        worker_type: str = "process",
    ) -> None:
        self._check_workers(num_workers, timeout, prefetch_factor, persistent_workers, worker_type)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.worker_type = worker_type
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        for name, function in (("collate_fn", collate_fn), ("worker_init_fn", worker_init_fn)):
            if function is not None and not callable(function):
                raise DTypeError(
                    f"DataLoader: {name} should be a function; got {function!r} of type "
                    f"{type(function).__name__}, expected a callable"
                )
        if generator is not None and not isinstance(generator, Generator):
            raise DTypeError(
                f"DataLoader: generator should be a zero.Generator; got {type(generator).__name__}"
            )

        iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if iterable:
            for name, value in (
                ("shuffle", shuffle or None),
                ("sampler", sampler),
                ("batch_sampler", batch_sampler),
            ):
                if value is not None:
                    raise ValueError(
                        f"DataLoader: an IterableDataset has an order of its own; got {name}="
                        f"{value!r}, expected no {name}"
                    )
        if sampler is not None and shuffle:
            raise ValueError(
                "DataLoader: sampler and shuffle exclude each other; got both, expected one"
            )
        if batch_sampler is not None:
            others = {"batch_size": batch_size != 1, "shuffle": shuffle, "drop_last": drop_last}
            others["sampler"] = sampler is not None
            if given := [name for name, value in others.items() if value]:
                raise ValueError(
                    "DataLoader: batch_sampler excludes batch_size, shuffle, sampler and "
                    f"drop_last; got {', '.join(given)}, too"
                )
            batch_size = None
        elif batch_size is None:
            if drop_last:
                raise ValueError(
                    "DataLoader: without batches there is no last one to drop; got batch_size=None "
                    "and drop_last=True, expected one of them"
                )
        else:
            positive("DataLoader", "batch_size", batch_size)
            flag("DataLoader", "drop_last", drop_last)

        if sampler is None:
            if iterable:
                sampler = _InfiniteConstantSampler()
            elif not hasattr(dataset, "__getitem__") and not hasattr(dataset, "__getitems__"):
                raise DTypeError(
                    f"DataLoader: the dataset has no samples by index; got {type(dataset)}, "
                    "expected __getitem__, or an IterableDataset"
                )
            else:
                sampler = self._default_sampler(bool(shuffle), generator)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator = None
        self._epoch: Epoch | None = None
        self._resumed: dict[str, Any] | None = None
        self.check_worker_number_rationality()

    @staticmethod
    def _check_workers(
        num_workers: Any, timeout: Any, prefetch_factor: Any, persistent: Any, kind: Any
    ) -> None:
        if not isinstance(num_workers, int) or num_workers < 0:
            raise ValueError(
                f"DataLoader: num_workers should be 0 (no workers) or more; got {num_workers!r}, "
                "expected an int"
            )
        if not isinstance(timeout, (int, float)) or not timeout >= 0:
            raise ValueError(
                f"DataLoader: timeout should be a number of seconds; got {timeout!r}, expected 0 "
                "(wait for ever) or more"
            )
        if prefetch_factor is not None and not (
            isinstance(prefetch_factor, int) and prefetch_factor >= 0
        ):
            raise ValueError(
                f"DataLoader: prefetch_factor should be a number of batches; got "
                f"{prefetch_factor!r}, expected an int of 0 or more"
            )
        if kind not in ("process", "thread"):
            raise ValueError(
                f"DataLoader: there is no such worker_type; got {kind!r}, expected 'process' or "
                "'thread'"
            )
        if num_workers == 0:
            for name, given in (
                ("prefetch_factor", prefetch_factor is not None),
                ("persistent_workers", persistent),
                ("timeout", timeout > 0),
            ):
                if given:
                    raise ValueError(
                        f"DataLoader: {name} is about workers; got num_workers=0, expected 1 or "
                        f"more, or no {name}"
                    )

    def _default_sampler(self, shuffle: bool, generator: Generator | None) -> Sampler[int]:
        if not shuffle:
            return SequentialSampler(self.dataset)
        if not hasattr(self.dataset, "__len__"):
            raise DTypeError(
                "DataLoader: a dataset without a length cannot be shuffled; got "
                f"{type(self.dataset).__name__}, expected __len__ (or a sampler)"
            )
        return RandomSampler(self.dataset, generator=generator)

    @property
    def multiprocessing_context(self) -> Any:
        """How worker processes start: a context of multiprocessing, or None for the system's."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            import multiprocessing
            from multiprocessing.context import BaseContext

            if self.num_workers == 0 or self.worker_type == "thread":
                raise ValueError(
                    f"DataLoader: multiprocessing_context is about worker processes; got "
                    f"{context!r}, num_workers={self.num_workers} and worker_type="
                    f"{self.worker_type!r}, expected 1 or more processes"
                )
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError(
                        f"DataLoader: there is no such multiprocessing_context; got {context!r}, "
                        f"expected one of {methods}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, BaseContext):
                raise DTypeError(
                    "DataLoader: multiprocessing_context should be a context or its name; got "
                    f"{context!r} of type {type(context).__name__}"
                )
        self.__multiprocessing_context = context

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in FIXED:
            raise ValueError(
                f"DataLoader: {name} is fixed when it is made; got another one for it, expected a "
                "new DataLoader"
            )
        super().__setattr__(name, value)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    @property
    def _is_iterable(self) -> bool:
        return self._dataset_kind == _DatasetKind.Iterable

    @property
    def _fetchers(self) -> Fetchers:
        return Fetchers(
            self._is_iterable,
            self._auto_collation,
            self.batch_size,
            self.collate_fn,
            self.drop_last,
        )

    def _make_source(self) -> Any:
        if self.num_workers == 0:
            return SerialSource(self)
        if self.worker_type == "thread":
            from zero.utils.data._threads import ThreadSource

            return ThreadSource(self)
        from zero.utils.data._workers import ProcessSource

        return ProcessSource(self)

    def _begin_epoch(self) -> Epoch:
        # An index list is what a process is sent.
        here = self.num_workers == 0 or self.worker_type == "thread"
        gathers = here and not self._is_iterable and self._fetchers(self.dataset).gathers
        self._epoch = Epoch(self, gathers, self._resumed)
        self._resumed = None
        return self._epoch

    def _get_iterator(self) -> LoaderIterator:
        return LoaderIterator(self)

    def __iter__(self) -> Any:
        if not (self.persistent_workers and self.num_workers):
            return self._get_iterator()
        if self._iterator is None or not self._iterator._is_mine():
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self) -> int:
        """The number of batches, where the sampler or the iterable dataset says how many."""
        if not self._is_iterable:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    @property
    def _promised_length(self) -> tuple[int, int] | None:
        """The length of an iterable dataset, if it was asked for, in samples and batches."""
        samples = self._IterableDataset_len_called
        if samples is None or not self._is_iterable:
            return None
        # Each worker may have a last batch that is smaller.
        return samples, len(self) + max(self.num_workers - 1, 0)

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is, to go on there in another run: see :meth:`load_state_dict`.

        What counts is what was delivered, not what workers have made in advance. An epoch that was
        left half way is a running one, until the next begins. The state consists of numbers, lists,
        dicts and tensors.

        What is noted: how many batches were delivered, and the states of the random generators at
        the beginning of the epoch, by which it gets the same order again, and of those that the
        loader or its samplers were given. The default generator belongs to the program, which
        stores :func:`zero.get_rng_state` to go on bit for bit. A sampler with ``state_dict`` and
        ``load_state_dict`` is asked for its state at the beginning of the epoch; an iterable
        dataset with both for its state behind the batch delivered last.
        """
        epoch = self._epoch
        running = self._resumed
        if running is None and epoch is not None and not epoch.finished:
            running = epoch.state_dict()
        return {
            "version": VERSION,
            "batch_size": self.batch_size,
            "length": self._known_length(),
            "workers": max(self.num_workers, 1) if self._is_iterable else None,
            "generators": [generator.get_state() for generator in own_generators(self)],
            "epoch": running,
        }

    def _known_length(self) -> int | None:
        if not self._is_iterable:
            try:
                return len(self.dataset)
            except TypeError:
                pass
        return None

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on where :meth:`state_dict` was called: the next iteration gives what was left.

        A loader of the same dataset, batch size and sampler is expected. The number of workers may
        be another, but for iterable datasets, where it decides which samples come together. What
        was delivered of a map-style dataset is not read again; an iterable dataset without a state
        of its own is read, and the samples left out.

        Args:
            state: the state of such a loader.

        Raises:
            ValueError: it is none, or that of another loader; nothing is changed then.

        Example:
            >>> from zero.utils.data import DataLoader
            >>> loader = DataLoader(range(6), batch_size=2)
            >>> for batch in loader:
            ...     break
            >>> other = DataLoader(range(6), batch_size=2)
            >>> other.load_state_dict(loader.state_dict())
            >>> list(other), list(other)[0]
            ([tensor([2, 3]), tensor([4, 5])], tensor([0, 1]))
        """
        here = self.state_dict()
        if not isinstance(state, dict) or not here.keys() <= state.keys():
            raise ValueError(
                "DataLoader.load_state_dict: this is no state of a DataLoader; got "
                f"{sorted(state) if isinstance(state, dict) else type(state).__name__}, expected "
                f"the keys {sorted(here)}"
            )
        for name in ("version", "batch_size", "length", "workers"):
            if state[name] != here[name]:
                raise ValueError(
                    f"DataLoader.load_state_dict: the state is another loader's; got {name} "
                    f"{state[name]!r}, expected {here[name]!r}"
                )
        generators = own_generators(self)
        if len(generators) != len(state["generators"]):
            raise ValueError(
                "DataLoader.load_state_dict: the state is another loader's; got "
                f"{len(state['generators'])} generators, expected {len(generators)}"
            )
        for generator, its_state in zip(generators, state["generators"], strict=True):
            generator.set_state(its_state)
        self._resumed = state["epoch"]
        self._epoch = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_epoch": None, "_iterator": None}

    def check_worker_number_rationality(self) -> None:
        """Warns if there are more worker processes than processors."""
        if self.num_workers == 0 or self.worker_type == "thread":
            return
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        processors = processors or os.cpu_count() or 1
        if self.num_workers > processors:
            warnings.warn(
                f"This DataLoader makes {self.num_workers} worker processes, but the program may "
                f"use {processors} processors: more workers than processors are mostly slower",
                stacklevel=3,
            )
