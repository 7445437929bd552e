"""Rows of tables and their layers, beyond what op_db asks of every operator."""

import numpy as np
import pytest

import zero
from zero import nn
from zero.errors import DTypeError, ShapeError
from zero.nn import functional as F


def test_the_padding_row_has_no_gradient():
    layer = nn.Embedding(4, 2, padding_idx=0)
    assert layer.weight[0].tolist() == [0, 0]
    layer(zero.tensor([0] * 1000 + [3] * 1000)).sum().backward()
    assert layer.weight.grad.tolist() == [[0, 0], [0, 0], [0, 0], [1000, 1000]]
    table = zero.tensor([[5.0, 6.0], [1.0, 2.0]]).requires_grad_()
    y = F.embedding(zero.tensor([0, 1]), table, padding_idx=-2)
    assert y.tolist() == [[5, 6], [1, 2]]  # the row itself is what it is
    y.sum().backward()
    assert table.grad.tolist() == [[0, 0], [1, 1]]
    assert nn.Embedding(4, 2, padding_idx=-1).padding_idx == 3
    for padding in (4, -5):
        with pytest.raises(ValueError, match="padding_idx is no row"):
            nn.Embedding(4, 2, padding_idx=padding)


def test_gradients_divided_by_frequency():
    table = zero.ones(4, 3).requires_grad_()
    F.embedding(zero.tensor([1, 1, 1, 3]), table, scale_grad_by_freq=True).sum().backward()
    assert table.grad[:, 0].tolist() == [0, 1, 0, 1]
    table.grad = None
    indices = zero.tensor([1, 1, 3])
    F.embedding_bag(
        indices, table, zero.tensor([0]), mode="sum", scale_grad_by_freq=True
    ).sum().backward()
    assert table.grad[:, 0].tolist() == [0, 1, 0, 1]
    with pytest.raises(ValueError, match="maximum is not scaled"):
        F.embedding_bag(indices, table, zero.tensor([0]), mode="max", scale_grad_by_freq=True)


@pytest.mark.parametrize("options", [{}, {"padding_idx": 2}, {"scale_grad_by_freq": True}])
def test_gradients_of_gradients(options):
    table = zero.randn(5, 3, dtype=zero.float64).requires_grad_()
    indices = zero.tensor([[1, 2, 1], [4, 1, 2]])

    def looked_up(w):
        return F.embedding(indices, w, **options).sin()

    if not options:  # the others are not the gradient of the function
        assert zero.autograd.gradcheck(looked_up, (table,))
        assert zero.autograd.gradgradcheck(looked_up, (table,))
    (g,) = zero.autograd.grad(looked_up(table).sum(), table, create_graph=True)
    (gg,) = zero.autograd.grad((g * g).sum(), table)
    counts = np.bincount(indices.numpy().ravel(), minlength=5).astype(float)
    each = np.ones(5)  # what the gradient of one look-up is multiplied by
    if "padding_idx" in options:
        each[2] = 0
    elif options:
        each = 1 / np.maximum(counts, 1)
    w = table.detach().numpy()
    factor = (counts * each)[:, None]
    # g = factor cos w; the gradient of sum g^2 passes the look-ups twice.
    np.testing.assert_allclose(g.detach().numpy(), factor * np.cos(w))
    expected = -2 * factor * np.cos(w) * factor * each[:, None] * np.sin(w)
    np.testing.assert_allclose(gg.numpy(), expected)


