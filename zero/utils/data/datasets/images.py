"""Images in memory, with their classes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import zero
from zero import Tensor
from zero.errors import ShapeError, ValueError
from zero.utils.data._utils.fetch import gather, rows
from zero.utils.data.dataset import Dataset

__all__ = ["ImageDataset"]


class ImageDataset(Dataset[tuple[Tensor, int]]):
    """Images with classes, in memory as bytes; a sample is a float32 image and an int.

    A whole batch is gathered, turned to floats and transformed at once.

    Args:
        data: images, uint8 [N, C, H, W].
        targets: their classes, int64 [N].
        transform: called with a batch of images, float32 [B, C, H, W] in [0, 1]; what it returns
            takes their place. See :mod:`zero.utils.data.datasets.transforms`.
        target_transform: the same for a batch of classes, int64 [B].
        classes: the names of the classes.

    Raises:
        ShapeError: `data` and `targets` have no such shapes.

    Example:
        >>> import zero
        >>> from zero.utils.data.datasets import ImageDataset
        >>> data = zero.tensor([[[[0, 255]]], [[[51, 0]]]], dtype=zero.uint8)
        >>> images = ImageDataset(data, zero.tensor([1, 0]), classes=["left", "right"])
        >>> images[1]
        (tensor([[[0.2000, 0.0000]]]), 0)
    """

    def __init__(
        self,
        data: Tensor,
        targets: Tensor,
        transform: Callable[[Tensor], Tensor] | None = None,
        target_transform: Callable[[Tensor], Tensor] | None = None,
        classes: list[str] | None = None,
    ) -> None:
        if data.dim() != 4 or targets.dim() != 1 or len(data) != len(targets):
            raise ShapeError(
                f"{type(self).__name__}: images and classes do not fit; got shapes "
                f"{tuple(data.shape)} and {tuple(targets.shape)}, expected [N, C, H, W] and [N]"
            )
        self.data, self.targets = data, targets
        self.transform, self.target_transform = transform, target_transform
        self.classes = classes or []

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: Any) -> tuple[Tensor, int]:
        index = range(len(self))[index]  # negative ones, too, or an IndexError
        images, targets = self.__getbatch__([index])
        target = targets[0]
        return images[0], target.item() if target.dim() == 0 else target

    def __getbatch__(self, indices: Any) -> Any:
        indices = rows(indices)
        if indices is None:
            return NotImplemented
        images = gather(self.data, indices).to(zero.float32).div_(255)
        targets = gather(self.targets, indices)
        if self.transform is not None:
            images = self.transform(images)
        if self.target_transform is not None:
            targets = self.target_transform(targets)
        return [images, targets]


def checked(owner: str, path: Any, data: bytes, size: int, md5: str | None) -> bytes:
    """The bytes of a file, if they are those that were published.

    Args:
        owner: the class that reads them.
        path: of the file.
        data: its bytes.
        size: how many there should be.
        md5: their MD5 in hexadecimal digits, which finds damage, though no forgery.

    Raises:
        ValueError: they are others.
    """
    if len(data) != size:
        raise ValueError(
            f"{owner}: {path} is not the published file; got {len(data):,} bytes, expected "
            f"{size:,} (check=False reads others)"
        )
    found = hashlib.md5(data, usedforsecurity=False).hexdigest()
    if md5 is not None and found != md5:
        raise ValueError(
            f"{owner}: {path} is damaged, or not the published file; got the MD5 {found}, expected "
            f"{md5} (check=False reads others)"
        )
    return data
