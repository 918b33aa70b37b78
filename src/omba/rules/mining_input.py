"""Mining input: all that mining, explaining and scoring pairs are given: vectors, evidence, forecast, catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.baskets import Label
from omba.errors import InputError
from omba.rules.catalogue import Catalogue
from omba.rules.evidence import Counted, Evidence, Observed, Rows
from omba.rules.hashing import Hashing
from omba.rules.lsh import Pairs, nearest_pairs
from omba.rules.nearest import MIN_COUNT
from omba.rules.search import FEWEST_FUNCTIONS
from omba.rules.theory import fit

if TYPE_CHECKING:
    from omba.rules.explain import Explainer

Floats = NDArray[np.floating]
Ends = tuple[Floats, Floats]
Expected = tuple[Floats, Floats, Floats]
"""The lift to expect, and both ends of its interval."""

Found = TypeVar("Found")

POOL = 1000
"""Pairs that mining looks for at least; F and H are those it takes to find so many."""
STEADIEST = 0.5
"""The least by which the count of a rule that is nearly always right varies, against Poisson's."""

Finder = Callable[[NDArray[np.bool_], int], Pairs]
"""(products that may be in a pair, how many pairs) → the nearest pairs."""


UNJUDGED = (
    "Not enough was seen yet: no lift that was foretold has been compared with what came, so take the lift to expect "
    "as a first guess."
)


class LiftForecast(Protocol):
    """What lift to expect next."""

    @property
    def judged(self) -> bool: ...
    def expect(
        self, cosine: ArrayLike, n_ab: ArrayLike, n_a: ArrayLike, n_b: ArrayLike, n: int, a: ArrayLike, b: ArrayLike
    ) -> tuple[Floats, Floats, Floats]: ...
    def highest(
        self, n_ab: NDArray[Any], n_a: NDArray[Any], n_b: NDArray[Any], n: int, enough: float = ...
    ) -> Floats: ...
    def occurs(self, lift: Floats, n_a: NDArray[Any], n_b: NDArray[Any], n: int) -> NDArray[np.bool_]: ...
    def interval(
        self, lift: ArrayLike, baskets: ArrayLike, n_a: ArrayLike, n_b: ArrayLike, n: int, season: ArrayLike
    ) -> Ends: ...
    def season(self, rows: ArrayLike, counts: NDArray[Any], n: int) -> Floats: ...


