"""Every optimizer against its formula in NumPy, in all layouts, dtypes and numbers of threads."""

import copy
import inspect
import os
import subprocess
import sys

import numpy as np
import pytest
from optim_reference import OPTIONS, STEPS

import zero
from zero import optim
from zero.nn import Parameter

CASES = [(name, options) for name in STEPS for options in [{}, *OPTIONS[name]]]
FUSED = [name for name in STEPS if name != "Adafactor"]
SHAPES = [(), (5,), (3, 7), (2, 3, 4), (4, 1025)]


def tensor(a, dtype=zero.float64):
    return zero.from_numpy(np.asarray(a)).to(dtype=dtype, copy=True)


def make(name, params, **options):
    return getattr(optim, name)(params, **options)


def steps(optimizer, params, gradients):
    for g in gradients:
        for p, x in zip(params, g, strict=True):
            p.grad = tensor(x, p.dtype)
        optimizer.step()


def data(shapes, count=5, seed=0):
    rng = np.random.default_rng(seed)
    draw = [[np.asarray(rng.standard_normal(s)) for s in shapes] for _ in range(count + 1)]
    return draw[0], draw[1:]


@pytest.mark.parametrize("dtype", [zero.float64, zero.float32])
@pytest.mark.parametrize("name, options", CASES, ids=str)
def test_formula(name, options, dtype):
    starts, gradients = data(SHAPES)
    params = [Parameter(tensor(x, dtype)) for x in starts]
    optimizer = make(name, params, **options)
    used = optimizer.param_groups[0]
    kind = np.float64 if dtype == zero.float64 else np.float32
    values = [x.astype(kind) for x in starts]
    states = [{} for _ in starts]
    # float64: some roundings a step; float32: the same, where PyTorch's are as large, and eps may
    # be all that keeps a difference of two near squares from 0.
    rtol = 1e-12 if dtype == zero.float64 else 2e-5
    for t, g in enumerate(gradients, 1):
        steps(optimizer, params, [g])
        for i, p in enumerate(params):
            values[i] = STEPS[name](values[i], g[i].astype(kind), states[i], t, used)
            np.testing.assert_allclose(p.detach().numpy(), values[i], rtol=rtol, atol=rtol)
    for p, state in zip(params, states, strict=True):
        ours = dict(optimizer.state[p])
        if "step" in ours:
            assert ours.pop("step").item() == len(gradients)
        assert set(ours) == set(state)
        for key, value in state.items():
            got = ours[key]
            wanted = zero.float32 if key in ("mu_product", "eta", "mu") else dtype
            assert got.dtype == wanted
            np.testing.assert_allclose(got.numpy(), value, rtol=10 * rtol, atol=rtol)


@pytest.mark.parametrize("name", FUSED)
def test_differentiable_is_the_same_step(name):
    """Two formulas in one library: the recorded one, and the loop."""
    starts, gradients = data([(3, 4)])
    for options in [{}, *OPTIONS[name]]:
        plain = [Parameter(tensor(x)) for x in starts]
        recorded = [Parameter(tensor(x)).clone() for x in starts]
        a = make(name, plain, **options)
        b = make(name, recorded, differentiable=True, **options)
        for g in gradients:
            steps(a, plain, [g])
            for p, x in zip(recorded, g, strict=True):
                p.grad = tensor(x)
            b.step()
        for p, q in zip(plain, recorded, strict=True):
            # mu_product and the like are float32: they may be rounded at other places.
            np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=1e-6)
            assert set(a.state[p]) == set(b.state[q])


