"""Pair index: every product's partners, ready to be looked up, and any pair as a rule with evidence and forecast."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from omba.model import OMBA
from omba.rules import Catalogue, Hashing, MiningInput, Rules
from omba.rules.candidates import Candidates
from omba.rules.explain import Explainer
from omba.rules.from_model import mining_input
from omba.rules.nearest import cosines, scales_of
from omba.rules.scope import Scope
from omba.rules.table import DEFAULT_ORDER, build_table
from omba.service.views.pair_columns import with_pair_columns
from omba.service.views.sided_hashing import SidedHashing

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Rows = NDArray[np.integer]

STRONGEST = 200
"""Partners and neighbours of a product that are looked at closely."""


@dataclass(frozen=True, eq=False)
class PairIndex:
    """The counts of a model as a graph, so that the partners of a product need not be searched for.

    Parameters
    ----------
    graph
        Row i holds the partners of product i and how often they met.
    given
        What mining is given of the model.
    hashing
        The hash tables of the rules that were mined of it.
    """

    graph: csr_array
    given: MiningInput
    hashing: Hashing

    @classmethod
    def of(cls, model: OMBA, catalogue: Catalogue, hashing: Hashing | None) -> PairIndex:
        """The pairs of a model; its hashing is chosen where it is not known."""
        # Not needed for the first answers, and slow to import.
        from scipy.sparse import coo_array, csr_array

        given = replace(mining_input(model), catalogue=catalogue)
        left, right, count = model.evidence.observed()
        half = coo_array((count.astype(np.int32), (left, right)), shape=(len(given.labels),) * 2).tocsr()
        return cls(csr_array(half + half.T), given, hashing or given.choose())

    @classmethod
    def of_past(cls, given: MiningInput, hashing: Hashing | None) -> PairIndex:
        """Pairs of the past, of which there is no forecast."""
        from scipy.sparse import csr_array

        return cls(csr_array((len(given.labels),) * 2, dtype=np.int32), given, hashing or given.choose())

    @cached_property
    def explainer(self) -> Explainer:
        """Tells why two products belong together; it looks partners up."""
        return Explainer(self.given, self.partners)

    @cached_property
    def scales(self) -> NDArray[np.float32]:
        """One over the length of each product's vector."""
        return scales_of(self.given.vectors)

    @cached_property
    def sided(self) -> SidedHashing:
        """The hash tables, with sides of all products."""
        return SidedHashing.of(self.hashing, self.given.vectors)

    @property
    def tables(self) -> Hashing:
        """The hash tables, with sides of all products once those were made ready: no request waits for them."""
        return self.sided if "sided" in vars(self) else self.hashing

    def ready(self) -> PairIndex:
        """Work out now what a page would wait for."""
        _ = self.scales, self.sided
        return self

    @cached_property
    def _scope(self) -> Scope:
        """All products, those that were met once included: whoever asks for a pair is shown what there is."""
        return Scope(np.ones(len(self.given.labels), bool))

    def partners(self, row: int) -> tuple[Rows, Rows]:
        """The products seen with a product, and in how many baskets."""
        part = slice(self.graph.indptr[row], self.graph.indptr[row + 1])
        return self.graph.indices[part], self.graph.data[part].astype(np.int64)

    def of_product(self, row: int, near: Rows, n: int) -> Rules:
        """The n strongest rules with a product of those of its pairs that were seen, and of those that were not."""
        given, (partners, count) = self.given, self.partners(row)
        other = near[given.evidence.pairs(np.full(len(near), row), near) == 0]
        if len(partners) > STRONGEST:
            chance = given.counts[partners] * given.counts[row] / max(given.n_baskets, 1)
            # Cheap, and never far off: the lift drawn down as if one more basket had been due to chance.
            best = np.argpartition(-(count + 0.5) / (chance + 1.0), STRONGEST)[:STRONGEST]
            partners, count = partners[best], count[best]
        both = np.concatenate([partners, other])
        counts = np.append(count, np.zeros(len(other), np.int64))
        # What was never bought with the product and may be the same one under another code is no suggestion.
        scope = replace(self._scope, suspect=given.catalogue.product_names.suspect)
        pairs = self._candidates(np.full(len(both), row), both, counts, scope)
        pairs = pairs.best(given, DEFAULT_ORDER, len(pairs))
        chosen = np.append(np.flatnonzero(pairs.seen)[:n], np.flatnonzero(~pairs.seen)[:n])
        return with_pair_columns(build_table(given, [pairs.take(chosen)], self.tables, adjust=False))

    def rule(self, antecedent: int, consequent: int) -> Rules:
        """One pair as a rule, this way round."""
        left, right = np.array([antecedent]), np.array([consequent])
        scope = replace(self._scope, antecedent=antecedent, consequent=consequent)
        pair = self._candidates(left, right, self.given.evidence.pairs(left, right), scope)
        return build_table(self.given, [pair], self.tables, adjust=False)

    def pairs(self, left: Rows, right: Rows) -> Rules:
        """Pairs as rules, each from the rarer product to the other."""
        pairs = self._candidates(left, right, self.given.evidence.pairs(left, right), self._scope)
        return build_table(self.given, [pairs], self.tables, adjust=False)

    def rules_from(self, left: Rows, right: Rows) -> Rules:
        """Pairs as rules, each from left to right."""
        pairs = self.candidates(left, right, self.given.evidence.pairs(left, right))
        return build_table(self.given, [pairs], self.tables, adjust=False)

    def candidates(self, left: Rows, right: Rows, count: Rows) -> Candidates:
        """Pairs that were counted, with their forecast, each from left to right."""
        given, cosine = self.given, cosines(self.given.vectors, left, right, self.scales)
        expected, low, high = given.expect(left, right, cosine, count)
        seen = np.ones(len(left), bool)
        return Candidates(left[:, None], right, cosine, count, given.counts[left], expected, low, high, seen)

    def _candidates(self, left: Rows, right: Rows, count: Rows, scope: Scope) -> Candidates:
        cosine = cosines(self.given.vectors, left, right, self.scales)
        return Candidates.of_pairs(self.given, scope, left, right, cosine, count)
