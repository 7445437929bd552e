"""Nested containers as trees: their leaves as a list, and back.

Nodes are tuples, lists, dicts, OrderedDict, defaultdict and deque, but not their subclasses, and
every named tuple; :func:`register_pytree_node` adds others. Everything else, None too, is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple, TypeAlias

    class NodeDef(NamedTuple):
        flatten_fn: FlattenFunc
        unflatten_fn: UnflattenFunc

    Context: TypeAlias = Any
    PyTree: TypeAlias = Any
    FlattenFunc: TypeAlias = Callable[[Any], tuple[list[Any], Context]]
    UnflattenFunc: TypeAlias = Callable[[Iterable[Any], Context], PyTree]
    IsLeaf: TypeAlias = Callable[[PyTree], bool] | None
    Which: TypeAlias = type | tuple[type, ...] | Callable[[Any], bool]
else:
    from collections import namedtuple

    NodeDef = namedtuple("NodeDef", ["flatten_fn", "unflatten_fn"])

__all__ = [
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]


def namedtuple_type(cls: type) -> bool:
    fields = getattr(cls, "_fields", None)
    return issubclass(cls, tuple) and isinstance(fields, tuple)


class NamedTuples:
    """The node type of all named tuples; their class is the context."""


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), list(d)


def _defaultdict_flatten(d: defaultdict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), [d.default_factory, list(d)]


NODES: dict[type, NodeDef] = {
    tuple: NodeDef(lambda t: (list(t), None), lambda values, _: tuple(values)),
    list: NodeDef(lambda t: (list(t), None), lambda values, _: list(values)),
    dict: NodeDef(_dict_flatten, lambda values, keys: dict(zip(keys, values, strict=True))),
    OrderedDict: NodeDef(
        _dict_flatten, lambda values, keys: OrderedDict(zip(keys, values, strict=True))
    ),
    defaultdict: NodeDef(
        _defaultdict_flatten,
        lambda values, context: defaultdict(context[0], zip(context[1], values, strict=True)),
    ),
    deque: NodeDef(lambda d: (list(d), d.maxlen), lambda values, size: deque(values, maxlen=size)),
    NamedTuples: NodeDef(
        lambda t: (list(t), type(t)),  # those of zero.return_types have no _make
        lambda values, cls: cls._make(values) if hasattr(cls, "_make") else cls(values),
    ),
}
DICTS = (dict, OrderedDict, defaultdict)


def node_type(tree: PyTree) -> type | None:
    """Under which type a value is a node; None for a leaf."""
    cls = type(tree)
    if cls in NODES:
        return cls
    return NamedTuples if namedtuple_type(cls) else None


def register_pytree_node(cls: type, flatten_fn: FlattenFunc, unflatten_fn: UnflattenFunc) -> None:
    """Makes the instances of a class nodes of trees.

    Args:
        cls: the class; its subclasses don't count.
        flatten_fn: an instance -> (list of children, context).
        unflatten_fn: (children, context) -> an instance. Contexts are compared by ``==``.

    Raises:
        ValueError: the class is a node already.

    Example:
        >>> from zero.utils._pytree import register_pytree_node, tree_map
        >>> class Pair:
        ...     def __init__(self, a, b):
        ...         self.a, self.b = a, b
        >>> register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda c, _: Pair(*c))
        >>> tree_map(lambda x: x * 2, [Pair(1, 2)])[0].b
        4
    """
    if cls in NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    NODES[cls] = NodeDef(flatten_fn, unflatten_fn)


class TreeSpec:
    """The structure of a tree without its leaves.

    Attributes:
        type: the type of the root; None for a leaf.
        context: what its node needs besides the children: the keys of a dict, for example.
        num_leaves: leaves in the tree.
        num_nodes: nodes and leaves in the tree.
        num_children: children of the root.

    Example:
        >>> from zero.utils._pytree import tree_structure
        >>> spec = tree_structure({"a": [1, 2]})
        >>> spec
        TreeSpec(dict, ['a'], [TreeSpec(list, None, [*,
            *])])
        >>> spec.unflatten("xy")
        {'a': ['x', 'y']}
    """

    __slots__ = ("_children", "context", "node", "num_children", "num_leaves", "num_nodes", "type")
    num_leaves: int
    num_nodes: int

    def __init__(
        self, type: type | None, context: Context = None, children: Iterable[TreeSpec] = ()
    ) -> None:
        self.node = type
        self.type = context if type is NamedTuples else type
        self.context = context
        self._children = list(children)
        self.num_children = len(self._children)
        self.num_leaves = sum(c.num_leaves for c in self._children) if type else 1
        self.num_nodes = 1 + sum(c.num_nodes for c in self._children)

    def children(self) -> list[TreeSpec]:
        """The structures of the root's children."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        """The structure of one child."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return self.node is None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        mine = (self.node, self.context, self._children)
        return mine == (other.node, other.context, other._children)

    def __hash__(self) -> int:  # not by the context, which may be a list
        return hash((self.node, self.num_leaves, self.num_nodes, self.num_children))

    def __repr__(self) -> str:
        return self.text(0)

    def text(self, indent: int) -> str:
        if self.node is None:
            return "*"
        name = "namedtuple" if self.node is NamedTuples else self.node.__name__
        indent += 2
        parts = [c.text(indent) for c in self._children]
        inner = (",\n" + " " * indent).join(parts)
        return f"TreeSpec({name}, {self.context!r}, [{inner}])"

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """The tree of this structure with other leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self.build(iter(leaves))

    def build(self, leaves: Iterator[Any]) -> PyTree:
        if self.node is None:
            return next(leaves)
        children = [child.build(leaves) for child in self._children]
        return NODES[self.node].unflatten_fn(children, self.context)

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """What stands in another tree in the places of this one's leaves."""
        if self.node is None:
            return [tree]
        node = node_type(tree)
        both_dicts = node in DICTS and self.node in DICTS
        if node is not self.node and not both_dicts:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        assert node is not None
        children, context = NODES[node].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(children)}."
            )
        if both_dicts:  # by their keys, whatever the order
            keys = self.context[1] if self.node is defaultdict else self.context
            if set(keys) != set(tree):
                raise ValueError(f"Node keys mismatch; expected {keys}, but got {list(tree)}.")
            children = [tree[key] for key in keys]
        elif self.node is not deque and context != self.context:
            raise ValueError(
                f"Node context mismatch; expected {self.context!r}, but got {context!r}."
            )
        found = []
        for spec, child in zip(self._children, children, strict=True):
            found += spec.flatten_up_to(child)
        return found


