"""Autograd as Python sees it: backward, grad, the graph, the modes."""

import threading

import pytest

import zero


def leaf(*values):
    return zero.tensor(list(values), requires_grad=True)


# ---- modes ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "make, on",
    [
        (zero.no_grad, False),
        (zero.enable_grad, True),
        (lambda: zero.set_grad_enabled(False), False),
        (lambda: zero.set_grad_enabled(True), True),
    ],
)
@pytest.mark.parametrize("outside", [True, False])
def test_context_managers(make, on, outside):
    try:
        zero.set_grad_enabled(outside)
        with make():
            assert zero.is_grad_enabled() is on
            with zero.enable_grad():
                assert zero.is_grad_enabled()
            assert zero.is_grad_enabled() is on
        assert zero.is_grad_enabled() is outside
        with pytest.raises(KeyError), make():
            raise KeyError
        assert zero.is_grad_enabled() is outside
        mode = make()
        with mode, mode:
            assert zero.is_grad_enabled() is on
        assert zero.is_grad_enabled() is outside
    finally:
        zero.set_grad_enabled(True)


def test_decorators():
    @zero.no_grad()
    def called(x, factor=2):
        """Doc."""
        assert not zero.is_grad_enabled()
        return x * factor

    @zero.no_grad
    def bare(x):
        return x * 2

    @zero.set_grad_enabled(False)
    def set_off(x):
        return x * 2

    assert zero.is_grad_enabled()
    x = leaf(1.0)
    for function in (called, bare, set_off):
        assert not function(x).requires_grad and zero.is_grad_enabled()
    assert (
        called.__name__ == "called" and called.__doc__ == "Doc." and called(x, factor=3).item() == 3
    )
    with zero.no_grad():
        assert zero.enable_grad(lambda: x * 2)().requires_grad
    for bad in (3, int):
        with pytest.raises(TypeError):
            zero.no_grad(bad)


def test_decorated_generators_switch_at_each_step():
    closed = []

    @zero.no_grad()
    def steps():
        try:
            sent = yield zero.is_grad_enabled()
            assert not zero.is_grad_enabled()
            try:
                yield sent
            except KeyError:
                yield zero.is_grad_enabled()
            return "end"
        finally:
            closed.append(zero.is_grad_enabled())

    g = steps()
    assert next(g) is False and zero.is_grad_enabled()
    assert g.send("value") == "value" and g.throw(KeyError()) is False and zero.is_grad_enabled()
    with pytest.raises(StopIteration, match="end"):
        next(g)
    g = steps()
    next(g)
    g.close()
    assert closed == [False, False] and zero.is_grad_enabled()
    with pytest.raises(ZeroDivisionError):
        g = steps()
        next(g)
        g.throw(ZeroDivisionError())
    assert list(zero.no_grad(lambda: (yield 1))()) == [1]


