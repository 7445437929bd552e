"""Tensors in memory that processes share: zero.multiprocessing, share_memory_, leftovers."""

import gc
import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import numpy as np
import pytest
from children import run_child

import zero
import zero.multiprocessing as mp
from zero.multiprocessing import _blocks

METHODS = multiprocessing.get_all_start_methods()
SHM = Path("/dev/shm")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc and /dev/shm")


def names():
    """The names of this program's blocks."""
    return [name for folder in _blocks._folders for name in os.listdir(folder)]


@pytest.fixture(autouse=True)
def nothing_left():
    gc.collect()
    before = sorted(names())
    yield
    gc.collect()
    assert sorted(names()) == before


def through_pickler(x):
    """What another process would get."""
    return pickle.loads(bytes(ForkingPickler.dumps(x)))


# ---- in one process ------------------------------------------------------------------------------
def test_all_views_move():
    base = zero.arange(12.0)
    view, turned = base[3:], base.view(3, 4).t()
    values, versions = turned.tolist(), base._version
    assert not base.is_shared()
    assert view.share_memory_() is view
    assert base.is_shared() and turned.is_shared() and not view.clone().is_shared()
    assert turned.tolist() == values and base._version == versions
    view[0] = 50
    assert turned[3, 0].item() == 50
    assert base.untyped_storage().data_ptr() == view.untyped_storage().data_ptr()
    where = base.data_ptr()
    assert base.share_memory_().data_ptr() == where  # a second time nothing happens


@pytest.mark.parametrize("shape", [(), (0,), (3,), (1000,), (500, 700)])
@pytest.mark.parametrize("dtype", [zero.float32, zero.bool, zero.int64, zero.bfloat16])
def test_values_stay(shape, dtype):
    x = (zero.rand(shape) * 4).to(dtype)
    expected = x.tolist()
    x.share_memory_()
    assert x.is_shared() and x.tolist() == expected
    y = through_pickler(x)
    assert y.tolist() == expected and y.dtype is dtype and y.shape == x.shape and y.is_shared()


def test_memory_of_others_is_left_to_them():
    array = np.arange(4.0)
    x = zero.from_numpy(array)
    x.share_memory_()
    x[0] = 9
    assert array[0] == 0  # it has moved away


def test_memory_that_numpy_uses_does_not_move():
    x = zero.ones(5)
    array = x.numpy()
    with pytest.raises(RuntimeError, match=r"share_memory_: the memory may not move while NumPy"):
        x.share_memory_()
    assert not x.is_shared()
    del array
    assert x.share_memory_().is_shared()
    array = x.numpy()  # of shared memory
    x[1] = 7
    assert array[1] == 7


def test_gradients_flow_as_before():
    x = zero.ones(3, requires_grad=True)
    y = (x * x).sum()
    x.share_memory_()
    y.backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_pass_is_refused_after_a_write_from_before_the_move():
    x = zero.ones(3, requires_grad=True)
    z = x * 2
    y = (z * z).sum()
    z.detach().share_memory_()
    z.detach().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_memory_is_not_freed_under_a_running_operator():
    # Another thread computes with the old memory, without the interpreter's lock.
    for _ in range(20):
        x = zero.ones(1 << 20)
        sums = []
        thread = threading.Thread(target=lambda x=x, sums=sums: sums.append(x.exp().sum().item()))
        thread.start()
        x.share_memory_()
        junk = zero.full((1 << 20,), 5.0)
        thread.join()
        assert sums[0] == pytest.approx(np.e * (1 << 20), rel=1e-5)
        del junk


def test_meta_tensors():
    x = zero.ones(3, device="meta")
    assert not x.is_shared()
    with pytest.raises(RuntimeError, match="share_memory_: a meta tensor has no memory"):
        x.share_memory_()
    assert through_pickler(x).is_meta


