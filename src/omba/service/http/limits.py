"""Limits: how much a request may hold, how long it may take to come in, how many may come, and how many at once.

Who comes slowly, or in great numbers, is told to wait before the others are. `/health` has a place of its own, so that
what watches the service can tell a busy one from a dead one.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from dataclasses import dataclass
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from omba.service.http.responses import LimitExceeded, problem

CLIENTS = 10_000
"""Clients whose rate is remembered; the one that was quiet longest is forgotten first."""
HEALTH = "/health"


@dataclass(frozen=True)
class Limits:
    """What one client, and all together, may ask of the service."""

    body: int = 8 * 2**20
    """Bytes of a request."""
    seconds: float = 20.0
    """Until a request has come in whole."""
    rate: float = 5_000.0
    """Requests of a client a second; twice as many at once, after a pause."""
    at_once: int = 512
    """Requests under way."""
    unfinished: int = 128
    """Requests of a client that are still coming in."""
    bodies: int = 64 * 2**20
    """Bytes of all requests under way together."""


class LimitMiddleware:
    """Refuses what is beyond the limits before it costs anything."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self.app, self.admission = app, admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        counted = scope["path"] != HEALTH
        try:
            self.admission.admit(scope, counted)
        except LimitExceeded as early:
            await problem(early.sentence, early.status, {"Retry-After": "1"})(scope, receive, send)
            return
        body, answered = Body(scope, receive, self.admission.bodies), False

        async def send_unless_refused(message: Message) -> None:
            # Whatever was made of a body that was cut off does not go out, unless it has begun to.
            nonlocal answered
            if body.refusal is None or answered:
                answered = True
                await send(message)

        self.admission.under_way += counted
        try:
            await self.app(scope, body.receive, send_unless_refused)
        except LimitExceeded:
            pass
        finally:
            self.admission.under_way -= counted
            self.admission.bodies.remove(body)
        if body.refusal is not None and not answered:
            # What is left of the request is not read: the connection ends with the answer.
            refusal = body.refusal
            await problem(refusal.sentence, refusal.status, {"Connection": "close"})(scope, receive, send)


class Admission:
    """Counts the requests of each client and those under way, and refuses more than may be."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.under_way = 0
        self.bodies = Bodies(self.limits)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def admit(self, scope: Scope, counted: bool) -> None:
        """Let a request in, or raise `LimitExceeded`; one that is not counted, of health, has a rate of its own."""
        if counted and self.under_way >= self.limits.at_once:
            raise LimitExceeded(
                503, f"{self.under_way} requests are under way, and no more are taken: ask again shortly"
            )
        # Who asks too much of the rest may still ask whether the service is well.
        client = client_of(scope) if counted else f"{client_of(scope)} {HEALTH}"
        now, most = monotonic(), 2 * self.limits.rate
        left, seen = self._left.get(client, (most, now))
        left = min(most, left + (now - seen) * self.limits.rate) - 1
        self._left[client] = (max(left, 0.0), now)
        self._left.move_to_end(client)
        if len(self._left) > CLIENTS:
            self._left.popitem(last=False)
        if left < 0:
            raise LimitExceeded(
                429, f"more than {self.limits.rate:g} requests a second came from you: ask again shortly"
            )


class Body:
    """A request's body as it comes in, up to the limits; one declared to be longer is refused at once."""

    def __init__(self, scope: Scope, receive: Receive, bodies: Bodies) -> None:
        self._receive, self.bodies, self.limits = receive, bodies, bodies.limits
        self.client = client_of(scope)
        self.read, self.whole, self.last = 0, False, monotonic() + self.limits.seconds
        self.refusal: LimitExceeded | None = None
        self._patience: asyncio.Timeout | None = None
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        self.declared = int(length) if length.isdigit() and len(length) < 20 else 0

    async def receive(self) -> Message:
        self._end_if_refused()
        self.check(self.declared)
        if self.whole:
            # What is waited for now is the client's leaving, which may take as long as it likes.
            return await self._receive()
        self.bodies.await_rest(self)
        try:
            async with asyncio.timeout(max(self.last - monotonic(), 0.0)) as self._patience:
                message = await self._receive()
        except TimeoutError:
            if self.refusal is None:
                self.refusal = LimitExceeded(408, f"the request had not come in whole after {self.limits.seconds:g} s")
            self._end_if_refused()
            raise
        finally:
            self._patience = None
        if message["type"] == "http.request":
            self.whole = not message.get("more_body", False)
            self.bodies.add(self, len(message.get("body", b"")))
            self.check(self.read)
        return message

    def refuse(self, status: int, sentence: str) -> None:
        """Give the body up, also while it is waited for."""
        self.refusal = LimitExceeded(status, sentence)
        if self._patience is not None:
            self._patience.reschedule(0.0)

    def check(self, size: int = 0) -> None:
        """Go no further with a body that was given up, or that holds more than one may."""
        if size > self.limits.body:
            most = f"{self.limits.body:,} bytes"
            self.refuse(413, f"a request may hold {most}, and this one holds more: send it in parts")
        self._end_if_refused()

    def _end_if_refused(self) -> None:
        # A new exception each time: one that is kept would keep, by its traceback, what has come of the body.
        if self.refusal is not None:
            raise LimitExceeded(self.refusal.status, self.refusal.sentence) from None


class Bodies:
    """The bodies of all requests under way. Where they hold too much together, the oldest unfinished one goes."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.held = limits, 0
        self._unfinished: dict[Body, None] = {}
        self._of_client: Counter[str] = Counter()

    def await_rest(self, body: Body) -> None:
        """Note that a body is waited for; a client that keeps too many of them waiting is refused."""
        if body in self._unfinished:
            return
        if self._of_client[body.client] >= self.limits.unfinished:
            body.refuse(429, f"{self.limits.unfinished} requests from you are still coming in: finish those first")
            body.check()
        self._unfinished[body] = None
        self._of_client[body.client] += 1

    def has_room(self, size: int) -> bool:
        """Whether a body of so many bytes is within the limits without another's being given up."""
        return size <= self.limits.body and self.held + size <= self.limits.bodies

    def add(self, body: Body, size: int) -> None:
        """Note what has come of a body."""
        body.read += size
        self.held += size
        if body.whole:
            self._finish(body)
        while self.held > self.limits.bodies:
            oldest = next((one for one in self._unfinished if one.refusal is None and one.read), body)
            if oldest.refusal is not None:
                break
            oldest.refuse(
                503, f"requests of {self.limits.bodies:,} bytes are under way together: send it again shortly"
            )
            self.remove(oldest)

    def remove(self, body: Body) -> None:
        """A request has ended, and its body is let go of."""
        self.held -= body.read
        body.read = 0
        self._finish(body)

    def _finish(self, body: Body) -> None:
        if body in self._unfinished:
            del self._unfinished[body]
            self._of_client[body.client] -= 1
            if not self._of_client[body.client]:
                del self._of_client[body.client]


def client_of(scope: Scope) -> str:
    return scope["client"][0] if scope.get("client") else ""
