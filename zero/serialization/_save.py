"""Checkpoints are written: which memory the tensors need, and the archive around it."""

from __future__ import annotations

import sys

import zero
from zero.serialization._files import bytes_of
from zero.serialization._globals import STORAGE_NAMES
from zero.serialization._pickle import NO_HOOKS, Pickler, global_, integer, numbers, text
from zero.serialization._zip import ALIGNMENT, ArchiveWriter

__all__ = ["save_archive"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

UNTYPED = global_("torch.storage", "UntypedStorage")


class View:
    """What a tensor in a pickle needs: an interval of memory."""

    def __init__(self, place: int, x: Any, dtype: Any, options: Any) -> None:
        self.place, self.tensor, self.dtype, self.options = place, x, dtype, options
        self.sizes, self.strides = tuple(x.shape), tuple(x.stride())
        self.first, self.item = x.data_ptr(), x.element_size()
        elements = 0
        if x.numel():
            spans = zip(self.sizes, self.strides, strict=True)
            elements = 1 + sum((size - 1) * stride for size, stride in spans)
        self.elements, self.end = elements, self.first + elements * self.item

    def memory(self) -> memoryview:
        """The bytes from the first element to the last."""
        if not self.elements:
            return memoryview(b"")
        storage = self.tensor.detach().untyped_storage()
        whole = zero.empty(0, dtype=zero.uint8, device="cpu").set_(storage)
        start = self.first - whole.data_ptr()
        return bytes_of(whole)[start : start + self.end - self.first]

    def close(self) -> None:
        """Takes a copy without the gaps between its elements, if there are any.

        The dimensions keep their order in memory.
        """
        dense, step = list(self.strides), 1
        sizes = [
            (stride, d)
            for d, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True))
            if size > 1 and stride > 0
        ]
        for stride, d in sorted(sizes):
            if stride < step:
                return  # elements overlap
            dense[d] = step
            step *= self.sizes[d]
        if step >= self.elements:  # none are between them, or there are none at all
            return
        seen = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in self.strides)
        source = self.tensor.detach()[seen] if seen else self.tensor.detach()
        copy = zero.empty_strided(source.shape, dense, dtype=self.tensor.dtype, device="cpu")
        copy.copy_(source)
        self.tensor, self.strides, self.first = copy, tuple(dense), copy.data_ptr()
        self.elements, self.end = step, self.first + step * self.item


class Block:
    """Memory that becomes one storage in the file: that of views which overlap."""

    def __init__(self, views: list[View]) -> None:
        self.views = views
        if len(views) == 1:
            views[0].close()
        dtypes = {view.dtype for view in views}
        self.dtype = next(iter(dtypes)) if len(dtypes) == 1 else None
        self.first, self.end = views[0].first, max(view.end for view in views)
        # Views of several dtypes share bytes; each begins at a multiple of its element's size.
        self.lead = self.first % 8 if self.dtype is None else 0
        self.size = self.end - self.first + self.lead
        self.key = -1

    def parts(self) -> Iterator[memoryview]:
        """The content, piece by piece: arrays of numpy may overlap without a common owner."""
        if self.lead:
            yield memoryview(bytes(self.lead))
        done = self.first
        for view in self.views:
            if view.end > done:
                yield view.memory()[done - view.first :]
                done = view.end

    def storage(self, dtype: zero.dtype | None) -> bytes:
        """The storage's identity, as the pickle names it."""
        kind, count = UNTYPED, self.size
        if dtype is not None:
            kind, count = global_("torch", STORAGE_NAMES[dtype]), self.size // dtype.itemsize
        key, location = text(str(self.key)), text("cpu")
        return b"(" + text("storage") + kind + key + location + integer(count) + b"tQ"

    def rebuild(self, view: View) -> bytes:
        """The function that makes the view, and its arguments."""
        if view.options is None:
            fits = view.dtype is not None and self.size % view.dtype.itemsize == 0
            return self.storage(view.dtype if fits else None)
        requires_grad, inside = view.options
        version, dtype = (b"2", b"")
        if self.dtype is None:
            version, dtype = b"3", global_("torch", view.dtype.name)
        offset = (view.first - self.first + self.lead) // view.item
        return b"".join(
            (
                b"ctorch._utils\n_rebuild_tensor_v", version, b"\n", inside, b"(",
                self.storage(self.dtype), integer(offset), numbers(view.sizes),
                numbers(view.strides), requires_grad, NO_HOOKS, dtype, b"t",
            )
        )  # fmt: skip


def blocks_of(views: list[View]) -> list[Block]:
    """The views by overlapping memory, in the order of the pickle."""
    blocks: list[Block] = []
    group: list[View] = []
    end = 0
    used = [view for view in views if view.elements]
    for view in sorted(used, key=lambda view: (view.first, view.end)):
        if group and view.first >= end:
            blocks.append(Block(group))
            group = []
        group.append(view)
        end = max(end, view.end) if len(group) > 1 else view.end
    if group:
        blocks.append(Block(group))
    blocks += [Block([view]) for view in views if not view.elements]
    return sorted(blocks, key=lambda block: min(view.place for view in block.views))


def save_archive(obj: Any, byteorder: bool, sums: bool) -> Any:
    """A function that writes the archive to a file; what cannot be saved is an error before."""
    pickler = Pickler()
    pickler.dump(obj)
    views = []
    for place, (x, *options) in pickler.tensors:
        if len(options) == 2:
            views.append(View(place, x, x.dtype, options))
        else:  # a storage
            views.append(View(place, x, options[0], None))
    blocks = blocks_of(views)
    for key, block in enumerate(blocks):
        block.key = key
        for view in block.views:
            pickler.out[view.place] = block.rebuild(view)
    pickled = memoryview(b"".join(pickler.out))  # type: ignore[arg-type]

    def write(file: Any) -> None:
        archive = ArchiveWriter(file, sums)

        def add(name: str, content: bytes) -> None:
            archive.add(name, [memoryview(content)], len(content))

        archive.add("data.pkl", [pickled], len(pickled))
        add(".format_version", b"1")
        add(".storage_alignment", str(ALIGNMENT).encode())
        if byteorder:
            add("byteorder", sys.byteorder.encode())
        for block in blocks:
            archive.add(f"data/{block.key}", block.parts(), block.size)
        add("version", b"3\n")
        archive.close()

    return write
