"""Damaged and hostile checkpoint files: one clear error, little memory, and no wait."""

import builtins
import io
import os
import pickle
import random
import re
import struct
import sys
import time
import tracemalloc
import zipfile

import mutants
import pytest
import torch_files
from children import run_child

import zero
from zero.serialization import CheckpointError

ONES = struct.pack("<4f", 1, 1, 1, 1)


def archive(pickled, storages=(ONES,), compression=zipfile.ZIP_STORED, **more):
    """An archive with a pickle, made by Python's zipfile."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as z:
        z.writestr("archive/data.pkl", pickled)
        for key, content in enumerate(storages):
            z.writestr(f"archive/data/{key}", content)
        for name, content in more.items():
            z.writestr(name.replace("__", "/"), content)
    return file.getvalue()


def load(data, **options):
    return zero.load(io.BytesIO(data), **options)


def pushed(x):
    """Plain values in the writing of pickles, without the ends of one."""
    return pickle.dumps(x, 2)[2:-1]


def persistent(count=4, kind="FloatStorage", key="0"):
    head = b"(X\7\0\0\0storagectorch\n" + kind.encode() + b"\n"
    return head + pushed(key) + pushed("cpu") + pushed(count) + b"tQ"


def tensor(count=4, offset=0, sizes=(4,), strides=(1,), grad=False, kind="FloatStorage"):
    values = b"".join(pushed(x) for x in (offset, sizes, strides, grad))
    name = b"ctorch._utils\n_rebuild_tensor_v2\n("
    return name + persistent(count, kind) + values + b"ccollections\nOrderedDict\n)RtR"


def whole(body):
    return b"\x80\x02" + body + b"."


def test_what_the_other_tests_change():
    assert load(archive(whole(tensor()))).tolist() == [1, 1, 1, 1]
    assert load(archive(whole(tensor(sizes=(2, 3), strides=(1, 0))))).tolist() == [[1] * 3] * 2


# ---- nothing is executed -------------------------------------------------------------------------
class Evil:
    ran = False

    def __reduce__(self):
        return (setattr, (Evil, "ran", True))


NAMES = [
    ("os", "system"), ("posix", "system"), ("builtins", "eval"), ("__builtin__", "eval"),
    ("builtins", "exec"),
    ("builtins", "getattr"), ("builtins", "setattr"), ("builtins", "__import__"),
    ("subprocess", "Popen"),
    ("builtins", "type"), ("builtins", "object"), ("operator", "attrgetter"),
    ("functools", "partial"),
    ("torch", "load"), ("torch.hub", "load"), ("torch.serialization", "load"),
    ("torch._utils", "__builtins__"),
    ("collections", "OrderedDict.__reduce__"), ("collections", "namedtuple"), ("numpy", "load"),
    ("numpy", "dtype.__class__"), ("torch.nn.modules.linear", "Linear"), ("zero", "load"),
    ("zero._zero", "_rebuild_tensor"), ("pickle", "loads"), ("", ""), ("a" * 500, "b" * 400),
]  # fmt: skip


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_unknown_names_are_refused(module, name):
    called = f"c{module}\n{name}\n".encode() + pushed(("true",)) + b"R"
    stacked = pushed(module) + pushed(name) + b"\x93" + pushed(("true",)) + b"R"
    for body in (called, stacked, f"c{module}\n{name}\n)\x81}}b".encode()):
        for data in (archive(whole(body)), whole(body), torch_files.OLD[:12] + whole(body)):
            with pytest.raises(CheckpointError, match="an object of") as caught:
                load(data)
            assert len(str(caught.value)) < 1000
    if name:
        assert zero.serialization.get_unsafe_globals_in_checkpoint(
            io.BytesIO(archive(whole(stacked)))
        ) == [f"{module.replace('__builtin__', 'builtins')}.{name}"]


def test_no_pickle_is_executed():
    for protocol in range(6):
        for data in (pickle.dumps(Evil(), protocol), archive(pickle.dumps([Evil()], protocol))):
            for options in ({}, {"weights_only": False}, {"map_location": "cpu"}):
                with pytest.raises(CheckpointError):
                    load(data, **options)
    assert not Evil.ran


def test_names_stand_for_nothing_else(monkeypatch):
    """Nothing is imported for a file, whatever it names."""
    asked = []
    real = builtins.__import__

    def watched(name, *args, **options):
        asked.append(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", watched)
    with pytest.raises(CheckpointError):
        load(archive(whole(b"cthis.module\nname\n)R")))
    assert "this.module" not in asked and not [n for n in asked if n.startswith("this")]


# ---- hostile pickles -----------------------------------------------------------------------------
OD = b"ccollections\nOrderedDict\n"
SELF_LIST = b"]q\0h\0a"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"


def nested_tuples(n):
    return b"".join([pushed(1), *[b"\x85"] * n])


def doubling(n):
    """A tuple whose hash is computed in 2^n steps."""
    return b"K\1K\2\x86q\0" + b"h\0h\0\x86q\0" * n


def colliding(n):
    """Numbers, all with the same hash."""
    return [k * sys.hash_info.modulus for k in range(n)]


PICKLES = {
    "empty": b"",
    "no end": b"\x80\x02]",
    "only an end": b".",
    "left over": whole(b"NN"),
    "left over under a mark": whole(b"((N"),
    "a mark only": whole(b"("),
    "protocol 9": b"\x80\x09N.",
    "text of protocol 0": b"I1\n.",
    "extension": whole(b"\x82\x01"),
    "buffer": whole(b"\x97"),
    "long string": whole(b"X\xff\xff\xff\x7fabc"),
    "longer string": whole(b"\x8d" + b"\xff" * 8),
    "long bytes": whole(b"\x8e\xff\xff\xff\xff\xff\0\0\0"),
    "long bytearray": whole(b"\x96\xff\xff\xff\xff\xff\0\0\0"),
    "long number": whole(b"\x8b\xff\xff\xff\x7f"),
    "bad text": whole(b"X\x02\0\0\0\xff\xff"),
    "unknown memo": whole(b"h\5"),
    "memo of nothing": whole(b"q\0"),
    "append to a dict": whole(b"}Na"),
    "append to nothing": whole(b"Na"),
    "appends without a mark": whole(b"]e"),
    "item of a list": whole(b"]NNs"),
    "odd items": whole(b"}(Nu"),
    "key twice": whole(b"}(K\1NK\1Nu"),
    "key twice in steps": whole(b"}K\1NsK\1Ns"),
    "list as a key": whole(b"}]Ns"),
    "tuple of a list as a key": whole(b"}]\x85Ns"),
    "name as a key": whole(b"}" + OD + b"Ns"),
    "dict as a key": whole(b"}}Ns"),
    "nested key": whole(b"}" + nested_tuples(10**5) + b"Ns"),
    "slow key": whole(b"}" + doubling(200) + b"Ns"),
    "slow element": whole(b"\x8f(" + doubling(200) + b"\x90"),
    "slow frozenset": whole(b"(" + doubling(200) + b"\x91"),
    "slow set": whole(b"c__builtin__\nset\n(" + doubling(200) + b"t\x85R"),
    "key in an OrderedDict": whole(OD + b"]" + doubling(200) + b"N\x86a\x85R"),
    "colliding keys": whole(b"}(" + b"".join(pushed(k) + b"N" for k in colliding(3000)) + b"u"),
    "colliding keys in steps": whole(b"}" + b"".join(pushed(k) + b"Ns" for k in colliding(3000))),
    "colliding set": whole(b"c__builtin__\nset\n" + pushed(colliding(3000)) + b"\x85R"),
    "cycle": whole(SELF_LIST),
    "cycle in a dict": whole(b"}q\0K\1h\0s"),
    "cycle in a tuple": whole(b"]q\0h\0\x85a"),
    "cycle in an OrderedDict": whole(OD + b")Rq\0K\1h\0s"),
    "cycle by a state": whole(OD + b")Rq\x09}" + pushed("x") + b"h\x09sb"),
    "deep lists": whole(b"]" * 5000 + b"a" * 4999),
    "deep marks": whole(b"(" * 10**5 + b"t" * 10**5),
    "deep tuples": whole(nested_tuples(10**5)),
    "deep dicts": whole(b"}K\1" * 10**4 + b"N" + b"s" * 10**4),
    "deep list that is shared": whole(b"]" * 3000 + b"a" * 2999 + b"q\0h\0\x86"),
    "a name": whole(OD),
    "a name in a list": whole(b"]" + REBUILD + b"a"),
    "a storage class": whole(b"ctorch\nFloatStorage\n"),
    "call of a storage class": whole(b"ctorch\nFloatStorage\n)R"),
    "call of a number": whole(b"K\1)R"),
    "call of a dtype": whole(b"ctorch\nfloat32\n)R"),
    "call without a tuple": whole(OD + b"NR"),
    "call with names": whole(OD + b")}K\1Ns\x92"),
    "OrderedDict of numbers": whole(OD + b"K\5\x85R"),
    "OrderedDict of text": whole(OD + pushed(("abc",)) + b"R"),
    "state of a list": whole(b"]}b"),
    "state of a tensor": whole(tensor() + b"}b"),
    "method in a state": whole(OD + b")R}" + pushed("items") + b"Nsb"),
    "class in a state": whole(OD + b")R}" + pushed("__class__") + b"Nsb"),
    "number in a state": whole(OD + b")R}K\1Nsb"),
    "state of a dtype": whole(b"ctorch\nfloat32\n}b"),
    "set of a number": whole(b"c__builtin__\nset\nK\5\x85R"),
    "bytearray of a size": whole(b"c__builtin__\nbytearray\n" + pushed((10**12,)) + b"R"),
    "bytes of a size": whole(b"c__builtin__\nbytes\n" + pushed((10**12,)) + b"R"),
    "complex of text": whole(b"c__builtin__\ncomplex\n" + pushed(("1j", 0.0)) + b"R"),
    "size of text": whole(b"ctorch\nSize\n" + pushed((("a",),)) + b"R"),
    "size of floats": whole(b"ctorch\nSize\n" + pushed(((1.5,),)) + b"R"),
    "unknown device": whole(b"ctorch\ndevice\n" + pushed(("nonsense",)) + b"R"),
    "unknown layout": whole(
        b"ctorch.serialization\n_get_layout\n" + pushed(("torch.sparse_coo",)) + b"R"
    ),
    "unknown codec": whole(b"c_codecs\nencode\n" + pushed(("x", "idna")) + b"R"),
    "not latin": whole(b"c_codecs\nencode\n" + pushed(("\u4e2d", "latin1")) + b"R"),
    "no id": whole(b"NQ"),
    "short id": whole(b")Q"),
    "another id": whole(pushed(("module", 1, 2, 3, 4)) + b"Q"),
    "id without a class": whole(pushed(("storage", "FloatStorage", "0", "cpu", 4)) + b"Q"),
    "list of classes in an id": whole(
        b"(X\7\0\0\0storage]" + pushed("0") + pushed("cpu") + b"K\4tQ"
    ),
    "key outside of the folder": whole(persistent(key="../../../etc/passwd")),
    "no such key": whole(persistent(key="7")),
    "huge storage": whole(tensor(count=10**18)),
    "negative storage": whole(tensor(count=-4)),
    "short storage": whole(tensor(count=3, sizes=(3,))),
    "dtype that does not fit": whole(tensor(kind="DoubleStorage")),
    "dtype that zero has not": whole(tensor(kind="ComplexFloatStorage")),
    "size that does not fit": whole(tensor(sizes=(5,))),
    "huge size": whole(tensor(sizes=(2**62, 2**62), strides=(0, 0))),
    "size of 64 bits": whole(tensor(sizes=(2**63,), strides=(0,))),
    "size of 2000 bits": whole(tensor(sizes=(2**2000,), strides=(0,))),
    "negative size": whole(tensor(sizes=(-1,))),
    "negative stride": whole(tensor(strides=(-1,))),
    "huge stride": whole(tensor(strides=(2**62,))),
    "negative offset": whole(tensor(offset=-1, sizes=(1,))),
    "huge offset": whole(tensor(offset=2**62, sizes=(1,))),
    "offset at the end": whole(tensor(offset=4, sizes=(1,))),
    "strides are missing": whole(tensor(sizes=(2, 2), strides=(1,))),
    "many dimensions": whole(tensor(sizes=(1,) * 2000, strides=(1,) * 2000)),
    "size of bools": whole(tensor(sizes=(True,))),
    "requires_grad of a number": whole(tensor(grad=1)),
    "gradient of integers": whole(tensor(grad=True, kind="IntStorage")),
    "too few arguments": whole(REBUILD + b")R"),
    "too many arguments": whole(REBUILD + pushed(tuple(range(20))) + b"R"),
    "tensor without a storage": whole(REBUILD + pushed((None, 0, (1,), (1,), False, None)) + b"R"),
    "huge meta tensor": whole(
        b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat32\n"
        + pushed((2**40, 2**40)) + pushed((1, 1)) + b"\x89tR"
    ),
    "parameter of a list": whole(b"ctorch._utils\n_rebuild_parameter\n(]\x88NtR"),
    "attribute that hides a method": whole(
        b"ctorch._tensor\n_rebuild_from_type_v2\n(" + REBUILD + b"ctorch\nTensor\n("
        + persistent() + pushed(0) + pushed((4,)) + pushed((1,)) + b"\x89Nt"
        + pushed({"backward": 1}) + b"tR"
    ),
    "another function for a tensor": whole(
        b"ctorch._tensor\n_rebuild_from_type_v2\n(" + OD + b"ctorch\nTensor\n)NtR"
    ),
    "numpy object array": whole(b"cnumpy\ndtype\n" + pushed(("O8", False, True)) + b"R"),
    "numpy structured": whole(b"cnumpy\ndtype\n" + pushed(("i4,i4", False, True)) + b"R"),
    "a tensor for a number": whole(
        b"cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\n(K\0tC\1b\x87R("
        + tensor(sizes=(2**50,), strides=(0,)) + b"(tcnumpy\ndtype\n" + pushed(("f8", False, True))
        + b"R\x89C\0tb"
    ),
    "a tensor for a shape": whole(
        b"cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\n("
        + tensor(sizes=(2**50,), strides=(0,)) + b"tC\1b\x87R"
    ),
    "a tensor for a byte order": whole(
        b"cnumpy\ndtype\n" + pushed(("f8", False, True)) + b"R(K\3" + pushed("<")
        + tensor(sizes=(2**50,), strides=(0,)) + b"NNK\0K\0K\0tb"
    ),
    "a tensor for a name": whole(
        b"ctorch.serialization\n_get_layout\n" + tensor(sizes=(2**50,), strides=(0,)) + b"\x85R"
    ),
    "a tensor for an id": whole(b"(" + tensor(sizes=(2**50,), strides=(0,)) + b"NNNNtQ"),
    "numpy of a size": whole(
        b"cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\n" + pushed((10**12,))
        + b"C\1b\x87R"
    ),
    "numpy content that does not fit": whole(
        b"cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\n" + pushed((0,)) + b"C\1b\x87R("
        b"K\1" + pushed((10**9,)) + b"cnumpy\ndtype\n" + pushed(("f8", False, True)) + b"R\x89C\0tb"
    ),
    "numpy strings of a size": whole(
        b"cnumpy._core.multiarray\nscalar\ncnumpy\ndtype\n" + pushed(("U99999999", False, True))
        + b"RC\0\x86R"
    ),
    "numpy dtype with another size": whole(
        b"cnumpy\ndtype\n" + pushed(("U1", False, True)) + b"R"
        + pushed((3, "<", None, None, None, 10**9, 4, 8)) + b"b"
    ),
    "the same text many times": whole(
        pushed("x" * 10**5) + b"q\0]" + b"c_codecs\nencode\nh\0" + b"X\6\0\0\0latin1\x86Ra"
        + b"c_codecs\nencode\nh\0X\6\0\0\0latin1\x86Ra" * 5000 + b"\x86"
    ),
    "the same list many times": whole(
        pushed([(k, k) for k in range(2000)]) + b"q\0]" + (OD + b"h\0\x85Ra") * 5000 + b"\x86"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PICKLES)
def test_hostile_pickles(name):
    import numpy  # noqa: F401  is not counted

    data = archive(PICKLES[name])
    with pytest.raises(CheckpointError):
        load(archive(whole(b"cnumpy\ndtype\n)R")))
    start = time.perf_counter()
    tracemalloc.start()
    try:
        with pytest.raises(
            CheckpointError, match=r"^load: the BytesIO (cannot|is damaged)"
        ) as caught:
            load(data)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 1500
    assert used < 300_000 + 150 * len(data)
    assert time.perf_counter() - start < 20
    assert sys.getrecursionlimit() >= 1000
    if PICKLES[name][:2] == b"\x80\x02":  # the same behind the head of an old file
        head = torch_files.OLD[: torch_files.OLD.index(b"\x80\x02}", 20)]
        with pytest.raises(CheckpointError):
            load(head + PICKLES[name])


def test_elements_of_bools_are_0_and_1(tmp_path):
    data = archive(whole(tensor(kind="BoolStorage")), [b"\0\1\2\xff"])
    (tmp_path / "x.pt").write_bytes(data)
    for x in (load(data), zero.load(tmp_path / "x.pt", mmap=True)):
        assert x.tolist() == [False, True, True, True] and x.view(zero.uint8).max() == 1
    v3 = b"ctorch._utils\n_rebuild_tensor_v3\n(" + persistent(kind="ByteStorage")
    v3 += b"".join(pushed(x) for x in (0, (4,), (1,), False, None)) + b"ctorch\nbool\ntR"
    with pytest.raises(CheckpointError, match="bools"):
        load(archive(whole(v3), [b"\0\1\2\xff"]))
    assert load(archive(whole(v3), [b"\0\1\1\0"])).tolist() == [False, True, True, False]


def test_one_storage_as_several_dtypes_is_read_once():
    kinds = ["FloatStorage", "IntStorage", "ShortStorage", "DoubleStorage", "ByteStorage"]
    sizes = [4, 4, 8, 2, 16]
    body = b"".join(
        tensor(n, 0, (n,), (1,), kind=kind) + b"a" for n, kind in zip(sizes, kinds, strict=True)
    )
    found = load(archive(whole(b"]" + body)))
    found[0].fill_(0)
    assert all(x.eq(0).all() for x in found)


# ---- damaged archives ----------------------------------------------------------------------------
def entries(data):
    """Name and offsets of each record: its header, content, size, and entry in the list."""
    return mutants.records(data)


def patched(data, at, value, size):
    return data[:at] + value.to_bytes(size, "little") + data[at + size :]


def good():
    file = io.BytesIO()
    zero.save({"x": zero.ones(40), "y": [zero.arange(3)]}, file)
    return file.getvalue()


def damaged_archives():
    data = good()
    found = entries(data)
    _, content, _, entry = found["archive/data/0"]
    end = data.rfind(b"PK\5\6")
    yield "nothing", b"", "no bytes"
    yield "cut", data[:-1], "end is missing"
    yield "half", data[: len(data) // 2], "end is missing"
    yield "more behind it", data + b"x", "behind its end|list of"
    yield "something before it", b"x" * 10 + data, "first bytes|list of"
    yield "content", patched(data, content + 8, 0, 4), "CRC-32"
    yield "sum", patched(data, entry + 16, 12345, 4), "CRC-32"
    yield "pickle", patched(data, found["archive/data.pkl"][1] + 5, 255, 1), "CRC-32"
    yield "compressed", patched(data, entry + 10, 8, 2), "compressed"
    yield "encrypted", patched(data, entry + 8, 1, 2), "encrypted"
    yield "size", patched(data, entry + 24, 10**9, 4), "compressed"
    both = patched(patched(data, entry + 24, 10**9, 4), entry + 20, 10**9, 4)
    yield "both sizes", both, "said to take"
    yield "header elsewhere", patched(data, entry + 42, found["archive/data/1"][0], 4), "data/"
    yield "header outside", patched(data, entry + 42, 2**31, 4), "said to take"
    yield "entries", patched(patched(data, end + 8, 6, 2), end + 10, 6, 2), "list"
    yield "many entries", patched(patched(data, end + 8, 60000, 2), end + 10, 60000, 2), "list of"
    yield "list elsewhere", patched(data, end + 16, 7, 4), "list of"
    yield "several disks", patched(data, end + 4, 1, 2), "several files"
    yield "name", data.replace(b"archive/data/1", b"archive/data/0"), "twice"
    yield "path", data.replace(b"archive/data/1", b"archive/../a/1"), "in no folder"
    yield "root", data.replace(b"archive/data/1", b"/rchive/data/1"), "in no folder"
    yield "windows", data.replace(b"archive/data/1", b"archive\\data\\1"), "in no folder"
    yield "nul", data.replace(b"archive/data/1", b"archive/dat\0/1"), "in no folder"
    yield "two folders", data.replace(b"archive/data/1", b"brchive/data/1"), "two folders"
    yield "no pickle", data.replace(b"archive/data.pkl", b"archive/data.pk2"), "no record data.pkl"
    yield (
        "program",
        data.replace(b"archive/.format_version", b"archive/constants.pkl\0\0"),
        "folder",
    )
    yield "byte order", data.replace(b"little", b"middle"), "CRC-32"


DAMAGED = {name: (data, match) for name, data, match in damaged_archives()}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_archives(name):
    data, match = DAMAGED[name]
    with pytest.raises(CheckpointError, match=match) as caught:
        load(data)
    assert str(caught.value).startswith("load: the BytesIO ")


def test_every_cut_and_every_flipped_byte_of_the_content():
    data = good()
    for n in range(0, len(data), 7):
        with pytest.raises(CheckpointError):
            load(data[:n])
    for at in range(0, len(torch_files.OLD), 31):
        with pytest.raises(CheckpointError):
            load(torch_files.OLD[:at])
    found = entries(data)
    for name in ("archive/data.pkl", "archive/data/0", "archive/data/1"):
        _, start, size, _ = found[name]
        for at in range(start, start + size):
            with pytest.raises(CheckpointError, match="CRC-32"):
                load(patched(data, at, data[at] ^ 0x10, 1))


def test_overlapping_records():
    """Two names for the same content: what zip bombs are made of."""
    data = good()
    found = entries(data)
    entry, other = found["archive/data/0"][3], found["archive/data/1"]
    overlap = patched(data, entry + 42, other[0], 4)
    with pytest.raises(CheckpointError):
        load(overlap)
    # A record that holds another record.
    inner = good()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("archive/data.pkl", whole(b"N"))
        z.writestr("archive/inner", inner)
    outer = file.getvalue()
    assert load(outer) is None


def test_bombs_are_refused_before_they_are_unpacked():
    bomb = archive(whole(tensor(10**8, sizes=(1,))), [bytes(4 * 10**8)], zipfile.ZIP_DEFLATED)
    assert len(bomb) < 10**6
    with pytest.raises(CheckpointError, match="compressed"):
        load(bomb)


@pytest.mark.parametrize(
    "first",
    [
        b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat32\n"
        + pushed((2**40,)) + pushed((1,)) + b"\x89tR",
        b"cnumpy._core.numeric\n_frombuffer\n(C\x10" + bytes(16) + b"cnumpy\ndtype\n"
        + pushed(("f8", False, True)) + b"R" + pushed((2,)) + pushed("C") + b"tR",
        b"N", b"}", pushed("text"), pushed(2**5000),
    ],
)  # fmt: skip
def test_other_values_at_the_beginning_of_an_old_file(first):
    magic, version, rest = (
        torch_files.OLD[:15], torch_files.OLD[15:21], torch_files.OLD[21:]
    )  # fmt: skip
    assert magic + version + rest == torch_files.OLD and version.endswith(b".")
    for data in (whole(first) + version + rest, magic + whole(first) + rest):
        with pytest.raises(CheckpointError, match=r"no checkpoint|version"):
            load(data)
    with pytest.raises(CheckpointError):
        load(magic + version + whole(b"}") + whole(tensor()) + whole(b"](" + first + b"e") + rest)


def test_the_text_names_the_file_and_what_it_is(tmp_path):
    def message(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(CheckpointError) as caught:
            zero.load(path)
        assert str(path) in str(caught.value)
        return str(caught.value)

    assert "page of the web" in message("page.pt", b"<!DOCTYPE html><html>")
    assert "git lfs pull" in message("lfs.pt", b"version https://git-lfs.github.com/spec/v1\noid")
    assert "no bytes" in message("empty.pt", b"")
    assert "HDF5" in message("x.h5", b"\x89HDF\r\n\x1a\n")
    assert "first bytes are b'hello'" in message("x.txt", b"hello")
    assert "TorchScript" in message(
        "x.pt",
        archive(whole(b"N"), archive__constants_pkl=b"").replace(
            b"constants_pkl", b"constants.pkl"
        ),
    )
    assert "before 0.2" in message("tar.pt", bytes(257) + b"ustar" + bytes(300))
    assert "safetensors" in message("x.bin", (50).to_bytes(8, "little") + b'{"a":{}}')
    text = message("cut.pt", good()[:300])
    assert (
        "is damaged: its end is missing; it was probably not copied or written to the end" in text
    )
    assert "a pickle but no checkpoint" in message("x.pkl", pickle.dumps([1, 2]))
    error = CheckpointError("x")
    assert isinstance(error, (ValueError, RuntimeError, pickle.UnpicklingError))


def test_a_failed_load_takes_no_memory():
    """A file that says it has 8 GB: the limit of this process is far below."""
    code = """
import io, resource, sys
sys.path.insert(0, sys.argv[1])
import test_hostile_files as t, zero, numpy
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
for name, pickled in t.PICKLES.items():
    try:
        t.load(t.archive(pickled))
        raise SystemExit(name)
    except zero.serialization.CheckpointError:
        pass
print("done")
"""
    pytest.importorskip("resource")
    if "address" in os.environ.get("ZERO_SANITIZE", ""):
        pytest.skip("the sanitizer reserves address space")
    assert run_child("-c", code, os.path.dirname(__file__)).split() == ["done"]


# ---- mutations -----------------------------------------------------------------------------------
def test_mutations_give_the_error_or_a_load():
    counts, slowest, wrong = mutants.run(4000, 7)
    assert wrong == []
    assert counts["error"] > 2500 and counts["loaded"] > 100
    assert slowest < 10


def test_mutations_reach_the_pickle():
    rng, seen = random.Random(3), set()
    base = mutants.make(0)
    for _ in range(1500):
        try:
            load(mutants.mutate(base, rng, False))
        except CheckpointError as error:
            seen.add(re.sub(r"[^a-z ]", "", str(error).partition(": ")[2])[:60])
    assert len(seen) > 60
