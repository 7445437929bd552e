"""Activation functions and their layers, beyond what op_db asks of every operator.

Numbers were recorded from PyTorch 2.13.
"""

import math

import numpy as np
import pytest

import zero
from zero import nn
from zero.autograd import gradcheck, gradgradcheck
from zero.errors import DTypeError, ShapeError, ValueError

F = nn.functional
INF, NAN = math.inf, math.nan

# Layers, their repr, and their values at X.
X = [-4.0, -1.0, -0.25, 0.0, 0.25, 1.0, 4.0]
LAYERS = {
    "ReLU6()": nn.ReLU6(),
    "ReLU6(inplace=True)": nn.ReLU6(inplace=True),
    "LeakyReLU(negative_slope=0.01)": nn.LeakyReLU(),
    "LeakyReLU(negative_slope=0.2, inplace=True)": nn.LeakyReLU(0.2, True),
    "PReLU(num_parameters=1)": nn.PReLU(),
    "RReLU(lower=0.125, upper=0.3333333333333333)": nn.RReLU(),
    "ELU(alpha=1.0)": nn.ELU(),
    "ELU(alpha=0.5, inplace=True)": nn.ELU(0.5, True),
    "CELU(alpha=2.0)": nn.CELU(2.0),
    "SELU()": nn.SELU(),
    "SELU(inplace=True)": nn.SELU(True),
    "GELU(approximate='none')": nn.GELU(),
    "GELU(approximate='tanh')": nn.GELU("tanh"),
    "SiLU()": nn.SiLU(),
    "Mish()": nn.Mish(),
    "Hardtanh(min_val=-1.0, max_val=1.0)": nn.Hardtanh(),
    "Hardtanh(min_val=-2, max_val=0.5, inplace=True)": nn.Hardtanh(-2, 0.5, True),
    "Hardsigmoid()": nn.Hardsigmoid(),
    "Hardswish()": nn.Hardswish(),
    "Softplus(beta=1.0, threshold=20.0)": nn.Softplus(),
    "Softshrink(0.5)": nn.Softshrink(),
    "Hardshrink(0.5)": nn.Hardshrink(),
    "Threshold(threshold=0.1, value=20)": nn.Threshold(0.1, 20),
    "Tanhshrink()": nn.Tanhshrink(),
    "Softsign()": nn.Softsign(),
    "LogSigmoid()": nn.LogSigmoid(),
    "GLU(dim=-1)": nn.GLU(),
    "Softmin(dim=1)": nn.Softmin(dim=1),
    "Softmax2d()": nn.Softmax2d(),
}


@pytest.mark.parametrize("text", LAYERS)
def test_representations(text):
    assert repr(LAYERS[text]) == text


def in_place(f, x):
    y = x.clone()
    assert f(y) is y
    return y


IN_PLACE = {
    "relu": (F.relu, F.relu_),
    "leaky_relu": (F.leaky_relu, F.leaky_relu_),
    "elu": (F.elu, F.elu_),
    "selu": (F.selu, F.selu_),
    "celu": (F.celu, F.celu_),
    "hardtanh": (F.hardtanh, F.hardtanh_),
    "rrelu": (F.rrelu, F.rrelu_),
    "threshold": (lambda x: F.threshold(x, 0.5, 2.0), lambda x: F.threshold_(x, 0.5, 2.0)),
    **{
        f.__name__: (f, lambda x, f=f: f(x, inplace=True))
        for f in (F.relu6, F.hardsigmoid, F.hardswish, F.silu, F.mish)
    },
}


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("dtype", [zero.float32, zero.float64, zero.bfloat16])
def test_in_place(name, dtype):
    plain, over = IN_PLACE[name]
    x = zero.tensor(X, dtype=dtype, requires_grad=True)
    expected = plain(x)
    (wanted,) = zero.autograd.grad(expected, x, zero.ones_like(x), retain_graph=True)
    y = in_place(over, x)
    assert zero.equal(y, expected) and y.grad_fn is not None
    (found,) = zero.autograd.grad(y, x, zero.ones_like(x))
    tolerance = 0 if name not in ("elu", "selu", "celu") else {2: 0.02, 4: 1e-6, 8: 1e-14}
    if tolerance:  # from the result itself the slope is a little less exact
        tolerance = tolerance[x.element_size()]
    zero.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [zero.float16, zero.bfloat16, zero.float32])
