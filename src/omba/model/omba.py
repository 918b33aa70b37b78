"""OMBA: the online learner (paper, section 4.2), one window at a time, with no history stored."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Basket, Baskets, Clock, Label
from omba.baskets.clock import MICROSECONDS
from omba.baskets.descriptions import Descriptions
from omba.baskets.folding import fold_window
from omba.baskets.identity import Identity
from omba.baskets.names import NAME, ProductNames, is_code
from omba.errors import InputError, UnknownError, nearest
from omba.model import recommend
from omba.model.assortment import Assortment
from omba.model.blend import Blend
from omba.model.clues import COMPLETE, LIFT_PRIOR, NEXT, name_columns
from omba.model.evidence import Evidence
from omba.model.forecast import Forecast
from omba.model.hierarchy import Hierarchy
from omba.model.input import BasketsLike, as_baskets, as_windowed
from omba.model.kernels import cross, hide, highest_lift
from omba.model.overview import describe_html
from omba.model.prices import Prices
from omba.model.questions import ASKED, SHARE, Questions, expected_size
from omba.model.recommend import Customer, Kind
from omba.model.row_index import RowIndex, drop_repeats, sort_baskets
from omba.model.seasons import Seasons
from omba.model.sets import Sets
from omba.model.space import Pace, Space, WindowRows
from omba.settings import PAPER, SETTINGS, Value, as_plain, check

log = logging.getLogger("omba")

QUERIES = 1_000
"""Baskets of a window that are made into queries to weigh the clues."""
NEGATIVES = 10
"""Negatives drawn for each query, beside the hidden product."""


def ticks_of_day(clock: Clock) -> int:
    """How many ticks of a clock make a day."""
    return MICROSECONDS["d"] if clock is Clock.DATETIME else 1


class CodedQueries(Protocol):
    """Queries in codes: the contexts (`offsets`, `items`), a user and candidates each, and the codes' vocabularies."""

    offsets: Any
    items: Any
    user_codes: Any
    candidates: Any
    product_vocabulary: Any
    user_vocabulary: Any


