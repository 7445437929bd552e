"""zero.optim.lr_scheduler against closed formulas; every schedule goes on from its state with the
same bits."""

import copy
import json
import pickle
import warnings
from itertools import pairwise
from math import cos, inf, nan, pi

import pytest
from lr_formulas import BASES, EVERY, FORMULAS, Share, optimizer

import zero
from zero.optim import SGD, AdamW, lr_scheduler as S
from zero.optim.swa_utils import SWALR


def seen(o, scheduler):
    """What training sees of a schedule: rates and momenta of the groups."""
    rates = [float(group["lr"]) for group in o.param_groups]
    assert [float(lr) for lr in scheduler.get_last_lr()] == rates
    return rates, [group["momentum"] if "momentum" in group else group["betas"][0]
                   for group in o.param_groups]  # fmt: skip


def metric(i):
    return [1.0, 0.9, 0.8, 0.8, 0.81, 0.82, 0.79, 0.79, 0.79, 0.79, 0.79, 0.5][i % 12] + i // 12


def advance(o, scheduler, i):
    o.step()
    if isinstance(scheduler, S.ReduceLROnPlateau):
        scheduler.step(metric(i))
    else:
        scheduler.step()


def run(o, scheduler, n, start=0):
    values = [seen(o, scheduler)]
    for i in range(start, n):
        advance(o, scheduler, i)
        values.append(seen(o, scheduler))
    return values


@pytest.mark.parametrize("kind", [SGD, AdamW])
@pytest.mark.parametrize("wrap", [float, zero.tensor])
@pytest.mark.parametrize("name", FORMULAS)
def test_rates_are_those_of_the_formula(name, wrap, kind):
    make, formula = FORMULAS[name]
    o = optimizer(kind, wrap)
    tensors = [group["lr"] for group in o.param_groups]
    values = run(o, make(o), 60 if name == "OneCycleLR" else 70)
    tolerance = 1e-12 if wrap is float else 2e-5  # tensors are float32, rounded in each epoch
    for epoch, (rates, _) in enumerate(values[:60]):
        expected = [formula(epoch, base) for base in BASES]
        assert rates == pytest.approx(expected, rel=tolerance, abs=1e-2 * tolerance), epoch
    if wrap is zero.tensor:  # filled, not replaced
        assert all(group["lr"] is lr for group, lr in zip(o.param_groups, tensors, strict=True))


@pytest.mark.parametrize("name", FORMULAS)
def test_closed_forms_equal_the_chained_ones(name):
    o = optimizer()
    scheduler = FORMULAS[name][0](o)
    if not hasattr(scheduler, "_get_closed_form_lr"):
        return
    for epoch in range(40):
        expected = scheduler._get_closed_form_lr()
        assert scheduler.get_last_lr() == pytest.approx(expected, rel=1e-12, abs=1e-15), epoch
        advance(o, scheduler, epoch)


def test_momentum_goes_against_the_rate():
    for kind in (SGD, AdamW):
        o = optimizer(kind)
        momenta = [m for _, m in run(o, S.CyclicLR(o, 0.01, 0.1, 4), 9)]
        heights = [0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0, 0.25]
        for got, height in zip(momenta, heights, strict=True):
            assert got == pytest.approx([0.9 - 0.1 * height] * 2, rel=1e-12)
        o = optimizer(kind)
        momenta = [m[0] for _, m in run(o, S.OneCycleLR(o, 1.0, 21, pct_start=1 / 3), 20)]
        assert momenta[0] == momenta[20] == 0.95
        assert momenta[6] == pytest.approx(0.85, rel=1e-12)
        assert momenta[3] == pytest.approx(0.9, rel=1e-12)
        if kind is AdamW:
            assert all(group["betas"][1] == 0.999 for group in o.param_groups)


def test_three_phases():
    o = optimizer()
    make = S.OneCycleLR(
        o, [0.4, 0.1], epochs=4, steps_per_epoch=10, pct_start=0.25, anneal_strategy="linear",
        three_phase=True, div_factor=4, final_div_factor=10,
    )  # fmt: skip
    values = run(o, make, 39)
    for peak, group in ((0.4, 0), (0.1, 1)):
        rates = [rate[group] for rate, _ in values]
        line = [(0, peak / 4), (9, peak), (18, peak / 4), (39, peak / 40)]
        for (x0, y0), (x1, y1) in pairwise(line):
            for x in range(x0, x1 + 1):
                assert rates[x] == pytest.approx(y0 + (y1 - y0) * (x - x0) / (x1 - x0), rel=1e-12)


