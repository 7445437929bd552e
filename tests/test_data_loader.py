"""DataLoader: its options, batches without workers and with threads, collating."""

import copy
import gc
import itertools
import pickle
import sys
import threading
import time
import warnings
import weakref
from collections import OrderedDict, UserDict, defaultdict, namedtuple

import numpy as np
import pytest
from children import run_child

import zero
from zero.errors import ShapeError
from zero.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    StackDataset,
    Subset,
    TensorDataset,
    default_collate,
    default_convert,
    get_worker_info,
)
from zero.utils.data._utils import collate as collating

WITHOUT, THREADS = {}, {"num_workers": 2, "worker_type": "thread"}
both = pytest.mark.parametrize("workers", [WITHOUT, THREADS], ids=["none", "threads"])
Point = namedtuple("Point", "x y")


class Rows(Dataset):
    def __init__(self, n=10, fail=()):
        self.n, self.fail = n, fail

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i in self.fail:
            raise KeyError(f"sample {i}")
        return np.full(3, i, np.float32), i


class Count(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        worker = get_worker_info()
        return iter(range(worker.id, self.n, worker.num_workers) if worker else range(self.n))


class Sized(Count):
    def __init__(self, n, claim):
        super().__init__(n)
        self.claim = claim

    def __len__(self):
        return self.claim


def flat(lists):
    return [item for each in lists for item in each]


def same(a, b):
    assert type(a) is type(b), (type(a), type(b))
    if isinstance(a, zero.Tensor):
        assert a.dtype == b.dtype and a.shape == b.shape and a.tolist() == b.tolist()
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        assert a == b


# ---- batches -------------------------------------------------------------------------------------
@both
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 3, 5, 20])
def test_batches_in_order(workers, size, drop):
    loader = DataLoader(Rows(), size, drop_last=drop, **workers)
    batches = list(loader)
    assert len(batches) == len(loader) == (10 // size if drop else -(-10 // size))
    assert [i for _, labels in batches for i in labels.tolist()] == list(
        range(len(batches) * size)
    )[:10]
    for x, labels in batches:
        assert x.dtype == zero.float32 and labels.dtype == zero.int64
        assert x.tolist() == [[i] * 3 for i in labels.tolist()]


@both
@pytest.mark.parametrize("name", ["rows", "tensors", "subset", "stack", "dict", "numbers", "list"])
def test_shuffled_epochs(workers, name):
    x = zero.arange(23)
    data = {
        "rows": Rows(23),
        "tensors": TensorDataset(x, x),
        "subset": Subset(TensorDataset(x, x), list(range(23))),
        "stack": StackDataset(TensorDataset(x), TensorDataset(x)),
        "dict": StackDataset(a=TensorDataset(x), b=TensorDataset(x)),
        "numbers": x,
        "list": list(range(23)),
    }[name]

    def label(batch):
        while not isinstance(batch, zero.Tensor):
            batch = batch["b"] if isinstance(batch, dict) else batch[-1]
        return batch.tolist()

    def epochs(generator=None, **options):
        zero.manual_seed(5)
        loader = DataLoader(data, 4, shuffle=True, generator=generator, **options)
        return [[label(batch) for batch in loader] for _ in range(3)]

    one, two, three = epochs(**workers)
    assert sorted(flat(one)) == list(range(23)) and one != two != three
    assert [one, two, three] == epochs() == epochs(**THREADS | {"num_workers": 3})
    own = epochs(zero.Generator().manual_seed(1), **workers)
    assert own == epochs(zero.Generator().manual_seed(1)) != [one, two, three]


def test_all_kinds_of_data_have_one_order():
    x = zero.arange(50)
    orders = []
    for data in (TensorDataset(x), Rows(50), x):
        zero.manual_seed(1)
        loader = DataLoader(data, 8, shuffle=True)
        orders.append([b[-1].tolist() if isinstance(b, list) else b.tolist() for b in loader])
    assert orders[0] == orders[1] == orders[2]


def test_gathered_batches_are_those_of_single_samples():
    zero.manual_seed(0)
    x, y = zero.randn(30, 2, 3), zero.randint(5, (30,))
    tensors = TensorDataset(x, y, zero.arange(60).view(30, 2).to(zero.uint8).t().contiguous().t())
    kinds = [
        tensors,
        Subset(tensors, list(range(29, 3, -1))),
        Subset(tensors, range(5, 25)),
        Subset(tensors, zero.tensor([7, 3, 3, 20])),
        Subset(Subset(tensors, [9, 8, 7, 6]), [3, -1, 0]),
        StackDataset(tensors, Subset(tensors, range(30))),
        StackDataset(a=tensors, b=TensorDataset(y)),
        StackDataset(tensors, Rows(30)),  # which cannot
        ConcatDataset([tensors, tensors]),
        x,
        Subset(x, [4, 3, 2, 1, 0]),
        StackDataset(y, x.numpy()),
        x.numpy().astype(np.float16)[::2],
        y.numpy(),
        y.numpy() > 2,
        np.arange(30, dtype=np.uint8),
        list(range(30)),
    ]
    for data in kinds:
        for sampler in (None, [0, 2, -1, 1]):
            fast = list(DataLoader(data, 3, sampler=sampler))
            slow = list(
                DataLoader(data, 3, sampler=sampler, collate_fn=lambda s: default_collate(s))
            )
            assert len(fast) == len(slow)
            same(fast, slow)


def test_a_batch_is_the_users_own():
    x = zero.arange(6)
    for options in ({}, {"shuffle": True}, {"batch_size": 6}):
        for (batch,) in DataLoader(TensorDataset(x), **{"batch_size": 2} | options):
            batch.zero_()
    assert x.tolist() == list(range(6))


def test_gathering_keeps_to_subclasses():
    class Doubled(TensorDataset):
        def __getitem__(self, i):
            return tuple(2 * t for t in super().__getitem__(i))

    class Shifted(Subset):
        def __getitems__(self, indices):
            return [(row + 100,) for (row,) in super().__getitems__(indices)]

    class Own(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            raise AssertionError

        def __getbatch__(self, indices):
            return [int(i) for i in indices]

    x = zero.arange(4)
    data = TensorDataset(x)
    assert [b[0].tolist() for b in DataLoader(Doubled(x), 2)] == [[0, 2], [4, 6]]
    assert [b[0].tolist() for b in DataLoader(Subset(Doubled(x), [3, 1]), 2)] == [[6, 2]]
    assert [b[0].tolist() for b in DataLoader(Shifted(data, [3, 1]), 2)] == [[103, 101]]
    assert list(DataLoader(Own(), 3)) == [[0, 1, 2], [3]]


def test_gathering_keeps_to_functions_that_were_added(monkeypatch):
    functions = collating.default_collate_fn_map
    monkeypatch.setitem(functions, zero.Tensor, lambda batch, *, collate_fn_map=None: len(batch))
    assert list(DataLoader(TensorDataset(zero.arange(5)), 2)) == [[2], [2], [1]]


def test_gradients_reach_the_tensors_of_a_dataset():
    x = zero.ones(4, requires_grad=True)
    for shuffle in (False, True):
        x.grad = None
        for (batch,) in DataLoader(TensorDataset(x), 3, shuffle=shuffle):
            (2 * batch).sum().backward()
        assert x.grad.tolist() == [2] * 4


@both
def test_without_batches(workers):
    assert list(DataLoader([1, "a", None], None, **workers)) == [1, "a", None]
    (a, b) = DataLoader(Rows(2), None, **workers)
    assert a[0].tolist() == [0, 0, 0] and b[1] == 1 and len(DataLoader(Rows(2), None)) == 2
    assert list(DataLoader({"x": 1, "y": 2}, None, sampler=["y", "x"], **workers)) == [2, 1]
    assert sorted(DataLoader(range(5), None, shuffle=True, **workers)) == list(range(5))


@both
def test_custom_samplers_and_functions(workers):
    loader = DataLoader(Rows(), batch_sampler=[[3, 1], [], [2, 2, 5]], collate_fn=list, **workers)
    assert [[i for _, i in batch] for batch in loader] == [[3, 1], [], [2, 2, 5]]
    assert len(loader) == 3 and loader.batch_size is None and not loader.drop_last
    words = {"a": 1, "b": 2}
    assert [b.tolist() for b in DataLoader(words, 2, sampler=["b", "a"], **workers)] == [[2, 1]]
    x = TensorDataset(zero.arange(10))
    chosen = DataLoader(x, batch_sampler=[(1, 2), zero.tensor([4]), [-1]], **workers)
    assert [b[0].tolist() for b in chosen] == [[1, 2], [4], [9]]


# ---- options -------------------------------------------------------------------------------------
def test_attributes():
    data = Rows()
    loader = DataLoader(data, 4, True)
    assert loader.dataset is data and loader.batch_size == 4 and loader.num_workers == 0
    assert isinstance(loader.sampler, RandomSampler) and isinstance(
        loader.batch_sampler, BatchSampler
    )
    assert loader.batch_sampler.sampler is loader.sampler and loader.collate_fn is default_collate
    assert loader.generator is None and loader.drop_last is False and loader.timeout == 0
    assert loader.pin_memory is False and loader.prefetch_factor is None and loader.in_order
    assert loader.persistent_workers is False and loader.multiprocessing_context is None
    assert isinstance(DataLoader(data).sampler, SequentialSampler)
    assert DataLoader(data, None).collate_fn is default_convert
    assert DataLoader(data, None).batch_sampler is None and len(iter(loader)) == 3
    threads = DataLoader(data, 4, **THREADS)
    assert threads.prefetch_factor == 2 and threads.worker_type == "thread"
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset"):
        with pytest.raises(ValueError, match=f"{name} is fixed"):
            setattr(loader, name, None)
    loader.collate_fn, loader.anything = list, 1
    assert len(next(iter(loader))) == 4


@pytest.mark.parametrize(
    "options, text",
    [
        ({"batch_size": 0}, "batch_size should be a positive integer; got 0"),
        ({"batch_size": -1}, "batch_size"),
        ({"batch_size": 2.0}, r"got 2\.0 of type float"),
        ({"batch_size": True}, "batch_size"),
        ({"num_workers": -1}, "num_workers should be 0"),
        ({"num_workers": 1.5}, "num_workers"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": 5}, "timeout is about workers"),
        ({"prefetch_factor": 2}, "prefetch_factor is about workers"),
        ({"prefetch_factor": -1, **THREADS}, "prefetch_factor"),
        ({"persistent_workers": True}, "persistent_workers is about workers"),
        ({"worker_type": "fiber"}, "worker_type; got 'fiber'"),
        ({"sampler": [1], "shuffle": True}, "exclude each other"),
        ({"batch_sampler": [[1]], "batch_size": 2}, "got batch_size, too"),
        ({"batch_sampler": [[1]], "shuffle": True, "drop_last": True}, "got shuffle, drop_last"),
        ({"batch_sampler": [[1]], "sampler": [1]}, "got sampler, too"),
        ({"batch_size": None, "drop_last": True}, "no last one to drop"),
        ({"multiprocessing_context": "fork"}, "multiprocessing_context is about worker processes"),
        ({"multiprocessing_context": "spawn", **THREADS}, "worker_type='thread', expected 1"),
        ({"multiprocessing_context": "magic", "num_workers": 1}, r"got 'magic', expected one of"),
    ],
)
def test_options_out_of_range(options, text):
    with pytest.raises(ValueError, match=text) as caught:
        DataLoader(Rows(), **options)
    assert str(caught.value).startswith("DataLoader: ") and isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"collate_fn": 3}, "collate_fn should be a function; got 3"),
        ({"worker_init_fn": "x"}, "worker_init_fn"),
        ({"generator": 5}, "generator should be a zero.Generator; got int"),
        ({"drop_last": 1}, "drop_last should be a bool"),
        ({"multiprocessing_context": 5, "num_workers": 1}, "context or its name"),
    ],
)
def test_options_of_wrong_types(options, text):
    with pytest.raises(TypeError, match=text):
        DataLoader(Rows(), **options)


