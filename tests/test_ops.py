"""Every operator of op_db, in every way the registry allows to derive."""

import dataclasses
from pathlib import Path

import numpy as np
import op_db
import pytest
from children import run_child
from op_db import (
    EPS,
    INTS,
    OPS,
    TINY,
    exact,
    laid_out,
    make,
    map_args,
    name_of,
    outputs,
    tensors_in,
)

import zero
from zero.autograd import gradcheck, gradgradcheck

each_op = pytest.mark.parametrize("op", OPS.values(), ids=OPS.keys())
graded = [op for op in OPS.values() if op.grad]
each_graded = pytest.mark.parametrize("op", graded, ids=[op.name for op in graded])


def subset(keep):
    found = [op for op in OPS.values() if keep(op)]
    assert found
    return pytest.mark.parametrize("op", found, ids=[op.name for op in found])


@pytest.fixture(autouse=True)
def same_threads():
    before = zero.get_num_threads()
    yield
    zero.set_num_threads(before)


def compare(op, y, expected, scale, where):
    """One result against NumPy's: shape and values within the op's bound."""
    expected = np.asarray(expected)
    assert tuple(y.shape) == expected.shape, where
    found, dtype = exact(y), name_of(y.dtype)
    if dtype not in EPS:
        if dtype in INTS:  # integers wrap as C's do
            expected = expected.astype(np.int64).astype(dtype).astype(np.int64)
        np.testing.assert_array_equal(found, expected, err_msg=where)
        return
    expected = expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        bound = op.tol * EPS[dtype] * (np.abs(expected) + scale) + (TINY[dtype] if op.tol else 0)
        error = np.abs(found - expected)
    bad = ~((error <= bound) | (found == expected) | (np.isnan(found) & np.isnan(expected)))
    assert not bad.any(), (
        f"{where}: off by {np.max(np.where(bad, error / np.maximum(bound, 1e-300), 0)):.3g} "
        f"times the bound; got {found[bad][:3]}, expected {expected[bad][:3]}"
    )


def check_forward(op, sample, dtype, layout="contiguous"):
    (args, kwargs), (nargs, nkwargs) = make(sample, dtype, layout)
    where = f"{op.name}{sample} {dtype} {layout}"
    found = outputs(op.fn(*args, **kwargs))
    expected, scale = op.expected(nargs, nkwargs)
    expected = outputs(expected)
    assert len(found) == len(expected), where
    for i, (y, e) in enumerate(zip(found, expected, strict=True)):
        wanted = op.expected_dtype(dtype, args)
        if i > 0 and op.indices:
            wanted = "int64"
        assert name_of(y.dtype) == wanted, where
        compare(op, y, e, scale, where)


@each_op
def test_forward(op):
    for dtype in op.dtypes:
        for sample in op.samples:
            check_forward(op, sample, dtype)


@each_op
def test_other_dtypes_are_refused(op):
    sample = op.samples[0]
    for dtype in op_db.ALL:
        if dtype in op.dtypes + op.loose:
            continue
        (args, kwargs), _ = make(sample, dtype)
        with pytest.raises(zero.errors.DTypeError, match=r"; (got|expected)|: not defined"):
            op.fn(*args, **kwargs)


@each_op
@pytest.mark.parametrize("layout", ["transposed", "step", "offset", "expanded"])
def test_layouts(op, layout):
    if op.name == "view" and layout in ("transposed", "step", "expanded"):
        pytest.skip("a view of these needs a copy, which view refuses")
    for dtype in [d for d in ("float32", "float16", "int64", "bool") if d in op.dtypes]:
        for sample in op.samples:
            check_forward(op, sample, dtype, layout)


@subset(lambda op: op.sized)
def test_sizes_around_vectors_and_blocks(op):
    for dtype in [
        d for d in ("float32", "float64", "bfloat16", "int32", "uint8", "bool") if d in op.dtypes
    ]:
        for n in op_db.EDGES:
            for sample in op.sized(n):
                check_forward(op, sample, dtype)


# ---- special values ----------------------------------------------------------------------------
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 1e4, -1e4]


