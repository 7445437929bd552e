"""zero.utils.viz.graph: the right boxes and arrows, files, and the own layout."""

import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise
from pathlib import Path

import pytest

import zero
from zero import nn
from zero.utils import viz
from zero.utils.viz import autograd_graph
from zero.utils.viz.layout import _nearest_increasing, place

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def without_dot(monkeypatch):
    monkeypatch.setattr(autograd_graph.shutil, "which", lambda name: None)


def named(graph):
    """The edges by the first lines of the labels."""
    label = [vertex.label[0] for vertex in graph.vertices]
    return {(label[edge.source], label[edge.target]) for edge in graph.edges}


def mlp_loss():
    model = zero.nn.Sequential(zero.nn.Linear(3, 4), zero.nn.Tanh(), zero.nn.Linear(4, 1))
    return model, model(zero.ones(2, 3)).sum()


def test_mlp():
    model, loss = mlp_loss()
    graph = viz.graph(loss, dict(model.named_parameters()))
    assert [v.kind for v in graph.vertices].count("parameter") == 4
    assert viz.Vertex("parameter", ("0.weight", "(4, 3)")) in graph.vertices
    assert viz.Vertex("output", ("output", "()")) in graph.vertices
    found = named(graph)
    assert {("SumBackward0", "output"), ("AddmmBackward0", "TanhBackward0")} <= found
    assert {("0.weight", "AddmmBackward0"), ("2.bias", "AddmmBackward0")} <= found
    assert len(graph.vertices) == 9 and len(graph.edges) == 8 and graph.left_off == 0
    assert named(viz.graph(loss, model.named_parameters())) == found


def test_shared_and_unnamed_leaves():
    x = zero.ones(2, requires_grad=True)
    y = x * x
    graph = viz.graph([y.sum(), y.mean()], {"other": zero.ones(2)})
    assert graph.vertices.count(viz.Vertex("leaf", ("(2,)",))) == 1
    assert named(graph) == {
        ("(2,)", "MulBackward0"),
        ("MulBackward0", "SumBackward0"),
        ("MulBackward0", "MeanBackward0"),
        ("SumBackward0", "output 0"),
        ("MeanBackward0", "output 1"),
    }
    assert len(graph.edges) == 5


def test_a_leaf_alone():
    x = zero.ones(2, requires_grad=True)
    with zero.no_grad():
        graph = viz.graph(x, {"x": x})
    assert graph.vertices == [viz.Vertex("parameter", ("x", "(2,)"))] and graph.edges == []


def test_dot_text():
    x = zero.ones(2, requires_grad=True)
    graph = viz.graph(x.exp(), {'a "b" \\ c': x})
    assert 'label="a \\"b\\" \\\\ c\\n(2,)"' in graph.dot
    assert re.search(r"^  n1 -> n0$", graph.dot, re.M) and str(graph) == graph.dot
    assert repr(graph) == "<Graph: 3 vertices, 2 edges, 0 nodes left off>"


def test_limit():
    x = zero.ones(2, requires_grad=True)
    y = x
    for _ in range(10):
        y = y.exp()
    graph = viz.graph(y, limit=4)
    assert graph.left_off == 7  # 10 operations and a leaf
    labels = [vertex.label[0] for vertex in graph.vertices]
    assert labels == ["ExpBackward0"] * 4 + ["… 7 nodes left off", "output"]
    assert "[style=dashed]" in graph.dot and "stroke-dasharray" in graph.svg(dot=False)
    assert viz.graph(y, limit=11).left_off == 0
    assert viz.graph(y, limit=10).vertices[-2].label == ("… 1 node left off",)
    assert len(viz.graph(y, limit=None).vertices) == 12
    with pytest.raises(ValueError, match="limit is less than 1; got 0"):
        viz.graph(y, limit=0)


def test_long_graphs_do_not_recurse():
    y = zero.ones(1, requires_grad=True)
    for _ in range(100_000):
        y = y + 1
    graph = viz.graph(y)
    assert len(graph.vertices) == 502 and graph.left_off == 100_001 - 500
    assert len(viz.graph(y, limit=None).edges) == 100_001
    ElementTree.fromstring(viz.graph(y, limit=3000).svg(dot=False))


def test_errors():
    x = zero.ones(2)
    with pytest.raises(ValueError, match=r"nothing is recorded; got a tensor \(2,\)"):
        viz.graph(x)
    with pytest.raises(TypeError, match="not a tensor; got float"):
        viz.graph([1.0])
    with pytest.raises(TypeError, match="not a tensor; got Linear, expected a result such as"):
        viz.graph(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="no tensors"):
        viz.graph([])
    loss, layer = (x.requires_grad_() * 2).sum(), nn.Linear(2, 2)
    for params in (layer.parameters(), ["a"], [("a", 1.0)]):
        with pytest.raises(TypeError, match="params gives no names; got"):
            viz.graph(loss, params)


def test_the_picture_in_the_tour():
    page = Path(__file__).resolve().parent.parent / "docs" / "graph.svg"
    if not page.exists():
        pytest.skip("needs the source tree")

    class Net(nn.Module):
        def __init__(self):
            self.inner, self.outer = nn.Linear(1, 16), nn.Linear(16, 1)

        def forward(self, x):
            return self.outer(self.inner(x).tanh())

    model = Net()
    loss = model(zero.ones(400, 1)).square().mean()
    assert viz.graph(loss, model).svg(dot=False) == page.read_text(encoding="utf-8")