def test_options_together_as_in_pytorch():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.utils.data")

    def outcome(lib, kind, options):
        class Stream(lib.utils.data.IterableDataset):
            def __iter__(self):
                return iter(range(5))

        tensors = lib.utils.data.TensorDataset(lib.arange(5))
        data = {"list": [*range(5)], "stream": Stream(), "empty": [], "tensors": tensors}[kind]
        try:
            loader = lib.utils.data.DataLoader(data, **options)
            batches = [b.tolist() if hasattr(b, "tolist") else b for b in loader]
            batches = [
                b[0].tolist() if hasattr(b, "__len__") and kind == "tensors" else b for b in batches
            ]
        except Exception as error:
            return next(c for c in type(error).__mro__ if c.__module__ == "builtins")
        try:
            length = len(loader)
        except TypeError:
            length = None
        return length, len(batches) if options.get("shuffle") else batches

    choices = {
        "batch_size": [..., None, 2, 0, -1, 2.5],
        "shuffle": [..., True, False, None],
        "sampler": [..., [1, 0]],
        "batch_sampler": [..., [[0, 1], [2]]],
        "drop_last": [..., True],
    }
    for kind in ("list", "stream", "empty", "tensors"):
        for values in itertools.product(*choices.values()):
            options = {k: v for k, v in zip(choices, values, strict=True) if v is not ...}
            assert outcome(zero, kind, options) == outcome(torch, kind, options), (kind, options)


