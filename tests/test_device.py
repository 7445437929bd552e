"""Devices: objects, defaults, what tensors say of theirs; tensor types by name.

Values were recorded from PyTorch 2.13, on a machine without an accelerator.
"""

import copy
import pickle
import threading

import numpy as np
import pytest

import zero

ONLY_CPU = "zero computes on CPUs only"


# ---- device objects ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "arguments, text, name, index",
    [
        (("cpu",), "device(type='cpu')", "cpu", None),
        (("cpu:0",), "device(type='cpu', index=0)", "cpu:0", 0),
        (("cpu", 0), "device(type='cpu', index=0)", "cpu:0", 0),
        (("meta",), "device(type='meta')", "meta", None),
        (("cuda",), "device(type='cuda')", "cuda", None),
        (("cuda:1",), "device(type='cuda', index=1)", "cuda:1", 1),
        (("cuda", 12), "device(type='cuda', index=12)", "cuda:12", 12),
        (("mps",), "device(type='mps')", "mps", None),
        (("xpu:0",), "device(type='xpu', index=0)", "xpu:0", 0),
    ],
)
def test_device_objects(arguments, text, name, index):
    d = zero.device(*arguments)
    assert repr(d) == text and str(d) == name and d.index == index
    assert d.type == name.split(":")[0]
    assert d == zero.device(d) and hash(d) == hash(zero.device(name))
    assert pickle.loads(pickle.dumps(d)) == d and copy.deepcopy(d) == d
    assert zero.device(type=d.type, index=d.index) == d


def test_device_equality():
    assert zero.device("cpu") != zero.device("cpu:0") != zero.device("cuda:0")
    assert zero.device("cpu") != "cpu" and zero.ones(1).device == zero.device("cpu")
    assert zero.ones(1, device="cpu:0").device == zero.device("cpu")
    assert len({zero.device("cpu"), zero.device("cpu"), zero.device("meta")}) == 2


@pytest.mark.parametrize(
    "arguments, error",
    [
        (("tpu",), RuntimeError),
        (("CPU",), RuntimeError),
        (("",), RuntimeError),
        (("cpu:x",), RuntimeError),
        (("cpu:",), RuntimeError),
        (("cpu:-1",), RuntimeError),
        (("cpu:1",), RuntimeError),
        (("meta:2",), RuntimeError),
        (("cuda:01",), RuntimeError),
        (("cuda:٣",), RuntimeError),
        (("cuda", -1), RuntimeError),
        (("cpu:0", 0), RuntimeError),
        ((0,), RuntimeError),
        ((1.5,), TypeError),
        ((None,), TypeError),
        (("cuda", "0"), TypeError),
    ],
)
def test_no_such_device(arguments, error):
    with pytest.raises(error, match=r"^device: .*; got .*, expected "):
        zero.device(*arguments)


@pytest.mark.parametrize("place", ["cuda", "cuda:1", "mps", "xpu", zero.device("cuda"), 0])
def test_accelerators_are_an_error_when_used(place):
    x = zero.ones(2)
    uses = [
        lambda: x.to(place),
        lambda: x.to(device=place),
        lambda: zero.ones(2, device=place),
        lambda: zero.tensor([1.0], device=place),
        lambda: zero.as_tensor(x, device=place),
        lambda: zero.zeros_like(x, device=place),
        lambda: x.new_ones(2, device=place),
        lambda: zero.set_default_device(place),
        lambda: zero.Generator(place),
        lambda: x.cuda(place),
    ]
    for use in uses:
        with pytest.raises(RuntimeError, match=ONLY_CPU):
            use()
    assert zero.get_default_device() == zero.device("cpu")


def test_cuda_is_an_error_that_says_what_exists():
    with pytest.raises(RuntimeError, match=r"^cuda: no such device; got 'cuda', expected 'cpu'"):
        zero.ones(2).cuda()
    with pytest.raises(RuntimeError, match=ONLY_CPU):
        zero.nn.Linear(2, 2).to("cuda")
    with pytest.raises(RuntimeError, match=ONLY_CPU), zero.device("cuda"):
        raise AssertionError("entered")
    assert zero.ones(1).device.type == "cpu"


# ---- the default device --------------------------------------------------------------------------
def test_device_as_context_manager():
    with zero.device("meta") as d:
        assert d == zero.get_default_device() == zero.device("meta")
        made = [
            zero.ones(2),
            zero.zeros(2),
            zero.empty(2),
            zero.full((2,), 1.0),
            zero.tensor([1.0, 2]),
            zero.as_tensor([1]),
            zero.arange(3),
            zero.eye(2),
            zero.rand(2),
            zero.randn(2),
            zero.randint(3, (2,)),
            zero.randperm(3),
            zero.scalar_tensor(1.0),
            zero.nn.Linear(2, 2).weight,
        ]
        assert {x.device.type for x in made} == {"meta"}
        on_cpu = [
            zero.from_numpy(np.ones(2)),
            zero.Tensor(2),
            zero.FloatTensor([1.0]),
            zero.zeros(2, device="cpu"),
            zero.ones_like(zero.zeros(2, device="cpu")),
            zero.zeros(1, device="cpu").new_ones(2),
            zero.zeros(1, device="cpu") + 1,
        ]
        assert {x.device.type for x in on_cpu} == {"cpu"}
        assert zero.Generator().device.type == "cpu"
        with zero.device("cpu"):
            assert zero.ones(2).device.type == "cpu"
        assert zero.ones(2).device.type == "meta"
    assert zero.ones(2).device.type == "cpu"


