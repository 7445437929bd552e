"""Transformers: stacks of attention and small networks for each token."""

from __future__ import annotations

import copy
from collections.abc import Callable

import zero
from zero import Tensor
from zero.errors import ShapeError
from zero.nn import _options, functional as F, init
from zero.nn.container import ModuleList
from zero.nn.module import Module
from zero.nn.normalization import LayerNorm
from zero.nn.transformer_layer import TransformerDecoderLayer, TransformerEncoderLayer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Transformer", "TransformerDecoder", "TransformerEncoder"]


def _get_clones(module: Module, N: int) -> ModuleList:
    """So many copies of a module, each with parameters of its own."""
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _generate_square_subsequent_mask(
    sz: int, device: zero.device | str | None = None, dtype: zero.dtype | None = None
) -> Tensor:
    return zero.full((sz, sz), -float("inf"), dtype=dtype, device=device).triu(1)


def _get_seq_len(src: Tensor, batch_first: bool) -> int:
    return src.shape[1 if batch_first and src.dim() == 3 else 0]


def _detect_is_causal_mask(
    mask: Tensor | None, is_causal: bool | None = None, size: int | None = None
) -> bool:
    """What is said of a mask, or else whether it is [L, L] and hides exactly what is ahead."""
    if is_causal is not None or mask is None or mask.is_meta or mask.requires_grad:
        return bool(is_causal)  # a mask that learns has to be read
    length = mask.shape[-2] if size is None else size
    if tuple(mask.shape) != (length, length):
        return False
    hidden: bool | float = True if mask.dtype is zero.bool else -float("inf")
    ahead = zero.full((length, length), hidden, dtype=mask.dtype, device=mask.device).triu(1)
    return zero.equal(mask, ahead)