def test_options_of_streams():
    for options in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        with pytest.raises(ValueError, match=f"an order of its own; got {next(iter(options))}"):
            DataLoader(Count(3), **options)
    assert len(list(DataLoader(Count(3), shuffle=False))) == 3


def test_datasets_that_are_none():
    with pytest.raises(TypeError, match="no samples by index"):
        DataLoader(iter([1]))

    class NoLength(Dataset):
        def __getitem__(self, i):
            return i

    with pytest.raises(TypeError, match="cannot be shuffled; got NoLength"):
        DataLoader(NoLength(), shuffle=True)
    assert next(iter(DataLoader(NoLength(), 2, sampler=[3, 4]))).tolist() == [3, 4]
    with pytest.raises(TypeError):
        len(DataLoader(NoLength()))
    with pytest.raises(ValueError, match="the dataset is empty"):
        DataLoader([], shuffle=True)
    assert list(DataLoader([])) == [] and len(DataLoader([])) == 0
    assert list(DataLoader(TensorDataset(zero.empty(0, 3)), 4)) == []


def test_multiprocessing_context():
    import multiprocessing

    loader = DataLoader(Rows(), multiprocessing_context="spawn", num_workers=1)
    assert loader.multiprocessing_context.get_start_method() == "spawn"
    loader.multiprocessing_context = multiprocessing.get_context("spawn")
    loader.multiprocessing_context = None
    assert loader.multiprocessing_context is None


