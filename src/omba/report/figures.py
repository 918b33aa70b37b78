"""Figures: rules in the few columns a person compares, each value short."""

from __future__ import annotations

import math

from omba.rules import Rule, Rules
from omba.rules.display import LOWER_BOUND

STRONG = ("rule", "together", "confidence", "lift", "expected lift", "90% interval", "cosine")
UNSEEN = ("pair", "first in", "second in", "expected lift", "90% interval", "cosine")


def strong_rows(rules: Rules) -> list[tuple[str, ...]]:
    """One row a rule: baskets with all of it, its confidence and lift, and what to expect of it."""
    return [
        (str(rule), together(rule), f"{rule.confidence:.0%}", number(rule.lift), *forecast)
        for rule, forecast in zip(rules, _forecasts(rules), strict=True)
    ]


def say_bound(rules: Rules) -> str:
    """What is to be said under a table in which counts are lower bounds; nothing where none is."""
    return LOWER_BOUND if rules.at_least.any() else ""


def unseen_rows(rules: Rules) -> list[tuple[str, ...]]:
    """One row a pair: baskets with each product, and what to expect of both."""
    return [
        (str(rule), f"{rule.n_a:,}", f"{rule.n_b:,}", *forecast)
        for rule, forecast in zip(rules, _forecasts(rules), strict=True)
    ]


def together(rule: Rule) -> str:
    """Baskets with all products of a rule; a count that may be short says so.

    >>> together(Rule(("tea",), ("milk",), 1200, 1300, 1400, 9000, count_at_least=True))
    '≥ 1,200'
    """
    return f"{'≥ ' if rule.count_at_least else ''}{rule.count:,}"


def number(value: float) -> str:
    """Three digits, no more.

    >>> [number(value) for value in (1291.6, 43.45, 0.0314, 0.000031, float("nan"))]
    ['1,292', '43.5', '0.0314', '0', '–']
    """
    if not math.isfinite(value):
        return "∞" if value == math.inf else "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else "0"


def money(amount: float | None, currency: str = "", digits: int = 2) -> str:
    """An amount: a sign stands before it, the name of a currency after.

    >>> [money(1234.5, "£"), money(1234.5, "EUR", 0), money(None)]
    ['£1,234.50', '1,234 EUR', '–']
    """
    if amount is None or not math.isfinite(amount):
        return "–"
    text = f"{amount:,.{digits}f}"
    return f"{text} {currency}" if currency.isalpha() else f"{currency}{text}"


def count_of(count: int, thing: str) -> str:
    """So many things.

    >>> count_of(1, "rule"), count_of(1_200, "rule")
    ('1 rule', '1,200 rules')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _forecasts(rules: Rules) -> list[tuple[str, str, str]]:
    names = ("expected_lift", "expected_lift_low", "expected_lift_high", "similarity")
    columns = zip(*(rules[name].tolist() for name in names), strict=True)
    return [
        (number(expected), f"{number(low)} to {number(high)}", f"{cosine:.2f}")
        for expected, low, high, cosine in columns
    ]
