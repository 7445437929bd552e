"""nn.utils: parametrizations, weight and spectral norm, pruning, fusion, calls without state."""

import copy
import pickle
import warnings

import pytest

import zero
from zero import nn
from zero.errors import ShapeError
from zero.nn import functional as F
from zero.nn.utils import parametrizations, parametrize, prune
from zero.nn.utils.stateless import functional_call


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT


class Shifted(nn.Module):
    def __init__(self, by=1.0):
        self.by = by

    def forward(self, x):
        return x + self.by

    def right_inverse(self, y):
        return y - self.by


def names(module):
    return [name for name, _ in module.named_parameters()]


def test_register_and_remove():
    layer = nn.Linear(3, 3)
    weight = layer.weight
    before = weight.detach().clone()
    assert parametrize.register_parametrization(layer, "weight", Symmetric()) is layer
    assert names(layer) == ["bias", "parametrizations.weight.original"]
    assert layer.parametrizations.weight.original is weight  # an optimizer keeps it
    assert zero.equal(layer.weight, layer.weight.T) and zero.equal(weight, before)
    assert type(layer).__name__ == "ParametrizedLinear" and isinstance(layer, nn.Linear)
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    assert parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    x = zero.randn(2, 3)
    zero.testing.assert_close(layer(x), x @ layer.weight.T + layer.bias)
    layer(x).sum().backward()
    assert weight.grad.tril(-1).abs().sum() == 0 and weight.grad.triu().abs().sum() > 0
    value = layer.weight.detach().clone()
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and names(layer) == ["bias", "weight"]
    assert layer.weight is weight and zero.equal(weight, value)


def test_leave_the_original():
    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Symmetric())
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert zero.equal(layer.weight, before)


def test_assignment_and_chains():
    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Shifted(1.0))
    zero.testing.assert_close(layer.weight.detach(), before)  # by way of right_inverse
    parametrize.register_parametrization(layer, "weight", Shifted(2.0))
    zero.testing.assert_close(layer.weight.detach(), before + 2)
    layer.weight = zero.full((2, 2), 7.0)
    assert layer.weight.tolist() == [[7, 7]] * 2
    assert layer.parametrizations.weight.original.tolist() == [[4, 4]] * 2
    parametrize.register_parametrization(layer, "bias", Symmetric(), unsafe=True)
    assert len(layer.parametrizations) == 2
    with pytest.raises(RuntimeError, match="no right_inverse"):
        layer.bias = zero.ones(2)


def test_buffers_and_training_mode():
    layer = nn.BatchNorm1d(2).eval()
    shift = Shifted()
    parametrize.register_parametrization(layer, "running_mean", shift)
    assert not shift.training
    assert "parametrizations.running_mean.original" in layer.state_dict()
    assert layer.running_mean.tolist() == [0, 0]


def test_cache():
    layer = parametrizations.weight_norm(nn.Linear(2, 3))
    assert layer.weight is not layer.weight
    with parametrize.cached():
        with parametrize.cached():
            weight = layer.weight
        assert layer.weight is weight
    assert layer.weight is not weight


def test_copies_and_pickles():
    layer = parametrizations.weight_norm(nn.Linear(2, 3))
    twin = copy.deepcopy(layer)
    assert zero.equal(twin.weight, layer.weight)
    assert twin.parametrizations.weight.original1 is not layer.parametrizations.weight.original1
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(layer)
    other = parametrizations.weight_norm(nn.Linear(2, 3))
    other.load_state_dict(layer.state_dict())
    assert zero.equal(other.weight, layer.weight)


def test_a_copy_has_parametrizations_of_its_own():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Symmetric())
    twin = copy.deepcopy(layer)
    assert type(twin) is not type(layer) and isinstance(twin, nn.Linear)
    parametrize.register_parametrization(twin, "bias", Shifted())
    assert names(layer) == ["bias", "parametrizations.weight.original"] and layer.bias.dim() == 1
    parametrize.remove_parametrizations(twin, "bias")
    parametrize.remove_parametrizations(twin, "weight")
    assert type(twin) is nn.Linear and layer.weight.shape == twin.weight.shape
    third = copy.deepcopy(copy.deepcopy(layer))
    assert third.weight.equal(layer.weight)


