"""PyTorch's names around the tensors: limits of dtypes, switches, modules of devices.

Values were recorded from PyTorch 2.13, on a machine without an accelerator.
"""

import importlib
import warnings

import numpy as np
import pytest

import zero

# ---- limits --------------------------------------------------------------------------------------
FINFO = {
    "float32": "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
    "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)",
    "float64": "finfo(resolution=1e-15, min=-1.79769e+308, max=1.79769e+308, eps=2.22045e-16, "
    "smallest_normal=2.22507e-308, tiny=2.22507e-308, dtype=float64)",
    "float16": "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
    "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)",
    "bfloat16": "finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, "
    "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=bfloat16)",
}


@pytest.mark.parametrize("name", FINFO)
def test_finfo(name):
    info = zero.finfo(getattr(zero, name))
    assert repr(info) == FINFO[name] and info == zero.finfo(getattr(zero, name))
    if name != "bfloat16":
        theirs = np.finfo(name)
        for attribute in ("bits", "eps", "max", "min", "tiny", "smallest_normal"):
            assert getattr(info, attribute) == getattr(theirs, attribute), attribute
    one = zero.ones((), dtype=getattr(zero, name))
    assert (one + info.eps).item() > 1 and (one + info.eps / 2).item() == 1
    assert zero.tensor(info.max, dtype=one.dtype).item() == info.max


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64"])
def test_iinfo(name):
    info, theirs = zero.iinfo(getattr(zero, name)), np.iinfo(name)
    assert (info.bits, info.min, info.max) == (theirs.bits, theirs.min, theirs.max)
    assert info.dtype == name


def test_info_errors_and_more():
    assert repr(zero.iinfo(zero.int64)) == "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"
    assert repr(zero.iinfo(zero.uint8)) == "iinfo(min=0, max=255, dtype=uint8)"
    assert zero.finfo() == zero.finfo(zero.float32) != zero.finfo(zero.float64)
    assert len({zero.finfo(), zero.finfo(zero.float32)}) == 1
    for call in (
        lambda: zero.finfo(zero.int64),
        lambda: zero.iinfo(zero.float32),
        lambda: zero.iinfo(zero.bool),
        lambda: zero.finfo(float),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError):
        zero.iinfo()


# ---- switches ------------------------------------------------------------------------------------
def test_deterministic_algorithms():
    try:
        zero.use_deterministic_algorithms(True)
        assert zero.are_deterministic_algorithms_enabled()
        assert not zero.is_deterministic_algorithms_warn_only_enabled()
        assert zero.get_deterministic_debug_mode() == 2
        zero.use_deterministic_algorithms(True, warn_only=True)
        assert zero.is_deterministic_algorithms_warn_only_enabled()
        assert zero.get_deterministic_debug_mode() == 1
        zero.set_deterministic_debug_mode("default")
        assert not zero.are_deterministic_algorithms_enabled()
        for mode in ("loud", 3, True, None):
            with pytest.raises(ValueError, match="mode"):
                zero.set_deterministic_debug_mode(mode)
        with pytest.raises(TypeError):
            zero.use_deterministic_algorithms("yes")
    finally:
        zero.use_deterministic_algorithms(False)


def test_other_switches():
    assert zero.get_float32_matmul_precision() == "highest"
    zero.set_float32_matmul_precision("high")
    assert zero.get_float32_matmul_precision() == "high"
    zero.set_float32_matmul_precision("highest")
    with pytest.raises(ValueError, match="precision"):
        zero.set_float32_matmul_precision("low")
    zero.set_num_interop_threads(2)
    assert zero.get_num_interop_threads() == 2
    zero.set_num_interop_threads(1)
    with pytest.raises(ValueError, match="at least 1"):
        zero.set_num_interop_threads(0)
    with pytest.raises(TypeError):
        zero.set_num_interop_threads(1.5)


def test_compile_changes_nothing():
    model = zero.nn.Linear(2, 1)
    assert zero.compile(model) is model
    assert zero.compile(model, mode="max-autotune", fullgraph=True, dynamic=False) is model

    @zero.compile(backend="inductor")
    def double(x):
        return 2 * x

    assert double(3) == 6
    with pytest.raises(TypeError, match="unexpected"):
        zero.compile(model, speed="high")
    with pytest.raises(TypeError, match="compile"):
        zero.compile(3)


# ---- modules of devices --------------------------------------------------------------------------
def test_cuda_answers():
    cuda = zero.cuda
    answers = {
        "is_available": False,
        "is_initialized": False,
        "device_count": 0,
        "memory_allocated": 0,
        "max_memory_allocated": 0,
        "memory_reserved": 0,
        "max_memory_reserved": 0,
        "memory_stats": {},
        "empty_cache": None,
        "synchronize": None,
        "ipc_collect": None,
        "reset_peak_memory_stats": None,
        "get_arch_list": [],
        "get_rng_state_all": [],
        "is_bf16_supported": False,
        "seed": None,
        "seed_all": None,
    }
    for name, value in answers.items():
        assert getattr(cuda, name)() == value
    assert issubclass(cuda.OutOfMemoryError, RuntimeError)
    cuda.set_rng_state_all([])
    with cuda.device_of(zero.ones(1)):
        pass


