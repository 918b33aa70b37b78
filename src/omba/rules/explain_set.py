"""Explain a set: what a rule with several antecedents says beyond every shorter rule to the same consequent.

A part of the antecedents leads to the consequent with a confidence of its own; the improvement is what all of them add
to it. Among the baskets with the part, those with all antecedents are compared with the others: Newcombe's 90% interval
of the difference, and Fisher's p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from omba.baskets import Label
from omba.baskets.names import show
from omba.errors import InputError
from omba.rules.measures import measure
from omba.rules.mining_input import MiningInput
from omba.rules.rule import Rule

Z = 1.6449
"""The 95% quantile of a standard normal: an interval of 90%."""


@dataclass(frozen=True)
class Part:
    """A shorter rule, from some of the antecedents.

    Parameters
    ----------
    antecedents
        Those of them that it has.
    confidence
        How often they lead to the consequent.
    improvement
        How much oftener all antecedents do.
    improvement_low, improvement_high
        Both ends of its 90% interval.
    fishers_p
        The probability that chance improves it so much.
    """

    antecedents: tuple[Label, ...]
    confidence: float
    improvement: float
    improvement_low: float
    improvement_high: float
    fishers_p: float


@dataclass(frozen=True)
class SetExplanation:
    """What a rule with several antecedents rests on. `str()` tells it in words.

    Parameters
    ----------
    rule
        The rule, with its counts.
    parts
        The shorter rules, those of one antecedent first.
    """

    rule: Rule
    parts: tuple[Part, ...]

    @property
    def redundant(self) -> bool:
        """Whether some shorter rule says as much, as far as can be told."""
        return any(not part.improvement_low > 0 for part in self.parts)

    @property
    def antecedents(self) -> tuple[Label, ...]:
        """The products on the left."""
        return self.rule.antecedents

    @property
    def consequent(self) -> Label:
        """The product on the right."""
        return self.rule.consequents[0]

    @property
    def count(self) -> int:
        """Baskets with all of them; with `at_least`, no fewer."""
        return self.rule.count

    @property
    def confidence(self) -> float:
        """The share of the baskets with the antecedents that hold the consequent too."""
        return self.rule.confidence

    @property
    def lift(self) -> float:
        """That share over the share of all baskets that hold the consequent."""
        return self.rule.lift

    @property
    def at_least(self) -> bool:
        """Whether there may be more such baskets than were counted."""
        return self.rule.count_at_least

    def to_dict(self) -> dict[str, Any]:
        rule = self.rule
        return {
            "antecedents": rule.antecedents,
            "consequent": self.consequent,
            **{name: getattr(rule, name) for name in ("count", "n_a", "confidence", "lift")},
            "at_least": self.at_least,
            "parts": [asdict(part) for part in self.parts],
            "redundant": self.redundant,
        }

    def __str__(self) -> str:
        rule, bound = self.rule, "at least " if self.at_least else ""
        lines = [
            f"{rule}: {bound}{rule.count:,} of {rule.n_a:,} baskets ({rule.confidence:.0%}), "
            f"{rule.lift:.1f} times as often as by chance."
        ]
        for part in self.parts:
            lines.append(
                f"  {' + '.join(map(str, part.antecedents))} alone: {part.confidence:.0%}; together "
                f"{100 * part.improvement:+.0f} points ({100 * part.improvement_low:+.0f} to "
                f"{100 * part.improvement_high:+.0f}), p = {part.fishers_p:.2g}"
            )
        lines.append("A shorter rule says as much." if self.redundant else "It says more than every shorter rule.")
        return "\n".join(lines)


def explain_set(given: MiningInput, antecedents: Sequence[Label], consequent: Label) -> SetExplanation:
    """What a rule with several antecedents says beyond its parts."""
    find = given.catalogue.find
    labels = tuple(dict.fromkeys(find(label) for label in antecedents))
    target = find(consequent)
    if len(labels) < 2 or target in labels:
        raise InputError(
            f"{show(target, None)} and {len(labels)} antecedents make no rule of several products: give two or more, "
            "and a consequent that is none of them"
        )
    rule = count_set(given, labels, target)
    members, row = [given.catalogue.row(label) for label in labels], given.catalogue.row(target)
    parts = []
    for size in range(1, len(members)):
        for chosen in combinations(range(len(members)), size):
            some = [members[k] for k in chosen]
            n_p, together = _count(given, some), _count(given, [*some, row])
            names = tuple(labels[k] for k in chosen)
            parts.append(compare(names, rule.count, rule.n_a, together, n_p))
    return SetExplanation(rule, tuple(parts))


def count_set(given: MiningInput, antecedents: Sequence[Label], consequent: Label) -> Rule:
    """The rule from some products to another, with its counts as far as they are known."""
    members, row = [given.catalogue.row(label) for label in antecedents], given.catalogue.row(consequent)
    sets = np.array([[*members, row]], np.int64)
    count, n_a = _count(given, sets[0].tolist()), _count(given, members)
    at_least = not bool(given.evidence.exact(sets)[0])
    counts = count, n_a, int(given.counts[row]), given.n_baskets
    return Rule(tuple(antecedents), (consequent,), *counts, count_at_least=at_least)


def _count(given: MiningInput, rows: list[int]) -> int:
    if len(rows) == 1:
        return int(given.counts[rows[0]])
    return int(given.evidence.itemsets(np.array([rows], np.int64))[0])


def compare(antecedents: tuple[Label, ...], count: int, n_a: int, with_part: int, n_p: int) -> Part:
    """A part beside the whole: `count` of `n_a` baskets with all antecedents, `with_part` of `n_p` with the part."""
    confidence, whole = with_part / max(1, n_p), count / max(1, n_a)
    others, held = n_p - n_a, with_part - count
    if others <= 0 or n_a <= 0:
        return Part(antecedents, confidence, 0.0, 0.0, 0.0, 1.0)
    # Those without the rest are what the part is diluted by: the improvement is their share of the difference.
    share = others / n_p
    low_1, high_1 = wilson(count, n_a)
    low_0, high_0 = wilson(held, others)
    rest = held / others
    difference = whole - rest
    low = difference - np.hypot(whole - low_1, high_0 - rest)
    high = difference + np.hypot(high_1 - whole, rest - low_0)
    p = float(measure("fishers_p", count, n_a, with_part, n_p))
    return Part(antecedents, confidence, whole - confidence, float(share * low), float(share * high), p)


def wilson(count: int, n: int) -> tuple[float, float]:
    """Wilson's 90% interval of a share.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.541, 0.931]
    """
    share, z = count / n, Z * Z / n
    middle, half = share + z / 2, float(np.sqrt(share * (1 - share) * z + z * z / 4))
    return (middle - half) / (1 + z), (middle + half) / (1 + z)
