"""Recommend: what a model answers when asked what else goes into a basket, or what a customer will buy next.

Every product of the catalogue is looked at, and every suggestion carries the chance that it is bought. Where nothing is
known of the basket and the customer, the best sellers are all there is to say, with the share of baskets they are in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Clock, Label
from omba.errors import InputError
from omba.model.blend import Blend
from omba.model.calibration import log_total
from omba.model.clues import COMPLETE, NEXT
from omba.model.memory import VISITS
from omba.model.questions import DRAWN, Rows, chances_of_draws, expected_size, memory_of, stand_ins

if TYPE_CHECKING:
    from omba.model.answers import Answers, CodedQueries

Kind = Literal["all", "rebuy", "discover"]
KINDS = ("all", "rebuy", "discover")
AT_ONCE = 4_000_000
"""Scores that are worked out at once where many queries are asked of all products."""
DUE = 0.75
"""A product is due once so much of the usual time between two purchases has passed."""


@dataclass(frozen=True)
class Suggestion:
    """A product that may be bought.

    Parameters
    ----------
    row
        The row of the product.
    chance
        The chance that it is bought: on this visit, or on the next.
    utility
        What the clues add up to; the order is by this.
    """

    row: int
    chance: float
    utility: float


@dataclass(frozen=True)
class Remembered:
    """A product that a customer has bought.

    Parameters
    ----------
    product
        Its label.
    count
        At how many visits, since it is remembered.
    last
        When last: a date, or a number where the baskets have days or no time.
    every
        Days from one purchase to the next, on average; None where all were on one day.
    due
        Whether so much of that time has passed that it may be bought again.
    """

    product: Label
    count: int
    last: str | int
    every: float | None
    due: bool


@dataclass(frozen=True)
class Customer:
    """What is known of a customer.

    Parameters
    ----------
    visits
        Baskets of theirs so far.
    last
        When the last was; None where nothing is remembered.
    expected_size
        How many products the next is expected to hold.
    products
        What they remember, the strongest habit first.
    """

    visits: int
    last: str | int | None
    expected_size: float
    products: list[Remembered]


def suggest(
    model: Answers, context: Rows, user: int, n: int, kind: Kind = "all", rows: Rows | None = None
) -> list[Suggestion]:
    """The n products likeliest to be bought, given the rows of a basket and of its customer (−1 for none).

    `rows` are those to look at; without, all that were ever bought.
    """
    if kind not in KINDS:
        raise InputError(f"kind is {kind!r}: it takes {', '.join(map(repr, KINDS))}")
    own = memory_of(model, user)
    if rows is None:
        rows = catalogue_rows(model)
    rows = rows[~np.isin(rows, context)]
    if len(rows) == 0:
        return []
    utility, chance = judge(model, context, user, rows)
    wanted = np.full(len(rows), True) if kind == "all" else np.isin(rows, own, invert=kind == "discover")
    order = np.argsort(-utility[wanted], kind="stable")[:n]
    found = zip(rows[wanted][order].tolist(), chance[wanted][order].tolist(), utility[wanted][order].tolist(),
                strict=True)  # fmt: skip
    return [Suggestion(*one) for one in found]


def catalogue_rows(model: Answers) -> Rows:
    """The products worth suggesting: all that were bought. Where popularity does not count, those met once are left
    out, whose vectors are still noise."""
    return np.flatnonzero(model.product_counts > (0 if model.clues else 1)).astype(np.int32)


def judge(model: Answers, context: Rows, user: int, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The utility of rows that are not in the basket, and the chance that each is bought."""
    if not len(context) and (user < 0 or not model.spaces[0].memory.totals[user, VISITS]) and model.clues:
        share = model.product_counts[rows] / max(model.n_baskets, 1)
        return share, share
    name = COMPLETE.name if len(context) else NEXT.name
    features = model.describe(np.array([0, len(context)]), context, np.array([user], np.int32), rows[None, :])[0]
    utility = blend_of(model, name).score(features).astype(np.float64)
    if not model.clues:
        return utility, utility
    total = whole(model, name, context, user, rows, utility)
    return utility, model.questions.chances(model, name, features, total, user, len(context))


