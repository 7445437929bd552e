"""zero.utils.summary: right numbers, and a model that is as before."""

import pytest

import zero
from zero import nn
from zero.utils import summary


class Scale(nn.Module):
    def __init__(self, features):
        self.factor = nn.Parameter(zero.ones(features))
        self.offset = zero.ones(features)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        self.last = x
        return x * self.factor + self.offset + zero.rand(1) + zero.rand(1, device="cpu").item()


class NeedsValues(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


def mlp():
    return nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10), nn.LogSoftmax(dim=-1))


def test_known_mlp():
    found = summary(mlp(), (32, 784))
    # 784 * 128 + 128 = 100,480; 128 * 10 + 10 = 1,290
    assert [row.parameters for row in found.rows] == [101_770, 100_480, 0, 1_290, 0]
    # 2 * 784 * 128 * 32; 128 * 32; 2 * 128 * 10 * 32; 5 * 10 * 32
    assert [row.flops for row in found.rows[1:]] == [6_422_528, 4_096, 81_920, 1_600]
    assert found.total_flops == found.rows[0].flops == 6_510_144
    assert found.total_parameters == found.trainable_parameters == 101_770
    assert [row.path for row in found.rows] == ["", "0", "1", "2", "3"]
    assert [row.class_name for row in found.rows[:3]] == ["Sequential", "Linear", "ReLU"]
    assert [row.output_shapes for row in found.rows[:3]] == [[(32, 10)], [(32, 128)], [(32, 128)]]
    assert found.uncounted == []
    assert "101,770 trainable, 0 not" in str(found) and repr(found) == str(found)


def test_bias_is_part_of_the_sum():
    for bias in (True, False):
        assert summary(nn.Linear(3, 5, bias=bias), (2, 7, 3)).total_flops == 2 * 3 * 5 * 14


def test_recurrent_layers():
    """Two for each weight of a matrix, step and sequence; 9 for each unit of an LSTM or a GRU."""
    assert summary(nn.LSTM(3, 4), (5, 2, 3)).total_flops == 10 * (2 * 16 * 7 + 9 * 4)
    assert summary(nn.RNN(3, 4, bidirectional=True), (5, 2, 3)).total_flops == 20 * (2 * 4 * 7 + 4)
    two = nn.LSTM(3, 4, num_layers=2, proj_size=2, bias=False, batch_first=True)
    products = 16 * 3 + 16 * 2 + 2 * 4 + 16 * 2 + 16 * 2 + 2 * 4
    assert summary(two, (2, 5, 3)).total_flops == 10 * (2 * products + 2 * 9 * 4)
    assert summary(nn.GRUCell(3, 4), (2, 3)).total_flops == 2 * (2 * 12 * 7 + 9 * 4)
    assert summary(nn.LSTMCell(3, 4), (2, 3)).total_flops == 2 * (2 * 16 * 7 + 9 * 4)
    assert summary(nn.GRUCell(3, 0), (2, 3)).total_flops == 0


@pytest.mark.parametrize(
    "layer, flops",
    [
        (nn.ReLU(), 6),
        (nn.Tanh(), 6),
        (nn.Sigmoid(), 6),
        (nn.Softmax(dim=1), 30),
        (nn.Identity(), 0),
        (nn.Flatten(), 0),
        (nn.Dropout(0.5), 6),
        (nn.Dropout(0.5).eval(), 0),
    ],
)
def test_elementwise(layer, flops):
    assert summary(layer, (2, 3)).total_flops == flops


def test_depth_hides_rows_but_not_numbers():
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU())), nn.Linear(3, 1))
    paths = {0: [""], 1: ["", "0", "1"], 2: ["", "0", "0.0", "0.1", "1"]}
    paths[None] = ["", "0", "0.0", "0.1", "0.1.0", "1"]
    for depth, expected in paths.items():
        found = summary(model, (4, 2), depth=depth)
        assert [row.path for row in found.rows] == expected
        assert (found.total_parameters, found.total_flops) == (13, 48 + 12 + 24)
    inner = summary(model, (4, 2), depth=1).rows[1]
    assert (inner.parameters, inner.flops, inner.output_shapes) == (9, 60, [(4, 3)])
    with pytest.raises(ValueError, match="depth is negative; got -1"):
        summary(model, (4, 2), depth=-1)


def test_shared_module_and_parameter_count_once():
    layer = nn.Linear(4, 4)
    tied = nn.Linear(4, 4)
    tied.weight = layer.weight
    found = summary(nn.Sequential(layer, nn.ReLU(), layer, tied), (2, 4))
    assert [row.path for row in found.rows] == ["", "0", "1", "3"]
    assert found.total_parameters == 16 + 4 + 4
    assert (found.rows[1].calls, found.rows[1].flops) == (2, 2 * 64)  # each call computes
    assert found.total_flops == 3 * 64 + 8


def test_unknown_layers_are_named():
    model = nn.Sequential(nn.Linear(2, 3), Scale(3))
    found = summary(model, (5, 2))
    assert found.rows[2].flops is None and found.uncounted == ["1"]
    assert found.total_flops == 60
    assert str(found).endswith("FLOPs: 60, without those of 1")
    found = summary(model, (5, 2), flops={Scale: lambda layer, args, y: 2 * y.numel()})
    assert found.total_flops == 90 and found.uncounted == []
    assert "the model itself" in str(summary(Scale(3), (3,)))


