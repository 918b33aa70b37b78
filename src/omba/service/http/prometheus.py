"""Metrics: requests and their times by route, and how far learning has come, in the text format of Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Upper ends of the histogram's classes, in seconds."""
GAUGES = {
    "baskets_accepted": ("counter", "Baskets taken in, each safe on the disk."),
    "baskets_learned": ("counter", "Baskets the model has learned."),
    "baskets_waiting": ("gauge", "Baskets taken in and not yet learned."),
    "baskets_late": ("counter", "Baskets that came after their window was closed."),
    "baskets_unread": ("gauge", "Baskets taken in that the learner has not looked at."),
    "baskets_of_returns": ("counter", "Baskets of returns only, of which nothing is learned."),
    "baskets_quarantined": ("counter", "Baskets that the learner has failed at."),
    "baskets_lost": ("counter", "Baskets that the journal has lost and that were given up."),
    "oldest_waiting": ("gauge", "Seconds that the oldest basket has waited for the learner to look at it."),
    "heartbeat": ("gauge", "Seconds since the learner's last sign of life; -1 where there never was one."),
    "restarts": ("counter", "How often the learner ended and was started again."),
    "baskets_repeated": ("counter", "Baskets that came again, and were left out."),
    "windows_closed": ("counter", "Windows learned."),
    "products": ("gauge", "Products known."),
    "users": ("gauge", "Users known."),
    "rules": ("gauge", "Rules published."),
    "memory": ("gauge", "Bytes of memory that the service holds, all but the learner."),
}

UNITS = {"memory": "_bytes", "oldest_waiting": "_seconds", "heartbeat": "_seconds"}
"""What gauges are measured in, for their names."""


class Metrics:
    """Counts what passes; threads may read it at any time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._times: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._sums: dict[str, float] = defaultdict(float)

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[route, method, status] += 1
            self._times[route][bisect_left(BUCKETS, seconds)] += 1
            self._sums[route] += seconds

    def text(self, facts: Mapping[str, Any]) -> str:
        """Everything, as Prometheus reads it."""
        with self._lock:
            requests, sums = sorted(self._requests.items()), dict(self._sums)
            times = {route: list(counts) for route, counts in sorted(self._times.items())}
        out = [*heading("omba_requests_total", "counter", "Requests answered.")]
        for (route, method, status), n in requests:
            out.append(f'omba_requests_total{{route="{route}",method="{method}",status="{status}"}} {n}')
        out += heading("omba_request_seconds", "histogram", "Time to answer.")
        for route, counts in times.items():
            total = 0
            for end, n in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                total += n
                out.append(f'omba_request_seconds_bucket{{route="{route}",le="{end}"}} {total}')
            out.append(f'omba_request_seconds_sum{{route="{route}"}} {sums[route]:.6f}')
            out.append(f'omba_request_seconds_count{{route="{route}"}} {total}')
        for name, (kind, help) in GAUGES.items():
            full = f"omba_{name}" + ("_total" if kind == "counter" else UNITS.get(name, ""))
            out += [*heading(full, kind, help), f"{full} {-1 if facts[name] is None else facts[name]}"]
        return "\n".join(out) + "\n"


def heading(name: str, kind: str, help: str) -> list[str]:
    return [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]


class MetricsMiddleware:
    """Counts every request and its time under its route's pattern, never under what a client made up."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status = perf_counter(), 500

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "other"
            self.metrics.count(route, method, status, perf_counter() - begin)
