"""A reader of pickles that runs nothing: names in them stand for rules of ours, all others are
errors.

It has the instructions that writers of Python 3 use in protocols 2 to 5. Nothing recurses, memory
is bounded by a multiple of the pickle's size, and time by a multiple of its length: keys are looked
at before Python hashes them.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict
from struct import error as StructError, unpack_from

from zero import Size, Tensor, device, dtype, layout
from zero.serialization._errors import CheckpointError

__all__ = ["DEEPEST", "Global", "Truncated", "Unpickler"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

DEEPEST = 1000  # containers inside of each other, read or written
ALIKE = 1000  # keys with the same hash in one dict or set
DICTS = (dict, OrderedDict, Counter, defaultdict)
EASY_KEYS = {str, bytes, bool, type(None)}  # their hashes are random, or few
OTHER_KEYS = {int, float, complex, Size, frozenset}
BY_IDENTITY = (dtype, device, layout, Tensor)


class Global:
    """What a name in a pickle stands for.

    Args:
        name: with its module.
        make: what a call of it makes of a reader and its arguments; None if it is not called.
        new: the same for a new object that gets its state later; as `make` for None.
    """

    __slots__ = ("make", "name", "new")

    def __init__(
        self,
        name: str,
        make: Callable[..., Any] | None = None,
        new: Callable[..., Any] | None = None,
    ) -> None:
        self.name, self.make, self.new = name, make, new or make


class Truncated(Exception):
    """The pickle goes on behind the bytes at hand."""


class Unpickler:
    """Reads one pickle.

    Args:
        data: bytes with the pickle.
        position: where it begins.
        find: what a module and a name stand for: a value or a Global.
        persistent: what an id of the writer's stands for.
        build: sets the state of an object.
        trusted: classes whose objects may be keys, beside those of plain values.
        encoding: of the strings of Python 2; "bytes" leaves them as they are.
        whole: whether the pickle must end within `data`; otherwise Truncated is raised.
    """

    def __init__(
        self,
        data: bytes,
        position: int,
        find: Callable[[str, str], Any],
        persistent: Callable[[Any], Any],
        build: Callable[[Unpickler, Any, Any], None],
        trusted: frozenset[Any] = frozenset(),
        encoding: str = "utf-8",
        whole: bool = True,
    ) -> None:
        self.data, self.position = data, position
        self.find, self.persistent, self.build = find, persistent, build
        self.trusted, self.encoding, self.whole = trusted, encoding, whole
        self.stack: list[Any] = []
        self.outer: list[list[Any]] = []  # the stacks below the marks
        self.memo: dict[int, Any] = {}
        self.budget = 2 * (len(data) - position) + 1024
        self.alike: dict[int, tuple[Any, dict[int, int]]] = {}

    def load(self) -> Any:
        """The object; an error of one class whatever the bytes are."""
        try:
            result = self._run()
            self._check_tree(result)
            return result
        except (CheckpointError, Truncated, MemoryError):
            raise
        except (IndexError, KeyError):
            raise self.wrong("an instruction has nothing to work on") from None
        except (
            ArithmeticError, AttributeError, LookupError, RuntimeError, StructError, TypeError,
            ValueError,
        ) as error:  # fmt: skip
            raise self.wrong(f"a value is none that writers write: {error}") from error

    def wrong(self, what: str) -> CheckpointError:
        return CheckpointError(f"{what} (byte {self.position} of the pickle)")

    def spend(self, amount: int) -> None:
        """Counts what calls make out of values: a file can name a large one again and again."""
        self.budget -= amount
        if self.budget < 0:
            raise self.wrong("it makes more out of the same values than any writer does")

    def take(self, n: int) -> bytes:
        end = self.position + n
        if end > len(self.data):
            raise self._short()
        part = self.data[self.position : end]
        self.position = end
        return part

    def _short(self) -> Exception:
        return self.wrong("it ends in the middle") if self.whole else Truncated()

    def line(self) -> str:
        end = self.data.find(b"\n", self.position, self.position + 1000)
        if end < 0:
            raise self.wrong("a name has no end") if self.whole else Truncated()
        text = self.data[self.position : end].decode("utf-8")
        self.position = end + 1
        return text

    def _run(self) -> Any:
        data, steps = self.data, STEPS
        while True:
            if self.position >= len(data):
                raise self._short()
            code = data[self.position]
            self.position += 1
            if code == 46:  # STOP
                break
            step = steps[code]
            if step is None:
                raise self.wrong(f"no checkpoint has the instruction {bytes([code])!r}")
            step(self)
        if len(self.stack) != 1 or self.outer:
            raise self.wrong("values are left over at its end")
        return self.stack[0]

    # ---- values ----------------------------------------------------------------------------------
    def proto(self) -> None:
        if self.take(1)[0] > 5:
            raise self.wrong("its protocol is none of 2 to 5")

    def frame(self) -> None:
        self.take(8)  # how many bytes follow, for readers that want to know

    def none(self) -> None:
        self.stack.append(None)

    def true(self) -> None:
        self.stack.append(True)

    def false(self) -> None:
        self.stack.append(False)

    def int4(self) -> None:
        self.stack.append(unpack_from("<i", self.take(4))[0])

    def int1(self) -> None:
        self.stack.append(self.take(1)[0])

    def int2(self) -> None:
        self.stack.append(unpack_from("<H", self.take(2))[0])

    def long1(self) -> None:
        self.stack.append(int.from_bytes(self.take(self.length(1)), "little", signed=True))

    def long4(self) -> None:
        self.stack.append(int.from_bytes(self.take(self.length(4)), "little", signed=True))

    def float8(self) -> None:
        self.stack.append(unpack_from(">d", self.take(8))[0])

    def length(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

    def text(self, width: int) -> None:
        self.stack.append(str(self.take(self.length(width)), "utf-8", "surrogatepass"))

    def raw(self, width: int) -> None:
        self.stack.append(self.take(self.length(width)))

    def old_text(self, width: int) -> None:
        found = self.take(self.length(width))
        plain = self.encoding == "bytes"
        self.stack.append(found if plain else found.decode(self.encoding))

    def mutable_bytes(self) -> None:
        self.stack.append(bytearray(self.take(self.length(8))))

    # ---- containers ------------------------------------------------------------------------------
    def mark(self) -> None:
        if len(self.outer) >= 4 * DEEPEST:
            raise self.wrong(f"it nests deeper than {DEEPEST} containers")
        self.outer.append(self.stack)
        self.stack = []

    def above_mark(self) -> list[Any]:
        items, self.stack = self.stack, self.outer.pop()
        return items

    def pop_mark(self) -> None:
        self.above_mark()

    def pop(self) -> None:
        if self.stack:
            self.stack.pop()
        else:
            self.above_mark()

    def tuple_of(self, n: int) -> None:
        if len(self.stack) < n:
            raise self.wrong("a tuple has too few elements")
        first = len(self.stack) - n
        self.stack[first:] = [tuple(self.stack[first:])]

    def marked_tuple(self) -> None:
        items = tuple(self.above_mark())
        self.stack.append(items)

    def append(self) -> None:
        item = self.stack.pop()
        self.the_list().append(item)

    def appends(self) -> None:
        items = self.above_mark()
        self.the_list().extend(items)

    def the_list(self) -> list[Any]:
        found = self.stack[-1]
        if type(found) is not list:
            raise self.wrong(f"elements are added to a {type(found).__name__}, not to a list")
        return found

    def set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.put([key, value])

    def set_items(self) -> None:
        self.put(self.above_mark())

    def put(self, items: list[Any]) -> None:
        found = self.stack[-1]
        if type(found) not in DICTS:
            raise self.wrong(f"keys are added to a {type(found).__name__}, not to a dict")
        if len(items) % 2:
            raise self.wrong("a key has no value")
        keys = items[::2]
        self.check_keys(keys, found)
        before = len(found)
        pairs = zip(keys, items[1::2], strict=True)
        if type(found) is Counter:  # whose update adds
            dict.update(found, pairs)
        else:
            found.update(pairs)
        if len(found) != before + len(keys):
            raise self.wrong("a key stands twice in a dict")

    def add_items(self) -> None:
        items = self.above_mark()
        found = self.stack[-1]
        if type(found) is not set:
            raise self.wrong(f"elements are added to a {type(found).__name__}, not to a set")
        self.check_keys(items, found)
        found.update(items)

    def frozen(self) -> None:
        items = self.above_mark()
        self.check_keys(items)
        self.stack.append(frozenset(items))

    def check_keys(self, keys: Iterable[Any], container: Any = None) -> None:
        """Raises where hashing the keys, or finding them again, could take long or fail."""
        risky = self.risky_keys(keys)
        if not risky:
            return
        counts: dict[int, int] = {}
        if container is not None:
            counts = self.alike.setdefault(id(container), (container, counts))[1]
        for key in risky:
            found = hash(key)
            counts[found] = counts.get(found, 0) + 1
            if counts[found] > ALIKE:
                raise self.wrong("its keys are made to collide")

    def risky_keys(self, keys: Iterable[Any]) -> list[Any]:
        """Those of the keys whose hashes a file can choose, after a look at all of them."""
        risky: list[Any] = []
        budget = 100_000  # elements of tuples, which may be the same ones many times
        for key in keys:
            kind = type(key)
            if kind in EASY_KEYS:
                continue
            level = [key] if kind is tuple else []
            for _ in range(100):
                if not level:
                    break
                budget -= sum(map(len, level))
                if budget < 0:
                    raise self.wrong("a key has too many elements")
                items = [item for inner in level for item in inner]
                level = [item for item in items if type(item) is tuple]
                for item in items:
                    if type(item) is not tuple:
                        self.check_hashable(item)
            if level:
                raise self.wrong("a key nests too deep")
            if kind is not tuple:
                self.check_hashable(key)
            risky.append(key)
        return risky

    def check_hashable(self, x: Any) -> None:
        kind = type(x)
        if kind in EASY_KEYS or kind in OTHER_KEYS or kind in self.trusted:
            return
        if not isinstance(x, BY_IDENTITY):
            name = x.name if kind is Global else kind.__name__
            raise self.wrong(f"a {name} is a key of a dict or an element of a set")

    # ---- the memo --------------------------------------------------------------------------------
    def memo_get(self, width: int) -> None:
        self.stack.append(self.memo[self.length(width)])

    def memo_put(self, width: int) -> None:
        self.memo[self.length(width)] = self.stack[-1]

    def memoize(self) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    # ---- names and calls -------------------------------------------------------------------------
    def named(self) -> None:
        module, name = self.line(), self.line()
        self.stack.append(self.find(module, name))

    def named_by_stack(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise self.wrong("a name is no string")
        self.stack.append(self.find(module, name))

    def call(self) -> None:
        arguments = self.stack.pop()
        self.made(self.called().make, arguments)

    def new(self) -> None:
        arguments = self.stack.pop()
        self.made(self.called().new, arguments)

    def new_with_names(self) -> None:
        options, arguments = self.stack.pop(), self.stack.pop()
        if options:
            raise self.wrong("an object is made with arguments by name")
        self.made(self.called().new, arguments)

    def called(self) -> Global:
        function = self.stack.pop()
        if type(function) is not Global:
            raise self.wrong(f"it calls a {type(function).__name__}")
        if function.make is None:
            raise self.wrong(f"it calls {function.name}, which stands for itself only")
        return function

    def made(self, make: Callable[..., Any] | None, arguments: Any) -> None:
        if type(arguments) is not tuple or make is None:
            raise self.wrong("arguments are no tuple")
        self.stack.append(make(self, *arguments))

    def set_state(self) -> None:
        state = self.stack.pop()
        self.build(self, self.stack[-1], state)

    def persistent_id(self) -> None:
        self.stack.append(self.persistent(self.stack.pop()))

    # ---- the whole -------------------------------------------------------------------------------
    def _check_tree(self, root: Any) -> None:
        """Raises where a container contains itself or nests too deep, or a name is a value."""
        opened: set[int] = set()  # on the way from the root
        done: set[int] = set()
        path = [(root, iter((root,)))]
        while path:
            owner, items = path[-1]
            for item in items:
                kind = type(item)
                if kind is str or kind is int or kind is float:
                    continue
                if kind is Global:
                    raise self.wrong(f"it holds {item.name} itself, not an object of it")
                inner = self._inside(item, kind)
                if inner is None or id(item) in done:
                    continue
                if id(item) in opened:
                    raise self.wrong(f"a {kind.__name__} contains itself")
                if len(path) > DEEPEST:
                    raise self.wrong(f"it nests deeper than {DEEPEST} containers")
                opened.add(id(item))
                path.append((item, inner))
                break
            else:
                path.pop()
                opened.discard(id(owner))
                done.add(id(owner))

    def _inside(self, item: Any, kind: type) -> Iterator[Any] | None:
        """What a container holds; None for other values."""
        if kind is list or kind is tuple:
            return iter(item) if item else None
        if kind in DICTS:
            keys = [key for key in item if type(key) is tuple]
            return iter((*item.values(), *keys, *getattr(item, "__dict__", {}).values()))
        if kind is Namespace or isinstance(item, Tensor) or kind in self.trusted:
            attributes = getattr(item, "__dict__", None)
            return iter(tuple(attributes.values())) if attributes else None
        return None


def _steps() -> list[Callable[[Unpickler], None] | None]:
    u = Unpickler

    def sized(method: Callable[[Unpickler, int], None], n: int) -> Callable[[Unpickler], None]:
        return lambda reader: method(reader, n)

    table: dict[bytes, Callable[[Unpickler], None]] = {
        b"\x80": u.proto, b"\x95": u.frame, b"N": u.none, b"\x88": u.true, b"\x89": u.false,
        b"J": u.int4, b"K": u.int1, b"M": u.int2, b"\x8a": u.long1, b"\x8b": u.long4,
        b"G": u.float8, b"X": sized(u.text, 4), b"\x8c": sized(u.text, 1),
        b"\x8d": sized(u.text, 8), b"B": sized(u.raw, 4), b"C": sized(u.raw, 1),
        b"\x8e": sized(u.raw, 8), b"U": sized(u.old_text, 1), b"T": sized(u.old_text, 4),
        b"\x96": u.mutable_bytes, b"(": u.mark, b"0": u.pop,
        b"1": u.pop_mark,
        b")": lambda reader: reader.stack.append(()),
        b"]": lambda reader: reader.stack.append([]),
        b"}": lambda reader: reader.stack.append({}),
        b"\x8f": lambda reader: reader.stack.append(set()),
        b"\x85": sized(u.tuple_of, 1), b"\x86": sized(u.tuple_of, 2), b"\x87": sized(u.tuple_of, 3),
        b"t": u.marked_tuple, b"a": u.append, b"e": u.appends, b"s": u.set_item, b"u": u.set_items,
        b"\x90": u.add_items, b"\x91": u.frozen, b"h": sized(u.memo_get, 1),
        b"j": sized(u.memo_get, 4), b"q": sized(u.memo_put, 1), b"r": sized(u.memo_put, 4),
        b"\x94": u.memoize, b"c": u.named, b"\x93": u.named_by_stack, b"R": u.call,
        b"\x81": u.new, b"\x92": u.new_with_names, b"b": u.set_state, b"Q": u.persistent_id,
    }  # fmt: skip
    return [table.get(bytes([code])) for code in range(256)]


STEPS = _steps()
