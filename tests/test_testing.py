"""zero.testing. The texts were recorded from PyTorch 2.13 (with its name replaced)."""

import math

import numpy as np
import pytest

import zero
from zero.testing import assert_allclose, assert_close, make_tensor

t = zero.tensor


def text(count, absolute, relative, word="close"):
    allowed = (
        ("", "") if word == "equal" else (" (up to 1e-05 allowed)", " (up to 1.3e-06 allowed)")
    )
    return (
        f"Tensor-likes are not {word}!\n\nMismatched elements: {count}\n"
        f"Greatest absolute difference: {absolute}{allowed[0]}\n"
        f"Greatest relative difference: {relative}{allowed[1]}"
    )


ONE = text("1 / 1 (100.0%)", "1.0 at index (0,)", "0.5 at index (0,)")

DIFFERENT = [
    (
        (t([1.0, 2, 3]), t([1.0, 2.5, 3])),
        {},
        text("1 / 3 (33.3%)", "0.5 at index (1,)", "0.20000000298023224 at index (1,)"),
    ),
    (
        (t([[1.0, 2], [3, 4]]), t([[1.0, 2.5], [3, 5]])),
        {},
        text("2 / 4 (50.0%)", "1.0 at index (1, 1)", "0.20000000298023224 at index (0, 1)"),
    ),
    (
        (
            zero.arange(24.0).reshape(2, 3, 4),
            zero.arange(24.0).reshape(2, 3, 4) + (zero.arange(24) == 17).reshape(2, 3, 4),
        ),
        {},
        text("1 / 24 (4.2%)", "1.0 at index (1, 1, 1)", "0.0555555559694767 at index (1, 1, 1)"),
    ),
    (
        (t(1.0), t(2.0)),
        {},
        "Scalars are not close!\n\nExpected 2.0 but got 1.0.\n"
        "Absolute difference: 1.0 (up to 1e-05 allowed)\n"
        "Relative difference: 0.5 (up to 1.3e-06 allowed)",
    ),
    (
        (t([1, 2]), t([1, 3])),
        {},
        text("1 / 2 (50.0%)", "1 at index (1,)", "0.3333333432674408 at index (1,)", "equal"),
    ),
    (
        (t([True, False]), t([True, True])),
        {},
        text("1 / 2 (50.0%)", "1 at index (1,)", "1.0 at index (1,)", "equal"),
    ),
    (
        (t([1, 2], dtype=zero.uint8), t([255, 2], dtype=zero.uint8)),
        {},
        text("1 / 2 (50.0%)", "254 at index (0,)", "0.9960784316062927 at index (0,)", "equal"),
    ),
    (
        (t([2**62]), t([2**62 + 1])),
        {},
        text("1 / 1 (100.0%)", "1 at index (0,)", "2.168404344971009e-19 at index (0,)", "equal"),
    ),
    (
        (t(1), t(3)),
        {},
        "Scalars are not equal!\n\nExpected 3 but got 1.\n"
        "Absolute difference: 2\nRelative difference: 0.6666666666666666",
    ),
    (
        (1.0, 1.1),
        {},
        "Scalars are not close!\n\nExpected 1.1 but got 1.0.\n"
        "Absolute difference: 0.10000000000000009 (up to 1e-07 allowed)\n"
        "Relative difference: 0.09090909090909098 (up to 1e-07 allowed)",
    ),
    (
        (1.0, 0.0),
        {},
        "Scalars are not close!\n\nExpected 0.0 but got 1.0.\n"
        "Absolute difference: 1.0 (up to 1e-07 allowed)\n"
        "Relative difference: inf (up to 1e-07 allowed)",
    ),
    (
        (1.0, math.nan),
        {},
        "Scalars are not close!\n\nExpected nan but got 1.0.\n"
        "Absolute difference: nan (up to 1e-07 allowed)\n"
        "Relative difference: nan (up to 1e-07 allowed)",
    ),
    (
        (1, 2),
        {},
        "Scalars are not equal!\n\nExpected 2 but got 1.\n"
        "Absolute difference: 1\nRelative difference: 0.5",
    ),
    ((True, False), {}, "Booleans mismatch: True is not False"),
    ((1, 1.0), {}, "The (d)types do not match: <class 'int'> != <class 'float'>."),
    ((t([1.0]), None), {}, "None mismatch: tensor([1.]) is not None"),
    (
        ([1.0, t([2.0])], [1.0, t([3.0])]),
        {},
        text("1 / 1 (100.0%)", "1.0 at index (0,)", "0.3333333432674408 at index (0,)")
        + "\n\nThe failure occurred for item [1]",
    ),
    (([1.0], [1.0, 2.0]), {}, "The length of the sequences mismatch: 1 != 2"),
    (
        ({"a": {"x": [t([1.0])]}}, {"a": {"x": [t([2.0])]}}),
        {},
        ONE + "\n\nThe failure occurred for item ['a']['x'][0]",
    ),
    (
        ({"a": 1.0, "c": 1.0}, {"a": 1.0, "b": 1.0}),
        {},
        "The keys of the mappings do not match:\n"
        "Missing keys in the actual mapping: ['b']\n"
        "Additional keys in the actual mapping: ['c']",
    ),
    (
        (t([1.0]), t([1.0], dtype=zero.float64)),
        {},
        "The values for attribute 'dtype' do not match: zero.float32 != zero.float64.",
    ),
    (
        (t([1.0]), t([1.0], device="meta")),
        {},
        "The values for attribute 'device' do not match: cpu != meta.",
    ),
    (
        (t([1.0, 2]), t([[1.0, 2]])),
        {},
        "The values for attribute 'shape' do not match: zero.Size([2]) != zero.Size([1, 2]).",
    ),
    (
        (zero.ones(2, 3).t(), zero.ones(3, 2)),
        {"check_stride": True},
        "The values for attribute 'stride()' do not match: (1, 3) != (2, 1).",
    ),
    (
        (t([math.nan, 1.0]), t([1.0, 1.0])),
        {},
        text("1 / 2 (50.0%)", "nan at index (0,)", "nan at index (0,)"),
    ),
    (
        (t([math.nan]), t([math.nan])),
        {},
        text("1 / 1 (100.0%)", "nan at index (0,)", "nan at index (0,)"),
    ),
    (
        (t([math.inf, 1.0]), t([1.0, 1.0])),
        {},
        text("1 / 2 (50.0%)", "inf at index (0,)", "inf at index (0,)"),
    ),
    (
        (t([0.0, 1.0]), t([0.0, 0.0])),
        {},
        text("1 / 2 (50.0%)", "1.0 at index (1,)", "inf at index (1,)"),
    ),
    (
        (t([1.0]), t([2.0])),
        {"rtol": 0, "atol": 0.5},
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 1 (100.0%)\n"
        "Greatest absolute difference: 1.0 at index (0,) (up to 0.5 allowed)\n"
        "Greatest relative difference: 0.5 at index (0,) (up to 0 allowed)",
    ),
    (
        (t([1.0]), t([2.0])),
        {"rtol": 0, "atol": 0},
        text("1 / 1 (100.0%)", "1.0 at index (0,)", "0.5 at index (0,)", "equal"),
    ),
    (
        (t([1.0, 2.0], dtype=zero.float16), t([1.0, 2.01], dtype=zero.float16)),
        {},
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\n"
        "Greatest absolute difference: 0.009765625 at index (1,) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 0.00485992431640625 at index (1,) (up to 0.001 allowed)",
    ),
    (
        (t([1.0, 2.0], dtype=zero.bfloat16), t([1.0, 2.1], dtype=zero.bfloat16)),
        {},
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\n"
        "Greatest absolute difference: 0.09375 at index (1,) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 0.044677734375 at index (1,) (up to 0.016 allowed)",
    ),
    (
        (np.array([1.0]), np.array([2.0])),
        {},
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 1 (100.0%)\n"
        "Greatest absolute difference: 1.0 at index (0,) (up to 1e-07 allowed)\n"
        "Greatest relative difference: 0.5 at index (0,) (up to 1e-07 allowed)",
    ),
    (
        (np.float64(1), np.float64(1.5)),
        {},
        "Scalars are not close!\n\nExpected 1.5 but got 1.0.\n"
        "Absolute difference: 0.5 (up to 1e-07 allowed)\n"
        "Relative difference: 0.3333333333333333 (up to 1e-07 allowed)",
    ),
    ((t([1.0]), t([2.0])), {"msg": "custom"}, "custom"),
    ((t([1.0]), t([2.0])), {"msg": lambda m: "pre: " + m}, "pre: " + ONE),
    (
        ([t([1.0])], [t([2.0])]),
        {"msg": lambda m: "pre: " + m},
        "pre: " + ONE + "\n\nThe failure occurred for item [0]",
    ),
]