def test_modules():
    net = zero.nn.Sequential(zero.nn.Linear(3, 2), zero.nn.BatchNorm1d(2))
    net(zero.ones(4, 3)).sum().backward()
    assert net.share_memory() is net
    everything = [*net.parameters(), *net.buffers(), *(p.grad for p in net.parameters())]
    assert all(t.is_shared() for t in everything)
    again = through_pickler(net)
    with zero.no_grad():
        net[0].weight.fill_(3)
    assert again[0].weight.tolist() == net[0].weight.tolist()
    assert isinstance(again[0].weight, zero.Parameter) and again[0].weight.requires_grad


def test_storages():
    x = zero.arange(4)
    assert not x.storage().is_shared() and not x.untyped_storage().is_shared()
    x.storage().share_memory_()
    assert x.untyped_storage().is_shared() and x.is_shared()
    y = zero.arange(4)
    other = through_pickler(y.untyped_storage())
    y[1] = 77
    assert other[8] == 77


# ---- what a pickler of multiprocessing makes of tensors ------------------------------------------
def test_views_of_one_storage_stay_together():
    base = zero.zeros(10)
    a, b = through_pickler((base[:6], base.view(2, 5)[:, 2:]))
    c = through_pickler(base)
    base.copy_(zero.arange(10.0))
    assert a.tolist() == base[:6].tolist() and c.tolist() == base.tolist()
    assert b.tolist() == base.view(2, 5)[:, 2:].tolist() and b.stride() == (5, 1)
    assert a.data_ptr() == c.data_ptr()  # one mapping in each process


def test_what_tensors_carry_goes_along():
    class Named(zero.Tensor):
        pass

    globals()["Named"] = Named
    Named.__qualname__ = "Named"
    x = zero.ones(2, requires_grad=True)
    x.note = "kept"
    y = through_pickler(x)
    assert y.requires_grad and y.is_leaf and y.note == "kept"
    z = through_pickler(zero.ones(2).as_subclass(Named)) if hasattr(x, "as_subclass") else None
    assert z is None or (type(z) is Named and z.is_shared())
    p = through_pickler(zero.nn.Parameter(zero.ones(2), requires_grad=False))
    assert type(p) is zero.nn.Parameter and not p.requires_grad


def test_graphs_do_not_travel():
    x = zero.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"has a graph.*x\.detach\(\)"):
        through_pickler(x)
    assert through_pickler(x.detach()).tolist() == [2, 2]


def test_other_picklers_copy():
    x = zero.ones(2).share_memory_()
    y = pickle.loads(pickle.dumps(x))
    x[0] = 5
    assert y.tolist() == [1, 1] and not y.is_shared()
    stream = io.BytesIO()
    ForkingPickler(stream).dump(x)  # without dumps()
    assert pickle.loads(stream.getvalue()).is_shared()


def test_a_message_can_be_received_once():
    message = bytes(ForkingPickler.dumps(zero.ones(2)))
    assert pickle.loads(message).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="a shared tensor is gone"):
        pickle.loads(message)


def test_the_sender_may_let_go():
    message = bytes(ForkingPickler.dumps(zero.arange(3)))
    gc.collect()
    assert pickle.loads(message).tolist() == [0, 1, 2]


@linux
def test_no_descriptors():
    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    zero.ones(1).share_memory_()  # the folder's lock
    before = descriptors()
    kept = [zero.ones(10).share_memory_() for _ in range(2000)]
    received = [through_pickler(x) for x in kept]
    assert descriptors() == before and received[7].tolist() == kept[7].tolist()
    assert len(names()) >= 2000


# ---- between processes ---------------------------------------------------------------------------
def add_one(x):
    x += 1


def answer(questions, answers):
    while (x := questions.get()) is not None:
        x.mul_(2)
        answers.put((x.sum(), x))


def send_and_go(queue):
    queue.put(zero.arange(5.0))
    queue.close()
    queue.join_thread()


