"""Protocol: HTTP/1.1 on a connection, bounded before anybody is asked who they are.

The parser of requests keeps every header line it is given, for as long as they come. So the bytes of a head are counted
here, and those of all unfinished heads together; a connection that brings no request in time is closed, and where too
many wait, the oldest gives way to the new one.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from omba.service.http.direct import DirectCycle, DirectRoute, encode

PATIENCE = 10.0
"""Seconds a connection has until the head of its next request is there."""
HEAD, LINES = 2**16, 100
"""Bytes of a request's address and headers, and how many headers there may be."""
HEADS = 2**24
"""Bytes of all heads that are not there to their end, together."""
CONNECTIONS = 1_000
"""Connections that are open at once."""
OVERHEAD = 16
"""Bytes that each byte of a body may take on its way: a chunk of one byte takes six."""

TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%s"
)


class TooLarge(Exception):
    """A head beyond its bounds."""


class BoundedProtocol(HttpToolsProtocol):
    """HTTP/1.1 whose patience and memory end."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        # Those without a whole head, the oldest first, with the bytes that each has sent of it; one for the server.
        self.waiting: dict[BoundedProtocol, int] = self.server_state.__dict__.setdefault("waiting", {})
        self.received, self.body = 0, 0
        self.in_head, self.begun, self.too_large = True, False, False
        self.direct: DirectRoute | None = getattr(getattr(self.app, "state", None), "direct", None)
        self.pieces: list[bytes] | None = None
        # When a connection without a request is closed, and whether a timer is set for that or for an earlier moment.
        self.patience, self.timed = 0.0, False

    # The connection.

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.waiting[self] = 0
        self._expect(PATIENCE)
        if len(self.connections) > CONNECTIONS:
            self._close_oldest()

    def connection_lost(self, exc: Exception | None) -> None:
        self.waiting.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        self._go_the_usual_way()
        if self.received > HEAD + OVERHEAD * self.body:
            self._refuse()
        elif self.in_head:
            self._wait(self.received)

    def _wait(self, size: int) -> None:
        self.waiting[self] = size
        # Only who sends a long head is worth the sum.
        if size > HEADS // CONNECTIONS and sum(self.waiting.values()) > HEADS:
            self._close_oldest()

    def _close_oldest(self) -> None:
        """Let the connection go that has waited longest without a request."""
        oldest = next((one for one in self.waiting if not one.transport.is_closing()), None)
        if oldest is not None:
            self.waiting.pop(oldest)
            oldest.transport.abort()

    def _expect(self, seconds: float) -> None:
        # One timer a connection, not one a request, each of which would keep its request for as long as it runs.
        self.patience = self.loop.time() + seconds
        if not self.timed:
            self.timed = True
            self.loop.call_at(self.patience, self._close_if_late)

    def _close_if_late(self) -> None:
        self.timed = False
        if self.transport.is_closing() or self not in self.waiting:
            return
        if self.loop.time() < self.patience:
            self.timed = True
            self.loop.call_at(self.patience, self._close_if_late)
        else:
            self.transport.close()

    def _refuse(self) -> None:
        sentence = b'{"error":"the headers of a request may hold %d bytes in %d lines"}' % (HEAD, LINES)
        self.transport.write(TOO_LARGE % (len(sentence), sentence))
        self.transport.close()

    # What the parser finds.

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self.begun:
            # What came before belongs to the request before.
            self.received = 0
        self.body, self.in_head, self.begun = 0, True, True

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= LINES:
            self._stop_reading()
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self.received > HEAD and len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEAD:
            self._stop_reading()
        self.in_head = False
        self.waiting.pop(self, None)
        if self._may_be_direct():
            self.pieces = []
        else:
            super().on_headers_complete()

    def _stop_reading(self) -> None:
        self.too_large = True
        raise TooLarge

    def on_body(self, body: bytes) -> None:
        self.body += len(body)
        if self.pieces is not None:
            self.pieces.append(body)
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self.pieces is None or not self._answer_directly():
            self._go_the_usual_way()
            super().on_message_complete()

    # Requests that are answered directly.

    def _may_be_direct(self) -> bool:
        return (
            self.direct is not None
            and self.url == self.direct.path
            and self.parser.get_method() == self.direct.method
            and self.parser.get_http_version() == "1.1"
            and self.parser.should_keep_alive()
            and not self.parser.should_upgrade()
            and not self.expect_100_continue
            and not self.flow.write_paused
            and not self.pipeline
            and (self.cycle is None or self.cycle.response_complete)
        )

    def _answer_directly(self) -> bool:
        assert self.direct is not None
        assert self.pieces is not None
        scope: Scope = {**self.scope, "method": self.direct.method.decode(), "path": self.direct.path.decode()}
        before, cycle = self.cycle, DirectCycle()
        # What comes meanwhile over the connection waits for it as for any other request.
        self.cycle = cycle  # type: ignore[assignment]
        if self.direct.take(scope, b"".join(self.pieces), partial(self._reply, cycle)):
            self.pieces = None
            return True
        self.cycle = before
        return False

    def _reply(self, cycle: DirectCycle, status: int, body: bytes) -> None:
        if cycle.disconnected:
            return
        self.transport.write(encode(status, body, cycle.keep_alive, self.server_state.default_headers))
        cycle.response_complete = True
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def _go_the_usual_way(self) -> None:
        """Begin a request that was not answered directly, with what has come of its body."""
        if self.pieces is None:
            return
        pieces, self.pieces = self.pieces, None
        super().on_headers_complete()
        for piece in pieces:
            super().on_body(piece)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and not self.pipeline:
            self.waiting[self] = 0
            self._expect(PATIENCE + self.timeout_keep_alive)

    def send_400_response(self, msg: str) -> None:
        if self.too_large:
            self._refuse()
        else:
            super().send_400_response(msg)