@pytest.mark.parametrize("values, options, message", DIFFERENT)
def test_differences_are_named(values, options, message):
    with pytest.raises(AssertionError) as error:
        assert_close(*values, **options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "values, options",
    [
        (((1.0, 2), [1.0, 2]), {}),
        ((t([1.0]), t([1.0], dtype=zero.float64)), {"check_dtype": False}),
        ((t([1]), t([1.0])), {"check_dtype": False}),
        ((t([1.0], device="meta"), t([2.0], device="meta")), {}),
        ((t([math.nan]), t([math.nan])), {"equal_nan": True}),
        ((math.nan, math.nan), {"equal_nan": True}),
        ((t([math.inf, 1.0]), t([math.inf, 1.0])), {}),
        ((math.inf, math.inf), {}),
        ((None, None), {}),
        (([], []), {}),
        (({}, {}), {}),
        ((zero.ones(2, 0), zero.ones(2, 0)), {}),
        ((zero.nn.Parameter(zero.ones(2)), zero.ones(2)), {}),
        ((zero.ones(2, requires_grad=True), zero.ones(2)), {}),
        ((zero.ones(2, 3).t(), zero.ones(3, 2)), {}),
        ((t([1.0]), t([1.000001])), {}),
        ((t([0.0]), t([0.9e-5])), {}),
        ((t([1.0], dtype=zero.float64), t([1 + 0.9e-7], dtype=zero.float64)), {}),
        ((1.0, 1 + 2e-7), {}),
    ],
)
def test_these_agree(values, options):
    assert assert_close(*values, **options) is None


