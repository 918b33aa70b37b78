"""Follow: a source that grows, a journal and a learner in one process, until a person stops it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Protocol

from omba.errors import StoreError
from omba.live.inbox import SILENCE, Inbox
from omba.live.learner import RETRY, Learner, Stop

log = logging.getLogger("omba")

PAUSE = 0.2
"""Seconds between two looks at a source that had nothing new."""


class Feed(Protocol):
    """A source that baskets keep coming from, each handed to the inbox once."""

    @property
    def counts(self) -> Counter[str]:
        """What became of rows and baskets that are not learned as they came."""
        ...

    def read(self) -> int:
        """Hand on what is new; how many baskets that were."""
        ...

    def flush(self) -> int:
        """Hand on what waits for its end, since nothing has come for a while."""
        ...

    def acknowledge(self, before: int) -> None:
        """Told after a snapshot: it has learned all baskets before this one."""
        ...

    def close(self) -> None: ...


def follow(
    feed: Feed,
    inbox: Inbox,
    learner: Learner,
    stop: Stop,
    progress: Callable[[int], None] = lambda handed: None,
    silence: float = SILENCE,
) -> None:
    """Take in and learn what comes until told to stop; `progress` is called with the baskets taken in by each look."""
    heard = monotonic()
    while not stop.is_set():
        try:
            handed = feed.read()
            if handed:
                heard = monotonic()
            elif monotonic() - heard >= silence:
                handed = feed.flush()
                inbox.mark(silence=0)
        except StoreError as error:
            # The disk is full, or may not be written to: nothing is lost, and it is tried again.
            log.warning("%s", error)
            stop.wait(RETRY)
            handed = 0
        learner.drain(stop)
        feed.acknowledge(learner.safe)
        progress(handed)
        if not handed:
            stop.wait(PAUSE)
