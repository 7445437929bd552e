"""Helpers for tests: comparison with tolerances, and random tensors.

They take PyTorch's arguments and defaults, and say what differs in its words.
"""

from __future__ import annotations

from zero.testing.compare import assert_allclose, assert_close
from zero.testing.samples import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
