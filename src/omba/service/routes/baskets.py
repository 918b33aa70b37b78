"""Route that takes baskets in: answered once they are on the disk.

A basket sent alone is so little work that FastAPI's reading of the request would be most of it. So this route reads its
own requests (`BasketsRoute`), and `service.fast_path` hands them to it before any other route is tried. Most come whole
and are taken in before that, by `service.basket_intake`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Body
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from omba.errors import OmbaError
from omba.live import Receipt
from omba.service.http.responses import PROBLEMS, UNREADABLE, answer, problem, sentence, status_of
from omba.service.routes import schemas
from omba.service.state import Served

PATH = "/baskets"
EXAMPLES: dict[str, Any] = {
    "one": {"summary": "One basket", "value": schemas.EXAMPLE},
    "many": {"summary": "Several", "value": [schemas.EXAMPLE, {"products": [{"id": "tea"}, {"id": "milk"}]}]},
}
READER: TypeAdapter[Any] = TypeAdapter(schemas.OneOrMany)


async def respond(request: Request) -> Response:
    """The answer of `baskets` to a request, or the sentence that tells what is wrong with it."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return problem("baskets are sent as JSON: say so by 'Content-Type: application/json'", 422)
    try:
        return await baskets(request.app.state.service, READER.validate_json(await read_body(request)))
    except (ValidationError, OmbaError, ClientDisconnect) as error:
        return response_to(error)


def read(body: bytes) -> list[Any]:
    """The baskets of a request."""
    given = READER.validate_json(body)
    return given if isinstance(given, list) else [given]


def response_to(found: Receipt | Exception) -> Response:
    """What became of baskets, or the sentence that tells what is wrong with them; any other fault is raised again."""
    if isinstance(found, Receipt):
        return answer({"accepted": found.accepted, "repeated": found.repeated}, 202)
    if isinstance(found, ValidationError):
        return problem(sentence(found.errors(include_url=False), skip=0), 422)
    if isinstance(found, OmbaError):
        return problem(str(found), status_of(found))
    if isinstance(found, ClientDisconnect):
        return problem("the request was not sent to its end", 422)
    raise found


async def read_body(request: Request) -> bytes:
    """All bytes of a request. Most come in one piece, which Starlette's own reading takes through two generators."""
    pieces, more = [], True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class BasketsRoute(APIRoute):
    """A route whose body pydantic reads straight from the bytes; FastAPI only describes it in the OpenAPI."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        return respond


router = APIRouter(tags=["baskets"], responses={**PROBLEMS, **UNREADABLE}, route_class=BasketsRoute)


@router.post(PATH, status_code=202, response_model=schemas.Received)
async def baskets(served: Served, given: Annotated[schemas.OneOrMany, Body(openapi_examples=EXAMPLES)]) -> Response:
    """Take in a basket or a list of them, all or none. One whose id came before is taken once."""
    if served.group_commit is None:
        return problem("this service answers only: it was started with --read-only, and takes no baskets", 503)
    return response_to(await served.group_commit.take(given if isinstance(given, list) else [given]))
