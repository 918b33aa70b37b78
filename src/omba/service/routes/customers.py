"""Routes on customers: what one buys, what is due, and what would be new to them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from omba.errors import UnknownError, nearest
from omba.model import recommend
from omba.service.http.responses import PROBLEMS, answer
from omba.service.routes import schemas
from omba.service.routes.rank import known_user
from omba.service.state import Served
from omba.service.views.suggest import ExplainedSuggestion, reasons, suggest
from omba.service.views.view import View

router = APIRouter(tags=["customers"], responses=PROBLEMS)


@router.get("/customers/{id:path}", response_model=schemas.CustomerPage)
def customer(served: Served, id: schemas.Text, n: Annotated[int, Query(ge=1, le=schemas.MOST)] = 10) -> Response:
    """One customer: what they buy, how often and when last; what they will buy again, and what they may discover."""
    view = served.published.view
    label = known_user(view, id)
    assert view.model is not None
    if label is None:
        codes = view.model.user_rows.vocabulary.codes
        raise UnknownError(f"customer {id!r} is not known to the model{nearest(id, codes)}")
    known = view.model.customer(label)
    habits = {one.product: one for one in known.products}
    rebuy, discover = suggest(view, [], label, n, "rebuy"), suggest(view, [], label, n, "discover")
    return answer(
        {
            "id": label,
            **recommend.as_record(known),
            "rebuy": [record(view, one, habits) for one in rebuy],
            "discover": [record(view, one, habits) for one in discover],
        }
    )


def record(view: View, one: ExplainedSuggestion, habits: dict[Any, recommend.Remembered]) -> dict[str, Any]:
    """A suggestion, with what the customer remembers of the product."""
    product = view.product_index.labels[one.row]
    habit = habits.get(product)
    return {
        "product": product,
        "chance": None if one.chance is None else round(one.chance, 4),
        "price": view.product_index.price(one.row),
        "count": 0 if habit is None else habit.count,
        "last": None if habit is None else habit.last,
        "every": None if habit is None else habit.every,
        "due": habit is not None and habit.due,
        "reasons": reasons(one.parts, []),
    }
