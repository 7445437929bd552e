"""out=: one set of rules for every operator that takes it."""

import inspect

import numpy as np
import pytest
from op_db import OPS, exact, make, outputs

import zero
from zero.errors import DTypeError, ShapeError


def takes_out(op):
    f = getattr(zero, op.name, None)
    return f is op.fn and "out" in inspect.signature(f).parameters


WITH_OUT = [op for op in OPS.values() if takes_out(op)]
each = pytest.mark.parametrize("op", WITH_OUT, ids=[op.name for op in WITH_OUT])


def call(op, requires_grad=False):
    dtype = "float32" if "float32" in op.dtypes else "int64"
    (args, kwargs), _ = make(op.samples[0], dtype, requires_grad=requires_grad)
    return args, kwargs, outputs(op.fn(*args, **kwargs))


def given(tensors):
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def test_many_operators_take_out():
    assert len(WITH_OUT) > 90


@each
def test_result_goes_to_out(op):
    args, kwargs, expected = call(op)
    for make_out in (
        lambda y: zero.full_like(y, 1),
        lambda y: zero.empty(0, dtype=y.dtype),
        lambda y: zero.zeros((*y.shape, 2), dtype=y.dtype)[..., 0],
    ):
        outs = [make_out(y) for y in expected]
        before = [o._version for o in outs]
        result = outputs(op.fn(*args, out=given(outs), **kwargs))
        for o, r, y, version in zip(outs, result, expected, before, strict=True):
            assert r is o and o.shape == y.shape and o._version > version
            np.testing.assert_array_equal(exact(o), exact(y))


@each
def test_wrong_out_is_refused_and_unchanged(op):
    args, kwargs, expected = call(op)
    wrong = [zero.ones((*y.shape, 7), dtype=y.dtype) for y in expected]
    with pytest.raises(ShapeError, match="does not fit"):
        op.fn(*args, out=given(wrong), **kwargs)
    assert all((w == 1).all() for w in wrong)
    meta = [zero.empty(y.shape, dtype=y.dtype, device="meta") for y in expected]
    with pytest.raises(RuntimeError, match="device"):
        op.fn(*args, out=given(meta), **kwargs)
    with pytest.raises(TypeError, match="out is not"):
        op.fn(*args, out=3, **kwargs)
    if expected[0].is_floating_point():
        low = [zero.ones(y.shape, dtype=zero.int8) for y in expected]
        with pytest.raises(DTypeError, match="cast"):
            op.fn(*args, out=given(low), **kwargs)
        assert all((x == 1).all() for x in low)


@each
def test_out_records_nothing(op):
    args, kwargs, expected = call(op)
    if not expected[0].is_floating_point():
        return
    outs = [zero.zeros_like(y) for y in expected]
    outs[0].requires_grad_()
    with pytest.raises(RuntimeError, match="does not record gradients"):
        op.fn(*args, out=given(outs), **kwargs)
    with zero.no_grad():
        op.fn(*args, out=given(outs), **kwargs)
    np.testing.assert_array_equal(exact(outs[0]), exact(expected[0]))
    args, kwargs, expected = call(op, requires_grad=True)
    if expected[0].requires_grad:
        outs = [zero.zeros_like(y) for y in expected]
        with pytest.raises(RuntimeError, match="does not record gradients"):
            op.fn(*args, out=given(outs), **kwargs)


CREATION = {
    "zeros": lambda **k: zero.zeros(2, 3, **k),
    "ones": lambda **k: zero.ones(2, 3, **k),
    "empty": lambda **k: zero.empty(2, 3, **k),
    "full": lambda **k: zero.full((2, 3), 7, **k),
    "arange": lambda **k: zero.arange(6, **k),
    "linspace": lambda **k: zero.linspace(0, 6, 7, **k),
    "logspace": lambda **k: zero.logspace(0, 2, 3, **k),
    "eye": lambda **k: zero.eye(3, **k),
    "randperm": lambda **k: zero.randperm(5, **k),
    "randint": lambda **k: zero.randint(0, 9, (4,), **k),
}
FLOAT_CREATION = {
    "rand": lambda **k: zero.rand(2, 3, **k),
    "randn": lambda **k: zero.randn(2, 3, **k),
}


@pytest.mark.parametrize("name", [*CREATION, *FLOAT_CREATION])
def test_creation(name):
    f = (CREATION | FLOAT_CREATION)[name]
    for dtype in (zero.float64, zero.int16) if name in CREATION else (zero.float64, zero.float16):
        for start in (zero.empty(0, dtype=dtype), zero.zeros_like(f(dtype=dtype))):
            zero.manual_seed(5)
            result = f(out=start)
            zero.manual_seed(5)
            assert result is start and result.dtype is dtype
            if name != "empty":
                np.testing.assert_array_equal(exact(result), exact(f(dtype=dtype)))
    with pytest.raises(DTypeError, match="not that of out"):
        f(out=zero.empty(0, dtype=zero.float16), dtype=zero.float64)
    with pytest.raises(ShapeError):
        f(out=zero.zeros(17))


def test_a_view_is_not_resized():
    x = zero.ones(3)
    with pytest.raises(RuntimeError, match="view without elements"):
        zero.exp(x, out=x[:0])
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_out_may_be_an_input():
    x = zero.tensor([1.0, 2.0])
    assert zero.mul(x, x, out=x) is x and x.tolist() == [1.0, 4.0]
    assert zero.flip(x, 0).tolist() == [4.0, 1.0]
    assert zero.cumsum(x, 0, out=x).tolist() == [1.0, 5.0]


def test_a_pair_is_checked_before_it_is_written():
    x = zero.tensor([[1.0, 3.0], [4.0, 2.0]])
    values, indices = zero.zeros(2), zero.zeros(5, dtype=zero.int64)
    with pytest.raises(ShapeError):
        zero.max(x, 1, out=(values, indices))
    assert values.tolist() == [0.0, 0.0]
    result = zero.max(x, 1, out=(values, zero.empty(0, dtype=zero.int64)))
    assert result.values is values and result.indices.tolist() == [1, 0]
    with pytest.raises(TypeError, match="pair"):
        zero.max(x, 1, out=values)


def test_numpy_names():
    x = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.sum(axis=1, keepdims=True).tolist() == [[3.0], [7.0]]
    assert x.mean(axis=0).tolist() == [2.0, 3.0]
    assert x.argmax(axis=1).tolist() == [1, 1] and x.max(axis=0).values.tolist() == [3.0, 4.0]
    assert zero.cat([x, x], axis=1).shape == (2, 4) and zero.stack([x], axis=2).shape == (2, 2, 1)
    assert x.cumsum(axis=1).tolist() == [[1.0, 3.0], [3.0, 7.0]]
    with pytest.raises(TypeError, match="both dim and axis"):
        x.sum(0, axis=1)
    with pytest.raises(TypeError, match="both keepdim and keepdims"):
        x.sum(0, True, keepdims=False)
