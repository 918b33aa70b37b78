"""View: the published state of a model, whole and unchanging. A request is answered from one view from start to end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Clock, Label
from omba.baskets.identity import Identity
from omba.model import OMBA
from omba.rules import Catalogue, MiningInput, Rules
from omba.rules.from_model import catalogue_of
from omba.rules.nearest import cosines as cosines_of
from omba.rules.nearest import scales_of
from omba.rules.pair_counts import KeptEvidence, PairCounts
from omba.rules.rules_table import read_rules
from omba.service.views.history_view import HistoryEntry, show_tick
from omba.service.views.pair_index import PairIndex
from omba.service.views.product_index import ProductIndex
from omba.service.views.quantised_index import QuantisedIndex, best
from omba.service.views.rule_index import RuleIndex
from omba.service.views.rule_search import RuleSearch

T = TypeVar("T")

TOLD, OFTEN = 8, 2_000
"""Products bought instead of one and with it that its page has; those of products that more customers than this buy
are worked out with the view, since that takes as long as there are customers."""
LEAST = 2
"""A vector learned from fewer baskets says nothing yet."""


@dataclass(frozen=True, eq=False)
class View:
    """What was known at one moment: products, vectors of unit length, rules. Of the present also the model itself."""

    clock: Clock
    tick: int
    n_baskets: int
    product_index: ProductIndex
    vectors: NDArray[np.float32]
    rule_index: RuleIndex
    history_entry: HistoryEntry | None = None
    model: OMBA | None = None
    places: NDArray[np.float32] | None = None
    _cache: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def now(cls, model: OMBA, rules: Rules | None, places: NDArray[np.float32] | None = None) -> View:
        """The present, from a model and its rules."""
        catalogue = catalogue_of(model)
        product_index = ProductIndex(catalogue, model.product_counts)
        tick = model.n_windows if model.clock is Clock.NONE else model.last_time + 1
        rule_index = RuleIndex(no_rules(catalogue) if rules is None else replace(rules, catalogue=catalogue))
        return cls(
            model.clock, tick, model.n_baskets, product_index, model.product_vectors, rule_index, None, model, places
        )

    @classmethod
    def of_entry(
        cls,
        history_entry: HistoryEntry,
        labels: Sequence[Label],
        codes: dict[Label, int],
        attributes: pa.Table | None,
        identity: Identity | None = None,
    ) -> View:
        """A kept window."""
        entry = history_entry.entry
        catalogue = Catalogue(
            labels[: entry.n_labels], history_entry.prices, attributes, entry.counts, codes, identity=identity
        )
        product_index = ProductIndex(catalogue, entry.counts)
        rule_index = RuleIndex(read_rules(entry.rules, catalogue))
        return cls(
            entry.clock,
            entry.tick,
            entry.n_baskets,
            product_index,
            entry.vectors,
            rule_index,
            history_entry,
            None,
            entry.places,
        )

    def with_rules(self, rules: Rules | None) -> View:
        """This view with other rules; none change nothing."""
        if rules is None:
            return self
        return replace(self, rule_index=RuleIndex(replace(rules, catalogue=self.catalogue)), _cache={})

    def ready(self) -> View:
        """Work out now what requests will need."""
        _ = self.product_index.ready(), self.rule_index.ready()
        _ = self.pair_index, self.quantised_index, self.scales, self.trained, self.log_share, self.pair_counts
        if self.pair_index is not None:
            self.pair_index.ready()
        if self.rule_search is not None:
            self.rule_search.ready()
        if self.model is not None and self.n_baskets:
            # A product's page has its family and what it is bought with or instead of.
            habits = self.model.assortment.ready().habits()
            often = np.flatnonzero(habits.customers > OFTEN)
            self.cache("told", lambda: {row: self.likely_partners(row) for row in often.tolist()})
        return self

    @property
    def at(self) -> str:
        return show_tick(self.clock, self.tick)

    @property
    def past(self) -> bool:
        """Whether this is a kept window rather than the present."""
        return self.model is None

    @property
    def catalogue(self) -> Catalogue:
        """The products, to be searched and found."""
        return self.product_index.catalogue

    @cached_property
    def pair_index(self) -> PairIndex | None:
        """All pairs with their evidence; known of the present alone."""
        if self.model is None or not len(self.product_index):
            return None
        return PairIndex.of(self.model, self.catalogue, self.rule_index.table.hashing)

    @cached_property
    def rule_search(self) -> RuleSearch | None:
        """Filters and orders over all counted pairs; of the past over the most frequent, as far as they were kept."""
        if self.pair_index is not None:
            return RuleSearch(self.rule_index, self.pair_index)
        kept = None if self.model is not None or not self.n_baskets else self.pair_counts
        if kept is None or not len(kept.keys):
            return None
        evidence = KeptEvidence(kept, len(self.product_index))
        given = MiningInput(self.catalogue, self.vectors, evidence)
        return RuleSearch(self.rule_index, PairIndex.of_past(given, self.rule_index.table.hashing))

    @cached_property
    def pair_counts(self) -> PairCounts | None:
        """How often products and pairs were bought until this moment; None where that was not kept."""
        if self.model is not None:
            return PairCounts.of(self.model.evidence, len(self.product_index))
        return None if self.history_entry is None else self.history_entry.entry.pairs

    @cached_property
    def trained(self) -> NDArray[np.bool_]:
        """The products whose vectors are worth reading."""
        return np.asarray(self.product_index.counts >= LEAST)

    def cache(self, name: str, work: Callable[[], T]) -> T:
        """What was worked out of this view under a name, or is now."""
        if name not in self._cache:
            self._cache[name] = work()
        found: T = self._cache[name]
        return found

    @cached_property
    def log_share(self) -> NDArray[np.float32]:
        """The logarithm of the share of sales of each product that is looked at, as the clue of popularity has it."""
        counts = self.product_index.counts
        share = (counts[self.quantised_index.rows] + 0.5) / (counts.sum() + 0.5 * len(counts))
        return np.asarray(np.log(share), np.float32)

    @cached_property
    def quantised_index(self) -> QuantisedIndex:
        """The vectors worth reading, roughly."""
        return QuantisedIndex.of(self.vectors, self.trained)

    @cached_property
    def scales(self) -> NDArray[np.float32]:
        """One over the length of each vector."""
        return scales_of(self.vectors)

    def units(self, rows: Sequence[int] | NDArray[np.integer]) -> NDArray[np.float32]:
        """The vectors of some rows, of unit length."""
        return unit(self.vectors[rows])

    def likely_partners(self, row: int) -> dict[str, list[tuple[int, float]]]:
        """The products likeliest to be bought with one and instead of it, by relation, each with its probability; of
        the past none. Those of what most customers buy are worked out before they are asked for."""
        if self.model is None or self.pair_index is None or row >= len(self.product_index) or not self.n_baskets:
            return {}
        known: dict[int, dict[str, list[tuple[int, float]]]] = self._cache.get("told", {})
        return known.get(row) or self.model.assortment.likely_partners(row, TOLD, self.pair_index.partners(row))

    def near(self, row: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The n nearest products by cosine, best first, and their cosines."""
        rows = self.quantised_index.rows[best(self.quantised_index.cosines(self.vectors[row]), 2 * n + 1)]
        rows = rows[rows != row]
        cosines = cosines_of(self.vectors, rows, np.full(len(rows), row), self.scales)
        order = np.argsort(-cosines, kind="stable")[:n]
        return rows[order], cosines[order]


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.maximum(lengths, np.float32(1e-12))[:, None])


def no_rules(catalogue: Catalogue) -> Rules:
    """A table of no rules."""
    none = np.zeros(0, np.int64)
    return Rules([], [], none, none, none, 0, {}, catalogue)
