"""Requests and answers between two processes: whole, in any pieces, and matched by their numbers."""

import asyncio

import pytest

from omba.service.answering import Connection
from omba.service.process_messages import FrameProtocol, as_bytes, as_text


class Wire:
    """What is written to it reaches the other end, a few bytes at a time."""

    def __init__(self, step):
        self.step, self.other, self.closed = step, None, False

    def write(self, data):
        for at in range(0, len(data), self.step):
            self.other.data_received(data[at : at + self.step])

    def close(self):
        self.closed = True


@pytest.mark.parametrize("step", [1, 7, 1_000_000])
def test_frames_come_whole_whatever_pieces_they_come_in(step):
    got, wire = [], Wire(step)
    wire.other = FrameProtocol(lambda *frame: got.append(frame), lambda: None)
    sender = FrameProtocol(lambda *_: None, lambda: None)
    sender.connection_made(wire)
    sent = [(1, {"path": "/rank"}, b"{}"), (2, {"status": 200, "headers": []}, bytes(5_000)), (2**40, {}, b"")]
    for frame in sent:
        sender.send(*frame)
    assert got == sent


def test_headers_come_back_as_they_were():
    headers = [(b"accept", b"*/*"), (b"x-name", "é".encode("latin-1"))]
    assert as_bytes(as_text(headers)) == headers


def test_answers_find_their_questions_and_a_retired_process_goes_once_it_has_answered():
    async def ask():
        wire, lost = Wire(1_000_000), []
        connection = Connection(1, lost.append)
        asked = []
        wire.other = FrameProtocol(lambda *frame: asked.append(frame), lambda: None)
        connection.protocol.connection_made(wire)
        first, second = (asyncio.ensure_future(connection.ask({"n": n}, b"")) for n in (1, 2))
        await asyncio.sleep(0)
        connection.retire()
        assert not wire.closed
        for number, facts, _ in reversed(asked):
            connection.protocol.take(number, {"answer": facts["n"]}, b"")
        assert [(await one)[0]["answer"] for one in (first, second)] == [1, 2]
        assert wire.closed

    asyncio.run(ask())


def test_what_a_process_was_asked_when_it_ended_is_told_to_whoever_waits():
    async def ask():
        lost = []
        connection = Connection(1, lost.append)
        connection.protocol.connection_made(Wire(10))
        connection.protocol.transport.other = FrameProtocol(lambda *_: None, lambda: None)
        waiting = asyncio.ensure_future(connection.ask({}, b""))
        await asyncio.sleep(0)
        connection.protocol.connection_lost(None)
        with pytest.raises(ConnectionError):
            await waiting
        with pytest.raises(ConnectionError):
            await connection.ask({}, b"")
        assert lost == [connection]

    asyncio.run(ask())