def test_context_ends_after_an_error_and_can_be_entered_again():
    meta = zero.device("meta")
    with pytest.raises(ZeroDivisionError), meta:
        1 / 0  # noqa: B018
    assert zero.ones(1).device.type == "cpu"
    with meta, meta:
        assert zero.ones(1).is_meta
    assert not zero.ones(1).is_meta
    meta.__exit__(None, None, None)  # once too often
    assert not zero.ones(1).is_meta


def test_set_default_device():
    try:
        zero.set_default_device("meta")
        assert zero.get_default_device() == zero.device("meta") and zero.ones(1).is_meta
        with zero.device("cpu"):
            assert not zero.ones(1).is_meta
        seen = []
        thread = threading.Thread(target=lambda: seen.append(zero.ones(1).device.type))
        thread.start()
        thread.join()
        assert seen == ["cpu"]  # each thread has its own
        zero.set_default_device(None)
        assert not zero.ones(1).is_meta
        zero.set_default_device("cpu:0")
        assert zero.ones(1).device == zero.device("cpu")
        with pytest.raises(TypeError):
            zero.set_default_device(1.5)
    finally:
        zero.set_default_device("cpu")


# ---- what a tensor says --------------------------------------------------------------------------
def test_what_a_tensor_is():
    x, m = zero.ones(2), zero.ones(2, device="meta")
    assert x.is_cpu is True and x.is_meta is False and m.is_cpu is False and m.is_meta is True
    for y in (x, m):
        for name in ("cuda", "mps", "xpu", "sparse", "sparse_csr", "quantized", "nested"):
            assert getattr(y, "is_" + name) is False
        assert y.layout is zero.strided and y.get_device() == -1 and y.is_pinned() is False
    assert x.is_complex() is zero.is_complex(x) is False
    assert x.is_signed() and not x.bool().is_signed() and not x.byte().is_signed()
    with pytest.raises(AttributeError):
        x.is_cuda = True


def test_constants():
    assert repr(zero.strided) == "zero.strided" and type(zero.strided) is zero.layout
    for name in ("contiguous_format", "preserve_format"):
        value = getattr(zero, name)
        assert repr(value) == "zero." + name and isinstance(value, zero.memory_format)
        assert pickle.loads(pickle.dumps(value)) is value is copy.deepcopy(value)
    with pytest.raises(TypeError, match="cannot be made"):
        zero.layout()


def test_memory_format():
    x = zero.arange(6.0).reshape(2, 3).T
    for y in (x.clone(), x.clone(memory_format=zero.preserve_format)):
        assert y.stride() == (1, 3)
    made = [
        x.clone(memory_format=zero.contiguous_format),
        x.contiguous(memory_format=zero.contiguous_format),
        x.to(zero.float64, memory_format=zero.contiguous_format),
        x.to("cpu", memory_format=zero.contiguous_format),
        x.cpu(memory_format=zero.contiguous_format),
    ]
    for y in made:
        assert y.stride() == (2, 1) and y.tolist() == x.tolist()
    assert x.to("cpu", memory_format=zero.preserve_format) is x
    assert x.to(zero.float64, memory_format=zero.preserve_format).stride() == (1, 3)
    assert not x.is_contiguous(memory_format=zero.contiguous_format)
    for use in (x.clone, x.contiguous, x.to, x.cpu, x.is_contiguous):
        with pytest.raises(TypeError, match="memory_format"):
            use(memory_format="channels_last")
    with pytest.raises(RuntimeError, match="contiguous"):
        x.contiguous(memory_format=zero.preserve_format)


def test_to_takes_what_training_scripts_pass():
    x = zero.ones(2)
    assert x.to("cpu", non_blocking=True) is x and x.to(zero.device("cpu")) is x
    copied = x.to("cpu", copy=True)
    assert copied is not x and copied.data_ptr() != x.data_ptr()
    assert x.to("cpu:0", zero.float64, True, True).dtype is zero.float64
    m = x.to("meta")
    assert m.is_meta and m.to("meta") is m and x.to(m).is_meta and x.type_as(m).is_meta
    with pytest.raises((RuntimeError, NotImplementedError)):
        m.cpu()
    with pytest.raises(TypeError):
        x.to("cpu", non_blocking=1)


# ---- types by name -------------------------------------------------------------------------------
TYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "ShortTensor": "int16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "BoolTensor": "bool",
}


