"""Table 3a: the nearest products, by OMBA and by Triple2Vec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baselines import Triple2Vec
from omba.baselines.base import unit
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Result, Rows, Table
from omba.rules import Counts, neighbours

TARGETS = {
    "Layer Cakes": "CAKES: LAYERS",
    "Frozen Bread": "FROZEN BREAD",
    "Turkey": "MEAT: TURKEY BULK",
    "Authentic Indian Foods": "AUTHENTIC INDIAN FOODS",
}
"""The paper's names, and those in the public data."""
PAPER = {
    "Layer Cakes": (
        "Cake Candles, Cake Sheets, Cake Decorations, Cake Novelties, Birthday/Celebration Layer",
        "Cheesecake, Fruit/Nut Pies, Cake Candles, Flags, Salad Ingredients",
    ),
    "Frozen Bread": (
        "Sauces, Eggs, Peanut Butter, Non Carbohydrate Juice, Pasta/Ramen",
        "Frozen Breakfast, Breakfast Bars, Popcorn, Gluten Free Bread, Cookies/Sweet Goods",
    ),
    "Turkey": ("Beef, Meat Sauce, Oil/Vinegar, Cheese, Ham", "Ham, Beef, Cheese, Chicken, Lunch Meat"),
    "Authentic Indian Foods": (
        "Grain Mixes, Organic Pepper, Other Asian Foods, Tofu, South American Wines",
        "Other Asian Foods, German Foods, Premium Mums, Herbs & Fresh Others, Bulb Sets",
    ),
}
"""The five nearest by OMBA and by Triple2Vec, as the paper prints them."""
NEAREST = 5
SEEN = 100
"""Products in so many baskets or more are counted, where neighbours are judged over the whole catalogue."""


Judgement = tuple[float, float]
"""The median lift of products with their nearest, and the share of these in the product's own category."""


@dataclass(frozen=True)
class Neighbours:
    """The nearest products of the paper's examples, beside the paper's, and how all products' nearest were judged."""

    examples: Rows
    judged: dict[str, Judgement]


def measure(context: Context) -> Neighbours:
    """The nearest products by OMBA and by Triple2Vec, from the same baskets."""
    baskets = context.baskets()
    labels = list(baskets.product_vocabulary)
    counts = Counts.of(baskets)
    vectors = vectors_by_method(context, labels)
    examples: Rows = []
    for name, label in TARGETS.items():
        ours, triple = (list_nearest(vectors[method], label, labels, counts) for method in vectors)
        examples.append([name, PAPER[name][0], ours, PAPER[name][1], triple])
    categories = category_codes(baskets.attributes, labels)
    return Neighbours(examples, {method: judge(vectors[method], counts, categories) for method in vectors})


def vectors_by_method(context: Context, labels: Sequence[Any]) -> dict[str, NDArray[np.floating[Any]]]:
    """The product vectors of both methods, in the order of these labels."""
    model = context.model()
    places = {label: row for row, label in enumerate(model.products)}
    order = np.array([places.get(label, -1) for label in labels])
    context.progress(0.5, "training Triple2Vec")
    triple = Triple2Vec(seed=context.seed).fit(context.baskets())
    return {
        "OMBA": np.where(order[:, None] >= 0, model.product_vectors[order], 0),
        # Both spaces of a product side by side: the cosine is then the mean of the two.
        "Triple2Vec": np.hstack([unit(triple.left[:-1]), unit(triple.right[:-1])]),
    }


def tell(found: Neighbours, context: Context) -> Result:
    (lift, same), (other_lift, other_same) = found.judged["OMBA"], found.judged["Triple2Vec"]
    better = (lift > other_lift) + (same < other_same)
    return Result(
        claims=[
            Claim(
                "OMBA's nearest complement a product, Triple2Vec's are like it",
                "four examples",
                f"median lift of the five nearest {lift:.1f} against {other_lift:.1f}; in the product's own category "
                f"{same:.0%} against {other_same:.0%}",
                ("no", "partly", "yes")[better],
            ),
        ],
        tables=[
            Table(
                "The five nearest products",
                ("target", "OMBA, paper", "OMBA, here", "Triple2Vec, paper", "Triple2Vec, here"),
                found.examples,
                words=5,
            ),
            Table(
                f"Over all products in {SEEN} baskets or more",
                ("method", "median lift of the nearest", "in the same category"),
                [[method, figures[0], f"{figures[1]:.0%}"] for method, figures in found.judged.items()],
                digits=1,
            ),
        ],
        differs=(
            "Names are those of the public data, where the paper's 'Turkey' is taken to be the bulk turkey of the "
            "deli; four examples prove little, so all products' neighbours are judged by how often they are bought "
            "together and whether they share a category."
        ),
        settings=f"{context.setting}; all baskets read; OMBA with its defaults, Triple2Vec's two spaces side by side",
    )


def list_nearest(vectors: NDArray[np.floating[Any]], label: str, labels: Sequence[Any], counts: Counts) -> str:
    """The five nearest of a product, in words."""
    if label not in labels or counts.counts[labels.index(label)] == 0:
        return "not sold in this time"
    near, _ = neighbours(vectors, [labels.index(label)], NEAREST, counts.counts, min_count=20)
    return ", ".join(str(labels[row]) for row in near[0])


def category_codes(attributes: Any, labels: Sequence[Any]) -> NDArray[np.int64]:
    """A number for the category of each product, −1 where it is not known."""
    known = dict(zip(attributes["product"].to_pylist(), attributes["product_category"].to_pylist(), strict=True))
    names = {name: code for code, name in enumerate(dict.fromkeys(known.values())) if name is not None}
    return np.array([names.get(known.get(label), -1) for label in labels], np.int64)


def judge(vectors: NDArray[np.floating[Any]], counts: Counts, categories: NDArray[np.int64]) -> Judgement:
    """The median lift of products with their nearest, and the share of these in the product's own category."""
    rows = np.flatnonzero(counts.counts >= min(SEEN, int(counts.counts.max())))
    near, _ = neighbours(vectors, rows, NEAREST, counts.counts, min_count=20)
    left, right = np.repeat(rows, near.shape[1]), near.ravel()
    lift = counts.pairs(left, right) * counts.n_baskets / (counts.counts[left] * counts.counts[right])
    return float(np.median(lift)), float((categories[left] == categories[right]).mean())


EXPERIMENT = Experiment("table3a", "The nearest products", "Table 3a", measure, tell, minutes=3)
