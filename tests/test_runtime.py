"""Random state, threads, memory and configuration from Python."""

import copy
import pickle
import threading
import time

import pytest

import zero


def test_manual_seed():
    g = zero.manual_seed(3)
    assert g is zero.default_generator and zero.initial_seed() == 3
    a = zero.rand(4)
    zero.manual_seed(3)
    assert zero.rand(4).tolist() == a.tolist()
    assert zero.manual_seed(-1).initial_seed() == 2**64 - 1
    assert zero.seed() == zero.initial_seed()
    for bad, error in (
        (2**64, ValueError),
        (-(2**63) - 1, ValueError),
        ("a", TypeError),
        (1.5, TypeError),
    ):
        with pytest.raises(error):
            zero.manual_seed(bad)


def test_state():
    state = zero.get_rng_state()
    assert state.dtype is zero.uint8
    a = zero.randn(5).tolist()
    zero.set_rng_state(state)
    assert zero.randn(5).tolist() == a
    for bad in (
        zero.zeros(3, dtype=zero.uint8),
        zero.zeros(16),
        zero.zeros(16, dtype=zero.uint8, device="meta"),
    ):
        with pytest.raises(ValueError):
            zero.set_rng_state(bad)
    with pytest.raises(TypeError):
        zero.set_rng_state([1])


def test_generator():
    g = zero.Generator(device="cpu")
    seed = g.initial_seed()
    a = zero.rand(3, generator=g)
    assert zero.rand(3, generator=g.manual_seed(seed)).tolist() == a.tolist()
    assert g.seed() == g.initial_seed() and g.device == zero.device("cpu")
    other = pickle.loads(pickle.dumps(g))
    third = copy.deepcopy(g)
    b = zero.rand(3, generator=g).tolist()
    assert zero.rand(3, generator=other).tolist() == b == zero.rand(3, generator=third).tolist()
    with pytest.raises(RuntimeError):
        zero.Generator("cuda")
    with pytest.raises(TypeError):
        zero.rand(3, generator=5)


def test_threads():
    before = zero.get_num_threads()
    try:
        zero.set_num_threads(7)
        assert zero.get_num_threads() == 7
        for bad, error in (
            (0, ValueError),
            (-1, ValueError),
            (2**40, ValueError),
            ("a", TypeError),
            (1.5, TypeError),
        ):
            with pytest.raises(error):
                zero.set_num_threads(bad)
        assert zero.get_num_threads() == 7
    finally:
        zero.set_num_threads(before)


def test_memory_stats():
    zero.empty_cache()
    before = zero.memory_stats()
    x = zero.empty(1_000_000)
    now = zero.memory_stats()
    assert now["live_bytes"] - before["live_bytes"] >= x.nbytes
    assert now["peak_bytes"] >= now["live_bytes"]
    del x
    assert zero.memory_stats()["live_bytes"] <= before["live_bytes"]
    zero.reset_peak_memory_stats()
    assert zero.memory_stats()["peak_bytes"] < now["peak_bytes"]


def test_memory_errors():
    with pytest.raises(MemoryError):
        zero.empty(2**45)
    with pytest.raises((ValueError, MemoryError)):
        zero.zeros(2**62)
    with pytest.raises(ValueError):
        zero.zeros(2**40, 2**40)


def test_show_config(capsys):
    assert zero.show_config() is None
    text = capsys.readouterr().out
    for word in ("threads", "kernels", "BLAS", "memory"):
        assert word in text


def test_flush_denormal():
    try:
        if not zero.set_flush_denormal(True):
            pytest.skip("this processor cannot")
        tiny = zero.tensor(1e-40)
        assert (tiny * 1).item() == 0
        zero.set_flush_denormal(False)
        assert (tiny * 1).item() != 0
    finally:
        zero.set_flush_denormal(True)


def test_large_work_lets_other_threads_run():
    x = zero.ones(1500, 1500)
    stop, ticks = threading.Event(), []

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    x @ x
    end = time.perf_counter()
    stop.set()
    thread.join()
    assert any(start < t < end for t in ticks)