def whole(model: Answers, name: str, context: Rows, user: int, rows: Rows, utility: NDArray[np.float64]) -> float:
    """log Σ exp(u) over all products that are not in the basket; where some rows alone were looked at, a few others
    stand for the rest."""
    counts = model.product_counts
    seen = np.full(len(counts), False)
    seen[rows] = seen[context] = True
    if np.count_nonzero(counts) <= np.count_nonzero(seen):
        return float(log_total(utility))
    others = stand_ins(counts)
    others = others[~seen[others]]
    users, offsets = np.array([user], np.int32), np.array([0, len(context)])
    rest = utilities(model, name, offsets, context, users, others[None, :])[0]
    return float(log_total(np.append(utility, rest - np.log(DRAWN * chances_of_draws(counts)[others]))))


def utilities(
    model: Answers, name: str, offsets: NDArray[np.int64], context: Rows, users: Rows, candidates: Rows
) -> NDArray[np.float64]:
    """What the clues of a question add up to."""
    return blend_of(model, name).score(model.describe(offsets, context, users, candidates)).astype(np.float64)


def blend_of(model: Answers, name: str) -> Blend:
    """The weights of a question; where none are fitted, the sum of two cosines answers all of them."""
    return model.questions.blends[name] if model.clues else model.blend


def customer(model: Answers, user: int) -> Customer:
    """What is known of the customer in a row."""
    memory = model.spaces[0].memory
    own = memory_of(model, user)
    visits, size = int(model.spaces[0].user_counts[user]), expected_size(model, user)
    if not len(own):
        return Customer(visits, None, size, [])
    places = slice(0, len(own))
    count, first, last = (x[user, places].tolist() for x in (memory.counts, memory.first_day, memory.last_day))
    today, products = model.spaces[0].today, []
    for place in np.argsort(-memory.strength[user, places], kind="stable").tolist():
        times = count[place]
        # Two baskets of one day are no rhythm.
        every = (last[place] - first[place]) / (times - 1) if last[place] > first[place] else None
        due = every is not None and today + 1 - last[place] >= DUE * every
        label = model.product_rows.vocabulary[int(own[place])]
        products.append(Remembered(label, times, show_day(model, last[place]), every, due))
    return Customer(visits, show_day(model, max(last)), size, products)


def show_day(model: Answers, day: int) -> str | int:
    """A day as a person would write it; a number where the baskets have days, or no time at all."""
    if model.clock is not Clock.DATETIME:
        return day
    shown = model.clock.show(day * 86_400_000_000)
    assert isinstance(shown, datetime)
    return shown.date().isoformat()


def score_catalogue(model: Answers, name: str, queries: CodedQueries) -> NDArray[np.float32]:
    """The utility of every product for each query, in the order of the queries' vocabulary.

    A product that the model does not know comes last. The question *next* leaves the baskets out.
    """
    context = model.product_rows.find(queries.items, queries.product_vocabulary)
    users = model.user_rows.find(queries.user_codes, queries.user_vocabulary)
    offsets = np.asarray(queries.offsets)
    if name == NEXT.name:
        context, offsets = context[:0], np.zeros_like(offsets)
    every = np.arange(len(model.product_counts), dtype=np.int32)
    scores = np.empty((len(users), len(every)), np.float32)
    for part in parts(len(users), len(every)):
        mine = context[offsets[part.start] : offsets[part.stop]]
        starts = offsets[part.start : part.stop + 1] - offsets[part.start]
        scores[part] = utilities(model, name, starts, mine, users[part], np.tile(every, (part.stop - part.start, 1)))
    rows = model.product_rows.find(
        np.arange(len(queries.product_vocabulary), dtype=np.int32), queries.product_vocabulary
    )
    last = scores.min(axis=1, initial=0.0, keepdims=True) - 1
    return np.concatenate([scores, last], axis=1)[:, rows]


def parts(queries: int, products: int) -> Iterator[slice]:
    """Slices of so many queries, few enough at a time."""
    step = max(1, AT_ONCE // max(40 * products, 1))
    for first in range(0, queries, step):
        yield slice(first, min(first + step, queries))


def as_record(known: Customer) -> dict[str, Any]:
    """A customer as plain values, for JSON."""
    return {**vars(known), "products": [vars(one) for one in known.products]}