def test_limits_in_place_that_the_dtype_has_not(dtype):
    x = zero.tensor([0.5, -0.5, 0.05, 0.125], dtype=dtype, requires_grad=True)
    F.hardtanh_(x.clone(), -0.1, 0.1).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 1.0, 0.0]


def test_in_place_twice_differentiable():
    x = zero.randn(9, dtype=zero.float64, requires_grad=True)
    for _, over in IN_PLACE.values():
        assert gradcheck(lambda x, f=over: f(x * 1), (x,))
        assert gradgradcheck(lambda x, f=over: f(x * 1), (x,))


def test_what_is_kept():
    """A write is noticed by the gradient that reads what was written to, and by no other."""
    for f in (F.silu, F.gelu, F.leaky_relu, F.elu, F.hardtanh):
        leaf = zero.ones(3, requires_grad=True)
        x = leaf * 2
        y = f(x)
        y.add_(1)
        y.sum().backward()
        assert leaf.grad is not None
        x = leaf * 2
        y = f(x)
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
    x = zero.ones(3, requires_grad=True) * 2  # in place the result is kept
    y = F.leaky_relu_(x)
    y.add_(1)
    with pytest.raises(RuntimeError):
        y.sum().backward()


# Values and gradients at special points.
EDGES = {
    "leaky_relu": (F.leaky_relu, [-INF, 0.0, INF, NAN], [0.01, 0.01, 1, 0.01]),
    "elu": (F.elu, [-1, 0.0, INF, NAN], [0, 1, 1, 1]),
    "hardtanh": (F.hardtanh, [-1, 0.0, 1, NAN], [0, 1, 0, 1]),
    "relu6": (F.relu6, [0, 0.0, 6, NAN], [0, 0, 0, 1]),
    "softplus": (F.softplus, [0, math.log(2), INF, NAN], [0, 0.5, 1, NAN]),
    "logsigmoid": (F.logsigmoid, [-INF, -math.log(2), 0, NAN], [1, 0.5, 0, NAN]),
    "hardsigmoid": (F.hardsigmoid, [0, 0.5, 1, NAN], [0, 1 / 6, 0, 0]),
    "hardshrink": (zero.hardshrink, [-INF, 0, INF, NAN], [1, 0, 1, 1]),
    "softshrink": (F.softshrink, [-INF, 0, INF, NAN], [1, 0, 1, 1]),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("dtype", [zero.float32, zero.float64])
def test_edges(name, dtype):
    f, values, slopes = EDGES[name]
    x = zero.tensor([-INF, 0.0, INF, NAN] * 5, dtype=dtype, requires_grad=True)
    y = f(x)
    y.backward(zero.ones_like(y))
    np.testing.assert_allclose(y.detach().numpy(), values * 5, rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), slopes * 5, rtol=1e-6)


@pytest.mark.parametrize("dtype", [zero.float32, zero.float64])
def test_far_from_zero(dtype):
    x = zero.tensor([-1e4, -200.0, -90.0, 90.0, 200.0, 1e4], dtype=dtype, requires_grad=True)
    for f in (F.gelu, lambda x: F.gelu(x, "tanh"), F.silu, F.mish, F.softplus, F.elu, F.selu):
        x.grad = None
        y = f(x)
        y.backward(zero.ones_like(y))
        assert y.isfinite().all() and x.grad.isfinite().all()
        low, high = y[:3], y[3:]
        scale = 1.0507009873554805 if f is F.selu else 1.0
        zero.testing.assert_close(high.detach(), scale * x[3:].detach())
        assert (x.grad[3:] - scale).abs().max() < 1e-5
        limit = {F.elu: -1.0, F.selu: -1.7580993408473766}.get(f, 0.0)
        assert (low - limit).abs().max() < 1e-6 and x.grad[:3].abs().max() < 1e-6


