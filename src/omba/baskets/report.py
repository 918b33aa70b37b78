"""Report: what reading did with every row, so that the total always adds up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

NO_PRODUCT = "no product"
NO_BASKET = "no basket"
NO_USER = "no user to make a basket of"
NO_TIME = "no time"
RETURNED = "quantity zero or negative: a return or a correction"
"""Why a row is dropped."""

PRICE_MISSING = "price missing: taken as not known"
PRICE_NOT_POSITIVE = "price zero or negative: taken as not known"
QUANTITY_MISSING = "quantity missing: taken as one piece"
"""What of a row is changed; the row itself is kept."""


@dataclass
class Report:
    """Rows in, rows kept, rows dropped or merged with the reason, and notes in words.

    `rows == kept + merged + sum(dropped.values())` holds at all times.
    """

    rows: int = 0
    kept: int = 0
    merged: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    columns: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.rows:,} rows read, {self.kept:,} kept"]
        if self.merged:
            lines.append(f"{self.merged:,} merged: the product was already in the basket")
        lines += [f"{n:,} dropped: {reason}" for reason, n in self.dropped.items() if n]
        lines += [f"{n:,} changed: {reason}" for reason, n in self.changed.items() if n]
        return "\n".join(lines + self.notes)

    def add(self, other: Report) -> None:
        """Take in the report of a later part of the same stream."""
        self.rows += other.rows
        self.kept += other.kept
        self.merged += other.merged
        self.dropped += other.dropped
        self.changed += other.changed
        self.notes += [note for note in other.notes if note not in self.notes]
