"""Attention of several heads."""

from __future__ import annotations

import zero
from zero import Parameter, Tensor
from zero.errors import ValueError
from zero.nn import _options, init
from zero.nn._multihead import attend
from zero.nn.linear import NonDynamicallyQuantizableLinear
from zero.nn.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention of several heads: each query gets a mean of values, weighted by its keys.

    ``softmax(q k^T / sqrt(head_dim)) v`` in each head, with q, k and v linear in `query`, `key` and
    `value`; what the heads find is joined and projected once more.

    The weights of q, k and v start from Xavier's uniform distribution, added keys and values from
    his normal one, the last projection from U(-1/sqrt(E), 1/sqrt(E)), biases as zeros. For
    attention of a sequence to itself pass one tensor three times: it is then projected by one
    product.

    Args:
        embed_dim: E, the width of queries and of the output.
        num_heads: a divisor of E.
        dropout: the probability of a weight to be dropped in training.
        bias: False leaves the biases of all projections out.
        add_bias_kv: add a key and a value that are learned.
        add_zero_attn: add a key and a value of zeros.
        kdim: the width of keys; E if None.
        vdim: that of values.
        batch_first: inputs and output are [N, L, E] and not [L, N, E].
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        query [L, N, E], key [S, N, kdim], value [S, N, vdim], output [L, N, E], or all without N;
        weights [N, L, S], or [N, num_heads, L, S], or without N

    Raises:
        ValueError: E does not divide into heads; a probability is not in [0, 1].
        DTypeError, ShapeError: an option is of a wrong type or negative.

    Example:
        >>> import zero
        >>> attention = zero.nn.MultiheadAttention(8, 2, batch_first=True)
        >>> x = zero.randn(3, 5, 8)
        >>> y, weights = attention(x, x, x)
        >>> y.shape, weights.shape
        (zero.Size([3, 5, 8]), zero.Size([3, 5, 5]))
        >>> y, weights = attention(x, x, x, need_weights=False)
        >>> weights is None
        True

    Source: Vaswani et al., Attention is all you need, 2017.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        layer = "MultiheadAttention"
        width = _options.size(layer, "embed_dim", embed_dim)
        heads = _options.size(layer, "num_heads", num_heads)
        if width == 0 or heads == 0 or width % heads != 0:
            raise ValueError(
                f"{layer}: embed_dim does not divide into heads; got embed_dim {width} and "
                f"num_heads {heads}, expected a positive multiple of num_heads"
            )
        self.embed_dim = width
        self.kdim = width if kdim is None else _options.size(layer, "kdim", kdim)
        self.vdim = width if vdim is None else _options.size(layer, "vdim", vdim)
        self._qkv_same_embed_dim = self.kdim == width == self.vdim
        self.num_heads = heads
        self.head_dim = width // heads
        self.dropout = _options.probability(layer, "dropout", dropout)
        self.batch_first = _options.flag(layer, "batch_first", batch_first)
        bias = _options.flag(layer, "bias", bias)

        def add(name: str, *shape: int, present: bool) -> None:
            value = Parameter(zero.empty(shape, device=device, dtype=dtype)) if present else None
            self.register_parameter(name, value)

        separate = not self._qkv_same_embed_dim
        add("q_proj_weight", width, width, present=separate)
        add("k_proj_weight", width, self.kdim, present=separate)
        add("v_proj_weight", width, self.vdim, present=separate)
        add("in_proj_weight", 3 * width, width, present=not separate)
        add("in_proj_bias", 3 * width, present=bias)
        self.out_proj = NonDynamicallyQuantizableLinear(
            width, width, bias=bias, device=device, dtype=dtype
        )
        added = _options.flag(layer, "add_bias_kv", add_bias_kv)
        add("bias_k", 1, 1, width, present=added)
        add("bias_v", 1, 1, width, present=added)
        self.add_zero_attn = _options.flag(layer, "add_zero_attn", add_zero_attn)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            weight = self._parameters[name]
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
        for added in (self.bias_k, self.bias_v):
            if added is not None:
                init.xavier_normal_(added)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)  # as in files older than the attribute
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The output and the weights; see :func:`zero.nn.functional.multi_head_attention_forward`.

        Args:
            query: [L, N, E], or [N, L, E] if `batch_first`, or [L, E].
            key: [S, N, kdim], or likewise.
            value: [S, N, vdim], or likewise.
            key_padding_mask: keys to hide, [N, S] or [S]: True hides a key; floats are added to the
                scores.
            need_weights: return the weights too. Without them it is faster, and needs less memory.
            attn_mask: pairs to hide, [L, S], or [N num_heads, L, S], of bools or floats likewise.
            average_attn_weights: return the mean of the heads' weights.
            is_causal: says that `attn_mask`, which must be there, hides what is ahead.

        Returns:
            The output, shaped as the query, and the weights or None.
        """
        out = self.out_proj
        return attend(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight
            if self._qkv_same_embed_dim
            else (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight),
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout if self.training else 0.0,
            out.weight,
            out.bias,
            key_padding_mask,
            need_weights,
            attn_mask,
            average_attn_weights,
            is_causal,
            self.batch_first,
        )
