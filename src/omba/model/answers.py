"""Answers: everything that a learned model can be asked: what is near, how well it fits, what comes next."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.assortment.price_effects import CHEAPER, PriceEffect
from omba.baskets import Clock, Label
from omba.errors import SettingError, UnknownError, nearest
from omba.model import recommend
from omba.model.assortment import Assortment
from omba.model.blend import Blend
from omba.model.clues import BEHIND, CLUES, COMPLETE, LIFT, LIFT_PRIOR, LOYALTY, NEXT, SIZE, name_columns
from omba.model.entities import Entities
from omba.model.hierarchy import Hierarchy
from omba.model.memory import VISITS
from omba.model.questions import Questions, expected_size
from omba.model.recommend import Customer, Kind
from omba.model.space import QueryRows
from omba.model.weekly_sales import WeeklySales

log = logging.getLogger("omba")


class CodedQueries(Protocol):
    """Queries in codes: the contexts (`offsets`, `items`), a user and candidates each, and the codes' vocabularies."""

    offsets: Any
    items: Any
    user_codes: Any
    candidates: Any
    product_vocabulary: Any
    user_vocabulary: Any


class Answers(Entities):
    """What can be asked of a model, given what it has learned; how it learns is not its business (`model.omba`)."""

    clues: bool
    clock: Clock
    hierarchy: Hierarchy
    blend: Blend
    questions: Questions
    weekly_sales: WeeklySales
    assortment: Assortment

    def score(
        self, products: Sequence[Label], user: Label | None = None, candidates: Sequence[Label] | None = None
    ) -> NDArray[np.float32]:
        """How well each candidate goes with the basket and the user, higher is better.

        Without candidates, all products are scored in the order of `products`. What the model does not know is left
        out of the context, with a note; an unknown candidate scores as a product never bought.

        Parameters
        ----------
        products
            The basket so far; it may be empty.
        user
            Whose basket it is; None for nobody known.
        candidates
            The products to score; None for all.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> sauce, soap = model.score(["pasta"], candidates=["sauce", "soap"])
        >>> bool(sauce > soap)
        True
        """
        return np.asarray(self._features(products, user, candidates)[0, :, -1])

    def features(
        self, products: Sequence[Label], user: Label | None = None, candidates: Sequence[Label] | None = None
    ) -> NDArray[Any]:
        """The clues that a score weighs: a record for each candidate, with a field for each clue of `model.clues`.

        Arguments are those of `score`. Where products have categories, the fields of the clues one level up follow,
        `category_context` and so on. `pandas.DataFrame(features)` makes a table of it.

        Parameters
        ----------
        products
            The basket so far; it may be empty.
        user
            Whose basket it is; None for nobody known.
        candidates
            The products to describe; None for all.

        >>> from omba import OMBA, Baskets
        >>> model = OMBA(dim=16).fit(Baskets.from_lists([["pasta", "sauce"], ["soap", "brush"]] * 200), every=50)
        >>> features = model.features(["pasta"], candidates=["sauce", "soap"])
        >>> features.dtype.names[:5]
        ('context', 'user', 'nearest', 'habit', 'popularity')
        >>> bool(features["context"][0] > features["context"][1])
        True
        """
        return name_columns(self._features(products, user, candidates)[0])

    def _features(
        self, products: Sequence[Label], user: Label | None, candidates: Sequence[Label] | None
    ) -> NDArray[np.float32]:
        """The clues of one query, (1, candidates, clues)."""
        context = self._find_known(products)
        rows = np.arange(len(self.product_rows.vocabulary), dtype=np.int32)
        if candidates is not None:
            rows = np.array([self.product_rows.row(candidate) for candidate in candidates], np.int32)
        user_row = self._find_user(user)
        offsets = np.array([0, len(context)], np.int64)
        return self.describe(offsets, context, np.array([user_row], np.int32), rows[None, :])

    def score_queries(self, queries: CodedQueries) -> NDArray[np.float32]:
        """Scores of many queries at once, one row a query."""
        products = self.product_rows.find(queries.items, queries.product_vocabulary)
        candidates = self.product_rows.find(queries.candidates, queries.product_vocabulary)
        users = self.user_rows.find(queries.user_codes, queries.user_vocabulary)
        return np.asarray(self.describe(queries.offsets, products, users, candidates)[..., -1])

    def describe(
        self,
        offsets: NDArray[np.int64],
        context: NDArray[np.int32],
        users: NDArray[np.int32],
        candidates: NDArray[np.int32],
    ) -> NDArray[np.float32]:
        """The clues of many queries given in rows, (queries, candidates, clues), the clues of all levels side by side.

        The basket of query q is `context[offsets[q] : offsets[q + 1]]`; rows of −1 are unknown.
        """
        queries = QueryRows(offsets, context, users, candidates)
        features = self.make_room(queries)
        for level in range(len(self.spaces)):
            self.describe_level(level, queries, features)
        self.describe_behind(queries, features)
        features[..., -1] = self.blend.score(features)
        return features

    def make_room(self, queries: QueryRows) -> NDArray[np.float32]:
        """Where the clues of queries are written to, those of all levels and then those behind them."""
        return np.empty((*queries.candidates.shape, len(CLUES) * len(self.spaces) + len(BEHIND)), np.float32)

    def describe_level(self, level: int, queries: QueryRows, features: NDArray[np.float32]) -> None:
        """Write the clues of one level of products, of queries in the rows of the first."""
        asked = queries.roll_up(self.hierarchy.parents) if level else queries
        self.spaces[level].describe(asked, features, level * len(CLUES))

    def describe_behind(self, queries: QueryRows, features: NDArray[np.float32]) -> None:
        """Write the clues that stand behind those of all levels; the last, what is made of all others, is left at 0."""
        behind = features[..., -len(BEHIND) :]
        behind[...] = 0.0
        behind[..., LIFT.column] = self._lifts(queries.offsets, queries.context, queries.candidates)
        behind[..., SIZE.column] = np.log1p(np.diff(queries.offsets))[:, None]
        visits = np.append(self.spaces[0].memory.totals[:, VISITS], 0)[queries.users]
        behind[..., LOYALTY.column] = np.log1p(visits)[:, None]

    def _lifts(
        self, offsets: NDArray[np.int64], context: NDArray[np.int32], candidates: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """The highest log lift of each candidate with a product of its basket, (queries, candidates)."""
        known = context >= 0
        offsets, context = np.concatenate([[0], np.cumsum(known)])[offsets], context[known]
        baskets = max(self.n_baskets, 1)
        return self.evidence.highest_lifts(offsets, context, candidates, self.product_counts, baskets, LIFT_PRIOR)

    def rank(self, products: Sequence[Label], user: Label | None = None, n: int = 10) -> list[tuple[Label, float]]:
        """The n products likeliest to go into this basket too, each with the chance that it is bought on this visit.

        All products are looked at, those already in the basket left out. An empty basket with a user asks what
        `next_basket` does; with neither, the best sellers come with the share of baskets they are in. Without
        `clues`, the order and the numbers are those of `score`.

        Parameters
        ----------
        products
            The basket so far; it may be empty.
        user
            Whose basket it is; None for nobody known.
        n
            How many, at most; 0 or more.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> model.rank(["pasta"], n=1)[0][0]
        'sauce'
        """
        context, row = self._find_known(products), self._find_user(user)
        return self._label(recommend.suggest(self, context, row, n))

    def next_basket(self, user: Label, n: int = 10, kind: Kind = "all") -> list[tuple[Label, float]]:
        """The n products likeliest to be in the user's next basket, each with its chance.

        `kind` is "rebuy" for what the user remembers alone, "discover" for what is new to them, "all" for both. Of a
        user whom the model does not know, it tells the best sellers.

        Parameters
        ----------
        user
            Who comes next.
        n
            How many, at most; 0 or more.
        kind
            "all", "rebuy" or "discover".

        >>> import omba
        >>> shop = omba.datasets.synthetic(baskets=300, products=100, users=20).baskets
        >>> model = omba.OMBA(dim=16).fit(shop)
        >>> len(model.next_basket(shop.users[0], n=3))
        3
        """
        return self._label(recommend.suggest(self, np.empty(0, np.int32), self._find_user(user), n, kind))

    def expected_size(self, user: Label | None = None) -> float:
        """How many products the user's next basket is expected to hold; without a user, anybody's.

        Parameters
        ----------
        user
            Whose basket; None for anybody's.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> round(model.expected_size())
        2
        """
        return expected_size(self, self._find_user(user))

    def customer(self, user: Label) -> Customer:
        """What is known of a user: visits and when last, what they buy, how often, when last, and what of it is due.

        Parameters
        ----------
        user
            A user who was in a basket at least; another is refused.

        >>> import omba
        >>> shop = omba.datasets.synthetic(baskets=300, products=100, users=20).baskets
        >>> known = omba.OMBA(dim=16).fit(shop).customer(shop.users[0])
        >>> known.visits == sum(basket.user == shop.users[0] for basket in shop)
        True
        """
        row = self.user_rows.row(user)
        if row < 0:
            raise UnknownError(f"user {user!r} is not known to the model{nearest(user, self.user_rows.vocabulary)}")
        return recommend.customer(self, row)

    def families(self) -> pa.Table:
        """Products that are variants of one thing or a set sold as one, a row a family, those that sell most first.

        `family` is its number, `name` what its members share, `size` how many products it has, `sold` how many
        baskets they were in, `revenue` what they brought in, `expected_baskets` and `expected_revenue` those of the
        next period, with `_low` and `_high` the ends of the 90% interval, `season` the months in which most of them
        are sold, `products` which they are. What is not known, without prices or days, is null.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> model.families().column_names[:4], model.families().column_names[-1]
        (['family', 'name', 'size', 'sold'], 'products')
        """
        return self.assortment.family_table()

    def substitutes(self, product: Label, n: int = 10) -> list[tuple[Label, float]]:
        """The n products that are likeliest bought instead of one, each with the probability that it is.

        Customers who buy both put them into one basket less often than their own habits would.

        Parameters
        ----------
        product
            Its label, its name or a part of its name.
        n
            How many, at most; there may be none; 0 or more.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> "sauce" in dict(model.substitutes("pasta"))
        False
        """
        return self._partners(product, "substitute", n)

    def complements(self, product: Label, n: int = 10) -> list[tuple[Label, float]]:
        """The n products that are likeliest bought with one, each with the probability that they belong together.

        Customers who buy both put them into one basket more often than their own habits would.

        Parameters
        ----------
        product
            Its label, its name or a part of its name.
        n
            How many, at most; there may be none; 0 or more.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> [product for product, _ in model.complements("pasta")]
        ['sauce']
        """
        return self._partners(product, "complement", n)

    def price_effects(
        self, product: Label, partners: Sequence[Label] | None = None, n: int = 10, cheaper: float = CHEAPER
    ) -> list[PriceEffect]:
        """What sales of a product and of its partners did in the weeks when it was cheaper, each with its interval.

        Partners are its complements, substitutes and variants, up to n of each, unless they are given. A week is
        cheaper where the price was lower than the usual one by the share `cheaper` or more. What too few weeks or
        baskets tell of is left out, so that the list may be empty; it needs prices and dates.

        Parameters
        ----------
        product
            The one whose price changed: its label, its name or a part of its name.
        partners
            The products whose sales are looked at; None for its complements, substitutes and variants.
        n
            How many of each kind, at most; 0 or more.
        cheaper
            What share of the usual price a week must be below it, between 0 and 1.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> model.price_effects("pasta")  # no prices, so nothing to tell
        []
        """
        if not 0 < cheaper < 1:
            raise SettingError(f"cheaper={cheaper} is no share of a price: give one between 0 and 1, as in 0.1")
        rows = None if partners is None else [self.row(partner) for partner in partners]
        return self.assortment.price_effects(self.row(product), rows, n, cheaper)

    def _partners(self, product: Label, kind: str, n: int) -> list[tuple[Label, float]]:
        found = self.assortment.partners(self.row(product), kind, n)
        return [(self.product_rows.vocabulary[row], chance) for row, chance in found]

    def complete_scores(self, queries: CodedQueries) -> NDArray[np.float32]:
        """How likely every product is to go into each query's basket too, (queries, products), higher is likelier.

        Products are in the order of the queries' vocabulary; one that the model does not know comes last.
        """
        return recommend.score_catalogue(self, COMPLETE.name, queries)

    def next_scores(self, queries: CodedQueries) -> NDArray[np.float32]:
        """How likely every product is to be in the next basket of each query's user, as `complete_scores`."""
        return recommend.score_catalogue(self, NEXT.name, queries)

    def score_catalogue(self, queries: CodedQueries) -> NDArray[np.float32]:
        """The score of every product for each query: `complete_scores`, or `next_scores` where no basket holds any."""
        return self.complete_scores(queries) if len(queries.items) else self.next_scores(queries)

    def _label(self, found: Iterable[recommend.Suggestion]) -> list[tuple[Label, float]]:
        return [(self.product_rows.vocabulary[one.row], one.chance) for one in found]
