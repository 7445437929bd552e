"""Attention of several heads as functions."""

from __future__ import annotations

from math import sqrt

import zero
from zero import Tensor, linear
from zero.errors import DTypeError, ShapeError, ValueError
from zero.nn._attention import scaled_dot_product_attention
from zero.nn._padding import pad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Three: TypeAlias = tuple[Tensor, Tensor, Tensor]

__all__ = ["attend", "multi_head_attention_forward"]

OP = "multi_head_attention_forward"
INF = float("inf")


def _check_inputs(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, heads: int) -> bool:
    """Whether there is a batch; raises for shapes that do not fit each other."""
    shape = query.shape
    dims = len(shape)
    if dims not in (2, 3) or key.dim() != dims or value.dim() != dims:
        raise ShapeError(
            f"{OP}: got query {tuple(shape)}, key {tuple(key.shape)} and value "
            f"{tuple(value.shape)}, expected three dimensions each, or two without a batch"
        )
    if shape[-1] != embed_dim:
        raise ShapeError(
            f"{OP}: query has the wrong width; got {tuple(shape)}, expected {embed_dim} in the "
            "last dimension"
        )
    if heads <= 0 or embed_dim % heads != 0:
        raise ValueError(
            f"{OP}: embed_dim does not divide into heads; got embed_dim {embed_dim} and num_heads "
            f"{heads}, expected a divisor of {embed_dim}"
        )
    if key is not value and key.shape[:-1] != value.shape[:-1]:
        raise ShapeError(
            f"{OP}: key and value differ in length or batch; got {tuple(key.shape)} and "
            f"{tuple(value.shape)}, expected the same but for the last dimension"
        )
    return dims == 3


