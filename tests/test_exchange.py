"""Memory shared by DLPack, both ways and with every kind of capsule, and NumPy's functions.

A producer made of ctypes counts the calls of its deleter, so that lifetimes are seen; the same file
is run under AddressSanitizer.
"""

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest
from children import of_the_allocator, run_child

import zero
from zero.utils import dlpack

NEW_NUMPY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # knows versioned capsules
DTYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64".split()
CODES = {"int64": (0, 64), "float32": (2, 32), "float64": (2, 64), "uint8": (1, 8)}


class Producer:
    """An array of a library that nobody knows, as DLPack's structs of the specification."""

    class Array(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
            ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
            ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
            ("byte_offset", ctypes.c_uint64),
        ]  # fmt: skip

    Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

    class Old(ctypes.Structure):
        pass

    class New(ctypes.Structure):
        pass

    def __init__(self, shape=(2, 3), strides=None, *, dtype="float32", versioned=True, flags=0,
                 offset=0, version=1, device=1, lanes=1, code=None, deleter=True):  # fmt: skip
        self.calls, self.asked = [], []
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))  # lent memory stays
        self.memory = (ctypes.c_char * 4096)()
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(shape))(*strides)
        self.end = self.Deleter(self.calls.append) if deleter else self.Deleter()
        code, bits = CODES[dtype] if code is None else code
        array = self.Array(
            ctypes.addressof(self.memory), device, 0, len(shape), code, bits, lanes,
            ctypes.addressof(self.shape), self.strides and ctypes.addressof(self.strides), offset,
        )  # fmt: skip
        self.device = device
        self.versioned = versioned
        if versioned:
            self.managed = self.New(version, 0, None, self.end, flags, array)
        else:
            self.managed = self.Old(array, None, self.end)

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **options):
        self.asked.append(options)
        if not self.versioned and options:
            raise TypeError("an old producer")
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return new_capsule(ctypes.addressof(self.managed), name, None)


Producer.Old._fields_ = [
    ("array", Producer.Array),
    ("context", ctypes.c_void_p),
    ("deleter", Producer.Deleter),
]
Producer.New._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("context", ctypes.c_void_p),
    ("deleter", Producer.Deleter),
    ("flags", ctypes.c_uint64),
    ("array", Producer.Array),
]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
both_kinds = pytest.mark.parametrize("versioned", [True, False])


# ---- with NumPy ----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", DTYPES)
def test_numpy_both_ways(name):
    a = np.ones((2, 3), dtype=name)
    t = zero.from_dlpack(a)
    assert t.dtype is getattr(zero, name) and t.data_ptr() == a.ctypes.data
    back = np.from_dlpack(t)
    assert back.dtype == a.dtype and back.ctypes.data == a.ctypes.data
    assert back.flags.writeable or not NEW_NUMPY
    t[0, 1] = 0
    assert not a[0, 1] and not back[0, 1]


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x.t(),
        lambda x: x[::2, 1:],
        lambda x: x[1:1],
        lambda x: x[2, 3],
        lambda x: x[:, None, 2:3],
        lambda x: x[0].expand(3, 6),
    ],
)
def test_layouts_are_kept(view):
    x = view(zero.arange(24.0).reshape(4, 6))
    array = np.from_dlpack(x)
    assert array.shape == tuple(x.shape)
    np.testing.assert_array_equal(array, x.numpy())
    back = zero.from_dlpack(array if NEW_NUMPY else x)  # else read-only
    assert back.shape == x.shape and zero.equal(back, x)
    if x.numel():
        assert back.data_ptr() == x.data_ptr() == array.ctypes.data
    for size, a, b in zip(x.shape, x.stride(), back.stride(), strict=True):
        assert size <= 1 or x.numel() == 0 or a == b


def test_copies():
    x = zero.ones(3)
    for options in ({"copy": True}, {"copy": True, "device": "cpu"}):
        if NEW_NUMPY:
            assert np.from_dlpack(x, **options).ctypes.data != x.data_ptr()
        assert zero.from_dlpack(x, **options).data_ptr() != x.data_ptr()
    a = np.arange(3.0)[::-1]
    with pytest.raises(ValueError, match="a stride is negative; got strides"):
        zero.from_dlpack(a)
    if NEW_NUMPY:
        assert zero.from_dlpack(a, copy=True).tolist() == [2.0, 1.0, 0.0]
    assert zero.from_dlpack(x, copy=False).data_ptr() == x.data_ptr()


