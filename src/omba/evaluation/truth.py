"""The truth test: learn up to a day, and see whether the rules hold in what comes after.

A rule holds if its lift is above `lift` in the baskets from `until` on. Rankings are judged side by side by how many
of their best rules hold; unseen pairs by how often they then occur, against chance; the expected lift by how likely
it made the later counts, and by how many of the lifts shown lie in its 90% interval. All counts are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaincinv, gammaln

from omba.baskets import Baskets, Moment
from omba.errors import InputError
from omba.model import OMBA
from omba.rules import Counts, Filter, Rules, Space, mine, nearest_pairs
from omba.rules.from_model import space_of

Rows = NDArray[np.integer]
Floats = NDArray[np.float64]

FEW = 5
"""Pairs seen fewer times are those counting alone says little of; products must have been seen as often."""
MOST_PAIRS = 3_000_000
"""Pairs whose likelihood is taken: all there are, or so many drawn at random."""


@dataclass(frozen=True)
class Held:
    """The best `top` rules of a ranking: shares with the lift asked for before and after, and their rarity."""

    ranking: str
    top: int
    before: float
    holds: float
    support: float
    """Median support of those that hold, before."""


@dataclass(frozen=True)
class Appeared:
    """The best `top` unseen pairs: the share that then occurred, and what chance would have brought.

    Chance is the mean over the same pairs of 1 − exp(−n′_a·n′_b / n′): the probability of at least one basket with
    both, were the products bought independently as often as they were in the period after.
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
    """How likely the later counts of pairs seen fewer than 5 times were: the mean Poisson log-likelihood."""

    lift: str
    log_likelihood: float


@dataclass(frozen=True)
class Covered:
    """Share of pairs whose later lift lay in the 90% interval, and below it."""

    pairs: str
    number: int
    inside: float
    below: float


@dataclass(frozen=True)
class Truth:
    """What came true. `str()` gives tables, `to_dict()` plain numbers."""

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
            aligned(
                ("best rules by", "top", f"lift > {lift} before", f"lift > {lift} after", "median support"),
                [(h.ranking, h.top, f"{h.before:.3f}", f"{h.holds:.3f}", f"{h.support:.5f}") for h in self.held],
            ),
            aligned(
                ("unseen pairs by", "top", "occurred", "by chance", "ratio"),
                [(a.ranking, a.top, f"{a.occurred:.3f}", f"{a.chance:.4f}", f"{a.ratio:.1f}") for a in self.appeared],
            ),
            aligned(
                (f"later counts of pairs seen < {FEW} times, by", "log-likelihood"),
                [(one.lift, f"{one.log_likelihood:.4f}") for one in self.likely],
            ),
            aligned(
                ("90% interval of the lift shown", "pairs", "inside", "below"),
                [(c.pairs, f"{c.number:,}", f"{c.inside:.3f}", f"{c.below:.3f}") for c in self.covered],
            ),
        ]
        return "\n\n".join(parts)


def truth_test(
    baskets: Baskets,
    until: Moment | None = None,
    model: OMBA | None = None,
    every: str | int = "1d",
    top: Sequence[int] = (100, 1000),
    lift: float = 5.0,
    unseen: int = 200,
    seed: int = 0,
) -> Truth:
    """Learn the baskets before `until` and judge the rules by the baskets from then on.

    Without `until`, three quarters of the baskets are learned. A model that has learned already is taken as it is, and
    must have learned nothing from `until` on; one that has not is trained here.
    """
    past, later = split(baskets, until)
    model = OMBA(seed=seed) if model is None else model
    if model.n_baskets == 0:
        model.fit(past, every)
    learned: Any = model
    space = space_of(learned)
    before, after = Known.of(past, space), Known.of(later, space)
    rules = mine(space, max(top))
    held = [judge("expected_lift_low", t, sets_of(rules.head(t), space), before, after, lift) for t in top]
    for name, best in others(space, before, max(top)).items():
        held += [judge(name, t, [best[:t]], before, after, lift) for t in top]
    pairs = random_pairs(before, after, seed)
    return Truth(
        baskets_before=before.n,
        baskets_after=after.n,
        lift=lift,
        held=held,
        appeared=[appear(space, after, by, unseen) for by in ("expected_lift", "expected_lift_low", "similarity")],
        likely=likelihoods(space, before, after, pairs),
        covered=coverage(space, before, after, rules, pairs),
    )


