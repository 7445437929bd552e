"""Folders of images, one for each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import zero
from zero import Tensor
from zero.errors import Error, ValueError
from zero.utils.data._utils.collate import unequal
from zero.utils.data.dataset import Dataset

__all__ = ["ImageFolder"]

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")


class ImageFolder(Dataset[tuple[Tensor, int]]):
    """Image files in a folder for each class: ``root/cat/1.png``, ``root/dog/old/2.jpg``, …

    A sample is a float32 image and an int. Images are read when they are asked for, with Pillow,
    which releases the interpreter's lock: ``DataLoader(…, worker_type="thread")`` reads several at
    a time. A whole batch is transformed at once.

    Args:
        root: the folder. Its folders are the classes, in the order of their names.
        size: (height, width), or one number for both: images are scaled until the shorter side
            fits, and their middle is taken. Without it, all images of a batch need the same size.
        mode: how Pillow converts them: ``"RGB"`` (3 channels), ``"L"`` (grey, 1), ``"RGBA"``.
        transform: called with a batch of images, float32 [B, C, H, W] in [0, 1]; what it returns
            takes their place. See :mod:`zero.utils.data.datasets.transforms`.
        extensions: of the files that are images.

    Raises:
        FileNotFoundError: no folder, no class, or a class without images.
        RuntimeError: Pillow is missing.

    Attributes:
        classes: the names of the classes.
        class_to_idx: the number of each.
        samples: paths and classes.
    """

    def __init__(
        self,
        root: str | Path,
        size: int | tuple[int, int] | None = None,
        mode: str = "RGB",
        transform: Callable[[Tensor], Tensor] | None = None,
        extensions: Sequence[str] = SUFFIXES,
    ) -> None:
        try:
            import PIL.Image  # noqa: F401
        except ImportError as error:
            raise Error("ImageFolder: it needs Pillow: pip install zerograd[data]") from error
        if mode not in ("RGB", "L", "RGBA"):
            raise ValueError(
                f"ImageFolder: no such mode; got {mode!r}, expected 'RGB', 'L', 'RGBA'"
            )
        self.root, self.mode, self.transform = Path(root), mode, transform
        self.size = (size, size) if isinstance(size, int) else size
        folders = sorted(p for p in self.root.iterdir() if p.is_dir()) if self.root.is_dir() else []
        if not folders:
            raise FileNotFoundError(
                f"ImageFolder: no classes; got no folders in {self.root}, expected one for each"
            )
        self.classes = [folder.name for folder in folders]
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.samples: list[tuple[Path, int]] = []
        for target, folder in enumerate(folders):
            suffixes = tuple(extensions)
            paths = sorted(p for p in folder.rglob("*") if p.name.lower().endswith(suffixes))
            if not paths:
                raise FileNotFoundError(
                    f"ImageFolder: a class without images; got none in {folder}, expected files "
                    f"that end in one of {', '.join(extensions)}"
                )
            self.samples += [(path, target) for path in paths]
        self.targets = [target for _, target in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def _read(self, path: Path) -> Any:
        """An image as an array of bytes, [H, W, C]."""
        import numpy as np
        from PIL import Image, ImageOps

        try:
            with Image.open(path) as file:
                image = file.convert(self.mode)
        except OSError as error:
            raise Error(f"ImageFolder: {path} cannot be read: {error}") from error
        if self.size is not None:
            image = ImageOps.fit(image, self.size[::-1], Image.Resampling.BILINEAR)
        pixels = np.asarray(image)
        return pixels if pixels.ndim == 3 else pixels[:, :, None]

    def __getitem__(self, index: Any) -> tuple[Tensor, int]:
        index = range(len(self))[index]
        images, targets = self.__getbatch__([index])
        return images[0], int(targets[0].item())

    def __getbatch__(self, indices: Any) -> Any:
        indices = indices.tolist() if isinstance(indices, Tensor) else indices
        chosen = [self.samples[i] for i in indices]
        arrays = [self._read(path) for path, _ in chosen]
        for i, array in enumerate(arrays):
            if array.shape != arrays[0].shape:
                raise unequal(
                    f"ImageFolder: images of different sizes make no batch; got {chosen[0][0]} of "
                    f"{arrays[0].shape[:2]} and {chosen[i][0]} of {array.shape[:2]} (height, "
                    "width), expected one size: the option size= gives all the same",
                    i,
                )
        images = zero.empty(len(arrays), *arrays[0].shape, dtype=zero.uint8)
        for image, array in zip(images.numpy(), arrays, strict=True):
            image[:] = array
        floats = images.permute(0, 3, 1, 2).to(zero.float32).contiguous().div_(255)
        if self.transform is not None:
            floats = self.transform(floats)
        return [floats, zero.tensor([target for _, target in chosen])]