@pytest.mark.skipif(not NEW_NUMPY, reason="such an array has no capsule")
def test_read_only_arrays_warn():
    a = np.arange(3.0)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="may not be written"):
        t = zero.from_dlpack(a)
    assert t.data_ptr() == a.ctypes.data
    assert zero.from_dlpack(a, copy=True).tolist() == [0.0, 1.0, 2.0]  # without a warning


def test_what_is_refused():
    x = zero.ones(2, requires_grad=True)
    for call, error, words in (
        (lambda: zero.from_dlpack(np.ones(2, dtype="c8")), BufferError, "code 5 of 64 bits"),
        (lambda: zero.from_dlpack(np.ones(2, dtype="u4")), BufferError, "code 1 of 32 bits"),
        (lambda: zero.from_dlpack(3), RuntimeError, "capsule"),
        (lambda: zero.from_dlpack(x), BufferError, "requires grad"),
        (lambda: x.__dlpack__(copy=True), BufferError, "requires grad"),
        (lambda: np.from_dlpack(x), BufferError, "requires grad"),
        (lambda: zero.ones(2, device="meta").__dlpack__(), BufferError, "meta"),
        (lambda: zero.ones(2, device="meta").__dlpack_device__(), ValueError, "meta"),
        (lambda: zero.ones(2).__dlpack__(stream=1), ValueError, "no streams"),
        (lambda: zero.ones(2).__dlpack__(dl_device=(2, 0)), BufferError, "device"),
        (lambda: zero.from_dlpack(np.ones(2), device="meta"), BufferError, "device"),
        (lambda: zero.to_dlpack(np.ones(2)), TypeError, "not a tensor"),
    ):
        with pytest.raises(error, match=words):
            call()
    assert zero.from_dlpack(x.detach()).data_ptr() == x.data_ptr()
    assert dlpack.from_dlpack is zero.from_dlpack and dlpack.to_dlpack is zero.to_dlpack


# ---- capsules ------------------------------------------------------------------------------------
def test_kinds_of_capsules():
    x = zero.ones(2)
    assert '"dltensor"' in repr(x.__dlpack__()) and '"dltensor"' in repr(zero.to_dlpack(x))
    assert '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(stream=-1, max_version=(2, 3), copy=False))
    assert x.__dlpack_device__() == (dlpack.DLDeviceType.kDLCPU, 0) == (1, 0)


def test_a_capsule_is_used_once():
    for options in ({}, {"max_version": (1, 0)}):
        x = zero.ones(2)
        capsule = x.__dlpack__(**options)
        assert zero.from_dlpack(capsule).data_ptr() == x.data_ptr()
        assert "used_dltensor" in repr(capsule)
        with pytest.raises(RuntimeError, match="used before"):
            zero.from_dlpack(capsule)


@both_kinds
def test_a_foreign_capsule(versioned):
    p = Producer(versioned=versioned, offset=16)
    t = zero.from_dlpack(p)
    assert t.shape == (2, 3) and t.stride() == (3, 1)  # no strides are row-major order
    assert t.data_ptr() == ctypes.addressof(p.memory) + 16
    assert p.asked[-1] == ({"max_version": (1, 0)} if versioned else {})
    view = t[1]
    del t
    gc.collect()
    assert p.calls == []
    view.fill_(7)
    del view
    assert p.calls == [ctypes.addressof(p.managed)]
    gc.collect()
    assert len(p.calls) == 1


@both_kinds
def test_a_capsule_that_is_refused_keeps_its_memory(versioned):
    for options, error, words in (
        ({"strides": (-3, 1)}, ValueError, "negative"),
        ({"offset": 2}, ValueError, "aligned"),
        ({"device": 2}, BufferError, "kind 2"),
        ({"lanes": 4}, BufferError, "32 bits x 4"),
        ({"code": (5, 64)}, BufferError, "code 5"),
        ({"code": (2, 8)}, BufferError, "code 2 of 8"),
        ({"shape": (-1, 3)}, BufferError, "size is negative"),
        ({"shape": (1,) * 65}, BufferError, "dimensions"),
    ):
        p = Producer(versioned=versioned, **options)
        with pytest.raises(error, match=words):
            zero.from_dlpack(p.__dlpack__())
        with pytest.raises(error, match=words):
            zero.from_dlpack(p)
        assert p.calls == []
    p = Producer(version=2)
    with pytest.raises(BufferError, match="unknown version"):
        zero.from_dlpack(p)


