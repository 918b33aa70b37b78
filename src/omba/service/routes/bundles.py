"""Route on bundles: what to sell together, what it brings in, and how much discount it bears."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from omba.rules.bundles import FLOOR, Bundle, break_even, find_bundles
from omba.service.http.responses import PROBLEMS, answer
from omba.service.routes import schemas
from omba.service.state import Served
from omba.service.views.view import View

router = APIRouter(tags=["rules"], responses=PROBLEMS)

MOST = 200
"""Bundles of one answer."""


class BundleLine(schemas.Strict):
    products: list[schemas.Name]
    names: list[str | None]
    count: int = Field(description="Baskets with all of them so far.")
    lift: float
    price: float | None = Field(description="What they bring in a basket, prices times quantities.")
    expected_baskets: float | None = Field(description="In a period with a third as many baskets as so far.")
    expected_baskets_low: float | None
    expected_baskets_high: float | None
    expected_revenue: float | None = Field(description="What goes together anyway, not what an offer adds.")
    expected_revenue_low: float | None
    expected_revenue_high: float | None
    season: str = Field(description="The months in which they are mostly sold together; empty for all year.")
    break_even: float = Field(description="The discount at which the stated extra uptake earns what it costs.")


class BundleList(schemas.Strict):
    bundles: list[BundleLine]


@router.get("/bundles", response_model=BundleList)
def bundles(
    served: Served,
    by: Literal["revenue", "lift"] = "revenue",
    floor: Annotated[float, Query(ge=0, le=1e9, description="Baskets to expect of a bundle, at least.")] = FLOOR,
    uptake: Annotated[float, Query(ge=0, le=100, description="Extra takers of an offer: 0.2 is 20%.")] = 0.2,
    margin: Annotated[float, Query(gt=0, le=1, description="Profit as a share of the price.")] = 1.0,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 20,
) -> Response:
    """Products of different families that belong together, best first, each in at most two bundles."""
    found = bundles_of(served.published.view, by, floor)
    discount = break_even(uptake, margin)
    return answer({"bundles": [{**bundle.to_dict(), "break_even": discount} for bundle in found[:limit]]})


def bundles_of(view: View, by: Literal["revenue", "lift"], floor: float) -> list[Bundle]:
    """The bundles of a view, worked out once."""
    pairs = view.pair_index
    if pairs is None or not view.n_baskets:
        return []
    return view.cache(f"bundles {by} {floor}", lambda: find_bundles(pairs.given, MOST, by, floor))