def test_a_refused_parametrization_leaves_the_values():
    class Row(nn.Module):
        def forward(self, x):
            return x[0]

        def right_inverse(self, y):
            return y * 0

    layer = nn.Linear(2, 2)
    weight, before = layer.weight, layer.weight.detach().clone()
    with pytest.raises(ValueError, match="another shape"):
        parametrize.register_parametrization(layer, "weight", Row())
    assert layer.weight is weight and weight.equal(before) and type(layer) is nn.Linear


def test_refusals():
    class Rows(nn.Module):
        def forward(self, x):
            return x[:1]

    class Double(nn.Module):
        def forward(self, x):
            return x.double()

    layer = nn.Linear(2, 2)
    for module, words in ((Rows(), "another shape"), (Double(), "another dtype")):
        with pytest.raises(ValueError, match=words):
            parametrize.register_parametrization(layer, "weight", module)
        assert names(layer) == ["weight", "bias"]
    with pytest.raises(ValueError, match="no parameter"):
        parametrize.register_parametrization(layer, "weigth", Shifted())
    with pytest.raises(ValueError, match="no parametrized"):
        parametrize.remove_parametrizations(layer, "weight")
    parametrizations.weight_norm(layer)
    with pytest.raises(ValueError, match="several tensors"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)


def test_transfer():
    source = nn.Linear(2, 2)
    parametrize.register_parametrization(source, "weight", Shifted(3.0))
    target = nn.Linear(2, 2)
    parametrize.transfer_parametrizations_and_params(source, target)
    zero.testing.assert_close(target.weight, source.weight)
    with zero.no_grad():
        target.parametrizations.weight.original.zero_()
    assert source.parametrizations.weight.original.abs().sum() > 0


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(dim):
    x = zero.randn(4, 3)
    layer = nn.Linear(3, 2)
    before = layer.weight.detach().clone()
    parametrizations.weight_norm(layer, dim=dim)
    g, v = layer.parametrizations.weight.original0, layer.parametrizations.weight.original1
    assert tuple(g.shape) == {0: (2, 1), 1: (1, 3), None: ()}[dim] and v.shape == (2, 3)
    zero.testing.assert_close(layer.weight.detach(), before)
    layer(x).sum().backward()
    # A direction has no length, so a change along it has no effect.
    assert abs((v.grad * v).sum().item()) < 1e-5 and g.grad.shape == g.shape

    old = nn.Linear(3, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nn.utils.weight_norm(old, dim=dim)
    assert names(old) == ["bias", "weight_g", "weight_v"]
    layer.load_state_dict(old.state_dict())  # the older form's names are known
    zero.testing.assert_close(layer(x), old(x))
    with zero.no_grad():
        old.weight_g.mul_(2)
    zero.testing.assert_close(old(x) - old.bias, 2 * (layer(x) - layer.bias), rtol=1e-5, atol=1e-5)
    nn.utils.remove_weight_norm(old)
    assert names(old) == ["bias", "weight"] and not old._forward_pre_hooks
    zero.testing.assert_close(old(x) - old.bias, 2 * (layer(x) - layer.bias), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="has no weight_norm"):
        nn.utils.remove_weight_norm(old)


def test_spectral_norm():
    zero.manual_seed(0)
    layer = nn.Linear(5, 4)
    parametrizations.spectral_norm(layer)
    for _ in range(200):
        layer.weight  # noqa: B018  # a step of power iteration
    norm = layer.parametrizations.weight[0]
    zero.testing.assert_close(layer.weight.detach() @ norm._v, norm._u, rtol=1e-3, atol=1e-3)
    layer.eval()
    assert zero.equal(layer.weight, layer.weight)
    layer.weight.sum().backward()
    old = nn.Linear(5, 4)
    nn.utils.spectral_norm(old, n_power_iterations=20)
    assert names(old) == ["bias", "weight_orig"] and "weight_u" in dict(old.named_buffers())
    y = old(zero.eye(5)) - old(zero.zeros(5))  # two calls, one backward
    y.sum().backward()
    old.eval()
    old(zero.ones(5))
    assert abs((old.weight @ old.weight_v).norm().item() - 1) < 0.02
    weight = old.weight.detach().clone()
    nn.utils.remove_spectral_norm(old)
    zero.testing.assert_close(old.weight.detach(), weight)
    assert names(old) == ["bias", "weight"] and not dict(old.named_buffers())
    for conv, rows in ((nn.Conv2d(3, 5, 2), 5), (nn.ConvTranspose2d(3, 5, 2), 5)):
        assert nn.utils.spectral_norm(conv).weight_u.shape == (rows,)
    vector = nn.Linear(5, 4)
    vector.bias.data.fill_(3.0)
    parametrizations.spectral_norm(vector, "bias")
    assert abs(vector.bias.norm().item() - 1) < 1e-6
    with pytest.raises(ValueError, match="n_power_iterations"):
        nn.utils.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)
    with pytest.raises(RuntimeError, match="has one already"):
        nn.utils.spectral_norm(nn.utils.spectral_norm(nn.Linear(2, 2)))


