"""Checkpoints: tensors and plain values in files, in PyTorch's format.

Files are read by rules of zero's own, and nothing in them is ever executed: see :func:`load`.

Example:
    >>> import io, zero
    >>> model = zero.nn.Linear(2, 1)
    >>> file = io.BytesIO()
    >>> zero.save({"model": model.state_dict(), "epoch": 3}, file)
    >>> position = file.seek(0)
    >>> found = zero.load(file)
    >>> model.load_state_dict(found["model"]), found["epoch"]
    (<All keys matched successfully>, 3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zero import _later
from zero.serialization import _globals
from zero.serialization._errors import CheckpointError
from zero.serialization._files import is_path, opened, replaced
from zero.serialization._load import (
    CallersError,
    MapLocation,
    load_archive,
    load_old,
    not_a_checkpoint,
    path_of,
)
from zero.serialization._save import save_archive

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = [
    "CheckpointError",
    "add_safe_globals",
    "clear_safe_globals",
    "get_crc32_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "safe_globals",
    "save",
    "set_crc32_options",
]

_sums = True


def save(
    obj: object,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Writes tensors, and plain values in any nesting, to a file that PyTorch reads too.

    A path gets the new file in one step: until it is complete and on the disk, and after an error
    or a crash, the old file is there as it was. Tensors that share memory share it after loading;
    of a view only the bytes between its first and last element are written, and none of the gaps in
    it if nothing else lies there. No copy of the memory is made.

    Args:
        obj: tensors, parameters, ``state_dict()``; dicts, lists, tuples, sets, strings, bytes,
            numbers, None, dtypes, devices, sizes; arrays and scalars of numpy;
            ``argparse.Namespace``; nested as you like.
        f: a path, or a file that is open for binary writing, which is written from front to back.
        pickle_module: None or the module ``pickle``; the writer is zero's own.
        pickle_protocol: the highest protocol that may be used, from 2 on. Protocol 2 is used.
        _use_new_zipfile_serialization: True. The format before PyTorch 1.6 is read only.
        _disable_byteorder_record: whether to leave out the record that says the byte order.

    Raises:
        TypeError: something in it cannot be saved, such as a whole module or a function; the error
            says where it is.

    Example:
        >>> import io, zero
        >>> file = io.BytesIO()
        >>> zero.save({"weights": [zero.ones(2), zero.zeros(3)], "name": "first"}, file)
        >>> position = file.seek(0)
        >>> zero.load(file)
        {'weights': [tensor([1., 1.]), tensor([0., 0., 0.])], 'name': 'first'}
        >>> zero.save({"layers": {"first": print}}, file)
        Traceback (most recent call last):
        ...
        zero.errors.DTypeError: save: ["layers"]["first"]: a builtin_function_or_method cannot be
        ...
    """
    _check_pickle_module("save", pickle_module)
    if type(pickle_protocol) is not int or pickle_protocol < 2:
        raise ValueError(
            f"save: pickle_protocol is too low; got {pickle_protocol!r}, expected 2 or more"
        )
    if not _use_new_zipfile_serialization:
        raise ValueError(
            "save: the format before PyTorch 1.6 is not written; got "
            "_use_new_zipfile_serialization=False, expected True"
        )
    if not is_path(f) and not hasattr(f, "write"):
        raise AttributeError(
            f"save: f is no file; got a {type(f).__name__}, expected a path or a file with write"
        )
    write = save_archive(obj, not _disable_byteorder_record, _sums)
    if is_path(f):
        with replaced(f) as file:
            write(file)
    else:
        write(f)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    encoding: str = "utf-8",
) -> Any:
    """Reads what :func:`save`, or PyTorch's, has written.

    The file is never executed: its instructions are read by an interpreter that knows tensors and
    plain values and refuses all other classes and functions by name. Damaged and hostile files are
    errors, and take memory of about the file's size.

    Args:
        f: a path, or a file that is open for binary reading and seekable, read from its position
            on.
        map_location: where tensors go: a device or its name, a dict from locations in the file to
            such, or a function of a storage and its location that returns a storage or None. Files
            from machines with GPUs want ``"cpu"``; ``"meta"`` reads shapes only.
        pickle_module: None or the module ``pickle``; the reader is zero's own.
        weights_only: no difference: every file is read as PyTorch reads it with True. What PyTorch
            only loads with False, such as whole modules, is refused.
        mmap: whether the memory of tensors is the file's, read when it is first used and written to
            in memory only; ``f`` must be a path. Sums of the content are not checked.
        encoding: of strings that Python 2 wrote; ``"bytes"`` leaves them as bytes.

    Raises:
        zero.serialization.CheckpointError: the file is damaged, is no checkpoint, or holds an
            object of an unknown class. It is a ValueError, a RuntimeError and a
            ``pickle.UnpicklingError``.

    Example:
        >>> import io, pickle, zero
        >>> zero.load(io.BytesIO(pickle.dumps(print)))
        Traceback (most recent call last):
        ...
        zero.serialization.CheckpointError: load: the BytesIO cannot be loaded: it holds an object
        of ...
    """
    _check_pickle_module("load", pickle_module)
    for name, value in (("weights_only", weights_only), ("mmap", mmap)):
        if value is not None and type(value) is not bool:
            raise TypeError(f"load: {name} is no bool; got {value!r}, expected True or False")
    place = MapLocation(map_location)
    path = path_of(f)
    if mmap and path is None:
        raise ValueError(
            f"load: only a file with a path can be mapped; got mmap=True and a {type(f).__name__}, "
            "expected a path"
        )
    if path is not None and str(path).endswith(".safetensors"):
        from zero import safetensors

        if isinstance(map_location, dict) or callable(map_location):
            raise ValueError(
                "load: a safetensors file knows no locations; got a dict or a function as "
                "map_location, expected a device"
            )
        return safetensors.load_file(path, "cpu" if map_location is None else map_location)
    with opened(f) as source:
        what = not_a_checkpoint(source)
        try:
            if what is not None:
                raise CheckpointError(what)
            if source.read(0, 2) == b"PK":
                return load_archive(source, place, bool(mmap), encoding, _sums)
            if mmap:
                raise CheckpointError(
                    "it is in PyTorch's format before 1.6, which cannot be mapped; load it without "
                    "mmap=True"
                )
            return load_old(source, place, encoding)
        except CallersError as error:
            raise error.error from None
        except CheckpointError as error:
            if str(error).startswith("load: "):
                raise
            text = f"load: {source.name} cannot be loaded: {error}"
            raise CheckpointError(text) from error.__cause__


