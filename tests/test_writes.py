"""What was saved and then written; writes to views and their bases."""

import math

import pytest

import zero
from zero.autograd import grad, gradcheck, gradgradcheck


def leaf(*values, dtype=None):
    data = values[0] if len(values) == 1 and isinstance(values[0], list) else list(values)
    return zero.tensor(data, dtype=dtype or zero.float32, requires_grad=True)


# ---- saved tensors and versions ----------------------------------------------------------------
def test_saved_input_changed_in_place():
    a, b = leaf(1.0, 2.0), zero.tensor([3.0, 4.0])
    y = (a * b).sum()
    b.add_(1)
    with pytest.raises(
        RuntimeError,
        match=r"needed by MulBackward0 was modified by an inplace operation; got .*2.* at version "
        "1, expected version 0",
    ):
        y.backward()


def test_saved_output_changed_in_place():
    x = leaf(1.0)
    y = x.exp()
    z = y.sum()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="ExpBackward0"):
        z.backward()


def test_write_that_needs_no_saved_tensor_is_fine():
    x = leaf(1.0, 2.0)
    y = x + 1
    z = y.sum()
    y.mul_(2)
    z.backward()
    assert x.grad.tolist() == [1.0, 1.0]
    x.grad = None
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_in_place_keeps_what_its_own_gradient_needs():
    x, w = leaf(2.0, 3.0), leaf(5.0, 7.0)
    y = x * 1
    y.mul_(w)
    y.pow_(2)
    y.sum().backward()
    assert x.grad.tolist() == [2 * 2 * 25.0, 2 * 3 * 49.0]
    assert w.grad.tolist() == [2 * 4 * 5.0, 2 * 9 * 7.0]


@pytest.mark.parametrize("op", ["mul_", "div_", "pow_", "atan2_", "remainder_", "fmod_"])
def test_in_place_with_itself_overwrites_what_its_gradient_needs(op):
    x = leaf(2.0, 3.0)
    y = x * 1
    if not hasattr(y, op):
        pytest.skip("no such method")
    getattr(y, op)(y)  # the second operand is not copied
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.logsumexp(0),
        lambda x: zero.nn.functional.smooth_l1_loss(x, x.detach() * 2),
        lambda x: zero.nn.functional.huber_loss(x, x.detach() * 2),
    ],
)
def test_what_a_loss_keeps_is_its_input(f):
    x = leaf(2.0, 3.0)
    y = f(x)
    with zero.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_logsumexp_keeps_its_result():
    x = leaf([1.0, 2.0], [3.0, 4.0])
    y = x.logsumexp(1)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="LogsumexpBackward0"):
        y.sum().backward()


def test_the_product_of_one_number_passes_its_gradient_on():
    x = zero.tensor(3.0, requires_grad=True)
    for y in (x.prod(), x.prod(0), x.prod(0, keepdim=True)):
        (g,) = zero.autograd.grad(y, x, create_graph=True)
        assert g.item() == 1 and not g.requires_grad


def test_an_addend_that_is_left_out_has_the_gradient_0():
    a, b = zero.full((2, 2), float("nan"), requires_grad=True), zero.ones(2, 2)
    for y in (
        zero.addmm(a, b, b, beta=0),
        zero.addr(a, b[0], b[0], beta=0),
        zero.baddbmm(a, b.expand(3, 2, 2), b.expand(3, 2, 2), beta=0),
    ):
        (g,) = zero.autograd.grad(y.sum(), a)
        assert zero.equal(g, zero.zeros(2, 2)) and not y.isnan().any()


def test_lerp_wants_one_dtype():
    x, y = zero.ones(2), zero.ones(2, dtype=zero.float64)
    for wrong in (
        lambda: zero.lerp(x, y, 0.5),
        lambda: zero.lerp(x, y[0], 0.5),
        lambda: zero.lerp(x, x, y),
        lambda: zero.lerp(x.int(), x.int(), 0.5),
    ):
        with pytest.raises(zero.errors.DTypeError, match="lerp"):
            wrong()
    assert zero.lerp(x, x, y[0]).tolist() == [1, 1]


