"""Places for the boxes of a directed graph without cycles, in layers from top to bottom.

The steps are those of Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical
system structures", 1981: layers, order within the layers, coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["place"]

Point = tuple[float, float]

SWEEPS = 8
LONGEST_CHAIN = 40  # an arrow over more layers goes straight
GAP_X, GAP_Y = 24.0, 38.0
GAP_ENDS = 22.0  # between arrows that end at the same box, at most
LIGHT = 0.02  # the weight of a vertex that gives way


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Each vertex one layer above the highest of those that it leads to; 0 is the lowest."""
    sources: list[list[int]] = [[] for _ in range(count)]
    open_targets = [0] * count
    for source, target in edges:
        sources[target].append(source)
        open_targets[source] += 1
    layer = [0] * count
    ready = [v for v in range(count) if open_targets[v] == 0]
    while ready:
        vertex = ready.pop()
        for source in sources[vertex]:
            layer[source] = max(layer[source], layer[vertex] + 1)
            open_targets[source] -= 1
            if open_targets[source] == 0:
                ready.append(source)
    return layer


def _nearest_increasing(values: list[float], weights: list[float]) -> list[float]:
    """The non-decreasing sequence with the least weighted squares of differences from values."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, length
    for value, weight in zip(values, weights, strict=True):
        length = 1
        while blocks and blocks[-1][0] > value:
            mean, heavy, many = blocks.pop()
            value = (mean * heavy + value * weight) / (heavy + weight)
            weight += heavy
            length += many
        blocks.append((value, weight, length))
    return [mean for mean, _, length in blocks for _ in range(length)]


def place(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]
) -> tuple[list[Point], list[list[Point]], Point]:
    """Lays a graph out.

    Args:
        sizes: width and height of each box.
        edges: (source, target); sources are placed above targets.

    Returns:
        The middle of each box; for each edge the points that it goes through, from the middle of
        the source's lower side to the target's upper side, where edges end side by side; width and
        height of the whole.

    Example:
        >>> from zero.utils.viz.layout import place
        >>> middles, paths, size = place([(40, 20), (40, 20), (60, 20)], [(0, 2), (1, 2)])
        >>> [y for _, y in middles]
        [10.0, 10.0, 68.0]
        >>> size
        (104.0, 78.0)
    """
    layer = _layers(len(sizes), edges)
    widths = [width for width, _ in sizes]
    # A long edge gets a point of its own in each layer between.
    chains = []
    for source, target in edges:
        between = range(layer[source] - 1, layer[target], -1)
        between = between if len(between) <= LONGEST_CHAIN else range(0)
        first = len(layer)
        layer += between
        widths += [0.0] * len(between)
        chains.append([source, *range(first, len(layer)), target])
    rows: list[list[int]] = [[] for _ in range(max(layer, default=0) + 1)]
    for vertex, level in enumerate(layer):
        rows[level].append(vertex)

    above: list[list[int]] = [[] for _ in layer]
    below: list[list[int]] = [[] for _ in layer]
    for chain in chains:
        for upper, lower in pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    _order(rows, above, below)
    x = _columns(rows, widths, above, below)

    heights = [max((sizes[v][1] for v in row if v < len(sizes)), default=0.0) for row in rows]
    y = [0.0] * len(rows)
    for level in reversed(range(len(rows))):
        over = y[level + 1] + heights[level + 1] / 2 + GAP_Y if level + 1 < len(rows) else 0.0
        y[level] = over + heights[level] / 2

    middles = [(x[v], y[layer[v]]) for v in range(len(sizes))]
    paths = []
    for chain, end_x in zip(chains, _ends(chains, x, widths), strict=True):
        source, target = chain[0], chain[-1]
        start = (x[source], y[layer[source]] + sizes[source][1] / 2)
        end = (end_x, y[layer[target]] - sizes[target][1] / 2)
        paths.append([start, *((x[v], y[layer[v]]) for v in chain[1:-1]), end])
    whole = max((x[v] + widths[v] / 2 for v in range(len(x))), default=0.0)
    return middles, paths, (whole, y[0] + heights[0] / 2 if rows[0] else 0.0)


def _ends(chains: list[list[int]], x: list[float], widths: list[float]) -> list[float]:
    """x of the end of each edge: side by side at their target, in the order that they come from."""
    ends = [0.0] * len(chains)
    arriving: dict[int, list[int]] = {}
    for i, chain in enumerate(chains):
        arriving.setdefault(chain[-1], []).append(i)
    for target, edges in arriving.items():
        edges.sort(key=lambda i: x[chains[i][-2]])
        gap = min(GAP_ENDS, widths[target] / (len(edges) + 1))
        for place, i in enumerate(edges):
            ends[i] = x[target] + gap * (place - (len(edges) - 1) / 2)
    return ends


def _mean(vertices: list[int], x: list[float], pull: list[float]) -> float:
    weights = [min(pull[v], 1.0) for v in vertices]
    return sum(x[v] * w for v, w in zip(vertices, weights, strict=True)) / sum(weights)


def _order(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Sorts each layer by the mean position of the neighbours in the one before, to and fro."""
    position = [0.0] * len(above)

    def number(row: list[int]) -> None:
        for i, vertex in enumerate(row):
            position[vertex] = (i + 0.5) / len(row)

    for row in rows:
        number(row)
    for sweep in range(SWEEPS):
        upwards = sweep % 2 == 0
        near = below if upwards else above
        for row in rows if upwards else reversed(rows):
            key = {
                v: sum(position[n] for n in near[v]) / len(near[v]) if near[v] else position[v]
                for v in row
            }
            row.sort(key=key.__getitem__)
            number(row)


def _columns(
    rows: list[list[int]], widths: list[float], above: list[list[int]], below: list[list[int]]
) -> list[float]:
    """x of the middle of each vertex: near the mean of its neighbours, without overlaps."""
    x = [0.0] * len(widths)
    offsets: dict[int, list[float]] = {}  # of each layer packed tightly
    for level, row in enumerate(rows):
        offsets[level] = []
        right = 0.0
        for vertex in row:
            offsets[level].append(right + widths[vertex] / 2)
            right += widths[vertex] + GAP_X
        for vertex, offset in zip(row, offsets[level], strict=True):
            x[vertex] = offset - right / 2
    # Long arrows should be straight most of all; inputs, which nothing leads to, give way.
    pull = [4.0 if widths[v] == 0 else 1.0 if above[v] else LIGHT for v in range(len(x))]
    for sweep in range(2 * SWEEPS + 1):  # the last one draws inputs to what they lead to
        near = (below, above)[sweep % 2]
        for level in range(len(rows)) if sweep % 2 == 0 else reversed(range(len(rows))):
            row = rows[level]
            wanted = [_mean(near[v], x, pull) if near[v] else x[v] for v in row]
            weights = [pull[v] if near[v] else LIGHT for v in row]
            shifted = [w - o for w, o in zip(wanted, offsets[level], strict=True)]
            for vertex, value, offset in zip(
                row, _nearest_increasing(shifted, weights), offsets[level], strict=True
            ):
                x[vertex] = value + offset
    left = min((x[v] - widths[v] / 2 for v in range(len(x))), default=0.0)
    return [value - left for value in x]
