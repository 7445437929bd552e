"""Checkpoints are read: the archive's pickle, and the memory that it names."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import zero
from zero.serialization._errors import CheckpointError
from zero.serialization._files import Source, bytes_of, is_path
from zero.serialization._globals import STORAGES, find, one_of, set_state, trusted_types
from zero.serialization._unpickle import Global, Truncated, Unpickler
from zero.serialization._zip import Archive, Record
from zero.storage import TypedStorage, UntypedStorage

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["CallersError", "MapLocation", "load_archive", "load_old", "not_a_checkpoint"]

MAGIC, VERSION = 0x1950A86A20F9469CFC6C, 1001  # of PyTorch's files before 1.6


# ---- where storages go ---------------------------------------------------------------------------
class CallersError(BaseException):
    """Carries an error of the caller's function past the reader, which takes others for damage."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class MapLocation:
    """Where a storage goes that was at a location when it was saved.

    Args:
        target: None, a device or its name, a dict from locations to such, or a function of a
            storage on the CPU and its location that returns a storage or None.
    """

    def __init__(self, target: Any) -> None:
        if not (target is None or isinstance(target, str | zero.device | dict) or callable(target)):
            raise TypeError(
                f"load: map_location is of another type; got a {type(target).__name__}, expected "
                "None, a device, a str, a dict or a function"
            )
        self.target = target

    def on_meta(self, location: str) -> bool:
        """Whether the content is left out."""
        if callable(self.target):
            return False
        target = self.target
        if isinstance(target, dict):
            target = target.get(location, location)
        return device_type(location if target is None else target) == "meta"

    def placed(self, storage: TypedStorage | UntypedStorage, location: str) -> Any:
        if not callable(self.target):
            return storage
        given = storage if isinstance(storage, UntypedStorage) else storage.untyped()
        try:
            answer = self.target(given, location)
        except Exception as error:
            raise CallersError(error) from None
        if answer is given or (answer is None and device_type(location) == "cpu"):
            return storage
        if not isinstance(answer, TypedStorage | UntypedStorage):
            raise CallersError(
                TypeError(
                    f"load: map_location returned another type; got a {type(answer).__name__}, "
                    "expected a storage or None"
                )
            )
        if isinstance(storage, UntypedStorage):
            return answer if isinstance(answer, UntypedStorage) else answer.untyped()
        if isinstance(answer, TypedStorage):
            answer = answer.untyped()
        whole = zero.empty(0, dtype=zero.uint8, device=answer.device).set_(answer)
        return TypedStorage(whole.view(storage.dtype))


def device_type(location: Any) -> str:
    """ "cpu" or "meta"; an error with the remedy for devices that aren't here."""
    kind = str(location).partition(":")[0]
    if kind not in ("cpu", "meta"):
        raise CheckpointError(
            f"a tensor was saved on or is to go to {str(location)!r:.60}, and zero computes on "
            "CPUs; load(…, map_location='cpu') puts all tensors on the CPU"
        )
    return kind


# ---- archives ------------------------------------------------------------------------------------
class Storages:
    """The storages of an archive, each read when the pickle first names it.

    Args:
        archive: the open archive.
        place: where they go.
        memory: the file mapped into memory, to share it instead of reading.
    """

    def __init__(self, archive: Archive, place: MapLocation, memory: Any) -> None:
        self.archive, self.place, self.memory = archive, place, memory
        self.contents: dict[str, tuple[zero.Tensor, int]] = {}
        self.known: dict[tuple[str, object], Any] = {}
        order = archive.read("byteorder").decode("latin1") if "byteorder" in archive else "little"
        if order not in ("little", "big"):
            raise archive.source.damaged(f"its byte order is {order!r:.40}")
        self.swapped = order != sys.byteorder

    def __call__(self, identity: Any) -> Any:
        dtype, key, location, count = storage_fields(identity, 5)
        item = 1 if dtype is None else dtype.itemsize
        record = self.archive[f"data/{key}"]
        if record.size != count * item:
            raise CheckpointError(
                f"a storage of {count} elements of {item} bytes is said to be in "
                f"{record.name!r:.100}, which has {record.size} bytes"
            )
        if (key, dtype) not in self.known:
            if self.place.on_meta(location):
                made = on_meta(count, dtype)
            else:
                made = self.place.placed(typed(self._content(key, record, item), dtype), location)
            self.known[key, dtype] = made
        return self.known[key, dtype]

    def _content(self, key: str, record: Record, item: int) -> zero.Tensor:
        if key not in self.contents:
            self.contents[key] = self._read(record, item), item
        content, as_read = self.contents[key]
        if self.swapped and item != as_read:
            raise CheckpointError("a storage has two dtypes and another machine's byte order")
        return content

    def _read(self, record: Record, item: int) -> zero.Tensor:
        if self.memory is not None and record.size and record.offset % item == 0:
            content = zero.frombuffer(
                self.memory, dtype=zero.uint8, count=record.size, offset=record.offset
            )
        else:
            content = zero.empty(record.size, dtype=zero.uint8, device="cpu")
            if record.size:
                self.archive.fill(record, bytes_of(content))
        if self.swapped:
            swap(content, item)
        return content


