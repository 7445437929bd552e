"""DataLoader's worker processes: batches in shared memory, seeds, failures, what is left over."""

import contextlib
import gc
import hashlib
import multiprocessing
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import zero
from zero.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    TensorDataset,
    _arena,
    get_worker_info,
)

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader makes . worker processes")
METHODS = multiprocessing.get_all_start_methods()
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
posix = pytest.mark.skipif(os.name != "posix", reason="signals")
forks = pytest.mark.skipif("fork" not in METHODS, reason="no fork")
CONTEXT = "fork" if "fork" in METHODS else "spawn"


def loader(dataset, **options):
    options.setdefault("num_workers", 2)
    options.setdefault("multiprocessing_context", CONTEXT)
    return DataLoader(dataset, **options)


def children():
    return multiprocessing.active_children()


def descriptors():
    return sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []


def status(key, pid="self"):
    """A line of /proc/PID/status, in bytes."""
    with open(f"/proc/{pid}/status") as lines:
        return next(int(x.split()[1]) * 1024 for x in lines if x.startswith(key + ":"))


@pytest.fixture(autouse=True)
def nothing_left():
    gc.collect()
    before = descriptors()
    yield
    gc.collect()
    assert not children()
    assert len(descriptors()) <= len(before) + 2  # modules that are imported once


# ---- datasets ------------------------------------------------------------------------------------
class Squares(Dataset):
    """An array, a number and a text for each index."""

    def __init__(self, n=20, shape=(3,), seconds=0.0):
        self.n, self.shape, self.seconds = n, shape, seconds

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if self.seconds:
            time.sleep(self.seconds)
        return np.full(self.shape, i * i, np.float32), i, f"n{i}"


class Drawing(Dataset):
    """Random numbers of all generators."""

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return i, random.random(), float(np.random.rand()), zero.rand(2)


class Raising(Dataset):
    def __init__(self, make, at=3):
        self.make, self.at = make, at

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == self.at:
            raise self.make()
        return i


class Calling(Dataset):
    """Calls a function for one index."""

    def __init__(self, function, at=3, n=8):
        self.function, self.at, self.n = function, at, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == self.at:
            self.function()
        return zero.full((2,), float(i))


class Shards(IterableDataset):
    def __init__(self, n, uneven=False):
        self.n, self.uneven = n, uneven

    def __iter__(self):
        info = get_worker_info()
        k, w = (0, 1) if info is None else (info.id, info.num_workers)
        stop = self.n // 3 if self.uneven and k == 0 else self.n
        return iter(range(k, stop, w))


def flat(batches):
    return [x for batch in batches for x in batch.tolist()]


# ---- batches -------------------------------------------------------------------------------------
def plain(x):
    """Batches as values that can be compared."""
    if isinstance(x, zero.Tensor):
        return str(x.dtype), x.tolist()
    if isinstance(x, np.ndarray):
        return str(x.dtype), x.tolist()
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(y) for y in x]
    return x


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("workers", [1, 3])
def test_the_same_batches_as_without_workers(method, workers):
    data = Squares(23)
    more = ({}, {"drop_last": True}, {"batch_size": None}) if method == "fork" else ()
    for options in ({"shuffle": True}, *more):
        options = {"batch_size": 4} | options
        zero.manual_seed(1)
        expected = [plain(batch) for batch in DataLoader(data, **options)]
        zero.manual_seed(1)
        found = loader(data, num_workers=workers, multiprocessing_context=method, **options)
        assert [plain(batch) for batch in found] == expected


@forks
def test_batches_are_in_shared_memory_and_writable():
    first, second = loader(Squares(4, (100, 100)), batch_size=2)
    for x, i, text in (first, second):
        assert x.is_shared() and x.shape == (2, 100, 100) and x.untyped_storage().nbytes() == 80000
        x.mul_(2)
        assert x[1, 0, 0].item() == 2 * i[1].item() ** 2 and isinstance(text[0], str)


Pair = namedtuple("Pair", "left right")


class Odd:
    """An object that is no tensor."""

    def __init__(self, values):
        self.values = values

    def __eq__(self, other):
        return self.values.tolist() == other.values.tolist()


