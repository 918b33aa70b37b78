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


@dataclass(frozen=True)
class StandIns:
    """A few products that stand for all others, where some alone are looked at; the same for as long as nothing is
    learned.

    Parameters
    ----------
    rows
        Their rows.
    log_weights
        The log of how many products each stands for.
    sold
        How many products were ever bought.
    """

    rows: Rows
    log_weights: NDArray[np.float64]
    sold: int

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> StandIns:
        if not len(counts):
            return cls(np.empty(0, np.int32), np.empty(0), 0)
        rows = stand_ins(counts)
        return cls(rows, -np.log(DRAWN * chances_of_draws(counts)[rows]), int(np.count_nonzero(counts)))


@dataclass(frozen=True)
class Judged:
    """What speaks for some products.

    Parameters
    ----------
    utility
        What the clues of each add up to.
    chance
        The chance that each is bought.
    features
        The clues of each; None where nothing is known of the basket and the customer.
    """

    utility: NDArray[np.float64]
    chance: NDArray[np.float64]
    features: NDArray[np.float32] | None


def suggest(
    model: Answers, context: Rows, user: int, n: int, kind: Kind = "all", rows: Rows | None = None
) -> list[Suggestion]:
    """The n products likeliest to be bought, given the rows of a basket and of its customer (−1 for none).

    `rows` are those to look at; without, all that were ever bought.
    """
    return suggest_with_clues(model, context, user, n, kind, rows)[0]


def suggest_with_clues(
    model: Answers,
    context: Rows,
    user: int,
    n: int,
    kind: Kind = "all",
    rows: Rows | None = None,
    others: StandIns | None = None,
) -> tuple[list[Suggestion], NDArray[np.float32] | None]:
    """The same with the clues of each, where there are some; `others` are the stand-ins, where they are at hand."""
    if kind not in KINDS:
        raise InputError(f"kind is {kind!r}: it takes {', '.join(map(repr, KINDS))}")
    own = memory_of(model, user)
    if rows is None:
        rows = catalogue_rows(model)
    rows = rows[~np.isin(rows, context)]
    if len(rows) == 0:
        return [], None
    judged = judge(model, context, user, rows, others)
    utility, chance = judged.utility, judged.chance
    wanted = np.arange(len(rows)) if kind == "all" else np.flatnonzero(np.isin(rows, own, invert=kind == "discover"))
    best = wanted[np.argsort(-utility[wanted], kind="stable")[:n]]
    found = zip(rows[best].tolist(), chance[best].tolist(), utility[best].tolist(), strict=True)
    return [Suggestion(*one) for one in found], None if judged.features is None else judged.features[best]


def catalogue_rows(model: Answers) -> Rows:
    """The products worth suggesting: all that were bought. Where popularity does not count, those met once are left
    out, whose vectors are still noise."""
    return np.flatnonzero(model.product_counts > (0 if model.clues else 1)).astype(np.int32)


def judge(model: Answers, context: Rows, user: int, rows: Rows, others: StandIns | None = None) -> Judged:
    """What speaks for rows that are not in the basket."""
    if not len(context) and (user < 0 or not model.spaces[0].memory.totals[user, VISITS]) and model.clues:
        share = model.product_counts[rows] / max(model.n_baskets, 1)
        return Judged(share, share, None)
    name = COMPLETE.name if len(context) else NEXT.name
    few, log_weights = rest(model, context, rows, others) if model.clues else (rows[:0], np.zeros(0))
    both, offsets = np.concatenate([rows, few])[None, :], np.array([0, len(context)])
    features = model.describe(offsets, context, np.array([user], np.int32), both)[0]
    every = blend_of(model, name).score(features).astype(np.float64)
    features, utility = features[: len(rows)], every[: len(rows)]
    if not model.clues:
        return Judged(utility, utility, features)
    every[len(rows) :] += log_weights
    chance = model.questions.chances(model, utility, name, features, float(log_total(every)), user, len(context))
    return Judged(utility, chance, features)


def rest(model: Answers, context: Rows, rows: Rows, others: StandIns | None) -> tuple[Rows, NDArray[np.float64]]:
    """The products that stand for all that are neither in the basket nor among some rows, and the log of how many each
    stands for: log Σ exp(u) is over all."""
    counts = model.product_counts
    others = others or StandIns.of(counts)
    seen = np.full(len(counts), False)
    seen[rows] = seen[context] = True
    if others.sold <= np.count_nonzero(seen):
        return others.rows[:0], others.log_weights[:0]
    there = ~seen[others.rows]
    return others.rows[there], others.log_weights[there]


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
