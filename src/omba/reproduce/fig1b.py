"""Figure 1b: most products are in very few baskets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Picture, Result, Rows, Table
from omba.reproduce.scale import PRODUCTS
from omba.reproduce.style import BLUE, RED, picture

MOST = 100
"""Appearances up to which the paper draws."""


def products_by_appearances(baskets: Baskets, most: int = MOST) -> NDArray[np.int64]:
    """How many products are in exactly k baskets, for k from 0 to `most`; a product never sold does not count."""
    appearances = np.bincount(baskets.items)
    return np.bincount(appearances[(appearances > 0) & (appearances <= most)], minlength=most + 1)


@dataclass(frozen=True)
class Appearances:
    """By level of the catalogue: products by the baskets they are in, and the share that is in 10 or fewer."""

    counts: dict[str, NDArray[np.int64]]
    few: dict[str, float]
    baskets: int


def measure(context: Context) -> Appearances:
    """Products and product types of the whole year."""
    levels = {"product": context.whole(PRODUCTS), "product type": context.whole()}
    counts = {name: products_by_appearances(baskets) for name, baskets in levels.items()}
    few = {name: float(counts[name][:11].sum() / len(baskets.products)) for name, baskets in levels.items()}
    return Appearances(counts, few, len(levels["product"]))


def draw(found: Appearances) -> Picture:
    def paint(axes: Any) -> None:
        for (name, count), colour, dash in zip(found.counts.items(), (BLUE, RED), ("-", "--"), strict=True):
            axes.plot(np.arange(1, MOST + 1), np.maximum(count[1:], 0.5), dash, color=colour, label=f"by {name}")
        axes.set(xlabel="baskets with the product", ylabel="products", yscale="log", xlim=(0, MOST))
        axes.legend()

    return picture("fig1b", "Number of products against the baskets they are in, falling steeply", paint)


def tell(found: Appearances, context: Context) -> Result:
    some = (1, 2, 3, 5, 10, 20, 50, 100)
    rows: Rows = [[f"{k}", *(int(count[k]) for count in found.counts.values())] for k in some]
    rows.append(["10 or fewer, share", *(f"{share:.0%}" for share in found.few.values())])
    return Result(
        claims=[
            Claim(
                "a huge fraction of the products has a low sales volume",
                "a curve, no figures",
                f"{found.few['product']:.0%} of products are in 10 baskets or fewer, of {found.baskets:,}",
                "yes" if found.few["product"] > 0.5 else "no",
            ),
        ],
        tables=[Table("Products in so many baskets", ("baskets", "by product", "by product type"), rows)],
        differs=(
            "The paper prints a curve of two years without figures; here it is one year, with both levels of products, "
            "since the paper's examples are types and its count of items is of products."
        ),
        settings="The Complete Journey 2017; no chance involved",
    )


EXPERIMENT = Experiment("fig1b", "Products against appearances", "Figure 1b", measure, tell, draw)