@pytest.mark.parametrize("name", FUSED)
def test_gradients_flow_through_a_step(name):
    """The derivative of a step by the learning rate, and by what the gradient was computed from."""
    start, gradients = data([(3,)], count=3, seed=1)

    def after(lr, w):
        p = (tensor(start[0]).requires_grad_() * 1.0).clone()
        options = {"momentum": 0.5} if name in ("SGD", "RMSprop") else {}
        optimizer = make(name, [p], lr=lr, differentiable=True, **options)
        for g in gradients:
            p.grad = tensor(g[0]) * w
            optimizer.step()
        return p

    lr, w = (tensor(x).requires_grad_() for x in (0.1, [1.1, 0.7, -0.4]))
    if name in ("Rprop", "ASGD"):  # whose states begin with the number lr, without a gradient
        lr = 0.1
    assert zero.autograd.gradcheck(after, (lr, w))


def test_a_leaf_is_not_overwritten_with_gradients():
    p = Parameter(zero.ones(2))
    p.grad = zero.ones(2)
    optimizer = optim.Adam([p], differentiable=True)
    with pytest.raises(RuntimeError, match="leaf"):
        optimizer.step()
    assert p.tolist() == [1, 1] and not optimizer.state


THREADS = """
import sys, zero, zero.optim
name = sys.argv[1]
for threads in (1, 2, 3, 7):
    zero.set_num_threads(threads)
    zero.manual_seed(0)
    shapes = [(40000,), (3, 5), (123, 457), (1,), (0, 3), (70001,), (99, 2050), (40, 9, 3, 3)]
    if name == "Muon":
        shapes = [(3, 5), (123, 457), (0, 3), (300, 150)]
    for dtype in (zero.float32, zero.bfloat16):
        params = [zero.nn.Parameter(zero.randn(s).to(dtype)) for s in shapes]
        optimizer = getattr(zero.optim, name)(params)
        for _ in range(2):
            for p in params:
                p.grad = zero.randn(p.shape).to(dtype)
            optimizer.step()
        bits = b"".join(p.detach().float().numpy().tobytes() for p in params)
        if threads == 1:
            first = globals().setdefault("first", {})
            first[dtype] = bits
        assert bits == first[dtype], (threads, dtype)
"""


@pytest.mark.parametrize("name", [*STEPS, "Muon"])
@pytest.mark.parametrize("grain", ["", "1000"])
def test_threads_change_no_bit(name, grain):
    env = {**os.environ, **({"ZERO_GRAIN": grain} if grain else {})}
    subprocess.run([sys.executable, "-c", THREADS, name], check=True, env=env)


@pytest.mark.parametrize("name", STEPS)
def test_a_range_may_end_anywhere(name):
    """Each element has the bits that it has alone, whatever vectors it lies in."""
    if name == "Adafactor":
        pytest.skip("elements depend on each other")
    rng = np.random.default_rng(0)
    for dtype in (zero.float32, zero.float64):
        x, g = rng.standard_normal(67), rng.standard_normal((4, 67))
        whole = Parameter(tensor(x, dtype))
        parts = [Parameter(tensor(x[i : i + 1], dtype)) for i in range(67)]
        options = {"weight_decay": 0.1} if name != "Rprop" else {}
        one, many = make(name, [whole], **options), make(name, parts, **options)
        for row in g:
            steps(one, [whole], [[row]])
            steps(many, parts, [list(row.reshape(67, 1))])
        assert whole.tolist() == [p.item() for p in parts]


@pytest.mark.parametrize("name", STEPS)
def test_memory_views_and_versions(name):
    p = Parameter(zero.ones(3, 4))
    optimizer = make(name, [p])
    steps(optimizer, [p], [[np.ones((3, 4))]])
    pointers = {k: v.data_ptr() for k, v in optimizer.state[p].items() if v.dim()}
    pointer, view, version = p.data_ptr(), p.detach()[1:], p._version
    steps(optimizer, [p], [[np.full((3, 4), 2.0)]])
    assert p.data_ptr() == pointer and view.tolist() == p.tolist()[1:] and p._version > version
    assert pointers == {k: v.data_ptr() for k, v in optimizer.state[p].items() if v.dim()}
    assert p.is_leaf and p.requires_grad and p.grad_fn is None


