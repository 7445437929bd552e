"""Hooks on tensors, nodes and saved tensors, retained gradients, and their collection."""

import gc
import pickle
import threading
import weakref

import pytest

import zero
from zero.autograd.graph import (
    Node,
    disable_saved_tensors_hooks,
    increment_version,
    save_on_cpu,
    saved_tensors_hooks,
)
from zero.utils.hooks import RemovableHandle


def leaf(*values):
    return zero.tensor(values, requires_grad=True)


# ---- hooks on tensors --------------------------------------------------------------------------
def test_hook_on_leaf_replaces():
    x = leaf(1.0, 2.0)
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 3).sum().backward()
    assert seen == [[3.0, 3.0], [30.0, 30.0]]
    assert x.grad.tolist() == [30.0, 30.0]


def test_hook_sees_the_whole_gradient_once():
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    (y * 3 + y * 4).sum().backward()
    assert seen == [7.0]


def test_hook_acts_before_retain_grad():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    y.sum().backward()
    assert y.grad.item() == 5.0 and x.grad.item() == 10.0


def test_hooks_and_grad_function():
    x = leaf(1.0, 1.0)
    x.register_hook(lambda g: g * 3)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 7)
    gx, gy = zero.autograd.grad(y.sum(), [x, y])
    assert gx.tolist() == [42.0, 42.0] and gy.tolist() == [7.0, 7.0]
    assert y.grad.tolist() == [7.0, 7.0] and x.grad is None


def test_hooks_stay_with_the_values_of_before_a_write():
    x = leaf(1.0, 1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 3)
    y.mul_(5)
    y.register_hook(lambda g: g * 7)
    y.sum().backward()
    assert y.grad.tolist() == [7.0, 7.0]  # of the latest version
    assert x.grad.tolist() == [210.0, 210.0]


def test_retained_gradient_of_a_view_and_its_base():
    x = leaf(1.0, 1.0)
    base = x * 2
    view = base[:1]
    base.retain_grad()
    view.retain_grad()
    view.mul_(5)
    (base * zero.tensor([10.0, 100.0])).sum().backward()
    assert base.grad.tolist() == [10.0, 100.0]
    assert view.grad is None  # nothing was computed from it
    assert x.grad.tolist() == [100.0, 200.0]


def test_retain_grad_accumulates_and_detaches():
    x = leaf(1.0)
    y = x * 2
    assert not y.retains_grad and not x.retains_grad
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    assert y.retains_grad and not x.retains_grad
    y.sum().backward(retain_graph=True)
    first = y.grad
    y.sum().backward()
    assert first.item() == 1.0 and y.grad.item() == 2.0
    y.grad = None
    assert y.grad is None
    y.grad = leaf(4.0).detach()
    y.detach_()
    assert y.grad.item() == 4.0 and not y.retains_grad


def test_backward_into_a_result_retains_its_gradient():
    x = leaf(1.0)
    y = x * 2
    (y * y).sum().backward(inputs=[y])
    assert y.grad.item() == 4.0 and x.grad is None and y.retains_grad


def test_retained_gradient_outlives_nothing():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    z = y * 3
    gone = weakref.ref(y)
    del y
    assert gone() is None
    z.sum().backward()
    assert x.grad.item() == 6.0


def test_missing_gradient_is_none_for_a_hook():
    x = leaf(1.0, 2.0)
    a, b = (x * 2).unbind()
    seen = []
    b.register_hook(seen.append)
    a.backward()
    assert seen == [None]


def test_handle():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g * 2)
    assert isinstance(handle, RemovableHandle)
    assert list(x._backward_hooks) == [handle.id]
    with x.register_hook(lambda g: g * 100):
        x.sum().backward()
    assert x.grad.item() == 200.0
    handle.remove()
    handle.remove()
    assert not x._backward_hooks
    x.sum().backward()
    assert x.grad.item() == 201.0


