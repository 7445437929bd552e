"""Curves of what a training loop collects."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence

from zero import Tensor
from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from matplotlib.figure import Figure

    Curve = tuple[list[float], list[float]]

__all__ = ["plot_history"]

_PARTS = ("train", "training", "val", "valid", "validation", "test")


def _number(name: str, value: Any) -> float:
    if isinstance(value, Tensor):
        value = value.detach()
    try:
        return float(value)
    except (TypeError, builtins.ValueError, RuntimeError) as error:
        raise ValueError(
            f"plot_history: {name} has something that is not one number; got "
            f"{type(value).__name__}, expected numbers or tensors with one element"
        ) from error


def _metric(name: str) -> str:
    """What a curve shows, without the part of the data: "loss" for "val_loss" and "train/loss"."""
    for separator in ("/", "_", "."):
        first, found, rest = name.partition(separator)
        if found and rest and first.lower() in _PARTS:
            return rest
        rest, found, last = name.rpartition(separator)
        if found and rest and last.lower() in _PARTS:
            return rest
    return name


def _curves(history: Any, x: str | None) -> dict[str, Curve]:
    if isinstance(history, Mapping):
        if x is not None and x not in history:
            raise ValueError(f"plot_history: no such curve; got x={x!r}, expected a key of history")
        places = None if x is None else [_number(x, v) for v in history[x]]
        curves = {}
        for name, values in history.items():
            if name == x:
                continue
            numbers = [_number(name, v) for v in values]
            if places is not None and len(places) != len(numbers):
                raise ValueError(
                    f"plot_history: {name} has not one value for each of {x}; got {len(numbers)}, "
                    f"expected {len(places)}"
                )
            at = [float(i) for i in range(len(numbers))] if places is None else places
            curves[name] = at, numbers
        return curves
    curves = {}
    for i, record in enumerate(history):
        if not isinstance(record, Mapping):
            raise ValueError(
                f"plot_history: a record is not a dict; got {type(record).__name__}, expected "
                "dicts of numbers, or one dict of lists"
            )
        if x is not None and x not in record:
            raise ValueError(f"plot_history: record {i} has no {x!r}; got {list(record)}")
        place = float(i) if x is None else _number(x, record[x])
        for name, value in record.items():
            if name != x:
                at, numbers = curves.setdefault(name, ([], []))
                at.append(place)
                numbers.append(_number(name, value))
    return curves


def _smoothed(values: Sequence[float], weight: float) -> list[float]:
    """Exponential means, m = w m + (1 - w) v, divided by the sum of their weights."""
    mean, total, result = 0.0, 0.0, []
    for value in values:
        if value == value and abs(value) != float("inf"):  # others are gaps
            mean = weight * mean + (1 - weight) * value
            total = weight * total + 1 - weight
        result.append(mean / total if total else float("nan"))
    return result


def plot_history(
    history: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
    *,
    x: str | None = None,
    log: bool = False,
    smooth: float = 0.0,
    title: str | None = None,
) -> Figure:
    """Curves of losses and other numbers that a training loop collected.

    Curves of one metric for different parts of the data, such as "loss" and "val_loss" or
    "train/accuracy" and "test/accuracy", share a chart; the charts stand beside each other.

    Args:
        history: lists of numbers by name, or a list of dicts, one for each step or epoch; a name
            may be missing in some of them. Tensors with one element are numbers, too.
        x: the name of the numbers for the horizontal axis; by default it counts from 0.
        log: whether the vertical axes are logarithmic.
        smooth: from 0 to below 1; the weight of what was before in an exponential mean, which is
            drawn over the faint curve itself.
        title: above the charts.

    Returns:
        A ``matplotlib.figure.Figure``; ``figure.savefig("history.png")`` writes it. pyplot and its
        backend are not touched.

    Raises:
        ImportError: matplotlib is not installed.
        ValueError: values that are no numbers, or nothing to draw.

    Example:
        >>> from zero.utils.viz import plot_history
        >>> history = [{"loss": 1.0, "val_loss": 1.2}, {"loss": 0.5, "val_loss": 0.8}]
        >>> figure = plot_history(history, title="two epochs")
        >>> [line.get_label() for line in figure.axes[0].lines]
        ['loss', 'val_loss']
    """
    if not 0 <= smooth < 1:
        raise ValueError(f"plot_history: smooth is out of range; got {smooth}, expected [0, 1)")
    curves = _curves(history, x)
    if not any(values for _, values in curves.values()):
        raise ValueError("plot_history: there are no numbers; got an empty history")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "plot_history: matplotlib draws the figure, and it is not installed; "
            "pip install matplotlib"
        ) from error
    charts: dict[str, list[str]] = {}
    for name in curves:
        charts.setdefault(_metric(name), []).append(name)
    figure = Figure(figsize=(1 + 4.5 * len(charts), 3.6), layout="constrained")
    axes = figure.subplots(1, len(charts), squeeze=False)[0]
    for chart, (metric, names) in zip(axes, charts.items(), strict=True):
        for i, name in enumerate(names):
            at, values = curves[name]
            color = f"C{i}"
            marker = "o" if len(values) == 1 else ""
            if smooth:
                chart.plot(at, values, color=color, alpha=0.25)
                values = _smoothed(values, smooth)
            chart.plot(at, values, color=color, marker=marker, label=name)
        if log:
            chart.set_yscale("log")
        chart.set_title(metric)
        chart.set_xlabel(x or "")
        chart.grid(color="0.93")
        if len(names) > 1 or names[0] != metric:
            chart.legend()
    if title is not None:
        figure.suptitle(title)
    return figure
