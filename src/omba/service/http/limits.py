"""Limits: how much a request may hold, how long it may take to come in, how many may come, and how many at once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from omba.service.http.answers import problem

CLIENTS = 10_000
"""Clients whose rate is remembered; the one that was quiet longest is forgotten first."""


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


class LimitExceeded(Exception):
    """A request beyond a limit, with the status and the sentence to answer it with."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class LimitMiddleware:
    """Refuses what is beyond the limits before it costs anything."""

    def __init__(self, app: ASGIApp, limits: Limits | None = None) -> None:
        self.app, self.limits = app, limits or Limits()
        self.under_way = 0
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            self._admit(scope)
        except LimitExceeded as early:
            await problem(early.sentence, early.status, {"Retry-After": "1"})(scope, receive, send)
            return
        body, answered = Body(scope, receive, self.limits), False

        async def send_unless_refused(message: Message) -> None:
            # Whatever was made of a body that was cut off does not go out, unless it has begun to.
            nonlocal answered
            if body.refusal is None or answered:
                answered = True
                await send(message)

        self.under_way += 1
        try:
            await self.app(scope, body.receive, send_unless_refused)
        except LimitExceeded:
            pass
        finally:
            self.under_way -= 1
        if body.refusal is not None and not answered:
            # What is left of the request is not read: the connection ends with the answer.
            refusal = body.refusal
            await problem(refusal.sentence, refusal.status, {"Connection": "close"})(scope, receive, send)

    def _admit(self, scope: Scope) -> None:
        if self.under_way >= self.limits.at_once:
            raise LimitExceeded(
                503, f"{self.under_way} requests are under way, and no more are taken: ask again shortly"
            )
        client = scope["client"][0] if scope.get("client") else ""
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

    def __init__(self, scope: Scope, receive: Receive, limits: Limits) -> None:
        self._receive, self.limits = receive, limits
        self.read, self.whole, self.last = 0, False, monotonic() + limits.seconds
        self.refusal: LimitExceeded | None = None
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        self.declared = int(length) if length.isdigit() else 0

    async def receive(self) -> Message:
        self._check(self.declared)
        try:
            # Once it is whole, what is waited for is the client's leaving, which may take as long as it likes.
            async with asyncio.timeout(None if self.whole else max(self.last - monotonic(), 0.0)):
                message = await self._receive()
        except TimeoutError:
            self.refusal = LimitExceeded(408, f"the request had not come in whole after {self.limits.seconds:g} s")
            raise self.refusal from None
        if message["type"] == "http.request":
            self.read += len(message.get("body", b""))
            self.whole = not message.get("more_body", False)
            self._check(self.read)
        return message

    def _check(self, size: int) -> None:
        if size > self.limits.body:
            most = f"{self.limits.body:,} bytes"
            self.refusal = LimitExceeded(413, f"a request may hold {most}, and this one holds more: send it in parts")
            raise self.refusal
