"""Attention of :mod:`zero.nn.functional`."""

from __future__ import annotations

from zero import Tensor, _scaled_dot_product_attention

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    r"""The average of values, weighted by how well their keys match a query.

    .. math:: \text{softmax}(s\, Q K^\top + M)\, V

    for each head, with the softmax over the keys and :math:`s` the scale. The memory needed grows
    linearly with the lengths; which engine does it, :mod:`zero.nn.attention` tells and sets.

    The dimensions in front of the last two (batch, heads) may be any, and broadcast. Operands are
    read by their strides: that of heads may be made by a transpose, at no cost. The result lies in
    memory in the order of the query's dimensions. float16 and bfloat16 are computed in float32.

    Args:
        query: shape [..., L, E], of floats.
        key: shape [..., S, E].
        value: shape [..., S, V].
        attn_mask: what broadcasts to [..., L, S]: bools, True where a query sees a key, or numbers
            to add to the scores, of float32 or the query's dtype. A key with -inf takes no part,
            whatever its score. A query that sees no key gets 0, and so do gradients from it.
        dropout_p: the probability that a weight is set to 0, the others being divided by
            1 - dropout_p; not only in training: whoever evaluates gives 0.
        is_causal: whether query i sees the keys 0 to i only, also where L and S differ. Not
            together with a mask.
        scale: the factor of the scores; None for 1 / sqrt(E).
        enable_gqa: whether a head of the key and the value serves several of the query's in a row,
            whose number is a multiple. Nothing is repeated in memory.

    Returns:
        shape [..., L, V].

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the dtypes differ, or are no floating ones.
        ValueError: dropout_p is no probability, or there is a mask as well as is_causal.
        RuntimeError: no engine that :func:`zero.nn.attention.sdpa_kernel` allows can serve.

    Example:
        >>> import zero
        >>> from zero.nn.functional import scaled_dot_product_attention
        >>> query, key = zero.zeros(1, 2, 4), zero.zeros(1, 2, 4)
        >>> value = zero.tensor([[[0.0], [6.0]]])
        >>> scaled_dot_product_attention(query, key, value).flatten().tolist()
        [3.0, 3.0]
        >>> scaled_dot_product_attention(query, key, value, is_causal=True).flatten().tolist()
        [0.0, 3.0]

    Source: Vaswani et al., Attention is all you need, 2017; Dao et al., FlashAttention, 2022.
    """
    return _scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa
    )
