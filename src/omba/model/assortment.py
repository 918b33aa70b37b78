"""Assortment of a model: families and relations of its products, worked out once per state from what it has learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.assortment.expected_sales import EXPECTED, UNKNOWN, expected_sales, revenue
from omba.assortment.families import FEWEST, Families, find_families
from omba.assortment.habits import BuyingHabits
from omba.assortment.kernels import alike
from omba.assortment.name_groups import NameGroups
from omba.assortment.price_effects import PriceEffect, measure_effect
from omba.assortment.relations import RELATIONS, TOLD, Met, Relations
from omba.baskets.alignment import align
from omba.model.memory import VISITS

if TYPE_CHECKING:
    from omba.model.omba import OMBA

NAME = "name"


class Assortment:
    """What the products of a model are to each other, as far as it was asked for.

    What names say is worked out again only where products or their descriptions have changed, all else where windows
    were learned.

    Parameters
    ----------
    model
        The model.
    """

    def __init__(self, model: OMBA) -> None:
        self.model = model
        self._state: tuple[int, int] | None = None
        self._described: tuple[pa.Table | None, int] | None = None
        self._titles: list[str] = []
        self._groups = NameGroups([], [])
        self._families: Families | None = None
        self._relations: Relations | None = None
        self._habits: BuyingHabits | None = None
        self._gram: NDArray[np.float32] | None = None

    def families(self) -> Families:
        """The families of the model as it is."""
        self._renew()
        if self._families is None:
            groups, habits, model = self.groups(), self.habits(), self.model
            n = len(groups)
            self._families = find_families(
                groups,
                model.product_rows.vocabulary.labels[:n],
                self._titles,
                model.product_counts[:n],
                model.evidence.observed(FEWEST),
                max(model.n_baskets, 1),
                model.product_vectors,
                (lambda a, b: habits.pairs(a, b)[1]) if len(habits.visits) else None,
            )
        return self._families

    def family_table(self) -> pa.Table:
        """The families, a row each, with what they brought in and what is to be expected of the next period."""
        families, model = self.families(), self.model
        table, members, counts = families.table(), families.members, families.counts
        amounts, outlook = model.prices.amounts if model.prices.known else None, model.seasons.outlook()
        ahead = [UNKNOWN] * len(members)
        if outlook.met:
            ahead = expected_sales(members, counts, outlook.sales_change, outlook.sales_spread(members), amounts)
        brought = [revenue(rows, counts, amounts) for rows in members]
        more = {"revenue": brought, **{name: [one[k] for one in ahead] for k, name in enumerate(EXPECTED)}}
        place = table.num_columns - 1
        for name, column in more.items():
            table = table.add_column(place, name, pa.array(column, pa.float64()))
            place += 1
        return table.add_column(place, "season", pa.array(outlook.seasons_of(members), pa.string()))

    def relations(self) -> Relations:
        """What the products of the model as it is are to each other."""
        families = self.families()
        if self._relations is None:
            model, n = self.model, len(self.groups())
            self._relations = Relations(
                self.habits(),
                model.product_counts[:n],
                model.n_baskets,
                model.evidence.pairs,
                families,
                self.groups().category_numbers,
                model.seasons.coincidence(),
            )
        return self._relations

    def habits(self) -> BuyingHabits:
        """What the customers of the model as it is are remembered to buy."""
        self._renew()
        if self._habits is None:
            memory = self.model.spaces[0].memory
            products = len(self.model.product_rows.vocabulary)
            self._habits = BuyingHabits.of(memory.rows, memory.counts, memory.totals[:, VISITS], products)
        return self._habits

    def partners(self, row: int, kind: str, n: int) -> list[tuple[int, float]]:
        """The products likeliest to be in a relation to one, with its probability: (row, probability)."""
        return self.likely_partners(row, n)[kind]

    def likely_partners(self, row: int, n: int, met: Met | None = None) -> dict[str, list[tuple[int, float]]]:
        """The products likeliest to be bought with one and instead of it, each with its probability, by relation.

        Among those as likely the ones that stand in the same contexts come first: whose vectors lie alike to those of
        all other products. `met` are the products that were in a basket with it, and in how many, where that is known.
        """
        others, chances = self.relations().near_product(row, met)
        sold = np.flatnonzero((self.model.product_counts[others] >= FEWEST) & (others != row))
        others, chances = others[sold], chances[sold]
        vectors, found = self.model.product_vectors, {}
        direction = self.gram() @ vectors[row]
        for place, kind in enumerate(RELATIONS[:2]):
            likely = np.flatnonzero(chances[:, place] > TOLD[place])
            likeness, rounded = np.empty(len(likely)), np.round(chances[likely, place], 2)
            if len(likely) > n:
                # Of those less likely than the n likeliest it does not matter how they lie.
                among = rounded >= np.partition(rounded, len(rounded) - n)[len(rounded) - n]
                likely, rounded, likeness = likely[among], rounded[among], likeness[among]
            alike(vectors, others[likely], direction, likeness)
            best = likely[np.lexsort((-likeness, -rounded))[:n]]
            found[kind] = list(zip(others[best].tolist(), chances[best, place].tolist(), strict=True))
        return found

    def ready(self) -> Assortment:
        """Work out now what a question about a product would wait for."""
        self.gram()
        self.relations().ready()
        return self

    def gram(self) -> NDArray[np.float32]:
        """The products' vectors times themselves, (dim, dim): by it a vector is compared with all products at once."""
        self._renew()
        if self._gram is None:
            vectors = self.model.product_vectors
            self._gram = np.asarray(vectors.T @ vectors)
        return self._gram

    def price_effects(self, row: int, partners: Sequence[int] | None, n: int, cheaper: float) -> list[PriceEffect]:
        """What sales of a product and of its partners did while it was cheaper, as far as that can be told.

        Unless partners are given, they are up to n each of its complements, its substitutes and its variants.
        """
        if partners is None:
            related = [other for others in self.likely_partners(row, n).values() for other, _ in others]
            family = int(self.families().family[row])
            members = self.families().members[family].tolist() if family >= 0 else []
            partners = [*related, *[other for other in members if other != row][:n]]
        rows = np.array(list(dict.fromkeys([row, *partners])), np.int64)
        grid = self.model.weekly_sales.grid(rows)
        relative, names = grid.relative_prices(), self.relations().judge(np.full(len(rows), row), rows).names
        labels, effects = self.model.product_rows.vocabulary, []
        for place, other in enumerate(rows.tolist()):
            found = measure_effect(grid, relative, 0, place, cheaper)
            if found is not None:
                relation = "itself" if other == row else names[place]
                effects.append(found.effect(labels[other], relation))
        return effects

    def _renew(self) -> None:
        """Forget what was worked out of an earlier state."""
        state = (self.model.n_windows, self.model.n_baskets)
        if state != self._state:
            self._state, self._families, self._relations, self._habits = state, None, None, None
            self._gram = None

    def groups(self) -> NameGroups:
        """What the names of the products say."""
        model = self.model
        labels = model.product_rows.vocabulary
        described = (model.attributes, len(labels))
        if self._described is None or self._described[0] is not described[0] or self._described[1] != described[1]:
            names: list[str | None] = [None] * len(labels)
            if model.attributes is not None and NAME in model.attributes.column_names:
                names = align(model.attributes, labels)[NAME].to_pylist()
            self._titles = [name or str(label) for name, label in zip(names, labels, strict=True)]
            self._groups = NameGroups(self._titles, self._categories(len(labels)))
            self._described = described
        return self._groups

    def _categories(self, products: int) -> list[str | None]:
        """The finest known category of each product."""
        hierarchy = self.model.hierarchy
        parents = np.append(hierarchy.parents, np.full(max(products - len(hierarchy.parents), 0), -1, np.int32))
        labels = [str(label) for label in hierarchy.vocabulary]
        return [labels[parent] if parent >= 0 else None for parent in parents[:products].tolist()]