def test_modes_belong_to_threads():
    seen = []
    with zero.no_grad():
        thread = threading.Thread(target=lambda: seen.append(zero.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


# ---- backward and grad ---------------------------------------------------------------------------
def test_backward_arguments():
    x = leaf(1.0, 2.0)
    y = x * x
    with pytest.raises(RuntimeError):
        y.backward()
    y.backward(zero.tensor([1.0, 10.0]), retain_graph=True)
    assert x.grad.tolist() == [2, 40]
    y.backward(gradient=zero.ones(2))
    assert x.grad.tolist() == [4, 44]
    with pytest.raises(RuntimeError, match=r"second time|freed"):
        y.backward(zero.ones(2))
    with pytest.raises(TypeError):
        (x * x).backward([1.0, 1.0])
    with pytest.raises(ValueError):
        (x * x).backward(zero.ones(3))
    with pytest.raises(RuntimeError):
        zero.ones(1).backward()
    a, b = leaf(2.0), leaf(3.0)
    (a * b).sum().backward(inputs=[a])
    assert a.grad.item() == 3 and b.grad is None
    (a * b).sum().backward(inputs=b)
    assert b.grad.item() == 2
    with pytest.raises(RuntimeError):
        (a * b).sum().backward(inputs=[])


def test_grad_function():
    a, b, c = leaf(2.0), leaf(3.0), leaf(4.0)
    (ga, gb) = zero.autograd.grad((a * b * b).sum(), (a, b), create_graph=True)
    assert ga.item() == 9 and gb.item() == 12 and a.grad is None
    (gab,) = zero.autograd.grad(ga.sum(), b)
    assert gab.item() == 6
    with pytest.raises(RuntimeError):
        zero.autograd.grad((a * b).sum(), c)
    assert zero.autograd.grad((a * b).sum(), [a, c], allow_unused=True)[1] is None
    assert zero.autograd.grad((a * b).sum(), [a, c], materialize_grads=True)[1].tolist() == [0]
    with pytest.raises(ValueError):
        zero.autograd.grad([a * b, a * b], a, grad_outputs=[zero.ones(1)])
    (g,) = zero.autograd.grad(a * b, a, grad_outputs=zero.tensor([5.0]))
    assert g.item() == 15


# ---- the graph -----------------------------------------------------------------------------------
def test_nodes():
    x = leaf(1.0, 2.0)
    y = (x * 2 + 1).sum()
    assert y.grad_fn.name() == "SumBackward0" and x.grad_fn is None
    (add, nr), *rest = y.grad_fn.next_functions
    assert add.name() == "AddBackward0" and nr == 0 and not rest
    mul = add.next_functions[0][0]
    accumulate = mul.next_functions[0][0]
    assert accumulate.name() == "AccumulateGrad" and accumulate.variable is x
    assert accumulate.next_functions == ()
    assert y.grad_fn == y.grad_fn and hash(y.grad_fn) == hash(y.grad_fn) and y.grad_fn != add
    assert len({add, y.grad_fn.next_functions[0][0]}) == 1
    assert repr(add).startswith("<AddBackward0 object at 0x") and add != 3
    with pytest.raises(AttributeError):
        add.variable  # noqa: B018
    with pytest.raises(TypeError):
        type(add)()


def test_leaf_rules():
    x = leaf(1.0)
    y = x * 2
    assert x.is_leaf and not y.is_leaf and y.requires_grad
    with pytest.raises(RuntimeError):
        y.requires_grad = False
    with pytest.raises(RuntimeError):
        x.add_(1)
    x.requires_grad = False
    assert not x.requires_grad
    assert y.detach_().is_leaf and not y.requires_grad
    z = (x.requires_grad_() * 2).detach()
    assert z.is_leaf and not z.requires_grad
    view = zero.ones(4)[1:]
    assert view._base is not None and view._base.shape == (4,) and zero.ones(2)._base is None


def test_saved_tensors_notice_writes():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = (y * y).sum()
    assert y._version == 0
    y[0] = 5
    assert y._version == 1
    with pytest.raises(RuntimeError, match=r"in.?place|modified"):
        z.backward()


# ---- inference mode ------------------------------------------------------------------------------
def test_inference_mode_makes_inference_tensors():
    w = zero.ones(2, requires_grad=True)
    with zero.inference_mode():
        assert zero.is_inference_mode_enabled() and not zero.is_grad_enabled()
        x, y, view = zero.ones(2), w * 2, w.view(2)
        assert y.is_inference() and not y.requires_grad
        assert not view.is_inference() and view.requires_grad and view._base is w
        x.add_(1)
        w.add_(1)
        with zero.enable_grad():
            assert zero.is_grad_enabled() and not (w * 2).requires_grad
        with zero.inference_mode(False):
            assert zero.is_grad_enabled() and (w * 2).requires_grad
            assert not (w * 2).is_inference()
        assert zero.ones(2, requires_grad=True).requires_grad
    assert not zero.is_inference_mode_enabled() and zero.is_grad_enabled()
    assert zero.is_inference(x) and x.tolist() == [2.0, 2.0]
    assert x.view(2).is_inference() and x.detach().is_inference()
    assert not (x * 2).is_inference() and not x.clone().is_inference()
    assert (w + x).requires_grad


def test_inference_tensors_outside():
    w = zero.ones(2, requires_grad=True)
    base, tracked = zero.ones(3), w * 1
    with zero.inference_mode():
        x = zero.ones(2)
        view, of_tracked = base[1:], tracked[:1]
        view.add_(1)
    with pytest.raises(RuntimeError, match="add: an inference tensor is written in place outside"):
        x.add_(1)
    assert x.tolist() == [1.0, 1.0]
    with zero.inference_mode():
        same = x.detach()
    with pytest.raises(RuntimeError, match="add: an inference tensor is written in place outside"):
        same.add_(1)
    detached = x.detach()  # counts its own writes, so it takes them
    assert detached.is_inference() and detached.add_(1)._version == 1 and x.data._version == 0
    assert x.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="can't require a gradient outside inference_mode"):
        x.requires_grad_()
    with pytest.raises(RuntimeError, match="writes to an inference tensor are not counted"):
        x._version  # noqa: B018
    with pytest.raises(RuntimeError, match="an inference tensor can't be saved for backward"):
        w * x
    part = x[0]  # nobody follows it, so it isn't known as a view
    assert part.is_inference() and not part._is_view() and part.detach_() is part
    with zero.inference_mode():
        rows = zero.arange(8.0).reshape(2, 2, 2)
    with pytest.raises(RuntimeError, match="an inference tensor can't be saved for backward"):
        zero.nn.functional.linear(rows, w.diag())
    with pytest.raises(RuntimeError, match="an inference tensor can't be saved for backward"):
        zero.nn.functional.linear(rows[:1].mT, w.diag())  # rows of a matrix
    y = zero.nn.functional.linear(rows.mT, w.diag())  # rows that must be copied: the copy is saved
    assert zero.autograd.grad(y.sum(), w)[0].tolist() == [10.0, 18.0]
    with pytest.raises(RuntimeError, match="a view made in inference_mode is written in place"):
        of_tracked.add_(1)
    with zero.no_grad():
        of_tracked.add_(1)
    assert tracked.tolist() == [2.0, 1.0]
    view.add_(1)  # nothing is recorded
    base.add_(1)
    assert base.tolist() == [2.0, 4.0, 4.0] and base._version == 3


def test_inference_mode_decorates():
    @zero.inference_mode()
    def a():
        return zero.ones(1)

    @zero.inference_mode
    def b():
        return zero.ones(1)

    @zero.inference_mode(False)
    def c():
        return zero.ones(1)

    assert a().is_inference() and b().is_inference() and not c().is_inference()
    with zero.inference_mode():
        assert not c().is_inference()
    with pytest.raises(TypeError, match="inference_mode: mode"):
        zero.inference_mode(3)
