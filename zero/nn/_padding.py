"""Padding of :mod:`zero.nn.functional`."""

from __future__ import annotations

from collections.abc import Sequence

from zero import Tensor, _pad
from zero.errors import ValueError

__all__ = ["pad"]


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """More elements around the last dimensions; negative numbers cut elements off.

    Args:
        input: any shape and dtype; for other modes than "constant" [C, …] or [N, C, …], where … are
            the one, two or three dimensions that are padded.
        pad: how many before and after the last dimension, then the one before it, and so on.
        mode: what the new elements are: "constant", the value; "reflect", those beyond the border
            in reverse order, without that on the border; "replicate", that on the border;
            "circular", those at the other end.
        value: of the mode "constant"; None is 0.

    Raises:
        ValueError: an odd number of ints, or too many; another mode with a value.
        ShapeError: more is cut off than there is, or there is not enough to reflect or repeat.
        NotImplementedError: there is no such mode, or it does not pad so many dimensions.

    Example:
        >>> import zero
        >>> x = zero.tensor([[[1.0, 2.0, 3.0]]])
        >>> zero.nn.functional.pad(x, (1, 2)).tolist()
        [[[0.0, 1.0, 2.0, 3.0, 0.0, 0.0]]]
        >>> zero.nn.functional.pad(x, (1, 2), mode="reflect").tolist()
        [[[2.0, 1.0, 2.0, 3.0, 2.0, 1.0]]]
    """
    if not isinstance(mode, str):
        raise TypeError(f"pad: mode is not a str; got {type(mode).__name__}, expected a str")
    if mode != "constant" and value:
        raise ValueError(
            f"pad: mode {mode!r} takes no value; got {value!r}, expected None: it is for 'constant'"
        )
    return _pad(input, pad, mode, value)
