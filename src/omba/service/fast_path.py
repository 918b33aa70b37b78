"""Fast path: what is asked most, straight to its answer, past the matching of paths and the reading of requests.

Baskets, suggestions and products are so little work that a framework's reading of the request would be a good part of
it. Whatever is unusual about a request goes the usual way, which says what is wrong with it.
"""

from __future__ import annotations

from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from omba.errors import OmbaError
from omba.service.http.responses import problem, status_of
from omba.service.routes import baskets, products, rank, schemas

PRODUCTS = "/products/"
READER: TypeAdapter[schemas.Ranking] = TypeAdapter(schemas.Ranking)


class FastPath:
    """Middleware that answers `POST /baskets`, `POST /rank` and `GET /products/{id}` itself."""

    def __init__(self, app: ASGIApp, compresslevel: int = 1, minimum_size: int = 4096) -> None:
        self.app = app
        routes = [one for module in (baskets, products, rank) for one in module.router.routes]
        # The metrics count a request under its route.
        self.routes = {
            (method, one.path): one for one in routes if isinstance(one, APIRoute) for method in one.methods or ()
        }
        self.compressed = GZipMiddleware(self._answer, minimum_size, compresslevel)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        method, path = scope["method"], scope["path"]
        if method == "POST" and path == baskets.PATH:
            scope["route"] = self.routes["POST", path]
            response = await baskets.respond(Request(scope, receive))
            await response(scope, receive, send)
        elif (method == "POST" and path == rank.PATH and is_json(scope)) or (
            method == "GET" and path.startswith(PRODUCTS) and not scope["query_string"]
        ):
            await self.compressed(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        served = scope["app"].state.service
        try:
            if scope["method"] == "POST":
                body = await baskets.read_body(Request(scope, receive))
                try:
                    asked = READER.validate_json(body)
                except ValidationError:
                    await self.app(scope, replay(body, receive), send)
                    return
                scope["route"] = self.routes["POST", rank.PATH]
                response = await rank.post_rank(served, asked)
            else:
                scope["route"] = self.routes["GET", f"{PRODUCTS}{{id:path}}"]
                response = await products.product(served, served.published.view, scope["path"].removeprefix(PRODUCTS))
        except OmbaError as error:
            response = problem(str(error), status_of(error))
        except ClientDisconnect:
            response = Response(status_code=422)
        await response(scope, receive, send)


def is_json(scope: Scope) -> bool:
    """Whether a request says that its body is JSON."""
    kind: bytes = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    return kind.partition(b";")[0].strip().lower() == b"application/json"


def replay(body: bytes, receive: Receive) -> Receive:
    """A body that was read, to be read once more."""
    read = False

    async def again() -> Message:
        nonlocal read
        if read:
            return await receive()
        read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