def test_hook_may_remove_itself():
    x = leaf(1.0)
    handles = []

    def once(g):
        handles[0].remove()
        return g * 2

    handles.append(x.register_hook(once))
    x.sum().backward()
    x.sum().backward()
    assert x.grad.item() == 3.0


def test_refused_hooks():
    with pytest.raises(RuntimeError, match=r"register_hook: the tensor does not require grad"):
        zero.ones(2).register_hook(print)
    with pytest.raises(RuntimeError, match=r"retain_grad: the tensor does not require grad"):
        zero.ones(2).retain_grad()
    with pytest.raises(TypeError, match=r"register_hook: the hook can't be called; got int"):
        leaf(1.0).register_hook(3)
    with pytest.raises(RuntimeError, match=r"not a leaf; got one made by MulBackward0"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match=r"does not require grad"):
        zero.ones(2).register_post_accumulate_grad_hook(print)


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        (3, TypeError, "returned no tensor; got int"),
        (zero.ones(3), ValueError, r"changed the size .* got \(3,\), expected \(2,\)"),
        (zero.ones(2, dtype=zero.float64), TypeError, "changed the dtype"),
        (zero.ones(2, device="meta"), RuntimeError, "changed the device"),
    ],
)
def test_wrong_replacement(result, error, text):
    x = leaf(1.0, 2.0)

    def wrong(g):
        return result

    x.register_hook(wrong)
    with pytest.raises(error, match="wrong: the hook .*" + text):
        x.sum().backward()
    assert x.grad is None


def test_error_in_a_hook_comes_through():
    x = leaf(1.0)
    y = x * 2

    def bad(g):
        raise KeyError("mine")

    handle = y.register_hook(bad)
    with pytest.raises(KeyError, match="mine"):
        y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    assert x.grad.item() == 2.0


def test_hooks_are_recorded_with_create_graph():
    x = leaf(3.0)
    x.register_hook(lambda g: g * g)
    (g,) = zero.autograd.grad((x * x).sum(), x, create_graph=True)
    assert g.item() == 36.0  # (2x)^2
    x2 = leaf(3.0)
    y = x2 * 1
    y.register_hook(lambda g: g * y)  # d/dx x^2 * x
    (g,) = zero.autograd.grad((y * y).sum(), x2, create_graph=True)
    (gg,) = zero.autograd.grad(g.sum(), x2)
    assert g.item() == 18.0 and gg.item() == pytest.approx(12 * 3.0)  # 2x^2 -> its hook, too


# ---- after accumulation --------------------------------------------------------------------------
def test_post_accumulate_hook():
    x = leaf(1.0, 2.0)
    seen = []

    def hook(p):
        assert p is x
        seen.append(p.grad.tolist())

    handle = x.register_post_accumulate_grad_hook(hook)
    (x * 2).sum().backward()
    (x * 2).sum().backward(inputs=[x])
    zero.autograd.grad((x * 2).sum(), x)
    assert seen == [[2.0, 2.0], [4.0, 4.0]]
    handle.remove()
    x.register_post_accumulate_grad_hook(lambda p: 3)
    with pytest.raises(TypeError, match="got int, expected None"):
        x.sum().backward()


# ---- hooks on nodes ----------------------------------------------------------------------------
def test_node_hooks_order_and_values():
    x = leaf(1.0, 1.0)
    y = x * 2
    seen = []

    def pre(grads):
        seen.append(("pre", grads[0].tolist()))
        return (grads[0] * 2,)

    def post(inputs, outputs):
        seen.append(("post", inputs[0].tolist(), inputs[1], outputs[0].tolist()))
        return inputs[0] * 3, None

    y.grad_fn.register_hook(post)
    y.grad_fn.register_prehook(pre)
    y.register_hook(lambda g: seen.append(("tensor", g.tolist())))
    y.sum().backward()
    assert seen == [
        ("tensor", [1.0, 1.0]),
        ("pre", [1.0, 1.0]),
        ("post", [4.0, 4.0], None, [2.0, 2.0]),
    ]
    assert x.grad.tolist() == [12.0, 12.0]


