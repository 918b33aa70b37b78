"""Kept results: each method's figures in a file as soon as it is done, so that a run that was stopped loses nothing.

A file is for one key: the task, the seeds and the baskets. What another key left there is not taken over.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omba import __version__, disk
from omba.baskets import Baskets


class KeptResults:
    """The figures of methods that are done, by the name of the method.

    Parameters
    ----------
    path
        The file; None keeps nothing.
    key
        What the figures are of.
    """

    def __init__(self, path: str | Path | None, key: dict[str, Any]) -> None:
        self.path, self.key = None if path is None else Path(path), json.loads(json.dumps(key))
        self.rows = {row["method"]: row for row in self._load()}

    def _load(self) -> list[dict[str, Any]]:
        """What an earlier run left; a file of another key, or of something else, is as good as none."""
        if self.path is None:
            return []
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            return list(kept["rows"]) if kept["key"] == self.key else []
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def write(self, text: str) -> None:
        """Put the figures so far into the file, all of them or none."""
        if self.path is not None:
            disk.replace(self.path, (text + "\n").encode())


def key_of(task: Any, seeds: Sequence[int], baskets: Baskets) -> dict[str, Any]:
    """What figures depend on beside the method: the task, the seeds, the baskets and the version."""
    users = b"" if baskets.user_codes is None else baskets.user_codes.tobytes()
    sums = [zlib.crc32(column) for column in (baskets.offsets.tobytes(), baskets.items.tobytes(), users)]
    settings = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(task).items()}
    if settings.get("users") is not None:  # thousands of them, as a rule
        settings["users"] = zlib.crc32(repr(settings["users"]).encode())
    return {
        "task": {"name": task.name, **settings},
        "seeds": list(seeds),
        "baskets": [len(baskets), *sums],
        "version": __version__,
    }
