"""The same bits for every number of threads, from several Python threads and after a fork."""

import hashlib
import multiprocessing
import os
import threading
import time
import warnings

import numpy as np
import pytest
from children import run_child

import zero

SANITIZED = bool(os.environ.get("ZERO_SANITIZE"))  # some ten times as slow


@pytest.fixture(autouse=True)
def same_threads():
    before = zero.get_num_threads()
    yield
    zero.set_num_threads(before)


def train(k: int, steps: int = 4) -> bytes:
    """The parameters of an MLP after a few steps of SGD, as bytes."""
    zero.manual_seed(3)
    model = zero.nn.Sequential(
        zero.nn.Linear(k, 96),
        zero.nn.ReLU(),
        zero.nn.Linear(96, 33),
        zero.nn.Tanh(),
        zero.nn.Linear(33, 10),
    )
    optimizer = zero.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    x, y = zero.randn(200, k), zero.randint(0, 10, (200,))
    for _ in range(steps):
        optimizer.zero_grad()
        zero.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return b"".join(p.detach().numpy().tobytes() for p in model.parameters())


def products() -> bytes:
    """K beyond what a BLAS sums in one go; tall, wide, batched and transposed operands, vectors."""
    zero.manual_seed(4)
    found = []
    for m, k, n in (
        (65, 464, 70),
        (130, 784, 257),
        (33, 1500, 600),
        (600, 1500, 17),
        (1, 1500, 900),
        (900, 784, 1),
        (513, 513, 513),
    ):
        a, b = zero.randn(m, k), zero.randn(k, n)
        found += [a @ b, a @ b.T.contiguous().T, a.T.contiguous().T @ b]
    found += [zero.randn(9, 60, 70) @ zero.randn(9, 70, 80), zero.randn(700, 784) @ zero.randn(784)]
    found += [zero.randn(100, 784, dtype=zero.float64) @ zero.randn(784, 90, dtype=zero.float64)]
    found += [
        zero.randn(301, 1031).sum(),
        zero.randn(301, 1031).var(0),
        zero.randn(400, 300).log_softmax(1),
        zero.rand(300_001),
    ]
    return b"".join(t.numpy().tobytes() for t in found)


def fingerprint() -> str:
    return " ".join(
        hashlib.sha256(part).hexdigest()[:16] for part in (train(784), train(1500), products())
    )


@pytest.fixture(scope="module")
def expected():
    before = zero.get_num_threads()
    zero.set_num_threads(1)
    result = fingerprint()
    zero.set_num_threads(before)
    return result


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_thread_counts_give_the_same_bits(expected, threads):
    zero.set_num_threads(threads)
    assert zero.get_num_threads() == threads
    assert fingerprint() == expected


def child(code: str, **environment) -> str:
    return run_child("-c", code, **environment).strip()


@pytest.mark.parametrize(
    "environment",
    [
        {"ZERO_NUM_THREADS": "2"},
        {"ZERO_GRAIN": "1", "ZERO_NUM_THREADS": "1"},
        {"ZERO_GRAIN": "1", "ZERO_NUM_THREADS": "3"},
    ],
    ids=str,
)
def test_other_processes_give_the_same_bits(expected, environment):
    assert (
        child("import test_threads; print(test_threads.fingerprint())", **environment) == expected
    )


def test_twice_in_a_row(expected):
    zero.set_num_threads(3)
    assert fingerprint() == fingerprint() == expected


def test_the_fingerprint_can_differ():
    one = train(784, steps=1)
    assert one != train(784, steps=2) and one == train(784, steps=1)


def test_digits_give_the_same_bits_on_any_number_of_threads():
    pytest.importorskip("sklearn")
    code = """if True:
        import hashlib, sys
        sys.path.insert(0, {!r})
        import digits, zero
        zero.set_num_threads({})
        zero.manual_seed(0)
        x, y, *_ = digits.load(0)
        model = digits.build()
        digits.train(model, x, y, 2, 0)
        bits = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
        print(hashlib.sha256(bits).hexdigest())
    """
    pytest.importorskip("tqdm")
    examples = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples")
    found = {child(code.format(examples, n)) for n in (1, 2, 3, 7)}
    found.add(child(code.format(examples, 2), ZERO_GRAIN="1"))
    assert len(found) == 1


