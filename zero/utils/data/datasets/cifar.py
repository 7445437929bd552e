"""CIFAR-10, from the binary version of its files."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import zero
from zero import Tensor
from zero.errors import ValueError
from zero.utils.data.datasets.images import ImageDataset, checked

__all__ = ["CIFAR10"]

ARCHIVE = "cifar-10-binary.tar.gz"
ARCHIVE_SIZE, ARCHIVE_MD5 = 170_052_171, "c32a1d4ab5d03f1284b67883e8d87530"
FOLDER = "cifar-10-batches-bin"
RECORD = 1 + 3 * 32 * 32  # the class, then the red, the green and the blue bytes, row by row


class CIFAR10(ImageDataset):
    """Photographs of ten kinds of things: 50,000 of 3 x 32 x 32 for training, 10,000 to test.

    `root` is a folder with the binary version of the dataset, ``cifar-10-binary.tar.gz``, or with
    what is in it: ``data_batch_1.bin`` to ``data_batch_5.bin`` and ``test_batch.bin``, also in a
    folder ``cifar-10-batches-bin``. The archive is checked by size and MD5; of the files in it no
    such sums are published, so that they are checked by size and classes. The Python version is not
    read: its files are pickles, which can run any code.

    Args:
        root: the folder, or the archive.
        train: the part for training, or the one to test.
        transform: of a batch of images, float32 [B, 3, 32, 32] in [0, 1].
        target_transform: of a batch of classes.
        check: False takes any number of images, and any archive.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is not the published one, or there is the Python version only.

    A. Krizhevsky, Learning multiple layers of features from tiny images, 2009.
    """

    CLASSES = "airplane automobile bird cat deer dog frog horse ship truck"

    def __init__(
        self,
        root: str | Path,
        train: bool = True,
        transform: Callable[[Tensor], Tensor] | None = None,
        target_transform: Callable[[Tensor], Tensor] | None = None,
        check: bool = True,
    ) -> None:
        names = [f"data_batch_{i}.bin" for i in range(1, 6)] if train else ["test_batch.bin"]
        records = zero.cat(
            [self._records(*file, check) for file in _files(Path(root), names, check)]
        )
        targets = records[:, 0].long()
        data = records[:, 1:].reshape(-1, 3, 32, 32)
        super().__init__(data, targets, transform, target_transform, self.CLASSES.split())
        self.train = train

    @staticmethod
    def _records(path: Path, data: bytes, check: bool) -> Tensor:
        if check:
            checked("CIFAR10", path, data, 10_000 * RECORD, None)
        if not data or len(data) % RECORD:
            raise ValueError(
                f"CIFAR10: {path} has no whole images; got {len(data):,} bytes, expected a "
                f"multiple of {RECORD}"
            )
        records = zero.frombuffer(bytearray(data), dtype=zero.uint8).view(-1, RECORD)
        if int(records[:, 0].max().item()) > 9:
            raise ValueError(
                f"CIFAR10: {path} has a class out of range; got {records[:, 0].max().item()}, "
                "expected 0 to 9"
            )
        return records


def _files(root: Path, names: list[str], check: bool) -> list[tuple[Path, bytes]]:
    for folder in (root, root / FOLDER):
        if (folder / names[0]).exists():
            return [(folder / name, (folder / name).read_bytes()) for name in names]
    archive = root if root.is_file() else root / ARCHIVE
    if archive.exists() and "python" not in archive.name:
        if check:
            checked("CIFAR10", archive, archive.read_bytes(), ARCHIVE_SIZE, ARCHIVE_MD5)
        return _unpacked(archive, names)
    pickled = [root, root / "cifar-10-batches-py", root / "cifar-10-python.tar.gz"]
    if (
        "python" in root.name
        or (root / "data_batch_1").exists()
        or any(path.exists() for path in pickled[1:])
    ):
        raise ValueError(
            f"CIFAR10: pickles, which can run any code, are not read; got the Python version in "
            f"{root}, expected the binary version, {ARCHIVE}, from the same page"
        )
    raise FileNotFoundError(
        f"CIFAR10: the files are missing; got neither {names[0]} nor {ARCHIVE} in {root}, expected "
        "the binary version of the dataset (nothing is downloaded)"
    )


def _unpacked(archive: Path, names: list[str]) -> list[tuple[Path, bytes]]:
    """Files of the archive, read without writing any."""
    found = {}
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                name = member.name.rpartition("/")[2]
                file = tar.extractfile(member) if name in names else None
                if file is not None:
                    found[name] = file.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ValueError(f"CIFAR10: {archive} is damaged: {error}") from error
    if missing := [name for name in names if name not in found]:
        raise ValueError(f"CIFAR10: {archive} is not the published file; got no {missing[0]} in it")
    return [(archive / name, found[name]) for name in names]
