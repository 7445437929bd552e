"""What a graph keeps: no more than the inputs that need a gradient ask for; and views whose base is
written later."""

import pytest

import zero


def row(*values):
    return zero.tensor(values, dtype=zero.float64)


ONE, TWO = zero.tensor([1]), zero.tensor([0, 0])
SAVING_NOTHING = {
    "add": lambda x: x + row(1.0, 2.0),
    "sum": lambda x: x.sum(),
    "cumsum": lambda x: x.cumsum(0),
    "lerp": lambda x: zero.lerp(x, row(1.0, 2.0), 0.25),
    "addmm": lambda x: zero.addmm(x, zero.ones(2, 3).double(), zero.ones(3, 2).double(), beta=2),
    "addmv": lambda x: zero.addmv(x, zero.ones(2, 2).double(), row(1.0, 2.0), alpha=3, beta=0.5),
    "index_add": lambda x: x.index_add(0, ONE, row(3.0)),
    "index_add_": lambda x: x.clone().index_add_(0, ONE, row(3.0)),
    "scatter_add": lambda x: x.scatter_add(0, TWO, row(3.0, 4.0)),
    "flip": lambda x: x.flip(0),
    "roll": lambda x: x.roll(1, 0),
    "repeat": lambda x: x.repeat(2),
    "repeat_interleave": lambda x: x.repeat_interleave(2),
    "tril": lambda x: x.view(1, 2).tril(),
    "triu": lambda x: x.view(2, 1).triu(),
    "diag": lambda x: x.diag(),
    "diag_embed": lambda x: x.diag_embed(-1, 1, 0),
    "cat": lambda x: zero.cat([x, row(1.0)]),
    "stack": lambda x: zero.stack([x, x]),
}


@pytest.mark.parametrize("name", SAVING_NOTHING)
def test_a_graph_that_keeps_nothing_runs_twice(name):
    x = row(1.0, 2.0).requires_grad_()
    y = SAVING_NOTHING[name](x).sum()
    y.backward()
    once = x.grad.clone()
    y.backward()
    assert x.grad.tolist() == (once * 2).tolist()


def test_places_are_kept_where_they_are_needed():
    x, v = row(1.0, 2.0).requires_grad_(), row(3.0).requires_grad_()
    for y in (
        x.index_add(0, ONE, v),
        x.index_put((ONE,), row(5.0)),
        x.index_put((ONE,), row(5.0), accumulate=True),  # in vain, as in PyTorch
        x.put(ONE, row(5.0), accumulate=True),
        x.scatter(0, ONE, 2.0),
    ):
        y.sum().backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.sum().backward()


# ---- views ---------------------------------------------------------------------------------------
def bases_and_views():
    class Part(zero.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1]

        @staticmethod
        def backward(ctx, g):
            return zero.cat([g, zero.zeros_like(g)])

    def without_gradients(y):
        with zero.no_grad():
            return y[:1]

    return {
        "under no_grad": without_gradients,
        "several outputs": lambda y: y.split(1)[0],
        "custom Function": Part.apply,
    }


@pytest.mark.parametrize("how", bases_and_views())
@pytest.mark.parametrize("writes", [lambda y: y.mul_(2), lambda y: y[1:].fill_(3.0)])
def test_some_views_end_when_their_base_is_written(how, writes):
    y = row(1.0, 2.0).requires_grad_() * 1
    view = bases_and_views()[how](y)
    assert (view * 1).tolist() == [1.0]
    writes(y)
    for use in (lambda: view.grad_fn, lambda: view * 2, lambda: view.sum().backward()):
        with pytest.raises(RuntimeError, match=f"{how}.*written in place"):
            use()
    kept = row(5.0)
    with pytest.raises(RuntimeError, match="written in place"):
        kept.mul_(view)
    with pytest.raises(RuntimeError, match="written in place"):
        kept[0:1] = view
    with pytest.raises(RuntimeError, match="written in place"):
        kept.index_add_(0, zero.tensor([0]), view)
    assert kept.tolist() == [5.0] and kept._version == 0  # a failed call changes nothing
    assert view.detach().tolist() == y.detach()[:1].tolist()
    with zero.no_grad():
        assert (view * 1).tolist() == y[:1].tolist()


def test_ordinary_views_follow_their_base():
    x = row(1.0, 2.0).requires_grad_()
    y = x * 1
    view = y[:1]
    y.mul_(3)
    view.sum().backward()
    assert x.grad.tolist() == [3.0, 0.0]


