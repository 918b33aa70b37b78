"""Route on families: products that are variants of one thing or a set sold as one, a line each."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from omba.rules.family_lines import FamilyLine, family_lines
from omba.service.http.responses import PROBLEMS, answer
from omba.service.routes import schemas
from omba.service.state import Served
from omba.service.views.view import View

router = APIRouter(tags=["products"], responses=PROBLEMS)


class FamilyMember(schemas.Strict):
    id: schemas.Name
    name: str | None = Field(description="The name beside the label, where the product has one.")
    count: int = Field(description="Baskets with it.")


class Family(schemas.Strict):
    family: int = Field(description="Its number, by sales.")
    name: str = Field(description="What its members share.")
    size: int
    sold: int = Field(description="Baskets with each member, added up.")
    revenue: float | None = Field(description="What they brought in so far, prices times quantities.")
    expected_baskets: float | None = Field(
        description="Baskets with each member, added up, in the next period; null where no days are known."
    )
    expected_baskets_low: float | None = Field(description="The low end of its 90% interval.")
    expected_baskets_high: float | None
    expected_revenue: float | None = Field(description="What they bring in then; null where no prices are known.")
    expected_revenue_low: float | None
    expected_revenue_high: float | None
    season: str = Field(description="The months in which most of them are sold; empty for all year.")
    lift_low: float | None = Field(description="The lowest lift between two members; null where too few met.")
    lift_high: float | None
    partner: str | None = Field(description="The family or product that goes with it best.")
    partner_products: list[schemas.Name] | None = Field(description="The member and the product of that rule.")
    partner_lift: float | None
    partner_count: int | None
    products: list[FamilyMember]


class FamilyList(schemas.Strict):
    total: int
    families: list[Family]


@router.get("/families", response_model=FamilyList)
def families(
    served: Served,
    q: Annotated[schemas.Text, Query(description="Words, each to be found in the name of the family.")] = "",
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=schemas.MOST)] = 50,
) -> Response:
    """Families of products as they are now, those that sell most first."""
    view = served.published.view
    words = q.casefold().split()
    found = [line for line in lines_of(view) if all(word in line.name.casefold() for word in words)]
    page = [record(view, line) for line in found[offset : offset + limit]]
    return answer({"total": len(found), "families": page})


def lines_of(view: View) -> list[FamilyLine]:
    """All families of a view, worked out once."""
    pairs = view.pair_index
    return [] if pairs is None else view.cache("families", lambda: family_lines(pairs.given))


def record(view: View, line: FamilyLine) -> dict[str, object]:
    """A family as an answer has it."""
    index, rows = view.product_index, view.catalogue.rows
    products = [
        {"id": label, "name": view.catalogue.name(label), "count": int(index.counts[rows[label]])}
        for label in line.products
    ]
    return {**line.to_dict(), "products": products}
