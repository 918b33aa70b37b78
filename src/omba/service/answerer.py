"""Answerer: the process that reads each new state, makes it ready, and then forks those that answer from it.

What answers shares the ready state with what made it, page by page, and has its interpreter to itself: nothing of
reading and making ready, seconds of a processor's time in a large shop, is done where a request waits. Those before
end once they have answered what they were asked. Making ready goes on in a thread of low priority; forks are made by
the first thread, whose priority is the usual one, since a process may not raise it again.

Orders come as lines on standard input, which is closed when the service ends: first the folder and where sockets go as
JSON, then `again` for other forks of the same state, or `end` and a number for a fork that hangs. What is told goes to
standard output, JSON a line: the sockets at which a new state answers, with its summary, or why it cannot be read.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import FastAPI

from omba.errors import OmbaError
from omba.live.priority import stand_back
from omba.service.process_messages import Facts, FrameProtocol, as_bytes, as_text
from omba.service.routes.products import page
from omba.service.routes.rank import suggestions
from omba.service.state import Service
from omba.service.views.published import PAUSE, Published

NICE = 10
"""Making a state ready may take its time where processors are few, and leaves one of them to answers."""
SWITCH = 0.0001
"""Seconds after which a thread lets others run, a fiftieth of Python's own. With four connections 99 in 100 suggestions
took 25.5 ms and pages 41.8; 27.9 and 51.0 with 0.5 ms, 34.8 and 56.8 with 5 ms (one run of each)."""
FORKS = min(2, len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else 1
"""Processes that answer from a state. Each answers one question after another: threads of one interpreter would make
each other slower than that."""
PATIENCE = 60.0
"""Seconds after which a fork that nobody has asked for anything ends."""


class Order(NamedTuple):
    """`again` for other forks, or `end` with the number of one that hangs; without a number all is over."""

    name: str
    pid: int | None = None


class Answerer:
    """Forks what answers, state by state.

    Parameters
    ----------
    published
        The folder's newest state.
    app
        Answers from it.
    place
        The folder of sockets.
    """

    def __init__(self, published: Published, app: FastAPI, place: Path) -> None:
        self.published, self.app, self.place, self.forks = published, app, place, 0
        self.running: set[int] = set()
        # A fork has every lock that another thread held, and nobody to release it: so none is made while a state is
        # being made ready, when properties, imports and the compiler hold locks.
        self.working = threading.Lock()
        self.wanted: queue.Queue[threading.Event | Order] = queue.Queue()

    def run(self) -> None:
        """Fork whenever a new state is ready, or other forks are asked for."""
        threading.Thread(target=self._obey, daemon=True).start()
        self.fork()
        threading.Thread(target=self._prepare, daemon=True).start()
        while True:
            wanted = self.wanted.get()
            self.running = {pid for pid in self.running if os.waitpid(pid, os.WNOHANG)[0] == 0}
            if isinstance(wanted, Order) and wanted.name == "end":
                self._end(wanted.pid)
            elif isinstance(wanted, Order):
                with self.working:
                    self.fork()
            else:
                self.fork()
                wanted.set()

    def _end(self, pid: int | None) -> None:
        """End a fork that hangs; with no number, all of them, and this process."""
        # One that has ended keeps its number until it was waited for, so that no other process can be meant.
        for one in self.running if pid is None else self.running & {pid}:
            os.kill(one, signal.SIGKILL)
        if pid is None:
            os._exit(0)

    def fork(self) -> None:
        """Have new processes answer from the state that is ready."""
        processes = [self._fork() for _ in range(FORKS)]
        tell({"processes": processes, "summary": asdict(self.published.summary), "error": self.published.error})

    def _fork(self) -> dict[str, Any]:
        door = socket.socket(socket.AF_UNIX)
        where = self.place / str(self.forks)
        door.bind(str(where))
        door.listen()
        pid = os.fork()
        if not pid:
            try:
                serve(self.app, door)
            finally:
                os._exit(1)
        door.close()
        self.forks += 1
        self.running.add(pid)
        return {"socket": str(where), "pid": pid}

    def _obey(self) -> None:
        """Do what standard input says; with its end, end."""
        for line in sys.stdin.buffer:
            name, *number = line.decode().split()
            self.wanted.put(Order(name, *map(int, number)))
        self.wanted.put(Order("end"))

    def _prepare(self) -> None:
        """Make each new state ready, the first one to its end before any other."""
        stand_back(NICE)
        pause, told, first = threading.Event(), self.published.error, True
        while True:
            with self.working:
                changed = self.published.complete() if first else self.published.look()
                if changed:
                    warm_up(self.app)
            if changed:
                self._hand_over()
            if self.published.error != told:
                told = self.published.error
                if told is not None:
                    tell({"error": told})
            first = False
            pause.wait(PAUSE)

    def _hand_over(self) -> None:
        # What is there for good is not looked through for garbage again, and its pages stay shared.
        gc.collect()
        gc.freeze()
        forked = threading.Event()
        self.wanted.put(forked)
        forked.wait()
        gc.unfreeze()


def warm_up(app: FastAPI) -> None:
    """Ask what is asked most once, so that no request has to wait for compiled functions to be read."""
    service: Service = app.state.service
    view = service.published.view
    if not view.n_baskets or not len(view.product_index):
        return
    best = [view.product_index.labels[row] for row in view.catalogue.best[:4].tolist()]
    users = [] if view.model is None else view.model.user_rows.vocabulary.labels[:1]
    customer = users[0] if users else None
    with suppress(OmbaError):
        suggestions(service, [*best], None, 10, None)
        suggestions(service, [*best[:1]], customer, 10, None)
        page(view, service.published.past, str(best[0]))


def tell(facts: dict[str, Any]) -> None:
    """A line to the service, as long as there is one."""
    with suppress(BrokenPipeError):
        os.write(1, json.dumps(facts).encode() + b"\n")


def serve(app: FastAPI, door: socket.socket) -> None:
    """What a fork does: answer at a socket, until the other end of its one connection is gone."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(null, standard)
    sys.setswitchinterval(SWITCH)
    app.state.service.turns = None
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(app, door))
    os._exit(0)


