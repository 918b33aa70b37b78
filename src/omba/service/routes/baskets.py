"""Route that takes baskets in: answered once they are on the disk."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from omba.errors import OmbaError
from omba.service.http.answers import PROBLEMS, answer, problem, sentence, status_of
from omba.service.routes import schemas
from omba.service.state import Served, Service

router = APIRouter(tags=["baskets"], responses={**PROBLEMS, 503: {"model": schemas.Problem}})

EXAMPLES: dict[str, Any] = {
    "one": {"summary": "One basket", "value": schemas.EXAMPLE},
    "many": {"summary": "Several", "value": [schemas.EXAMPLE, {"products": [{"id": "tea"}, {"id": "milk"}]}]},
}


READ: TypeAdapter[Any] = TypeAdapter(schemas.OneOrMany)


@router.post("/baskets", status_code=202, response_model=schemas.Received)
async def baskets(served: Served, given: Annotated[schemas.OneOrMany, Body(openapi_examples=EXAMPLES)]) -> Response:
    """Take in a basket or a list of them, all or none. One whose id came before is taken once."""
    return await taken(served, given)


async def taken(served: Service, given: Any) -> Response:
    if served.group_commit is None:
        return problem("this service answers only: it was started with --read-only, and takes no baskets", 503)
    received = await served.group_commit.take(given if isinstance(given, list) else [given])
    return answer({"accepted": received.accepted, "repeated": received.repeated}, 202)


class Express:
    """Takes baskets in without the ceremony of routes, which would be most of the work of a small request.

    What it answers is what the route above, which tells of it in the OpenAPI, would answer.
    """

    def __init__(self, app: ASGIApp, served: Service) -> None:
        self.app, self.served = app, served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/baskets" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        scope["route"] = ROUTE
        found = await self._taken(Request(scope, receive))
        await found(scope, receive, send)

    async def _taken(self, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return problem("baskets are sent as JSON: say so by 'Content-Type: application/json'", 422)
        try:
            return await taken(self.served, READ.validate_json(await request.body()))
        except ValidationError as error:
            return problem(sentence(error.errors(include_url=False), skip=0), 422)
        except OmbaError as error:
            return problem(str(error), status_of(error))
        except ClientDisconnect:
            return problem("the request was not sent to its end", 422)


ROUTE = next(route for route in router.routes if getattr(route, "path", "") == "/baskets")
