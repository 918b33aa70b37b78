"""Result: what one experiment found, as tables, pictures, claims and sentences, ready for any kind of report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Cell = str | int | float | None
"""What stands in a table; None is shown as a dash."""

Rows = list[list[Cell]]

HOLDS = ("yes", "partly", "no", "beyond", "not tested")
"""How a claim of the paper fared; `beyond` is what the paper does not ask."""


@dataclass(frozen=True)
class Table:
    """A table of the report.

    Parameters
    ----------
    title
        What it shows.
    columns
        Their names.
    rows
        One a line, a cell for each column.
    words
        How many of the first columns are text; the others are figures.
    digits
        Digits after the point that figures are shown with.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    words: int = 1
    digits: int = 3

    def text(self, cell: Cell) -> str:
        """A cell as people read it.

        >>> table = Table("", ["a"], [], digits=2)
        >>> [table.text(cell) for cell in (1234567, 0.5, "x", None, float("nan"))]
        ['1,234,567', '0.50', 'x', '–', '–']
        """
        if cell is None or cell != cell:
            return "–"
        if isinstance(cell, int):
            return f"{cell:,}"
        return f"{cell:,.{self.digits}f}" if isinstance(cell, float) else cell


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG text, with the words that stand for it where it cannot be seen.

    Parameters
    ----------
    name
        The name of its file, without an ending.
    alt
        The words that stand for it.
    svg
        The drawing.
    """

    name: str
    alt: str
    svg: str = field(repr=False)


@dataclass(frozen=True)
class Claim:
    """What the paper says, what was found here, and whether it holds.

    Parameters
    ----------
    says
        What is claimed.
    paper
        The paper's figures for it.
    ours
        The figures found here.
    holds
        One of `HOLDS`.
    """

    says: str
    paper: str
    ours: str
    holds: str

    def __post_init__(self) -> None:
        assert self.holds in HOLDS, self.holds


@dataclass(frozen=True)
class Result:
    """One table or figure, done again.

    Parameters
    ----------
    claims
        What the paper says of it, and what was found.
    tables
        The figures.
    differs
        The one honest sentence on what is not as in the paper and why.
    settings
        What is needed to get the same figures.
    pictures
        Drawings of the figures.
    findings
        What a reader should take away, contradictions with the paper first.
    seconds
        How long it took.
    """

    claims: Sequence[Claim]
    tables: Sequence[Table]
    differs: str
    settings: str
    pictures: Sequence[Picture] = ()
    findings: Sequence[str] = ()
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and words, for JSON; pictures without their drawing, which is a file of its own."""
        whole = asdict(self)
        for picture in whole["pictures"]:
            del picture["svg"]
        return whole

    @classmethod
    def from_dict(cls, kept: dict[str, Any], drawings: dict[str, str]) -> Result:
        """The result `to_dict` wrote, with the drawings by the names of their pictures."""
        return cls(
            claims=[Claim(**claim) for claim in kept["claims"]],
            tables=[Table(**table) for table in kept["tables"]],
            differs=kept["differs"],
            settings=kept["settings"],
            pictures=[Picture(**picture, svg=drawings[picture["name"]]) for picture in kept["pictures"]],
            findings=kept["findings"],
            seconds=kept["seconds"],
        )