def test_a_view_of_a_leaf_made_without_gradients_gets_none():
    x = row(1.0, 2.0).requires_grad_()
    with zero.no_grad():
        view = x[:1]
    assert view.requires_grad and view.is_leaf and view._backward_hooks is None
    assert view._post_accumulate_grad_hooks is None
    view.retain_grad()
    (view * x).sum().backward(inputs=[view, x])
    assert view.grad is None and x.grad.tolist() == [1.0, 1.0]
    assert zero.autograd.grad((view * x).sum(), view, allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="under no_grad"):
        view.register_hook(lambda g: g)
    with pytest.raises(RuntimeError, match="under no_grad"):
        view.register_post_accumulate_grad_hook(lambda t: None)


# ---- gradients of gradients through a write to a view ------------------------------------------
def test_second_gradients_through_a_write_to_a_view():
    def f(x):
        y = x * x
        y[...].sigmoid_()
        return y * y

    x = row(0.5, -1.5).requires_grad_()
    assert zero.autograd.gradgradcheck(f, x)
    (g,) = zero.autograd.grad(f(x).sum(), x, create_graph=True)
    g.square().sum().backward()  # frees the graph of both passes as it goes
    y = f(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_a_gradient_that_was_asked_for_may_be_one_number_repeated():
    x = row(1.0, 2.0).requires_grad_()
    (g,) = zero.autograd.grad(x.sum(), x)
    assert g.stride() == (0,)
    with pytest.raises(RuntimeError, match="share one place in memory"):
        g.mul_(2.0)
    x.sum().backward()
    x.grad.mul_(2.0)  # what is kept in .grad has memory of its own
    for create_graph in (False, True):
        (g,) = zero.autograd.grad(x.mean(), x, create_graph=create_graph)
        g.mul_(row(2.0, 4.0))
        assert g.tolist() == [1.0, 2.0]


TWO_SIDED = {
    "hypot": zero.hypot,
    "copysign": zero.copysign,
    "mul": zero.mul,
    "lerp": lambda a, b: zero.lerp(a, b, 0.5),
    "cross": lambda a, b: zero.linalg.cross(a, b),
    "matmul": lambda a, b: a @ b.t(),
}


@pytest.mark.parametrize("name", TWO_SIDED)
@pytest.mark.parametrize("side", [0, 1])
def test_only_what_the_asked_gradient_needs_is_saved(name, side):
    w = zero.rand(2, 3, dtype=zero.float64).add_(0.5).requires_grad_()
    # mul and products need the other side, which an inference tensor cannot be
    needs_other = name in ("mul", "cross", "matmul")
    with zero.inference_mode():
        other = zero.rand(2, 3, dtype=zero.float64) + 0.5
    given = (w, other) if side == 0 else (other, w)
    if needs_other:
        with pytest.raises(RuntimeError, match="inference tensor can't be saved"):
            TWO_SIDED[name](*given)
        return
    found = zero.autograd.grad(TWO_SIDED[name](*given).sum(), w)[0]
    plain = other.clone()
    given = (w, plain) if side == 0 else (plain, w)
    y = TWO_SIDED[name](*given).sum()
    plain.zero_()
    assert zero.equal(zero.autograd.grad(y, w)[0], found)


def test_a_function_saves_its_input_or_its_result():
    for f in (
        zero.lgamma,
        zero.digamma,
        zero.i0,
        zero.sinc,
        zero.erfinv,
        zero.special.entr,
        zero.special.ndtr,
    ):
        x = zero.rand(3, dtype=zero.float64, requires_grad=True)
        expected = zero.autograd.grad(f(x).sum(), x)[0]
        y = f(x)
        total = y.sum()
        y.detach().zero_()
        assert zero.equal(zero.autograd.grad(total, x)[0], expected)
        w = zero.full((3,), 0.3, dtype=zero.float64, requires_grad=True)
        x = w * 1
        total = f(x).sum()
        x.detach().zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            total.backward()
    w = zero.full((3,), 0.3, dtype=zero.float64, requires_grad=True)
    x = w * 1
    total = zero.special.ndtri(x).sum()
    x.detach().zero_()
    total.backward()
    assert w.grad is not None


def test_the_gradient_of_a_view_without_elements_has_no_history():
    x = zero.zeros(1, 0, requires_grad=True)
    y = x[None]
    with zero.no_grad():
        y.fill_(0.25)  # the view's part of the history is made anew, as a strided view
    g = zero.autograd.grad((y * y).sum(), x, create_graph=True)[0]
    assert g.shape == (1, 0) and not g.requires_grad


WATCHED = {
    "gather": lambda x: x.gather(0, zero.tensor([[1, 0, 1]])),
    "take": lambda x: zero.take(x, TWO),
    "take_along_dim": lambda x: zero.take_along_dim(x, zero.tensor([[-1, 0, 1]]), 0),
    "masked_select": lambda x: x.masked_select(x > 0),
    "cummax": lambda x: x.cummax(0).values,
    "cummin": lambda x: x.cummin(0).values,
    "nll_loss": lambda x: zero.nn.functional.nll_loss(x, zero.tensor([0, 2])),
}


@pytest.mark.parametrize("name", WATCHED)
def test_a_write_to_what_is_not_read_is_noticed_as_in_pytorch(name):
    f = WATCHED[name]
    w = zero.ones(2, 3, dtype=zero.float64, requires_grad=True)
    for write in (lambda x: x.mul_(2), lambda x: x[0].detach().fill_(3.0), lambda x: x.t().zero_()):
        x = w * 1
        early, other = f(x).sum(), f(x).sum()
        early.backward(retain_graph=True)
        write(x)
        with pytest.raises(
            RuntimeError, match=r"modified by an inplace.*float64 \(2, 3\) at version 1"
        ):
            other.backward()
        zero.autograd.grad(f(x).sum(), x)  # after the write it counts from there
    x = w * 1
    y = f(x).sum()
    x.data.zero_()  # not counted
    y.backward()
    detached = (w * 1).data
    detached.requires_grad_()
    y = f(detached).sum()
    with zero.no_grad():
        detached.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.gather(0, TWO),
        lambda x: zero.take(x, TWO),
        lambda x: x.masked_select(zero.arange(len(x)) < 2),
    ],
)
def test_what_is_not_read_is_not_kept(f):
    w = zero.ones(1 << 18, requires_grad=True)
    x = w * 1
    y = f(x)
    before = zero.memory_stats()["live_bytes"]
    del x
    assert before - zero.memory_stats()["live_bytes"] >= 4 << 18
    y.sum().backward()
    assert w.grad.sum().item() == 2


