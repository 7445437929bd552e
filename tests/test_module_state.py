"""Hooks, versions and overridden parts of state_dict and load_state_dict."""

import pickle

import pytest

import zero
from zero import nn
from zero.nn import Parameter


def test_linear_and_a_buffer():
    class Net(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(64, 10)
            self.register_buffer("running_mean", zero.zeros(64))

    state = Net().state_dict()
    assert [(k, tuple(v.shape), v.requires_grad, type(v)) for k, v in state.items()] == [
        ("running_mean", (64,), False, zero.Tensor),
        ("fc.weight", (10, 64), False, zero.Tensor),
        ("fc.bias", (10,), False, zero.Tensor),
    ]
    kept = Net().state_dict(keep_vars=True)
    assert [(v.requires_grad, type(v)) for v in kept.values()] == [
        (False, zero.Tensor),
        (True, Parameter),
        (True, Parameter),
    ]
    assert state._metadata == {"": {"version": 1}, "fc": {"version": 1}}
    again = pickle.loads(pickle.dumps(state))
    assert list(again) == list(state) and again._metadata == state._metadata


def test_buffers_by_assignment():
    module, mean = nn.Module(), zero.zeros(2)
    module.mean = nn.Buffer(mean)
    module.scratch = nn.Buffer(zero.ones(1), persistent=False)
    assert list(module.state_dict()) == ["mean"] and len(list(module.buffers())) == 2
    assert isinstance(module.mean, nn.Buffer) and type(module.mean) is zero.Tensor
    assert module.mean.data_ptr() == mean.data_ptr() and not isinstance(mean, nn.Buffer)
    assert not isinstance(Parameter(mean), nn.Buffer)
    module.mean = zero.ones(2)
    assert module.state_dict()["mean"].tolist() == [1, 1]
    module.mean = nn.Buffer(zero.ones(2), persistent=False)
    assert list(module.state_dict()) == []
    module.plain = 1
    with pytest.raises(KeyError, match="plain"):
        module.plain = nn.Buffer(zero.ones(2))
    with pytest.raises(TypeError, match="Buffer"):
        nn.Buffer([1])
    assert nn.Buffer().shape == (0,)


def test_positional_arguments_of_old_programs():
    mine = {}
    assert nn.Linear(1, 1).state_dict(mine, "q.", True) is mine
    assert list(mine) == ["q.weight", "q.bias"] and mine["q.weight"].requires_grad
    with pytest.raises(TypeError, match="3"):
        nn.Linear(1, 1).state_dict({}, "", True, 4)


def test_hooks_of_saving():
    net, seen = nn.Sequential(nn.Linear(1, 1)), []
    layer = net[0]
    layer.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append((m, prefix, keep)))
    handle = layer.register_state_dict_post_hook(
        lambda m, state, prefix, local: state.__setitem__(prefix + "more", local["version"])
    )
    assert list(net.state_dict()) == ["0.weight", "0.bias", "0.more"]
    assert seen == [(layer, "0.", False)]
    handle.remove()
    layer.register_state_dict_post_hook(lambda *_: {})
    with pytest.raises(RuntimeError, match="expected None"):
        net.state_dict()
    replaced = nn.Linear(1, 1)
    replaced._register_state_dict_hook(lambda m, state, prefix, local: {"new": 1})
    assert replaced.state_dict() == {"new": 1}


def test_hooks_of_loading():
    net, seen = nn.Sequential(nn.Linear(1, 1)), []

    def rename(module, state, prefix, local, strict, missing, unexpected, errors):
        seen.append((module, prefix, strict))
        state[prefix + "weight"] = state.pop(prefix + "old")

    net[0].register_load_state_dict_pre_hook(rename)
    net[0]._register_load_state_dict_pre_hook(lambda state, prefix, *_: seen.append(prefix))
    net.register_load_state_dict_post_hook(
        lambda module, keys: seen.append((net[0].weight.item(), keys))
    )
    state = {"0.old": zero.tensor([[7.0]]), "0.bias": zero.zeros(1)}
    net.load_state_dict(state)
    assert seen == [(net[0], "0.", True), "0.", (7.0, ([], []))]
    assert list(state) == ["0.old", "0.bias"]