LEAF = TreeSpec(None)  # the structure of all leaves


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, from left to right, and its structure.

    Args:
        tree: nested containers.
        is_leaf: tells of a value whether to take it as a leaf although it may be a node.

    Example:
        >>> from zero.utils._pytree import tree_flatten, tree_unflatten
        >>> leaves, spec = tree_flatten({"a": [1, 2], "b": 3})
        >>> leaves
        [1, 2, 3]
        >>> tree_unflatten([x * 10 for x in leaves], spec)
        {'a': [10, 20], 'b': 30}
    """
    leaves: list[Any] = []
    return leaves, _structure(tree, is_leaf, leaves)


# No function inside of another: one that calls itself would be a cycle that keeps the leaves.
def _structure(tree: PyTree, is_leaf: IsLeaf, leaves: list[Any]) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else node_type(tree)
    if node is None:
        leaves.append(tree)
        return LEAF
    children, context = NODES[node].flatten_fn(tree)
    return TreeSpec(node, context, [_structure(child, is_leaf, leaves) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of a structure with given leaves; the inverse of :func:`tree_flatten`.

    Raises:
        ValueError: the number of leaves is wrong.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"tree_unflatten: not a structure; got {treespec!r}, expected a TreeSpec as second "
            "argument"
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves of a tree, one after the other."""
    node = None if is_leaf is not None and is_leaf(tree) else node_type(tree)
    if node is None:
        yield tree
    else:
        for child in NODES[node].flatten_fn(tree)[0]:
            yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree.

    Example:
        >>> from zero.utils._pytree import tree_leaves
        >>> tree_leaves([1, (2, {"x": 3}), None])
        [1, 2, 3, None]
    """
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """A tree of the same structure, with func(leaf) in the place of each leaf.

    Args:
        func: gets a leaf, and what stands in its place in each of `rests`.
        tree: nested containers, which stay as they are.
        *rests: trees with at least the same structure.
        is_leaf: tells of a value whether to take it as a leaf although it may be a node.

    Raises:
        ValueError: a tree of `rests` has another structure.

    Example:
        >>> from zero.utils._pytree import tree_map
        >>> tree_map(lambda a, b: a + b, {"x": 1, "y": [2]}, {"x": 10, "y": [20]})
        {'x': 11, 'y': [22]}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(map(func, leaves, *others))


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Calls func for every leaf, for what it does; returns the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    for arguments in zip(leaves, *others, strict=True):
        func(*arguments)
    return tree


def tree_map_only(
    type_or_types_or_pred: Which,
    /,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> PyTree:
    """tree_map for the leaves of some types only; the others stay.

    Args:
        type_or_types_or_pred: a type, a tuple of types, or a function that tells of a leaf.
        func: gets such a leaf.
        tree: nested containers.
        is_leaf: as for :func:`tree_map`.

    Example:
        >>> from zero.utils._pytree import tree_map_only
        >>> tree_map_only(int, lambda x: x + 1, [1, "a"])
        [2, 'a']
    """
    which: Any = type_or_types_or_pred
    if isinstance(which, type | tuple):
        chosen: Callable[[Any], bool] = lambda leaf: isinstance(leaf, which)
    elif callable(which):
        chosen = which
    else:
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")
    return tree_map(lambda leaf: func(leaf) if chosen(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether pred holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether pred holds for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))