def _project(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weights: Tensor | Three,
    bias: Tensor | None,
    heads: int,
) -> Three:
    """Queries, keys and values of each head, [..., H, D]; what is one input is one product."""
    width = query.shape[-1]
    last = (heads, width // heads)
    if isinstance(weights, Tensor):
        if query is key and key is value:
            all_three = linear(query, weights, bias)
            q, k, v = all_three.view(*query.shape[:-1], 3, *last).unbind(-3)
            return q, k, v
        if key is value:
            parts = (width, 2 * width)
            w_q, w_kv = weights.split(parts)
            b_q, b_kv = (None, None) if bias is None else bias.split(parts)
            q = linear(query, w_q, b_q).view(*query.shape[:-1], *last)
            k, v = linear(key, w_kv, b_kv).view(*key.shape[:-1], 2, *last).unbind(-3)
            return q, k, v
        w_q, w_k, w_v = weights.split(width)
    else:
        w_q, w_k, w_v = weights
    b_q, b_k, b_v = (None, None, None) if bias is None else bias.split(width)
    return (
        linear(query, w_q, b_q).view(*query.shape[:-1], *last),
        linear(key, w_k, b_k).view(*key.shape[:-1], *last),
        linear(value, w_v, b_v).view(*value.shape[:-1], *last),
    )


def _static(name: str, given: Tensor, batch: int, heads: int, width: int) -> Tensor:
    """Keys or values that replace the projected ones, [N H, S, D], as [N, H, S, D]."""
    shape = tuple(given.shape)
    if len(shape) != 3 or shape[0] != batch * heads or shape[2] != width:
        raise ShapeError(
            f"{OP}: {name} has the wrong shape; got {shape}, expected ({batch * heads}, S, {width})"
        )
    return given.reshape(batch, heads, shape[1], width)


def _more(k: Tensor, row: Tensor, heads: int) -> Tensor:
    """Keys or values [N, H, S, D] and one more, which all sequences share."""
    row = row.reshape(1, heads, 1, -1).expand(k.shape[0], -1, -1, -1)
    return zero.cat((k, row), 2)


def _additive(mask: Tensor, dtype: zero.dtype) -> Tensor:
    """What is added to the scores: a mask of floats, or -inf where one of bools is True."""
    if mask.dtype is zero.bool:
        zeros = zero.zeros(mask.shape, dtype=dtype, device=mask.device)
        return zeros.masked_fill_(mask, -INF)
    return mask.to(dtype)


def _check_mask(name: str, mask: Tensor) -> None:
    if mask.dtype is not zero.bool and not mask.is_floating_point():
        raise DTypeError(f"{OP}: got {name} of {mask.dtype}, expected bool or floating point")


def _merge_masks(
    attn_mask: Tensor | None,
    key_padding_mask: Tensor | None,
    sizes: tuple[int, int, int, int],
    more: int,
    dtype: zero.dtype,
) -> Tensor | None:
    """Both masks as one that fits scores [N, H, L, S + more]; bools stay bools, True hides."""
    batch, heads, length, keys = sizes
    mask = attn_mask
    if mask is not None:
        shape = tuple(mask.shape)
        if shape == (batch * heads, length, keys):
            mask = mask.reshape(sizes)
        elif shape != (length, keys):
            raise ShapeError(
                f"{OP}: attn_mask has the wrong shape; got {shape}, expected {(length, keys)} or "
                f"{(batch * heads, length, keys)}"
            )
        mask = pad(mask, (0, more)) if more else mask
    padding = key_padding_mask
    if padding is not None:
        _check_mask("key_padding_mask", padding)
        if tuple(padding.shape) != (batch, keys):
            raise ShapeError(
                f"{OP}: key_padding_mask has the wrong shape; got {tuple(padding.shape)}, expected "
                f"{(batch, keys)}"
            )
        padding = padding.view(batch, 1, 1, keys)
        padding = pad(padding, (0, more)) if more else padding
    if mask is None:
        mask = padding
    elif padding is not None:
        if mask.dtype is zero.bool and padding.dtype is zero.bool:
            return mask | padding
        return _additive(mask, dtype) + _additive(padding, dtype)
    return mask if mask is None or mask.dtype is zero.bool else mask.to(dtype)


def _weigh(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float
) -> tuple[Tensor, Tensor]:
    """Attention that shows its weights. A query that sees no key has weights of 0, not NaN."""
    scores = (q * (1 / sqrt(max(q.shape[-1], 1)))) @ k.transpose(-2, -1)
    blind = None
    if mask is not None:
        if mask.dtype is zero.bool:
            scores = scores.masked_fill(mask, -INF)
            blind = mask.all(-1, True)
        else:
            scores = scores + mask
            blind = (mask == -INF).all(-1, True)
        if blind.is_meta or not blind.any():
            blind = None
        else:
            scores = scores.masked_fill(blind, 0.0)
    weights = scores.softmax(-1)
    if blind is not None:
        weights = weights.masked_fill(blind, 0.0)
    if dropout_p > 0:
        weights = zero.dropout(weights, dropout_p, True)
    return weights @ v, weights


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_heads: int,
    weights: Tensor | Three,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    key_padding_mask: Tensor | None,
    need_weights: bool,
    attn_mask: Tensor | None,
    average_attn_weights: bool,
    is_causal: bool,
    batch_first: bool,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    """:func:`multi_head_attention_forward` of [L, N, E], or [N, L, E] if `batch_first`.

    Heads are views: what is projected stays as the product left it.

    Args:
        weights: `in_proj_weight`, or the three of separate projections.
        batch_first: what comes first in query, key, value and the output.

    Example:
        >>> import zero
        >>> from zero.nn._multihead import attend
        >>> x = zero.ones(1, 2, 4)
        >>> rest = (None, None, None, False, 0.0, zero.eye(4), None, None, False, None, True, False)
        >>> y, _ = attend(x, x, x, 4, 2, zero.eye(4).repeat(3, 1), *rest, batch_first=True)
        >>> y.tolist()
        [[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]]
    """
    if is_causal and attn_mask is None:
        raise ValueError(
            f"{OP}: is_causal says that attn_mask is causal; got no attn_mask, expected for "
            "example nn.Transformer.generate_square_subsequent_mask(L)"
        )
    if attn_mask is not None:
        _check_mask("attn_mask", attn_mask)
    batched = _check_inputs(query, key, value, embed_dim, num_heads)
    if not batched:
        batch_first = True
        kept, key_is_value = key, key is value
        key = key.unsqueeze(0)
        value = key if key_is_value else value.unsqueeze(0)
        query = key if query is kept else query.unsqueeze(0)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    batch, length = query.shape[:2] if batch_first else query.shape[1::-1]
    if key.shape[0 if batch_first else 1] != batch:
        raise ShapeError(
            f"{OP}: query and key differ in batch; got {tuple(query.shape)} and "
            f"{tuple(key.shape)}, expected one size of dimension {0 if batch_first else 1}"
        )
    q, k, v = _project(query, key, value, weights, in_proj_bias, num_heads)
    heads_first = (0, 2, 1, 3) if batch_first else (1, 2, 0, 3)  # to [N, H, L, D]
    q, k, v = q.permute(heads_first), k.permute(heads_first), v.permute(heads_first)
    if static_k is not None:
        k = _static("static_k", static_k, batch, num_heads, q.shape[3])
    if static_v is not None:
        v = _static("static_v", static_v, batch, num_heads, q.shape[3])
    keys = k.shape[2]
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise ValueError(f"{OP}: got static_k or static_v with bias_k, expected one of them")
        k, v = _more(k, bias_k, num_heads), _more(v, bias_v, num_heads)
    elif bias_k is not None or bias_v is not None:
        raise ValueError(f"{OP}: got one of bias_k and bias_v, expected both or none")
    if add_zero_attn:
        zeros = zero.zeros(embed_dim, dtype=k.dtype, device=k.device)
        k, v = _more(k, zeros, num_heads), _more(v, zeros, num_heads)

    more = k.shape[2] - keys
    # The hint spares the mask where nothing but the mask counts.
    causal = is_causal and key_padding_mask is None and not need_weights and more == 0
    mask = None
    if not causal and (attn_mask is not None or key_padding_mask is not None):
        sizes = (batch, num_heads, length, keys)
        mask = _merge_masks(attn_mask, key_padding_mask, sizes, more, q.dtype)
    shown = None
    if need_weights:
        y, shown = _weigh(q, k, v, mask, dropout_p)
        if average_attn_weights:
            shown = shown.mean(1)
        if not batched:
            shown = shown.squeeze(0)
    else:
        if mask is not None and mask.dtype is zero.bool:
            mask = mask.logical_not()  # there True is what takes part
        y = scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)
    y = y.permute((0, 2, 1, 3) if batch_first else (2, 0, 1, 3))
    y = linear(y.reshape(query.shape), out_proj_weight, out_proj_bias)
    return y if batched else y.squeeze(0), shown