def test_orthogonal_is_said_to_be_missing():
    with pytest.raises(AttributeError, match="PyTorch has it"):
        parametrizations.orthogonal  # noqa: B018


# ---- pruning -----------------------------------------------------------------------------------


def linear(*rows):
    layer = nn.Linear(len(rows[0]), len(rows))
    layer.weight.data = zero.tensor(rows)
    return layer


def test_l1_unstructured_in_steps():
    layer = linear([1.0, -2.0, 3.0], [4.0, 0.5, -6.0])
    prune.l1_unstructured(layer, "weight", amount=2)
    assert layer.weight.tolist() == [[0, -2, 3], [4, 0, -6]]
    assert names(layer) == ["bias", "weight_orig"] and "weight_mask" in layer.state_dict()
    prune.l1_unstructured(layer, "weight", amount=0.5)  # of the four that are left
    assert layer.weight_mask.tolist() == [[0, 0, 0], [1, 0, 1]]
    assert len(layer._forward_pre_hooks) == 1 and prune.is_pruned(nn.Sequential(layer))
    layer(zero.ones(1, 3)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[0, 0, 0], [1, 0, 1]]
    prune.remove(layer, "weight")
    assert names(layer) == ["bias", "weight"] and not prune.is_pruned(layer)
    assert layer.weight.tolist() == [[0, 0, 0], [4, 0, -6]]
    with pytest.raises(ValueError, match="not pruned"):
        prune.remove(layer, "weight")


def test_structured_and_random():
    layer = linear([1.0, 5.0], [2.0, 2.0], [0.1, 0.1])
    prune.ln_structured(layer, "weight", amount=1, n=1, dim=0)
    assert layer.weight_mask[:, 0].tolist() == [1, 1, 0]
    prune.ln_structured(layer, "weight", amount=1, n=float("inf"), dim=0)
    assert layer.weight_mask[:, 0].tolist() == [1, 0, 0]
    layer = nn.Linear(10, 4)
    prune.random_structured(layer, "weight", amount=0.5, dim=1)
    assert sorted(layer.weight_mask.sum(0).tolist()) == [0] * 5 + [4] * 5
    prune.random_unstructured(layer, "bias", amount=0.25)
    assert layer.bias_mask.sum() == 3
    with pytest.raises(ValueError, match="no channels"):
        prune.ln_structured(nn.Linear(2, 2), "bias", amount=1, n=2, dim=0)
    for amount in (-1, 1.5):
        with pytest.raises(ValueError, match="amount"):
            prune.random_unstructured(layer, "weight", amount=amount)
    layer = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="larger than what there is"):
        prune.l1_unstructured(layer, "weight", amount=5)
    assert names(layer) == ["weight", "bias"]
    with pytest.raises(TypeError, match="no number"):
        prune.l1_unstructured(layer, "weight", amount="1")


