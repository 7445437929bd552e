"""zero.utils.checkpoint: the same numbers as without, for less memory."""

import gc
import warnings

import pytest

import zero
from zero import nn
from zero.utils.checkpoint import (
    CheckpointError,
    check_backward_validity,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

BOTH = pytest.mark.parametrize("reentrant", [True, False])


def block(width=4):
    zero.manual_seed(7)
    return nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width), nn.Sigmoid())


def gradients(model, *outputs_and_inputs):
    return [p.grad.tolist() for p in model.parameters()]


class Counter:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


@BOTH
def test_gradients_are_the_same_bits(reentrant):
    found = []
    for checkpointed in (False, True):
        model = block()
        run = Counter(model)
        x = zero.linspace(-1, 1, 12).view(3, 4).requires_grad_()
        y = checkpoint(run, x, use_reentrant=reentrant) if checkpointed else model(x)
        (y * y).sum().backward()
        found.append((y.tolist(), x.grad.tolist(), gradients(model)))
    assert found[0] == found[1] and run.calls == 2


@BOTH
def test_dropout_drops_the_same_elements(reentrant):
    x = zero.ones(1000, requires_grad=True)
    zero.manual_seed(3)
    y = checkpoint(lambda x: nn.functional.dropout(x * 2, 0.5), x, use_reentrant=reentrant)
    after = zero.rand(1)
    zero.rand(100)
    state = zero.get_rng_state()
    y.sum().backward()
    assert zero.equal(x.grad, y.detach())
    assert zero.equal(zero.get_rng_state(), state)  # the second run leaves no trace
    zero.manual_seed(3)
    nn.functional.dropout(x * 2, 0.5)
    assert zero.equal(after, zero.rand(1))


@BOTH
def test_without_the_random_state_the_mask_is_another(reentrant):
    x = zero.ones(1000, requires_grad=True)
    state = zero.get_rng_state()
    y = checkpoint(
        lambda x: nn.functional.dropout(x, 0.5) * x,
        x,
        use_reentrant=reentrant,
        preserve_rng_state=False,
    )
    y.sum().backward()
    assert not zero.equal(x.grad, 2 * y.detach())
    assert not zero.equal(zero.get_rng_state(), state)


@BOTH
def test_autocast_is_that_of_the_first_run(reentrant):
    model = nn.Linear(8, 8)
    seen = []

    def run(x):
        y = model(x)
        seen.append((y.dtype, zero.is_autocast_enabled("cpu")))
        return y

    x = zero.ones(2, 8, requires_grad=True)
    with zero.autocast("cpu"):
        y = checkpoint(run, x, use_reentrant=reentrant, early_stop=False)
    y.float().sum().backward()
    with zero.autocast("cpu"):  # backward inside of a context; gradients are cast by nobody
        z = checkpoint(lambda x: (x * x).sum(), x, use_reentrant=reentrant)
        z.backward()
        assert zero.is_autocast_enabled("cpu")
    assert seen == [(zero.bfloat16, True)] * 2
    assert x.grad.dtype is zero.float32 and not zero.is_autocast_enabled("cpu")


def test_arguments_by_name_and_in_containers():
    a, b, c = (zero.tensor(v, requires_grad=True) for v in (2.0, 3.0, 5.0))
    run = Counter(lambda x, pair, scale: {"y": (x * pair[0]).exp() * scale, "n": 3})
    out = checkpoint(run, a, (b, "text"), scale=c, use_reentrant=False)
    assert out["n"] == 3
    out["y"].backward()
    assert run.calls == 2
    x, y, z = (zero.tensor(v, requires_grad=True) for v in (2.0, 3.0, 5.0))
    ((x * y).exp() * z).backward()
    assert [t.grad.item() for t in (a, b, c)] == [t.grad.item() for t in (x, y, z)]


def test_grad_and_gradients_of_gradients():
    x = zero.tensor([0.3, 0.7], dtype=zero.float64, requires_grad=True)
    run = Counter(lambda x: (x.exp() * x.sin()).tanh())

    def f(x):
        return checkpoint(run, x, use_reentrant=False)

    (first,) = zero.autograd.grad(f(x).sum(), x, create_graph=True)
    (second,) = zero.autograd.grad(first.sum(), x)
    (expected,) = zero.autograd.grad((x.exp() * x.sin()).tanh().sum(), x, create_graph=True)
    (expected_second,) = zero.autograd.grad(expected.sum(), x)
    assert zero.equal(first, expected) and zero.equal(second, expected_second)
    assert zero.autograd.gradcheck(f, (x,)) and zero.autograd.gradgradcheck(f, (x,))


