"""The order in which results lie in memory: that of their inputs, as in PyTorch."""

import itertools

import numpy as np
import pytest

import zero

A = zero.arange(24, dtype=zero.float64).view(2, 3, 4)
P = A.permute(2, 0, 1)  # (4, 2, 3)
M = zero.arange(6, dtype=zero.float64).view(2, 3)

CASES = {
    "one input": (lambda: P.exp(), (1, 12, 4)),
    "a number": (lambda: 2 * P + 1, (1, 12, 4)),
    "a comparison": (lambda: P > 3, (1, 12, 4)),
    "two alike": (lambda: P * P, (1, 12, 4)),
    "the first decides": (lambda: P + P.contiguous(), (1, 12, 4)),
    "also where it is contiguous": (lambda: P.contiguous() + P, (6, 3, 1)),
    "with gaps": (lambda: P[::2].neg(), (1, 6, 2)),
    "broadcast": (lambda: M.t() + zero.ones(2), (1, 3)),
    "broadcast first": (lambda: zero.ones(2) + M.t(), (1, 3)),
    "expanded, which says nothing": (lambda: M[0].expand(2, 3) * 2, (3, 1)),
    "expanded before another": (lambda: M[0, 0].expand(3, 2) * M.t(), (1, 3)),
    "where": (lambda: zero.where(P > 3, P, 0.0), (1, 12, 4)),
    "masked_fill": (lambda: P.masked_fill(P > 3, 0.0), (6, 3, 1)),
    "clamp": (lambda: P.clamp(0, 1), (1, 12, 4)),
    "a cast": (lambda: P.float(), (1, 12, 4)),
    "clone": (lambda: P.clone(), (1, 12, 4)),
    "sort": (lambda: zero.sort(P, 1).values, (1, 12, 4)),
    "argsort": (lambda: zero.argsort(P[::2], 0), (1, 6, 2)),
    "topk is in order": (lambda: zero.topk(P, 2, 1).values, (6, 3, 1)),
    "contiguous": (lambda: P.contiguous(), (6, 3, 1)),
    "a product is in order": (lambda: M.t() @ M, (3, 1)),
    "sizes of 1": (lambda: zero.ones(3, 2)[:, :1] * 2, (1, 1)),
    "columns of nonzero": (lambda: zero.eye(3).nonzero(), (1, 3)),
    "slices of unique": (lambda: zero.unique(A, dim=1), (4, 8, 1)),
    "repeat_interleave is in order": (lambda: P.repeat_interleave(3, 1), (18, 3, 1)),
    "once, too": (lambda: P.repeat_interleave(1, 1), (6, 3, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_strides(name):
    result, strides = CASES[name]
    assert result().stride() == strides


def test_all_of_a_tensor_keeps_its_strides():
    x = zero.ones(3, 1)[2:3:2, :]
    assert x.stride() == x[...].stride() == x[:].stride() == (2, 1)
    x[...] *= 2
    assert x.tolist() == [[2]]
    y = zero.ones(2, requires_grad=True)
    assert y[...].grad_fn.name() == "AliasBackward0"
    (y[...] * 3).sum().backward()
    assert y.grad.tolist() == [3, 3]


def test_one_number_flipped_is_itself():
    x = zero.tensor(2.5, requires_grad=True)
    for dim in (0, -1):
        y = x.flip(dim)
        assert y.item() == 2.5
        assert zero.autograd.grad(y, x)[0].item() == 1


def test_values_in_another_order():
    other = zero.ones(4, 1, 3, dtype=zero.float64)
    assert zero.equal((P * 2 + other).contiguous(), P.contiguous() * 2 + other)
    assert zero.equal(P.tanh().contiguous(), P.contiguous().tanh())


def test_a_gradient_lies_as_its_leaf():
    x = zero.ones(2, 3, requires_grad=True)
    (x.t() * M.t()).sum().backward()
    assert x.grad.stride() == (3, 1)
    y = M.t().clone().requires_grad_()
    assert y.stride() == (1, 3)
    (y * 2).sum().backward()
    assert y.grad.stride() == (1, 3)
    z = zero.zeros(4).as_strided((2, 2), (2, 1)).requires_grad_()
    z.sum().backward()
    assert z.grad.stride() == (2, 1)


def test_fresh_results_are_no_views():
    x = zero.ones(2, 3)
    for result in (
        x.repeat(2, 1),
        x.tile(2),
        x.roll(1),
        x.t().reshape(-1),
        x.index_fill(0, zero.tensor([0]), 1),
        x.index_copy(0, zero.tensor([0]), zero.ones(1, 3)),
        zero.take(x, zero.tensor([0])),
        zero.logsumexp(x, 0),
        x.nonzero(),
    ):
        assert not result._is_view()
        result.detach_()
    integers = zero.arange(4)
    for view in (x[0], x.t(), integers[1:], integers.view(2, 2), integers.bool().unsqueeze(0)):
        assert view._is_view()
        with pytest.raises(RuntimeError, match="a view can't be detached in place"):
            view.detach_()
    assert not integers.detach()._is_view() and not integers.contiguous()._is_view()
    y = zero.take(x, zero.tensor([0, 0]))
    part = y[:]
    y.requires_grad_()
    assert part.requires_grad  # of y, not of something behind it


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64"])
def test_transposed_copies_of_any_size(dtype):
    """Squares in registers, what is left beside them, and sources and targets with gaps."""
    sizes = (1, 3, 15, 16, 17, 66, 130)
    for rows, columns in itertools.product(sizes, sizes):
        a = (np.arange(rows * columns) % 251).astype(dtype).reshape(rows, columns)
        x = zero.tensor(a)
        np.testing.assert_array_equal(x.t().contiguous().numpy(), a.T)
        np.testing.assert_array_equal((x.t() + 1).numpy(), a.T + 1)
        gaps = zero.zeros(columns + 2, rows + 3, dtype=x.dtype)
        gaps[1:-1, 2:-1] = x.t()
        expected = np.zeros((columns + 2, rows + 3), dtype)
        expected[1:-1, 2:-1] = a.T
        np.testing.assert_array_equal(gaps.numpy(), expected)
        other = zero.zeros(rows, columns + 5, dtype=x.dtype)
        other.t()[:columns] = x.t().contiguous()
        np.testing.assert_array_equal(other.numpy()[:, :columns], a)


def test_results_that_are_contiguous_in_any_case():
    x = zero.ones(3, 4).t()
    at, values = zero.tensor([1, 0]), zero.ones(2, 3)
    mask = zero.ones(4, 3, dtype=zero.bool)
    for y in (
        x.roll(1, 0),
        x.roll((1, 2), (0, 1)),
        x.index_add(0, at, values),
        x.index_copy(0, at, values),
        x.scatter(0, at.expand(3, 2).t(), 1.0),
        x.scatter_add(0, at.expand(3, 2).t(), values),
        x.scatter_reduce(0, at.expand(3, 2).t(), values, "amax"),
        x.masked_scatter(mask, zero.ones(12)),
        zero.addmm(x, zero.ones(4, 2), zero.ones(2, 3)),
    ):
        assert y.stride() == (3, 1)
        y.view(-1)
    for y in (x.index_fill(0, at, 1), x.index_put((at,), values), x.put(at, zero.ones(2))):
        assert y.stride() == (1, 4)
