"""Display: a table of rules for a person to read, as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from omba.rules.rules import Rules

SHOWN = ("count", "support", "confidence", "lift", "similarity", "status", "expected_lift", "value")
TEXT_ROWS, HTML_ROWS = 10, 50
WIDEST = 60
"""Letters of a rule that are shown; where products have names and codes, twice as many."""

LOWER_BOUND = "≥ says at least: not every basket with all products of the rule was counted"
"""Said under a table in which a count is a lower bound."""


def text(rules: Rules) -> str:
    """The first rules in aligned columns."""
    head = f"Rules({len(rules):,} rules from {rules.n:,} baskets)"
    part = rules[:TEXT_ROWS]
    if not len(part):
        return head
    names = columns_to_show(part)
    widest = 2 * WIDEST if rules.catalogue.named else WIDEST
    shown = [[_cut(str(rule), widest), *row] for rule, row in zip(part, cells(part, names), strict=True)]
    lines = [["rule", *names], *shown]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    body = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
    more = [f"… and {len(rules) - len(part):,} more"] if len(rules) > len(part) else []
    return "\n".join([head, *body, *more, *([LOWER_BOUND] if part.at_least.any() else [])])


def html(rules: Rules) -> str:
    """The first rules as an HTML table, every name escaped."""
    part = rules[:HTML_ROWS]
    names = columns_to_show(part)
    head = "".join(f"<th>{escape(name)}</th>" for name in ("rule", *names))
    rows = "".join(
        f'<tr><td style="text-align:left">{escape(str(rule))}</td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for rule, row in zip(part, cells(part, names), strict=True)
    )
    more = f", the first {len(part):,} shown" if len(rules) > len(part) else ""
    more += f"; {LOWER_BOUND}" if part.at_least.any() else ""
    caption = f"<caption>{len(rules):,} rules from {rules.n:,} baskets{more}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def columns_to_show(rules: Rules) -> list[str]:
    """The columns worth showing: those in which something is known."""
    return [name for name in SHOWN if name == "status" or not np.isnan(rules[name].astype(np.float64)).all()]


def cells(rules: Rules, names: list[str]) -> list[tuple[str, ...]]:
    """The values of each rule as short text."""
    columns = [[_short(value) for value in rules[name].tolist()] for name in names]
    if "count" in names:
        place = names.index("count")
        columns[place] = [f"≥ {n}" if bound else n for n, bound in zip(columns[place], rules.at_least, strict=True)]
    return list(zip(*columns, strict=True))


def _short(value: float | str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return "–" if np.isnan(value) else f"{value:,.4g}" if abs(value) < 1 else f"{value:,.2f}"


def _cut(name: str, widest: int) -> str:
    return name if len(name) <= widest else name[: widest - 1] + "…"
