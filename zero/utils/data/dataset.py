"""Datasets: what has samples, by index or one after another."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import floor
from typing import Any, Generic, TypeVar

import zero
from zero import Generator, Tensor
from zero.errors import DTypeError, IndexError, ShapeError, ValueError
from zero.utils.data._utils.fetch import batch_getter, gather, pick, rows

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Base class of datasets that have samples by index (map-style).

    A subclass has ``__getitem__(index)``, which gives a sample, and mostly ``__len__``. Two more
    methods are optional; :class:`DataLoader` uses them where they are:

    - ``__getitems__(indices)`` gets the list of all indices of a batch and gives a list of their
      samples;
    - ``__getbatch__(indices)`` gives the finished batch, as :func:`default_collate` would make it,
      without single samples. `indices` are a list, an int64 tensor or a range;
      ``NotImplemented`` is the answer for some that it cannot serve. (This one is zero's own.)

    Example:
        >>> from zero.utils.data import DataLoader, Dataset
        >>> class Squares(Dataset):
        ...     def __getitem__(self, index):
        ...         return index**2
        ...     def __len__(self):
        ...         return 5
        >>> list(DataLoader(Squares(), batch_size=2))
        [tensor([0, 1]), tensor([4, 9]), tensor([16])]
    """

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError(
            f"{type(self).__name__}: a dataset needs a method __getitem__(index)"
        )

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T], Iterable[T]):
    """Base class of datasets that give samples one after another: streams.

    A subclass has ``__iter__``. Each worker of a :class:`DataLoader` iterates over its own copy,
    and reads its share of the data by :func:`get_worker_info`.

    With methods ``state_dict()`` and ``load_state_dict(state)``, which note the place behind the
    sample given last, a training run resumes without reading again what it has had.

    Example:
        >>> from zero.utils.data import DataLoader, IterableDataset, get_worker_info
        >>> class Count(IterableDataset):
        ...     def __init__(self, end):
        ...         self.end = end
        ...     def __iter__(self):
        ...         worker = get_worker_info()
        ...         first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        ...         return iter(range(first, self.end, step))
        >>> list(DataLoader(Count(4), batch_size=3))
        [tensor([0, 1, 2]), tensor([3])]
        >>> list(DataLoader(Count(4), batch_size=3, num_workers=2, worker_type="thread"))
        [tensor([0, 2]), tensor([1, 3])]
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError(
            f"{type(self).__name__}: an iterable dataset needs a method __iter__"
        )

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors side by side: sample i is the tuple of their i-th rows.

    Its batches are gathered by one call for each tensor, without a sample of its own in Python.

    Args:
        *tensors: tensors whose first dimensions have the same size.

    Raises:
        ShapeError: they have different sizes, or a tensor has no dimension.

    Example:
        >>> import zero
        >>> from zero.utils.data import TensorDataset
        >>> data = TensorDataset(zero.arange(6).view(3, 2), zero.tensor([0, 1, 0]))
        >>> data[1]
        (tensor([2, 3]), tensor(1))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if not tensors:
            raise ValueError("TensorDataset: no tensors; got none, expected one or more")
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise DTypeError(
                    f"TensorDataset: it takes tensors; got {type(tensor).__name__}, expected a "
                    "Tensor (zero.from_numpy makes one of an array)"
                )
        if any(tensor.dim() == 0 or len(tensor) != len(tensors[0]) for tensor in tensors):
            raise ShapeError(
                "TensorDataset: tensors differ in size; got shapes "
                f"{', '.join(str(tuple(tensor.shape)) for tensor in tensors)}, expected equal "
                "first dimensions"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __getbatch__(self, indices: Any) -> Any:
        indices = rows(indices)
        if indices is None:
            return NotImplemented
        return [gather(tensor, indices) for tensor in self.tensors]

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[Any]):
    """Datasets side by side: sample i is the tuple, or dict, of their i-th samples.

    Args:
        *args: datasets of equal lengths, for tuples.
        **kwargs: datasets of equal lengths by name, for dicts.

    Raises:
        ValueError: there are none, both kinds, or their lengths differ.

    Example:
        >>> from zero.utils.data import StackDataset
        >>> StackDataset(letter="abc", number=[1, 2, 3])[1]
        {'letter': 'b', 'number': 2}
    """

    datasets: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            given = "both" if args else "no datasets"
            raise ValueError(
                f"StackDataset: it takes datasets by position or by name; got {given}, expected "
                "either"
            )
        self.datasets = args or kwargs
        lengths = [len(dataset) for dataset in self._parts()]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"StackDataset: datasets differ in length; got {lengths}, expected equal ones"
            )
        self._length = lengths[0]

    def _parts(self) -> list[Any]:
        datasets = self.datasets
        return list(datasets.values() if isinstance(datasets, dict) else datasets)

    def _sample(self, parts: Iterable[Any]) -> Any:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, parts, strict=True))
        return tuple(parts)

    def __getitem__(self, index: Any) -> Any:
        return self._sample(dataset[index] for dataset in self._parts())

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        columns = []
        for dataset in self._parts():
            items = getattr(dataset, "__getitems__", None)
            column = items(indices) if callable(items) else [dataset[i] for i in indices]
            if len(column) != len(indices):
                raise ValueError(
                    f"StackDataset: {type(dataset).__name__}.__getitems__ gave another number of "
                    f"samples; got {len(column)}, expected {len(indices)}"
                )
            columns.append(column)
        return [self._sample(parts) for parts in zip(*columns, strict=True)]

    def __getbatch__(self, indices: Any) -> Any:
        parts = []
        for dataset in self._parts():
            get_batch = batch_getter(dataset)
            part = NotImplemented if get_batch is None else get_batch(indices)
            if part is NotImplemented:
                return NotImplemented
            parts.append(part)
        return self._sample(parts) if isinstance(self.datasets, dict) else parts

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T]):
    """Datasets one after another.

    Args:
        datasets: datasets with samples by index.

    Raises:
        ValueError: there are none.
        DTypeError: one is an :class:`IterableDataset`.

    Example:
        >>> from zero.utils.data import ConcatDataset
        >>> data = ConcatDataset(["ab", "cde"])
        >>> len(data), data[2], data[-1]
        (5, 'c', 'e')
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        return list(accumulate(len(part) for part in sequence))

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: no datasets; got none, expected one or more")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise DTypeError(
                    "ConcatDataset: it takes datasets with samples by index; got "
                    f"{type(dataset).__name__}, expected no IterableDataset (ChainDataset takes "
                    "those)"
                )
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: Any) -> T:
        n = len(self)
        if not -n <= idx < n:
            raise IndexError(f"ConcatDataset: no such sample; got {idx}, expected {-n} to {n - 1}")
        idx = idx % n
        which = bisect_right(self.cumulative_sizes, idx)
        sample: T = self.datasets[which][idx - ([0] + self.cumulative_sizes)[which]]
        return sample

    @property
    def cummulative_sizes(self) -> list[int]:
        warnings.warn("cummulative_sizes is called cumulative_sizes", FutureWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[T]):
    """Streams one after another.

    Args:
        datasets: datasets of the kind :class:`IterableDataset`.

    Example:
        >>> from zero.utils.data import ChainDataset, IterableDataset
        >>> class Letters(IterableDataset):
        ...     def __init__(self, text):
        ...         self.text = text
        ...     def __iter__(self):
        ...         return iter(self.text)
        >>> list(ChainDataset([Letters("ab"), Letters("c")]))
        ['a', 'b', 'c']
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def _parts(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise DTypeError(
                    f"ChainDataset: it takes streams; got {type(dataset).__name__}, expected an "
                    "IterableDataset (ConcatDataset takes others)"
                )
            yield dataset

    def __iter__(self) -> Iterator[T]:
        for dataset in self._parts():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._parts())


class Subset(Dataset[T]):
    """Some samples of a dataset.

    A subclass with its own ``__getitem__`` needs its own ``__getitems__``, too.

    Args:
        dataset: the whole.
        indices: which samples.

    Raises:
        NotImplementedError: a subclass has the first and not the second.

    Example:
        >>> from zero.utils.data import Subset
        >>> list(Subset("abcdef", [5, 0, 2]))
        ['f', 'a', 'c']
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        cls = type(self)
        if cls.__getitem__ is not Subset.__getitem__ and cls.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{cls.__name__}: it has its own __getitem__, which batches would not use; "
                "expected its own __getitems__ as well, such as [self[i] for i in indices]"
            )

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T]:
        chosen = [self.indices[i] for i in indices]
        items = getattr(self.dataset, "__getitems__", None)
        if callable(items):
            samples: list[T] = items(chosen)
            return samples
        return [self.dataset[i] for i in chosen]

    def __getbatch__(self, indices: Any) -> Any:
        get_batch = batch_getter(self.dataset)
        if get_batch is None:
            return NotImplemented
        if isinstance(self.indices, Tensor):
            indices = rows(indices)
            if indices is None:
                return NotImplemented
            chosen: Any = pick(self.indices, indices)
        else:
            places = indices.tolist() if isinstance(indices, Tensor) else indices
            chosen = [self.indices[i] for i in places]
        return get_batch(chosen)

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[Any]]:
    """Splits a dataset at random into parts without overlap.

    Args:
        dataset: the whole.
        lengths: of the parts, which add up to its length; or fractions that add up to 1. Of those,
            each part gets the whole number below its share, and the samples that remain go to the
            parts one by one, from the first on. Shares are exact: a tenth of 10 is 1, and twenty
            times 0.05 make 1.
        generator: where the random numbers come from; None for the default one.

    Returns:
        A :class:`Subset` for each part.

    Raises:
        ValueError: the lengths do not add up.

    Example:
        >>> import zero
        >>> from zero.utils.data import random_split
        >>> parts = random_split(range(10), [0.8, 0.2], generator=zero.Generator().manual_seed(1))
        >>> [len(part) for part in parts]
        [8, 2]
        >>> sorted([*parts[0], *parts[1]]) == list(range(10))
        True
    """
    n = len(dataset)
    sizes = _sizes(n, list(lengths))
    for i, size in enumerate(sizes):
        if size == 0:
            warnings.warn(
                f"random_split: part {i} has no samples; got {lengths} of {n}", stacklevel=2
            )
    order = zero.randperm(n, generator=generator).tolist()
    return [
        Subset(dataset, order[end - size : end])
        for size, end in zip(sizes, accumulate(sizes), strict=True)
    ]


def _sizes(n: int, lengths: list[float]) -> list[int]:
    total = sum(lengths)
    if total == n and all(float(length).is_integer() for length in lengths):
        if min(lengths, default=0) < 0:
            raise ValueError(f"random_split: a length is negative; got {lengths}, expected none")
        return [int(length) for length in lengths]
    if not abs(total - 1) <= 1e-9:
        raise ValueError(
            f"random_split: lengths do not fit the dataset; got {lengths} with the sum {total}, "
            f"expected {n} (its length), or fractions with the sum 1"
        )
    if not all(0 <= part <= 1 for part in lengths):
        raise ValueError(
            f"random_split: a fraction is out of range; got {lengths}, expected 0 to 1 each"
        )
    # Rounded down, but for what the fraction, a float, or the product was rounded by before.
    sizes = [floor(n * part * (1 + 1e-12)) for part in lengths]
    rest = n - sum(sizes)
    for i in range(abs(rest)):
        sizes[i % len(sizes)] += 1 if rest > 0 else -1
    return sizes
