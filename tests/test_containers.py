"""ModuleList, ModuleDict, ParameterList and ParameterDict."""

import copy
import pickle

import pytest

import zero
from zero import nn
from zero.nn import Parameter


def kinds(modules):
    return [type(module).__name__ for module in modules]


# ---- ModuleList --------------------------------------------------------------------------------


def modules():
    return nn.ModuleList([nn.Tanh(), nn.ReLU(), nn.Sigmoid(), nn.Identity()])


def test_list_access():
    m = modules()
    first = m[0]
    assert len(m) == 4 and m[-4] is first and first in m and next(iter(m)) is first
    assert kinds(m[1:3]) == ["ReLU", "Sigmoid"] and type(m[1:3]) is nn.ModuleList
    assert list(m[1:3]._modules) == ["0", "1"]
    assert kinds(m[::-2]) == ["Identity", "ReLU"]
    for i in (4, -5):
        with pytest.raises(IndexError):
            m[i]
    with pytest.raises(TypeError):
        m["a"]
    assert not nn.ModuleList() and len(nn.ModuleList(x for x in m)) == 4
    assert not [name for name in dir(m) if name.isdigit()]


def test_list_changes():
    m = modules()
    assert m.append(nn.Softmax(0)) is m and kinds(m)[-1] == "Softmax"
    assert m.insert(0, nn.ReLU()) is None and kinds(m)[:2] == ["ReLU", "Tanh"]
    assert list(m._modules) == list("012345")
    assert kinds([m.pop(1)]) == ["Tanh"] and kinds(m.pop(slice(0, 2))) == ["ReLU", "ReLU"]
    assert kinds(m) == ["Sigmoid", "Identity", "Softmax"]
    del m[-1]
    m[0] = nn.Tanh()
    assert kinds(m) == ["Tanh", "Identity"] and list(m._modules) == ["0", "1"]
    m += [nn.ReLU()]
    assert kinds(m + [nn.Sigmoid()]) == ["Tanh", "Identity", "ReLU", "Sigmoid"] and len(m) == 3
    m.extend(m)
    assert kinds(m) == ["Tanh", "Identity", "ReLU"] * 2
    del m[::2]
    assert kinds(m) == ["Identity", "Tanh", "ReLU"]


