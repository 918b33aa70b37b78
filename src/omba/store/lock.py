"""Lock: one writer a folder. It goes with its process, however that ends."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Self

from omba.disk import make_private
from omba.errors import StoreError

FILE = "lock"
"""The file in a folder that is held."""
LEAVING = 5.0
"""Seconds a lock is waited for whose holder is gone, or had no time to say who it is: a process that was killed may
take a moment to let go."""


class Lock:
    """Held from the moment it is made until `release`; a second holder is refused in one sentence.

    A process that is started by this one does not inherit it.

    Parameters
    ----------
    folder
        The folder that is to have one writer; it is made where it is not there.
    what
        What the holder does to the folder, for the sentence that a second one gets: "learns into".
    """

    def __init__(self, folder: Path, what: str) -> None:
        file = folder / FILE
        try:
            make_private(folder)
            self.handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(
                f"{str(folder)!r} cannot be written to ({error.strerror}): give a folder that can"
            ) from error
        until = time.monotonic() + LEAVING
        while not _take(self.handle):
            holder = os.pread(self.handle, 32, 0).decode(errors="replace").strip()
            if (not holder or _has_ended(holder)) and time.monotonic() < until:
                time.sleep(0.02)
                continue
            os.close(self.handle)
            raise StoreError(
                f"another process ({holder or 'unknown'}) {what} {str(folder)!r}: stop it first, or give another folder"
            )
        os.ftruncate(self.handle, 0)
        os.pwrite(self.handle, f"process {os.getpid()}\n".encode(), 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


def _take(handle: int) -> bool:
    """Whether the lock could be had at once."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _has_ended(holder: str) -> bool:
    """Whether the process that a lock file names has ended."""
    number = holder.removeprefix("process ")
    if not number.isdecimal() or len(number) > 9:
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False
