"""Layers of transformers: attention and a small network for each token."""

from __future__ import annotations

from collections.abc import Callable

import zero
from zero import Tensor
from zero.errors import ValueError
from zero.nn import _options, functional as F
from zero.nn.activation import GELU, ReLU
from zero.nn.dropout import Dropout
from zero.nn.linear import Linear
from zero.nn.module import Module
from zero.nn.multihead_attention import MultiheadAttention
from zero.nn.normalization import LayerNorm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]


def _get_activation_fn(activation: str) -> Callable[[Tensor], Tensor]:
    if activation not in ("relu", "gelu"):
        raise ValueError(
            f"activation: there is no such function; got {activation!r}, expected 'relu', 'gelu' "
            "or something that can be called"
        )
    return F.relu if activation == "relu" else F.gelu


class _Layer(Module):
    """What encoder and decoder layers share: attention to oneself and the network for each token.

    The blocks have PyTorch's names, which programs override.
    """

    self_attn: MultiheadAttention
    activation: Callable[[Tensor], Tensor]
    _norms: int  # one for each block; each has a dropout, too

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        attentions = ("self_attn", "multihead_attn")[: self._norms - 1]
        for name in attentions:
            attention = MultiheadAttention(
                d_model,
                nhead,
                dropout,
                bias,
                batch_first=batch_first,
                device=device,
                dtype=dtype,
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        self.norm_first = _options.flag(type(self).__name__, "norm_first", norm_first)
        for i in range(1, self._norms + 1):
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
            setattr(self, f"norm{i}", norm)
        for i in range(1, self._norms + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = (
            _get_activation_fn(activation) if isinstance(activation, str) else activation
        )
        function = self.activation  # its number is PyTorch's; TransformerEncoder asks for it
        self.activation_relu_or_gelu = (
            1
            if function is F.relu or isinstance(function, ReLU)
            else 2
            if function is F.gelu or isinstance(function, GELU)
            else 0
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "activation" not in state and "activation" not in state.get("_modules", ()):
            state["activation"] = F.relu  # as in files older than the attribute
        super().__setstate__(state)

    def _sa_block(
        self,
        x: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        y, _ = self.self_attn(x, x, x, key_padding_mask, False, attn_mask, is_causal=is_causal)
        dropped: Tensor = self.dropout1(y)
        return dropped

    def _feed_forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return y


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then a small network for each token.

    Both are added to their input and normalised: ``x = norm(x + block(x))``, or
    ``x = x + block(norm(x))`` if `norm_first`.

    The attention starts as :class:`MultiheadAttention`, the network as :class:`Linear`, which is
    He's distribution and not PyTorch's.

    Args:
        d_model: E, the width of tokens.
        nhead: the number of heads.
        dim_feedforward: the width inside the network.
        dropout: the probability in all dropouts.
        activation: of the network: "relu", "gelu", a function or a module.
        layer_norm_eps: of the normalisations.
        batch_first: inputs and output are [N, L, E] and not [L, N, E].
        norm_first: normalise the input of a block, not the sum.
        bias: False leaves all biases out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        src [L, N, E], [N, L, E] if batch_first, or [L, E]; output the same

    Raises:
        ValueError: E does not divide into heads; there is no such activation; a probability is not
            in [0, 1].
        DTypeError, ShapeError: an option is of a wrong type or negative.

    Example:
        >>> import zero
        >>> layer = zero.nn.TransformerEncoderLayer(d_model=16, nhead=2, batch_first=True)
        >>> layer(zero.randn(3, 5, 16)).shape
        zero.Size([3, 5, 16])

    Source: Vaswani et al., Attention is all you need, 2017; `norm_first`: Xiong et al., On layer
    normalization in the transformer architecture, 2020.
    """

    _norms = 2

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The sequence after attention and network.

        Args:
            src: the sequence.
            src_mask: pairs to hide, [L, L] or [N nhead, L, L]; see :class:`MultiheadAttention`.
            src_key_padding_mask: tokens to hide, [N, L] or [L].
            is_causal: says that `src_mask`, which must be there, hides what is ahead.
        """
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal))
        y: Tensor = self.norm2(x + self._ff_block(x))
        return y

    def _ff_block(self, x: Tensor) -> Tensor:
        y: Tensor = self.dropout2(self._feed_forward(x))
        return y


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself and to another, then a small network for each token.

    All three are added to their input and normalised as in :class:`TransformerEncoderLayer`, which
    also says how the parameters start.

    Args:
        d_model: E, the width of tokens.
        nhead: the number of heads.
        dim_feedforward: the width inside the network.
        dropout: the probability in all dropouts.
        activation: of the network: "relu", "gelu", a function or a module.
        layer_norm_eps: of the normalisations.
        batch_first: inputs and output are [N, L, E] and not [L, N, E].
        norm_first: normalise the input of a block, not the sum.
        bias: False leaves all biases out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        tgt [L, N, E], memory [S, N, E], or [N, L, E] and [N, S, E] if batch_first, or without N;
        output as tgt

    Raises:
        ValueError: E does not divide into heads; there is no such activation; a probability is not
            in [0, 1].
        DTypeError, ShapeError: an option is of a wrong type or negative.

    Example:
        >>> import zero
        >>> layer = zero.nn.TransformerDecoderLayer(d_model=16, nhead=2, batch_first=True)
        >>> layer(zero.randn(3, 5, 16), zero.randn(3, 7, 16)).shape
        zero.Size([3, 5, 16])

    Source: as :class:`TransformerEncoderLayer`.
    """

    multihead_attn: MultiheadAttention
    _norms = 3

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The sequence after both attentions and the network.

        Args:
            tgt: the sequence.
            memory: what it attends to, such as an encoder's output.
            tgt_mask: pairs to hide, [L, L] or [N nhead, L, L]; see :class:`MultiheadAttention`.
            memory_mask: [L, S] or [N nhead, L, S].
            tgt_key_padding_mask: tokens of `tgt` to hide, [N, L] or [L].
            memory_key_padding_mask: those of `memory`, [N, S] or [S].
            tgt_is_causal: says that `tgt_mask`, which must be there, hides what is ahead.
            memory_is_causal: likewise of `memory_mask`.
        """
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, *other))
        y: Tensor = self.norm3(x + self._ff_block(x))
        return y

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        y, _ = self.multihead_attn(
            x, mem, mem, key_padding_mask, False, attn_mask, is_causal=is_causal
        )
        dropped: Tensor = self.dropout2(y)
        return dropped

    def _ff_block(self, x: Tensor) -> Tensor:
        y: Tensor = self.dropout3(self._feed_forward(x))
        return y