@pytest.mark.parametrize("pct", [0.0, 0.1, 1.0])  # a phase without a step, with one, with all
def test_one_cycle_with_short_phases(pct):
    o = optimizer()
    scheduler = S.OneCycleLR(o, 1.0, total_steps=10, pct_start=pct)
    rates = [rate[0] for rate, _ in run(o, scheduler, 9)]
    assert max(rates) == pytest.approx(1.0 if pct else rates[0])
    assert rates[9] == pytest.approx(1.0 if pct == 1 else 0.04e-4)


def test_plateau():
    o = optimizer()
    scheduler = S.ReduceLROnPlateau(o, factor=0.5, patience=1, cooldown=1, min_lr=[0.03, 0])
    rates = []
    for loss in (3, 2, 2, nan, 2, 2, 2, 1.9999, 1.9):
        scheduler.step(zero.tensor(loss) if loss == 2 else loss)
        rates.append(scheduler.get_last_lr())
    # bad: 2, nan -> halved; 2 in cooldown; 2, 2 -> halved, at most to 0.03; 1.9999 in cooldown
    assert rates == [[0.1, 0.02]] * 3 + [[0.05, 0.01]] * 2 + [[0.05, 0.01]] + [[0.03, 0.005]] * 3
    assert scheduler.best == 1.9 and scheduler.last_epoch == 9 and scheduler.num_bad_epochs == 0

    for mode, threshold_mode, better, worse in (
        ("min", "rel", 8.99, 9.01),
        ("min", "abs", 9.89, 9.91),
        ("max", "rel", 11.01, 10.99),
        ("max", "abs", 10.11, 10.09),
    ):
        scheduler = S.ReduceLROnPlateau(
            optimizer(), mode, threshold=0.1, threshold_mode=threshold_mode
        )
        scheduler.step(10.0)
        scheduler.step(worse)
        assert (scheduler.best, scheduler.num_bad_epochs) == (10.0, 1)
        scheduler.step(better)
        assert (scheduler.best, scheduler.num_bad_epochs) == (better, 0)
    assert S.ReduceLROnPlateau(optimizer(), "max").best == -inf
    o = optimizer()
    scheduler = S.ReduceLROnPlateau(o, patience=0, eps=0.05)
    for _ in range(3):
        scheduler.step(1.0)
    assert scheduler.get_last_lr() == [pytest.approx(0.01), 0.02]  # changes below eps are none


def test_restarts_at_any_epoch():
    o = optimizer()
    scheduler = S.CosineAnnealingWarmRestarts(o, T_0=1, T_mult=10)
    for epoch, (done, length) in {
        0: (0, 1), 0.25: (0.25, 1), 1: (0, 10), 10.5: (9.5, 10), 11: (0, 100), 110: (99, 100),
        111: (0, 1000), 1111: (0, 10000), 3: (2, 10),
    }.items():  # fmt: skip
        scheduler.step(epoch)
        assert (scheduler.T_cur, scheduler.T_i, scheduler.last_epoch) == (done, length, int(epoch))
        expected = 0.1 * (1 + cos(pi * done / length)) / 2
        assert scheduler.get_last_lr()[0] == pytest.approx(expected, rel=1e-12)
    scheduler.step()
    assert (scheduler.T_cur, scheduler.last_epoch) == (3, 4)
    with pytest.raises(ValueError, match="0 or more"):
        scheduler.step(-1)
    assert (scheduler.T_cur, scheduler.last_epoch) == (3, 4)


# ---- to go on -----------------------------------------------------------------------------------

COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda state: pickle.loads(pickle.dumps(state)),
    "json": lambda state: json.loads(json.dumps(state)),
}


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("name", EVERY)
def test_goes_on_with_the_same_bits(name, copied):
    make = EVERY[name]
    for kind in (SGD, AdamW):
        o = optimizer(kind)
        expected = run(o, make(o), 60)
        for stop in (0, 1, 2, 3, 5, 6, 12, 20, 27):
            first = optimizer(kind)
            scheduler = make(first)
            run(first, scheduler, stop)
            state = COPIES[copied](scheduler.state_dict())
            kept = copy.deepcopy(state)
            for order in ("optimizer make load", "make optimizer load", "make load optimizer"):
                again = optimizer(kind)
                for step in order.split():
                    if step == "make":
                        scheduler = make(again)
                    elif step == "load":
                        scheduler.load_state_dict(state)
                    else:
                        again.load_state_dict(first.state_dict())
                assert run(again, scheduler, 60, stop) == expected[stop:], (order, stop)
                assert state == kept  # which may be loaded again


