"""State: what the routes share: the published views, the inbox and the learner where there are some, the counters."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, cast

from fastapi import Depends, Query, Request
from fastapi.concurrency import run_in_threadpool

from omba.live import Inbox, status
from omba.service.group_commit import GroupCommit
from omba.service.http.metrics import Metrics
from omba.service.routes.schemas import Moment
from omba.service.views.published import Published
from omba.service.views.view import View


@dataclass
class Service:
    """One model folder, served. Without an inbox it only answers."""

    published: Published
    inbox: Inbox | None = None
    metrics: Metrics = field(default_factory=Metrics)
    group_commit: GroupCommit | None = field(init=False)

    def __post_init__(self) -> None:
        self.group_commit = None if self.inbox is None else GroupCommit(self.inbox)

    def facts(self) -> dict[str, Any]:
        """How far accepting and learning have come, and how much the model holds."""
        view = self.published.view
        model = view.model
        assert model is not None
        facts = status(self.published.folder)
        if facts["error"] is None:
            facts["error"] = self.published.error
        # A model may have learned from files before it was served, and those baskets never were in the journal.
        position = model.position
        baskets, windows = model.n_baskets - position.get("learned", 0), model.n_windows - position.get("windows", 0)
        for name in ("baskets_accepted", "baskets_learned"):
            facts[name] += baskets
        facts["windows_closed"] += windows
        return {
            **facts,
            "baskets_published": model.n_baskets,
            "products": len(view.product_index),
            "users": len(model.user_rows.vocabulary),
            "rules": len(view.rule_index),
            "pairs": model.evidence.n_pairs,
            "memory": resident(),
        }


def resident() -> int:
    """Bytes of memory this process holds; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
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
