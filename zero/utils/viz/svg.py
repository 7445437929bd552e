"""SVG text of a graph, drawn without other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from zero.utils.viz.layout import place

__all__ = ["svg_text"]

FONT_SIZE, CHARACTER, LINE = 12, 7.3, 15.0  # a monospace character is 0.6 of the size wide
PADDING, MARGIN = 9.0, 12.0
ARROW = 7.0  # length of an arrow's head


def _box(label: Sequence[str]) -> tuple[float, float]:
    return (
        max(map(len, label)) * CHARACTER + 2 * PADDING,
        len(label) * LINE + PADDING,
    )


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """Through all points, vertical at each of them; the last one leaves room for the head."""
    (x, y), *rest = points
    text = [f"M{x:.1f} {y:.1f}"]
    for i, (next_x, next_y) in enumerate(rest):
        end = next_y - ARROW if i == len(rest) - 1 else next_y
        half = (y + end) / 2
        text.append(f"C{x:.1f} {half:.1f} {next_x:.1f} {half:.1f} {next_x:.1f} {end:.1f}")
        x, y = next_x, next_y
    return " ".join(text)


def svg_text(
    vertices: Sequence[tuple[str, Sequence[str]]],
    edges: Sequence[tuple[int, int]],
    colors: Mapping[str, tuple[str, str]],
) -> str:
    """Draws a graph without cycles, sources at the top.

    Args:
        vertices: of each its kind and the lines of its label.
        edges: (source, target), positions in vertices.
        colors: kind -> (colour of the box, of its border).

    Example:
        >>> from zero.utils.viz.svg import svg_text
        >>> text = svg_text([("a", ["x"]), ("a", ["y"])], [(0, 1)], {"a": ("white", "black")})
        >>> text.startswith("<svg "), text.count("<rect "), text.count("<path ")
        (True, 3, 2)
    """
    sizes = [_box(label) for _, label in vertices]
    middles, paths, (width, height) = place(sizes, edges)
    width, height = width + 2 * MARGIN, height + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-MARGIN:.0f} {-MARGIN:.0f} {width:.0f} {height:.0f}" '
        f'font-family="monospace" font-size="{FONT_SIZE}" text-anchor="middle">',
        f'<defs><marker id="head" markerWidth="{ARROW}" markerHeight="{ARROW}" refY="3.5" '
        'orient="auto" markerUnits="userSpaceOnUse">'
        '<path d="M0 0.5 L7 3.5 L0 6.5 z" fill="#495057"/></marker></defs>',
        f'<rect x="{-MARGIN:.0f}" y="{-MARGIN:.0f}" width="{width:.0f}" height="{height:.0f}" '
        'fill="white"/>',
        '<g fill="none" stroke="#495057">',
    ]
    for (source, _), path in zip(edges, paths, strict=True):
        dashed = ' stroke-dasharray="4 3"' if vertices[source][0] == "left off" else ""
        lines.append(f'<path d="{_curve(path)}"{dashed} marker-end="url(#head)"/>')
    lines.append("</g>")
    for (kind, label), (w, h), (x, y) in zip(vertices, sizes, middles, strict=True):
        fill, border = colors[kind]
        corner = 6 if kind == "operation" else 1
        lines.append(
            f'<rect x="{x - w / 2:.1f}" y="{y - h / 2:.1f}" width="{w:.1f}" height="{h:.1f}" '
            f'rx="{corner}" fill="{fill}" stroke="{border}"/>'
        )
        for i, line in enumerate(label):
            base = y + (i - (len(label) - 1) / 2) * LINE + 0.35 * FONT_SIZE
            lines.append(f'<text x="{x:.1f}" y="{base:.1f}">{escape(line, quote=False)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"
