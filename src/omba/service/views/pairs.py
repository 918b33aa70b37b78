"""Pairs: every product's partners, ready to be looked up, and any pair as a rule with its evidence and forecast."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from omba.model import OMBA
from omba.rules import Catalogue, Rules
from omba.rules.explain import Explainer
from omba.rules.from_model import space_of
from omba.rules.rules import status
from omba.rules.space import Space
from omba.rules.theory import PAPER, p_omba

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Rows = NDArray[np.integer]
Floats = NDArray[np.floating]

STRONGEST = 200
"""Partners and neighbours of a product that are looked at closely."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The counts of a model as a graph: row i holds the partners of product i and how often they met."""

    graph: csr_array
    space: Space
    catalogue: Catalogue

    @classmethod
    def of(cls, model: OMBA, catalogue: Catalogue) -> Pairs:
        # Not needed for the first answers, and slow to import.
        from scipy.sparse import coo_array, csr_array

        space, n = space_of(cast(Any, model)), len(model.product_rows.vocabulary)
        left, right, count = model.evidence.observed()
        half = coo_array((count.astype(np.int32), (left, right)), shape=(n, n)).tocsr()
        graph = csr_array(half + half.T)

        def partners(row: int) -> tuple[Rows, Rows]:
            part = slice(graph.indptr[row], graph.indptr[row + 1])
            return graph.indices[part], graph.data[part].astype(np.int64)

        explainer = cast(Explainer, space.explainer)
        # Rows are known already, and partners are looked up rather than searched for.
        quick = replace(explainer, partners=partners)
        quick.__dict__["rows"] = model.product_rows.vocabulary.codes
        return cls(graph, replace(space, explainer=quick, attributes=None), catalogue)

    def of_product(self, row: int, near: Rows, n: int) -> Rules:
        """The n strongest rules with a product of those of its pairs that were seen, and of those that were not."""
        part = slice(self.graph.indptr[row], self.graph.indptr[row + 1])
        partners, count = self.graph.indices[part], self.graph.data[part]
        other = near[self.space.pair_counts(np.full(len(near), row), near) == 0]
        if len(partners) > STRONGEST:
            chance = self.space.counts[partners] * self.space.counts[row] / max(self.space.n_baskets, 1)
            # Cheap, and never far off: the lift drawn down as if one more basket had been due to chance.
            best = np.argpartition(-(count + 0.5) / (chance + 1.0), STRONGEST)[:STRONGEST]
            partners, count = partners[best], count[best]
        both = np.concatenate([partners, other])
        rules = self.rules(np.full(len(both), row), both, np.append(count, np.zeros(len(other), np.int64)))
        unseen = rules["status"] == "unseen"
        return rules.take(np.sort(np.append(np.flatnonzero(~unseen)[:n], np.flatnonzero(unseen)[:n])))

    def rule(self, antecedent: int, consequent: int) -> Rules:
        """One pair as a rule, this way round."""
        left, right = np.array([antecedent]), np.array([consequent])
        return self.rules(left, right, self.space.pair_counts(left, right), turn=False)

    def rules(self, left: Rows, right: Rows, count: Rows, turn: bool = True) -> Rules:
        """Pairs as rules, best first; unless told otherwise each in the direction of the higher confidence."""
        space, seen = self.space, count > 0
        if space.seen is not None and not seen.all():
            seen[~seen] = space.seen(left[~seen], right[~seen])
        if turn:
            turned = space.counts[left] > space.counts[right]
            left, right = np.where(turned, right, left), np.where(turned, left, right)
        cosine = cosines(space.vectors, left, right)
        assert space.expected is not None
        expected, low, high = space.expected(left, right, cosine, count)
        order = np.argsort(-low, kind="stable")
        left, right, n = left[order], right[order], space.n_baskets
        together, n_a, n_b = (np.asarray(x, np.int64) for x in (count[order], space.counts[left], space.counts[right]))
        given = {
            "similarity": cosine[order],
            "probability": p_omba(cosine[order], PAPER.F, PAPER.H),
            "status": status(together, seen[order]),
            "expected_lift": expected[order],
            "expected_lift_low": low[order],
            "expected_lift_high": high[order],
        }
        if space.prices is not None:
            given["value"] = 1000.0 * n_a / n * n_b / n * (expected[order] - 1.0) * space.prices[right]
        antecedents, consequents = ([(space.labels[row],) for row in side.tolist()] for side in (left, right))
        return Rules(antecedents, consequents, together, n_a, n_b, n, given, self.catalogue)


def cosines(vectors: Floats, left: Rows, right: Rows) -> Floats:
    """The cosine of each pair of rows; 0 where a vector has no length."""
    a, b = vectors[left], vectors[right]
    dots, squares = (np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (a, a)))
    return np.asarray(dots / np.maximum(np.sqrt(squares * np.einsum("ij,ij->i", b, b)), 1e-12))
