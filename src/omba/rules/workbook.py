"""Workbook: rules as an Excel file that is ready to be read: names, widths, number formats, a bar for each interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import csv

from omba.baskets.extras import extra
from omba.errors import InputError

if TYPE_CHECKING:
    from omba.rules.rules import Rules

JOIN = " + "
WIDEST, NARROWEST = 60, 9
"""Widths of a column in letters, at most and at least."""
SHARES = ("support", "confidence", "antecedent support", "consequent support", "break_even")
MONEY = ("value", "price", "revenue", "expected_revenue", "expected_revenue_low", "expected_revenue_high")
WHOLE = ("count", "collisions", "n_a", "n_b", "length")
INTERVAL = ("expected_lift_low", "expected_lift", "expected_lift_high")
BAR = "interval"
"""The header of the column in which the interval of the expected lift is drawn."""
STEPS = 24
"""Letters of a drawn interval."""
ROWS = 1_048_575
"""Rules that fit a sheet."""


TEXT_STAYS_TEXT = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
"""A name such as `=cmd()` or an address must not become a formula or a link."""
HEADER = {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}


def write_table(table: pa.Table, path: Path, title: str) -> None:
    """A plain table as .csv or, in a sheet with a title, as .xlsx."""
    if path.suffix.lower() == ".csv":
        csv.write_csv(table, path)
        return
    if path.suffix.lower() != ".xlsx":
        raise InputError(f"{path.name!r} ends in neither .csv nor .xlsx: give one of these")
    writer = extra("xlsxwriter", "writing Excel files", "'omba[excel]'")
    with writer.Workbook(str(path), TEXT_STAYS_TEXT) as book:
        sheet = book.add_worksheet(title)
        write_columns(book, sheet, book.add_format(HEADER), table)
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, max(len(table), 1), max(len(table.column_names) - 1, 0))


def write_columns(book: Any, sheet: Any, bold: Any, table: pa.Table) -> None:
    """The columns of a table on a sheet, each with its header, its format and its width."""
    for place, name in enumerate(table.column_names):
        values = [cell(value) for value in table[name].to_pylist()]
        form = book.add_format({"num_format": number_format(name)})
        sheet.write_string(0, place, name.replace("_", " "), bold)
        for row, value in enumerate(values, 1):
            if isinstance(value, str):
                sheet.write_string(row, place, value)
            elif value is not None:
                sheet.write_number(row, place, value, form)
        sheet.set_column(place, place, width(name, values))
        if name == "lift" and len(values):
            sheet.conditional_format(1, place, len(values), place, {"type": "data_bar", "bar_solid": True})


def write_excel(rules: Rules, path: Path, columns: Sequence[str] | None = None) -> None:
    """A workbook with a frozen header, filters, formats by what a column holds, and the interval drawn in its cell."""
    writer = extra("xlsxwriter", "writing Excel files", "'omba[excel]'")
    rules = rules[:ROWS]
    table = rules.to_arrow(columns)
    with writer.Workbook(str(path), TEXT_STAYS_TEXT) as book:
        sheet = book.add_worksheet("rules")
        bold = book.add_format(HEADER)
        write_columns(book, sheet, bold, table)
        last = len(table.column_names)
        if set(INTERVAL) <= set(table.column_names) and len(rules):
            low, middle, high = (table[name].to_pylist() for name in INTERVAL)
            sheet.write_string(0, last, BAR, bold)
            mono = book.add_format({"font_name": "Consolas", "font_color": "#2f6f8f"})
            for row, drawn in enumerate(intervals(low, middle, high), 1):
                sheet.write_string(row, last, drawn, mono)
            sheet.set_column(last, last, STEPS + 4)
            last += 1
        sheet.freeze_panes(1, sum(name.startswith(("antecedent", "consequent")) for name in table.column_names[:4]))
        sheet.autofilter(0, 0, max(len(rules), 1), max(last - 1, 0))


def cell(value: Any) -> str | float | None:
    """One cell: items joined, nothing for what is not known or not finite."""
    if isinstance(value, list):
        return JOIN.join("" if one is None else str(one) for one in value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value  # type: ignore[no-any-return]


def number_format(name: str) -> str:
    """How Excel shows the numbers of a column: shares as percentages, counts whole, all else in a few digits.

    >>> number_format("support"), number_format("count"), number_format("lift")
    ('0.00%', '#,##0', '#,##0.00')
    """
    if name in SHARES:
        return "0.00%"
    return "#,##0" if name in WHOLE else "#,##0.00" if "lift" in name or name in MONEY else "0.000"


def width(name: str, values: Sequence[str | float | None]) -> int:
    """The width of a column: as wide as its longest text, numbers as wide as their header's longest word."""
    longest = max((len(value) for value in values if isinstance(value, str)), default=0)
    head = max(map(len, name.split("_")))
    return min(WIDEST, max(NARROWEST, head + 2, longest + 1))


def intervals(low: Sequence[float | None], middle: Sequence[float | None], high: Sequence[float | None]) -> list[str]:
    """Each interval drawn in letters, all on one logarithmic scale, with a dot where the expected lift is.

    >>> intervals([1.0], [20.0], [100.0])
    ['├──────────────●───────┤']
    """
    known = [value for ends in (low, high) for value in ends if value is not None and math.isfinite(value)]
    top = max([10.0, *known])
    bottom = max(0.1, min([1.0, *known]))

    def place(value: float) -> int:
        return round((STEPS - 1) * math.log(min(max(value, bottom), top) / bottom) / math.log(top / bottom))

    drawn = []
    for ends in zip(low, middle, high, strict=True):
        if any(value is None or not math.isfinite(value) for value in ends):
            drawn.append("")
            continue
        first, dot, last = (place(float(value)) for value in ends if value is not None)
        letters = [" "] * first + ["─"] * (last - first + 1)
        letters[first], letters[last] = "├", "┤"
        letters[dot] = "●"
        drawn.append("".join(letters))
    return drawn
