"""assert_close: whether two values agree, and where they don't."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, isfinite, isnan, prod

import zero
from zero import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["assert_allclose", "assert_close"]

# dtype -> (rtol, atol): about the square root of the dtype's precision. Others compare exactly.
TOLERANCES = {
    zero.float16: (1e-3, 1e-5),
    zero.bfloat16: (1.6e-2, 1e-5),
    zero.float32: (1.3e-6, 1e-5),
    zero.float64: (1e-7, 1e-7),
}


def assert_close(
    actual: object,
    expected: object,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises an AssertionError that says what differs, unless two values agree.

    Numbers agree if ``|actual - expected| <= atol + rtol * |expected|``; equal infinities agree.
    Sequences agree item by item, mappings key by key, whatever their own types are.

    =========  ========  =======
    dtype      ``rtol``  ``atol``
    =========  ========  =======
    float16    1e-3      1e-5
    bfloat16   1.6e-2    1e-5
    float32    1.3e-6    1e-5
    float64    1e-7      1e-7
    other      0         0
    =========  ========  =======

    Python floats count as float64. Where dtypes differ (``check_dtype=False``), the larger
    tolerances hold, and both sides are converted to the promoted dtype.

    Args:
        actual: a tensor, numpy array, number, bool or None, or a sequence or mapping of those.
        expected: the same kind.
        allow_subclasses: whether a tensor of a subclass may be compared with a plain one.
        rtol: relative tolerance; given together with `atol`, or neither.
        atol: absolute tolerance.
        equal_nan: whether nan agrees with nan.
        check_device: whether devices must be equal. On the meta device no elements are compared.
        check_dtype: whether dtypes, or the types of numbers, must be equal.
        check_layout: whether layouts must be equal. zero has one layout, so they always are.
        check_stride: whether strides must be equal.
        msg: what to say instead; a function gets what would have been said.

    Raises:
        AssertionError: the values don't agree.
        ValueError: one tolerance is given without the other, or is negative.
        TypeError: values of a kind, or of two different kinds, that cannot be compared.

    Example:
        >>> import zero
        >>> zero.testing.assert_close(zero.tensor([1.0, 2.0]), zero.tensor([1.0, 2.000001]))
        >>> zero.testing.assert_close(zero.tensor([1.0, 2.0]), zero.tensor([1.0, 2.5]))
        Traceback (most recent call last):
        ...
        AssertionError: Tensor-likes are not close!
        <BLANKLINE>
        Mismatched elements: 1 / 2 (50.0%)
        Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
        Greatest relative difference: 0.20000000298023224 at index (1,) (up to 1.3e-06 allowed)
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            f"assert_close: one tolerance without the other; got rtol={rtol} and atol={atol}, "
            "expected both or neither"
        )
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and not value >= 0:
            raise ValueError(f"assert_close: {name} is negative; got {value}, expected >= 0")
    comparison = Comparison(
        allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_stride
    )
    try:
        # The structures are compared before any value is.
        for a, b, path in list(pairs(actual, expected, "")):
            try:
                comparison(a, b)
            except AssertionError as error:
                raise AssertionError(f"{error}{place(path)}") from None
    except AssertionError as error:
        text = str(error)
        if msg is not None:
            text = msg(text) if callable(msg) else msg
    else:
        return
    raise AssertionError(text)


def assert_allclose(
    actual: object,
    expected: object,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older form of :func:`assert_close`: neither dtypes nor devices must be equal.

    Arguments that are no tensors become tensors. By default nan agrees with nan, and the relative
    tolerances are wider: 1e-3 for float16, 1e-4 for float32, 1e-5 for float64 (absolute ones 1e-3,
    1e-5, 1e-8).

    Args:
        actual: a tensor, or what :func:`zero.tensor` takes.
        expected: the same.
        rtol: relative tolerance; given together with `atol`, or neither.
        atol: absolute tolerance.
        equal_nan: whether nan agrees with nan.
        msg: what to say instead, if not empty.

    Raises:
        AssertionError: the values don't agree.

    Example:
        >>> import zero
        >>> zero.testing.assert_allclose(zero.tensor([1.0, 2.0]), [1.0, 2.0001])
    """
    a = zero.as_tensor(actual)
    b = expected if isinstance(expected, Tensor) else zero.as_tensor(expected, dtype=a.dtype)
    if rtol is None and atol is None:
        older = {zero.float16: (1e-3, 1e-3), zero.float32: (1e-4, 1e-5), zero.float64: (1e-5, 1e-8)}
        both = [older.get(x.dtype, (0.0, 0.0)) for x in (a, b)]
        rtol, atol = max(r for r, _ in both), max(t for _, t in both)
    assert_close(
        a,
        b,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        msg=msg or None,
    )