def test_cuda_seeds_leave_the_cpu_alone():
    state = zero.get_rng_state()
    for seed in (zero.cuda.manual_seed, zero.cuda.manual_seed_all, zero.mps.manual_seed):
        assert seed(3) is None
        with pytest.raises(TypeError):
            seed("a")
    assert zero.equal(zero.get_rng_state(), state)


def test_cuda_errors():
    for name in (*zero.cuda.NEED_A_DEVICE, *zero.cuda.CLASSES, *zero.cuda.TENSORS):
        with pytest.raises(RuntimeError, match=rf"^cuda\.{name}: there is no CUDA device; .* CPUs"):
            getattr(zero.cuda, name)(0)
    assert not isinstance(zero.ones(1), zero.cuda.FloatTensor)
    with pytest.raises(AttributeError):
        _ = zero.cuda.no_such_name
    with pytest.raises(RuntimeError):
        zero.cuda.set_rng_state_all([zero.get_rng_state()])


def test_cuda_amp_is_off():
    amp = zero.cuda.amp
    assert importlib.import_module("zero.cuda.amp") is amp
    for make in (amp.autocast, amp.GradScaler):
        with pytest.warns(UserWarning, match="switched off, there is no device 'cuda'"):
            make()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            make(enabled=False)
    model = zero.nn.Linear(2, 1)
    optimizer = zero.optim.SGD(model.parameters(), lr=0.1)
    scaler = amp.GradScaler(enabled=zero.cuda.is_available())
    before = model.weight.tolist()
    with amp.autocast(enabled=False):
        loss = model(zero.ones(1, 2)).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert model.weight.grad.tolist() == [[1, 1]] and model.weight.tolist() != before
    assert scaler.get_scale() == 1.0 and not scaler.is_enabled() and scaler.state_dict() == {}
    scaler.load_state_dict(scaler.state_dict())

    @amp.autocast(enabled=False)
    def f(x):
        """Doc."""
        return x + 1

    assert f(1) == 2 and f.__doc__ == "Doc."


def test_backends():
    b = zero.backends
    for name in ("cudnn", "mps", "mkl", "mkldnn", "openmp"):
        assert importlib.import_module(f"zero.backends.{name}").is_available() is False
    assert not b.cuda.is_built() and not b.mps.is_built() and not b.mps.is_macos_or_newer(13, 0)
    assert b.cuda.matmul.allow_tf32 is False
    assert b.cudnn.version() is None and not b.cudnn.is_acceptable(zero.ones(1))
    assert (b.cudnn.enabled, b.cudnn.benchmark, b.cudnn.deterministic) == (True, False, False)
    with b.cudnn.flags(enabled=False, benchmark=True, deterministic=True):
        assert (b.cudnn.enabled, b.cudnn.benchmark, b.cudnn.deterministic) == (False, True, True)
    assert (b.cudnn.enabled, b.cudnn.benchmark, b.cudnn.deterministic) == (True, False, False)
    b.cudnn.benchmark = True
    assert b.cudnn.benchmark is True
    b.cudnn.benchmark = False


def test_accelerators():
    a = zero.accelerator
    assert not a.is_available() and a.device_count() == 0 and a.current_accelerator() is None
    for call in (a.current_device_index, lambda: a.set_device_index(0), a.current_stream):
        with pytest.raises(RuntimeError, match=r"^accelerator\.\w+: there is no accelerator"):
            call()
    for module in (zero.mps, zero.xpu):
        assert module.is_available() is False and module.device_count() == 0
        assert module.synchronize() is None and module.empty_cache() is None
    assert zero.mps.current_allocated_memory() == 0
    assert zero.cpu.is_available() and zero.cpu.device_count() == 1
    assert zero.cpu.current_device() == "cpu" and zero.cpu.set_device("cpu") is None
    with pytest.raises(RuntimeError, match="CPU"):
        zero.cpu.set_device("cuda")


# ---- random, version -----------------------------------------------------------------------------
def test_fork_rng():
    zero.manual_seed(5)
    expected = zero.rand(3)
    zero.manual_seed(5)
    with zero.random.fork_rng():
        zero.manual_seed(6)
        zero.rand(10)
    assert zero.equal(zero.rand(3), expected)
    zero.manual_seed(5)
    with pytest.raises(ZeroDivisionError), zero.random.fork_rng(devices=[]):
        zero.rand(3)
        1 / 0  # noqa: B018
    assert zero.equal(zero.rand(3), expected)
    zero.manual_seed(5)
    with zero.random.fork_rng(enabled=False, devices=range(zero.cuda.device_count())):
        zero.rand(3)
    assert not zero.equal(zero.rand(3), expected)
    with pytest.raises(RuntimeError, match="fork_rng"), zero.random.fork_rng(devices=[0]):
        pass
    assert zero.random.manual_seed is zero.manual_seed


def test_version_module():
    assert zero.version.__version__ == zero.__version__ and zero.version.cuda is None


def test_modules_are_imported_when_asked_for():
    for name in ("accelerator", "backends.cudnn", "cpu", "cuda", "mps", "random", "testing", "xpu"):
        module = importlib.import_module(f"zero.{name}")
        for public in getattr(module, "__all__", ()):
            assert hasattr(module, public), (name, public)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = zero.no_such_name