def test_a_rule_speaks_for_what_is_below():
    model = nn.Sequential(nn.Linear(2, 3), Scale(3))
    found = summary(model, (5, 2), flops={nn.Sequential: lambda *_: 7})
    assert found.total_flops == 7 and found.uncounted == []

    class Block(nn.Sequential):
        pass

    found = summary(
        nn.Sequential(Block(nn.Linear(2, 3), Scale(3)), nn.ReLU()),
        (5, 2),
        flops={Block: lambda *_: 7},
    )
    assert [row.flops for row in found.rows] == [22, 7, 60, None, 15] and found.uncounted == []


def test_subclasses_have_the_rule_of_their_forward():
    class Same(nn.Linear):
        pass

    class Other(nn.Linear):
        def forward(self, x):
            return super().forward(x).exp()

    assert summary(Same(2, 3), (1, 2)).total_flops == 12
    assert summary(Other(2, 3), (1, 2)).rows[0].flops is None


def test_layers_that_are_not_called():
    class Net(nn.Module):
        def __init__(self):
            self.unused = nn.Linear(3, 3)
            self.list = nn.ModuleList([nn.Linear(2, 2)])

        def forward(self, x):
            return self.list[0](x), {"x": x}

    rows = {row.path: row for row in summary(Net(), (1, 2)).rows}
    assert rows["unused"].output_shapes is None and rows["unused"].flops == 0
    assert rows["unused"].parameters == 12
    assert rows["list"].flops == 8 and rows["list"].output_shapes is None
    assert rows[""].output_shapes == [(1, 2), (1, 2)]


def test_frozen_parameters():
    model = mlp()
    model[0].weight.requires_grad_(False)
    found = summary(model, (1, 784))
    assert (found.total_parameters, found.trainable_parameters) == (101_770, 1_418)
    assert [row.trainable for row in found.rows] == [1_418, 128, 0, 1_290, 0]


def test_the_model_is_as_before():
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), Scale(3))
    model.register_buffer("count", zero.tensor([1.0]))
    model[1].eval()
    seen = []
    model[0].register_forward_hook(lambda module, args, output: seen.append(output.is_meta))
    before = dict(model.state_dict(keep_vars=True))
    attributes = {path: list(module.__dict__) for path, module in model.named_modules()}
    offset = model[2].offset
    state = zero.get_rng_state()
    summary(model, (2, 3))
    with pytest.raises(RuntimeError):
        summary(model, (2, 4))
    assert seen == [True]
    after = model.state_dict(keep_vars=True)
    assert list(after) == list(before) and all(after[name] is before[name] for name in before)
    assert {p: list(m.__dict__) for p, m in model.named_modules()} == attributes
    assert len(model[0]._forward_hooks) == 1
    assert model[2].offset is offset and model[2].calls == 0
    assert [m.training for m in model.modules()] == [True, True, False, True]
    assert zero.equal(zero.get_rng_state(), state)
    assert zero.get_default_device() == zero.device("cpu")
    assert model(zero.ones(2, 3)).device == zero.device("cpu")


def test_nothing_is_computed_or_allocated():
    with zero.device("meta"):
        model = nn.Linear(1_000_000, 1_000_000)  # 4 TB of weights
    found = summary(model, (1_000_000, 1_000_000))
    assert found.total_parameters == 1_000_001_000_000
    assert found.total_flops == 2 * 10**18


def test_inputs():
    class Net(nn.Module):
        def forward(self, x, y, factor):
            return (x + y) * factor

    x = zero.zeros(4, 3, dtype=zero.float64)
    assert summary(Net(), [x, (3,), 2.0]).rows[0].output_shapes == [(4, 3)]
    assert summary(nn.Identity(), zero.Size([2, 5])).rows[0].output_shapes == [(2, 5)]
    assert summary(nn.Identity(), ()).rows[0].output_shapes == [()]
    assert summary(nn.Linear(3, 1, dtype=zero.float64), (2, 3)).total_flops == 12
    with pytest.raises(TypeError, match="input is no tensor, size or sequence of them; got int"):
        summary(Net(), 3)
    with pytest.raises(TypeError, match="model is no Module; got function"):
        summary(lambda x: x, (3,))


def test_lazy_layers_are_named():
    model = nn.Sequential(nn.LazyLinear(3), nn.ReLU())
    with pytest.raises(RuntimeError, match="0 doesn't know its sizes yet; call the model"):
        summary(model, (2, 4))
    assert type(model[0]) is nn.LazyLinear
    model(zero.ones(2, 4))
    assert summary(model, (2, 4)).total_flops == 2 * 4 * 6 + 6


def test_what_needs_values_is_named():
    with pytest.raises(RuntimeError, match=r"(?s)failed on the meta device.*in module 1 \(Needs"):
        summary(nn.Sequential(nn.ReLU(), NeedsValues()), (2, 3))

    # A mistake in the model is not blamed on the device.
    with pytest.raises(RuntimeError, match=r"forward failed; got .*expected x.shape\[-1\] == 784"):
        summary(mlp(), (2, 3))