@pytest.mark.parametrize("method", METHODS)
def test_arguments_of_processes(method):
    x = zero.zeros(3)
    process = mp.get_context(method).Process(target=add_one, args=(x[1:],))
    process.start()
    process.join()
    # A fork copies what was not shared before.
    assert process.exitcode == 0 and x.tolist() == ([0, 0, 0] if method == "fork" else [0, 1, 1])
    x.share_memory_()
    process = mp.get_context(method).Process(target=add_one, args=(x,))
    process.start()
    process.join()
    assert x.tolist() == ([1, 1, 1] if method == "fork" else [1, 2, 2])


@pytest.mark.parametrize("method", METHODS)
def test_queues_both_ways(method):
    context = mp.get_context(method)
    questions, answers = context.Queue(), context.Queue()
    process = context.Process(target=answer, args=(questions, answers))
    process.start()
    for i in range(5):
        x = zero.full((4,), float(i))
        questions.put(x)
        total, y = answers.get(timeout=60)
        assert total.item() == 8 * i
        assert x.tolist() == y.tolist() == [2 * i] * 4  # written by the other
        x[0] = -1
        assert y[0].item() == -1
    questions.put(None)
    process.join()
    assert process.exitcode == 0
    for queue in (questions, answers):
        queue.close()
        queue.join_thread()


@pytest.mark.parametrize("method", METHODS)
def test_a_tensor_outlives_its_sender(method):
    context = mp.get_context(method)
    queue = context.Queue()
    process = context.Process(target=send_and_go, args=(queue,))
    process.start()
    process.join()
    assert queue.get(timeout=60).tolist() == [0, 1, 2, 3, 4]
    queue.close()
    queue.join_thread()


def relay(receive, send):
    send.send(receive.recv())
    receive.recv()


@pytest.mark.skipif("fork" not in METHODS, reason="no fork")
def test_received_and_inherited_tensors_can_be_sent_on():
    context = mp.get_context("fork")
    to_child, for_child = context.Pipe()
    for_me, from_child = context.Pipe()
    x = zero.zeros(3)
    process = context.Process(target=relay, args=(for_child, from_child))
    process.start()
    to_child.send(x)
    y = for_me.recv()
    x[1] = 4
    assert y.tolist() == [0, 4, 0]
    to_child.send(None)
    process.join()

    shared = zero.zeros(2).share_memory_()
    process = context.Process(target=lambda: from_child.send(shared))
    process.start()
    z = for_me.recv()
    process.join()
    shared[0] = 1
    assert z.tolist() == [1, 0]


def total_of(x):
    return float(x.sum()), x


@pytest.mark.parametrize("method", METHODS[:2])
def test_pools(method):
    with mp.get_context(method).Pool(2) as pool:
        results = pool.map(total_of, [zero.full((3,), float(i)) for i in range(6)])
    assert [total for total, _ in results] == [3 * i for i in range(6)]
    assert all(x.is_shared() for _, x in results)


# ---- spawn ---------------------------------------------------------------------------------------
def fill_row(i, x, code=None):
    x[i] = i + 1
    if code is not None and i == 1:
        if code == "raise":
            raise ValueError("row one")
        if code == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(code)
    if code is not None:
        time.sleep(100)


@pytest.mark.parametrize("method", METHODS)
def test_spawn(method):
    x = zero.zeros(2, 2).share_memory_()
    mp.start_processes(fill_row, (x,), nprocs=2, start_method=method)
    assert x.tolist() == [[1, 1], [2, 2]]


def test_spawn_says_what_failed():
    x = zero.zeros(2, 2).share_memory_()

    def run(code):
        mp.start_processes(fill_row, (x, code), nprocs=2, start_method="fork")

    start = time.monotonic()
    with pytest.raises(mp.ProcessRaisedException, match=r"(?s)Process 1.*ValueError: row one"):
        run("raise")
    with pytest.raises(mp.ProcessExitedException, match="SIGKILL") as killed:
        run("kill")
    assert killed.value.signal_name == "SIGKILL" and killed.value.error_index == 1
    with pytest.raises(mp.ProcessExitedException, match="exit code 3") as exited:
        run(3)
    assert exited.value.exit_code == 3
    assert pickle.loads(pickle.dumps(exited.value)).exit_code == 3
    assert time.monotonic() - start < 90  # the other one was stopped
    with pytest.raises(ValueError, match="start_processes"):
        mp.spawn(fill_row, (x,), start_method="fork")


