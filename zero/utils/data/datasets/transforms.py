"""Transforms of whole batches of images, [B, C, H, W]; random ones differ from image to image.

>>> import zero
>>> from zero.utils.data.datasets.transforms import Compose, Normalize, RandomCrop
>>> augment = Compose([RandomCrop(28, padding=2), Normalize(0.5, 0.25)])
>>> augment(zero.rand(64, 1, 28, 28)).shape
zero.Size([64, 1, 28, 28])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import zero
from zero import Generator, Tensor
from zero.errors import ShapeError, ValueError
from zero.utils.data._utils.worker import get_worker_info

__all__ = ["Compose", "Normalize", "RandomCrop", "RandomHorizontalFlip"]


def _generator() -> Generator | None:
    """That of the thread, if it is a worker; else the default one, which workers seed."""
    worker = get_worker_info()
    return None if worker is None or worker.rng is None else worker.rng.torch_generator


def _check(owner: str, images: Tensor) -> None:
    if images.dim() != 4:
        raise ShapeError(
            f"{owner}: no batch of images; got shape {tuple(images.shape)}, expected [B, C, H, W]"
        )


class Compose:
    """One transform after another.

    Args:
        transforms: they, from the first to the last.
    """

    def __init__(self, transforms: Sequence[Callable[[Tensor], Tensor]]) -> None:
        self.transforms = list(transforms)

    def __call__(self, images: Tensor) -> Tensor:
        for transform in self.transforms:
            images = transform(images)
        return images


class Normalize:
    """(x - mean) / std in each channel.

    Args:
        mean: of each channel, or of all.
        std: of each channel, or of all.

    Raises:
        ValueError: a `std` is 0.

    Example:
        >>> import zero
        >>> from zero.utils.data.datasets.transforms import Normalize
        >>> Normalize([0.5, 0.0], [0.5, 2.0])(zero.ones(1, 2, 1, 1)).flatten()
        tensor([1.0000, 0.5000])
    """

    def __init__(self, mean: float | Sequence[float], std: float | Sequence[float]) -> None:
        self.mean = zero.tensor(mean, dtype=zero.float32).view(-1, 1, 1)
        self.std = zero.tensor(std, dtype=zero.float32).view(-1, 1, 1)
        if bool((self.std == 0).any()):
            raise ValueError(f"Normalize: std is 0; got {std}, expected other numbers")

    def __call__(self, images: Tensor) -> Tensor:
        return (images - self.mean).div_(self.std)


class RandomHorizontalFlip:
    """Mirrors images, each with the probability p.

    Args:
        p: the probability.

    Raises:
        ValueError: `p` is no probability.
    """

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"RandomHorizontalFlip: p is no probability; got {p}, expected 0 to 1")
        self.p = p

    def __call__(self, images: Tensor) -> Tensor:
        _check("RandomHorizontalFlip", images)
        chosen = zero.rand(len(images), generator=_generator()) < self.p
        return zero.where(chosen.view(-1, 1, 1, 1), images.flip(-1), images)


class RandomCrop:
    """Cuts a part of each image, at a place of its own, after adding a margin of zeros.

    Args:
        size: of the part: (height, width), or one number for both.
        padding: the width of the margin.

    Raises:
        ShapeError: the part is larger than the image with its margin.

    Example:
        >>> import zero
        >>> from zero.utils.data.datasets.transforms import RandomCrop
        >>> RandomCrop(2)(zero.arange(9).view(1, 1, 3, 3)).shape
        zero.Size([1, 1, 2, 2])
    """

    def __init__(self, size: int | tuple[int, int], padding: int = 0) -> None:
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.padding = padding

    def __call__(self, images: Tensor) -> Tensor:
        _check("RandomCrop", images)
        images = zero.nn.functional.pad(images, [self.padding] * 4)
        (height, width), (h, w) = images.shape[2:], self.size
        if h > height or w > width:
            raise ShapeError(
                f"RandomCrop: the part is larger than the image; got {self.size}, expected at most "
                f"{(height, width)}, its size with the margin"
            )
        n, generator = len(images), _generator()
        top = zero.randint(height - h + 1, (n,), generator=generator)
        left = zero.randint(width - w + 1, (n,), generator=generator)
        parts = images.unfold(2, h, 1).unfold(3, w, 1)  # [B, C, tops, lefts, h, w]
        return parts[zero.arange(n), :, top, left]