def test_gelu_keeps_digits_where_it_is_small():
    """Its relative error is a few ulp; that of x^2 / 2 in the exponent comes on top."""
    x = zero.linspace(-8, 8, 4001, requires_grad=True)
    y = F.gelu(x)
    y.backward(zero.ones_like(y))
    exact = x.detach().numpy().astype(np.float64)
    tail = np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in exact])
    bound = 2.0**-24 * (12 + exact**2)
    assert (np.abs(y.detach().numpy() - exact * tail) <= bound * np.abs(exact * tail)).all()
    density = exact * np.exp(-(exact**2) / 2) / math.sqrt(2 * math.pi)
    # The slope has a zero, where the two parts cancel.
    assert (np.abs(x.grad.numpy() - (tail + density)) <= bound * (tail + np.abs(density))).all()


@pytest.mark.parametrize("twice", [False, True])
def test_the_slope_of_gelu_where_cubes_overflow(twice):
    x = zero.tensor([1e13, 1e15, -1e15, 1e18, -1e18], requires_grad=True)
    y = F.gelu(x, approximate="tanh").sum()
    (g,) = zero.autograd.grad(y, x, create_graph=twice)
    assert g.tolist() == [1.0, 1.0, 0.0, 1.0, 0.0]


def test_small_tails_keep_their_digits():
    x = zero.tensor([-20.0, -10.0, -5.0], dtype=zero.float32)
    wide = x.double()
    for f in (F.silu, F.mish, F.softplus, F.logsigmoid, lambda x: F.gelu(x[2:], "tanh")):
        zero.testing.assert_close(f(x).double(), f(wide), rtol=2e-6, atol=0)
    zero.testing.assert_close(F.logsigmoid(-wide), -zero.log1p(zero.exp(wide)), rtol=1e-14, atol=0)


def test_gradients_twice():
    x = zero.tensor(X, dtype=zero.float64) + 0.03  # off the bends
    x.requires_grad_()
    functions = [
        F.leaky_relu, F.elu, F.celu, F.selu, F.gelu, F.silu, F.mish, F.hardtanh, F.relu6,
        F.softplus, F.hardsigmoid, F.hardswish, F.logsigmoid, F.softshrink, zero.hardshrink,
        F.softsign, F.tanhshrink, lambda x: F.gelu(x, "tanh"), lambda x: F.threshold(x, 0.5, 1.0),
        lambda x: F.elu(x * 100, 2.0), lambda x: F.softplus(x, 3.0, 2.0),
    ]  # fmt: skip
    for f in functions:
        assert gradcheck(f, (x,)) and gradgradcheck(f, (x,))


FLAT = {
    "leaky_relu": F.leaky_relu,
    "hardtanh": F.hardtanh,
    "relu6": F.relu6,
    "hardsigmoid": F.hardsigmoid,
    "softshrink": F.softshrink,
    "hardshrink": F.hardshrink,
    "threshold": lambda x: F.threshold(x, 0.1, 1.0),
    "prelu": lambda x: F.prelu(x, zero.tensor(0.25)),
    "rrelu": F.rrelu,
    "hardtanh_": lambda x: F.hardtanh_(x.clone()),
    "leaky_relu_": lambda x: F.leaky_relu_(x.clone()),
}


@pytest.mark.parametrize("name", FLAT)
def test_a_flat_gradient_has_the_derivative_0(name):
    x = zero.tensor([0.5, -0.5, 2.0, -4.0, 7.0], requires_grad=True)
    w = zero.tensor([1.0, 2.0, 3.0, 4.0, 5.0], requires_grad=True)
    (g,) = zero.autograd.grad((FLAT[name](x) * w).sum(), x, create_graph=True)
    assert g.requires_grad
    by_x, by_w = zero.autograd.grad(g.sum(), (x, w))
    assert by_x.tolist() == [0.0] * 5
    x.grad = None
    FLAT[name](x).sum().backward()
    assert by_w.tolist() == x.grad.tolist()


