"""zero.save and zero.load: values, memory, places, files, and PyTorch's files."""

import argparse
import collections
import copy
import enum
import io
import os
import pathlib
import pickle
import stat
import struct
import subprocess
import sys
import zipfile
from fractions import Fraction

import numpy as np
import pytest
import torch_files
from children import run_child

import zero
from zero.serialization import CheckpointError

DTYPES = [
    getattr(zero, name)
    for name in "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()
]


def saved(obj, **options):
    file = io.BytesIO()
    zero.save(obj, file, **options)
    return file.getvalue()


def again(obj, **options):
    return zero.load(io.BytesIO(saved(obj)), **options)


def same(a, b):
    """Equal with the same types all the way down."""
    assert type(a) is type(b)
    if isinstance(a, zero.Tensor):
        assert a.dtype is b.dtype and a.shape == b.shape and a.stride() == b.stride()
        assert a.requires_grad == b.requires_grad and a.device == b.device
        assert a.device.type == "meta" or zero.equal(a, b)
        same(vars(a), vars(b))
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
        same(getattr(a, "__dict__", None), getattr(b, "__dict__", None))
    elif isinstance(a, (list, tuple)) and type(a) is not zero.Size:
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and np.array_equal(a, b)
    else:
        assert a == b


# ---- values --------------------------------------------------------------------------------------
VALUES = [
    None, True, False, 0, 255, 256, 65536, -1, 2**31 - 1, -(2**31), 2**31, 2**63, -(2**63), 2**100,
    -(2**2000), 3**3000, 0.0, -0.0, 1.5, float("inf"), "", "text", "é\u4e2d\U0001f600", "\ud800",
    "x" * 300,
    b"", b"\x00\xff" * 200, bytearray(b"\x80"), bytearray(), 1 - 2j, (), (1,), (1, 2), (1, 2, 3),
    (1, 2, 3, 4), [], [[]], {}, {1: {2: {}}}, set(), {1, "a", (2,)}, frozenset({3}),
    collections.OrderedDict(b=1, a=2), collections.Counter("abracadabra"),
    collections.defaultdict(list, {1: [2]}), collections.defaultdict(None, a=1),
    collections.defaultdict(int), argparse.Namespace(lr=0.1, layers=[1, 2]), zero.Size([2, 3]),
    zero.Size([]),
    zero.float32, zero.bfloat16, zero.bool, zero.device("cpu"), zero.device("meta"), zero.strided,
    {(1, ("a", 2.5)): 1, None: 2, b"k": 3, zero.float16: 4}, list(range(2500)),
    {i: str(i) for i in range(2500)}, tuple(range(2500)), ["same"] * 3000,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
def test_values(value):
    same(again(value), value)
    same(again({"x": [value, (value,)]})["x"], [value, (value,)])


def test_nan():
    assert again(float("nan")) != again(float("nan"))


NUMPY = [
    np.float64(1.5), np.float32(0.1), np.float16(2), np.int64(-3), np.uint8(200), np.bool_(True),
    np.complex64(1j), np.str_("text"), np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3).T,
    np.zeros((0, 3)), np.array(1.0), np.array(["a", "bcd"]),
    np.array([b"xy"]), np.array([True, False]), np.arange(10.0)[::3], np.array([1j]),
    np.random.RandomState(0).get_state(),
]  # fmt: skip


@pytest.mark.parametrize("value", NUMPY, ids=lambda value: repr(value)[:30])
def test_numpy_values(value):
    same(again([value, [value]]), [value, [value]])


def test_numpy_values_of_the_other_byte_order():
    """Numpy makes them native when it reads a pickle of protocol 2."""
    a = np.arange(3, dtype=">i4")
    same(again([a, a + 1, a.dtype, a[1]]), [np.arange(3, dtype="i4"), a + 1, a.dtype, a[1]])


def test_identity():
    a, x = [1], zero.ones(2)
    found = again({"a": a, "b": (a, {"c": a}), "x": x, "y": [x, x.detach()]})
    assert found["a"] is found["b"][0] is found["b"][1]["c"]
    assert found["x"] is found["y"][0] is not found["y"][1]
    found["x"][0] = 5
    assert found["y"][1][0] == 5


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors(dtype):
    base = zero.arange(24).reshape(2, 3, 4).to(dtype)
    views = [base, base.permute(2, 0, 1), base[:, 1:], base[1, 2, 3], base[0, 0, ::2], base[:0]]
    views += [zero.empty(0, dtype=dtype), base[:1].expand(5, 3, 4)]
    same(again([x.clone() for x in views]), [x.clone() for x in views])
    for x in views:
        found = again(x)
        assert zero.equal(found, x) and found.dtype is dtype
    for x, y in zip(views, again(views), strict=True):
        assert zero.equal(x, y) and x.stride() == y.stride()


