"""Datasets and samplers of zero.utils.data."""

import random
from collections import Counter

import numpy as np
import pytest

import zero
from zero.errors import DTypeError, ShapeError
from zero.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)


def seeded(seed=0):
    return zero.Generator().manual_seed(seed)


class Stream(IterableDataset):
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


class SizedStream(Stream):
    def __len__(self):
        return len(self.items)


class Asked:
    """A dataset that notes which samples were asked for at once."""

    def __init__(self, n):
        self.n, self.calls = n, []

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return -i

    def __getitems__(self, indices):
        self.calls.append(indices)
        return [-i for i in indices]


# ---- names ---------------------------------------------------------------------------------------
def test_one_module_under_two_names_and_deep_paths():
    import zero.data._utils.collate
    import zero.data.sampler

    import zero.data
    import zero.utils.data.dataloader
    from zero.utils.data.dataset import Dataset as DeepDataset
    from zero.utils.data.distributed import DistributedSampler as DeepDistributed
    from zero.utils.data.sampler import Sampler as DeepSampler

    assert zero.data is zero.utils.data and zero.data.sampler is zero.utils.data.sampler
    assert DeepDataset is Dataset and DeepDistributed is DistributedSampler
    assert DeepSampler is Sampler and zero.utils.data.dataloader.DataLoader is DataLoader
    collate = zero.utils.data._utils.collate
    assert zero.data._utils.collate is collate
    assert collate.default_collate is zero.data.default_collate
    assert zero.utils.data.dataloader.default_collate is collate.default_collate
    with pytest.raises(AttributeError, match="PyTorch has it"):
        _ = zero.utils.data.IterDataPipe


def test_classes_take_type_arguments():
    class Typed(Dataset[zero.Tensor]):
        pass

    loader: DataLoader[zero.Tensor] = DataLoader(range(3))
    assert DataLoader[int] and Subset[int] and loader is not None
    with pytest.raises(NotImplementedError, match="Typed"):
        Typed()[0]
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(IterableDataset[int]())
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(Sampler(range(3)))


# ---- datasets ------------------------------------------------------------------------------------
def test_tensor_dataset():
    x, y = zero.arange(12).view(4, 3), zero.tensor([0, 1, 0, 1])
    data = TensorDataset(x, y)
    assert len(data) == 4 and data.tensors[0] is x
    row, label = data[-1]
    assert row.tolist() == [9, 10, 11] and label.item() == 1
    assert [t.shape[0] for t in data[1:3]] == [2, 2]
    with pytest.raises(ShapeError, match=r"\(4, 3\), \(3,\)"):
        TensorDataset(x, y[:3])
    with pytest.raises(ShapeError, match="first dimensions"):
        TensorDataset(zero.tensor(1))
    with pytest.raises(DTypeError, match="ndarray"):
        TensorDataset(np.ones(3))
    with pytest.raises(ValueError, match="no tensors"):
        TensorDataset()
    with pytest.raises(IndexError):
        data[4]


def test_concat_and_chain():
    data = Dataset.__add__([1, 2], "abc")
    assert isinstance(data, ConcatDataset) and data.cumulative_sizes == [2, 5]
    assert [data[i] for i in range(-5, 5)] == [1, 2, "a", "b", "c"] * 2
    for wrong in (5, -6):
        with pytest.raises(IndexError, match=f"got {wrong}, expected -5 to 4"):
            data[wrong]
    with pytest.warns(FutureWarning):
        assert data.cummulative_sizes == [2, 5]
    with pytest.raises(ValueError, match="no datasets"):
        ConcatDataset([])
    with pytest.raises(TypeError, match="ChainDataset"):
        ConcatDataset([Stream(1)])
    chain = SizedStream(1, 2) + SizedStream(3)
    assert isinstance(chain, ChainDataset) and list(chain) == [1, 2, 3] and len(chain) == 3
    with pytest.raises(TypeError, match="ConcatDataset"):
        list(ChainDataset([[1]]))


def test_stack():
    both = StackDataset([1, 2], "ab")
    assert (
        both[1] == (2, "b")
        and len(both) == 2
        and both.__getitems__([1, 0])
        == [
            (2, "b"),
            (1, "a"),
        ]
    )
    named = StackDataset(x=Asked(3), y="abc")
    assert named[2] == {"x": -2, "y": "c"}
    assert named.__getitems__([2, 0]) == [{"x": -2, "y": "c"}, {"x": 0, "y": "a"}]
    assert named.datasets["x"].calls == [[2, 0]]
    for arguments, options in (((), {}), (("a",), {"x": "b"}), (("a", "bc"), {})):
        with pytest.raises(ValueError, match=r"^StackDataset"):
            StackDataset(*arguments, **options)


