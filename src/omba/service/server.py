"""Server: the service on a socket, with the learner beside it, from the first request to a quiet end."""

from __future__ import annotations

import errno
import gc
import ipaddress
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

import uvicorn
from fastapi import FastAPI

from omba.errors import InputError
from omba.live import Inbox, LearnerProcess
from omba.live.keeper import Keeper
from omba.live.spans import Spans
from omba.service.answering import Answering
from omba.service.app import create_app
from omba.service.http.limits import Limits
from omba.service.http.log import CONFIG
from omba.service.http.protocol import CONNECTIONS, BoundedProtocol
from omba.service.http.security import LOOPBACK
from omba.service.http.tokens import Tokens
from omba.service.launch import can_fork
from omba.settings import Value, agree, check
from omba.store import ModelFolder

SWITCH = 0.0005
"""Seconds after which a thread lets others run: a tenth of Python's own, so that what writes baskets to the disk, or,
where nothing forks, a view being made ready, does not hold up an answer."""
FILES = 1_000
"""Files besides connections that the service may have open."""
GRACE = 10
"""Seconds for requests under way when the service is told to end."""


@dataclass(frozen=True)
class ServerPlan:
    """What to serve, where, and how to learn."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8000
    every: str = "1d"
    lateness: str = "0"
    history: str | None = "1d"
    read_only: bool = False
    limits: Limits = field(default_factory=Limits)
    settings: dict[str, Value] = field(default_factory=dict)

    @property
    def tokens(self) -> Tokens | None:
        """The tokens asked for; a service that only this machine can reach asks for none."""
        if is_loopback(self.host):
            return None
        tokens = Tokens(self.folder)
        if not tokens.all:
            raise InputError(
                f"--host {self.host} can be reached from elsewhere, so it needs a token: make one with "
                f"'omba token --model {self.folder} --scope read'"
            )
        return tokens

    def check(self) -> None:
        """Refuse now what the learner would refuse later, in a process of its own."""
        check(self.settings)
        folder = ModelFolder(self.folder)
        if folder.exists:
            agree(self.settings, folder.manifest()["settings"], str(self.folder), "or give another folder")
        Spans.parse(self.every, self.lateness)
        Keeper(self.folder, self.history)


def serve(plan: ServerPlan, ready: Callable[[str], None], answerer: Popen[bytes] | None = None) -> None:
    """Serve until told to stop (SIGINT or SIGTERM); `ready` is called with the address once requests are taken. The
    process that answers may have been launched already."""
    tokens = plan.tokens
    plan.check()
    with ExitStack() as ends:
        door = ends.enter_context(bind_socket(plan.host, plan.port))
        source = Answering(plan.folder, answerer) if can_fork() else None
        if source is not None:
            ends.callback(source.stop)
        inbox, learner = None, None
        if not plan.read_only:
            inbox = Inbox(plan.folder, plan.every, plan.lateness)
            ends.callback(inbox.close)
            learner = LearnerProcess(
                plan.folder, every=plan.every, lateness=plan.lateness, history=plan.history, settings=plan.settings
            )
            ends.callback(learner.stop)
        app = create_app(plan.folder, inbox, tokens, LOOPBACK | {plan.host}, plan.limits, source)
        sys.setswitchinterval(SWITCH)
        # What is there now stays, and is not looked through again whenever garbage is collected.
        gc.freeze()
        allow_connections()
        where = address(plan.host, door.getsockname()[1])

        def begin() -> None:
            # Answers first: the learner reads the same model again, and would keep this process from it.
            if learner is not None:
                learner.start()
            ready(where)

        for number in (signal.SIGINT, signal.SIGTERM):
            # The server raises the signal that ended it once more when it has ended; what comes then is our own end.
            ends.callback(signal.signal, number, signal.signal(number, lambda *_: None))
        make_server(app, begin).run(sockets=[door])


def make_server(app: FastAPI, ready: Callable[[], None]) -> uvicorn.Server:
    """What answers at a socket: `run(sockets=[…])` does until a signal comes or `should_exit` is set."""
    config = uvicorn.Config(
        app, http=BoundedProtocol, ws="none", log_config=CONFIG, log_level="warning", access_log=False,
        server_header=False, proxy_headers=False, timeout_keep_alive=30, timeout_graceful_shutdown=GRACE,
        backlog=1024,
    )  # fmt: skip

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

    return Server(config)


def allow_connections() -> None:
    """Have the system let this process open a file a connection, and those it needs besides."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + FILES if most == resource.RLIM_INFINITY else min(CONNECTIONS + FILES, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def bind_socket(host: str, port: int) -> socket.socket:
    """A socket at an address; one that is taken is told in a sentence."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or asyncio would let small answers wait for 40 ms to be sent with the next (Nagle).
    door = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host, port))
    except OSError as error:
        door.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"port {port} of {host} is taken by another program: give another --port") from None
        raise InputError(
            f"{host}:{port} cannot be listened at ({error.strerror}): give another --host or --port"
        ) from None
    door.set_inheritable(False)
    return door


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
