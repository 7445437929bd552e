"""Checks of what layers and losses are made with, so that a mistake shows where it is made."""

from __future__ import annotations

from operator import index

from zero import Tensor
from zero.errors import DTypeError, ShapeError, ValueError

__all__ = ["dimension", "flag", "numbers", "probability", "size"]


def _wrong(layer: str, name: str, value: object, what: str, expected: str) -> DTypeError:
    if isinstance(value, Tensor):
        got = f"a Tensor of shape {tuple(value.shape)}"
        if layer[0].isupper():  # a class, and no function: most often it was given an input
            expected += f"; {layer}(…) makes a layer, and the layer is called with tensors"
    else:
        text = repr(value)
        text = text if len(text) <= 80 else text[:77] + "..."
        got = f"{text} of type {type(value).__name__}"
    return DTypeError(f"{layer}: {name} is not {what}; got {got}, expected {expected}")


def _whole(layer: str, name: str, value: object) -> int:
    try:
        return index(value)  # type: ignore[arg-type]  # that is the question
    except (TypeError, ValueError):
        raise _wrong(layer, name, value, "an int", "an int") from None


def size(layer: str, name: str, value: object) -> int:
    """A number of features or the like: an int, or what stands for one, 0 or more.

    Args:
        layer: the class that is made, for the error.
        name: of the option.
        value: what was given.

    Raises:
        DTypeError: it is no int.
        ShapeError: it is negative.

    Example:
        >>> from zero.nn._options import size
        >>> size("Linear", "in_features", 3)
        3
    """
    number = _whole(layer, name, value)
    if number < 0:
        raise ShapeError(f"{layer}: {name} is negative; got {number}, expected 0 or more")
    return number


def dimension(layer: str, name: str, value: object) -> int:
    """The number of a dimension, from the end if negative. See :func:`size`."""
    return _whole(layer, name, value)


def flag(layer: str, name: str, value: object) -> bool:
    """True or False; ints, numpy's bools and None stand for them. See :func:`size`."""
    if (
        value is None
        or isinstance(value, int)
        or getattr(getattr(value, "dtype", None), "kind", None) == "b"
    ):
        return bool(value)
    raise _wrong(layer, name, value, "a bool", "True or False")


def probability(layer: str, name: str, value: float) -> float:
    """A number in [0, 1]. See :func:`size`."""
    if isinstance(value, Tensor | str) or not hasattr(value, "__float__"):
        raise _wrong(layer, name, value, "a number", f"0 <= {name} <= 1")
    if not 0 <= value <= 1:
        raise ValueError(
            f"{layer}: {name} is no probability; got {value}, expected 0 <= {name} <= 1"
        )
    return value


def numbers(layer: str, name: str, value: object, n: int) -> tuple[int, ...]:
    """n ints: one for all, or so many. See :func:`size`.

    Raises:
        DTypeError: they are no ints.
        ValueError: there are more or fewer.

    Example:
        >>> from zero.nn._options import numbers
        >>> numbers("MaxUnpool2d", "kernel_size", 3, 2)
        (3, 3)
    """
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,) * n
    if len(given) != n:
        raise ValueError(
            f"{layer}: {name} has the wrong length; got {value}, expected an int or {n} ints"
        )
    return tuple(_whole(layer, name, item) for item in given)