def storage_fields(identity: Any, n: int) -> list[Any]:
    """dtype (None for bytes), key, location, number of elements and what follows."""
    if type(identity) is not tuple or len(identity) != n:
        raise CheckpointError("it names something outside of the pickle that is no storage")
    kind, storage, key, location, count, *rest = identity
    kind, key, location = (
        x.decode("latin1") if type(x) is bytes else x for x in (kind, key, location)
    )
    if type(key) is int and abs(key) < 1 << 64:
        key = str(key)
    good = type(kind) is type(key) is type(location) is str and kind == "storage"
    if (
        not good
        or type(storage) is not Global
        or type(count) is not int
        or count < 0
        or storage not in STORAGES
    ):
        raise CheckpointError("it names something outside of the pickle that is no storage")
    return [STORAGES[storage], key, location, count, *rest]


def typed(content: zero.Tensor, dtype: zero.dtype | None) -> TypedStorage | UntypedStorage:
    if dtype is None:
        return UntypedStorage(content)
    if dtype is zero.bool and content.numel() and int(content.max()) > 1:
        content.copy_(content != 0)  # loops rely on 0 and 1
    return TypedStorage(content.view(dtype))


def on_meta(count: int, dtype: zero.dtype | None) -> TypedStorage | UntypedStorage:
    made = zero.empty(count, dtype=dtype or zero.uint8, device="meta")
    return UntypedStorage(made) if dtype is None else TypedStorage(made)


def swap(content: zero.Tensor, item: int) -> None:
    """Turns round the bytes of each element."""
    if item > 1 and content.numel():
        import numpy

        numpy.frombuffer(bytes_of(content), dtype=f"u{item}").byteswap(inplace=True)


def load_archive(
    source: Source, place: MapLocation, mapped: bool, encoding: str, check: bool
) -> Any:
    """What a file of PyTorch's zip format holds."""
    archive = Archive(source, check)
    refuse_others(archive)
    if "version" in archive:
        version = archive.read("version").strip()
        if not version.isdigit() or not 1 <= int(version[:9]) <= 10:
            raise source.damaged(f"its version is {version!r:.40}, and known are 1 to 10")
    memory = None
    if mapped:
        import mmap

        # Written to in memory only, and kept while a tensor uses it.
        memory = mmap.mmap(source.file.fileno(), 0, access=mmap.ACCESS_COPY)
    storages = Storages(archive, place, memory)
    reader = Unpickler(
        archive.read("data.pkl"), 0, find, storages, set_state, trusted_types(), encoding
    )
    return reader.load()


def refuse_others(archive: Archive) -> None:
    if "constants.pkl" in archive:
        raise CheckpointError(
            f"load: {archive.source.name} is a TorchScript archive, which holds a program; in "
            "PyTorch, torch.save(torch.jit.load(path).state_dict(), …) saves its parameters"
        )
    if "data.pkl" not in archive:
        raise CheckpointError(
            f"load: {archive.source.name} is a zip archive but no checkpoint: it has no record "
            "data.pkl"
        )


# ---- files of PyTorch before 1.6 -----------------------------------------------------------------
class OldStorages:
    """Storages whose content stands behind the pickle that names them."""

    def __init__(self, place: MapLocation, limit: int) -> None:
        self.place, self.left = place, limit
        self.known: dict[str, Any] = {}  # dtype, content, storage
        self.parts: dict[tuple[str, str, object], Any] = {}

    def __call__(self, identity: Any) -> Any:
        if type(identity) is tuple and identity and one_of(identity[0], "module", b"module"):
            raise CheckpointError("it holds a whole module; save its state_dict() instead")
        dtype, key, location, count, part = storage_fields(identity, 6)
        item = 1 if dtype is None else dtype.itemsize
        if key not in self.known:
            self.left -= count * item
            if self.left < 0:
                raise CheckpointError("its storages are larger than the file")
            if self.place.on_meta(location):
                content, storage = None, on_meta(count, dtype)
            else:
                content = zero.zeros(count * item, dtype=zero.uint8, device="cpu")
                storage = self.place.placed(plainly(content, dtype), location)
            self.known[key] = dtype, content, storage, count
        known, content, storage, size = self.known[key]
        if known is not dtype or size != count:
            raise CheckpointError("a storage is named with two dtypes or sizes")
        if part is None:
            return storage
        if type(part) is not tuple or len(part) != 3 or type(part[0]) not in (str, int):
            raise CheckpointError("a part of a storage is not what writers write")
        offset, size = part[1:]
        for n in (offset, size):
            if type(n) is not int or n < 0 or offset + size > count:
                raise CheckpointError("a part of a storage reaches outside of it")
        if content is None:
            return on_meta(size, dtype)
        return plainly(content[offset * item : (offset + size) * item], dtype)


