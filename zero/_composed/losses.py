"""Losses under the names that they have in `zero` itself; their reduction is a number there.

0 is "none", 1 "mean", 2 "sum"; the words are taken, too. The functions are those of
:mod:`zero.nn.functional`, which say what each computes.
"""

from __future__ import annotations

import zero
from zero import Tensor
from zero.errors import ValueError
from zero.nn import functional as F

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "ctc_loss",
    "hinge_embedding_loss",
    "kl_div",
    "margin_ranking_loss",
    "poisson_nll_loss",
    "triplet_margin_loss",
]

_REDUCTIONS = {0: "none", 1: "mean", 2: "sum"}


def _word(op: str, reduction: int | str) -> str:
    word = _REDUCTIONS.get(reduction, reduction) if isinstance(reduction, int) else reduction
    if not isinstance(word, str):
        raise ValueError(f"{op}: unknown reduction; got {reduction!r}, expected 0, 1 or 2")
    return word


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int | str = 1,
) -> Tensor:
    """:func:`zero.nn.functional.binary_cross_entropy_with_logits`."""
    word = _word("binary_cross_entropy_with_logits", reduction)
    return F.binary_cross_entropy_with_logits(
        input, target, weight, reduction=word, pos_weight=pos_weight
    )


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: int | str = 1,
) -> Tensor:
    """:func:`zero.nn.functional.cosine_embedding_loss`."""
    word = _word("cosine_embedding_loss", reduction)
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=word)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int | str = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """:func:`zero.nn.functional.ctc_loss`."""
    word = _word("ctc_loss", reduction)
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, word, zero_infinity)


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int | str = 1
) -> Tensor:
    """:func:`zero.nn.functional.hinge_embedding_loss`."""
    word = _word("hinge_embedding_loss", reduction)
    return F.hinge_embedding_loss(input, target, margin, reduction=word)


def kl_div(
    input: Tensor, target: Tensor, reduction: int | str = 1, *, log_target: bool = False
) -> Tensor:
    """:func:`zero.nn.functional.kl_div`, without a warning for the mean."""
    word = _word("kl_div", reduction)
    if word != "mean":
        return F.kl_div(input, target, reduction=word, log_target=log_target)
    return zero.mean(F.kl_div(input, target, reduction="none", log_target=log_target))


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: int | str = 1,
) -> Tensor:
    """:func:`zero.nn.functional.margin_ranking_loss`."""
    word = _word("margin_ranking_loss", reduction)
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=word)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool,
    full: bool,
    eps: float,
    reduction: int | str,
) -> Tensor:
    """:func:`zero.nn.functional.poisson_nll_loss`."""
    word = _word("poisson_nll_loss", reduction)
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=word)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int | str = 1,
) -> Tensor:
    """:func:`zero.nn.functional.triplet_margin_loss`."""
    word = _word("triplet_margin_loss", reduction)
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=word)
