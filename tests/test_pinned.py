"""Memory that the system keeps in place: pin_memory, is_pinned, pin_memory=."""

import os
import sys
import warnings

import pytest
from children import run_child
from test_names import CREATE

import zero

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def locked_bytes():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmLck:"))
    return int(line.split()[1]) * 1024


@pytest.fixture(scope="module", autouse=True)
def can_lock():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            zero.ones(1 << 18).pin_memory()
        except UserWarning:
            pytest.skip("the system locks no memory for this user")


@linux
def test_pages_are_locked_while_a_tensor_is_on_them():
    before = locked_bytes()
    x = zero.rand(1000, 1000)
    y = x.pin_memory()
    assert not x.is_pinned() and y.is_pinned() and zero.equal(x, y)
    assert y.data_ptr() % os.sysconf("SC_PAGESIZE") == 0
    assert locked_bytes() >= before + x.numel() * 4
    view = y[10:].t()
    del y
    assert view.is_pinned() and locked_bytes() > before
    assert not view.clone().is_pinned() and not (view + 1).is_pinned()
    del view
    assert locked_bytes() == before


def test_a_pinned_tensor_is_itself():
    x = zero.arange(3).pin_memory()
    assert x.pin_memory() is x
    assert x.untyped_storage().is_pinned() and x.storage().is_pinned()
    assert zero.arange(3).untyped_storage().pin_memory().is_pinned()


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", [zero.float32, zero.bool, zero.float16, zero.int64])
def test_copies(shape, dtype):
    x = (zero.rand(shape) * 4).to(dtype)
    y = x.pin_memory()
    assert y.is_pinned() and y.dtype is dtype and y.tolist() == x.tolist()
    assert y.shape == x.shape


def test_order_in_memory_stays():
    x = zero.rand(2, 3, 4, 5).contiguous(memory_format=zero.channels_last)
    y = x.pin_memory()
    assert y.stride() == x.stride() and zero.equal(x, y)
    z = zero.rand(3, 1).expand(3, 4).pin_memory()
    assert z.is_pinned() and z.shape == (3, 4)


def test_gradients_flow():
    x = zero.ones(3, requires_grad=True)
    (x.pin_memory() * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    p = zero.nn.Parameter(zero.ones(2))
    assert type(p.pin_memory()) is zero.Tensor and p.pin_memory().requires_grad


@pytest.mark.parametrize("name", CREATE)
def test_every_function_that_makes_tensors(name):
    home = zero.Tensor if name.startswith("Tensor.") else zero
    f, args = getattr(home, name.split(".")[-1]), CREATE[name]
    zero.manual_seed(0)
    plain = f(*args)
    zero.manual_seed(0)
    y = f(*args, pin_memory=True)
    assert y.is_pinned() and not plain.is_pinned()
    assert y.shape == plain.shape and y.dtype is plain.dtype and y.is_leaf
    if "empty" not in name:
        assert y.tolist() == plain.tolist()
    with pytest.raises(TypeError, match="pin_memory"):
        f(*args, pin_memory=1)


def test_more_functions_and_options():
    assert zero.tensor([1.0, 2.0], pin_memory=True).is_pinned()
    x = zero.zeros(3, pin_memory=True, requires_grad=True)
    assert x.is_pinned() and x.is_leaf and x.requires_grad
    assert zero.empty_strided((2, 3), (1, 2), pin_memory=True).is_pinned()
    out = zero.ones(2)
    with pytest.raises(ValueError, match="ones: out is not pinned"):
        zero.ones(2, out=out, pin_memory=True)
    pinned = zero.empty(2, pin_memory=True)
    assert zero.ones(2, out=pinned, pin_memory=True) is pinned and pinned.tolist() == [1, 1]


def test_meta_tensors_have_no_memory():
    with pytest.raises(RuntimeError, match="pin_memory: a meta tensor has no memory to pin"):
        zero.ones(2, device="meta").pin_memory()
    with pytest.raises(RuntimeError, match="pin_memory: a meta tensor"):
        zero.ones(2, device="meta", pin_memory=True)
    assert not zero.ones(2, device="meta").is_pinned()


def test_copies_that_need_not_wait():
    x = zero.rand(4).pin_memory()
    assert x.to("cpu", non_blocking=True) is x
    assert zero.empty(4).copy_(x, non_blocking=True).tolist() == x.tolist()
    assert x.to(zero.float64, non_blocking=True).tolist() == x.double().tolist()
    assert zero.nn.Linear(2, 2).to("cpu", non_blocking=True).weight.shape == (2, 2)
    with pytest.raises(TypeError, match="non_blocking"):
        x.to("cpu", non_blocking=2)


def test_save_on_cpu():
    x = zero.rand(3, requires_grad=True)
    saved = []
    with zero.autograd.graph.save_on_cpu(pin_memory=True):
        y = x.exp()
        saved.append(y.grad_fn)
    z = (y * 1).sum()
    z.backward()
    assert zero.allclose(x.grad, x.detach().exp())


def test_packed_sequences():
    packed = zero.nn.utils.rnn.pack_sequence([zero.ones(3), zero.ones(2)])
    assert packed.pin_memory().is_pinned() and not packed.is_pinned()


OVER_THE_LIMIT = """
import os, resource, warnings
import zero
zero.rand(1).pin_memory()
resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
if os.getuid() == 0:  # it has no limit
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
small = zero.ones(10).pin_memory()
assert small.is_pinned()
x = zero.rand(1000, 1000)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    y = x.pin_memory()
    z = zero.ones(1000, 1000, pin_memory=True)
assert len(said) == 1 and "locks no more memory" in str(said[0].message), said
assert not y.is_pinned() and not z.is_pinned() and zero.equal(x, y)
del small
assert zero.ones(10).pin_memory().is_pinned()  # there is room again
print("fine")
"""


@linux
def test_over_the_limit_it_goes_on_unpinned():
    assert "fine" in run_child("-c", OVER_THE_LIMIT)
