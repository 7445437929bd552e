"""Padding, pooling and resampling, beyond what op_db asks of every operator."""

import math
import warnings

import numpy as np
import pytest

import zero
from zero import nn
from zero.errors import DTypeError, ShapeError
from zero.nn import functional as F

NAN, INF = float("nan"), float("inf")


def same(found, expected):
    np.testing.assert_array_equal(np.array(found.tolist()), np.array(expected))


# ---- padding -------------------------------------------------------------------------------------
def test_negative_pads_cut_off_what_is_there():
    x = zero.arange(5.0).view(1, 1, 5)
    same(F.pad(x, (-1, -2)), [[[1, 2]]])
    same(F.pad(x, (-2, 1)), [[[2, 3, 4, 0]]])
    same(F.pad(x, (-1, 2), "reflect"), [[[1, 2, 3, 4, 3, 2]]])
    same(F.pad(x, (-1, 2), "replicate"), [[[1, 2, 3, 4, 4, 4]]])
    same(F.pad(x, (2, -1), "circular"), [[[2, 3, 0, 1, 2, 3]]])
    same(zero.constant_pad_nd(x, (0, 0, 1, 0), 7), [[[7] * 5, [0, 1, 2, 3, 4]]])


def test_padding_gives_a_copy():
    x = zero.ones(1, 1, 3)
    for mode in ("constant", "reflect", "replicate", "circular"):
        y = F.pad(x, (0, 0), mode)
        y.zero_()
    assert x.tolist() == [[[1, 1, 1]]]


def test_pads_beyond_all_sizes_are_refused():
    x = zero.ones(1, 3)
    for pads in ((2**63 - 1, 2**63 - 1), (-(2**63), -(2**63)), (2**62, 2**62)):
        for mode in ("constant", "replicate"):
            with pytest.raises(ShapeError, match="too large"):
                F.pad(x, pads, mode)


def test_padding_keeps_every_dtype():
    for dtype in (zero.bool, zero.uint8, zero.int16, zero.int64, zero.bfloat16, zero.float64):
        x = zero.tensor([[[1, 0, 1]]]).to(dtype)
        assert F.pad(x, (1, 1), value=1).dtype is dtype
        y = F.pad(x, (2, 1), "reflect")
        assert y.dtype is dtype and y.double().tolist() == [[[1, 0, 1, 0, 1, 0]]]


def test_gradients_of_pads_that_cut_and_add():
    for mode in ("constant", "reflect", "replicate", "circular"):
        x = zero.randn(1, 2, 4, 5, dtype=zero.float64, requires_grad=True)
        for pads in ((-1, 2, 1, -2), (2, -1), (-1, -1, 0, 1)):
            pads = pads if mode == "constant" else (*pads, 0, 0)[:4]
            assert zero.autograd.gradcheck(lambda t, p=pads, m=mode: F.pad(t, p, m), (x,))
            assert zero.autograd.gradgradcheck(lambda t, p=pads, m=mode: F.pad(t, p, m), (x,))


# ---- the largest element -------------------------------------------------------------------------
def test_nan_is_the_largest_and_the_first_of_equals_counts():
    x = zero.tensor([[[1.0, NAN, 2.0, 3.0, NAN, NAN, 7.0, 7.0]]])
    y, i = F.max_pool1d(x, 2, return_indices=True)
    assert np.isnan(y[0, 0, 0].item()) and np.isnan(y[0, 0, 2].item())
    assert y[0, 0, 1].item() == 3 and i.tolist() == [[[1, 3, 4, 6]]]
    assert F.adaptive_max_pool1d(x, 1).isnan().all()
    plane = zero.tensor([[[2.0, 2.0], [2.0, 2.0]]])
    assert F.max_pool2d(plane, 2, return_indices=True)[1].item() == 0
    plane[0, 0, 0] = 1
    assert F.max_pool2d(plane, 2, return_indices=True)[1].item() == 1  # not the one below
    plane[0, 1, 1] = NAN
    assert F.max_pool2d(plane, 2, return_indices=True)[1].item() == 3


def test_padding_never_wins():
    x = zero.full((1, 2, 2), -5.0)
    assert (F.max_pool2d(x, 2, 1, 1) == -5).all()
    low = zero.full((1, 3), -INF)
    y, i = F.max_pool1d(low, 3, 1, 1, return_indices=True)
    assert (y == -INF).all() and i.tolist() == [[0, 0, 1]]
    least = zero.full((1, 4), -(2**63), dtype=zero.int64)
    assert (F.max_pool1d(least, 2, 1, 1) == -(2**63)).all()