def test_copies_and_pickles():
    loader = DataLoader(range(6), 2)
    it = iter(loader)
    next(it)
    for other in (copy.deepcopy(loader), pickle.loads(pickle.dumps(loader)), copy.copy(loader)):
        assert [b.tolist() for b in other] == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(NotImplementedError, match="pickled"):
        pickle.dumps(it)


def test_a_loader_that_repeats_its_sampler():
    """As programs do that keep their workers from one epoch to the next."""

    class Repeat:
        def __init__(self, sampler):
            self.sampler = sampler

        def __iter__(self):
            while True:
                yield from iter(self.sampler)

    class Repeating(DataLoader):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self._DataLoader__initialized = False
            self.batch_sampler = Repeat(self.batch_sampler)
            self._DataLoader__initialized = True
            self.iterator = super().__iter__()

        def __len__(self):
            return len(self.batch_sampler.sampler)

        def __iter__(self):
            for _ in range(len(self)):
                yield next(self.iterator)

    loader = Repeating(Rows(5), 2, shuffle=True)
    for _ in range(3):
        assert sorted(i for _, labels in loader for i in labels.tolist()) == list(range(5))


# ---- streams -------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [1, 3, 4, None])
def test_streams(size):
    found = list(DataLoader(Count(8), size))
    if size is None:
        assert found == list(range(8))
    else:
        assert [b.tolist() for b in found] == [
            list(range(8))[i : i + size] for i in range(0, 8, size)
        ]
    dropped = [b.tolist() for b in DataLoader(Count(8), 3, drop_last=True)]
    assert dropped == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(TypeError):
        len(DataLoader(Count(8)))


