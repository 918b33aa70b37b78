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
from omba.model import OMBA
from omba.rules import Catalogue, Rules
from omba.rules.diff import read_rules
from omba.service.views.history_view import HistoryEntry, shown
from omba.service.views.pairs import Pairs
from omba.service.views.product_index import ProductIndex
from omba.service.views.quantised_index import QuantisedIndex, best
from omba.service.views.rule_index import RuleIndex

T = TypeVar("T")

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
    kept: HistoryEntry | None = None
    model: OMBA | None = None
    places: NDArray[np.float32] | None = None
    _cache: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def now(cls, model: OMBA, rules: Rules | None, places: NDArray[np.float32] | None = None) -> View:
        """The present, from a model and its rules."""
        labels, codes = model.product_rows.vocabulary.labels, model.product_rows.vocabulary.codes
        prices = model.prices.means if model.prices.known else None
        product_index = ProductIndex(labels, codes, model.product_counts, prices, model.attributes).ready()
        catalogue = Catalogue(labels, prices)
        # The labels' rows are known already; to number 70,000 of them again takes a while.
        catalogue.__dict__["rows"] = codes
        tick = model.n_windows if model.clock is Clock.NONE else model.last_time + 1
        rule_index = RuleIndex(replace(rules, catalogue=catalogue) if rules is not None else nothing(catalogue)).ready()
        return cls(
            model.clock, tick, model.n_baskets, product_index, model.product_vectors, rule_index, None, model, places
        )

    @classmethod
    def then(
        cls, kept: HistoryEntry, labels: Sequence[Label], codes: dict[Label, int], attributes: pa.Table | None
    ) -> View:
        """A kept window."""
        entry = kept.entry
        known = labels[: entry.n_labels]
        product_index = ProductIndex(known, codes, entry.counts, kept.prices, attributes)
        catalogue = Catalogue(known, kept.prices)
        rule_index = RuleIndex(read_rules(entry.rules, catalogue))
        return cls(
            entry.clock, entry.tick, entry.n_baskets, product_index, entry.vectors, rule_index, kept, None, entry.places
        )

    def with_rules(self, rules: Rules | None) -> View:
        """This view with other rules; none change nothing."""
        if rules is None:
            return self
        return replace(
            self, rule_index=RuleIndex(replace(rules, catalogue=self.rule_index.rules.catalogue)).ready(), _cache={}
        )

    def ready(self) -> View:
        """Work out now what requests will need."""
        _ = self.pairs, self.quantised_index, self.trained, self.log_share
        return self

    @property
    def at(self) -> str:
        return shown(self.clock, self.tick)

    @property
    def past(self) -> bool:
        """Whether this is a kept window rather than the present."""
        return self.model is None

    @cached_property
    def pairs(self) -> Pairs | None:
        """All pairs with their evidence; known of the present alone."""
        return (
            None
            if self.model is None or not len(self.product_index)
            else Pairs.of(self.model, self.rule_index.rules.catalogue)
        )

    @cached_property
    def trained(self) -> NDArray[np.bool_]:
        """The products whose vectors are worth reading."""
        return np.asarray(self.product_index.counts >= LEAST)

    def cached(self, name: str, work: Callable[[], T]) -> T:
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

    def units(self, rows: Sequence[int] | NDArray[np.integer]) -> NDArray[np.float32]:
        """The vectors of some rows, of unit length."""
        return unit(self.vectors[rows])

    def near(self, row: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The n nearest products by cosine, best first, and their cosines."""
        rows = self.quantised_index.rows[best(self.quantised_index.cosines(self.vectors[row]), 2 * n + 1)]
        rows = rows[rows != row]
        cosines = np.einsum("ij,j->i", self.units(rows), self.units([row])[0])
        order = np.argsort(-cosines, kind="stable")[:n]
        return rows[order], cosines[order]


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.maximum(lengths, np.float32(1e-12))[:, None])


def nothing(catalogue: Catalogue) -> Rules:
    """A table of no rules."""
    none = np.zeros(0, np.int64)
    return Rules([], [], none, none, none, 0, {}, catalogue)