@dataclass(frozen=True, eq=False)
class MiningInput:
    """Products as vectors, and the evidence on them. Row i of every array is product i of the catalogue.

    Parameters
    ----------
    catalogue
        The products: labels, prices, categories.
    vectors
        One vector a product.
    evidence
        How many baskets hold a product, a pair, a set; the best of the observed pairs are candidates beside the
        nearest vectors.
    forecast
        Tells what lift to expect; without, rules are ranked by the cosine.
    users
        The labels of the users, whose purchases help to explain a rule.
    remembered
        The rows each of them lately bought, a line a user, −1 where there is none.
    finder
        Finds the nearest pairs in another way than on this machine.
    """

    catalogue: Catalogue
    vectors: Floats
    evidence: Evidence
    forecast: LiftForecast | None = None
    users: Sequence[Label] | None = None
    remembered: Rows | None = None
    finder: Finder | None = None
    _observed: dict[int, Observed] = field(default_factory=dict, init=False, repr=False)
    _productive: dict[tuple[float, ...], Any] = field(default_factory=dict, init=False, repr=False)
    _nearest: dict[tuple[int, Hashing, bytes], Pairs] = field(default_factory=dict, init=False, repr=False)
    _chosen: dict[Hashing, Hashing] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        sizes = {"labels": len(self.labels), "vectors": len(self.vectors), "counts": len(self.counts)}
        if len(set(sizes.values())) > 1:
            raise InputError(f"mining needs one label, vector and count a product, but has {sizes}")
        if not len(self.labels):
            raise InputError("the model is empty: learn some baskets before asking for rules")
        if self.n_baskets < 1 or not np.any(self.counts):
            raise InputError(
                f"none of the {len(self.labels)} products of the model is in the {self.n_baskets} baskets of evidence: "
                "give baskets with the same product labels"
            )

    @property
    def labels(self) -> Sequence[Label]:
        return self.catalogue.labels

    @property
    def prices(self) -> Floats | None:
        return self.catalogue.prices

    @cached_property
    def counts(self) -> Counted:
        """Baskets with each product."""
        return self.evidence.counts

    @property
    def n_baskets(self) -> int:
        return self.evidence.n_baskets

    @cached_property
    def explainer(self) -> Explainer:
        """Tells why two products belong together."""
        from omba.rules.explain import Explainer

        return Explainer(self)

    def has_learned(self, min_count: int = MIN_COUNT) -> NDArray[np.bool_]:
        """The products met in so many baskets or more, whose vectors are worth reading."""
        known = np.asarray(self.counts >= min_count)
        # A row that has learned has no zero in its first place, but for chance: only of others the whole is read.
        doubtful = np.flatnonzero(known & (self.vectors[:, 0] == 0))
        known[doubtful] = np.any(self.vectors[doubtful], axis=1)
        return known

    def observed(self, least: int = 1) -> Observed:
        """The pairs in so many baskets or more, listed once."""
        if least not in self._observed:
            listed = [each for each in self._observed if each < least]
            if listed:
                # To pick from those that are listed is quicker than to list and sort them anew.
                left, right, count = self._observed[max(listed)]
                often = np.flatnonzero(count >= least)
                self._observed[least] = left[often], right[often], count[often]
            else:
                self._observed[least] = self.evidence.observed(least)
        return self._observed[least]

    def seen(self, a: Rows, b: Rows, count: Counted) -> NDArray[np.bool_]:
        """Whether pairs, counted so often, were ever bought together."""
        seen = np.asarray(count > 0)
        if not self.evidence.complete and not seen.all():
            seen[~seen] = self.evidence.seen(a[~seen], b[~seen])
        return seen

    def expect(self, a: Rows, b: Rows, cosine: Floats, count: Counted) -> tuple[Floats, Floats, Floats]:
        """The lift to expect of pairs, and both ends of its 90% interval; NaN where there is no forecast."""
        if self.forecast is None:
            unknown = np.full(len(a), np.nan)
            return unknown, unknown, unknown
        found = self.forecast.expect(cosine, count, self.counts[a], self.counts[b], self.n_baskets, a, b)
        return self._in_season(np.column_stack([a, b]), found, count + 1.0, self.counts[a], self.counts[b])

    def highest(self, a: Rows, b: Rows, count: Counted, enough: float = 0.0) -> Floats:
        """A low end of the lift that `expect` has for none of the pairs, whatever their cosine; without a forecast it
        has no end.

        It is no higher than the highest lift that may be expected, and nothing where a pair may well not occur: there
        all that is written is a trace. Where it is below `enough` even a looser bound will do.
        """
        if self.forecast is None:
            return np.full(len(a), np.inf)
        n_ab, n_a, n_b = (np.asarray(column, np.int64) for column in (count, self.counts[a], self.counts[b]))
        most = self.forecast.highest(n_ab, n_a, n_b, self.n_baskets, enough)
        occurs, outlook = self.forecast.occurs(most, n_a, n_b, self.n_baskets), self.catalogue.outlook
        if outlook is not None and outlook.known:
            turned = n_a > n_b
            chance, factor = outlook.factors(np.column_stack([np.where(turned, b, a), np.where(turned, a, b)]))
            most, occurs = most * factor, occurs | (chance != 1.0) | (factor != 1.0)
        return np.where(occurs, most, 0.0)

    def _in_season(self, sets: Rows, found: Expected, baskets: Floats, n_a: Counted | Floats, n_b: Counted) -> Expected:
        """What is expected, by the same weeks a year ago where the products' sales move with the time of year.

        There the interval is of the sales a year ago rather than of those of late: what is about to come is hardly sold
        yet, and what is over has been. What was seen in one year alone promises nothing: a few baskets in a fortnight
        are no season, and a season may not come again, so the low end stays as low as by the sales of late.
        """
        outlook = self.catalogue.outlook
        if outlook is None or not outlook.known or self.forecast is None:
            return found
        chance, factor = outlook.factors(sets)
        moved = np.flatnonzero((chance != 1.0) | (factor != 1.0))
        if not len(moved):
            return found
        mean, low, high = (np.array(column, np.float64) for column in found)
        mean[moved] *= factor[moved]
        ends = self.forecast.interval(
            mean[moved], baskets[moved], n_a[moved], n_b[moved], self.n_baskets, chance[moved]
        )
        least = np.minimum(ends[0], low[moved])
        low[moved] = np.where(outlook.once(np.asarray(sets)[moved]), least, ends[0])
        high[moved] = ends[1]
        return mean, low, high

    def expect_sets(
        self, sets: Rows, lift: Floats, baskets: Floats, n_a: Counted | Floats, n_b: Counted, exact: bool = False
    ) -> Expected:
        """The lift to expect of sets, whose last row is the consequent, and both ends of its 90% interval.

        `lift` is what it was, and rests on so many baskets. Several antecedents are often sure of their consequent, and
        of the baskets with them a share p varies less than Poisson's counts, by 1 − p: as if the period had so many
        more. That is taken into account where counts are `exact`; where they may be too low, that is to be allowed for.
        """
        if self.forecast is None:
            return lift, lift, lift
        if exact:
            n_a = n_a / np.maximum(1.0 - lift * n_b / self.n_baskets, STEADIEST)
        season = self.forecast.season(sets, self.counts, self.n_baskets)
        low, high = self.forecast.interval(lift, baskets, n_a, n_b, self.n_baskets, season)
        return self._in_season(sets, (lift, low, high), baskets, n_a, n_b)

    @property
    def judged(self) -> bool:
        """Whether the forecast, if there is one, was ever compared with what came."""
        return self.forecast is None or self.forecast.judged

    def once(self, asked: tuple[float, ...], find: Callable[[], Found]) -> Found:
        """What was found of sets, looked for once for what is asked of them."""
        if asked not in self._productive:
            self._productive[asked] = find()
        found: Found = self._productive[asked]
        return found

    def nearest(self, among: NDArray[np.bool_], most: int, hashing: Hashing) -> Pairs:
        """The `most` nearest pairs among some products, looked for once."""
        key = (most, hashing, among.tobytes())
        if key not in self._nearest:
            if self.finder is not None and hashing.preset == "default":
                self._nearest[key] = self.finder(among, most)
            else:
                self._nearest[key] = nearest_pairs(
                    self.vectors, most, counts=among.astype(np.int64), min_count=1,
                    preset=hashing.preset, F=hashing.F, H=hashing.H, ties=hashing.ties, seed=hashing.seed,
                )  # fmt: skip
        return self._nearest[key]

    def choose(self, hashing: Hashing | None = None) -> Hashing:
        """The hashing with its F and H chosen: those it takes to find the nearest pairs of all trained products.

        They do not depend on what is asked, so that a rule has the same collisions and probability wherever it is met.
        """
        hashing = hashing or Hashing()
        if hashing not in self._chosen:
            self._chosen[hashing] = self._choose(hashing)
        return self._chosen[hashing]

    def keep(self, chosen: Hashing) -> None:
        """Go on with the F and H that were chosen for an earlier state: to choose them is to look for the nearest
        pairs, and from window to window they hardly change."""
        self._chosen[Hashing()] = chosen

    def _choose(self, hashing: Hashing) -> Hashing:
        if hashing.preset == "paper" or (hashing.F and hashing.H):
            return replace(hashing, F=hashing.shape[0], H=hashing.shape[1])
        among = self.has_learned()
        n = int(among.sum())
        if n < 2:
            few = fit(FEWEST_FUNCTIONS)
            return replace(hashing, F=hashing.F or few.F, H=hashing.H or few.H)
        pairs = self.nearest(among, min(POOL, n * (n - 1) // 2), hashing)
        return replace(hashing, F=pairs.F, H=pairs.H)