# ---- fork --------------------------------------------------------------------------------------
def in_child(results):
    x = zero.ones(400, 400)
    y = (x @ x).sum().item() + zero.ones(2_000_000).sum().item()
    zero.set_num_threads(3)
    results.put((y, zero.ones(3_000_000).exp().sum().item() > 0, zero.get_num_threads()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_computes():
    zero.set_num_threads(3)
    x = zero.ones(400, 400)
    (x @ x).sum()
    zero.ones(2_000_000).exp()
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        results = context.Queue()
        process = context.Process(target=in_child, args=(results,))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other tests' Python threads
            process.start()
        assert results.get(timeout=60) == (400 * 400 * 400 + 2_000_000, True, 3)
        process.join(60)
        assert process.exitcode == 0
        assert zero.ones(2_000_000).sum().item() == 2_000_000  # and the parent goes on


def forked(work, seconds=60) -> bool:
    """Whether `work` returns True in a forked child, within a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other Python threads
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    deadline = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        if time.monotonic() > deadline:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            pytest.fail("the child hangs")
        time.sleep(0.001)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("threads", [1, 2])
def test_fork_while_another_thread_computes(threads):
    zero.set_num_threads(threads)
    stop = threading.Event()

    def work():
        x = zero.ones(300, 300)
        while not stop.is_set():
            (x @ x).exp().sum()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(10):
            assert forked(lambda: zero.ones(1_000_000).sum().item() == 1_000_000)
            assert forked(lambda: zero.rand(3).shape == (3,))
            assert forked(lambda: (zero.ones(300, 300) @ zero.ones(300)).sum().item() == 300**2)
            assert forked(lambda: (zero.ones(300, 300) @ zero.ones(300, 9)).sum().item() == 810_000)
    finally:
        stop.set()
        worker.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork_while_another_thread_adds_to_a_leaf():
    zero.set_num_threads(2)
    leaf = zero.zeros(3_000_000, requires_grad=True)
    g = zero.ones(3_000_000)
    leaf.backward(g)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            leaf.backward(g)

    def in_child():
        leaf.grad = None  # what was being written when the child began is any mixture
        leaf.backward(g)
        return bool((leaf.grad == 1).all())

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(10):
            assert forked(in_child, seconds=20)
    finally:
        stop.set()
        worker.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork_during_the_first_product_of_another_thread():
    code = """if True:
        import test_threads, threading, time, zero
        zero.set_num_threads(1)
        a = zero.ones(500, 500)
        worker = threading.Thread(target=lambda: a @ a)
        worker.start()
        time.sleep({})
        print(test_threads.forked(lambda: (a @ a).sum().item() == 500**3, seconds=20))
        worker.join()
    """
    for delay in (0, 0.001, 0.002, 0.005):
        assert child(code.format(delay)) == "True"


def test_random_state_of_a_child_is_the_parents():
    if not hasattr(os, "fork"):
        pytest.skip("no fork")
    zero.manual_seed(11)
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        os.write(write, zero.rand(4).numpy().tobytes())
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(read, 16) == zero.rand(4).numpy().tobytes()
    os.close(read)
    os.close(write)


# ---- several Python threads --------------------------------------------------------------------
def run_threads(n, work):
    errors, results = [], [None] * n

    def call(i):
        try:
            results[i] = work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    return results


def test_python_threads_compute_at_once():
    zero.set_num_threads(2)
    a = zero.tensor(np.random.default_rng(0).normal(size=(300, 400)).astype(np.float32))
    expected = ((a @ a.T).tanh().sum(1), (a * 2).exp().mean())

    def work(i):
        for _ in range(15):
            y = (a @ a.T).tanh().sum(1), (a * 2).exp().mean()
            assert all(zero.equal(p, q) for p, q in zip(y, expected, strict=True))
        return True

    assert run_threads(4, work) == [True] * 4


def test_python_threads_train_models_of_their_own():
    def work(i):
        w = zero.full((50, 20), 0.1, requires_grad=True)
        x = zero.ones(64, 50) * (i + 1)
        for _ in range(30):
            w.grad = None
            ((x @ w) ** 2).mean().backward()
            with zero.no_grad():
                w -= 1e-4 * w.grad
        return w.detach().tolist()

    together = run_threads(4, work)
    assert together == [work(i) for i in range(4)]


def train_alone(seed: int, steps: int) -> bytes:
    """The parameters after many small steps; every draw comes from a generator of its own."""
    g = zero.Generator().manual_seed(seed)
    model = zero.nn.Sequential(zero.nn.Linear(6, 16), zero.nn.ReLU(), zero.nn.Linear(16, 3))
    with zero.no_grad():
        for p in model.parameters():
            p.copy_(0.3 * zero.randn(*p.shape, generator=g))
    x = zero.randn(20, 6, generator=g)
    y = zero.randint(0, 3, (20,), generator=g)
    optimizer = zero.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        zero.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return b"".join(p.detach().numpy().tobytes() for p in model.parameters())


def test_eight_threads_train_at_once():
    steps = 200 if SANITIZED else 1000
    together = run_threads(8, lambda i: train_alone(i, steps))
    assert together == [train_alone(i, steps) for i in range(8)]
    assert len(set(together)) == 8


def test_python_threads_differentiate_one_graph():
    x = zero.ones(1000, requires_grad=True)
    y = (x * 2).exp().sum()
    found = run_threads(4, lambda i: zero.autograd.grad(y, x, retain_graph=True)[0])
    assert all(zero.equal(g, found[0]) for g in found)


def test_blocks_are_freed_by_other_threads():
    start = zero.memory_stats()["live_blocks"]
    made = run_threads(3, lambda i: [zero.full((17, i + 1), float(i)) for _ in range(2000)])
    assert run_threads(3, lambda i: sum(t[0, 0].item() for t in made[(i + 1) % 3])) == [
        2000.0,
        4000.0,
        0.0,
    ]
    assert zero.memory_stats()["live_blocks"] >= start + 6000
    run_threads(3, lambda i: made[(i + 1) % 3].clear())
    assert zero.memory_stats()["live_blocks"] == start


@pytest.mark.parametrize("kind", ["product", "elementwise"])
def test_long_work_lets_other_python_threads_run(kind):
    zero.set_num_threads(1)
    ticks, stop = [], threading.Event()
    work = {"product": lambda x: x @ x, "elementwise": lambda x: (x * 0.5).exp()}[kind]

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    x = zero.ones(1400, 1400) if kind == "product" else zero.ones(10_000_000)
    work(x)
    ticker.start()
    time.sleep(0.02)
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < 0.5:
        work(x)
        calls += 1
    inside = [t for t in ticks if t > start]
    stop.set()
    ticker.join()
    # Each call is tens of milliseconds; with the lock held there would be one or two in each.
    assert len(inside) >= 4 * calls


def test_gradients_of_several_threads_add_up():
    zero.set_num_threads(2)
    w = zero.zeros(1_000_000, requires_grad=True)

    def work(i):
        for _ in range(10):
            (w * 1).sum().backward()

    run_threads(4, work)
    assert (w.grad == 40).all()


def test_grad_is_set_while_other_threads_add_to_it():
    zero.set_num_threads(2)
    w = zero.zeros(1_000_000, requires_grad=True)

    ended = threading.Event()

    def work(i):
        if i == 0:
            for _ in range(200):
                w.grad = None
                time.sleep(0.001)
            ended.set()
        while not ended.is_set():
            zero.autograd.backward(w, zero.ones(1).expand(1_000_000))

    run_threads(3, work)
    assert w.grad is None or w.grad.shape == w.shape


LABELS = zero.zeros(2000, dtype=zero.int64)
READS = {
    "elementwise": lambda x: x.exp(),
    "sum": lambda x: x.sum(),
    "rows": lambda x: x.var(1),
    "var": lambda x: x.var(),
    "product": lambda x: x @ zero.ones(1000, 200),
    "copy": lambda x: x.clone(),
    "cat": lambda x: zero.cat([x, x[:1]]),
    "loss": lambda x: zero.nn.functional.mse_loss(x, zero.zeros(2000, 1000)),
    "cross entropy": lambda x: zero.nn.functional.cross_entropy(x, LABELS),
    "softmax": lambda x: x.softmax(1),
    "softmax of columns": lambda x: x.softmax(0),
    "into another": lambda x: zero.zeros(2000, 1000).add_(x),
}
REPLACEMENTS = {
    "data": lambda x, new: setattr(x, "data", new),
    "init": lambda x, new: x.__init__(new),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("replace", REPLACEMENTS.values(), ids=REPLACEMENTS)
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_memory_is_replaced_while_another_thread_computes(read, replace, threads):
    """What it computes with is not freed: all elements are those of one or the other memory."""
    zero.set_num_threads(threads)
    # Not constant, or softmax would be.
    memory = [(zero.arange(1000) * (0.001 * i)).expand(2000, 1000).contiguous() for i in (1, 2)]
    expected = [read(zero.Parameter(m)).detach() for m in memory]
    x = zero.Parameter(memory[0].clone())
    stop = threading.Event()

    def work(i):
        if i == 1:
            while not stop.is_set():
                for m in memory:
                    replace(x, m.clone())
                    zero.full((2000, 1000), 9.0)  # where the memory of before was, if it is free
            return True
        try:
            return all(
                any(zero.equal(y, e) for e in expected)
                for y in (read(x).detach() for _ in range(3 if SANITIZED else 12))
            )
        finally:
            stop.set()

    assert run_threads(2, work) == [True, True]


def test_two_threads_go_through_a_graph_with_a_write_in_place():
    """One of them frees the graph while the other is in it: it finishes or is told so."""
    zero.set_num_threads(2)
    x = zero.ones(1_000_000, requires_grad=True)
    passed = []
    for _ in range(10):
        y = x * 1
        y[:900_000] *= 3
        loss = y.sum()
        start = threading.Barrier(2)

        def work(i, loss=loss, start=start):
            start.wait()
            try:
                zero.autograd.grad(loss, x)
                passed.append(i)
            except RuntimeError as error:
                assert "second time" in str(error)

        run_threads(2, work)
    assert passed


def test_the_process_ends_while_a_thread_computes():
    code = """if True:
        import threading, time, zero
        zero.set_num_threads(2)
        def work():
            a = zero.ones(900, 900)
            while True:
                a @ a
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
        print("bye")
    """
    assert child(code) == "bye"  # the exit code is checked, too