def test_attributes_of_functions_are_saved():
    scheduler = S.CyclicLR(optimizer(), 0.01, 0.1, 5, scale_fn=Share(0.8))
    other = S.CyclicLR(optimizer(), 0.01, 0.1, 5, scale_fn=Share(0.5))
    other.load_state_dict(scheduler.state_dict())
    assert other.scale_fn(2) == 0.8**2
    scheduler = S.LambdaLR(optimizer(), [Share(0.8), abs])
    other = S.LambdaLR(optimizer(), [Share(0.5), abs])
    assert scheduler.state_dict()["lr_lambdas"] == [{"rate": 0.8}, {}]
    other.load_state_dict(scheduler.state_dict())
    assert other.lr_lambdas[0].rate == 0.8


def test_a_rate_that_was_changed_by_hand_stays():
    o = optimizer()
    scheduler = S.ExponentialLR(o, 0.5)
    advance(o, scheduler, 0)
    for group in o.param_groups:
        group["lr"] = 7.0
    again = optimizer()
    other = S.ExponentialLR(again, 0.5)
    again.load_state_dict(o.state_dict())
    other.load_state_dict(scheduler.state_dict())
    assert [group["lr"] for group in again.param_groups] == [7.0, 7.0]


RESUMED = {
    "LambdaLR": lambda o, e: S.LambdaLR(o, lambda e: 0.95**e, e),
    "MultiplicativeLR": lambda o, e: S.MultiplicativeLR(o, lambda e: e / (e + 1), e),
    "StepLR": lambda o, e: S.StepLR(o, 3, 0.5, e),
    "MultiStepLR": lambda o, e: S.MultiStepLR(o, [20, 5, 5, 2], 0.5, e),
    "ConstantLR": lambda o, e: S.ConstantLR(o, last_epoch=e),
    "LinearLR": lambda o, e: S.LinearLR(o, 0.1, 0.7, 20, e),
    "ExponentialLR": lambda o, e: S.ExponentialLR(o, 0.93, e),
    "PolynomialLR": lambda o, e: S.PolynomialLR(o, 40, 2.5, e),
    "CosineAnnealingLR": lambda o, e: S.CosineAnnealingLR(o, 10, 0.001, e),
    "CosineAnnealingWarmRestarts": lambda o, e: S.CosineAnnealingWarmRestarts(o, 4, 2, 1e-3, e),
    "CyclicLR": lambda o, e: S.CyclicLR(o, 0.01, 0.1, 7, 4, last_epoch=e),
    "OneCycleLR": lambda o, e: S.OneCycleLR(o, 0.3, total_steps=60, last_epoch=e),
    "SequentialLR": lambda o, e: S.SequentialLR(
        o, [S.ConstantLR(o, 0.5, 9), S.StepLR(o, 3, 0.5)], [6], last_epoch=e
    ),
}


@pytest.mark.parametrize("name", RESUMED)
def test_last_epoch(name):
    """A schedule that is made for a training that goes on, whose optimizer has its state back."""
    make, formula = FORMULAS[name]
    for stop in (1, 2, 3, 5, 6, 20):
        o = optimizer()
        run(o, make(o), stop)
        again = optimizer()
        again.load_state_dict(o.state_dict())
        scheduler = RESUMED[name](again, stop - 1)
        assert scheduler.last_epoch == stop
        for epoch, (rates, _) in enumerate(run(again, scheduler, 40, stop), stop):
            expected = [formula(epoch, base) for base in BASES]
            assert rates == pytest.approx(expected, rel=1e-12, abs=1e-15), (stop, epoch)


# ---- groups, steps ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_groups_that_are_added_later(name):
    o = optimizer()
    scheduler = EVERY[name](o)
    run(o, scheduler, 2)
    o.add_param_group({"params": [zero.nn.Parameter(zero.ones(1))], "lr": 0.5})
    if name in ("LambdaLR of lists", "ReduceLROnPlateau max"):
        with pytest.raises((ValueError, RuntimeError), match="2 for 3 groups"):
            advance(o, scheduler, 2)
        return
    for i in range(2, 30):
        advance(o, scheduler, i)
    assert len(scheduler.get_last_lr()) == 3
    if name in ("ExponentialLR", "LambdaLR", "StepLR"):
        factors = {"ExponentialLR": 0.93**28, "LambdaLR": 0.95**30, "StepLR": 0.5**10}
        assert scheduler.get_last_lr()[2] == pytest.approx(0.5 * factors[name])


