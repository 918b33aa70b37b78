"""Table 4: associations change with the season."""

from __future__ import annotations

from omba.baskets import Label
from omba.model import OMBA
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Result, Rows, Table
from omba.reproduce.workshop import Workshop

PAPER = {
    "Valentine Gifts and Decorations": (
        "Rose Consumer Bunch, Apple Juice, Ladies Casual Shoes",
        "Peaches, Dried Plums, Drain Care",
    ),
    "Mangoes": ("Blueberries, Dry Snacks, Raspberries", "Dry Snacks, Red Cherries, Tangelos"),
    "Frozen Bread": ("Ham, Fluid Milk, Eggs", "Peanut Butter, Eggs, Ham"),
}
"""Most associated products at months 11 and 17, as the paper prints them."""
TARGETS = {
    "Valentine Gifts and Decorations": "VALENTINE GIFTWARE/DECOR",
    "Mangoes": "MANGO",
    "Frozen Bread": "FROZEN BREAD",
}
NEAREST = 3
STABLE = 10
"""Neighbours compared between the two dates."""


def run(workshop: Workshop) -> Result:
    dates = workshop.scale.dates
    early, late = (workshop.learned(date=date) for date in dates)
    rows: Rows = []
    kept: dict[str, int] = {}
    for name, label in TARGETS.items():
        first, second = near(early, label), near(late, label)
        kept[name] = len(set(first) & set(second))
        cells = [", ".join(map(str, one[:NEAREST])) or "not sold yet" for one in (first, second)]
        rows.append([name, PAPER[name][0], PAPER[name][1], *cells, f"{kept[name]} of {STABLE}"])
    seasonal, daily = kept["Mangoes"], kept["Frozen Bread"]
    return Result(
        claims=[
            Claim(
                "everyday products keep their associations, seasonal ones change",
                "three examples",
                f"of the {STABLE} nearest, Frozen Bread keeps {daily}, Mangoes {seasonal}, Valentine gifts "
                f"{kept['Valentine Gifts and Decorations']}",
                "yes" if daily > seasonal else "partly" if daily == seasonal else "no",
            ),
        ],
        tables=[
            Table(
                "Most associated products at two dates",
                (
                    "target",
                    "paper, month 11",
                    "paper, month 17",
                    f"here, before {dates[0]}",
                    f"here, before {dates[1]}",
                    "kept",
                ),
                rows,
                words=6,
            )
        ],
        differs=(
            f"The public year has calendar dates: here it is the same model read before {' and before '.join(dates)}, "
            "where the paper has months 11 and 17 of its two years; products in fewer than 20 baskets by then are "
            "left out."
        ),
        settings=f"{workshop.setting}; OMBA with its defaults, product types, nearest by cosine",
    )


def near(model: OMBA, label: str) -> list[Label]:
    """The nearest products of one that is in enough baskets to say anything; none where it is not sold yet."""
    if label not in model.products:
        return []
    often = dict(zip(model.products, model.product_counts.tolist(), strict=True))
    return [product for product, _ in model.similar(label, n=len(often)) if often[product] >= 20][:STABLE]


EXPERIMENT = Experiment("table4", "Associations at two dates", "Table 4", run, minutes=0.1)
