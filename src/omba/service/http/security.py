"""Security: who may ask what, and headers that keep the page to itself.

A service on 127.0.0.1 asks for no token, but a page from elsewhere, open in a browser on the same machine, must not
reach it: so requests under a foreign Host (DNS rebinding) or from a foreign Origin are refused.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from omba.errors import SnapshotError
from omba.service.http.responses import problem
from omba.service.http.tokens import Tokens

log = logging.getLogger("omba")

POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    )
)  # fmt: skip
"""The page may load what this server has, and nothing else: no script or style within it, no image made on the way."""

HEADERS = tuple(
    (name.lower().encode(), value.encode())
    for name, value in (
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    )
)
CACHE = {False: (b"cache-control", b"no-store"), True: (b"cache-control", b"no-cache")}
"""Answers are not kept; the files of the page are, if the server says that they are still the same."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
OPEN = ("/", "/health")
"""Paths that need no token: the page itself holds no data, and what watches the service need not be trusted."""
UNTRUSTED = "omba.untrusted"
"""In the scope of a request: whether it came without a token that it would need elsewhere."""


class SecurityMiddleware:
    """Checks every request before anything else sees it. Without tokens, only this machine may ask."""

    def __init__(self, app: ASGIApp, tokens: Tokens | None = None, hosts: Iterable[str] = LOOPBACK) -> None:
        self.app, self.tokens, self.hosts = app, tokens, frozenset(hosts)
        self._said = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message["headers"]
                cached = [] if any(name == b"cache-control" for name, _ in given) else [CACHE[is_static(scope["path"])]]
                message["headers"] = [*given, *HEADERS, *cached]
            await send(message)

        refusal = self.refusal(scope)
        await (refusal or self.app)(scope, receive, send_with_headers)

    def refusal(self, scope: Scope) -> Response | None:
        """Why a request may not pass, if it may not."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if self.tokens is None and host_name(f"//{host}") not in self.hosts:
            return problem(f"this server is not {host[:100]!r}: ask for it by 127.0.0.1 or localhost", 421)
        if origin is not None and scope["method"] not in ("GET", "HEAD") and authority(origin) != host:
            return problem(f"a page of {origin[:100]!r} may not ask here", 403)
        if self.tokens is None or is_static(scope["path"]) or scope["path"] == "/":
            return None
        refused = self._without_token(scope, headers)
        if scope["path"] in OPEN:
            # Answered to all, but in full only to those who may read the rest.
            scope[UNTRUSTED] = refused is not None
            return None
        return refused

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        assert self.tokens is not None
        needed = "write" if scope["path"] == "/baskets" else "read"
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            sentence = "a token is needed here: send it as 'Authorization: Bearer TOKEN'; 'omba token' makes one"
            return problem(sentence, 401, {"WWW-Authenticate": "Bearer"})
        try:
            allowed = self.tokens.allows(token.strip(), needed)
        except SnapshotError as error:
            # Where the tokens lie and what is wrong with them is for those who run the service.
            if str(error) != self._said:
                log.warning("%s", error)
            self._said = str(error)
            return problem("the tokens of this service cannot be read, and its log tells why", 503)
        if not allowed:
            return problem(f"this token may not {needed} here: 'omba token --scope {needed}' makes one that may", 403)
        return None


def is_static(path: str) -> bool:
    return path.startswith("/static/")


def authority(origin: str) -> str | None:
    """The host and port of an origin; None where it cannot be read.

    >>> authority("http://localhost:8000"), authority("http://[")
    ('localhost:8000', None)
    """
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


def host_name(address: str) -> str | None:
    """The host in an address, without its port.

    >>> host_name("//localhost:8000"), host_name("//[::1]:80"), host_name("//[")
    ('localhost', '::1', None)
    """
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
