"""Status: what accepting and learning have done so far, told between processes by small files."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from omba.model.snapshot import peek
from omba.store.journal import JOURNAL, Synced

LEARNER = "learner.json"
SIZE, TRIES = 4_096, 5


class Status:
    """The learner's own word on itself. Its file keeps its size, so that a full disk can be told of."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / LEARNER
        self.told = read(folder)

    def tell(self, **facts: Any) -> None:
        """Leave word. It is no promise, so it is not synced, and where it cannot be left, it is not."""
        facts = {**self.told, **facts}
        if facts == self.told:
            return
        self.told = facts
        with suppress(OSError):
            handle = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.pwrite(handle, json.dumps(facts).encode().ljust(SIZE), 0)
            finally:
                os.close(handle)

    def clear(self) -> None:
        """The learner has stopped."""
        self.tell(learning=False)


def read(folder: Path) -> dict[str, Any]:
    """What the learner last said; nothing where it has said nothing."""
    for _ in range(TRIES):
        try:
            told: dict[str, Any] = json.loads((folder / LEARNER).read_text())
            return told
        except FileNotFoundError:
            break
        except (OSError, ValueError):
            # It is just being written.
            time.sleep(0.001)
    return {}


def status(folder: str | Path) -> dict[str, Any]:
    """How far a model folder has come: baskets accepted, learned, waiting, late and repeated, and the last window.

    `learning` tells whether a window is being learned right now, `error` what keeps the learner from going on.
    """
    folder = Path(folder)
    synced = Synced.read(folder / JOURNAL)
    told = read(folder)
    position = {} if "baskets_learned" in told else peek(folder).get("position") or {}
    accepted = max(synced.end if synced else 0, told.get("baskets_learned", 0))
    learned = told.get("baskets_learned", position.get("learned", 0))
    return {
        "baskets_accepted": accepted,
        "baskets_learned": learned,
        "baskets_waiting": accepted - learned,
        "baskets_late": told.get("baskets_late", position.get("late", 0)),
        "baskets_repeated": synced.repeated if synced else 0,
        "windows_closed": told.get("windows_closed", position.get("windows", 0)),
        "last_window": told.get("last_window"),
        "learning": told.get("learning", False),
        "error": told.get("error"),
    }