def test_prelu_learns_its_weight():
    layer = nn.PReLU(3)
    assert layer.weight.tolist() == [0.25] * 3 and list(layer.state_dict()) == ["weight"]
    x = zero.tensor([[-2.0, 1.0, -4.0], [-1.0, -1.0, 0.0]], requires_grad=True)
    layer(x).sum().backward()
    assert layer.weight.grad.tolist() == [-3.0, -1.0, -4.0]
    assert x.grad.tolist() == [[0.25, 1.0, 0.25], [0.25, 0.25, 0.25]]
    assert nn.PReLU(init=0.5, dtype=zero.float64).weight.dtype is zero.float64
    with pytest.raises(ShapeError, match="channels"):
        layer(zero.ones(2, 4))
    assert zero.tensor([-2.0]).prelu(zero.tensor([0.5])).tolist() == [-1.0]


def test_rrelu_draws_slopes():
    layer = nn.RReLU(0.25, 0.5)
    x = zero.full((1000,), -1.0, requires_grad=True)
    y = layer(x)
    assert -0.5 <= y.min() < -0.48 and -0.27 < y.max() <= -0.25
    y.sum().backward()
    assert zero.equal(x.grad, -y.detach())
    assert (layer.eval()(x) == -0.375).all()
    assert zero.equal(layer.train()(zero.ones(5)), zero.ones(5))
    g = zero.Generator().manual_seed(3)
    first = zero.rrelu(x, training=True, generator=g)
    assert zero.equal(first, zero.rrelu(x, training=True, generator=g.manual_seed(3)))
    with pytest.raises(ValueError, match="lower <= upper"):
        zero.rrelu(x, 0.5, 0.25)


def test_integers():
    x = zero.tensor([-3, 0, 9])
    assert F.relu6(x).tolist() == [0, 0, 6] and F.hardtanh(x, -2.7, 5.9).tolist() == [-2, 0, 5]
    assert zero.threshold(x, 0, 7).tolist() == [7, 7, 9] and x.tolist() == [-3, 0, 9]
    assert zero.threshold_(x, 0, 7) is x and x.tolist() == [7, 7, 9]
    with pytest.raises(DTypeError, match="signed"):
        F.hardtanh(zero.ones(2, dtype=zero.uint8))
    for f in (F.gelu, F.silu, F.elu, F.leaky_relu, zero.hardshrink, F.softplus, F.glu):
        with pytest.raises(DTypeError, match="not defined for integers and bool"):
            f(zero.ones(2, dtype=zero.int64))


def test_wrong_options():
    x = zero.ones(2)
    with pytest.raises(ValueError, match="alpha is 0"):
        F.celu(x, 0)
    with pytest.raises(ValueError, match="'erf'"):
        F.gelu(x, "erf")
    with pytest.raises(ValueError, match="negative"):
        F.softshrink(x, -1)
    with pytest.raises(ValueError, match="min_val"):
        F.hardtanh(x, 1, -1)
    with pytest.raises(ValueError, match="max_val"):
        nn.Hardtanh(1, 1)
    with pytest.raises(DTypeError, match="inplace"):
        nn.SiLU("yes")
    with pytest.raises(ShapeError, match="no image"):
        nn.Softmax2d()(zero.ones(2, 3))
    with pytest.raises(ShapeError, match="even"):
        nn.GLU()(zero.ones(2, 3))
    with pytest.raises(TypeError, match="number"):
        F.leaky_relu(x, "0.1")
    with pytest.warns(FutureWarning, match="min_val"):
        assert nn.Hardtanh(min_value=-2.0).min_val == -2.0
    with pytest.warns(FutureWarning, match="max_val"):
        assert nn.Hardtanh(max_value=2.0).max_val == 2.0


