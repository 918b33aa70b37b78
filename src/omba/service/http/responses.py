"""Responses: plain values as JSON, quickly, and mistakes as one sentence. No trace of the program ever leaves it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from omba.errors import OmbaError, SnapshotError, StoreError, UnknownError
from omba.service.routes.schemas import Problem

log = logging.getLogger("uvicorn.error")

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": description}
    for status, description in {
        401: "A token is needed",
        403: "The token, or the page that asks, may not",
        421: "This is not the host that was asked for",
        429: "Too many requests came from this client",
        500: "A fault of the service",
        503: "Not now: too much is under way, or the disk does not give or take",
    }.items()
}
"""What any request may be answered by before its route sees it, or when something breaks."""
UNREADABLE: dict[int | str, dict[str, Any]] = {
    408: {"model": Problem, "description": "It did not come in whole in time"},
    413: {"model": Problem, "description": "It holds more than a request may"},
}
"""And one with a body."""
PROBLEMS: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    404: {"model": Problem, "description": "Not known here"},
    422: {"model": Problem, "description": "Not to be read as asked"},
}

FAULT = "something went wrong here, and the server's log tells what"
"""All that is told of a fault of the service itself."""


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON; what is not finite is null."""
    return Response(to_json(value, inf_nan_mode="null"), status, headers, "application/json")


def problem(sentence: str, status: int, headers: dict[str, str] | None = None) -> Response:
    return answer({"error": sentence}, status, headers)


def add_problems(app: FastAPI) -> None:
    """Have every mistake answered by a sentence."""

    @app.exception_handler(OmbaError)
    async def answer_mistake(request: Request, error: OmbaError) -> Response:
        return problem(str(error), status_of(error))

    @app.exception_handler(RequestValidationError)
    async def answer_unreadable(request: Request, error: RequestValidationError) -> Response:
        return problem(sentence(error.errors()), 422)

    @app.exception_handler(HTTPException)
    async def answer_refusal(request: Request, error: HTTPException) -> Response:
        if error.status_code == 400:
            return problem("the request cannot be read: its body should be JSON in UTF-8", 422)
        headers = dict(error.headers) if error.headers else None
        if error.status_code == 404:
            return problem(f"there is nothing at {request.url.path!r}: /openapi.json lists what there is", 404)
        return problem(str(error.detail), error.status_code, headers)


class LimitExceeded(Exception):
    """A request beyond a limit, with the status and the sentence to answer it with."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class ErrorMiddleware:
    """Answers a fault of the program itself with a sentence, and leaves what it was to the server's log."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except LimitExceeded:
            # No fault: whoever set the limit answers.
            raise
        except Exception:
            if scope["type"] != "http" or begun:
                raise
            log.exception("a request for %r failed", scope["path"])
            await problem(FAULT, 500)(scope, receive, send)


def status_of(error: OmbaError) -> int:
    """404 for what is not known, 503 for what the disk will not give or take, 422 for what cannot be used."""
    return 404 if isinstance(error, UnknownError) else 503 if isinstance(error, SnapshotError | StoreError) else 422


def sentence(errors: Sequence[Any], skip: int = 1) -> str:
    """The first thing that was wrong with a request, and where; places begin with `skip` words on the part of it."""
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"][skip:] if part not in ("one", "many")) or "the body"
    given = first.get("input")
    shown = f" {str(given)[:60]!r}" if isinstance(given, str | int | float) else ""
    more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{place}{shown} cannot be used: {first['msg'][:1].lower()}{first['msg'][1:]}{more}"
