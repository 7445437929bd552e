"""Convolutions beyond what op_db asks of every operator: engines, layers, windows."""

import numpy as np
import pytest
from op_db_convolution import convolved, transposed

import zero
from zero import nn
from zero.nn import functional as F

# N, C, K, groups, sizes, kernel, stride, padding, dilation: every engine, its borders, and cuts.
SHAPES = [
    (2, 1, 5, 1, (28, 28), (3, 3), 1, 1, 1),
    (3, 3, 16, 1, (20, 31), (7, 7), 2, 3, 1),
    (2, 32, 64, 1, (13, 13), (3, 3), 1, 0, 1),
    (2, 40, 70, 1, (9, 10), (3, 3), 2, 1, 1),
    (20, 33, 17, 1, (4, 4), (3, 3), 1, 1, 1),
    (2, 64, 48, 1, (9, 7), (1, 1), 1, 0, 1),
    (2, 64, 48, 1, (9, 7), (1, 1), 2, 0, 1),
    (2, 24, 18, 3, (9, 8), (1, 1), (3, 1), 0, 2),
    (1, 64, 20, 1, (9, 7), (1, 1), 1, 1, 1),
    (2, 12, 12, 12, (15, 14), (3, 3), 1, 1, 1),
    (2, 12, 12, 12, (15, 14), (5, 3), 2, 2, 1),
    (2, 6, 18, 6, (9, 70), (3, 3), 3, 1, 2),
    (2, 32, 64, 4, (8, 8), (3, 3), 1, 1, 1),
    (2, 96, 96, 2, (6, 6), (2, 2), 1, (1, 0), 3),
    (1, 20, 30, 1, (6, 7, 8), (3, 2, 3), (1, 2, 1), 1, (1, 1, 2)),
    (2, 24, 20, 1, (300,), (9,), 4, 3, 2),
    (1, 16, 16, 1, (130, 97), (3, 3), 1, 1, 1),
    (3, 2, 3, 1, (5, 5), (4, 4), 5, 2, 1),
    (2, 5, 30, 1, (11, 1), (3, 1), 1, 0, 1),
    (1, 300, 10, 1, (5, 5), (3, 3), 1, 1, 1),
    (1, 8, 300, 1, (6, 6), (3, 3), 1, 1, 1),
]


def options(shape):
    names = ("groups", "sizes", "kernel", "stride", "padding", "dilation")
    named = dict(zip(names, shape[3:], strict=True))
    return {name: named[name] for name in ("stride", "padding", "dilation", "groups")}