def test_steps_in_the_wrong_order():
    o = optimizer()
    scheduler = S.StepLR(o, 1)
    with pytest.warns(UserWarning, match=r"before optimizer\.step\(\): the first value"):
        scheduler.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()  # once is enough

        o = optimizer()
        scheduler = S.StepLR(o, 1)
        assert "step" in vars(o)
        o.step()
        assert "step" not in vars(o)  # from now on a step costs what it did
        scheduler.step()
        S.StepLR(o, 1).step()

    o = optimizer()
    scheduler = S.StepLR(o, 1)
    o.step = lambda: None
    with pytest.warns(UserWarning, match="was replaced"):
        scheduler.step()


def test_an_optimizer_whose_step_is_replaced_or_copied():
    calls = []
    o = optimizer()
    o.step = lambda: calls.append("own")
    S.StepLR(o, 1)
    watched = o.step
    o.step = lambda: (calls.append("outer"), watched())
    o.step()
    o.step()
    assert calls == ["outer", "own"] * 2 and o._opt_called

    o = optimizer()
    S.StepLR(o, 1)
    for other in (copy.deepcopy(o), pickle.loads(pickle.dumps(o))):
        p = other.param_groups[0]["params"][0]
        p.grad = zero.ones(2)
        before = p.tolist()
        other.step()
        assert p.tolist() != before
    assert not hasattr(o, "_opt_called")


def test_epochs_that_are_asked_for():
    o = optimizer()
    scheduler = S.LinearLR(o, 0.5, total_iters=10)
    o.step()
    with pytest.warns(UserWarning, match="closed form"):
        scheduler.step(4)
    assert scheduler.get_last_lr() == pytest.approx([0.07, 0.014]) and scheduler.last_epoch == 4
    with pytest.warns(UserWarning, match="get_last_lr"):
        scheduler.get_lr()