def odd_collate(samples):
    x = zero.tensor([float(i) for _, i, _ in samples])
    wide = zero.rand(len(samples), 3, 40, 40).contiguous(memory_format=zero.channels_last)
    leaf = zero.nn.Parameter(x.clone())
    leaf.note = "kept"
    return {
        "pair": Pair(x, (x, [1, None, "text", b"bytes"])),
        "array": np.arange(3000.0).reshape(30, 100) + x[0].item(),
        "strings": np.array(["a", "b"]),
        "expanded": x[:, None].expand(len(samples), 5000),
        "strided": zero.arange(100)[::3],
        "wide": wide,
        "leaf": leaf,
        "empty": zero.zeros(0, 3),
        "half": x.to(zero.bfloat16),
        "odd": Odd(x * 2),
        "meta": zero.ones(2, device="meta").shape,
        "many": ["text"] * 3000,
    }


@pytest.mark.parametrize("method", METHODS[:2])
def test_any_kind_of_batch(method):
    zero.manual_seed(0)
    (batch,) = loader(
        Squares(2),
        batch_size=2,
        num_workers=1,
        collate_fn=odd_collate,
        multiprocessing_context=method,
    )
    assert type(batch["pair"]) is Pair and batch["pair"].left is batch["pair"].right[0]
    assert batch["pair"].right[1] == [1, None, "text", b"bytes"]
    assert batch["pair"].left.tolist() == [0, 1]
    assert batch["array"].tolist() == np.arange(3000.0).reshape(30, 100).tolist()
    batch["array"][0] = 1  # may be written to
    assert batch["strings"].tolist() == ["a", "b"]
    assert batch["expanded"].shape == (2, 5000) and batch["expanded"][1, 77].item() == 1
    assert batch["strided"].tolist() == list(range(0, 100, 3))
    assert batch["wide"].is_contiguous(memory_format=zero.channels_last)
    leaf = batch["leaf"]
    assert type(leaf) is zero.nn.Parameter and leaf.requires_grad and leaf.note == "kept"
    assert batch["empty"].shape == (0, 3) and batch["half"].dtype is zero.bfloat16
    assert batch["odd"] == Odd(zero.tensor([0.0, 2.0])) and batch["many"] == ["text"] * 3000


def view_collate(samples):
    """Parts of a batch that was collated in place."""
    x = zero.utils.data.default_collate([x for x, _, _ in samples])
    return x[:, 1:], x.t(), x


@forks
def test_views_of_what_was_collated():
    (batch,) = loader(Squares(3, (5000,)), batch_size=3, num_workers=1, collate_fn=view_collate)
    expected = np.stack([np.full(5000, i * i, np.float32) for i in range(3)])
    for x, y in zip(batch, (expected[:, 1:], expected.T, expected), strict=True):
        assert x.shape == y.shape and np.array_equal(x.numpy(), y)


CACHE = {}


def caching_collate(samples):
    key = samples[0][1]
    if key not in CACHE:
        CACHE[key] = zero.utils.data.default_collate([x for x, _, _ in samples])
    return CACHE[key]


@forks
def test_a_batch_that_the_worker_keeps_stays_its_own():
    data = Squares(6, (4000,))
    batches = loader(
        data, batch_size=2, num_workers=1, collate_fn=caching_collate, persistent_workers=True
    )
    for _ in range(4):
        for i, x in enumerate(batches):
            assert x[:, 0].tolist() == [(2 * i) ** 2, (2 * i + 1) ** 2]
            x.fill_(-1)
    del batches