def place(path: str) -> str:
    return f"\n\nThe failure occurred for item {path}" if path else ""


def pairs(actual: Any, expected: Any, path: str) -> Iterator[tuple[object, object, str]]:
    """What there is to compare, and where it is."""
    if is_sequence(actual) and is_sequence(expected):
        if len(actual) != len(expected):
            raise AssertionError(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
                + place(path)
            )
        for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
            yield from pairs(a, b, f"{path}[{i}]")
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        missing = [key for key in expected if key not in actual]
        additional = [key for key in actual if key not in expected]
        if missing or additional:
            text = "The keys of the mappings do not match:"
            if missing:
                text += f"\nMissing keys in the actual mapping: {missing}"
            if additional:
                text += f"\nAdditional keys in the actual mapping: {additional}"
            raise AssertionError(text + place(path))
        for key in actual:
            yield from pairs(actual[key], expected[key], f"{path}[{key!r}]")
    else:
        yield actual, expected, path


def is_sequence(x: object) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str | bytes)


def is_array(x: object) -> bool:
    """A tensor or a numpy array, which is recognised without importing numpy."""
    return isinstance(x, Tensor) or (hasattr(x, "__array_interface__") and hasattr(x, "ndim"))


def numpy_scalar(x: object, *kinds: str) -> bool:
    """Whether x is a scalar of numpy's, of one of these kinds."""
    scalar = type(x).__module__ == "numpy" and getattr(x, "shape", None) == ()
    return scalar and not hasattr(x, "__setitem__") and x.dtype.kind in kinds  # type: ignore[attr-defined]


def is_bool(x: object) -> bool:
    return isinstance(x, bool) or numpy_scalar(x, "b")


def is_int(x: object) -> bool:
    return isinstance(x, int) or numpy_scalar(x, "i", "u")


def is_number(x: object) -> bool:
    return is_int(x) or isinstance(x, float) or numpy_scalar(x, "f")


