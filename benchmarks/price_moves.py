"""Are substitutes and complements what prices say they are? A test by prices, which the relations do not see.

When a product is cheaper by a fifth or more for a week, sales of its substitutes should fall and those of its
complements rise. Relations are learned from the first half of The Complete Journey and judged on the second: for every
pair, the share of baskets with the partner in the weeks when the product was cheap, against its share in the weeks when
it was not, those weeks left out in which the partner was cheap itself. Beside it stand the usual recipe (a lift below
0.8 for substitutes, the highest lift for complements) and the cosine alone, each with as many pairs.

    python benchmarks/price_moves.py --pairs 400 --out prices.json

The error is of a bootstrap over the products whose price moved. `clear_share` is of the pairs whose change is beyond
its own error. `power` is how likely a true share of 0.65 (substitutes) or 0.60 (complements) would be told from the 0.5
of a coin, one-sided at 5%, with that error. `labelled` is how many pairs have the relation, of all that are looked at.
`own` is the test's own check: how often a product's own sales rise when it is cheap.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

import omba
from omba.model import OMBA

SPLIT = "2017-07-01"
CHEAP, USUAL = 0.8, 0.95
"""A week is cheap at up to this share of the product's median price, and usual from that on."""
CHEAP_WEEKS, USUAL_WEEKS, SOLD = 2, 6, 25
"""Weeks of each kind that a product must have, and baskets that both must be in over the weeks that judge."""

BARS = {-1: 0.65, 1: 0.60}
"""The share of right signs that substitutes and complements should have."""
CLEAR = 1.645
"""A change beyond so many of its errors is clear: of a change of none, one in ten is."""

Grid = NDArray[np.float64]