def test_a_window_between_all_elements_is_minus_infinity():
    x = zero.ones(1, 1, requires_grad=True)
    y = F.max_pool1d(x, 2, 1, 2, 3)  # the first window has places -2 and 1
    assert y.tolist() == [[-INF, -INF]]
    y.sum().backward()
    assert x.grad.tolist() == [[0]]


def test_max_pool_gradient_goes_to_the_largest_and_adds_up():
    x = zero.tensor([[1.0, 5.0, 2.0, 0.0]], requires_grad=True)
    F.max_pool1d(x, 2, 1).backward(zero.tensor([[1.0, 10.0, 100.0]]))
    assert x.grad.tolist() == [[0, 11, 100, 0]]


@pytest.mark.parametrize("dtype", [zero.float32, zero.float64])
def test_squares_of_every_width_and_height(dtype):
    rng = np.random.default_rng(0)
    for height, width in [*((5, w) for w in range(2, 40)), (2, 16), (4, 17), (9, 24)]:
        x = rng.integers(-3, 4, (2, 3, height, width)).astype("float64")  # with ties
        g = rng.uniform(1, 2, (2, 3, height // 2, width // 2)).astype("float32")
        rows, columns = height // 2 * 2, width // 2 * 2
        windows = x[..., :rows, :columns].reshape(2, 3, rows // 2, 2, columns // 2, 2)
        windows = windows.transpose(0, 1, 2, 4, 3, 5).reshape(*g.shape, 4)
        spread = g[..., None] * (np.arange(4) == windows.argmax(-1)[..., None])  # first of ties
        dx = np.zeros_like(x)
        spread = spread.reshape(*g.shape, 2, 2).transpose(0, 1, 2, 4, 3, 5)
        dx[..., :rows, :columns] = spread.reshape(2, 3, rows, columns)

        leaf = zero.tensor(x, dtype=dtype, requires_grad=True)
        y = F.max_pool2d(leaf, 2)
        same(y, windows.max(-1))
        y.backward(zero.tensor(g, dtype=dtype))
        same(leaf.grad, dx)


def test_max_pool_of_a_large_kernel_and_of_many_columns():
    rng = np.random.default_rng(0)
    for n in (1, 7, 16, 33, 130):
        for step in (1, 2, 3):
            a = rng.integers(0, 9, (3, 5, n)).astype(np.float32)
            y, i = F.max_pool2d(zero.tensor(a), (5, min(n, 4)), (1, step), return_indices=True)
            for c in range(3):
                for o in range(y.shape[-1]):
                    block = a[c, :, o * step : o * step + min(n, 4)]
                    r, k = np.unravel_index(block.argmax(), block.shape)
                    assert y[c, 0, o].item() == block.max()
                    assert i[c, 0, o].item() == r * n + o * step + k


def test_a_stride_beyond_the_input_leaves_one_window():
    x = zero.arange(5.0).view(1, 5)
    for ceil_mode in (False, True):
        assert F.max_pool1d(x, 2, 2**63 - 1, ceil_mode=ceil_mode).tolist() == [[1]]


def test_denormal_numbers_are_compared():
    x = zero.tensor([[1e-40, 2e-40]])
    assert F.max_pool1d(x, 2, return_indices=True)[1].item() == 1


# ---- averages ------------------------------------------------------------------------------------
def test_last_windows_in_ceil_mode():
    y = F.avg_pool2d(zero.ones(1, 1, 6, 7), 1, 2, 0, True)
    assert y.shape == (1, 1, 3, 4) and (y == 1).all()  # none begins outside
    x = zero.arange(49.0).view(1, 1, 7, 7)
    same(
        F.avg_pool2d(x, 2, 3, ceil_mode=True),
        [[[[4, 7, 9.5], [25, 28, 30.5], [42.5, 45.5, 48]]]],
    )
    ones = zero.ones(1, 5)
    same(F.avg_pool1d(ones, 3, 2, 1, True), [[np.float32(2 / 3), 1, np.float32(2 / 3)]])
    same(F.avg_pool1d(ones, 3, 2, 1, True, False), [[1, 1, 1]])


def test_divisor_override_counts_whatever_the_padding_does():
    x = zero.ones(1, 1, 2, 2)
    for include in (True, False):
        y = F.avg_pool2d(x, 2, 2, 1, count_include_pad=include, divisor_override=3)
        assert (y == np.float32(1 / 3)).all()


def test_averages_of_equal_numbers_are_exact():
    for n in (3, 5, 7, 9):
        x = zero.full((1, 1, n, n), 1.0)
        assert F.avg_pool2d(x, n).item() == 1 and F.adaptive_avg_pool2d(x, 1).item() == 1


def test_averages_in_low_precision_do_not_overflow():
    x = zero.full((1, 1, 4, 4), 60000.0, dtype=zero.float16)
    assert F.avg_pool2d(x, 2).tolist() == [[[[60000] * 2] * 2]]
    assert F.adaptive_avg_pool2d(x, 1).item() == 60000
    assert (F.interpolate(x, (3, 3), mode="bilinear") == 60000).all()


def test_averages_of_integers_are_cut_off():
    x = zero.tensor([[-3, 0, 5, 2]])
    assert F.avg_pool1d(x, 2).tolist() == [[-1, 3]]
    assert F.avg_pool1d(zero.tensor([[2**62 + 1, 2**62 + 1]]), 1).tolist() == [[2**62 + 1] * 2]


def test_adaptive_sizes():
    x = zero.randn(2, 3, 5, 7)
    assert F.adaptive_avg_pool2d(x, (None, 2)).shape == (2, 3, 5, 2)
    assert zero.equal(F.adaptive_avg_pool2d(x, (None, None)), x)
    assert F.adaptive_avg_pool2d(x, 0).shape == (2, 3, 0, 0)
    assert F.adaptive_max_pool2d(x, (8, 9)).shape == (2, 3, 8, 9)
    values, indices = zero.adaptive_max_pool1d(x[0], 7)
    assert zero.equal(values, x[0]) and indices[0, 0].tolist() == [*range(7)]


def test_lp_pool_is_a_norm():
    x = zero.tensor([[3.0, 4.0, -6.0, 8.0]])
    assert F.lp_pool1d(x, 2, 2).tolist() == [[5, 10]]
    same(nn.LPPool2d(1, 2)(zero.ones(1, 2, 4)), [[[4, 4]]])
    assert nn.LPPool3d(2, 2)(zero.ones(1, 2, 2, 2)).item() == pytest.approx(math.sqrt(8))
    with pytest.raises(ValueError, match="kernel_size"):
        F.lp_pool2d(zero.ones(1, 1, 4, 4), 2, (2,))
    assert F.lp_pool1d(x, math.inf, 2).tolist() == [[4, 8]]
    assert F.lp_pool1d(x, -math.inf, 3, 2, ceil_mode=True).tolist() == [[3, 6]]
    assert nn.LPPool2d(math.inf, (1, 3), 1)(x[None]).tolist() == [[[6, 8]]]


# ---- random windows, and back --------------------------------------------------------------------
def test_fractional_windows_are_those_of_the_samples():
    x = zero.arange(49.0).view(1, 1, 7, 7)
    samples = zero.tensor([[[0.2, 0.9]]])
    y, i = F.fractional_max_pool2d(x, 2, 3, return_indices=True, _random_samples=samples)
    # alpha = 5 / 2: columns from int(2.5 (i + 0.2)) - int(0.5), rows int(2.5 (i + 0.9)) - int(2.25)
    columns = [int(2.5 * (k + 0.2)) - int(0.5) for k in range(2)] + [5]
    rows = [int(2.5 * (k + 0.9)) - int(2.25) for k in range(2)] + [5]
    expected = [[7 * (r + 1) + c + 1 for c in columns] for r in rows]
    assert y[0, 0].tolist() == expected and i[0, 0].tolist() == expected
    for layer, shape in (
        (nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.7)), (4, 7)),
        (nn.FractionalMaxPool2d((3, 2), (4, 5)), (4, 5)),
    ):
        z = layer(zero.rand(2, 3, 9, 10))
        assert z.shape == (2, 3, *shape) and layer(zero.rand(3, 9, 10)).shape == (3, *shape)
    assert nn.FractionalMaxPool3d(2, 3)(zero.rand(1, 2, 5, 6, 7)).shape == (1, 2, 3, 3, 3)
    v = zero.rand(1, 1, 5, 5, dtype=zero.float64, requires_grad=True)
    given = zero.rand(1, 1, 2, dtype=zero.float64)
    pool = lambda t: F.fractional_max_pool2d(t, 2, 3, _random_samples=given)
    assert zero.autograd.gradcheck(pool, (v,))
    with pytest.raises(ValueError, match="neither"):
        F.fractional_max_pool2d(x, 2)
    with pytest.raises(ShapeError, match="fit"):
        F.fractional_max_pool2d(x, 5, 5)
    assert zero.autograd.gradgradcheck(pool, (v,))
    with pytest.raises(ShapeError, match="samples"):
        F.fractional_max_pool2d(x, 2, 3, _random_samples=zero.rand(1, 1, 3))
    with pytest.raises(ShapeError, match="samples"):
        F.fractional_max_pool2d(x, 2, 3, _random_samples=given)
    for bad in (-INF, 1e10, NAN):
        with pytest.raises(ValueError, match="from 0 to 1"):
            F.fractional_max_pool2d(x, 2, 3, _random_samples=zero.full((1, 1, 2), bad))
    with pytest.raises(ValueError, match="output_ratio"):
        F.fractional_max_pool2d(x, 2, output_ratio=(0.5, 0.5, 0.5))
    with pytest.raises(ShapeError, match="dimensions"):
        F.fractional_max_pool2d(x[0, 0], 2, output_ratio=0.5)
    with pytest.raises(DTypeError, match="int64"):
        F.fractional_max_pool2d(x.long(), 2, 3)


def test_fractional_windows_of_samples_beyond_0_to_1():
    x = zero.arange(49.0).view(1, 1, 7, 7)
    for sample, first in ((-9, [8, 10, 12, 13]), (-0.7, [8, 9, 11, 13]), (1.5, [8, 10, 11, 13])):
        y = F.fractional_max_pool2d(x, 2, 4, _random_samples=zero.full((1, 1, 2), float(sample)))
        assert y[0, 0, 0].tolist() == first  # PyTorch's


def test_fractional_windows_of_each_plane_in_every_dtype():
    for dims, dtype in ((2, zero.float32), (3, zero.float64), (2, zero.bfloat16)):
        x = zero.rand(3, 2, *range(9, 9 + dims)).to(dtype)
        u = zero.rand(4, 2, dims).to(dtype)  # of a larger batch
        u[0, 0] = 1
        pool = getattr(F, f"fractional_max_pool{dims}d")
        y, indices = pool(x, 2, 4, return_indices=True, _random_samples=u)
        assert y.dtype is dtype and zero.equal(
            x.flatten(2).gather(2, indices.flatten(2)).view_as(y), y
        )
        for n in range(3):
            for c in range(2):
                starts = []
                for d in range(dims):
                    a = (x.shape[2 + d] - 2) / 3
                    t = u[n, c, dims - 1 - d if dims == 2 else d].item()
                    starts.append([*(int((i + t) * a) - int(t * a) for i in range(3)), 7 + d])
                for out in np.ndindex(*(4,) * dims):
                    window = x[n, c][
                        tuple(slice(s[i], s[i] + 2) for s, i in zip(starts, out, strict=True))
                    ]
                    assert y[n, c][out].item() == window.max().item()
        assert zero.equal(pool(x[0], 2, 4, _random_samples=u[:1]), y[0])
        # Samples beyond 0 to 1, as PyTorch takes them, keep windows inside.
        for far in (-9.0, -0.7, 1.5, 7.7, 1e9):
            y, _ = pool(x, 2, 4, return_indices=True, _random_samples=zero.full_like(u, far))
            assert zero.isin(y, x).all()
        assert pool(x.to("meta"), 2, 4).shape == y.shape and pool(x[:0], 2, 4).shape[0] == 0


def test_fractional_pooling_has_the_same_bits_on_any_number_of_threads():
    x, g = zero.randn(4, 64, 40, 40), zero.randn(4, 64, 20, 20)
    found = []
    before = zero.get_num_threads()
    for threads in (1, 2, 3):
        zero.set_num_threads(threads)
        zero.manual_seed(0)
        leaf = x.clone().requires_grad_()
        y = F.fractional_max_pool2d(leaf, 3, output_ratio=0.5)
        y.backward(g)
        found.append((y, leaf.grad))
    zero.set_num_threads(before)
    for y, dx in found[1:]:
        assert zero.equal(y, found[0][0]) and zero.equal(dx, found[0][1])


def test_unpooling_undoes_pooling_but_for_the_smaller_elements():
    for n in (1, 2, 3):
        shape = (2, 3, *(range(6, 6 + n)))
        x = zero.rand(*shape, dtype=zero.float64) + 1
        pool = getattr(nn, f"MaxPool{n}d")(2, return_indices=True)
        back = getattr(nn, f"MaxUnpool{n}d")(2)
        y, indices = pool(x)
        z = back(y, indices, output_size=x.shape)
        assert z.shape == x.shape
        assert zero.equal(z, zero.where(z > 0, x, 0)) and (z > 0).sum().item() == y.numel()
        y.requires_grad_()
        assert zero.autograd.gradcheck(lambda t, i=indices, b=back, s=shape: b(t, i, s), (y,))


def test_errors_of_unpooling():
    y, i = F.max_pool1d(zero.rand(1, 4), 2, return_indices=True)
    with pytest.raises(ValueError, match="output_size"):
        F.max_unpool1d(y, i, 2, output_size=[9])
    with pytest.raises(DTypeError, match="int64"):
        F.max_unpool1d(y, i.int(), 2)
    with pytest.raises(ShapeError, match="indices"):
        F.max_unpool1d(y, i[:, :1], 2)
    for bad in (-1, 4):
        with pytest.raises(IndexError, match=f"got {bad}"):
            F.max_unpool1d(y, zero.tensor([[0, bad]]), 2)


# ---- interpolation -------------------------------------------------------------------------------
def test_which_element_is_nearest():
    x = zero.arange(5.0).view(1, 1, 5)
    same(F.interpolate(x, 3), [[[0, 1, 3]]])
    same(F.interpolate(x, 3, mode="nearest-exact"), [[[0, 2, 4]]])
    same(F.interpolate(x[..., :2], scale_factor=2.5), [[[0, 0, 0, 1, 1]]])


def test_places_by_scale_factor_or_by_the_ratio_of_sizes():
    x = zero.arange(7.0).view(1, 1, 7)
    y = F.interpolate(x, scale_factor=1.5, mode="linear")
    expected = [max(0.0, (i + 0.5) / 1.5 - 0.5) for i in range(10)]
    np.testing.assert_allclose(y[0, 0].numpy(), expected, rtol=1e-6)
    y = F.interpolate(x, scale_factor=1.5, mode="linear", recompute_scale_factor=True)
    zero.testing.assert_close(y, F.interpolate(x, 10, mode="linear"))


def test_a_scale_that_keeps_the_size_moves_nothing():
    x = zero.rand(1, 1, 5, 7)
    for mode, antialias in (("nearest", False), ("bilinear", False), ("bilinear", True)):
        y = F.interpolate(x, scale_factor=(1.1, 1.1), mode=mode, antialias=antialias)
        assert zero.equal(y, x), (mode, antialias)
    assert zero.equal(F.interpolate(x[0], scale_factor=1.1, mode="linear"), x[0])
    pairs = [0, 0, 1, 1, 2, 2, 3, 3]
    assert (
        F.interpolate(zero.arange(4.0).view(1, 1, 1, 4), scale_factor=(1, 2.2)).flatten().tolist()
        == pairs
    )


def test_the_same_size_changes_nothing():
    x = zero.randn(1, 2, 4, 5)
    x[0, 0, 0, 0], x[0, 0, 2, 2] = INF, NAN
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
        zero.testing.assert_close(F.interpolate(x, (4, 5), mode=mode), x, equal_nan=True)
    y = F.interpolate(x, (4, 5), mode="bilinear", antialias=True)
    zero.testing.assert_close(y, x, equal_nan=True)


def test_options_of_interpolation_are_checked():
    x = zero.ones(1, 1, 4, 4)
    for error, match, options in (
        (ValueError, "align_corners", {"mode": "nearest", "align_corners": True}),
        (ValueError, "align_corners", {"mode": "area", "align_corners": False}),
        (ValueError, "antialias", {"mode": "nearest", "antialias": True}),
        (ValueError, "lanczos", {"mode": "lanczos"}),
        (ValueError, "lanczos", {"mode": "lanczos", "antialias": True, "align_corners": True}),
        (NotImplementedError, "dimensions", {"mode": "linear"}),
        (NotImplementedError, "dimensions", {"mode": "trilinear"}),
        (NotImplementedError, "mode", {"mode": "cubic"}),
    ):
        with pytest.raises(error, match=match):
            F.interpolate(x, 2, **options)
    with pytest.raises(DTypeError, match="int64"):
        F.interpolate(x.long(), 2, mode="bilinear")


def test_bytes_are_rounded():
    x = zero.tensor([[[[0, 255], [1, 2]]]], dtype=zero.uint8)
    y = F.interpolate(x, (2, 3), mode="bilinear", align_corners=True)
    assert y.dtype is zero.uint8 and y[0, 0, 0].tolist() == [0, 128, 255]
    assert F.interpolate(x, 4).dtype is zero.uint8
    assert F.interpolate(x, 8, mode="bicubic").max().item() == 255  # overshoots are cut off


def test_area_is_adaptive_average():
    x = zero.rand(1, 2, 6, 7)
    assert zero.equal(F.interpolate(x, (4, 3), mode="area"), F.adaptive_avg_pool2d(x, (4, 3)))
    assert F.interpolate(x, scale_factor=0.5, mode="area").shape == (1, 2, 3, 3)


def test_old_names_warn():
    x = zero.arange(4.0).view(1, 1, 2, 2)
    with pytest.warns(UserWarning, match="interpolate"):
        assert zero.equal(F.upsample(x, 4), F.interpolate(x, 4))
    with pytest.warns(UserWarning, match="interpolate"):
        assert F.upsample_nearest(x, scale_factor=2).shape == (1, 1, 4, 4)
    with pytest.warns(UserWarning, match="interpolate"):
        same(F.upsample_bilinear(x, (2, 3)), [[[[0, 0.5, 1], [2, 2.5, 3]]]])


def test_large_factors_and_their_gradients():
    x = zero.rand(1, 1, 3, 4, dtype=zero.float64, requires_grad=True)
    for mode in ("nearest", "bilinear", "bicubic"):
        y = F.interpolate(x, (60, 90), mode=mode)
        (g,) = zero.autograd.grad(y.sum(), x)
        # All weights of a result add up to 1; clamped edges only move them.
        assert g.sum().item() == pytest.approx(60 * 90)


# ---- sampling ------------------------------------------------------------------------------------
def test_the_identity_grid_gives_the_input():
    for shape in ((2, 3, 4, 5), (1, 2, 3, 4, 5)):
        x = zero.randn(*shape, dtype=zero.float64)
        n = len(shape) - 2
        theta = zero.eye(n, n + 1, dtype=zero.float64).expand(shape[0], n, n + 1)
        for align in (True, False):
            grid = F.affine_grid(theta, shape, align_corners=align)
            assert grid.shape == (shape[0], *shape[2:], n)
            y = F.grid_sample(x, grid, align_corners=align)
            zero.testing.assert_close(y, x, rtol=1e-12, atol=1e-12)


def test_gradients_of_gradients_of_samples():
    x = zero.randn(1, 2, 3, 4, dtype=zero.float64, requires_grad=True)
    grid = (zero.rand(1, 2, 2, 2, dtype=zero.float64) * 2 - 1).requires_grad_()
    for mode in ("bilinear", "nearest", "bicubic"):
        sample = lambda a, b, m=mode: F.grid_sample(a, b, m, "border", False)
        y = sample(x, grid)
        fused = zero.autograd.grad(y.square().sum(), (x, grid))
        composed = zero.autograd.grad(sample(x, grid).square().sum(), (x, grid), create_graph=True)
        for a, b in zip(fused, composed, strict=True):
            zero.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
        assert zero.autograd.gradgradcheck(sample, (x, grid))


def test_the_nearest_elements_have_no_slope():
    x = zero.full((1, 1, 3, 3), INF)
    grid = (zero.rand(1, 2, 2, 2) - 0.5).requires_grad_()
    F.grid_sample(x, grid, "nearest", align_corners=False).sum().backward()
    assert grid.grad.tolist() == zero.zeros(1, 2, 2, 2).tolist()


def test_affine_grids():
    theta = zero.tensor([[[0.0, -1.0, 0.5], [1.0, 0.0, 0.0]]], requires_grad=True)
    grid = F.affine_grid(theta, (1, 1, 2, 3), align_corners=True)
    same(grid[0, 0], [[1.5, -1], [1.5, 0], [1.5, 1]])
    grid.sum().backward()
    assert theta.grad[0, :, 2].tolist() == [6, 6]
    with pytest.warns(UserWarning, match="align_corners"):
        F.affine_grid(theta, (1, 1, 2, 3))
    with pytest.raises(ShapeError, match="matrices"):
        F.affine_grid(theta, (2, 1, 2, 3), align_corners=False)
    with pytest.raises(NotImplementedError, match="size"):
        F.affine_grid(theta, (1, 2, 3), align_corners=False)
    with pytest.raises(ValueError, match="positive"):
        F.affine_grid(theta, (1, 1, 0, 3), align_corners=False)
    with pytest.raises(ValueError, match="floating"):
        F.affine_grid(theta.long(), (1, 1, 2, 3), align_corners=False)


def test_options_of_grid_sample_are_checked():
    x, grid = zero.ones(1, 1, 2, 2), zero.zeros(1, 1, 1, 2)
    with pytest.warns(UserWarning, match="align_corners"):
        F.grid_sample(x, grid)
    with pytest.raises(ValueError, match="mode"):
        F.grid_sample(x, grid, "cubic", align_corners=False)
    with pytest.raises(ValueError, match="padding_mode"):
        F.grid_sample(x, grid, padding_mode="wrap", align_corners=False)
    volume, places = zero.ones(1, 1, 2, 2, 2), zero.zeros(1, 1, 1, 1, 3)
    with pytest.raises(ValueError, match="interpolation"):
        F.grid_sample(volume, places, "bicubic", align_corners=False)
    with pytest.raises(ValueError, match="padding"):
        zero.grid_sampler(x, grid, 0, 3, False)
    with pytest.raises(ShapeError, match="grid"):
        zero.grid_sampler_2d(volume, places, 0, 0, False)
    assert zero.grid_sampler_3d(volume, places, 0, 0, False).item() == 1


# ---- layers --------------------------------------------------------------------------------------
REPR = {
    "MaxPool2d(2)": "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)",
    "MaxPool1d(3, 2, 1)": (
        "MaxPool1d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)"
    ),
    "MaxPool3d((1, 2, 2), ceil_mode=True)": (
        "MaxPool3d(kernel_size=(1, 2, 2), stride=(1, 2, 2), padding=0, dilation=1, ceil_mode=True)"
    ),
    "AvgPool1d(2)": "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))",
    "AvgPool2d(2, 1)": "AvgPool2d(kernel_size=2, stride=1, padding=0)",
    "AvgPool3d((2, 3, 4))": "AvgPool3d(kernel_size=(2, 3, 4), stride=(2, 3, 4), padding=0)",
    "AdaptiveAvgPool2d((None, 3))": "AdaptiveAvgPool2d(output_size=(None, 3))",
    "AdaptiveMaxPool1d(5)": "AdaptiveMaxPool1d(output_size=5)",
    "LPPool2d(2, 3)": "LPPool2d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)",
    "MaxUnpool2d(3, 2)": "MaxUnpool2d(kernel_size=(3, 3), stride=(2, 2), padding=(0, 0))",
    "FractionalMaxPool2d(3, output_ratio=0.5)": "FractionalMaxPool2d()",
    "ZeroPad2d(1)": "ZeroPad2d((1, 1, 1, 1))",
    "ConstantPad1d((1, 2), 3.5)": "ConstantPad1d(padding=(1, 2), value=3.5)",
    "ReflectionPad3d(1)": "ReflectionPad3d((1, 1, 1, 1, 1, 1))",
    "ReplicationPad2d((1, 2, 3, 4))": "ReplicationPad2d((1, 2, 3, 4))",
    "CircularPad1d(2)": "CircularPad1d((2, 2))",
    "Upsample(scale_factor=2)": "Upsample(scale_factor=2.0, mode='nearest')",
    "Upsample((3, 4), mode='bilinear')": "Upsample(size=(3, 4), mode='bilinear')",
    "UpsamplingBilinear2d(scale_factor=(2, 3))": (
        "UpsamplingBilinear2d(scale_factor=(2.0, 3.0), mode='bilinear')"
    ),
    "PixelShuffle(3)": "PixelShuffle(upscale_factor=3)",
    "PixelUnshuffle(3)": "PixelUnshuffle(downscale_factor=3)",
    "ChannelShuffle(2)": "ChannelShuffle(groups=2)",
}


@pytest.mark.parametrize("text", REPR)
def test_repr(text):
    assert repr(eval(f"nn.{text}")) == REPR[text]


def test_layers_call_their_functions():
    x = zero.randn(2, 4, 6, 8)
    for layer, y in (
        (nn.MaxPool2d(3, 2, 1), F.max_pool2d(x, 3, 2, 1)),
        (nn.AvgPool2d(3, 2, 1, False, False), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)),
        (nn.AdaptiveAvgPool2d((2, 3)), F.adaptive_avg_pool2d(x, (2, 3))),
        (nn.AdaptiveMaxPool2d(2), F.adaptive_max_pool2d(x, 2)),
        (nn.ConstantPad2d((1, 2, 3, 0), 2.0), F.pad(x, (1, 2, 3, 0), value=2)),
        (nn.ReflectionPad2d(2), F.pad(x, (2, 2, 2, 2), "reflect")),
        (nn.ReplicationPad2d(1), F.pad(x, (1, 1, 1, 1), "replicate")),
        (nn.CircularPad2d(1), F.pad(x, (1, 1, 1, 1), "circular")),
        (nn.Upsample(scale_factor=2, mode="bilinear"), F.interpolate(x, (12, 16), mode="bilinear")),
        (nn.UpsamplingNearest2d((3, 3)), F.interpolate(x, 3)),
        (nn.PixelShuffle(2), F.pixel_shuffle(x, 2)),
        (nn.PixelUnshuffle(2), F.pixel_unshuffle(x, 2)),
        (nn.ChannelShuffle(2), F.channel_shuffle(x, 2)),
    ):
        assert zero.equal(layer(x), y), layer
        assert list(layer.parameters()) == [] and layer.state_dict() == {}


