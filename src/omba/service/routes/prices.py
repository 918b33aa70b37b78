"""Route on prices: what sales of a product and of its partners did in the weeks when it was cheaper."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from omba.assortment.price_effects import CHEAPER
from omba.service.http.responses import PROBLEMS, answer
from omba.service.routes import schemas
from omba.service.state import Served

router = APIRouter(tags=["products"], responses=PROBLEMS)

PARTNERS = 6
"""Complements, substitutes and variants that are looked at, each."""


class PriceChange(schemas.Strict):
    product: schemas.Name
    name: str | None
    relation: str = Field(description="What it is to the product: 'itself', 'complement', 'substitute' and so on.")
    change: float = Field(description="Sales in cheaper weeks against usual ones: 0.2 is 20% more.")
    low: float = Field(description="The low end of the 90% interval.")
    high: float
    price: float = Field(description="The price in cheaper weeks, as a share of the usual one.")
    weeks: int = Field(description="Cheaper weeks that were compared, counted by store.")
    usual_weeks: int = Field(description="Usual weeks that they were compared with.")
    baskets: int = Field(description="Baskets with it in all of these weeks.")


class PriceChanges(schemas.Strict):
    effects: list[PriceChange] = Field(description="Empty where too few weeks or baskets tell.")


@router.get("/prices", response_model=PriceChanges)
def prices(
    served: Served,
    product: Annotated[schemas.Text, Query(description="The product whose price moved.")],
    cheaper: Annotated[float, Query(gt=0, lt=1, description="The share below the usual price.")] = CHEAPER,
) -> Response:
    """What a price did: how sales of a product and of its partners changed in the weeks when it was cheaper."""
    view = served.published.view
    row, model = view.catalogue.row(product), view.model
    if model is None or not model.n_baskets:
        return answer({"effects": []})
    found = model.assortment.price_effects(row, None, PARTNERS, cheaper)
    effects = [{**effect.to_dict(), "name": view.catalogue.name(effect.product)} for effect in found]
    return answer({"effects": effects})
