"""zero.signal.windows against SciPy's windows, and what they refuse."""

import numpy as np
import pytest

import zero
from zero.signal import windows

TABLE = [  # name, arguments, SciPy's arguments
    ("bartlett", {}, ()),
    ("blackman", {}, ()),
    ("cosine", {}, ()),
    ("exponential", {"tau": 2.5}, (None, 2.5)),
    ("gaussian", {"std": 1.7}, (1.7,)),
    ("general_cosine", {"a": [0.4, 0.3, 0.2, 0.1]}, ([0.4, 0.3, 0.2, 0.1],)),
    ("general_hamming", {"alpha": 0.7}, (0.7,)),
    ("hamming", {}, ()),
    ("hann", {}, ()),
    ("kaiser", {"beta": 3.5}, (3.5,)),
    ("kaiser", {"beta": 900.0}, (900.0,)),
    ("nuttall", {}, ()),
]
NAMES = pytest.mark.parametrize("name, options, theirs", TABLE)


@NAMES
def test_as_scipy(name, options, theirs):
    there = pytest.importorskip("scipy.signal.windows")
    for n in (1, 2, 3, 8, 33):
        for sym in (True, False):
            with np.errstate(all="ignore"):
                expected = getattr(there, name)(n, *theirs, sym=sym)
            found = getattr(windows, name)(n, sym=sym, dtype=zero.float64, **options)
            assert found.dtype == zero.float64 and found.shape == (n,)
            if np.isfinite(expected).all():  # SciPy's I_0 overflows
                np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-15)


@NAMES
def test_shapes_and_dtypes(name, options, theirs):
    window = getattr(windows, name)
    for n in (0, 1, 2, 7):
        x = window(n, **options)
        assert x.shape == (n,) and x.dtype == zero.float32 and not x.requires_grad
        assert zero.equal(x, x.flip(0)) or zero.allclose(x, x.flip(0), atol=1e-6)
        longer = window(n + 1, dtype=zero.float64, **options)[:n]
        if n > 1:  # periodic: a symmetric one without its last number
            assert zero.equal(window(n, sym=False, dtype=zero.float64, **options), longer)
    assert window(1, **options).item() == window(1, sym=False, **options).item() == 1
    assert window(3, requires_grad=True, **options).requires_grad
    assert window(3, device="meta", **options).is_meta
    zero.set_default_dtype(zero.float64)
    try:
        assert window(3, **options).dtype == zero.float64
    finally:
        zero.set_default_dtype(zero.float32)


@NAMES
def test_refused(name, options, theirs):
    window = getattr(windows, name)
    for bad, error, words in (
        ((-1, {}), ValueError, "length is negative"),
        ((3.0, {}), TypeError, "not an int"),
        ((3, {"dtype": zero.int64}), ValueError, "float32"),
        ((3, {"dtype": zero.bfloat16}), ValueError, "float32"),
        ((3, {"layout": None}), ValueError, "layout"),
    ):
        with pytest.raises(error, match=words):
            window(bad[0], **options, **bad[1])


def test_other_refusals():
    for call, error in (
        (lambda: windows.exponential(3, tau=0), ValueError),
        (lambda: windows.exponential(3, center=1.0), ValueError),
        (lambda: windows.gaussian(3, std=-1), ValueError),
        (lambda: windows.kaiser(3, beta=-1), ValueError),
        (lambda: windows.general_cosine(3, a=[]), ValueError),
        (lambda: windows.general_cosine(3, a=1), TypeError),
        (lambda: windows.general_cosine(3), TypeError),
        (lambda: windows.hann(3, False), TypeError),
    ):
        with pytest.raises(error):
            call()
    x = windows.exponential(4, center=1.0, sym=False, tau=2.0, dtype=zero.float64)
    np.testing.assert_allclose(x.numpy(), np.exp([-0.5, 0, -0.5, -1]), rtol=1e-15)


def test_the_older_names_agree():
    for old, new in (("hann", "hann"), ("hamming", "hamming"), ("blackman", "blackman"),
                     ("bartlett", "bartlett"), ("kaiser", "kaiser")):  # fmt: skip
        found = getattr(zero, f"{old}_window")(9, periodic=False, dtype=zero.float64)
        expected = getattr(windows, new)(9, dtype=zero.float64)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12, atol=1e-15)