class Graph(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return zero.ones(2, requires_grad=True) * i


@forks
def test_graphs_stay_where_they_are():
    with pytest.raises(RuntimeError, match=r"a graph, which cannot leave a worker.*x\.detach"):
        next(iter(loader(Graph(), collate_fn=lambda samples: samples[0])))


@forks
def test_long_lists_of_indices():
    data = Squares(60000, (1,))
    _, i, _ = next(iter(loader(data, batch_size=60000, num_workers=1)))
    assert i.tolist() == list(range(60000))


@forks
@pytest.mark.parametrize("prefetch", [1, 5, 200])
def test_prefetching(prefetch):
    data = Squares(300)
    found = [i for _, i, _ in loader(data, prefetch_factor=prefetch)]
    assert flat(found) == list(range(300))


class FirstWaits(Squares):
    """Its first sample is there when it is released."""

    def __init__(self, n):
        super().__init__(n)
        self.released = multiprocessing.get_context("fork").Event()

    def __getitem__(self, i):
        if i == 0:
            self.released.wait(60)
        return i


@forks
def test_order():
    data = FirstWaits(6)
    it = iter(loader(data, prefetch_factor=3, in_order=False))
    first = [next(it).item() for _ in range(3)]  # of the other worker
    data.released.set()
    assert first == [1, 3, 5] and sorted(flat(it)) == [0, 2, 4]
    assert flat(loader(data, prefetch_factor=3)) == [0, 1, 2, 3, 4, 5]


@forks
def test_a_worker_computes_on_one_thread():
    class Threads(Squares):
        def __getitem__(self, i):
            return zero.get_num_threads(), get_worker_info().id, get_worker_info().num_workers

    found = plain(list(loader(Threads(4))))
    assert [batch[0][1][0] for batch in found] == [1] * 4
    assert [batch[1][1][0] for batch in found] == [0, 1, 0, 1] and found[0][2][1] == [2]


# ---- memory --------------------------------------------------------------------------------------
@linux
def test_ten_thousand_kept_batches():
    data = TensorDataset(zero.arange(10_000.0)[:, None].expand(10_000, 6000))
    zero.ones(1)
    before = len(descriptors())
    kept = []
    most = 0
    for (x,) in loader(data, batch_size=1):
        kept.append(x)
        if len(kept) % 1000 == 0:
            most = max(most, len(descriptors()))
    assert most <= before + 16
    assert [x[0, 5999].item() for x in kept] == list(range(10_000))
    assert kept[17].is_shared()


@linux
def test_memory_goes_back(monkeypatch):
    def shared():
        return status("RssShmem")

    start = shared()
    kept = [x for x, _, _ in loader(Squares(20, (250_000,)), batch_size=1)]
    for x in kept:
        x.add_(1)
    assert shared() - start > 19 << 20
    last = kept.pop()
    kept.clear()
    gc.collect()
    assert shared() - start < 3 << 20 and last[0, 0].item() == 362
    # Beyond so many mappings batches are copied.
    monkeypatch.setattr(_arena, "MAX_MAPPED", 5)
    kept = [x for x, _, _ in loader(Squares(20, (10_000,)), batch_size=1)]
    assert [x[0, 9].item() for x in kept] == [i * i for i in range(20)]
    assert 1 <= sum(x.is_shared() for x in kept) <= 6


@forks
def test_slots_go_round():
    batches = iter(loader(Squares(200, (10_000,)), batch_size=1, num_workers=1))
    places = set()
    for x, i, _ in batches:
        assert x[0, 0].item() == i.item() ** 2
        places.add(x.data_ptr())
        del x
    assert len(places) <= 6


@forks
@pytest.mark.parametrize("prefetch", [1, 2, 30])
def test_small_batches_share_slots(prefetch):
    batches = loader(Squares(900), batch_size=1, prefetch_factor=prefetch, persistent_workers=True)
    kept = []
    for epoch in range(3):
        for x, i, _ in batches:
            assert x.is_shared() and i.is_shared()
            assert x[0, 2].item() == i.item() ** 2
            if i.item() % 3 == epoch:
                kept.append((x, i.item()))
    assert all(x.tolist() == [[i * i] * 3] for x, i in kept)
    if sys.platform == "linux":  # far fewer pieces of the file than batches
        with open("/proc/self/maps") as lines:
            assert sum("zero-loader" in line for line in lines) < 100
    del x, i, batches
    gc.collect()
    assert all(x.tolist() == [[i * i] * 3] for x, i in kept)


class Sizes(Squares):
    """Arrays of very different sizes."""

    def __getitem__(self, i):
        return np.full((1 if i % 20 else 50_000) if i < 100 else i * 200, i, np.int32)


@forks
def test_sizes_that_change():
    kept = []
    for i, x in enumerate(loader(Sizes(200), batch_size=None, prefetch_factor=4)):
        assert x.is_shared() and len(x) == len(Sizes(200)[i])
        kept += [(x, i)] * (i % 2)
    assert all((x == i).all() for x, i in kept)


@posix
def test_kept_batches_survive_their_worker():
    data = Calling(lambda: os.kill(os.getpid(), signal.SIGKILL), at=40, n=60)
    kept = []
    with pytest.raises(RuntimeError, match="SIGKILL"):
        for x in loader(data, batch_size=1, num_workers=1, prefetch_factor=8):
            kept.append(x)
    assert len(kept) >= 30 and [x[0, 1].item() for x in kept] == list(range(len(kept)))


@forks
@pytest.mark.parametrize("persistent", [False, True])
def test_a_forked_program_has_its_own_workers(persistent):
    batches = loader(Squares(20), batch_size=4, persistent_workers=persistent)
    it = iter(batches)
    next(it)
    pid = os.fork()
    if pid == 0:
        ends = 1
        with contextlib.suppress(BaseException):
            with pytest.raises(RuntimeError, match="belongs to the process that made it"):
                next(it)
            ends = 0 if flat(i for _, i, _ in batches) == list(range(20)) else 2
        os._exit(ends)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert flat(i for _, i, _ in it) == list(range(4, 20))
    del it, batches


@forks
def test_a_batch_that_is_dropped_elsewhere(tmp_path):
    # A forked process drops its view of a batch; the parent's stays.
    (batch, _, _), *_ = list(loader(Squares(8, (10_000,)), batch_size=4))
    pid = os.fork()
    if pid == 0:
        del batch, _
        gc.collect()
        os._exit(0)
    os.waitpid(pid, 0)
    assert batch[3, 77].item() == 9


@linux
def test_two_hundred_epochs():
    """Epochs leave no memory and no descriptors behind, with workers that stay and that don't."""
    data = TensorDataset(zero.rand(64, 1000), zero.arange(64))
    for options, epochs in (({"persistent_workers": True}, 200), ({}, 60)):
        batches = loader(data, batch_size=16, **options)
        for epoch in range(epochs):
            for x, y in batches:
                x.sum() + y.sum()
            if epoch == epochs // 10:
                gc.collect()
                memory, open_now = status("VmRSS"), len(descriptors())
        gc.collect()
        assert status("VmRSS") - memory < 2 << 20
        assert len(descriptors()) == open_now
        del batches


def rollup(key):
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(x.split()[1]) << 10 for x in lines if x.startswith(key + ":"))


