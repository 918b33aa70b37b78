"""Reasons: why a row is dropped, or one of its values changed, and the conditions that every reader decides it by.

A condition is said twice, side by side: in SQL that DuckDB and Spark both understand, and in Python for those who take
a row at a time. Values are looked at once they have been read (`omba.baskets.spelling`): by then empty text, NaN and
infinity are None.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

NO_PRODUCT = "no product"
NO_BASKET = "no basket"
NO_USER = "no user to make a basket of"
NO_TIME = "no time"
RETURNED = "quantity zero or negative: a return or a correction"
EXCLUDED = "not a product: left out by --exclude"
UNPAID = "a basket of nothing but prices of zero or less: no sale"
"""Why a row is dropped."""

PRICE_MISSING = "price missing: taken as not known"
PRICE_NOT_POSITIVE = "price zero or negative: taken as not known"
QUANTITY_MISSING = "quantity missing: taken as one piece"
"""What of a row is changed; the row itself is kept."""

NO_NUMBER = {role: f"{role} is no number: taken as not known" for role in ("price", "quantity")}
"""Said where a row comes alone, as in a file that is followed; a column that is read whole is refused for it."""


@dataclass(frozen=True)
class Condition:
    """A question about one value: `sql` asks it of {x}, `holds` of a Python value."""

    sql: str
    holds: Callable[[Any], bool]


MISSING = Condition("{x} IS NULL", lambda value: value is None)
NOT_POSITIVE = Condition("{x} <= 0", lambda value: value is not None and value <= 0)


@dataclass(frozen=True)
class RowRule:
    """The reason that applies to a row whose value in a role meets the condition."""

    role: str
    condition: Condition
    reason: str


DROPS = (
    RowRule("product", MISSING, NO_PRODUCT),
    RowRule("basket", MISSING, NO_BASKET),
    RowRule("user", MISSING, NO_USER),
    RowRule("time", MISSING, NO_TIME),
    RowRule("quantity", NOT_POSITIVE, RETURNED),
)
"""In this order: the first rule that a row meets is its drop reason."""

CHANGES = (
    RowRule("price", MISSING, PRICE_MISSING),
    RowRule("price", NOT_POSITIVE, PRICE_NOT_POSITIVE),
    RowRule("quantity", MISSING, QUANTITY_MISSING),
)


def drop_rules(roles: Collection[str]) -> list[RowRule]:
    """The rules for a source with columns in these roles; a user is needed only where it makes the basket."""
    needless = {"user"} if "basket" in roles else set()
    return [rule for rule in DROPS if rule.role in roles and rule.role not in needless]


def change_rules(roles: Collection[str]) -> list[RowRule]:
    """The changes to count in a source with columns in these roles."""
    return [rule for rule in CHANGES if rule.role in roles]


def drop_reason(values: Mapping[str, Any], rules: Iterable[RowRule]) -> str | None:
    """Why a row with these values by role is dropped; None where it is kept.

    >>> drop_reason({"basket": 1, "product": "tea", "quantity": -2.0}, drop_rules(["basket", "product", "quantity"]))
    'quantity zero or negative: a return or a correction'
    """
    for rule in rules:
        if rule.condition.holds(values.get(rule.role)):
            return rule.reason
    return None


def is_returned(quantity: float | None) -> bool:
    """Whether a product of this quantity went back, and is no part of the basket."""
    return NOT_POSITIVE.holds(quantity)


def drop_reason_sql(roles: Collection[str], quote: Callable[[str], str]) -> str:
    """`drop_reason` as a SQL expression over columns named by their roles, quoted as the dialect does.

    >>> drop_reason_sql(["product"], lambda role: role)
    "CASE WHEN product IS NULL THEN 'no product' END"
    """
    cases = (f"WHEN {rule.condition.sql.format(x=quote(rule.role))} THEN '{rule.reason}'" for rule in drop_rules(roles))
    return f"CASE {' '.join(cases)} END"


def change_conditions(roles: Collection[str], quote: Callable[[str], str]) -> dict[str, str]:
    """The SQL condition of each change to count, by its reason."""
    return {rule.reason: rule.condition.sql.format(x=quote(rule.role)) for rule in change_rules(roles)}