def test_cat_writes_to_none_of_its_parts():
    x = zero.arange(4.0)
    for out in (x, x[:2]):
        with pytest.raises(RuntimeError, match=r"cat: .* expected a clone\(\) of it"):
            zero.cat([x[:2], x[2:]] if out is not x else [x[:0], x], out=out)
    assert x.tolist() == [0, 1, 2, 3]


def test_cat_of_nothing_takes_any_dimension():
    nothing = zero.ones(0, requires_grad=True)
    assert zero.cat([nothing, nothing], 2).shape == (0,)
    assert zero.cat([nothing, zero.ones(2, 3)], 1).shape == (2, 3)
    assert zero.ones(2, 0).roll(1, 3).shape == (2, 0)
    with pytest.raises(IndexError):
        zero.cat([nothing, zero.ones(2, 3)], 2)


def test_what_was_saved_is_not_detached_in_place():
    x = leaf(2.0, 3.0)
    y = x * 2
    z, e = (y * y).sum(), y.exp().sum()
    y.detach_()
    with pytest.raises(RuntimeError, match="was detached in place"):
        z.backward()
    e.backward()  # saved its own result
    assert x.grad.tolist() == pytest.approx([2 * math.exp(4), 2 * math.exp(6)], rel=1e-5)


def test_a_view_follows_its_detached_base():
    x = leaf(2.0, 3.0)
    y = x.sigmoid()
    view = y.view_as(y)
    y.detach_()
    y[0] = 0.5  # now y, and all of its views, come from no leaf
    assert view.requires_grad and view.grad_fn.next_functions == ((None, 0),)
    assert zero.autograd.grad(view.sum(), x, allow_unused=True) == (None,)


def test_scores_can_be_written_after_their_cross_entropy():
    cross_entropy, target = zero.nn.functional.cross_entropy, zero.tensor([0, 3, 1, 1, 2])
    x = zero.randn(5, 4, requires_grad=True)
    expected = zero.autograd.grad(cross_entropy(x * 2, target), x)[0]
    scores = x * 2
    loss = cross_entropy(scores, target)
    scores.fill_(math.nan)
    (gradient,) = zero.autograd.grad(loss, x, create_graph=True)
    zero.testing.assert_close(gradient.detach(), expected)


def test_an_assignment_counts_as_a_write():
    x = zero.zeros(3)
    x[0] += 1
    assert x._version == 2
    x[...] = x
    assert x._version == 3
    w = leaf(1.0, 2.0)
    y = (w * w).sum()
    with zero.no_grad():
        w[...] = w
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_version_counters():
    x = zero.zeros(4)
    view, detached, data = x[:2], x.detach(), x.data
    x.add_(1)
    assert (x._version, view._version, detached._version, data._version) == (1, 1, 1, 0)
    detached.add_(1)
    assert (x._version, data._version) == (2, 0)
    data.add_(1)
    assert (x._version, x.tolist()) == (2, [3.0] * 4)
    view[0] = 7
    assert x._version == 3 and x.tolist() == [7.0, 3.0, 3.0, 3.0]


def test_write_through_detach_is_noticed_and_through_data_not():
    x = leaf(2.0)
    y = x.exp()
    z = y.sum()
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="inplace"):
        z.backward()
    y = x.exp()
    z = y.sum()
    y.data.zero_()
    z.backward()  # computed with the zeros: the user's doing
    assert x.grad.item() == 0


def test_data_setter_keeps_identity():
    x = leaf(1.0, 2.0)
    x.data = zero.tensor([[5.0]])
    assert x.tolist() == [[5.0]] and x.is_leaf and x.requires_grad
    (x * x).sum().backward()
    assert x.grad.tolist() == [[10.0]]


