"""A sampler for several processes that train together."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from math import ceil
from typing import Any

import zero
from zero import Generator, Tensor
from zero.errors import Error, ValueError
from zero.utils.data.sampler import _Order

__all__ = ["DistributedSampler"]


class DistributedSampler(_Order):
    """The share of one of several processes: every `num_replicas`-th index, from `rank` on.

    All shares have the same length: the first indices are used again to fill the last round, or
    the last ones left out with `drop_last`.

    Args:
        dataset: the dataset, or anything that has a length.
        num_replicas: how many processes there are.
        rank: which one this is, from 0.
        shuffle: in a random order that `seed` and the epoch give, the same in all processes.
        seed: the seed of that order.
        drop_last: leave the last indices out instead of repeating the first.

    Raises:
        ValueError: `rank` is not one of 0, …, num_replicas - 1.
        RuntimeError: `num_replicas` or `rank` is missing.

    Note:
        Call :meth:`set_epoch` before each epoch; else every one has the same order.

    Example:
        >>> from zero.utils.data import DistributedSampler
        >>> list(DistributedSampler("abcde", num_replicas=2, rank=1, shuffle=False))
        [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            name = "num_replicas" if num_replicas is None else "rank"
            raise Error(
                f"DistributedSampler: {name} is not known; got None, expected an int: zero has no "
                "process groups to ask"
            )
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"DistributedSampler: there is no such process; got rank {rank}, expected one of "
                f"0, …, {num_replicas - 1} (num_replicas is {num_replicas})"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def pieces(self) -> Iterator[Tensor]:
        n = len(self.dataset)
        if self.shuffle:
            order = zero.randperm(n, generator=Generator().manual_seed(self.seed + self.epoch))
        else:
            order = zero.arange(n)
        if self.total_size > n > 0:
            order = order.repeat(ceil(self.total_size / n))
        return iter([order[self.rank : self.total_size : self.num_replicas]])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Sets the number of the epoch, by which the order is shuffled.

        Args:
            epoch: from 0.
        """
        self.epoch = epoch

    def state_dict(self) -> dict[str, Any]:
        """The number of the epoch, for :meth:`zero.utils.data.DataLoader.state_dict`."""
        return {"epoch": self.epoch}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Sets it.

        Args:
            state: what :meth:`state_dict` gave.
        """
        self.epoch = int(state["epoch"])
