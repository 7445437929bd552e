"""Files as they are read from, and as they are replaced in one step."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from contextlib import contextmanager, suppress

from zero.serialization._errors import CheckpointError

__all__ = ["Source", "bytes_of", "is_path", "opened", "replaced", "write_all"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def is_path(f: object) -> bool:
    return isinstance(f, str | os.PathLike)


class Source:
    """The bytes of a file from its position on, at offsets counted from there.

    Args:
        file: open for binary reading, and seekable.
        name: how errors call it.
    """

    def __init__(self, file: Any, name: str) -> None:
        self.file, self.name = file, name
        try:
            self.start = file.tell()
            self.size = file.seek(0, io.SEEK_END)
            if self.size is None:  # a file object of somebody's own
                self.size = file.tell()
            file.seek(self.start)
        except (AttributeError, OSError, ValueError) as error:
            raise CheckpointError(
                f"load: {name} cannot be searched; got a {type(file).__name__} ({error}), expected "
                "a path or a file with seek, tell and read; io.BytesIO(f.read()) is one"
            ) from None
        self.size = max(self.size - self.start, 0)
        self.into = getattr(file, "readinto", None)

    def fill(self, offset: int, buffer: memoryview) -> None:
        """Reads the whole of a writable buffer."""
        self.file.seek(self.start + offset)
        done = 0
        while done < len(buffer):
            if self.into is not None:
                n = self.into(buffer[done:])
            else:
                part = self.file.read(len(buffer) - done)
                n = len(part)
                buffer[done : done + n] = part
            if not n:
                raise self.damaged(f"it ends at byte {offset + done}, where more was to come")
            done += n

    def read(self, offset: int, size: int) -> bytes:
        """`size` bytes; an error where the file has fewer."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise self.damaged(
                f"it has {self.size} bytes, and a part of it is said to be at {offset} to "
                f"{offset + size}"
            )
        buffer = bytearray(size)
        self.fill(offset, memoryview(buffer))
        return bytes(buffer)

    def damaged(self, what: str) -> CheckpointError:
        return CheckpointError(f"load: {self.name} is damaged: {what}")


@contextmanager
def opened(f: Any) -> Iterator[Source]:
    """A path or a file object as a Source."""
    if is_path(f):
        path = os.fspath(f)
        with open(path, "rb", buffering=0) as file:
            yield Source(file, repr(path))
    elif not hasattr(f, "read"):
        hint = "; io.BytesIO(…) makes one of bytes" if isinstance(f, bytes | bytearray) else ""
        raise TypeError(
            f"load: f is no file; got a {type(f).__name__}, expected a path or a file that is open "
            f"for binary reading{hint}"
        )
    elif isinstance(f, io.TextIOBase):
        raise TypeError("load: f is open as text; got a text file, expected open(path, 'rb')")
    else:
        name = getattr(f, "name", None)
        source = Source(f, repr(name) if isinstance(name, str) else f"the {type(f).__name__}")
        yield source
        f.seek(source.start + source.size)


def bytes_of(flat: Any) -> memoryview:
    """The memory of a tensor of bytes."""
    return memoryview(flat)


def write_all(file: Any, data: bytes | memoryview) -> None:
    """Writes all bytes, also to files whose write may stop early."""
    n = file.write(data)
    while n is not None and n < len(data):
        data = memoryview(data)[n:]
        n = file.write(data)


@contextmanager
def replaced(path: Any, named: bool = False) -> Iterator[Any]:
    """A file to write, which takes the place of `path` when the block ends without an error.

    Until then, and after an error or a crash, what was at `path` is there as it was. A link stays,
    what it leads to is replaced; the permissions of the old file are kept, those of a new one are
    the usual.

    Args:
        path: the path.
        named: whether another program writes to the file by its name, which is the `name` of what
            is given. Otherwise nothing is left behind by a process that is killed, where the system
            can.
    """
    target = os.path.realpath(os.fspath(path))
    try:
        old = os.stat(target)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(target, "wb") as file:  # a device or a pipe; a folder is an error
            yield file
        return
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file may not be written", target)
    folder = os.path.dirname(target)
    beside = os.path.join(folder, f".zero-{os.urandom(8).hex()}.tmp")
    descriptor = None if named else _without_name(folder)
    if descriptor is None:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
        descriptor, named = os.open(beside, flags, 0o666), True
    try:
        # The name is shown only: the file is open.
        with open(beside, "wb", buffering=0, opener=lambda *_: descriptor) as file:
            yield file
            mode = stat.S_IMODE((old or os.fstat(file.fileno())).st_mode)
            if named:
                with open(beside, "rb+") as written:  # another file than ours, it may be
                    os.fsync(written.fileno())
            else:
                os.fsync(file.fileno())
                _give_name(file.fileno(), folder, beside)
                named = True
            os.chmod(beside, mode)
        os.replace(beside, target)
    except BaseException:
        if named:
            with suppress(OSError):
                os.unlink(beside)
        raise
    _sync_folder(folder)


def _without_name(folder: str) -> int | None:
    """A new file in the folder that has no name yet, if the system has such."""
    if sys.platform == "linux" and os.path.exists("/proc/self/fd"):
        with suppress(OSError):  # not on every file system
            return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    return None


def _give_name(descriptor: int, folder: str, beside: str) -> None:
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:  # with a dir_fd, os.link follows the link to the file without a name
        os.link(f"/proc/self/fd/{descriptor}", os.path.basename(beside), dst_dir_fd=at)
    finally:
        os.close(at)


def _sync_folder(folder: str) -> None:
    if os.name == "posix":
        with suppress(OSError):  # some file systems have no sync of folders
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