class OMBA:
    """Products and users in one embedding space, kept current window by window.

    A unit z of a basket b is recovered from the rest of the basket, p(z | b₋z) ∝ exp(v_z · h_z), where h_z is
    half the user's vector and half the weighted mean of the other products' (Eq. 1–2), by negative sampling
    (Eq. 6) with AdaGrad at the rate exp(−τΨ)·η (Eq. 7–9).

    Parameters
    ----------
    dim
        Length of each vector.
    learning_rate
        η of Eq. 8, before AdaGrad.
    negatives
        Negatives drawn for each product.
    tau
        How much a basket the model agrees with slows its own learning (Eq. 8).
    epochs
        Passes over each window.
    seed
        Start of all random numbers.
    threads
        1 is reproducible bit for bit; more learn at once, without locks.
    power
        Negatives are drawn by purchases to this power.
    user_share
        The user's part of a product's context (Eq. 2).
    user_targets
        Users are recovered from their baskets too (Eq. 1, z a user).
    value
        Value weighting (Eq. 3-4): 'fit' reads the power law from the prices, (exponent, clip) fixes it.
    memory
        Products remembered of each user; 0 for none.
    categories
        Learn a second space at the level of categories, where the data have them.
    clues
        Weigh the clues of a score online; False is the paper's sum of two cosines.
    pairs
        Pair counts kept as evidence for rules.

    >>> from omba import Baskets
    >>> baskets = Baskets.from_lists([["pasta", "sauce"], ["soap", "brush"]] * 200)
    >>> model = OMBA(dim=16, seed=1).fit(baskets, every=50)
    >>> model.similar("pasta", n=1)[0][0]
    'sauce'
    """

    def __init__(
        self,
        dim: int = 300,
        learning_rate: float = 0.1,
        negatives: int = 5,
        tau: float = 0.1,
        epochs: int = 5,
        seed: int = 0,
        threads: int = 1,
        power: float = 0.75,
        user_share: float = 0.5,
        user_targets: bool = False,
        value: str | tuple[float, float] | None = None,
        memory: int = 128,
        categories: bool = True,
        clues: bool = True,
        pairs: int = 4_000_000,
    ) -> None:
        self.dim, self.learning_rate, self.negatives, self.tau, self.epochs = dim, learning_rate, negatives, tau, epochs
        self.seed, self.threads, self.power, self.user_share = seed, threads, power, user_share
        self.user_targets, self.value, self.memory = user_targets, value, memory
        self.categories, self.clues, self.pairs = categories, clues, pairs
        check(self.get_params())
        self._reset()

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """The paper's own setting, to the letter; `changes` override single settings."""
        return cls(**{**PAPER, **changes})

    def _reset(self) -> None:
        self.identity = Identity()
        self.product_rows, self.user_rows = RowIndex("product", self.identity), RowIndex("user", self.identity)
        self.hierarchy = Hierarchy()
        self.spaces = [Space(self.dim, self.seed, 0, self.memory)]
        self.blend = Blend(fitted=self.clues)
        self.questions = Questions(self.clues)
        self.prices = Prices()
        self.evidence = Evidence(self.pairs)
        self.forecast = Forecast(self.seed)
        self.sets = Sets()
        self.seasons = Seasons()
        self.descriptions = Descriptions()
        self.attributes: pa.Table | None = None
        """What is known of products, over all that was learned."""
        self._described: pa.Table | None = None
        self.clock, self.last_time = Clock.NONE, -(2**63)
        self.n_windows = 0
        self.position: dict[str, Any] = {}
        """How far the sources of a live stream have been learned; it is saved and loaded with the weights."""
        self.assortment = Assortment(self)
        self._notes: set[str] = set()
        self._names: tuple[pa.Table | None, ProductNames] | None = None

    # Settings, in scikit-learn's manner.

    def get_params(self, deep: bool = True) -> dict[str, Value]:
        """Every setting and its value."""
        return {name: getattr(self, name) for name in SETTINGS}

    def set_params(self, **params: Any) -> Self:
        """Change settings and begin anew: what was learned so far is dropped."""
        check(params)
        for name, value in params.items():
            setattr(self, name, value)
        self._reset()
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator: no target, and nothing that is known beforehand of its input."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        return self.n_windows > 0

    def _repr_html_(self) -> str:
        return describe_html(self)

    def __repr__(self) -> str:
        changed = [f"{n}={as_plain(v)!r}" for n, v in self.get_params().items() if v != SETTINGS[n].default]
        return f"{type(self).__name__}({', '.join(changed)})"

    # Learning.

    def fit(
        self,
        baskets: BasketsLike,
        every: str | int = "1d",
        progress: Callable[[Baskets], None] | None = None,
        y: None = None,
    ) -> Self:
        """Begin anew and stream all windows; `progress` is called with each window once it is learned.

        `baskets` are `Baskets`, a stream of them, or what `read_baskets` takes: lists of products, a data frame,
        one-hot columns, a path. `y` is not used; scikit-learn's pipelines hand it on, by name or in the second place.
        """
        source = as_windowed(baskets)
        self._reset()
        for window in source.windows("1d" if every is None else every):
            self.partial_fit(window)
            if progress:
                progress(window)
        return self

    def partial_fit(self, window: BasketsLike, allow_late: bool = False) -> Self:
        """Learn one window: `Baskets`, or what `read_baskets` takes.

        One that begins before what was learned is refused, unless `allow_late`.
        """
        baskets = fold_window(as_baskets(window), self.identity)
        self._check_time(baskets, bool(allow_late))
        rows = self._read(baskets)
        rng = np.random.default_rng([self.seed, self.n_windows])
        if self.n_windows:
            self._predict(rows, rng)
        self._learn(rows, rng)
        self.n_windows += 1
        return self

    learn_many = partial_fit

    def learn_one(self, basket: Basket | Iterable[Label]) -> Self:
        """Learn a single basket: a `Basket`, a list of products, or a mapping whose keys are products, as in river."""
        given: list[Any] = [basket]
        return self.partial_fit(given)

    def _check_time(self, window: Baskets, allow_late: bool) -> None:
        if window.times is not None and len(window):
            self._check_span(window.clock, int(window.times.min()), int(window.times.max()), allow_late)

    def _check_span(self, clock: Clock, first: int, last: int, allow_late: bool) -> None:
        if self.clock is not Clock.NONE and clock is not self.clock:
            raise InputError(f"the window tells time by {clock.value}, the model by {self.clock.value}: keep to one")
        if first < self.last_time and not allow_late:
            raise InputError(
                f"the window begins at {clock.show(first)}, before {clock.show(self.last_time)}, up to"
                " which the model has learned: give windows in order of time, or allow_late=True to learn it anyway"
            )
        self.clock, self.last_time = clock, max(self.last_time, last)

    def _read(self, window: Baskets) -> WindowRows:
        """The window in the model's rows, with room made for what is new."""
        items = self.product_rows.take(window.items, window.product_vocabulary)
        users = np.full(len(window), -1, np.int32)
        if window.user_codes is not None:
            users = self.user_rows.take(window.user_codes, window.user_vocabulary)
        order = sort_baskets(window.offsets, items)
        offsets, order = drop_repeats(window.offsets, items, order)
        items = items[order]
        prices = None if window.prices is None else window.prices[order]
        self._grow(window.attributes, window.votes)
        self.prices.learn(items, prices, len(self.product_rows.vocabulary))
        exponent, clip = self._power_law()
        weights = self.prices.weigh(items, prices, exponent, clip)
        return WindowRows(offsets, items, weights, users, self._days(window))

    def _days(self, window: Baskets) -> NDArray[np.int32]:
        """The day of each basket; without a clock, the number of the window."""
        if window.times is None:
            return np.full(len(window), self.n_windows, np.int32)
        return np.asarray(window.times // ticks_of_day(window.clock), np.int32)

    def _grow(self, attributes: pa.Table | None, votes: pa.Table | None = None) -> None:
        """Give every product and user in the vocabularies a row in the spaces, and new products their categories."""
        n_products, n_users = len(self.product_rows.vocabulary), len(self.user_rows.vocabulary)
        self.spaces[0].grow(n_products, n_users)
        if attributes is not None and attributes is not self._described:
            self.descriptions.add(attributes, votes, self.identity.product)
            self._described = attributes
            self.attributes = self.descriptions.spell(lambda label: self.identity.spell(label, "product"))
        if self.categories:
            self.hierarchy.learn(self.attributes, self.product_rows.vocabulary)
            if len(self.hierarchy.vocabulary):
                self.add_levels(2)
                self.spaces[1].grow(len(self.hierarchy.vocabulary), n_users)

    def add_levels(self, levels: int) -> None:
        """Add spaces until there are so many levels of products."""
        while len(self.spaces) < levels:
            self.spaces.append(Space(self.dim, self.seed, len(self.spaces), self.memory))
            self.blend.grow(len(self.spaces))
            self.questions.grow(len(self.spaces))

    def _power_law(self) -> tuple[float, float]:
        """(exponent, clip) of the value weights; an exponent of 0 weighs all alike."""
        if self.value is None or not self.prices.known:
            if self.value is not None:
                self._warn_once("no prices so far: all products weigh alike")
            return 0.0, 1.0
        return self.prices.fit() if self.value == "fit" else self.value  # type: ignore[return-value]

    def _predict(self, window: WindowRows, rng: np.random.Generator) -> None:
        """Predict the window with what was known until now: the forecast of lifts and the weights of the clues learn
        from how well they did."""
        self.forecast.learn(self.product_vectors, self.evidence, window.offsets, window.items)
        if not self.clues:
            return
        many = np.flatnonzero(np.diff(window.offsets) > 1)
        if len(many):
            self._weigh_clues(window, rng.permutation(many), rng)
        asked = min(ASKED, -(-len(window.users) // SHARE))
        self.questions.learn(self, window, asked, np.random.default_rng([self.seed, self.n_windows, 4]))

    def _weigh_clues(self, window: WindowRows, baskets: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Fit the weights of the clues to the first of these baskets: hide a product of each and look for it."""
        chosen = baskets[:QUERIES]
        state = rng.integers(1, 2**63, size=2).astype(np.uint64)
        offsets, context, candidates = hide(window.offsets, window.items, chosen, NEGATIVES, state)
        self.blend.learn(self.describe(offsets, context, window.users[chosen], candidates))

    def _learn(self, window: WindowRows, rng: np.random.Generator) -> None:
        self.evidence.update(window.offsets, window.items)
        self.sets.update(window.offsets, window.items, len(self.product_rows.vocabulary))
        if self.clock is Clock.DATETIME:
            self.seasons.learn(window.offsets, window.items, window.days, len(self.product_rows.vocabulary))
        levels = [window]
        if len(self.spaces) > 1:
            levels.append(window.roll_up(self.hierarchy.parents))
        for level, (space, rows) in enumerate(zip(self.spaces, levels, strict=True)):
            space.count(rows)
            self._train(level, space, rows, rng)
        self.sets.look(self.product_vectors, self.evidence)

    def _train(self, level: int, space: Space, window: WindowRows, rng: np.random.Generator) -> None:
        """How a counted window is learned: the one step in which the variants differ."""
        space.train(window, self._pace(), rng)

    def _pace(self) -> Pace:
        return Pace(
            self.negatives, self.learning_rate, self.tau, self.epochs, self.power,
            self.user_share, self.user_targets, self.threads,
        )  # fmt: skip

    # Asking.

    @property
    def products(self) -> list[Label]:
        """Every product met so far, in the order of the rows."""
        return list(self.product_rows.vocabulary)

    @property
    def users(self) -> list[Label]:
        """Every user met so far."""
        return list(self.user_rows.vocabulary)

    @property
    def product_vectors(self) -> NDArray[np.float32]:
        """One row a product."""
        return self.spaces[0].products.vectors

    @property
    def user_vectors(self) -> NDArray[np.float32]:
        """One row a user."""
        return self.spaces[0].users.vectors

    @property
    def product_counts(self) -> NDArray[np.int64]:
        """In how many baskets each product was."""
        return self.spaces[0].counts

    @property
    def n_baskets(self) -> int:
        """Baskets learned so far."""
        return self.evidence.n_baskets

    def row(self, product: Label) -> int:
        """The row of a product by its label, its name or a part of it; an unknown one is an error that suggests the
        nearest names, and one that may mean several an error that lists them."""
        row = self.product_rows.row(product)
        if row < 0:
            row = self.product_names.row(product)
        if row < 0:
            if not self.product_rows.vocabulary:
                raise UnknownError("the model has not learned any baskets yet: call fit or partial_fit first")
            near = nearest(product, self.product_rows.vocabulary)
            raise UnknownError(f"product {product!r} is not known to the model{near}")
        return row

    @property
    def product_names(self) -> ProductNames:
        """What products are called beside their labels, to be found by it."""
        vocabulary, attributes = self.product_rows.vocabulary, self.attributes
        if self._names is None or self._names[0] is not attributes or len(self._names[1].labels) != len(vocabulary):
            names: list[str | None] = [None] * len(vocabulary)
            if attributes is not None and NAME in attributes.column_names:
                rows = [self.product_rows.row(label) for label in attributes["product"].to_pylist()]
                for row, name in zip(rows, attributes[NAME].to_pylist(), strict=True):
                    if row >= 0:
                        names[row] = name
            self._names = attributes, ProductNames(list(vocabulary), names, self.product_counts)
        return self._names[1]

    def _row_in_basket(self, product: Label) -> int:
        """The row of a product of a basket by its label or its name, −1 where it is not known.

        A till writes codes, and one that is not known is no part of a name.
        """
        row = self.product_rows.row(product)
        if row >= 0 or is_code(product) or self.identity.product(product) is None:
            return row
        return self.product_names.row(product)

    def vector(self, product: Label) -> NDArray[np.float32]:
        """The vector of a product."""
        return np.array(self.product_vectors[self.row(product)])

    def season(self, product: Label) -> str:
        """When in the year a product is mostly sold, such as "Nov–Dec"; "" where there is no such time or none to tell
        by yet."""
        return self.seasons.of([[self.row(product)]])[0]

    def similar(self, product: Label, n: int = 10) -> list[tuple[Label, float]]:
        """The nearest products by cosine; those met only once, whose vectors are still noise, are left out."""
        row, vectors = self.row(product), self.product_vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors)) + 1e-12
        cosine = (vectors @ vectors[row]) / (lengths * lengths[row])
        return self._best(cosine, np.array([row]), n)

    def score(
        self, products: Sequence[Label], user: Label | None = None, candidates: Sequence[Label] | None = None
    ) -> NDArray[np.float32]:
        """How well each candidate goes with the basket and the user, higher is better.

        Without candidates, all products are scored in the order of `products`. What the model does not know is left
        out of the context, with a note; an unknown candidate scores as a product never bought.
        """
        return np.asarray(self.blend.score(self._features(products, user, candidates))[0])

    def features(
        self, products: Sequence[Label], user: Label | None = None, candidates: Sequence[Label] | None = None
    ) -> NDArray[Any]:
        """The clues that a score weighs: a record for each candidate, with a field for each clue of `model.clues`.

        Arguments are those of `score`. Where products have categories, the fields of the clues one level up follow,
        `category_context` and so on. `pandas.DataFrame(features)` makes a table of it.

        >>> from omba import Baskets
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
        return self.blend.score(self.describe(queries.offsets, products, users, candidates))

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
        clues = [self.spaces[0].describe(offsets, context, users, candidates)]
        if len(self.spaces) > 1:
            parents = np.append(self.hierarchy.parents, np.int32(-1))
            clues.append(self.spaces[1].describe(offsets, parents[context], users, parents[candidates]))
        clues.append(self._lifts(offsets, context, candidates)[..., None])
        return np.concatenate(clues, axis=2)

    def _lifts(
        self, offsets: NDArray[np.int64], context: NDArray[np.int32], candidates: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """The highest log lift of each candidate with a product of its basket, (queries, candidates)."""
        known = context >= 0
        offsets, context = np.concatenate([[0], np.cumsum(known)])[offsets], context[known]
        lifts = np.zeros(candidates.shape, np.float32)
        if len(context):
            pairs = self.evidence.pairs(*cross(offsets, context, candidates))
            highest_lift(
                offsets, context, candidates, pairs, self.product_counts, max(self.n_baskets, 1), LIFT_PRIOR, lifts
            )
        return lifts

    def rank(self, products: Sequence[Label], user: Label | None = None, n: int = 10) -> list[tuple[Label, float]]:
        """The n products likeliest to go into this basket too, each with the chance that it is bought on this visit.

        All products are looked at, those already in the basket left out. An empty basket with a user asks what
        `next_basket` does; with neither, the best sellers come with the share of baskets they are in. Without
        `clues`, the order and the numbers are those of `score`.
        """
        context, row = self._find_known(products), self._find_user(user)
        return self._label(recommend.suggest(self, context, row, n))

    def next_basket(self, user: Label, n: int = 10, kind: Kind = "all") -> list[tuple[Label, float]]:
        """The n products likeliest to be in the user's next basket, each with its chance.

        `kind` is "rebuy" for what the user remembers alone, "discover" for what is new to them, "all" for both. Of a
        user whom the model does not know, it tells the best sellers.
        """
        return self._label(recommend.suggest(self, np.empty(0, np.int32), self._find_user(user), n, kind))

    def expected_size(self, user: Label | None = None) -> float:
        """How many products the user's next basket is expected to hold; without a user, anybody's."""
        return expected_size(self, self._find_user(user))

    def customer(self, user: Label) -> Customer:
        """What is known of a user: visits and when last, what they buy, how often, when last, and what of it is due."""
        row = self.user_rows.row(user)
        if row < 0:
            raise UnknownError(f"user {user!r} is not known to the model{nearest(user, self.user_rows.vocabulary)}")
        return recommend.customer(self, row)

    def families(self) -> pa.Table:
        """Products that are variants of one thing or a set sold as one, a row a family, those that sell most first.

        `family` is its number, `name` what its members share, `size` how many products it has, `sold` how many
        baskets they were in, `products` which they are.
        """
        return self.assortment.families().table()

    def substitutes(self, product: Label, n: int = 10) -> list[tuple[Label, float]]:
        """The n products that are likeliest bought instead of one, each with the probability that it is.

        Customers who buy both put them into one basket less often than their own habits would.
        """
        return self._related(product, "substitute", n)

    def complements(self, product: Label, n: int = 10) -> list[tuple[Label, float]]:
        """The n products that are likeliest bought with one, each with the probability that they belong together.

        Customers who buy both put them into one basket more often than their own habits would.
        """
        return self._related(product, "complement", n)

    def _related(self, product: Label, kind: str, n: int) -> list[tuple[Label, float]]:
        found = self.assortment.related(self.row(product), kind, n)
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

    def _find_user(self, user: Label | None) -> int:
        """The row of a user, −1 for none and for one who is not known."""
        row = -1 if user is None else self.user_rows.row(user)
        if user is not None and row < 0:
            self._warn_once(f"user {user!r} is not known to the model: scored without one")
        return row

    def _find_known(self, products: Iterable[Label]) -> NDArray[np.int32]:
        """The rows of those products that the model knows, each once."""
        if isinstance(products, str | bytes):
            raise InputError(f"the basket is the text {products!r}: give a list of products, as in [{products!r}]")
        found = {name: self._row_in_basket(name) for name in products}
        unknown = [name for name, row in found.items() if row < 0]
        if unknown:
            self._warn_once(f"not known to the model and left out: {', '.join(map(repr, unknown[:5]))}")
        return np.array(list(dict.fromkeys(row for row in found.values() if row >= 0)), np.int32)

    def _best(
        self, scores: NDArray[np.float32], without: NDArray[np.integer[Any]], n: int
    ) -> list[tuple[Label, float]]:
        scores = np.where(self.product_counts > 1, scores, -np.inf)
        scores[without] = -np.inf
        n = min(n, int(np.isfinite(scores).sum()))
        top = np.argpartition(-scores, max(n - 1, 0))[:n] if n else np.empty(0, np.int64)
        top = top[np.argsort(-scores[top], kind="stable")]
        return [(self.product_rows.vocabulary[row], float(scores[row])) for row in top.tolist()]

    def _warn_once(self, note: str) -> None:
        if note not in self._notes:
            self._notes.add(note)
            log.warning(note)

    # Keeping.

    def extra_state(self) -> dict[str, NDArray[Any]]:
        """What a variant must save beyond OMBA's own state."""
        return {}

    def load_extra(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `extra_state`."""

    def save(self, folder: str | Path) -> None:
        """Write everything needed to go on learning, bit for bit."""
        from omba.model.snapshot import save

        save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> OMBA:
        """The model as it was saved."""
        from omba.model.snapshot import load

        return load(Path(folder))