def test_streams_of_threads_take_turns():
    loader = DataLoader(Count(20), 3, num_workers=3, worker_type="thread")
    expected = [
        [0, 3, 6],
        [1, 4, 7],
        [2, 5, 8],
        [9, 12, 15],
        [10, 13, 16],
        [11, 14, 17],
        [18],
        [19],
    ]
    for _ in range(3):
        assert [b.tolist() for b in loader] == expected
    uneven = DataLoader(Count(3), 1, num_workers=4, worker_type="thread")
    assert [b.tolist() for b in uneven] == [[0], [1], [2]]


def test_lengths_that_lie():
    for claim, size in ((5, 2), (6, 2), (4, 1)):
        loader = DataLoader(Sized(5 if claim > 4 else 4, claim), size)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert len(list(loader)) <= len(loader)
            list(loader)
    loader = DataLoader(Sized(9, 4), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(loader)  # nobody asked
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 4") as caught:
        assert len(list(loader)) == 5
    assert len(caught) == 1

    class TooLong(Rows):
        def __getitem__(self, i):
            return [1, 2, 3][i]

    with pytest.raises(IndexError, match=r"no sample 3, or .* out of range; len\(dataset\) is 10"):
        list(DataLoader(TooLong(), 2))
    with pytest.raises(IndexError, match="no sample 3"):
        list(DataLoader(TooLong(), None))
    with pytest.raises(IndexError, match="no sample 7"):
        list(DataLoader([1, 2], 1, sampler=[7]))
    with pytest.raises(IndexError):
        list(DataLoader(TensorDataset(zero.arange(3)), sampler=[1, 3]))


@both
def test_stop_iteration_does_not_end_an_epoch(workers):
    class Stops(Rows):
        def __getitem__(self, i):
            if i == 3:
                raise StopIteration
            return i

    def stop(batch):
        raise StopIteration

    with pytest.raises(RuntimeError, match="sample 3 would end the epoch"):
        list(DataLoader(Stops(), 2, **workers))
    for data in (Rows(), Count(4)):
        with pytest.raises(RuntimeError, match="collate_fn raised StopIteration"):
            list(DataLoader(data, 2, collate_fn=stop, **workers))


# ---- collating -----------------------------------------------------------------------------------
SAMPLES = [
    [1, 2],
    [True, False],
    [1.5, 2.5],
    ["a", "b"],
    [b"a", b"b"],
    [np.float32(1), np.float32(2)],
    [np.int16(1), np.int16(2)],
    [np.bool_(True), np.bool_(False)],
    [np.float64(1), np.float64(2)],
    [np.str_("a"), np.str_("b")],
    [np.array(1), np.array(2)],
    [np.zeros((2, 0)), np.zeros((2, 0))],
    [np.zeros((0, 2), "uint8"), np.zeros((0, 2), "uint8")],
    [np.arange(3, dtype="int32"), np.arange(3, 6, dtype="int32")],
    [np.arange(6.0).reshape(2, 3).T, np.ones((3, 2))],
    [np.arange(3, dtype="float32"), np.arange(3)],
    [np.array([True]), np.array([False])],
    [(1, "a"), (2, "b")],
    [[1, 2.0], [3, 4.0]],
    [{"x": 1, "y": (2, "s")}, {"x": 3, "y": (4, "t")}],
    [Point(1, 2.0), Point(3, 4.0)],
    [OrderedDict(a=1), OrderedDict(a=2)],
    [defaultdict(int, a=1), defaultdict(int, a=2)],
    [UserDict(a=1), UserDict(a=2)],
    [range(2), range(1, 3)],
    [[], []],
    [()],
    [1],
]


@pytest.mark.parametrize("batch", SAMPLES, ids=repr)
def test_collating_as_pytorch(batch):
    torch = pytest.importorskip("torch")
    peer = pytest.importorskip("torch.utils.data")

    def plain(x):
        if isinstance(x, (zero.Tensor, torch.Tensor)):
            return "tensor", str(x.dtype).split(".")[1], list(x.shape), x.tolist()
        if isinstance(x, (dict, UserDict)):
            return type(x), {key: plain(value) for key, value in x.items()}
        if isinstance(x, (list, tuple)):
            return type(x), [plain(item) for item in x]
        return x

    assert plain(default_collate(batch)) == plain(peer.default_collate(batch))
    single = batch[0]
    assert plain(default_convert(single)) == plain(peer.default_convert(single))


def test_collated_values():
    assert default_collate([True, False]).dtype == zero.bool
    assert default_collate([1.5, 2]).dtype == zero.float64
    assert default_collate([np.float32(1)]).dtype == zero.float32
    point = default_collate([Point(1, np.zeros(2)), Point(2, np.ones(2))])
    assert (
        type(point) is Point
        and point.x.tolist() == [1, 2]
        and point.y.tolist()
        == [
            [0, 0],
            [1, 1],
        ]
    )
    arrays = [np.arange(6.0).reshape(2, 3)[:, ::-1], np.ones((2, 3))]
    assert default_collate(arrays).tolist() == [a.tolist() for a in arrays]
    counts = default_collate([defaultdict(list, a=1), defaultdict(list, a=2)])
    assert counts.default_factory is list and counts["a"].tolist() == [1, 2]
    stacked = default_collate([zero.ones(2, requires_grad=True), zero.zeros(2)])
    assert stacked.requires_grad and default_convert((1, np.ones(1)))[1].dtype == zero.float64


def test_a_batch_copies_its_samples():
    array = np.zeros(2)
    batch = default_collate([array, array])
    array[:] = 1
    assert batch.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    "batch, text",
    [
        ([np.zeros(3), np.zeros(3), np.zeros(4)], r"\(3,\) in sample 0 and \(4,\) in sample 2"),
        ([zero.zeros(2, 3), zero.zeros(3, 2)], r"\(2, 3\) in sample 0 and \(3, 2\) in sample 1"),
        ([zero.zeros(2), zero.zeros(2, 1)], r"\(2,\) in sample 0 and \(2, 1\) in sample 1"),
        ([(1, 2), (1, 2), (1,)], "2 elements in sample 0 and 1 in sample 2"),
        ([{"a": 1}, {"b": 1}], "no.* 'a' in sample 1"),
        ([(1, {"x": np.zeros(2)}), (1, {"x": np.zeros(3)})], r"\(2,\) in sample 0"),
    ],
)
def test_unequal_samples(batch, text):
    with pytest.raises(ShapeError, match=text):
        default_collate(batch)
    order = [4, 7, 2][: len(batch)]
    data = dict(zip(order, batch, strict=True))
    with pytest.raises(ShapeError, match=rf"samples 4 and {order[-1]} of the dataset"):
        list(DataLoader(data, batch_sampler=[order]))


