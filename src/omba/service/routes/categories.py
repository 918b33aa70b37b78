"""Route on categories: those of any level, by name, to filter by."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from omba.service.http.responses import PROBLEMS, answer
from omba.service.routes import schemas
from omba.service.state import Seen

router = APIRouter(tags=["products"], responses=PROBLEMS)


class Category(schemas.Strict):
    name: str
    products: int


class Categories(schemas.Strict):
    total: int
    categories: list[Category]


@router.get("/categories", response_model=Categories)
def categories(
    view: Seen,
    q: Annotated[schemas.Text, Query(description="Words, each to be found in the name.")] = "",
    limit: Annotated[int, Query(ge=1, le=schemas.MOST)] = 20,
) -> Response:
    """Categories of all levels, the largest first."""
    words = q.casefold().split()
    found = [
        (name, n)
        for name, n in view.catalogue.categories.most_common()
        if all(word in name.casefold() for word in words)
    ]
    return answer({"total": len(found), "categories": [{"name": name, "products": n} for name, n in found[:limit]]})
