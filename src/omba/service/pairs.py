"""Pairs: every product's partners, ready to be looked up, and any pair as a rule with its evidence and forecast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from omba.model import OMBA
from omba.rules import Rules
from omba.rules.candidates import Candidates, Tables
from omba.rules.explain import Explainer
from omba.rules.mine import table
from omba.rules.scope import Scope
from omba.rules.space import Space
from omba.rules.theory import PAPER

Rows = NDArray[np.integer]
Floats = NDArray[np.floating]
Expected = Callable[[Rows, Rows, Floats, Rows], tuple[Floats, Floats, Floats]]

STRONGEST = 200
"""Partners and neighbours of a product that are looked at closely."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The counts of a model as a graph: row i holds the partners of product i and how often they met."""

    graph: csr_array
    space: Space
    units: NDArray[np.float32]

    @classmethod
    def of(cls, model: OMBA, units: NDArray[np.float32]) -> Pairs:
        n, kept = len(model.product_rows.vocabulary), model.evidence
        left, right, count = kept.observed()
        half = coo_array((count.astype(np.int32), (left, right)), shape=(n, n))
        graph = csr_array(half + half.T)
        counts = kept.counts[:n]

        def expected(a: Rows, b: Rows, cosine: Floats, n_ab: Rows) -> tuple[Floats, Floats, Floats]:
            return model.forecast.expect(cosine, n_ab, counts[a], counts[b], kept.n_baskets, a, b)

        def partners(row: int) -> tuple[Rows, Rows]:
            part = slice(graph.indptr[row], graph.indptr[row + 1])
            return graph.indices[part], graph.data[part]

        remembered = model.spaces[0].memory.rows
        explainer = Explainer(
            model.product_rows.vocabulary.labels, model.product_vectors, counts, kept.n_baskets, kept.pairs, partners,
            expected, model.user_rows.vocabulary.labels, remembered if remembered.size else None,
        )  # fmt: skip
        space = Space(
            labels=model.product_rows.vocabulary.labels,
            vectors=model.product_vectors,
            counts=counts,
            n_baskets=kept.n_baskets,
            pair_counts=kept.pairs,
            seen=kept.seen,
            observed=(left, right, count),
            prices=model.prices.means if model.prices.known else None,
            attributes=None,
            expected=expected,
            explainer=explainer,
        )
        return cls(graph, space, units)

    def of_product(self, row: int, near: Rows, n: int) -> tuple[Rules, Rules]:
        """The strongest rules with a product: those of its pairs that were seen, and those that were not."""
        part = slice(self.graph.indptr[row], self.graph.indptr[row + 1])
        partners, count = self.graph.indices[part], self.graph.data[part]
        if len(partners) > STRONGEST:
            chance = self.space.counts[partners] * self.space.counts[row] / max(self.space.n_baskets, 1)
            # Cheap, and never far off: the lift drawn towards 1 as if one more basket had come by chance.
            strength = (count + 0.5) / (chance + 1.0)
            best = np.argpartition(-strength, STRONGEST)[:STRONGEST]
            partners, count = partners[best], count[best]
        seen = self.rules(row, partners, count)
        other = near[:STRONGEST][~np.isin(near[:STRONGEST], self.graph.indices[part])]
        unseen = self.rules(row, other, np.zeros(len(other), np.int64))
        unseen = unseen.take(np.flatnonzero(unseen["status"] == "unseen"))
        return seen[:n], unseen[:n]

    def rules(self, row: int, others: Rows, count: Rows) -> Rules:
        """A product's pairs with others as rules, best first."""
        left = np.full(len(others), row, np.int64)
        cosine = self.units[others] @ self.units[row]
        return self._table(left, others.astype(np.int64), cosine, count.astype(np.int64))

    def rule(self, antecedent: int, consequent: int) -> Rules:
        """One pair as a rule, this way round."""
        left, right = np.array([antecedent]), np.array([consequent])
        cosine = (self.units[left] * self.units[right]).sum(axis=1)
        scope = Scope(np.ones(len(self.units), bool), antecedent=antecedent, consequent=consequent)
        return self._table(left, right, cosine, self.space.pair_counts(left, right), scope)

    def _table(self, left: Rows, right: Rows, cosine: Floats, count: Rows, scope: Scope | None = None) -> Rules:
        scope = scope or Scope(np.ones(len(self.units), bool))
        pairs = Candidates.of_pairs(self.space, scope, left, right, cosine, count)
        return table(self.space, [pairs], Tables(F=PAPER.F, H=PAPER.H), "expected_lift_low")
