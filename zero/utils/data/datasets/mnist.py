"""MNIST and Fashion-MNIST, from their IDX files."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zero
from zero import Tensor
from zero.errors import ValueError
from zero.utils.data.datasets.images import ImageDataset, checked

__all__ = ["MNIST", "FashionMNIST"]

N = {"train": 60_000, "t10k": 10_000}


def read(owner: str, folder: Path, name: str) -> tuple[Path, bytes]:
    """The bytes of a file, which may be packed by gzip."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            data = path.read_bytes()
            if data[:2] == b"\x1f\x8b":
                try:
                    data = gzip.decompress(data)
                except (EOFError, OSError, zlib.error) as error:
                    raise ValueError(f"{owner}: {path} is damaged: {error}") from error
            return path, data
    raise FileNotFoundError(
        f"{owner}: a file is missing; got no {name} in {folder}, packed or not, expected the four "
        f"IDX files as published: train-images-idx3-ubyte.gz and so on (nothing is downloaded)"
    )


def parse(owner: str, path: Path, data: bytes, dims: int) -> Tensor:
    """An IDX file: two zeros, 8 for bytes, the number of dimensions, their sizes, the elements."""
    end = 4 + 4 * dims
    if data[:4] != bytes([0, 0, 8, dims]) or len(data) < end:
        raise ValueError(
            f"{owner}: {path} is no IDX file of bytes with {dims} dimensions; got the beginning "
            f"{data[:4].hex(' ')}, expected 00 00 08 {dims:02x}"
        )
    sizes = [int.from_bytes(data[i : i + 4], "big") for i in range(4, end, 4)]
    count = 1
    for size in sizes:
        count *= size
    if len(data) - end != count:
        raise ValueError(
            f"{owner}: {path} has another length than its sizes {sizes}; got {len(data) - end:,} "
            f"elements, expected {count:,}"
        )
    if count == 0:
        return zero.empty(sizes, dtype=zero.uint8)
    return zero.frombuffer(bytearray(data), dtype=zero.uint8, offset=end).reshape(sizes)


class MNIST(ImageDataset):
    """Handwritten digits: 60,000 images of 28 x 28 for training and 10,000 to test.

    `root` is the folder with the files as published, packed by gzip or not: for training
    ``train-images-idx3-ubyte.gz`` and ``train-labels-idx1-ubyte.gz``, to test ``t10k-…``. They are
    checked by size and, unpacked, by MD5. Samples are described at :class:`ImageDataset`.

    Args:
        root: the folder.
        train: the part for training, or the one to test.
        transform: of a batch of images, float32 [B, 1, 28, 28] in [0, 1].
        target_transform: of a batch of classes.
        check: False takes any images and classes in these files.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is not the published one.

    Y. LeCun, C. Cortes and C. J. C. Burges, The MNIST database of handwritten digits, 1998.
    """

    CLASSES = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    MD5 = {
        "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
        "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
        "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
        "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
    }

    def __init__(
        self,
        root: str | Path,
        train: bool = True,
        transform: Callable[[Tensor], Tensor] | None = None,
        target_transform: Callable[[Tensor], Tensor] | None = None,
        check: bool = True,
    ) -> None:
        part = "train" if train else "t10k"
        data = self._read(Path(root), f"{part}-images-idx3-ubyte", 3, 16 + 784 * N[part], check)
        targets = self._read(Path(root), f"{part}-labels-idx1-ubyte", 1, 8 + N[part], check)
        classes = self.CLASSES.split(", ")
        if len(targets) and int(targets.max().item()) >= len(classes):
            raise ValueError(
                f"{type(self).__name__}: a class is out of range; got {int(targets.max().item())}, "
                f"expected less than {len(classes)}"
            )
        super().__init__(data.unsqueeze(1), targets.long(), transform, target_transform, classes)
        self.train = train

    def _read(self, root: Path, name: str, dims: int, size: int, check: bool) -> Any:
        owner = type(self).__name__
        path, data = read(owner, root, name)
        if check:
            checked(owner, path, data, size, self.MD5[name])
        return parse(owner, path, data, dims)


class FashionMNIST(MNIST):
    """Pictures of clothes in the form of :class:`MNIST`, which see.

    H. Xiao, K. Rasul and R. Vollgraf, Fashion-MNIST, arXiv:1708.07747, 2017.
    """

    CLASSES = "T-shirt/top, Trouser, Pullover, Dress, Coat, Sandal, Shirt, Sneaker, Bag, Ankle boot"
    MD5 = {
        "train-images-idx3-ubyte": "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "train-labels-idx1-ubyte": "9018921c3c673c538a1fc5bad174d6f9",
        "t10k-images-idx3-ubyte": "8181f5470baa50b63fa0f6fddb340f0a",
        "t10k-labels-idx1-ubyte": "15d484375f8d13e6eb1aabb0c3f46965",
    }