class Memory(Dataset):
    """Reads all of a large tensor and tells what memory the process has then."""

    def __init__(self, x, key):
        self.x, self.key = x, key

    def __len__(self):
        return 4

    def __getitem__(self, i):
        rows = len(self.x) // 2
        half = i % 2
        total = self.x[half * rows : (half + 1) * rows].sum().item()
        return total, rollup(self.key), rollup("Pss"), os.getpid()


@linux
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["tensor", "array"])
def test_a_large_dataset_is_not_copied(method, kind):
    # A fork shares whatever there is, here 2 GB of pages of which only some were written to; for
    # the other methods one copy is made, which all workers share.
    size = 2 << 30 if method == "fork" else 500 << 20
    x = np.zeros((size >> 12, 1024), np.float32)
    x[: (256 << 20) >> 12] = 1
    # Copies would be in no file, and after a fork no other process's.
    key = "Private_Dirty" if method == "fork" else "Anonymous"
    data = Memory(x if kind == "array" else zero.from_numpy(x), key)
    batches = loader(data, multiprocessing_context=method, persistent_workers=True)
    for _ in range(2):
        found = list(batches)
        assert sum(total.item() for total, *_ in found) == 2 * (64 << 20)
        assert len({pid.item() for *_, pid in found}) == 2
        assert all(copied.item() < 96 << 20 for _, copied, _, _ in found)
    assert sum(share.item() for _, _, share, _ in found[:2]) < size + (128 << 20)


class Changing(Dataset):
    """Writes to its arrays and tensors, and tells what it finds in them."""

    def __init__(self):
        table = np.arange(40_000.0).reshape(200, 200)
        fixed = table.copy()
        fixed.flags.writeable = False
        x = zero.arange(40_000.0).view(200, 200)
        self.arrays = [table, table[::-1, ::2], table.T, table[:, :8], fixed, table[:2].copy()]
        self.arrays.append(np.broadcast_to(table[0], (100, 200)))
        self.arrays.append(np.ones(5000, [("a", np.float32), ("b", np.int8)]))
        self.tensors = [x, x.t(), x[:, 3], x.to(zero.bfloat16), x > 7, x[0].expand(100, 200)]
        self.shared = zero.zeros(5000).share_memory_()
        self.leaf = zero.nn.Parameter(zero.ones(5000))
        self.leaf.note = "kept"
        self.meta = zero.ones(5000, device="meta")

    def __len__(self):
        return 4

    def __getitem__(self, i):
        text = [(a.tobytes(), a.shape, a.dtype.str, a.flags.writeable) for a in self.arrays]
        text += [(x.float().tolist(), x.shape, x.dtype, x.is_shared()) for x in self.tensors]
        text += [self.leaf.is_leaf, self.leaf.requires_grad, self.leaf.note, self.meta.is_meta]
        same = self.tensors[0] is self.tensors[0], np.shares_memory(*self.arrays[:3:2])
        self.arrays[0][0, 0] += 1
        self.tensors[0][0, 0] += 1
        self.shared[i] = 1
        return str(text), same, self.arrays[0][0, 0], self.tensors[0][0, 0].item()


