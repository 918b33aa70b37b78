"""Truth by length: do rules of two, three and more products hold in what comes after, each length for itself?

Of each length the best rules by the order of mining are judged beside the best by confidence, by lift and by shrunk
lift, all out of the same rules: those that were found to say more than every shorter one. Where baskets before are
given as exact evidence, sets of any size are known; without, those of three that the model counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from omba.baskets import Baskets, Moment
from omba.evaluation.period_counts import Floats, PeriodCounts, sets_of
from omba.evaluation.truth import split
from omba.model import OMBA
from omba.rules import Filter, Rules, mine
from omba.rules.from_model import mining_input

MANY = 10**6
"""More rules than there are of one length."""


@dataclass(frozen=True)
class HeldByLength:
    """The best `top` rules of one length by one order.

    Parameters
    ----------
    antecedents
        How many they have.
    ranking
        The order they were taken in.
    top
        How many were judged: as many as asked for, or all that there are.
    holds
        The share of them whose lift was above the one asked for afterwards.
    covered
        The share whose lift afterwards lay in the 90% interval of the lift to expect.
    """

    antecedents: int
    ranking: str
    top: int
    holds: float
    covered: float


@dataclass(frozen=True)
class TruthByLength:
    """Rules judged by their length. `str()` is a table.

    Parameters
    ----------
    lift
        The lift a rule must have afterwards.
    held
        One line for each length and order.
    """

    lift: float
    held: Sequence[HeldByLength]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{'antecedents':>11}  {'best by':<26}{'rules':>7}{'hold':>8}{'covered':>9}"]
        lines += [f"{h.antecedents:>11}  {h.ranking:<26}{h.top:>7,}{h.holds:>8.3f}{h.covered:>9.3f}" for h in self.held]
        return "\n".join([*lines, f"holds: a lift above {self.lift:g} afterwards"])


def judge_by_length(
    baskets: Baskets,
    until: Moment | None,
    model: OMBA,
    antecedents: int = 2,
    top: int = 100,
    lift: float = 5.0,
    exact: bool = False,
) -> TruthByLength:
    """Judge the rules of a model that has learned the baskets before `until` by those from then on."""
    past, later = split(baskets, until)
    given = mining_input(model, past if exact else None)
    after = PeriodCounts.of(later, given)
    held = []
    for size in range(2, antecedents + 2):
        found = mine(given, MANY if size > 2 else 10 * top, antecedents=size - 1, where=Filter(length=size))
        for name, order in orders(found).items():
            if len(found):
                best = found.take(np.argsort(-order, kind="stable")[:top])
                held.append(judge_rules(name, size - 1, best, given, after, lift))
    return TruthByLength(lift, held)


def orders(rules: Rules) -> dict[str, Floats]:
    """What rules of one length are ranked by, the higher the better."""
    count = np.asarray(rules["count"], np.float64)
    chance = count / np.asarray(rules["lift"], np.float64)
    return {
        "expected_lift_low": np.asarray(rules["expected_lift_low"]),
        "confidence": np.asarray(rules["confidence"]),
        "lift": np.asarray(rules["lift"]),
        "gamma-Poisson shrunk lift": np.asarray(gammaincinv(1.0 + count, 0.05) / (1.0 + chance)),
    }


def judge_rules(
    name: str, antecedents: int, rules: Rules, given: Any, after: PeriodCounts, lift: float
) -> HeldByLength:
    """How many of these rules hold, and how many lifts lie in their interval, of those whose sides were sold."""
    (sets,) = sets_of(rules, given)
    count, chance = after.strength(sets)
    sold = chance > 0
    shown = count[sold] / chance[sold]
    low, high = (np.asarray(rules[f"expected_lift_{end}"])[sold] for end in ("low", "high"))
    inside = float(((shown >= low) & (shown <= high)).mean()) if sold.any() else float("nan")
    return HeldByLength(antecedents, name, len(rules), float((count > lift * chance).mean()), inside)
