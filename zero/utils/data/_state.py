"""Where random orders come from: the states that an epoch began with, and going back to them."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING, Any

import zero
from zero import Generator
from zero.utils.data.sampler import BatchSampler, knows_pieces

if TYPE_CHECKING:
    from zero.utils.data.dataloader import DataLoader

__all__ = ["Replay", "own_generators"]


def samplers_of(loader: DataLoader[Any]) -> list[Any]:
    if loader._is_iterable:
        return []
    batch_sampler, sampler = loader.batch_sampler, loader.sampler
    if isinstance(batch_sampler, BatchSampler):
        sampler = batch_sampler.sampler
    return [sampler] if batch_sampler is None else [batch_sampler, sampler]


def own_generators(loader: DataLoader[Any]) -> list[Generator]:
    """The generators that the loader and its samplers were given, each once."""
    found: dict[int, Generator] = {}
    for owner in (loader, *samplers_of(loader)):
        generator = getattr(owner, "generator", None)
        if isinstance(generator, Generator) and generator is not zero.default_generator:
            found[id(generator)] = generator
    return list(found.values())


def python_states() -> list[Any]:
    """The states of random and numpy.random, as lists and tensors."""
    version, words, gauss = random.getstate()
    states: list[Any] = [[version, zero.tensor(words), gauss]]
    if "numpy" in sys.modules:
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        states.append([name, zero.tensor(keys.tolist()), *rest])
    return states


def set_python_states(states: list[Any]) -> None:
    version, words, gauss = states[0]
    random.setstate((version, tuple(words.tolist()), gauss))
    if len(states) > 1:
        import numpy

        name, keys, *rest = states[1]
        numpy.random.set_state((name, keys.numpy().astype("uint32"), *rest))


class Replay:
    """Within it an epoch gets its random numbers; for one that goes on, those that it had.

    Args:
        loader: the loader.
        start: the attribute `start` of the epoch's first Replay; None for a new epoch.

    Attributes:
        start: the states at the beginning, of plain values and tensors. Those of random and numpy
            are among them if a sampler may use them: if it is none of zero's.
    """

    def __init__(self, loader: DataLoader[Any], start: dict[str, Any] | None) -> None:
        self.generators = [zero.default_generator, *own_generators(loader)]
        self.samplers = samplers_of(loader)
        self.foreign = not all(type(s) is BatchSampler or knows_pieces(s) for s in self.samplers)
        self.again = start is not None
        self.now = self.states()
        self.start = self.now if start is None else start

    def states(self) -> dict[str, Any]:
        return {
            "generators": [generator.get_state() for generator in self.generators],
            "python": python_states() if self.foreign else None,
            "samplers": [
                s.state_dict() if callable(getattr(s, "state_dict", None)) else None
                for s in self.samplers
            ],
        }

    def set(self, states: dict[str, Any]) -> None:
        for generator, state in zip(self.generators, states["generators"], strict=True):
            generator.set_state(state)
        if states["python"] is not None:
            set_python_states(states["python"])

    def __enter__(self) -> Replay:
        if self.again:
            self.set(self.start)
            for sampler, state in zip(self.samplers, self.start["samplers"], strict=True):
                if state is not None:
                    sampler.load_state_dict(state)
        return self

    def __exit__(self, *error: object) -> None:
        if self.again:
            self.set(self.now)
