"""zero.utils.viz.plot_history."""

import sys

import pytest

import zero
from zero.utils.viz import plot_history

pytest.importorskip("matplotlib")

RECORDS = [{"epoch": 1, "loss": 2.0}, {"epoch": 2, "loss": zero.tensor(1.0), "val_loss": 3}]


def curves(figure):
    return [
        {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in a.lines}
        for a in figure.axes
    ]


def test_dicts_of_lists_and_lists_of_dicts():
    expected = {"loss": ([1, 2], [2, 1]), "val_loss": ([2], [3])}
    assert curves(plot_history(RECORDS, x="epoch")) == [expected]
    lists = {"loss": [2, 1], "val_loss": (zero.tensor([3.0], requires_grad=True), 4)}
    expected = {"loss": ([0, 1], [2, 1]), "val_loss": ([0, 1], [3, 4])}
    assert curves(plot_history(lists)) == [expected]
    assert curves(plot_history({"step": [10, 20], "loss": [2, 1]}, x="step")) == [
        {"loss": ([10, 20], [2, 1])}
    ]


def test_one_chart_for_each_metric():
    names = ["train/loss", "test/loss", "accuracy", "val_accuracy", "accuracy_test", "lr"]
    figure = plot_history({name: [1, 2] for name in names}, log=True, title="all")
    assert [list(c) for c in curves(figure)] == [names[:2], names[2:5], ["lr"]]
    assert [a.get_title() for a in figure.axes] == ["loss", "accuracy", "lr"]
    assert {a.get_yscale() for a in figure.axes} == {"log"}
    assert [a.get_legend() is not None for a in figure.axes] == [True, True, False]
    assert figure.get_suptitle() == "all"


def test_smoothing():
    values = [4.0, 2.0, float("nan"), 1.0]
    (axes,) = plot_history({"loss": values}, smooth=0.5).axes
    raw, smooth = (list(line.get_ydata()) for line in axes.lines)
    assert raw[:2] == values[:2]
    second = (0.25 * 4 + 0.5 * 2) / 0.75
    fourth = (0.125 * 4 + 0.25 * 2 + 0.5 * 1) / 0.875
    assert smooth == pytest.approx([4.0, second, second, fourth])


def test_it_is_drawn_without_pyplot(tmp_path):
    loaded = "matplotlib.pyplot" in sys.modules
    plot_history(RECORDS).savefig(tmp_path / "history.png")
    assert (tmp_path / "history.png").stat().st_size > 1000
    assert loaded or "matplotlib.pyplot" not in sys.modules


def test_errors(monkeypatch):
    for history, options, text in (
        ({}, {}, "there are no numbers"),
        ([], {}, "there are no numbers"),
        ({"a": ["x"]}, {}, "a has something that is not one number; got str"),
        ({"a": [zero.ones(2)]}, {}, "a has something that is not one number; got Tensor"),
        ([1.0], {}, "a record is not a dict; got float"),
        ({"a": [1]}, {"smooth": 1}, "smooth is out of range"),
        ({"a": [1]}, {"x": "b"}, "no such curve; got x='b'"),
        ({"a": [1], "b": [1, 2]}, {"x": "b"}, "a has not one value for each of b; got 1"),
        (RECORDS, {"x": "val_loss"}, "record 0 has no 'val_loss'"),
    ):
        with pytest.raises(ValueError, match=f"plot_history: {text}"):
            plot_history(history, **options)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plot_history(RECORDS)