def test_hooks_of_saved_tensors_see_what_pytorchs_see():
    seen = []

    def pack(x):
        seen.append((tuple(x.shape), x.dtype, x.device.type))
        return x

    x = zero.ones(2, 3, requires_grad=True)
    with zero.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        y = x.gather(0, zero.tensor([[1, 0, 1]]))
    y.sum().backward()
    assert sorted(seen, key=str) == [
        ((1, 3), zero.int64, "cpu"),
        ((2, 3), zero.float32, "cpu"),
    ]
    assert x.grad.tolist() == [[0, 1, 0], [1, 0, 1]]


def test_indices_that_are_copied_may_be_written_to():
    x = zero.ones(2, 3, requires_grad=True)
    at = zero.tensor([[-1, 0, 1]])
    y = zero.take_along_dim(x, at, 0)
    at.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [[0, 1, 0], [1, 0, 1]]


# ---- operands that were detached in place --------------------------------------------------------
@pytest.mark.parametrize(
    ("shapes", "side"),
    [
        (((2, 3, 4), (2, 4, 5)), 0),
        (((2, 3, 4), (2, 4, 5)), 1),
        (((2, 3, 4), (4, 5)), 0),
        (((2, 3, 4), (4,)), 0),
        (((3, 4), (2, 4, 5)), 0),
        (((3, 4), (2, 4, 5)), 1),
        (((4,), (2, 4, 5)), 1),
        (((4,), (4, 5)), 0),
    ],
)
def test_an_operand_that_matmul_views_may_be_detached_in_place(shapes, side):
    def second_gradients(detach):
        zero.manual_seed(0)
        w = [zero.rand(s, dtype=zero.float64, requires_grad=True) for s in shapes]
        x = [t * t for t in w]
        y = x[0] @ x[1]
        if detach:
            x[side].detach_()
        first = zero.autograd.grad((y * y).sum(), w, create_graph=True)
        return [*first, *zero.autograd.grad(sum(g.square().sum() for g in first), w)]

    for a, b in zip(second_gradients(True), second_gradients(False), strict=True):
        assert zero.equal(a, b)


@pytest.mark.parametrize("f", [lambda x, w: x @ w, lambda x, w: zero.bmm(x[None], w[None])])
def test_an_operand_that_is_kept_itself_may_not_be_detached_in_place(f):
    w = zero.ones(3, 3, requires_grad=True)
    x, other = w * 1, w * 1
    y = f(x, other)
    if y.ndim == 2:
        x.detach_()
        with pytest.raises(RuntimeError, match="detached in place"):
            y.sum().backward()
    x = zero.ones(1, 3, 3, requires_grad=True) * 1
    y = zero.bmm(x, w[None])
    x.detach_()
    with pytest.raises(RuntimeError, match="detached in place"):
        y.sum().backward()
