"""layer_norm, rms_norm, group_norm and their layers, beyond what op_db asks of every operator."""

import numpy as np
import pytest

import zero
from zero import nn
from zero.errors import DTypeError, ShapeError
from zero.nn import functional as F


def unit(x, eps=1e-5):
    d = x.astype(np.float64)
    return (d - d.mean()) / np.sqrt(d.var() + eps)


@pytest.mark.parametrize("offset", [0, 100, 10_000, 1e6, -1e6])
def test_rows_far_from_zero_keep_their_digits(offset):
    # The numbers themselves are exact, so all that is lost is the rounding of the result.
    x = (offset + np.arange(48) % 7).astype(np.float32)
    y = F.layer_norm(zero.tensor(x), (48,)).numpy()
    np.testing.assert_allclose(y, unit(x), rtol=0, atol=8 * 2**-24)


def test_rows_of_large_and_small_numbers():
    for scale in (1e-18, 1e30, 1e38):
        x = np.array([1, 2, 3, 0.5], np.float32) * np.float32(scale)
        y = F.layer_norm(zero.tensor(x), (4,), eps=0).numpy()
        np.testing.assert_allclose(y, unit(x, 0), rtol=1e-5)
        y = F.rms_norm(zero.tensor(x), (4,), eps=0).numpy()
        d = x.astype(np.float64)
        np.testing.assert_allclose(y, d / np.sqrt((d * d).mean()), rtol=1e-5)


def test_gradients_of_weights_in_rows_of_large_numbers():
    results = []
    for dtype in (zero.float32, zero.float64):
        x = zero.tensor([1, 2, 3, -3.3], dtype=zero.float32) * 1e38  # differences overflow float32
        weight = zero.ones(4, dtype=dtype, requires_grad=True)
        g = zero.tensor([1, -2, 3, 0.25], dtype=dtype)
        F.layer_norm(x.to(dtype), (4,), weight, eps=0).backward(g)
        results.append(weight.grad.double())
    zero.testing.assert_close(results[0], results[1], rtol=1e-6, atol=0)


def test_a_constant_row_becomes_zero_and_nan_stays_in_its_row():
    assert (F.layer_norm(zero.full((1, 256), 1234.0), (256,)) == 0).all()
    y = F.layer_norm(zero.tensor([[1.0, float("nan")], [1.0, 3.0]]), (2,))
    assert y[0].isnan().all() and y[1].isfinite().all()


def test_gradients_of_weights_do_not_depend_on_threads():
    x, g = zero.randn(4000, 33), zero.randn(4000, 33)
    results = []
    before = zero.get_num_threads()
    for threads in (1, 2, 3, 7):
        zero.set_num_threads(threads)
        w, b = zero.ones(33).requires_grad_(), zero.zeros(33).requires_grad_()
        v = x.clone().requires_grad_()
        F.layer_norm(v, (33,), w, b).backward(g)
        results.append([t.grad.tolist() for t in (v, w, b)])
    zero.set_num_threads(before)
    assert all(r == results[0] for r in results)


def test_only_what_needs_a_gradient_is_computed_and_kept():
    x = zero.randn(5, 3)
    b = zero.zeros(3).requires_grad_()
    y = F.layer_norm(x, (3,), zero.ones(3), b)
    x.zero_()  # was not saved
    y.backward(zero.ones(5, 3))
    assert b.grad.tolist() == [5, 5, 5]
    v = zero.randn(5, 3).requires_grad_()
    w = v * 1
    y = F.layer_norm(w, (3,))
    w.zero_()
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.sum().backward()


def test_low_precision_takes_weights_of_float32():
    x = zero.randn(4, 8).bfloat16()
    weight, bias = zero.randn(8), zero.randn(8)
    y = F.layer_norm(x, (8,), weight, bias)
    assert y.dtype is zero.bfloat16
    exact = F.layer_norm(x.float(), (8,), weight, bias)
    assert (y.float() - exact).abs().max() <= 2**-8 * exact.abs().max()
    with pytest.raises(DTypeError, match="float64"):
        F.layer_norm(zero.ones(2, 3), (3,), zero.ones(3).double())
    with pytest.raises(DTypeError, match="floating point"):
        F.layer_norm(zero.ones(2, 3).long(), (3,))