def test_options_of_layers_are_checked():
    for make, error in (
        (lambda: nn.MaxPool2d(2.5), TypeError),
        (lambda: nn.MaxPool2d(2, ceil_mode="no"), TypeError),
        (lambda: nn.AvgPool2d("2"), TypeError),
        (lambda: nn.MaxUnpool2d((2, 2, 2)), ValueError),
        (lambda: nn.ReflectionPad2d((1, 2, 3)), ValueError),
        (lambda: nn.ZeroPad2d(1.5), TypeError),
        (lambda: nn.FractionalMaxPool2d(2), ValueError),
        (lambda: nn.FractionalMaxPool2d(2, 3, 0.5), ValueError),
        (lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5), ValueError),
        (lambda: nn.FractionalMaxPool3d(0, 3), ValueError),
        (lambda: nn.PixelShuffle("2"), TypeError),
    ):
        with pytest.raises(error):
            make()
    with pytest.raises(ShapeError, match="CircularPad2d"):
        nn.CircularPad2d(1)(zero.ones(2, 3))


def test_a_small_network_learns_where_a_spot_is():
    zero.manual_seed(0)
    model = nn.Sequential(
        nn.ReflectionPad2d(1),
        nn.AvgPool2d(2),
        nn.Upsample(scale_factor=2, mode="bilinear"),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(9, 2),
    )
    optimizer = zero.optim.SGD(model.parameters(), lr=0.5)
    x = zero.zeros(16, 1, 4, 4)
    rows = zero.arange(16) // 4
    x[zero.arange(16), 0, rows, zero.arange(16) % 4] = 4
    target = (rows >= 2).long()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(100):
            loss = F.cross_entropy(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert (model(x).argmax(1) == target).all()


def test_names_of_the_tensor_library():
    x = zero.linspace(-1, 1, 24).reshape(1, 6, 4)
    values, places = zero.max_pool1d_with_indices(x, 2)
    expected = F.max_pool1d(x, 2, return_indices=True)
    assert zero.equal(values, expected[0]) and zero.equal(places, expected[1])
    shuffled = zero.native_channel_shuffle(x, 3)
    assert zero.equal(shuffled, zero.channel_shuffle(x, 3)) and not zero.equal(shuffled, x)
    theta = zero.tensor([[[1.0, 0.2, 0.1], [0.0, 0.5, -0.1]]])
    grid = zero.affine_grid_generator(theta, [1, 1, 2, 3], True)
    assert zero.equal(grid, F.affine_grid(theta, [1, 1, 2, 3], align_corners=True))


def test_the_gradient_of_a_padding_has_memory_of_its_own():
    x = zero.zeros(2, 3, requires_grad=True)
    g = zero.ones(2, 6)
    found = zero.autograd.grad(F.pad(x, (1, 2)), x, g)[0]
    found[0, 0] = 5
    assert found.sum() == 10 and g.sum() == 12
    found = zero.autograd.grad(F.pad(x, (1, 2)).sum(), x)[0]
    found[0, 0] = 5
    assert found.sum() == 10