async def _serve(app: FastAPI, door: socket.socket) -> None:
    loop, gone = asyncio.get_running_loop(), asyncio.Event()
    tasks: set[asyncio.Task[None]] = set()
    met = False

    def connect() -> FrameProtocol:
        nonlocal met
        met = True

        def take(number: int, facts: Facts, body: bytes) -> None:
            task = loop.create_task(respond(app, protocol, number, facts, body))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        protocol = FrameProtocol(take, gone.set)
        return protocol

    server = await loop.create_unix_server(connect, sock=door)
    loop.call_later(PATIENCE, lambda: None if met else gone.set())
    await gone.wait()
    server.close()


async def respond(app: FastAPI, protocol: FrameProtocol, number: int, asked: Facts, body: bytes) -> None:
    """Answer a frame with what the app makes of the request in it."""
    told: Facts = {"status": 500, "headers": []}
    pieces: list[bytes] = []
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
        "method": asked["method"], "path": asked["path"], "raw_path": asked["path"].encode(errors="replace"),
        "query_string": asked["query"].encode("latin-1"), "headers": as_bytes(asked["headers"]),
        "client": None, "server": None, "state": {},
    }  # fmt: skip
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> dict[str, Any]:
        return next(messages, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            told["status"], told["headers"] = message["status"], as_text(message["headers"])
        elif message["type"] == "http.response.body":
            pieces.append(message.get("body", b""))

    await app(scope, receive, send)
    told["route"] = getattr(scope.get("route"), "path", None)
    protocol.send(number, told, b"".join(pieces))


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The loop that the service has too, where it is there."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def main() -> None:
    """What the process does, from its orders on."""
    from omba.service.app import create_answers

    for number in (signal.SIGINT, signal.SIGTERM):
        # The service ends it.
        signal.signal(number, signal.SIG_IGN)
    line = sys.stdin.buffer.readline()
    if not line:
        return
    orders = json.loads(line)
    published = Published(orders["folder"])
    Answerer(published, create_answers(published), Path(orders["sockets"])).run()
