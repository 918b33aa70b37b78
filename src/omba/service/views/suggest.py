"""Suggest: what goes with a basket and its customer, and which of them speaks for each suggestion.

A score is a weighted sum of clues (`model.clues`). What a product j of the basket adds to it is its part of the cosine
to the mean of the basket and of the closeness to the nearest product; what the customer adds is the cosine to the
customer's vector, and habit. A reason's share is its part of all that speaks for the suggestion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.model.clues import SHARPNESS, field, name_columns
from omba.model.memory import PRIOR
from omba.model.space import Space
from omba.service.views.quantised_index import best
from omba.service.views.view import View

Floats = NDArray[np.floating]
Rows = NDArray[np.int32]
CUSTOMER = "customer"
FEW = 1_000
"""Products scored exactly: all of a small shop, of a large one the shortlist of the quantised index."""
REASONS = 3
"""Reasons given for a suggestion, the weightiest first."""


@dataclass(frozen=True)
class Suggestion:
    """A product, and why it is suggested.

    Parameters
    ----------
    row
        The row of the product.
    score
        How well it goes with the basket and the customer.
    parts
        What each product of the basket, and last the customer, add to the score.
    """

    row: int
    score: float
    parts: NDArray[np.float64]


def suggest(view: View, context: list[int], user: Label | None, n: int) -> list[Suggestion]:
    """The n products that go best with a basket (rows) and a customer: a shortlist first, then scored exactly."""
    if not len(view.quantised_index.rows):
        return []
    inside, user_row = np.array(context, np.int32), row_of_user(view, user)
    looked_at, few = view.quantised_index.rows, max(FEW, 2 * n) + len(inside)
    if len(looked_at) > few:
        looked_at = looked_at[np.sort(best(rough_scores(view, inside, user_row), few))]
    rows = looked_at[~np.isin(looked_at, inside)].astype(np.int32)
    features, scores = exact_scores(view, inside, user_row, rows)
    order = np.argsort(-scores, kind="stable")[:n]
    parts = parts_of(view, inside, user_row, rows[order], features[order])
    found = zip(rows[order].tolist(), scores[order].tolist(), parts, strict=True)
    return [Suggestion(row, score, part) for row, score, part in found]


def row_of_user(view: View, user: Label | None) -> int:
    """The row of a customer, −1 for none; a past state knows no customers."""
    return -1 if user is None or view.model is None else view.model.user_rows.vocabulary.codes.get(user, -1)


def exact_scores(view: View, context: Rows, user: int, rows: Rows) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The features and the scores of some rows, as the model gives them.

    A past state has no model: there the cosine to the basket's mean is all.
    """
    model = view.model
    if model is None:
        cosines = np.asarray(view.units(rows) @ middle(view.units(context)))
        return cosines[:, None], cosines
    offsets, users = np.array([0, len(context)], np.int64), np.array([user], np.int32)
    features = np.asarray(model.describe(offsets, context, users, rows[None, :])[0])
    return features, model.blend.score(features)


def rough_scores(view: View, context: Rows, user: int) -> NDArray[np.float32]:
    """The approximate scores of all products in the quantised index, to choose those worth an exact score.

    The cosines to the basket's mean, to the customer and, on average, to each product of the basket are all a product
    of one vector with the candidate's, so one pass over all candidates is enough; the closeness to the nearest product
    is taken for that average, which it is for small cosines. Clues of categories are exact.
    """
    model = view.model
    if model is None:
        return view.quantised_index.cosines(middle(view.units(context)))
    space, weights = model.spaces[0], model.blend.weights_at(0)
    pull = weights["context"] * middle(space.products.vectors[context])
    if len(context):
        pull = pull + weights["nearest"] * view.units(context).mean(axis=0)
    if user >= 0:
        pull = pull + weights["user"] * middle(space.users.vectors[[user]])
    rows = view.quantised_index.rows
    score = view.quantised_index.cosines(pull) * np.float32(np.linalg.norm(pull))
    score = score + weights["popularity"] * view.log_share
    if user >= 0:
        bought, strength = space.memory.rows[user], space.memory.strength[user]
        at = np.searchsorted(rows, bought[bought >= 0])
        here = (at < len(rows)) & (rows[np.minimum(at, len(rows) - 1)] == bought[bought >= 0])
        known = strength[bought >= 0][here] / np.exp(view.log_share[at[here]])
        score[at[here]] += weights["habit"] * np.log(known / PRIOR + 1.0)
    if len(model.spaces) > 1:
        # A category a line, and one for products that have none.
        groups = np.arange(-1, len(model.hierarchy.vocabulary), dtype=np.int32)
        parents = model.hierarchy.parents
        offsets, users = np.array([0, len(context)], np.int64), np.array([user], np.int32)
        features = model.spaces[1].describe(offsets, parents[context], users, groups[None, :])[0]
        score += model.blend.score(features, level=1)[parents[rows] + 1]
    return np.asarray(score, np.float32)


def habit(space: Space, user: int, clue: Floats) -> Floats:
    """Habit against a product that the customer has not bought lately."""
    return np.asarray(clue - np.log(PRIOR / (space.memory.mass[user] + PRIOR)), np.float32)


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
    for level, space in enumerate(model.spaces):
        weights, mine, theirs = model.blend.weights_at(level), rows, context
        if level:
            mine, theirs = model.hierarchy.parents[rows], model.hierarchy.parents[context]
        known = theirs >= 0
        parts[:, :-1][:, known] += of_basket(space.products.vectors, mine, theirs[known], weights)
        if user >= 0:
            taste, bought = clues[field("user", level)], habit(space, user, clues[field("habit", level)])
            parts[:, -1] += weights["user"] * taste.astype(float) + weights["habit"] * bought.astype(float)
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
