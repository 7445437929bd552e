"""Functions of zero.nn.functional that look rows of a table up."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.errors import ShapeError, ValueError

__all__ = ["embedding", "embedding_bag"]


def _row_of_padding(op: str, weight: Tensor, padding_idx: int | None) -> int | None:
    """From the start of the table."""
    if padding_idx is None:
        return None
    rows = weight.shape[0] if weight.dim() > 0 else 0
    if not -rows <= padding_idx < rows:
        raise ValueError(
            f"{op}: padding_idx is no row; got {padding_idx}, expected {-rows} to {rows - 1}"
        )
    return padding_idx % rows


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of a table that indices name: ``weight[input]``.

    The gradient of a row is the sum of those of its copies.

    Args:
        input: tensor of int64 or int32 of any shape, from 0 on.
        weight: the table, [rows, features].
        padding_idx: a row that gets no gradient; negative ones count from the end.
        max_norm: rows that are longer are first shortened to this norm, in the table itself.
        norm_type: p of that p-norm.
        scale_grad_by_freq: divides the gradient of a row by how often it was looked up.
        sparse: True is not supported.

    Shape:
        input […], output […, features]

    Raises:
        ValueError: padding_idx is no row.
        ShapeError: the weight does not have two dimensions.
        DTypeError: the indices are not integers.
        IndexError: an index is out of range.
        NotImplementedError: sparse is True.

    Example:
        >>> import zero
        >>> table = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> zero.nn.functional.embedding(zero.tensor([1, 0, 1]), table).tolist()
        [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
    """
    padding = _row_of_padding("embedding", weight, padding_idx)
    options = (-1 if padding is None else padding, scale_grad_by_freq, sparse)
    if max_norm is not None:
        with zero.no_grad():
            zero.embedding(weight, input, *options)  # its checks, before the table changes
            zero.embedding_renorm_(weight, input, max_norm, norm_type)
    return zero.embedding(weight, input, *options)


_MODES = {"sum": 0, "mean": 1, "max": 2}


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of rows of a table, bag by bag; no copies of the rows are made.

    Args:
        input: the indices, of int64 or int32: [bags, n], or [n] with offsets.
        weight: the table, [rows, features], of floats.
        offsets: where each bag begins among the indices, [bags], rising from 0.
        max_norm: rows that are longer are first shortened to this norm, in the table itself.
        norm_type: p of that p-norm.
        scale_grad_by_freq: divides the gradient of a row by how often it was looked up.
        mode: 'sum', 'mean' or 'max'. An empty bag gives 0.
        sparse: True is not supported.
        per_sample_weights: factors of the rows in a sum, of the shape of input; or None.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: a row that is no part of its bags, and gets no gradient.

    Shape:
        output [bags, features]

    Raises:
        ValueError: the mode is no such word or does not go with another option, padding_idx is no
            row, or the offsets do not rise from 0.
        ShapeError: the shapes do not fit.
        DTypeError: the indices are not integers, or the dtypes differ.
        IndexError: an index is out of range.
        NotImplementedError: sparse is True.

    Example:
        >>> import zero
        >>> table = zero.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]])
        >>> zero.nn.functional.embedding_bag(zero.tensor([[0, 1], [2, 2]]), table).tolist()
        [[2.0, 3.0], [5.0, 0.0]]
    """
    op = "embedding_bag"
    if mode not in _MODES:
        raise ValueError(f"{op}: no such mode; got {mode!r}, expected 'sum', 'mean' or 'max'")
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ShapeError(
            f"{op}: not one of per_sample_weights for each index; got "
            f"{tuple(per_sample_weights.shape)}, expected {tuple(input.shape)}"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(f"{op}: got offsets for 2-d indices, whose rows are the bags")
        bags, length = input.shape
        offsets = zero.arange(bags, device=input.device) * length
        input = input.reshape(-1)
        include_last_offset = False
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() != 1:
        raise ShapeError(
            f"{op}: got indices of shape {tuple(input.shape)}, expected 1 or 2 dimensions"
        )
    elif offsets is None:
        raise ValueError(f"{op}: a list of indices without offsets; expected where each bag begins")
    padding = _row_of_padding(op, weight, padding_idx)
    options = (
        offsets, scale_grad_by_freq, _MODES[mode], sparse, per_sample_weights, include_last_offset,
        padding,
    )  # fmt: skip
    if max_norm is not None:
        with zero.no_grad():
            zero.embedding_bag(weight, input, *options)  # its checks, before the table changes
            zero.embedding_renorm_(weight, input, max_norm, norm_type)
    return zero.embedding_bag(weight, input, *options)[0]
