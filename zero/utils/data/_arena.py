"""The memory in which batches come from worker processes: one file, cut into slots.

A worker makes each batch in the slot that came with the task, and the main program's tensors show
that very memory; when the last of them is gone, the slot is free for the next task. So a program
that drops its batches goes round a few slots, and one that keeps them gets new ones, all in one
file with one descriptor: a slot is an address range of many gigabytes, of which only what was
written to has memory. Small batches lie behind each other in a slot: a new one for each costs the
system ten times as much time as writing to it. On Linux the file has no name and no other limit
than memory has; elsewhere it is a temporary one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
import tempfile
import threading
import warnings
from collections import deque
from multiprocessing import reduction
from typing import Any

import zero
from zero import Tensor

__all__ = ["Arena", "File", "NoRoom", "Slot", "Slots"]

UNIT = 1 << 16  # what mappings are aligned to and counted in
SMALL = 1 << 14  # bytes of a batch that shares its slot, which takes more until so many are used
MAX_MAPPED = 20_000  # slots in use; the system lets a process have 65,530 mappings
PLACE_WANTED = 1 << 28  # free bytes in /dev/shm, where there are no files without a name


class NoRoom(Exception):
    """There is no memory for a batch."""


class File:
    """A file that processes share.

    Attributes:
        descriptor: of the open file.
        span: bytes from one slot to the next.
        reserves: whether memory must be asked for before it is written to.
    """

    def __init__(self) -> None:
        self.path: str | None = None
        self.owner = os.getpid()
        try:
            self.descriptor = os.memfd_create("zero-loader")
            self.span, self.reserves = 1 << 36, False
        except (AttributeError, OSError):
            self.descriptor, self.path = tempfile.mkstemp(prefix="zero-loader-", dir=_place())
            self.span, self.reserves = 1 << 32, True
            _make_sparse(self.descriptor)
            if os.name == "posix":
                os.unlink(self.path)
                self.path = None

    def __reduce__(self) -> Any:  # to a new process
        how = self.path or reduction.DupFd(self.descriptor)
        return _opened, (how, self.span, self.reserves)

    def grow(self, slots: int) -> None:
        os.ftruncate(self.descriptor, slots * self.span)

    def map(self, slot: int, nbytes: int) -> zero._Memory:
        return zero._Memory(nbytes, file=self.descriptor, offset=slot * self.span)

    def reserve(self, slot: int, begin: int, end: int) -> None:
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self.descriptor, slot * self.span + begin, end - begin)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                raise NoRoom(error.strerror) from None

    def close(self) -> None:
        os.close(self.descriptor)
        if self.path is not None and self.owner == os.getpid():
            try:
                os.unlink(self.path)
            except OSError:  # Windows, while a process has it
                pass


def _opened(how: Any, span: int, reserves: bool) -> File:
    file = File.__new__(File)
    file.path, file.owner = None, os.getpid()
    if isinstance(how, str):
        file.descriptor = os.open(how, os.O_RDWR | getattr(os, "O_BINARY", 0))
    else:
        file.descriptor = how.detach()
    file.span, file.reserves = span, reserves
    return file


def _make_sparse(descriptor: int) -> None:
    """Lets a file have room on Windows' disk for what is written alone; elsewhere it is so."""
    if sys.platform == "win32":
        import ctypes
        import msvcrt
        from ctypes import wintypes

        handle, returned = wintypes.HANDLE(msvcrt.get_osfhandle(descriptor)), wintypes.DWORD()
        set_sparse = 0x900C4  # FSCTL_SET_SPARSE
        ctypes.windll.kernel32.DeviceIoControl(
            handle, set_sparse, None, 0, None, 0, ctypes.byref(returned), None
        )


def _place() -> str:
    if os.path.isdir("/dev/shm"):
        free = shutil.disk_usage("/dev/shm").free
        if free >= PLACE_WANTED:
            return "/dev/shm"
        warnings.warn(
            f"DataLoader: /dev/shm has {free >> 20} MB left, too few to share batches in; they go "
            f"through files in {tempfile.gettempdir()}, which may be slower (docker run "
            "--shm-size avoids that)",
            UserWarning,
            stacklevel=1,
        )
    return tempfile.gettempdir()