def split(baskets: Baskets, until: Moment | None) -> tuple[Baskets, Baskets]:
    if until is None:
        middle = len(baskets) * 3 // 4
        past, later = baskets.slice(0, middle), baskets.slice(middle, len(baskets))
    else:
        past, later = baskets.between(None, until), baskets.between(until, None)
    if not len(past) or not len(later):
        raise InputError(
            f"of {len(baskets):,} baskets {len(past):,} are before {until!r} and {len(later):,} after: "
            "choose a day with baskets on both sides"
        )
    return past, later


@dataclass(frozen=True)
class Known:
    """Exact counts of a run of baskets, by the model's rows; pairs by their place in a sorted list."""

    counts: Counts
    keys: NDArray[np.int64]
    pairs: NDArray[np.int64]

    @classmethod
    def of(cls, baskets: Baskets, space: Space) -> Known:
        counts = Counts.of(baskets, space.labels)
        a, b, n = counts.observed()
        keys = a.astype(np.int64) << 32 | b
        order = np.argsort(keys)
        return cls(counts, keys[order], n[order].astype(np.int64))

    @property
    def n(self) -> int:
        return self.counts.n

    @property
    def observed(self) -> tuple[Rows, Rows]:
        return self.keys >> 32, self.keys & 0xFFFFFFFF

    def together(self, a: Rows, b: Rows) -> NDArray[np.int64]:
        """Baskets with both of each pair."""
        keys = np.minimum(a, b).astype(np.int64) << 32 | np.maximum(a, b)
        if not len(self.keys):
            return np.zeros(len(keys), np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.pairs[places], 0)

    def chance(self, a: Rows, b: Rows) -> Floats:
        """Baskets with both that chance alone would bring."""
        products = self.counts.products
        return products[a] * products[b] / max(self.n, 1)

    def strength(self, sets: Rows) -> tuple[NDArray[np.int64], Floats]:
        """Baskets with each set, the consequent standing last, and those that chance alone would bring."""
        if sets.shape[1] == 2:
            return self.together(sets[:, 0], sets[:, 1]), self.chance(sets[:, 0], sets[:, 1])
        n_a, n_b = self.counts.itemsets(sets[:, :-1]), self.counts.products[sets[:, -1]]
        return self.counts.itemsets(sets), n_a * n_b / max(self.n, 1)


def sets_of(rules: Rules, space: Space) -> list[Rows]:
    """Rules as rows, those of one length together, antecedents first."""
    row = {label: place for place, label in enumerate(space.labels)}
    sets = [[*(row[x] for x in a), *(row[x] for x in c)] for a, c in rules.sides]
    return [np.array([s for s in sets if len(s) == size]) for size in sorted({len(s) for s in sets})]


def judge(name: str, top: int, sets: list[Rows], before: Known, after: Known, lift: float) -> Held:
    """How many of these rules have the lift, before and after."""
    parts = [(*before.strength(rows), *after.strength(rows)) for rows in sets]
    n, chance, later, later_chance = (np.concatenate(column) for column in zip(*parts, strict=True))
    holds = later > lift * later_chance
    support = float(np.median(n[holds]) / before.n) if holds.any() else float("nan")
    return Held(name, top, float((n > lift * chance).mean()), float(holds.mean()), support)


def others(space: Space, before: Known, top: int) -> dict[str, Rows]:
    """The best pairs by other orders, for comparison."""
    a, b = before.observed
    n, chance = before.pairs, before.chance(a, b)

    def best(score: Floats) -> Rows:
        rows = np.argsort(-score, kind="stable")[:top]
        return np.column_stack([a[rows], b[rows]])

    near = nearest_pairs(space.vectors, top, counts=space.counts)
    paper = nearest_pairs(space.vectors, top, counts=space.counts, preset="paper", ties=False)
    return {
        "cosine": np.column_stack([near.left, near.right]),
        "collisions, as in the paper": np.column_stack([paper.left, paper.right]),
        "highest lift": best(n / chance),
        "gamma-Poisson shrunk lift": best(gammaincinv(1.0 + n, 0.05) / (1.0 + chance)),
    }


def appear(space: Space, after: Known, by: str, top: int) -> Appeared:
    """How many of the best unseen pairs then occurred."""
    rules = mine(space, top, sort=by, where=Filter(status="unseen", length=2))
    if not len(rules):
        return Appeared(by, 0, float("nan"), float("nan"))
    (pairs,) = sets_of(rules, space)
    occurred, chance = after.strength(pairs)
    return Appeared(by, len(pairs), float((occurred > 0).mean()), float((1 - np.exp(-chance)).mean()))