def test_hooks_on_the_node_of_a_leaf():
    x = leaf(1.0)
    node = x.expand_as(x).grad_fn.next_functions[0][0]
    seen = []
    x.register_hook(lambda g: seen.append("tensor"))
    node.register_prehook(lambda g: seen.append("before"))
    node.register_hook(lambda i, o: seen.append(("after", i, o[0].item())))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
    x.sum().backward()
    assert seen == ["tensor", "before", "accumulated", ("after", (), 1.0)]


def test_node_hook_of_wrong_length():
    x = leaf(1.0)
    y = x.exp()
    y.grad_fn.register_hook(lambda i, o: ())
    with pytest.raises(RuntimeError, match="changed the number of gradients; got 0, expected 1"):
        y.sum().backward()


def test_node_object():
    x = leaf(1.0)
    y = x * 2
    node = y.grad_fn
    assert isinstance(node, Node) and y.grad_fn is node
    node.metadata["note"] = 5
    del node
    gc.collect()
    assert y.grad_fn.metadata == {"note": 5}
    assert (y * 2).grad_fn._sequence_nr() > y.grad_fn._sequence_nr()
    with pytest.raises(TypeError, match="nodes are made by operations"):
        Node()


# ---- saved tensors -----------------------------------------------------------------------------
def test_saved_tensors_hooks():
    x = leaf(1.0, 2.0)
    packed = []

    def pack(t):
        packed.append(t.tolist())
        return t.tolist()

    with saved_tensors_hooks(pack, zero.tensor):
        y = x * x
        z = y.exp()
    w = z * x  # not inside
    assert len(packed) == 3
    w.sum().backward()
    want = [2.718281828 * (1 + 2), 54.59815003 * (1 + 8)]
    assert x.grad.tolist() == pytest.approx(want, rel=1e-6)


def test_saved_tensors_hooks_keep_the_history():
    x = leaf(2.0)
    with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = x.exp() * x * x
    (first,) = zero.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = zero.autograd.grad(first.sum(), x)
    e2 = 7.38905609893
    assert first.item() == pytest.approx(e2 * (4 + 4), rel=1e-6)
    assert second.item() == pytest.approx(e2 * (4 + 8 + 2), rel=1e-6)


def test_saved_tensors_hooks_nest_by_thread():
    x = leaf(1.0)
    used = []
    outer = saved_tensors_hooks(lambda t: used.append("outer") or t, lambda t: t)
    inner = saved_tensors_hooks(lambda t: used.append("inner") or t, lambda t: t)
    with outer:
        with inner:
            x.exp()
        x.exp()
        thread = threading.Thread(target=lambda: leaf(1.0).exp())
        thread.start()
        thread.join()
    x.exp()
    assert used == ["inner", "outer"]


def test_faulty_saved_tensors_hooks():
    x = leaf(1.0)
    with saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError, match="the unpack hook returned no tensor; got int"):
        y.sum().backward()
    with (
        saved_tensors_hooks(lambda t: t.add_(1), lambda t: t),
        pytest.raises(RuntimeError, match="pack hook modified its input in place"),
    ):
        x.exp()
    with saved_tensors_hooks(lambda t: 1 / 0, lambda t: t), pytest.raises(ZeroDivisionError):
        x.exp()
    with pytest.raises(TypeError, match="pack_hook can't be called"), saved_tensors_hooks(1, 2):
        pass
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_disabled_saved_tensors_hooks():
    with disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), save_on_cpu():
            pass
        with (
            disable_saved_tensors_hooks("nor here"),
            pytest.raises(RuntimeError, match="nor here"),
            save_on_cpu(),
        ):
            pass
        with pytest.raises(RuntimeError, match="not here"), save_on_cpu():
            pass
    with save_on_cpu():
        y = leaf(1.0).exp()
    y.sum().backward()


