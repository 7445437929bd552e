"""The memory that a tensor and its views share, as PyTorch's older programs ask for it."""

from __future__ import annotations

import zero
from zero import Tensor

__all__ = ["TypedStorage", "UntypedStorage"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from typing_extensions import Self


class UntypedStorage:
    """All bytes of the memory behind a tensor: what ``x.untyped_storage()`` gives.

    Args:
        data: the bytes, as a tensor of uint8 over that memory.

    Example:
        >>> import zero
        >>> storage = zero.arange(6)[2:4].untyped_storage()
        >>> storage.nbytes(), len(storage), storage[8]
        (48, 48, 1)
    """

    __slots__ = ("_data",)

    def __init__(self, data: Tensor) -> None:
        if data.dtype is not zero.uint8 or data.ndim != 1:
            raise TypeError(
                f"UntypedStorage: not bytes; got {data.dtype} of shape {tuple(data.shape)}, "
                "expected uint8 of one dimension"
            )
        self._data = data

    @property
    def device(self) -> zero.device:
        """Where the memory is."""
        return self._data.device

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._data.numel()

    def size(self) -> int:
        """The number of bytes."""
        return self._data.numel()

    def element_size(self) -> int:
        """1."""
        return 1

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._data.data_ptr()

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        return self._data.tolist()  # type: ignore[no-any-return]

    def fill_(self, value: int) -> UntypedStorage:
        """Overwrites all bytes."""
        self._data.fill_(value)
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool | None = None) -> UntypedStorage:
        """Overwrites all bytes with those of a storage of the same size."""
        self._data.copy_(source._data)
        return self

    def clone(self) -> UntypedStorage:
        """A copy with memory of its own."""
        return UntypedStorage(self._data.clone())

    def is_shared(self) -> bool:
        """Whether other processes can see the memory."""
        return self._data.is_shared()

    def share_memory_(self) -> Self:
        """Moves the memory to where other processes can see it: see the method of tensors."""
        self._data.share_memory_()
        return self

    def is_pinned(self) -> bool:
        """Whether the memory is locked: see :meth:`zero.Tensor.pin_memory`."""
        return self._data.is_pinned()

    def pin_memory(self) -> Self:
        """A copy in pinned memory; the storage itself if it is pinned."""
        return self if self.is_pinned() else type(self)(self._data.pin_memory())

    def __len__(self) -> int:
        return self._data.numel()

    def __getitem__(self, index: int) -> int:
        return int(self._data[index].item())

    def __setitem__(self, index: Any, value: int) -> None:
        self._data[index] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.nbytes()} bytes on {self.device})"


class TypedStorage:
    """The memory behind a tensor as elements of its dtype: what ``x.storage()`` gives.

    Args:
        data: the elements, as a tensor of one dimension over that memory.

    Example:
        >>> import zero
        >>> storage = zero.arange(6).view(2, 3).t().storage()
        >>> storage.tolist(), storage.size(), storage.nbytes()
        ([0, 1, 2, 3, 4, 5], 6, 48)
    """

    __slots__ = ("_data",)

    def __init__(self, data: Tensor) -> None:
        if data.ndim != 1:
            raise TypeError(
                f"TypedStorage: not one dimension; got {tuple(data.shape)}, expected a flat tensor"
            )
        self._data = data

    @property
    def dtype(self) -> zero.dtype:
        """The dtype of the elements."""
        return self._data.dtype

    @property
    def device(self) -> zero.device:
        """Where the memory is."""
        return self._data.device

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._data.untyped_storage()

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._data.numel() * self._data.element_size()

    def size(self) -> int:
        """The number of elements."""
        return self._data.numel()

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._data.element_size()

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._data.data_ptr()

    def tolist(self) -> list[Any]:
        """The elements as numbers."""
        return self._data.tolist()  # type: ignore[no-any-return]

    def fill_(self, value: float) -> TypedStorage:
        """Overwrites all elements."""
        self._data.fill_(value)
        return self

    def copy_(self, source: TypedStorage, non_blocking: bool | None = None) -> TypedStorage:
        """Overwrites all elements with those of a storage of the same size."""
        self._data.copy_(source._data)
        return self

    def clone(self) -> TypedStorage:
        """A copy with memory of its own."""
        return TypedStorage(self._data.clone())

    def is_shared(self) -> bool:
        """Whether other processes can see the memory."""
        return self._data.is_shared()

    def share_memory_(self) -> Self:
        """Moves the memory to where other processes can see it: see the method of tensors."""
        self._data.share_memory_()
        return self

    def is_pinned(self) -> bool:
        """Whether the memory is locked: see :meth:`zero.Tensor.pin_memory`."""
        return self._data.is_pinned()

    def pin_memory(self) -> Self:
        """A copy in pinned memory; the storage itself if it is pinned."""
        return self if self.is_pinned() else type(self)(self._data.pin_memory())

    def __len__(self) -> int:
        return self._data.numel()

    def __getitem__(self, index: int) -> Any:
        return self._data[index].item()

    def __setitem__(self, index: Any, value: float) -> None:
        self._data[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.size()} x {self.dtype} on {self.device})"