def test_long_rows_are_shortened_in_the_table():
    table = zero.tensor([[3.0, 4.0], [30.0, 40.0], [0.3, 0.4]]).requires_grad_()
    y = F.embedding(zero.tensor([0, 2, 0]), table, max_norm=1.0)
    np.testing.assert_allclose(y.detach().numpy(), [[0.6, 0.8], [0.3, 0.4], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(table.detach().numpy()[:2], [[0.6, 0.8], [30, 40]], rtol=1e-6)
    layer = nn.Embedding(3, 2, max_norm=1.0, norm_type=1.0)
    layer.weight.data.fill_(5)
    assert layer(zero.tensor([1])).detach().numpy() == pytest.approx(np.full((1, 2), 0.5))
    assert layer.weight[0].tolist() == [5, 5]
    bag = nn.EmbeddingBag(3, 2, max_norm=1.0, mode="sum")
    bag.weight.data.fill_(5)
    assert bag(zero.tensor([[1, 1]])).norm().item() == pytest.approx(2, rel=1e-6)


def test_gradients_do_not_depend_on_threads():
    indices = zero.randint(0, 50, (3000,))
    g = zero.randn(3000, 100)
    results = []
    before = zero.get_num_threads()
    for threads in (1, 2, 3, 7):
        zero.set_num_threads(threads)
        table = zero.ones(50, 100).requires_grad_()
        F.embedding(indices, table).backward(g)
        results.append(table.grad.numpy().tobytes())
    zero.set_num_threads(before)
    assert all(r == results[0] for r in results)


def test_sums_of_many_small_gradients_in_low_precision():
    table = zero.zeros(2, 3, dtype=zero.bfloat16).requires_grad_()
    F.embedding(zero.zeros(4096, dtype=zero.int64), table).sum().backward()
    assert table.grad.tolist() == [[4096] * 3, [0] * 3]  # one after the other stops at 256


def test_sparse_is_refused():
    table = zero.ones(4, 2)
    for call in (
        lambda: nn.Embedding(4, 2, sparse=True),
        lambda: nn.EmbeddingBag(4, 2, sparse=True),
        lambda: F.embedding(zero.tensor([1]), table, sparse=True),
        lambda: F.embedding_bag(zero.tensor([[1]]), table, sparse=True),
    ):
        with pytest.raises(NotImplementedError, match="sparse gradients are not supported"):
            call()


def test_embedding_layer():
    layer = nn.Embedding(10, 3, padding_idx=1, max_norm=2.0, norm_type=1.0, scale_grad_by_freq=True)
    text = "Embedding(10, 3, padding_idx=1, max_norm=2.0, norm_type=1.0, scale_grad_by_freq=True)"
    assert repr(layer) == text and list(layer.state_dict()) == ["weight"]
    assert repr(nn.Embedding(10, 3)) == "Embedding(10, 3)"
    table = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
    frozen = nn.Embedding.from_pretrained(table, padding_idx=0)
    assert frozen(zero.tensor([0])).tolist() == [[1, 2]] and not frozen.weight.requires_grad
    assert frozen.weight.data_ptr() == table.data_ptr()
    assert nn.Embedding.from_pretrained(table, freeze=False).weight.requires_grad
    zero.manual_seed(0)
    values = nn.Embedding(200, 100).weight.detach()
    assert abs(values.mean().item()) < 0.05 and abs(values.std().item() - 1) < 0.05
    with pytest.raises(ShapeError, match="no table"):
        nn.Embedding.from_pretrained(zero.ones(3))
    with pytest.raises(ShapeError, match="weight does not fit"):
        nn.Embedding(3, 2, _weight=table)
    with pytest.raises(DTypeError, match="num_embeddings"):
        nn.Embedding(2.5, 2)
    with pytest.raises(IndexError, match="in Embedding"):
        layer(zero.tensor([10]))
    meta = nn.Embedding(10, 3, max_norm=1.0, device="meta")
    assert meta(zero.zeros(2, dtype=zero.int64, device="meta")).shape == (2, 3)


def test_bags_of_a_matrix_and_of_a_list():
    table = zero.randn(6, 3)
    matrix = zero.tensor([[0, 1, 5], [2, 2, 3]])
    for mode in ("sum", "mean", "max"):
        rows = table[matrix]
        expected = {"sum": rows.sum(1), "mean": rows.mean(1), "max": rows.amax(1)}[mode]
        zero.testing.assert_close(F.embedding_bag(matrix, table, mode=mode), expected)
        found = F.embedding_bag(matrix.flatten(), table, zero.tensor([0, 3]), mode=mode)
        zero.testing.assert_close(found, expected)
        ends = zero.tensor([0, 3, 6])
        found = F.embedding_bag(matrix.flatten(), table, ends, mode=mode, include_last_offset=True)
        zero.testing.assert_close(found, expected)
    assert F.embedding_bag(zero.zeros(0, 3, dtype=zero.int64), table).shape == (0, 3)
    empty = zero.zeros(0, dtype=zero.int64)
    for mode in ("sum", "mean", "max"):
        assert (
            F.embedding_bag(empty, table, zero.tensor([0, 0]), mode=mode).tolist() == [[0] * 3] * 2
        )


def test_all_four_results_of_embedding_bag():
    table = zero.tensor([[1.0, 9.0], [5.0, 2.0], [3.0, 3.0]])
    indices, offsets = zero.tensor([0, 1, 2, 1]), zero.tensor([0, 2, 2])
    y, bags, sizes, largest = zero.embedding_bag(table, indices, offsets, mode=2, padding_idx=1)
    assert y.tolist() == [[1, 9], [0, 0], [3, 3]]
    assert bags.tolist() == [0, 0, 2, 2] and sizes.tolist() == [1, 0, 1]
    assert largest.tolist() == [[0, 0], [0, 0], [2, 2]]
    assert zero.embedding_bag(table, indices, offsets)[3].numel() == 0


def test_of_equal_numbers_the_first_has_the_gradient():
    table = zero.ones(3, 2).requires_grad_()
    F.embedding_bag(zero.tensor([[2, 0, 1]]), table, mode="max").sum().backward()
    assert table.grad.tolist() == [[0, 0], [0, 0], [1, 1]]


def test_wrong_bags():
    table, indices = zero.ones(4, 2), zero.tensor([0, 1, 2])
    for offsets, words in (([1], "first bag"), ([0, 2, 1], "in their order"), ([0, 4], "up to 3")):
        with pytest.raises(ValueError, match=words):
            F.embedding_bag(indices, table, zero.tensor(offsets))
    with pytest.raises(ValueError, match="without offsets"):
        F.embedding_bag(indices, table)
    with pytest.raises(ValueError, match="rows are the bags"):
        F.embedding_bag(indices[None], table, zero.tensor([0]))
    with pytest.raises(ValueError, match="no such mode"):
        F.embedding_bag(indices[None], table, mode="prod")
    with pytest.raises(ValueError, match="are for sums"):
        F.embedding_bag(indices[None], table, per_sample_weights=zero.ones(1, 3))
    with pytest.raises(ShapeError, match="per_sample_weights"):
        F.embedding_bag(indices[None], table, mode="sum", per_sample_weights=zero.ones(3))
    with pytest.raises(IndexError, match="of size 4"):
        F.embedding_bag(zero.tensor([[4]]), table)


def test_embedding_bag_layer():
    layer = nn.EmbeddingBag(10, 3, mode="sum", padding_idx=2)
    assert repr(layer) == "EmbeddingBag(10, 3, mode='sum', padding_idx=2)"
    assert layer.weight[2].tolist() == [0] * 3
    indices, offsets = zero.tensor([1, 2, 4, 5]), zero.tensor([0, 2])
    weights = zero.tensor([0.5, 1.0, 2.0, 3.0]).requires_grad_()
    y = layer(indices, offsets, per_sample_weights=weights)
    w = layer.weight.detach()
    zero.testing.assert_close(y, zero.stack([w[1] / 2, 2 * w[4] + 3 * w[5]]))
    y.sum().backward()
    zero.testing.assert_close(weights.grad, w[indices].sum(1) * zero.tensor([1.0, 0, 1, 1]))
    assert layer.weight.grad[:, 0].tolist() == [0, 0.5, 0, 0, 2, 3, 0, 0, 0, 0]
    table = zero.randn(4, 2)
    assert not nn.EmbeddingBag.from_pretrained(table).weight.requires_grad
    with pytest.raises(ValueError, match="no such mode"):
        nn.EmbeddingBag(3, 2, mode="prod")
    meta = nn.EmbeddingBag(10, 3, device="meta")
    assert meta(zero.zeros(2, 4, dtype=zero.int64, device="meta")).shape == (2, 3)


def test_a_call_that_fails_shortens_no_rows():
    table = zero.tensor([[3.0, 4.0], [30.0, 40.0]])
    indices = zero.tensor([0, 1])
    for call, error in (
        (lambda: F.embedding(indices, table, max_norm=1.0, sparse=True), NotImplementedError),
        (lambda: F.embedding(indices, table, max_norm=1.0, scale_grad_by_freq="x"), TypeError),
        (lambda: F.embedding(zero.tensor([0, 2]), table, max_norm=1.0), IndexError),
        (lambda: F.embedding_bag(indices, table, zero.tensor([1]), max_norm=1.0), ValueError),
        (
            lambda: F.embedding_bag(
                indices, table, zero.tensor([0]), 1.0, scale_grad_by_freq=True, mode="max"
            ),
            ValueError,
        ),
    ):
        with pytest.raises(error):
            call()
        assert table.tolist() == [[3, 4], [30, 40]]


def test_embedding_renorm_shortens_the_rows_that_are_asked_for():
    table = zero.tensor([[3.0, 4.0], [3.0, 4.0], [0.3, 0.4]])
    assert zero.embedding_renorm_(table, zero.tensor([0, 2]), 1.0, 2.0) is table
    assert zero.allclose(table, zero.tensor([[0.6, 0.8], [3.0, 4.0], [0.3, 0.4]]), atol=1e-6)