def test_gradients_parameters_and_attributes():
    x = zero.ones(2, requires_grad=True)
    p, fixed = zero.nn.Parameter(zero.ones(3)), zero.nn.Parameter(zero.ones(1), requires_grad=False)
    p.tag, x.note = {"lr": [0.1]}, "text"
    y = (x * 2).sum()
    found = again([x, p, fixed, y])
    same(found[:3], [x, p, fixed])
    assert found[3].is_leaf and found[3].requires_grad and found[3] == 4
    assert all(z.grad is None and z.is_leaf for z in found)
    (found[0] * found[0]).sum().backward()
    assert found[0].grad.tolist() == [2, 2]


def test_meta_tensors():
    x = zero.empty(3, 2, device="meta").t()
    same(again([x, zero.nn.Parameter(x)]), [x, zero.nn.Parameter(x)])


def test_storages():
    x = zero.arange(6.0)
    found = again([x.storage(), x.untyped_storage(), x[2:]])
    assert found[0].tolist() == [0, 1, 2, 3, 4, 5] and found[0].dtype is zero.float32
    assert found[1].nbytes() == 24
    found[2].fill_(9)
    assert found[0].tolist() == [0, 1, 9, 9, 9, 9] and found[1].tolist() == list(
        struct.pack("6f", 0, 1, 9, 9, 9, 9)
    )


def test_models_optimizers_and_generators():
    zero.manual_seed(3)
    model = zero.nn.Sequential(zero.nn.Linear(3, 4), zero.nn.BatchNorm1d(4), zero.nn.LSTM(4, 2))
    linear = zero.nn.Linear(3, 1)
    optimizer = zero.optim.AdamW(linear.parameters(), lr=0.1)
    linear(zero.ones(2, 3)).sum().backward()
    optimizer.step()
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": zero.get_rng_state(),
        "generator": zero.Generator().manual_seed(5).get_state(),
    }
    found = again(state)
    same(found, state)
    assert found["model"]._metadata == model.state_dict()._metadata
    model.load_state_dict(found["model"])
    zero.optim.AdamW(linear.parameters()).load_state_dict(found["optimizer"])
    expected = zero.rand(3)
    zero.set_rng_state(found["random"])
    assert zero.equal(zero.rand(3), expected)


# ---- memory --------------------------------------------------------------------------------------
def stored(obj):
    """Sizes of the storages in the file."""
    with zipfile.ZipFile(io.BytesIO(saved(obj))) as archive:
        assert archive.testzip() is None
        return [i.file_size for i in archive.infolist() if "/data/" in i.filename]


def test_views_share_memory_again():
    x = zero.arange(10.0)
    a, b, c, d = again([x[:6], x[2:4], x[7:], x[::2]])
    a[2] = 99
    assert b.tolist() == [99, 3] and d.tolist() == [0, 99, 4, 6, 8]
    c[1] = 55
    assert d[4] == 55
    whole, part = again([x, x.view(2, 5).t()[1:3]])
    part.fill_(0)
    assert whole.tolist() == [0, 0, 0, 3, 4, 5, 0, 0, 8, 9]


def test_only_the_bytes_that_are_needed():
    big = zero.arange(1_000_000).view(1000, 1000)
    assert stored(big[5, 7:10]) == [24]
    assert stored([big[5, 7:10], big[900, :2]]) == [24, 16]
    assert stored([big[5, 7:10], big[5, 9:20]]) == [8 * 13]
    assert stored([x.clone() for x in big[:2]]) == [8000, 8000]
    assert stored(big[:3]) == [24000] and len(stored([big[:3], big[3:]])) == 2
    # nothing else lies in the gaps of these
    column = big[:, 3:5]
    assert stored(column) == [16000] and again(column).stride() == (2, 1)
    assert stored(column.t()) == [16000] and again(column.t()).stride() == (1, 2)
    assert stored(zero.ones(1).expand(1000)) == [4]
    assert stored(big[:, 3:4].expand(1000, 7)) == [8000]
    assert zero.equal(again(big[:, 3:4].expand(1000, 7)), big[:, 3:4].expand(1000, 7))
    windows = zero.arange(10.0).unfold(0, 4, 1)
    assert stored(windows) == [40] and zero.equal(again(windows), windows)


def test_random_views_of_one_storage():
    random = np.random.RandomState(0)
    for _ in range(60):
        x = zero.arange(60.0)
        views = []
        for _ in range(random.randint(1, 6)):
            sizes = random.randint(0, 4, random.randint(0, 4)).tolist()
            strides = random.randint(0, 6, len(sizes)).tolist()
            views.append(x.as_strided(sizes, strides, int(random.randint(0, 10))))
        found = again(views)
        for a, b in zip(views, found, strict=True):
            assert zero.equal(a, b)
        # A write to one is seen in all that overlap.
        marked, i = x.clone(), int(random.randint(len(views)))
        try:
            views[i].fill_(-1)
        except RuntimeError:  # several of its elements share one place
            continue
        found[i].fill_(-1)
        for a, b in zip(views, found, strict=True):
            assert zero.equal(a, b), marked


