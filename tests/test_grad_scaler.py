"""GradScaler: scaling, unscaling, steps that are left out, growth and backoff, state."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest

import zero


def setup(**options):
    zero.manual_seed(0)
    model = zero.nn.Linear(3, 2)
    optimizer = zero.optim.SGD(model.parameters(), lr=0.1)
    return model, optimizer, zero.amp.GradScaler("cpu", **options)


def backward(model, scaler, factor=1.0):
    loss = (model(zero.ones(4, 3)) * factor).square().mean()
    scaler.scale(loss).backward()


def test_a_step_is_that_without_a_scaler():
    model, optimizer, scaler = setup(init_scale=1024.0)
    plain = copy.deepcopy(model)
    backward(model, scaler)
    scaled = model.weight.grad.clone()
    assert scaler.step(optimizer) is None
    scaler.update()
    backward(plain, zero.amp.GradScaler("cpu", enabled=False))
    zero.optim.SGD(plain.parameters(), lr=0.1).step()
    assert zero.equal(scaled, plain.weight.grad * 1024)
    assert zero.equal(model.weight, plain.weight) and scaler.get_scale() == 1024


def test_growth_and_backoff():
    model, optimizer, scaler = setup(init_scale=16.0, growth_interval=3)
    before, found = model.weight.clone(), []
    for factor in (1, 1, 1, 1, math.inf, 1, math.nan, 1, 1, 1):
        optimizer.zero_grad()
        backward(model, scaler, factor)
        before = model.weight.clone()
        scaler.step(optimizer)
        assert zero.equal(before, model.weight) == (not math.isfinite(factor))
        scaler.update()
        found.append((scaler.get_scale(), scaler._get_growth_tracker()))
    assert found == [
        *((16, 1), (16, 2), (32, 0), (32, 1), (16, 0)),
        *((16, 1), (8, 0), (8, 1), (8, 2), (16, 0)),
    ]


def test_the_scale_stays_finite():
    model, optimizer, scaler = setup(init_scale=2.0**127, growth_interval=1)
    for _ in range(2):
        scaler.scale(zero.zeros(()))
        model.weight.grad = zero.zeros(2, 3)
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 2.0**127


def test_a_scale_of_zero_leaves_steps_out():
    model, optimizer, scaler = setup(init_scale=0.0)  # as after 165 steps that were left out
    before = model.weight.clone()
    backward(model, scaler)
    scaler.step(optimizer)
    scaler.update()
    assert zero.equal(model.weight, before) and scaler.get_scale() == 0


def test_other_defaults():
    model, optimizer, scaler = setup()
    try:
        zero.set_default_dtype(zero.float64)
        zero.set_default_device("meta")
        scaler.scale(zero.ones((), device="cpu"))
        model.weight.grad = zero.ones(2, 3, dtype=zero.float32, device="cpu")
        scaler._check_inf_per_device(optimizer)
        scaler.step(optimizer)
        scaler.update()
    finally:
        zero.set_default_dtype(zero.float32)
        zero.set_default_device("cpu")
    assert zero.equal(model.weight.grad, zero.full((2, 3), 2.0**-16))


def test_order_of_calls():
    model, optimizer, scaler = setup()
    with pytest.raises(RuntimeError, match=r"^GradScaler\.unscale_: nothing was scaled yet"):
        scaler.unscale_(optimizer)
    backward(model, scaler)
    with pytest.raises(RuntimeError, match="no step was taken"):
        scaler.update()
    scaler.unscale_(optimizer)
    expected = model.weight.grad.clone()
    with pytest.raises(RuntimeError, match="called again since the last update"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    assert zero.equal(model.weight.grad, expected)  # not once more
    for again in (scaler.step, scaler.unscale_):
        with pytest.raises(RuntimeError, match="since the last update"):
            again(optimizer)
    with pytest.raises(RuntimeError, match="a closure is not supported"):
        scaler.step(optimizer, closure=lambda: None)
    with pytest.raises(RuntimeError, match="between step"):
        pickle.dumps(scaler)
    scaler.update()
    optimizer.zero_grad()
    with pytest.raises(RuntimeError, match="no parameter of the optimizer has a gradient"):
        scaler.step(optimizer)
    model.half()
    model.weight.grad = zero.ones(2, 3).half()
    with pytest.raises(ValueError, match="a gradient is float16"):
        zero.amp.GradScaler.unscale_(scaler, zero.optim.SGD(model.parameters(), lr=1))


def test_two_optimizers():
    model, first, scaler = setup(init_scale=4.0)
    second = zero.optim.SGD([zero.nn.Parameter(zero.ones(2))], lr=1.0)
    (p,) = second.param_groups[0]["params"]
    backward(model, scaler)
    p.grad = zero.tensor([math.inf, 4.0])
    scaler.step(first)
    scaler.step(second)
    assert p.tolist() == [1, 1] and len(scaler._found_inf_per_device(second)) == 1
    scaler.update()
    assert scaler.get_scale() == 2


def test_kinds_of_outputs():
    scaler = zero.amp.GradScaler("cpu", init_scale=4.0)
    assert scaler.scale(zero.tensor(2.0)).item() == 8
    nested = scaler.scale([zero.ones(1), (zero.ones(1), zero.zeros(1))])
    assert [x.tolist() for x in (nested[0], *nested[1])] == [[4], [4], [0]]
    assert isinstance(nested[1], tuple)
    assert [x.item() for x in scaler.scale(zero.tensor(float(i)) for i in range(2))] == [0, 4]
    with pytest.raises(ValueError, match="got float, expected a Tensor"):
        scaler.scale(2.0)
    with zero.autocast("cpu", dtype=zero.float16):
        y = zero.mm(zero.ones(1, 2), zero.ones(2, 1))
    assert scaler.scale(y).dtype is zero.float16


def test_settings_and_state():
    _, _, scaler = setup(init_scale=8.0, growth_interval=5)
    scaler.set_growth_factor(4.0)
    scaler.set_backoff_factor(0.25)
    scaler.set_growth_interval(7)
    settings = (scaler.get_growth_factor(), scaler.get_backoff_factor())
    assert (*settings, scaler.get_growth_interval()) == (4, 0.25, 7)
    scaler.scale(zero.ones(()))
    scaler.update(3.0)
    assert scaler.get_scale() == 3
    scaler.update(zero.tensor(5.0))
    state = scaler.state_dict()
    assert state == {
        "scale": 5.0,
        "growth_factor": 4.0,
        "backoff_factor": 0.25,
        "growth_interval": 7,
        "_growth_tracker": 0,
    }
    for other in (zero.amp.GradScaler("cpu"), pickle.loads(pickle.dumps(scaler))):
        other.load_state_dict({**state, "_growth_tracker": 6})
        assert other.state_dict() == {**state, "_growth_tracker": 6}
        other.scale(zero.ones(()))
        assert other.get_scale() == 5 and other._get_growth_tracker() == 6
    with pytest.raises(RuntimeError, match="the state is empty"):
        scaler.load_state_dict({})
    with pytest.raises(KeyError):
        scaler.load_state_dict({"scale": 9.0})
    assert scaler.state_dict() == state
    with pytest.raises(ValueError, match="growth_factor is not above 1; got 1"):
        zero.amp.GradScaler("cpu", growth_factor=1.0)
    with pytest.raises(ValueError, match="backoff_factor is not below 1; got 1"):
        zero.amp.GradScaler("cpu", backoff_factor=1.0)


def test_switched_off():
    model, optimizer, scaler = setup(enabled=False)
    loss = model(zero.ones(1, 3)).sum()
    assert scaler.scale(loss) is loss and not scaler.is_enabled()
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert model.weight.grad.tolist() == [[1] * 3] * 2
    assert scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    scaler.load_state_dict({})
    assert not pickle.loads(pickle.dumps(scaler)).is_enabled()
    with pytest.warns(UserWarning, match="switched off, there is no device 'cuda'"):
        assert not zero.GradScaler().is_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zero.GradScaler(enabled=False)


@pytest.mark.parametrize("dtype", [zero.float32, zero.float64, zero.float16, zero.bfloat16])
def test_unscaling_in_one_pass(dtype):
    unscale = zero._amp_foreach_non_finite_check_and_unscale_
    rng = np.random.default_rng(0)
    for shape in ((), (0,), (1,), (511,), (513,), (7, 300), (200_000,)):
        values = zero.tensor(rng.normal(size=shape)).to(dtype)
        for view in (lambda x: x, lambda x: x.t() if x.ndim == 2 else x[::2] if x.ndim else x):
            g = view(values.clone())
            version, expected = g._version, (g.double() * 0.25).to(dtype)
            found = zero.zeros(())
            unscale([g], found, zero.tensor(0.25))
            assert found.item() == 0 and zero.equal(g, expected)
            assert g.numel() == 0 or g._version > version
            for bad in (math.inf, -math.inf, math.nan):
                if g.numel() == 0:
                    continue
                broken = g.clone()
                broken[(-1,) * broken.ndim] = bad
                unscale([g.clone(), broken], found, zero.tensor(1.0))
                assert found.item() == 1
                found.zero_()
    whole = zero.ones(2, dtype=zero.int64)
    with pytest.raises(zero.errors.DTypeError, match="no floating point numbers"):
        unscale([whole], zero.zeros(()), zero.ones(()))
    good = zero.ones(2)
    with pytest.raises(RuntimeError, match=r"unscale: several elements .* with strides \(0,\)"):
        unscale([good, zero.ones(1).expand(2000)], zero.zeros(()), zero.tensor(0.5))
    assert good.tolist() == [1, 1]
    with pytest.raises(zero.errors.DTypeError, match="not one float32 each"):
        unscale([], zero.zeros(2), zero.ones(()))
