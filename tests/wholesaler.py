"""A made-up wholesaler: what an analyst's own file is like, with all that is odd about it, the same every time.

Sets of products that belong together, Christmas at the end of the year, postage and corrections among the sales, a code
in two spellings, names that someone overwrote, customers that are missing, and baskets of hundreds of products.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

THINGS = ("MUG", "PLATE", "TIN", "BAG", "CANDLE", "FRAME", "CLOCK", "TRAY", "BOWL", "APRON", "BOX", "LAMP")
STYLES = ("RETROSPOT", "PANTRY", "REGENCY", "STRAWBERRY", "DOLLY GIRL", "SPACEBOY", "WOODLAND", "VINTAGE", "CHRISTMAS")
COLOURS = ("RED", "PINK", "BLUE", "IVORY")
COLUMNS = ("Invoice", "StockCode", "Description", "Quantity", "InvoiceDate", "Price", "Customer ID", "Country")
BASKETS, DAYS = 2_000, 120
START = np.datetime64("2009-12-01T09:00:00")
SECOND = 9
"""In one basket of so many, codes that end in a letter have a small one."""
LARGE = 330
"""Products of the largest baskets."""


def catalogue() -> dict[str, tuple[str, float]]:
    """Codes with name and price: each style has the same things in several colours; some codes end in a letter."""
    names = [f"{colour} {style} {thing}" for style in STYLES for thing in THINGS for colour in COLOURS]
    return {
        f"{20_000 + n}{'A' if n % 7 == 0 else ''}": (name, round(0.5 + (n * 37 % 90) / 10, 2))
        for n, name in enumerate(names)
    }


def wholesale() -> pa.Table:
    """All rows of the file, in order of time."""
    rng = np.random.default_rng(5)
    products = catalogue()
    codes = list(products)
    weight = 1.0 / np.arange(8, len(codes) + 8)
    weight = rng.permutation(weight / weight.sum())
    festive = np.array([f" {STYLES[-1]} " in products[code][0] for code in codes])
    rows: list[tuple[object, ...]] = []
    for basket in range(BASKETS):
        day = basket * DAYS // BASKETS
        # Christmas things are sold in the first weeks of the file, which begins in December.
        chance = np.where(festive, weight * (6.0 if day < 24 else 0.15), weight)
        size = LARGE if basket % 700 == 350 else int(rng.integers(2, 14))
        held = set(rng.choice(len(codes), size, replace=False, p=chance / chance.sum()).tolist())
        if rng.random() < 0.5:
            # A colour of everything in a style: its mug goes with its plate.
            first = int(rng.integers(0, len(STYLES) - 1 + (day < 24))) * len(THINGS) * len(COLOURS)
            held |= {first + int(rng.integers(len(COLOURS))) + len(COLOURS) * k for k in (0, 1)}
        rows += basket_rows(basket, day, [codes[k] for k in sorted(held)], products, rng)
    columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    return pa.table(columns)


def basket_rows(
    basket: int, day: int, held: list[str], products: dict[str, tuple[str, float]], rng: np.random.Generator
) -> list[tuple[object, ...]]:
    """The rows of an invoice, with what a till writes down besides."""
    time = START + np.timedelta64(day, "D") + np.timedelta64(basket % 16, "m")
    user = None if rng.random() < 0.2 else float(12_346 + basket % 60)
    invoice, place = str(489_434 + basket), "United Kingdom"
    rows: list[tuple[object, ...]] = []
    for code in held:
        name, price = products[code]
        spelt = code.lower() if basket % SECOND == 0 else code
        called = ("mailout", "?", name.lower())[basket % 3] if rng.random() < 0.02 else name
        rows.append((invoice, spelt, called, int(rng.integers(1, 25)), time, price, user, place))
    if rng.random() < 0.15:
        rows.append((invoice, "POST", "POSTAGE", 1, time, float(rng.integers(5, 400)), user, "France"))
    if rng.random() < 0.05:
        rows.append((invoice, "M", "Manual", 1, time, float(rng.integers(1, 900)), user, place))
    if rng.random() < 0.02:
        rows.append((f"C{invoice}", held[0], products[held[0]][0], -2, time, products[held[0]][1], user, place))
    if rng.random() < 0.01:
        rows.append((f"{invoice}0", held[-1], "damaged", 3, time, 0.0, None, place))
    return rows