@pytest.mark.parametrize("name", STEPS)
def test_layouts(name):
    """Parameters and gradients in any order in memory, with gaps between, and all in one step."""
    rng = np.random.default_rng(0)
    starts, gradients = data([(4, 6)] * 5)
    wide = tensor(starts[3].repeat(2, axis=1))
    params = [
        Parameter(tensor(starts[0].T.copy()).T),  # rows are columns in memory, both
        Parameter(tensor(starts[1])),  # the gradient only
        Parameter(tensor(starts[2].T.copy()).T),  # the parameter only
        Parameter(wide[:, ::2]),
        Parameter(tensor(starts[4])),
    ]
    plain = [Parameter(tensor(x)) for x in starts]
    a, b = make(name, params), make(name, plain)
    for g in gradients:
        for i, (p, x) in enumerate(zip(params, g, strict=True)):
            p.grad = tensor(x.T.copy()).T if i in (0, 1) else tensor(x)
        a.step()
        steps(b, plain, [g])
    for p, q in zip(params, plain, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-12)
    np.testing.assert_array_equal(wide[:, 1::2].numpy(), starts[3])  # what lies between
    assert rng is not None


@pytest.mark.parametrize("dtype", [zero.float16, zero.bfloat16])
@pytest.mark.parametrize("name", FUSED)
def test_half_precision(name, dtype):
    """Computed in float32 and rounded once; many elements, so that there are several blocks."""
    rng = np.random.default_rng(0)
    x, g = rng.standard_normal((2, 1300))
    half, single = (Parameter(tensor(x, dtype).to(d)) for d in (dtype, zero.float32))
    a, b = (make(name, [p], lr=2**-7) for p in (half, single))  # which Rprop's state begins with
    half.grad, single.grad = tensor(g, dtype), tensor(g, dtype).float()
    a.step()
    b.step()
    assert half.dtype == dtype and half.tolist() == single.detach().to(dtype).tolist()
    for key, value in a.state[half].items():
        if value.dim():
            assert (
                value.dtype == dtype and value.tolist() == b.state[single][key].to(dtype).tolist()
            )


@pytest.mark.parametrize("name", [*STEPS, "Muon"])
def test_empty_and_meta(name):
    empty = Parameter(zero.zeros(0, 3))
    empty.grad = zero.zeros(0, 3)
    make(name, [empty]).step()
    ghost = Parameter(zero.zeros(2, 3, device="meta"))
    ghost.grad = zero.zeros(2, 3, device="meta")
    optimizer = make(name, [ghost])
    optimizer.step()
    for value in optimizer.state[ghost].values():
        assert value.is_meta == (value.dim() > 0)


@pytest.mark.parametrize("name", STEPS)
def test_a_failed_step_changes_nothing(name):
    p, q = Parameter(zero.ones(2, 2)), Parameter(zero.ones(2, 2))
    optimizer = make(name, [p, q], lr=0.1, **({"momentum": 0.9} if name == "SGD" else {}))
    steps(optimizer, [p, q], [[np.ones((2, 2))] * 2])
    states = optimizer.state
    key = next(k for k, v in states[q].items() if v.dim())
    states[q][key] = zero.zeros(5)
    before = copy.deepcopy([states[p], states[q], p.tolist(), q.tolist()])
    with pytest.raises(zero.errors.ShapeError, match=key.replace("_", ".")):
        optimizer.step()
    after = [states[p], states[q], p.tolist(), q.tolist()]
    assert str(before) == str(after)
    fresh = make(name, [Parameter(zero.ones(2)), Parameter(zero.ones(2, dtype=zero.int32), False)])
    group = fresh.param_groups[0]["params"]
    group[0].grad, group[1].grad = zero.ones(2), zero.ones(2, dtype=zero.int32)
    kept = {id(k): dict(v) for k, v in fresh.state.items()}
    with pytest.raises(zero.errors.DTypeError):
        fresh.step()
    assert group[0].tolist() == [1, 1]
    assert {id(k): dict(v) for k, v in fresh.state.items()} == kept