def test_a_model_gives_the_names():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    loss = model(zero.ones(1, 2)).sum()
    assert str(viz.graph(loss, model)) == str(viz.graph(loss, model.named_parameters()))
    assert "1.weight" in str(viz.graph(loss, model))


def test_own_svg(without_dot):
    model, loss = mlp_loss()
    names = {f"<&{name}>": parameter for name, parameter in model.named_parameters()}
    graph = viz.graph(loss, names)
    root = ElementTree.fromstring(graph._repr_svg_())
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert texts == [line for vertex in graph.vertices for line in vertex.label]
    assert "<&0.weight>" in texts
    assert len(list(root.iter(f"{SVG}rect"))) == len(graph.vertices) + 1
    arrows = [e for e in root.iter(f"{SVG}path") if e.get("marker-end")]
    assert len(arrows) == len(graph.edges)


def test_save(without_dot, tmp_path):
    _, loss = mlp_loss()
    graph = viz.graph(loss)
    graph.save(tmp_path / "g.dot")
    graph.save(str(tmp_path / "g.SVG"))
    assert (tmp_path / "g.dot").read_bytes().decode() == graph.dot
    assert (tmp_path / "g.SVG").read_bytes().decode() == graph.svg(dot=False)
    with pytest.raises(RuntimeError, match="png is drawn by Graphviz's program dot"):
        graph.save(tmp_path / "g.png")
    with pytest.raises(ValueError, match=r"unknown ending; got '.jpg', expected .dot"):
        graph.save(tmp_path / "g.jpg")
    with pytest.raises(RuntimeError, match="not installed"):
        graph.svg(dot=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.SVG", "g.dot"]


def test_save_by_dot(monkeypatch, tmp_path):
    calls = []

    def run(command, input, capture_output):
        calls.append((command, input))
        return subprocess.CompletedProcess(command, int(len(calls) == 3), b"picture", b"no memory")

    monkeypatch.setattr(autograd_graph.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(autograd_graph.subprocess, "run", run)
    graph = viz.graph(mlp_loss()[1])
    graph.save(tmp_path / "g.png")
    assert (tmp_path / "g.png").read_bytes() == b"picture"
    assert graph.svg() == "picture"
    assert [c[0] for c in calls] == [["/bin/dot", "-Tpng"], ["/bin/dot", "-Tsvg"]]
    assert calls[0][1].decode() == graph.dot
    with pytest.raises(RuntimeError, match="dot failed with status 1: no memory"):
        graph.save(tmp_path / "h.png")
    assert not (tmp_path / "h.png").exists()


@pytest.mark.skipif(autograd_graph.shutil.which("dot") is None, reason="needs graphviz")
def test_real_dot(tmp_path):
    graph = viz.graph(mlp_loss()[1])
    graph.save(tmp_path / "g.png")
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    assert "AddmmBackward0" in graph.svg()


@pytest.mark.parametrize("seed", range(20))
def test_layout(seed):
    """Boxes don't overlap and lie inside; arrows go down."""
    draw = random.Random(seed)
    count = draw.randint(1, 60)
    sizes = [(draw.uniform(20, 150), draw.choice([24.0, 39.0])) for _ in range(count)]
    pairs = [(s, t) for s, t in combinations(range(count), 2) if draw.random() < 2 / count]
    middles, paths, (width, height) = place(sizes, pairs)
    boxes = [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        for (x, y), (w, h) in zip(middles, sizes, strict=True)
    ]
    near = 1e-6
    for a, b in combinations(boxes, 2):
        beside = a[2] <= b[0] + near or b[2] <= a[0] + near
        assert beside or a[3] <= b[1] + near or b[3] <= a[1] + near
    for left, top, right, bottom in boxes:
        assert left >= -near and top >= -near and right <= width + near and bottom <= height + near
    for (source, target), path in zip(pairs, paths, strict=True):
        assert path[0] == pytest.approx((middles[source][0], boxes[source][3]))
        left, top, right, _ = boxes[target]
        assert left < path[-1][0] < right and path[-1][1] == pytest.approx(top)
        assert all(a[1] < b[1] for a, b in pairwise(path))


def test_arrows_end_side_by_side():
    """In the order in which they come."""
    _, paths, _ = place([(40, 20)] * 4 + [(100, 20)], [(i, 4) for i in range(4)])
    starts, ends = [path[0][0] for path in paths], [path[-1][0] for path in paths]
    assert len(set(ends)) == 4 and ends == [x for _, x in sorted(zip(starts, ends, strict=True))]


def test_nearest_increasing_sequence():
    assert _nearest_increasing([1.0, 5.0, 1.0, 9.0], [1.0, 1.0, 3.0, 1.0]) == [1.0, 2.0, 2.0, 9.0]
    assert _nearest_increasing([3.0, 2.0, 1.0], [1.0, 1.0, 1.0]) == [2.0, 2.0, 2.0]


def test_chain_is_straight():
    middles, _, _ = place([(50, 20)] * 5, [(i, i + 1) for i in range(4)])
    assert {x for x, _ in middles} == {25.0}


def test_nothing_is_loaded_early():
    code = (
        "import sys, zero; zero.utils\n"
        "early = {f'zero.utils.{n}' for n in ('module_summary', 'module_watch', 'viz')}\n"
        "assert not early & set(sys.modules)\n"
        "zero.utils.viz.graph, zero.utils.summary, zero.utils.watch"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert set(zero.utils.__all__) <= {*dir(zero.utils), "summary", "viz", "watch"}
