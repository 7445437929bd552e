"""DataLoader.state_dict and load_state_dict: an epoch goes on where it was left."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import zero
from zero.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
)

WORKERS = [{}, *({"num_workers": n, "worker_type": "thread"} for n in (2, 3))]
workers = pytest.mark.parametrize("options", WORKERS, ids=["none", "two threads", "three threads"])


class Rows(Dataset):
    def __init__(self, n=20):
        self.n, self.read = n, []

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        self.read.append(i)
        return i


class PythonShuffle(Sampler):
    """Draws from the generators of random and numpy."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        order = list(range(self.n))
        random.shuffle(order)
        if np.random.rand() < 0.5:
            order.reverse()
        return iter(order)


class Stateful(Sampler):
    """Knows its epoch itself."""

    def __init__(self, n):
        self.n, self.epoch = n, 0

    def __iter__(self):
        order = zero.randperm(self.n, generator=zero.Generator().manual_seed(self.epoch)).tolist()
        self.epoch += 1
        return iter(order)

    def state_dict(self):
        return {"epoch": self.epoch}

    def load_state_dict(self, state):
        self.epoch = state["epoch"]


class Count(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        worker = get_worker_info()
        for i in range(worker.id, self.n, worker.num_workers) if worker else range(self.n):
            self.last = i
            yield i


class Place(Count):
    """Notes its place, and so reads nothing twice."""

    def __init__(self, n):
        super().__init__(n)
        self.next, self.read = None, []

    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        self.next = first if self.next is None else self.next
        while self.next < self.n:
            self.next += step
            self.read.append(self.next - step)
            yield self.next - step
        self.next = None

    def state_dict(self):
        return {"next": self.next}

    def load_state_dict(self, state):
        self.next = state["next"]


def plain(batch):
    if isinstance(batch, list):
        return [plain(b) for b in batch]
    return batch.tolist() if isinstance(batch, zero.Tensor) else batch


def interrupted(make, stop, epochs=3, options=None, later=None):
    """Batches of a run that was interrupted after `stop` batches, and those of one that was not."""
    options = options or {}

    def start():
        for module in (zero.manual_seed, random.seed, np.random.seed):
            module(11)

    start()
    loader = make(**options)
    whole = [plain(batch) for _ in range(epochs) for batch in loader]

    start()
    loader = make(**options)
    found, count = [], 0
    while count < stop:
        for batch in loader:
            found.append(plain(batch))
            count += 1
            if count == stop:
                break
    # What the program stores besides.
    state, own = loader.state_dict(), zero.get_rng_state()
    python = random.getstate(), np.random.get_state()
    del loader

    zero.manual_seed(99)
    random.seed(99)
    np.random.seed(99)
    loader = make(**(options if later is None else later))
    loader.load_state_dict(state)
    zero.set_rng_state(own)
    random.setstate(python[0])
    np.random.set_state(python[1])
    while len(found) < len(whole):
        found += [plain(batch) for batch in loader]
    return found, whole


KINDS = {
    "sequential": lambda **o: DataLoader(Rows(), 3, **o),
    "shuffled": lambda **o: DataLoader(Rows(), 3, shuffle=True, **o),
    "drop_last": lambda **o: DataLoader(Rows(), 3, shuffle=True, drop_last=True, **o),
    "single": lambda **o: DataLoader(Rows(), None, shuffle=True, **o),
    "tensors": lambda **o: DataLoader(TensorDataset(zero.arange(20)), 3, shuffle=True, **o),
    "generator": lambda **o: DataLoader(
        Rows(), 3, shuffle=True, generator=zero.Generator().manual_seed(4), **o
    ),
    "another generator": lambda **o: DataLoader(
        Rows(), 3, sampler=RandomSampler(Rows(), generator=zero.Generator().manual_seed(4)), **o
    ),
    "weighted": lambda **o: DataLoader(
        Rows(), 3, sampler=WeightedRandomSampler([1.0] * 20, 17), **o
    ),
    "subset": lambda **o: DataLoader(Rows(), 3, sampler=SubsetRandomSampler(range(5, 18)), **o),
    "batches": lambda **o: DataLoader(
        Rows(), batch_sampler=BatchSampler(RandomSampler(Rows()), 3, False), **o
    ),
    "python": lambda **o: DataLoader(Rows(), 3, sampler=PythonShuffle(20), **o),
    "stateful": lambda **o: DataLoader(Rows(), 3, sampler=Stateful(20), **o),
}


@workers
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_batches(kind, options):
    for stop in (1, 2, 5, 6, 9):
        found, whole = interrupted(KINDS[kind], stop, options=options)
        assert found == whole


def test_another_number_of_workers():
    for before in WORKERS:
        for later in WORKERS:
            found, whole = interrupted(KINDS["shuffled"], 4, options=before, later=later)
            assert found == whole


def test_what_was_delivered_counts_and_nothing_is_read_again():
    for options in WORKERS:
        loader = DataLoader(Rows(40), 2, shuffle=True, **options)
        it = iter(loader)
        delivered = [i for _ in range(3) for i in plain(next(it))]
        state = loader.state_dict()
        assert state["epoch"]["delivered"] == 3
        del it
        data = Rows(40)
        other = DataLoader(data, 2, shuffle=True)
        other.load_state_dict(state)
        rest = [i for batch in other for i in plain(batch)]
        assert rest == data.read and sorted(rest + delivered) == list(range(40))


def test_before_between_and_at_the_end_of_epochs():
    def labels(loader):
        return [plain(batch) for batch in loader]

    zero.manual_seed(1)
    loader = DataLoader(Rows(), 4, shuffle=True)
    fresh = loader.state_dict()
    assert fresh["epoch"] is None
    first = labels(loader)
    between = loader.state_dict()
    assert between["epoch"] is None
    rng = zero.get_rng_state()
    second = labels(loader)

    zero.set_rng_state(rng)
    loader.load_state_dict(between)
    assert labels(loader) == second

    # All batches were delivered, but the loop has not ended.
    it = iter(loader)
    last = [plain(next(it)) for _ in range(5)]
    state = loader.state_dict()
    loader.load_state_dict(state)
    assert labels(loader) == [] and len(last) == 5
    assert sorted(i for batch in loader for i in plain(batch)) == list(range(20))
    assert first != second

    # None was delivered.
    zero.manual_seed(3)
    it = iter(loader)
    state = loader.state_dict()
    loader.load_state_dict(state)
    assert loader.state_dict()["epoch"] is state["epoch"]
    assert labels(loader) == labels(it)


def test_the_default_generator_stays_as_it_was():
    loader = DataLoader(Rows(), 4, shuffle=True)
    next(iter(loader))
    state = loader.state_dict()
    zero.manual_seed(8)
    rng, python = zero.get_rng_state(), random.getstate()
    loader.load_state_dict(state)
    list(loader)
    assert zero.equal(zero.get_rng_state(), rng) and random.getstate() == python


def test_states_are_plain():
    def check(value):
        if isinstance(value, (list, tuple)):
            for item in value:
                check(item)
        elif isinstance(value, dict):
            assert all(isinstance(key, str) for key in value)
            check(list(value.values()))
        else:
            assert value is None or type(value) in (int, float, str, bool, zero.Tensor), value

    for make in KINDS.values():
        loader = make()
        next(iter(loader))
        check(loader.state_dict())
    loader = DataLoader(Place(9), 2)
    it = iter(loader)
    next(it)
    state = loader.state_dict()
    assert state["epoch"]["shares"] == [[1, {"dataset": {"next": 2}, "ended": False}]]
    check(state)


@workers
@pytest.mark.parametrize("kind", [Count, Place])
@pytest.mark.parametrize("size", [3, None])
def test_streams(kind, size, options):
    for stop in (1, 2, 5, 7):
        found, whole = interrupted(
            lambda **o: DataLoader(kind(20), size, **o), stop, epochs=1, options=options
        )
        assert found == whole


def test_a_stream_with_a_place_reads_nothing_again():
    loader = DataLoader(Place(20), 3)
    it = iter(loader)
    next(it), next(it)
    data = Place(20)
    other = DataLoader(data, 3)
    other.load_state_dict(loader.state_dict())
    assert [plain(b) for b in other] == [plain(b) for b in it] and data.read[0] == 6


def test_streams_need_their_number_of_workers():
    loader = DataLoader(Count(20), 3, **WORKERS[1])
    next(iter(loader))
    for options in (WORKERS[0], WORKERS[2]):
        with pytest.raises(ValueError, match=r"got workers 2, expected"):
            DataLoader(Count(20), 3, **options).load_state_dict(loader.state_dict())


def test_a_distributed_sampler():
    def make(**options):
        return DataLoader(Rows(), 2, sampler=DistributedSampler(range(20), 2, 0), **options)

    loader = make()
    loader.sampler.set_epoch(5)
    it = iter(loader)
    next(it)
    other = make()
    other.load_state_dict(loader.state_dict())
    assert [plain(b) for b in other] == [plain(b) for b in it] and other.sampler.epoch == 5


def test_batches_that_failed_or_came_early():
    class Fails(Rows):
        failing = True

        def __getitem__(self, i):
            if i == 4 and self.failing:
                raise KeyError(i)
            return i

    loader = DataLoader(Fails(), 2)
    it = iter(loader)
    next(it), next(it)
    with pytest.raises(KeyError):
        next(it)
    next(it)
    state = loader.state_dict()
    assert state["epoch"]["delivered"] == 2 and state["epoch"]["ahead"] == [3]
    loader.dataset.failing = False
    loader.load_state_dict(state)
    assert [plain(b) for b in loader] == [[4, 5], *([i, i + 1] for i in range(8, 20, 2))]

    loader = DataLoader(Rows(), 2, in_order=False, **WORKERS[1])
    it = iter(loader)
    found = [plain(next(it)) for _ in range(4)]
    loader.load_state_dict(loader.state_dict())
    assert sorted(found + [plain(b) for b in loader]) == [[i, i + 1] for i in range(0, 20, 2)]


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda s: s.pop("epoch"), "no state of a DataLoader"),
        (lambda s: s.update(batch_size=5), "got batch_size 5, expected 3"),
        (lambda s: s.update(length=21), "got length 21, expected 20"),
        (lambda s: s.update(version=0), "got version 0, expected 1"),
        (lambda s: s["generators"].clear(), "got 0 generators, expected 1"),
    ],
)
def test_states_of_other_loaders(change, text):
    loader = KINDS["generator"]()
    next(iter(loader))
    state = loader.state_dict()
    change(state)
    before = loader.generator.get_state()
    with pytest.raises(ValueError, match=text):
        loader.load_state_dict(state)
    assert zero.equal(loader.generator.get_state(), before)
    with pytest.raises(ValueError, match="got int"):
        loader.load_state_dict(3)