def test_rms_norm_without_eps_takes_that_of_the_dtype():
    for dtype in (zero.float16, zero.bfloat16, zero.float32, zero.float64):
        x = zero.full((1, 2), 1e-3, dtype=dtype)
        eps = zero.finfo(dtype).eps
        v = x.double()
        expected = (v / (v * v + eps).sqrt()).to(dtype)
        zero.testing.assert_close(F.rms_norm(x, (2,)), expected)


def test_transposed_input():
    x = zero.randn(6, 4)
    for y in (F.layer_norm(x.T, (6,)), F.group_norm(x.T, 2)):
        assert y.is_contiguous() and y.shape == (4, 6)
    zero.testing.assert_close(F.layer_norm(x.T, (6,)), F.layer_norm(x.T.contiguous(), (6,)))


def test_group_norm_refuses_single_elements():
    with pytest.raises(ValueError, match="one element in each group"):
        F.group_norm(zero.ones(1, 4), 4)
    assert F.group_norm(zero.ones(2, 4), 4).tolist() == [[0] * 4] * 2


def test_layers():
    layer = nn.LayerNorm((2, 3))
    assert repr(layer) == "LayerNorm((2, 3), eps=1e-05, elementwise_affine=True, bias=True)"
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert layer.weight.tolist() == [[1] * 3] * 2 and layer.bias.tolist() == [[0] * 3] * 2
    assert list(nn.LayerNorm(3, bias=False).state_dict()) == ["weight"]
    assert not nn.LayerNorm(3, elementwise_affine=False).state_dict()
    assert repr(nn.RMSNorm(3)) == "RMSNorm((3,), eps=None, elementwise_affine=True)"
    assert list(nn.RMSNorm(3).state_dict()) == ["weight"]
    group = nn.GroupNorm(2, 4, affine=False)
    assert repr(group) == "GroupNorm(2, 4, eps=1e-05, affine=False, bias=False)"
    assert list(nn.GroupNorm(2, 4).state_dict()) == ["weight", "bias"]
    assert list(nn.GroupNorm(2, 4, bias=False).state_dict()) == ["weight"]
    x = zero.randn(5, 4)
    zero.testing.assert_close(group(x), F.group_norm(x, 2))
    with pytest.raises(ValueError, match="divisor of 4"):
        nn.GroupNorm(3, 4)
    with pytest.raises(DTypeError, match="normalized_shape"):
        nn.LayerNorm("3")
    with pytest.raises(ShapeError, match="normalized_shape"):
        nn.LayerNorm(4)(zero.ones(2, 3))


def test_meta():
    y = nn.LayerNorm(3, device="meta")(zero.ones(2, 3, device="meta"))
    assert y.is_meta and y.shape == (2, 3)


def test_gradients_with_a_graph_are_as_exact():
    x = zero.tensor([[0.769, 0.831], [1000.25, 1000.5]]).requires_grad_()
    weights = zero.tensor([[1.0, 1.0], [1.0, 3.0]])
    plain, graph = (
        zero.autograd.grad((F.layer_norm(x, (2,)) * weights).sum(), x, create_graph=create)[0]
        for create in (False, True)
    )
    # In rows of two, the result is all but one eps away from constant: what is left is small.
    exact = zero.autograd.grad(
        (F.layer_norm(v := x.detach().double().requires_grad_(), (2,)) * weights.double()).sum(), v
    )[0]
    zero.testing.assert_close(plain.double(), exact, rtol=1e-4, atol=1e-6)
    zero.testing.assert_close(graph.double(), exact, rtol=1e-4, atol=1e-6)
