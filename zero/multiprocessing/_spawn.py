"""One function in several processes at once, and what becomes of them."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

__all__ = [
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):
    """A process has failed.

    Attributes:
        msg: what happened.
        error_index: the number of the process.
        error_pid: its id in the system.
    """

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid, self.pid = msg, error_index, pid, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process has ended by an exception, whose traceback is the message."""


class ProcessExitedException(ProcessException):
    """A process has ended by a signal or with an exit code other than 0.

    Attributes:
        exit_code: the code; minus the signal's number.
        signal_name: the signal; None if there was none.
    """

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        arguments = (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)
        return type(self), arguments


def _run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], failures: Any) -> None:
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent has got it too
    except Exception:
        failures.send(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that :func:`start_processes` has started.

    Attributes:
        processes: the processes.
    """

    def __init__(self, processes: list[Any], failures: list[Any]) -> None:
        self.processes, self._failures = processes, failures
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Their ids in the system."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits until one process has failed, or all have ended.

        When one fails, the others are stopped, and what it raised is raised here.

        Args:
            timeout: seconds to wait at most.
            grace_period: seconds in which the others may end by themselves after one has failed.

        Returns:
            True if all have ended, False if some are still running.

        Raises:
            ProcessRaisedException: the function raised in one of them.
            ProcessExitedException: one was killed, or has exited with a code other than 0.
        """
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(list(self.sentinels), timeout)
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._stop(grace_period)
        self._raise(failed)
        raise AssertionError

    def _stop(self, grace_period: float | None) -> None:
        end = time.monotonic() + (grace_period or 0)
        if grace_period is not None:
            for process in self.processes:
                process.join(max(end - time.monotonic(), 0))
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        end = time.monotonic() + max(30, grace_period or 0)
        for process in self.processes:
            process.join(max(end - time.monotonic(), 0))
            if process.is_alive():
                process.kill()
                process.join()
        self.sentinels.clear()

    def _raise(self, index: int) -> None:
        process, failure = self.processes[index], self._failures[index]
        code = process.exitcode
        try:
            text = failure.recv() if failure.poll() else None
        except EOFError:
            text = None
        if text is not None:
            raise ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}",
                index,
                process.pid,
            )
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            text = f"process {index} terminated with signal {name}"
            raise ProcessExitedException(text, index, process.pid, code, name)
        text = f"process {index} terminated with exit code {code}"
        raise ProcessExitedException(text, index, process.pid, code)


class SpawnContext(ProcessContext):
    """The same, for processes started by ``spawn``."""


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """As :func:`spawn`, with any start method."""
    context: Any = multiprocessing.get_context(start_method)
    processes, failures = [], []
    for i in range(nprocs):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, i, args, sender), daemon=daemon)
        process.start()
        sender.close()
        processes.append(process)
        failures.append(receiver)
    kind = SpawnContext if start_method == "spawn" else ProcessContext
    started = kind(processes, failures)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs ``fn(i, *args)`` in `nprocs` new processes, with i from 0.

    Args:
        fn: a function of a module, as it goes to the processes by its name.
        args: what it gets besides the number; tensors are shared.
        nprocs: how many processes.
        join: wait for all to end; when one fails, the others are stopped.
        daemon: the processes end with this one.
        start_method: see :func:`start_processes` for others.

    Returns:
        None with `join`, else the :class:`ProcessContext` whose `join` waits for them.

    Raises:
        ProcessRaisedException: the function raised in one of them.
        ProcessExitedException: one was killed, or has exited with a code other than 0.
        ValueError: another start method.
    """
    if start_method != "spawn":
        raise ValueError(
            f"spawn: another start method; got {start_method!r}, expected 'spawn'; "
            "start_processes takes the others"
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