def test_the_module_has_the_names():
    assert set(multiprocessing.__all__) <= set(mp.__all__)
    assert mp.Process is multiprocessing.Process
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    mp.set_sharing_strategy("file_descriptor")
    with pytest.raises(ValueError, match="set_sharing_strategy: no such strategy; got 'x'"):
        mp.set_sharing_strategy("x")


# ---- what is left over ---------------------------------------------------------------------------
LEAVES = """
import os, signal, sys, multiprocessing as mp
import zero
def child(queue):
    queue.put(zero.ones(3))
    zero.mine = zero.ones(4).share_memory_()
if __name__ == "__main__":
    context = mp.get_context("fork")
    queue = context.Queue()
    kept = zero.ones(2).share_memory_()
    process = context.Process(target=child, args=(queue,))
    process.start(); process.join()
    from zero.multiprocessing import _blocks
    folder, = _blocks._folders
    print(folder, len(os.listdir(folder)), flush=True)
    if sys.argv[1] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[1] == "raise":
        raise KeyboardInterrupt
"""


@linux
@pytest.mark.parametrize("how", ["end", "raise", "kill"])
def test_nothing_is_left_of_a_program(how, tmp_path, monkeypatch):
    program = tmp_path / "program.py"
    program.write_text(LEAVES)
    root = str(Path(zero.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, program, how],
        env=os.environ | {"PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=120,
    )
    folder, count = done.stdout.split()
    assert int(count) >= 2, done.stderr
    if how == "kill":  # the next program removes it
        assert os.path.isdir(folder)
        monkeypatch.setattr(_blocks, "SWEEP_AFTER", -1.0)
        _blocks._sweep(os.path.dirname(folder))
    assert not os.path.isdir(folder)


@linux
def test_the_sweep_leaves_programs_that_run(monkeypatch):
    x = zero.ones(3).share_memory_()
    monkeypatch.setattr(_blocks, "SWEEP_AFTER", -1.0)
    run_child("-c", "from zero.multiprocessing import _blocks as b; b.SWEEP_AFTER = -1.0; "
              "import zero; zero.ones(2).share_memory_()")  # fmt: skip
    assert names() and through_pickler(x).tolist() == [1, 1, 1]


def test_a_full_dev_shm_is_noticed_before(monkeypatch):
    if not hasattr(os, "posix_fallocate"):
        pytest.skip("the system does not tell")
    small = [str(SHM), str(SHM)] if SHM.is_dir() else None
    if small is None:
        pytest.skip("no /dev/shm")
    real = os.posix_fallocate
    calls = []

    def full_once(descriptor, offset, size):
        calls.append(size)
        if len(calls) == 1:
            raise OSError(28, "No space left on device")
        real(descriptor, offset, size)

    monkeypatch.setattr(os, "posix_fallocate", full_once)
    monkeypatch.setattr(_blocks, "_warned", False)
    with pytest.warns(UserWarning, match=r"no room for 40 bytes of shared memory in /dev/shm"):
        x = zero.ones(10).share_memory_()
    assert x.is_shared() and len(calls) == 2
    with warnings.catch_warnings():  # said once
        warnings.simplefilter("error")
        calls.clear()
        zero.ones(10).share_memory_()

    def full(descriptor, offset, size):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    y = zero.ones(10)
    with pytest.raises(zero.errors.OutOfMemoryError, match="No space left on device"):
        y.share_memory_()
    assert not y.is_shared() and y.tolist() == [1] * 10


def test_nothing_is_imported_by_import_zero():
    code = "import sys, zero; assert 'multiprocessing' not in sys.modules; print('fine')"
    assert "fine" in run_child("-c", code)
