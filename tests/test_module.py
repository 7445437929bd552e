"""nn.Module, its containers and simple layers."""

import copy
import gc
import math
import pickle
import weakref
from collections import OrderedDict

import numpy as np
import pytest

import zero
from zero import nn
from zero.nn import Parameter


class Net(nn.Module):
    """Never calls super().__init__()."""

    def __init__(self):
        self.first = nn.Linear(2, 3)
        self.act = nn.ReLU()
        self.last = nn.Linear(3, 1)
        self.scale = Parameter(zero.ones(1))
        self.register_buffer("mean", zero.zeros(3))
        self.register_buffer("scratch", zero.zeros(2), persistent=False)

    def forward(self, x):
        return self.last(self.act(self.first(x))) * self.scale


def names(pairs):
    return [name for name, _ in pairs]


# ---- attributes --------------------------------------------------------------------------------


def test_super_init_may_be_called_at_any_time():
    class Late(nn.Module):
        def __init__(self):
            self.weight = Parameter(zero.ones(2))
            super().__init__()
            self.bias = Parameter(zero.ones(2))

    assert names(Late().named_parameters()) == ["weight", "bias"]


def test_arguments_that_no_init_takes_are_refused():
    with pytest.raises(TypeError):
        nn.Module(1)
    with pytest.raises(TypeError):
        nn.Tanh(inplace=True)


def test_plain_values_are_attributes():
    module = nn.Module()
    module.size = 3
    module.table = zero.ones(2)
    assert module.size == 3 and "table" in module.__dict__
    assert list(module.parameters()) == [] and list(module.buffers()) == []
    del module.size
    assert not hasattr(module, "size")


def test_parameter_replaces_what_had_its_name():
    module = nn.Module()
    for before in (1, zero.ones(1), nn.Tanh()):
        module.x = before
        module.x = Parameter(zero.ones(2))
        assert names(module.named_parameters()) == ["x"] and "x" not in module.__dict__
        assert names(module.named_children()) == []
        del module.x
    module.register_buffer("x", zero.ones(1))
    module.x = Parameter(zero.ones(2))
    assert list(module.buffers()) == [] and names(module.named_parameters()) == ["x"]


def test_module_replaces_what_had_its_name():
    module = nn.Module()
    module.x = 1
    module.x = nn.Tanh()
    assert isinstance(module.x, nn.Tanh) and "x" not in module.__dict__


def test_wrong_values_for_registered_names():
    net = Net()
    weight, act, mean = net.first.weight, net.act, net.mean
    for name, value in [("scale", zero.ones(1)), ("scale", 3), ("scale", nn.Tanh()), ("act", 3)]:
        with pytest.raises(TypeError, match=name):
            setattr(net, name, value)
    with pytest.raises(TypeError, match="mean"):
        net.mean = [1, 2]
    assert net.first.weight is weight and net.act is act and net.mean is mean
    net.mean = zero.ones(3)
    assert names(net.named_buffers()) == ["mean", "scratch"] and net.mean.sum() == 3


def test_none_keeps_the_place():
    net = Net()
    net.scale = None
    net.act = None
    net.mean = None
    assert net.scale is None and net.act is None and net.mean is None
    assert "scale" not in names(net.named_parameters())
    assert "act" not in names(net.named_children())
    assert "mean" not in net.state_dict()
    net.scale = Parameter(zero.ones(1))
    assert "scale" in names(net.named_parameters())


def test_deleted_parameter_can_be_given_back_as_a_tensor():
    layer = nn.Linear(2, 2)
    del layer.weight
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'weight'"):
        layer.weight  # noqa: B018
    layer.weight = zero.tensor([[1.0, 0.0], [0.0, 2.0]])
    assert layer(zero.ones(2)).tolist() == [1.0, 2.0]
    assert names(layer.named_parameters()) == ["bias"]