def test_views_of_several_dtypes_share_memory():
    x = zero.arange(4.0)
    numbers, bytes_ = x.view(zero.int32)[1:3], x.view(zero.uint8)[5:11]
    found = again([bytes_, numbers, x])
    for a, b in zip(found, [bytes_, numbers, x], strict=True):
        assert zero.equal(a, b)
    found[2].fill_(0)
    assert found[0].tolist() == [0] * 6 and found[1].tolist() == [0, 0]
    flags = zero.tensor([True, False, True])
    found = again([flags, flags.view(zero.uint8)])
    found[1][1] = 1
    assert found[0].tolist() == [True, True, True]


def test_arrays_that_overlap_without_a_common_storage():
    a = np.arange(8, dtype=np.float32)
    found = again([zero.from_numpy(a[:5]), zero.from_numpy(a[3:])])
    assert found[0].tolist() == [0, 1, 2, 3, 4] and found[1].tolist() == [3, 4, 5, 6, 7]
    found[0].fill_(-1)
    assert found[1].tolist() == [-1, -1, 5, 6, 7]


def test_tensors_are_not_changed_by_saving():
    x = zero.ones(3, requires_grad=True)
    y = x * x
    version = x._version
    saved([x, y])
    assert x._version == version
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    with zero.inference_mode():
        z = zero.ones(2) * 2
    assert again(z).tolist() == [2, 2]


def test_modes_have_no_say():
    data = saved(zero.ones(2, requires_grad=True))
    with zero.device("meta"), zero.inference_mode():
        x = zero.load(io.BytesIO(data))
        again({"x": zero.empty(2)})
    assert x.device.type == "cpu" and x.tolist() == [1, 1]
    with zero.no_grad():
        assert zero.load(io.BytesIO(data)).requires_grad


# ---- what cannot be saved ------------------------------------------------------------------------
Point = collections.namedtuple("Point", "x y")


class Color(enum.Enum):
    RED = 1


class Special(dict):
    pass


class Kind(zero.Tensor):
    pass


@pytest.mark.parametrize(
    ("value", "place", "remedy"),
    [
        (zero.nn.Linear(1, 1), "", "state_dict"),
        ({"a": [1, {"b": (zero.nn.ReLU(),)}]}, r'\["a"\]\[1\]\["b"\]\[0\]: ', "state_dict"),
        (
            {"o": zero.optim.SGD([zero.nn.Parameter(zero.ones(1))], lr=1)},
            r'\["o"\]: ',
            "state_dict",
        ),
        ({'a"b': print}, r'\["a\\"b"\]: ', "part of the program"),
        ([lambda: 0], r"\[0\]: ", "part of the program"),
        ([int], r"\[0\]: ", "part of the program"),
        ({1: Point(1, 2)}, r"\[1\]: ", "_asdict"),
        ({None: Color.RED}, r"\[None\]: ", "add_safe_globals"),
        ([Special()], r"\[0\]: ", "plain dict"),
        ({"g": zero.Generator()}, r'\["g"\]: ', "get_state"),
        ({"s": {Fraction(1)}}, r'\["s"\]\[0\]: ', "add_safe_globals"),
        ({Fraction(1, 2): 3}, r"\[a Fraction\]: ", "add_safe_globals"),
        ({"n": argparse.Namespace(f=print)}, r'\["n"\].f: ', "part of the program"),
        (zero.nn.LazyLinear(2).state_dict(), r'\["weight"\]: ', "after the first call"),
        ([np.array([None])], r"\[0\]: ", "object"),
        ([np.datetime64("2020-01-01")], r"\[0\]: ", "datetime64"),
        ([io.BytesIO()], r"\[0\]: ", "add_safe_globals"),
        (collections.defaultdict(lambda: 0), "", "dict"),
        ([zero.memory_format], r"\[0\]: ", "program"),
    ],
)
def test_what_cannot_be_saved_is_named(value, place, remedy, tmp_path):
    path = tmp_path / "x.pt"
    path.write_bytes(b"old")
    with pytest.raises(TypeError, match=f"^save: {place}an? .*{remedy}"):
        zero.save(value, path)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["x.pt"]


def test_attributes_that_cannot_be_saved_are_named():
    x = zero.ones(1)
    x.hook = print
    with pytest.raises(TypeError, match=r'^save: \["x"\].hook: '):
        saved({"x": x})


def test_cycles_and_depth_are_named():
    loop = []
    loop.append({"again": loop})
    with pytest.raises(TypeError, match=r'^save: \[0\]\["again"\]: a list contains itself'):
        saved(loop)
    deep = []
    for _ in range(998):
        deep = [deep]
    found = again(deep)
    for _ in range(998):
        (found,) = found
    assert found == []
    for _ in range(10**5):
        deep = [deep]
    with pytest.raises(TypeError, match=r"a list lies deeper than 1000 containers$"):
        saved(deep)
    shared = []
    for _ in range(100):  # 2^100 ways through it
        shared = [shared, shared, (shared,)]
    found = again(shared)
    assert found[0] is found[1] is found[2][0]


