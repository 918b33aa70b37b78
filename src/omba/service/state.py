"""State: what the routes share: the published views, the inbox and the learner where there are some, the counters."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Query, Request
from fastapi.concurrency import run_in_threadpool

from omba.live import Inbox, status
from omba.service.group_commit import GroupCommit
from omba.service.http.prometheus import Metrics
from omba.service.routes.schemas import Moment
from omba.service.views.published import Published
from omba.service.views.view import View

if TYPE_CHECKING:
    from omba.service.answering import Answering

T = TypeVar("T")

CRASH_LOOP = 3
"""Ends of the learner in a row after which the service is not well."""
STILL = 20.0
"""Seconds without a sign of life from the learner, while baskets wait for it, after which the service is not well."""
TURNS = 2
"""Pages and suggestions worked out at the same time; others wait in the order in which they came. Threads that share
one interpreter make each other slower than they would be one after the other, and the last of them much slower."""
LATE = 900.0
"""Seconds that a basket may wait for a learner that works through a backlog."""


@dataclass
class Service:
    """One model folder, served. Without an inbox it only answers. Its source is the state itself, or what leads to the
    process that has it."""

    source: Published | Answering
    inbox: Inbox | None = None
    metrics: Metrics = field(default_factory=Metrics)
    group_commit: GroupCommit | None = field(init=False)
    turns: CapacityLimiter | None = field(default_factory=lambda: CapacityLimiter(TURNS))

    def __post_init__(self) -> None:
        self.group_commit = None if self.inbox is None else GroupCommit(self.inbox)

    @property
    def published(self) -> Published:
        """The state itself, where questions are answered."""
        assert isinstance(self.source, Published)
        return self.source

    async def in_turn(self, work: Callable[[], T]) -> T:
        """What a thread makes of a short piece of work, a few at a time; without turns it is done at once."""
        if self.turns is None:
            return work()
        return await to_thread.run_sync(work, limiter=self.turns)

    def facts(self) -> dict[str, Any]:
        """How far accepting and learning have come, and how much the model holds."""
        held = self.source.summary
        facts = status(self.source.folder)
        if facts["error"] is None:
            facts["error"] = self.source.error
        # A model may have learned from files before it was served, and those baskets never were in the journal.
        # Baskets of returns only are among those learned from the journal, though the model has nothing of them.
        position = held.position
        baskets = held.baskets + position.get("returns", 0) - position.get("learned", 0)
        windows = held.windows - position.get("windows", 0)
        for name in ("baskets_accepted", "baskets_learned"):
            facts[name] += baskets
        facts["windows_closed"] += windows
        return {
            **facts,
            "oldest_waiting": self._oldest(facts),
            "baskets_published": held.baskets,
            "products": held.products,
            "users": held.users,
            "rules": held.rules,
            "pairs": held.pairs,
            "memory": sum(map(held_memory, [os.getpid(), *self.source.pids])),
        }

    def health(self) -> dict[str, Any]:
        """Whether the service is well, in words that anybody may read, without paths."""
        facts = status(self.source.folder)
        trouble, told = self._trouble(facts), ("heartbeat", "restarts", "baskets_waiting", "baskets_unread")
        return {
            "status": "ok" if trouble is None else "failing",
            "error": trouble,
            "oldest_waiting": self._oldest(facts),
            **{name: facts[name] for name in told},
        }

    def detail(self) -> str | None:
        """The sentence of whatever fails, paths and all; None where nothing does."""
        return status(self.source.folder)["error"] or self.source.error

    def _trouble(self, facts: dict[str, Any]) -> str | None:
        """What is wrong; None where nothing is."""
        oldest = self._oldest(facts)
        if self.inbox is not None and facts["failures"] >= CRASH_LOOP:
            return f"the learner has ended {facts['failures']} times in a row: see /status"
        if facts["error"] is not None:
            return "the learner does not go on: see /status"
        if self.source.error is not None:
            return "the model cannot be read: see /status"
        if self.inbox is not None and oldest > STILL and (facts["heartbeat"] is None or facts["heartbeat"] > STILL):
            return f"the learner has given no sign of life, and {facts['baskets_unread']:,} baskets wait for it"
        if oldest > LATE:
            return f"a basket has waited for the learner for {oldest:.0f} s"
        return None

    def _oldest(self, facts: dict[str, Any]) -> float:
        """How many seconds the oldest basket has waited that the learner has not looked at."""
        if self.inbox is None:
            return 0.0
        return round(self.inbox.oldest(self.inbox.accepted - facts["baskets_unread"]), 3)


def held_memory(process: int) -> int:
    """Bytes of memory a process holds, of what it shares with others its part; 0 where the system does not tell."""
    try:
        return int(re.findall(r"^Pss: *(\d+) kB", Path(f"/proc/{process}/smaps_rollup").read_text(), re.M)[0]) * 1024
    except (OSError, IndexError):
        return 0


# Neither is worth a thread of its own, and a plain function would get one.


async def service(request: Request) -> Service:
    return cast(Service, request.app.state.service)


async def view(request: Request, at: Annotated[Moment, Query()] = None) -> View:
    """The view that a request asks for; one of the past may have to be read from the disk."""
    published = cast(Service, request.app.state.service).published
    return published.view if at is None else await run_in_threadpool(published.at, at)


Served = Annotated[Service, Depends(service)]
Seen = Annotated[View, Depends(view)]
