"""Non-products and nobodies: lines of a till that are no product, and customers who are none.

Postage, carriage, manual lines, discounts and samples are known by how they behave: their code is made otherwise than
those of nearly all products, their price is anything, and their name says what they are. Two of the three clues must
agree; there is no doubt where a code unlike the others has a name of nothing but such words, or prices that are
anything as well, and those are left out unasked. A customer called 0, `nan` or `guest` who owns a large part of all
baskets is nobody: his baskets stay, without him.
"""

from __future__ import annotations

from dataclasses import dataclass

from omba.sources.engine import Engine, literal
from omba.sources.wording import name_products

WORDS = (
    "postage|carriage|shipping|delivery|freight|manual|discount|adjust|fees?|charges?|commission|bank|test|samples?|"
    "voucher|gift ?card|deposit|bad debt|rounding|refund|donation|surcharge"
)
USUAL = 0.9
"""Of all products, the share whose codes must begin alike for another one to be odd."""
VARIES = 20.0
"""A price is anything where its high end (nineteen of twenty) is so many times the low end (one of twenty)."""
FEW = 20
"""Baskets from which on a product's prices can be said to vary."""
NOBODIES = ("nan", "none", "null", "n/a", "na", "guest", "unknown", "anonymous", "anon", "cash", "walk-in", "-", "?")
SHARE = 0.05
"""Of all baskets, the share above which such a customer is nobody."""
ZEROS = ("0", "-1", "99999", "999999")
"""Numbers that stand for nobody, if he owns so many times the baskets of the next one, of at least a hundred."""
TIMES, LEAST = 3, 100


@dataclass(frozen=True)
class NonProduct:
    """A code that seems to be no product.

    Parameters
    ----------
    code, name
        How it is written, and what it is called.
    baskets
        Baskets with it.
    clues
        What speaks against it.
    sure
        Whether there is no doubt.
    """

    code: str
    name: str | None
    baskets: int
    clues: tuple[str, ...]
    sure: bool


@dataclass(frozen=True)
class Nobody:
    """A customer who is none, and the baskets under his name."""

    user: str
    baskets: int
    share: float


def find_non_products(engine: Engine, named: bool, priced: bool) -> list[NonProduct]:
    """Codes with two clues or more, those in most baskets first; `named` tells whether a0 is the products' name."""
    price = (
        "quantile_cont(price, [0.05, 0.95]) AS ends, min(price) AS least" if priced else "[NULL] AS ends, NULL AS least"
    )
    word = rf"(^|[^a-z])({WORDS})($|[^a-z])"
    kept = "FROM rows WHERE drop_reason IS NULL"
    counted = f"SELECT product, count(DISTINCT basket) AS baskets, {price} {kept} GROUP BY product"
    rows = engine.execute(
        "SELECT product::VARCHAR AS code, name, baskets, regexp_matches(product::VARCHAR, '^[0-9]'), "
        "ends[1], ends[2], least, "
        f"regexp_matches(lower(product::VARCHAR || ' ' || coalesce(name, '')), {literal(word)}), "
        rf"coalesce(regexp_full_match(lower(name), '(({WORDS})\W*)+'), false) "
        f"FROM ({counted}) LEFT JOIN {name_products(engine, named, priced)} USING (product) ORDER BY 3 DESC, 1"
    )
    numbered = sum(row[3] for row in rows) >= USUAL * len(rows)
    found = []
    for code, called, baskets, digit, low, high, least, said, nothing_else in rows:
        clues = []
        if numbered and not digit:
            clues.append("a code unlike the others")
        if said:
            clues.append("its name")
        if least is not None and (least < 0 or (baskets >= FEW and high > VARIES * max(low, 0.005))):
            clues.append(f"prices from {low:,.2f} to {high:,.2f}")
        if len(clues) > 1:
            odd = numbered and not digit
            found.append(NonProduct(code, called, baskets, tuple(clues), odd and (nothing_else or len(clues) > 2)))
    return found


def has_odd_codes(engine: Engine) -> bool:
    """Whether nearly all codes are made alike and some are not: a quick look before a long one."""
    kinds = engine.execute(
        "SELECT count(*), count(*) FILTER (WHERE regexp_matches(product, '^[0-9]')) FROM "
        "(SELECT DISTINCT product::VARCHAR AS product FROM rows WHERE drop_reason IS NULL)"
    )
    products, numbered = kinds[0]
    return bool(products > numbered >= USUAL * products)


def find_nobodies(engine: Engine) -> list[Nobody]:
    """Customers who are none, by their name and by the share of baskets they own."""
    words = ", ".join(literal(word) for word in (*NOBODIES, *ZEROS))
    kept = 'FROM value WHERE "user" IS NOT NULL'
    named = f'lower(trim("user"::VARCHAR)) IN ({words})'
    suspects = engine.execute(f'SELECT "user"::VARCHAR, count(DISTINCT basket) {kept} AND {named} GROUP BY 1')
    if not suspects:
        return []
    (total,) = engine.execute("SELECT count(DISTINCT basket) FROM value")[0]
    found = []
    for user, baskets in suspects:
        most = f'SELECT count(DISTINCT basket) AS n {kept} AND "user"::VARCHAR <> {literal(user)} GROUP BY "user"'
        (second,) = engine.execute(f"SELECT coalesce(max(n), 0) FROM ({most})")[0]
        sure = user not in ZEROS or (total >= LEAST and baskets >= TIMES * second)
        if baskets > SHARE * total and sure:
            found.append(Nobody(user, baskets, baskets / total))
    return found