def test_a_post_hook_may_forgive_missing_keys():
    net = nn.Linear(2, 1)
    net.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    weight = zero.ones(1, 2)
    assert str(net.load_state_dict({"weight": weight})) == "<All keys matched successfully>"
    assert net.weight.tolist() == [[1, 1]]
    before = net.weight.tolist()
    with pytest.raises(RuntimeError, match="Unexpected"):
        net.load_state_dict({"weight": weight * 5, "more": weight})
    assert net.weight.tolist() == before
    net.register_load_state_dict_post_hook(lambda module, keys: keys)
    with pytest.raises(RuntimeError, match="expected None"):
        net.load_state_dict({"weight": weight})


class Doubled(nn.Module):
    """Has its own way of saving and loading."""

    _version = 3

    def __init__(self):
        self.w = Parameter(zero.ones(2))

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "format"] = "double"

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        self.loaded_version = local_metadata.get("version")
        state_dict.pop(prefix + "format", None)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)
        self.w.data.mul_(2)


def test_overridden_saving_and_loading():
    net = nn.Sequential(Doubled())
    state = net.state_dict()
    assert list(state) == ["0.w", "0.format"]
    state["0.w"] = zero.full((2,), 5.0)
    net.load_state_dict(state)
    assert net[0].w.tolist() == [10, 10] and net[0].loaded_version == 3
    net.load_state_dict(dict(state))
    assert net[0].loaded_version is None


def test_a_failed_load_changes_nothing_there_either():
    net = nn.Sequential(Doubled(), nn.Linear(1, 1))
    state = net.state_dict()
    state["0.w"] = zero.full((2,), 5.0)
    state["1.weight"] = zero.ones(3)
    for assign in (False, True):
        w = net[0].w
        with pytest.raises(RuntimeError, match=r"size mismatch for 1\.weight"):
            net.load_state_dict(state, assign=assign)
        assert net[0].w is w and w.tolist() == [1, 1]


def test_unexpected_keys_below_what_is_no_module():
    net = nn.Sequential(nn.Linear(1, 1))
    state = {**net.state_dict(), "0.weight.x": 1, "0.more": 1, "2.weight": 1, "0": 1}
    result = net.load_state_dict(state, strict=False)
    assert sorted(result.unexpected_keys) == ["0", "0.more", "0.weight.x", "2.weight"]
    assert result.missing_keys == []


def test_a_number_from_a_vector_of_one():
    module = nn.Module()
    module.count = Parameter(zero.tensor(1.0))
    module.load_state_dict({"count": zero.tensor([4.0])})
    assert module.count.item() == 4


def test_set_submodule():
    net = nn.Sequential(nn.Sequential(nn.Linear(1, 1)))
    net.set_submodule("0.0", nn.Tanh())
    net.set_submodule("0.new", nn.ReLU())
    assert repr(net[0][0]) == "Tanh()" and repr(net[0].new) == "ReLU()"
    for call, error in [
        (lambda: net.set_submodule("", nn.Tanh()), ValueError),
        (lambda: net.set_submodule("0.0", 3), ValueError),
        (lambda: net.set_submodule("lost.0", nn.Tanh()), AttributeError),
        (lambda: net.set_submodule("0.lost", nn.Tanh(), strict=True), AttributeError),
        (lambda: net.set_submodule("0.training", nn.Tanh()), AttributeError),
    ]:
        with pytest.raises(error):
            call()
    assert len(net[0]) == 2


def test_moves_without_values():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, device="meta"))
    net.to_empty(device="cpu")
    assert {p.device.type for p in net.parameters()} == {"cpu"}
    assert all(isinstance(p, Parameter) for p in net.parameters())
    with pytest.raises((RuntimeError, ValueError), match="cuda"):
        net.cuda()
    with pytest.raises(TypeError, match="same kind"):
        net.to("cpu", device="cpu")
    with pytest.raises(TypeError, match="same kind"):
        net.to(zero.ones(1), zero.float64)
