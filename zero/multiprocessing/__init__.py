"""Python's :mod:`multiprocessing` for programs that send tensors from process to process.

All names of :mod:`multiprocessing` are here, and mean the same. A tensor that goes through one of
its queues, pipes or pools, or is an argument of a ``Process``, is not copied: its memory moves to
where both processes see it, and what one writes the other reads. ``import multiprocessing`` is as
good for that; here are also :func:`spawn` and the names of PyTorch's strategies.

A tensor's memory lives as long as some process has a tensor on it. It needs no descriptor: it lies
in a file of /dev/shm (where the system has none, or where it is full, of the folder for temporary
files), which each process that holds it knows by a name of its own. Names end with their holders;
those of processes that were killed go when the program ends, and if that was killed itself, when
the next one shares something.

Example:
    >>> import zero
    >>> import zero.multiprocessing as mp
    >>> x = zero.zeros(3).share_memory_()
    >>> def fill(shared):
    ...     shared[1] = 5
    >>> process = mp.get_context("fork").Process(target=fill, args=(x,))
    >>> process.start(); process.join()
    >>> x
    tensor([0., 5., 0.])
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *

from zero.multiprocessing._spawn import (
    ProcessContext as ProcessContext,
    ProcessExitedException as ProcessExitedException,
    ProcessRaisedException as ProcessRaisedException,
    SpawnContext as SpawnContext,
    spawn as spawn,
    start_processes as start_processes,
)
from zero.multiprocessing.reductions import init_reductions as init_reductions

__all__ = [
    *multiprocessing.__all__,
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]


def get_all_sharing_strategies() -> set[str]:
    """The ways to share memory: one, called ``"file_system"`` in PyTorch too.

    Example:
        >>> import zero.multiprocessing as mp
        >>> mp.get_all_sharing_strategies()
        {'file_system'}
    """
    return {"file_system"}


def get_sharing_strategy() -> str:
    """``"file_system"``: memory is known by names of files and takes no descriptors."""
    return "file_system"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepts PyTorch's names, ``"file_system"`` and ``"file_descriptor"``.

    Both mean the same here: programs choose one of them for its limits, on descriptors or on what
    is left behind by processes that are killed, and zero's way has neither.

    Args:
        new_strategy: one of the two.

    Raises:
        ValueError: another name.
    """
    if new_strategy not in ("file_system", "file_descriptor"):
        raise ValueError(
            f"set_sharing_strategy: no such strategy; got {new_strategy!r}, expected "
            "'file_system' or 'file_descriptor'"
        )


init_reductions()