def test_states_in_a_file(tmp_path):
    for name in ("shuffled", "generator", "python", "stateful"):
        zero.manual_seed(1)
        loader = KINDS[name]()
        batches = iter(loader)
        next(batches)
        zero.save({"loader": loader.state_dict()}, tmp_path / "state.pt")
        again = KINDS[name]()
        again.load_state_dict(zero.load(tmp_path / "state.pt")["loader"])
        assert [plain(b) for b in again] == [plain(b) for b in batches]


PROGRAM = """
import hashlib, os, random, signal, sys
import numpy as np
import zero
from zero.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __len__(self):
        return 60
    def __getitem__(self, i):
        return zero.rand(4) + random.random() + np.random.rand(), float(i)

def train(path, end):
    zero.manual_seed(3)
    model = zero.nn.Sequential(zero.nn.Linear(4, 8), zero.nn.Dropout(0.3), zero.nn.Linear(8, 1))
    optimizer = zero.optim.Adam(model.parameters())
    loader = DataLoader(Noisy(), 8, shuffle=True, num_workers=2, multiprocessing_context="fork")
    epoch, parts = 0, (model, optimizer, loader)
    if os.path.exists(path):
        states, epoch, numbers = zero.load(path)
        for part, state in zip(parts, states):
            part.load_state_dict(state)
        zero.set_rng_state(numbers)
    for epoch in range(epoch, 3):
        for x, y in loader:
            optimizer.zero_grad()
            ((model(x)[:, 0] - y) ** 2).mean().backward()
            optimizer.step()
            end -= 1
            states = [part.state_dict() for part in parts]
            zero.save([states, epoch, zero.get_rng_state()], path)
            if end == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    values = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    print(hashlib.sha256(values).hexdigest())

train(sys.argv[1], int(sys.argv[2]))
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork")
def test_a_killed_run_goes_on_bit_for_bit(tmp_path):
    """With workers, in the middle of an epoch, also more than once."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    root = str(Path(zero.__file__).parent.parent)

    def run(name, end):
        return subprocess.run(
            [sys.executable, program, tmp_path / name, str(end)],
            env=os.environ | {"PYTHONPATH": root},
            capture_output=True,
            text=True,
            timeout=120,
        )

    whole = run("whole.pt", 0)
    assert whole.returncode == 0, whole.stderr
    for end in (3, 9):
        assert run("parts.pt", end).returncode == -signal.SIGKILL
    assert run("parts.pt", 0).stdout == whole.stdout