def test_types_without_batches():
    for sample, name in ((None, "NoneType"), (object(), "object"), ({1}, "set")):
        with pytest.raises(TypeError, match=f"got builtins.{name}, expected tensors"):
            default_collate([sample, sample])
    for array in (np.array(["a"]), np.array([None])):
        with pytest.raises(TypeError, match="got dtype"):
            default_collate([array, array])
    with pytest.raises(TypeError, match="str"):
        collating.collate(["a"], collate_fn_map={})


def test_functions_by_type():
    class Word(str):
        pass

    def lengths(batch, *, collate_fn_map=None):
        return [len(word) for word in batch]

    table = {str: lengths, **collating.default_collate_fn_map}
    table[str] = lengths
    assert collating.collate([("a", Word("bc"))] * 2, collate_fn_map=table) == [[1, 1], [2, 2]]


# ---- threads -------------------------------------------------------------------------------------
def test_threads_read_at_the_same_time():
    barrier = threading.Barrier(3, timeout=20)

    class Waits(Rows):
        def __getitem__(self, i):
            barrier.wait()
            return i

    loader = DataLoader(Waits(6), 1, num_workers=3, worker_type="thread")
    assert [b.item() for b in loader] == list(range(6))


def test_threads_read_ahead_and_no_further():
    asked = []

    class Notes(Rows):
        def __getitem__(self, i):
            asked.append(i)
            return i

    it = iter(DataLoader(Notes(40), 1, prefetch_factor=3, **THREADS))
    next(it)
    for _ in range(3000):
        if len(asked) == 7:
            break
        time.sleep(0.01)
    time.sleep(0.05)
    assert sorted(asked) == list(range(7))
    assert len(list(it)) == 39


