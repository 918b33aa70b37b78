"""Suggest: what goes with a basket and its customer, and which of them speaks for each suggestion.

A score is a weighted sum of clues (`model.clues`), and what they say together. What a product j of the basket adds to
the sum is its part of the cosine to the mean of the basket and of the closeness to the nearest product, and the highest
lift where it is its own; what the customer adds is the cosine to the customer's vector, and their habits. A reason's
share is its part of all that speaks for the suggestion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.model import recommend
from omba.model.blend import Blend
from omba.model.clues import COMPLETE, LIFT, LIFT_PRIOR, NEXT, SHARPNESS, field, name_columns
from omba.model.memory import BOUGHT, PRIOR
from omba.model.questions import memory_of
from omba.model.recommend import Kind, StandIns
from omba.model.space import QueryRows, Space
from omba.service.views.quantised_index import best
from omba.service.views.view import View

Floats = NDArray[np.floating]
Rows = NDArray[np.int32]
CUSTOMER = "customer"
OWN = ("user", "habit", "slow", "bought", "visit_share", "since_visits", "since_days", "once", "visits", "repeats",
       "rhythm", "between")  # fmt: skip
"""The clues that a customer adds."""
SMALL, FEW = 1_000, 500
"""Products scored exactly: all of a small shop, of a large one so many of the quantised index, beside what is always
looked at. The first ten were those of all products for each of 150 baskets of a wholesaler and 80 of a synthetic shop
of 70,000 products; with 300, for 149 of the wholesaler's."""
REASONS = 3
"""Reasons given for a suggestion, the weightiest first."""


BEST_SELLERS, PARTNERS = 100, 100
"""Best sellers, and products of the highest lift with each product of the basket, that a shortlist always holds."""


@dataclass(frozen=True)
class ExplainedSuggestion:
    """A product, and why it is suggested.

    Parameters
    ----------
    row
        The row of the product.
    score
        How well it goes with the basket and the customer.
    chance
        The chance that it is bought; None of the past, and of a model whose clues are not fitted.
    parts
        What each product of the basket, and last the customer, add to the score.
    """

    row: int
    score: float
    chance: float | None
    parts: NDArray[np.float64]


def suggest(
    view: View, context: list[int], user: Label | None, n: int, kind: Kind = "all"
) -> list[ExplainedSuggestion]:
    """The n products likeliest to be bought, given a basket (rows) and a customer: a shortlist, looked at exactly."""
    inside, user_row = np.array(context, np.int32), row_of_user(view, user)
    if view.model is None:
        return suggest_of_past(view, inside, n)
    model, rows = view.model, shortlist(view, inside, user_row, n)
    others = view.cache("stand-ins", lambda: StandIns.of(model.product_counts))
    found, features = recommend.suggest_with_clues(model, inside, user_row, n, kind, rows, others)
    chosen = np.array([one.row for one in found], np.int32)
    if features is None:
        features = exact_features(view, inside, user_row, chosen)
    parts = parts_of(view, inside, user_row, chosen, features)
    return [
        ExplainedSuggestion(one.row, one.utility, one.chance if model.clues else None, part)
        for one, part in zip(found, parts, strict=True)
    ]


def suggest_of_past(view: View, context: Rows, n: int) -> list[ExplainedSuggestion]:
    """A past state has no model: there the cosine to the basket's mean is all."""
    index = view.quantised_index.rows
    rows = index[~np.isin(index, context)].astype(np.int32)
    cosines = np.asarray(view.units(rows) @ middle(view.units(context)))
    order = np.argsort(-cosines, kind="stable")[:n]
    parts = parts_of(view, context, -1, rows[order], cosines[order][:, None])
    found = zip(rows[order].tolist(), cosines[order].tolist(), parts, strict=True)
    return [ExplainedSuggestion(row, score, None, part) for row, score, part in found]


def shortlist(view: View, context: Rows, user: int, n: int) -> Rows:
    """The rows worth an exact look: all of a small shop; of a large one those that a first look finds, what the
    customer remembers, what was bought with the basket, and the best sellers."""
    assert view.model is not None
    counts, few = view.product_index.counts, max(FEW, 2 * n) + len(context)
    if len(counts) <= max(SMALL, few):
        return recommend.catalogue_rows(view.model)
    looked_at = view.quantised_index.rows
    if len(looked_at) > few:
        looked_at = looked_at[best(rough_scores(view, context, user), few)]
    often = view.cache("best sellers", lambda: np.argsort(-counts, kind="stable")[: max(BEST_SELLERS, 2 * n)])
    partners = [strong_partners(view, row) for row in context.tolist()]
    return np.unique(np.concatenate([looked_at, often, memory_of(view.model, user), *partners])).astype(np.int32)


def strong_partners(view: View, row: int) -> Rows:
    """The products of the highest lift with one, shrunk as the clue is."""
    assert view.pair_index is not None
    partners, together = view.pair_index.partners(row)
    counts = view.product_index.counts
    expected = counts[partners] * counts[row] / max(view.n_baskets, 1)
    return partners[best((together + LIFT_PRIOR) / (expected + LIFT_PRIOR), PARTNERS)].astype(np.int32)


def row_of_user(view: View, user: Label | None) -> int:
    """The row of a customer, −1 for none; a past state knows no customers."""
    return -1 if user is None or view.model is None else view.model.user_rows.vocabulary.codes.get(user, -1)


def exact_features(view: View, context: Rows, user: int, rows: Rows) -> NDArray[np.float32]:
    """The clues of some rows, as the model gives them."""
    assert view.model is not None
    offsets, users = np.array([0, len(context)], np.int64), np.array([user], np.int32)
    return np.asarray(view.model.describe(offsets, context, users, rows[None, :])[0])