def test_subset():
    data = Asked(10)
    subset = Subset(data, [3, 5, 7])
    assert len(subset) == 3 and subset[1] == -5 and subset[-1] == -7
    assert subset.__getitems__([2, 0]) == [-7, -3] and data.calls == [[7, 3]]
    assert Subset(np.arange(10), [4, 6])[[1, 0]].tolist() == [6, 4]

    class Half(Subset):
        def __getitem__(self, i):
            return 0

    with pytest.raises(NotImplementedError, match="__getitems__"):
        Half(data, [1])


@pytest.mark.parametrize(
    "n, fractions, sizes",
    [
        (100, [0.05] * 20, [5] * 20),
        (10, [0.1] * 10, [1] * 10),
        (10, [0.3, 0.3, 0.4], [3, 3, 4]),
        (9, [1 / 3, 1 / 3, 1 / 6, 1 / 6], [4, 3, 1, 1]),
        (10, [1 / 3] * 3, [4, 3, 3]),
        (7, [0.5, 0.5], [4, 3]),
        (1000, [0.7, 0.1, 0.2], [700, 100, 200]),
        (60_000, [0.9, 0.1], [54_000, 6_000]),
        (10, [1.0], [10]),
        (12, [1, 11], [1, 11]),
    ],
)
def test_random_split_sizes(n, fractions, sizes):
    parts = random_split(range(n), fractions, generator=seeded())
    assert [len(part) for part in parts] == sizes
    assert sorted(i for part in parts for i in part) == list(range(n))


def test_random_split():
    parts = [random_split(range(20), [5, 15], seeded(seed)) for seed in (1, 1, 2)]
    indices = [[part.indices for part in each] for each in parts]
    assert indices[0] == indices[1] != indices[2]
    assert indices[0][0] != sorted(indices[0][0])
    with pytest.warns(UserWarning, match="part 1 has no samples"):
        random_split(range(2), [0.9, 0.1])
    for wrong in ([5, 4], [0.5, 0.4], [1.5, -0.5], [12, -2], [float("nan"), 1]):
        with pytest.raises(ValueError, match=r"^random_split"):
            random_split(range(10), wrong)


# ---- samplers ------------------------------------------------------------------------------------
def test_sequential_and_random():
    assert list(SequentialSampler("abc")) == [0, 1, 2] and len(SequentialSampler("abc")) == 3
    data = list(range(50))
    sampler = RandomSampler(data, generator=seeded())
    first, second = list(sampler), list(sampler)
    assert first != second and sorted(first) == sorted(second) == data and first != data
    assert list(RandomSampler(data, generator=seeded())) == first
    assert all(type(i) is int for i in first)
    zero.manual_seed(3)
    a = list(RandomSampler(data))
    zero.manual_seed(3)
    assert list(RandomSampler(data)) == a != list(RandomSampler(data))
    data.append(50)  # its length counts when it is asked for
    assert sorted(sampler) == data and len(sampler) == 51


def test_random_with_numbers_of_samples():
    sampler = RandomSampler(range(10), num_samples=25, generator=seeded())
    found = list(sampler)
    assert len(found) == len(sampler) == 25 and set(Counter(found).values()) <= {2, 3}
    assert sorted(found[:10]) == sorted(found[10:20]) == list(range(10))
    drawn = Counter(RandomSampler(range(4), True, 4000, seeded()))
    assert all(abs(count - 1000) < 5 * 27.4 for count in drawn.values())  # 5 standard deviations
    assert list(RandomSampler(range(4), num_samples=3)) != []
    for options in ({"num_samples": 0}, {"num_samples": -1}, {"num_samples": 1.5}):
        with pytest.raises(ValueError, match="positive integer"):
            RandomSampler(range(3), **options)
    with pytest.raises(TypeError, match="replacement"):
        RandomSampler(range(3), replacement=1)
    with pytest.raises(ValueError, match="the dataset is empty"):
        RandomSampler([])


def test_subset_random_and_weighted():
    assert sorted(SubsetRandomSampler([9, 4, 7])) == [4, 7, 9]
    assert sorted(SubsetRandomSampler(zero.tensor([9, 4, 7]))) == [4, 7, 9]
    orders = {tuple(SubsetRandomSampler([1, 2, 3], seeded(i))) for i in range(60)}
    assert len(orders) == 6
    counts = Counter(WeightedRandomSampler([1, 0, 3], 4000, generator=seeded()))
    assert set(counts) == {0, 2} and abs(counts[0] - 1000) < 5 * 27.4
    assert sorted(WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False)) == [0, 1, 2]
    for weights, n, replacement in (([1.0], 0, True), ([1.0], True, True), ([[1.0]], 1, True)):
        with pytest.raises(ValueError):
            WeightedRandomSampler(weights, n, replacement)
    with pytest.raises(TypeError, match="replacement"):
        WeightedRandomSampler([1.0], 1, 1)