def functions(dims):
    return getattr(F, f"conv{dims}d"), getattr(F, f"conv_transpose{dims}d")


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_values_of_every_engine(shape, dtype):
    n, c, k, groups, sizes, kernel, *_ = shape
    rng = np.random.default_rng(1)
    kind = np.float64 if dtype == "int64" else dtype
    x, w, b = (
        rng.integers(-3, 4, s).astype(kind)
        + (rng.random(s).astype(kind) if dtype != "int64" else 0)
        for s in ((n, c, *sizes), (k, c // groups, *kernel), (k,))
    )
    x, w, b = (np.asarray(v).astype(dtype) for v in (x, w, b))
    convolve, transpose = functions(len(sizes))
    y = convolve(*(zero.tensor(v) for v in (x, w, b)), **options(shape)).numpy()
    wide = [v.astype(np.float64) for v in (x, w, b)]
    expected = convolved(*wide, **options(shape))
    bound = convolved(*map(np.abs, wide), **options(shape))
    depth = w[0].size + 1
    eps = {"float32": 2**-24, "float64": 2**-53, "int64": 0}[dtype]
    assert y.shape == expected.shape
    assert (np.abs(y - expected) <= eps * depth * bound).all()

    back = w.reshape(k, c // groups, *kernel)
    z = transpose(zero.tensor(y.astype(dtype)), zero.tensor(back), **options(shape)).numpy()
    wide = [y.astype(np.float64), back.astype(np.float64)]
    expected = transposed(*wide, **options(shape))
    bound = transposed(*map(np.abs, wide), **options(shape))
    assert z.shape == expected.shape
    assert (np.abs(z - expected) <= eps * (k * back[0, 0].size + 1) * bound).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [zero.float32, zero.float64])
def test_gradients_of_every_engine(shape, dtype):
    """A gradient's product with any change is the change of the result: it is linear in each."""
    n, c, k, groups, sizes, kernel, *_ = shape
    convolve, _ = functions(len(sizes))
    zero.manual_seed(0)
    x, w, b = zero.randn(n, c, *sizes), zero.randn(k, c // groups, *kernel), zero.randn(k)
    x, w, b = (v.to(dtype).requires_grad_() for v in (x, w, b))
    y = convolve(x, w, b, **options(shape))
    g = zero.randn(*y.shape).to(dtype)
    gx, gw, gb = zero.autograd.grad(y, [x, w, b], g)
    dx, dw, db = (zero.randn(*v.shape).double() for v in (x, w, b))
    x, w, g = x.detach().double(), w.detach().double(), g.double()
    named = options(shape)
    changes = [
        (convolve(dx, w, **named), gx, dx),
        (convolve(x, dw, **named), gw, dw),
        (db.reshape(-1, *(1,) * len(sizes)) + zero.zeros(y.shape).double(), gb, db),
    ]
    for change, gradient, by in changes:
        found = (gradient.double() * by).sum().item()
        terms = (change * g).abs().sum().item() + (gradient.double() * by).abs().sum().item()
        assert abs(found - (change * g).sum().item()) <= zero.finfo(dtype).eps * terms + 1e-12


@pytest.mark.parametrize("bias", [None, zero.tensor([1.0, 2.0])])
def test_a_kernel_of_one_element_with_a_stride_transposed(bias):
    """What it does not reach is the bias; output_padding may be as large as the dilation."""
    x, w = zero.randn(2, 3, 3, 2), zero.randn(3, 2, 1, 1)
    y = F.conv_transpose2d(x, w, bias, 2, 0, (3, 0), dilation=4)
    expected = zero.zeros(2, 2, 8, 3) + (0 if bias is None else bias.reshape(1, 2, 1, 1))
    expected[:, :, :5:2, ::2] += zero.einsum("nchw,ck->nkhw", x, w[:, :, 0, 0])
    np.testing.assert_allclose(y.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_second_gradients():
    zero.manual_seed(0)
    f64 = zero.float64
    for groups, stride, dilation in ((1, 1, 1), (2, 2, 1), (1, 2, 2)):
        x = zero.randn(2, 4, 6, 5, dtype=f64, requires_grad=True)
        w = zero.randn(6, 4 // groups, 2, 3, dtype=f64, requires_grad=True)
        b = zero.randn(6, dtype=f64, requires_grad=True)
        v = zero.randn(4, 6 // groups, 2, 3, dtype=f64, requires_grad=True)

        def plain(x, w, b, stride=stride, dilation=dilation, groups=groups):
            return F.conv2d(x, w, b, stride, 1, dilation, groups)

        def back(x, w, b, stride=stride, dilation=dilation, groups=groups):
            return F.conv_transpose2d(x, w, b, stride, 1, 0, groups, dilation)

        for f, args in ((plain, (x, w, b)), (back, (x, v, b))):
            assert zero.autograd.gradcheck(f, args)
            assert zero.autograd.gradgradcheck(f, args)


def test_bits_do_not_depend_on_threads():
    before = zero.get_num_threads()
    zero.manual_seed(0)
    for n, c, k, groups, sizes, kernel, stride, padding, dilation in SHAPES:
        convolve, _ = functions(len(sizes))
        x, w = zero.randn(n, c, *sizes), zero.randn(k, c // groups, *kernel)
        results = []
        for threads in (1, 2, 3, 7):
            zero.set_num_threads(threads)
            leaves = [v.clone().requires_grad_() for v in (x, w)]
            y = convolve(*leaves, None, stride, padding, dilation, groups)
            y.backward(y.detach())
            results.append([y.detach(), *(v.grad for v in leaves)])
        zero.set_num_threads(before)
        for other in results[1:]:
            assert all(zero.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_images_do_not_depend_on_the_batch():
    zero.manual_seed(0)
    w = zero.randn(40, 20, 3, 3)
    x = zero.randn(9, 20, 5, 5)
    all_at_once = F.conv2d(x, w, padding=1)
    for i in range(9):
        assert zero.equal(F.conv2d(x[i : i + 1], w, padding=1)[0], all_at_once[i])


def test_what_is_not_needed_is_neither_kept_nor_computed():
    x, w = zero.randn(1, 2, 4, 4), zero.randn(3, 2, 3, 3, requires_grad=True)
    y = F.conv2d(x, w)
    y.sum().backward()
    assert x.grad is None
    np.testing.assert_allclose(
        w.grad.numpy(), F.conv2d(x.transpose(0, 1), zero.ones(1, 1, 2, 2)).numpy()[None, :, 0]
        * np.ones((3, 1, 1, 1), np.float32), rtol=1e-5, atol=1e-5)  # fmt: skip
    w.detach().zero_()
    F.conv2d(x, w).sum().backward()  # w itself was not read


def test_a_write_between_forward_and_backward_is_noticed():
    x, w = zero.randn(1, 2, 4, 4, requires_grad=True), zero.randn(3, 2, 3, 3, requires_grad=True)
    y = F.conv2d(x, w)
    with zero.no_grad():
        w.zero_()
    with pytest.raises(RuntimeError, match=r"in place|modified"):
        y.sum().backward()


def test_names_of_nodes():
    x, w = zero.randn(1, 2, 4, requires_grad=True), zero.randn(3, 2, 3, requires_grad=True)
    y = F.conv1d(x, w)
    assert y.grad_fn.name() == "ConvolutionBackward0"
    (g,) = zero.autograd.grad(y.sum(), x, create_graph=True)
    assert g.grad_fn.name() == "ConvolutionBackwardBackward0"


def test_16_bit_floats_compute_in_float32():
    zero.manual_seed(0)
    x, w = zero.randn(2, 300, 4, 4), zero.randn(5, 300, 3, 3)
    for dtype in (zero.float16, zero.bfloat16):
        a, b = x.to(dtype), w.to(dtype)
        assert zero.equal(F.conv2d(a, b), F.conv2d(a.float(), b.float()).to(dtype))


def test_integers_wrap():
    x = zero.full((1, 1, 2), 2**62)
    assert F.conv1d(x, zero.full((1, 1, 2), 2)).tolist() == [[[0]]]


@zero.backends.winograd.flags(enabled=False)  # with it, a NaN reaches its whole tile
def test_not_a_number_stays_where_the_kernel_reaches():
    for channels, groups in ((1, 1), (32, 1), (8, 8)):
        x = zero.zeros(1, channels, 9, 9)
        x[0, 0, 4, 4] = float("nan")
        y = F.conv2d(x, zero.ones(channels, channels // groups, 3, 3), padding=1, groups=groups)
        hit = y.isnan()[0]
        assert hit[0, 3:6, 3:6].all() and hit[0].sum() == 9
        assert hit.sum() == 9 * (channels if groups == 1 else 1)


def test_results_without_elements():
    w = zero.ones(3, 2, 2, requires_grad=True)
    y = F.conv1d(zero.ones(0, 2, 4), w)
    assert y.shape == (0, 3, 3)
    y.sum().backward()
    assert w.grad.abs().sum() == 0
    assert F.conv_transpose1d(zero.ones(0, 3, 4), zero.ones(3, 2, 2)).shape == (0, 2, 5)


def test_large_options():
    x = zero.ones(2, 1, 5, 5, requires_grad=True)
    y = F.conv2d(x, zero.ones(1, 1, 2, 2), stride=10**6)
    y.sum().backward()
    assert y.tolist() == [[[[4.0]]]] * 2
    assert x.grad[:, :, :2, :2].sum() == x.grad.sum() == 8
    assert F.conv_transpose1d(zero.ones(1, 1, 2), zero.ones(1, 1, 1), stride=10**6).sum() == 2
    for name in ("stride", "padding", "dilation"):
        with pytest.raises(ValueError, match="too large"):
            F.conv2d(x, zero.ones(1, 1, 2, 2), **{name: 2**62})


# ---- what users ran into elsewhere ---------------------------------------------------------------
def test_transposed_reads_every_gradient():
    x = zero.ones(1, 1, 1, 2, requires_grad=True)
    y = F.conv_transpose2d(x, zero.tensor([[[[2.0]]]]), stride=2)
    assert y.tolist() == [[[[2, 0, 2]]]]
    y.backward(zero.tensor([[[[1.5, 0.0, 0.75]]]]))
    assert x.grad.tolist() == [[[[3, 1.5]]]]


def test_transposed_with_dilation_and_output_padding():
    layer = nn.ConvTranspose2d(4, 1, 3, output_padding=1, dilation=2, bias=False)
    nn.init.ones_(layer.weight)
    x = zero.ones(1, 4, 1, 1, requires_grad=True)
    y = layer(x)
    assert y.shape == (1, 1, 6, 6) and y.sum() == 36
    y.sum().backward()
    assert x.grad.flatten().tolist() == [9] * 4


def test_output_size_counts_dilation():
    layer = nn.ConvTranspose2d(1, 1, 3, stride=2, dilation=2)
    x = zero.ones(1, 1, 3, 3)
    assert layer(x, output_size=(10, 10)).shape == (1, 1, 10, 10)
    assert layer(x, output_size=(1, 1, 9, 10)).shape == (1, 1, 9, 10)
    assert layer(x[0], output_size=(9, 10)).shape == (1, 9, 10)
    for size in ((11, 10), (8, 9)):
        with pytest.raises(ValueError, match="out of reach"):
            layer(x, output_size=size)
    with pytest.raises(ValueError, match="length"):
        layer(x, output_size=(9,))


# ---- layers --------------------------------------------------------------------------------------
def test_attributes_and_repr():
    layer = nn.Conv2d(4, 6, (3, 5), 2, (1, 2), groups=2, bias=False, padding_mode="circular")
    assert layer.weight.shape == (6, 2, 3, 5) and layer.bias is None
    assert (layer.kernel_size, layer.stride, layer.padding) == ((3, 5), (2, 2), (1, 2))
    assert layer._reversed_padding_repeated_twice == [2, 2, 1, 1]
    assert repr(layer) == (
        "Conv2d(4, 6, kernel_size=(3, 5), stride=(2, 2), padding=(1, 2), groups=2, bias=False, "
        "padding_mode=circular)"
    )
    assert repr(nn.Conv1d(1, 2, 3, padding="same", dilation=2)) == (
        "Conv1d(1, 2, kernel_size=(3,), stride=(1,), padding=same, dilation=(2,))"
    )
    assert repr(nn.ConvTranspose3d(2, 4, 2, 2, output_padding=1)) == (
        "ConvTranspose3d(2, 4, kernel_size=(2, 2, 2), stride=(2, 2, 2), output_padding=(1, 1, 1))"
    )
    assert list(nn.Conv3d(1, 2, 3).state_dict()) == ["weight", "bias"]
    assert nn.Conv1d(3, 2, 1, dtype=zero.float64, device="meta").weight.device.type == "meta"


def test_starting_values():
    zero.manual_seed(0)
    for layer, products in (
        (nn.Conv2d(40, 50, 5, groups=5), 8 * 25),
        (nn.ConvTranspose1d(30, 400, 7, groups=10), 40 * 7),
    ):
        bound = products**-0.5
        for p in layer.parameters():
            assert p.abs().max() <= bound
            assert p.abs().max() > 0.9 * bound and p.mean().abs() < 0.2 * bound


WRONG = {
    "groups does not divide in_channels": lambda: nn.Conv2d(3, 4, 1, groups=2),
    "groups does not divide out_channels": lambda: nn.Conv2d(4, 3, 1, groups=2),
    "got in_channels=2 and groups=0": lambda: nn.Conv1d(2, 2, 1, groups=0),
    "padding is unknown; got 'full'": lambda: nn.Conv2d(1, 1, 3, padding="full"),
    "padding='same' with a stride": lambda: nn.Conv2d(1, 1, 3, 2, "same"),
    "padding_mode is unknown": lambda: nn.Conv2d(1, 1, 3, padding_mode="mirror"),
    "padding_mode is not 'zeros'": lambda: nn.ConvTranspose2d(1, 1, 3, padding_mode="reflect"),
    "kernel_size has a wrong length": lambda: nn.Conv2d(1, 1, (3, 3, 3)),
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_arguments(text):
    with pytest.raises(ValueError, match=text):
        WRONG[text]()


def test_padding_same_of_even_kernels():
    x = zero.arange(5.0).reshape(1, 1, 5)
    layer = nn.Conv1d(1, 1, 4, padding="same", bias=False)
    nn.init.ones_(layer.weight)
    assert layer(x).tolist() == [[[3, 6, 10, 9, 7]]]  # one before, two after


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_padding_modes(mode, dims):
    zero.manual_seed(0)
    sizes = (5, 6, 4)[:dims]
    for padding in (1, "same", "valid", tuple(range(dims))):
        cls = getattr(nn, f"Conv{dims}d")
        layer = cls(2, 3, 3, padding=padding, padding_mode=mode, dtype=zero.float64)
        plain = cls(2, 3, 3, dtype=zero.float64)
        plain.load_state_dict(layer.state_dict())
        x = zero.randn(2, 2, *sizes, dtype=zero.float64)
        each = {"same": (1,) * dims, "valid": (0,) * dims, 1: (1,) * dims}.get(padding, padding)
        name = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
        padded = np.pad(x.numpy(), [(0, 0), (0, 0), *((p, p) for p in each)], mode=name)
        expected = plain(zero.tensor(padded))
        np.testing.assert_allclose(layer(x).detach().numpy(), expected.detach().numpy(), atol=1e-14)
        assert layer(x[0]).shape == expected.shape[1:]


# ---- windows -------------------------------------------------------------------------------------
def test_unfold_is_what_a_convolution_multiplies():
    zero.manual_seed(0)
    x = zero.randn(2, 3, 7, 8, dtype=zero.float64, requires_grad=True)
    w = zero.randn(4, 3, 2, 3, dtype=zero.float64)
    for dilation, padding, stride in ((1, 0, 1), (2, 1, 2), ((1, 2), (0, 2), (3, 1))):
        columns = F.unfold(x, (2, 3), dilation, padding, stride)
        y = F.conv2d(x, w, None, stride, padding, dilation)
        found = (w.reshape(4, -1) @ columns).reshape(y.shape)
        np.testing.assert_allclose(found.detach().numpy(), y.detach().numpy(), atol=1e-12)
        g = zero.randn(*columns.shape, dtype=zero.float64)
        (gradient,) = zero.autograd.grad(columns, x, g)
        folded = F.fold(g, (7, 8), (2, 3), dilation, padding, stride)
        np.testing.assert_allclose(gradient.numpy(), folded.numpy(), atol=1e-12)


def test_fold_gradients_and_layers():
    x = zero.randn(2, 3, 4, 5, dtype=zero.float64, requires_grad=True)
    assert zero.autograd.gradcheck(lambda x: F.unfold(x, 2, padding=1), [x])
    assert zero.autograd.gradgradcheck(lambda x: F.unfold(x, 2, stride=2), [x])
    c = zero.randn(1, 4, 6, dtype=zero.float64, requires_grad=True)
    assert zero.autograd.gradcheck(lambda c: F.fold(c, (3, 4), 2), [c])
    assert zero.autograd.gradgradcheck(lambda c: F.fold(c, (3, 4), 2), [c])
    assert nn.Unfold(2)(x[0]).shape == (12, 12)
    assert nn.Fold((3, 4), 2)(c[0]).shape == (1, 3, 4)
    assert repr(nn.Unfold((2, 3), padding=1)) == (
        "Unfold(kernel_size=(2, 3), dilation=1, padding=1, stride=1)"
    )
    assert repr(nn.Fold(4, 2)) == (
        "Fold(output_size=4, kernel_size=2, dilation=1, padding=0, stride=1)"
    )
    with pytest.raises(ValueError, match="number of windows"):
        F.fold(c, (4, 4), 2)
    with pytest.raises(ValueError, match="divide"):
        F.fold(c[:, :3], (3, 4), 2)
    with pytest.raises(ValueError, match="larger"):
        F.unfold(x, 9)
    assert zero.equal(F.unfold(x, np.int64(2)), F.unfold(x, (2,)))
    with pytest.raises(ValueError, match="wrong length"):
        F.unfold(x, (2, 2, 2))


def test_operations_in_summaries():
    found = zero.utils.summary(
        nn.Sequential(nn.Conv2d(4, 6, 3, groups=2), nn.ConvTranspose2d(6, 2, 2, stride=2)),
        (5, 4, 8, 8),
    )
    convolution = 2 * 5 * 6 * 36 * (2 * 9)
    transposed = 2 * 5 * 6 * 36 * (2 * 4)
    assert [row.flops for row in found.rows] == [
        convolution + transposed,
        convolution,
        transposed,
    ]


@pytest.mark.parametrize("bias", [None, [1.5]])
def test_without_channels_nothing_is_summed(bias):
    x, w = zero.zeros(2, 0, 3, 3, requires_grad=True), zero.zeros(1, 0, 2, 2, requires_grad=True)
    y = F.conv2d(x, w, bias if bias is None else zero.tensor(bias))
    assert y.shape == (2, 1, 2, 2) and (y == (bias or [0.0])[0]).all()
    y.sum().backward()
    assert x.grad.shape == x.shape and w.grad.shape == w.shape
    assert F.conv_transpose2d(zero.zeros(1, 2, 3, 3), zero.zeros(2, 0, 2, 2)).shape == (1, 0, 4, 4)
    assert F.conv1d(zero.zeros(0, 3, 5), zero.zeros(2, 3, 3)).shape == (0, 2, 3)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(
    "sizes", [(7, 7), (14, 14), (5, 20), (3, 33), (2, 300), (3, 2000), (6, 5, 9)]
)
def test_depthwise_rows_of_every_width(sizes, stride):
    convolve = {2: zero.conv2d, 3: zero.conv3d}[len(sizes)]
    zero.manual_seed(1)
    x = zero.randn(2, 3, *sizes, dtype=zero.float64)
    weight = zero.randn(3, 1, *[3] * len(sizes), dtype=zero.float64)
    results = []
    for dtype in (zero.float64, zero.float32):
        leaves = [t.to(dtype).requires_grad_() for t in (x, weight)]
        y = convolve(*leaves, None, stride, 1, 1, 3)
        results.append([y.detach(), *zero.autograd.grad((y * y).sum(), leaves)])
    for exact, found in zip(*results, strict=True):
        # Sums of 27 products, and of all outputs: errors grow with the square root of their number.
        bound = 4e-6 * exact.abs().max().item()
        assert (found.double() - exact).abs().max().item() <= bound


def test_nothing_between_narrow_rows_is_written():
    x = zero.randn(1, 2, 5, 7)
    x[0, 0, 2, 6], x[0, 1] = float("inf"), float("nan")  # reach their neighbours only
    y = zero.conv2d(x, zero.ones(2, 1, 1, 3), None, 1, (0, 1), 1, 2)
    finite = y[0, 0].isfinite()
    assert finite.sum().item() == 33
    assert not finite[2, 5:].any()
    assert not y[0, 1].isfinite().any()


@pytest.mark.parametrize("groups", [1, 2])
def test_kernels_of_one_element_are_products(groups):
    x, weight = zero.randn(3, 48, 16, 24), zero.randn(40, 48 // groups, 1, 1)
    leaves = [x.requires_grad_(), weight.requires_grad_()]
    threads, results = zero.get_num_threads(), []
    g = zero.randn(3, 40, 16, 24)
    try:
        for count in (1, 2, 3, 7):
            zero.set_num_threads(count)
            y = zero.conv2d(x, weight, None, 1, 0, 1, groups)
            dx, dw = zero.autograd.grad(y, leaves, g)
            one = zero.conv2d(x[1:2], weight, None, 1, 0, 1, groups)
            assert one.equal(y[1:2])  # an image has the same bits in any batch
            results.append([t.detach().numpy().tobytes() for t in (y, dx, dw)])
    finally:
        zero.set_num_threads(threads)
    assert results.count(results[0]) == 4

    a, w, b = (t.detach().double().numpy() for t in (x, weight, g))
    a = a.reshape(3, groups, 48 // groups, 384)
    b = b.reshape(3, groups, 40 // groups, 384)
    w = w.reshape(groups, 40 // groups, 48 // groups)
    for found, formula, terms in (
        (y, np.einsum("gkc,ngcp->ngkp", w, a), 48),
        (dx, np.einsum("gkc,ngkp->ngcp", w, b), 40),
    ):
        expected = formula.reshape(found.shape)
        # Each sum has so many products of normal numbers.
        np.testing.assert_allclose(found.detach().numpy(), expected, atol=1e-6 * terms, rtol=0)
