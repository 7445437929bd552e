"""How a dataset gets to a worker that is no copy of the program: by pickle, less what is large.

Arrays and tensors from 4 KiB on are written to a slot of the arena, once for all workers, which map
it privately: what one writes, nobody else sees, as after a fork. Tensors in shared memory stay
there, and are one for all.
"""

from __future__ import annotations

import io
import mmap
import pickle
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

import zero
from zero import Tensor
from zero.utils.data._arena import Arena, File, NoRoom, Slots

__all__ = ["Parcel", "Shelf"]

LARGE = 1 << 12  # bytes


class Shelf:
    """The slot with what is large, while workers start.

    Attributes:
        full: something found no room, and was pickled.
    """

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.slot = arena.take(0, alone=True)
        self.slots = Slots(arena.file, 1)
        self.slots.begin(self.slot.number, fresh=True, more=False)
        self.places: dict[tuple[int, int], int] = {}  # by address and size
        self.held: list[Any] = []  # so that no other array gets the address of one that ended
        self.full = False

    def place(self, buffer: pickle.PickleBuffer) -> tuple[int, int] | None:
        """Where the contents of a buffer are in the slot; None if they aren't."""
        with buffer.raw() as raw:
            if raw.nbytes < LARGE:
                return None
            nbytes = raw.nbytes
            key = np.asarray(raw).__array_interface__["data"][0], nbytes
            begin = self.places.get(key)
            if begin is None:
                try:
                    begin = self.slots.place(nbytes)
                except NoRoom:
                    self.full = True
                    return None
                assert self.slots.memory is not None
                self.slots.memory.view[begin : begin + nbytes] = raw
                self.places[key] = begin
                self.held.append(buffer)
        return begin, nbytes

    def done(self) -> None:
        """All workers have started."""
        self.slots.end()
        self.slots.maps.clear()
        self.places.clear()
        self.held.clear()


class Packer(ForkingPickler):
    """Writes a dataset down.

    Args:
        file: where to.
        shelf: for what is large.
    """

    def __init__(self, file: Any, shelf: Shelf) -> None:
        self.shelf = shelf
        self.places: list[tuple[int, int]] = []
        super().__init__(file, 5, True, self.put)

    def put(self, buffer: pickle.PickleBuffer) -> bool:
        """Takes a buffer; True leaves it in the pickle."""
        place = self.shelf.place(buffer)
        if place is not None:
            self.places.append(place)
        return place is None

    def reducer_override(self, x: Any) -> Any:
        if isinstance(x, Tensor):
            return self.reduce_tensor(x)
        if type(x) in (np.ndarray, np.memmap) and x.nbytes >= LARGE and not x.dtype.hasobject:
            contiguous = x.flags.c_contiguous or x.flags.f_contiguous
            if not contiguous or type(x) is np.memmap:  # these NumPy would put into the pickle
                return self.reduce_array(x)
        return NotImplemented

    def reduce_tensor(self, x: Tensor) -> Any:
        has_graph = x.requires_grad and not x.is_leaf
        if x.is_meta or x.is_shared() or has_graph:  # the last one is an error
            return NotImplemented if x.is_meta else _shared(x)
        values = x.detach()
        if x.dtype is zero.bfloat16:
            values = values.view(zero.int16)
        more = type(x), x.requires_grad, dict(x.__dict__) or None
        return _tensor, (values.numpy(), x.dtype, more)

    def reduce_array(self, x: np.ndarray[Any, Any]) -> Any:
        """An array by all bytes from its first to its last, unless most of those aren't its own."""
        start: int = x.__array_interface__["data"][0]
        steps = [(n - 1) * stride for n, stride in zip(x.shape, x.strides, strict=True)]
        first = start + sum(min(step, 0) for step in steps)
        end = start + sum(max(step, 0) for step in steps) + x.itemsize
        if end - first > 2 * x.nbytes:
            compact = np.ascontiguousarray(x)
            self.shelf.held.append(compact)
            return np.ndarray.view, (compact, type(x))
        span = np.asarray(Span(x, first, end - first))
        form = (start - first, x.dtype, x.shape, x.strides)
        return _array, (span, form, x.flags.writeable, type(x))


class Span:
    """The memory around an array's elements, as bytes."""

    def __init__(self, array: np.ndarray[Any, Any], first: int, nbytes: int) -> None:
        self.array = array
        self.__array_interface__ = {
            "data": (first, False),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }


def _array(span: np.ndarray[Any, Any], form: tuple[Any, ...], writeable: bool, cls: Any) -> Any:
    start, dtype, shape, strides = form
    x: Any = np.ndarray(shape, dtype, span.data, start, strides)
    x.flags.writeable = writeable
    return x.view(cls)


def _shared(x: Tensor) -> Any:
    from zero.multiprocessing.reductions import reduce_tensor

    return reduce_tensor(x)


def _tensor(values: np.ndarray[Any, Any], dtype: zero.dtype, more: tuple[Any, ...]) -> Tensor:
    x = zero.from_numpy(values)
    return zero._dressed(x if x.dtype is dtype else x.view(dtype), *more)


class Parcel:
    """What a worker is given: the same objects after a fork, else equal ones.

    Args:
        content: anything.
        shelf: for what is large in it; None to pickle all of it.
    """

    def __init__(self, content: Any, shelf: Shelf | None) -> None:
        self.content, self.shelf = content, shelf

    def __reduce__(self) -> Any:
        shelf = self.shelf
        if shelf is None:
            return Parcel, (self.content, None)
        data = io.BytesIO()
        packer = Packer(data, shelf)
        packer.dump(self.content)
        file, number, used = shelf.arena.file, shelf.slot.number, shelf.slots.used
        return _opened, (file, number, used if packer.places else 0, packer.places, data.getvalue())


def _opened(
    file: File, number: int, used: int, places: list[tuple[int, int]], data: bytes
) -> Parcel:
    buffers: list[Any] = []
    if used:
        offset = number * file.span
        view = memoryview(mmap.mmap(file.descriptor, used, access=mmap.ACCESS_COPY, offset=offset))
        buffers = [view[begin : begin + nbytes] for begin, nbytes in places]
    return Parcel(pickle.loads(data, buffers=buffers), None)