def test_batch_sampler():
    for n in range(8):
        for size in (1, 2, 3, 10):
            for drop in (False, True):
                sampler = BatchSampler(range(n), size, drop)
                batches = list(sampler)
                assert len(batches) == len(sampler)
                flat = [i for batch in batches for i in batch]
                assert flat == list(range(n if not drop else n - n % size))
                assert all(len(batch) == size for batch in batches[: -1 if not drop else None])
    for size in (0, -1, 2.0, True, None):
        with pytest.raises(ValueError, match="batch_size"):
            BatchSampler(range(3), size, False)
    with pytest.raises(TypeError, match="drop_last"):
        BatchSampler(range(3), 1, 1)


@pytest.mark.parametrize("n, replicas", [(10, 3), (9, 3), (2, 5), (1, 1), (11, 4)])
def test_distributed_sampler(n, replicas):
    for shuffle in (False, True):
        shares = [
            list(DistributedSampler(range(n), replicas, rank, shuffle, seed=3))
            for rank in range(replicas)
        ]
        assert len({len(share) for share in shares}) == 1
        together = [i for row in zip(*shares, strict=True) for i in row]
        assert len(together) == -(-n // replicas) * replicas
        assert (
            sorted(together[:n]) == list(range(n)) and together[n:] == together[: len(together) - n]
        )
        kept = [
            list(DistributedSampler(range(n), replicas, rank, shuffle, drop_last=True))
            for rank in range(replicas)
        ]
        flat = [i for share in kept for i in share]
        assert len(flat) == n // replicas * replicas == len(set(flat))


def test_distributed_sampler_by_epoch():
    sampler = DistributedSampler(range(100), 2, 0, seed=1)
    first = list(sampler)
    assert list(sampler) == first and len(sampler) == 50
    sampler.set_epoch(1)
    assert list(sampler) != first
    with pytest.raises(ValueError, match="got rank 2, expected one of 0, …, 1"):
        DistributedSampler(range(3), 2, 2)
    with pytest.raises(RuntimeError, match="num_replicas is not known"):
        DistributedSampler(range(3))


def test_the_order_of_a_subclass_is_its_own():
    class Reversed(SequentialSampler):
        def __iter__(self):
            return reversed(range(len(self.data_source)))

    data = TensorDataset(zero.arange(4))
    assert [b[0].tolist() for b in DataLoader(data, 3, sampler=Reversed(data))] == [[3, 2, 1], [0]]


@pytest.mark.parametrize(
    "make",
    [
        SequentialSampler,
        RandomSampler,
        lambda d: RandomSampler(d, replacement=True, num_samples=11),
        lambda d: SubsetRandomSampler([5, 3, 8]),
        lambda d: WeightedRandomSampler(range(1, 11), 7),
        lambda d: DistributedSampler(d, 3, 1),
        lambda d: [3, 1, 4, 1, 5],
        lambda d: iter([2, 7]),
        lambda d: zero.tensor([9, 0, 4]),
        lambda d: np.array([9, 0, 4]),
    ],
)
def test_tensors_and_lists_of_indices_give_the_same_order(make):
    rows = zero.arange(10)
    orders = []
    for data in (TensorDataset(rows), [(int(row),) for row in rows]):
        zero.manual_seed(7)
        loader = DataLoader(data, 4, sampler=make(data))
        orders.append([batch[0].tolist() for batch in loader])
    zero.manual_seed(7)
    assert orders[0] == orders[1] and orders[0]


def test_python_states_are_left_alone():
    state, numpy_state = random.getstate(), np.random.get_state()[1].tolist()
    list(DataLoader(range(10), 2, sampler=iter(range(10))))
    assert random.getstate() == state and np.random.get_state()[1].tolist() == numpy_state


@pytest.mark.parametrize("replacement", [False, True])
def test_orders_without_end(replacement):
    """Programs ask for 10^10 samples where they mean no end."""
    x = zero.arange(10)
    found = []
    for data in (TensorDataset(x), [(i,) for i in range(10)]):
        zero.manual_seed(0)
        loader = DataLoader(data, 3, sampler=RandomSampler(data, replacement, num_samples=10**10))
        assert len(loader) == -(-(10**10) // 3)
        found.append([batch[0].tolist() for batch, _ in zip(loader, range(3000), strict=False)])
    assert found[0] == found[1] and {len(batch) for batch in found[0]} == {3}
    counts = Counter(i for batch in found[0] for i in batch)
    # 5 standard deviations; else each is drawn once in a round of 10.
    assert all(abs(counts[i] - 900) < (143 if replacement else 1) for i in range(10))
