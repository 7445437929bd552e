"""Tables of embeddings: rows that have grown too long are shortened."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.errors import DTypeError, ShapeError

__all__ = ["embedding_renorm_"]


def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Shortens, in place, the rows that indices name to a largest norm: ``x *= max_norm / |x|``.

    Args:
        input: the table, [rows, features]; it is returned.
        indices: tensor of int64 or int32 of any shape, from 0 on.
        max_norm: what longer rows are shortened to.
        norm_type: p of the p-norm, 2 for the Euclidean one.

    Raises:
        ShapeError: the table does not have two dimensions.
        DTypeError: the indices are not integers.
        IndexError: an index is out of range.

    Example:
        >>> import zero
        >>> table = zero.tensor([[3.0, 4.0], [30.0, 40.0]])
        >>> zero.embedding_renorm_(table, zero.tensor([0]), 1.0, 2.0).round(decimals=4).tolist()
        [[0.6000000238418579, 0.800000011920929], [30.0, 40.0]]
    """
    if input.dim() != 2:
        raise ShapeError(
            f"embedding_renorm_: no table; got {tuple(input.shape)}, expected 2 dimensions"
        )
    if indices.dtype not in (zero.int64, zero.int32):
        raise DTypeError(
            f"embedding_renorm_: the indices are not integers; got {indices.dtype}, expected int64 "
            "or int32"
        )
    if input.is_meta:  # the norms are values
        return input
    rows = indices.reshape(-1).unique()
    found = input.detach().index_select(0, rows)
    norms = found.norm(norm_type, 1, keepdim=True)
    long = norms > max_norm
    if long.any():
        factors = zero.where(long, max_norm / (norms + 1e-7), 1.0)
        input.index_copy_(0, rows, found * factors)
    return input