@pytest.mark.parametrize("name", FUSED)
def test_nan_and_infinity_stay_where_they_are(name):
    bad = np.array([1.0, np.nan, np.inf, -np.inf, 2.0])
    p = Parameter(zero.ones(5, dtype=zero.float64))
    q = Parameter(zero.ones(2, dtype=zero.float64))
    options = {} if name in ("Rprop", "Lion") else {"weight_decay": 0.0}
    a, b = make(name, [p], **options), make(name, [q], **options)
    steps(a, [p], [[bad]] * 2)
    steps(b, [q], [[bad[[0, 4]]]] * 2)
    assert p.detach()[[0, 4]].tolist() == q.tolist()
    if name not in ("Rprop", "Lion"):
        assert np.isnan(p.detach().numpy()[1])


def test_centered_rmsprop_survives_constant_gradients():
    """The variance is 0 but for rounding, which makes some of them negative."""
    p = Parameter(zero.ones(1000))
    optimizer = optim.RMSprop([p], centered=True, alpha=0.5)
    g = np.random.default_rng(0).standard_normal(1000)
    steps(optimizer, [p], [[g]] * 60)
    assert bool(p.isfinite().all())


def test_tied_parameters_are_updated_twice():
    """On several threads, too, in their order."""
    x = zero.zeros(100_000)
    p, q = Parameter(x), Parameter(x)
    optimizer = optim.SGD([p, q], lr=1.0)
    p.grad, q.grad = zero.ones(100_000), zero.ones(100_000)
    threads = zero.get_num_threads()
    try:
        zero.set_num_threads(3)
        for _ in range(3):
            optimizer.step()
    finally:
        zero.set_num_threads(threads)
    assert x.unique().tolist() == [-6.0]


def test_learning_rates_and_betas_as_tensors():
    starts, gradients = data([(3,)])
    for options in ({"lr": 0.1}, {"lr": 0.1, "betas": (0.8, 0.9)}):
        p, q = (Parameter(tensor(starts[0])) for _ in range(2))
        tensors = {
            k: tuple(map(zero.tensor, v)) if isinstance(v, tuple) else zero.tensor([v])
            for k, v in {"betas": (0.9, 0.999), **options}.items()
        }
        numbers = {
            k: tuple(x.item() for x in v) if isinstance(v, tuple) else v.item()
            for k, v in tensors.items()
        }
        a, b = optim.Adam([p], **numbers), optim.Adam([q], **tensors)
        steps(a, [p], gradients)
        steps(b, [q], gradients)
        assert p.tolist() == q.tolist()
        b.param_groups[0]["lr"].fill_(0)
        before = q.tolist()
        steps(b, [q], gradients)
        assert q.tolist() == before


@pytest.mark.parametrize("name", STEPS)
def test_flags_without_effect(name):
    starts, gradients = data([(3, 2)])
    values = set()
    known = inspect.signature(getattr(optim, name)).parameters
    for flag in ("foreach", "fused", "capturable"):
        for value in (True, False):
            if flag in known:
                p = Parameter(tensor(starts[0]))
                optimizer = make(name, [p], **{flag: value})
                steps(optimizer, [p], gradients)
                assert optimizer.param_groups[0][flag] == value
                values.add(str(p.tolist()))
    assert len(values) == 1


