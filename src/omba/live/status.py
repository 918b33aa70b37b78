"""Status: what accepting and learning have done so far, told between processes by small files.

The learner's file also is its heartbeat: while its process lives, the file is touched every second.
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress
from os import PathLike
from typing import Any

from omba.errors import OmbaError
from omba.store import ModelFolder

SIZE, TRIES = 4_096, 5
BEAT = 1.0
"""Seconds between two beats of a learner's heart."""
COUNTERS = ("baskets_learned", "baskets_late", "baskets_of_returns", "windows_closed")
"""What only ever grows, also while a learner learns again what it had learned before a crash."""
COUNTS = (*COUNTERS, "baskets_read", "baskets_lost", "baskets_quarantined", "restarts", "failures")


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
        synced = folder.read_synced()
        if synced is None or self.facts.get("baskets_learned", 0) > synced.end:
            # Said of another journal than the one that is here.
            self.facts = {}

    def tell(self, **facts: Any) -> None:
        """Leave word. It is no promise, so it is not synced, and where it cannot be left, it is not."""
        grown = {name: max(facts[name], self.facts.get(name, 0)) for name in COUNTERS if name in facts}
        facts = {**self.facts, **facts, **grown}
        if facts == self.facts:
            return
        self.facts = facts
        with suppress(OSError):
            handle = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.pwrite(handle, json.dumps(facts).encode().ljust(SIZE), 0)
                if os.fstat(handle).st_size > SIZE:
                    os.ftruncate(handle, SIZE)
            finally:
                os.close(handle)

    def beat(self, stop: threading.Event) -> None:
        """Show that this process lives, until told to stop; for a thread of its own."""
        while not stop.wait(BEAT):
            with suppress(OSError):
                os.utime(self.file)

    def clear(self) -> None:
        """The learner has stopped."""
        self.tell(learning=False)


def read(folder: ModelFolder) -> dict[str, Any]:
    """What the learner last said; nothing where it has said nothing, or nothing that makes sense."""
    for _ in range(TRIES):
        try:
            return _sane(json.loads(folder.learner_file.read_text()))
        except FileNotFoundError:
            break
        except (OSError, ValueError, RecursionError):
            # It is just being written.
            time.sleep(0.001)
    return {}


def _sane(facts: Any) -> dict[str, Any]:
    """The facts that are what they should be; who has changed the file by hand is not believed."""
    if not isinstance(facts, dict):
        return {}
    good = {name: facts[name] for name in COUNTS if type(facts.get(name)) is int and 0 <= facts[name] < 2**62}
    if isinstance(facts.get("learning"), bool):
        good["learning"] = facts["learning"]
    if isinstance(facts.get("error"), str):
        good["error"] = facts["error"]
    if _is_window(facts.get("last_window")):
        good["last_window"] = facts["last_window"]
    return good


def _is_window(window: Any) -> bool:
    """Whether this tells of a window: its bounds, where it has any, and its baskets."""
    if not isinstance(window, dict) or set(window) != {"start", "stop", "baskets"}:
        return False
    bounds = all(one is None or type(one) in (int, str) for one in (window["start"], window["stop"]))
    return bounds and type(window["baskets"]) is int and window["baskets"] >= 0


def status(folder: str | PathLike[str]) -> dict[str, Any]:
    """How far a model folder has come: baskets accepted, learned, waiting, late and repeated, and the last window.

    `learning` tells whether a window is being learned right now, `error` what keeps the learner from going on,
    `heartbeat` how many seconds ago its process last gave a sign of life, None where there never was one.
    """
    folder = ModelFolder(folder)
    synced, learner = folder.read_synced(), read(folder)
    position = {} if "baskets_learned" in learner else _position(folder)
    accepted = max(synced.end if synced else 0, learner.get("baskets_learned", 0))
    learned = learner.get("baskets_learned", position.get("learned", 0))
    gone = learner.get("baskets_lost", 0) + learner.get("baskets_quarantined", 0)
    return {
        "baskets_accepted": accepted,
        "baskets_learned": learned,
        "baskets_waiting": max(0, accepted - learned - gone),
        "baskets_unread": max(0, accepted - learner.get("baskets_read", position.get("next", 0))),
        "baskets_late": learner.get("baskets_late", position.get("late", 0)),
        "baskets_of_returns": learner.get("baskets_of_returns", position.get("returns", 0)),
        "baskets_quarantined": learner.get("baskets_quarantined", 0),
        "baskets_lost": learner.get("baskets_lost", 0),
        "baskets_repeated": synced.repeated if synced else 0,
        "windows_closed": learner.get("windows_closed", position.get("windows", 0)),
        "last_window": learner.get("last_window"),
        "learning": learner.get("learning", False),
        "error": learner.get("error"),
        "heartbeat": _heartbeat(folder),
        "restarts": learner.get("restarts", 0),
        "failures": learner.get("failures", 0),
    }


def _position(folder: ModelFolder) -> dict[str, Any]:
    """How far the snapshot says that learning has come; one that cannot be read is told of elsewhere."""
    with suppress(OmbaError):
        return folder.position()
    return {}


def _heartbeat(folder: ModelFolder) -> float | None:
    try:
        return max(0.0, time.time() - folder.learner_file.stat().st_mtime)
    except OSError:
        return None
