"""Routes on rules: the table, one rule, what changed, and why two products belong together."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from omba.baskets import Label
from omba.errors import InputError, UnknownError
from omba.service.http.answers import PROBLEMS, answer
from omba.service.routes import schemas
from omba.service.state import Seen, Served
from omba.service.views.changes import changes
from omba.service.views.explaining import explained
from omba.service.views.rule_index import DEFAULT_SORT, NUMBERS, Record, RuleQuery, records_of
from omba.service.views.rule_key import read_key
from omba.service.views.view import View

router = APIRouter(tags=["rules"], responses=PROBLEMS)


@router.get("/rules", response_model=schemas.Rules)
def rules(served: Served, query: Annotated[schemas.RuleParameters, Query()]) -> Response:  # type: ignore[valid-type]
    """The rules that fulfil every filter given, a page of them. `min_` and `max_` bound any measure."""
    asked: Any = query
    view = served.published.at(asked.at)
    places = view.rule_index.find(wanted(view, asked))
    page = places[asked.offset : asked.offset + asked.limit]
    return answer(
        {
            "total": len(places),
            "offset": asked.offset,
            "limit": asked.limit,
            "sort": asked.sort or DEFAULT_SORT,
            "rules": view.rule_index.take(page),
        }
    )


def wanted(view: View, asked: Any) -> RuleQuery:
    """The filters of a request, products as the labels they are."""
    find, labels = view.product_index.find, view.product_index.labels
    named = {
        side: None if (name := getattr(asked, side)) is None else labels[find(name)]
        for side in ("product", "antecedent", "consequent")
    }
    members = None
    if asked.category is not None:
        members = frozenset(labels[row] for row in view.product_index.members(asked.category).tolist())
    ends = {name: (getattr(asked, f"min_{name}"), getattr(asked, f"max_{name}")) for name in NUMBERS if name != "price"}
    return RuleQuery(
        asked.text, **named, members=members, status=asked.status, prices=(asked.min_price, asked.max_price),
        lengths=(asked.min_length, asked.max_length),
        bounds={name: ends for name, ends in ends.items() if ends != (None, None)}, sort=asked.sort, order=asked.order,
    )  # fmt: skip


@router.get("/rules/diff", response_model=schemas.Changes)
def diff(
    served: Served,
    start: Annotated[str, Query(alias="from", max_length=40)],
    to: Annotated[schemas.Moment, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=schemas.MOST)] = 50,
) -> Response:
    """Rules that emerged, strengthened, faded or vanished between two moments; `to` is now unless given."""
    first, second = served.published.at(start), served.published.at(to)
    if first.tick >= second.tick:
        raise InputError(
            f"{start!r} leads to {first.at}, which is not before {second.at}: give two moments with a window between"
        )
    found = changes(first, second)
    return answer(
        {
            "from": first.at,
            "to": second.at,
            "counts": {name: len(listed) for name, listed in found.items()},
            **{name: listed[:limit] for name, listed in found.items()},
        }
    )


@router.get("/rules/{key}", response_model=schemas.RulePage)
def rule(served: Served, view: Seen, key: str) -> Response:
    """One rule with its evidence, explanation and history."""
    record = rule_of(view, key)
    antecedents, consequents = record["antecedents"], record["consequents"]
    products: frozenset[Label] = frozenset((*antecedents, *consequents))
    past = served.published.past.until(view.tick if view.past else None)
    return answer(
        {
            "rule": record,
            "explanation": explained(view, antecedents, consequents, record),
            "history": [one.of_rule(products) for one in past],
        }
    )


def rule_of(view: View, key: str) -> Record:
    """A rule by its key: from the table, or, of any pair of products, made for the occasion."""
    place = view.rule_index.places.get(key)
    if place is not None:
        return view.rule_index.records[place]
    antecedents, consequents = read_key(key)
    rows = [view.product_index.find(label) for label in (*antecedents, *consequents)]
    if view.pairs is None or len(rows) != 2 or rows[0] == rows[1]:
        names = f"{' + '.join(map(str, antecedents))} ⇒ {' + '.join(map(str, consequents))}"
        raise UnknownError(f"the rule {names[:200]} is not among the {len(view.rule_index):,} best of {view.at}")
    return records_of(view.pairs.rule(*rows))[0]


@router.get("/explain", response_model=schemas.Explanation)
def explain(
    view: Seen,
    antecedent: Annotated[list[schemas.Text], Query(min_length=1, max_length=10)],
    consequent: Annotated[schemas.Text, Query()],
) -> Response:
    """Why products belong together, even if no basket ever held all of them."""
    labels = view.product_index.labels
    left = [labels[view.product_index.find(name)] for name in antecedent]
    right = labels[view.product_index.find(consequent)]
    if right in left:
        raise InputError(f"{consequent!r} stands on both sides: give different products")
    return answer(explained(view, left, [right], None))