@pytest.mark.parametrize("method", METHODS)
def test_what_workers_write_to_a_dataset_is_their_own(method):
    data = Changing()
    expected = data[0][0]
    data.arrays[0][0, 0] = data.tensors[0][0, 0] = 0
    batches = list(loader(data, multiprocessing_context=method))
    assert [batch[0][0] for batch in batches[:2]] == [expected] * 2
    assert [batch[2].item() for batch in batches] == [1, 1, 2, 2]
    assert [batch[3].item() for batch in batches] == [1, 1, 2, 2]
    assert data.arrays[0][0, 0] == data.tensors[0][0, 0].item() == 0
    assert data.shared[:4].tolist() == [1, 1, 1, 1]
    assert not any(x.is_shared() for x in data.tensors)  # the program's stay where they are


class Passing(Dataset):
    """Its state is made anew each time that it is pickled."""

    def __len__(self):
        return 2

    def __getstate__(self):
        return {"x": np.full(10_000, random.random()), "y": np.full(10_000, 3.0)}

    def __getitem__(self, i):
        return self.x[0], self.x[-1], self.y.sum()


def test_arrays_that_are_made_while_a_dataset_is_pickled():
    (a, b, y), (c, d, z) = loader(Passing(), multiprocessing_context="spawn")
    assert a == b and c == d and a != c and y == z == 30_000


def test_without_room_a_dataset_is_copied(monkeypatch):
    place = _arena.Slots.place

    def limited(slots, nbytes):
        if nbytes >= 40_000:
            raise _arena.NoRoom
        return place(slots, nbytes)

    monkeypatch.setattr(_arena.Slots, "place", limited)
    data = TensorDataset(zero.arange(80_000.0).view(8, 10_000), zero.arange(8))
    with pytest.warns(UserWarning, match="copy of the dataset's arrays") as said:
        found = plain(list(loader(data, batch_size=2, multiprocessing_context="spawn")))
    assert found == plain(list(DataLoader(data, batch_size=2))) and len(said) == 1


@linux
def test_where_there_are_no_files_without_names(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "memfd_create")
    found = plain(list(loader(Squares(12, (5000,)), batch_size=3)))
    assert found == plain(list(DataLoader(Squares(12, (5000,)), batch_size=3)))
    monkeypatch.setattr(_arena, "PLACE_WANTED", 1 << 60)
    monkeypatch.setattr(_arena.tempfile, "tempdir", str(tmp_path))
    with pytest.warns(UserWarning, match="/dev/shm has .* MB left, too few") as said:
        again = plain(list(loader(Squares(12, (5000,)), batch_size=3)))
    assert again == found and len(said) == 1
    assert not list(tmp_path.iterdir())


def no_space(descriptor, offset, size):
    raise OSError(28, "No space left on device")