@both
def test_an_error_is_raised_and_the_next_batch_follows(workers):
    it = iter(DataLoader(Rows(8, fail=[2]), 2, **workers))
    assert next(it)[1].tolist() == [0, 1]
    with pytest.raises(KeyError, match="sample 2") as caught:
        next(it)
    assert any("test_data_loader" in str(f.path) for f in caught.traceback)
    assert [b[1].tolist() for b in it] == [[4, 5], [6, 7]]
    with pytest.raises(StopIteration):
        next(it)
    if workers and sys.version_info >= (3, 11):
        assert "worker" in caught.value.__notes__[0]


def test_threads_know_who_they_are():
    seen = {}
    main = threading.current_thread()

    def init(number):
        info = get_worker_info()
        assert info.id == number and threading.current_thread() is not main
        info.dataset.mine = number

    class Data(Rows):
        def __getitem__(self, i):
            info = get_worker_info()
            assert self is info.dataset and self.mine == info.id and info.num_workers == 2
            assert info.worker_method == "thread"
            seen[i] = info.seed - info.id
            rng = info.rng
            return (
                rng.random_generator.random(),
                rng.numpy_generator.random(),
                zero.rand((), generator=rng.torch_generator),
            )

    data = Data()

    def draws():
        zero.manual_seed(2)
        loader = DataLoader(data, 2, worker_init_fn=init, **THREADS)
        return [[part.tolist() for part in batch] for _ in range(2) for batch in loader]

    first = draws()
    assert first == draws() and len({repr(batch) for batch in first}) == 10
    assert len(set(seen.values())) == 1
    assert get_worker_info() is None and not hasattr(data, "mine")


def test_errors_of_worker_init_fn():
    def init(number):
        raise LookupError("no file")

    with pytest.raises(LookupError, match="no file"):
        list(DataLoader(Rows(), worker_init_fn=init, **THREADS))


def test_timeout_of_threads():
    release = threading.Event()

    class Slow(Rows):
        def __getitem__(self, i):
            release.wait(20)
            return i

    try:
        with pytest.raises(RuntimeError, match=r"no batch came from 2 threads within 0\.1 s"):
            list(DataLoader(Slow(), timeout=0.1, **THREADS))
    finally:
        release.set()


def test_out_of_order():
    release = threading.Event()

    class FirstIsLate(Rows):
        def __getitem__(self, i):
            if i == 0:
                release.wait(20)
            return i

    it = iter(DataLoader(FirstIsLate(6), 1, in_order=False, **THREADS))
    first = [next(it).item() for _ in range(3)]
    assert first == [1, 2, 3]
    release.set()
    assert sorted(b.item() for b in it) == [0, 4, 5]


def workers_alive():
    return [t for t in threading.enumerate() if t.name.startswith("DataLoader")]


def ends(seconds=60):
    for _ in range(int(seconds * 100)):
        if not workers_alive():
            return True
        time.sleep(0.01)
    return False


def test_threads_end():
    loader = DataLoader(Rows(50), 2, **THREADS)
    list(loader)
    assert ends()
    for _ in loader:
        break
    gc.collect()
    assert ends()
    it = iter(loader)
    next(it)
    assert len(workers_alive()) == 2
    del it
    assert ends()
    data = Rows(50)
    gone = weakref.ref(data)
    it = iter(DataLoader(data, 2, **THREADS))
    next(it)
    del it, data
    assert ends()
    gc.collect()
    assert gone() is None


def test_persistent_threads():
    started = []
    data = Rows(20)
    loader = DataLoader(
        data, 2, persistent_workers=True, worker_init_fn=started.append, shuffle=True, **THREADS
    )
    zero.manual_seed(4)
    found = [[b[1].tolist() for b in loader] for _ in range(3)]
    for _ in loader:
        break
    assert sorted(flat(b[1].tolist() for b in loader)) == list(range(20))
    for _ in range(3000):
        if len(started) == 2:
            break
        time.sleep(0.01)
    assert sorted(started) == [0, 1] and len(workers_alive()) == 2
    zero.manual_seed(4)
    plain = DataLoader(data, 2, shuffle=True)
    assert found == [[b[1].tolist() for b in plain] for _ in range(3)]
    del loader
    gc.collect()
    assert ends()


