"""The graph of recorded operations as DOT text and as a picture."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import zero
from zero import Tensor, nn
from zero.utils.viz.svg import svg_text

__all__ = ["Edge", "Graph", "Vertex", "graph"]

# Fill and line of each kind of vertex.
COLORS = {
    "operation": ("#f1f3f5", "#868e96"),
    "parameter": ("#d0ebff", "#1c7ed6"),
    "leaf": ("#fff3bf", "#f08c00"),
    "output": ("#d3f9d8", "#2f9e44"),
    "left off": ("#ffffff", "#e03131"),
}


class Vertex(NamedTuple):
    """A box of the picture.

    Attributes:
        kind: "operation", "parameter" (a leaf with a name), "leaf", "output" or "left off".
        label: its text: lines, without the empty ones.
    """

    kind: str
    label: tuple[str, ...]


class Edge(NamedTuple):
    """An arrow: the vertex numbered `source` is an input of the one numbered `target`."""

    source: int
    target: int


class Graph:
    """What :func:`graph` returns. ``str()`` of it is the DOT text; notebooks show the picture.

    Attributes:
        vertices: boxes; edges refer to them by their position.
        edges: arrows in the direction of the computation, each once.
        left_off: how many recorded operations and leaves are not shown because of the limit.
    """

    def __init__(self, vertices: list[Vertex], edges: list[Edge], left_off: int) -> None:
        self.vertices = vertices
        self.edges = edges
        self.left_off = left_off

    @property
    def dot(self) -> str:
        """The graph in Graphviz's language."""
        lines = [
            "digraph {",
            '  node [shape=box style=filled height=0.3 margin="0.1,0.05"]',
            "  node [fontname=monospace fontsize=11]",
            '  edge [color="#495057" arrowsize=0.7]',
        ]
        for i, (kind, label) in enumerate(self.vertices):
            text = "\\n".join(map(_escape, label))
            fill, line = COLORS[kind]
            rounded = ' style="filled,rounded"' if kind == "operation" else ""
            lines.append(f'  n{i} [label="{text}" fillcolor="{fill}" color="{line}"{rounded}]')
        for source, target in self.edges:
            dashed = " [style=dashed]" if self.vertices[source].kind == "left off" else ""
            lines.append(f"  n{source} -> n{target}{dashed}")
        return "\n".join([*lines, "}"]) + "\n"

    def __str__(self) -> str:
        return self.dot

    def __repr__(self) -> str:
        text = f"{len(self.vertices)} vertices, {len(self.edges)} edges"
        return f"<Graph: {text}, {self.left_off} nodes left off>"

    def svg(self, dot: bool | None = None) -> str:
        """The picture as SVG text.

        Args:
            dot: whether Graphviz's program dot draws it; None: if it is installed. Without it zero
                places the boxes in layers, inputs at the top.

        Raises:
            RuntimeError: dot is True and the program is missing, or it failed.
        """
        if dot is None:
            dot = shutil.which("dot") is not None
        if dot:
            return _run_dot(self.dot, "svg").decode()
        return svg_text(self.vertices, self.edges, COLORS)

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph to a file.

        Args:
            path: with the ending .dot (or .gv) for the text, .svg for a picture, or .png, which
                Graphviz's program dot has to draw.

        Raises:
            ValueError: another ending.
            RuntimeError: a .png without the program dot, or it failed. No file is written then.
        """
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending in (".dot", ".gv"):
            content = self.dot.encode()
        elif ending == ".svg":
            content = self.svg().encode()
        elif ending == ".png":
            content = _run_dot(self.dot, "png")
        else:
            raise ValueError(
                f"save: unknown ending; got {ending!r}, expected .dot, .gv, .svg, .png"
            )
        with open(path, "wb") as file:
            file.write(content)


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _run_dot(text: str, form: str) -> bytes:
    program = shutil.which("dot")
    if program is None:
        raise RuntimeError(
            f"graph: {form} is drawn by Graphviz's program dot, which is not installed; "
            "an .svg needs nothing else"
        )
    done = subprocess.run([program, f"-T{form}"], input=text.encode(), capture_output=True)
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"graph: dot failed with status {done.returncode}: {message}")
    return done.stdout


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


def _node_of(tensor: Tensor) -> Any:
    """The node that a result comes from, or that collects the gradients of a leaf."""
    if tensor.grad_fn is not None:
        return tensor.grad_fn
    with zero.enable_grad():  # a leaf's node is the input of whatever is computed from it
        node = tensor.view_as(tensor).grad_fn
    assert node is not None
    return node.next_functions[0][0]


def _record(roots: list[Any], limit: int | None) -> tuple[dict[Any, int], list[Edge], bool, int]:
    """Walks from the results to the leaves, the nearest first.

    Returns:
        The nodes kept with their positions, edges between them (an input that is left off has
        position -1), whether there are such, and how many nodes are left off.
    """
    seen: dict[Any, int] = {}
    waiting: deque[Any] = deque()
    links: dict[Edge, None] = {}
    kept = 0

    def position(node: Any) -> int:
        nonlocal kept
        if node not in seen:
            shown = limit is None or kept < limit
            seen[node] = kept if shown else -1
            kept += shown
            waiting.append(node)
        return seen[node]

    for root in roots:
        position(root)
    while waiting:
        node = waiting.popleft()
        target = seen[node]
        for source, _ in node.next_functions:
            if source is not None:
                edge = Edge(position(source), target)
                if target >= 0:
                    links[edge] = None
    shown = {node: i for node, i in seen.items() if i >= 0}
    return shown, list(links), any(source < 0 for source, _ in links), len(seen) - kept


def _named(params: Any) -> dict[str, Tensor]:
    if params is None:
        return {}
    if isinstance(params, nn.Module):
        params = params.named_parameters()
    leaves: dict[str, Tensor] = {}
    for pair in params.items() if isinstance(params, Mapping) else params:
        # Of parameters() each would pass for a pair if it has two rows.
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Tensor)):
            raise TypeError(
                f"graph: params gives no names; got {type(pair).__name__}, expected a Module, a "
                "dict of tensors, or pairs such as those of model.named_parameters()"
            )
        leaves[str(pair[0])] = pair[1]
    return leaves


def graph(
    tensor: Tensor | Sequence[Tensor],
    params: nn.Module | Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] | None = None,
    *,
    limit: int | None = 500,
) -> Graph:
    """The recorded operations that a tensor was computed by, as a graph to look at.

    Boxes are the nodes that backward() will go through, under the names that ``grad_fn`` shows.
    Leaves show their names and shapes, results their shapes. Arrows lead from inputs to results;
    tensors without gradient are not recorded and so not shown.

    Args:
        tensor: a result, or several.
        params: names of leaves: the model, a dict, or pairs such as those of
            ``model.named_parameters()``.
        limit: at most so many nodes, those nearest to the result; a box says how many were left
            off. None shows all.

    Returns:
        A :class:`Graph`, whose ``.dot`` and ``str()`` are text; ``.save("graph.svg")`` makes a
        picture.

    Raises:
        TypeError: tensor is something else, or params gives no names.
        ValueError: the tensor has no graph, or the limit is less than 1.

    Example:
        >>> import zero
        >>> model = zero.nn.Linear(3, 2)
        >>> loss = model(zero.ones(4, 3)).sum()
        >>> print(zero.utils.viz.graph(loss, model))
        digraph {
          node [shape=box style=filled height=0.3 margin="0.1,0.05"]
          node [fontname=monospace fontsize=11]
          edge [color="#495057" arrowsize=0.7]
          n0 [label="SumBackward0" fillcolor="#f1f3f5" color="#868e96" style="filled,rounded"]
          n1 [label="AddmmBackward0" fillcolor="#f1f3f5" color="#868e96" style="filled,rounded"]
          n2 [label="weight\\n(2, 3)" fillcolor="#d0ebff" color="#1c7ed6"]
          n3 [label="bias\\n(2,)" fillcolor="#d0ebff" color="#1c7ed6"]
          n4 [label="output\\n()" fillcolor="#d3f9d8" color="#2f9e44"]
          n1 -> n0
          n2 -> n1
          n3 -> n1
          n0 -> n4
        }
        <BLANKLINE>
    """
    several = isinstance(tensor, Iterable) and not isinstance(tensor, (Tensor, str))
    outputs: list[Any] = list(tensor) if several else [tensor]
    for output in outputs:
        if not isinstance(output, Tensor):
            raise TypeError(
                f"graph: not a tensor; got {type(output).__name__}, expected a result such as a "
                "loss, or several"
            )
        if not output.requires_grad:
            raise ValueError(
                f"graph: nothing is recorded; got a tensor {_shape(output)} that doesn't require "
                "grad: was it computed under no_grad or from tensors without requires_grad?"
            )
    if not outputs:
        raise ValueError("graph: no tensors; got an empty sequence")
    if limit is not None and limit < 1:
        raise ValueError(f"graph: limit is less than 1; got {limit}")
    leaves = _named(params)
    names = {id(leaf): name for name, leaf in leaves.items()}

    roots = [_node_of(t) for t in outputs]
    nodes, edges, cut, left_off = _record(roots, limit)
    vertices = []
    for node in nodes:
        if node.name() == "AccumulateGrad":
            leaf = node.variable
            name = names.get(id(leaf), "")
            label = (name, _shape(leaf)) if name else (_shape(leaf),)
            vertices.append(Vertex("parameter" if name else "leaf", label))
        else:
            vertices.append(Vertex("operation", (node.name(),)))
    if cut:
        note = f"… {left_off} node{'s' if left_off > 1 else ''} left off"
        edges = [Edge(len(vertices) if e.source < 0 else e.source, e.target) for e in edges]
        vertices.append(Vertex("left off", (note,)))
    for number, (output, root) in enumerate(zip(outputs, roots, strict=True)):
        if output.grad_fn is None or root not in nodes:
            continue
        name = "output" if len(outputs) == 1 else f"output {number}"
        edges.append(Edge(nodes[root], len(vertices)))
        vertices.append(Vertex("output", (name, _shape(output))))
    return Graph(vertices, list(dict.fromkeys(edges)), left_off)
