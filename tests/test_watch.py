"""zero.utils.watch: numbers of outputs and gradients, the first NaN, the figure."""

import copy
import math
import subprocess
import sys

import pytest

import zero
from zero import nn
from zero.utils import watch


def model():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    with zero.no_grad():
        net[0].weight.copy_(zero.tensor([[1.0, 0.0], [0.0, -1.0]]))
    return net


def test_values():
    net = model()
    seen = watch(net)
    assert [row.calls for row in seen.rows] == [0, 0, 0]
    assert seen.rows[0].output_shapes is None and seen.rows[0].mean is None
    net(zero.tensor([[3.0, 4.0]])).sum().backward()
    root, linear, relu = seen.rows
    assert (linear.path, linear.class_name, linear.calls) == ("0", "Linear", 1)
    assert linear.output_shapes == [(1, 2)]
    assert (linear.mean, linear.std) == (-0.5, 3.5)  # of 3 and -4
    assert (relu.mean, relu.std) == (root.mean, root.std) == (1.5, 1.5)  # of 3 and 0
    # the gradient of the weight is [[3, 4], [0, 0]], of the bias [1, 0]
    assert linear.grad_norm == pytest.approx(math.sqrt(26), rel=1e-12)
    assert relu.grad_norm is None and root.grad_norm is None
    assert seen.first_nan is None and "first NaN: none" in str(seen)
    net(zero.ones(5, 2))
    assert seen.rows[1].calls == 2 and seen.rows[1].output_shapes == [(5, 2)]
    net.zero_grad()
    assert seen.rows[1].grad_norm is None


def test_removed():
    net = model()
    with watch(net) as seen:
        net(zero.tensor([[3.0, 4.0]])).sum().backward()
    net.zero_grad()
    net(zero.ones(7, 2))
    linear = seen.rows[1]
    assert linear.calls == 1 and linear.output_shapes == [(1, 2)]
    assert linear.grad_norm == pytest.approx(math.sqrt(26), rel=1e-12)
    assert all(len(layer._forward_hooks) == 0 for layer in net.modules())
    seen.remove()
    assert seen.rows[1] == linear


def test_results_and_gradients_are_not_changed():
    x = zero.tensor([[3.0, 4.0]])
    plain, watched = model(), model()
    watch(watched)
    for net in (plain, watched):
        net(x).sum().backward()
    assert zero.equal(plain(x), watched(x))
    assert zero.equal(plain[0].weight.grad, watched[0].weight.grad)


def test_first_nan():
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    seen = watch(net)
    net(zero.ones(1, 2))
    with zero.no_grad():
        net[1][0].weight[0, 1] = math.nan
    net(zero.ones(1, 2))
    net(zero.ones(1, 2))
    assert seen.first_nan == ("1.0", "Linear", 2, False, "weight")
    assert str(seen).endswith("first NaN: 1.0 (Linear), call 2, from its weight")
    assert math.isnan(seen.rows[0].mean) and not math.isnan(seen.rows[1].mean)


def test_nan_from_the_input():
    net = nn.Identity()
    seen = watch(net)
    net(input=zero.tensor([1.0, math.nan]))  # by keyword
    assert seen.first_nan == ("", "Identity", 1, True, None)
    assert str(seen.first_nan) == "first NaN: Identity, call 1, from its input"


def test_nan_that_the_layer_computed():
    class Root(nn.Module):
        def forward(self, x):
            return x.sqrt()

    net = Root()
    net.register_buffer("good", zero.ones(2))
    seen = watch(net)
    net(zero.tensor([-1.0]))
    assert seen.first_nan == ("", "Root", 1, False, None)
    assert str(seen.first_nan) == "first NaN: Root, call 1, its input had none"
    net.register_buffer("bad", zero.tensor([math.nan]))
    seen = watch(net)
    net(zero.tensor([-1.0]))
    assert str(seen.first_nan) == "first NaN: Root, call 1, from its bad"


def test_infinities_are_no_nan():
    net = nn.Identity()
    seen = watch(net)
    net(zero.tensor([math.inf, -math.inf]))  # their mean is NaN
    assert seen.first_nan is None and math.isnan(seen.rows[0].mean)


def test_other_outputs():
    class Net(nn.Module):
        def forward(self, x):
            return x, {"n": zero.tensor([4, 8]), "none": None}

    net = Net()
    seen = watch(net)
    net(zero.tensor([0.0, 0.0]))
    row = seen.rows[0]
    assert row.output_shapes == [(2,), (2,)]
    assert row.mean == 3.0 and row.std == pytest.approx(math.sqrt(11), rel=1e-6)
    net(zero.zeros(2, dtype=zero.float16))
    assert seen.rows[0].mean == 3.0
    identity = nn.Identity()
    seen = watch(identity)
    for nothing in (zero.zeros(0, 3), zero.zeros(2, device="meta"), "text"):
        identity(nothing)
        assert seen.rows[0].mean is None and seen.rows[0].std is None
    assert seen.rows[0].calls == 3


def test_large_and_small_gradients():
    net = nn.Linear(1, 1, bias=False)
    seen = watch(net)
    for size in (1e30, 1e-30):  # whose squares float32 doesn't hold
        net.weight.grad = zero.tensor([[size]])
        assert seen.rows[0].grad_norm == pytest.approx(size, rel=1e-6)


def test_a_copy_is_not_watched():
    net = model()
    seen = watch(net)
    twin = copy.deepcopy(net)
    twin(zero.ones(1, 2))
    assert [row.calls for row in seen.rows] == [0, 0, 0]


def test_summary_of_a_watched_model():
    net = model()
    with watch(net) as seen:
        assert zero.utils.summary(net, (3, 2)).total_parameters == 6
        net(zero.ones(1, 2))
    assert seen.rows[0].mean is not None


def test_not_a_module():
    with pytest.raises(TypeError, match="watch: model is no Module; got list"):
        watch([])


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    net = model()
    seen = watch(net)
    net(zero.tensor([[3.0, 4.0]])).sum().backward()
    figure = seen.plot()
    left, right = figure.axes
    assert [text.get_text() for text in left.get_yticklabels()] == [
        "Sequential",
        "0 Linear",
        "1 ReLU",
    ]
    assert [list(line.get_xdata()) for line in right.lines] == [[pytest.approx(math.sqrt(26))]]
    means = [c.lines[0].get_xdata()[0] for c in left.containers]
    assert means == [1.5, -0.5, 1.5]
    figure.savefig(tmp_path / "layers.png")
    assert (tmp_path / "layers.png").stat().st_size > 1000
    net(zero.tensor([[math.nan, 4.0]]))
    figure = seen.plot()
    assert [text.get_text() for text in figure.axes[0].texts] == ["nan"] * 3
    assert figure.get_suptitle() == "first NaN: 0 (Linear), call 2, from its input"


def test_plot_leaves_pyplot_alone():
    pytest.importorskip("matplotlib")
    code = (
        "import sys, zero; seen = zero.utils.watch(zero.nn.ReLU())\n"
        "assert 'matplotlib' not in sys.modules\n"
        "seen.plot(); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_plot_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="matplotlib draws the figure, and it is not installed"):
        watch(nn.ReLU()).plot()