def _check_pickle_module(op: str, module: Any) -> None:
    if module is not None and getattr(module, "__name__", None) not in ("pickle", "_pickle"):
        raise ValueError(
            f"{op}: files are written and read by zero's own rules; got pickle_module={module!r}, "
            "expected None"
        )


# ---- classes that a program allows ---------------------------------------------------------------
def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Allows objects of your own classes in files, for all of this process.

    Such an object is made by the class itself, with what the file says as arguments and state:
    allow only what does no harm whatever those are.

    Args:
        safe_globals: classes (or functions that make objects), or pairs of one and the name that
            files have for it, such as ``(Point, "old_module.Point")``.

    Raises:
        ValueError: one of Python's own modules that reach the system.

    Example:
        >>> import io, zero
        >>> from fractions import Fraction
        >>> with zero.serialization.safe_globals([Fraction]):
        ...     file = io.BytesIO()
        ...     zero.save({"share": Fraction(1, 3)}, file)
        ...     position = file.seek(0)
        ...     zero.load(file)
        {'share': Fraction(1, 3)}
    """
    for found in safe_globals:
        value, name = found if isinstance(found, tuple) else (found, None)
        if name is None and callable(value):
            name = f"{value.__module__}.{value.__qualname__}"
        if not isinstance(name, str) or not callable(value):
            raise TypeError(
                f"add_safe_globals: neither a class nor a pair of one and its name; got {found!r}"
            )
        _globals.trust(name, value)


def get_safe_globals() -> list[Any]:
    """What :func:`add_safe_globals` has allowed."""
    return list(_globals.trusted_objects.values())


def clear_safe_globals() -> None:
    """Takes back all that was allowed."""
    for name in list(_globals.trusted_objects):
        _globals.distrust(name)


class safe_globals:
    """Context manager: allows objects of your own classes in files, see :func:`add_safe_globals`.

    Args:
        safe_globals: as there.
    """

    def __init__(self, safe_globals: Iterable[Any]) -> None:
        self._added = list(safe_globals)

    def __enter__(self) -> None:
        self._before = dict(_globals.trusted_objects)
        add_safe_globals(self._added)

    def __exit__(self, *error: object) -> None:
        clear_safe_globals()
        for name, value in self._before.items():
            _globals.trust(name, value)


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names of classes and functions in a file for which :func:`load` refuses it.

    Args:
        f: as for :func:`load`.

    Example:
        >>> import io, pickle, zero
        >>> from fractions import Fraction
        >>> file = io.BytesIO(pickle.dumps([Fraction(1, 3)]))
        >>> zero.serialization.get_unsafe_globals_in_checkpoint(file)
        ['fractions.Fraction']
    """
    from zero.serialization._names import unknown_names

    with opened(f) as source:
        return unknown_names(source, _sums)


def get_crc32_options() -> bool:
    """Whether sums of the content are written by :func:`save` and compared by :func:`load`."""
    return _sums


def set_crc32_options(compute_crc32: bool) -> None:
    """Sets whether sums of the content are written by :func:`save` and compared by :func:`load`.

    Args:
        compute_crc32: False saves the time, and loads files whose content is not what was written.
    """
    global _sums
    if type(compute_crc32) is not bool:
        raise TypeError(
            f"set_crc32_options: no bool; got {compute_crc32!r}, expected True or False"
        )
    _sums = compute_crc32


CheckpointError.__module__ = "zero.serialization"

if not TYPE_CHECKING:
    __getattr__ = _later.missing("zero.serialization")