class TransformerEncoder(Module):
    """A stack of encoder layers, copies of one.

    The copies start with the same values.

    Args:
        encoder_layer: the layer that is copied, a :class:`TransformerEncoderLayer` or the like.
        num_layers: how many.
        norm: a module for the output, or None.
        enable_nested_tensor: in PyTorch, compute padded batches without the padding where that is
            possible. Here they are computed with it; under the same conditions the output is 0
            where there is padding, before `norm`, as there: in evaluation, without gradients, with
            a `src_key_padding_mask` and no `mask`, if layers of the kind that can do it (with
            batch_first, biases, ReLU or GELU, an even number of heads, without norm_first).
        mask_check: do so only if all padding is at the ends.

    Shape:
        src and output as those of the layers

    Raises:
        DTypeError, ShapeError: num_layers is no int, or negative.

    Example:
        >>> import zero
        >>> layer = zero.nn.TransformerEncoderLayer(d_model=16, nhead=2, batch_first=True)
        >>> encoder = zero.nn.TransformerEncoder(layer, num_layers=2)
        >>> padding = zero.tensor([[False, False, True], [False, False, False]])
        >>> encoder(zero.randn(2, 3, 16), src_key_padding_mask=padding).shape
        zero.Size([2, 3, 16])
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        layer = "TransformerEncoder"
        self.num_layers = _options.size(layer, "num_layers", num_layers)
        self.layers = _get_clones(encoder_layer, self.num_layers)
        self.norm = norm
        nested = _options.flag(layer, "enable_nested_tensor", enable_nested_tensor)
        self.enable_nested_tensor = nested
        self.use_nested_tensor = nested and self._can_nest(encoder_layer)
        self.mask_check = _options.flag(layer, "mask_check", mask_check)

    @staticmethod
    def _can_nest(layer: Module) -> bool:
        """PyTorch's conditions on a layer."""
        return (
            isinstance(layer, TransformerEncoderLayer)
            and not layer.norm_first
            and layer.self_attn.batch_first
            and layer.self_attn._qkv_same_embed_dim
            and layer.self_attn.in_proj_bias is not None
            and bool(layer.activation_relu_or_gelu)
            and layer.norm1.eps == layer.norm2.eps
            and layer.self_attn.num_heads % 2 == 0
        )

    def _padding(self, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor | None:
        """The tokens [N, L, 1] whose output is 0, or None; see `enable_nested_tensor`."""
        if (
            padding is None
            or mask is not None
            or not self.use_nested_tensor
            or self.layers[0].training
            or src.dim() != 3
            or src.is_meta
            or tuple(padding.shape) != tuple(src.shape[:2])
            or not zero.backends.mha.get_fastpath_enabled()
        ):
            return None
        if zero.is_grad_enabled() and (
            src.requires_grad or any(p.requires_grad for p in self.layers[0].parameters())
        ):
            return None
        hidden = padding != 0
        if self.mask_check and not (hidden[:, 1:] >= hidden[:, :-1]).all():
            return None
        return hidden.unsqueeze(2)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """The sequence after all layers.

        Args:
            src: the sequence.
            mask: pairs to hide, [L, L] or [N nhead, L, L]; see :class:`MultiheadAttention`.
            src_key_padding_mask: tokens to hide, [N, L] or [L].
            is_causal: says that `mask` hides what is ahead; None: find out.
        """
        output = src
        layers = self.layers
        if len(layers) > 0:
            attention = getattr(layers[0], "self_attn", None)
            length = _get_seq_len(src, getattr(attention, "batch_first", False))
            causal = _detect_is_causal_mask(mask, is_causal, length)
            padding = self._padding(src, mask, src_key_padding_mask)
            for layer in layers:
                output = layer(
                    output,
                    src_mask=mask,
                    is_causal=causal,
                    src_key_padding_mask=src_key_padding_mask,
                )
            if padding is not None:
                output = output.masked_fill(padding, 0.0)
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(Module):
    """A stack of decoder layers, copies of one.

    The copies start with the same values.

    Args:
        decoder_layer: the layer that is copied, a :class:`TransformerDecoderLayer` or the like.
        num_layers: how many.
        norm: a module for the output, or None.

    Shape:
        tgt, memory and output as those of the layers

    Raises:
        DTypeError, ShapeError: num_layers is no int, or negative.

    Example:
        >>> import zero
        >>> layer = zero.nn.TransformerDecoderLayer(d_model=16, nhead=2, batch_first=True)
        >>> decoder = zero.nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(zero.randn(3, 5, 16), zero.randn(3, 7, 16)).shape
        zero.Size([3, 5, 16])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.num_layers = _options.size("TransformerDecoder", "num_layers", num_layers)
        self.layers = _get_clones(decoder_layer, self.num_layers)
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The sequence after all layers; arguments as in :class:`TransformerDecoderLayer`.

        `tgt_is_causal` may also be None: find out.
        """
        output = tgt
        layers = self.layers
        if len(layers) > 0:
            attention = getattr(layers[0], "self_attn", None)
            length = _get_seq_len(tgt, getattr(attention, "batch_first", False))
            causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, length)
            for layer in layers:
                output = layer(
                    output,
                    memory,
                    tgt_mask=tgt_mask,
                    memory_mask=memory_mask,
                    tgt_key_padding_mask=tgt_key_padding_mask,
                    memory_key_padding_mask=memory_key_padding_mask,
                    tgt_is_causal=causal,
                    memory_is_causal=memory_is_causal,
                )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder and a decoder that attends to what the encoder found.

    All matrices start from Xavier's uniform distribution.

    Args:
        d_model: E, the width of tokens.
        nhead: the number of heads.
        num_encoder_layers: of a :class:`TransformerEncoder`.
        num_decoder_layers: of a :class:`TransformerDecoder`.
        dim_feedforward: the width inside the network of a layer.
        dropout: the probability in all dropouts.
        activation: of the networks: "relu", "gelu", a function or a module.
        custom_encoder: a module in place of the encoder.
        custom_decoder: a module in place of the decoder.
        layer_norm_eps: of the normalisations.
        batch_first: inputs and output are [N, L, E] and not [L, N, E].
        norm_first: normalise the input of a block, not the sum.
        bias: False leaves all biases out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        src [S, N, E], tgt [L, N, E], or [N, S, E] and [N, L, E] if batch_first, or without N;
        output as tgt

    Raises:
        ValueError: E does not divide into heads; there is no such activation; a probability is not
            in [0, 1].
        DTypeError, ShapeError: an option is of a wrong type or negative.

    Example:
        >>> import zero
        >>> model = zero.nn.Transformer(16, 2, 1, 1, dim_feedforward=32)
        >>> mask = model.generate_square_subsequent_mask(5)
        >>> model(zero.randn(7, 3, 16), zero.randn(5, 3, 16), tgt_mask=mask).shape
        zero.Size([5, 3, 16])

    Source: Vaswani et al., Attention is all you need, 2017.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        width = _options.size("Transformer", "d_model", d_model)

        def final_norm() -> LayerNorm:
            return LayerNorm(width, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        options: dict[str, Any] = {
            "dim_feedforward": dim_feedforward,
            "dropout": dropout,
            "activation": activation,
            "layer_norm_eps": layer_norm_eps,
            "batch_first": batch_first,
            "norm_first": norm_first,
            "bias": bias,
            "device": device,
            "dtype": dtype,
        }
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            encoder_layer = TransformerEncoderLayer(width, nhead, **options)
            self.encoder = TransformerEncoder(encoder_layer, num_encoder_layers, final_norm())
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            decoder_layer = TransformerDecoderLayer(width, nhead, **options)
            self.decoder = TransformerDecoder(decoder_layer, num_decoder_layers, final_norm())
        self._reset_parameters()
        self.d_model = width
        self.nhead = nhead
        self.batch_first = _options.flag("Transformer", "batch_first", batch_first)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """What the decoder makes of `tgt` with the encoder's view of `src`.

        Args:
            src: the sequence for the encoder.
            tgt: the one for the decoder.
            src_mask: pairs to hide, [S, S] or [N nhead, S, S]; see :class:`MultiheadAttention`.
            tgt_mask: [L, L] or [N nhead, L, L].
            memory_mask: [L, S] or [N nhead, L, S].
            src_key_padding_mask: tokens of `src` to hide from the encoder, [N, S] or [S].
            tgt_key_padding_mask: those of `tgt`, [N, L] or [L].
            memory_key_padding_mask: tokens of `src` to hide from the decoder, [N, S] or [S].
            src_is_causal: says that `src_mask` hides what is ahead; None: find out.
            tgt_is_causal: likewise of `tgt_mask`.
            memory_is_causal: says that `memory_mask`, which must be there, hides what is ahead.

        Raises:
            ShapeError: the batches of `src` and `tgt` differ, or their width is not E.
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.shape[batch] != tgt.shape[batch]:
            raise ShapeError(
                f"Transformer: src and tgt differ in batch; got {tuple(src.shape)} and "
                f"{tuple(tgt.shape)}, expected one size of dimension {batch}"
            )
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ShapeError(
                f"Transformer: src or tgt has the wrong width; got {tuple(src.shape)} and "
                f"{tuple(tgt.shape)}, expected {self.d_model} in the last dimension"
            )
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        output: Tensor = self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
        return output

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: zero.device | str | None = None, dtype: zero.dtype | None = None
    ) -> Tensor:
        """A mask [sz, sz] that hides what is ahead: 0 up to the diagonal, -inf above it.

        Args:
            sz: the length of the sequence.
            device: where it is.
            dtype: floating point; the default dtype if None.

        Example:
            >>> import zero
            >>> zero.nn.Transformer.generate_square_subsequent_mask(2)
            tensor([[0., -inf],
                    [0., 0.]])
        """
        return _generate_square_subsequent_mask(sz, device, dtype)
