"""Route that takes baskets in: answered once they are on the disk."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from starlette.responses import Response

from omba.service import schemas
from omba.service.answers import PROBLEMS, answer, problem
from omba.service.state import Served

router = APIRouter(tags=["baskets"], responses={**PROBLEMS, 503: {"model": schemas.Problem}})

EXAMPLES: dict[str, Any] = {
    "one": {"summary": "One basket", "value": schemas.EXAMPLE},
    "many": {"summary": "Several", "value": [schemas.EXAMPLE, {"products": [{"id": "tea"}, {"id": "milk"}]}]},
}


@router.post("/baskets", status_code=202, response_model=schemas.Received)
async def baskets(served: Served, given: Annotated[schemas.OneOrMany, Body(openapi_examples=EXAMPLES)]) -> Response:
    """Take in a basket or a list of them, all or none. One whose id came before is taken once."""
    if served.desk is None:
        return problem("this service answers only: it was started with --read-only, and takes no baskets", 503)
    received = await served.desk.take(given if isinstance(given, list) else [given])
    return answer({"accepted": received.accepted, "repeated": received.repeated}, 202)