@pytest.mark.parametrize(
    "register, value",
    [
        ("register_parameter", Parameter(zero.ones(1))),
        ("register_buffer", zero.ones(1)),
        ("register_module", nn.Identity()),
        ("add_module", nn.Identity()),
    ],
)
def test_names_that_cannot_be_registered(register, value):
    net = Net()
    before = net.state_dict().keys()
    for name, error in [("", KeyError), ("a.b", KeyError), ("forward", KeyError), (3, TypeError)]:
        with pytest.raises(error):
            getattr(net, register)(name, value)
    net.plain = 1
    with pytest.raises(KeyError, match="plain"):
        getattr(net, register)("plain", value)
    with pytest.raises(TypeError):
        getattr(net, register)("fresh", "text")
    assert net.state_dict().keys() == before and not hasattr(net, "fresh")
    getattr(net, register)("fresh", value)
    getattr(net, register)("nothing", None)
    assert net.fresh is value and net.nothing is None


def test_class_attributes_are_not_hidden():
    class Odd(nn.Module):
        weight = None

    with pytest.raises(KeyError, match="weight"):
        Odd().weight = Parameter(zero.ones(1))


def test_computed_parameter_is_refused():
    module = nn.Module()
    q = Parameter(zero.ones(1))
    module.leaf = Parameter(q * 2)
    assert module.leaf.is_leaf
    computed = Parameter(zero.ones(1), requires_grad=False)
    computed.mul_(q)
    module.plain = 1
    with pytest.raises(ValueError, match="MulBackward0"):
        module.plain = computed
    with pytest.raises(ValueError, match="leaf"):
        module.register_parameter("fresh", computed)
    assert module.plain == 1 and names(module.named_parameters()) == ["leaf"]


def test_dir_and_missing_attribute():
    net = nn.Sequential(nn.Linear(1, 1))
    assert "0" not in dir(net) and "training" in dir(net) and "append" in dir(net)
    assert {"first", "scale", "mean", "forward"} <= set(dir(Net()))
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'lost'") as caught:
        Net().lost  # noqa: B018
    assert caught.value.name == "lost"


# ---- walking -----------------------------------------------------------------------------------


def test_order_and_paths():
    net = Net()
    assert names(net.named_parameters()) == [
        "scale",
        "first.weight",
        "first.bias",
        "last.weight",
        "last.bias",
    ]
    assert names(net.named_parameters(prefix="net", recurse=False)) == ["net.scale"]
    assert names(net.named_buffers()) == ["mean", "scratch"]
    assert names(net.named_modules()) == ["", "first", "act", "last"]
    assert names(net.named_modules(prefix="m"))[1] == "m.first"
    assert names(net.named_children()) == ["first", "act", "last"]
    assert [type(m) for m in net.children()] == [nn.Linear, nn.ReLU, nn.Linear]
    assert next(net.modules()) is net


def test_parameters_is_a_generator_of_each_once():
    shared = nn.Linear(2, 2)
    net = nn.Sequential(shared, shared, nn.Linear(2, 2))
    net[2].weight = shared.weight
    parameters = net.parameters()
    assert next(parameters) is shared.weight
    assert len(list(parameters)) == 2
    assert names(net.named_parameters()) == ["0.weight", "0.bias", "2.bias"]
    assert len(names(net.named_parameters(remove_duplicate=False))) == 6
    assert names(net.named_modules()) == ["", "0", "2"]
    assert names(net.named_modules(remove_duplicate=False)) == ["", "0", "1", "2"]
    assert names(net.named_children()) == ["0", "2"]
    assert set(net.state_dict()) == {f"{i}.{n}" for i in range(3) for n in ("weight", "bias")}


def test_paths_to_members():
    net = nn.Sequential(OrderedDict(body=Net()))
    assert net.get_submodule("") is net
    assert net.get_submodule("body.first") is net.body.first
    assert net.get_parameter("body.first.weight") is net.body.first.weight
    assert net.get_buffer("body.mean") is net.body.mean
    for path in ("body.lost", "lost.first", "body.scale"):
        with pytest.raises(AttributeError, match=path.split(".")[-1 if "body" in path else 0]):
            net.get_submodule(path)
    with pytest.raises(AttributeError, match="not a parameter"):
        net.get_parameter("body.mean")
    with pytest.raises(AttributeError, match="not a buffer"):
        net.get_buffer("body.scale")
    with pytest.raises(AttributeError, match="lost"):
        net.get_parameter("body.lost")