def test_arguments():
    x = zero.ones(1)
    same(zero.load(io.BytesIO(saved(x, pickle_module=pickle, pickle_protocol=5)), None, pickle), x)
    with pytest.raises(ValueError, match="pickle_protocol"):
        saved(x, pickle_protocol=1)
    with pytest.raises(ValueError, match="_use_new_zipfile_serialization"):
        saved(x, _use_new_zipfile_serialization=False)
    with pytest.raises(ValueError, match="pickle_module"):
        saved(x, pickle_module=io)
    with pytest.raises(ValueError, match="pickle_module"):
        again(x, pickle_module=io)
    with pytest.raises(TypeError, match="weights_only"):
        again(x, weights_only=1)
    for weights_only in (None, True, False):
        same(again(x, weights_only=weights_only), x)
    with pytest.raises(AttributeError, match="f is no file"):
        zero.save(x, 3)
    for f in (3, b"PK", None):
        with pytest.raises(TypeError, match="f is no file"):
            zero.load(f)
    with pytest.raises(TypeError, match="text"):
        zero.load(io.StringIO("x"))
    names = zipfile.ZipFile(io.BytesIO(saved(x, _disable_byteorder_record=True))).namelist()
    assert "archive/byteorder" not in names


# ---- places --------------------------------------------------------------------------------------
def from_gpu(obj, location="cuda:0"):
    """A file of tensors that were on a GPU."""
    assert len(location) == 6
    data = saved(obj)
    old = b"X\x03\0\0\0cpu"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        contents = {i.filename: archive.read(i) for i in archive.infolist()}
    pickled = contents["archive/data.pkl"]
    assert old in pickled
    contents["archive/data.pkl"] = pickled.replace(old, b"X\x06\0\0\0" + location.encode())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_map_location():
    data = from_gpu({"x": zero.arange(3.0), "n": 1})

    def load(place=None):
        return zero.load(io.BytesIO(data), place)

    for place in (None, {}, {"cuda:1": "cpu"}, lambda storage, location: None):
        with pytest.raises(CheckpointError, match=r"'cuda:0'.*map_location='cpu'"):
            load(place)
    calls = []

    def place(storage, location):
        calls.append((type(storage), storage.nbytes(), location))
        return storage

    for target in (
        "cpu",
        zero.device("cpu"),
        {"cuda:0": "cpu"},
        {"cuda:0": zero.device("cpu")},
        place,
    ):
        assert load(target)["x"].tolist() == [0, 1, 2]
    assert calls == [(zero.storage.UntypedStorage, 12, "cuda:0")]
    assert load("meta")["x"].device.type == "meta" and load("meta")["x"].shape == (3,)
    assert load({"cuda:0": "meta"})["x"].device.type == "meta"
    with pytest.raises(CheckpointError, match="'mps'"):
        load("mps")
    with pytest.raises(TypeError, match="map_location returned"):
        load(lambda storage, location: 3)
    with pytest.raises(TypeError, match="map_location is of another type"):
        load(3)
    # A function may answer for the CPU, too, and with another storage.
    assert again(zero.ones(2), map_location=lambda storage, location: None).tolist() == [1, 1]
    other = zero.zeros(2).untyped_storage()
    assert again(zero.ones(2), map_location=lambda storage, location: other).tolist() == [0, 0]


def test_meta_reads_no_content():
    data = bytearray(saved(zero.ones(1000)))
    at = data.find(struct.pack("2f", 1, 1))
    data[at] ^= 1
    with pytest.raises(CheckpointError, match="CRC-32"):
        zero.load(io.BytesIO(data))
    assert zero.load(io.BytesIO(data), "meta").shape == (1000,)


def test_mapped_memory(tmp_path):
    path = tmp_path / "x.pt"
    state = {
        "a": zero.arange(1000.0).view(10, 100), "b": zero.ones(3, dtype=zero.bool),
        "c": zero.tensor(2.0, dtype=zero.bfloat16), "e": zero.empty(0),
    }  # fmt: skip
    zero.save(state, path)
    before = path.read_bytes()
    found = zero.load(path, mmap=True)
    same(found, state)
    found["a"].mul_(2)
    assert found["a"][0, 3] == 6 and path.read_bytes() == before
    same(zero.load(str(path), mmap=True), state)
    if os.name == "posix":  # Windows keeps a mapped file in its place
        zero.save({"a": zero.zeros(10, 100)}, path)  # a new file; the old one lives on in memory
        assert found["a"][0, 3] == 6
        path.unlink()
    del state
    assert found["a"].sum() == 999000
    with pytest.raises(ValueError, match="only a file with a path"):
        zero.load(io.BytesIO(before), mmap=True)


def test_numbers_of_the_other_byte_order():
    order, other = sys.byteorder.encode(), b"big\0\0\0" if sys.byteorder == "little" else b"little"
    values = [
        zero.tensor([1, 115], dtype=d) for d in (zero.int16, zero.float32, zero.float64, zero.uint8)
    ]
    data = saved(values)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        contents = {i.filename: archive.read(i) for i in archive.infolist()}
    assert contents["archive/byteorder"] == order
    contents["archive/byteorder"] = other.rstrip(b"\0")
    for key, x in enumerate(values):
        contents[f"archive/data/{key}"] = x.numpy().byteswap().tobytes()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    same(zero.load(file, weights_only=True) if file.seek(0) else zero.load(file), values)