def test_list_refusals_change_nothing():
    m = modules()
    for call in (
        lambda: m.append(3),
        lambda: m.insert(0, "x"),
        lambda: m.extend([nn.Tanh(), 3]),
        lambda: m.extend(3),
        lambda: m.__setitem__(0, 3),
        lambda: nn.ModuleList([3]),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(NotImplementedError):
        m(1)
    assert len(m) == 4 and list(nn.ModuleList([None])) == [None]


def test_list_repr_counts_equal_modules():
    assert repr(nn.ModuleList()) == "ModuleList()"
    m = nn.ModuleList([nn.Linear(1, 1)] * 3 + [nn.Sequential(nn.ReLU())] * 2 + [nn.Tanh()])
    assert repr(m) == (
        "ModuleList(\n"
        "  (0-2): 3 x Linear(in_features=1, out_features=1, bias=True)\n"
        "  (3-4): 2 x Sequential(\n"
        "    (0): ReLU()\n"
        "  )\n"
        "  (5): Tanh()\n"
        ")"
    )


# ---- ModuleDict --------------------------------------------------------------------------------


def test_dict_of_modules():
    m = nn.ModuleDict({"b": nn.Tanh(), "a": nn.ReLU()})
    assert list(m) == ["b", "a"] == list(m.keys()) and len(m) == 2
    assert "a" in m and "z" not in m and m["a"] is m.a and kinds(m.values()) == ["Tanh", "ReLU"]
    assert [key for key, _ in m.items()] == ["b", "a"]
    m["c"] = nn.Sigmoid()
    m.update({"b": nn.Identity()})
    m.update([("d", nn.Tanh()), ["e", nn.Tanh()]])
    m.update(nn.ModuleDict({"f": nn.ReLU()}))
    assert list(m) == list("bacdef") and kinds([m.pop("b")]) == ["Identity"]
    del m["a"]
    with pytest.raises(KeyError):
        m["a"]
    assert list(nn.Sequential(m).state_dict()) == []
    m.clear()
    assert len(m) == 0 and repr(m) == "ModuleDict()"
    assert repr(nn.ModuleDict({"x": nn.Tanh()})) == "ModuleDict(\n  (x): Tanh()\n)"


def test_dict_of_modules_refuses():
    m = nn.ModuleDict({"a": nn.Tanh()})
    for entries, error in [
        (3, TypeError),
        ([3], TypeError),
        ([(1, 2, 3)], ValueError),
        ({"x": 3}, TypeError),
        ({"x.y": nn.Tanh()}, KeyError),
        ({"pop": nn.Tanh()}, KeyError),
        ({3: nn.Tanh()}, TypeError),
    ]:
        with pytest.raises(error):
            m.update(entries)
    assert list(m) == ["a"]


# ---- ParameterList -----------------------------------------------------------------------------


def test_list_of_parameters():
    p = Parameter(zero.ones(2))
    m = nn.ParameterList([p, zero.zeros(2, 3), 5])
    assert m[0] is p and isinstance(m[1], Parameter) and m[-1] == 5 and len(m) == 3
    assert [name for name, _ in m.named_parameters()] == ["0", "1"] == list(m.state_dict())
    assert m[:2][0] is p and len(m[1:]) == 2
    assert m.append(zero.ones(1)) is m and isinstance(m[3], Parameter)
    m += [zero.ones(4)]
    m[0] = zero.zeros(1)
    assert m[0].shape == (1,) and len(m) == 5 and len(list(iter(m))) == 5
    assert repr(m[1:3]) == (
        "ParameterList(\n"
        "    (0): Parameter containing: [zero.float32 of size 2x3]\n"
        "    (1): Object of type: int\n"
        ")"
    )
    other = copy.deepcopy(m)
    assert len(other) == 5 and other[0] is not m[0]
    assert len(pickle.loads(pickle.dumps(m))) == 5


def test_list_of_parameters_refuses():
    m = nn.ParameterList([zero.ones(1)])
    for values in (3, zero.ones(2)):
        with pytest.raises(TypeError):
            m.extend(values)
    with pytest.raises(IndexError):
        m[1]
    with pytest.raises(TypeError):
        m[0] = 3
    with pytest.raises(RuntimeError, match="can't be called"):
        m(1)
    assert len(m) == 1 and repr(nn.ParameterList()) == "ParameterList()"


# ---- ParameterDict -----------------------------------------------------------------------------


def test_dict_of_parameters():
    p = Parameter(zero.ones(2))
    m = nn.ParameterDict({"a": p, "b": zero.zeros(2, 3), "c": 5})
    assert m["a"] is p is m.a and list(m) == list("abc") and len(m) == 3 and "c" in m
    assert list(reversed(m)) == list("cba") and [k for k, _ in m.items()] == list(m.keys())
    assert [name for name, _ in m.named_parameters()] == ["a", "b"] == list(m.state_dict())
    assert m.get("a") is p and m.get("z") is None and m.get("z", 4) == 4
    assert m.setdefault("a", 3) is p and m.setdefault("d", zero.ones(1)) is m["d"]
    assert repr(m) == (
        "ParameterDict(\n"
        "    (a): Parameter containing: [zero.FloatTensor of size 2]\n"
        "    (b): Parameter containing: [zero.FloatTensor of size 2x3]\n"
        "    (c): Object of type: int\n"
        "    (d): Parameter containing: [zero.FloatTensor of size 1]\n"
        ")"
    )
    assert m.popitem()[0] == "d" and m.pop("c") == 5
    del m["b"]
    assert list(m) == ["a"] and m.copy()["a"] is p
    joined = m | nn.ParameterDict({"z": zero.ones(1)})
    assert list(joined) == ["a", "z"] and list(m) == ["a"]
    m |= {"y": 1}
    m.update([("x", 2)])
    assert list(m) == ["a", "y", "x"] and list(m.fromkeys("uv", 3).values()) == [3, 3]
    assert list(copy.deepcopy(m)) == ["a", "y", "x"]
    m.clear()
    assert len(m) == 0 and list(m.parameters()) == []


def test_dict_of_parameters_refuses():
    m = nn.ParameterDict({"a": zero.ones(1)})
    for key in ("z", "keys"):
        with pytest.raises(KeyError):
            m[key]
        with pytest.raises(KeyError):
            del m[key]
    for entries, error in [
        (3, TypeError),
        ([3], TypeError),
        ([(1, 2, 3)], ValueError),
        ({3: 4}, TypeError),
        ({"keys": 4}, KeyError),
    ]:
        with pytest.raises(error):
            m.update(entries)
    with pytest.raises(KeyError):
        nn.ParameterDict().popitem()
    assert list(m) == ["a"]
