"""Functions whose gradient the user writes."""

import gc
import threading
import weakref

import pytest

import zero
from zero.autograd import Function, grad, gradcheck, gradgradcheck
from zero.autograd.function import once_differentiable


def leaf(*values, dtype=zero.float32):
    return zero.tensor(values, dtype=dtype, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


class Exp(Function):
    """Saves its output."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class MulAdd(Function):
    """Two outputs; a number among the arguments; setup_context."""

    @staticmethod
    def forward(x, y, k=2.0):
        return x * y, x + k * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.k = inputs
        ctx.save_for_backward(x, y)

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + ctx.k * h, None


def test_value_and_gradient():
    x = leaf(1.0, 2.0)
    y = Cube.apply(x)
    assert y.tolist() == [1.0, 8.0] and y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 12.0]


def test_gradients_of_gradients():
    x = zero.randn(3, dtype=zero.float64, requires_grad=True)
    y = zero.randn(3, dtype=zero.float64, requires_grad=True)
    for check in (gradcheck, gradgradcheck):
        assert check(Cube.apply, [x])
        assert check(Exp.apply, [x])
        assert check(lambda x, y: MulAdd.apply(x, y, 3.0), [x, y])


def test_node():
    x = leaf(1.0)
    y = Cube.apply(x)
    node = y.grad_fn
    assert node is y.grad_fn and node.name() == "CubeBackward"
    assert type(node).__name__ == "CubeBackward"
    assert isinstance(node, Cube._backward_cls) and isinstance(node, zero.autograd.graph.Node)
    assert [(n.name(), nr) for n, nr in node.next_functions] == [("AccumulateGrad", 0)]
    assert (y * 2).grad_fn.next_functions[0][0] is node
    assert node.saved_tensors[0] is x
    seen = []
    node.register_hook(lambda i, o: seen.append((i[0].item(), o[0].item())))
    y.sum().backward()
    assert seen == [(3.0, 1.0)]
    del y
    with pytest.raises(RuntimeError, match="CubeBackward: the node has ended"):
        node.next_functions  # noqa: B018


def test_keywords_and_defaults():
    x, y = leaf(1.0), leaf(2.0)
    a, b = MulAdd.apply(x, y, k=5.0)
    assert (a.item(), b.item()) == (2.0, 11.0)
    (a + b).sum().backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 6.0)
    assert MulAdd.apply(x, y)[1].item() == 5.0

    class Scale(Function):
        @staticmethod
        def forward(ctx, x, *, k):
            ctx.k = k
            return x * k

        @staticmethod
        def backward(ctx, g):
            return g * ctx.k

    x = leaf(1.0)
    Scale.apply(x, k=4.0).sum().backward()
    assert x.grad.item() == 4.0


def test_needs_input_grad_and_unused_arguments():
    seen = []

    class F(Function):
        @staticmethod
        def forward(ctx, a, b, text, c):
            seen.append(ctx.needs_input_grad)
            return a + b + c

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            return g, None, None, g * 2, None, None  # surplus ones that are None are fine

    a, c = leaf(1.0), leaf(1.0)
    F.apply(a, zero.ones(1), "text", c).sum().backward()
    assert seen == [(True, False, False, True)] * 2
    assert (a.grad.item(), c.grad.item()) == (1.0, 2.0)
    with zero.no_grad():
        assert not F.apply(a, zero.ones(1), "text", c).requires_grad
    assert not F.apply(zero.ones(1), zero.ones(1), "", zero.ones(1)).requires_grad


def test_outputs_that_are_no_tensors():
    got = []

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, 5, x.argmax(), x * 3

        @staticmethod
        def backward(ctx, *grads):
            got.append(grads)
            return grads[0] + grads[3]

    x = leaf(1.0, 2.0)
    a, five, index, b = F.apply(x)
    assert five == 5 and index.item() == 1 and not index.requires_grad
    a.sum().backward()
    (ga, none, gi, gb) = got[0]
    assert none is None and gi.item() == 0 and gi.dtype == zero.int64
    assert ga.tolist() == [1.0, 1.0] and gb.tolist() == [0.0, 0.0]
    assert b.grad_fn is a.grad_fn and (a.output_nr, b.output_nr) == (0, 3)


def test_gradients_not_materialized():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            assert g is None
            return h * 3

    x = leaf(1.0)
    F.apply(x)[1].sum().backward()
    assert x.grad.item() == 3.0


def test_non_differentiable():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            values, mask = x * 2, x.sign()
            ctx.mark_non_differentiable(mask)
            ctx.save_for_backward(mask)
            return values, mask

        @staticmethod
        def backward(ctx, g, h):
            assert h.tolist() == [0.0, 0.0]
            return g * ctx.saved_tensors[0]

    x = leaf(-1.0, 1.0)
    values, mask = F.apply(x)
    assert values.requires_grad and not mask.requires_grad
    values.sum().backward()
    assert x.grad.tolist() == [-1.0, 1.0]

    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(x)
            return x

    y = Same.apply(x)
    assert y is not x and not y.requires_grad and y.data_ptr() == x.data_ptr()
    assert x.requires_grad


class Double_(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_mark_dirty():
    x = leaf(1.0, 2.0)
    y = x * 3
    z = Double_.apply(y)
    assert z is y and y.grad_fn.name() == "Double_Backward" and y._version == 1
    (y * y).sum().backward()
    assert x.grad.tolist() == [2 * 36.0, 2 * 72.0]
    with pytest.raises(RuntimeError, match="Double_: a leaf that requires grad was marked dirty"):
        Double_.apply(leaf(1.0))


def test_mark_dirty_on_a_view():
    x = leaf(1.0, 1.0, 1.0, 1.0)
    y = x * 1
    view = y[1:3]
    assert Double_.apply(view) is view
    assert y.grad_fn.name() == "CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 2.0, 1.0]

    class AddTo_(Function):
        """The written argument is not the first."""

        @staticmethod
        def forward(ctx, a, x):
            ctx.mark_dirty(x)
            return x.add_(3 * a)

        @staticmethod
        def backward(ctx, g):
            return 3 * g, g

    x, a = leaf(1.0, 1.0), leaf(5.0)
    y = x * 1
    AddTo_.apply(a, y[1:])
    assert y.tolist() == [1.0, 16.0]
    (y * zero.tensor([10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [10.0, 100.0] and a.grad.item() == 300.0


def test_dirty_inputs_must_be_returned():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1) * 2

    with pytest.raises(RuntimeError, match="F: an input that was marked dirty is not an output"):
        F.apply(leaf(1.0) * 1)


def test_input_returned_as_output():
    class Pass(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 7

    x = leaf(1.0)
    y = Pass.apply(x)
    assert y is not x and y._base is x and y.grad_fn.name() == "PassBackward"
    y.sum().backward()
    assert x.grad.item() == 7.0
    z = Pass.apply(x * 1)
    with pytest.raises(RuntimeError, match="would bypass its backward"):
        z.mul_(2)
    with zero.no_grad():
        assert Pass.apply(x) is not x


def test_view_returned():
    class Flat(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape = x.shape
            return x.view(-1)

        @staticmethod
        def backward(ctx, g):
            return g.view(ctx.shape) * 5

    x = zero.ones(2, 2, requires_grad=True)
    base = x * 1
    y = Flat.apply(base)
    assert y._base is base and y.grad_fn.name() == "FlatBackward"
    y.sum().backward()
    assert x.grad.tolist() == [[5.0, 5.0], [5.0, 5.0]]
    with pytest.raises(RuntimeError, match="custom Function"):
        y.add_(1)


def test_saved_tensors_are_checked_and_freed():
    x = leaf(1.0)
    y = x * 1
    z = Cube.apply(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="needed by CubeBackward was modified by an inplace"):
        z.sum().backward()
    z = Cube.apply(x)
    z.sum().backward()
    with pytest.raises(RuntimeError, match="second time; got CubeBackward"):
        z.sum().backward()
    z = Cube.apply(x)
    z.sum().backward(retain_graph=True)
    z.sum().backward()


def test_saved_none_and_errors_of_the_context():
    class F(Function):
        @staticmethod
        def forward(ctx, x, what):
            ctx.save_for_backward(x, what)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert ctx.saved_tensors[1] is None
            return g, None

    F.apply(leaf(1.0), None).sum().backward()
    with pytest.raises(TypeError, match=r"save_for_backward: argument 1 is not a tensor; got int"):
        F.apply(leaf(1.0), 3)


def result_of(returned, extra=()):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x, *extra):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return returned

    x = leaf(1.0, 2.0)
    Wrong.apply(x, *extra).sum().backward()
    return x.grad


def test_wrong_gradients():
    one = zero.ones(2)
    with pytest.raises(
        RuntimeError, match=r"WrongBackward: .*number of gradients; got 2.*expect.*1"
    ):
        result_of((one, one))
    with pytest.raises(RuntimeError, match=r"got 1 .*expected 2"):
        result_of((one,), ("text",))
    with pytest.raises(
        ValueError, match=r"WrongBackward .*wrong shape for its input 0; got \(3,\)"
    ):
        result_of(zero.ones(3))
    with pytest.raises(TypeError, match=r"WrongBackward: gradient 0 is not a tensor; got int"):
        result_of(3)
    with pytest.raises(TypeError, match=r"gradient 0 is not a tensor; got list"):
        result_of([one])
    with pytest.raises(RuntimeError, match=r"gradient 1 is for an argument .* no tensor"):
        result_of((one, one), ("text",))
    assert result_of(None) is None
    assert result_of(zero.ones(3, 2)).tolist() == [3.0, 3.0]  # summed, as of a broadcast
    assert result_of(zero.ones(2, dtype=zero.float64)).dtype == zero.float32


def test_missing_and_double_definitions():
    class Nothing(Function):
        pass

    class NoBackward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class Both(NoBackward):
        @staticmethod
        def backward(ctx, g):
            return g

        vjp = backward

    class Vjp(NoBackward):
        @staticmethod
        def vjp(ctx, g):
            return g * 9

    x = leaf(1.0)
    with pytest.raises(NotImplementedError, match="forward is not defined"):
        Nothing.apply(x)
    with pytest.raises(NotImplementedError, match="NoBackward: no backward function"):
        NoBackward.apply(x).sum().backward()
    with pytest.raises(RuntimeError, match="Both: backward and vjp are two names"):
        Both.apply(x).sum().backward()
    Vjp.apply(x).sum().backward()
    assert x.grad.item() == 9.0
    with pytest.raises(RuntimeError, match="a Function has no instances"):
        NoBackward()
    with pytest.raises(NotImplementedError, match="forward mode"):
        Function.jvp(None)
    with pytest.raises(NotImplementedError, match="vmap"):
        Function.vmap(None, ())


def test_once_differentiable():
    class F(Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            return x * x * k

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            assert not zero.is_grad_enabled()
            return 2 * ctx.saved_tensors[0] * g, None

    x = leaf(3.0)
    F.apply(x, 1).sum().backward()
    assert x.grad.item() == 6.0 and not x.grad.requires_grad
    y = F.apply(x, 1)
    g = zero.ones(1, requires_grad=True)
    (first,) = grad(y, x, g, create_graph=True)
    with pytest.raises(RuntimeError, match="FBackward: trying to differentiate twice"):
        first.sum().backward()


def test_errors_come_through_and_the_engine_goes_on():
    class Mine(Exception):
        pass

    class F(Function):
        fails = True

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if F.fails:
                raise Mine("here")
            return g * 2

    x = leaf(1.0)
    y = F.apply(x)
    with pytest.raises(Mine, match="here") as caught:
        y.sum().backward(retain_graph=True)
    assert caught.traceback[-1].name == "backward"
    assert x.grad is None and zero.is_grad_enabled()
    F.fails = False
    y.sum().backward()
    assert x.grad.item() == 2.0


def test_backward_inside_backward():
    class Checkpoint(Function):
        @staticmethod
        def forward(ctx, run, x):
            ctx.run = run
            ctx.save_for_backward(x)
            return run(x)

        @staticmethod
        def backward(ctx, g):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            with zero.enable_grad():
                y = ctx.run(x)
            y.backward(g)
            return None, x.grad

    def layer(x):
        return (w * x).tanh()

    w = leaf(0.5, -0.5)
    x = leaf(1.0, 2.0)
    layer(layer(x)).sum().backward()
    want = w.grad.tolist(), x.grad.tolist()
    w.grad = x.grad = None
    nested = Checkpoint.apply(lambda x: Checkpoint.apply(layer, Checkpoint.apply(layer, x)), x)
    nested.sum().backward()
    assert w.grad.tolist() == pytest.approx(want[0]) and x.grad.tolist() == pytest.approx(want[1])


def test_threads_share_leaves():
    x = leaf(1.0, 2.0)

    def work():
        for _ in range(50):
            Cube.apply(x).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.tolist() == [200 * 3.0, 200 * 12.0]


def test_contexts_are_collected():
    class Thing:
        pass

    class Keep(Function):
        @staticmethod
        def forward(ctx, x, thing):
            ctx.thing = thing
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g, None

    x = leaf(1.0)
    thing = Thing()
    gone = weakref.ref(thing)
    y = Keep.apply(x, thing)
    del thing
    gc.collect()
    assert gone() is not None
    del y
    assert gone() is None  # without a circle at once

    thing = Thing()
    gone = weakref.ref(thing)
    y = Keep.apply(x, thing)
    y.grad_fn.output = y  # now there is one
    loss = (y * 3).sum()
    del thing, y
    gc.collect()
    assert gone() is not None
    loss.backward(retain_graph=True)
    del loss
    gc.collect()
    assert gone() is None


def test_saved_outputs_make_no_circle():
    gc.disable()
    try:
        y = Exp.apply(leaf(1.0))
        gone = weakref.ref(y.grad_fn.__dict__.setdefault("mark", type("Mark", (), {})()))
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_context_attributes():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.k = 3
            assert ctx.saved_tensors == ()
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * ctx.k

    y = F.apply(leaf(1.0))
    assert y.grad_fn.k == 3
    y.grad_fn.k = 4
    y.sum().backward()


class AtEnd:
    """Notes what a function says when this object ends."""

    def __init__(self, results, function):
        self.results, self.function = results, function

    def __del__(self):
        try:
            self.results.append(self.function())
        except RuntimeError as error:
            self.results.append(str(error))


def test_context_of_an_ending_node():
    # Other parts of the graph end first and run code that knows the context.
    x, seen = leaf(1.0, 2.0), []
    for swapped in (False, True):
        y, z = Exp.apply(x), x * 2
        context = y.grad_fn
        z.grad_fn.metadata["at end"] = AtEnd(seen, lambda c=context: c.saved_tensors)
        y.sum().backward(retain_graph=True)
        total = z + y if swapped else y + z
        del y, z, total
    for tensors in seen:  # with a history that is whole, or none at all
        for t in tensors:
            x.grad = None
            t.sum().backward()
            assert x.grad.tolist() == t.tolist()


def test_context_of_a_node_that_ends_with_its_notes():
    # The name is long enough to be in memory of its own.
    class FunctionWhoseNameDoesNotFitIntoAShortString(Cube):
        pass

    seen = []
    y = FunctionWhoseNameDoesNotFitIntoAShortString.apply(leaf(2.0))
    context = y.grad_fn
    context.metadata["at end"] = AtEnd(seen, context.name)
    del y
    assert len(seen) == 1 and seen[0].startswith(type(context).__name__ + ": the node has ended")