def test_a_retained_graph_runs_again_with_one_run_each():
    x = zero.tensor([0.3, 0.7], requires_grad=True)
    run = Counter(lambda x: x.exp().sin().tanh())
    y = checkpoint(run, x, use_reentrant=False).sum()
    for n in (1, 2, 3):
        y.backward(retain_graph=n < 3)
        assert run.calls == 1 + n
    expected = zero.autograd.grad(x.exp().sin().tanh().sum(), x)[0]
    assert zero.allclose(x.grad, 3 * expected)
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@BOTH
def test_nested(reentrant):
    x = zero.tensor([0.3, 0.7], requires_grad=True)
    inner = Counter(lambda x: x.exp().sin())

    def outer(x):
        y = checkpoint(inner, x * 2, use_reentrant=reentrant)
        z = checkpoint(inner, y * 3, use_reentrant=reentrant)
        return z.tanh()

    run = Counter(outer)
    with warnings.catch_warnings():
        if reentrant:  # the inner ones run without a record at first
            warnings.filterwarnings("ignore", "None of the inputs have requires_grad")
        y = checkpoint(run, x, use_reentrant=reentrant).sum()
    y.backward()
    got, x.grad = x.grad, None
    assert run.calls == 2 and inner.calls == 6
    (((x * 2).exp().sin() * 3).exp().sin().tanh()).sum().backward()
    assert zero.equal(got, x.grad)


def test_mixed_forms_nested():
    x = zero.tensor([0.3, 0.7], requires_grad=True)
    checkpoint(
        lambda x: checkpoint(lambda y: y.exp().sin(), x * x, use_reentrant=True).tanh(),
        x,
        use_reentrant=False,
    ).sum().backward()
    got, x.grad = x.grad, None
    (x * x).exp().sin().tanh().sum().backward()
    assert zero.equal(got, x.grad)


def test_backward_inside_of_the_function():
    x = zero.tensor([0.3, 0.7], requires_grad=True)

    def run(x):
        y = x.exp().sin()
        (g,) = zero.autograd.grad(y.sum(), x, retain_graph=True, create_graph=True)
        return y * g

    for early in (True, False):
        checkpoint(run, x, use_reentrant=False, early_stop=early).sum().backward()
        got, x.grad = x.grad, None
        run(x).sum().backward()
        assert zero.allclose(got, x.grad)
        x.grad = None


