"""How tensors are printed. The texts were recorded from PyTorch 2.13 (with its name replaced)."""

import math
from html.parser import HTMLParser

import pytest
from print_cases import CASES

import zero


@pytest.fixture(autouse=True)
def default_options():
    yield
    zero.set_printoptions(profile="default")


@pytest.mark.parametrize(
    "options, expression, text",
    CASES,
    ids=[f"{options or ''} {expression}".strip() for options, expression, _ in CASES],
)
def test_recorded(options, expression, text):
    zero.set_printoptions(**options)
    value = eval(expression, {"math": math, "zero": zero})
    assert (value if isinstance(value, str) else repr(value)) == text
    if isinstance(value, zero.Tensor):
        assert str(value) == text


def test_values_survive_printing():
    x = zero.tensor([0.1, 0.2, 0.3])
    numbers = [float(part) for part in repr(x)[len("tensor([") : -2].split(",")]
    assert numbers == pytest.approx(x.tolist(), abs=5e-5)


def test_options_are_kept_until_changed():
    zero.set_printoptions(precision=2, sci_mode=True)
    assert repr(zero.tensor([1.5])) == "tensor([1.50e+00])"
    zero.set_printoptions(edgeitems=2)  # sci_mode goes back, as in PyTorch; precision stays
    assert repr(zero.tensor([1.5])) == "tensor([1.50])"
    assert zero.get_printoptions() == {
        "precision": 2,
        "threshold": 1000,
        "edgeitems": 2,
        "linewidth": 80,
        "sci_mode": None,
    }


def test_context_manager_restores():
    before = zero.get_printoptions()
    with zero.printoptions(precision=1, threshold=2):
        assert repr(zero.tensor([0.25])) == "tensor([0.2])"
    assert zero.get_printoptions() == before
    with pytest.raises(ZeroDivisionError), zero.printoptions(precision=1):
        1 / 0  # noqa: B018
    assert zero.get_printoptions() == before


def test_unknown_profile_changes_nothing():
    before = zero.get_printoptions()
    with pytest.raises(ValueError, match="profile"):
        zero.set_printoptions(precision=1, profile="brief")
    assert zero.get_printoptions() == before


def test_subclass_names_itself():
    class Celsius(zero.nn.Parameter):
        pass

    assert repr(Celsius(zero.ones(2))) == (
        "Parameter containing:\nParameter(Celsius([1., 1.], requires_grad=True))"
    )


def test_printing_leaves_no_trace():
    x = zero.ones(3, requires_grad=True)
    y = x * 2
    version = y._version
    repr(y)
    assert y._version == version
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_large_tensor_prints_without_being_listed():
    """A list of all elements would take gigabytes and minutes."""
    x = zero.zeros(1).expand(50_000, 50_000)
    assert repr(x).count("\n") == 6


def test_default_dtype_decides_the_suffix():
    before = zero.get_default_dtype()
    zero.set_default_dtype(zero.float64)
    try:
        assert repr(zero.tensor([1.5])) == "tensor([1.5000])"
        one = zero.tensor([1.5], dtype=zero.float32)
        assert repr(one) == "tensor([1.5000], dtype=zero.float32)"
    finally:
        zero.set_default_dtype(before)


def test_enough_cases():
    assert len(CASES) > 300 and len({(str(o), e) for o, e, _ in CASES}) == len(CASES)


def test_format_of_a_parameter():
    """PyTorch formats plain tensors only by their number; a format spec needs one element."""
    w = zero.nn.Parameter(zero.tensor(1.5))
    assert f"{w}" == "Parameter containing:\ntensor(1.5000, requires_grad=True)"
    assert f"{w:.2f}" == "1.50"
    for x in (zero.ones(1), zero.zeros((), device="meta")):
        with pytest.raises(TypeError, match="format"):
            f"{x:.2f}"


class Cells(HTMLParser):
    """The rows of a table, and the text outside of it."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.outside, self.open, self.spans = [], "", [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        self.spans += [value for name, value in attributes if name == "colspan"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open:
            self.rows[-1].append(data)
        else:
            self.outside += data


def test_html_table():
    table = Cells(zero.tensor([[1.5, -2.0], [math.nan, 0.25]], dtype=zero.float64)._repr_html_())
    assert table.rows == [["1.5000", "-2.0000"], ["nan", "0.2500"]]
    assert table.outside == "shape (2, 2), zero.float64"
    assert Cells(zero.tensor([3, 40])._repr_html_()).rows == [["3", "40"]]
    assert Cells(zero.tensor([True])._repr_html_()).rows == [["True"]]


def test_html_is_abbreviated_and_follows_the_options():
    table = Cells(zero.arange(2000).reshape(20, 100)._repr_html_())
    assert table.rows[0] == ["0", "1", "2", "…", "97", "98", "99"]
    assert [row[0] for row in table.rows] == ["0", "100", "200", "⋮", "1700", "1800", "1900"]
    assert table.spans == ["7"]
    with zero.printoptions(precision=1, threshold=2, edgeitems=1):
        assert Cells(zero.tensor([0.25, 1, 2, 3])._repr_html_()).rows == [["0.2", "…", "3.0"]]
    with zero.printoptions(threshold=2, edgeitems=0):
        assert Cells(zero.ones(3, 3)._repr_html_()).rows == [["⋮"]]


def test_html_escapes_and_names():
    class Odd(zero.Tensor):
        pass

    Odd.__name__ = "<script>"
    assert "<script>" not in Odd([1.0])._repr_html_()
    assert Cells(Odd([1.0])._repr_html_()).outside == "<script>, shape (1,), zero.float32"
    y = zero.nn.Parameter(zero.ones(2)) * 2
    assert Cells(y._repr_html_()).outside == "shape (2,), zero.float32, grad_fn=<MulBackward0>"
    about = "Parameter, shape (1,), zero.float32, requires_grad=True"
    assert Cells(zero.nn.Parameter(zero.ones(1))._repr_html_()).outside == about


def test_no_html_where_a_table_does_not_fit():
    for x in (zero.ones(()), zero.ones(1, 1, 1), zero.ones(0, 2), zero.ones(2, device="meta")):
        assert x._repr_html_() is None
