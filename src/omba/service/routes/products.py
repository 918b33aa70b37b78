"""Routes on products and users: search as you type, and one product with all it goes with."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.responses import Response

from omba.rules.order import LOW_END, rank_numbers
from omba.service.http.responses import PROBLEMS, answer
from omba.service.routes import schemas
from omba.service.state import Seen, Served
from omba.service.views.history_view import HistoryView
from omba.service.views.rule_index import records_of
from omba.service.views.view import View


class LabelConvertor(PathConvertor):
    """The rest of a path as it is, also where it has several lines: a label is any text."""

    regex = r"[\s\S]*"


# Under a name of its own the route, and with it the metrics, would have another pattern.
register_url_convertor("path", LabelConvertor())

router = APIRouter(tags=["products"], responses=PROBLEMS)

RULES, SIMILAR, TRACED, LOOKED_AT = 20, 20, 5, 200
"""Rules of each kind and similar products on a page; of those, how many are followed through time; how many
neighbours are looked at for pairs that were never seen."""

Limit = Annotated[int, Query(ge=1, le=schemas.MOST)]


@router.get("/products", response_model=schemas.Products)
def products(
    view: Seen,
    q: Annotated[schemas.Text, Query(description="Words, each to be found in the name or a category.")] = "",
    category: Annotated[schemas.Text | None, Query()] = None,
    limit: Limit = 20,
) -> Response:
    """Products by name, best sellers first."""
    total, rows = view.catalogue.search(q, category, limit)
    return answer({"total": total, "products": [view.product_index.record(row) for row in rows]})


@router.get("/products/{id:path}", response_model=schemas.ProductPage)
async def product(served: Served, view: Seen, id: str) -> Response:
    """One product: its rules, seen and unseen, its neighbours, and how it came to this."""
    past = served.published.past
    return await served.in_turn(lambda: answer(page(view, past, id)))


def page(view: View, past: HistoryView, id: str) -> dict[str, Any]:
    """All that is told of a product."""
    row, product_index = view.catalogue.row(id), view.product_index
    near, cosines = view.near(row, LOOKED_AT)
    observed, unseen = associations(view, row, near)
    similar = [
        {
            "id": product_index.labels[other],
            "similarity": round(float(cosine), 4),
            "count": int(product_index.counts[other]),
        }
        for other, cosine in zip(near[:SIMILAR].tolist(), cosines[:SIMILAR].tolist(), strict=True)
    ]
    return {
        "id": product_index.labels[row],
        "attributes": {name: column[row].as_py() for name, column in view.catalogue.columns.items()},
        "count": int(product_index.counts[row]),
        "support": int(product_index.counts[row]) / max(view.n_baskets, 1),
        "price": product_index.price(row),
        "observed": observed,
        "unseen": unseen,
        "similar": similar,
        **partners(view, row),
        "family": family_of(view, row),
        "season": view.catalogue.season([(product_index.labels[row],)])[0],
        "history": past.of_product(row, near[:TRACED].tolist(), view.tick if view.past else None),
    }


def partners(view: View, row: int) -> dict[str, list[dict[str, Any]]]:
    """The products bought instead of one and with it, and what that rests on; of the present alone."""
    told = view.likely_partners(row)
    if not told or view.model is None:
        return {"substitutes": [], "complements": []}
    pairs = [(kind, other, chance) for kind, others in told.items() for other, chance in others]
    others = np.array([other for _, other, _ in pairs], np.int64)
    judged = view.model.assortment.relations().judge(np.full(len(others), row), others)
    found: dict[str, list[dict[str, Any]]] = {f"{kind}s": [] for kind in told}
    for place, (kind, other, chance) in enumerate(pairs):
        label = view.product_index.labels[other]
        found[f"{kind}s"].append({"id": label, "probability": round(chance, 4), "sentence": judged.sentence(place)})
    return found


def family_of(view: View, row: int) -> str | None:
    """The name of a product's family; of the present alone."""
    families = view.catalogue.families
    return None if families is None or row >= len(families.family) else families.of_row(row)


def associations(view: View, row: int, near: Any) -> tuple[list[Any], list[Any]]:
    """The rules with a product, seen and unseen: those of the table and, of the present, of all its pairs."""
    records = view.rule_index.take(view.rule_index.of_product.get(view.product_index.labels[row], []))
    if view.pair_index is not None:
        known = {frozenset((*one["antecedents"], *one["consequents"])) for one in records}
        pairs = records_of(view.pair_index.of_product(row, near, RULES))
        records += [one for one in pairs if frozenset((*one["antecedents"], *one["consequents"])) not in known]
        lows = rank_numbers(LOW_END, np.array([one[LOW_END] or 0.0 for one in records], np.float64))
        records = [records[place] for place in np.argsort(-lows, kind="stable").tolist()]
    seen = [one for one in records if one["status"] != "unseen"]
    unseen = [one for one in records if one["status"] == "unseen"]
    return seen[:RULES], unseen[:RULES]


@router.get("/users", response_model=schemas.Users)
def users(served: Served, q: Annotated[schemas.Text, Query()] = "", limit: Limit = 20) -> Response:
    """Users whose name holds a text, those that begin with it first."""
    model = served.published.view.model
    labels = [] if model is None else model.user_rows.vocabulary.labels
    if not q:
        return answer({"total": len(labels), "users": labels[:limit]})
    word = q.casefold()
    found = [label for label in labels if word in str(label).casefold()]
    found.sort(key=lambda label: not str(label).casefold().startswith(word))
    return answer({"total": len(found), "users": found[:limit]})
