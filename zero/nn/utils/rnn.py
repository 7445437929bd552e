"""Sequences of different lengths: padded to one length, or packed without padding."""

from __future__ import annotations

from collections import namedtuple

import zero
from zero import Tensor
from zero.errors import DTypeError, ShapeError, ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NamedTuple

    from typing_extensions import Self

    class _Fields(NamedTuple):
        data: Tensor
        batch_sizes: Tensor
        sorted_indices: Tensor | None
        unsorted_indices: Tensor | None
else:
    _Fields = namedtuple("_Fields", "data batch_sizes sorted_indices unsorted_indices")

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence(_Fields):
    """Sequences without padding: first the first step of all of them, then the second, and so on.

    The longest sequence comes first, so that step t is that of the first ``batch_sizes[t]``
    sequences. It is made by :func:`pack_padded_sequence` and :func:`pack_sequence`.

    Attributes:
        data: [rows, ...]: the steps of all sequences.
        batch_sizes: int64 [steps], on the CPU: how many sequences each step has.
        sorted_indices: the number that each sequence had before they were sorted; None if they
            were sorted.
        unsorted_indices: the place of each sequence; the inverse of sorted_indices.

    Example:
        >>> import zero
        >>> from zero.nn.utils.rnn import pack_sequence
        >>> packed = pack_sequence([zero.tensor([1, 2, 3]), zero.tensor([4, 5])])
        >>> packed.data.tolist(), packed.batch_sizes.tolist()
        ([1, 4, 2, 5, 3], [2, 2, 1])
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor | tuple[Tensor, Tensor] | list[Tensor],
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if batch_sizes is None:
            if not isinstance(data, (tuple, list)) or len(data) != 2:
                raise ValueError(
                    f"PackedSequence: no batch_sizes; got {type(data).__name__}, expected data and "
                    "batch_sizes"
                )
            data, batch_sizes = data
        if not isinstance(data, Tensor) or not isinstance(batch_sizes, Tensor):
            raise DTypeError(
                f"PackedSequence: data and batch_sizes are no tensors; got {type(data).__name__} "
                f"and {type(batch_sizes).__name__}, expected two of them"
            )
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                f"PackedSequence: batch_sizes are on a device; got {batch_sizes.device}, expected "
                "the CPU"
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        fields = ", ".join(
            f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)
        )
        return f"PackedSequence({fields})"

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """With `data` of another dtype, or on another device; see :meth:`zero.Tensor.to`.

        The packed sequence itself if nothing changes.
        """
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self

        def moved(indices: Tensor | None) -> Tensor | None:
            return None if indices is None else indices.to(data.device)

        return type(self)(
            data, self.batch_sizes, moved(self.sorted_indices), moved(self.unsorted_indices)
        )

    def pin_memory(self) -> PackedSequence:
        """As :meth:`zero.Tensor.pin_memory`."""
        return type(self)(
            self.data.pin_memory(), self.batch_sizes, self.sorted_indices, self.unsorted_indices
        )

    def is_pinned(self) -> bool:
        """As :meth:`zero.Tensor.is_pinned`."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        """False: there is no such device."""
        return self.data.is_cuda

    def cpu(self) -> PackedSequence:
        """On the CPU."""
        return self.to("cpu")

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Raises the error that says which devices there are."""
        return self.to("cuda")

    def double(self) -> PackedSequence:
        """As float64; the other dtypes likewise."""
        return self.to(zero.float64)

    def float(self) -> PackedSequence:
        return self.to(zero.float32)

    def half(self) -> PackedSequence:
        return self.to(zero.float16)

    def long(self) -> PackedSequence:
        return self.to(zero.int64)

    def int(self) -> PackedSequence:
        return self.to(zero.int32)

    def short(self) -> PackedSequence:
        return self.to(zero.int16)

    def char(self) -> PackedSequence:
        return self.to(zero.int8)

    def byte(self) -> PackedSequence:
        return self.to(zero.uint8)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another: ``result[permutation[i]] = i``. None stays None.

    Args:
        permutation: int64 [n], each number from 0 to n - 1 once.

    Example:
        >>> import zero
        >>> zero.nn.utils.rnn.invert_permutation(zero.tensor([2, 0, 1])).tolist()
        [1, 2, 0]
    """
    if permutation is None:
        return None
    places = zero.arange(permutation.numel(), device=permutation.device)
    return zero.empty_like(permutation).scatter_(0, permutation, places.to(permutation.dtype))


def _sizes(lengths: Tensor, steps: int) -> Tensor:
    """How many of the sequences have each of so many steps."""
    return (lengths > zero.arange(steps).unsqueeze(1)).sum(1)


def _places(batch_sizes: Tensor, order: Tensor, stride: int, step: int) -> Tensor:
    """Where each packed row lies in padded memory, whose sequence b begins at stride * b."""
    steps, batch = batch_sizes.numel(), order.numel()
    there = zero.arange(batch) < batch_sizes.unsqueeze(1)
    return (zero.arange(steps).unsqueeze(1) * step + order * stride).masked_select(there)


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | list[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Packs sequences that are padded to one length; gradients flow to what is no padding.

    Args:
        input: [steps, batch, ...], or [batch, steps, ...] where batch_first says so.
        lengths: the number of steps of each sequence, 1 or more: a list or a tensor on the CPU.
        batch_first: see input.
        enforce_sorted: True expects the lengths to fall; False sorts the sequences, and layers and
            :func:`pad_packed_sequence` put them back.

    Raises:
        ValueError: a length is 0 or more than there are steps, or they don't fall.
        ShapeError: there is not one length for each sequence.

    Example:
        >>> import zero
        >>> from zero.nn.utils.rnn import pack_padded_sequence
        >>> padded = zero.tensor([[1, 2, 0], [3, 0, 0], [4, 5, 6]])
        >>> packed = pack_padded_sequence(padded, [2, 1, 3], batch_first=True, enforce_sorted=False)
        >>> packed.data.tolist(), packed.batch_sizes.tolist()
        ([4, 1, 3, 5, 2, 6], [3, 2, 1])
    """
    op = "pack_padded_sequence"
    if not isinstance(lengths, Tensor):
        lengths = zero.as_tensor(lengths, dtype=zero.int64, device="cpu")
    if lengths.dim() != 1 or lengths.device.type != "cpu":
        raise ShapeError(
            f"{op}: lengths are no list; got shape {tuple(lengths.shape)} on {lengths.device}, "
            "expected 1 dimension, on the CPU"
        )
    lengths = lengths.detach().to(zero.int64)
    if input.dim() < 2:
        raise ShapeError(
            f"{op}: wrong number of dimensions; got input {tuple(input.shape)}, expected 2 or more"
        )
    batch, steps = (0, 1) if batch_first else (1, 0)
    count, longest = input.shape[batch], input.shape[steps]
    if lengths.numel() != count or count == 0:
        raise ShapeError(
            f"{op}: not one length for each sequence; got {lengths.numel()} for a batch of "
            f"{count}, expected as many, 1 or more"
        )
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True, stable=True)
    values: list[int] = lengths.tolist()
    if enforce_sorted and values != sorted(values, reverse=True):
        raise ValueError(
            f"{op}: the lengths don't fall; got {values[:20]}, expected sorted sequences, or "
            "enforce_sorted=False"
        )
    if values[-1] <= 0 or values[0] > longest:
        raise ValueError(
            f"{op}: a length is out of range; got {values[-1] if values[-1] <= 0 else values[0]}, "
            f"expected 1 to {longest}"
        )
    sizes = _sizes(lengths, values[0])
    stride, step = (longest, 1) if batch_first else (1, count)
    places = _places(sizes, zero.arange(count) if order is None else order, stride, step)
    data = input.flatten(0, 1).index_select(0, places.to(input.device))
    return PackedSequence(data, sizes, None if order is None else order.to(input.device))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The padded sequences of packed ones, in their order before they were sorted.

    Args:
        sequence: packed sequences.
        batch_first: whether the result is [batch, steps, ...], else [steps, batch, ...].
        padding_value: what stands behind the end of a sequence.
        total_length: how many steps the result has, if more than the longest sequence.

    Returns:
        The padded sequences, and the length of each, int64.

    Raises:
        ValueError: total_length is less than the longest sequence.

    Example:
        >>> import zero
        >>> from zero.nn.utils.rnn import pack_sequence, pad_packed_sequence
        >>> packed = pack_sequence([zero.tensor([1, 2, 3]), zero.tensor([4, 5])])
        >>> padded, lengths = pad_packed_sequence(packed, batch_first=True)
        >>> padded.tolist(), lengths.tolist()
        ([[1, 2, 3], [4, 5, 0]], [3, 2])
    """
    data, sizes, order, unsorted = sequence
    longest, batch = sizes.numel(), int(sizes[0])
    total = longest if total_length is None else total_length
    if total < longest:
        raise ValueError(
            f"pad_packed_sequence: total_length is too small; got {total}, expected {longest} or "
            "more, the longest sequence"
        )
    stride, step = (total, 1) if batch_first else (1, batch)
    places = _places(sizes, zero.arange(batch) if order is None else order.cpu(), stride, step)
    rows = (batch, total) if batch_first else (total, batch)
    shape = (rows[0] * rows[1], *data.shape[1:])
    padding = zero.full(shape, padding_value, dtype=data.dtype, device=data.device)
    padded = padding.index_copy(0, places.to(data.device), data)
    lengths = (sizes.unsqueeze(1) > zero.arange(batch)).sum(0)
    if unsorted is not None:
        lengths = lengths[unsorted.cpu()]
    return padded.unflatten(0, rows), lengths


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences of different lengths as one tensor, filled up to the longest.

    Args:
        sequences: tensors [steps, ...] that agree in all but the first dimension.
        batch_first: whether the result is [batch, steps, ...], else [steps, batch, ...].
        padding_value: what fills them up.
        padding_side: "right", behind the last step, or "left", before the first.

    Raises:
        TypeError: sequences can't be iterated over.
        ValueError: there are none, or padding_side is no such word.
        ShapeError: they differ in other dimensions.

    Example:
        >>> import zero
        >>> from zero.nn.utils.rnn import pad_sequence
        >>> pad_sequence([zero.tensor([1, 2, 3]), zero.tensor([4])], batch_first=True).tolist()
        [[1, 2, 3], [4, 0, 0]]
    """
    if isinstance(sequences, Tensor):
        tensors: list[Tensor] = list(sequences.unbind(0))
    else:
        try:
            tensors = list(sequences)
        except TypeError:
            raise DTypeError(
                f"pad_sequence: sequences are no list; got {type(sequences).__name__}, expected "
                "tensors"
            ) from None
    if not tensors:
        raise ValueError("pad_sequence: no sequences; got an empty list, expected one or more")
    if padding_side not in ("left", "right"):
        raise ValueError(
            f"pad_sequence: no such side; got {padding_side!r}, expected 'left' or 'right'"
        )
    first = tensors[0]
    for i, tensor in enumerate(tensors):
        if tensor.dim() == 0 or tensor.shape[1:] != first.shape[1:]:
            raise ShapeError(
                f"pad_sequence: sequences differ in more than their length; got "
                f"{tuple(tensor.shape)} at {i} and {tuple(first.shape)} at 0, expected the same "
                "sizes but for the first dimension"
            )
    longest = max(len(tensor) for tensor in tensors)
    parts = []
    for tensor in tensors:
        if tensor.dtype != first.dtype:
            tensor = tensor.to(first.dtype)
        missing = longest - len(tensor)
        if missing > 0:
            shape = (missing, *tensor.shape[1:])
            padding = zero.full(shape, padding_value, dtype=first.dtype, device=first.device)
            tensor = zero.cat([tensor, padding] if padding_side == "right" else [padding, tensor])
        parts.append(tensor)
    return zero.stack(parts, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences that were padded: the inverse of :func:`pad_sequence`.

    Args:
        padded_sequences: [steps, batch, ...], or [batch, steps, ...] where batch_first says so.
        lengths: the number of steps of each.
        batch_first: see padded_sequences.

    Example:
        >>> import zero
        >>> from zero.nn.utils.rnn import unpad_sequence
        >>> padded = zero.tensor([[1, 2, 3], [4, 0, 0]])
        >>> [x.tolist() for x in unpad_sequence(padded, zero.tensor([3, 1]), batch_first=True)]
        [[1, 2, 3], [4]]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    counts = lengths.tolist() if isinstance(lengths, Tensor) else lengths
    if len(counts) != len(padded_sequences):
        raise ShapeError(
            f"unpad_sequence: not one length for each sequence; got {len(counts)} for a batch of "
            f"{len(padded_sequences)}, expected as many"
        )
    return [
        sequence[:count] for sequence, count in zip(padded_sequences.unbind(0), counts, strict=True)
    ]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences of different lengths.

    Args:
        sequences: tensors [steps, ...] that agree in all but the first dimension.
        enforce_sorted: True expects the lengths to fall; False sorts the sequences.

    Raises:
        ValueError: a sequence is empty, or the lengths don't fall.
        ShapeError: they differ in other dimensions.

    Example:
        >>> import zero
        >>> from zero.nn.utils.rnn import pack_sequence
        >>> pack_sequence([zero.tensor([1, 2, 3]), zero.tensor([4])]).data.tolist()
        [1, 4, 2, 3]
    """
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, False, enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of packed ones, in their order before they were sorted.

    Example:
        >>> import zero
        >>> from zero.nn.utils.rnn import pack_sequence, unpack_sequence
        >>> packed = pack_sequence([zero.tensor([1, 2, 3]), zero.tensor([4])])
        >>> [x.tolist() for x in unpack_sequence(packed)]
        [[1, 2, 3], [4]]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