def plainly(content: zero.Tensor, dtype: zero.dtype | None) -> TypedStorage | UntypedStorage:
    return UntypedStorage(content) if dtype is None else TypedStorage(content.view(dtype))


def load_old(source: Source, place: MapLocation, encoding: str) -> Any:
    """What a file of PyTorch's format before 1.6 holds: pickles, and the content of storages."""
    size = min(source.size, 1 << 16)
    while True:
        data = source.read(0, size)
        try:
            return _old_pickles(source, data, place, encoding)
        except Truncated:  # the pickles are longer: once more with more of the file
            size = min(2 * size, source.size)


def _old_pickles(source: Source, data: bytes, place: MapLocation, encoding: str) -> Any:
    whole, position = len(data) == source.size, 0
    storages = OldStorages(place, source.size)

    def no_storages(identity: Any) -> Any:
        raise CheckpointError("it names a storage where none can be")

    def following(persistent: Callable[[Any], Any] = no_storages) -> Any:
        nonlocal position
        reader = Unpickler(
            data, position, find, persistent, set_state, trusted_types(), encoding, whole
        )
        result = reader.load()
        position = reader.position
        return result

    if not one_of(following(), MAGIC):
        raise CheckpointError("it is a pickle but no checkpoint of PyTorch")
    if not one_of(following(), VERSION):
        raise CheckpointError(f"its version is not {VERSION}")
    about = following()
    little = type(about) is not dict or about.get("little_endian") is not False
    result = following(storages)
    keys = following()
    names = (
        [str(key) for key in keys if type(key) is str or (type(key) is int and abs(key) < 1 << 64)]
        if type(keys) is list
        else []
    )
    if sorted(names) != sorted(storages.known):
        raise CheckpointError("its list of storages is another than the tensors need")
    for name in names:
        dtype, content, _, count = storages.known[name]
        item = 1 if dtype is None else dtype.itemsize
        said = int.from_bytes(source.read(position, 8), "little" if little else "big")
        if said != count:
            raise source.damaged(f"a storage has {said} elements where {count} are expected")
        position += 8
        if position + count * item > source.size:
            raise source.damaged("it ends in the middle of a storage")
        if content is not None and count:
            source.fill(position, bytes_of(content))
            if little != (sys.byteorder == "little"):
                swap(content, item)
            if dtype is zero.bool and int(content.max()) > 1:
                content.copy_(content != 0)
        position += count * item
    return result


# ---- what else is given to load ------------------------------------------------------------------
BEGINNINGS = {
    b"PK\3\4": "",
    b"version https://git-lfs": "it is a pointer of git-lfs, not the file; `git lfs pull` gets it",
    b"<": "it is a page of the web or another text, not the file",
    b"\x93NUMPY": "it is an array of numpy; zero.from_numpy(numpy.load(path)) reads it",
    b"\x89HDF": "it is an HDF5 file",
    b"\x1f\x8b": "it is compressed by gzip; load(gzip.open(path)) reads what is inside",
    b"{": "it is a text, such as JSON",
}


def not_a_checkpoint(source: Source) -> str | None:
    """Why a file is none, by its first bytes; None if it may be one."""
    head = source.read(0, min(source.size, 512))
    if not head:
        at = "from its position on; f.seek(0) goes to its beginning" if source.start else "at all"
        return f"there are no bytes in it {at}"
    if head[257:262] == b"ustar":
        return "it is in PyTorch's format before 0.2, which PyTorch itself can load and save anew"
    if head[8:10] == b'{"' and head[6:8] == b"\0\0":
        return "it is in the format of safetensors; zero.safetensors.load_file reads it"
    for beginning, what in BEGINNINGS.items():
        if head.startswith(beginning) and what:
            return what
    if head[:2] != b"PK" and head[0] != 0x80:
        return f"its first bytes are {head[:8]!r}"
    return None


def path_of(f: Any) -> str | None:
    return os.fspath(f) if is_path(f) else None
