"""The zip archives of checkpoints: records that are stored as they are, each at a multiple of 64
bytes.

What a reader of such a file relies on is checked when it is opened: every record lies in the file,
none overlaps another, none is compressed, and all stand in one folder. (APPNOTE.TXT of PKWARE,
6.3.10.)
"""

from __future__ import annotations

from struct import Struct, error as StructError
from zlib import crc32

from zero.serialization._files import Source, write_all

__all__ = ["ALIGNMENT", "Archive", "ArchiveWriter", "Record"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

ALIGNMENT = 64
LIMIT32, LIMIT16 = 0xFFFFFFFF, 0xFFFF  # these values say: see the 64-bit field
CHUNK = 1 << 18  # read and summed, or summed and written, while it is in the cache

LOCAL = Struct("<4sHHHHHLLLHH")
CENTRAL = Struct("<4sHHHHHHLLLHHHHHLL")
END = Struct("<4sHHHHLLH")
END64 = Struct("<4sQHHLLQQQQ")
LOCATOR64 = Struct("<4sLQL")
WITH_DESCRIPTOR, UTF8 = 8, 2048  # flags


class Record:
    """Where the bytes of a record are."""

    __slots__ = ("crc", "header", "name", "offset", "size")

    def __init__(self, name: str, header: int, size: int, crc: int) -> None:
        self.name, self.header, self.size, self.crc = name, header, size, crc
        self.offset = 0


class Archive:
    """The records of an archive, by their names inside of its folder.

    Args:
        source: the file.
        check: whether sums of the content are compared.
    """

    def __init__(self, source: Source, check: bool) -> None:
        self.source, self.check = source, check
        self.records: dict[str, Record] = {}
        try:
            start, size, count = self._directory()
            self._read_directory(source.read(start, size), count, start)
            self._find_contents(start)
        except (StructError, UnicodeDecodeError) as error:
            raise source.damaged(f"its list of records cannot be read ({error})") from None

    def __contains__(self, name: str) -> bool:
        return name in self.records

    def read(self, name: str) -> bytes:
        """The content of a record."""
        buffer = bytearray(self[name].size)
        self.fill(self[name], memoryview(buffer))
        return bytes(buffer)

    def __getitem__(self, name: str) -> Record:
        if name not in self.records:
            raise self.source.damaged(f"it has no record {name!r}")
        return self.records[name]

    def fill(self, record: Record, buffer: memoryview) -> None:
        """Reads a record into a buffer of its size."""
        total = 0
        for i in range(0, record.size, CHUNK):
            part = buffer[i : i + CHUNK]
            self.source.fill(record.offset + i, part)
            if self.check:
                total = crc32(part, total)
        # PyTorch writes the sum 0 where it computes none.
        if self.check and record.crc not in (0, total):
            raise self.source.damaged(
                f"the content of {record.name!r} is not what was written (its CRC-32 is "
                f"{total:08x}, expected {record.crc:08x}); "
                "zero.serialization.set_crc32_options(False) loads it nevertheless"
            )

    # ---- the list at the end ---------------------------------------------------------------------
    def _directory(self) -> tuple[int, int, int]:
        """Offset and size of the list of records, and their number."""
        source = self.source
        tail_size = min(source.size, END.size + LIMIT16)
        tail_start = source.size - tail_size
        tail = source.read(tail_start, tail_size)
        at = tail.rfind(b"PK\5\6", 0, max(0, tail_size - END.size + 4))
        if at < 0:
            raise source.damaged(
                "its end is missing; it was probably not copied or written to the end"
            )
        _, disk, disk_of, here, count, size, start, comment = END.unpack_from(tail, at)
        end = tail_start + at
        if at + END.size + comment != tail_size:
            raise source.damaged("something stands behind its end")
        located = source.read(end - LOCATOR64.size, LOCATOR64.size) if end >= 20 else b""
        if located[:4] == b"PK\6\7":  # the same in 64 bits
            _, disk, end64, _ = LOCATOR64.unpack(located)
            fields = END64.unpack(source.read(end64, END64.size))
            mark, _, _, _, disk, disk_of, here, count, size, start = fields
            if mark != b"PK\6\6" or end64 + END64.size > end - LOCATOR64.size:
                raise source.damaged("its end is not where the file says")
            end = end64
        if disk or disk_of or here != count:
            raise source.damaged("it says that it is split into several files")
        if start + size != end or count * CENTRAL.size > size:
            raise source.damaged(
                f"its list of {count} records is said to take the bytes {start} to {start + size} "
                f"of {end}"
            )
        return start, size, count

    def _read_directory(self, listed: bytes, count: int, end: int) -> None:
        at, root = 0, None
        for _ in range(count):
            fields = CENTRAL.unpack_from(listed, at)
            mark, _, _, flags, method, _, _, crc, packed, size = fields[:10]
            name_size, extra_size, comment_size, _, _, _, header = fields[10:]
            name_end = at + CENTRAL.size + name_size
            if mark != b"PK\1\2" or name_end + extra_size + comment_size > len(listed):
                raise self.source.damaged(f"entry {len(self.records)} of its list is none")
            name = listed[at + CENTRAL.size : name_end].decode("utf-8")
            extra = listed[name_end : name_end + extra_size]
            size, packed, header = _wide(extra, size, packed, header)
            at = name_end + extra_size + comment_size
            if flags & 1:
                raise self.source.damaged(f"the record {name!r} is encrypted")
            if method != 0 or size != packed:
                raise self.source.damaged(
                    f"the record {name!r} is compressed, which records of checkpoints never are; "
                    "`zip -0` packs them without"
                )
            folder, slash, inside = name.partition("/")
            parts = inside.split("/")
            if not slash or not folder or "\\" in name or "\0" in name or ".." in (folder, *parts):
                hint = "; numpy.load reads files of numpy" if name.endswith(".npy") else ""
                raise self.source.damaged(
                    f"the record {name!r} stands in no folder of the archive{hint}"
                )
            if not parts[-1]:
                continue  # the folder itself
            if root is None:
                root = folder
            if folder != root:
                raise self.source.damaged(f"records stand in two folders, {root!r} and {folder!r}")
            if inside in self.records:
                raise self.source.damaged(f"the record {inside!r} stands in it twice")
            if header + LOCAL.size + name_size + size > end:
                raise self.source.damaged(
                    f"the record {inside!r} is said to take {size} bytes from {header} on, and "
                    f"records end at {end}"
                )
            self.records[inside] = Record(name, header, size, crc)
        if at != len(listed):
            raise self.source.damaged(f"its list has more than the {count} records it says")

    def _find_contents(self, end: int) -> None:
        """Where each record's bytes begin, by the header before them."""
        free = 0
        for record in sorted(self.records.values(), key=lambda record: record.header):
            if record.header < free:
                raise self.source.damaged(f"the record {record.name!r} overlaps the one before it")
            name = record.name.encode()
            head = self.source.read(record.header, LOCAL.size + len(name))
            mark, _, flags, method, *_, name_size, extra_size = LOCAL.unpack_from(head)
            same = head[LOCAL.size :] == name and name_size == len(name)
            if mark != b"PK\3\4" or not same or method != 0 or flags & 1:
                raise self.source.damaged(f"there is no record {record.name!r} where it should be")
            at = record.header + LOCAL.size
            record.offset = at + name_size + extra_size
            free = record.offset + record.size
            if free > end:
                raise self.source.damaged(f"the record {record.name!r} reaches past its end")


def _wide(extra: bytes, size: int, packed: int, header: int) -> tuple[int, int, int]:
    """The three numbers, taken from the 64-bit field where they don't fit 32."""
    at = 0
    while LIMIT32 in (size, packed, header) and at + 4 <= len(extra):
        tag, n = extra[at] | extra[at + 1] << 8, extra[at + 2] | extra[at + 3] << 8
        if tag == 1:
            wide = [
                int.from_bytes(extra[i : i + 8], "little") for i in range(at + 4, at + 4 + n, 8)
            ]
            size, packed, header = (
                wide.pop(0) if value == LIMIT32 and wide else value
                for value in (size, packed, header)
            )
            break
        at += 4 + n
    return size, packed, header


class ArchiveWriter:
    """Writes an archive to a file from front to back.

    Args:
        file: what has a method ``write``.
        sums: whether sums of the content are computed and written.
    """

    def __init__(self, file: Any, sums: bool) -> None:
        self.file, self.sums = file, sums
        self.at = 0
        self.listed: list[bytes] = []
        self.chunk = memoryview(bytearray(CHUNK))

    def _put(self, data: bytes | memoryview) -> None:
        write_all(self.file, data)
        self.at += len(data)

    def add(self, name: str, parts: Iterable[memoryview], size: int) -> None:
        """A record.

        Args:
            name: within the archive's folder.
            parts: its content.
            size: the bytes of all parts together.
        """
        encoded, header = f"archive/{name}".encode(), self.at
        described = size > 0
        flags = UTF8 | (WITH_DESCRIPTOR if described else 0)
        wide = [value for value in (size, size, header) if value >= LIMIT32]
        extra = _wide_field(wide)
        start = header + LOCAL.size + len(encoded) + len(extra) + 4
        extra += b"FB" + (-start % ALIGNMENT).to_bytes(2, "little") + b"Z" * (-start % ALIGNMENT)
        self._put(
            LOCAL.pack(b"PK\3\4", 0, flags, 0, 0, 0, 0, 0, 0, len(encoded), len(extra))
            + encoded
            + extra
        )
        total = 0
        for part in parts:
            for i in range(0, len(part), CHUNK):
                piece = part[i : i + CHUNK]
                if self.sums:
                    # A copy: another thread may write to a tensor meanwhile.
                    self.chunk[: len(piece)] = piece
                    piece = self.chunk[: len(piece)]
                    total = crc32(piece, total)
                self._put(piece)
        if described:
            width = 8 if wide else 4
            self._put(b"PK\7\10" + total.to_bytes(4, "little") + 2 * size.to_bytes(width, "little"))
        shown = min(size, LIMIT32)
        self.listed.append(
            CENTRAL.pack(
                b"PK\1\2", 0, 0, flags, 0, 0, 0, total, shown, shown, len(encoded),
                len(_wide_field(wide)), 0, 0, 0, 0, min(header, LIMIT32),
            )
            + encoded
            + _wide_field(wide)
        )  # fmt: skip

    def close(self) -> None:
        """The list of records."""
        start, count = self.at, len(self.listed)
        self._put(b"".join(self.listed))
        size, end = self.at - start, self.at
        if count >= LIMIT16 or start >= LIMIT32 or size >= LIMIT32:
            self._put(
                END64.pack(b"PK\6\6", END64.size - 12, 45, 45, 0, 0, count, count, size, start)
                + LOCATOR64.pack(b"PK\6\7", 0, end, 1)
            )
        count, size, start = min(count, LIMIT16), min(size, LIMIT32), min(start, LIMIT32)
        self._put(END.pack(b"PK\5\6", 0, 0, count, count, size, start, 0))


def _wide_field(values: list[int]) -> bytes:
    if not values:
        return b""
    numbers = b"".join(value.to_bytes(8, "little") for value in values)
    return b"\1\0" + len(numbers).to_bytes(2, "little") + numbers