@linux
def test_without_room_batches_go_through_pipes(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr(os, "posix_fallocate", no_space)
    with pytest.warns(UserWarning, match="batches go through pipes") as said:
        found = plain(list(loader(Squares(12, (50_000,)), batch_size=3)))
    assert found == plain(list(DataLoader(Squares(12, (50_000,)), batch_size=3)))
    assert len(said) == 1

    def nothing():
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("zero.utils.data._workers.Arena", lambda *_: nothing())
    with pytest.warns(UserWarning, match="Too many open files"):
        assert plain(list(loader(Squares(12, (50_000,)), batch_size=3))) == found


@linux
def test_pinned_batches():
    batches = loader(Squares(8, (10_000,)), batch_size=2, pin_memory=True)
    for x, i, _ in batches:
        if not zero.ones(1).pin_memory().is_pinned():
            pytest.skip("the system locks no memory for this user")
        assert x.is_pinned() and i.is_pinned() and x.is_shared()
        assert x[1, 5].item() == i[1].item() ** 2
    it = iter(batches)
    next(it)
    del it  # half way


# ---- random numbers ------------------------------------------------------------------------------
def drawn(workers, seed=3, epochs=2, **options):
    zero.manual_seed(seed)
    batches = loader(Drawing(), batch_size=3, num_workers=workers, **options)
    return [plain(list(batches)) for _ in range(epochs)]


@forks
def test_random_numbers():
    first, second = drawn(1)
    assert first[0] != first[1] and first != second
    for column in range(1, 4):  # no two samples have the same numbers
        values = [str(v) for epoch in (first, second) for b in epoch for v in b[column][1]]
        assert len(set(values)) == len(values)
    assert drawn(1) == drawn(3) == drawn(2, persistent_workers=True) == [first, second]
    assert drawn(2, seed=4) != [first, second]
    assert drawn(2, multiprocessing_context="spawn", epochs=1) == [first]


def fix_numpy(worker):
    np.random.seed(100 + worker)


@forks
def test_seeds_of_worker_init_fn_stay():
    expected = np.random.RandomState(100).rand(12).tolist()
    for seed in (1, 2):
        zero.manual_seed(seed)
        found = list(loader(Drawing(), batch_size=3, num_workers=1, worker_init_fn=fix_numpy))
        assert [v for batch in found for v in batch[2].tolist()] == expected
    assert found[0][1].tolist() != found[1][1].tolist()


@forks
def test_the_main_program_draws_as_without_workers():
    states = []
    for workers in (0, 2):
        zero.manual_seed(5)
        random.seed(5)
        list(DataLoader(TensorDataset(zero.arange(4)), shuffle=True, num_workers=workers))
        states.append((zero.rand(1).item(), random.random()))
    assert states[0] == states[1]


# ---- iterable datasets ---------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
def test_shards(method):
    found = flat(loader(Shards(11), batch_size=2, num_workers=3, multiprocessing_context=method))
    assert sorted(found) == list(range(11))
    assert found[:6] == [0, 3, 1, 4, 2, 5]  # the workers in turn


@forks
def test_shards_of_unequal_lengths():
    batches = loader(Shards(30, uneven=True), batch_size=2, persistent_workers=True)
    expected = sorted([*range(0, 10, 2), *range(1, 30, 2)])
    for _ in range(3):
        assert sorted(flat(batches)) == expected
    del batches
    assert sorted(flat(loader(Shards(30, uneven=True), in_order=False))) == expected


# ---- failures ------------------------------------------------------------------------------------
class TwoArguments(Exception):
    def __init__(self, code, text):
        super().__init__(code, text)
        self.code = code


class Mute(Exception):
    def __init__(self, code):
        self.code = code

    def __str__(self):
        return f"code {self.code}"


def two_arguments():
    return TwoArguments(7, "special message")


def file_not_found():
    return FileNotFoundError(2, "No such file", "data.bin")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: ValueError("bad sample"), ValueError, "bad sample"),
        (two_arguments, TwoArguments, "special message"),
        (lambda: Mute(5), Exception, "code 5"),
        (lambda: KeyError("no\nkey"), KeyError, "no\nkey"),
        (file_not_found, FileNotFoundError, "data.bin"),
        (lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "odd"), Exception, "can't decode"),
        (lambda: KeyboardInterrupt("mine"), RuntimeError, "mine"),
        (lambda: type("Local", (Exception,), {})("gone"), RuntimeError, "Local"),
    ],
)
def test_exceptions_of_workers(method, make, kind, text):
    if method != "fork":
        if make is not two_arguments:
            pytest.skip("functions without a name stay here")
    batches = iter(loader(Raising(make), multiprocessing_context=method))
    assert flat([next(batches), next(batches), next(batches)]) == [0, 1, 2]
    with pytest.raises(kind) as caught:
        next(batches)
    message = str(caught.value)
    assert text in message and "worker 1" in message
    assert "Traceback (most recent call last)" in message and "__getitem__" in message
    if kind is TwoArguments:
        assert caught.value.code == 7
    if kind is FileNotFoundError:
        assert caught.value.errno == 2
    assert flat(batches) == [4, 5, 6, 7]  # it goes on behind


def stop_iteration():
    raise StopIteration


@forks
def test_stop_iteration_does_not_end_the_epoch():
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(loader(Calling(stop_iteration)))
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(loader(Squares(3), collate_fn=lambda _: stop_iteration()))


@forks
def test_worker_init_fn():
    zero.manual_seed(0)

    def fail(worker):
        if worker == 1:
            raise ValueError("init says no")

    batches = iter(loader(Squares(8), worker_init_fn=fail))
    with pytest.raises(ValueError, match=r"(?s)init says no.*worker 1"):
        list(batches)
    del batches

    def change(worker):
        get_worker_info().dataset.n = 100 + worker

    class Length(Squares):
        def __getitem__(self, i):
            return self.n

    assert set(flat(loader(Length(6), worker_init_fn=change))) == {100, 101}


