"""The learner as a process of its own, so that learning never holds up an answer: started, watched, started again.

It gets its orders as a line of JSON on its standard input, and ends when that is closed, which happens by itself when
the process that started it is gone.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from omba.errors import OmbaError
from omba.live.priority import stand_back
from omba.live.status import LearnerStatus
from omba.store import ModelFolder

log = logging.getLogger("omba")

STEADY = 60.0
"""Seconds after which a learner counts as running well."""
PAUSES = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Seconds before a learner that ended by itself is started again, longer each time it happens in a row."""
GRACE = 30.0
"""Seconds a learner has to end its window when it is told to stop."""
NICE = 5
"""Answering comes first where there are few processors."""
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(2**20), "MALLOC_ARENA_MAX": "2"}
"""Has the C library of Linux give arrays of a megabyte and more back to the system as soon as they are let go of. With
384,000 pairs counted over 35 windows, a learner then held 457 MB instead of 543."""


class LearnerProcess:
    """A learner in a child process, kept running until `stop`. The options are those of `Learner`."""

    def __init__(self, folder: str | Path, **options: Any) -> None:
        self.folder, self.options = folder, options
        self.restarts = self.failures = 0
        """How often it was started again in all, and how often in a row."""
        self._stop = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, name="learner", daemon=True)

    def start(self) -> Self:
        self._child = self._launch()
        self._thread.start()
        return self

    @property
    def pid(self) -> int | None:
        """The process that runs now, if one does."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def stop(self) -> None:
        """Have it finish its window, publish and end."""
        self._stop.set()
        child = self._child
        if child is not None:
            _close(child)
            try:
                child.wait(GRACE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        if self._thread.is_alive():
            self._thread.join()

    def _launch(self) -> subprocess.Popen[bytes]:
        command, environment = [sys.executable, "-m", "omba.live"], {**ALLOCATOR, **os.environ}
        child = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
        assert child.stdin is not None
        so_far = {"restarts": self.restarts, "failures": self.failures}
        orders = json.dumps({"folder": str(self.folder), **self.options, "so_far": so_far})
        with suppress(BrokenPipeError):
            child.stdin.write(orders.encode() + b"\n")
            child.stdin.flush()
        return child

    def _watch(self) -> None:
        while not self._stop.is_set():
            child = self._child
            assert child is not None
            try:
                child.wait(STEADY)
            except subprocess.TimeoutExpired:
                self.failures = 0
                continue
            if self._stop.is_set():
                return
            _close(child)
            pause = PAUSES[min(self.failures, len(PAUSES) - 1)]
            self.failures, self.restarts = self.failures + 1, self.restarts + 1
            LearnerStatus(ModelFolder(self.folder)).tell(restarts=self.restarts, failures=self.failures, learning=False)
            log.warning("the learner ended (%s): it is started again in %g s", _ending(child.returncode), pause)
            if not self._stop.wait(pause):
                self._child = self._launch()


def _close(child: subprocess.Popen[bytes]) -> None:
    """Close the other end of a child's standard input; it may be gone already."""
    if child.stdin is not None:
        with suppress(BrokenPipeError):
            child.stdin.close()


def start(folder: str | Path, **options: Any) -> LearnerProcess:
    """Start a learner for a folder in a process of its own; `every`, `lateness`, `history` and `settings` as usual."""
    return LearnerProcess(folder, **options).start()


def serve(orders: IO[bytes]) -> int:
    """What the child does: learn until the other end of its standard input is gone."""
    from omba.live.learner import Learner

    given = json.loads(orders.readline())
    stop, status = threading.Event(), LearnerStatus(ModelFolder(given["folder"]))
    status.tell(**given.pop("so_far", {}))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threading.Thread(target=_wait_for_end, args=(orders, stop), daemon=True).start()
    threading.Thread(target=status.beat, args=(stop,), daemon=True).start()
    stand_back(NICE, int((given.get("settings") or {}).get("threads", 1)))
    try:
        learner = Learner(**given)
        learner.run(stop)
        learner.close()
    except OmbaError as error:
        LearnerStatus(ModelFolder(given["folder"])).tell(error=str(error), learning=False)
        print(f"omba: {error}", file=sys.stderr)
        return 2
    except Exception as error:
        LearnerStatus(ModelFolder(given["folder"])).tell(error=f"{type(error).__name__}: {error}", learning=False)
        raise
    return 0


def _wait_for_end(orders: IO[bytes], stop: threading.Event) -> None:
    orders.read()
    stop.set()


def _ending(code: int) -> str:
    return f"exit status {code}" if code >= 0 else f"signal {-code}"
