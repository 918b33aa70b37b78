"""What the truth test found: rules that held, pairs that appeared, and how good the forecast was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

FEW = 5
"""Pairs seen fewer times are those counting alone says little of; products must have been seen as often."""


@dataclass(frozen=True)
class Held:
    """The best `top` rules of a ranking: shares with the lift asked for before and after, and their rarity.

    Parameters
    ----------
    ranking
        The order the rules were taken in.
    top
        How many were judged.
    before, holds
        Shares of them with the lift asked for, before and after.
    support
        Median support, before, of those that hold.
    """

    ranking: str
    top: int
    before: float
    holds: float
    support: float


@dataclass(frozen=True)
class Appeared:
    """The best `top` unseen pairs: the share that then occurred, and what chance would have brought.

    Chance is the mean over the same pairs of 1 − exp(−n′_a·n′_b / n′): the probability of at least one basket with
    both, were the products bought independently as often as they were in the period after.

    Parameters
    ----------
    ranking
        The order the pairs were taken in.
    top
        How many were judged.
    occurred
        The share that then occurred.
    chance
        The share that chance would have brought.
    """

    ranking: str
    top: int
    occurred: float
    chance: float

    @property
    def ratio(self) -> float:
        return self.occurred / self.chance if self.chance else float("nan")


@dataclass(frozen=True)
class Likely:
    """The mean Poisson log-likelihood of the later counts, of pairs seen fewer than 5 times, of all, and of others."""

    lift: str
    log_likelihood: float
    of_all: float
    of_observed: float


@dataclass(frozen=True)
class Covered:
    """Share of pairs whose later lift lay in the 90% interval, and below it; the median of that lift ÷ the expected."""

    pairs: str
    number: int
    inside: float
    below: float
    ratio: float


@dataclass(frozen=True)
class TruthTest:
    """What came true. `str()` gives tables, `to_dict()` plain numbers.

    Parameters
    ----------
    baskets_before, baskets_after
        Baskets learned, and baskets judged by.
    lift
        A rule holds if its lift is above this afterwards.
    held
        By ranking and length, how many of the best rules hold.
    appeared
        By ranking, how many of the best unseen pairs then occurred.
    likely
        By forecast, how likely it made the later counts.
    covered
        By kind of pair, how often the later lift lay in the interval.
    """

    baskets_before: int
    baskets_after: int
    lift: float
    held: list[Held]
    appeared: list[Appeared]
    likely: list[Likely]
    covered: list[Covered]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        out = asdict(self)
        for row, appeared in zip(out["appeared"], self.appeared, strict=True):
            row["ratio"] = appeared.ratio
        return out

    def __str__(self) -> str:
        lift = f"{self.lift:g}"
        parts = [
            f"Learned {self.baskets_before:,} baskets, judged by the {self.baskets_after:,} after.",
            align(
                ("best rules by", "top", f"lift > {lift} before", f"lift > {lift} after", "median support"),
                [(h.ranking, h.top, f"{h.before:.3f}", f"{h.holds:.3f}", f"{h.support:.5f}") for h in self.held],
            ),
            align(
                ("unseen pairs by", "top", "occurred", "by chance", "ratio"),
                [(a.ranking, a.top, f"{a.occurred:.3f}", f"{a.chance:.4f}", f"{a.ratio:.1f}") for a in self.appeared],
            ),
            align(
                ("log-likelihood of later counts, by", f"pairs seen < {FEW} times", "seen as often", "all pairs"),
                [
                    (one.lift, *(f"{x:.4f}" for x in (one.log_likelihood, one.of_observed, one.of_all)))
                    for one in self.likely
                ],
            ),
            align(
                ("90% interval of the lift shown", "pairs", "inside", "below", "above", "median ÷ expected"),
                [
                    (
                        c.pairs,
                        f"{c.number:,}",
                        *(f"{x:.3f}" for x in (c.inside, c.below, 1 - c.inside - c.below, c.ratio)),
                    )
                    for c in self.covered
                ],
            ),
        ]
        return "\n\n".join(parts)


def align(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in plain text: words to the left, numbers to the right."""
    lines = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )
