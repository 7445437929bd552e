"""CUDA: not used. The switches can be set; they change nothing."""

from __future__ import annotations

__all__ = ["is_built", "matmul"]


class Matmul:
    """How CUDA multiplies matrices."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = Matmul()


def is_built() -> bool:
    """False: zero has no CUDA kernels."""
    return False