@posix
@forks
@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), r"signal 9 \(SIGKILL\): .*out of memory"),
        (lambda: os.kill(os.getpid(), signal.SIGBUS), r"\(SIGBUS\): .*memory .* is full"),
        (lambda: os._exit(3), "exited with code 3"),
        (lambda: sys.exit(4), "exited with code 4"),
    ],
)
@pytest.mark.parametrize("persistent", [False, True])
def test_a_worker_that_dies(end, expected, persistent, capfd):
    batches = loader(Calling(end, at=7), persistent_workers=persistent)
    it = iter(batches)
    next(it)
    with pytest.raises(RuntimeError, match=rf"DataLoader: worker 1 \(pid \d+\) .*{expected}"):
        list(it)
    assert not children()
    assert list(it) == []  # it is over
    if persistent:  # a new epoch starts new workers
        assert len(next(iter(batches))) == 1
    del it, batches


@posix
@forks
def test_a_worker_is_killed_from_outside():
    seconds = []
    while len(seconds) < 5 and min(seconds, default=9) >= 1:  # a busy machine may be slow once
        it = iter(loader(Squares(10_000, seconds=0.01)))
        next(it)
        victim = children()[0]
        os.kill(victim.pid, signal.SIGKILL)
        start = time.monotonic()
        with pytest.raises(RuntimeError, match=rf"\(pid {victim.pid}\) was killed by signal 9"):
            list(it)
        seconds.append(time.monotonic() - start)
        assert not children()
    assert min(seconds) < 1


@forks
def test_timeouts():
    data = FirstWaits(6)
    it = iter(loader(data, timeout=0.2))
    with pytest.raises(RuntimeError, match=r"no batch came from 2 workers within 0\.2 s"):
        next(it)
    data.released.set()
    found = None
    while found is None:  # it goes on where it was
        with contextlib.suppress(RuntimeError):
            found = next(it)
    assert found.tolist() == [0]
    del it


def test_what_cannot_be_sent():
    class Local(Squares):
        pass

    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        iter(loader(Local(3), multiprocessing_context="spawn"))


@forks
def test_iterators_that_are_dropped_half_way():
    for persistent in (False, True):
        batches = loader(Squares(100, (1000,), seconds=0.005), persistent_workers=persistent)
        for _ in range(3):
            it = iter(batches)
            x, i, _ = next(it)
            next(it)
            del it
            gc.collect()
            assert bool(children()) == persistent
            assert i.item() == 0 and x[0, 0].item() == 0
        assert flat(i for _, i, _ in batches) == list(range(100))
        del batches
        gc.collect()
        assert not children()


@linux
def test_a_worker_that_does_not_end(monkeypatch):
    def deaf():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(100)

    monkeypatch.setattr("zero.utils.data._workers.GRACE", 0.1)
    it = iter(loader(Calling(deaf, at=5)))
    next(it)
    pids = [child.pid for child in children()]
    start = time.monotonic()
    del it
    gc.collect()
    assert time.monotonic() - start < 50 and not any(map(is_alive, pids))


@forks
def test_signal_handlers_are_not_for_workers():
    before = signal.signal(signal.SIGTERM, lambda *_: os._exit(9))
    try:
        it = iter(loader(Calling(lambda: os.kill(os.getpid(), signal.SIGTERM), at=5)))
        with pytest.raises(RuntimeError, match="SIGTERM"):
            list(it)
    finally:
        signal.signal(signal.SIGTERM, before)


@forks
def test_two_loaders_at_once():
    a, b = loader(Squares(9)), loader(Squares(9, (2000,)))
    for (_, i, _), (x, j, _) in zip(a, b, strict=True):
        assert i.item() == j.item() and x[0, 1].item() == j.item() ** 2


@forks
def test_from_a_thread():
    found = []
    thread = threading.Thread(target=lambda: found.extend(loader(Squares(9))))
    thread.start()
    thread.join()
    assert flat(i for _, i, _ in found) == list(range(9))


