"""Tables in plain text, as summary and watch print them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["number", "shape_text", "text_table"]


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Columns side by side under a header, with a line below it.

    Args:
        header: names of the columns.
        rows: a text for each column.
        left: how many columns are aligned to the left; the others are numbers.

    Example:
        >>> from zero.utils.text_table import text_table
        >>> print(text_table(["name", "size"], [["a", "1"], ["b", "20"]], left=1))
        name  size
        ----------
        a        1
        b       20
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([line(header), rule, *map(line, rows)])


def number(value: float | None) -> str:
    """An integer with its thousands apart, another number with four digits, "-" for None."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def shape_text(shapes: Sequence[tuple[int, ...]] | None) -> str:
    """The shapes of the tensors of a result; "-" for none."""
    return ", ".join(map(str, shapes)) if shapes else "-"
