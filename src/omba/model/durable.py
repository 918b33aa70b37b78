"""Durable: files that are on the disk before anything relies on them, and the steps between which power may fail."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from safetensors import SafetensorError

ASIDE = ".aside"
"""The ending of what is being written and counts for nothing yet."""

hook: Callable[[str], None] | None = None
"""Called with the name of each step as it is reached. Tests set it, to end the process right there."""


def step(name: str) -> None:
    """A moment at which a crash must do no harm."""
    if hook is not None:
        hook(name)


FAILURES = (OSError, SafetensorError)
"""What writing raises where there is no room or no right to; safetensors has an error of its own for it."""


def reason(error: BaseException) -> str:
    """Why a write failed, in the system's words."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    code = re.search(r"os error (\d+)", str(error))
    return os.strerror(int(code[1])) if code else str(error)


def sync(path: Path) -> None:
    """Have a file or a folder on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace(file: Path, content: bytes) -> None:
    """Write a file whole or not at all: aside, synced, then renamed over what was there."""
    aside = file.with_name(file.name + ASIDE)
    aside.write_bytes(content)
    sync(aside)
    step(f"{file.name} written aside")
    aside.replace(file)
    step(f"{file.name} replaced")
    sync(file.parent)