# ---- Ctrl-C, and a main program that is killed ---------------------------------------------------
PROGRAM = """
import multiprocessing, os, signal, sys, time
import numpy as np
import zero
signal.signal(signal.SIGINT, signal.default_int_handler)  # of background jobs it is ignored
from zero.utils.data import DataLoader, Dataset
class Data(Dataset):
    def __len__(self):
        return 100_000
    def __getitem__(self, i):
        time.sleep(0.001)
        return np.zeros(5000, np.float32)
def main():
    method, persistent, half = sys.argv[1], sys.argv[2] == "1", sys.argv[3] == "1"
    multiprocessing.current_process().authkey = sys.argv[4].encode()
    loader = DataLoader(Data(), batch_size=4, num_workers=2, multiprocessing_context=method,
                        persistent_workers=persistent)
    print("started", os.getpid(), flush=True)
    while True:
        for i, batch in enumerate(loader):
            if i == 0:
                for child in multiprocessing.active_children():
                    print("child", child.pid, flush=True)
                print("running", flush=True)
            batch.sum()
            if half and i == 3:
                break
if __name__ == "__main__":
    main()
"""


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"


def interrupted(program, method, persistent, half, delay, signals, kill=False):
    """What is left of the program after it was interrupted `delay` seconds after its first batch,
    or after its start if that is negative."""
    root, key = str(Path(zero.__file__).parent.parent), os.urandom(8).hex()
    process = subprocess.Popen(
        [sys.executable, program, method, str(int(persistent)), str(int(half)), key],
        env=os.environ | {"PYTHONPATH": root},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    pids = []
    for line in process.stdout:
        if line.startswith("child"):
            pids.append(int(line.split()[1]))
        if line.startswith("started" if delay < 0 else "running"):
            break
    time.sleep(abs(delay))
    if kill:
        process.kill()
    else:
        for _ in range(signals):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.02)
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        # In a callback of Python's own, such as importlib's, an interrupt is printed and lost.
        os.killpg(process.pid, signal.SIGINT)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
        assert "Exception ignored in" in err, err
    # an interrupted print may leave half a line
    pids += [int(pid) for pid in re.findall(r"^child (\d+)$", out, re.MULTILINE)]
    end = time.monotonic() + 60

    def left():
        group = subprocess.run(["pgrep", "-g", str(process.pid)], capture_output=True, text=True)
        return [pid for pid in {*pids, *map(int, group.stdout.split())} if is_alive(pid)]

    while left() and time.monotonic() < end:
        time.sleep(0.05)
    assert not left(), (pids, left(), err)
    # The folder for named memory that the program would have made.
    folder = "zero-" + hashlib.sha256(b"zero" + key.encode()).hexdigest()[:20]
    assert not os.path.exists(os.path.join("/dev/shm", folder))
    return process.returncode, err


@linux
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("persistent", "half"), [(False, False), (True, False), (True, True)])
def test_ctrl_c(method, persistent, half, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    moments = random.Random(f"{method} {persistent} {half}")
    delays = [moments.uniform(0, 0.3), -moments.uniform(0, 0.1)]
    if method == "fork":  # and again, while it starts
        delays += [moments.uniform(0, 0.05), -moments.uniform(0, 0.02)]
    for delay in delays:
        code, err = interrupted(program, method, persistent, half, delay, 1)
        assert code in (-signal.SIGINT, 130, 1) and "KeyboardInterrupt" in err
        # Of workers there is nothing to read, but of those of a server that starts, which Python
        # lets see the signal until they begin; the program may be interrupted in a destructor, too.
        assert err.count("Traceback") <= (5 if method == "forkserver" else 2), err


@linux
@pytest.mark.parametrize("method", METHODS)
def test_workers_end_with_a_program_that_is_killed(method, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    interrupted(program, method, True, False, 0.1, 1, kill=True)


def test_gathered_batches_are_written_to_shared_memory_at_once():
    x, y = zero.arange(40_000.0).reshape(20, 2000), zero.arange(20)
    data = zero.utils.data.TensorDataset(x, y)
    chosen = zero.utils.data.Subset(data, zero.tensor([19, -1, 0, 5]))
    for dataset, order in ((data, range(20)), (chosen, (19, 19, 0, 5))):
        batches = list(zero.utils.data.DataLoader(dataset, 4, num_workers=1))
        assert [n for _, batch in batches for n in batch.tolist()] == list(order)
        assert zero.cat([rows for rows, _ in batches]).equal(x[list(order)])
    with pytest.raises(IndexError, match=r"out of range"):
        list(
            zero.utils.data.DataLoader(
                zero.utils.data.Subset(data, zero.tensor([20])), 1, num_workers=1
            )
        )
