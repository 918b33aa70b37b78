"""A planted shop: two years in which everything is known that a category manager asks about.

Variants, products that belong together and that replace each other, two kinds of customers, a bundle of three, seasons
that come round, and prices that move sales. Customers take hot dogs with buns or tacos with sauce, and butter or
margarine, never both on one visit; parents buy coffee and diapers, students ramen and candy, each when it runs out.
In weeks when butter is cheap more of it is sold, and of bread, and less margarine.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Baskets
from omba.errors import SettingError
from omba.sources import read_baskets

Pair = tuple[str, str]
Mask = NDArray[np.bool_]

START = np.datetime64("2020-01-06", "D")
DINNERS = (("hot dogs", "buns"), ("tacos", "sauce"))
PARENTS, STUDENTS = ("coffee", "diapers"), ("ramen", "candy")
TOWELS = ("bath towel red", "bath towel blue", "bath towel green")
SIGNS = tuple(f"door sign {number}" for number in range(1, 6))
CAMPING = ("tent", "sleeping mat", "camping lamp")
CHRISTMAS, EASTER = ("christmas crackers", "paper chain"), ("easter egg", "wicker basket")
SPREADS = ("butter", "margarine")
WEAR = 30
"""Products of no particular kind."""
PRICES = {"tent": 100.0, "sleeping mat": 20.0, "camping lamp": 10.0, "butter": 2.5, "margarine": 1.8, "bread": 3.0}
CHEAP, EVERY = 0.7, 6
"""Butter costs so much of its usual price for two weeks of every six."""


@dataclass(frozen=True)
class ShopTruth:
    """What is true of a planted shop.

    Parameters
    ----------
    relations
        The pairs of each relation, by its name.
    families
        Variants of one thing.
    seasons
        The months of each product that has a season.
    bundle
        The products that are sold as three.
    cheap
        The product whose price moves; sales of `rises` then rise, and of `falls` fall.
    """

    relations: dict[str, list[Pair]]
    families: list[tuple[str, ...]]
    seasons: dict[str, str]
    bundle: tuple[str, ...]
    cheap: str
    rises: str
    falls: str


TRUTH = ShopTruth(
    relations={
        "complement": [*DINNERS, *combinations(CAMPING, 2), CHRISTMAS, EASTER, ("butter", "bread")],
        "substitute": [*product(*DINNERS), SPREADS],
        "same customers": [PARENTS, STUDENTS],
        "different customers": [*product(PARENTS, STUDENTS)],
        "variant": [*combinations(TOWELS, 2), *combinations(SIGNS, 2)],
        "unclear": [("coffee", "hot dogs"), ("candy", "sauce"), ("bread", "ramen")],
    },
    families=[SIGNS, TOWELS],
    seasons={**dict.fromkeys(CHRISTMAS, "Nov–Dec"), **dict.fromkeys(EASTER, "Mar–Apr")},
    bundle=CAMPING,
    cheap="butter",
    rises="bread",
    falls="margarine",
)


@dataclass(frozen=True)
class PlantedShop:
    """The baskets of a planted shop, and what is true of it."""

    baskets: Baskets
    truth: ShopTruth


def planted_shop(baskets: int = 16_000, days: int = 730, customers: int = 160, seed: int = 0) -> PlantedShop:
    """A shop of so many visits, on a few of which nothing was bought, from 6 January 2020 on.

    Parameters
    ----------
    baskets
        Visits; 1 or more.
    days
        Days that they fall into; 1 or more, and 366 or more for seasons that come again.
    customers
        Half are parents, half students; 2 or more.
    seed
        The same seed makes the same shop; 0 or more.

    >>> shop = planted_shop(baskets=500, days=200)
    >>> len(shop.baskets), shop.truth.falls
    (493, 'margarine')
    """
    if baskets < 1 or days < 1 or customers < 2:
        raise SettingError(f"{baskets} baskets, {days} days, {customers} customers: give 1, 1 and 2 or more")
    random = np.random.default_rng(seed)
    day = np.sort(random.integers(days, size=baskets))
    user = random.integers(customers, size=baskets)
    cheap = (day // 7) % EVERY < 2
    bought = _purchases(day, user < customers // 2, cheap, random)
    trips = np.concatenate([trip for trip, _ in bought])
    products = np.concatenate([np.full(len(trip), name, object) for trip, name in bought])
    prices = np.array([PRICES.get(name, 1.0) for name in products]) * random.normal(1.0, 0.01, len(products))
    prices[(products == "butter") & cheap[trips]] *= CHEAP
    times = START.astype("datetime64[us]") + (day * 86_400 + 36_000).astype("timedelta64[s]")
    table = pa.table(
        {
            "basket_id": trips,
            "user_id": pa.array([f"u{number}" for number in user[trips]]),
            "timestamp": times[trips],
            "product": pa.array(products.tolist(), pa.string()),
            "price": prices,
            "quantity": np.where(products == "sleeping mat", 2, 1),
        }
    )
    return PlantedShop(read_baskets(table), TRUTH)


def _purchases(
    day: NDArray[np.int64], parent: Mask, cheap: Mask, random: np.random.Generator
) -> list[tuple[NDArray[np.int64], str]]:
    """The trips on which each product was bought."""
    n = len(day)
    dates = START + day.astype("timedelta64[D]")
    of_year = (dates - dates.astype("datetime64[Y]")).astype(np.int64)
    bought: list[tuple[NDArray[np.int64], str]] = []

    def chance(share: float | NDArray[np.float64]) -> Mask:
        return np.asarray(random.random(n) < share)

    def buy(when: Mask, *names: str) -> None:
        bought.extend((np.flatnonzero(when), name) for name in names)

    dinner, kind = chance(0.5), random.integers(2, size=n)
    for number, names in enumerate(DINNERS):
        buy(dinner & (kind == number), *names)
    for who, names in ((parent, PARENTS), (~parent, STUDENTS)):
        for name in names:
            buy(who & chance(0.3), name)
    for name in (*TOWELS, *SIGNS):
        buy(chance(0.02), name)
    buy(chance(0.03), *CAMPING)
    for names, first, last in ((CHRISTMAS, 319, 358), (EASTER, 84, 112)):
        inside = (of_year >= first) & (of_year < last)
        buy(inside & chance(0.2), *names)
        for name in names:
            buy(inside & chance(0.06) | ~inside & chance(0.0005), name)
    # Whoever wants something for the bread takes one of the two, rather the one that is cheap.
    spread, butter = chance(np.where(cheap, 0.34, 0.28)), chance(np.where(cheap, 0.75, 0.5))
    buy(spread & butter, "butter")
    buy(spread & ~butter, "margarine")
    buy((spread & butter & chance(0.5)) | chance(0.06), "bread")
    for number in range(WEAR):
        buy(chance(0.07), f"w{number}")
    return bought
