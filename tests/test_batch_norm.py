"""Batch and instance normalisation and their layers, beyond what op_db asks of every operator."""

import copy

import numpy as np
import pytest

import zero
from zero import nn
from zero.errors import DTypeError, ShapeError
from zero.nn import functional as F


def unit(x, eps=1e-5):
    """Channels of [N, C, ...] in float64."""
    x = x.astype(np.float64)
    over = (0, *range(2, x.ndim))
    mean = x.mean(over, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(over, keepdims=True) + eps)


def in_training(x, *args, **kwargs):
    return F.batch_norm(x, None, None, *args, training=True, **kwargs)


SHAPES = [
    *((64, 3), (5, 70), (1500, 2), (6, 3, 48), (2, 3, 100, 100), (9, 1, 7), (700, 1), (3, 65, 5)),
    *((40, 7, 5), (9, 33, 7, 7), (1100, 2, 3)),  # short planes
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("offset", [0, 10_000, -1e6])
def test_channels_far_from_zero_keep_their_digits(shape, offset):
    x = (offset + np.random.default_rng(0).integers(0, 7, shape)).astype(np.float32)
    y = in_training(zero.tensor(x)).numpy()
    np.testing.assert_allclose(y, unit(x), rtol=0, atol=16 * 2**-24)


@pytest.mark.parametrize("scale", [1e-18, 1e30, 1e38])
@pytest.mark.parametrize("shape", [(4, 1), (4, 2), (1, 2, 4), (2, 3, 2, 2)])
def test_large_and_small_numbers(scale, shape):
    values = np.random.default_rng(1).uniform(0.5, 3, shape)
    x = (values * scale).astype(np.float32)
    layer = nn.BatchNorm1d(shape[1], eps=1e-60, momentum=1.0)
    layer._dimensions = (2, 3, 4)
    y = layer(zero.tensor(x))
    np.testing.assert_allclose(y.detach().numpy(), unit(x, 0), rtol=0, atol=1e-5)
    over = (0, *range(2, len(shape)))
    np.testing.assert_allclose(layer.running_mean.numpy(), x.astype(float).mean(over), rtol=1e-6)
    g = np.random.default_rng(2).uniform(-1, 1, shape)
    y.backward(zero.tensor(g.astype(np.float32)))
    expected = (g * unit(x, 0)).sum(over)
    np.testing.assert_allclose(layer.weight.grad.numpy(), expected, rtol=0, atol=1e-5)


def test_gradients_far_from_zero_are_as_exact():
    rng = np.random.default_rng(3)
    for shape in SHAPES:
        x, g = rng.uniform(1000, 1010, shape), rng.uniform(-1, 1, shape)
        results = []
        for dtype in (zero.float32, zero.float64):
            v = zero.tensor(x, dtype=zero.float32).to(dtype).requires_grad_()
            w = zero.linspace(1, 2, shape[1], dtype=dtype).requires_grad_()
            b = zero.zeros(shape[1], dtype=dtype).requires_grad_()
            in_training(v, w, b).backward(zero.tensor(g, dtype=zero.float32).to(dtype))
            results.append([t.grad.double() for t in (v, w, b)])
        for found, exact in zip(*results, strict=True):
            zero.testing.assert_close(found, exact, rtol=2e-6, atol=2e-5)


@pytest.mark.parametrize("shape", [(8, 2, 2), (2, 2, 70), (7, 1, 3), (5, 3), (2, 2, 2, 3)])
def test_gradients_of_all_layouts(shape):
    x = zero.randn(shape, dtype=zero.float64).requires_grad_()
    w, b = (zero.randn(shape[1], dtype=zero.float64).requires_grad_() for _ in range(2))
    assert zero.autograd.gradcheck(in_training, (x, w, b))
    # With a graph it is a composition, which the fused pass has to agree with.
    y = in_training(x, w, b).sin().sum()
    fused = zero.autograd.grad(y, (x, w, b), retain_graph=True)
    for a, c in zip(fused, zero.autograd.grad(y, (x, w, b), create_graph=True), strict=True):
        zero.testing.assert_close(a, c, rtol=1e-10, atol=1e-12)


def test_results_do_not_depend_on_threads():
    before = zero.get_num_threads()
    for shape in [(40, 5, 33, 31), (5000, 33), (2, 3, 300, 301), (20_000, 1), (70, 30, 7, 7)]:
        x, g = zero.randn(shape), zero.randn(shape)
        results = []
        for threads in (1, 2, 3, 7):
            zero.set_num_threads(threads)
            layer = nn.BatchNorm1d(shape[1])
            layer._dimensions = (2, 4)
            v = x.clone().requires_grad_()
            y = layer(v)
            y.backward(g)
            found = (y, v.grad, layer.weight.grad, layer.running_mean, layer.running_var)
            results.append([t.detach().numpy().tobytes() for t in found])
        zero.set_num_threads(before)
        assert all(r == results[0] for r in results), shape


def test_running_statistics():
    x = zero.tensor([[1.0, 10.0], [3.0, 30.0], [8.0, 50.0]])
    layer = nn.BatchNorm1d(2, momentum=0.25)
    layer(x)
    np.testing.assert_allclose(layer.running_mean.numpy(), [1, 7.5], rtol=1e-6)
    np.testing.assert_allclose(layer.running_var.numpy(), [0.75 + 0.25 * 13, 0.75 + 100], rtol=1e-6)
    assert layer.num_batches_tracked.item() == 1 and layer.num_batches_tracked.dtype is zero.int64
    layer.eval()
    mean, var = layer.running_mean.clone(), layer.running_var.clone()
    expected = (x - mean) / (var + layer.eps).sqrt()
    zero.testing.assert_close(layer(x), expected, rtol=1e-6, atol=1e-6)
    assert zero.equal(layer.running_mean, mean) and layer.num_batches_tracked.item() == 1


def test_running_statistics_of_other_dtypes_and_layouts():
    x = zero.tensor([[1.0, 10.0], [3.0, 30.0]])
    mean, var = zero.zeros(2, dtype=zero.float64), zero.ones(4)[::2]
    version = var._version
    F.batch_norm(x, mean, var, training=True, momentum=0.5)
    assert mean.tolist() == [1.0, 10.0] and var.tolist() == [1.5, 100.5]
    assert var._version > version
    frozen = zero.zeros(2)
    F.batch_norm(x, frozen, None, training=True, momentum=0.0)
    assert frozen.tolist() == [0, 0]


def test_the_average_of_all_batches():
    layer = nn.BatchNorm1d(1, momentum=None)
    for c in (1.0, 2.0, 6.0):
        layer(zero.tensor([[c - 1], [c + 1]]))
    np.testing.assert_allclose(layer.running_mean.numpy(), [3], rtol=1e-6)
    assert layer.num_batches_tracked.item() == 3


def test_without_running_statistics():
    layer = nn.BatchNorm1d(2, track_running_stats=False)
    assert list(layer.state_dict()) == ["weight", "bias"] and layer.running_mean is None
    x = zero.randn(5, 2)
    y = layer(x)
    zero.testing.assert_close(layer.eval()(x), y)
    layer = nn.BatchNorm1d(2)
    layer.track_running_stats = False
    layer(x)
    assert layer.running_mean.tolist() == [0, 0]


def test_one_value_per_channel():
    layer = nn.BatchNorm1d(3)
    for x in (zero.ones(1, 3), zero.ones(1, 3, 1)):
        with pytest.raises(ValueError, match="one value per channel"):
            layer(x)
    assert layer.num_batches_tracked.item() == 0 and layer.running_mean.tolist() == [0] * 3
    assert layer.eval()(zero.ones(1, 3)).shape == (1, 3)
    with pytest.raises(ValueError, match="eps is too small"):
        in_training(zero.ones(2, 3), eps=0)
    with pytest.raises(ValueError, match="eps is too small"):
        F.batch_norm(zero.ones(2, 3), zero.zeros(3), zero.ones(3), eps=-1e-5)
    with pytest.raises(ValueError, match="one value in each channel"):
        nn.InstanceNorm1d(3)(zero.ones(4, 3, 1))


def test_an_empty_batch_changes_no_statistics():
    layer = nn.BatchNorm2d(3)
    x = zero.zeros(0, 3, 4, 4).requires_grad_()
    y = layer(x)
    y.sum().backward()
    assert y.shape == x.shape and x.grad.shape == x.shape
    assert layer.weight.grad.tolist() == [0] * 3 and layer.running_var.tolist() == [1] * 3


def test_integers_and_inputs_without_channels():
    x = zero.tensor([[[3], [4], [5]]])
    y = F.local_response_norm(x, 3, alpha=1.0, beta=1.0)  # sums 25, 50, 41
    assert y.flatten().tolist() == pytest.approx([3 / 9, 4 / 17, 5 / 14])
    assert in_training(zero.zeros(0)).shape == (0,)  # as in PyTorch


def test_channels_last():
    x = zero.randn(3, 5, 4, 6)
    last = x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    results = []
    for v in (x, last):
        v = v.detach().clone().requires_grad_()
        weight = zero.linspace(1, 2, 5).requires_grad_()
        y = in_training(v, weight)
        y.backward(zero.linspace(-1, 1, x.numel()).view(x.shape))
        assert y.stride() == v.stride() == v.grad.stride()
        results.append((y, v.grad, weight.grad))
    for a, b in zip(*results, strict=True):
        zero.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def test_low_precision_takes_weights_of_float32():
    x = zero.randn(8, 4, 3).bfloat16().requires_grad_()
    layer = nn.BatchNorm1d(4)
    y = layer(x)
    exact = in_training(x.detach().float())
    assert y.dtype is zero.bfloat16
    assert (y.float() - exact).abs().max() <= 2**-8 * exact.abs().max()
    y.sum().backward()
    assert x.grad.dtype is zero.bfloat16 and layer.weight.grad.dtype is zero.float32
    with pytest.raises(DTypeError, match="float64"):
        in_training(zero.ones(2, 3), zero.ones(3).double())


def test_gradients_of_evaluation_with_and_without_a_graph():
    x = zero.randn(4, 3, 5, dtype=zero.float64).requires_grad_()
    mean, var = zero.rand(3, dtype=zero.float64), zero.rand(3, dtype=zero.float64) + 0.5
    w = zero.randn(3, dtype=zero.float64).requires_grad_()
    b = zero.randn(3, dtype=zero.float64).requires_grad_()

    def call(x, w, b):
        return F.batch_norm(x, mean, var, w, b)

    assert zero.autograd.gradcheck(call, (x, w, b))
    assert zero.autograd.gradgradcheck(call, (x, w, b))
    call(x, w, b).sum().backward()  # the running ones may change before backward
    y = call(x, w, b)
    mean.zero_()
    y.sum().backward()


def test_only_what_needs_a_gradient_is_kept():
    x = zero.randn(5, 3)
    b = zero.zeros(3).requires_grad_()
    y = in_training(x, zero.ones(3), b)
    x.zero_()  # was not saved
    y.backward(zero.ones(5, 3))
    assert b.grad.tolist() == [5, 5, 5]
    v = zero.randn(5, 3).requires_grad_() * 1
    y = in_training(v)
    v.zero_()
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.sum().backward()


def test_a_wrong_call_changes_nothing():
    x = zero.randn(4, 3)
    mean, var = zero.zeros(3), zero.ones(3)
    with pytest.raises(RuntimeError, match="running_var requires a gradient"):
        F.batch_norm(x, mean, var.requires_grad_(), training=True)
    with pytest.raises(ShapeError, match="running_var"):
        F.batch_norm(x, mean, zero.ones(2), training=True)
    with pytest.raises(RuntimeError):  # one element, three times
        F.batch_norm(x, mean, zero.ones(1).expand(3), training=True)
    with pytest.raises(ValueError, match="no running_mean"):
        F.batch_norm(x, None, None)
    assert mean.tolist() == [0] * 3


def test_native_batch_norm():
    x = zero.randn(6, 3, 4)
    y, mean, rstd = zero.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    zero.testing.assert_close(y, in_training(x))
    zero.testing.assert_close(mean, x.mean((0, 2)), rtol=1e-5, atol=1e-6)
    var = x.var((0, 2), correction=0)
    zero.testing.assert_close(rstd, (var + 1e-5).rsqrt(), rtol=1e-5, atol=1e-6)
    args = (zero.zeros(3), zero.ones(3), False, 0.1, 1e-5)
    assert [len(t) for t in zero.native_batch_norm(x, None, None, *args)[1:]] == [0, 0]


def test_batch_norm_layers():
    layer = nn.BatchNorm2d(3)
    text = (
        "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"
    )
    assert repr(layer) == text
    keys = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert list(layer.state_dict()) == keys
    assert list(nn.BatchNorm1d(3, affine=False).state_dict()) == keys[2:]
    assert nn.BatchNorm1d(3, bias=False).bias is None
    for cls, shape in (
        (nn.BatchNorm1d, (2, 3, 4, 4)),
        (nn.BatchNorm2d, (2, 3)),
        (nn.BatchNorm3d, (2, 3, 4)),
    ):
        with pytest.raises(ShapeError, match=f"{cls.__name__}: got an input of shape"):
            cls(3)(zero.ones(shape))
    with pytest.raises(ShapeError, match="weight does not fit"):
        layer(zero.ones(2, 4, 2, 2))
    assert layer.num_batches_tracked.item() == 0
    old = {key: value for key, value in layer.state_dict().items() if key != keys[-1]}
    assert str(layer.load_state_dict(old)) == "<All keys matched successfully>"  # of version 1
    for momentum in (0.1, None):
        meta = nn.BatchNorm2d(3, momentum=momentum, device="meta")
        assert meta(zero.ones(2, 3, 4, 4, device="meta")).is_meta


def test_instance_norm():
    x = zero.randn(4, 3, 5) * 3 + 10
    y = F.instance_norm(x)
    np.testing.assert_allclose(y.mean(2).numpy(), 0, atol=1e-5)
    np.testing.assert_allclose(y.var(2, correction=0).numpy(), 1, atol=1e-4)
    layer = nn.InstanceNorm1d(3, track_running_stats=True, momentum=0.5)
    layer(x)
    zero.testing.assert_close(layer.running_mean, x.mean(2).mean(0) / 2, rtol=1e-5, atol=1e-5)
    zero.testing.assert_close(layer.running_var, 0.5 + x.var(2).mean(0) / 2, rtol=1e-5, atol=1e-5)
    layer.eval()
    mean, var = layer.running_mean[:, None], layer.running_var[:, None]
    zero.testing.assert_close(layer(x), (x - mean) / (var + 1e-5).sqrt(), rtol=1e-5, atol=1e-5)
    assert layer.num_batches_tracked.item() == 0  # as in PyTorch
    with pytest.raises(ValueError, match="running statistics"):
        zero.instance_norm(x, None, None, zero.zeros(3), None, True, 0.1, 1e-5)
    with pytest.raises(ValueError, match="no statistics"):
        F.instance_norm(x, use_input_stats=False)


@pytest.mark.parametrize(
    "var",
    [
        zero.ones(4),
        zero.ones(3, dtype=zero.int64),
        zero.ones(3, device="meta"),
        zero.ones(1).expand(3),
    ],
)
def test_statistics_that_do_not_fit_are_found_before_any_is_written(var):
    mean = zero.zeros(3)
    for normalize in (F.instance_norm, F.batch_norm):
        options = {"training": True} if normalize is F.batch_norm else {}
        with pytest.raises(RuntimeError):
            normalize(zero.randn(2, 3, 4), mean, var, **options)
        assert mean.tolist() == [0, 0, 0]


@pytest.mark.parametrize("tracks", [True, False])
def test_lazy_layers_without_weights_know_their_channels(tracks):
    layer = nn.LazyBatchNorm1d(affine=False, track_running_stats=tracks)
    layer.load_state_dict(nn.BatchNorm1d(3, affine=False, track_running_stats=tracks).state_dict())
    layer(zero.randn(4, 3))
    assert layer.num_features == 3
    layer = nn.LazyInstanceNorm2d(affine=False, track_running_stats=tracks)
    layer(zero.randn(2, 3, 4, 4))  # a warning is an error
    assert layer.num_features == 3


def test_instance_norm_layers():
    layer = nn.InstanceNorm2d(3, affine=True)
    assert repr(layer) == (
        "InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, "
        "track_running_stats=False)"
    )
    assert list(layer.state_dict()) == ["weight", "bias"]
    x = zero.randn(3, 4, 5)
    zero.testing.assert_close(layer(x), layer(x[None])[0])
    with pytest.raises(ShapeError, match="number of channels"):
        layer(zero.ones(2, 4, 5, 5))
    with pytest.warns(UserWarning, match="num_features is not used"):
        nn.InstanceNorm2d(3)(zero.ones(2, 4, 5, 5))
    with pytest.raises(ShapeError, match="expected 3 or 4 dimensions"):
        layer(zero.ones(2, 2))


@pytest.mark.parametrize("name", ["BatchNorm1d", "BatchNorm2d", "InstanceNorm1d", "InstanceNorm3d"])
def test_lazy_layers(name):
    dims = int(name[-2])
    layer = getattr(nn, f"Lazy{name}")(eps=1e-3)
    assert repr(layer.weight) == "<UninitializedParameter>"
    assert isinstance(layer.running_mean, nn.UninitializedBuffer)
    with pytest.raises(RuntimeError, match="shape"):
        layer.weight.shape  # noqa: B018
    with pytest.raises(ValueError, match="no elements yet"):
        layer.weight.sum()
    weight = layer.weight
    twin = copy.deepcopy(layer).double()
    x = zero.randn(2, 3, *[4] * dims)
    layer(x)
    assert type(layer) is getattr(nn, name) and layer.num_features == 3 and layer.eps == 1e-3
    assert layer.weight is weight and type(weight) is nn.Parameter and weight.shape == (3,)
    assert not layer._forward_pre_hooks
    assert twin.has_uninitialized_params() and twin(x.double()).dtype is zero.float64
    fresh = getattr(nn, f"Lazy{name}")()
    fresh.load_state_dict(layer.state_dict())
    assert not fresh.has_uninitialized_params()
    zero.testing.assert_close(fresh.running_var, layer.running_var)
    fresh(x)
    assert type(fresh) is getattr(nn, name) and fresh.num_features == 3
    lazy = getattr(nn, f"Lazy{name}")()
    state = lazy.state_dict()
    getattr(nn, f"Lazy{name}")().load_state_dict(state)
    with pytest.raises(RuntimeError, match="shape"):
        layer.load_state_dict(state)


def test_response_norm_layers():
    layer = nn.LocalResponseNorm(3)
    assert repr(layer) == "LocalResponseNorm(3, alpha=0.0001, beta=0.75, k=1.0)"
    x = zero.randn(2, 6, 3, 3)
    zero.testing.assert_close(layer(x), F.local_response_norm(x, 3))
    assert repr(nn.CrossMapLRN2d(5)) == "CrossMapLRN2d(5, alpha=0.0001, beta=0.75, k=1)"
    zero.testing.assert_close(nn.CrossMapLRN2d(3)(x), layer(x))
    even = nn.CrossMapLRN2d(4, alpha=4.0, beta=1.0)(zero.ones(1, 4, 1, 1))
    assert even.flatten().tolist() == pytest.approx([1 / 3, 1 / 4, 1 / 4, 1 / 3])
    with pytest.raises(ShapeError, match="CrossMapLRN2d"):
        nn.CrossMapLRN2d(3)(zero.ones(2, 3, 4))


def test_bilinear_layer():
    layer = nn.Bilinear(2, 3, 4)
    assert repr(layer) == "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)"
    assert [tuple(p.shape) for p in layer.parameters()] == [(4, 2, 3), (4,)]
    assert layer.weight.detach().abs().max() <= 2**-0.5
    assert layer(zero.ones(5, 2), zero.ones(5, 3)).shape == (5, 4)
    assert nn.Bilinear(2, 3, 4, bias=False).bias is None
    with pytest.raises(ValueError, match="in1_features"):
        nn.Bilinear(0, 3, 4)
