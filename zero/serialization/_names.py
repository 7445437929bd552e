"""The names of classes and functions in a pickle, found without making anything."""

from __future__ import annotations

import io
from pickletools import genops

from zero.serialization._errors import CheckpointError
from zero.serialization._files import Source
from zero.serialization._globals import UnknownName, find
from zero.serialization._load import refuse_others
from zero.serialization._zip import Archive

__all__ = ["unknown_names"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def unknown_names(source: Source, check: bool) -> list[str]:
    """The names that the reader refuses, in the order of the file."""
    if source.read(0, min(2, source.size)) == b"PK":
        archive = Archive(source, check)
        refuse_others(archive)
        data, pickles = archive.read("data.pkl"), 1
    else:
        data, pickles = source.read(0, source.size), 5
    found: dict[str, None] = {}
    stream = io.BytesIO(data)
    for _ in range(pickles):
        try:
            for module, name in _names(stream):
                try:
                    find(module, name)
                except UnknownName as error:
                    found[error.name] = None
        except CheckpointError as error:
            found[str(error)] = None
        except (ValueError, IndexError, KeyError) as error:
            if pickles == 1:
                raise source.damaged(f"its pickle cannot be read ({error})") from None
            break  # what follows the pickles of an old file, or of a plain one
    return list(found)


def _names(stream: io.BytesIO) -> Iterator[tuple[str, str]]:
    strings: list[str] = ["", ""]  # the last ones on the stack
    memo: dict[int, str] = {}
    for operation, argument, _ in genops(stream):
        name = operation.name
        if name == "GLOBAL":
            module, _, own = str(argument).partition(" ")
            yield module, own
        elif name == "STACK_GLOBAL":
            yield strings[-2], strings[-1]
        elif "UNICODE" in name or "STRING" in name:
            strings = [strings[-1], str(argument)]
        elif name == "MEMOIZE":
            memo[len(memo)] = strings[-1]
        elif name.endswith("PUT"):
            memo[int(str(argument))] = strings[-1]
        elif name.endswith("GET"):
            strings = [strings[-1], memo[int(str(argument))]]
