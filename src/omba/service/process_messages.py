"""Messages between processes: requests and answers between two processes of the service, many at once over one socket.

A frame is its number, a few facts as JSON and a body of bytes, the lengths of both in front. An answer has the number
of its request, so that answers may come in any order.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Callable
from typing import Any, cast

HEAD = struct.Struct("<QII")
"""Number, bytes of the facts, bytes of the body."""

Facts = dict[str, Any]
Take = Callable[[int, Facts, bytes], None]


class FrameProtocol(asyncio.Protocol):
    """One end of the socket.

    Parameters
    ----------
    take
        Is called with every frame that has come: its number, facts and body.
    lost
        Is called once when the other end is gone.
    """

    def __init__(self, take: Take, lost: Callable[[], None]) -> None:
        self.take, self.lost = take, lost
        self.transport: asyncio.Transport | None = None
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self.lost()

    def data_received(self, data: bytes) -> None:
        self._received += data
        place, held = 0, len(self._received)
        while held - place >= HEAD.size:
            number, facts, body = HEAD.unpack_from(self._received, place)
            end = place + HEAD.size + facts + body
            if held < end:
                break
            first = place + HEAD.size
            told = json.loads(self._received[first : first + facts])
            self.take(number, told, bytes(self._received[first + facts : end]))
            place = end
        del self._received[:place]

    def send(self, number: int, facts: Facts, body: bytes) -> None:
        """Send a frame; nobody is there to read it once the other end is gone."""
        if self.transport is not None:
            told = json.dumps(facts).encode()
            self.transport.write(HEAD.pack(number, len(told), len(body)) + told + body)

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()


def as_text(headers: list[tuple[bytes, bytes]]) -> list[list[str]]:
    """Headers as they go into JSON."""
    return [[name.decode("latin-1"), value.decode("latin-1")] for name, value in headers]


def as_bytes(headers: list[list[str]]) -> list[tuple[bytes, bytes]]:
    """The reverse of `as_text`."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
