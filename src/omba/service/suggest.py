"""Suggest: what goes with a basket and its customer, and which of them speaks for each suggestion.

A score is a weighted sum of clues (`model.blend`). What a product j of the basket adds to it is its part of the cosine
to the mean of the basket and of the closeness to the nearest product; what the customer adds is the cosine to the
customer's vector, and habit. A reason's share is its part of all that speaks for the suggestion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.model.blend import CLUES, SHARPNESS
from omba.model.memory import PRIOR
from omba.service.view import View

Floats = NDArray[np.floating]
CUSTOMER = "customer"
REASONS = 3
"""Reasons told of a suggestion, the weightiest first."""


@dataclass(frozen=True)
class Suggestion:
    """A product, its score, and what each product of the basket and the customer (last) add to it."""

    row: int
    score: float
    parts: NDArray[np.float64]


def suggest(view: View, context: list[int], user: Label | None, n: int) -> list[Suggestion]:
    """The n products that go best with a basket (rows) and a customer."""
    if not len(view.shelf):
        return []
    scores = scores_of(view, context, user)
    scores = np.where(view.trained, scores, -np.inf)
    scores[context] = -np.inf
    n = min(n, int(np.isfinite(scores).sum()))
    best = np.argpartition(-scores, n - 1)[:n] if n > 0 else np.empty(0, np.int64)
    best = best[np.argsort(-scores[best], kind="stable")]
    parts = parts_of(view, context, user, best)
    return [Suggestion(row, float(scores[row]), part) for row, part in zip(best.tolist(), parts, strict=True)]


def scores_of(view: View, context: list[int], user: Label | None) -> NDArray[np.float32]:
    if view.model is None:
        return np.asarray(view.units @ middle(view.units[context]))
    labels = view.shelf.labels
    return view.model.score([labels[row] for row in context], user)


def middle(units: Floats) -> Any:
    """The direction of the mean of vectors; nothing where there are none."""
    total = units.sum(axis=0)
    return total / max(float(np.linalg.norm(total)), 1e-12)


def parts_of(view: View, context: list[int], user: Label | None, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each product of the basket and the customer add to the score of each row, (rows, basket + 1)."""
    parts = np.zeros((len(rows), len(context) + 1))
    model = view.model
    if model is None:
        parts[:, :-1] = view.units[rows] @ view.units[context].T / max(len(context), 1)
        return parts
    owner = -1 if user is None else model.user_rows.vocabulary.codes.get(user, -1)
    features = model._describe(
        np.array([0, len(context)]), np.array(context, np.int32), np.array([owner], np.int32),
        rows.astype(np.int32)[None, :],
    )[0]  # fmt: skip
    inside = np.array(context, np.int64)
    for level, space in enumerate(model.spaces):
        part = slice(level * len(CLUES), (level + 1) * len(CLUES))
        weights, clues = model.blend.weights[part], features[:, part]
        if level:
            parents = model.hierarchy.parents
            known = parents[inside] >= 0
            parts[:, :-1][:, known] += of_basket(space.products.vectors, parents[rows], parents[inside[known]], weights)
        else:
            parts[:, :-1] += of_basket(space.products.vectors, rows, inside, weights)
        if owner >= 0:
            # Habit is told against a product that the customer has not bought lately.
            strange = np.log(PRIOR / (space.memory.mass[owner] + PRIOR))
            parts[:, -1] += clues[:, 1] * weights[1] + (clues[:, 3] - strange) * weights[3]
    return parts


def of_basket(
    vectors: NDArray[np.float32], rows: NDArray[np.integer], context: NDArray[np.integer], weights: Floats
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
    # Rows without a category (−1) are nobody's neighbours.
    return np.where(rows[:, None] >= 0, weights[0] * along + weights[2] * nearest, 0.0)


def reasons(parts: NDArray[np.float64], labels: list[Label]) -> list[dict[str, Any]]:
    """The weightiest parts that speak for a suggestion, as shares of all that does."""
    good = np.maximum(parts, 0.0)
    total = float(good.sum())
    if total <= 0:
        return []
    names = [*labels, CUSTOMER]
    order = np.argsort(-good, kind="stable")[:REASONS].tolist()
    return [{"because": names[i], "share": round(float(good[i] / total), 3)} for i in order if good[i] > 0]
