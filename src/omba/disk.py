"""Disk: the one way to write safely. Write aside, sync, then switch in one step, so that a crash leaves old or new.

Everything that must outlive a crash is written by these functions, or, where it grows by appending, synced by them.
Between any two of their steps the power may fail. Each step has a name, and tests end the process at every one of them.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

ASIDE = ".aside"
"""The ending of what is being written and counts for nothing yet."""
READABLE = 0o666
"""The mode of a new file, from which the process's umask takes away as usual."""

PRIVATE = 0o700
"""The mode of a model's folder."""

FAILURES = (OSError, SafetensorError)
"""What writing raises where there is no room or no right to; safetensors has an error of its own for it."""

hook: Callable[[str], None] | None = None
"""Called with the name of each step as it is reached. Tests set it, to end the process right there."""


def step(name: str) -> None:
    """A moment at which a crash must do no harm."""
    if hook is not None:
        hook(name)


def reason(error: BaseException) -> str:
    """Why a write failed, in the system's words."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    code = re.search(r"os error (\d+)", str(error))
    return os.strerror(int(code[1])) if code else str(error)


def make_private(folder: Path) -> None:
    """Make a folder, where it is not there, that only its owner can look into: it will hold customers' baskets."""
    folder.mkdir(PRIVATE, parents=True, exist_ok=True)


def sync(path: Path) -> None:
    """Have a file or a folder on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    """Write all of it to an open file, or raise; a full disk takes a part before it refuses."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def replace(file: Path, content: bytes, mode: int = READABLE) -> None:
    """Write a file whole or not at all: aside, synced, then renamed over what was there."""
    aside = aside_of(file)
    if aside.is_symlink():
        # Somebody else's: what is written must not go to where it leads.
        aside.unlink()
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    try:
        write_all(handle, content)
        os.fsync(handle)
    finally:
        os.close(handle)
    step(f"{file.name} written aside")
    aside.replace(file)
    step(f"{file.name} replaced")
    sync(file.parent)


@contextmanager
def replace_folder(place: Path, what: str) -> Iterator[Path]:
    """A folder to be filled within the block, which takes its place whole or not at all when the block has ended.

    `what` names it in the steps. If the block raises, what it left stays aside for `remove_asides`.
    """
    aside = aside_of(place)
    aside.mkdir(parents=True)
    step(f"{what} begun")
    yield aside
    for file in (*aside.iterdir(), aside):
        sync(file)
    step(f"{what} written aside")
    shutil.rmtree(place, ignore_errors=True)
    aside.rename(place)
    step(f"{what} renamed")
    sync(place.parent)


def remove_folder(place: Path) -> None:
    """Remove a folder so that nobody meets it half removed; what a crash leaves aside goes by `remove_asides`."""
    aside = aside_of(place)
    shutil.rmtree(aside, ignore_errors=True)
    place.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def aside_of(place: Path) -> Path:
    """Where a file or folder is written before it takes its place."""
    return place.with_name(place.name + ASIDE)


def remove_asides(folder: Path, pattern: str) -> None:
    """Remove the folders that writes of a pattern have left aside when they failed; a full disk needs the room."""
    for left in folder.glob(pattern + ASIDE):
        shutil.rmtree(left, ignore_errors=True)