BAD = {
    "SGD": [{"lr": -1}, {"momentum": -1}, {"weight_decay": -1}, {"nesterov": True}],
    "Adam": [{"lr": -1}, {"eps": -1}, {"betas": (1, 0.9)}, {"betas": (0.9, -1)}, {"betas": 0.9}],
    "AdamW": [{"betas": (0.9, zero.tensor(0.9))}, {"fused": True, "foreach": True}],
    "NAdam": [{"momentum_decay": -1}, {"weight_decay": -1}],
    "RAdam": [{"betas": (0.9, 1.0)}, {"lr": zero.ones(2)}],
    "Adamax": [{"betas": (1.0, 0.9)}, {"eps": -1}],
    "Adagrad": [{"lr_decay": -1}, {"initial_accumulator_value": -1}],
    "Adadelta": [{"rho": 1.1}, {"rho": -1}, {"eps": -1}],
    "RMSprop": [{"momentum": -1}, {"alpha": -1}],
    "Rprop": [{"etas": (1.0, 1.2)}, {"etas": (0.5, 1.0)}, {"etas": (0.0, 1.2)}, {"lr": -1}],
    "ASGD": [{"weight_decay": -1}, {"lr": -1}],
    "Lion": [{"betas": (0.9, 1.0)}, {"weight_decay": -1}],
    "Adafactor": [{"beta2_decay": 0.1}, {"eps": (-1, 0.1)}, {"eps": (None, -1)}, {"d": 0.5}],
    "LBFGS": [{"lr": -1}, {"line_search_fn": "other"}],
    "Muon": [{"lr": -1}, {"momentum": -1}, {"adjust_lr_fn": "other"}, {"ns_steps": 100}],
}


@pytest.mark.parametrize("name, options", [(n, o) for n in BAD for o in BAD[n]], ids=str)
def test_bad_options(name, options):
    with pytest.raises(ValueError, match=f"^{name}: {next(reversed(options))}|fused"):
        make(name, [Parameter(zero.ones(2, 2))], **options)


def test_sparse_adam_says_why_not():
    with pytest.raises(NotImplementedError, match="sparse"):
        optim.SparseAdam([Parameter(zero.ones(2))])


# ---- Adafactor -----------------------------------------------------------------------------------
SMALL_AND_LARGE = [(), (20000,), (40, 9, 3, 3), (2, 600, 500), (70, 1100), (2, 130, 2050)]
NARROW = [(5000, 1), (1, 5000), (3000, 3), (3, 3000), (1, 1)]


@pytest.mark.parametrize("dtype", [zero.float64, zero.float32, zero.float16, zero.bfloat16])
@pytest.mark.parametrize("shapes", [SMALL_AND_LARGE, NARROW], ids=["matrices", "narrow"])
def test_adafactor_in_tiles(dtype, shapes):
    """Matrices in one tile, several in a tile and such in several tiles, with rest."""
    starts, gradients = data(shapes, count=2)
    params = [Parameter(tensor(x, dtype)) for x in starts]
    options = {"eps": (2**-10, 1e-3), "weight_decay": 0.1, "d": 1.0, "lr": 0.05}
    optimizer = optim.Adafactor(params, **options)
    values, states = [p.detach().double().numpy().copy() for p in params], [{} for _ in starts]
    # Of the dtype's digits; states and parameters are rounded at each step.
    unit = zero.finfo(dtype).eps
    for t, g in enumerate(gradients, 1):
        steps(optimizer, params, [g])
        for i, p in enumerate(params):
            rounded = tensor(g[i], dtype).double().numpy()
            o = optimizer.param_groups[0]
            values[i] = STEPS["Adafactor"](values[i], rounded, states[i], t, o)
            actual = p.detach().double().numpy()
            np.testing.assert_allclose(actual, values[i], rtol=8 * unit, atol=8 * unit)
            for key, expected in states[i].items():
                state = optimizer.state[p][key]
                assert state.shape == expected.shape and state.dtype == dtype
                actual = state.double().numpy()
                # Float16 loses digits below 2^-14.
                np.testing.assert_allclose(actual, expected, rtol=16 * unit, atol=2**-22)