def test_a_subclass():
    class Mine(S._LRScheduler):
        def __init__(self, o, power, last_epoch=-1):
            self.power = power
            super().__init__(o, last_epoch)

        def get_lr(self):
            assert self._get_lr_called_within_step
            return [base / (1 + self.last_epoch) ** self.power for base in self.base_lrs]

    o = optimizer()
    scheduler = Mine(o, 2)
    run(o, scheduler, 3)
    assert scheduler.get_last_lr() == [0.1 / 16, 0.02 / 16]
    assert scheduler.base_lrs == list(BASES) and scheduler._step_count == 4
    state = scheduler.state_dict()
    assert state["power"] == 2 and state["last_epoch"] == 3 and "optimizer" not in state

    class Short(S.LRScheduler):
        def get_lr(self):
            return [0.1]

    with pytest.raises(ValueError, match="one learning rate per group"):
        Short(optimizer())
    with pytest.raises(NotImplementedError, match="get_lr"):
        S.LRScheduler(optimizer())


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda o: S.StepLR(3, 1), TypeError, "not an Optimizer; got int"),
        (lambda o: S.StepLR(o, 0), ValueError, "step_size"),
        (lambda o: S.StepLR(o, 1, last_epoch=3), KeyError, "initial_lr"),
        (lambda o: S.LambdaLR(o, [abs]), ValueError, "1 for 2 groups"),
        (lambda o: S.LambdaLR(o, 0.5), TypeError, "got float"),
        (lambda o: S.MultiplicativeLR(o, [abs, 2]), TypeError, "got int"),
        (lambda o: S.ConstantLR(o, 1.5), ValueError, r"\[0, 1\]; got 1.5"),
        (lambda o: S.LinearLR(o, 0), ValueError, "start_factor"),
        (lambda o: S.LinearLR(o, 1, -1), ValueError, "end_factor"),
        (lambda o: S.LinearLR(o, total_iters=-1), ValueError, "total_iters"),
        (lambda o: S.CosineAnnealingLR(o, 0), ValueError, "T_max"),
        (lambda o: S.CosineAnnealingWarmRestarts(o, 1.5), ValueError, "T_0"),
        (lambda o: S.CosineAnnealingWarmRestarts(o, 1, 0), ValueError, "T_mult"),
        (lambda o: S.CosineAnnealingWarmRestarts(o, 1, eta_min="1"), ValueError, "eta_min"),
        (lambda o: S.CyclicLR(o, [1], 2), ValueError, "base_lr .* got 1 for 2 groups"),
        (lambda o: S.CyclicLR(o, 1, 2, mode="circle"), ValueError, "triangular2.*'circle'"),
        (lambda o: S.CyclicLR(o, 1, 2, 0), ValueError, "step sizes"),
        (lambda o: S.OneCycleLR(o, 1), ValueError, "total_steps, or epochs"),
        (lambda o: S.OneCycleLR(o, 1, 1.5), ValueError, "total_steps"),
        (lambda o: S.OneCycleLR(o, 1, epochs=2, steps_per_epoch=0), ValueError, "steps_per_epoch"),
        (lambda o: S.OneCycleLR(o, 1, 9, pct_start=2), ValueError, "pct_start"),
        (lambda o: S.OneCycleLR(o, 1, 9, anneal_strategy="x"), ValueError, "cos, linear"),
        (lambda o: S.ReduceLROnPlateau(o, factor=1), ValueError, "factor"),
        (lambda o: S.ReduceLROnPlateau(o, "mean"), ValueError, "min, max"),
        (lambda o: S.ReduceLROnPlateau(o, min_lr=[1, 2, 3]), ValueError, "got 3 for 2 groups"),
        (lambda o: S.ChainedScheduler([]), ValueError, "no schedulers"),
        (lambda o: S.ChainedScheduler([3]), TypeError, "got int"),
        (lambda o: S.ChainedScheduler([S.ReduceLROnPlateau(o)]), ValueError, "metric"),
        (lambda o: S.SequentialLR(o, [S.StepLR(optimizer(), 1)], []), ValueError, "another"),
        (lambda o: S.SequentialLR(o, [S.StepLR(o, 1)], [1]), ValueError, "one entry fewer"),
        (lambda o: SWALR(o, [1, 2, 3]), ValueError, "got 3 for 2 groups"),
        (lambda o: SWALR(o, 1, -1), ValueError, "anneal_epochs"),
        (lambda o: SWALR(o, 1, anneal_strategy="x"), ValueError, "cos, linear"),
    ],
)
def test_errors(make, error, match):
    with pytest.raises(error, match=match):
        make(optimizer())


def test_momentum_needs_an_optimizer_that_has_it():
    class Plain(zero.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

    o = Plain([zero.nn.Parameter(zero.ones(1))], 0.1)
    for make in (lambda **k: S.CyclicLR(o, 1, 2, **k), lambda **k: S.OneCycleLR(o, 1, 9, **k)):
        with pytest.raises(ValueError, match="cycle_momentum=False"):
            make()
        make(cycle_momentum=False)


def test_what_fails_changes_nothing():
    o = optimizer()
    scheduler = S.OneCycleLR(o, 1.0, total_steps=3)
    run(o, scheduler, 3)
    before, groups = copy.deepcopy(scheduler.state_dict()), copy.deepcopy(o.state_dict())
    with pytest.raises(ValueError, match="has 3 steps"):
        scheduler.step()
    before["_step_count"] += 1  # of calls
    assert scheduler.state_dict() == before and o.state_dict() == groups

    for make, wrong, match in (
        (lambda: S.StepLR(o, 1), 3, "got int, expected a dict"),
        (lambda: S.LambdaLR(o, abs), {"last_epoch": 5, "lr_lambdas": [None]}, "got 1, expected 2"),
        (
            lambda: S.ChainedScheduler([S.StepLR(o, 1), S.StepLR(o, 2)]),
            {"_last_lr": [1, 2], "_schedulers": [{"last_epoch": 7}]},
            "got 1, expected 2",
        ),
        (
            lambda: S.ChainedScheduler([S.StepLR(o, 1), S.StepLR(o, 2)]),
            {"_last_lr": [1, 2], "_schedulers": [{"last_epoch": 7}, None]},
            "got NoneType",
        ),
    ):
        scheduler = make()
        before = copy.deepcopy(scheduler.state_dict())
        with pytest.raises((TypeError, ValueError), match=match):
            scheduler.load_state_dict(wrong)
        assert scheduler.state_dict() == before


def test_reached_as_an_attribute():
    assert zero.optim.lr_scheduler is S and "lr_scheduler" in zero.optim.__all__
    assert issubclass(S._LRScheduler, S.LRScheduler)
