"""Samplers: in which order the samples of a dataset come, and in which batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import chain, islice
from typing import Any, Generic, TypeVar

import zero
from zero import Generator, Tensor
from zero.errors import DTypeError, ShapeError, ValueError

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T = TypeVar("T", covariant=True)
PIECE = 4096  # indices that are drawn at a time with replacement


def positive(owner: str, name: str, value: Any) -> int:
    """An int above 0, or an error that names it."""
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(
            f"{owner}: {name} should be a positive integer; got {value!r} of type "
            f"{type(value).__name__}, expected 1 or more"
        )
    return value


def flag(owner: str, name: str, value: Any) -> bool:
    """True or False, or an error that names it."""
    if not isinstance(value, bool):
        raise DTypeError(f"{owner}: {name} should be a bool; got {value!r}, expected True or False")
    return value


def seed_of(generator: Generator | None) -> int:
    """A random number below 2^62, drawn from a generator (None: the default one)."""
    return int(zero.randint(2**62, (), generator=generator).item())


class Sampler(Generic[T]):
    """Base class of samplers: ``__iter__`` gives indices, or lists of them.

    ``__len__`` says how many, which is optional: DataLoader has a length if its sampler has one.

    Example:
        >>> from zero.utils.data import DataLoader, Sampler
        >>> class Backwards(Sampler):
        ...     def __init__(self, data):
        ...         self.data = data
        ...     def __iter__(self):
        ...         return iter(range(len(self.data) - 1, -1, -1))
        ...     def __len__(self):
        ...         return len(self.data)
        >>> letters = "abcd"
        >>> list(DataLoader(letters, 2, sampler=Backwards(letters)))
        [['d', 'c'], ['b', 'a']]
    """

    def __init__(self, data_source: Any = None) -> None:
        # PyTorch's class took the dataset once, and programs still hand it over.
        super().__init__()

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError(f"{type(self).__name__}: a sampler needs a method __iter__")


class _Order(Sampler[int]):
    """A sampler that knows its order in long pieces.

    :meth:`pieces` begins an epoch: whatever random numbers it takes of a shared generator it takes
    at once, before the first piece is asked for.
    """

    def pieces(self) -> Iterator[Tensor | range | list[Any]]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(as_lists(self.pieces()))


def as_lists(pieces: Iterable[Any]) -> Iterator[Any]:
    return (piece.tolist() if isinstance(piece, Tensor) else piece for piece in pieces)


def knows_pieces(sampler: Any) -> bool:
    """Whether :meth:`_Order.pieces` says how a sampler iterates; a subclass may do otherwise."""
    for cls in type(sampler).__mro__:
        if "pieces" in cls.__dict__ and issubclass(cls, _Order):
            return True
        if "__iter__" in cls.__dict__:
            break
    return False


class SequentialSampler(_Order):
    """The indices 0, 1, 2, … of a dataset.

    Args:
        data_source: the dataset, or anything that has a length.

    Example:
        >>> from zero.utils.data import SequentialSampler
        >>> list(SequentialSampler("abc"))
        [0, 1, 2]
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def pieces(self) -> Iterator[range]:
        return iter([range(len(self.data_source))])

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(_Order):
    """Indices in a random order, each once, or drawn independently of each other.

    Args:
        data_source: the dataset, or anything that has a length.
        replacement: draw independently.
        num_samples: how many; None for as many as there are. Without `replacement`, more of them
            go through all indices several times.
        generator: where the seed of each iteration comes from; None for the default one.

    Raises:
        ValueError: `num_samples`, or the length of the dataset, is not positive.
        DTypeError: `replacement` is no bool.

    Example:
        >>> from zero.utils.data import RandomSampler
        >>> sorted(RandomSampler("abc"))
        [0, 1, 2]
        >>> len(list(RandomSampler("abc", replacement=True, num_samples=10)))
        10
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = flag("RandomSampler", "replacement", replacement)
        self._num_samples = num_samples
        self.generator = generator
        if num_samples is not None:
            positive("RandomSampler", "num_samples", num_samples)
        elif len(data_source) == 0:
            raise ValueError(
                "RandomSampler: the dataset is empty; got length 0, expected a positive integer "
                "(num_samples), as there is nothing to draw from"
            )

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def pieces(self) -> Iterator[Tensor]:
        n, wanted = len(self.data_source), self.num_samples
        if n == 0:
            raise ValueError("RandomSampler: the dataset is empty; got length 0, expected samples")
        generator = Generator().manual_seed(seed_of(self.generator))
        length = PIECE if self.replacement else n
        # One after another, as programs ask for 10^10 numbers where they mean no end.
        sizes = (min(length, wanted - start) for start in range(0, wanted, length))
        if self.replacement:
            return (zero.randint(n, (size,), generator=generator) for size in sizes)
        return (zero.randperm(n, generator=generator)[:size] for size in sizes)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(_Order):
    """Some indices in a random order.

    Args:
        indices: which.
        generator: where the random numbers come from; None for the default one.

    Example:
        >>> from zero.utils.data import SubsetRandomSampler
        >>> sorted(SubsetRandomSampler([7, 5, 9]))
        [5, 7, 9]
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def pieces(self) -> Iterator[Any]:
        places = zero.randperm(len(self.indices), generator=self.generator)
        if isinstance(self.indices, Tensor):
            return iter([self.indices[places]])
        return iter([[self.indices[i] for i in places.tolist()]])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(_Order):
    """Indices 0, …, len(weights) - 1, drawn with probabilities in proportion to `weights`.

    Args:
        weights: a vector of numbers, 0 or more; their sum may be anything.
        num_samples: how many to draw.
        replacement: False draws each index at most once.
        generator: where the random numbers come from; None for the default one.

    Raises:
        ValueError: `num_samples` is not positive.
        ShapeError: `weights` are no vector.

    Example:
        >>> from zero.utils.data import WeightedRandomSampler
        >>> list(WeightedRandomSampler([0.0, 0.0, 1.0], 4))
        [2, 2, 2, 2]
    """

    weights: Tensor

    def __init__(
        self,
        weights: Sequence[float] | Tensor,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        self.num_samples = positive("WeightedRandomSampler", "num_samples", num_samples)
        self.replacement = flag("WeightedRandomSampler", "replacement", replacement)
        self.weights = zero.as_tensor(weights, dtype=zero.float64)
        self.generator = generator
        if self.weights.dim() != 1:
            raise ShapeError(
                "WeightedRandomSampler: weights should be a vector; got shape "
                f"{tuple(self.weights.shape)}, expected one weight for each index"
            )

    def pieces(self) -> Iterator[Tensor]:
        drawn = zero.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter([drawn])

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of the indices that another sampler gives.

    Args:
        sampler: it, or another iterable.
        batch_size: how many indices make a batch.
        drop_last: leave out a last batch that is smaller.

    Raises:
        ValueError: `batch_size` is not positive.
        DTypeError: `drop_last` is no bool.

    Example:
        >>> from zero.utils.data import BatchSampler
        >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]
        >>> list(BatchSampler(range(5), batch_size=2, drop_last=True))
        [[0, 1], [2, 3]]
    """

    def __init__(
        self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        self.batch_size = positive("BatchSampler", "batch_size", batch_size)
        self.drop_last = flag("BatchSampler", "drop_last", drop_last)
        self.sampler = sampler

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                break
            yield batch

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]  # has one, or len raises
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def batches_of(sampler: Any, gathers: bool) -> Iterator[Any]:
    """The batches of indices of a batch sampler, whose order is drawn at once if it can be.

    Args:
        sampler: a BatchSampler, or anything that gives lists of indices.
        gathers: they may be tensors and ranges, where the order is known as such.
    """
    if type(sampler) is not BatchSampler or not knows_pieces(sampler.sampler):
        return iter(sampler)
    pieces: Any = sampler.sampler.pieces()  # type: ignore[union-attr]  # see knows_pieces
    if not gathers:
        pieces = map(list, as_lists(pieces))
    return _cut(pieces, sampler.batch_size, sampler.drop_last)


def _cut(pieces: Iterator[Any], size: int, drop_last: bool) -> Iterator[Any]:
    """Pieces of any lengths to batches of one; tensors stay tensors, and lists lists."""
    rest: Any = ()
    for piece in pieces:
        if len(rest):
            piece = rest + piece if isinstance(piece, list) else zero.cat([rest, piece])
        end = len(piece) - len(piece) % size
        for start in range(0, end, size):
            yield piece[start : start + size]
        rest = piece[end:]
    if len(rest) and not drop_last:
        yield rest
