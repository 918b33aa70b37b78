"""Routes that suggest: a basket and its customer in, products out, with reasons."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from omba.baskets import Label, find_label
from omba.service.http.responses import PROBLEMS, UNREADABLE, answer
from omba.service.routes import schemas
from omba.service.state import Served
from omba.service.views.suggest import reasons, suggest
from omba.service.views.view import View

PATH = "/rank"

router = APIRouter(tags=["rank"], responses=PROBLEMS)


@router.get(PATH, response_model=schemas.Suggestions)
async def rank(
    served: Served,
    products: Annotated[list[schemas.Text], Query(max_length=schemas.MOST_IN_BASKET, description="The basket.")] = [],  # noqa: B006
    user: Annotated[schemas.Text | None, Query()] = None,
    n: Annotated[int, Query(ge=1, le=schemas.MOST)] = 10,
    at: Annotated[schemas.Moment, Query()] = None,
) -> Response:
    """What goes best with a basket and its customer."""
    return await respond(served, [name for name in products if name], user or None, n, at)


@router.post(PATH, response_model=schemas.Suggestions, responses=UNREADABLE, operation_id="rank_posted_rank_post")
async def post_rank(served: Served, asked: schemas.Ranking) -> Response:
    """What goes best with a basket and its customer, as above."""
    names = [item.id if isinstance(item, schemas.Item) else item for item in asked.products]
    return await respond(served, names, asked.user, asked.n, asked.at)


async def respond(served: Served, names: list[Any], user: Label | None, n: int, at: str | None) -> Response:
    """The answer for a basket and its customer; one from the past, which may have to be read, holds nobody up."""
    if at is not None:
        return await run_in_threadpool(lambda: answer(suggestions(served, names, user, n, at)))
    return await served.in_turn(lambda: answer(suggestions(served, names, user, n, None)))


def suggestions(served: Served, names: list[Any], user: Label | None, n: int, at: str | None) -> dict[str, Any]:
    view = served.published.at(at)
    context: dict[int, None] = {}
    unknown: list[Label] = []
    for name in names:
        row = view.catalogue.row_in_basket(name)
        if row is None:
            unknown.append(name)
        else:
            context[row] = None
    owner = None if user is None else known_user(view, user)
    if user is not None and owner is None:
        unknown.append(user)
    rows = list(context)
    labels = [view.product_index.labels[row] for row in rows]
    return {
        "suggestions": [
            {
                "product": view.product_index.labels[one.row],
                "score": round(one.score, 4),
                "chance": None if one.chance is None else round(one.chance, 4),
                "price": view.product_index.price(one.row),
                "reasons": reasons(one.parts, labels),
            }
            for one in suggest(view, rows, owner, n)
        ],
        "unknown": unknown,
    }


def known_user(view: View, user: Label) -> Label | None:
    """The user's own label, None where it is not known; users of the past are not kept."""
    codes = {} if view.model is None else view.model.user_rows.vocabulary.codes
    return find_label(user, codes)
