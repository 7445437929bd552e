"""zero.utils._pytree. The texts were recorded from PyTorch 2.13 (with its name replaced)."""

import operator
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import zero
from zero.utils import _pytree as tree

Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "value, leaves, text",
    [
        (1, [1], "*"),
        (None, [None], "*"),
        ([1], [1], "TreeSpec(list, None, [*])"),
        ((), [], "TreeSpec(tuple, None, [])"),
        (Point(1, 2), [1, 2], f"TreeSpec(namedtuple, {Point}, [*,\n  *])"),
        (OrderedDict(b=1, a=2), [1, 2], "TreeSpec(OrderedDict, ['b', 'a'], [*,\n  *])"),
        ({"b": 1, "a": 2}, [1, 2], "TreeSpec(dict, ['b', 'a'], [*,\n  *])"),
        (deque([1, 2], maxlen=3), [1, 2], "TreeSpec(deque, 3, [*,\n  *])"),
        (
            defaultdict(list, {"a": 1}),
            [1],
            "TreeSpec(defaultdict, [<class 'list'>, ['a']], [*])",
        ),
        (
            {"a": [1, (2, 3)], "b": None, "c": {}},
            [1, 2, 3, None],
            "TreeSpec(dict, ['a', 'b', 'c'], [TreeSpec(list, None, [*,\n"
            "    TreeSpec(tuple, None, [*,\n"
            "      *])]),\n"
            "  *,\n"
            "  TreeSpec(dict, [], [])])",
        ),
    ],
)
def test_flatten_and_back(value, leaves, text):
    found, spec = tree.tree_flatten(value)
    assert found == leaves == tree.tree_leaves(value) == list(tree.tree_iter(value))
    assert repr(spec) == text
    again = tree.tree_unflatten(leaves, spec)
    assert again == value and type(again) is type(value)
    assert spec == tree.tree_structure(again) and hash(spec) == hash(tree.tree_structure(again))
    assert spec.num_leaves == len(leaves)


def test_spec():
    spec = tree.tree_structure({"a": [1, (2, 3)], "b": None, "c": {}})
    assert (spec.num_leaves, spec.num_nodes, spec.num_children) == (4, 8, 3)
    assert spec.type is dict and spec.context == ["a", "b", "c"] and not spec.is_leaf()
    assert spec.child(1).is_leaf() and spec.children()[1] == tree.tree_structure(5)
    assert spec != tree.tree_structure({"a": [1, (2, 3)], "b": None, "d": {}})
    assert tree.tree_structure(Point(1, 2)).type is Point
    assert tree.tree_structure([1]) != tree.tree_structure((1,))
    assert tree.tree_structure([1]) != "spec"


def test_map():
    assert tree.tree_map(operator.add, {"x": 1, "y": [2]}, {"y": [20], "x": 10}) == {
        "x": 11,
        "y": [22],
    }
    assert tree.tree_map(lambda x, y: (x, y), [1], [(2, 3)]) == [(1, (2, 3))]
    assert tree.tree_map_only(int, lambda x: x + 1, [1, "a"]) == [2, "a"]
    assert tree.tree_map_only((int, str), str, [1, "a", 2.0]) == ["1", "a", 2.0]
    assert tree.tree_map_only(lambda x: x == "a", lambda x: "b", [1, "a"]) == [1, "b"]
    seen = []
    value = [1, [2]]
    assert tree.tree_map_(seen.append, value) is value and seen == [1, 2]
    assert tree.tree_leaves([1, [2]], is_leaf=lambda x: x == [2]) == [1, [2]]
    assert tree.tree_all(lambda x: x > 0, [1, 2]) and not tree.tree_any(lambda x: x > 3, [1])


def test_tensors_and_sizes_are_leaves_and_results_are_nodes():
    x = zero.ones(2, 2)
    assert tree.tree_leaves([x, (x,)])[1] is x
    doubled = tree.tree_map_only(zero.Tensor, lambda t: t * 2, {"w": x, "n": 1})
    assert doubled["w"].tolist() == [[2, 2], [2, 2]] and doubled["n"] == 1
    both = x.max(0)
    assert len(tree.tree_leaves(both)) == 2
    assert type(tree.tree_map(lambda t: t, both)) is type(both)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: tree.tree_map(operator.add, [1, 2], [3]),
            "Node arity mismatch; expected 2, but got 1.",
        ),
        (
            lambda: tree.tree_map(operator.add, [1], (1,)),
            "Node type mismatch; expected <class 'list'>, but got <class 'tuple'>.",
        ),
        (
            lambda: tree.tree_unflatten([1], tree.tree_structure([1, 2])),
            "treespec.unflatten(leaves): `leaves` has length 1 but the spec refers to a pytree "
            "that holds 2 items (TreeSpec(list, None, [*,\n  *])).",
        ),
        (
            lambda: tree.register_pytree_node(list, None, None),
            "<class 'list'> is already registered as pytree node.",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


def test_more_errors():
    with pytest.raises(ValueError, match="keys"):
        tree.tree_map(operator.add, {"a": 1}, {"b": 1})
    with pytest.raises(ValueError, match="Node type"):
        tree.tree_map(operator.add, [1], 1)
    with pytest.raises(TypeError, match="callable"):
        tree.tree_map_only(3, str, [1])
    with pytest.raises(TypeError, match="TreeSpec"):
        tree.tree_unflatten(tree.tree_structure([1]), [1])


def test_registered_class():
    class Pair:
        def __init__(self, a, b, name):
            self.a, self.b, self.name = a, b, name

    class Sub(Pair):
        pass

    tree.register_pytree_node(
        Pair, lambda p: ([p.a, p.b], p.name), lambda c, name: Pair(*c, name=name)
    )
    mapped = tree.tree_map(lambda x: x * 2, Pair(1, [2], "n"))
    assert (mapped.a, mapped.b, mapped.name) == (2, [4], "n")
    sub = Sub(1, 2, "n")
    assert tree.tree_leaves(sub) == [sub]
    with pytest.raises(ValueError, match="context"):
        tree.tree_map(operator.add, Pair(1, 2, "n"), Pair(1, 2, "m"))