def test_odd_capsules():
    flags = Producer(flags=1)
    with pytest.warns(UserWarning, match="may not be written"):
        zero.from_dlpack(flags)
    assert len(flags.calls) == 1
    assert zero.from_dlpack(Producer(deleter=False)).shape == (2, 3)
    assert zero.from_dlpack(Producer((1, 3), (-7, 1))).stride() == (1, 1)  # of one element: no step
    empty = Producer((0, 3))
    t = zero.from_dlpack(empty)
    assert t.shape == (0, 3)
    del t
    assert len(empty.calls) == 1
    scalar = Producer((), dtype="int64")
    assert zero.from_dlpack(scalar).item() == 0
    asked = Producer()
    zero.from_dlpack(asked, copy=True)
    assert asked.asked == [{"max_version": (1, 0), "copy": True}]
    old = Producer(versioned=False)
    assert zero.from_dlpack(old, copy=True).data_ptr() != ctypes.addressof(old.memory)
    with pytest.raises(TypeError):
        zero.from_dlpack(old, copy=False)


def test_other_ways_in():
    for make in (zero.asarray, zero.as_tensor):
        p = Producer()
        t = make(p)
        assert t.data_ptr() == ctypes.addressof(p.memory)
        del t
        assert len(p.calls) == 1
    p = Producer()
    assert zero.tensor(p).shape == (2, 3) and len(p.calls) == 1

    class Interface:
        def __init__(self, array):
            self.array = array

        @property
        def __array_interface__(self):
            return self.array.__array_interface__

    a = np.ones(3)
    assert zero.as_tensor(Interface(a)).data_ptr() == a.ctypes.data
    assert zero.tensor(Interface(a)).tolist() == [1.0, 1.0, 1.0]


# ---- lifetimes -----------------------------------------------------------------------------------
def test_memory_lives_as_long_as_either_side():
    for make in (np.from_dlpack, lambda x: zero.from_dlpack(zero.to_dlpack(x))):
        for n in (3, 100_000):  # elements behind their object, and in a block of their own
            x = zero.full((n,), 7.0)
            gone = weakref.ref(x)
            y = make(x)
            part = y[1:]
            del x, y
            gc.collect()
            assert gone() is None
            others = [zero.zeros(n) for _ in range(20)]  # would take the block if it were free
            assert (part == 7).all()
            del others, part
    a = np.full(100_000, 7.0)
    gone = weakref.ref(a)
    t = zero.from_dlpack(a)[5:]
    del a
    gc.collect()
    assert gone() is not None and bool((t == 7).all())
    del t
    gc.collect()
    assert gone() is None


@of_the_allocator
def test_a_capsule_nobody_takes_gives_the_memory_back():
    x = zero.ones(100_000)
    before = zero.memory_stats()["live_bytes"]
    for options in ({}, {"max_version": (1, 0)}):
        capsule = x.__dlpack__(copy=True, **options)
        assert zero.memory_stats()["live_bytes"] >= before + 400_000
        del capsule
        gc.collect()
        assert zero.memory_stats()["live_bytes"] == before


def test_lent_memory_does_not_move():
    x = zero.ones(3)
    array = np.from_dlpack(x)
    with pytest.raises(RuntimeError):
        x.share_memory_()
    del array
    gc.collect()
    x.share_memory_()


def test_a_gradient_and_a_graph_keep_foreign_memory():
    p = Producer((4,))
    w = zero.ones(4, requires_grad=True)
    y = (zero.from_dlpack(p) * w).sum()
    gc.collect()
    assert p.calls == []
    y.backward()
    del y
    gc.collect()
    assert len(p.calls) == 1


def test_a_circle_through_shared_memory_is_collected():
    p = Producer((4,))
    t = zero.from_dlpack(p)
    t.me = t
    del t
    assert p.calls == []
    gc.collect()
    assert len(p.calls) == 1


