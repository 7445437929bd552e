"""The engine, leaves, graphs and modes."""

import gc
import threading
import weakref

import pytest

import zero
from zero.autograd import grad


def leaf(*values, dtype=None):
    data = values[0] if len(values) == 1 and isinstance(values[0], list) else list(values)
    return zero.tensor(data, dtype=dtype or zero.float32, requires_grad=True)


# ---- the engine --------------------------------------------------------------------------------
def test_diamond():
    x = leaf(2.0, 3.0)
    a, b = x * 2, x * x
    (a * b + b).sum().backward()  # 2x^3 + x^2
    assert x.grad.tolist() == [6 * 4 + 4, 6 * 9 + 6]


def test_deep_diamonds_run_each_node_once():
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = (y + y) * 0.5  # 2^60 paths
    y.sum().backward()
    assert x.grad.tolist() == [1.0]


def test_gradients_accumulate():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first and first.tolist() == [5.0, 7.0]
    x.grad = None
    assert x.grad is None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and first.tolist() == [5.0, 7.0]


def test_gradients_do_not_share_memory():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    g = zero.ones(2)
    (x + y).backward(g)
    assert len({x.grad.data_ptr(), y.grad.data_ptr(), g.data_ptr()}) == 3
    x.grad.zero_()
    assert y.grad.tolist() == [1.0, 1.0] and g.tolist() == [1.0, 1.0]


def test_reused_input():
    x = leaf(3.0)
    (x * x * x).backward(zero.ones(1))
    assert x.grad.item() == 27
    y = leaf(3.0)
    (y + y).sum().backward()
    assert y.grad.item() == 2


def test_backward_twice_is_an_error_that_names_the_remedy():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(
        RuntimeError, match=r"backward: .*second time; got MulBackward0 .*retain_graph=True"
    ):
        y.backward()
    assert x.grad.item() == 2


def test_retain_graph():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 4
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_a_second_pass_without_saved_tensors_fails_too():
    x = leaf(1.0)
    y = x * x
    z, w = y.sum(), (y * 2).sum()
    z.backward()
    with pytest.raises(RuntimeError, match="second time"):
        w.backward()


def test_create_graph_and_higher_orders():
    x = leaf(2.0, dtype=zero.float64)
    y = x**4
    for expected in (32.0, 48.0, 48.0):
        (y,) = grad(y.sum(), x, create_graph=True)
        assert y.item() == pytest.approx(expected)


def test_backward_with_create_graph_records_the_gradient():
    x = leaf(2.0)
    (x**3).sum().backward(create_graph=True)
    assert x.grad.requires_grad and x.grad.item() == 12
    (second,) = grad(x.grad.sum(), x)
    assert second.item() == 12


def test_non_scalar_backward():
    y = leaf(1.0, 2.0) * 2
    with pytest.raises(
        RuntimeError,
        match=r"backward: grad can be implicitly created only for scalar outputs; got .*2",
    ):
        y.backward()
    with pytest.raises(zero.errors.ShapeError, match="shape"):
        y.backward(zero.ones(3))
    with pytest.raises(TypeError, match="list"):
        y.backward([1.0, 1.0])
    with pytest.raises(zero.errors.DTypeError, match="int64"):
        y.backward(zero.ones(2, dtype=zero.int64))


def test_one_element_of_any_shape_is_a_scalar():
    x = leaf([[3.0]])
    (x * x).backward()
    assert x.grad.tolist() == [[6.0]]


def test_backward_without_graph():
    with pytest.raises(RuntimeError, match=r"backward: .*does not require grad"):
        zero.ones(()).backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad(zero.ones(()), leaf(1.0))


def test_grad_leaves_dot_grad_alone():
    x, y = leaf(2.0), leaf(5.0)
    z = (x * y).sum()
    gx, gy = grad(z, [x, y])
    assert (gx.item(), gy.item(), x.grad, y.grad) == (5, 2, None, None)


def test_grad_of_intermediate():
    x = leaf(2.0)
    y = x * x
    z = (y * 3).sum()
    assert [g.item() for g in grad(z, (y, x))] == [3.0, 12.0]


def test_grad_of_itself():
    x = leaf(2.0)
    y = x * 2
    assert grad(y, y, zero.tensor([5.0]))[0].item() == 5
    assert grad(x, x, zero.tensor([4.0]))[0].item() == 4


def test_grad_outputs_and_several_outputs():
    x = leaf(1.0, 2.0)
    (g,) = grad([x * 2, x * x], x, [zero.tensor([1.0, 0.0]), zero.tensor([0.0, 1.0])])
    assert g.tolist() == [2.0, 4.0]


def test_the_same_output_twice():
    x = leaf(1.0)
    y = (x * 2).sum()
    assert grad([y, y], x)[0].item() == 4


