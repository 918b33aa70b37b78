"""Routes on rules: the table, one rule, what changed, and why two products belong together."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from omba.baskets import Label
from omba.errors import InputError, UnknownError
from omba.rules import Filter
from omba.service.http.responses import PROBLEMS, answer
from omba.service.routes import schemas
from omba.service.state import Seen, Served
from omba.service.views.changes import change_records, changes
from omba.service.views.explanation import explain as explanation_of
from omba.service.views.rule_index import DEFAULT_SORT, FIELDS, NUMBERS, Record, records_of
from omba.service.views.rule_key import read_key
from omba.service.views.view import View

router = APIRouter(tags=["rules"], responses=PROBLEMS)


@router.get("/rules", response_model=schemas.Rules)
def rules(served: Served, query: Annotated[schemas.RuleParameters, Query()]) -> Response:  # type: ignore[valid-type]
    """The rules that fulfil every filter given, a page of them. `min_` and `max_` bound any measure.

    Of the present all counted pairs are looked at; of the past the rules that were kept and the most frequent pairs,
    without a forecast. Where the history has no pairs of that moment, kept rules are all there is: `kept_only` says so.
    """
    asked: Any = query
    view = served.published.at(asked.at)
    where, search = filter_of(asked), view.rule_search
    if search is not None:
        total, page = search.page(where, asked.sort, asked.order, asked.offset, asked.limit)
    else:
        # Of the past the families are not known, and all rules are between them.
        places = view.rule_index.find(where, asked.sort, asked.order)
        total, page = len(places), view.rule_index.take(places[asked.offset : asked.offset + asked.limit])
    return answer(
        {
            "total": total,
            "offset": asked.offset,
            "limit": asked.limit,
            "sort": asked.sort or DEFAULT_SORT,
            "kept_only": search is None and view.past,
            "rules": page,
        }
    )


def filter_of(asked: Any) -> Filter:
    """The filter that a request asks for."""
    named = (
        "product",
        "antecedent",
        "consequent",
        "category",
        "min_price",
        "max_price",
        "status",
        "relation",
        "text",
        "season",
    )
    bounds: dict[str, dict[str, float]] = {"min": {}, "max": {}}
    for end, bound in bounds.items():
        for name in ("length", *(name for name in NUMBERS if name != "price")):
            value = getattr(asked, f"{end}_{name}")
            if value is not None:
                bound[FIELDS.get(name, name)] = value
    families = None if asked.families == "all" else asked.families
    given = {name: getattr(asked, name) for name in named}
    return Filter(minimum=bounds["min"], maximum=bounds["max"], families=families, **given)


@router.get("/rules/diff", response_model=schemas.Changes)
def diff(
    served: Served,
    start: Annotated[str, Query(alias="from", max_length=40)],
    to: Annotated[schemas.Moment, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=schemas.MOST)] = 50,
) -> Response:
    """Pairs that are new, together more or less often than their own sales explain, or together no more, by the baskets
    before and since; `to` is now unless given."""
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
            "note": found.note,
            "counts": {name: len(listed) for name, listed in found},
            **{name: change_records(listed[:limit], second) for name, listed in found},
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
            "explanation": explanation_of(view, antecedents, consequents, record),
            "history": [one.of_rule(products) for one in past],
        }
    )


def rule_of(view: View, key: str) -> Record:
    """A rule by its key: from the table, or, of any pair of products, made for the occasion."""
    place = view.rule_index.places.get(key)
    if place is not None:
        return view.rule_index.records[place]
    antecedents, consequents = read_key(key)
    rows = [view.catalogue.row(label) for label in (*antecedents, *consequents)]
    pairs = view.pair_index if view.rule_search is None else view.rule_search.pair_index
    if pairs is None or len(rows) != 2 or rows[0] == rows[1]:
        names = f"{' + '.join(map(str, antecedents))} ⇒ {' + '.join(map(str, consequents))}"
        raise UnknownError(f"the rule {names[:200]} is not among the {len(view.rule_index):,} best of {view.at}")
    return records_of(pairs.rule(*rows))[0]


@router.get("/explain", response_model=schemas.Explanation)
def explain(
    view: Seen,
    antecedent: Annotated[list[schemas.Text], Query(min_length=1, max_length=10)],
    consequent: Annotated[schemas.Text, Query()],
) -> Response:
    """Why products belong together, even if no basket ever held all of them."""
    left, right = [view.catalogue.find(name) for name in antecedent], view.catalogue.find(consequent)
    if right in left:
        raise InputError(f"{consequent!r} stands on both sides: give different products")
    return answer(explanation_of(view, left, [right], None))