def weeks_of(baskets: omba.Baskets, labels: list[Any]) -> tuple[Grid, Grid, Grid]:
    """Baskets with each product and its mean price, a row a week, and all baskets of each week."""
    codes = {label: row for row, label in enumerate(labels)}
    place = np.array([codes.get(label, -1) for label in baskets.product_vocabulary], np.int64)
    week = (baskets.times - baskets.times.min()) // (7 * 86_400_000_000)
    of_item = np.repeat(week, np.diff(baskets.offsets))
    row, price = place[baskets.items], baskets.prices
    shape = (int(week.max()) + 1, len(labels))
    sold, paid, priced = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    known = row >= 0
    np.add.at(sold, (of_item[known], row[known]), 1.0)
    known &= np.isfinite(price) & (price > 0)
    np.add.at(paid, (of_item[known], row[known]), price[known])
    np.add.at(priced, (of_item[known], row[known]), 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sold, paid / priced, np.bincount(week, minlength=shape[0]).astype(np.float64)


class PriceTest:
    """What sales did in the weeks when a product was cheap."""

    def __init__(self, baskets: omba.Baskets, labels: list[Any]) -> None:
        self.sold, price, self.baskets = weeks_of(baskets, labels)
        middle = np.array([np.median(one[np.isfinite(one)]) if np.isfinite(one).any() else np.nan for one in price.T])
        with np.errstate(invalid="ignore"):
            relative = price / middle
        self.cheap, self.usual = relative <= CHEAP, relative >= USUAL
        often = self.sold.sum(axis=0) >= SOLD
        enough = (self.cheap.sum(axis=0) >= CHEAP_WEEKS) & (self.usual.sum(axis=0) >= USUAL_WEEKS)
        self.moved, self.often = enough & often, often

    def change(self, a: NDArray[np.int64], b: NDArray[np.int64], own: bool = False) -> tuple[Grid, Grid]:
        """The share of baskets with b in the weeks when a was cheap, less that of its usual weeks; and its error, were
        counts Poisson."""
        quiet = np.ones(self.cheap.shape[0], bool)[:, None] if own else ~self.cheap[:, b]
        cheap, usual = self.cheap[:, a] & quiet, self.usual[:, a] & quiet
        with np.errstate(invalid="ignore", divide="ignore"):
            counts = [(self.sold[:, b] * weeks).sum(axis=0) for weeks in (cheap, usual)]
            baskets = [(self.baskets[:, None] * weeks).sum(axis=0) for weeks in (cheap, usual)]
            rates = [count / n for count, n in zip(counts, baskets, strict=True)]
            error = np.sqrt(sum(count / n**2 for count, n in zip(counts, baskets, strict=True)))
        known = self.moved[a] & self.often[b] & (cheap.sum(axis=0) >= CHEAP_WEEKS) & (usual.sum(axis=0) >= USUAL_WEEKS)
        return np.where(known, rates[0] - rates[1], np.nan), error


def judge(test: PriceTest, a: NDArray[np.int64], b: NDArray[np.int64], sign: int, most: int) -> dict[str, float]:
    """The share of right signs among the first pairs, best first, that can be judged; pairs are taken both ways."""
    left, right = np.column_stack([a, b]).ravel(), np.column_stack([b, a]).ravel()
    parts = [test.change(left[k : k + 4096], right[k : k + 4096]) for k in range(0, len(left), 4096)]
    change, noise = (np.concatenate(column) for column in zip(*parts, strict=True)) if parts else (np.zeros(0),) * 2
    known = np.flatnonzero(np.isfinite(change) & (change != 0))[:most]
    right_signs = np.sign(change[known]) == sign
    if not len(known):
        return {"pairs": 0, "share": float("nan"), "error": float("nan")}
    products, of = np.unique(left[known], return_inverse=True)
    rng, shares = np.random.default_rng(0), []
    sums, sizes = np.bincount(of, weights=right_signs), np.bincount(of)
    for _ in range(500):
        drawn = rng.integers(0, len(products), len(products))
        shares.append(sums[drawn].sum() / sizes[drawn].sum())
    clear = np.abs(change[known]) > CLEAR * noise[known]
    return {
        "pairs": len(known),
        "share": float(right_signs.mean()),
        "error": float(np.std(shares)),
        "power": float(ndtr((BARS[sign] - 0.5) / np.std(shares) - CLEAR)),
        "clear_pairs": int(clear.sum()),
        "clear_share": float(right_signs[clear].mean()) if clear.any() else float("nan"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--level", default="product_id")
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--products", type=int, default=2_000, help="Best sellers whose pairs are looked at.")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    baskets = omba.datasets.complete_journey(level=asked.level)
    model = OMBA(dim=32, epochs=2, clues=False).fit(baskets.between(None, SPLIT), every="7d")
    test = PriceTest(baskets.between(SPLIT, None), model.products)
    best = np.argsort(-model.product_counts, kind="stable")[: asked.products]
    left, right = np.triu_indices(len(best), 1)
    a, b = best[left], best[right]
    use = (test.moved[a] | test.moved[b]) & test.often[a] & test.often[b]
    a, b = a[use], b[use]
    found = model.assortment.relations().judge(a, b)
    counts, n = model.product_counts.astype(np.float64), model.n_baskets
    chance = counts[a] * counts[b] / n
    lift = found.together / chance
    units = model.product_vectors / (np.linalg.norm(model.product_vectors, axis=1, keepdims=True) + 1e-12)
    cosine = np.einsum("ij,ij->i", units[a], units[b])
    same = found.chances[:, 2] == 0
    ours = found.together / np.maximum(found.expected, 1e-9)
    orders = {
        "substitutes": {
            "relation": np.lexsort((ours, -np.round(found.chances[:, 1], 2)))[: (found.kind == 1).sum()],
            "lift below 0.8": np.argsort(lift)[: ((lift < 0.8) & (chance >= 5)).sum()],
            "cosine": np.argsort(-cosine),
        },
        "complements": {
            "relation": np.lexsort((-ours, -np.round(found.chances[:, 0], 2)))[: (found.kind == 0).sum()],
            "highest lift": np.argsort(-np.where(chance >= 1, lift, 0)),
            "cosine": np.argsort(-cosine),
        },
    }
    everyone = np.random.default_rng(1).permutation(len(a))
    rows = np.flatnonzero(test.moved)
    own, own_noise = test.change(rows, rows, own=True)
    result: dict[str, Any] = {
        "pairs looked at": len(a),
        "variants": int((~same).sum()),
        "products whose price moved": len(rows),
        "own": float((own[np.isfinite(own)] > 0).mean()),
        "own, clear": float((own[np.abs(own) > CLEAR * own_noise] > 0).mean()),
    }
    for kind, sign in (("substitutes", -1), ("complements", 1)):
        result[f"labelled {kind}"] = int((found.kind == (1 if kind == "substitutes" else 0)).sum())
        result[kind] = {name: judge(test, a[o], b[o], sign, asked.pairs) for name, o in orders[kind].items()}
        result[kind]["any pair"] = judge(test, a[everyone], b[everyone], sign, 20_000)
    text = json.dumps(result, indent=1)
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
