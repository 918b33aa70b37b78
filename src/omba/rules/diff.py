"""Diff: what happened to pairs of products between two moments, by the baskets of each period.

Counts add up over a stream, so the baskets with a pair, with each product and in all are known of the time before the
earlier moment and of the time since. A pair is bought more often when its products are, and that is no news. So its
count since is held against what the products' own sales explain, in two ways: as if they sold independently of each
other (the same lift) and as if they sold hand in hand (the same share of their own baskets). Only what neither explains
is a change: more than the higher of the two, or less than the lower, by `RATIO` at least.

Given the baskets with the pair in both periods together, those since are binomial if nothing changed. Pairs for which
that is too unlikely are told, so many that no more than a `FALSE` share of them is chance (Benjamini and Hochberg,
1995, over all pairs compared). Where a count is known between two ends only, the one that speaks against a change is
taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Label
from omba.errors import InputError
from omba.rules.pair_counts import PairCounts, unpack
from omba.rules.rules import Rules
from omba.rules.rules_table import read_rules

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

RATIO, FALSE, FEWEST = 1.25, 0.05, 5
"""How far a count must be from what sales explain; the share of false changes among those told; baskets with a pair, in
either period, from which on it is compared."""

NEW, STOPPED = "first sold since", "not sold since"
"""Why a pair could not be bought in one of the periods: one of its products was not sold."""
TABLES_ONLY = (
    "the history of {} was kept without counts of pairs, by an earlier version: only the pairs among the rules kept at "
    "both moments are compared"
)


@dataclass(frozen=True)
class Change:
    """One pair, in the time before and in the time since.

    Parameters
    ----------
    antecedents
        The product that is in fewer baskets.
    consequents
        The other.
    before
        Its lift in the time before; None where one of the products was not sold then.
    since
        Its lift in the time since; None where one of the products was not sold.
    count_before
        Baskets with both in the time before, at least.
    count_since
        Baskets with both in the time since, at least.
    count_before_most
        Baskets with both in the time before, at most: the same number unless the count was not kept.
    count_since_most
        Baskets with both in the time since, at most.
    explained
        Baskets since that the products' own sales explain, by the explanation that comes nearest to what happened;
        None where there is nothing to go by.
    note
        `first sold since` or `not sold since`, where one of the products was not sold in one of the periods.
    expected_lift
        The lift to expect next, where it is known.
    """

    antecedents: tuple[Label, ...]
    consequents: tuple[Label, ...]
    before: float | None
    since: float | None
    count_before: int
    count_since: int
    count_before_most: int
    count_since_most: int
    explained: float | None = None
    note: str = ""
    expected_lift: float | None = None

    def __str__(self) -> str:
        rule = f"{', '.join(map(str, self.antecedents))} ⇒ {', '.join(map(str, self.consequents))}"
        return f"{rule}: {self.sentence()}"

    def sentence(self) -> str:
        """What happened, with the counts and the lift of both periods."""
        before = _period(self.count_before, self.count_before_most, self.before)
        since = _period(self.count_since, self.count_since_most, self.since)
        explained = "" if self.explained is None else f", where their own sales explain {self.explained:,.0f}"
        return f"{before} before, {since} since{explained}" + (f" ({self.note})" if self.note else "")


def _period(least: int, most: int, lift: float | None) -> str:
    together = "never together" if most == 0 else f"{show_bounds(least, most)} baskets"
    return together if not lift else f"{together} (lift {lift:.1f})"


def show_bounds(least: int, most: int) -> str:
    """A count that is known between two ends.

    >>> show_bounds(1_200, 1_200), show_bounds(0, 8), show_bounds(121, 129)
    ('1,200', 'at most 8', 'at least 121')
    """
    if least == most:
        return f"{least:,}"
    return f"at most {most:,}" if not least else f"at least {least:,}"


@dataclass(frozen=True)
class Diff:
    """The changes, the surest first.

    Parameters
    ----------
    emerged
        Pairs that are new: never together before, and since then more often than sales explain.
    strengthened
        Pairs that are together more often than their own sales explain.
    faded
        Pairs that are together less often than their own sales explain.
    vanished
        Pairs that were together before and are no more, though sales would have it.
    note
        What is to be said of the comparison as a whole.
    """

    emerged: list[Change]
    strengthened: list[Change]
    faded: list[Change]
    vanished: list[Change]
    note: str = ""

    def __iter__(self) -> Iterator[tuple[str, list[Change]]]:
        for name in ("emerged", "strengthened", "faded", "vanished"):
            yield name, getattr(self, name)

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Plain values, for JSON."""
        return {name: [asdict(change) for change in changes] for name, changes in self}

    def __str__(self) -> str:
        return "\n".join(
            "\n".join([f"{name.capitalize()} ({len(changes)})", *(f"  {change}" for change in changes)])
            for name, changes in self
        )


