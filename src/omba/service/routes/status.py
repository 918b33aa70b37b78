"""Routes on the service itself: what it has learned, what today brought, and whether it is well."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from omba.service.http.responses import PROBLEMS, REFUSALS, answer
from omba.service.http.security import UNTRUSTED
from omba.service.routes import schemas
from omba.service.state import Seen, Served
from omba.service.views.changes import NOTHING, change_records, changes
from omba.service.views.history_view import HistoryEntry
from omba.service.views.view import View

router = APIRouter(tags=["status"], responses=REFUSALS)

LISTED, STRONGEST = 20, 12
"""Changes of each kind, and rules, on the page of today."""
HEALTH = CapacityLimiter(2)
"""Threads that only the question whether the service is well may take."""
WEEK = {"datetime": 7 * 86_400_000_000, "day": 7, "none": 7}


@router.get("/status", response_model=schemas.Status)
def status(served: Served) -> Response:
    """What was accepted and learned, and how much the model holds."""
    from omba import __version__

    held = served.source.summary
    return answer(
        {
            "version": __version__,
            **served.facts(),
            "clock": held.clock,
            "history": held.history,
            "settings": held.settings,
        }
    )


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(served: Served) -> Response:
    """Counters and times for Prometheus."""
    return Response(served.metrics.text(served.facts()), media_type="text/plain; version=0.0.4")


@router.get("/today", response_model=schemas.Today, responses=PROBLEMS)
def today(
    served: Served,
    view: Seen,
    since: Annotated[str | None, Query(max_length=40, description="Compare with this moment; a week before.")] = None,
) -> Response:
    """What the stream brought since a moment, and what it did to the rules."""
    published = served.published
    earlier = [
        one for one in published.past.entries if one.entry.tick < view.tick and one.entry.n_baskets < view.n_baskets
    ]
    start = published.past.at(since) if since is not None else week_before(earlier, view)
    first = None if start is None else published.at(start.at)
    found = changes(first, view) if first is not None and first.tick < view.tick else NOTHING
    counts = {name: len(listed) for name, listed in found}
    changed = {name: change_records(listed[:LISTED], view) for name, listed in found}
    new = {one["key"] for one in changed["emerged"]}
    records = view.rule_index.records
    strongest = sorted((one for one in records if one["status"] != "unseen"), key=lambda one: one["key"] in new)
    return answer(
        {
            "window": window(first, view),
            "since": None if first is None else first.at,
            "new_products": len(view.product_index) - (0 if first is None else len(first.product_index)),
            "note": found.note,
            "counts": counts,
            **changed,
            "strongest": strongest[:STRONGEST],
            "unseen": [one for one in records if one["status"] == "unseen"][:STRONGEST],
            "series": series(earlier, view),
        }
    )


def week_before(earlier: list[HistoryEntry], view: View) -> HistoryEntry | None:
    """The last earlier window that is a week old or older, else the one before the last."""
    old = [one for one in earlier if one.entry.tick <= view.tick - WEEK[view.clock.value]]
    return old[-1] if old else earlier[-1] if earlier else None


def window(first: View | None, view: View) -> dict[str, Any]:
    """What came in between two views."""
    counts = view.product_index.counts.astype(np.int64)
    return {
        "start": None if first is None else first.at,
        "stop": view.at if view.n_baskets else None,
        "baskets": view.n_baskets - (0 if first is None else first.n_baskets),
        "products_sold": int(counts.sum()) - (0 if first is None else int(first.product_index.counts.sum())),
    }


def series(earlier: list[HistoryEntry], view: View) -> list[dict[str, Any]]:
    """Baskets of each earlier window, the present last."""
    ends = [(one.at, one.entry.n_baskets) for one in earlier]
    if view.n_baskets and (not ends or ends[-1][0] != view.at):
        ends.append((view.at, view.n_baskets))
    before = 0
    out = []
    for at, baskets in ends:
        out.append({"at": at, "baskets": baskets - before})
        before = baskets
    return out


@router.get("/health", response_model=schemas.Health, responses={503: {"model": schemas.Health}})
async def health(request: Request, served: Served) -> Response:
    """Whether the service can answer, and learn: the learner lives, does not refuse, and no basket waits too long."""
    # A thread of its own: where all others are busy, this is still told.
    found = await to_thread.run_sync(served.health, limiter=HEALTH)
    if request.scope.get(UNTRUSTED):
        # How much is sold, and where it lies, is nobody's business who has no token.
        found = {name: found[name] for name in ("status", "error", "heartbeat", "restarts")}
    elif detail := served.detail():
        found["error"] = detail
    return answer(found, 200 if found["status"] == "ok" else 503)