def test_adafactor_of_large_and_small_numbers():
    """Squares that float32 has no room for, alone or in sums, are no infinities."""
    p = Parameter(zero.ones(4, 2000))
    p.grad = zero.full((4, 2000), 1e18)
    optimizer = optim.Adafactor([p], lr=0.1)
    optimizer.step()
    np.testing.assert_allclose(p.detach().numpy(), 0.9, rtol=1e-6)
    p.grad = zero.full((4, 2000), 1e-30)
    before = p.detach().clone()
    optimizer.step()
    assert bool((p.detach() == before).all())


def test_adafactor_of_tied_parameters():
    """Are updated one after the other, also where all of it is small."""
    x = zero.ones(6, 4)
    p, q, both = Parameter(x), Parameter(x), Parameter(zero.ones(6, 4))
    a, b = optim.Adafactor([p, q], lr=0.5), optim.Adafactor([both], lr=0.5)
    p.grad = q.grad = both.grad = zero.ones(6, 4)
    a.step()
    b.step()
    b.state.clear()
    b.step()
    assert x.tolist() == both.tolist()


# ---- Muon ----------------------------------------------------------------------------------------
def orthogonal(u, steps=5, q=(3.4445, -4.775, 2.0315), eps=1e-7):
    u = u / max(np.linalg.norm(u), eps)
    for _ in range(steps):
        w = u @ u.T
        u = (q[0] * np.eye(len(u)) + q[1] * w + q[2] * w @ w) @ u
    return u


@pytest.mark.parametrize("shape", [(6, 6), (4, 9), (9, 4)])
@pytest.mark.parametrize(
    "options", [{}, {"nesterov": False}, {"adjust_lr_fn": "match_rms_adamw"}, {"weight_decay": 0}]
)
def test_muon(shape, options):
    starts, gradients = data([shape], count=3)
    p = Parameter(tensor(starts[0], zero.float32))
    optimizer = optim.Muon([p], lr=0.1, **options)
    o = optimizer.param_groups[0]
    value, m = starts[0], 0
    for (g,) in gradients:
        steps(optimizer, [p], [[g]])
        m = 0.95 * m + 0.05 * g
        u = 0.95 * m + 0.05 * g if o["nesterov"] else m
        u = orthogonal(u.T).T if shape[0] > shape[1] else orthogonal(u)
        factor = max(1, shape[0] / shape[1]) ** 0.5
        if o["adjust_lr_fn"]:
            factor = 0.2 * max(shape) ** 0.5
        value = value * (1 - 0.1 * o["weight_decay"]) - 0.1 * factor * u
        # Products in bfloat16 have three digits, and the iteration makes them two.
        np.testing.assert_allclose(p.detach().numpy(), value, atol=0.1 * factor * 0.08)
    np.testing.assert_allclose(optimizer.state[p]["momentum_buffer"].numpy(), m, rtol=1e-5)
    with pytest.raises(ValueError, match="matri"):
        optim.Muon([Parameter(zero.ones(3))])


def test_muon_in_all_dtypes_and_layouts():
    """The same update, but for the rounding of the gradient's mean and of the parameter."""
    starts, gradients = data([(6, 9), (9, 6)])
    results = []
    for dtype in (zero.float32, zero.float64, zero.float16, zero.bfloat16):
        for turned in (False, True):
            params = [
                Parameter(tensor(x.T.copy(), dtype).T if turned else tensor(x, dtype))
                for x in starts
            ]
            pointers = [p.data_ptr() for p in params]
            optimizer = optim.Muon(params, lr=0.1)
            steps(optimizer, params, gradients[:2])
            assert pointers == [p.data_ptr() for p in params]
            assert all(optimizer.state[p]["momentum_buffer"].dtype == dtype for p in params)
            results.append([p.detach().double().numpy() for p in params])
            # Of updates of size 0.1 a 50th, as in bfloat16; and the rounding of parameters.
            for a, b in zip(results[0], results[-1], strict=True):
                np.testing.assert_allclose(a, b, atol=0.01 + 4 * zero.finfo(dtype).eps)


