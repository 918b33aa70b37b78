"""Answering: the web process's way to the process that answers, and from one state's process to the next one's.

The web process takes requests and baskets; questions go on to a process of their own (`service.answerer`), so that
neither a new state that is made ready nor another's question holds up what it does. A process that ends is replaced,
and what it was asked is asked again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from omba.errors import StoreError
from omba.live.process import PAUSES
from omba.service.http.responses import problem
from omba.service.launch import launch
from omba.service.process_messages import Facts, FrameProtocol, as_bytes, as_text
from omba.service.routes.baskets import PATH as BASKETS
from omba.service.routes.baskets import read_body
from omba.service.views.summary import Summary
from omba.store import ModelFolder

log = logging.getLogger("omba")

OWN = frozenset({"/", BASKETS, "/health", "/metrics", "/status", "/openapi.json"})
"""What the web process answers itself, beside the files of the dashboard."""
PATIENCE = 20.0
"""Seconds that a question waits for a process that can answer it."""
LIMIT = 30.0
"""Seconds that an answer may take."""
TRIES = 3
"""Processes that a question is asked of, should they end under it."""
GRACE = 5.0
"""Seconds that the process has to end."""


class Connection:
    """A process that answers from one state, and what it was asked."""

    def __init__(self, pid: int, lost: Any) -> None:
        self.asked: dict[int, asyncio.Future[tuple[Facts, bytes]]] = {}
        self.pid, self.answers = pid, 0
        self.retired, self._lost, self._number = False, lost, 0
        self.protocol = FrameProtocol(self._take, self._end)

    async def ask(self, facts: Facts, body: bytes) -> tuple[Facts, bytes]:
        """Its answer; a ConnectionError where it has ended."""
        if self.protocol.transport is None:
            raise ConnectionResetError
        self._number += 1
        number = self._number
        future: asyncio.Future[tuple[Facts, bytes]] = asyncio.get_running_loop().create_future()
        self.asked[number] = future
        self.protocol.send(number, facts, body)
        try:
            return await future
        finally:
            self.asked.pop(number, None)
            self._close_if_done()

    def retire(self) -> None:
        """Let it end once it has answered what it was asked."""
        self.retired = True
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self.retired and not self.asked:
            self.protocol.close()

    def _take(self, number: int, facts: Facts, body: bytes) -> None:
        self.answers += 1
        future = self.asked.get(number)
        if future is not None and not future.done():
            future.set_result((facts, body))

    def _end(self) -> None:
        for future in self.asked.values():
            if not future.done():
                future.set_exception(ConnectionResetError())
        self._lost(self)


class Answering:
    """The processes that answer for a folder, kept running.

    Parameters
    ----------
    folder
        The model's folder, which may be empty or missing.
    child
        The process that makes states ready, where it was launched already.
    """

    def __init__(self, folder: str | PathLike[str], child: subprocess.Popen[bytes] | None = None) -> None:
        self.folder = ModelFolder(folder)
        self.error: str | None = None
        self.summary = Summary()
        self._current: list[Connection] = []
        self._changed = asyncio.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sockets = Path(tempfile.mkdtemp(prefix="omba-"))
        self._stop, self._switching = threading.Event(), asyncio.Lock()
        self._child = self._begin(child)

    @asynccontextmanager
    async def watch_folder(self) -> AsyncIterator[None]:
        """Be able to answer, until this ends."""
        self._loop = asyncio.get_running_loop()
        thread = threading.Thread(target=self._listen, name="answering", daemon=True)
        thread.start()
        try:
            await self._connection(patience=None)
            yield
        finally:
            self.stop()
            await asyncio.to_thread(thread.join)

    def stop(self) -> None:
        """Have all of its processes end."""
        self._stop.set()
        for connection in self._current:
            connection.retire()
        with suppress(OSError), self._child as child:
            assert child.stdin is not None
            child.stdin.close()
            try:
                child.wait(GRACE)
            except subprocess.TimeoutExpired:
                child.kill()
        shutil.rmtree(self._sockets, ignore_errors=True)

    async def ask(self, facts: Facts, body: bytes) -> tuple[Facts, bytes]:
        """The answer to a request."""
        for _ in range(TRIES):
            connection = await self._connection(PATIENCE)
            before = connection.answers
            try:
                async with asyncio.timeout(LIMIT):
                    return await connection.ask(facts, body)
            except ConnectionError:
                continue
            except TimeoutError:
                if connection.answers == before:
                    # Not this question alone: it has not answered any other either.
                    log.warning("what answers (%d) hangs: it is ended", connection.pid)
                    self._order(self._child, f"end {connection.pid}")
                raise StoreError(f"there was no answer within {LIMIT:g} s: ask again, or for less") from None
        raise StoreError("what answers has ended again and again, and the server's log may tell why: ask again shortly")

    @property
    def pids(self) -> list[int]:
        """The processes that make states ready and answer from them."""
        return [self._child.pid, *(connection.pid for connection in self._current)]

    async def _connection(self, patience: float | None) -> Connection:
        """The process to ask now, the one with the fewest questions; it may have to be waited for."""
        if not self._current:
            try:
                async with asyncio.timeout(patience), self._changed:
                    await self._changed.wait_for(lambda: self._current or self._stop.is_set())
            except TimeoutError:
                raise StoreError("nothing answers here yet: ask again shortly") from None
        if not self._current:
            raise StoreError("this service is ending")
        return min(self._current, key=lambda connection: len(connection.asked))

    # The process that makes states ready.

    def _begin(self, child: subprocess.Popen[bytes] | None = None) -> subprocess.Popen[bytes]:
        child, place = child or launch(), tempfile.mkdtemp(dir=self._sockets)
        self._order(child, json.dumps({"folder": str(self.folder), "sockets": place}))
        return child

    def _order(self, child: subprocess.Popen[bytes], line: str) -> None:
        with suppress(OSError, ValueError):
            assert child.stdin is not None
            child.stdin.write(line.encode() + b"\n")
            child.stdin.flush()

    def _listen(self) -> None:
        """Hear what the process tells, and start it again when it ends; for a thread of its own."""
        assert self._loop is not None
        failures = 0
        while not self._stop.is_set():
            assert self._child.stdout is not None
            # It is closed where the service ends.
            with suppress(ValueError):
                for line in self._child.stdout:
                    failures = 0
                    asyncio.run_coroutine_threadsafe(self._hear(json.loads(line)), self._loop)
            code = self._child.wait()
            pause = PAUSES[min(failures, len(PAUSES) - 1)]
            failures += 1
            if not self._stop.is_set():
                log.warning("what makes answers ready ended (%d): it is started again in %g s", code, pause)
            if not self._stop.wait(pause):
                self._child = self._begin()

    async def _hear(self, told: Facts) -> None:
        async with self._switching:
            if "processes" in told:
                await self._switch(told)
            self.error = told["error"]

    async def _switch(self, told: Facts) -> None:
        """Ask the processes of a new state from now on."""
        assert self._loop is not None
        connections = [await self._connect(**process) for process in told["processes"]]
        if any(connection.protocol.transport is None for connection in connections):
            # It has ended already, and the process that made it does so too, or makes another.
            for connection in connections:
                connection.retire()
            self._order(self._child, "again")
            return
        before, self._current = self._current, connections
        self.summary = Summary(**told["summary"])
        for connection in before:
            connection.retire()
            # By then it has answered all there was, unless it hangs.
            self._loop.call_later(LIMIT + GRACE, self._order, self._child, f"end {connection.pid}")
        async with self._changed:
            self._changed.notify_all()

    async def _connect(self, socket: str, pid: int) -> Connection:
        assert self._loop is not None
        connection = Connection(pid, self._replace)
        with suppress(OSError):
            await self._loop.create_unix_connection(lambda: connection.protocol, socket)
        Path(socket).unlink(missing_ok=True)
        return connection

    def _replace(self, connection: Connection) -> None:
        if connection in self._current and not self._stop.is_set():
            log.warning("what answered has ended: another takes its place")
            self._current = [one for one in self._current if one is not connection]
            self._order(self._child, "again")


class ForwardMiddleware:
    """Passes questions on to the process that answers them."""

    def __init__(self, app: ASGIApp, answering: Answering) -> None:
        self.app, self.answering = app, answering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OWN or scope["path"].startswith("/static/"):
            await self.app(scope, receive, send)
            return
        try:
            body = await read_body(Request(scope, receive))
        except ClientDisconnect:
            return
        asked = {
            "method": scope["method"],
            "path": scope["path"],
            "query": scope["query_string"].decode("latin-1"),
            "headers": as_text(scope["headers"]),
        }
        try:
            told, found = await self.answering.ask(asked, body)
        except StoreError as error:
            await problem(str(error), 503, {"Retry-After": "1"})(scope, receive, send)
            return
        if told["route"] is not None:
            # The metrics count a request under its route.
            scope["route"] = SimpleNamespace(path=told["route"])
        await send({"type": "http.response.start", "status": told["status"], "headers": as_bytes(told["headers"])})
        await send({"type": "http.response.body", "body": found})