def test_global_pruning_and_scores():
    a, b = linear([1.0, 2.0]), linear([3.0, 4.0])
    pairs = [(a, "weight"), (b, "weight")]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.5)
    assert a.weight.tolist() == [[0, 0]] and b.weight.tolist() == [[3, 4]]
    prune.global_unstructured(
        pairs, prune.L1Unstructured, {(b, "weight"): zero.tensor([[9.0, 1.0]])}, amount=1
    )
    assert b.weight.tolist() == [[3, 0]]
    with pytest.raises(TypeError, match="unstructured"):
        prune.global_unstructured(pairs, prune.LnStructured, amount=1, n=1)
    layer = nn.Linear(2, 2)
    scores = {(layer, "weight"): zero.ones(6), (layer, "bias"): zero.ones(0)}  # six in all, too
    pairs = list(scores)
    with pytest.raises(ShapeError, match="importance_scores do not fit"):
        prune.global_unstructured(pairs, prune.L1Unstructured, scores, amount=1)
    assert not prune.is_pruned(layer)


def test_masks_of_ones_own():
    layer = linear([1.0, 2.0])
    prune.custom_from_mask(layer, "weight", zero.tensor([[0, 1]]))
    prune.identity(layer, "bias")
    assert layer.weight.tolist() == [[0, 2]] and layer.bias_mask.tolist() == [1]
    with zero.no_grad():
        layer.weight_orig.fill_(5)
    layer(zero.ones(1, 2))
    assert layer.weight.tolist() == [[0, 5]]

    class Threshold(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            return default_mask * (t.abs() > 1)

    layer = linear([1.0, 2.0])
    Threshold.apply(layer, "weight")
    assert layer.weight.tolist() == [[0, 2]]
    assert prune.L1Unstructured(1).prune(zero.tensor([1.0, -3.0])).tolist() == [0, -3]


# ---- the rest ----------------------------------------------------------------------------------


def test_fusion():
    linear, bn = nn.Linear(4, 3), nn.BatchNorm1d(3)
    for _ in range(3):
        bn(linear(zero.randn(8, 4)))
    with zero.no_grad():
        bn.weight.uniform_(0.5, 2)
        bn.bias.uniform_(-1, 1)
    x = zero.randn(5, 4)
    with pytest.raises(ValueError, match="in training"):
        nn.utils.fuse_linear_bn_eval(linear, bn)
    linear.eval(), bn.eval()
    fused = nn.utils.fuse_linear_bn_eval(linear, bn)
    zero.testing.assert_close(fused(x), bn(linear(x)), rtol=1e-5, atol=1e-5)
    bare = nn.Linear(4, 3, bias=False).eval()
    fused = nn.utils.fuse_linear_bn_eval(bare, bn)
    zero.testing.assert_close(fused(x), bn(bare(x)), rtol=1e-5, atol=1e-5)
    for conv, transpose in ((nn.Conv1d(2, 3, 2), False), (nn.ConvTranspose1d(2, 3, 2), True)):
        conv.eval()
        x = zero.randn(2, 2, 5)
        fused = nn.utils.fuse_conv_bn_eval(conv, bn, transpose=transpose)
        zero.testing.assert_close(fused(x), bn(conv(x)), rtol=1e-5, atol=1e-5)
    w, b = nn.utils.fuse_conv_bn_weights(
        zero.ones(2, 3, 1), None, zero.ones(3), zero.ones(3) * 4, 0, None, None, transpose=True
    )
    assert w.flatten().tolist() == [0.5] * 6 and b.tolist() == [-0.5] * 3


def test_skip_init():
    layer = nn.utils.skip_init(nn.Linear, 3, 2, dtype=zero.float64)
    assert layer.weight.shape == (2, 3) and layer.weight.dtype is zero.float64
    assert layer.weight.device.type == "cpu"
    with pytest.raises(ValueError, match="device"):
        nn.utils.skip_init(nn.ReLU)
    with pytest.raises(ValueError, match="class of modules"):
        nn.utils.skip_init(int)


def test_memory_format_of_convolutions():
    model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ConvTranspose2d(4, 3, 2), nn.Linear(2, 2))
    before = [p.detach().clone() for p in model.parameters()]
    nn.utils.convert_conv2d_weight_memory_format(model, zero.channels_last)
    assert model[0].weight.is_contiguous(memory_format=zero.channels_last)
    assert model[1].weight.is_contiguous(memory_format=zero.channels_last)
    assert all(zero.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    volumes = nn.Conv3d(2, 4, 3)
    nn.utils.convert_conv3d_weight_memory_format(volumes, zero.channels_last_3d)
    assert volumes.weight.is_contiguous(memory_format=zero.channels_last_3d)


def test_functional_call():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model[1].register_parameter("tied", model[0].weight)
    new = {"0.weight": zero.eye(2).requires_grad_(), "0.bias": zero.zeros(2)}
    own = dict(model.named_parameters())
    x = zero.tensor([[1.0, 2.0], [3.0, 5.0]])
    y = functional_call(model, new, x)
    zero.testing.assert_close(y, F.batch_norm(x, None, None, training=True))
    y[0, 0].backward()
    assert new["0.weight"].grad is not None and own["0.weight"].grad is None
    assert dict(model.named_parameters()) == own
    with pytest.raises(ValueError, match="unexpected"):
        functional_call(model, {"2.weight": x}, x)
    with pytest.raises(ValueError, match="missing"):
        functional_call(model, new, x, strict=True)
    with pytest.raises(ValueError, match="one tensor"):
        functional_call(model, {"0.weight": x, "1.tied": x + 1}, x)
    functional_call(model, {"0.weight": x, "1.tied": x + 1}, x, tie_weights=False)
    with pytest.raises(TypeError, match="no tensor"):
        functional_call(model, {"0.weight": 1}, x)
    assert dict(model.named_parameters()) == own


def test_functional_call_of_parametrized_modules_and_of_buffers():
    layer = parametrizations.weight_norm(nn.Linear(2, 1))
    weight = zero.ones(1, 2)
    y = functional_call(layer, {"weight": weight, "bias": zero.zeros(1)}, zero.ones(3, 2))
    assert y.flatten().tolist() == [2, 2, 2] and not zero.equal(layer.weight, weight)

    class Counter(nn.Module):
        def __init__(self):
            self.register_buffer("count", zero.zeros(()))

        def forward(self):
            self.count = self.count + 1
            return self.count

    counter, state = Counter(), {"count": zero.tensor(5.0)}
    assert functional_call(counter, state).item() == 6
    assert counter.count.item() == 0 and state["count"].item() == 6


def test_functional_call_of_a_parametrized_module_with_two_paths_or_a_copy():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Symmetric())
    other, x = zero.ones(2, 2), zero.ones(1, 2)
    own = layer.weight.detach().clone()
    functional_call(nn.Sequential(layer, layer), {"0.weight": other, "1.weight": other}, x)
    assert layer.weight.equal(own) and isinstance(type(layer).weight, property)

    twin = copy.deepcopy(layer)
    for part in (layer, twin):
        nn.init.zeros_(part.bias)
        part.parametrizations.weight.original.data = zero.eye(2)
    y = functional_call(nn.Sequential(layer, twin), {"0.weight": other}, x)
    assert y.tolist() == [[2.0, 2.0]]


