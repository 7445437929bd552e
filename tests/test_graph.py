"""zero.autograd.graph: edges, hooks on several gradients, writes to saved tensors."""

import gc

import pytest

import zero
from zero.autograd.graph import (
    GradientEdge,
    allow_mutation_on_saved_tensors,
    get_gradient_edge,
    register_multi_grad_hook,
)


def leaf(*values):
    return zero.tensor(values, dtype=zero.float64, requires_grad=True)


# ---- edges ---------------------------------------------------------------------------------------
def test_an_edge_names_node_and_output():
    x = leaf(1.0, 2.0)
    a, b = (x * 2).unbind()
    edge = get_gradient_edge(b)
    node, number, token = edge
    assert (edge.node, edge.output_nr, edge.ownership_token) == (node, number, token)
    assert node is a.grad_fn and number == 1 and token is None
    assert edge == GradientEdge(node, 1) and "output_nr=1" in repr(edge)
    assert get_gradient_edge(x).node.variable is x
    with pytest.raises(RuntimeError, match="does not require grad"):
        get_gradient_edge(zero.ones(2))


def test_grad_from_and_to_edges():
    x = leaf(1.0, 2.0)
    y = x * x
    a, b = y.unbind()
    z = a * 3 + b * 5
    edges = get_gradient_edge(y), get_gradient_edge(b), get_gradient_edge(x)
    root = get_gradient_edge(z)
    del y, a, b, z
    gc.collect()
    gy, gb, gx = zero.autograd.grad(root, edges, retain_graph=True)
    assert (gy.tolist(), gb.item(), gx.tolist()) == ([3, 5], 5, [6, 20])
    (gx,) = zero.autograd.grad([root], x, [zero.tensor(2.0, dtype=zero.float64)], create_graph=True)
    assert gx.tolist() == [12, 40]
    (gg,) = zero.autograd.grad(gx.sum(), edges[2])
    assert gg.tolist() == [12, 20]


def test_backward_from_an_edge_and_into_a_leaf():
    x, w = leaf(1.0, 2.0), leaf(3.0)
    y = x * w
    zero.autograd.backward(get_gradient_edge(y), zero.ones_like(y), inputs=[get_gradient_edge(w)])
    assert x.grad is None and w.grad.tolist() == [3]
    with pytest.raises(NotImplementedError, match=r"no \.grad"):
        zero.autograd.backward(y.sum(), inputs=[get_gradient_edge(y)])
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        zero.autograd.backward(get_gradient_edge(y))
    with pytest.raises(IndexError, match="no such output"):
        zero.autograd.grad(y.sum(), GradientEdge(y.grad_fn, 1))


# ---- hooks on several gradients ------------------------------------------------------------------
def test_a_hook_on_several_gradients_runs_once_a_pass():
    a, b, unused = leaf(1.0), leaf(2.0), leaf(3.0)
    seen = []
    handle = register_multi_grad_hook([a, b, unused], seen.append)
    y = a * b
    for _ in range(2):
        y.backward(zero.ones_like(y), retain_graph=True)
    assert [[g if g is None else g.item() for g in grads] for grads in seen] == [[2, 1, None]] * 2
    # Only what the pass comes by counts.
    zero.autograd.grad(y, a, zero.ones_like(y), retain_graph=True)
    assert [g if g is None else g.item() for g in seen[2]] == [2, None, None]
    handle.remove()
    y.backward(zero.ones_like(y))
    assert len(seen) == 3


def test_a_hook_on_results_of_one_node():
    x = leaf(1.0, 2.0)
    a, b = (x * 1).unbind()
    seen = []
    with register_multi_grad_hook((a, b), seen.append):
        (a * 2).backward(retain_graph=True)
        assert [g if g is None else g.item() for g in seen[0]] == [2, None]
        (a + b).backward(retain_graph=True)
        assert [g.item() for g in seen[1]] == [1, 1]
    (a + b).backward()
    assert len(seen) == 2


def test_a_hook_on_the_first_gradient():
    a, b = leaf(1.0), leaf(2.0)
    seen = []
    register_multi_grad_hook([a, b], seen.append, mode="any")
    for _ in range(2):
        (a * b).sum().backward()
    assert len(seen) == 2 and all(isinstance(g, zero.Tensor) for g in seen)
    with pytest.raises(ValueError, match="mode"):
        register_multi_grad_hook([a], seen.append, mode="some")
    with pytest.raises(RuntimeError, match="does not require grad"):
        register_multi_grad_hook([zero.ones(1)], seen.append)


def test_a_pass_within_a_pass_counts_for_itself():
    a, b = leaf(1.0), leaf(2.0)
    seen = []
    register_multi_grad_hook([a, b], lambda grads: seen.append([g is not None for g in grads]))
    y = a * b

    def inner(grad):
        with zero.enable_grad():
            zero.autograd.grad((a * 3).sum(), a)

    y.register_hook(inner)
    y.sum().backward()
    assert seen == [[True, False], [True, True]]


# ---- writes to saved tensors ---------------------------------------------------------------------
def test_saved_tensors_may_be_written():
    x = leaf(2.0, 3.0)
    with allow_mutation_on_saved_tensors() as context:
        y = x.clone()
        z = (y.exp() * y).sum()
        y.zero_()
        (g,) = zero.autograd.grad(z, x, create_graph=True)
        with pytest.raises(RuntimeError, match="nested"), allow_mutation_on_saved_tensors():
            pass
        context.clear()
        (gg,) = zero.autograd.grad(g.sum(), x)
    e = x.detach().exp()
    assert zero.allclose(g, e * x + e) and zero.allclose(gg, e * x + 2 * e)
    y = x * 1
    z = (y * y).sum()
    y.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
