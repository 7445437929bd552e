"""Full backward hooks of modules."""

import gc
import weakref

import pytest

import zero
from zero import nn


class Mix(nn.Module):
    """Two results from two tensors and a number."""

    def forward(self, a, factor, b):
        return a * factor, a + b


def ones(n=1):
    return zero.ones(n, requires_grad=True)


def values(grads):
    return tuple(None if grad is None else grad.tolist() for grad in grads)


def remember(module):
    """The gradients that the module's backward hook gets from now on."""
    seen = []
    module.register_full_backward_hook(
        lambda m, ins, outs: seen.append((values(ins), values(outs)))
    )
    return seen


def test_gradients_of_inputs_and_outputs():
    module, seen = Mix(), []
    module.register_full_backward_pre_hook(lambda m, outs: seen.append((m, values(outs))))
    module.register_full_backward_hook(
        lambda m, ins, outs: seen.append((values(ins), values(outs)))
    )
    a, b = ones(), ones()
    first, second = module(a, 3.0, b)
    (first * 5 + second * 7).sum().backward()
    assert seen == [(module, ([5], [7])), (([22], None, [7]), ([5], [7]))]
    assert a.grad.tolist() == [22] and b.grad.tolist() == [7]


def test_an_output_that_is_not_used_has_no_gradient():
    module, seen = Mix(), []
    module.register_full_backward_hook(
        lambda m, ins, outs: seen.append((values(ins), values(outs)))
    )
    module(ones(), 3.0, ones())[0].sum().backward()
    assert seen == [(([3], None, [0]), ([1], None))]


def test_hooks_replace_gradients():
    layer = nn.Linear(1, 1, bias=False)
    with zero.no_grad():
        layer.weight.fill_(3.0)
    x = zero.tensor([[2.0]], requires_grad=True)
    pre = layer.register_full_backward_pre_hook(lambda m, outs: (outs[0] * 10,))
    layer.register_full_backward_hook(lambda m, ins, outs: (ins[0] + 0.5,))
    layer.register_full_backward_hook(lambda m, ins, outs: (ins[0] * 2,))
    layer.register_full_backward_hook(lambda m, ins, outs: (-ins[0],), prepend=True)
    layer(x).sum().backward()
    assert layer.weight.grad.tolist() == [[20]]
    assert x.grad.tolist() == [[(-30 + 0.5) * 2]]
    pre.remove()
    x.grad = None
    layer(x).sum().backward()
    assert x.grad.tolist() == [[(-3 + 0.5) * 2]]


def test_inputs_without_gradient():
    layer, seen = nn.Linear(1, 1), []
    handle = layer.register_full_backward_hook(
        lambda m, ins, outs: seen.append((values(ins), values(outs)))
    )
    layer(zero.ones(1, 1)).sum().backward()
    assert seen == [((None,), ([[1]],))] and layer.bias.grad.tolist() == [1]
    handle.remove()
    layer.register_full_backward_hook(lambda m, ins, outs: outs)
    with pytest.raises(RuntimeError, match="none of which requires"):
        layer(zero.ones(1, 1)).sum().backward()


def test_nothing_happens_without_gradients():
    layer = nn.Linear(1, 1)

    def fails(*_):
        raise AssertionError

    layer.register_full_backward_hook(fails)
    layer.register_full_backward_pre_hook(fails)
    with zero.no_grad():
        y = layer(zero.ones(1, 1))
    assert not y.requires_grad
    frozen = nn.Identity()
    frozen.register_full_backward_hook(fails)
    x = zero.ones(1)
    assert frozen(x) is x
    assert frozen("text") == "text"


@pytest.mark.parametrize("wrong", [(), (1, 2)])
def test_the_number_of_gradients_is_checked(wrong):
    layer = nn.Linear(1, 1)
    handle = layer.register_full_backward_hook(lambda *_: wrong)
    with pytest.raises(RuntimeError, match=str(len(wrong))):
        layer(zero.ones(1, 1, requires_grad=True)).sum().backward()
    handle.remove()
    layer.register_full_backward_pre_hook(lambda *_: wrong)
    with pytest.raises(RuntimeError, match=str(len(wrong))):
        layer(zero.ones(1, 1)).sum().backward()


def test_in_a_network_in_backward_order():
    net, seen = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1)), []
    for name, module in net.named_children():
        module.register_full_backward_hook(lambda m, i, o, name=name: seen.append(name))
    net.register_full_backward_hook(lambda m, i, o: seen.append("all"))
    net.register_forward_hook(lambda m, i, o: o * 2)
    x = zero.ones(3, 2, requires_grad=True)
    net(x).sum().backward()
    assert seen == ["2", "1", "0", "all"]
    assert net[2].bias.grad.tolist() == [6]


def test_gradients_of_gradients():
    class Cube(nn.Module):
        def forward(self, x):
            return x * x * x

    module, seen = Cube(), []
    module.register_full_backward_hook(lambda m, ins, outs: seen.append(ins[0].item()))
    x = zero.tensor(2.0, requires_grad=True)
    (g,) = zero.autograd.grad(module(x), x, create_graph=True)
    (h,) = zero.autograd.grad(g, x)
    assert g.item() == 12 and h.item() == 12 and seen == [12]


def test_modules_with_backward_hooks_are_collected():
    layer = nn.Linear(1, 1)
    layer.register_full_backward_hook(lambda *_, layer=layer: None)
    y = layer(zero.ones(1, 1, requires_grad=True))
    alive = weakref.ref(layer)
    del layer
    gc.collect()
    assert alive() is not None  # the graph needs it
    y.sum().backward()
    del y
    gc.collect()
    assert alive() is None