def test_paths_of_pytorch():
    import zero.nn.modules.batchnorm
    from zero.nn.modules.batchnorm import BatchNorm2d, _BatchNorm
    from zero.nn.modules.conv import Conv2d
    from zero.nn.modules.linear import Linear
    from zero.nn.modules.module import Module, register_module_forward_hook

    from zero.nn.modules import Linear as ByPackage
    from zero.nn.modules.utils import _pair, _reverse_repeat_tuple, _triple
    from zero.nn.parameter import Parameter, UninitializedParameter, is_lazy

    assert BatchNorm2d is nn.BatchNorm2d and issubclass(BatchNorm2d, _BatchNorm)
    assert Conv2d is nn.Conv2d
    assert Linear is ByPackage is nn.Linear and Module is nn.Module
    assert callable(register_module_forward_hook)
    assert zero.nn.modules.sparse.Embedding is nn.Embedding
    assert zero.nn.modules.pixelshuffle.PixelShuffle is nn.PixelShuffle
    assert zero.nn.modules.channelshuffle.ChannelShuffle is nn.ChannelShuffle
    assert _pair(3) == (3, 3) and _triple([1, 2, 3]) == (1, 2, 3)
    assert _reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    assert is_lazy(UninitializedParameter()) and not is_lazy(Parameter(zero.ones(1)))
    with pytest.raises(AttributeError, match="no attribute"):
        zero.nn.modules.batchnorm.nonsense  # noqa: B018