def blend_of(view: View, context: Rows) -> Blend:
    """The weights that answer for a basket: those of the question that is asked."""
    assert view.model is not None
    return recommend.blend_of(view.model, COMPLETE.name if len(context) else NEXT.name)


def rough_scores(view: View, context: Rows, user: int) -> NDArray[np.float32]:
    """The approximate scores of all products in the quantised index, to choose those worth an exact score.

    The cosines to the basket's mean, to the customer and, on average, to each product of the basket are all a product
    of one vector with the candidate's, so one pass over all candidates is enough; the closeness to the nearest product
    is taken for that average, which it is for small cosines. Clues of categories are exact. What a customer remembers
    and what was bought with the basket are looked at exactly anyway.
    """
    model = view.model
    assert model is not None
    blend = blend_of(view, context)
    space, weights = model.spaces[0], blend.weights_at(0)
    pull = weights["context"] * middle(space.products.vectors[context])
    if len(context):
        pull = pull + weights["nearest"] * view.units(context).mean(axis=0)
    if user >= 0:
        pull = pull + weights["user"] * middle(space.users.vectors[[user]])
    rows = view.quantised_index.rows
    score = view.quantised_index.cosines(pull) * np.float32(np.linalg.norm(pull))
    score = score + weights["popularity"] * view.log_share
    if len(model.spaces) > 1:
        # A category a line, and one for products that have none.
        groups = np.arange(-1, len(model.hierarchy.vocabulary), dtype=np.int32)
        parents = model.hierarchy.parents
        offsets, users = np.array([0, len(context)], np.int64), np.array([user], np.int32)
        features = model.spaces[1].describe(QueryRows(offsets, parents[context], users, groups[None, :]))[0]
        score += blend.score(features, level=1)[parents[rows] + 1]
    return np.asarray(score, np.float32)


def of_customer(space: Space, user: int, clues: NDArray[Any], level: int, weights: dict[str, float]) -> Floats:
    """What a customer's vector and habits add, against a product that they do not remember."""
    memory = space.memory
    bought = float(memory.totals[user, BOUGHT])
    unknown = {"habit": np.log(PRIOR / (memory.mass[user] + PRIOR)), "slow": np.log(PRIOR / (bought + PRIOR))}
    total = np.zeros(len(clues))
    for name in OWN:
        total += weights[name] * (clues[field(name, level)].astype(float) - unknown.get(name, 0.0))
    return total


def middle(units: Floats) -> Any:
    """The direction of the mean of vectors; nothing where there are none."""
    total = units.sum(axis=0)
    return total / max(float(np.linalg.norm(total)), 1e-12)


def parts_of(view: View, context: Rows, user: int, rows: Rows, features: NDArray[np.float32]) -> NDArray[np.float64]:
    """What each product of the basket and the customer add to the score of each row, (rows, basket + 1)."""
    parts = np.zeros((len(rows), len(context) + 1))
    model = view.model
    if model is None:
        parts[:, :-1] = view.units(rows) @ view.units(context).T / max(len(context), 1)
        return parts
    clues = name_columns(features)
    blend = blend_of(view, context)
    for level, space in enumerate(model.spaces):
        weights, mine, theirs = blend.weights_at(level), rows, context
        if level:
            mine, theirs = model.hierarchy.parents[rows], model.hierarchy.parents[context]
        known = theirs >= 0
        parts[:, :-1][:, known] += of_basket(space.products.vectors, mine, theirs[known], weights)
        if user >= 0:
            parts[:, -1] += of_customer(space, user, clues, level, weights)
    if len(context) and len(rows):
        together = model.evidence.pairs(np.repeat(rows, len(context)), np.tile(context, len(rows)))
        counts = model.product_counts
        expected = counts[rows][:, None] * (counts[context] / max(model.n_baskets, 1))
        lifts = (together.reshape(expected.shape) + LIFT_PRIOR) / (expected + LIFT_PRIOR)
        parts[np.arange(len(rows)), lifts.argmax(axis=1)] += blend.weight_of(LIFT.name) * np.log(lifts.max(axis=1))
    return parts


def of_basket(
    vectors: NDArray[np.float32], rows: Rows, context: Rows, weights: dict[str, float]
) -> NDArray[np.float64]:
    """Each basket product's part of the clues `context` and `nearest`."""
    if not len(context):
        return np.zeros((len(rows), 0))
    theirs, mine = vectors[context].astype(np.float64), vectors[rows].astype(np.float64)
    lengths, length = np.linalg.norm(theirs, axis=1), np.linalg.norm(mine, axis=1)[:, None]
    dots = mine @ theirs.T
    along = dots / np.maximum(length * np.linalg.norm(theirs.sum(axis=0)), 1e-12)
    cosine = dots / np.maximum(length * lengths, 1e-12)
    pull = np.exp(SHARPNESS * cosine)
    nearest = np.log(pull.mean(axis=1, keepdims=True)) / SHARPNESS * (pull / pull.sum(axis=1, keepdims=True))
    # Rows without a category (−1) have no neighbours.
    return np.where(rows[:, None] >= 0, weights["context"] * along + weights["nearest"] * nearest, 0.0)


def reasons(parts: NDArray[np.float64], labels: list[Label]) -> list[dict[str, Any]]:
    """The weightiest parts that speak for a suggestion, as shares of all that does."""
    good = np.maximum(parts, 0.0)
    total = float(good.sum())
    if total <= 0:
        return []
    names = [*labels, CUSTOMER]
    order = np.argsort(-good, kind="stable")[:REASONS].tolist()
    return [{"because": names[i], "share": round(float(good[i] / total), 3)} for i in order if good[i] > 0]
