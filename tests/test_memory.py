"""Memory: flat over long runs, released when it should be, and errors that break nothing."""

import gc
import sys
import textwrap
import weakref

import pytest
from children import of_the_allocator, run_child

import zero


@pytest.fixture(autouse=True)
def without_garbage():
    gc.collect()
    yield


def live() -> tuple[int, int]:
    stats = zero.memory_stats()
    return stats["live_bytes"], stats["live_blocks"]


LONG_RUN = """
import random, zero
zero.set_num_threads({threads})
model = zero.nn.Sequential(zero.nn.Linear(20, 32), zero.nn.ReLU(), zero.nn.Linear(32, 4))
optimizer = zero.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
pick = random.Random(0)

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

for step in range(30_000):
    n = pick.randint(1, 300)
    loss = zero.nn.functional.cross_entropy(model(zero.randn(n, 20)), zero.randint(0, 4, (n,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 3_000:
        start = resident()
print(resident() - start)
"""


@of_the_allocator
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_long_runs_with_changing_sizes_stay_flat():
    grown = int(run_child("-c", LONG_RUN.format(threads=2)))
    assert grown < 2048, f"grew by {grown} KiB over the last 90 %"


@of_the_allocator
def test_statistics():
    zero.empty_cache()
    before = zero.memory_stats()
    assert set(before) >= {
        "live_bytes",
        "peak_bytes",
        "cached_bytes",
        "allocations",
        "live_blocks",
        "cache_limit",
    }
    x = zero.empty(1000, 1000)
    now = zero.memory_stats()
    assert 4_000_000 <= now["live_bytes"] - before["live_bytes"] <= 4_500_000
    assert now["live_blocks"] > before["live_blocks"] and now["allocations"] > before["allocations"]
    assert now["system_bytes"] >= now["live_bytes"]
    zero.reset_peak_memory_stats()
    y = zero.empty(1000, 1000)
    del y
    after = zero.memory_stats()
    assert (
        after["peak_bytes"] >= now["live_bytes"] + 4_000_000
        and after["live_bytes"] == now["live_bytes"]
    )
    assert after["cached_bytes"] >= 4_000_000
    del x
    zero.empty_cache()
    assert zero.memory_stats()["live_bytes"] == before["live_bytes"]
    assert zero.memory_stats()["cached_bytes"] <= before["cached_bytes"] + 2**20


def test_views_hold_the_memory_of_their_base():
    start = live()
    view = zero.empty(1000, 1000)[0]
    assert live()[0] - start[0] >= 4_000_000
    del view
    assert live() == start


@of_the_allocator
def test_blocks_are_reused():
    zero.empty(500, 500)
    before = zero.memory_stats()["system_allocations"]
    for _ in range(200):
        zero.empty(500, 500).zero_()
        zero.empty(3)
    assert zero.memory_stats()["system_allocations"] <= before + 1


def test_blocks_are_aligned():
    for n in (1, 3, 17, 1000, 10**6):
        assert zero.empty(n, dtype=zero.uint8).data_ptr() % 64 == 0


def test_graphs_of_steps_are_freed():
    model = zero.nn.Linear(10, 10)
    x = zero.ones(5, 10)

    def step():
        loss = (model(x).tanh() ** 2).mean()
        model.zero_grad()
        loss.backward()

    step()
    gc.disable()  # reference counts alone must free it
    try:
        start = live()
        for _ in range(100):
            step()
        assert live() == start
    finally:
        gc.enable()


def test_graphs_without_backward_are_freed():
    x = zero.ones(100, requires_grad=True)

    def build():
        y = x.exp().tanh()[10:] * x[10:]
        z = y.clone()
        z[3:] = y[3:] * 2

    build()  # x gets the node that will collect its gradient
    start = live()
    for _ in range(100):
        build()
    assert live() == start


def test_double_backward_leaves_no_cycle():
    x = zero.ones(100, requires_grad=True)
    (zero.autograd.grad((x**3).tanh().sum(), x, create_graph=True)[0] ** 2).sum().backward()
    x.grad = None
    start = live()
    for _ in range(50):
        (g,) = zero.autograd.grad((x**3).tanh().sum(), x, create_graph=True)
        (g**2).sum().backward()
        x.grad = None
        del g
    gc.collect()
    assert live() == start


def test_modules_are_collected():
    start = live()
    for _ in range(10_000):
        zero.nn.Linear(2, 2)
    gc.collect()
    assert live() == start
    model = zero.nn.Sequential(zero.nn.Linear(2, 2), zero.nn.ReLU())
    gone = [weakref.ref(model), weakref.ref(model[0].weight)]
    model(zero.ones(1, 2)).sum().backward()
    del model
    gc.collect()
    assert [r() for r in gone] == [None, None] and live() == start


def test_wrappers_are_collected():
    x = zero.ones(3, requires_grad=True)
    y = x * 2
    gone = weakref.ref(y)
    z = y.sum()
    y.note = z  # a cycle through an attribute
    del y, z
    gc.collect()
    assert gone() is None


def test_weak_references_and_identity_of_grad():
    x = zero.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    gone = weakref.ref(x.grad)
    gc.collect()
    assert gone() is None or gone() is x.grad  # the wrapper may go, the gradient stays
    assert x.grad.tolist() == [2.0] * 3


def test_exceptions_leave_no_memory():
    a, b = zero.ones(100, 3), zero.ones(4, 100)
    start = live()
    for _ in range(100):
        for call in (
            lambda: a @ b,
            lambda: a + b,
            lambda: zero.cat([a, b]),
            lambda: zero.tensor([[1.0] * 50, [2.0]]),
            lambda: a.view(7, 7),
            lambda: zero.cross_entropy(a, zero.full((100,), 5)),
        ):
            with pytest.raises(RuntimeError):
                call()
    gc.collect()
    assert live() == start


def test_failed_backward_frees_what_it_made():
    x = zero.ones(1000, requires_grad=True)
    y = x * 2
    z = y.exp()
    w = (z * z).sum()
    z.detach().add_(1)
    with pytest.raises(RuntimeError, match="inplace"):
        w.backward()
    del y, z, w
    gc.collect()
    start = live()
    assert x.grad is None
    del x
    assert live()[0] < start[0]


@of_the_allocator
def test_absurd_sizes_raise_and_work_goes_on():
    code = """
        import resource, zero
        x = zero.ones(1000)
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
        kept = []
        failures = 0
        for _ in range(3):
            try:
                while True:
                    kept.append(zero.empty(2**24))
            except MemoryError as error:
                assert "bytes" in str(error) or "iB" in str(error), error
                failures += 1
                n = len(kept)
                kept.clear()
            assert (x + 1).sum().item() == 2000
        assert failures == 3 and n > 3
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("limits the address space")
    run_child("-c", textwrap.dedent(code))
