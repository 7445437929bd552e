"""Operators beyond what op_db derives: random draws, indices, errors, values at hard places."""

import math

import numpy as np
import pytest

import zero
from zero.errors import DTypeError, ShapeError


def test_random_draws():
    zero.manual_seed(3)
    x = zero.empty(20000).uniform_(-1, 3)
    assert x.min() >= -1 and x.max() < 3 and abs(x.mean().item() - 1) < 0.05
    x.normal_(2, 0.5)
    assert abs(x.mean().item() - 2) < 0.02 and abs(x.std().item() - 0.5) < 0.02
    x.exponential_(2)
    assert x.min() >= 0 and abs(x.mean().item() - 0.5) < 0.02
    x.bernoulli_(0.25)
    assert set(x.tolist()) == {0.0, 1.0} and abs(x.mean().item() - 0.25) < 0.02
    x.random_(2, 5)
    assert set(x.tolist()) == {2.0, 3.0, 4.0}
    y = zero.empty(20000, dtype=zero.int64).random_()
    assert y.min() >= 0 and y.max() > 2**62
    assert zero.empty(100, dtype=zero.uint8).random_().max() <= 255
    assert set(zero.empty(100, dtype=zero.bool).random_(0, 2).tolist()) == {False, True}
    mean = zero.tensor([0.0, 100.0])
    z = zero.normal(mean, zero.tensor([1.0, 2.0]))
    assert abs(z[1].item() - 100) < 20 and z.shape == (2,)
    assert zero.normal(5.0, zero.ones(3)).shape == (3,) and zero.normal(mean).shape == (2,)
    assert zero.bernoulli(zero.tensor([0.0, 1.0, 1.0])).tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("name", ["uniform_", "normal_", "random_", "bernoulli_", "exponential_"])
def test_draws_repeat_and_don_t_depend_on_threads(name):
    before = zero.get_num_threads()
    found = []
    for threads in (1, 3):
        zero.set_num_threads(threads)
        g = zero.Generator().manual_seed(7)
        found.append(getattr(zero.empty(100001), name)(generator=g).tolist())
    zero.set_num_threads(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["uniform_", "normal_", "random_", "bernoulli_", "exponential_"])
def test_draws_are_writes(name):
    x = zero.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        getattr(x, name)()
    y = x * 2
    version = y._version
    assert getattr(y, name)() is y and y._version == version + 1
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
    assert getattr(zero.empty(2, 3).t(), name)().shape == (3, 2)
    assert getattr(zero.empty(3, device="meta"), name)().device.type == "meta"


def test_draw_errors():
    x = zero.empty(2)
    for call in (
        lambda: x.uniform_(2, 1),
        lambda: x.normal_(0, -1),
        lambda: x.random_(5, 5),
        lambda: x.random_(0, -(2**63)),
        lambda: x.random_(0, 2**40),
        lambda: x.bernoulli_(2),
        lambda: x.exponential_(0),
        lambda: zero.normal(0.0, -1.0, (2,)),
        lambda: zero.bernoulli(zero.tensor([1.5])),
    ):
        with pytest.raises(ValueError, match=": "):
            call()
    with pytest.raises(DTypeError):
        zero.empty(2, dtype=zero.int64).normal_()
    with pytest.raises(TypeError, match="size"):
        zero.normal(0.0, 1.0)


def test_indices_of_triangles():
    for args in ((3, 3), (2, 4, 1), (4, 2, -1)):
        assert np.array_equal(
            zero.tril_indices(*args).numpy(),
            np.array(np.tril_indices(args[0], args[2] if len(args) > 2 else 0, args[1])),
        )
        assert np.array_equal(
            zero.triu_indices(*args).numpy(),
            np.array(np.triu_indices(args[0], args[2] if len(args) > 2 else 0, args[1])),
        )


def test_gradient_of_logsumexp_of_nothing():
    """A row of -inf has no slope; the others' stays, also in the second derivative."""
    x = zero.tensor([[-math.inf, -math.inf], [0.0, 0.0], [-math.inf, 1.0]], requires_grad=True)
    y = zero.logsumexp(x, 1)
    assert y.tolist() == [-math.inf, pytest.approx(math.log(2)), 1.0]
    (g,) = zero.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [[0.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    g[:, 0].sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [0.25, -0.25], [0.0, 0.0]]


def test_values_at_hard_places():
    assert zero.norm(zero.full((4,), 1e30)).item() == pytest.approx(2e30)
    assert zero.norm(zero.full((4,), 1e-30)).item() == pytest.approx(2e-30)
    assert zero.logsumexp(zero.tensor([-math.inf, -math.inf]), 0).item() == -math.inf
    assert zero.logsumexp(zero.tensor([math.inf, 0.0]), 0).item() == math.inf
    assert zero.lerp(zero.tensor([1e8]), zero.tensor([1.0]), 1.0).item() == 1.0
    assert zero.log1p(zero.tensor([1e-7])).item() == pytest.approx(1e-7, rel=1e-6)
    assert zero.erfc(zero.tensor([5.0])).item() == pytest.approx(math.erfc(5), rel=1e-5)
    assert zero.round(zero.tensor([0.5, 1.5, -2.5])).tolist() == [0.0, 2.0, -2.0]
    assert zero.round(zero.tensor([1234.0]), decimals=-2).item() == 1200.0
    assert zero.cumsum(zero.full((2**20,), 0.1), 0)[-1].item() == pytest.approx(104857.6, rel=1e-6)


def test_gradient_of_norm_at_zero():
    for p in (1, 2, 3, 0.5):
        x = zero.zeros(3, requires_grad=True)
        zero.norm(x, p).backward()
        assert x.grad.tolist() == [0.0, 0.0, 0.0], p


def test_parts_are_views_that_refuse_writes():
    x = zero.arange(6.0).requires_grad_() * 1
    for part in (*zero.split(x, 2), *x.chunk(3), *x.split([1, 5])):
        with pytest.raises(RuntimeError, match="several views"):
            part.add_(1)
    y = zero.zeros(6)
    y.split(3)[1].fill_(1)
    assert y.tolist() == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]