def test_increment_version():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y * y
    increment_version(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


# ---- collection --------------------------------------------------------------------------------
class Big:
    """Something that can be seen to end."""


def ends(make):
    gc.collect()
    thing = Big()
    gone = weakref.ref(thing)
    make(thing)
    del thing
    gc.collect()
    return gone() is None


def test_hooks_that_close_over_their_tensor_are_collected():
    def on_leaf(thing):
        x = leaf(1.0)
        x.register_hook(lambda g: (x, thing) and None)

    def on_result(thing):
        y = leaf(1.0) * 2
        y.register_hook(lambda g: (y, thing) and None)

    def after_accumulation(thing):
        x = leaf(1.0)
        x.register_post_accumulate_grad_hook(lambda p: (x, thing) and None)

    def on_node(thing):
        y = leaf(1.0) * 2
        y.grad_fn.register_hook(lambda i, o: (y, thing) and None)

    def on_own_node(thing):
        node = (leaf(1.0) * 2).grad_fn
        node.register_prehook(lambda o: (node, thing) and None)

    def on_loss(thing):
        y = leaf(1.0) * 2
        loss = (y * 3).sum()
        y.register_hook(lambda g: (loss, thing) and None)

    def in_metadata(thing):
        y = leaf(1.0) * 2
        y.grad_fn.metadata["y"] = y, thing

    def packed(thing):
        y = leaf(1.0) * 2
        box = []
        with saved_tensors_hooks(lambda t: (t, thing, box), lambda p: p[0]):
            box.append(y.exp())

    for make in (
        on_leaf, on_result, after_accumulation, on_node, on_own_node, on_loss, in_metadata, packed
    ):  # fmt: skip
        assert ends(make), make.__name__


def test_many_hooks_are_collected():
    count = 0

    class Counted:
        def __init__(self):
            nonlocal count
            count += 1

        def __del__(self):
            nonlocal count
            count -= 1

    for _ in range(10_000):
        x = leaf(1.0)
        counted = Counted()
        x.register_hook(lambda g, x=x, c=counted: None)
    del x, counted
    gc.collect()
    assert count == 0


def test_hooks_in_use_are_not_collected():
    x = leaf(1.0)
    seen = []
    y = x * 2
    y.register_hook(lambda g, y=y: seen.append((y.shape, g.item())))
    z = y * 3
    del y
    gc.collect()
    z.sum().backward()
    assert len(seen) == 1


def test_a_collected_hook_may_see_its_tensor():
    seen = []

    class Last:
        def __init__(self, x):
            self.x = x

        def __del__(self):
            seen.append(self.x.tolist())

    x = leaf(1.0)
    last = Last(x)
    x.register_hook(lambda g, last=last: None)
    del x, last
    gc.collect()
    assert seen == [[1.0]]


def test_handle_of_a_pickled_tensor():
    x = leaf(1.0)
    handle = x.register_hook(print)
    del x
    gc.collect()
    copy = pickle.loads(pickle.dumps(handle))
    assert copy.id == handle.id
    copy.remove()


def test_a_hook_on_the_node_of_a_square_sees_both_gradients():
    # Without a hook, x * x computes one product for both of its inputs.
    x = zero.tensor([3.0, -2.0], requires_grad=True)
    (plain,) = zero.autograd.grad((x * x).sum(), x)
    assert plain.tolist() == [6.0, -4.0]
    y = x * x
    seen = []
    y.grad_fn.register_hook(lambda grads, _: seen.extend(g.tolist() for g in grads))
    y.sum().backward()
    assert seen == [[3.0, -2.0], [3.0, -2.0]]
    assert x.grad.tolist() == [6.0, -4.0]


def test_a_square_can_be_differentiated_again():
    x = zero.tensor([3.0, -2.0], dtype=zero.float64, requires_grad=True)
    assert zero.autograd.gradcheck(lambda x: x * x, (x,))
    assert zero.autograd.gradgradcheck(lambda x: x * x * x, (x,))
