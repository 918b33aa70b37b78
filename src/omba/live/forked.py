"""Forked work: what only reads a state is done in a fork of this process, while this one goes on.

A fork sees the state as it was when it began, and costs memory, and a fault of a page, only for what is changed
meanwhile. So a learned model is saved by another processor while its rules are mined. Where there is no second
processor, or no fork that may be trusted (other systems than Linux), the work is done at once.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from omba.errors import OmbaError, SnapshotError

log = logging.getLogger("omba")

Work = Callable[[], None]


class ForkedWork:
    """One piece of work at a time in a fork; what it logs, and what went wrong, is told when it is waited for.

    Parameters
    ----------
    loss
        What it means if the process that did it ends on the way, in words: "the model is saved again".
    """

    def __init__(self, loss: str) -> None:
        self.loss = loss
        self._child: tuple[int, int] | None = None

    def begin(self, work: Work) -> None:
        """Have work done, after what was begun before."""
        self.wait()
        if not has_spare_processor():
            work()
            return
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(read)
            _be_the_child(work, write)
        os.close(write)
        self._child = pid, read

    def wait(self) -> bool:
        """Back once the work is done, whether it was; raises what went wrong with it."""
        if self._child is None:
            return True
        (pid, read), self._child = self._child, None
        with os.fdopen(read, "rb") as pipe:
            told = pipe.read()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status or not told:
            ending = f"signal {-status}" if status < 0 else f"exit status {status}"
            log.warning("%s: the process that wrote it ended (%s)", self.loss, ending)
            return False
        found: dict[str, Any] = json.loads(told)
        for level, message in found["notes"]:
            log.log(level, "%s", message)
        if found["error"] is not None:
            raise SnapshotError(found["error"])
        return True


def has_spare_processor() -> bool:
    """Whether there is a second processor, and a system on which a process with threads may fork."""
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


class _Notes(logging.Handler):
    """Keeps what is logged: a lock of the terminal may have been held by a thread that is not in the fork."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append((record.levelno, record.getMessage()))


def _be_the_child(work: Work, write: int) -> None:
    """Do the work, tell how it went, and end without the ends of the process that this is a copy of."""
    try:
        # Ctrl-C is for the one that learns.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        notes, error = _Notes(), None
        log.handlers, log.propagate = [notes], False
        try:
            work()
        except OmbaError as mistake:
            error = str(mistake)
        except Exception as fault:
            error = f"it could not be written ({type(fault).__name__}: {fault})"
        with os.fdopen(write, "wb") as pipe:
            pipe.write(json.dumps({"notes": notes.told, "error": error}).encode())
        os._exit(0)
    finally:
        os._exit(1)