# ---- names of PyTorch that variants of its layers call -------------------------------------------
def _none_or_dtype(input: Tensor | None) -> zero.dtype | None:
    return None if input is None else input.dtype


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: zero.dtype | None,
    other_name: str,
    target_type: zero.dtype,
    check_other: bool = True,
) -> Tensor | None:
    """A mask of bools as one that is added; one of floats as it is."""
    if mask is None:
        return None
    _check_mask(mask_name, mask)
    return _additive(mask, target_type) if mask.dtype is zero.bool else mask


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> list[Tensor]:
    return [x.squeeze(-2) for x in _project(q, k, v, w, b, 1)]


# ---- the function --------------------------------------------------------------------------------
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """What :class:`zero.nn.MultiheadAttention` computes, with its parameters as arguments.

    Query, key and value are projected and divided into heads; each head of a query is answered by
    ``softmax(q k^T / sqrt(D) + mask) v``, and the answers side by side are projected once more.
    A query that sees no key gets 0 for an answer and for its weights, where PyTorch gives NaN if it
    returns weights.

    Args:
        query: shape [L, N, E], or [L, E] without a batch.
        key: [S, N, Ek] or [S, Ek].
        value: [S, N, Ev] or [S, Ev].
        embed_dim_to_check: E.
        num_heads: H, a divisor of E; each head is D = E / H wide.
        in_proj_weight: [3 E, E], of queries, keys and values, unless they are separate.
        in_proj_bias: [3 E] or None.
        bias_k: E numbers, a key that is added to all sequences, after the projection; or None.
        bias_v: its value.
        add_zero_attn: add a key and a value of zeros.
        dropout_p: the probability of a weight to be dropped in training.
        out_proj_weight: [E, E].
        out_proj_bias: [E] or None.
        training: False leaves dropout out.
        key_padding_mask: keys to hide, [N, S] or [S]: True hides a key; floats are added to the
            scores.
        need_weights: return the weights too. Without them the attention never holds them all, see
            :func:`scaled_dot_product_attention`.
        attn_mask: pairs to hide, [L, S], or [N H, L, S] for each head, of bools or floats likewise.
            Both masks may be of different kinds.
        use_separate_proj_weight: take the next three in place of `in_proj_weight`.
        q_proj_weight: [E, E].
        k_proj_weight: [E, Ek].
        v_proj_weight: [E, Ev].
        static_k: keys in place of the projected ones, [N H, S, D].
        static_v: values likewise.
        average_attn_weights: return the mean of the heads' weights.
        is_causal: says that `attn_mask`, which must be there, hides what is ahead; it is then not
            read where the other arguments allow that.

    Returns:
        The output, [L, N, E] or [L, E], and the weights or None: [N, L, S] or [L, S] if averaged,
        else [N, H, L, S] or [H, L, S]; S counts added keys.

    Raises:
        ShapeError: sizes do not fit each other.
        DTypeError: a mask is of integers, or dtypes differ.
        ValueError: E does not divide into heads; there is no mask for `is_causal`; only one of
            `bias_k` and `bias_v`; a projection is missing.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> one = zero.eye(2)
        >>> mask = zero.tensor([[False, True], [False, False]])
        >>> y, weights = zero.nn.functional.multi_head_attention_forward(
        ...     x, x, x, 2, 1, one.repeat(3, 1), None, None, None, False, 0.0, one, None,
        ...     attn_mask=mask,
        ... )
        >>> weights
        tensor([[1.0000, 0.0000],
                [0.3302, 0.6698]])

    Source: Vaswani et al., Attention is all you need, 2017.
    """
    weights: Tensor | Three
    if use_separate_proj_weight:
        if q_proj_weight is None or k_proj_weight is None or v_proj_weight is None:
            raise ValueError(
                f"{OP}: use_separate_proj_weight is True; got None for one of q_proj_weight, "
                "k_proj_weight and v_proj_weight, expected all three"
            )
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    else:
        if in_proj_weight is None:
            raise ValueError(
                f"{OP}: use_separate_proj_weight is False; got no in_proj_weight, expected "
                f"{(3 * embed_dim_to_check, embed_dim_to_check)}"
            )
        if tuple(in_proj_weight.shape) != (3 * embed_dim_to_check, embed_dim_to_check):
            raise ShapeError(
                f"{OP}: in_proj_weight has the wrong shape; got {tuple(in_proj_weight.shape)}, "
                f"expected {(3 * embed_dim_to_check, embed_dim_to_check)}"
            )
        weights = in_proj_weight
    return attend(
        query,
        key,
        value,
        embed_dim_to_check,
        num_heads,
        weights,
        in_proj_bias,
        bias_k,
        bias_v,
        add_zero_attn,
        dropout_p if training else 0.0,
        out_proj_weight,
        out_proj_bias,
        key_padding_mask,
        need_weights,
        attn_mask,
        average_attn_weights,
        is_causal,
        batch_first=False,
        static_k=static_k,
        static_v=static_v,
    )