def test_out():
    x = zero.tensor([-1.0, 2.0])
    for f in (F.gelu, F.softplus, F.logsigmoid, F.softshrink, zero.hardshrink):
        out = zero.empty(2)
        assert f(x, out=out) is out and zero.equal(out, f(x))
    out = zero.empty(2)
    assert zero.threshold(x, 0.0, 1.0, out=out) is out and out.tolist() == [1.0, 2.0]


def test_softmin_and_softmax2d():
    x = zero.randn(2, 3, 4, 5)
    assert zero.equal(nn.Softmin(dim=2)(x), zero.softmax(-x, 2))
    assert zero.equal(nn.Softmax2d()(x), zero.softmax(x, 1))
    assert zero.equal(nn.Softmax2d()(x[0]), zero.softmax(x[0], 0))
    with pytest.warns(UserWarning, match="softmin: dim is not given; dim=0"):
        F.softmin(x[0, 0, 0])
    assert F.softmin(zero.ones(2).half(), 0, dtype=zero.float64).dtype is zero.float64


def test_gumbel_softmax():
    zero.manual_seed(0)
    logits = zero.tensor([0.0, math.log(3.0)]).expand(4000, 2).clone().requires_grad_()
    y = F.gumbel_softmax(logits, hard=True)
    assert set(y.flatten().tolist()) == {0.0, 1.0} and (y.sum(1) == 1).all()
    assert abs(y[:, 1].mean().item() - 0.75) < 0.03  # 4 standard deviations
    y[:, 0].sum().backward()
    assert logits.grad.abs().sum() > 0
    soft = F.gumbel_softmax(logits, tau=0.5, dim=0)
    zero.testing.assert_close(soft.sum(0), zero.ones(2))
    with pytest.warns(UserWarning, match="eps"):
        F.gumbel_softmax(logits, eps=1e-8)


def test_strides_and_threads_leave_the_bits():
    x = zero.randn(400, 300)
    before = zero.get_num_threads()
    try:
        for f in (F.gelu, F.silu, F.mish, F.elu, F.softplus, F.hardswish, F.glu):
            found = []
            for threads in (1, 2, 3):
                zero.set_num_threads(threads)
                for v in (x, x.t().contiguous().t()):
                    v = v.detach().requires_grad_()
                    y = f(v)
                    y.backward(zero.ones_like(y))
                    found.append((y.detach(), v.grad))
            assert all(zero.equal(a, found[0][0]) and zero.equal(b, found[0][1]) for a, b in found)
    finally:
        zero.set_num_threads(before)
    assert F.gelu(x.t()).stride() == x.t().stride()


def test_no_bit_depends_on_the_end_of_a_range():
    x = zero.randn(67) * 4
    g = zero.randn(67)
    functions = [
        F.leaky_relu, F.elu, F.gelu, F.silu, F.mish, F.softplus, F.logsigmoid, F.hardswish,
        F.softsign, F.tanhshrink, lambda x: F.gelu(x, "tanh"),
    ]  # fmt: skip
    for dtype in (zero.float32, zero.float64):
        for f in functions:
            v = x.to(dtype).requires_grad_()
            y = f(v)
            (slope,) = zero.autograd.grad(y, v, g.to(dtype))
            for n in (1, 2, 5, 15, 31, 66):
                part = v[:n].detach().requires_grad_()
                z = f(part)
                assert zero.equal(z, y[:n])
                assert zero.equal(zero.autograd.grad(z, part, g[:n].to(dtype))[0], slope[:n])


def test_meta_and_empty():
    for f in (F.gelu, F.elu, F.hardswish, F.glu, F.softsign, zero.selu):
        x = zero.empty(2, 4, device="meta", requires_grad=True)
        y = f(x)
        assert y.device.type == "meta"
        (g,) = zero.autograd.grad(y, x, zero.empty_like(y))
        assert g.shape == x.shape and g.device.type == "meta"
        e = zero.empty(0, 4, requires_grad=True)
        f(e).sum().backward()
        assert e.grad.shape == (0, 4)
