"""nn.utils: norms and clipping of gradients, parameters as a vector."""

import math

import pytest

import zero
from zero import nn
from zero.nn import Parameter
from zero.nn.utils import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
    parameters_to_vector,
    vector_to_parameters,
)

INF = math.inf


def with_grads(*grads):
    parameters = [Parameter(zero.zeros(len(grad))) for grad in grads]
    for parameter, grad in zip(parameters, grads, strict=True):
        parameter.grad = zero.tensor(grad)
    return parameters


# The norm of (3, 4, 0, -12), and the same after clipping to 2.
@pytest.mark.parametrize(
    "norm_type, total",
    [
        (2, 13.0),
        (2.0, 13.0),
        (1, 19.0),
        (INF, 12.0),
        ("inf", 12.0),
        (-INF, 0.0),
        (3, (27 + 64 + 1728) ** (1 / 3)),
        (0.5, (3**0.5 + 2 + 12**0.5) ** 2),
        (0, 2.0),
    ],
)
def test_norms(norm_type, total):
    parameters = [*with_grads([3.0, 4.0], [0.0, -12.0]), Parameter(zero.ones(1))]
    norm = clip_grad_norm_(parameters, 2.0, norm_type)
    assert norm.item() == pytest.approx(total, rel=1e-6)
    factor = min(2 / (total + 1e-6), 1)
    grads = [p.grad.tolist() for p in parameters[:2]]
    assert grads[0] == pytest.approx([3 * factor, 4 * factor], rel=1e-6)
    assert grads[1] == pytest.approx([0, -12 * factor], rel=1e-6)
    assert parameters[2].grad is None


def test_small_norms_are_left_alone():
    (p,) = with_grads([0.3, 0.4])
    grad, before = p.grad, p.grad.tolist()
    assert clip_grad_norm_(p, 1.0).item() == pytest.approx(0.5)
    assert p.grad is grad and grad.tolist() == before
    assert clip_grad_norm_([], 1.0).item() == 0 == get_total_norm([]).item()
    assert clip_grad_norm_([Parameter(zero.ones(1))], 1.0).item() == 0


def test_norms_that_are_not_finite():
    for bad in (INF, math.nan):
        p, q = with_grads([bad, 1.0], [2.0])
        with pytest.raises(RuntimeError, match="error_if_nonfinite"):
            clip_grad_norm_([p, q], 1.0, error_if_nonfinite=True)
        assert q.grad.tolist() == [2]
        total = clip_grad_norm_([p, q], 1.0)
        assert not math.isfinite(total.item())
        assert q.grad.item() == 0 if bad == INF else math.isnan(q.grad.item())


def test_squares_may_leave_the_range_of_half():
    (p,) = with_grads([300.0, 400.0])
    p.data, p.grad = p.data.half(), None
    p.grad = zero.tensor([300.0, 400.0], dtype=zero.float16)
    total = clip_grad_norm_([p], 5.0)
    assert total.dtype == zero.float16 and total.item() == 500
    assert p.grad.tolist() == pytest.approx([3, 4], rel=2e-3)


def test_parts_of_clipping():
    p, q = with_grads([30.0], [40.0])
    assert get_total_norm([p.grad, q.grad]).item() == 50
    assert get_total_norm(p.grad).item() == 30
    clip_grads_with_norm_([p, q], 5.0, zero.tensor(50.0))
    assert [p.grad.item(), q.grad.item()] == pytest.approx([3, 4])
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        clip_grad_norm([p], 1.0)
    assert p.grad.item() == pytest.approx(1)
    clip_grad_value_(iter([p, q, Parameter(zero.ones(1))]), 0.5)
    assert [p.grad.item(), q.grad.item()] == [0.5, 0.5]
    (r,) = with_grads([-3.0, 0.25, 3.0])
    clip_grad_value_(r, 2, foreach=True)
    assert r.grad.tolist() == [-2, 0.25, 2]


def test_refusals():
    (p,) = with_grads([3.0])
    for call in (
        lambda: clip_grad_norm_(3, 1.0),
        lambda: clip_grad_norm_([p, 3], 1.0),
        lambda: clip_grad_norm_([p], 1.0, foreach="yes"),
        lambda: clip_grad_value_([p, None], 1.0),
    ):
        with pytest.raises(TypeError):
            call()
    assert p.grad.item() == 3
    used_up = iter([])
    with pytest.warns(UserWarning, match="used up"):
        clip_grad_norm_((p for p in used_up), 1.0)


def test_gradients_with_graphs_are_clipped_unrecorded():
    p = Parameter(zero.tensor([3.0]))
    (p * p * p).sum().backward(create_graph=True)
    total = clip_grad_norm_([p], 1.0)
    assert not total.requires_grad and p.grad.item() == pytest.approx(1)


def test_parameters_as_a_vector():
    net = nn.Linear(2, 1)
    vector = parameters_to_vector(net.parameters())
    assert vector.tolist() == net.weight.flatten().tolist() + net.bias.tolist()
    vector.sum().backward()
    assert net.weight.grad.tolist() == [[1, 1]]
    new = zero.tensor([1.0, 2.0, 3.0])
    weight = net.weight
    vector_to_parameters(new, net.parameters())
    assert net.weight is weight and weight.tolist() == [[1, 2]] and net.bias.tolist() == [3]
    assert weight.data_ptr() == new.data_ptr()
    for bad in (zero.ones(2), zero.ones(3, 1)):
        with pytest.raises(zero.errors.ShapeError):
            vector_to_parameters(bad, net.parameters())
    with pytest.raises(TypeError):
        vector_to_parameters([1.0, 2.0, 3.0], net.parameters())
    assert weight.tolist() == [[1, 2]]