@both_kinds
def test_memory_is_given_back_from_any_thread(versioned):
    producers = [Producer((8,), versioned=versioned) for _ in range(64)]
    tensors = [zero.from_dlpack(p) for p in producers]
    arrays = [np.from_dlpack(zero.full((1000,), float(i))) for i in range(64)]
    barrier = threading.Barrier(4)

    def run(k):
        barrier.wait()
        for _ in range(16):
            tensors.pop()
            assert (arrays.pop() >= 0).all()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(p.calls) for p in producers] == [1] * 64


@both_kinds
def test_a_deleter_without_pythons_lock(versioned):
    """As another library's thread calls it, by way of ctypes, which lets go of the lock."""
    kind, name = (Producer.New, b"dltensor_versioned") if versioned else (Producer.Old, b"dltensor")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    used = b"used_" + name
    for make in (zero.ones, np.ones):
        owner = make(100_000)
        x = zero.as_tensor(owner)
        gone = weakref.ref(owner)
        del owner
        capsules = [x.__dlpack__(max_version=(1, 0) if versioned else None) for _ in range(8)]
        del x
        structs = [kind.from_address(pointer(capsule, name)) for capsule in capsules]
        for capsule in capsules:  # taken, so that it does not call the deleter itself
            rename(capsule, used)
        del capsules, capsule
        assert all(struct.array.ndim == 1 and struct.array.device == 1 for struct in structs)
        assert {struct.array.data for struct in structs} == {structs[0].array.data}
        threads = [
            threading.Thread(target=struct.deleter, args=(ctypes.addressof(struct),))
            for struct in structs
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert gone() is None


def test_memory_that_outlives_the_interpreter():
    code = """
import atexit, ctypes, gc, sys, threading, time
import numpy as np, zero
from test_exchange import Producer

class Late:  # is deleted after the modules are emptied
    pass

late = Late()
late.array = np.from_dlpack(zero.ones(100_000))
late.producer = Producer((4,))
late.tensor = zero.from_dlpack(late.producer)
late.foreign = zero.from_dlpack(np.ones(100_000))
late.numpy = zero.ones(5).numpy()
late.borrowed = zero.from_numpy(np.ones(100_000))
late.capsule = zero.ones(3).__dlpack__()
late.circle = late
sys.late = late
zero.kept = late
atexit.register(lambda: late.foreign.sum())

def forever(x):  # a daemon thread that holds tensors when Python ends
    while True:
        y = zero.from_dlpack(x)
        np.from_dlpack(y + 1)

thread = threading.Thread(target=forever, args=(np.ones(1000),), daemon=True)
thread.start()
time.sleep(0.1)
print("end")
"""
    assert run_child("-c", code, timeout=60).split() == ["end"]


# ---- with other libraries ------------------------------------------------------------------------
def test_with_torch():
    torch = pytest.importorskip("torch")
    for name in (*DTYPES, "bfloat16"):
        x = zero.ones((2, 3), dtype=getattr(zero, name))
        t = torch.from_dlpack(x.t())
        assert t.dtype is getattr(torch, name) and t.data_ptr() == x.data_ptr()
        assert t.stride() == (1, 3)
        t[1, 0] = 0
        back = zero.from_dlpack(t)
        assert back.dtype is x.dtype and back.data_ptr() == x.data_ptr() and not x[0, 1].item()
    y = torch.utils.dlpack.from_dlpack(zero.to_dlpack(x))
    assert y.data_ptr() == x.data_ptr()
    assert zero.from_dlpack(torch.utils.dlpack.to_dlpack(y)).data_ptr() == x.data_ptr()
    assert zero.asarray(y).data_ptr() == x.data_ptr()
    assert zero.tensor(y).dtype is zero.bfloat16
    needs = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad"):
        zero.as_tensor(needs)


def test_with_jax():
    jax = pytest.importorskip("jax")
    x = zero.arange(6.0).reshape(2, 3)
    y = jax.dlpack.from_dlpack(x)
    assert y.shape == (2, 3) and float(y[1, 2]) == 5
    back = zero.from_dlpack(jax.numpy.arange(3.0))
    assert back.tolist() == [0.0, 1.0, 2.0]
    assert zero.from_dlpack(jax.numpy.arange(3.0), copy=True).tolist() == [0.0, 1.0, 2.0]


# ---- NumPy's functions ---------------------------------------------------------------------------
def test_universal_functions_give_tensors():
    x = zero.tensor([1.0, 4.0, 9.0])
    y = np.sqrt(x)
    assert isinstance(y, zero.Tensor) and y.dtype == zero.float32 and y.tolist() == [1.0, 2.0, 3.0]
    assert np.add(x, np.ones(3)).dtype == zero.float64
    assert np.greater(x, 3).dtype == zero.bool
    assert np.add.reduce(x).item() == 14 and np.add.reduce(x).shape == ()
    whole, rest = np.modf(x)
    assert isinstance(whole, zero.Tensor) and isinstance(rest, zero.Tensor)
    assert isinstance(np.multiply(x, 1j), np.ndarray)  # no tensor is complex


def test_functions_compute_with_the_tensors_memory():
    x = zero.tensor([[1.0, 4.0, 9.0], [0.0, 2.0, 1.0]])
    a = x.numpy()
    for name, options in (
        ("sum", {"axis": 0}), ("sum", {"dtype": np.float64}), ("mean", {"axis": 1}), ("std", {}),
        ("std", {"ddof": 1, "axis": 0}), ("var", {}), ("min", {"axis": 0, "keepdims": True}),
        ("max", {}), ("prod", {}), ("argmax", {"axis": 1}), ("argsort", {"kind": "stable"}),
        ("cumsum", {"axis": 1}), ("clip", {"a_min": 1, "a_max": 3}), ("round", {}), ("ptp", {}),
        ("transpose", {}), ("squeeze", {}), ("repeat", {"repeats": 2}), ("all", {}), ("any", {}),
    ):  # fmt: skip
        found, expected = getattr(np, name)(x, **options), getattr(np, name)(a, **options)
        assert isinstance(found, zero.Tensor), name
        assert found.numpy().dtype == expected.dtype
        np.testing.assert_array_equal(found.numpy(), expected, err_msg=name)
    for found, expected in (
        (np.stack([x, x]), np.stack([a, a])),
        (np.concatenate((x, x), axis=1), np.concatenate((a, a), axis=1)),
        (np.where(x > 1, x, 0), np.where(a > 1, a, 0)),
        (np.median(x, axis=0), np.median(a, axis=0)),
        (np.flip(x), np.flip(a)),
        (np.unique(x), np.unique(a)),
    ):
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, expected)
    assert np.size(x) == 6 and np.shape(x) == (2, 3) and np.allclose(x, a)
    out = zero.zeros(3)
    assert np.sum(x, axis=0, out=out) is out and out.tolist() == [1.0, 6.0, 10.0]
    np.copyto(out, np.ones(3))
    assert out.tolist() == [1.0, 1.0, 1.0]
    assert isinstance(np.linalg.inv(zero.eye(2)), zero.Tensor)
    assert np.transpose(x).data_ptr() == x.data_ptr()


def test_functions_refuse_gradients():
    x = zero.ones(3, requires_grad=True)
    for call in (
        lambda: np.sin(x), lambda: np.add(np.ones(3), x), lambda: np.mean(x), lambda: np.stack([x]),
        lambda: np.sum(x, axis=0), lambda: np.add.reduce(x), lambda: np.asarray(x),
        lambda: np.median(x), lambda: np.sum(np.ones((2, 3)), axis=0, out=x),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="requires grad"):
            call()
    assert np.shape(x) == (3,) and np.ndim(x) == 1 and np.size(x) == 3
    assert np.shape(zero.ones(2, 3, device="meta")) == (2, 3)
    assert (np.ones(3) + x).requires_grad  # an operator of Python's is the tensor's


def test_array_interface():
    x = zero.arange(6.0).reshape(2, 3)
    shown = x.t().__array_interface__
    assert shown["data"] == (x.data_ptr(), False) and shown["shape"] == (3, 2)
    assert shown["strides"] == (4, 12) and shown["typestr"] == np.dtype(np.float32).str
    for bad in (x.bfloat16(), x.clone().requires_grad_(), zero.ones(2, device="meta")):
        assert not hasattr(bad, "__array_interface__")