# ---- writes through views ----------------------------------------------------------------------
def test_write_through_view_reaches_base_and_its_gradient():
    x, v = leaf(1.0, 2.0, 3.0), leaf(10.0)
    y = x * 2
    y[1:2] = v
    assert y.tolist() == [2.0, 10.0, 6.0] and y.grad_fn.name() == "CopySlices"
    (y * zero.tensor([1.0, 5.0, 7.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 14.0] and v.grad.tolist() == [5.0]


def test_write_to_base_reaches_the_view():
    x = leaf(1.0, 2.0)
    y = x * 2
    view = y[:1]
    y.mul_(3)
    view.sum().backward()
    assert x.grad.tolist() == [6.0, 0.0]


def test_view_of_view_and_chain_of_writes():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    square = y.view(2, 2)
    row = square[1]
    row.mul_(3)
    square.t()[0].add_(5)
    row[0] = 0
    assert y.tolist() == [6.0, 2.0, 0.0, 12.0]
    assert row._base is y and square._base is y
    (square * square).sum().backward()
    assert x.grad.tolist() == [12.0, 4.0, 0.0, 72.0]


def test_views_of_a_written_base_and_what_was_computed_from_them():
    """A view gets its history after a write late; it still comes before what reads the view."""
    makers = (lambda y: y.t(), lambda y: y[:1], lambda y: y.unsqueeze(0), lambda y: y.view(4))
    weights = (lambda v: v.sum(), lambda v: v.exp().sum() + v.sum(), lambda v: (v * v).sum())
    for make in makers:
        for weigh in weights:

            def f(x, make=make, weigh=weigh):
                y = x * 1
                view = make(y)
                y.mul_(x.exp())
                return weigh(view) + 2 * weigh(make(y)) + 3 * (y * y).sum()

            x = zero.tensor([[0.9, 0.3], [0.5, 0.7]], dtype=zero.float64, requires_grad=True)
            assert gradcheck(f, x) and gradgradcheck(f, x)
            f(x).backward()
            assert zero.allclose(x.grad, grad(f(x), x)[0], rtol=1e-13)


def test_old_graph_of_a_view_survives_a_write():
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y[:1].sum()
    y.add_(1)
    z.backward()
    assert x.grad.tolist() == [2.0, 0.0]


def test_write_of_a_gradient_into_a_plain_base():
    buffer, x = zero.zeros(3), leaf(2.0)
    buffer[0] = x[0] * 3
    assert buffer.requires_grad and not buffer.is_leaf
    buffer[2:] = x
    buffer.sum().backward()
    assert x.grad.item() == 4


def test_augmented_slices():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    y[1:] += zero.tensor([1.0, 1.0])
    y[0] *= 4
    y[:2] /= 2
    assert y.tolist() == [2.0, 1.5, 4.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 0.5, 1.0]


def test_recurrence_written_into_slices():
    x = leaf(0.5, 0.25, dtype=zero.float64)

    def f(x):
        states = zero.zeros(4, 2, dtype=zero.float64)
        h = x
        for i in range(4):
            h = (h * x).tanh()
            states[i] = h
        return states

    assert gradcheck(f, x) and gradgradcheck(f, x)


def test_view_made_under_no_grad():
    x = leaf(1.0, 2.0)
    y = x * 2
    with zero.no_grad():
        view = y[:1]
        view.add_(1)  # fine here
    with pytest.raises(RuntimeError, match="view made under no_grad"):
        view.mul_(2)
    assert y.tolist() == [3.0, 4.0]


def test_outputs_of_unbind_refuse_writes():
    y = leaf([[1.0, 2.0], [3.0, 4.0]]) * 2
    part = y.unbind()[0]
    with pytest.raises(RuntimeError, match="several views"):
        part.mul_(2)
    for row in y:  # iteration unbinds
        with pytest.raises(RuntimeError, match="several views"):
            row.add_(1)
    assert y.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    y[1] = 5
    assert part.requires_grad_() is part  # asks for what is so already
    with pytest.raises(RuntimeError, match="several outputs"):
        part + 1
    plain = zero.zeros(2, 2)
    for row in plain:
        row.add_(1)
    assert plain.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_expanded_write_is_refused():
    x = zero.ones(1, 2).expand(3, 2)
    for write in (
        lambda: x.add_(1),
        lambda: x.zero_(),
        lambda: x.__setitem__(0, 1.0) or x.fill_(0),
    ):
        with pytest.raises(RuntimeError, match=r"share one place.*clone"):
            write()


def test_partly_overlapping_write_is_refused():
    x = zero.arange(5, dtype=zero.float32)
    with pytest.raises(RuntimeError, match="shares part of its memory"):
        x[1:].add_(x[:-1])
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    x.add_(x)
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_write_beside_what_is_read():
    x = zero.arange(6, dtype=zero.float32).view(3, 2)
    x[:, 0] += x[:, 1]  # interleaved, but nothing in common
    assert x.tolist() == [[1.0, 1.0], [5.0, 3.0], [9.0, 5.0]]
    for rows, columns in ((40, 30), (3, 4)):
        x = zero.arange(rows * columns, dtype=zero.float32).view(rows, columns)
        before = x.clone()
        x[1:, 1:].add_(x[:-1, :-1])  # read as it was before the call
        assert x[1:, 1:].equal(before[1:, 1:] + before[:-1, :-1])
    x = zero.ones(4)
    x.add_(x[1:2].expand(4))
    assert x.tolist() == [2.0] * 4


def test_leaf_told_during_the_graph_that_it_needs_no_gradient():
    for tell in (lambda x: x.detach_(), lambda x: x.requires_grad_(False)):
        x = zero.ones(2, requires_grad=True)
        y = (x * 3).sum()
        tell(x)
        y.backward()
        assert x.grad is None


def test_derivatives_that_become_constant_go_on():
    x = zero.tensor([3.0, -2.0], dtype=zero.float64, requires_grad=True)
    for f, values in (
        (lambda: x**2, [[6.0, -4.0], [2.0, 2.0], [0.0, 0.0]]),
        (lambda: x.relu(), [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]),
    ):
        y = f()
        for value in values:
            (y,) = zero.autograd.grad(y.sum(), x, create_graph=True)
            assert y.tolist() == value


def test_gradient_of_an_empty_part_of_cat():
    x = zero.zeros(0, requires_grad=True)
    zero.cat([x, zero.ones(2), x]).sum().backward()
    assert x.grad.shape == (0,)


def test_set_item_records_a_source_in_the_same_place():
    x = zero.ones(2, requires_grad=True)
    y = x.data
    y[:] = x
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_copy_over_overlapping_memory_reads_before_it_writes():
    x = zero.arange(6, dtype=zero.float32)
    try:
        x[1:] = x[:-1]
    except RuntimeError:
        assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    else:
        assert x.tolist() == [0.0, 0.0, 1.0, 2.0, 3.0, 4.0]


def test_copy_with_broadcast_and_cast_gradient():
    x = zero.ones(2, 1, dtype=zero.float64, requires_grad=True)
    y = zero.zeros(3, 2, 4)
    y.copy_(x)
    (y * 2).sum().backward()
    assert x.grad.tolist() == [[24.0], [24.0]] and x.grad.dtype == zero.float64


def test_set_item_gradients_in_all_forms():
    assignments = [
        lambda y, v: y.__setitem__((0, 1), v[0, 0]),
        lambda y, v: y.__setitem__(slice(None), v),
        lambda y, v: y.__setitem__((slice(None), slice(0, 2)), v),
        lambda y, v: y.__setitem__((Ellipsis, 0), v[0]),
        lambda y, v: y.__setitem__((None, 1), v[0, :1]),
    ]
    for assign in assignments:

        def f(x, v, assign=assign):
            y = x * 1
            assign(y, v)
            return y * y

        shape = (2, 2)
        x = zero.rand(shape, dtype=zero.float64).requires_grad_()
        v = zero.rand(shape, dtype=zero.float64).requires_grad_()
        assert gradcheck(f, [x, v]) and gradgradcheck(f, [x, v])


def test_the_gradient_of_a_broadcast_number_is_no_view():
    x = zero.tensor(2.0, requires_grad=True)
    found = grad((x * zero.ones(2, 3)).sum(), x)[0]
    assert not found._is_view() and found.detach_().tolist() == 6.0


# ---- writes that can't be recorded ---------------------------------------------------------------
with zero.inference_mode():
    FROZEN = zero.linspace(0.5, 1.5, 9).reshape(3, 3)
    ROWS = zero.tensor([0, 2])
    PLACES = zero.tensor([[0, 1, 2], [2, 0, 1], [1, 1, 0]])
    MASK = FROZEN > 0.9
GRADIENT = {"requires_grad": True}
# True: its gradient needs the inference tensor.
FROZEN_WRITES = {
    "add": (lambda x: x.add_(FROZEN), False),
    "copy": (lambda x: x.copy_(FROZEN), False),
    "lerp": (lambda x: x.lerp_(FROZEN, 0.3), False),
    "mul": (lambda x: x.mul_(FROZEN), True),
    "mul of a view": (lambda x: x[0].mul_(FROZEN[0]), True),
    "div": (lambda x: x.div_(FROZEN), True),
    "pow": (lambda x: x.pow_(FROZEN), True),
    "atan2": (lambda x: x.atan2_(FROZEN), True),
    "xlogy": (lambda x: x.xlogy_(FROZEN), True),
    "clamp": (lambda x: x.clamp_(FROZEN), True),
    "lerp by weights": (lambda x: x.lerp_(zero.ones(3, 3), FROZEN), True),
    "addcmul": (lambda x: x.addcmul_(FROZEN, zero.ones(3, 3, **GRADIENT)), True),
    "addcdiv": (lambda x: x.addcdiv_(zero.ones(3, 3, **GRADIENT), FROZEN), True),
    "addmm": (lambda x: x.addmm_(FROZEN, zero.ones(3, 3, **GRADIENT)), True),
    "addr": (lambda x: x.addr_(FROZEN[0], zero.ones(3, **GRADIENT)), True),
    "masked_fill": (lambda x: x.masked_fill_(MASK, 0.0), True),
    "set by a mask": (lambda x: x.__setitem__(MASK, 0.0), True),
    "index_copy": (lambda x: x.index_copy_(0, ROWS, zero.ones(2, 3)), True),
    "index_fill": (lambda x: x.index_fill_(0, ROWS, 0.0), True),
    "index_reduce": (lambda x: x.index_reduce_(0, ROWS, zero.full((2, 3), 2.0), "prod"), True),
    "scatter": (lambda x: x.scatter_(0, PLACES, 0.0), True),
    "scatter_reduce": (lambda x: x.scatter_reduce_(0, PLACES, FROZEN, "prod"), True),
}


@pytest.mark.parametrize("name", FROZEN_WRITES)
def test_a_write_whose_record_is_refused_is_undone(name):
    write, refused = FROZEN_WRITES[name]
    start = zero.linspace(2, 3, 9).reshape(3, 3)
    x = start.clone().requires_grad_() * 1
    if not refused:
        write(x)
        assert not zero.equal(x, start)
        return
    with pytest.raises(RuntimeError, match="an inference tensor can't be saved for backward"):
        write(x)
    assert zero.equal(x, start) and x._version == 0
    x.exp_()  # goes on as if nothing had happened
    assert zero.equal(x, start.exp())