def test_reentrant_says_what_it_cannot_do():
    x = zero.ones(2, requires_grad=True)
    y = checkpoint(lambda x: x.exp(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="incompatible with grad"):
        zero.autograd.grad(y.sum(), x)
    y = checkpoint(lambda x: x.exp(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="incompatible with grad"):
        y.sum().backward(inputs=[x])
    y = checkpoint(lambda x: x.exp(), x, use_reentrant=True)
    (y * y).sum().backward(create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        x.grad.sum().backward()
    with pytest.raises(ValueError, match="unexpected keyword arguments; got scale"):
        checkpoint(lambda x: x, x, use_reentrant=True, scale=2)
    with pytest.raises(ValueError, match="context_fn and debug"):
        checkpoint(lambda x: x, x, use_reentrant=True, debug=True)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        checkpoint(lambda x: x.detach(), x, use_reentrant=True).sum().backward()
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert not checkpoint(lambda x: x, zero.ones(1), use_reentrant=True).requires_grad


def test_use_reentrant_should_be_said():
    x = zero.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        y = checkpoint(lambda x: x.exp(), x)
    assert "Checkpoint" in y.grad_fn.name()
    with pytest.warns(UserWarning, match="checkpoint_sequential: the use_reentrant parameter"):
        checkpoint_sequential([zero.exp, zero.sin], 2, x)


def test_another_number_of_tensors_is_an_error():
    x = zero.ones(2, requires_grad=True)
    for second in (lambda x: x.exp(), lambda x: x.exp().sin().cos().tanh()):
        for early in (True, False):
            functions = iter([lambda x: x.exp().sin().cos(), second])
            y = checkpoint(
                lambda x, functions=functions: next(functions)(x),
                x,
                use_reentrant=False,
                early_stop=early,
            )
            if early and second(x).grad_fn.name() == "TanhBackward0":
                y.sum().backward()  # all that is needed was there
                continue
            with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
                y.sum().backward()


def test_other_shapes_are_an_error():
    weights = iter([zero.ones(2), zero.ones(1), zero.ones(2), zero.ones(1)])

    def run(x):
        return x * next(weights)

    x = zero.ones(2, requires_grad=True)
    y = checkpoint(run, x, use_reentrant=False)
    with pytest.raises(CheckpointError, match=r"different metadata.*\(2,\).*\(1,\)"):
        y.sum().backward()
    y = checkpoint(run, x, use_reentrant=False, determinism_check="none")
    y.sum().backward()
    with pytest.raises(ValueError, match="no such determinism_check; got 'all'"):
        checkpoint(run, x, use_reentrant=False, determinism_check="all")


def test_debug_names_the_lines():
    x = zero.ones(2, requires_grad=True)
    runs = iter([True, False])

    def run(x):
        y = x.exp()
        return y.sin() if next(runs) else y

    with set_checkpoint_debug_enabled(True):
        y = checkpoint(run, x, use_reentrant=False)
    with pytest.raises(CheckpointError) as error:
        y.sum().backward()
    first, second = str(error.value).split("saved in the second run:")
    assert "y = x.exp()" in first and "return y.sin()" in first
    assert "y = x.exp()" in second and "y.sin()" not in second


def test_the_second_run_stops_early():
    ended = []

    def run(x):
        y = x.exp()
        ended.append(len(ended))
        return y + 1

    x = zero.ones(2, requires_grad=True)
    checkpoint(run, x, use_reentrant=False).sum().backward()
    assert ended == [0]  # exp saves the only tensor
    checkpoint(run, x, use_reentrant=False, early_stop=False).sum().backward()
    assert ended == [0, 1, 2]
    with set_checkpoint_early_stop(False):
        y = checkpoint(run, x, use_reentrant=False).sum()
    y.backward()
    assert len(ended) == 5


def test_a_function_that_catches_errors_is_stopped_all_the_same():
    def run(x):
        try:
            return x.exp().sin()
        except Exception:
            return x

    x = zero.ones(2, requires_grad=True)
    checkpoint(run, x, use_reentrant=False).sum().backward()
    assert zero.allclose(x.grad, x.exp().cos() * x.exp())


def test_contexts():
    entered = []

    class Context:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            entered.append(self.name)

        def __exit__(self, *error):
            return self.name == "swallows"

    def contexts():
        return Context("first"), Context("second")

    x = zero.ones(2, requires_grad=True)
    y = checkpoint(lambda x: x.exp(), x, use_reentrant=False, context_fn=contexts)
    assert entered == ["first"]
    y.sum().backward()
    assert entered == ["first", "second"]
    with pytest.raises(RuntimeError, match="suppressed an error"):
        checkpoint(
            lambda x: x / nonsense,  # noqa: F821
            x,
            use_reentrant=False,
            context_fn=lambda: (Context("swallows"), Context("second")),
        )


def test_errors_of_the_function_come_through_and_leave_no_hooks():
    x = zero.ones(2, requires_grad=True)
    with pytest.raises(ZeroDivisionError):
        checkpoint(lambda x: x / (1 // 0), x, use_reentrant=False)
    fails = iter([False, True])
    y = checkpoint(lambda x: 1 // (1 - next(fails)) * x.exp(), x, use_reentrant=False)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    z = (x * x).sum()
    z.backward()
    assert x.grad.tolist() == [2, 2]


@BOTH
def test_a_write_to_an_argument_is_noticed(reentrant):
    x = zero.ones(2, requires_grad=True)
    a = x * 1
    y = checkpoint(lambda a: a.exp() * a, a, use_reentrant=reentrant)
    a.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_without_a_record_nothing_is_kept():
    run = Counter(lambda x: x.exp())
    with zero.no_grad():
        y = checkpoint(run, zero.ones(2, requires_grad=True), use_reentrant=False)
    assert not y.requires_grad and run.calls == 1
    y = checkpoint(run, zero.ones(2), use_reentrant=False)
    assert not y.requires_grad


def test_views_and_writes_in_the_function():
    def run(x):
        y = x.clone()
        y[0] = y[1].exp()
        return y.t().sin() * x

    x = zero.linspace(0, 1, 4).view(2, 2).requires_grad_()
    checkpoint(run, x, use_reentrant=False).sum().backward()
    got, x.grad = x.grad, None
    run(x).sum().backward()
    assert zero.equal(got, x.grad)


@pytest.mark.parametrize("segments", [1, 2, 3, 5])
@BOTH
def test_sequential(reentrant, segments):
    x = zero.linspace(-1, 1, 8).view(2, 4).requires_grad_()
    model = block()
    model.append(nn.Tanh())
    model(x).sum().backward()
    expected = gradients(model), x.grad.tolist()
    model.zero_grad()
    x.grad = None
    for functions in (model, list(model)):
        y = checkpoint_sequential(functions, segments, x, use_reentrant=reentrant)
        y.sum().backward()
        assert (gradients(model), x.grad.tolist()) == expected
        model.zero_grad()
        x.grad = None
    with pytest.raises(ValueError, match="segments; got 6 for 5 functions"):
        checkpoint_sequential(model, 6, x, use_reentrant=reentrant)
    with pytest.raises(ValueError, match="unexpected keyword arguments; got early_stop"):
        checkpoint_sequential(model, 2, x, use_reentrant=reentrant, early_stop=True)


def peak_of(step):
    gc.collect()
    zero.reset_peak_memory_stats()
    before = zero.memory_stats()["live_bytes"]
    step()
    return zero.memory_stats()["peak_bytes"] - before


@BOTH
def test_peak_memory_falls(reentrant):
    """16 layers that keep 400 KB each: whole, 6.4 MB; in 4 parts about 4 + 4 of them."""
    layers = [lambda x: (x * 1.01).sin() for _ in range(16)]
    x = zero.ones(100_000, requires_grad=True)

    def plain():
        y = x
        for layer in layers:
            y = layer(y)
        y.sum().backward()

    def parts():
        y = x
        for i in range(0, 16, 4):

            def part(y, i=i):
                for layer in layers[i : i + 4]:
                    y = layer(y)
                return y

            y = checkpoint(part, y, use_reentrant=reentrant)
        y.sum().backward()

    plain(), parts()
    whole, less = peak_of(plain), peak_of(parts)
    assert whole > 16 * 400_000
    assert less < 0.7 * whole


def test_a_retained_graph_does_not_keep_what_was_computed_again():
    def step(retain):
        x = zero.ones(100_000, requires_grad=True)
        y = checkpoint(
            lambda x: x.sin().sin().sin().sin().sin().sin(), x, use_reentrant=False
        ).sum()
        before = zero.memory_stats()["live_bytes"]
        y.backward(retain_graph=retain)
        after = zero.memory_stats()["live_bytes"]
        return after - before

    assert step(True) <= step(False) + 2 * 400_000  # the gradient, and one node's tensor


def test_no_cycles():
    gc.collect()
    gc.disable()
    try:
        before = zero.memory_stats()["live_bytes"]
        for _ in range(3):
            x = zero.ones(100_000, requires_grad=True)
            y = checkpoint(lambda x: x.sin().sin(), x, use_reentrant=False)
            z = checkpoint(lambda x: x.sin().sin(), y, use_reentrant=False)
            z.sum().backward()
            y = checkpoint(lambda x: x.sin().sin(), x, use_reentrant=False)  # never run back
            del x, y, z
        assert zero.memory_stats()["live_bytes"] - before < 400_000
    finally:
        gc.enable()


def test_detach_variable_and_check_backward_validity():
    x = zero.ones(2, requires_grad=True)
    a, b, c = detach_variable((x * 2, zero.ones(1), "text"))
    assert (a.requires_grad, a.is_leaf, b.requires_grad, c) == (True, True, False, "text")
    with pytest.raises(RuntimeError, match="inputs is not a tuple; got list"):
        detach_variable([x])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_backward_validity([x, 3])
    with pytest.warns(UserWarning, match="Gradients will be None"):
        check_backward_validity([3])


def test_many_in_a_row_are_freed_on_a_flat_stack():
    x = y = zero.ones(1, requires_grad=True)
    for _ in range(5000):
        y = checkpoint(zero.sin, y, use_reentrant=False)
    del y
    y = x
    for _ in range(3000):
        y = checkpoint(zero.sin, y, use_reentrant=False)
    y.backward()
    assert 0 < x.grad.item() < 1


def test_pytorch_saves_and_computes_the_same():
    torch = pytest.importorskip("torch")
    from torch.utils.checkpoint import checkpoint as theirs

    data = [[0.1, 0.9], [0.4, -0.3]]
    results = []
    for library, function in ((zero, checkpoint), (torch, theirs)):
        x = library.tensor(data, requires_grad=True)
        run = Counter(lambda x: (x @ x).tanh().exp() * x)
        y = function(run, x, use_reentrant=False)
        (first,) = library.autograd.grad(y.sum(), x, create_graph=True)
        first.square().sum().backward()
        results.append((run.calls, x.grad.flatten().tolist()))
    assert results[0][0] == results[1][0]
    assert results[0][1] == pytest.approx(results[1][1], rel=1e-5)
