"""OMBA: the online learner (paper, section 4.2), one window at a time, with no history stored."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Baskets, Clock, Every, Label
from omba.errors import InputError, UnknownError, nearest
from omba.model.blend import Blend
from omba.model.categories import Categories
from omba.model.evidence import Evidence
from omba.model.forecast import Forecast
from omba.model.kernels import hide
from omba.model.prices import Prices
from omba.model.rows import Rows, lifted, sort_baskets
from omba.model.sets import Sets
from omba.model.space import Pace, Part, Space
from omba.settings import PAPER, SETTINGS, Value, check

log = logging.getLogger("omba")

RIVALS = 10
QUERIES = 1_000
"""Baskets of a window that are made into queries to weigh the clues."""


class Streamed(Protocol):
    """Anything that can be cut into windows: `Baskets`, or a stream of them."""

    def windows(self, every: str | int | Every = "1d") -> Iterator[Baskets]: ...


class Asked(Protocol):
    """Queries in codes: contexts as CSR, a user and candidates each, and the vocabularies of the codes."""

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
    (Eq. 6) with AdaGrad at the rate exp(−τΨ)·η (Eq. 7–9). Every setting is described in `omba.settings`.

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
        self.product_rows, self.user_rows = Rows(), Rows()
        self.hierarchy = Categories()
        self.spaces = [Space(self.dim, self.seed, 0, self.memory)]
        self.blend = Blend(self.clues)
        self.prices = Prices()
        self.evidence = Evidence(self.pairs)
        self.forecast = Forecast(self.seed)
        self.sets = Sets()
        self.attributes: pa.Table | None = None
        self.clock, self.last_time = Clock.NONE, -(2**63)
        self.n_windows = 0
        self.position: dict[str, Any] = {}
        """How far the sources of a live stream have been learned; it is saved and loaded with the weights."""
        self._told: set[str] = set()

    # Settings, in scikit-learn's manner.

    def get_params(self, deep: bool = True) -> dict[str, Value]:
        """Every setting and its value."""
        return {name: getattr(self, name) for name in SETTINGS}

    def set_params(self, **params: Any) -> Self:
        """Change settings and begin anew: what was learned with others is let go."""
        check(params)
        for name, value in params.items():
            setattr(self, name, value)
        self._reset()
        return self

    def __repr__(self) -> str:
        changed = [f"{n}={v!r}" for n, v in self.get_params().items() if v != SETTINGS[n].default]
        return f"{type(self).__name__}({', '.join(changed)})"

    # Learning.

    def fit(
        self, baskets: Streamed, every: str | int = "1d", progress: Callable[[Baskets], None] | None = None
    ) -> Self:
        """Begin anew and stream all windows; `progress` is called with each window once it is learned."""
        self._reset()
        for window in baskets.windows(every):
            self.partial_fit(window)
            if progress:
                progress(window)
        return self

    def partial_fit(self, window: Baskets, allow_late: bool = False) -> Self:
        """Learn one window. One that begins before what was learned is refused, unless `allow_late`."""
        self._check_time(window, allow_late)
        part = self._read(window)
        rng = np.random.default_rng([self.seed, self.n_windows])
        if self.n_windows:
            self._before(part, rng)
        self._learn(part, rng)
        self.n_windows += 1
        return self

    learn_many = partial_fit

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

    def _read(self, window: Baskets) -> Part:
        """The window in the model's rows, with room made for what is new."""
        items = self.product_rows.take(window.items, window.product_vocabulary)
        owners = np.full(len(window), -1, np.int32)
        if window.user_codes is not None:
            owners = self.user_rows.take(window.user_codes, window.user_vocabulary)
        order = sort_baskets(window.offsets, items)
        items = items[order]
        prices = None if window.prices is None else window.prices[order]
        n_products, n_users = len(self.product_rows.vocabulary), len(self.user_rows.vocabulary)
        self.spaces[0].grow(n_products, n_users)
        if window.attributes is not None:
            self.attributes = window.attributes
        if self.categories:
            self.hierarchy.learn(window.attributes, self.product_rows.vocabulary)
            if len(self.hierarchy.vocabulary):
                self.add_levels(2)
                self.spaces[1].grow(len(self.hierarchy.vocabulary), n_users)
        self.prices.learn(items, prices, n_products)
        exponent, clip = self._power_law()
        weights = self.prices.weigh(items, prices, exponent, clip)
        return Part(window.offsets, items, weights, owners)

    def add_levels(self, levels: int) -> None:
        """Make spaces up to so many levels of products."""
        while len(self.spaces) < levels:
            self.spaces.append(Space(self.dim, self.seed, len(self.spaces), self.memory))
            self.blend.grow(len(self.spaces))

    def _power_law(self) -> tuple[float, float]:
        """(exponent, clip) of the value weights; an exponent of 0 weighs all alike."""
        if self.value is None or not self.prices.known:
            if self.value is not None:
                self._tell("no prices so far: all products weigh alike")
            return 0.0, 1.0
        return self.prices.fit() if self.value == "fit" else self.value  # type: ignore[return-value]

    def _before(self, part: Part, rng: np.random.Generator) -> None:
        """Predict the window with what was known until now: the forecast of lifts and the weights of the clues learn
        from how well they did."""
        self.forecast.learn(self.product_vectors, self.evidence, part.offsets, part.items)
        many = np.flatnonzero(np.diff(part.offsets) > 1)
        if not self.clues or len(many) == 0:
            return
        chosen = rng.permutation(many)[:QUERIES]
        state = rng.integers(1, 2**63, size=2).astype(np.uint64)
        offsets, context, candidates = hide(part.offsets, part.items, chosen, RIVALS, state)
        self.blend.learn(self._describe(offsets, context, part.owners[chosen], candidates))

    def _learn(self, part: Part, rng: np.random.Generator) -> None:
        self.evidence.update(part.offsets, part.items)
        self.sets.update(part.offsets, part.items, len(self.product_rows.vocabulary))
        parts = [part]
        if len(self.spaces) > 1:
            offsets, items = lifted(part.offsets, part.items, self.hierarchy.parents)
            parts.append(Part(offsets, items, np.ones(len(items), np.float32), part.owners))
        for level, (space, part) in enumerate(zip(self.spaces, parts, strict=True)):
            space.count(part)
            self._train(level, space, part, rng)
        self.sets.look(self.product_vectors, self.evidence)

    def _train(self, level: int, space: Space, part: Part, rng: np.random.Generator) -> None:
        """How a counted window is learned: the one step in which the variants differ."""
        space.train(part, self._pace(), rng)

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
        """The row of a product; an unknown one is an error that suggests the nearest names."""
        codes = self.product_rows.vocabulary.codes
        if product not in codes:
            if not codes:
                raise UnknownError("the model has not learned any baskets yet: call fit or partial_fit first")
            raise UnknownError(f"product {product!r} is not known to the model{nearest(product, codes)}")
        return codes[product]

    def vector(self, product: Label) -> NDArray[np.float32]:
        """The vector of a product."""
        return np.array(self.product_vectors[self.row(product)])

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
        context = self._known(products)
        rows = np.arange(len(self.product_rows.vocabulary), dtype=np.int32)
        if candidates is not None:
            rows = self.product_rows.vocabulary.find(candidates)
        owner = self.user_rows.vocabulary.codes.get(user, -1) if user is not None else -1
        if user is not None and owner < 0:
            self._tell(f"user {user!r} is not known to the model: scored without one")
        offsets = np.array([0, len(context)], np.int64)
        features = self._describe(offsets, context, np.array([owner], np.int32), rows[None, :])
        return np.asarray(self.blend.score(features)[0])

    def score_queries(self, queries: Asked) -> NDArray[np.float32]:
        """Scores of many queries at once, one row a query."""
        products = self.product_rows.find(queries.items, queries.product_vocabulary)
        candidates = self.product_rows.find(queries.candidates, queries.product_vocabulary)
        owners = self.user_rows.find(queries.user_codes, queries.user_vocabulary)
        return self.blend.score(self._describe(queries.offsets, products, owners, candidates))

    def rank(self, products: Sequence[Label], user: Label | None = None, n: int = 10) -> list[tuple[Label, float]]:
        """The n products that go best with the basket and the user, those already in it left out."""
        return self._best(self.score(products, user), self._known(products), n)

    def _known(self, products: Iterable[Label]) -> NDArray[np.int32]:
        labels = list(dict.fromkeys(products))
        rows = self.product_rows.vocabulary.find(labels)
        if (rows < 0).any():
            unknown = [label for label, row in zip(labels, rows, strict=True) if row < 0]
            self._tell(f"not known to the model and left out: {', '.join(map(repr, unknown[:5]))}")
        return rows[rows >= 0]

    def _best(
        self, scores: NDArray[np.float32], without: NDArray[np.integer[Any]], n: int
    ) -> list[tuple[Label, float]]:
        scores = np.where(self.product_counts > 1, scores, -np.inf)
        scores[without] = -np.inf
        n = min(n, int(np.isfinite(scores).sum()))
        top = np.argpartition(-scores, max(n - 1, 0))[:n] if n else np.empty(0, np.int64)
        top = top[np.argsort(-scores[top], kind="stable")]
        return [(self.product_rows.vocabulary[row], float(scores[row])) for row in top.tolist()]

    def _describe(
        self,
        offsets: NDArray[np.int64],
        context: NDArray[np.int32],
        owners: NDArray[np.int32],
        candidates: NDArray[np.int32],
    ) -> NDArray[np.float32]:
        clues = [self.spaces[0].describe(offsets, context, owners, candidates)]
        if len(self.spaces) > 1:
            parents = np.append(self.hierarchy.parents, np.int32(-1))
            clues.append(self.spaces[1].describe(offsets, parents[context], owners, parents[candidates]))
        return np.concatenate(clues, axis=2)

    def _tell(self, note: str) -> None:
        """Say a thing once."""
        if note not in self._told:
            self._told.add(note)
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