@subset(lambda op: op.kind in ("unary", "binary") and op.special)
def test_special_values(op):
    values = np.repeat(SPECIAL, 3)  # 36 elements: full vectors and a rest
    for dtype in [d for d in op_db.FLOATS if d in op.dtypes]:
        x = zero.tensor(values).to(getattr(zero, dtype))
        tensors = [x]
        if op.kind == "binary":
            tensors = [x.unsqueeze(1).expand(-1, len(values)), x.expand(len(values), -1)]
        expected, _ = op.expected([exact(t) for t in tensors], {})
        y = op.fn(*tensors)
        if name_of(y.dtype) in EPS:  # what is beyond the range is infinite
            with np.errstate(all="ignore"):
                limit = 3.4028235e38 if dtype != "float16" else 65504.0
                expected = (
                    np.where(np.abs(expected) > limit, np.sign(expected) * np.inf, expected)
                    if dtype != "float64"
                    else expected
                )
        compare(op, y, expected, 0, f"{op.name} {dtype}")
        if op.zero_sign and name_of(y.dtype) in EPS:
            both = (exact(y) == 0) & (expected == 0)
            np.testing.assert_array_equal(
                np.signbit(exact(y))[both], np.signbit(expected)[both], op.name
            )


def test_nan_and_ties_in_reductions():
    nan = float("nan")
    x = zero.tensor([[1.0, nan, 3.0], [2.0, 2.0, 1.0], [nan, nan, 0.0]])
    for name in ("amax", "amin", "max", "min", "sum", "mean"):
        assert zero.isnan(outputs(getattr(zero, name)(x, 1))[0]).tolist() == [True, False, True], (
            name
        )
        assert bool(zero.isnan(getattr(zero, name)(x))), name
    assert zero.max(x, 1).indices.tolist() == [1, 0, 0] and zero.min(x, 1).indices.tolist() == [
        1,
        2,
        0,
    ]
    assert zero.argmax(x).item() == 1 and zero.argmin(x).item() == 1
    assert (
        zero.argmax(zero.ones(1000)).item() == 0
        and zero.argmin(zero.ones(3, 700), 1).tolist() == [0] * 3
    )
    for size in (9, 1025):  # the first of several, wherever lanes and blocks end
        y = zero.zeros(size)
        y[size // 2 :] = 5
        assert zero.argmax(y).item() == size // 2 and zero.max(y, 0).indices.item() == size // 2


def test_infinities_in_reductions():
    inf = float("inf")
    assert zero.tensor([inf, 1.0]).sum().item() == inf
    assert np.isnan(zero.tensor([inf, -inf]).sum().item())
    assert zero.tensor([-inf, -inf]).max().item() == -inf
    assert zero.softmax(zero.tensor([inf, 0.0]), 0).isnan().any().item()  # inf - inf, as in PyTorch
    assert zero.softmax(zero.tensor([-inf, 0.0]), 0).tolist() == [0.0, 1.0]
    assert zero.softmax(zero.tensor([-inf, -inf]), 0).isnan().all().item()
    assert zero.log_softmax(zero.tensor([-inf, 0.0]), 0).tolist() == [-inf, 0.0]


# Each line: what went wrong elsewhere, and a result that only a stable formula gives.
STABLE = {
    "mean does not overflow": lambda: (zero.full((4,), 3e38).mean().item(), pytest.approx(3e38)),
    "float16 mean does not overflow": lambda: (
        zero.full((4,), 60000.0, dtype=zero.float16).mean().item(),
        60000.0,
    ),
    "variance far from zero": lambda: (zero.tensor([1e6, 1e6 + 1, 1e6 + 2]).var().item(), 1.0),
    "variance of constants": lambda: (
        zero.full((1000,), 0.1).var().item(),
        pytest.approx(0, abs=1e-14),
    ),
    "long float32 sum": lambda: (
        zero.full((2**22,), 0.1).sum().item(),
        pytest.approx(419430.4, rel=1e-6),
    ),
    "bfloat16 sum counts on": lambda: (zero.ones(4096, dtype=zero.bfloat16).sum().item(), 4096.0),
    "bool sum": lambda: (zero.ones(300, dtype=zero.bool).sum().item(), 300),
    "uint8 sum": lambda: (zero.full((300,), 255, dtype=zero.uint8).sum().item(), 76500),
    "softmax of large": lambda: (zero.softmax(zero.tensor([1e4, 1e4]), 0).tolist(), [0.5, 0.5]),
    "log-softmax tail": lambda: (
        zero.log_softmax(zero.tensor([0.0, 200.0]), 0).tolist(),
        [-200.0, 0.0],
    ),
    "log-softmax near one": lambda: (
        zero.log_softmax(zero.tensor([0.0, 20.0]), 0)[1].item(),
        pytest.approx(-2.0611537e-9, rel=1e-5),
    ),
    "cross entropy of large": lambda: (
        zero.cross_entropy(zero.tensor([[1e4, -1e4]]), zero.tensor([1])).item(),
        2e4,
    ),
    "cross entropy near zero": lambda: (
        zero.cross_entropy(zero.tensor([[20.0, 0.0]]), zero.tensor([0])).item(),
        pytest.approx(2.0611537e-9, rel=1e-5),
    ),
    "sigmoid tail": lambda: (
        zero.sigmoid(zero.tensor([-80.0, 200.0])).tolist(),
        [pytest.approx(1.8048513e-35, rel=1e-6), 1.0],
    ),
    "tanh near zero": lambda: (
        zero.tanh(zero.tensor([1e-6])).item(),
        pytest.approx(1e-6, rel=1e-6),
    ),
    "remainder has the divisor's sign": lambda: (
        zero.remainder(zero.tensor([-7, 7]), zero.tensor([3, -3])).tolist(),
        [2, -2],
    ),
    "floor of a nearly whole quotient": lambda: (
        zero.floor_divide(zero.tensor([1.0]), 0.1).item(),
        9.0,
    ),
    "int64 keeps all bits": lambda: ((zero.tensor([2**62 + 1]) + 1).item(), 2**62 + 2),
    "int64 max keeps all bits": lambda: (zero.tensor([2**62, 2**62 + 1]).max().item(), 2**62 + 1),
    "int64 comparison keeps all bits": lambda: (
        (zero.tensor([2**62]) == zero.tensor([2**62 + 1])).item(),
        False,
    ),
    "pow of a negative base": lambda: (zero.pow(zero.tensor([-2.0]), 3).item(), -8.0),
    "pow zero to zero": lambda: (zero.pow(zero.tensor([0.0]), 0).item(), 1.0),
    "int pow": lambda: (zero.pow(zero.tensor([3]), 39).item(), 3**39),
}


@pytest.mark.parametrize("case", STABLE.values(), ids=STABLE.keys())
def test_stable(case):
    found, expected = case()
    assert found == expected


STABLE_GRADIENTS = {
    "softmax of large": lambda x: (zero.softmax(x * 1e3, 0)[0], [1000.0, 0.0]),
    "sqrt at zero is infinite": lambda x: (zero.sqrt(x - 1).sum(), [0.0, 1.0]),
    "abs at zero": lambda x: (zero.abs(x - 1).sum(), [1.0, 1.0]),
    "relu at zero": lambda x: (zero.relu(x - 1).sum(), [1.0, 1.0]),
    "clamp at the bound": lambda x: (zero.clamp(x, 1, 2).sum(), [2.0, 1.0]),
    "x^0 at zero": lambda x: (((x - 1) ** 0).sum(), [1.0, 1.0]),
    "0^y": lambda x: (zero.pow(zero.zeros(2), x).sum(), [1.0, 2.0]),
    "max shares ties": lambda x: (zero.stack([x[0], x[0], x[1] - 5]).max(), [1.0, 2.0]),
    "amax shares ties": lambda x: (zero.stack([x[0], x[0], x[1] - 5]).amax(0), [1.0, 2.0]),
    "maximum shares ties": lambda x: (zero.maximum(x, zero.tensor([1.0, 0.0])).sum(), [1.0, 2.0]),
    "where hides nan": lambda x: (
        zero.where(x > 0, x, zero.sqrt(-x) * float("inf")).sum(),
        [1.0, 2.0],
    ),
}
GRADIENTS = {
    "softmax of large": [0.0, 0.0],
    "sqrt at zero is infinite": [float("inf"), 0.5],
    "abs at zero": [0.0, 1.0],
    "relu at zero": [0.0, 1.0],
    "clamp at the bound": [1.0, 1.0],
    "x^0 at zero": [0.0, 0.0],
    "0^y": [0.0, 0.0],
    "max shares ties": [1.0, 0.0],
    "amax shares ties": [1.0, 0.0],
    "maximum shares ties": [0.5, 1.0],
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient_at_special_points(name):
    _, values = STABLE_GRADIENTS[name](zero.ones(2))
    values = {
        "sqrt at zero is infinite": [1.0, 2.0],
        "abs at zero": [1.0, 2.0],
        "relu at zero": [1.0, 2.0],
        "clamp at the bound": [2.0, 1.0],
        "x^0 at zero": [1.0, 2.0],
    }.get(name, values)
    x = zero.tensor(values, requires_grad=True)
    STABLE_GRADIENTS[name](x)[0].backward()
    assert x.grad.tolist() == GRADIENTS[name]


def test_ignored_targets_leave_no_nan():
    x = zero.tensor([[float("inf"), 0.0], [0.0, 0.0]], requires_grad=True)
    zero.cross_entropy(x, zero.tensor([-100, 1])).backward()
    assert x.grad.tolist() == [[0.0, 0.0], [0.5, -0.5]]
    none = zero.cross_entropy(zero.zeros(2, 3), zero.tensor([-100, -100]), reduction="sum")
    assert none.item() == 0
    assert (
        zero.cross_entropy(zero.zeros(2, 3), zero.tensor([-100, -100])).isnan().item()
    )  # 0 / 0, as in PyTorch


# ---- gradients ---------------------------------------------------------------------------------
def gradient_samples(op):
    return [
        s
        for s in op.samples
        if 0 < s.numel() <= 26 and any(a.grad and not a.dtype for a in s.tensors())
    ]


def flat_call(op, args, kwargs):
    """op as a function of the tensors that need gradients alone, and these."""
    wanted = [t for t in tensors_in([args, kwargs]) if t.requires_grad]

    def put(x, left):
        if isinstance(x, zero.Tensor):
            return next(left) if x.requires_grad else x
        if isinstance(x, list | tuple):
            return type(x)(put(v, left) for v in x)
        return {k: put(v, left) for k, v in x.items()} if isinstance(x, dict) else x

    places = (args, kwargs)
    return (
        lambda *tensors: op.fn(*put(places[0], it := iter(tensors)), **put(places[1], it))
    ), wanted


@each_graded
def test_gradients(op):
    samples = gradient_samples(op)
    assert samples, op.name
    for sample in samples:
        (args, kwargs), _ = make(sample, "float64", requires_grad=True)
        f, wanted = flat_call(op, args, kwargs)
        if wanted:
            assert gradcheck(f, wanted, check_grad_dtypes=True), sample


@each_graded
def test_second_gradients(op):
    for sample in gradient_samples(op):
        (args, kwargs), _ = make(sample, "float64", requires_grad=True)
        f, wanted = flat_call(op, args, kwargs)
        if wanted:
            assert gradgradcheck(f, wanted), sample


def gradients(op, args, kwargs):
    """All gradients for fixed weights of the outputs."""
    recorded = [y for y in outputs(op.fn(*args, **kwargs)) if y.requires_grad]
    wanted = [t for t in tensors_in([args, kwargs]) if t.requires_grad]
    if not recorded or not wanted:
        return []
    seeds = [zero.tensor(np.cos(np.arange(y.numel()))).to(y.dtype).view(y.shape) for y in recorded]
    return zero.autograd.grad(recorded, wanted, seeds, allow_unused=True)


@each_graded
@pytest.mark.parametrize("layout", ["transposed", "step", "expanded"])
def test_gradients_of_layouts(op, layout):
    """Strided leaves get the gradient of their contiguous copies."""
    if op.name == "view":
        pytest.skip("a view of these needs a copy, which view refuses")
    for sample in op.samples:
        (args, kwargs), _ = make(sample, "float64", layout, requires_grad=True)
        f, wanted = flat_call(op, args, kwargs)
        dense = [t.detach().contiguous().clone().requires_grad_() for t in wanted]
        g = [gradients(op_db.Op("", f, None, []), t, {}) for t in (wanted, dense)]
        for a, b in zip(*g, strict=True):
            assert (a is None) == (b is None)
            if a is not None:  # other orders of summation
                np.testing.assert_allclose(exact(a), exact(b), rtol=1e-13, atol=1e-14)


@each_graded
def test_gradients_of_empty_inputs(op):
    for sample in op.samples:
        (args, kwargs), _ = make(sample, "float32", requires_grad=True)
        wanted = [t for t in tensors_in([args, kwargs]) if t.requires_grad]
        for t, g in zip(wanted, gradients(op, args, kwargs), strict=False):
            if g is not None:
                assert g.shape == t.shape and g.dtype == t.dtype, sample


@each_graded
def test_low_precision_gradients(op):
    """float16 and bfloat16 gradients are the float64 ones of the same values, but for roundings."""
    for dtype in [d for d in ("float16", "bfloat16", "float32") if d in op.dtypes]:
        for sample in gradient_samples(op)[:3]:
            (args, kwargs), _ = make(sample, dtype, requires_grad=True)
            wide = [
                t.detach().to(zero.float64).requires_grad_()
                for t in tensors_in([args, kwargs])
                if t.requires_grad
            ]
            f, wanted = flat_call(op, args, kwargs)
            if not wanted or op.name.startswith("to_") or op.name == "sum_dtype":
                continue
            g = gradients(op_db.Op("", f, None, []), wanted, {})
            h = gradients(op_db.Op("", f, None, []), wide, {})
            for a, b in zip(g, h, strict=True):
                # Saved results are rounded, and gradients summed: 16 eps of the largest.
                bound = 16 * EPS[dtype] * (1 + np.abs(exact(b)).max(initial=0))
                np.testing.assert_allclose(
                    exact(a), exact(b), rtol=0, atol=bound, err_msg=f"{op.name} {sample} {dtype}"
                )


# ---- in place ----------------------------------------------------------------------------------
in_place = subset(lambda op: op.inplace)


def method_arguments(op, args):
    return args[1:] if op.kind in ("binary", "index") or op.name == "copy_" else ()


@in_place
def test_in_place(op):
    for dtype in op.dtypes:
        for sample in op.samples:
            (args, kwargs), _ = make(sample, dtype)
            x, rest = args[0], method_arguments(op, args)
            expected = op.fn(*args, **kwargs)
            fits = expected.shape == x.shape and zero.can_cast(expected.dtype, x.dtype)
            if op.out == "bool":
                fits = expected.shape == x.shape
            before, version, pointer = exact(x), x._version, x.data_ptr()
            method = getattr(x, op.inplace)
            if not fits:
                with pytest.raises((zero.errors.ShapeError, zero.errors.DTypeError)):
                    method(*rest)
                assert x._version == version and np.array_equal(exact(x), before), (
                    "a failed call changes nothing"
                )
                continue
            result = method(*rest)
            assert result is x and x.data_ptr() == pointer and x._version == version + 1, sample
            np.testing.assert_array_equal(
                exact(x), exact(expected.to(x.dtype)), err_msg=f"{op.name} {sample} {dtype}"
            )


@in_place
def test_in_place_through_strides(op):
    for layout in ("transposed", "step"):
        for sample in op.samples:
            dtype = "float32" if "float32" in op.dtypes else "int64"
            (args, kwargs), _ = make(sample, dtype, layout)
            expected = op.fn(*args, **kwargs)
            if expected.shape == args[0].shape:
                getattr(args[0], op.inplace)(*method_arguments(op, args))
                np.testing.assert_array_equal(
                    exact(args[0]), exact(expected.to(args[0].dtype)), err_msg=op.name
                )


@subset(lambda op: op.inplace and op.grad)
def test_in_place_gradients(op):
    for sample in gradient_samples(op):
        (args, kwargs), _ = make(sample, "float64", requires_grad=True)
        if op.fn(*args, **kwargs).shape != args[0].shape:
            continue
        f, wanted = flat_call(op, args, kwargs)
        method = op_db.Op(
            "",
            lambda x, *rest: getattr(x.clone(), op.inplace)(*method_arguments(op, (x, *rest))),
            None,
            [],
        )
        g, wanted = flat_call(method, args, kwargs)
        for a, b in zip(
            gradients(op_db.Op("", f, None, []), wanted, {}),
            gradients(op_db.Op("", g, None, []), wanted, {}),
            strict=True,
        ):
            assert (a is None) == (b is None), sample
            if a is not None:
                np.testing.assert_allclose(exact(b), exact(a), rtol=1e-14, err_msg=op.name)


@in_place
def test_in_place_on_leaves_is_refused(op):
    if "float32" not in op.dtypes:
        pytest.skip("integers have no gradient")
    (args, _), _ = make(op.samples[0], "float32")
    x = args[0].requires_grad_()
    before, version = exact(x), x._version
    with pytest.raises(RuntimeError, match="leaf that requires grad"):
        getattr(x, op.inplace)(*method_arguments(op, args))
    if op.grad:
        assert np.array_equal(exact(x), before) and x._version == version
    with zero.no_grad():
        getattr(x, op.inplace)(*method_arguments(op, args))
    assert x._version == version + 1


@in_place
def test_in_place_on_repeated_elements_is_refused(op):
    dtype = "float32" if "float32" in op.dtypes else "int64"
    (args, _), _ = make(op.samples[0], dtype, "expanded")
    with pytest.raises(RuntimeError, match="share one place"):
        getattr(args[0], op.inplace)(*method_arguments(op, args))


# ---- views -------------------------------------------------------------------------------------
@subset(lambda op: op.view)
def test_views_share_memory(op):
    for sample in op.samples:
        (args, kwargs), _ = make(sample, "float32")
        x = args[0]
        for y in outputs(op.fn(*args, **kwargs)):
            if y.numel():
                assert y._version == x._version
                with zero.no_grad():
                    x.fill_(7)
                assert exact(y).flat[0] == 7, sample
                assert y._version == x._version


SHARING = (
    *("contiguous", "detach", "einsum", "meshgrid_ij", "meshgrid_xy"),
    *("real", "conj", "conj_physical", "resolve_conj", "resolve_neg", "positive"),
)


@subset(lambda op: not op.view and op.name not in SHARING)
def test_results_are_no_views(op):
    """Not even where a size of 1 would let a view do."""
    for sample in op.samples:
        ones = [tuple(1 for _ in a.shape) for a in sample.tensors()]
        shapes = [[a.shape for a in sample.tensors()], ones]
        for given in shapes:
            left = iter(given)
            small = map_args(
                (sample.args, sample.kwargs),
                lambda a, left=left: dataclasses.replace(a, shape=next(left)),
            )
            (args, kwargs), _ = make(type(sample)(*small[0], **small[1]), op.dtypes[0])
            inputs = {t.data_ptr() for t in tensors_in([args, kwargs]) if t.numel()}
            try:
                results = outputs(op.fn(*args, **kwargs))
            except (RuntimeError, ValueError, IndexError):
                assert given is ones  # an index or a size that only the larger shape has
                continue
            for y in results:
                assert not (isinstance(y, zero.Tensor) and y.numel() and y.data_ptr() in inputs)


# ---- meta --------------------------------------------------------------------------------------
@each_op
def test_meta(op):
    if not op.meta:
        with pytest.raises(NotImplementedError, match="meta"):
            args, kwargs = make(op.samples[0], op.dtypes[0], device="meta")[0]
            op.fn(*args, **kwargs)
        return
    if op.name == "equal":
        pytest.skip("equal gives a Python bool, which needs elements")
    for dtype in op.dtypes:
        for sample in op.samples:
            (args, kwargs), _ = make(sample, dtype)
            expected = outputs(op.fn(*args, **kwargs))
            (args, kwargs), _ = make(sample, dtype, device="meta")
            found = outputs(op.fn(*args, **kwargs))
            for y, e in zip(found, expected, strict=True):
                assert (y.shape, y.dtype) == (e.shape, e.dtype), f"{op.name} {sample} {dtype}"
                assert y.device == zero.device("meta") and y.data_ptr() == 0


@subset(lambda op: op.big and op.meta)
def test_meta_takes_no_memory(op):
    dtype = "float32" if "float32" in op.dtypes else "int64"
    (args, kwargs), _ = make(op.big, dtype, device="meta", requires_grad=op.grad)
    zero.reset_peak_memory_stats()
    live = zero.memory_stats()["live_bytes"]
    results = op.fn(*args, **kwargs)
    # Tensors and nodes themselves; the elements would be hundreds of kilobytes.
    assert zero.memory_stats()["peak_bytes"] - live < 16_000
    assert results is not None


@subset(lambda op: op.grad and op.meta)
def test_meta_gradients(op):
    (args, kwargs), _ = make(op.samples[0], "float32", device="meta", requires_grad=True)
    wanted = [t for t in tensors_in([args, kwargs]) if t.requires_grad]
    y = [y for y in outputs(op.fn(*args, **kwargs)) if y.requires_grad]
    for t, g in zip(
        wanted, zero.autograd.grad(y, wanted, [zero.ones_like(v) for v in y]), strict=True
    ):
        assert g.device == zero.device("meta") and g.shape == t.shape


@pytest.mark.parametrize(
    "name, make_it, expected", op_db.CREATION, ids=[c[0] for c in op_db.CREATION]
)
def test_creation(name, make_it, expected):
    y = make_it()
    np.testing.assert_array_equal(y.numpy(), expected)
    assert y.numpy().dtype == expected.dtype and y.is_contiguous() and not y.requires_grad
    meta = make_it(device="meta")
    assert (meta.shape, meta.dtype, meta.device.type) == (y.shape, y.dtype, "meta")
    if y.is_floating_point():
        assert make_it(requires_grad=True).requires_grad
    else:
        with pytest.raises(RuntimeError, match="floating point"):
            make_it(requires_grad=True)


@pytest.mark.parametrize("dtype", op_db.ALL)
@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
def test_like(dtype, layout):
    x = laid_out(zero.ones(2, 3, 4).to(getattr(zero, dtype)), layout)
    for name, value in (
        ("zeros_like", 0),
        ("ones_like", 1),
        ("full_like", 1),
        ("empty_like", None),
    ):
        y = getattr(zero, name)(x, *([1] if name == "full_like" else []))
        assert (y.shape, y.dtype, y.stride()) == (x.shape, x.dtype, x.stride()), name
        assert value is None or bool((y == value).all()), name
    assert zero.zeros_like(x, dtype=zero.int8).dtype == zero.int8
    assert zero.ones_like(x, device="meta").data_ptr() == 0


# ---- threads, grains, instruction sets ---------------------------------------------------------
def bits(t) -> bytes:
    return (np.array(t.detach().numpy()) if t.dtype != zero.bfloat16 else exact(t)).tobytes()


@subset(lambda op: op.big)
def test_thread_counts_give_the_same_bits(op):
    dtype = "float32" if "float32" in op.dtypes else "int64"
    (args, kwargs), _ = make(op.big, dtype, requires_grad=op.grad)
    results = {}
    for threads in (1, 2, 3, 7):
        zero.set_num_threads(threads)
        found = [bits(y) for y in outputs(op.fn(*args, **kwargs))]
        found += [
            bits(g) for g in (gradients(op, args, kwargs) if op.grad else []) if g is not None
        ]
        results[threads] = found
    assert results[2] == results[1] and results[3] == results[1] and results[7] == results[1]


def run_registry(path: Path, **environment) -> dict:
    run_child(op_db.__file__, path, **environment)
    return dict(np.load(path))


@pytest.fixture(scope="module")
def small_results(tmp_path_factory):
    results = run_registry(tmp_path_factory.mktemp("registry") / "here.npz", ZERO_NUM_THREADS="1")
    assert len(results) > 200
    return results


@pytest.mark.parametrize("threads", ["1", "3"])
def test_grain_of_one_gives_the_same_bits(small_results, tmp_path, threads):
    found = run_registry(tmp_path / "grain.npz", ZERO_GRAIN="1", ZERO_NUM_THREADS=threads)
    assert found.keys() == small_results.keys()
    different = [k for k in found if found[k].tobytes() != small_results[k].tobytes()]
    assert different == []


@pytest.mark.parametrize("isa", ["baseline", "avx2"])
def test_instruction_sets_agree(small_results, tmp_path, isa):
    found = run_registry(tmp_path / "isa.npz", ZERO_ISA=isa)
    for key, y in found.items():
        # Every instruction set keeps the op's bound against NumPy; two differ by twice that.
        op = OPS[key.split(".")[0]]
        tol = 2 * max(op.tol, 4) * EPS["float32"] * (16 if ".g" in key else 1)
        expected = small_results[key]
        np.testing.assert_allclose(
            y, expected, rtol=tol, atol=tol * 37**0.5 * np.abs(expected).max(initial=1), err_msg=key
        )


def test_no_blas_agrees(small_results, tmp_path):
    found = run_registry(tmp_path / "none.npz", ZERO_BLAS="none")
    for key, y in found.items():
        tol = 64 * EPS["float32"]
        np.testing.assert_allclose(
            y, small_results[key], rtol=tol, atol=tol * np.abs(y).max(initial=1), err_msg=key
        )


# ---- errors ------------------------------------------------------------------------------------
@subset(lambda op: op.errors)
def test_errors(op):
    dtype = "float32" if "float32" in op.dtypes else "int32"
    for sample, kind, words in op.errors:
        (args, kwargs), _ = make(sample, dtype)
        with pytest.raises(kind) as caught:
            op.fn(*args, **kwargs)
        text = str(caught.value)
        assert words in text, f"{op.name}{sample}: {text}"
        assert text == text.strip() and "\n" not in text, text
        assert ": " in text or text.startswith("Argument "), text  # Cython's check of a type


def test_the_registry_covers_the_operators():
    """Every public function that takes a tensor has an entry, or is named here with its test."""
    elsewhere = {
        "tensor",
        "as_tensor",
        "asarray",
        "from_numpy",
        "is_tensor",  # test_convert
        "from_dlpack",
        "to_dlpack",  # test_exchange
        "vmap",
        "load",
        "save",  # test_serialization
        "frombuffer",
        "bartlett_window",
        "blackman_window",
        "hamming_window",
        "hann_window",
        "kaiser_window",
        "zero_",  # test_names
        "get_default_device",
        "set_default_device",
        "set_default_tensor_type",
        "typename",
        "is_complex",  # test_device
        "linspace",
        "logspace",  # test_creation
        "tril_indices",
        "triu_indices",
        "broadcast_shapes",
        "broadcast_tensors",
        "meshgrid",  # test_operators
        "normal",
        "bernoulli",
        "poisson",
        "binomial",
        "multinomial",  # test_draws
        "rand",
        "randn",
        "randint",
        "randperm",
        "rand_like",
        "randn_like",
        "randint_like",  # test_random
        "dropout",
        "dropout_",
        "feature_dropout",
        "feature_dropout_",  # test_dropout
        "zeros",
        "ones",
        "full",
        "empty",
        "eye",
        "arange",
        "scalar_tensor",
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "allclose",
        "numel",
        "is_floating_point",
        "result_type",
        "promote_types",
        "can_cast",  # test_dtype
        "manual_seed",
        "seed",
        "initial_seed",
        "get_rng_state",
        "set_rng_state",
        "memory_stats",
        "empty_cache",
        "reset_peak_memory_stats",
        "get_num_threads",
        "set_num_threads",
        "set_flush_denormal",
        "show_config",
        "get_default_dtype",
        "set_default_dtype",
        "is_grad_enabled",
        "is_inference",
        "is_inference_mode_enabled",
        "get_printoptions",
        "set_printoptions",
        "printoptions",
        "are_deterministic_algorithms_enabled",
        "compile",
        "get_deterministic_debug_mode",
        "get_float32_matmul_precision",
        "get_num_interop_threads",
        "is_deterministic_algorithms_warn_only_enabled",
        "set_deterministic_debug_mode",
        "set_float32_matmul_precision",
        "set_num_interop_threads",
        "use_deterministic_algorithms",  # test_surface
        "adjoint",
        "conj_physical_",
        "imag",
        "is_conj",
        "is_neg",
        "is_nonzero",
        "is_signed",  # test_math
        "rsub",  # the entry rsub_function
        "polygamma",  # entries with an order in their names
        "index_reduce",
        "scatter_reduce",  # entries with the reduction in their names
        "as_strided_",
        "detach_",
        "empty_permuted",
        "empty_strided",
        "is_same_size",
        "resize_as_",  # test_geometry, test_autograd
        "celu_",
        "rrelu_",
        "selu_",
        "threshold_",  # test_activation
        "cosine_embedding_loss",
        "cosine_similarity",
        "ctc_loss",
        "hinge_embedding_loss",
        "margin_ranking_loss",
        "pairwise_distance",
        "pdist",
        "poisson_nll_loss",
        "triplet_margin_loss",  # test_losses, test_pointwise
        "affine_grid_generator",
        "constant_pad_nd",
        "grid_sampler",
        "grid_sampler_2d",
        "grid_sampler_3d",
        "max_pool1d_with_indices",
        "native_channel_shuffle",  # test_pooling
        "embedding_bag",
        "embedding_renorm_",
        "native_batch_norm",  # test_embedding, test_batch_norm
        *("cholesky", "det", "geqrf", "inverse", "lu", "lu_solve", "matrix_exp", "matrix_power"),
        *("nuclear_norm", "orgqr", "pca_lowrank", "pinverse", "qr", "slogdet", "svd"),
        *("svd_lowrank", "lobpcg"),  # test_factors
    }
    same = {
        "absolute": "abs",
        "negative": "neg",
        "clip": "clamp",
        "concat": "cat",
        "concatenate": "cat",
        "divide": "div",
        "multiply": "mul",
        "subtract": "sub",
        "not_equal": "ne",
        "less": "lt",
        "less_equal": "le",
        "greater": "gt",
        "greater_equal": "ge",
        "swapdims": "transpose",
        "arcsin": "asin",
        "arccos": "acos",
        "arctan": "atan",
        "arcsinh": "asinh",
        "arccosh": "acosh",
        "arctanh": "atanh",
        "arctan2": "atan2",
        "fix": "trunc",
        "ger": "outer",
        "moveaxis": "movedim",
        "row_stack": "vstack",
        "sgn": "sign",
        "trapz": "trapezoid",
    }
    for alias, name in same.items():
        assert getattr(zero, alias) is getattr(zero, name)
    public = {
        n
        for n in zero.__all__
        if callable(getattr(zero, n))
        and "autocast" not in n  # its state: test_autocast
        and not isinstance(getattr(zero, n), type)
        and not isinstance(getattr(zero, n), zero.dtype)
    }
    in_place = {op.inplace for op in OPS.values()} | {
        f"{n}_" for n in (*same, "clamp", "clamp_min", "clamp_max", "nan_to_num")
    }
    missing = public - set(OPS) - elsewhere - set(same) - in_place
    assert missing == set()


def test_the_comparison_can_fail():
    op = OPS["exp"]
    y = zero.exp(zero.ones(3))
    compare(op, y, np.exp(np.ones(3)), 0, "right")
    with pytest.raises(AssertionError, match="off by"):
        compare(op, y, np.exp(np.ones(3)) * (1 + 8 * EPS["float32"]), 0, "wrong")
    with pytest.raises(AssertionError):
        compare(op, y, np.exp(np.ones(4)), 0, "shape")