def test_allow_unused_and_materialize():
    x, y = leaf(1.0), leaf(1.0, 2.0)
    z = (x * 2).sum()
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        grad(z, [x, y], retain_graph=True)
    assert grad(z, [x, y], retain_graph=True, allow_unused=True)[1] is None
    zeros = grad(z, [x, y], materialize_grads=True)[1]
    assert zeros.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="allow_unused"):
        grad(z, [y], allow_unused=False, materialize_grads=True)


def test_batches_of_gradients():
    x = leaf([1.0, 2.0])
    y, unused = x * x, leaf([1.0])
    g, none = grad(y, [x, unused], zero.eye(2), allow_unused=True, is_grads_batched=True)
    assert g.tolist() == [[2, 0], [0, 4]] and none is None
    with pytest.raises(RuntimeError, match="second time"):
        grad(y, x, zero.ones(2))
    for wrong in (None, zero.ones(2), zero.ones(0, 2), [zero.ones(2, 2), zero.ones(3, 2)]):
        with pytest.raises((ValueError, RuntimeError), match="grad"):
            grad([x * x] * 2 if isinstance(wrong, list) else x * x, x, wrong, is_grads_batched=True)


def test_unsupported_arguments_of_grad():
    x = leaf(1.0)
    with pytest.raises(NotImplementedError):
        grad(x * 2, x, only_inputs=False)
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad((x * 2).sum(), zero.ones(1))
    with pytest.raises(ValueError):
        grad((x * 2).sum(), [])
    with pytest.raises(TypeError, match="str"):
        grad((x * 2).sum(), ["x"])


def test_backward_inputs():
    x, y = leaf(2.0), leaf(3.0)
    z = (x * y).sum()
    z.backward(inputs=[x], retain_graph=True)
    assert x.grad.item() == 3 and y.grad is None
    zero.autograd.backward(z, inputs=y)
    assert x.grad.item() == 3 and y.grad.item() == 2
    with pytest.raises(RuntimeError, match="inputs is empty"):
        (x * y).sum().backward(inputs=[])


def test_autograd_backward():
    x = leaf(1.0, 2.0)
    zero.autograd.backward([x.sum(), x * x], [None, zero.ones(2)])
    assert x.grad.tolist() == [3.0, 5.0]
    with pytest.raises(RuntimeError, match="differ; got 2 tensors and 1 gradient"):
        zero.autograd.backward([x.sum(), x.sum()], [None])


def test_undefined_gradients():
    x = leaf([[1.0, 3.0], [2.0, 0.0]])
    values, indices = zero.max(x, 1)
    assert not indices.requires_grad
    values.sum().backward()
    assert x.grad.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    a, _ = leaf([[1.0, 2.0], [3.0, 4.0]]).unbind()
    (g,) = grad(a.sum(), a._base)
    assert g.tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_gradient_has_dtype_and_shape_of_its_leaf():
    x = zero.ones(3, 1, dtype=zero.float16, requires_grad=True)
    (x * zero.ones(2, 1, 4, dtype=zero.float64)).sum().backward()
    assert (x.grad.dtype, x.grad.shape) == (zero.float16, (3, 1))
    assert x.grad.tolist() == [[8.0]] * 3


# ---- leaves ------------------------------------------------------------------------------------
def test_leaf_rules():
    x = zero.ones(2)
    assert x.is_leaf and not x.requires_grad and x.grad_fn is None
    x.requires_grad_()
    y = x * 2
    assert x.is_leaf and y.requires_grad and not y.is_leaf and y.grad_fn.name() == "MulBackward0"
    assert (zero.ones(2) * 2).is_leaf
    with pytest.raises(RuntimeError, match="requires_grad"):
        y.requires_grad = False
    y.requires_grad_(True)
    assert not y.detach().requires_grad and y.detach().is_leaf


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
def test_integers_cannot_require_grad(dtype):
    x = zero.ones(2, dtype=getattr(zero, dtype))
    with pytest.raises(RuntimeError, match=f"floating point.*{dtype}"):
        x.requires_grad_()
    with pytest.raises(RuntimeError, match="floating point"):
        zero.zeros(2, dtype=getattr(zero, dtype), requires_grad=True)
    assert not x.requires_grad
    assert not zero.ones(2, requires_grad=True).to(x.dtype).requires_grad


def test_grad_of_non_leaf_warns_or_is_none():
    y = leaf(1.0) * 2
    with pytest.warns(UserWarning, match="leaf"):
        assert y.grad is None


