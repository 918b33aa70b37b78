"""Status: what accepting and learning have done so far, told between processes by small files."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from os import PathLike
from typing import Any

from omba.store import ModelFolder

SIZE, TRIES = 4_096, 5


class LearnerStatus:
    """What the learner says of itself. Its file keeps its size, so that a full disk can be told of.

    Parameters
    ----------
    folder
        The model's folder.
    """

    def __init__(self, folder: ModelFolder) -> None:
        self.file = folder.learner_file
        self.facts = read(folder)

    def tell(self, **facts: Any) -> None:
        """Leave word. It is no promise, so it is not synced, and where it cannot be left, it is not."""
        facts = {**self.facts, **facts}
        if facts == self.facts:
            return
        self.facts = facts
        with suppress(OSError):
            handle = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.pwrite(handle, json.dumps(facts).encode().ljust(SIZE), 0)
            finally:
                os.close(handle)

    def clear(self) -> None:
        """The learner has stopped."""
        self.tell(learning=False)


def read(folder: ModelFolder) -> dict[str, Any]:
    """What the learner last said; nothing where it has said nothing."""
    for _ in range(TRIES):
        try:
            facts: dict[str, Any] = json.loads(folder.learner_file.read_text())
            return facts
        except FileNotFoundError:
            break
        except (OSError, ValueError):
            # It is just being written.
            time.sleep(0.001)
    return {}


def status(folder: str | PathLike[str]) -> dict[str, Any]:
    """How far a model folder has come: baskets accepted, learned, waiting, late and repeated, and the last window.

    `learning` tells whether a window is being learned right now, `error` what keeps the learner from going on.
    """
    folder = ModelFolder(folder)
    synced, learner = folder.read_synced(), read(folder)
    position = {} if "baskets_learned" in learner else folder.position()
    accepted = max(synced.end if synced else 0, learner.get("baskets_learned", 0))
    learned = learner.get("baskets_learned", position.get("learned", 0))
    return {
        "baskets_accepted": accepted,
        "baskets_learned": learned,
        "baskets_waiting": accepted - learned,
        "baskets_late": learner.get("baskets_late", position.get("late", 0)),
        "baskets_repeated": synced.repeated if synced else 0,
        "windows_closed": learner.get("windows_closed", position.get("windows", 0)),
        "last_window": learner.get("last_window"),
        "learning": learner.get("learning", False),
        "error": learner.get("error"),
    }