# ---- files ---------------------------------------------------------------------------------------
class Stream:
    """A file of somebody's own: it writes little at a time, and cannot go back."""

    def __init__(self):
        self.content = bytearray()

    def write(self, data):
        n = min(len(data), 1000)
        self.content += bytes(data[:n])
        return n


class Reader:
    def __init__(self, data):
        self.file = io.BytesIO(data)

    def read(self, n=-1):
        return self.file.read(min(n, 100) if n >= 0 else -1)

    def seek(self, *position):
        return self.file.seek(*position)

    def tell(self):
        return self.file.tell()


class Pipe(io.RawIOBase):
    def readable(self):
        return True

    def readinto(self, buffer):
        return 0


def test_file_objects(tmp_path):
    x = {"x": zero.arange(5000.0)}
    stream = Stream()
    zero.save(x, stream)
    same(zero.load(Reader(bytes(stream.content))), x)
    file = io.BytesIO(b"before" + saved(x))
    file.seek(6)
    same(zero.load(file), x)
    with pytest.raises(CheckpointError, match=r"no bytes in it from its position on; f.seek\(0\)"):
        zero.load(file)
    with pytest.raises(CheckpointError, match=r"cannot be searched.*BytesIO"):
        zero.load(Pipe())
    with open(tmp_path / "x.pt", "wb") as file:
        zero.save(x, file)
    with open(tmp_path / "x.pt", "rb") as file:
        same(zero.load(file), x)
        same(zero.load(file, mmap=False) if file.seek(0) == 0 else None, x)
    import gzip

    with gzip.open(tmp_path / "x.gz", "wb") as file:
        zero.save(x, file)
    with gzip.open(tmp_path / "x.gz") as file:
        same(zero.load(io.BytesIO(file.read())), x)
    with pytest.raises(CheckpointError, match="gzip"):
        zero.load(tmp_path / "x.gz")


def test_the_same_values_give_the_same_bytes(tmp_path):
    state = zero.nn.Linear(2, 3).state_dict()
    zero.save(state, tmp_path / "a.pt")
    zero.save(copy.deepcopy(state), tmp_path / "b.bin")
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "b.bin").read_bytes() == saved(state)


def test_the_archive():
    with zipfile.ZipFile(io.BytesIO(saved([zero.ones(3), zero.ones(0), zero.ones(5)]))) as archive:
        assert archive.testzip() is None
        assert [i.filename for i in archive.infolist()] == [
            f"archive/{name}"
            for name in ("data.pkl", ".format_version", ".storage_alignment", "byteorder",
                         "data/0", "data/1", "data/2", "version")
        ]  # fmt: skip
        data = archive.fp.getvalue()
        for i in archive.infolist():
            name, extra = struct.unpack_from("<HH", data, i.header_offset + 26)
            assert (i.header_offset + 30 + name + extra) % 64 == 0 and i.compress_type == 0


def test_a_path_is_replaced_in_one_step(tmp_path):
    path = tmp_path / "x.pt"
    zero.save(1, path)
    old = os.stat(path).st_ino
    zero.save(2, str(path))
    assert zero.load(path) == 2 and os.stat(path).st_ino != old
    assert os.listdir(tmp_path) == ["x.pt"]
    with pytest.raises(FileNotFoundError):
        zero.save(1, tmp_path / "none" / "x.pt")
    with pytest.raises((IsADirectoryError, PermissionError)):
        zero.save(1, tmp_path)
    with pytest.raises(FileNotFoundError):
        zero.load(tmp_path / "none")