def test_meshgrid_takes_a_list():
    a, b = zero.meshgrid([zero.arange(2), zero.arange(3)], indexing="ij")
    assert a.shape == b.shape == (2, 3)
    with pytest.raises(ValueError, match="indexing"):
        zero.meshgrid(zero.arange(2), indexing="yx")


@pytest.mark.parametrize("name", ["addmm", "addmv", "addr", "baddbmm", "addbmm"])
@pytest.mark.parametrize("beta, alpha", [(1, 1), (1, 2), (0, 1), (0, 3), (2, 1), (0.5, 3)])
def test_product_sums_in_place(name, beta, alpha):
    shapes = {
        "addmm": ((2, 4), (2, 3), (3, 4)),
        "addmv": ((2,), (2, 3), (3,)),
        "addr": ((2, 3), (2,), (3,)),
        "baddbmm": ((2, 2, 2), (2, 2, 1), (2, 1, 2)),
        "addbmm": ((2, 2), (2, 2, 2), (2, 2, 2)),
    }[name]
    x, a, b = (zero.randn(s, dtype=zero.float64, requires_grad=True) for s in shapes)
    expected = getattr(zero, name)(x, a, b, beta=beta, alpha=alpha)
    y = x * 1
    assert getattr(y, name + "_")(a, b, beta=beta, alpha=alpha) is y
    np.testing.assert_allclose(y.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    of_y = zero.autograd.grad(y.square().sum(), (x, a, b), allow_unused=True)
    of_expected = zero.autograd.grad(expected.square().sum(), (x, a, b), allow_unused=True)
    for p, q in zip(of_y, of_expected, strict=True):
        none = zero.zeros(())
        p, q = (none if t is None else t for t in (p, q))
        np.testing.assert_allclose(*zero.broadcast_tensors(p, q), rtol=1e-13, atol=1e-13)


def test_products_with_beta_zero_leave_nan_out():
    x = zero.full((2, 2), math.nan)
    assert zero.addmm(x, zero.ones(2, 3), zero.ones(3, 2), beta=0).tolist() == [[3.0, 3.0]] * 2
    y = zero.ones(2, 2)
    assert y.addmm_(zero.ones(2, 3), zero.ones(3, 2)) is y and y.tolist() == [[4.0, 4.0]] * 2
    with pytest.raises(ShapeError):
        zero.ones(1, 2).addmm_(zero.ones(2, 3), zero.ones(3, 2))


def test_broadcasting_by_name():
    rng = np.random.default_rng(0)
    for shapes in ([(2, 1), (3,)], [(), (0, 1), (1, 4)], [(5,)], [(2, 3), (2, 3)]):
        expected = np.broadcast_shapes(*shapes)
        assert zero.broadcast_shapes(*shapes) == expected
        arrays = [rng.normal(size=s) for s in shapes]
        for y, e in zip(
            zero.broadcast_tensors(*map(zero.tensor, arrays)),
            np.broadcast_arrays(*arrays),
            strict=True,
        ):
            np.testing.assert_array_equal(y.numpy(), e)
    assert zero.broadcast_shapes(3, (2, 1)) == (2, 3) and zero.broadcast_shapes() == ()
    x = zero.ones(2, 1, requires_grad=True)
    (zero.broadcast_tensors(x, zero.ones(3))[0] * 2).sum().backward()
    assert x.grad.tolist() == [[6.0], [6.0]]
    for shapes in (((2,), (3,)), ((0,), (2,)), ((-1,),)):
        with pytest.raises(RuntimeError, match="broadcast_shapes"):
            zero.broadcast_shapes(*shapes)
    with pytest.raises(TypeError, match="broadcast_tensors"):
        zero.broadcast_tensors(zero.ones(2), 1)


def test_numbers_of_parts_at_the_limits_of_int64():
    assert [part.tolist() for part in zero.arange(3).chunk(2**63 - 1)] == [[0], [1], [2]]
    assert [part.tolist() for part in zero.arange(3).split(2**63 - 1)] == [[0, 1, 2]]
    for call in (
        lambda: zero.ones(0).chunk(2**62),
        lambda: zero.ones(1).expand(2**40).chunk(2**40),
        lambda: zero.ones(1).expand(2**40).split(1),
    ):
        with pytest.raises(ValueError, match="too many parts"):
            call()


def test_products_with_a_long_inner_dimension():
    """They are computed a part of it at a time, which must not show."""
    zero.manual_seed(0)
    a, b, bias = zero.randn(2600, 70), zero.randn(2600, 90), zero.randn(90)
    threads, results = zero.get_num_threads(), []
    for n in (1, 2, 3):
        zero.set_num_threads(n)
        results.append(zero.nn.functional.linear(a.t(), b.t(), bias))
    zero.set_num_threads(threads)
    assert results[1].equal(results[0]) and results[2].equal(results[0])
    expected = a.double().numpy().T @ b.double().numpy() + bias.numpy()
    # A chain of 256 products, then 11 sums: 267 roundings of sums of at most about 5 sqrt(2600).
    assert np.abs(results[0].numpy() - expected).max() < 267 * 2**-24 * 5 * 2600**0.5
