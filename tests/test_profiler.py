"""zero.profiler: what ran, how often, in which module, with how much memory and how many copies."""

import gc
import gzip
import json
import threading
import time
import weakref

import pytest

import zero
from zero import nn
from zero.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule


def names(prof, kind=None):
    return [e.name for e in prof.events() if e.kind != "module" and kind in (None, e.kind)]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        return x


# ---- which operators -----------------------------------------------------------------------------
def test_functions_methods_and_operators():
    a = zero.ones(2, 2)
    with profile() as prof:
        zero.add(a, 1), a.exp(), a.clone().add_(1)
        a + 1, 1 - a, a * a, a / 2, a // 2, a % 2, a**2, a @ a, -a, abs(a)
        a == 1, a < a, a >= 0  # noqa: B018
        a[0], a[a > 0]
        b = a.clone()
        b[0] = 3
        b += 1
        b -= 1
        b *= 2
        b /= 2
        i = zero.tensor([1])
        i & 1, i | 1, i ^ 1, ~i, i << 1, i >> 1
        a.size(), a.dim(), a.is_contiguous(), a.shape, a.numel(), a.data_ptr()  # queries
    assert names(prof) == [
        *("add", "exp", "clone", "add_"),
        *("add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "matmul", "neg", "abs"),
        *("eq", "lt", "ge", "getitem", "gt", "getitem"),
        *("clone", "setitem", "add_", "sub_", "mul_", "div_", "tensor"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"),
        *("bitwise_left_shift", "bitwise_right_shift"),
    ]
    assert all(e.count == 1 and e.kind == "operator" for e in prof.events())


def test_subclasses_too():
    class Before(zero.Tensor):
        pass

    parameter, before = nn.Parameter(zero.ones(2)), Before([1.0, 2.0])
    with profile() as prof:

        class During(zero.Tensor):
            pass

        during = During([1.0, 2.0])
        parameter + 1, before.mul(2), during[0], parameter == 1
    found = [n for n in names(prof) if n not in ("tensor", "detach")]
    assert found == ["add", "mul", "getitem", "eq"]
    with profile() as prof:
        pass
    during[0], parameter + 1
    assert names(prof) == []


def test_nothing_is_seen_before_and_after():
    x = zero.ones(2)
    x + 1
    with profile() as prof:
        x * 2
    x - 1
    assert names(prof) == ["mul"]
    prof.start()  # again
    x / 2
    prof.stop()
    assert names(prof) == ["div"]
    with pytest.raises(RuntimeError, match="has not ended"):
        profile().events()


def test_errors_pass_and_end_their_event():
    x = zero.ones(2)
    with profile() as prof:
        with pytest.raises(ValueError, match="matmul"):
            zero.matmul(x, zero.ones(3))
        with pytest.raises(TypeError, match="exp: input is not a Tensor; got str"):
            zero.exp("a")
        with pytest.raises(ValueError):
            x @ zero.ones(3)
        x.exp()
    assert names(prof) == ["ones", "matmul", "exp", "ones", "matmul", "exp"]
    assert all(e.cpu_parent is None for e in prof.events())
    with pytest.raises(KeyError), profile() as prof:
        raise KeyError
    x + 1
    assert names(prof) == []


def test_one_at_a_time():
    with profile():
        with pytest.raises(RuntimeError, match="another profile is running"):
            profile().start()
    with profile():
        pass


# ---- numbers -------------------------------------------------------------------------------------
def test_times_nest():
    with profile() as prof:
        with record_function("outer"):
            time.sleep(0.002)
            with record_function("inner"):
                time.sleep(0.003)
            zero.ones(2) + 1
    outer, inner, ones, add = prof.events()
    assert [e.cpu_parent for e in (outer, inner, ones, add)] == [None, outer, outer, outer]
    assert outer.cpu_children == [inner, ones, add]
    assert inner.cpu_time_total >= 3000 and inner.self_cpu_time_total == inner.cpu_time_total
    inside = sum(e.cpu_time_total for e in (inner, ones, add))
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - inside)
    assert 2000 <= outer.self_cpu_time_total
    for event in (inner, ones, add):
        assert outer.time_range.start <= event.time_range.start
        assert event.time_range.end <= outer.time_range.end
    total = prof.events().self_cpu_time_total
    assert total == pytest.approx(outer.cpu_time_total)
    assert prof.events().total_average().self_cpu_time_total == pytest.approx(total)


def test_ranges_that_end_in_any_order():
    with profile() as prof:
        a, b = record_function("a").__enter__(), record_function("b").__enter__()
        zero.ones(1)
        a.__exit__()
        zero.zeros(1)
        b.__exit__()
        zero.full((1,), 2)
        c = record_function("c").__enter__()
        thread = threading.Thread(target=c.__exit__)
        thread.start()
        thread.join()
        zero.empty(1)
    parents = {e.name: e.cpu_parent and e.cpu_parent.name for e in prof.events()}
    expected = {"a": None, "b": "a", "ones": "b", "zeros": "b", "full": None}
    assert parents == {**expected, "c": None, "empty": None}


def test_averages():
    x = zero.ones(2)
    with profile() as prof:
        for _ in range(5):
            x + 1
        x.exp()
    add, exp = prof.key_averages()
    assert (add.key, add.count, exp.key, exp.count) == ("add", 5, "exp", 1)
    events = [e for e in prof.events() if e.name == "add"]
    assert add.cpu_time_total == pytest.approx(sum(e.cpu_time_total for e in events))
    assert add.cpu_time == pytest.approx(add.cpu_time_total / 5)


@pytest.mark.parametrize("n", [1000, 100_000])
def test_memory(n):
    x = zero.ones(n)
    with profile() as prof:
        y = x * 2
        z = y[:5]
        y.add_(1)
        with record_function("both"):
            y = zero.ones(n)
            del x
        w = zero.ones(n).sum()
    assert z is not None and w is not None
    found = {e.name: e for e in prof.events()}
    assert 4 * n <= found["mul"].cpu_memory_usage < 4 * n + 1000
    assert found["getitem"].cpu_memory_usage < 1000 and found["add_"].cpu_memory_usage == 0
    both = found["both"]
    assert abs(both.cpu_memory_usage) < 1000  # one came, one went
    assert both.self_cpu_memory_usage < -3 * n
    assert found["sum"].cpu_memory_usage < 1000


def test_copies_of_contiguous():
    x = zero.ones(100, 50)
    with profile() as prof:
        x.contiguous()
        x.t().contiguous()
        x.t().reshape(-1)
        x.t().clone()
        with record_function("two"):
            x.t().contiguous()
            x.t().double().t().contiguous()
    copies = [(e.name, e.copies, e.copied_bytes) for e in prof.events() if e.copies]
    assert copies == [
        ("contiguous", 1, 20000),
        ("reshape", 1, 20000),
        ("two", 1, 20000),
        ("contiguous", 1, 20000),
    ]
    averages = {e.key: e for e in prof.key_averages()}
    assert averages["contiguous"].copies == 2 and averages["contiguous"].count == 4
    assert averages["clone"].copies == 0


def test_sizes_of_arguments():
    x = zero.ones(2, 3)
    with profile(record_shapes=True) as prof:
        x + zero.ones(3)
        zero.matmul(x, x.t())
        zero.cat([x, x])
        y = zero.ones(2, requires_grad=True)
        (y * 2).sum().backward()
    found = {e.name: e.input_shapes for e in prof.events()}
    assert found["add"] == [[2, 3], [3]] and found["matmul"] == [[2, 3], [3, 2]]
    assert found["t"] == [[2, 3]] and found["cat"] == [[]]
    assert found["SumBackward0"] == [[]] and found["MulBackward0"] == [[2]]
    with profile() as prof:
        x + 1
    assert prof.events()[0].input_shapes is None
    with profile(record_shapes=True) as prof:
        x + x, x[0] + x[0], x + x
    rows = prof.key_averages(group_by_input_shape=True)
    assert [(e.key, e.count, e.input_shapes) for e in rows if e.key == "add"] == [
        ("add", 2, [[2, 3], [2, 3]]),
        ("add", 1, [[3], [3]]),
    ]
    assert "Input Shapes" in rows.table()


# ---- backward, modules, threads ------------------------------------------------------------------
def test_modules_and_backward():
    model = Block()
    with profile() as prof:
        model(zero.ones(2, 4)).sum().backward()
    events = {e.name: e for e in prof.events()}
    linear = [e for e in prof.events() if e.name == "linear"]
    assert [e.module for e in linear] == ["Block.layers.0", "Block.layers.1"]
    assert [e.module for e in prof.events() if e.name == "tanh"] == ["Block", "Block"]
    assert events["sum"].module == events["ones"].module == ""
    nodes = [e for e in prof.events() if e.kind == "backward"]
    assert [(e.name, e.module) for e in nodes if e.name != "AccumulateGrad"] == [
        ("SumBackward0", ""),
        ("TanhBackward0", "Block"),
        ("AddmmBackward0", "Block.layers.1"),
        ("TanhBackward0", "Block"),
        ("AddmmBackward0", "Block.layers.0"),
    ]
    made = [e.forward for e in nodes if e.name == "AddmmBackward0"]
    assert made == linear[::-1] and all(
        e.sequence_nr == e.forward.sequence_nr for e in nodes if e.forward
    )
    assert all(e.cpu_parent is events["backward"] for e in nodes)
    assert sum(e.name == "AccumulateGrad" for e in nodes) == 4
    modules = [(e.name, e.module) for e in prof.events() if e.kind == "module"]
    assert modules == [
        ("Block", "Block"),
        ("Linear", "Block.layers.0"),
        ("Linear", "Block.layers.1"),
    ]
    rows = prof.key_averages(group_by_module=True)
    assert [(e.key, e.module, e.count) for e in rows if e.key in ("linear", "tanh")] == [
        ("linear", "Block.layers.0", 1),
        ("tanh", "Block", 2),
        ("linear", "Block.layers.1", 1),
    ]
    assert "Block.layers.1" in rows.table() and "Module" in rows.table()
    assert {e.key for e in prof.key_averages()} >= {"linear", "tanh"}
    assert "Block" not in {e.key for e in prof.key_averages()}


def test_a_module_that_fails_ends():
    class Fails(nn.Module):
        def forward(self, x):
            return x @ zero.ones(5)

    with profile() as prof:
        with pytest.raises(ValueError):
            nn.Sequential(Fails())(zero.ones(2))
        zero.ones(1)
    *_, last = prof.events()
    assert last.module == "" and last.cpu_parent is None


def test_operators_inside_of_hooks_and_custom_functions():
    class Double(zero.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = zero.ones(2, requires_grad=True)
    x.register_hook(lambda grad: grad.neg())
    with profile() as prof:
        Double.apply(x).sum().backward()
    del Double
    events = {e.name: e for e in prof.events()}
    muls = [e for e in prof.events() if e.name == "mul"]
    assert muls[0].cpu_parent.name == "function_apply"
    assert muls[1].cpu_parent.name == "DoubleBackward"
    assert events["neg"].cpu_parent is events["backward"]


def test_gradients_of_gradients_and_failing_nodes():
    x = zero.ones(2, requires_grad=True)
    with profile() as prof:
        (g,) = zero.autograd.grad((x * x * x).sum(), x, create_graph=True)
        g.sum().backward()
        y = x * 1
        z = (y * y).sum()
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace"):
            z.backward()
        x.neg()
    assert names(prof, "backward").count("MulBackward0") >= 4
    assert prof.events()[-1].cpu_parent is None


def test_threads():
    x = zero.ones(4, requires_grad=True)

    def work(label):
        with record_function(label):
            for _ in range(50):
                (x * 2).sum().backward()

    with profile() as prof:
        threads = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(2)]
        for thread in threads:
            thread.start()
        work("main")
        for thread in threads:
            thread.join()
    events = prof.events()
    ranges = [e for e in events if e.kind == "user"]
    assert len({e.thread for e in ranges}) == 3
    for outer in ranges:
        assert [e.name for e in outer.cpu_children] == ["mul", "sum", "backward"] * 50
        assert {e.thread for e in outer.cpu_children} == {outer.thread}
    for event in events:
        if event.name == "MulBackward0":
            assert event.forward.name == "mul" and event.forward.thread == event.thread


def test_a_thread_that_works_on_after_the_end():
    go, stop = threading.Event(), threading.Event()

    def work():
        with record_function("long"):
            go.set()
            stop.wait(10)
            zero.ones(2)

    with profile() as prof:
        thread = threading.Thread(target=work)
        thread.start()
        go.wait(10)
    (event,) = prof.events()
    assert event.name == "long" and event.cpu_time_total > 0 and event.cpu_memory_usage == 0
    with profile() as second:
        stop.set()
        thread.join()
        zero.ones(1)
    assert names(second) == ["ones", "ones"]
    assert all(e.cpu_parent is None for e in second.events())


def test_modules_are_not_kept():
    model = Block()
    seen = weakref.ref(model)
    with profile() as prof:
        model(zero.ones(2, 4))
    del model
    gc.collect()
    assert seen() is None and len(prof.events()) > 3


def test_more_events_than_a_chunk_holds():
    x = zero.ones(1)
    with profile() as prof:
        for _ in range(20_000):
            x + x
    assert prof.key_averages()[0].count == 20_000


# ---- ranges and steps ----------------------------------------------------------------------------
def test_record_function():
    @record_function("named")
    def f(x):
        return x + 1

    f(zero.ones(1))  # nothing runs
    with profile() as prof:
        assert f(zero.ones(1)).item() == 2
        with pytest.raises(KeyError), record_function("fails", "3"):
            raise KeyError
    assert f.__name__ == "f"
    assert names(prof) == ["ones", "named", "add", "item", "fails(3)"]
    assert [e.name for e in prof.events() if e.is_user_annotation] == ["named", "fails(3)"]


def test_schedules():
    plan = schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    n, w, r, s = ProfilerAction
    expected = [n, n, w, r, s, n, w, r, s, n, n]
    assert [plan(i) for i in range(11)] == expected
    plan = schedule(skip_first=1, wait=2, warmup=1, active=1, skip_first_wait=1)
    assert [plan(i) for i in range(7)] == [n, w, s, n, n, w, s]
    with pytest.warns(UserWarning, match="without warmup"):
        schedule(wait=0, warmup=0, active=1)
    for options in ({"wait": -1}, {"active": 0}, {"repeat": -1}):
        with pytest.raises(ValueError, match="too small"):
            schedule(**{"wait": 0, "warmup": 1, "active": 1, **options})


def test_steps():
    ready = []

    def on_ready(prof):
        ready.append((prof.step_num, names(prof)))

    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    x = zero.ones(1)
    with profile(schedule=plan, on_trace_ready=on_ready) as prof:
        for i in range(9):
            x.add(i) if i % 2 else x.mul(i)
            prof.step()
    assert ready == [
        (4, ["ProfilerStep#2", "mul", "ProfilerStep#3", "add"]),
        (8, ["ProfilerStep#6", "mul", "ProfilerStep#7", "add"]),
    ]
    ready.clear()
    with profile(on_trace_ready=on_ready) as prof:
        x.add(1)
        prof.step()
        x.mul(1)
    assert ready == [(1, ["add", "mul"])]
    ready.clear()
    with profile(schedule=plan, on_trace_ready=on_ready, acc_events=True) as prof:
        for i in range(9):
            x.add(i)
            prof.step()
    assert names(prof).count("add") == 4


# ---- what comes out ------------------------------------------------------------------------------
def test_table():
    x = zero.ones(100, 100)
    with profile() as prof:
        x @ x
        x + x
        x + x
        x.t().contiguous()
    averages = prof.key_averages()
    lines = averages.table(sort_by="count", row_limit=1).splitlines()
    assert lines[0].split("  ")[0] == "Name" and "# of Calls" in lines[0] and "Copies" in lines[0]
    assert lines[2].split()[0] == "add" and lines[2].split()[-1] == "2" and len(lines) == 5
    assert lines[-1].startswith("Self CPU time total: ")
    by_time = averages.table(sort_by="self_cpu_time_total").splitlines()[2:-2]
    times = {e.key: e.self_cpu_time_total for e in averages}
    assert [line.split()[0] for line in by_time] == sorted(times, key=times.get, reverse=True)
    assert averages.table(header="mine", time_unit="s").startswith("mine\n")
    assert str(averages) == averages.table()
    assert "39.06 KB" in averages.table()
    for options in ({"sort_by": "cuda_time_total"}, {"time_unit": "h"}):
        with pytest.raises(ValueError, match="table: no such"):
            averages.table(**options)
    with pytest.raises(NotImplementedError, match="stacks are not recorded"):
        prof.key_averages(group_by_stack_n=5)
    with profile() as prof:
        with record_function("x" * 100):
            x + 1
    short = prof.events().table(max_name_column_width=10, top_level_events_only=True)
    assert "xxxxxxx..." in short and "add" not in short


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_chrome_trace(tmp_path, name):
    model = Block()
    with profile(record_shapes=True) as prof:
        with record_function("step"):
            model(zero.ones(2, 4)).sum().backward()
    prof.add_metadata("note", "text")
    prof.add_metadata_json("numbers", "[1, 2]")
    prof.export_chrome_trace(str(tmp_path / name))
    data = (tmp_path / name).read_bytes()
    trace = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
    assert trace["note"] == "text" and trace["numbers"] == [1, 2]
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert len(spans) == len(prof.events())
    assert {e["cat"] for e in spans} == {"cpu_op", "module", "user_annotation"}
    for event in spans:
        assert {"name", "pid", "tid", "ts", "dur"} <= event.keys()
        assert event["ts"] >= 0 and event["dur"] > 0
    step = next(e for e in spans if e["name"] == "step")
    for event in spans:
        assert step["ts"] <= event["ts"]
        assert event["ts"] + event["dur"] <= step["ts"] + step["dur"] + 1e-3
    linear = next(e for e in spans if e["name"] == "linear")
    assert linear["args"]["Module"] == "Block.layers.0"
    assert linear["args"]["Input Dims"][:2] == [[2, 4], [4, 4]]
    starts = {e["id"]: e for e in trace["traceEvents"] if e["ph"] == "s"}
    ends = {e["id"]: e for e in trace["traceEvents"] if e["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) >= 5
    assert all(starts[i]["ts"] < ends[i]["ts"] for i in starts)


def test_traces_for_tensorboard(tmp_path):
    handler = zero.profiler.tensorboard_trace_handler(str(tmp_path / "log"), "me", use_gzip=True)
    with profile(on_trace_ready=handler):
        zero.ones(1)
    (file,) = (tmp_path / "log").iterdir()
    assert file.name.startswith("me.") and file.name.endswith(".pt.trace.json.gz")
    assert json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]


def test_the_older_profile(tmp_path):
    with zero.autograd.profiler.profile(record_shapes=True) as prof:
        zero.ones(2) + 1
    assert [e.name for e in prof.function_events] == ["ones", "add"]
    assert prof.key_averages()[1].count == 1 and "add" in str(prof)
    assert prof.total_average().count == 2 and prof.self_cpu_time_total > 0
    prof.export_chrome_trace(str(tmp_path / "t.json"))
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    with zero.autograd.profiler.profile(enabled=False) as prof:
        zero.ones(2)
    with pytest.raises(RuntimeError, match="no events"):
        prof.table()


def test_what_is_not_supported_says_so():
    for options in (
        {"with_stack": True},
        {"with_flops": True},
        {"use_cuda": True},
        {"experimental_config": object()},
        {"execution_trace_observer": object()},
        {"custom_trace_id_callback": len},
        {"post_processing_timeout_s": 1.0},
    ):
        with pytest.raises(NotImplementedError, match=f"profile: {next(iter(options))} can't"):
            profile(**options)
    with pytest.raises(NotImplementedError, match="use_kineto"):
        zero.autograd.profiler.profile(use_kineto=True)
    with pytest.warns(UserWarning, match="CUDA is ignored"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with pytest.raises(ValueError, match="nothing to measure"):
        profile(activities=[ProfilerActivity.CUDA])
    with pytest.raises(TypeError, match="no ProfilerActivity; got 'cpu'"):
        profile(activities=["cpu"])


def test_numbers_are_the_same_bits():
    def run():
        zero.manual_seed(0)
        model = Block()
        x = zero.randn(3, 4)
        loss = (model(x) * 3 + 1).square().mean()
        loss.backward()
        return loss.item(), [p.grad.tolist() for p in model.parameters()]

    plain = run()
    with profile(record_shapes=True):
        assert run() == plain


def test_checkpoints_show_the_second_run():
    from zero.utils.checkpoint import checkpoint

    x = zero.ones(2, requires_grad=True)
    with profile() as prof:
        checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum().backward()
    exps = [e for e in prof.events() if e.name == "exp"]
    assert len(exps) == 2 and exps[1].cpu_parent.kind == "backward"
