"""The processor."""

from __future__ import annotations

import contextlib
import io

import zero

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The instruction set that the kernels use, in capitals; one with bfloat16 counts as AVX512.

    Example:
        >>> import zero
        >>> names = ("BASELINE", "AVX2", "AVX512", "AVX512BF16", "NEON")
        >>> zero.backends.cpu.get_cpu_capability() in names
        True
    """
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        zero.show_config()
    lines = dict(line.split(": ", 1) for line in text.getvalue().splitlines())
    return lines["kernels"].upper().removesuffix("BF16")
