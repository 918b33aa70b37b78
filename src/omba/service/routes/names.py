"""Route on names: what products are called beside their labels, for pages that show article numbers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from omba.service.http.responses import PROBLEMS, answer
from omba.service.routes import schemas
from omba.service.state import Seen

router = APIRouter(tags=["products"], responses=PROBLEMS)


class Names(schemas.Strict):
    named: bool = Field(description="Whether products have names beside their labels at all.")
    names: dict[str, str | None]


@router.get("/names", response_model=Names)
def names(
    view: Seen,
    id: Annotated[list[schemas.Text], Query(max_length=1_000, description="Labels of products.")] = [],  # noqa: B006
) -> Response:
    """What products are called beside their labels; null where there is no more to say."""
    found: dict[str, str | None] = {}
    for label in id if view.product_index.named else []:
        row = view.catalogue.known_row(label)
        found[label] = None if row is None else view.product_index.name(row)
    return answer({"named": view.product_index.named, "names": found})