def test_setting_grad():
    x = leaf(1.0, 2.0)
    g = zero.tensor([3.0, 4.0])
    x.grad = g
    assert x.grad is g
    with pytest.raises(RuntimeError):
        x.grad = zero.ones(3)
    with pytest.raises(RuntimeError):
        x.grad = zero.ones(2, dtype=zero.float64)
    with pytest.raises(TypeError, match="int"):
        x.grad = 3
    assert x.grad is g
    del x.grad
    assert x.grad is None


def test_in_place_on_a_leaf():
    x = leaf(1.0, 2.0)
    for write in (
        lambda: x.add_(1),
        lambda: x.__imul__(2),
        lambda: x.zero_(),
        lambda: x.fill_(2),
        lambda: x.copy_(zero.ones(2)),
        lambda: x.__setitem__(0, 5),
        lambda: x[:1].mul_(2),
        lambda: x.view(2, 1).zero_(),
        lambda: x.exp_(),
    ):
        with pytest.raises(RuntimeError, match="leaf that requires grad"):
            write()
    assert x.tolist() == [1.0, 2.0] and x._version == 0
    with zero.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0] and x.is_leaf and x.requires_grad


def test_detach_in_place():
    y = leaf(1.0) * 2
    assert y.detach_() is y and y.is_leaf and not y.requires_grad
    with pytest.raises(RuntimeError, match="view"):
        (leaf(1.0, 2.0) * 2)[:1].detach_()


# ---- depth, identity, collection ---------------------------------------------------------------
def test_a_million_chained_nodes():
    x = leaf(1.0)
    y = x
    for _ in range(1_000_000):
        y = -y
    y.sum().backward()
    assert x.grad.item() == 1
    del y  # freed without recursion


def test_freeing_a_million_nodes_without_backward():
    x = leaf(1.0)
    y = x
    for _ in range(1_000_000):
        y = y * 2  # each saves
    blocks = zero.memory_stats()["live_blocks"]
    assert blocks > 1
    del y
    assert zero.memory_stats()["live_blocks"] <= blocks


def test_a_million_writes_through_a_view():
    x = leaf(1.0, 2.0)
    y = x * 1
    view = y[:1]
    for _ in range(20_000):
        view.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_identity():
    a = leaf(1.0, 2.0)
    (a * a).sum().backward()
    assert a.grad is a.grad
    g = a.grad
    g.mark = "kept"  # as long as someone holds the object
    assert a.grad.mark == "kept"
    y = a * 2
    assert y.grad_fn == y.grad_fn and hash(y.grad_fn) == hash(y.grad_fn)
    assert y[:1]._base is y
    node = y.grad_fn.next_functions[0][0]
    assert node.name() == "AccumulateGrad" and node.variable is a


def test_graph_names():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    names = {
        "AddBackward0": x + w,
        "SubBackward0": x - w,
        "MulBackward0": x * 2,
        "DivBackward0": x / w,
        "PowBackward0": x**2,
        "ExpBackward0": x.exp(),
        "LogBackward0": x.log(),
        "TanhBackward0": x.tanh(),
        "SigmoidBackward0": x.sigmoid(),
        "ReluBackward0": x.relu(),
        "NegBackward0": -x,
        "AbsBackward0": x.abs(),
        "SqrtBackward0": x.sqrt(),
        "SumBackward0": x.sum(),
        "MeanBackward0": x.mean(),
        "DotBackward0": x @ w,
        "CatBackward0": zero.cat([x, w]),
        "StackBackward0": zero.stack([x, w]),
        "SelectBackward0": x[0],
        "SliceBackward0": x[1:],
        "ViewBackward0": x.view(2, 1),
        "UnsqueezeBackward0": x[None],
        "ExpandBackward0": x.expand(3, 2),
        "CloneBackward0": x.clone(),
        "SoftmaxBackward0": x.softmax(0),
        "LogSoftmaxBackward0": x.log_softmax(0),
        "WhereBackward0": zero.where(x > 1, x, w),
        "ClampBackward1": x.clamp(0, 1),
        "AmaxBackward0": x.amax(0),
        "MseLossBackward0": zero.mse_loss(x, w),
    }
    assert {name: y.grad_fn.name() for name, y in names.items()} == {name: name for name in names}
    (first, i), (second, j) = (x * 2 + w).grad_fn.next_functions
    assert (first.name(), second.name(), i, j) == ("MulBackward0", "AccumulateGrad", 0, 0)
    assert (x * 2).grad_fn.next_functions[1:] in ((), ((None, 0),))
    assert "MulBackward0" in repr((x * 2).grad_fn)


def test_graphs_are_freed():
    x = leaf(*[1.0] * 1000)
    (x * 1).sum().backward()  # x may keep the node that collects its gradient
    x.grad = None
    before = zero.memory_stats()["live_bytes"]
    y = (x * x).exp()
    (y * y).sum().backward()
    x.grad = None
    del y
    assert zero.memory_stats()["live_bytes"] == before