class Comparison:
    """Compares two values that hold no others."""

    def __init__(
        self,
        allow_subclasses: bool,
        rtol: float | None,
        atol: float | None,
        equal_nan: bool,
        check_device: bool,
        check_dtype: bool,
        check_stride: bool,
    ) -> None:
        self.allow_subclasses = allow_subclasses
        self.rtol, self.atol, self.equal_nan = rtol, atol, equal_nan
        self.check_device, self.check_dtype = check_device, check_dtype
        self.check_stride = check_stride

    def __call__(self, actual: Any, expected: Any) -> None:
        if actual is None or expected is None:
            if actual is not expected:
                raise AssertionError(f"None mismatch: {actual} is not {expected}")
        elif is_bool(actual) and is_bool(expected):
            if bool(actual) is not bool(expected):
                raise AssertionError(f"Booleans mismatch: {actual} is not {expected}")
        elif is_number(actual) and is_number(expected):
            if self.check_dtype and type(actual) is not type(expected):
                raise AssertionError(
                    f"The (d)types do not match: {type(actual)} != {type(expected)}."
                )
            kinds = [zero.int64 if is_int(x) else zero.float64 for x in (actual, expected)]
            self.compare_numbers(actual, expected, *self.tolerances(*kinds))
        elif is_array(actual) and is_array(expected) and self.related(actual, expected):
            self.compare_tensors(zero.as_tensor(actual), zero.as_tensor(expected))
        else:
            raise TypeError(
                f"assert_close: values that cannot be compared; got {type(actual)} and "
                f"{type(expected)}, expected two tensors, two arrays, two numbers, two bools or "
                "None, or sequences or mappings of them"
            )

    def related(self, actual: object, expected: object) -> bool:
        """Whether one type is that of the other, or derives from it."""
        if not self.allow_subclasses:
            return type(actual) is type(expected)
        return isinstance(actual, type(expected)) or isinstance(expected, type(actual))

    def tolerances(self, *dtypes: zero.dtype) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        known = [TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return max(rtol for rtol, _ in known), max(atol for _, atol in known)

    def compare_numbers(self, actual: Any, expected: Any, rtol: float, atol: float) -> None:
        if actual == expected or (self.equal_nan and isnan(actual) and isnan(expected)):
            return
        difference = abs(actual - expected)
        if isfinite(difference) and difference <= atol + rtol * abs(expected):
            return
        relative = difference / abs(expected) if expected else inf
        raise AssertionError(
            title("Scalars", rtol, atol)
            + f"\n\nExpected {expected} but got {actual}."
            + f"\nAbsolute difference: {difference}{allowed(atol, rtol, atol)}"
            + f"\nRelative difference: {relative}{allowed(rtol, rtol, atol)}"
        )

    def compare_tensors(self, actual: Tensor, expected: Tensor) -> None:
        attributes: list[tuple[str, object, object]] = [("shape", actual.shape, expected.shape)]
        if self.check_device:
            attributes.append(("device", actual.device, expected.device))
        if self.check_dtype:
            attributes.append(("dtype", actual.dtype, expected.dtype))
        if self.check_stride:
            attributes.append(("stride()", actual.stride(), expected.stride()))
        for name, mine, wanted in attributes:
            if mine != wanted:
                raise AssertionError(
                    f"The values for attribute '{name}' do not match: {mine} != {wanted}."
                )
        if actual.device.type == "meta" or expected.device.type == "meta":
            return
        rtol, atol = self.tolerances(actual.dtype, expected.dtype)
        dtype = zero.promote_types(actual.dtype, expected.dtype)
        a, b = actual.detach().to(dtype), expected.detach().to(dtype)
        close = zero.isclose(a, b, rtol=rtol, atol=atol, equal_nan=self.equal_nan)
        if bool(close.all()):
            return
        if a.dim() == 0:
            if dtype is zero.bool:
                raise AssertionError(f"Booleans mismatch: {a.item()} is not {b.item()}")
            self.compare_numbers(a.item(), b.item(), rtol, atol)
        wrong, total = close.numel() - int(close.sum()), close.numel()
        largest, relative = differences(a, b, close)
        raise AssertionError(
            title("Tensor-likes", rtol, atol)
            + f"\n\nMismatched elements: {wrong} / {total} ({wrong / total:.1%})"
            + f"\nGreatest absolute difference: {largest}{allowed(atol, rtol, atol)}"
            + f"\nGreatest relative difference: {relative}{allowed(rtol, rtol, atol)}"
        )


def title(what: str, rtol: float, atol: float) -> str:
    return f"{what} are not {'equal' if rtol == 0 and atol == 0 else 'close'}!"


def allowed(tolerance: float, rtol: float, atol: float) -> str:
    return "" if rtol == 0 and atol == 0 else f" (up to {tolerance} allowed)"


def differences(a: Tensor, b: Tensor, close: Tensor) -> tuple[str, str]:
    """The greatest absolute and relative difference, and where they are."""
    if not a.is_floating_point():
        a, b = a.to(zero.int64), b.to(zero.int64)
    absolute = (a - b).abs()
    if not a.is_floating_point():
        wide = (a.double() - b.double()).abs()
        if bool((wide > 2.0**62).any()):  # int64 may not hold the difference
            absolute = wide
    relative = absolute / b.abs()
    found = []
    for difference in (absolute, relative):
        flat = zero.where(close, zero.zeros_like(difference), difference).reshape(-1)
        at = int(flat.argmax())  # nan counts as greatest
        found.append(f"{flat[at].item()} at index {unraveled(at, tuple(a.shape))}")
    return found[0], found[1]


def unraveled(position: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The index of an element from its place in row-major order."""
    return tuple(position // prod(sizes[d + 1 :]) % sizes[d] for d in range(len(sizes)))