@pytest.mark.parametrize("name", TYPES)
def test_legacy_classes(name):
    cls, dtype = getattr(zero, name), getattr(zero, TYPES[name])
    assert repr(cls) == f"<class 'zero.{name}'>" and cls.dtype is dtype
    assert cls(2, 3).shape == cls(zero.Size([2, 3])).shape == (2, 3) and cls().shape == (0,)
    for data in ([0, 1], (0, 1), range(2), np.array([0, 1]), [zero.tensor(0), 1]):
        x = cls(data)
        assert x.dtype is dtype and x.tolist() == [0, 1] and type(x) is zero.Tensor
    assert isinstance(x, cls) and not isinstance(x.to("meta"), cls) and not isinstance(1, cls)
    other = zero.LongTensor if name != "LongTensor" else zero.IntTensor
    assert not isinstance(x, other)
    alias = cls(x)
    assert alias is not x and alias.data_ptr() == x.data_ptr()
    assert x.type() == f"zero.{name}" and zero.typename(x) == f"zero.{name}"
    assert x.to("meta").type() == f"zero.meta.{name}"
    assert zero.ones(2).type(cls).dtype is zero.ones(2).type(dtype).dtype is dtype
    assert zero.ones(2).type(f"zero.{name}").dtype is zero.ones(2).type(f"torch.{name}").dtype
    assert x.type(cls) is x
    assert cls([1], device="cpu").tolist() == [1]


def test_legacy_values():
    assert zero.LongTensor([1.7, -1.7]).tolist() == [1, -1]
    assert zero.FloatTensor([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert zero.BoolTensor([0, 2]).tolist() == [False, True]


@pytest.mark.parametrize("data", [(3.5,), (True,), ("ab",), ([1], [2]), (zero.ones(2).double(),)])
def test_legacy_errors(data):
    with pytest.raises(TypeError, match=r"^FloatTensor: "):
        zero.FloatTensor(*data)


def test_legacy_on_other_devices():
    for cls in (zero.Tensor, zero.FloatTensor):
        with pytest.raises(RuntimeError, match="device"):
            cls([1.0], device="meta")
    with pytest.raises(TypeError):
        zero.FloatTensor(2, 3, requires_grad=True)
    assert zero.Tensor([1, 2], device="cpu").tolist() == [1, 2]


def test_new():
    x = zero.ones(2, dtype=zero.int16)
    assert x.new().shape == (0,) and x.new(2, 3).shape == x.new(x.shape + (3,)).shape == (2, 3)
    made = x.new([1.5, 2])
    assert made.tolist() == [1, 2] and made.dtype is zero.int16
    assert x.new(x).data_ptr() == x.data_ptr()
    assert x.to("meta").new(4).is_meta and x.to("meta").new([1]).is_meta
    for data in ((1.5,), (zero.ones(2),), ([1], 2)):
        with pytest.raises(TypeError, match=r"^new: "):
            x.new(*data)
    with pytest.raises(RuntimeError, match="device"):
        x.new(2, device="meta")


def test_module_type():
    model = zero.nn.Linear(1, 1)
    for target in (zero.float64, zero.DoubleTensor, "zero.DoubleTensor"):
        assert model.float().type(target).weight.dtype is zero.float64
    with pytest.raises(RuntimeError, match=ONLY_CPU):
        model.cuda()


def test_type_errors():
    x = zero.ones(2)
    for bad in ("foo", "zero.FooTensor", "zero.cuda.FloatTensor", "numpy.FloatTensor"):
        with pytest.raises(ValueError, match="no such type"):
            x.type(bad)
    with pytest.raises(TypeError):
        x.type(3)
    with pytest.raises(RuntimeError, match=ONLY_CPU):
        x.type(zero.cuda.FloatTensor)
    assert x.type("zero.meta.DoubleTensor").type() == "zero.meta.DoubleTensor"
    assert x.type(zero.float16, non_blocking=True).dtype is zero.float16


def test_typename():
    assert zero.typename(1) == "int" and zero.typename(len) == "len"
    assert zero.typename(zero.nn.Parameter(zero.ones(2))) == "zero.FloatTensor"
    linear = "zero.nn.linear.Linear"
    assert zero.typename(zero.nn.Linear(1, 1)) == zero.typename(zero.nn.Linear) == linear


def test_set_default_tensor_type():
    try:
        zero.set_default_tensor_type("torch.DoubleTensor")
        assert zero.ones(1).dtype is zero.float64
        zero.set_default_tensor_type(zero.FloatTensor)
        assert zero.ones(1).dtype is zero.float32
        for bad in (zero.LongTensor, "zero.IntTensor", zero.float32, zero.Tensor):
            with pytest.raises(TypeError):
                zero.set_default_tensor_type(bad)
        with pytest.raises(TypeError, match="device"):
            zero.set_default_tensor_type("zero.meta.FloatTensor")
        assert zero.ones(1).dtype is zero.float32
    finally:
        zero.set_default_dtype(zero.float32)


def test_dtype_to_complex():
    assert zero.float32.to_real() is zero.float32
    with pytest.raises(TypeError, match="complex"):
        zero.float32.to_complex()


def test_the_line_that_every_script_has():
    device = zero.device("cuda" if zero.cuda.is_available() else "cpu")
    x = zero.randn(2, 3).to(device, non_blocking=True)
    assert zero.nn.Linear(3, 1).to(device)(x).device == device