def test_backward_frees_as_it_goes():
    x = zero.ones(100_000, requires_grad=True)
    y = x
    for _ in range(20):
        y = y.exp().log()
    y = y.sum()
    zero.reset_peak_memory_stats()
    start = zero.memory_stats()["live_bytes"]
    y.backward()
    # Two or three buffers of gradients live at one time, while forty saved ones go.
    assert zero.memory_stats()["peak_bytes"] - start <= 4 * x.nbytes


def test_wrappers_with_attributes_are_collected():
    x = leaf(1.0)
    x.me = x
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


# ---- modes -------------------------------------------------------------------------------------
def test_modes_nest():
    x = leaf(1.0)
    assert zero.is_grad_enabled()
    with zero.no_grad():
        assert not (x * 2).requires_grad
        with zero.enable_grad():
            assert (x * 2).requires_grad
        with zero.set_grad_enabled(True):
            assert zero.is_grad_enabled()
        assert not zero.is_grad_enabled()
    assert zero.is_grad_enabled()
    zero.set_grad_enabled(False)
    assert not zero.is_grad_enabled()
    zero.set_grad_enabled(True)


def test_modes_end_with_exceptions():
    with pytest.raises(KeyError), zero.no_grad():
        raise KeyError
    assert zero.is_grad_enabled()


def test_modes_decorate():
    @zero.no_grad()
    def plain():
        return zero.is_grad_enabled()

    @zero.no_grad
    def bare():
        return zero.is_grad_enabled()

    @zero.set_grad_enabled(False)
    def off():
        return zero.is_grad_enabled()

    @zero.no_grad()
    @zero.enable_grad()
    def on():
        return zero.is_grad_enabled()

    @zero.no_grad()
    def recursive(n):
        return zero.is_grad_enabled() if n == 0 else recursive(n - 1) or zero.is_grad_enabled()

    assert (plain(), bare(), off(), on(), recursive(3)) == (False, False, False, True, False)
    assert plain.__name__ == "plain" and zero.is_grad_enabled()


def test_modes_of_generators():
    @zero.no_grad()
    def steps():
        for _ in range(2):
            yield zero.is_grad_enabled()

    for inside in steps():
        assert not inside and zero.is_grad_enabled()


def test_modes_belong_to_threads():
    seen = []
    with zero.no_grad():
        thread = threading.Thread(target=lambda: seen.append(zero.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_backward_under_no_grad_and_modes_inside():
    x = leaf(2.0)
    y = (x * x).sum()
    with zero.no_grad():
        y.backward()
    assert x.grad.item() == 4 and not x.grad.requires_grad


def test_gradients_for_given_inputs_share_no_memory():
    a, b = zero.zeros(2, requires_grad=True), zero.zeros(2, requires_grad=True)
    (a + b).sum().backward(inputs=[a, b])
    (a * 2).sum().backward()
    a.grad[0] = 7
    assert a.grad.tolist() == [7, 3] and b.grad.tolist() == [1, 1]
    weights = zero.ones(2)
    c = zero.zeros(2, requires_grad=True)
    c.backward(weights, inputs=[c])
    (c * 3).sum().backward()
    assert weights.tolist() == [1, 1] and c.grad.tolist() == [4, 4]
    kept = c.grad
    (c * 3).sum().backward(inputs=[c])
    assert c.grad is kept and kept.tolist() == [7, 7]


def test_view_from_before_its_base_required_grad():
    """PyTorch's rule: such a view requires grad, but has no history until the base is written."""
    base = zero.zeros(4)
    view = base[:2]
    base.requires_grad_()
    assert view.requires_grad and view.grad_fn is None
    with pytest.raises(RuntimeError, match="does not have a grad_fn"):
        view.backward(zero.ones(2))
    with pytest.raises(RuntimeError, match="does not have a grad_fn"):
        grad(view, base, zero.ones(2))


def test_nodes_cannot_be_made():
    node = type((zero.ones(1, requires_grad=True) * 2).grad_fn)
    for make in (node, lambda: node.__new__(node), lambda: object.__new__(node)):
        with pytest.raises(TypeError):
            make()


def test_identity_when_wrapping_collects_garbage():
    x = zero.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    seen = []

    def callback(phase, info):
        if phase == "start":
            seen.append(x.grad)

    threshold = gc.get_threshold()
    for _ in range(200):
        seen.clear()
        gc.callbacks.append(callback)
        gc.set_threshold(1)
        gradient = x.grad
        gc.set_threshold(*threshold)
        gc.callbacks.remove(callback)
        assert all(g is gradient for g in seen)
        del gradient