def test_a_failed_step_of_muon_changes_nothing():
    p, q = Parameter(zero.eye(2)), Parameter(zero.eye(2))
    optimizer = optim.Muon([p, q])
    steps(optimizer, [p, q], [[np.eye(2)] * 2])
    before = p.tolist(), str(optimizer.state[p])
    optimizer.state[q]["momentum_buffer"] = zero.zeros(3, 2)
    with pytest.raises(zero.errors.ShapeError, match="momentum_buffer"):
        optimizer.step()
    optimizer.state[q].clear()
    q.data, q.grad = zero.ones(2), zero.ones(2)
    with pytest.raises(zero.errors.ShapeError, match="dimensions"):
        optimizer.step()
    assert before == (p.tolist(), str(optimizer.state[p])) and not optimizer.state[q]


# ---- LBFGS ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_solves_a_quadratic_problem(search):
    """As many iterations as unknowns, and few more."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((8, 8))
    a, b = a @ a.T + 8 * np.eye(8), rng.standard_normal(8)
    p, q = Parameter(zero.zeros(5, dtype=zero.float64)), Parameter(zero.zeros(3, 1).double())
    options = {"max_iter": 60, "max_eval": 200, "tolerance_change": 1e-14}
    optimizer = optim.LBFGS([p, q], line_search_fn=search, **options)

    def closure():
        optimizer.zero_grad()
        x = zero.cat([p, q.view(-1)])
        loss = 0.5 * x @ tensor(a) @ x - tensor(b) @ x
        loss.backward()
        return loss

    first = optimizer.step(closure)
    assert first.item() == 0
    got = np.concatenate([p.detach().numpy(), q.detach().numpy().ravel()])
    np.testing.assert_allclose(got, np.linalg.solve(a, b), rtol=1e-5, atol=1e-7)
    state = optimizer.state_dict()["state"][0]
    assert {"d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss"} < {
        *state
    }
    assert state["func_evals"] <= 60 and len(state["old_dirs"]) == len(state["ro"])


def test_lbfgs_line_search_meets_the_wolfe_conditions():
    """From hard starts, against scipy's minimum."""
    scipy = pytest.importorskip("scipy.optimize")
    for start in ([-1.2, 1.0], [10.0, -5.0], [0.0, 0.0]):
        p = Parameter(zero.tensor(start, dtype=zero.float64))
        optimizer = optim.LBFGS([p], max_iter=200, line_search_fn="strong_wolfe")

        def closure(p=p, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
            loss.backward()
            return loss

        optimizer.step(closure)
        expected = scipy.minimize(scipy.rosen, start, jac=scipy.rosen_der, method="BFGS").x
        np.testing.assert_allclose(p.detach().numpy(), expected, atol=1e-4)


def test_lbfgs_keeps_few_pairs_and_one_group():
    p = Parameter(zero.tensor([3.0, -2.0]))
    optimizer = optim.LBFGS([p], lr=0.1, max_iter=9, history_size=2)

    def closure():
        optimizer.zero_grad()
        loss = (p**4).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert len(optimizer.state[p]["old_dirs"]) == 2 and len(optimizer.state[p]["al"]) == 2
    with pytest.raises(ValueError, match="one group"):
        optimizer.add_param_group({"params": [Parameter(zero.ones(1))]})
    with pytest.raises(TypeError, match="closure"):
        optimizer.step()


def test_lbfgs_puts_parameters_back_when_a_closure_fails():
    p = Parameter(zero.tensor([3.0]))
    optimizer = optim.LBFGS([p], line_search_fn="strong_wolfe")
    calls = []

    def closure():
        calls.append(p.item())
        if len(calls) == 2:
            raise KeyError("disk full")
        optimizer.zero_grad()
        (p * p).sum().backward()
        return (p * p).sum()

    with pytest.raises(KeyError):
        optimizer.step(closure)
    assert p.item() == 3 and calls[1] != 3
