"""zero.utils.data.datasets: files as they are published, tables, folders of images, transforms."""

import gzip
import io
import pickle
import sys
import tarfile

import numpy as np
import pytest

import zero
from zero.errors import DTypeError, ShapeError
from zero.utils.data import DataLoader
from zero.utils.data.datasets import (
    CIFAR10,
    CSV,
    MNIST,
    FashionMNIST,
    ImageDataset,
    ImageFolder,
    Parquet,
    Table,
    mnist,
)
from zero.utils.data.datasets.transforms import (
    Compose,
    Normalize,
    RandomCrop,
    RandomHorizontalFlip,
)

RNG = np.random.default_rng(0)


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return head + array.astype(np.uint8).tobytes()


def write_mnist(folder, n=12, packed=True, part="train"):
    images, labels = RNG.integers(0, 256, (n, 28, 28)), np.arange(n) % 10
    for name, array in (("images-idx3", images), ("labels-idx1", labels)):
        path = folder / f"{part}-{name}-ubyte{'.gz' if packed else ''}"
        path.write_bytes(gzip.compress(idx(array)) if packed else idx(array))
    return images, labels


def write_cifar(folder, n=4):
    folder.mkdir(exist_ok=True)
    records = {}
    for name in (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"):
        record = RNG.integers(0, 256, (n, 3073), dtype=np.uint8)
        record[:, 0] %= 10
        (folder / name).write_bytes(record.tobytes())
        records[name] = record
    return records


# ---- MNIST ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("kind", [MNIST, FashionMNIST])
def test_mnist(tmp_path, kind, packed):
    images, labels = write_mnist(tmp_path, packed=packed)
    test_images, _ = write_mnist(tmp_path, 3, packed, "t10k")
    data = kind(tmp_path, check=False)
    assert len(data) == 12 and data.data.tolist() == images[:, None].tolist()
    assert data.targets.tolist() == labels.tolist() and len(data.classes) == 10
    image, label = data[-1]
    assert type(label) is int and label == 1 and image.dtype == zero.float32
    assert image.shape == (1, 28, 28) and image[0, 2, 3].item() == np.float32(
        images[11, 2, 3] / 255
    )
    assert kind(tmp_path, train=False, check=False).data[:, 0].tolist() == test_images.tolist()
    with pytest.raises(IndexError):
        data[12]


def test_mnist_in_batches(tmp_path):
    write_mnist(tmp_path, 30)
    seen = []

    def transform(images):
        seen.append(tuple(images.shape))
        return images * 2

    data = MNIST(tmp_path, transform=transform, target_transform=lambda y: y + 1, check=False)
    order = [3, 5, 11, 2, 29]
    (x, y), (x2, _) = DataLoader(data, 3, sampler=order)
    assert seen == [(3, 1, 28, 28), (2, 1, 28, 28)]
    singles = [data[i] for i in order]
    assert zero.equal(zero.cat([x, x2]), zero.stack([image for image, _ in singles]))
    assert y.tolist() == [label for _, label in singles][:3] == [4, 6, 2]


def test_mnist_is_checked(tmp_path, monkeypatch):
    images, labels = write_mnist(tmp_path, packed=False)
    with pytest.raises(ValueError, match=r"got 9,424 bytes, expected 47,040,016 \(check=False"):
        MNIST(tmp_path)
    monkeypatch.setitem(mnist.N, "train", 12)
    with pytest.raises(ValueError, match=r"got the MD5 [0-9a-f]{32}, expected 6bbc9ace"):
        MNIST(tmp_path)
    from hashlib import md5

    monkeypatch.setattr(
        MNIST,
        "MD5",
        {
            "train-images-idx3-ubyte": md5(idx(images)).hexdigest(),
            "train-labels-idx1-ubyte": md5(idx(labels)).hexdigest(),
        },
    )
    assert len(MNIST(tmp_path)) == 12
    path = tmp_path / "train-labels-idx1-ubyte"
    path.write_bytes(path.read_bytes()[:-1] + b"\5")
    with pytest.raises(ValueError, match=r"train-labels.* is damaged, or not"):
        MNIST(tmp_path)
    assert MNIST(tmp_path, check=False).targets[-1].item() == 5


def test_every_published_file_has_its_sum():
    sums = [*MNIST.MD5.values(), *FashionMNIST.MD5.values()]
    assert MNIST.MD5.keys() == FashionMNIST.MD5.keys() and len(set(sums)) == 8
    assert all(len(each) == 32 and int(each, 16) for each in sums)


def test_damaged_mnist(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        MNIST(tmp_path)
    write_mnist(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    whole = path.read_bytes()
    for bad, text in (
        (whole[:2000], "is damaged"),
        (whole[:200] + bytes(300) + whole[500:], "damaged|no IDX|another length"),
        (gzip.compress(b"PK\3\4" + bytes(100)), "no IDX file of bytes with 3 dim.* 50 4b 03 04"),
        (gzip.compress(idx(np.zeros(5))), "00 00 08 01, expected 00 00 08 03"),
        (gzip.compress(idx(np.zeros((12, 28, 28)))[:-1]), "got 9,407 elements, expected 9,408"),
        (gzip.compress(idx(np.zeros((11, 28, 28)))), r"\(11, 1, 28, 28\) and \(12,\)"),
    ):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=text):
            MNIST(tmp_path, check=False)
    path.write_bytes(whole)
    labels = tmp_path / "train-labels-idx1-ubyte.gz"
    labels.write_bytes(gzip.compress(idx(np.full(12, 10))))
    with pytest.raises(ValueError, match="class is out of range; got 10, expected less than 10"):
        MNIST(tmp_path, check=False)


# ---- CIFAR-10 ------------------------------------------------------------------------------------
def test_cifar(tmp_path):
    records = write_cifar(tmp_path / "cifar-10-batches-bin")
    with tarfile.open(tmp_path / "cifar-10-binary.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "cifar-10-batches-bin", "cifar-10-batches-bin")
    roots = [tmp_path, tmp_path / "cifar-10-batches-bin", tmp_path / "cifar-10-binary.tar.gz"]
    for root in roots:
        train, test = (CIFAR10(root, train, check=False) for train in (True, False))
        assert len(train) == 20 and len(test) == 4 and train.classes[3] == "cat"
        expected = np.concatenate([records[f"data_batch_{i}.bin"] for i in range(1, 6)])
        assert train.targets.tolist() == expected[:, 0].tolist()
        assert train.data.tolist() == expected[:, 1:].reshape(-1, 3, 32, 32).tolist()
        assert test.targets.tolist() == records["test_batch.bin"][:, 0].tolist()
    x, y = next(iter(DataLoader(train, 8)))
    assert x.shape == (8, 3, 32, 32) and x.max().item() <= 1 and y.dtype == zero.int64
    with pytest.raises(ValueError, match="got 12,292 bytes, expected 30,730,000"):
        CIFAR10(roots[1])
    with pytest.raises(ValueError, match="bytes, expected 170,052,171"):
        CIFAR10(roots[2])


def test_cifar_that_is_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        CIFAR10(tmp_path)
    records = write_cifar(tmp_path)
    test = tmp_path / "test_batch.bin"
    for bad, text in ((b"", "no whole images"), (b"\0" * 3074, "multiple of 3073")):
        test.write_bytes(bad)
        with pytest.raises(ValueError, match=text):
            CIFAR10(tmp_path, False, check=False)
    record = records["test_batch.bin"]
    record[2, 0] = 10
    test.write_bytes(record.tobytes())
    with pytest.raises(ValueError, match="class out of range; got 10"):
        CIFAR10(tmp_path, False, check=False)
    archive = tmp_path / "a.tar.gz"
    archive.write_bytes(b"no archive")
    with pytest.raises(ValueError, match="is damaged"):
        CIFAR10(archive, check=False)
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("cifar/data_batch_1.bin"), io.BytesIO())
    with pytest.raises(ValueError, match=r"no data_batch_2\.bin in it"):
        CIFAR10(archive, check=False)


@pytest.mark.parametrize(
    "name", ["data_batch_1", "cifar-10-batches-py/data_batch_1", "cifar-10-python.tar.gz"]
)
def test_pickles_of_cifar_are_refused(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(pickle.dumps({b"data": 1}))
    for root in {tmp_path, path.parent, *([path] if name.endswith("gz") else [])}:
        with pytest.raises(ValueError, match=r"pickles.*expected the binary version"):
            CIFAR10(root)


def test_image_datasets_are_checked():
    data, targets = zero.zeros(3, 1, 2, 2, dtype=zero.uint8), zero.tensor([0, 1, 2])
    assert len(ImageDataset(data, targets)) == 3
    for wrong in ((data[0], targets), (data, targets[:2]), (data, targets.view(3, 1))):
        with pytest.raises(ShapeError, match=r"expected \[N, C, H, W\] and \[N\]"):
            ImageDataset(*wrong)


# ---- transforms ----------------------------------------------------------------------------------
def test_transforms_of_batches():
    zero.manual_seed(0)
    x = zero.arange(200 * 3 * 16).view(200, 3, 4, 4).float()
    flipped = RandomHorizontalFlip()(x)
    sides = [zero.equal(a, b.flip(-1)) - zero.equal(a, b) for a, b in zip(flipped, x, strict=True)]
    assert set(sides) == {-1, 1} and abs(sum(sides)) < 5 * 200**0.5
    assert zero.equal(RandomHorizontalFlip(1)(x), x.flip(-1))
    assert zero.equal(RandomHorizontalFlip(0)(x), x)

    cropped = RandomCrop((2, 3), padding=1)(x)
    padded = zero.nn.functional.pad(x, [1] * 4)
    places = set()
    for part, whole in zip(cropped, padded, strict=True):
        found = [
            (i, j)
            for i in range(5)
            for j in range(4)
            if zero.equal(part, whole[:, i : i + 2, j : j + 3])
        ]
        places.update(found[:1])
        assert found
    assert len(places) == 20
    assert zero.equal(RandomCrop(4)(x), x)

    mean, std = [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]
    expected = (x.numpy() - np.reshape(mean, (3, 1, 1))) / np.reshape(std, (3, 1, 1))
    assert np.allclose(Normalize(mean, std)(x).numpy(), expected, rtol=1e-6)
    both = Compose([Normalize(0.0, 2.0), lambda images: images + 1])
    assert zero.equal(both(x), x / 2 + 1)
    zero.manual_seed(1)
    a = RandomCrop(2)(x)
    zero.manual_seed(1)
    assert zero.equal(RandomCrop(2)(x), a)


def test_transforms_out_of_range():
    with pytest.raises(ValueError, match="no probability"):
        RandomHorizontalFlip(1.5)
    with pytest.raises(ValueError, match="std is 0"):
        Normalize(0.5, [1.0, 0.0])
    with pytest.raises(ShapeError, match=r"got \(5, 5\), expected at most \(4, 4\)"):
        RandomCrop(5)(zero.zeros(1, 1, 4, 4))
    for transform in (RandomCrop(2), RandomHorizontalFlip()):
        with pytest.raises(ShapeError, match=r"expected \[B, C, H, W\]"):
            transform(zero.zeros(3, 4, 4))


def test_transforms_in_threads_draw_from_their_own(tmp_path):
    write_mnist(tmp_path, 40)
    data = MNIST(tmp_path, transform=RandomCrop(28, padding=3), check=False)

    def epoch(n):
        zero.manual_seed(3)
        loader = DataLoader(data, 5, shuffle=True, num_workers=n, worker_type="thread")
        return [x.tolist() for x, _ in loader]

    assert epoch(1) == epoch(2) == epoch(3)


# ---- folders -------------------------------------------------------------------------------------
@pytest.fixture
def pictures(tmp_path):
    image = pytest.importorskip("PIL.Image")
    arrays = {}
    for kind, size in (("cat", (6, 8)), ("dog", (8, 6))):
        for i in range(3):
            path = tmp_path / kind / ("old" if i == 2 else "") / f"{i}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            arrays[path] = RNG.integers(0, 256, (*size, 3), dtype=np.uint8)
            image.fromarray(arrays[path]).save(path)
        (tmp_path / kind / "notes.txt").write_text("no image")
    return tmp_path, arrays


def test_image_folder(pictures):
    root, arrays = pictures
    data = ImageFolder(root)
    assert data.classes == ["cat", "dog"] and data.class_to_idx == {"cat": 0, "dog": 1}
    assert len(data) == 6 and data.targets == [0, 0, 0, 1, 1, 1]
    for i, (path, target) in enumerate(data.samples):
        image, label = data[i]
        expected = arrays[path].transpose(2, 0, 1).astype(np.float32) / np.float32(255)
        assert label == target and np.array_equal(image.numpy(), expected)
    for options in ({}, {"num_workers": 2, "worker_type": "thread"}):
        (x, y), (x2, y2) = DataLoader(data, 3, **options)
        assert x.shape == (3, 3, 6, 8) and x2.shape == (3, 3, 8, 6)
        assert y.tolist() == [0] * 3 and y2.tolist() == [1] * 3
        assert zero.equal(x[1], data[1][0])
    with pytest.raises(ShapeError, match=r"cat.*of \(6, 8\) and .*dog.*of \(8, 6\).*size="):
        list(DataLoader(data, 2))
    sized = ImageFolder(root, size=4, mode="L", transform=lambda images: images - 1)
    x, y = next(iter(DataLoader(sized, 6)))
    assert x.shape == (6, 1, 4, 4) and -1 <= x.min().item() and x.max().item() <= 0
    assert zero.equal(x[4], sized[4][0])


def test_image_folders_that_are_none(pictures):
    root, arrays = pictures
    with pytest.raises(FileNotFoundError, match="no classes"):
        ImageFolder(root / "cat" / "old")
    with pytest.raises(FileNotFoundError, match="no classes"):
        ImageFolder(root / "nowhere")
    (root / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="class without images"):
        ImageFolder(root)
    (root / "empty").rmdir()
    with pytest.raises(ValueError, match="no such mode; got 'P'"):
        ImageFolder(root, mode="P")
    path = next(iter(arrays))
    path.write_bytes(b"no image")
    with pytest.raises(RuntimeError, match=rf"{path.name} cannot be read"):
        list(DataLoader(ImageFolder(root), 1))


def test_what_is_missing_is_named(monkeypatch, tmp_path):
    for name in ("PIL", "PIL.Image", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(RuntimeError, match=r"needs Pillow: pip install zerograd\[data\]"):
        ImageFolder(tmp_path)
    for kind in (CSV, Parquet):
        with pytest.raises(RuntimeError, match=r"needs pyarrow: pip install zerograd\[data\]"):
            kind(tmp_path / "x")


# ---- tables --------------------------------------------------------------------------------------
TEXT = """x,y,name,yes
1.5,3,a,true
,4,b,false
-2,5,"c, d",true
"""


def test_csv(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    table = CSV(path)
    assert list(table.columns) == ["x", "y", "name", "yes"] and len(table) == 3
    x, y, yes = (table.columns[name] for name in ("x", "y", "yes"))
    assert x.dtype == zero.float64 and y.dtype == zero.int64 and yes.dtype == zero.bool
    assert x[[0, 2]].tolist() == [1.5, -2] and bool(x[1].isnan()) and y.tolist() == [3, 4, 5]
    assert table[-1]["name"] == "c, d" and table[2]["y"].item() == 5
    assert table.matrix("y", "yes").tolist() == [[3, 1], [4, 0], [5, 1]]
    assert (
        table.matrix().shape == (3, 3) and table.matrix("y", dtype=zero.int64).dtype == zero.int64
    )
    fast = list(DataLoader(table, 2))
    slow = list(DataLoader(table, 2, collate_fn=lambda s: zero.utils.data.default_collate(s)))
    for a, b in zip(fast, slow, strict=True):
        assert repr(a) == repr(b)
    assert fast[1]["name"] == ["c, d"] and fast[0]["y"].tolist() == [3, 4]
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(TEXT.replace(",", ";").replace("c; d", "c").encode()))
    assert CSV(packed, ["name", "x"], delimiter=";").columns["name"] == ["a", "b", "c"]
    assert list(CSV(path, ["name"]).columns) == ["name"]


def test_csv_that_is_none(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    with pytest.raises(ValueError, match=r"t\.csv: .*nope"):
        CSV(path, ["nope"])
    with pytest.raises(FileNotFoundError):
        CSV(tmp_path / "u.csv")
    with pytest.raises(ValueError, match=r"got 'name', expected one of \['x'"):
        CSV(path).matrix("name")
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(ValueError, match="Expected 2 columns, got 1"):
        CSV(path)
    path.write_text("a,b\n1,2\n,3\n")
    with pytest.raises(ValueError, match=r"column 'a' has empty cells.*int64.*got 1 of 2"):
        CSV(path)
    path.write_text("a,b\n2020-01-01,2\n")
    with pytest.raises(DTypeError, match="column 'a' has no dtype here; got date32"):
        CSV(path)
    assert CSV(path, ["b"]).columns["b"].tolist() == [2]


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {
        "f4": pa.array([1.5, None, 3.0], pa.float32()),
        "u1": pa.array([1, 2, 255], pa.uint8()),
        "u4": pa.array([1, 2, 2**32 - 1], pa.uint32()),
        "i2": pa.array([1, -2, 3], pa.int16()),
        "b": pa.array([True, False, True]),
        "s": pa.array(["a", "b", "c"]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=2)
    table = Parquet(tmp_path / "t.parquet")
    dtypes = [c.dtype for c in table.columns.values() if isinstance(c, zero.Tensor)]
    assert dtypes == [zero.float32, zero.uint8, zero.int64, zero.int16, zero.bool]
    assert table.columns["u4"].tolist() == [1, 2, 2**32 - 1] and table.columns["s"] == [*"abc"]
    assert table.columns["f4"][2].item() == 3 and bool(table.columns["f4"][1].isnan())
    assert list(Parquet(tmp_path / "t.parquet", ["b", "i2"]).columns) == ["b", "i2"]
    assert len(Parquet(tmp_path)) == 3
    with pytest.raises(ValueError, match=r"t\.parquet: .*nope"):
        Parquet(tmp_path / "t.parquet", ["b", "nope"])
    pq.write_table(pa.table({"l": pa.array([[1], [2]])}), tmp_path / "l.parquet")
    with pytest.raises(DTypeError, match="column 'l' has no dtype here; got list"):
        Parquet(tmp_path / "l.parquet")
    pq.write_table(pa.table({"u": pa.array([2**64 - 1], pa.uint64())}), tmp_path / "u.parquet")
    with pytest.raises(ValueError, match="column 'u'"):
        Parquet(tmp_path / "u.parquet")
    (tmp_path / "x.parquet").write_bytes(b"no table")
    with pytest.raises(ValueError, match=r"x\.parquet"):
        Parquet(tmp_path / "x.parquet")


def test_tables_of_columns():
    table = Table({"x": zero.arange(4), "name": list("abcd")})
    assert table.matrix("x").dtype == zero.float32
    (batch,) = DataLoader(table, 4, sampler=[3, 0, -1])
    assert batch["x"].tolist() == [3, 0, 3] and batch["name"] == ["d", "a", "d"]
    for columns in ({}, {"x": zero.arange(3), "y": [1, 2]}):
        with pytest.raises(ValueError, match="columns differ in length"):
            Table(columns)
