"""Table 4: associations change with the season."""

from __future__ import annotations

from omba.baskets import Label
from omba.model import OMBA
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Result, Rows, Table

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


Neighbourhoods = dict[str, tuple[list[Label], list[Label]]]
"""By product, its nearest at the first date and at the second."""


def measure(context: Context) -> Neighbourhoods:
    """What each product was associated with at either date."""
    early, late = (context.model(date=date) for date in context.scale.dates)
    return {name: (near(early, label), near(late, label)) for name, label in TARGETS.items()}


def tell(found: Neighbourhoods, context: Context) -> Result:
    dates = context.scale.dates
    kept = {name: len(set(first) & set(second)) for name, (first, second) in found.items()}
    rows: Rows = []
    for name, both in found.items():
        cells = [", ".join(map(str, one[:NEAREST])) or "not sold yet" for one in both]
        rows.append([name, PAPER[name][0], PAPER[name][1], *cells, f"{kept[name]} of {STABLE}"])
    seasonal, daily = kept["Mangoes"], kept["Frozen Bread"]
    columns = ("target", "paper, month 11", "paper, month 17", *(f"here, before {date}" for date in dates), "kept")
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
        tables=[Table("Most associated products at two dates", columns, rows, words=6)],
        differs=(
            f"The public year has calendar dates: here it is the same model read before {' and before '.join(dates)}, "
            "where the paper has months 11 and 17 of its two years; products in fewer than 20 baskets by then are "
            "left out."
        ),
        settings=f"{context.setting}; OMBA with its defaults, product types, nearest by cosine",
    )


def near(model: OMBA, label: str) -> list[Label]:
    """The nearest products of one that is in enough baskets to say anything; none where it is not sold yet."""
    if label not in model.products:
        return []
    often = dict(zip(model.products, model.product_counts.tolist(), strict=True))
    return [product for product, _ in model.similar(label, n=len(often)) if often[product] >= 20][:STABLE]


EXPERIMENT = Experiment("table4", "Associations at two dates", "Table 4", measure, tell)
