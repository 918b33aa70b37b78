"""Row report: what reading did with every row, so that the total always adds up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Report:
    """Rows in, rows kept, rows dropped or merged with the reason, and notes in words.

    `rows == kept + merged + sum(dropped.values())` holds at all times.

    Parameters
    ----------
    rows
        Rows read.
    kept
        Rows that are a product in a basket.
    merged
        Rows whose product was in the basket already.
    dropped
        Rows left out, by the reason (`omba.baskets.reasons`).
    changed
        Rows kept with a price or a quantity taken as not known, by the reason.
    columns
        The name of the column in each role.
    notes
        What else is worth knowing, a sentence each.
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
