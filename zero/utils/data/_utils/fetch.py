"""From indices to batches: what happens between a sampler and the training loop."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

import zero
from zero import Tensor
from zero.errors import IndexError, ShapeError
from zero.utils.data._utils import collate

__all__ = ["IterableFetcher", "MapFetcher", "batch_getter", "gather", "pick", "rows"]


def pick(tensor: Tensor, indices: Any) -> Tensor:
    """Rows of a tensor, copied.

    Args:
        tensor: a tensor with at least one dimension.
        indices: what :func:`rows` gave.
    """
    if isinstance(indices, range):
        return tensor[indices.start : indices.stop].clone()
    return tensor[indices]


def gather(tensor: Tensor, indices: Any) -> Tensor:
    """Rows of a tensor as part of a batch: a worker process writes them to memory that it shares.

    Args:
        tensor, indices: as in :func:`pick`.
    """
    fits = not isinstance(indices, range) or indices.stop <= len(tensor)
    if collate.allocate is None or tensor.requires_grad or not fits:
        return pick(tensor, indices)
    out = collate.allocate((len(indices), *tensor.shape[1:]), tensor.dtype)
    if isinstance(indices, range):
        return out.copy_(tensor[indices.start : indices.stop])
    try:
        zero.index_select(tensor, 0, indices, out=out)
    except IndexError:  # below 0, or beyond the end
        return pick(tensor, indices)
    return out


def rows(indices: Any) -> Any:
    """Indices for :func:`gather`, a tensor or a range without gaps; None if they are no ints."""
    if isinstance(indices, Tensor):
        return indices
    if isinstance(indices, range) and indices.step == 1 and indices.start >= 0:
        return indices
    try:
        found = zero.tensor(list(indices))
    except (TypeError, builtins.ValueError, RuntimeError):
        return None
    return found if found.dtype == zero.int64 and found.dim() == 1 else None


def tensor_rows(tensor: Tensor, indices: Any) -> Any:
    indices = rows(indices)
    return NotImplemented if indices is None else gather(tensor, indices)


def array_rows(array: Any, indices: Any) -> Any:
    indices = rows(indices)
    return NotImplemented if indices is None else zero.from_numpy(array[np.asarray(indices)])


def batch_getter(dataset: Any) -> Callable[[Any], Any] | None:
    """What gives whole batches of a dataset, which is a tensor or array or has ``__getbatch__``.

    None for others, and for a subclass that has other samples than the class that this is from.
    """
    if type(dataset) is Tensor and dataset.dim() > 0:
        return partial(tensor_rows, dataset)
    if type(dataset) is np.ndarray and dataset.ndim > 0 and dataset.dtype.kind in "bif":
        return partial(array_rows, dataset)
    for cls in type(dataset).__mro__:
        if "__getbatch__" in cls.__dict__:
            return dataset.__getbatch__  # type: ignore[no-any-return]
        if "__getitem__" in cls.__dict__ or "__getitems__" in cls.__dict__:
            break
    return None


def collated(collate_fn: Callable[[Any], Any], samples: Any) -> Any:
    try:
        return collate_fn(samples)
    except StopIteration as error:
        raise RuntimeError(
            "DataLoader: collate_fn raised StopIteration, which would end the epoch unnoticed"
        ) from error


class MapFetcher:
    """Batches of a dataset that has samples by index.

    Args:
        dataset: the dataset.
        auto_collation: an index is a list, tensor or range of indices, and a batch has a sample
            for each; else it is one index, and the batch that sample.
        collate_fn: what makes a batch of the samples.

    Attributes:
        gathers: indices are best given as a tensor or range.
    """

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any]
    ) -> None:
        self.dataset, self.auto_collation, self.collate_fn = dataset, auto_collation, collate_fn
        self.get_batch = None
        if auto_collation and collate.is_default(collate_fn):
            self.get_batch = batch_getter(dataset)
        items = getattr(dataset, "__getitems__", None)
        self.get_items = items if callable(items) else None

    @property
    def gathers(self) -> bool:
        return self.get_batch is not None

    def fetch(self, index: Any) -> Any:
        """The batch of these indices."""
        if self.get_batch is not None:
            batch = self.get_batch(index)
            if batch is not NotImplemented:
                return batch
            self.get_batch = None  # a view of one that cannot
        if not self.auto_collation:
            return collated(self.collate_fn, self.samples([index])[0])
        if isinstance(index, Tensor):
            index = index.tolist()
        elif isinstance(index, range):
            index = list(index)
        samples = self.samples(index)
        try:
            return collated(self.collate_fn, samples)
        except ShapeError as error:
            position = getattr(error, "position", None)
            if position is None:
                raise
            text = f"{error} (samples {index[0]!r} and {index[position]!r} of the dataset)"
            raise collate.unequal(text, position) from None

    def samples(self, indices: Any) -> Any:
        dataset, last = self.dataset, indices
        try:
            if self.get_items is not None and self.auto_collation:
                return self.get_items(indices)
            return [dataset[last := i] for i in indices]
        except (builtins.IndexError, StopIteration) as error:
            raise self.explained(error, last) from error

    def explained(self, error: Exception, index: Any) -> Exception:
        """The error to raise where the dataset raised another one for an index."""
        kind = type(self.dataset).__name__
        told = f"{kind} raised {type(error).__name__}: {error}"
        if isinstance(error, StopIteration):
            return RuntimeError(
                f"DataLoader: reading sample {index!r} would end the epoch unnoticed: {told}"
            )
        text = f"DataLoader: the dataset has no sample {index!r}, or reading it failed: {told}"
        with suppress(Exception):  # where there is a length
            text += f"; len(dataset) is {len(self.dataset)}"
        return IndexError(text)


class IterableFetcher:
    """Batches of a dataset that is iterated over.

    Args:
        dataset: the dataset.
        batch_size: of a batch; None for single samples.
        collate_fn: what makes a batch of the samples.
        drop_last: leave out a last batch that is smaller.
        skip: how many batches to leave out at the beginning.
        state: the :meth:`snapshot` behind them.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None,
        collate_fn: Callable[[Any], Any],
        drop_last: bool,
        skip: int = 0,
        state: Any = None,
    ) -> None:
        self.batch_size, self.collate_fn, self.drop_last = batch_size, collate_fn, drop_last
        self.source = dataset
        self.ended = state is not None and state["ended"]
        own = None if state is None else state["dataset"]
        if own is not None and not self.ended:
            dataset.load_state_dict(own)
        self.samples = iter(() if self.ended else dataset)
        if skip and own is None:
            for _ in islice(self.samples, skip * (batch_size or 1)):
                pass

    def fetch(self, index: Any = None) -> Any:
        """The next batch.

        Raises:
            StopIteration: there is none.
        """
        if self.ended:
            raise StopIteration
        size = self.batch_size
        samples = list(islice(self.samples, size or 1))
        self.ended = len(samples) < (size or 1)
        if not samples or (self.drop_last and self.ended):
            self.ended = True
            raise StopIteration
        return collated(self.collate_fn, samples if size is not None else samples[0])

    def snapshot(self) -> dict[str, Any]:
        """Where the stream is behind the batch fetched last, by the dataset's own state if any."""
        state = None if self.ended else getattr(self.source, "state_dict", None)
        return {"dataset": state() if callable(state) else None, "ended": self.ended}