def diff(before: Rules | pa.Table, after: Rules | pa.Table) -> Diff:
    """What changed from one table of rules to a later one of the same stream: of the pairs that are in both.

    Parameters
    ----------
    before, after
        Two tables that were mined from the same stream, the older one first.

    >>> from omba import OMBA, mine_rules
    >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
    >>> before = mine_rules(model)
    >>> type(diff(before, mine_rules(model.partial_fit([["pasta", "soap"]] * 50)))).__name__
    'Diff'
    """
    rows: dict[Label, int] = {}
    first, second = (PairCounts.of_rules(_rules(table), rows) for table in (before, after))
    return compare(first, second, list(rows))


def _rules(table: Rules | pa.Table) -> Rules:
    if isinstance(table, Rules):
        return table
    missing = {"antecedents", "consequents", "count", "n_a", "n_b", "n"} - set(table.column_names)
    if missing:
        raise InputError(f"the table of rules has no column {sorted(missing)[0]!r}: give one made by rules_table")
    return read_rules(table)


def compare(before: PairCounts, after: PairCounts, labels: Sequence[Label], note: str = "") -> Diff:
    """What changed between two moments, from the counts until each; row i of the counts is the product `labels[i]`."""
    periods = Periods.of(before, after)
    verdict = periods.verdict
    told = np.flatnonzero(discoveries(verdict.p))
    told = told[np.argsort(-verdict.surprise[told], kind="stable")]
    more = verdict.more[told]
    gone, new = periods.since[1][told] == 0, periods.before[1][told] == 0
    parts = (told[more & new], told[more & ~new], told[~more & ~gone], told[~more & gone])
    emerged, strengthened, faded, vanished = ([periods.change(row, labels) for row in part.tolist()] for part in parts)
    return Diff(emerged, strengthened, faded, vanished, note)


class Verdict(NamedTuple):
    """What two periods say of each pair: whether it is up or down, the baskets that sales explain, how unlikely it
    would be if nothing had changed, and how far it is from that."""

    more: NDArray[np.bool_]
    explained: Floats
    p: Floats
    surprise: Floats


@dataclass(frozen=True, eq=False)
class Periods:
    """Pairs with their counts in two periods, and how unlikely these would be if nothing had changed.

    Parameters
    ----------
    left
        A product of each pair.
    right
        The other.
    before
        Baskets with both in the time before, at least and at most.
    since
        The same in the time since.
    sold_before
        Baskets with either product in the time before.
    sold_since
        The same in the time since.
    baskets
        Baskets in all, before and since.
    """

    left: Longs
    right: Longs
    before: tuple[Longs, Longs]
    since: tuple[Longs, Longs]
    sold_before: tuple[Longs, Longs]
    sold_since: tuple[Longs, Longs]
    baskets: tuple[int, int]

    @classmethod
    def of(cls, before: PairCounts, after: PairCounts) -> Periods:
        """The pairs worth comparing, by the counts until two moments."""
        # A pair that one of them tells nothing of cannot be compared.
        keys = np.union1d(*(counts.keys[counts.counts >= FEWEST] for counts in (before, after)))
        for counts in (before, after):
            if counts.unkept is None:
                keys = keys[np.isin(keys, counts.keys)]
        (least, most), (least_after, most_after) = before.ends(keys), after.ends(keys)
        left, right = unpack(keys)
        sold = before.sales(left), before.sales(right)
        sold_since = after.sales(left) - sold[0], after.sales(right) - sold[1]
        # Nobody buys a pair more often than either of its products.
        most = np.minimum(most, np.minimum(*sold))
        since = np.maximum(least_after - most, 0), np.maximum(most_after - least, 0)
        since = since[0], np.maximum(since[0], np.minimum(since[1], np.minimum(*sold_since)))
        enough = np.maximum(most, since[1]) >= FEWEST
        pick = np.flatnonzero(enough)
        return cls(
            left[pick], right[pick], (least[pick], most[pick]), (since[0][pick], since[1][pick]),
            (sold[0][pick], sold[1][pick]), (sold_since[0][pick], sold_since[1][pick]),
            (before.baskets, after.baskets - before.baskets),
        )  # fmt: skip

    @cached_property
    def verdict(self) -> Verdict:
        """What the counts say of each pair."""
        low, high = self._ratios()
        (least, most), (since_least, since_most) = self.before, self.since
        up = since_least > RATIO * high * most
        down = since_most * RATIO < low * least
        count = np.where(up, since_least, since_most).astype(np.float64)
        other = np.where(up, most, least).astype(np.float64)
        ratio = np.where(up, high, low)
        explained = ratio * other
        p, surprise = np.ones(len(count)), np.zeros(len(count))
        for rows, tail in ((np.flatnonzero(up), upper_tail), (np.flatnonzero(down & ~up), lower_tail)):
            p[rows] = tail(count[rows], other[rows], ratio[rows])
            surprise[rows] = deviance(count[rows], other[rows], ratio[rows])
        # A product that is new has no past to go by: its pairs are held against chance.
        new = np.flatnonzero(np.minimum(*self.sold_before) == 0)
        count, chance = since_least[new].astype(np.float64), self._chance(self.sold_since, self.baskets[1])[new]
        p[new], surprise[new] = poisson_tail(count, chance)
        p[new[count <= RATIO * chance]] = 1.0
        up[new] = True
        explained[(np.minimum(*self.sold_before) == 0) | (np.minimum(*self.sold_since) == 0)] = np.nan
        # Changes either way were looked for.
        return Verdict(up, explained, np.minimum(2 * p, 1.0), surprise)

    def _ratios(self) -> tuple[Floats, Floats]:
        """Baskets since for each before, as either explanation has it: the lower and the higher."""
        product_before = np.multiply(*(sold.astype(np.float64) for sold in self.sold_before))
        product_since = np.multiply(*(sold.astype(np.float64) for sold in self.sold_since))
        growth = product_since / np.maximum(product_before, 1.0)
        apart = growth * self.baskets[0] / max(self.baskets[1], 1)
        hand_in_hand = np.sqrt(growth)
        # A product that is not sold any more is what happened, and explains nothing: its pairs go by all baskets.
        stopped = product_since == 0
        whole = np.full(len(growth), self.baskets[1] / max(self.baskets[0], 1))
        low, high = np.minimum(apart, hand_in_hand), np.maximum(apart, hand_in_hand)
        return np.where(stopped, whole, low), np.where(stopped, whole, high)

    def _chance(self, sold: tuple[Longs, Longs], baskets: int) -> Floats:
        return np.asarray(sold[0] * sold[1].astype(np.float64) / max(baskets, 1))

    def change(self, row: int, labels: Sequence[Label]) -> Change:
        """One pair as a change, from the rarer product to the other."""
        a, b = int(self.left[row]), int(self.right[row])
        totals = [int(self.sold_before[side][row] + self.sold_since[side][row]) for side in (0, 1)]
        antecedent, consequent = (labels[b], labels[a]) if totals[0] > totals[1] else (labels[a], labels[b])
        up = bool(self.verdict.more[row])
        # The ends that the change was judged by.
        before, since = int(self.before[int(up)][row]), int(self.since[int(not up)][row])
        chances = [
            float(self._chance((sold[0][row : row + 1], sold[1][row : row + 1]), baskets)[0])
            for sold, baskets in zip((self.sold_before, self.sold_since), self.baskets, strict=True)
        ]
        lifts = [count / chance if chance else None for count, chance in zip((before, since), chances, strict=True)]
        explained = float(self.verdict.explained[row])
        return Change(
            (antecedent,), (consequent,), lifts[0], lifts[1],
            int(self.before[0][row]), int(self.since[0][row]), int(self.before[1][row]), int(self.since[1][row]),
            None if np.isnan(explained) else round(explained, 2),
            NEW if not chances[0] else STOPPED if not chances[1] else "",
        )  # fmt: skip


