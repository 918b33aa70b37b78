"""Direct requests: what comes often and is little work goes from the parser to its answer, past all of ASGI.

A basket sent alone is a tenth of a millisecond of work; a task, the messages of ASGI and a dozen headers that are
checked and copied by each middleware are several times as much. Such a request has come whole, with what came last
over its connection, and its answer is written in one piece.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Protocol

from starlette.types import Scope

from omba.service.http.security import CACHE, HEADERS

Reply = Callable[[int, bytes], None]
"""Is called once with the status and the JSON that answer a request."""

LINES = b"".join(b"%s: %s\r\n" % line for line in (*HEADERS, CACHE[False], (b"content-type", b"application/json")))
TOPS = {one.value: b"HTTP/1.1 %d %s\r\n" % (one.value, one.phrase.encode()) + LINES for one in HTTPStatus}
"""What answers begin with, by status: the headers are those of any other answer."""


class DirectRoute(Protocol):
    """What answers requests of one path directly."""

    method: bytes
    path: bytes

    def take(self, scope: Scope, body: bytes, reply: Reply) -> bool:
        """Answer a request now or later; or leave it, by False, to the usual way, with nothing done."""


class DirectCycle:
    """A request under way, as far as the connection asks: whether it was answered, and whether anybody still waits."""

    def __init__(self) -> None:
        self.keep_alive = True
        self.response_complete = self.disconnected = False
        self.message_event = asyncio.Event()


def encode(status: int, body: bytes, keep_alive: bool, more: Sequence[tuple[bytes, bytes]]) -> bytes:
    """An answer as it goes over the wire, with the headers that the server gives to every one, such as the date."""
    end = b"".join(b"%s: %s\r\n" % line for line in more) + (b"" if keep_alive else b"connection: close\r\n")
    return b"%scontent-length: %d\r\n%s\r\n%s" % (TOPS[status], len(body), end, body)
