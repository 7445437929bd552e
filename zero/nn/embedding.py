"""Layers that look rows of a table up."""

from __future__ import annotations

import zero
from zero import Parameter, Tensor
from zero.errors import ShapeError, ValueError
from zero.nn import _options, functional as F, init
from zero.nn._tables import _MODES, _row_of_padding
from zero.nn.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """The table, which starts as normal numbers, or as a tensor that is given."""

    weight: Parameter
    padding_idx: int | None

    def _make(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        sparse: bool,
        weight: Tensor | None,
        freeze: bool,
        device: zero.device | str | None,
        dtype: zero.dtype | None,
    ) -> None:
        layer = type(self).__name__
        self.num_embeddings = _options.size(layer, "num_embeddings", num_embeddings)
        self.embedding_dim = _options.size(layer, "embedding_dim", embedding_dim)
        self.sparse = _options.flag(layer, "sparse", sparse)
        if self.sparse:
            raise NotImplementedError(
                f"{layer}: sparse gradients are not supported; got sparse=True, expected False"
            )
        shape = (self.num_embeddings, self.embedding_dim)
        if weight is not None and tuple(weight.shape) != shape:
            raise ShapeError(
                f"{layer}: the weight does not fit; got {tuple(weight.shape)}, expected {shape}"
            )
        value = zero.empty(shape, device=device, dtype=dtype) if weight is None else weight
        if padding_idx is not None:
            padding_idx = _options.dimension(layer, "padding_idx", padding_idx)
            padding_idx = _row_of_padding(layer, value, padding_idx)
        self.padding_idx = padding_idx
        self.weight = Parameter(value, requires_grad=not freeze)
        if weight is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all rows from the normal distribution; that of padding becomes 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with zero.no_grad():
                self.weight[self.padding_idx].fill_(0)


def _checked_table(layer: str, embeddings: Tensor) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise ShapeError(
            f"{layer}.from_pretrained: no table; got {tuple(embeddings.shape)}, expected 2 "
            "dimensions"
        )
    rows, features = embeddings.shape
    return rows, features


class Embedding(_Table):
    """A table of vectors, looked up by number: ``y = weight[input]``.

    The table starts as numbers of the standard normal distribution.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: the size of each.
        padding_idx: a row that starts as 0 and gets no gradient; negative ones count from the end.
        max_norm: rows that are longer are shortened to this norm when they are looked up, in the
            table itself.
        norm_type: p of that p-norm.
        scale_grad_by_freq: divides the gradient of a row by how often it was looked up.
        sparse: True is not supported.
        device: where the table is.
        dtype: of the table; the default dtype if None.

    Shape:
        input […] of int64 or int32, output […, embedding_dim]; weight
        [num_embeddings, embedding_dim]

    Raises:
        ValueError: padding_idx is no row.
        DTypeError, ShapeError: a size is no int, or negative.
        NotImplementedError: sparse is True.

    Example:
        >>> import zero
        >>> layer = zero.nn.Embedding(10, 3, padding_idx=0)
        >>> layer(zero.tensor([[1, 2, 0], [4, 9, 0]])).shape
        zero.Size([2, 3, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make(
            num_embeddings, embedding_dim, padding_idx, sparse, _weight, _freeze, device, dtype
        )

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """A layer around a table that exists, whose memory it shares.

        Args:
            embeddings: the table, [num_embeddings, embedding_dim].
            freeze: whether it gets no gradients.
            padding_idx: a row that gets no gradient; it keeps its values.
            max_norm: see :class:`Embedding`.
            norm_type: likewise.
            scale_grad_by_freq: likewise.
            sparse: True is not supported.

        Raises:
            ShapeError: the table does not have two dimensions.

        Example:
            >>> import zero
            >>> layer = zero.nn.Embedding.from_pretrained(zero.tensor([[1.0, 2.0], [3.0, 4.0]]))
            >>> layer(zero.tensor([1])).tolist(), layer.weight.requires_grad
            ([[3.0, 4.0]], False)
        """
        rows, features = _checked_table(cls.__name__, embeddings)
        return cls(
            rows,
            features,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


class EmbeddingBag(_Table):
    """The sum, mean or maximum of vectors of a table, for bags of numbers.

    The table starts as numbers of the standard normal distribution.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: the size of each.
        max_norm: rows that are longer are shortened to this norm when they are looked up, in the
            table itself.
        norm_type: p of that p-norm.
        scale_grad_by_freq: divides the gradient of a row by how often it was looked up; not for
            'max'.
        mode: 'sum', 'mean' or 'max'.
        sparse: True is not supported.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: a row that is no part of its bags, starts as 0 and gets no gradient.
        device: where the table is.
        dtype: of the table; the default dtype if None.

    Shape:
        input [bags, n], or [n] with offsets [bags]; per_sample_weights as the input; output
        [bags, embedding_dim]; weight [num_embeddings, embedding_dim]

    Raises:
        ValueError: the mode is no such word, or padding_idx no row.
        DTypeError, ShapeError: a size is no int, or negative.
        NotImplementedError: sparse is True.

    Example:
        >>> import zero
        >>> layer = zero.nn.EmbeddingBag(10, 3, mode="sum")
        >>> layer(zero.tensor([1, 2, 4, 5, 4]), zero.tensor([0, 2])).shape
        zero.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        if mode not in _MODES:
            raise ValueError(
                f"EmbeddingBag: no such mode; got {mode!r}, expected 'sum', 'mean' or 'max'"
            )
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.include_last_offset = include_last_offset
        self._make(
            num_embeddings, embedding_dim, padding_idx, sparse, _weight, False, device, dtype
        )

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        text += f", mode={self.mode!r}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        return text

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """A layer around a table that exists, whose memory it shares.

        Args:
            embeddings: the table, [num_embeddings, embedding_dim].
            freeze: whether it gets no gradients.
            max_norm: see :class:`EmbeddingBag`.
            norm_type: likewise.
            scale_grad_by_freq: likewise.
            mode: likewise.
            sparse: True is not supported.
            include_last_offset: see :class:`EmbeddingBag`.
            padding_idx: a row that is no part of its bags; it keeps its values.

        Raises:
            ShapeError: the table does not have two dimensions.

        Example:
            >>> import zero
            >>> table = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
            >>> zero.nn.EmbeddingBag.from_pretrained(table)(zero.tensor([[0, 1]])).tolist()
            [[2.0, 3.0]]
        """
        rows, features = _checked_table(cls.__name__, embeddings)
        layer = cls(
            rows,
            features,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            _weight=embeddings,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        layer.weight.requires_grad_(not freeze)
        return layer
