"""OMBA: the online learner (paper, section 4.2), one window at a time, with no history stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Basket, Baskets, Clock, Label, Vocabulary
from omba.baskets.clock import MICROSECONDS
from omba.baskets.descriptions import Descriptions
from omba.baskets.folding import fold_window
from omba.baskets.identity import Identity
from omba.baskets.names import ProductNames
from omba.errors import InputError
from omba.model.answers import Answers
from omba.model.assortment import Assortment
from omba.model.blas import one_blas_thread
from omba.model.blend import Blend
from omba.model.effort import YOUNG
from omba.model.estimator import Estimator
from omba.model.evidence import Evidence
from omba.model.forecast import Forecast
from omba.model.hidden_products import HiddenProducts
from omba.model.hierarchy import Hierarchy
from omba.model.input import BasketsLike, as_baskets, as_windowed
from omba.model.namesakes import Namesakes
from omba.model.overview import describe_html
from omba.model.prices import Prices
from omba.model.questions import Questions
from omba.model.row_index import RowIndex, drop_repeats, sort_baskets
from omba.model.seasons import Seasons
from omba.model.sets import Sets
from omba.model.space import TOGETHER, Pace, Space, WindowRows
from omba.model.weekly_sales import WeeklySales
from omba.model.workers import Crew, Job, WorkItem, crew, run
from omba.settings import PAPER, check


def ticks_of_day(clock: Clock) -> int:
    """How many ticks of a clock make a day."""
    return MICROSECONDS["d"] if clock is Clock.DATETIME else 1


class OMBA(Estimator, Answers):
    """Products and users in one embedding space, kept current window by window.

    A unit z of a basket b is recovered from the rest of the basket, p(z | b₋z) ∝ exp(v_z · h_z), where h_z is
    half the user's vector and half the weighted mean of the other products' (Eq. 1–2), by negative sampling
    (Eq. 6) with AdaGrad at the rate exp(−τΨ)·η (Eq. 7–9).

    Parameters
    ----------
    dim
        Length of each vector; 2 to 4,096.
    learning_rate
        η of Eq. 8, before AdaGrad; 0.000001 to 10.
    negatives
        Negatives drawn for each product; 1 to 100.
    tau
        How much a basket the model agrees with slows its own learning (Eq. 8); 0 to 100.
    epochs
        Passes over each window; 1 to 1,000.
    seed
        Start of all random numbers; 0 or more.
    threads
        1 and 2 learn the same, bit for bit; more share the tables without locks; 1 to 256.
    power
        Negatives are drawn by purchases to this power; 0 to 2.
    user_share
        The user's part of a product's context (Eq. 2); 0 to 1.
    user_targets
        Users are recovered from their baskets too (Eq. 1, z a user).
    value
        Value weighting (Eq. 3-4): 'fit' reads the power law from the prices, (exponent, clip) fixes it; both are above
        0.
    memory
        Products remembered of each user; 0 for none; 0 to 100,000.
    categories
        Learn a second space at the level of categories, where the data have them; new products begin near products of
        like names.
    clues
        Weigh the clues of a score online; False is the paper's sum of two cosines.
    pairs
        Pair counts kept as evidence for rules; of triples as many, up to 4 million; 10,000 to 2³¹.

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
        negatives: int = 3,
        tau: float = 0.1,
        epochs: int = 3,
        seed: int = 0,
        threads: int = 1,
        power: float = 0.75,
        user_share: float = 0.5,
        user_targets: bool = False,
        value: str | tuple[float, float] | None = None,
        memory: int = 256,
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
        """The paper's own setting, to the letter; `changes` override single settings.

        Parameters
        ----------
        changes
            Settings that are to be others than the paper's.

        >>> OMBA.paper(dim=50).value
        (2.3, 10.0)
        """
        return cls(**{**PAPER, **changes})

    def _reset(self) -> None:
        self.identity = Identity()
        self.product_rows, self.user_rows = RowIndex("product", self.identity), RowIndex("user", self.identity)
        self.hierarchy = Hierarchy()
        self.spaces = [Space(self.dim, self.seed, 0, self.memory)]
        self.blend = Blend(fitted=self.clues)
        self.questions = Questions(self.clues, self.blend)
        self.prices = Prices()
        self.evidence = Evidence(self.pairs)
        self.forecast = Forecast(self.seed)
        self._sets = Sets(self.pairs)
        self._counting: tuple[Crew, WorkItem] | None = None
        self.seasons = Seasons()
        self.weekly_sales = WeeklySales()
        self.descriptions = Descriptions()
        self.namesakes = Namesakes()
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

    def _repr_html_(self) -> str:
        return describe_html(self)

    def __getstate__(self) -> dict[str, Any]:
        self._finish()
        return self.__dict__

    @property
    def sets(self) -> Sets:
        """What is known of three products bought together; with several threads the last window may still be being
        counted, which is waited for."""
        self._finish()
        return self._sets

    def _finish(self) -> None:
        if self._counting is not None:
            workers, triples = self._counting
            workers.finish([triples])
            self._counting = None

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

        Parameters
        ----------
        baskets
            What is learned.
        every
            How long a window is: "1d", "12h", "1w", or a number of baskets; 1 or more baskets where it is a number.
        progress
            A function that gets each window once it is learned.
        y
            Not used.

        >>> OMBA(dim=16).fit([["pasta", "sauce"]] * 100, every=50).n_windows
        2
        """
        source = as_windowed(baskets)
        self._reset()
        for window in source.windows("1d" if every is None else every):
            self.partial_fit(window)
            if progress:
                progress(window)
        self._finish()
        return self

    def partial_fit(self, window: BasketsLike, allow_late: bool = False) -> Self:
        """Learn one window: `Baskets`, or what `read_baskets` takes.

        One that begins before what was learned is refused, unless `allow_late`.

        Parameters
        ----------
        window
            The baskets of one day, or of whatever the window is.
        allow_late
            Learn it even if it is older than what was learned.

        >>> model = OMBA(dim=16)
        >>> for day in ([["pasta", "sauce"]] * 10, [["soap", "brush"]] * 10):
        ...     model = model.partial_fit(day)
        >>> model.n_baskets, sorted(model.products)
        (20, ['brush', 'pasta', 'sauce', 'soap'])
        """
        baskets = fold_window(as_baskets(window), self.identity)
        self._check_time(baskets, bool(allow_late))
        rows = self._read(baskets)
        rng = np.random.default_rng([self.seed, self.n_windows])
        with one_blas_thread():
            lessons = self._predict(rows, rng) if self.n_windows else []
            if self.clock is Clock.DATETIME:
                lessons.append(partial(self._count_weeks, rows, baskets.store_codes, baskets.store_vocabulary))
            self._learn(rows, rng, lessons)
        self.n_windows += 1
        return self

    learn_many = partial_fit

    def learn_one(self, basket: Basket | Iterable[Label]) -> Self:
        """Learn a single basket: a `Basket`, a list of products, or a mapping whose keys are products, as in river.

        Parameters
        ----------
        basket
            What was bought.

        >>> OMBA(dim=16).learn_one(["pasta", "sauce"]).n_baskets
        1
        """
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
        quantities = None if window.quantities is None else window.quantities[order]
        self.prices.learn(items, prices, len(self.product_rows.vocabulary), quantities)
        exponent, clip = self._power_law()
        weights = self.prices.weigh(items, prices, exponent, clip)
        return WindowRows(offsets, items, weights, users, self._days(window), prices)

    def _count_weeks(self, rows: WindowRows, stores: NDArray[np.integer] | None, labels: Vocabulary) -> None:
        """Count what was sold by week and store, and at which price."""
        places = None if stores is None else self.weekly_sales.number_stores(stores, labels)
        self.weekly_sales.learn(rows.offsets, rows.items, rows.prices, rows.days, places)

    def _days(self, window: Baskets) -> NDArray[np.int32]:
        """The day of each basket; without a clock, the number of the window."""
        if window.times is None:
            return np.full(len(window), self.n_windows, np.int32)
        return np.asarray(window.times // ticks_of_day(window.clock), np.int32)

    def _grow(self, attributes: pa.Table | None, votes: pa.Table | None = None) -> None:
        """Give every product and user in the vocabularies a row in the spaces, and new products their categories."""
        n_products, n_users = len(self.product_rows.vocabulary), len(self.user_rows.vocabulary)
        met = self.spaces[0].products.size
        self.spaces[0].grow(n_products, n_users)
        if attributes is not None and attributes is not self._described:
            self.descriptions.add(attributes, votes, self.identity.product)
            self._described = attributes
            self.attributes = self.descriptions.spell(lambda label: self.identity.spell(label, "product"))
        if self.categories:
            new = self.product_rows.vocabulary.labels[met:]
            names = self.namesakes.names_of(new, self.attributes)
            self.namesakes.place(self.spaces[0].products, met, names)
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

    def _predict(self, window: WindowRows, rng: np.random.Generator) -> list[Job]:
        """Predict the window with what was known until now: questions are asked of it, and the forecast of lifts draws
        the pairs it will be judged by, each for itself. Returns what is to be learned from the answers, which may be
        done beside the passes."""
        jobs: list[Job] = [partial(self.forecast.hold, self.product_vectors, self.evidence)]
        if not self.clues:
            run(jobs, self.threads)
            return []
        drawn = np.random.default_rng([self.seed, self.n_windows, 4])
        asking = self.questions.jobs(self, window, len(window.users), drawn)
        hidden = HiddenProducts(window, rng)
        run([*jobs, *asking, *hidden.jobs(self)], self.threads)
        return [partial(self._weigh_clues, hidden)]

    def _weigh_clues(self, hidden: HiddenProducts) -> None:
        """Fit the weights of the clues to products that were hidden and described."""
        hidden.teach(self.blend, np.random.default_rng([self.seed, self.n_windows, 5]))

    def _learn(self, window: WindowRows, rng: np.random.Generator, lessons: Sequence[Job] = ()) -> None:
        """Learn the window and what predicting it has taught. The levels are tables of their own, and what counts
        baskets looks at no vector, so that all of it may run side by side."""
        levels = [window]
        if len(self.spaces) > 1:
            levels.append(window.roll_up(self.hierarchy.parents))
        jobs: list[Job] = []
        for level, (space, rows) in enumerate(zip(self.spaces, levels, strict=True)):
            space.count_sold(rows)
            jobs += self._passes(level, space, rows, rng)
        jobs += [*lessons, *(partial(space.remember, rows) for space, rows in zip(self.spaces, levels, strict=True))]
        if self.n_windows:
            # Now and then it takes longest, when the forecast is fitted anew.
            jobs.insert(1, partial(self.forecast.follow, window.offsets, window.items))
        if self.threads == 1:
            self._finish()
            run([*jobs, partial(self._count, window), partial(self._count_triples, window)], 1)
        else:
            self._run_beside(jobs, window)
        if not np.isfinite(self.product_vectors[window.items[:64]]).all():
            self._warn_once("the vectors have run away and tell nothing now: learn anew with a lower learning_rate")

    def _run_beside(self, jobs: list[Job], window: WindowRows) -> None:
        """Do all jobs, and count the window beside them; its triples, which are counted by the pairs of this window and
        not of the next one, come last, and may go on beside the next window."""
        workers = crew(self.threads)
        if self._counting is not None and self._counting[0] is not workers:
            self._finish()
        before = [] if self._counting is None else [self._counting[1]]
        pairs = WorkItem(partial(self._count, window), before)
        triples = WorkItem(partial(self._count_triples, window), [pairs])
        self._counting = workers, triples
        others = [WorkItem(job) for job in jobs]
        workers.add([pairs, *others, triples], urgent=True)
        workers.finish([*others, *before, pairs])

    def _count(self, window: WindowRows) -> None:
        self.evidence.update(window.offsets, window.items)
        if self.clock is Clock.DATETIME:
            self.seasons.learn(window.offsets, window.items, window.days, len(self.product_rows.vocabulary))

    def _count_triples(self, window: WindowRows) -> None:
        self._sets.update(window.offsets, window.items, self.evidence)

    def _passes(self, level: int, space: Space, window: WindowRows, rng: np.random.Generator) -> list[Job]:
        """How a counted window is learned, as jobs that are still to be done: the one step in which variants differ."""
        return space.passes(window, self._pace(), rng)

    def _pace(self) -> Pace:
        # Without clues it is the paper's learner, which draws negatives for each product, as a young one does.
        return Pace(
            self.negatives, self.learning_rate, self.tau, self.epochs, self.power,
            self.user_share, self.user_targets, 1 if self.threads <= 2 else max(1, self.threads // len(self.spaces)),
            together=TOGETHER if self.clues and self.n_baskets >= YOUNG else 1,
        )  # fmt: skip

    # Keeping.

    def extra_state(self) -> dict[str, NDArray[Any]]:
        """What a variant must save beyond OMBA's own state."""
        return {}

    def load_extra(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `extra_state`."""

    def save(self, folder: str | Path) -> None:
        """Write everything needed to go on learning, bit for bit.

        Parameters
        ----------
        folder
            Where to; it is made where it is missing.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> OMBA(dim=16).fit([["pasta", "sauce"]] * 100).save(folder)
        >>> OMBA.load(folder).n_baskets
        100
        """
        from omba.model.snapshot import save

        save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> OMBA:
        """The model as it was saved.

        Parameters
        ----------
        folder
            Where `save` or `omba learn` put it.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> OMBA(dim=16).fit([["pasta", "sauce"]] * 100).save(folder)
        >>> OMBA.load(folder)
        OMBA(dim=16)
        """
        from omba.model.snapshot import load

        return load(Path(folder))
