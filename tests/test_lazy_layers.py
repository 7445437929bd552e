"""Layers that take the number of their inputs from the first one."""

import copy
import subprocess
import sys

import pytest

import zero
from zero import nn

LAYERS = [
    (lambda **k: nn.LazyLinear(4, **k), (2, 3), "Linear(in_features=3, out_features=4, bias=True)"),
    (lambda **k: nn.LazyConv1d(4, 3, **k), (2, 3, 8), None),
    (lambda **k: nn.LazyConv2d(4, 3, padding="same", **k), (2, 3, 8, 8), None),
    (lambda **k: nn.LazyConv2d(4, 3, **k), (3, 8, 8), None),
    (lambda **k: nn.LazyConv3d(4, 3, **k), (2, 3, 4, 4, 4), None),
    (lambda **k: nn.LazyConvTranspose1d(4, 3, **k), (2, 3, 8), None),
    (lambda **k: nn.LazyConvTranspose2d(4, 3, 2, **k), (2, 3, 8, 8), None),
    (lambda **k: nn.LazyConvTranspose3d(4, 3, **k), (2, 3, 4, 4, 4), None),
]


@pytest.mark.parametrize("make, shape, text", LAYERS)
def test_first_call_makes_the_parameters(make, shape, text):
    layer = make()
    usual = type(layer).cls_to_become
    assert repr(layer.weight) == "<UninitializedParameter>" and layer.has_uninitialized_params()
    assert [type(p) for p in layer.parameters()] == [nn.UninitializedParameter] * 2
    weight = layer.weight
    zero.manual_seed(0)
    y = layer(zero.ones(shape))
    assert type(layer) is usual and layer.weight is weight and type(weight) is zero.Parameter
    assert not layer._forward_pre_hooks and not hasattr(layer, "_initialize_hook")
    y.sum().backward()
    assert weight.grad.shape == weight.shape
    zero.manual_seed(0)
    inputs = shape[-1] if usual is nn.Linear else 3
    other = usual(inputs, 4, *([] if usual is nn.Linear else [3]), **_more(layer))
    assert zero.equal(other.weight, layer.weight) and zero.equal(other.bias, layer.bias)
    if text is not None:
        assert repr(layer) == text
    assert zero.equal(layer(zero.ones(shape)), y)


def _more(layer):
    if isinstance(layer, nn.Linear):
        return {}
    return {"stride": layer.stride, "padding": layer.padding}


def test_without_bias_and_with_a_dtype():
    layer = nn.LazyConv2d(4, 3, bias=False, dtype=zero.float64)
    assert layer.bias is None
    layer(zero.ones(1, 2, 5, 5, dtype=zero.float64))
    assert layer.weight.dtype == zero.float64
    assert nn.LazyLinear(3).double()(zero.ones(1, 2, dtype=zero.float64)).dtype == zero.float64


def test_state_dict_gives_the_shape():
    source, lazy = nn.Conv2d(6, 4, 3, groups=2), nn.LazyConv2d(4, 3, groups=2)
    lazy.load_state_dict(source.state_dict())
    assert not lazy.has_uninitialized_params()
    x = zero.randn(1, 6, 5, 5)
    assert zero.equal(lazy(x), source(x)) and lazy.in_channels == 6
    linear = nn.LazyLinear(3)
    linear.load_state_dict(nn.Linear(2, 3).state_dict())
    linear(zero.ones(1, 2))
    assert linear.in_features == 2


def test_copies_stay_lazy():
    lazy = nn.Sequential(nn.LazyConv2d(4, 3), nn.Flatten(), nn.LazyLinear(2))
    other = copy.deepcopy(lazy)
    assert lazy(zero.ones(2, 1, 5, 5)).shape == (2, 2)
    assert other(zero.ones(2, 3, 4, 4)).shape == (2, 2)
    assert other[0].in_channels == 3 and lazy[0].in_channels == 1


def test_errors():
    with pytest.raises(RuntimeError, match="shape"):
        _ = nn.LazyLinear(3).weight.shape
    with pytest.raises(ValueError, match="dimensions"):
        nn.LazyConv2d(4, 3)(zero.ones(3, 4))
    with pytest.raises(ValueError, match="groups"):
        nn.LazyConv2d(4, 3, groups=2)(zero.ones(1, 3, 4, 4))


def test_a_load_that_fails_gives_no_shapes():
    model = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d(), nn.Linear(3, 2))
    members = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    classes = {name: type(member) for name, member in members.items()}
    other = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 5))
    with pytest.raises(RuntimeError, match=r"size mismatch for 2\.weight"):
        model.load_state_dict(other.state_dict())
    now = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    assert all(now[name] is member for name, member in members.items())
    assert {name: type(member) for name, member in now.items()} == classes
    assert repr(model[0].weight) == "<UninitializedParameter>"
    assert model[1].running_mean.data.shape == (0,) and model[0].weight.requires_grad

    hook = model.register_load_state_dict_post_hook(lambda module, keys: True)  # is refused
    other[2] = nn.Linear(3, 2)
    missing = {name: value for name, value in other.state_dict().items() if name != "2.bias"}
    with pytest.raises(RuntimeError, match="a hook returned something"):
        model.load_state_dict(missing)
    assert {name: type(now[name]) for name in classes} == classes
    hook.remove()

    for assign in (False, True):
        copied = copy.deepcopy(model)
        copied.load_state_dict(other.state_dict(), assign=assign)
        x = zero.randn(5, 4)
        assert zero.equal(copied(x), other(x))
    assert model(zero.randn(5, 7)).shape == (5, 2) and model[1].num_features == 3


def test_one_side_of_a_load_without_a_shape():
    with pytest.raises(RuntimeError, match="weight: only one of the two has a shape"):
        nn.Linear(2, 3).load_state_dict(nn.LazyLinear(3).state_dict())
    holder = nn.Module()
    holder.p = nn.UninitializedParameter()
    with pytest.raises(RuntimeError, match="p: only one of the two has a shape; got Tensor"):
        holder.load_state_dict({"p": zero.ones(2)})
    lazy = nn.LazyLinear(3)
    lazy.load_state_dict(nn.LazyLinear(3).state_dict())
    assert lazy.has_uninitialized_params()


def test_lazy_layers_save_extra_state():
    class Counting(nn.LazyLinear):
        def get_extra_state(self):
            return {"calls": 3}

    assert list(Counting(3).state_dict()) == ["weight", "bias", "_extra_state"]


def test_import_of_lazy_layers_imports_no_rare_operators():
    text = (
        "import sys, zero.nn.functional; before = set(sys.modules); import zero.nn.lazy; "
        "print(sorted(set(sys.modules) - before))"
    )
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['zero.nn.lazy']"
    for name in ("numpy", "diff", "moveaxis", "__len__"):
        with pytest.raises(ValueError, match=f"{name}: an UninitializedParameter has no elements"):
            getattr(nn.LazyLinear(3).weight, name)()
