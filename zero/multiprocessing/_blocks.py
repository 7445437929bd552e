"""Blocks of memory that processes share, each a file without descriptors.

Every process that holds a block has a name of its own for the file, a hard link, and so has every
message on its way: the system counts them, and who gives up the last one gives up the memory. Names
lie in a folder for all processes of the program, which know it by the key that multiprocessing
hands down from parent to child. The program's first process removes the folder at its end; as long
as any of them lives it is locked, so that another program can tell what one left that was killed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import shutil
import tempfile
import time
import warnings
import weakref
from multiprocessing import current_process, parent_process, util
from typing import Any

import zero
from zero import Tensor
from zero.errors import OutOfMemoryError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["Block", "attach", "block_of", "share"]

PREFIX = "zero-"
SWEEP_AFTER = 60.0  # seconds; a folder gets its lock just after it was made

_blocks: weakref.WeakValueDictionary[tuple[int, int], Block] = weakref.WeakValueDictionary()
_numbers = itertools.count()
_folders: dict[str, int] = {}  # that this process has locked, and by which descriptor
_warned = False


class Block(zero._Memory):
    """Memory that processes share. Make one by :func:`create` or :func:`attach`."""

    path: str
    pid: int  # of the process whose name for the file it is

    def ticket(self) -> str:
        """A new name of the file, for the process that gets it in a message.

        Raises:
            RuntimeError: the file has no name any more.
        """
        try:
            return _named(os.path.dirname(self.path), lambda name: os.link(self.path, name))
        except FileNotFoundError:
            raise RuntimeError(
                "multiprocessing: this shared tensor cannot be sent on; got one that was inherited "
                "from a process which has let it go, expected that to keep it, or a clone()"
            ) from None

    def drop_name(self) -> None:
        if self.pid == os.getpid():
            self.pid = -1
            with contextlib.suppress(OSError):
                os.unlink(self.path)

    def __del__(self) -> None:
        if "pid" in self.__dict__:
            self.drop_name()


def _named(folder: str, make: Any) -> str:
    while True:
        path = os.path.join(folder, f"{os.getpid():x}-{next(_numbers):x}")
        try:
            make(path)
        except FileExistsError:  # of a process with this number before
            continue
        return path


def _places() -> list[str]:
    """Folders for shared memory, the best first."""
    places = ["/dev/shm"] if os.path.isdir("/dev/shm") else []
    return [*places, tempfile.gettempdir()]


def _folder(place: str) -> str:
    """The program's folder there, locked by this process."""
    key = hashlib.sha256(b"zero" + bytes(current_process().authkey)).hexdigest()[:20]
    path = os.path.join(place, PREFIX + key)
    while path not in _folders:
        if not _folders:
            util.Finalize(None, _leave, exitpriority=-100)
            for other in _places():
                _sweep(other)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
        if fcntl is None:
            _folders[path] = -1
            break
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if os.path.isdir(path) and os.path.samestat(os.stat(path), os.fstat(descriptor)):
                _folders[path] = descriptor
            else:  # swept meanwhile
                os.close(descriptor)
    return path


def _sweep(place: str) -> None:
    """Removes what programs left that were killed."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(place):
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _sweep_folder(entry)


def _sweep_folder(entry: os.DirEntry[str]) -> None:
    if fcntl is None:  # files in use cannot be removed there; messages on their way could be
        if time.time() - entry.stat().st_mtime > 24 * 3600:
            shutil.rmtree(entry.path, ignore_errors=True)
        return
    if time.time() - entry.stat().st_mtime < SWEEP_AFTER or entry.stat().st_uid != os.getuid():
        return
    descriptor = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(entry.path, ignore_errors=True)
    finally:
        os.close(descriptor)


def _leave() -> None:
    """At the end of a process: its names go; at the end of the program, all of them."""
    for block in list(_blocks.values()):
        block.drop_name()
    if parent_process() is None:
        for path in _folders:
            shutil.rmtree(path, ignore_errors=True)


def _in_child(_: object) -> None:
    """A forked child has its parent's locks, but an end of its own."""
    if _folders:
        util.Finalize(None, _leave, exitpriority=-100)


util.register_after_fork(_blocks, _in_child)


def _reserve(descriptor: int, nbytes: int) -> None:
    """Makes a file that large, with its memory, where the system can tell that there is none."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(descriptor, 0, nbytes)
            return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                raise
    os.ftruncate(descriptor, nbytes)


def _new_file(place: str, nbytes: int) -> tuple[int, str]:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    opened: list[int] = []
    path = _named(_folder(place), lambda name: opened.append(os.open(name, flags, 0o600)))
    try:
        _reserve(opened[0], nbytes)
    except BaseException:
        os.close(opened[0])
        os.unlink(path)
        raise
    return opened[0], path


def create(nbytes: int, op: str) -> Block:
    """A block of zeros.

    Raises:
        OutOfMemoryError: there is no room for it.
    """
    global _warned
    size = max(nbytes, 1)
    places = _places()
    failed = []
    for place in places:
        try:
            descriptor, path = _new_file(place, size)
        except OSError as error:
            failed.append(f"{place}: {error.strerror}")
            continue
        if failed and not _warned:
            _warned = True
            warnings.warn(
                f"{op}: no room for {size} bytes of shared memory in {places[0]}, so they lie in a "
                f"file in {place}, which may be slower; more of it (docker run --shm-size) avoids "
                "that (said once)",
                UserWarning,
                stacklevel=4,
            )
        return _opened(descriptor, path, nbytes)
    raise OutOfMemoryError(
        f"{op}: no room for shared memory; got {size} bytes, but {'; '.join(failed)}"
    )


def _opened(descriptor: int, path: str, nbytes: int) -> Block:
    status = os.fstat(descriptor)
    key = (status.st_dev, status.st_ino)
    block = _blocks.get(key)
    try:
        if block is None:
            block = _blocks[key] = Block(nbytes, file=descriptor)
        elif block.pid == os.getpid():  # has a name already
            os.unlink(path)
            return block
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)
    block.path, block.pid = path, os.getpid()
    return block


def attach(path: str, nbytes: int) -> Block:
    """The block that another process has sent; the name it was sent by is this process's now.

    Raises:
        RuntimeError: there is no such file.
    """
    _folder(os.path.dirname(os.path.dirname(path)))
    flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise RuntimeError(
            "multiprocessing: a shared tensor is gone; a message with tensors can be received "
            "once, and before the program that sent it has ended"
        ) from None
    if os.fstat(descriptor).st_size < nbytes:
        os.close(descriptor)
        raise RuntimeError(f"multiprocessing: not {nbytes} bytes of shared memory in {path}")
    return _opened(descriptor, path, nbytes)


def block_of(x: Tensor) -> Block | None:
    """The block that a tensor is in; None for other memory."""
    memory = zero._memory_of(x)
    return memory if isinstance(memory, Block) else None


def share(x: Tensor, op: str) -> Block:
    """Moves the memory of a tensor and its views to a block, if it isn't in one.

    Raises:
        RuntimeError: a meta tensor, or one whose memory another library uses.
        OutOfMemoryError: there is no room for it.
    """
    block = block_of(x)
    if block is None:
        if x.is_meta:
            raise RuntimeError(
                f"{op}: a meta tensor has no memory to share; got a tensor on meta, expected cpu"
            )
        block = create(x.untyped_storage().nbytes(), op)
        zero._move_to(x, block, op)
    return block