def random_pairs(before: Known, after: Known, seed: int) -> tuple[Rows, Rows]:
    """Pairs of products sold often enough before, and at all after: all, or very many at random."""
    rows = np.flatnonzero((before.counts.products >= FEW) & (after.counts.products > 0))
    if len(rows) * (len(rows) - 1) // 2 <= MOST_PAIRS:
        a, b = np.triu_indices(len(rows), 1)
        return rows[a], rows[b]
    a, b = np.random.default_rng(seed).integers(0, len(rows), (2, MOST_PAIRS))
    return rows[a[a != b]], rows[b[a != b]]


def expected(space: Space, before: Known, a: Rows, b: Rows) -> tuple[Floats, Floats, Floats]:
    """The forecast for pairs, block by block; low ends that are but a trace are 0."""
    unit = space.vectors / np.maximum(np.linalg.norm(space.vectors, axis=1, keepdims=True), 1e-12)
    parts = []
    for start in range(0, len(a), 1 << 18):
        x, y = a[start : start + (1 << 18)], b[start : start + (1 << 18)]
        cosine = np.einsum("ij,ij->i", unit[x], unit[y])
        assert space.expected is not None
        parts.append(space.expected(x, y, cosine, before.together(x, y)))
    mean, low, high = (np.concatenate(column).astype(np.float64) for column in zip(*parts, strict=True))
    return mean, np.where(low <= 1e-5 * mean, 0.0, low), high


def likelihoods(space: Space, before: Known, after: Known, pairs: tuple[Rows, Rows]) -> list[Likely]:
    """Mean log-likelihood of later counts, by the lift expected and by simpler ways to tell it."""
    a, b = pairs
    n, chance = before.together(a, b), before.chance(a, b)
    later, later_chance = after.together(a, b), after.chance(a, b)
    few = n < FEW
    unseen = few & (n == 0)
    # Raw lift says that what was not seen never comes; its best case is the mean lift of the unseen, in hindsight.
    floor = max(later[unseen].sum(), 0.5) / max(later_chance[unseen].sum(), 1e-9)
    shape, mean = fitted_prior(n, chance)
    lifts = {
        "expected lift": expected(space, before, a, b)[0],
        "counts alone, prior fitted": (shape + n) / (shape / mean + chance),
        "constant-prior shrinkage": (1.0 + n) / (1.0 + chance),
        "raw lift": np.where(n > 0, n / chance, floor),
    }
    return [Likely(name, poisson(later[few], (later_chance * value)[few])) for name, value in lifts.items()]


def poisson(counts: NDArray[np.int64], mean: Floats) -> float:
    return float(np.mean(counts * np.log(mean) - mean - gammaln(counts + 1.0)))


def fitted_prior(n: NDArray[np.int64], chance: Floats) -> tuple[float, float]:
    """Shape and mean of the gamma prior under which the counts are most likely (W. DuMouchel, 1999)."""
    some = np.random.default_rng(0).permutation(len(n))[:200_000]
    n, chance = n[some], chance[some]

    def cost(logs: Floats) -> float:
        shape, mean = np.exp(logs)
        mu = mean * chance
        terms = (
            gammaln(n + shape) - gammaln(shape) + shape * np.log(shape / (shape + mu)) + n * np.log(mu / (shape + mu))
        )
        return -float(terms.mean())

    shape, mean = np.exp(minimize(cost, np.zeros(2), method="Nelder-Mead").x)
    return float(shape), float(mean)


def coverage(space: Space, before: Known, after: Known, rules: Rules, pairs: tuple[Rows, Rows]) -> list[Covered]:
    """How often the lift shown lay in the interval: of the best rules, and of pairs by status."""
    a, b = pairs
    n = before.together(a, b)
    groups = {f"{name}, any": (a[kept], b[kept]) for name, kept in
              (("observed", n >= FEW), ("rare", (n > 0) & (n < FEW)), ("unseen", n == 0))}  # fmt: skip
    best = next((rows for rows in sets_of(rules, space) if rows.shape[1] == 2), np.empty((0, 2), np.int64))
    out = []
    for name, (x, y) in {f"best {len(best):,} pairs": (best[:, 0], best[:, 1]), **groups}.items():
        later, chance = after.together(x, y), after.chance(x, y)
        sold = chance > 0
        if not sold.any():
            continue
        _, low, high = (column[sold] for column in expected(space, before, x, y))
        shown = later[sold] / chance[sold]
        inside, below = (shown >= low) & (shown <= high), shown < low
        out.append(Covered(name, int(sold.sum()), float(inside.mean()), float(below.mean())))
    return out


def aligned(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in plain text: words to the left, numbers to the right."""
    lines = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )
