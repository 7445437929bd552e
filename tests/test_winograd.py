"""Winograd's algorithm: its accuracy, its borders, its switch, and where it is taken."""

import threading

import numpy as np
import pytest

import zero
from zero.backends import winograd

# N, C, K, sizes, padding: tiles that reach over borders, several images in a group of tiles and
# several groups, blocks of 64 channels that are not full, and both ways of keeping weights. Some
# have too few pixels for the algorithm at one of the strides.
SHAPES = [
    (2, 16, 16, (8, 8), 1),
    (2, 20, 23, (13, 9), 1),
    (3, 64, 64, (4, 4), 1),
    (5, 70, 130, (7, 7), (0, 2)),
    (2, 130, 17, (5, 30), (3, 1)),
    (40, 32, 16, (6, 6), (1, 0)),
    (2, 16, 16, (40, 200), 1),
    (1, 16, 16, (3, 400), (0, 2)),
    (6, 256, 200, (8, 8), 1),
    (2, 512, 512, (14, 14), 1),
    (30, 16, 32, (28, 28), 1),
]


def results(shape, stride=1, mean=0.0, bias=True):
    """The convolution, its two gradients and the transposed one, with their values in float64."""
    n, c, k, sizes, padding = shape
    options = {"stride": stride, "padding": padding}
    zero.manual_seed(0)
    x = (zero.randn(n, c, *sizes) + mean).requires_grad_()
    w = (zero.randn(k, c, 3, 3) / (9 * c) ** 0.5).requires_grad_()
    b = zero.randn(k) if bias else None
    y = zero.conv2d(x, w, b, **options)
    g = zero.randn(*y.shape)
    z = zero.conv_transpose2d(g, w, **options)
    found = [y, *zero.autograd.grad(y, [x, w], g), z]
    x, w = (v.detach().double().requires_grad_() for v in (x, w))
    y = zero.conv2d(x, w, b.double() if bias else None, **options)
    z = zero.conv_transpose2d(g.double(), w, **options)
    return found, [y, *zero.autograd.grad(y, [x, w], g.double()), z]


def error(found, exact):
    return ((found.double() - exact).abs().max() / exact.abs().max()).item()


@pytest.mark.parametrize("mean", [0.0, 1.0])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_errors_are_below_the_bound(shape, stride, mean):
    """5e-6 of the largest value, whatever the depth: sums are cut into chunks."""
    for found, exact in zip(*results(shape, stride, mean), strict=True):
        assert found.shape == exact.shape
        assert error(found, exact) < 5e-6


def test_without_bias():
    (found, *_), (exact, *_) = results((2, 32, 40, (9, 9), 1), bias=False)
    assert error(found, exact) < 5e-6


def test_long_sums_of_a_weight_are_as_exact():
    n, c, side = 64, 16, 32
    zero.manual_seed(0)
    x, g = zero.randn(n, c, side, side) + 1, zero.randn(n, c, side, side)
    w = zero.zeros(c, c, 3, 3, requires_grad=True)
    (found,) = zero.autograd.grad(zero.conv2d(x, w, padding=1), w, g)
    w = w.detach().double().requires_grad_()
    (exact,) = zero.autograd.grad(zero.conv2d(x.double(), w, padding=1), w, g.double())
    assert error(found, exact) < 5e-6


def spread(x, w, **options):
    """How many results are not finite."""
    return int((~zero.conv2d(x, w, **options).isfinite()).sum().item())


@pytest.mark.parametrize("value", [zero.inf, zero.nan])
def test_what_is_not_finite_reaches_its_tiles_and_no_others(value):
    x, w = zero.randn(2, 16, 16, 16), zero.randn(32, 16, 3, 3)
    x[1, 3, 5, 6] = value  # in the window of one tile only
    y = zero.conv2d(x, w, padding=1)
    outside = np.ones((2, 32, 16, 16), bool)
    outside[1, :, 4:8, 4:8] = False
    assert np.isfinite(y.numpy()[outside]).all()
    near = y.numpy()[1, :, 4:7, 5:8]
    assert not np.isfinite(near).any()  # what reads it
    with winograd.flags(enabled=False):
        assert spread(x, w, padding=1) == 32 * 9


def test_what_is_not_finite_at_a_stride_of_2():
    x, w = zero.randn(1, 16, 32, 32), zero.randn(16, 16, 3, 3)
    x[0, 0, 12, 12] = zero.nan  # the second tile's in both dimensions
    y = zero.conv2d(x, w, None, 2, 1).isnan()
    assert y[0, :, 6, 6].all() and not y[0, :, :4].any() and not y[0, :, 8:].any()
    with winograd.flags(enabled=False):
        assert spread(x, w, stride=2, padding=1) == 16


def test_an_outlier_costs_accuracy_in_its_tile_only_with_the_algorithm():
    zero.manual_seed(0)
    x, w = zero.randn(1, 16, 8, 8), zero.randn(16, 16, 3, 3)
    x[0, 0, 1, 1] = 1e6
    exact = zero.conv2d(x.double(), w.double(), padding=1)
    untouched = (0, slice(None), 3, 3)  # reads rows and columns 2 to 4
    with winograd.flags(enabled=False):
        direct = zero.conv2d(x, w, padding=1)
    assert (direct.double() - exact)[untouched].abs().max().item() < 1e-4
    fast = zero.conv2d(x, w, padding=1)
    assert (fast.double() - exact)[untouched].abs().max().item() > 1e-4
    assert error(fast, exact) < 5e-6


def test_the_switch():
    x, w = zero.randn(1, 16, 8, 8), zero.randn(16, 16, 3, 3)
    assert winograd.is_available() and winograd.enabled is True
    fast = zero.conv2d(x, w)
    winograd.enabled = False
    try:
        assert winograd.enabled is False and zero.backends.winograd.enabled is False
        direct = zero.conv2d(x, w)
        assert not zero.equal(fast, direct)
        with winograd.flags(enabled=True):
            assert zero.equal(zero.conv2d(x, w), fast)
        assert zero.equal(zero.conv2d(x, w), direct)
        assert winograd.set_flags() == (False,) and winograd.enabled is False
    finally:
        assert winograd.set_flags(True) == (False,)
    assert zero.equal(zero.conv2d(x, w), fast)
    with pytest.raises(ValueError, match="stop"), winograd.flags(enabled=False):
        raise ValueError("stop")
    assert winograd.enabled is True
    for wrong in (1, None, "no"):
        with pytest.raises(TypeError, match="enabled is not a bool"):
            winograd.enabled = wrong
    assert winograd.enabled is True


def test_the_switch_holds_in_other_threads():
    seen = []
    with winograd.flags(enabled=False):
        thread = threading.Thread(target=lambda: seen.append(winograd.enabled))
        thread.start()
        thread.join()
    assert seen == [False]


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((2, 8, 8, 8), {}),  # few channels
        ((2, 32, 8, 8), {"groups": 2}),
        ((2, 16, 9, 9), {"dilation": 2}),
        ((2, 16, 9, 9), {"stride": 3}),
        ((2, 16, 9, 9), {"stride": (1, 2)}),
        ((2, 16, 4, 4), {"stride": 2}),
        ((9, 16, 2, 2), {"padding": 1}),  # tiles that are mostly empty
    ],
)
def test_other_shapes_are_computed_directly(shape, options):
    x = zero.randn(*shape)
    w = zero.randn(16, shape[1] // options.get("groups", 1), 3, 3)
    y = zero.conv2d(x, w, **options)
    with winograd.flags(enabled=False):
        assert zero.equal(zero.conv2d(x, w, **options), y)


def test_float64_is_computed_directly():
    x, w = zero.randn(2, 16, 8, 8).double(), zero.randn(16, 16, 3, 3).double()
    y = zero.conv2d(x, w)
    with winograd.flags(enabled=False):
        assert zero.equal(zero.conv2d(x, w), y)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("shape", [(9, 40, 40, (20, 20), 1), (4, 200, 200, (16, 9), 1)], ids=str)
def test_the_same_bits_on_any_number_of_threads(shape, stride):
    threads, bits = zero.get_num_threads(), []
    try:
        for count in (1, 2, 3, 7):
            zero.set_num_threads(count)
            found, _ = results(shape, stride)
            bits.append([v.detach().numpy().tobytes() for v in found])
    finally:
        zero.set_num_threads(threads)
    assert all(b == bits[0] for b in bits)


@pytest.mark.parametrize("stride", [1, 2])
def test_an_image_has_the_same_bits_in_any_batch(stride):
    x, w = zero.randn(7, 24, 15, 16), zero.randn(40, 24, 3, 3)
    y = zero.conv2d(x, w, None, stride, 1)
    for i in range(7):
        assert zero.equal(zero.conv2d(x[i : i + 1], w, None, stride, 1)[0], y[i])


def test_second_gradients():
    """The gradient of a gradient takes the same three products; against float64."""
    zero.manual_seed(0)
    x, w, g = zero.randn(2, 16, 8, 8), zero.randn(16, 16, 3, 3), zero.randn(2, 16, 8, 8)
    found = []
    for kind in (zero.float32, zero.float64):
        a, b, c = (v.to(kind).requires_grad_() for v in (x, w, g))
        y = zero.conv2d(a, b, padding=1)
        gx, gw = zero.autograd.grad(y, [a, b], c, create_graph=True)
        found.append(zero.autograd.grad((gx * gx).sum() + (gw * gw).sum(), [a, b, c]))
    for single, double in zip(*found, strict=True):
        assert error(single, double) < 3 * 5e-6  # three products one after the other