def test_training_is_resumed_bit_for_bit():
    """Weights, moments, random numbers and the loader: the run goes on as if nothing had been."""
    zero.manual_seed(0)
    x = zero.randn(64, 5)
    data = TensorDataset(x, x.sum(1, keepdim=True))

    def start():
        zero.manual_seed(2)
        model = zero.nn.Sequential(
            zero.nn.Linear(5, 8), zero.nn.Dropout(0.2), zero.nn.Tanh(), zero.nn.Linear(8, 1)
        )
        return model, zero.optim.Adam(model.parameters()), DataLoader(data, 7, shuffle=True)

    def train(model, optimizer, loader, steps):
        done = 0
        while done < steps:
            for inputs, target in loader:
                optimizer.zero_grad()
                ((model(inputs) - target) ** 2).mean().backward()
                optimizer.step()
                done += 1
                if done == steps:
                    break
        return [p.tolist() for p in model.parameters()]

    whole = train(*start(), 37)
    model, optimizer, loader = start()
    train(model, optimizer, loader, 14)
    stored = model.state_dict(), optimizer.state_dict(), loader.state_dict(), zero.get_rng_state()
    again = start()
    for part, state in zip(again, stored, strict=False):
        part.load_state_dict(state)
    zero.set_rng_state(stored[3])
    assert train(*again, 23) == whole
