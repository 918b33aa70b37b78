"""Routes on the time of year: families and rules over the year, and what is about to belong together."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from omba.rules.calendar import CalendarRow, family_calendar, rule_calendar
from omba.rules.catalogue import SalesOutlook
from omba.rules.coming_up import WEEKS, find_coming_up
from omba.rules.filter import Filter
from omba.rules.rules import Rules, join_tables
from omba.service.http.responses import PROBLEMS, answer
from omba.service.routes import schemas
from omba.service.state import Served
from omba.service.views.view import View

router = APIRouter(tags=["rules"], responses=PROBLEMS)

MOST, RULES = 200, 200
"""Lines of one answer, and rules that the calendar has."""
YEAR, MORE = 26, 1.5
"""Fortnights of the calendar, and how many times the usual is more than usual."""


class CalendarLine(schemas.Strict):
    name: str | None = Field(description="What a family is called; null of a rule.")
    products: list[schemas.Name]
    names: list[str | None]
    count: int = Field(description="Baskets with each member added up, or with all products of a rule.")
    season: str = Field(description="The months in which most of it is sold, such as 'Nov–Dec'; empty for all year.")
    rates: list[float | None] = Field(description="Times the usual in each fortnight of the year; null if never met.")


class CalendarPage(schemas.Strict):
    total: int
    seasonal: int = Field(description="How many of all have a season.")
    now: str | None = Field(description="The first day after what was learned; null where baskets have no dates.")
    fortnight: int | None = Field(description="The fortnight that comes next, from 0.")
    year_known: bool = Field(description="Whether the next period's weeks were there a year ago.")
    baskets: list[float] = Field(description="The part of all baskets that falls into each fortnight.")
    rows: list[CalendarLine]


class ComingLine(schemas.Strict):
    products: list[schemas.Name]
    names: list[str | None]
    season: str
    begins: str = Field(description="The day from which on they were sold more than usual a year ago, of this year.")
    times: float = Field(description="Times the usual that they should be together in the coming weeks.")
    count: int = Field(description="Baskets with both so far.")
    lift: float = Field(description="The lift to expect within those weeks.")
    expected_baskets: float = Field(
        description="If it comes again; the ends are those of nine weeks like these in ten."
    )
    expected_baskets_low: float
    expected_baskets_high: float
    relation: str | None


class ComingPage(schemas.Strict):
    known: bool = Field(description="Whether the same weeks a year ago are known; where not, nothing can be told.")
    first: str
    last: str
    returns: float = Field(description="The share of what was sold at this time last year that is sold again.")
    rules: list[ComingLine]


@router.get("/calendar", response_model=CalendarPage)
def calendar(
    served: Served,
    of: Literal["families", "rules"] = "families",
    q: Annotated[schemas.Text, Query(description="Words, each to be found in a name or a label.")] = "",
    season: Literal["any", "all"] = "any",
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 60,
) -> Response:
    """Families and rules over the year, a row each; unless all are asked for, those that have a season, those whose
    season comes next first."""
    view = served.published.view
    outlook = None if view.model is None else view.catalogue.outlook
    if outlook is None or not outlook.met:
        nothing = {"total": 0, "seasonal": 0, "now": None, "fortnight": None, "year_known": False}
        return answer({**nothing, "baskets": [], "rows": []})
    rows, words = calendar_rows(view, outlook, of), q.casefold().split()
    rows = [row for row in rows if all(word in text_of(row) for word in words)]
    day = outlook.day(0)
    fortnight = min(int((day - day.astype("datetime64[Y]")).astype(int)) // 14, YEAR - 1)
    seasonal = sorted((row for row in rows if row.season), key=lambda row: fortnights_until(row.rates, fortnight))
    chosen = seasonal if season == "any" else rows
    return answer(
        {
            "total": len(chosen),
            "seasonal": len(seasonal),
            "now": str(day),
            "fortnight": fortnight,
            "year_known": outlook.known,
            "baskets": np.round(outlook.weights, 5).tolist(),
            "rows": [row.to_dict() for row in chosen[offset : offset + limit]],
        }
    )


def fortnights_until(rates: list[float | None], now: int) -> int:
    """How many fortnights it is until something is sold more than usual.

    >>> fortnights_until([3.0] + [0.2] * 25, 20), fortnights_until([0.2] * 20 + [3.0] + [0.2] * 5, 20)
    (6, 0)
    """
    return next((ahead for ahead in range(YEAR) if (rates[(now + ahead) % YEAR] or 0.0) > MORE), YEAR)


def calendar_rows(view: View, outlook: SalesOutlook, of: str) -> list[CalendarRow]:
    """The rows of a view, worked out once."""
    if of == "families":
        return view.cache("calendar of families", lambda: family_calendar(view.catalogue, outlook))
    return view.cache("calendar of rules", lambda: rule_calendar(first_rules(view), outlook))


def first_rules(view: View) -> Rules:
    """The first rules between families."""
    table, search = view.rule_index.table, view.rule_search
    if search is None:
        return table.head(RULES)
    found, kept = search.find(Filter(families="between"), None, None, RULES), len(view.rule_index)
    places = found.places[:RULES]
    pairs = places[places >= kept] - kept
    others = search.pair_index.rules_from(found.left[pairs].astype(np.int64), found.right[pairs].astype(np.int64))
    return join_tables([table.take(places[places < kept]), others]) if kept else others


def text_of(row: CalendarRow) -> str:
    """What a row can be found by."""
    return " ".join(map(str, (row.name or "", *row.products, *(name or "" for name in row.names)))).casefold()


@router.get("/coming-up", response_model=ComingPage)
def coming_up(
    served: Served,
    weeks: Annotated[int, Query(ge=1, le=26, description="Weeks to come.")] = WEEKS,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 20,
) -> Response:
    """What belonged together at this time last year and is about to again, most baskets first."""
    view = served.published.view
    pairs = view.pair_index
    if pairs is None or not view.n_baskets:
        return answer({"known": False, "first": "", "last": "", "returns": 0.5, "rules": []})
    found = view.cache(f"coming up {weeks}", lambda: find_coming_up(pairs.given, weeks, MOST))
    rules = [rule.to_dict() for rule in found.rules[:limit]]
    days = {"known": found.known, "first": found.first, "last": found.last}
    return answer({**days, "returns": found.returns, "rules": rules})