# ---- the main program ----------------------------------------------------------------------------
class Slot:
    """A place for a batch, or a few small ones.

    Attributes:
        number: which one it is.
        worker: that writes to it.
        memory: what of it is mapped here.
        uses: tasks that are under way with it, and batches in it that are alive.
        used: bytes up to the end of the last batch that came.
    """

    __slots__ = ("memory", "number", "used", "uses", "worker")

    def __init__(self, number: int, worker: int) -> None:
        self.number, self.worker = number, worker
        self.memory: zero._Memory | None = None
        self.used = self.uses = 0


class Lease(zero._Memory):
    """What a batch has of its slot; the slot goes back when the last tensor in it is gone."""

    arena: Arena
    slot: Slot

    def __del__(self) -> None:
        if "slot" in self.__dict__:
            self.arena.give_back(self.slot)


class Arena:
    """The slots, as the main program sees them.

    Args:
        workers: how many there are. A slot stays with one, which has it mapped.
        ahead: how many free slots a worker keeps.
        pins: lock the memory, see :meth:`zero.Tensor.pin_memory`.
    """

    def __init__(self, workers: int, ahead: int, pins: bool) -> None:
        self.file = File()
        self.ahead, self.pins, self.closed = ahead, pins, False
        self.free: list[deque[Slot]] = [deque() for _ in range(workers)]
        self.filling: list[Slot | None] = [None] * workers  # slots that take more batches
        self.small = [False] * workers  # whether the last batch was
        self.lock = threading.RLock()  # tensors end in any thread
        self.empty: deque[int] = deque()  # numbers of slots without memory
        self.count = 1  # of slots; the first one is for `round`
        self.mapped = 0
        self.file.grow(1)
        self._round = self.file.map(0, UNIT).view.cast("q")

    @property
    def round(self) -> int:
        """The number of the epoch, for workers to see which tasks are of another; -1 at the end."""
        return self._round[0]

    @round.setter
    def round(self, number: int) -> None:
        self._round[0] = number

    def take(self, worker: int, alone: bool = False) -> Slot:
        """A slot for a task, behind other batches if they are small; an empty one if `alone`."""
        with self.lock:
            slot = None if alone else self.filling[worker]
            if slot is None or slot.used > SMALL:
                slot = self._empty_slot(worker)
                slot.used = 0
                self.filling[worker] = slot if self.small[worker] and not alone else None
            slot.uses += 1
        return slot

    def _empty_slot(self, worker: int) -> Slot:
        if self.free[worker]:
            return self.free[worker].pop()
        if self.empty:
            return Slot(self.empty.popleft(), worker)
        self.file.grow(self.count + 1)
        self.count += 1
        return Slot(self.count - 1, worker)

    def give_back(self, slot: Slot) -> None:
        """One use less; of free slots beyond those ahead the memory goes back to the system."""
        if os.getpid() != self.file.owner:  # a forked process drops its view of a batch
            return
        with self.lock:
            slot.uses -= 1
            if slot.uses:
                return
            if self.filling[slot.worker] is slot:
                self.filling[slot.worker] = None
            if not self.closed and len(self.free[slot.worker]) < self.ahead:
                self.free[slot.worker].append(slot)
                return
            self._drop(slot)
            if not self.closed:
                self.empty.append(slot.number)

    def _drop(self, slot: Slot) -> None:
        if slot.memory is not None:
            slot.memory.discard()
            slot.memory = None
            self.mapped -= 1

    def wipe(self, slot: Slot) -> None:
        """The same for a slot that a worker which has ended may have written to."""
        if slot.uses == 1:
            with contextlib.suppress(MemoryError):
                self.file.map(slot.number, self.file.span).discard()
        self.give_back(slot)

    def show(self, slot: Slot, used: int) -> zero._Memory:
        """The first bytes of a slot, for the batch that ends there and came last.

        It comes back by itself when they are not used any more.
        """
        self.small[slot.worker] = used - slot.used <= SMALL
        slot.used = used
        memory = slot.memory
        if memory is None or len(memory) < used:
            if memory is None:
                self.mapped += 1
            memory = slot.memory = self.file.map(slot.number, -(-used // UNIT) * UNIT)
            if self.pins:
                memory.lock()
        if self.mapped > MAX_MAPPED:
            copied = zero._Memory(used)
            if self.pins:
                copied.lock()
            copied.view[:] = memory.view[:used]
            self.give_back(slot)
            return copied
        lease = Lease(used, base=memory)
        lease.arena, lease.slot = self, slot
        return lease

    def close(self) -> None:
        """No worker writes any more; what is in use stays until it is dropped."""
        with self.lock:
            if self.closed:
                return
            self.closed = True
            for slots in self.free:
                while slots:
                    self._drop(slots.pop())
        self._round.release()
        self.file.close()


# ---- a worker ------------------------------------------------------------------------------------
class Slots:
    """The slots, as a worker sees them: :meth:`begin` one, then :meth:`allocate` in it.

    Args:
        file: the file.
        keep: how many slots to keep mapped.
    """

    def __init__(self, file: File, keep: int) -> None:
        self.file, self.keep = file, keep
        self.number = self.used = self.first = 0
        self.maps: dict[int, zero._Memory] = {}
        self.reserved: dict[int, int] = {}
        self.memory: zero._Memory | None = None
        self.round = file.map(0, UNIT).view.cast("q")

    def begin(self, number: int, fresh: bool, more: bool) -> None:
        """All that is allocated now lies in this slot.

        Args:
            number: of the slot.
            fresh: it has no memory yet.
            more: there may be batches in it, which stay.
        """
        if fresh:
            self.reserved.pop(number, None)
        if not more or number != self.number:
            self.used = 0
        self.number, self.first = number, self.used
        self.memory = self.maps.pop(number, None) or self.file.map(number, 1 << 24)
        self.older: list[zero._Memory] = []
        while len(self.maps) >= self.keep:
            del self.maps[next(iter(self.maps))]

    def place(self, nbytes: int) -> int:
        """Where in the slot there is room for so many bytes.

        Raises:
            NoRoom: nowhere.
        """
        assert self.memory is not None
        begin = -(-self.used // 64) * 64
        end = begin + nbytes
        if end > self.file.span:
            raise NoRoom(f"a batch of {end} bytes")
        if self.file.reserves and end > self.reserved.get(self.number, 0):
            self.file.reserve(self.number, begin, end)
            self.reserved[self.number] = end
        if end > len(self.memory):
            larger = min(max(2 * len(self.memory), -(-end // UNIT) * UNIT), self.file.span)
            self.older.append(self.memory)
            self.memory = self.file.map(self.number, larger)
        self.used = end
        return begin

    def allocate(self, shape: tuple[int, ...], dtype: zero.dtype) -> Tensor:
        """A tensor in the slot, or elsewhere if there is no room."""
        nbytes = dtype.itemsize
        for size in shape:
            nbytes *= size
        try:
            begin = self.place(nbytes)
        except NoRoom:
            return zero.empty(shape, dtype=dtype)
        assert self.memory is not None
        return self.memory.tensor(dtype, shape, begin=begin, nbytes=nbytes)

    def begin_of(self, x: Tensor) -> int | None:
        """Where in the slot a tensor lies; None if it is elsewhere."""
        memory = zero._memory_of(x)
        if memory is not None and (memory is self.memory or memory in self.older):
            return x.data_ptr() - memory.address
        return None

    def end(self) -> None:
        """The batch is complete, and goes to the main program.

        Tensors in it that the dataset keeps, in a cache for example, get memory of their own: the
        slot will hold other batches.
        """
        assert self.memory is not None
        current = self.memory
        self.memory = None
        if current.users == 0:
            self.maps[self.number] = current
        for memory in (current, *self.older):
            if memory.users > 0:
                memory.part_from_file(min(self.used, len(memory)))
        self.older.clear()