def test_a_program_ends_with_threads_at_work():
    code = """
import zero, time
from zero.utils.data import DataLoader
class Slow:
    def __len__(self): return 100
    def __getitem__(self, i):
        time.sleep(0.01)
        return i
it = iter(DataLoader(Slow(), num_workers=2, worker_type="thread"))
print(next(it).item())
"""
    assert run_child("-c", code, timeout=120) == "0\n"


def test_a_thread_that_raises_system_exit():
    class Exits(Rows):
        def __getitem__(self, i):
            raise SystemExit(3)

    with pytest.raises(SystemExit):
        list(DataLoader(Exits(), **THREADS))


# ---- progress ------------------------------------------------------------------------------------
@both
def test_tqdm(workers):
    tqdm = pytest.importorskip("tqdm")
    for data, total in ((Rows(), 4), (Sized(10, 10), 4), (Count(10), None)):
        bar = tqdm.tqdm(DataLoader(data, 3, **workers), disable=False, file=open_null())
        assert bar.total == total
        assert len(list(bar)) >= 4


def open_null():
    import io

    return io.StringIO()


def test_two_iterators_at_once():
    loader = DataLoader(range(4), 2, shuffle=True, **THREADS)
    for a, b in zip(loader, loader, strict=True):
        assert a.shape == b.shape == (2,)


def test_subclasses_of_samplers_may_call_their_base():
    class Own(Sampler):
        def __init__(self, data):
            super().__init__(data)
            self.data = data

        def __iter__(self):
            return iter([1, 0])

    assert list(DataLoader("ab", 2, sampler=Own("ab"))) == [["b", "a"]]


# ---- pinning -------------------------------------------------------------------------------------
class Pinnable:
    def __init__(self, samples):
        self.samples, self.thread = samples, None

    def pin_memory(self):
        if 6 in self.samples:
            raise RuntimeError("no memory to pin")
        self.thread = threading.current_thread()
        return self


@both
def test_batches_that_pin_themselves(workers):
    it = iter(DataLoader(range(10), 2, collate_fn=Pinnable, pin_memory=True, **workers))
    found = [next(it) for _ in range(3)]
    assert [batch.samples for batch in found] == [[0, 1], [2, 3], [4, 5]]
    # Without workers the dataset is read, and its random numbers are drawn, where the loop runs.
    assert all((b.thread is threading.current_thread()) is not bool(workers) for b in found)
    with pytest.raises(RuntimeError, match="no memory to pin"):
        next(it)
    assert next(it).samples == [8, 9]
    with pytest.raises(StopIteration):
        next(it)


def test_what_was_pinned_in_advance_is_not_delivered():
    options = {"collate_fn": Pinnable, "pin_memory": True, **THREADS}
    loader = DataLoader(range(20, 60), 2, **options)
    it = iter(loader)
    next(it), next(it)
    time.sleep(0.05)
    state = loader.state_dict()
    assert state["epoch"]["delivered"] == 2
    loader.load_state_dict(state)
    assert [b.samples for b in loader] == [[i, i + 1] for i in range(24, 60, 2)]
    del it
    assert ends()


def test_persistent_workers_that_pin():
    options = {"collate_fn": Pinnable, "pin_memory": True, "persistent_workers": True, **THREADS}
    loader = DataLoader(range(20, 60), 2, **options)
    for _ in range(3):
        for _ in loader:
            break
    assert [b.samples for b in loader] == [[i, i + 1] for i in range(20, 60, 2)]
    del loader
    gc.collect()
    assert ends()


def test_pinned_containers_keep_their_types():
    from zero.utils.data._utils.pin_memory import pin_memory

    a, b = Pinnable([1]), Pinnable([2])
    pinned = pin_memory({"x": (a, "text"), "y": [Point(b, 3), b"bytes", None]})
    assert pinned == {"x": (a, "text"), "y": [Point(b, 3), b"bytes", None]}
    assert type(pinned["y"][0]) is Point and a.thread is b.thread is threading.current_thread()