@pytest.mark.skipif(os.name != "posix", reason="permissions, links and devices of POSIX")
def test_permissions_and_links(tmp_path):
    mask = os.umask(0o027)
    try:
        zero.save(1, tmp_path / "x.pt")
        open(tmp_path / "plain", "wb").close()
    finally:
        os.umask(mask)
    mode = os.stat(tmp_path / "x.pt").st_mode
    assert mode == os.stat(tmp_path / "plain").st_mode and stat.S_IMODE(mode) == 0o640
    os.chmod(tmp_path / "x.pt", 0o600)
    (tmp_path / "link").symlink_to("x.pt")
    zero.save(2, tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and zero.load(tmp_path / "x.pt") == 2
    assert stat.S_IMODE(os.stat(tmp_path / "x.pt").st_mode) == 0o600
    (tmp_path / "new").symlink_to(tmp_path / "later.pt")
    zero.save(3, tmp_path / "new")
    assert zero.load(tmp_path / "later.pt") == 3
    zero.save(zero.ones(3), "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    if os.geteuid():
        os.chmod(tmp_path / "x.pt", 0o400)
        with pytest.raises(PermissionError):
            zero.save(4, tmp_path / "x.pt")
        assert zero.load(tmp_path / "x.pt") == 2


@pytest.mark.parametrize("unnamed", [True, False])
def test_an_error_while_writing_leaves_the_old_file(tmp_path, monkeypatch, unnamed):
    from zero.serialization import _files, _zip

    if not unnamed:
        monkeypatch.setattr(_files, "_without_name", lambda folder: None)
    path, calls = tmp_path / "x.pt", []
    zero.save(zero.ones(3), path)
    write = _files.write_all

    def fails(file, data):
        calls.append(1)
        if len(calls) > 9:
            raise OSError("disk full")
        write(file, data)

    monkeypatch.setattr(_zip, "write_all", fails)
    with pytest.raises(OSError, match="disk full"):
        zero.save(zero.zeros(100), path)
    assert os.listdir(tmp_path) == ["x.pt"]
    assert zero.load(path).tolist() == [1, 1, 1]
    monkeypatch.setattr(_zip, "write_all", write)
    zero.save(zero.zeros(2), path)
    assert zero.load(path).tolist() == [0, 0] and os.listdir(tmp_path) == ["x.pt"]
    monkeypatch.setattr(os, "replace", lambda a, b: fails(None, b""))
    with pytest.raises(OSError, match="disk full"):
        zero.save(zero.zeros(100), path)
    assert os.listdir(tmp_path) == ["x.pt"]


def test_saving_takes_no_copy(tmp_path):
    code = """
import resource, sys, zero
x = zero.ones(25_000_000)
zero.save([x[:10]], sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
zero.save([x, x[5:]], sys.argv[1])
saving = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
del x
zero.empty_cache()
y = zero.load(sys.argv[1], mmap=True)
print(saving, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    pytest.importorskip("resource")
    saving, mapped = map(int, run_child("-c", code, tmp_path / "x.pt").split())
    unit = 1024 if sys.platform == "darwin" else 1
    assert saving / unit < 10_000 and mapped / unit < 10_000  # KB, of 100 MB


def test_import_is_lazy():
    code = (
        "import sys, zero; assert 'save' in dir(zero)\n"
        "assert not {'pickle', 'zipfile', 'zero.serialization', 'argparse'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


# ---- large archives ------------------------------------------------------------------------------
def test_archives_of_more_than_4_gigabytes(tmp_path):
    """A file with a hole in it, so that nothing of that size is written."""
    from zero.serialization._files import Source
    from zero.serialization._zip import Archive, ArchiveWriter

    class Sparse:
        def __init__(self, file):
            self.file = file

        def write(self, data):
            if len(data) > 10_000:
                self.file.seek(len(data), 1)
            else:
                self.file.write(data)
            return len(data)

    size = (1 << 32) + 5
    hole = memoryview(bytes(1 << 18))
    with open(tmp_path / "big", "wb+") as file:
        writer = ArchiveWriter(Sparse(file), False)
        writer.sums = True
        writer.add("a", [memoryview(b"first")], 5)
        writer.sums = False
        parts = [hole] * (size // len(hole)) + [hole[: size % len(hole)]]
        writer.add("data/0", parts, size)
        writer.sums = True
        writer.add("b", [memoryview(b"last")], 4)
        writer.close()
        file.seek(0)
        archive = Archive(Source(file, "big"), True)
        assert archive.read("a") == b"first" and archive.read("b") == b"last"
        assert archive["data/0"].size == size and archive["b"].offset > size
        assert archive["data/0"].offset % 64 == archive["b"].offset % 64 == 0
        with zipfile.ZipFile(file) as other:
            assert other.read("archive/b") == b"last"
            assert other.getinfo("archive/data/0").file_size == size


# ---- PyTorch's files -----------------------------------------------------------------------------
@pytest.mark.parametrize("content", [torch_files.ZIP, torch_files.OLD], ids=["zip", "old"])
def test_a_file_of_pytorch(content):
    found = zero.load(io.BytesIO(content))
    assert list(found) == [
        "model",
        "opt",
        "sched",
        "parameter",
        "views",
        "dtypes",
        "values",
        "meta",
    ]
    model, optimizer = found["model"], found["opt"]
    assert model._metadata == {"": {"version": 1}} and type(model) is collections.OrderedDict
    step = [0.5 * (1 - 0.1 * 0.01) - 0.1, -0.25 * (1 - 0.1 * 0.01) - 0.1]
    assert model["weight"].tolist() == [pytest.approx(step)] and model["bias"].shape == (1,)
    assert optimizer["state"][0]["step"] == 1 and optimizer["param_groups"][0]["lr"] == 0.1
    assert optimizer["state"][0]["exp_avg"].tolist() == [pytest.approx([0.1, 0.1])]
    mine = zero.nn.Linear(2, 1)
    mine.load_state_dict(model)
    other = zero.optim.AdamW(mine.parameters(), lr=1.0)
    other.load_state_dict(optimizer)
    mine(zero.ones(1, 2)).sum().backward()
    other.step()  # gradients of ones again: a step of lr once more
    expected = [x * (1 - 0.1 * 0.01) - 0.1 for x in step]
    assert mine.weight.tolist() == [pytest.approx(expected)]
    assert found["sched"]["T_max"] == 10 and found["sched"]["base_lrs"] == [0.1]
    assert type(found["parameter"]) is zero.nn.Parameter and found["parameter"].tolist() == [1.5]
    first, second = found["views"]
    assert first.tolist() == [0, 1, 2, 3] and second.tolist() == [[2, 4], [3, 5]]
    second[0, 0] = 9
    assert first.tolist() == [0, 1, 9, 3]
    assert [x.dtype for x in found["dtypes"]] == DTYPES
    assert all(x.tolist() == [0, 1] for x in found["dtypes"])
    same(
        found["values"],
        {
            "a": (1, -2, 2**40, True, None, 1.5, "é", b"\xff\0", 1j),
            "s": {3},
            "dtype": zero.bfloat16,
            "device": zero.device("cpu"),
            "size": zero.Size([2, 3]),
        },
    )
    assert found["meta"].device.type == "meta" and found["meta"].shape == (2, 3)


def test_old_files_are_not_mapped(tmp_path):
    path = tmp_path / "old.pt"
    path.write_bytes(torch_files.OLD)
    assert zero.load(path, "meta")["views"][0].device.type == "meta"
    with pytest.raises(CheckpointError, match="without mmap=True"):
        zero.load(path, mmap=True)


def make_states(t):
    """Models, optimizers and plain values, the same with torch and with zero."""
    model = t.nn.Sequential(
        t.nn.Linear(3, 4), t.nn.BatchNorm1d(4), t.nn.ReLU(), t.nn.Linear(4, 2, bias=False)
    )
    with t.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(t.arange(p.numel()).reshape(p.shape) / 7 - i)
    states = {}
    for name, options in (("SGD", {"momentum": 0.9}), ("Adam", {"amsgrad": True}), ("AdamW", {})):
        optimizer = getattr(t.optim, name)(model.parameters(), lr=0.1, **options)
        (model(t.ones(3, 3) / 3) ** 2).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        states[name] = optimizer.state_dict()
    x = t.arange(12)
    return {
        "model": model.state_dict(), "optimizers": states,
        "views": [x[:7].view(7, 1), x[2:].view(2, 5).t()],
        "kinds": [t.tensor([0, 1], dtype=getattr(t, str(d).partition(".")[2])) for d in DTYPES],
        "mixed": [
            1, 2.5, "x", b"y", True, None, (1, [2, {3: 4}]), {5}, 1j, t.float16, t.Size([4]),
            t.device("cpu"),
        ],
        "parameter": t.nn.Parameter(t.ones(2, 2)), "scalar": t.tensor(3.5), "empty": t.zeros(0, 4),
        "meta": t.empty(2, 3, device="meta"), "random": t.zeros(16, dtype=t.uint8),
        "counts": collections.Counter("aab"), "bytes": bytearray(b"abc"),
    }  # fmt: skip


def plain(x):
    """With lists in place of tensors, so that torch's and zero's can be compared."""
    if hasattr(x, "is_leaf"):
        about = (str(x.dtype).partition(".")[2], tuple(x.shape), x.stride(), x.requires_grad)
        return (*about, x.device.type, None if x.device.type == "meta" else x.float().tolist())
    if isinstance(x, dict):
        return [(key, plain(value)) for key, value in x.items()], plain(vars(x)) if hasattr(
            x, "_metadata"
        ) else None
    if isinstance(x, (list, tuple)):
        return type(x).__name__, [plain(item) for item in x]
    return str(x).replace("torch.", "").replace("zero.", "")


@pytest.mark.parametrize("old", [False, True], ids=["zip", "old"])
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_from_torch(old, protocol, tmp_path):
    torch = pytest.importorskip("torch")
    state = make_states(torch)
    path = tmp_path / "x.pt"
    torch.save(state, path, pickle_protocol=protocol, _use_new_zipfile_serialization=not old)
    found = zero.load(path)
    assert plain(found) == plain(state)
    if not old:
        assert plain(zero.load(path, mmap=True)) == plain(state)
        zero.save(found, path)
        assert plain(torch.load(path, weights_only=True)) == plain(state)


def test_to_torch(tmp_path):
    torch = pytest.importorskip("torch")
    state = make_states(zero)
    path = tmp_path / "x.pt"
    zero.save(state, path)
    for options in ({}, {"mmap": True}, {"weights_only": False}):
        found = torch.load(path, **options)
        assert plain(found) == plain(state), options
        found["views"][0][3] = -7
        assert found["views"][1][1, 0] == -7
    x = zero.arange(4.0)
    zero.save([x.view(zero.int32)[1:], x, zero.ones(2, device="cpu")], path)
    found = torch.load(path, weights_only=True)
    found[1].fill_(0)
    assert found[0].tolist() == [0, 0, 0] and found[0].dtype is torch.int32
    value = {"n": np.float64(1.5), "a": np.arange(3), "z": frozenset({1})}
    zero.save(value, path)
    assert repr(torch.load(path, weights_only=False)) == repr(value)
    # Both make the same optimizer of it.
    mine = make_states(zero)
    zero.save(mine, path)
    theirs = make_states(torch)
    found = torch.load(path)["optimizers"]
    close(found, theirs["optimizers"])


def close(a, b):
    if hasattr(a, "is_leaf"):
        assert np.allclose(a.tolist(), b.tolist(), rtol=1e-4, atol=1e-6)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            close(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        for x, y in zip(a, b, strict=True):
            close(x, y)
    else:
        assert a == b


def test_torch_finds_storages_by_its_rule_of_alignment(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    from torch.utils.serialization import config

    zero.save([zero.ones(n) for n in (3, 0, 100, 1, 17, 0, 5)], tmp_path / "x.pt")
    monkeypatch.setattr(config.load, "calculate_storage_offsets", True)
    monkeypatch.setenv("TORCH_SERIALIZATION_DEBUG", "1")  # compares with the list at the end
    found = torch.load(tmp_path / "x.pt", mmap=True)
    assert [len(x) for x in found] == [3, 0, 100, 1, 17, 0, 5]


# ---- classes that a program allows ---------------------------------------------------------------
class Settings:
    def __init__(self, lr):
        self.lr = lr

    def __eq__(self, other):
        return vars(self) == vars(other)

    __hash__ = None


def test_allowed_classes():
    value = {
        "c": Color.RED,
        "p": Point(1, zero.ones(1)),
        "s": Settings(0.1),
        "f": {Fraction(1, 3): 2},
    }
    classes = [Color, Point, Settings, Fraction]
    with zero.serialization.safe_globals(classes):
        assert zero.serialization.get_safe_globals() == classes
        data = saved(value)
        found = zero.load(io.BytesIO(data))
    assert found == value and type(found["p"]) is Point
    assert zero.serialization.get_safe_globals() == []
    with pytest.raises(CheckpointError, match=r"an object of .*Color.*add_safe_globals"):
        zero.load(io.BytesIO(data))
    names = zero.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
    assert [name.rpartition(".")[2] for name in names] == ["Color", "Point", "Settings", "Fraction"]
    plain_pickle = io.BytesIO(pickle.dumps(value["c"]))
    assert zero.serialization.get_unsafe_globals_in_checkpoint(plain_pickle) == [
        f"{__name__}.Color"
    ]
    zero.serialization.add_safe_globals([(Settings, "old.module.Settings")])
    try:
        assert zero.serialization.get_safe_globals() == [Settings]
        file = io.BytesIO(data.replace(b"x", b"x"))
        with pytest.raises(CheckpointError):
            zero.load(file)
    finally:
        zero.serialization.clear_safe_globals()
    for bad in (os.system, eval, sys.exit, subprocess.run):
        with pytest.raises(ValueError, match="no file may call this"):
            zero.serialization.add_safe_globals([bad])
    with pytest.raises(TypeError, match="neither a class"):
        zero.serialization.add_safe_globals(["Settings"])


def test_sums_can_be_left_out():
    assert zero.serialization.get_crc32_options() is True
    zero.serialization.set_crc32_options(False)
    try:
        data = bytearray(saved(zero.ones(100)))
    finally:
        zero.serialization.set_crc32_options(True)
    same(zero.load(io.BytesIO(data)), zero.ones(100))
    with pytest.raises(TypeError, match="no bool"):
        zero.serialization.set_crc32_options(1)


# ---- pickle, numpy's files -----------------------------------------------------------------------
def test_pickle_of_tensors_and_states():
    model = zero.nn.Linear(2, 3)
    state = {"model": model.state_dict(), "p": model.weight, "d": zero.float16, "s": zero.Size([1])}
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        found = pickle.loads(pickle.dumps(state, protocol))
        same(found, state)
        found["p"].detach().fill_(0)
        assert model.weight.abs().sum() > 0 and found["model"]["weight"].abs().sum() > 0


def test_numpy_files(tmp_path):
    x = zero.arange(6.0).view(2, 3)
    np.save(tmp_path / "x.npy", x)
    assert zero.equal(zero.from_numpy(np.load(tmp_path / "x.npy")), x)
    np.savez(tmp_path / "x.npz", a=x, b=x[0].to(zero.int16))
    with np.load(tmp_path / "x.npz") as found:
        assert zero.equal(zero.from_numpy(found["a"]), x)
        assert zero.from_numpy(found["b"]).dtype is zero.int16
    for name, what in (("x.npy", "numpy.load"), ("x.npz", "numpy.load")):
        with pytest.raises(CheckpointError, match=what):
            zero.load(tmp_path / name)
    path = pathlib.Path(tmp_path / "x.pt")
    zero.save(x, path)
    with pytest.raises(AttributeError, match=r"module 'zero.serialization' has no attribute"):
        zero.serialization.nonsense  # noqa: B018