# ---- saving and loading ------------------------------------------------------------------------


def test_state_dict_order_and_sharing():
    net = Net()
    state = net.state_dict()
    assert isinstance(state, OrderedDict)
    assert list(state) == [
        "scale",
        "mean",
        "first.weight",
        "first.bias",
        "last.weight",
        "last.bias",
    ]
    assert not state["scale"].requires_grad
    with zero.no_grad():
        net.scale.fill_(5)
    assert state["scale"].item() == 5
    assert net.state_dict(keep_vars=True)["scale"] is net.scale
    mine = {"other": 1}
    assert net.state_dict(destination=mine, prefix="net.") is mine
    assert "net.first.bias" in mine and "other" in mine


def test_load_copies_into_the_same_tensors():
    a, b = Net(), Net()
    parameters = list(b.parameters())
    pointers = [p.data_ptr() for p in parameters]
    result = b.load_state_dict(a.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    assert result.missing_keys == [] and result.unexpected_keys == []
    for p, q, pointer in zip(a.parameters(), parameters, pointers, strict=True):
        assert p.tolist() == q.tolist() and q.data_ptr() == pointer
    assert [p is q for p, q in zip(b.parameters(), parameters, strict=True)] == [True] * 5


def test_load_names_all_faults_and_writes_nothing():
    net = Net()
    before = {key: value.clone() for key, value in net.state_dict().items()}
    state = {key: value + 1 for key, value in before.items()}
    del state["scale"], state["last.bias"]
    state["first.weight"] = zero.zeros(3, 5)
    state["mean"] = "text"
    state["extra.weight"] = zero.zeros(1)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    for part in (
        "Error(s) in loading state_dict for Net:",
        'Missing key(s) in state_dict: "scale", "last.bias".',
        'Unexpected key(s) in state_dict: "extra.weight".',
        "size mismatch for first.weight: got shape (3, 5) in the state_dict, expected (3, 2)",
        "mean: got str",
    ):
        assert part in str(caught.value)
    with pytest.raises(RuntimeError, match=r"first\.weight"):
        net.load_state_dict(state, strict=False)
    for key, value in net.state_dict().items():
        assert value.tolist() == before[key].tolist()
    with pytest.raises(TypeError, match="not a state_dict"):
        net.load_state_dict([1])


def test_load_without_strict():
    net = Net()
    result = net.load_state_dict(
        {"scale": zero.full((1,), 7.0), "more": zero.ones(1)}, strict=False
    )
    assert net.scale.item() == 7
    assert result.unexpected_keys == ["more"]
    assert result.missing_keys == [k for k in net.state_dict() if k != "scale"]


def test_load_casts_unless_it_assigns():
    net = nn.Linear(2, 2)
    net.bias.requires_grad_(False)
    state = {key: value.double() for key, value in nn.Linear(2, 2).state_dict().items()}
    net.load_state_dict(state)
    assert net.weight.dtype == zero.float32
    net.load_state_dict(state, assign=True)
    assert net.weight.dtype == zero.float64
    assert isinstance(net.weight, Parameter) and net.weight.data_ptr() == state["weight"].data_ptr()
    assert net.weight.requires_grad and not net.bias.requires_grad


def test_extra_state():
    class Counter(nn.Module):
        def __init__(self, count=0):
            self.count = count

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    a, b = nn.Sequential(Counter(3)), nn.Sequential(Counter())
    assert list(a.state_dict()) == ["0._extra_state"]
    b.load_state_dict(a.state_dict())
    assert b[0].count == 3
    with pytest.raises(RuntimeError, match="_extra_state"):
        b.load_state_dict({})


def test_copies_and_pickles_are_independent():
    net = Net()
    net(zero.ones(4, 2)).sum().backward()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert type(other) is Net and names(other.named_buffers()) == ["mean", "scratch"]
        assert list(other.state_dict()) == list(net.state_dict())
        assert isinstance(other.scale, Parameter) and other.scale.requires_grad
        x = zero.ones(4, 2)
        assert other(x).tolist() == net(x).tolist()
        with zero.no_grad():
            other.first.weight.zero_()
        assert net.first.weight.abs().sum().item() > 0


def test_deepcopy_of_many_gradients():
    """Temporary objects must leave nothing in the memo, where ids of the dead come back."""
    net = nn.Module()
    for i in range(1, 50):
        parameter = Parameter(zero.ones(i))
        parameter.grad = zero.full((i,), float(i))
        net.register_parameter(f"p{i}", parameter)
    other = copy.deepcopy(net)
    for i, parameter in enumerate(other.parameters(), 1):
        assert parameter.grad.tolist() == [i] * i
        assert parameter.grad is not net.get_parameter(f"p{i}").grad


def test_deepcopy_keeps_ties():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    other = copy.deepcopy(net)
    assert other[0].weight is other[1].weight and other[0].weight is not net[0].weight


def test_modules_are_collected():
    net = Net()
    net.myself = [net]
    net(zero.ones(1, 2)).sum().backward()
    alive = [weakref.ref(net), weakref.ref(net.scale)]
    del net
    gc.collect()
    assert [ref() for ref in alive] == [None, None]


# ---- all at once -------------------------------------------------------------------------------


def test_casts_keep_parameters_and_ties():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    net.register_buffer("count", zero.tensor([1, 2]))
    net.register_buffer("mean", zero.ones(2))
    net(zero.ones(1, 2)).sum().backward()
    parameters = list(net.parameters())
    assert net.double() is net
    assert [p is q for p, q in zip(net.parameters(), parameters, strict=True)] == [True] * 3
    assert all(p.dtype == zero.float64 and p.grad.dtype == zero.float64 for p in parameters)
    assert net.count.dtype == zero.int64 and net.mean.dtype == zero.float64
    assert net[0].weight is net[1].weight
    for cast, dtype in [
        (net.half, zero.float16),
        (net.bfloat16, zero.bfloat16),
        (net.float, zero.float32),
        (lambda: net.to(zero.float64), zero.float64),
        (lambda: net.to(dtype=zero.float32), zero.float32),
        (lambda: net.to("cpu", zero.float64), zero.float64),
        (lambda: net.to(zero.ones(1)), zero.float32),
    ]:
        cast()
        assert net[0].weight.dtype == dtype and net.mean.dtype == dtype
        assert net.count.dtype == zero.int64
    net.type(zero.float64)
    assert net.count.dtype == zero.float64
    net.to("cpu")
    net.cpu()


def test_a_cast_model_still_trains():
    net = nn.Linear(2, 1).double()
    optimizer = zero.optim.SGD(net.parameters(), lr=0.1)
    x = zero.ones(3, 2, dtype=zero.float64)
    before = net(x).sum().item()
    net(x).sum().backward()
    optimizer.step()
    assert net(x).sum().item() < before


def test_meta():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    net.to("meta")
    assert all(p.device.type == "meta" and isinstance(p, Parameter) for p in net.parameters())
    assert net[0].weight is net[1].weight
    assert net(zero.ones(3, 2, device="meta")).shape == (3, 2)
    assert nn.Linear(2, 3, device="meta").weight.device.type == "meta"


@pytest.mark.parametrize("bad", [zero.int64, 3, "gpu"])
def test_to_refuses(bad):
    net = nn.Linear(1, 1)
    with pytest.raises((TypeError, RuntimeError)):
        net.to(bad)
    assert net.weight.dtype == zero.float32


def test_train_and_eval():
    net = nn.Sequential(Net(), nn.Tanh())
    assert net.training
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    net.train()
    assert all(module.training for module in net.modules())
    with pytest.raises(ValueError, match="bool"):
        net.train("yes")


def test_requires_grad_and_zero_grad():
    net = Net()
    net.first.requires_grad_(False)
    net(zero.ones(1, 2)).sum().backward()
    assert net.first.weight.grad is None and net.last.weight.grad is not None
    grad = net.last.weight.grad
    net.zero_grad(set_to_none=False)
    assert net.last.weight.grad is grad and grad.abs().sum().item() == 0
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_zero_grad_after_create_graph():
    p = Parameter(zero.ones(2))
    module = nn.Module()
    module.p = p
    (p * p * p).sum().backward(create_graph=True)
    assert p.grad.requires_grad
    module.zero_grad(set_to_none=False)
    assert not p.grad.requires_grad and p.grad.tolist() == [0, 0]


def test_apply_goes_children_first():
    seen = []
    net = nn.Sequential(nn.Sequential(nn.Tanh()), nn.ReLU())
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen == ["Tanh", "Sequential", "ReLU", "Sequential"]


def test_forward_is_needed():
    with pytest.raises(NotImplementedError, match="Module"):
        nn.Module()(1)


# ---- text --------------------------------------------------------------------------------------


def test_repr():
    assert repr(nn.Module()) == "Module()"
    assert repr(nn.Linear(2, 3, bias=False)) == "Linear(in_features=2, out_features=3, bias=False)"
    assert repr(nn.ReLU()) == "ReLU()" and repr(nn.ReLU(inplace=True)) == "ReLU(inplace=True)"
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"
    assert repr(nn.Unflatten(1, (2, 5))) == "Unflatten(dim=1, unflattened_size=(2, 5))"
    assert repr(nn.Softmax(dim=1)) == "Softmax(dim=1)"
    assert repr(nn.Sequential()) == "Sequential()"
    assert repr(nn.CrossEntropyLoss()) == "CrossEntropyLoss()"
    net = nn.Sequential(
        OrderedDict(body=nn.Sequential(nn.Tanh(), nn.Identity()), head=nn.Sigmoid())
    )
    assert repr(net) == (
        "Sequential(\n"
        "  (body): Sequential(\n"
        "    (0): Tanh()\n"
        "    (1): Identity()\n"
        "  )\n"
        "  (head): Sigmoid()\n"
        ")"
    )


def test_extra_repr_with_children_and_lines():
    class Odd(nn.Module):
        def extra_repr(self):
            return "a=1\nb=2"

    odd = Odd()
    assert repr(odd) == "Odd(\n  a=1\n  b=2\n)"
    odd.child = nn.Tanh()
    assert repr(odd) == "Odd(\n  a=1\n  b=2\n  (child): Tanh()\n)"


# ---- Linear ------------------------------------------------------------------------------------


def test_linear_is_x_weight_t_plus_bias():
    layer = nn.Linear(5, 3, dtype=zero.float64)
    with zero.no_grad():
        layer.bias.copy_(zero.tensor([1.0, 2.0, 3.0]))
    w, b = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    for shape in [(5,), (4, 5), (2, 3, 5), (0, 5)]:
        x = np.random.default_rng(0).standard_normal(shape)
        y = layer(zero.from_numpy(x)).detach().numpy()
        # Sums of five products: a few units in the last place of the largest.
        np.testing.assert_allclose(y, x @ w.T + b, rtol=1e-13, atol=1e-13)


def test_linear_starts_he_normal():
    zero.manual_seed(0)
    layer = nn.Linear(400, 300)
    n = layer.weight.numel()
    variance = 2 / 400
    mean, var = layer.weight.mean().item(), layer.weight.var().item()
    # Five standard errors of the mean and of the variance of n normal numbers.
    assert abs(mean) < 5 * math.sqrt(variance / n)
    assert abs(var / variance - 1) < 5 * math.sqrt(2 / n)
    assert layer.bias.abs().sum().item() == 0
    zero.manual_seed(0)
    expected = zero.randn(300, 400) * math.sqrt(2 / 400)
    np.testing.assert_allclose(layer.weight.detach().numpy(), expected.numpy(), rtol=1e-6)


def test_linear_options():
    layer = nn.Linear(3, 2, bias=False, dtype=zero.float64)
    assert layer.bias is None and layer.weight.dtype == zero.float64
    assert list(layer.state_dict()) == ["weight"]
    assert layer(zero.ones(1, 3, dtype=zero.float64)).shape == (1, 2)
    assert nn.Linear(0, 2)(zero.ones(4, 0)).tolist() == [[0, 0]] * 4
    with pytest.raises((TypeError, ValueError)):
        nn.Linear(-1, 2)
    with pytest.raises(TypeError):
        nn.Linear(2.5, 2)
    with pytest.raises(zero.errors.ShapeError):
        nn.Linear(3, 2)(zero.ones(4, 5))


# ---- Sequential --------------------------------------------------------------------------------


def test_sequential_as_a_list():
    a, b, c = nn.Tanh(), nn.ReLU(), nn.Sigmoid()
    net = nn.Sequential(a, b)
    assert len(net) == 2 and list(net) == [a, b] and net[-1] is b
    assert net.append(c) is net and net[2] is c
    net.insert(0, c)
    assert list(net) == [c, a, b, c] and names(net.named_modules(remove_duplicate=False)) == [
        "",
        "0",
        "1",
        "2",
        "3",
    ]
    del net[0]
    assert list(net) == [a, b, c] and list(net._modules) == ["0", "1", "2"]
    del net[1:]
    assert list(net) == [a]
    net.extend([b, c])
    assert net.pop(0) is a and list(net) == [b, c]
    net[0] = a
    assert list(net) == [a, c]
    assert list(net + nn.Sequential(b)) == [a, c, b]
    net += nn.Sequential(b)
    assert list(net) == [a, c, b]
    assert list(nn.Sequential(a, b) * 2) == [a, b, a, b] == list(2 * nn.Sequential(a, b))
    net *= 2
    assert len(net) == 6


def test_sequential_slices():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    tail = net[1:]
    assert type(tail) is nn.Sequential and tail[1] is net[2]
    assert list(tail._modules) == ["1", "2"]
    tail.append(nn.Sigmoid())
    assert len(tail) == 3 and len(net) == 3  # nothing was overwritten
    x = zero.ones(1, 2)
    assert net[:1](x).tolist() == net[0](x).tolist()
    assert len(net[::2]) == 2


def test_sequential_errors():
    net = nn.Sequential(nn.Tanh())
    for index in (1, -2):
        with pytest.raises(IndexError):
            net[index]
    with pytest.raises(IndexError):
        net.insert(5, nn.Tanh())
    for call in (
        lambda: nn.Sequential([nn.Tanh()]),
        lambda: net.append(3),
        lambda: net.insert(0, "x"),
        lambda: net + [nn.Tanh()],
        lambda: net["a"],
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError):
        net * 0
    assert len(net) == 1


def test_sequential_takes_names():
    net = nn.Sequential(OrderedDict([("fc", nn.Linear(2, 2)), ("act", nn.Tanh())]))
    assert list(net.state_dict()) == ["fc.weight", "fc.bias"] and net.fc is net[0]
    assert len(nn.Sequential({"a": nn.Tanh()})) == 1


# ---- activations and losses --------------------------------------------------------------------


def test_activations():
    x = zero.tensor([[-1.0, 0.5, 2.0]], dtype=zero.float64)
    a = x.numpy()
    e = np.exp(a)
    for module, expected in [
        (nn.ReLU(), np.maximum(a, 0)),
        (nn.Tanh(), np.tanh(a)),
        (nn.Sigmoid(), 1 / (1 + 1 / e)),
        (nn.Softmax(dim=1), e / e.sum()),
        (nn.LogSoftmax(dim=-1), a - np.log(e.sum())),
        (nn.Identity(1, key=2), a),
        (nn.Flatten(0), a.reshape(-1)),
    ]:
        np.testing.assert_allclose(module(x).numpy(), expected, rtol=1e-14)
    assert nn.Identity()(x) is x
    y = x.clone()
    assert nn.ReLU(inplace=True)(y) is y and y.tolist() == [[0, 0.5, 2]]
    assert nn.Flatten()(zero.zeros(2, 3, 4)).shape == (2, 12)
    assert nn.Unflatten(1, [3, -1])(zero.zeros(2, 12)).shape == (2, 3, 4)
    with pytest.raises(TypeError, match="Unflatten: unflattened_size is no tuple of sizes; got 4"):
        nn.Unflatten(1, 4)
    assert nn.functional.softmax(zero.ones(2), 0, dtype=zero.float64).dtype == zero.float64


@pytest.mark.parametrize("shape, dim", [((2,), 0), ((2, 2), 1), ((2, 2, 2), 0), ((1, 2, 1, 2), 1)])
@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax"])
def test_implicit_dim(name, shape, dim):
    x = zero.randn(shape)
    with pytest.warns(UserWarning, match=f"dim={dim}") as caught:
        y = getattr(nn, name)()(x)
    assert caught[0].filename == __file__
    assert y.tolist() == getattr(nn, name)(dim=dim)(x).tolist()


def test_losses():
    x = zero.tensor([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]], dtype=zero.float64)
    target = zero.tensor([1, 2])
    log_p = x.numpy() - np.log(np.exp(x.numpy()).sum(1, keepdims=True))
    each = -log_p[[0, 1], [1, 2]]
    np.testing.assert_allclose(nn.CrossEntropyLoss()(x, target).item(), each.mean(), rtol=1e-13)
    np.testing.assert_allclose(
        nn.NLLLoss(reduction="none")(zero.from_numpy(log_p), target).numpy(), each, rtol=1e-13
    )
    weight = zero.tensor([1.0, 2.0, 3.0], dtype=zero.float64)
    weighted = nn.CrossEntropyLoss(weight=weight)
    assert names(weighted.named_buffers()) == ["weight"]
    np.testing.assert_allclose(weighted(x, target).item(), (each * [2, 3]).sum() / 5, rtol=1e-13)
    ignoring = nn.CrossEntropyLoss(ignore_index=1, reduction="sum")
    np.testing.assert_allclose(ignoring(x, target).item(), each[1], rtol=1e-13)
    smooth = nn.CrossEntropyLoss(label_smoothing=0.1)(x, target).item()
    np.testing.assert_allclose(smooth, (0.9 * each - 0.1 * log_p.mean(1)).mean(), rtol=1e-13)
    mse = nn.MSELoss(reduction="sum")(x, zero.zeros_like(x)).item()
    np.testing.assert_allclose(mse, (x.numpy() ** 2).sum(), rtol=1e-14)


def test_old_loss_arguments():
    x, y = zero.tensor([1.0, 2.0]), zero.tensor([0.0, 0.0])
    for arguments, reduction in [
        ({"size_average": False}, "sum"),
        ({"size_average": True}, "mean"),
        ({"reduce": False}, "none"),
        ({"reduce": True}, "mean"),
        ({"size_average": False, "reduce": False}, "none"),
    ]:
        with pytest.warns(FutureWarning, match=f"reduction='{reduction}'") as caught:
            loss = nn.MSELoss(**arguments)
        assert caught[0].filename == __file__
        assert loss.reduction == reduction
        with pytest.warns(FutureWarning):
            value = nn.functional.mse_loss(x, y, **arguments)
        assert value.tolist() == nn.functional.mse_loss(x, y, reduction=reduction).tolist()
    with pytest.raises(ValueError, match="average"):
        nn.MSELoss(reduction="average")


def test_mse_warns_of_broadcasting():
    with pytest.warns(UserWarning, match=r"\(3, 1\)") as caught:
        nn.functional.mse_loss(zero.ones(3, 1), zero.ones(3))
    assert caught[0].filename == __file__