# If nothing changed, the baskets since are binomial among those of both periods, with the odds `ratio`. (SciPy's
# special functions are imported where they are needed, since they take a while.)


def upper_tail(count: Floats, other: Floats, ratio: Floats) -> Floats:
    """How likely as many baskets since, or more, would be."""
    from scipy.special import betainc

    return np.where(count > 0, betainc(np.maximum(count, 1.0), other + 1.0, ratio / (1.0 + ratio)), 1.0)


def lower_tail(count: Floats, other: Floats, ratio: Floats) -> Floats:
    """How likely as few baskets since, or fewer, would be."""
    from scipy.special import betainc

    return np.where(other > 0, betainc(np.maximum(other, 1.0), count + 1.0, 1.0 / (1.0 + ratio)), 1.0)


def deviance(count: Floats, other: Floats, ratio: Floats) -> Floats:
    """How far the counts are from those that nothing would have changed, in logarithms of likelihood."""
    from scipy.special import xlogy

    total, share = count + other, ratio / (1.0 + ratio)
    return np.asarray(
        xlogy(count, count / np.maximum(total * share, 1e-12))
        + xlogy(other, other / np.maximum(total * (1.0 - share), 1e-12))
    )


def poisson_tail(count: Floats, chance: Floats) -> tuple[Floats, Floats]:
    """How likely as many baskets would be by chance, and how far they are from it in logarithms of likelihood."""
    from scipy.special import gammainc, xlogy

    p = np.where(count > 0, gammainc(np.maximum(count, 1.0), np.maximum(chance, 1e-12)), 1.0)
    return p, np.asarray(xlogy(count, count / np.maximum(chance, 1e-12)) - count + chance)


def discoveries(p: Floats, share: float = FALSE) -> NDArray[np.bool_]:
    """Which of many tests to believe, so that no more than a share of those is chance (Benjamini and Hochberg, 1995).

    >>> discoveries(np.array([0.001, 0.9, 0.02, 0.3])).tolist()
    [True, False, True, False]
    """
    order = np.argsort(p, kind="stable")
    passes = np.flatnonzero(p[order] <= share * np.arange(1, len(p) + 1) / max(len(p), 1))
    believed = np.zeros(len(p), bool)
    if len(passes):
        believed[order[: passes[-1] + 1]] = True
    return believed
