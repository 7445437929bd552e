"""The figure of watch."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zero.utils.module_watch import FirstNaN, LayerRow

__all__ = ["watch_figure"]


def watch_figure(rows: Sequence[LayerRow], first_nan: FirstNaN | None) -> Figure:
    """Layers from top to bottom; on the left mean ± std, on the right the gradient norm.

    A value that is NaN or infinite is written instead of drawn.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "watch.plot: matplotlib draws the figure, and it is not installed; "
            "print(watch) shows the same numbers"
        ) from error
    figure = Figure(figsize=(9, 1.6 + 0.32 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    norms = [row.grad_norm for row in rows if row.grad_norm is not None]
    norms = [norm for norm in norms if isfinite(norm) and norm > 0]
    if norms and max(norms) > 20 * min(norms):
        right.set_xscale("log")
    else:
        right.set_xlim(0, 1.1 * max(norms, default=1.0))
    for y, row in enumerate(rows):
        for axes, value, spread in (
            (left, row.mean, row.std),
            (right, row.grad_norm, None),
        ):
            if value is None:
                continue
            if not isfinite(value) or not isfinite(spread or 0.0):
                axes.annotate(
                    str(value),
                    (0.02, y),
                    xycoords=("axes fraction", "data"),
                    color="tab:red",
                    va="center",
                )
            elif axes is left:
                axes.errorbar(value, y, xerr=spread, fmt="o", color="tab:blue", capsize=3)
            else:
                axes.plot(value, y, "o", color="tab:orange")
    left.set_yticks(range(len(rows)), [f"{row.path} {row.class_name}".strip() for row in rows])
    left.set_ylim(len(rows) - 0.5, -0.5)
    left.axvline(0, color="0.8", linewidth=1, zorder=0)
    left.set_xlabel("output: mean ± standard deviation")
    right.set_xlabel("gradient norm of the layer's parameters")
    for axes in (left, right):
        axes.grid(axis="y", color="0.93", zorder=0)
        axes.set_axisbelow(True)
    if first_nan is not None:
        figure.suptitle(str(first_nan), color="tab:red", fontsize="medium")
    return figure