def test_arguments_that_make_no_sense():
    x = t([1.0])
    for options in ({"rtol": 0.1}, {"atol": 0.1}, {"rtol": -1, "atol": 0}):
        with pytest.raises(ValueError, match="assert_close"):
            assert_close(x, x, **options)
    pairs = [
        (1.0, t(1.0)),
        (t([1.0]), np.array([1.0])),
        ("a", "a"),
        (zero.float32, zero.float32),
        ([1.0, "a"], [2.0, "a"]),
    ]
    for a, b in pairs[:4]:
        with pytest.raises(TypeError, match="cannot be compared"):
            assert_close(a, b)
    with pytest.raises(TypeError, match="cannot be compared"):
        assert_close(zero.nn.Parameter(zero.ones(1)), zero.ones(1), allow_subclasses=False)


def test_difference_that_int64_cannot_hold():
    with pytest.raises(AssertionError, match=r"absolute difference: 1\.8446744073709552e\+19 at"):
        assert_close(t([-(2**63), 0]), t([2**63 - 1, 1]))


def test_structure_is_compared_first():
    with pytest.raises(AssertionError, match="length of the sequences"):
        assert_close([1.0, [1.0]], [2.0, [1.0, 2.0]])


def test_gradient_of_what_is_compared_is_left_alone():
    x = zero.ones(2, requires_grad=True)
    y = x * 2
    assert_close(y, 2 * zero.ones(2))
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_assert_allclose():
    assert_allclose(t([1.0]), [1.00005])
    assert_allclose(t([math.nan]), t([math.nan]))
    assert_allclose(t([1.0]), t([1.0], dtype=zero.float64))
    with pytest.raises(AssertionError, match=r"up to 0\.0001 allowed"):
        assert_allclose(t([1.0]), t([2.0]))
    with pytest.raises(AssertionError, match=r"^mine$"):
        assert_allclose(t([1.0]), t([2.0]), msg="mine")


ALL = [zero.bool, zero.uint8, zero.int8, zero.int16, zero.int32, zero.int64]
ALL += [zero.float16, zero.bfloat16, zero.float32, zero.float64]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_make_tensor(dtype):
    zero.manual_seed(0)
    x = make_tensor(40, 5, dtype=dtype, device="cpu")
    assert x.dtype is dtype and x.shape == (40, 5) and x.is_contiguous()
    least, limit = {
        zero.bool: (0, 1),
        zero.uint8: (0, 9),
    }.get(dtype, (-9, 9))
    low, high = x.double().min().item(), x.double().max().item()
    assert least <= low < high <= limit
    if not dtype.is_floating_point:
        assert low == least and high == limit
    assert make_tensor((2, 3), dtype=dtype, device="meta").device.type == "meta"
    assert make_tensor((), dtype=dtype, device="cpu").dim() == 0
    apart = make_tensor([4, 3], dtype=dtype, device="cpu", noncontiguous=True)
    assert apart.shape == (4, 3) and not apart.is_contiguous()


def test_make_tensor_options():
    x = make_tensor(1000, dtype=zero.float32, device="cpu", low=2, high=3, requires_grad=True)
    assert x.requires_grad and x.is_leaf and 2 <= x.min().item() < x.max().item() <= 3
    x = make_tensor(100, dtype=zero.int8, device="cpu", low=0, high=2, exclude_zero=True)
    assert x.tolist() == [1] * 100
    wide = zero.finfo(zero.float64)
    x = make_tensor(50, dtype=zero.float64, device="cpu", low=wide.min, high=wide.max)
    assert bool(zero.isfinite(x).all())
    with pytest.raises(ValueError, match="low < high"):
        make_tensor(2, dtype=zero.float32, device="cpu", low=1, high=1)
    with pytest.raises(ValueError, match="requires_grad"):
        make_tensor(2, dtype=zero.int64, device="cpu", requires_grad=True)
