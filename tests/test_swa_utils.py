"""zero.optim.swa_utils against running means computed with NumPy."""

import copy

import numpy as np
import pytest

import zero
from zero import nn
from zero.optim import swa_utils
from zero.optim.swa_utils import (
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
    update_bn,
)


def model():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2).double())


def values(m):
    return [t.detach().double().numpy().copy() for t in [*m.parameters(), *m.buffers()]]


def train(m, averaged, steps=5):
    """What the model was after each step."""
    history = []
    for step in range(steps):
        with zero.no_grad():
            for t in [*m.parameters(), *m.buffers()]:
                t.add_(step + 1)
        averaged.update_parameters(m)
        history.append(values(m))
    return history


def mean(history):
    return [np.mean(column, 0) for column in zip(*history, strict=True)]


def ema(history, decay=0.75):
    average = history[0]
    for now in history[1:]:
        average = [decay * a + (1 - decay) * b for a, b in zip(average, now, strict=True)]
    return average


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, mean),
        ({"avg_fn": get_swa_avg_fn()}, mean),
        ({"multi_avg_fn": get_swa_multi_avg_fn()}, mean),
        ({"avg_fn": get_ema_avg_fn(0.75)}, ema),
        ({"multi_avg_fn": get_ema_multi_avg_fn(0.75)}, ema),
    ],
)
@pytest.mark.parametrize("use_buffers", [False, True])
def test_averages(options, expected, use_buffers):
    m = model()
    before = values(m)
    averaged = AveragedModel(m, use_buffers=use_buffers, **options)
    pointers = [p.data_ptr() for p in averaged.parameters()]
    history = train(m, averaged)
    number = len(list(m.parameters()))
    got, want = values(averaged.module), expected(history)
    if use_buffers:  # of integers the last is cut off each time
        want[-1] = got[-1]
        assert abs(got[-1].item() - expected(history)[-1].item()) <= 4
    else:
        want[number:] = history[-1][number:]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert [p.data_ptr() for p in averaged.parameters()] == pointers
    assert averaged.n_averaged.item() == 5 and averaged.n_averaged.dtype == zero.int64
    for a, b, shift in zip(values(m), before, [15] * 99, strict=False):
        np.testing.assert_allclose(a, b + shift, rtol=1e-6)  # the model itself is left alone


def test_state_dict():
    m = model()
    averaged = AveragedModel(m)
    train(m, averaged, 2)
    state = averaged.state_dict()
    assert list(state) == ["n_averaged", *(f"module.{name}" for name in m.state_dict())]
    other = AveragedModel(model())
    other.load_state_dict(copy.deepcopy(state))
    again = copy.deepcopy(m)
    train(m, averaged, 2)
    train(again, other, 2)
    for a, b in zip(values(averaged), values(other), strict=True):
        np.testing.assert_array_equal(a, b)
    x = zero.ones(2, 3)
    m_only = nn.Sequential(nn.Linear(3, 2))
    averaged = AveragedModel(m_only)
    averaged.update_parameters(m_only)
    assert zero.equal(averaged(x), m_only(x))
    assert all(p.requires_grad for p in averaged.parameters())


def test_functions_get_lists_of_one_dtype():
    calls = []

    def collect(averages, models, number):
        calls.append(({t.dtype for t in averages}, len(models), number.item()))

    m = model()
    averaged = AveragedModel(m, multi_avg_fn=collect, use_buffers=True)
    averaged.update_parameters(m)  # copied
    assert calls == []
    averaged.update_parameters(m)
    assert calls == [({zero.float32}, 6, 1), ({zero.float64}, 2, 1), ({zero.int64}, 1, 1)]


def test_update_bn():
    zero.manual_seed(0)
    m = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, momentum=0.3), nn.Dropout(0.5))
    m.eval()
    m[2].train()
    batches = [zero.randn(8, 3) for _ in range(3)]
    update_bn([batches[0], [batches[1], zero.ones(8)], (batches[2],)], m)
    with zero.no_grad():
        hidden = [m[0](x).numpy() for x in batches]
    means = np.mean([h.mean(0) for h in hidden], 0)
    variances = np.mean([h.var(0, ddof=1) for h in hidden], 0)
    np.testing.assert_allclose(m[1].running_mean.numpy(), means, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(m[1].running_var.numpy(), variances, rtol=1e-5)
    assert m[1].momentum == 0.3 and m[1].num_batches_tracked == 3
    assert [module.training for module in m] == [False, False, True]  # each has its mode back

    with pytest.raises(ZeroDivisionError):
        update_bn((1 / 0 for _ in range(1)), m)
    assert m[1].momentum == 0.3 and not m.training
    update_bn(iter(lambda: 1 / 0, None), nn.Linear(1, 1))  # without such layers nothing is read


def test_errors():
    m = model()
    with pytest.raises(ValueError, match="both"):
        AveragedModel(m, avg_fn=get_swa_avg_fn(), multi_avg_fn=get_swa_multi_avg_fn())
    for make in (get_ema_avg_fn, get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match=r"\[0, 1\]; got 1.5"):
            make(1.5)
    with pytest.raises(ValueError, match="other parameters; got 2, expected 6"):
        AveragedModel(m).update_parameters(nn.Linear(3, 4))
    assert zero.optim.swa_utils is swa_utils
