"""The learner on Spark: an OMBA whose windows are learned in parts, and which is an ordinary model all the time.

The driver holds the tables. For each window it takes a census, sends every part the rows it will touch, and brings
what comes back into the tables (`spark.merge`). A part has users of its own, so a user's row has one owner. Everything
else that a model keeps (evidence, forecast, triples, memory, the weights of the clues) is counted in the parts and
added up here, as one process would have done.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from omba import model
from omba.baskets import Baskets
from omba.baskets.vocabulary import Label, Vocabulary
from omba.errors import InputError, SettingError
from omba.model.kernels import hide
from omba.model.omba import QUERIES, RIVALS
from omba.spark.baskets import SparkBaskets
from omba.spark.census import Census, label_list
from omba.spark.merge import Changed, merge
from omba.spark.packing import Packer
from omba.spark.parcel import Arrays
from omba.spark.window import LocalWindow, SparkWindow, Window

PARTS = 8
"""Parts where nothing tells how many there should be."""


class OMBA(model.OMBA):
    """OMBA that learns each window in `partitions` parts; None takes as many as Spark has cores.

    `fit` and `partial_fit` take what `omba.spark.read_baskets` gives. Ordinary baskets are learned in the same parts
    without Spark. `save` writes a model as any other: `omba.OMBA.load` reads it.
    """

    def __init__(self, *, partitions: int | None = None, **settings: Any) -> None:
        if partitions is not None and not 1 <= partitions <= 10_000:
            raise SettingError(f"partitions is {partitions}: it must lie from 1 to 10000")
        self.partitions = partitions
        super().__init__(**settings)

    @classmethod
    def of(cls, learned: model.OMBA, partitions: int | None = None) -> Self:
        """A model as it was loaded, to go on with."""
        if type(learned) is not model.OMBA and not isinstance(learned, cls):
            raise InputError(f"a {type(learned).__name__} has a way of learning of its own, which does not go in parts")
        ours = cls(partitions=partitions, **learned.get_params())
        vars(ours).update({name: value for name, value in vars(learned).items() if name != "partitions"})
        return ours

    def fit(
        self,
        baskets: Any,
        every: str | int = "1d",
        progress: Callable[[Any], None] | None = None,
        scratch: str | None = None,
    ) -> Self:
        """Begin anew and learn all windows; `scratch` is for `SparkBaskets.windows`."""
        self._reset()
        windows: Any = baskets.windows(every, scratch) if isinstance(baskets, SparkBaskets) else baskets.windows(every)
        # Closed at once where a window fails: what was written for the others goes.
        with closing(windows):
            for window in windows:
                self.partial_fit(window)
                if progress:
                    progress(window)
        return self

    def partial_fit(self, window: Any, allow_late: bool = False) -> Self:
        """Learn one window. One that begins before what was learned is refused, unless `allow_late`."""
        source: Window = LocalWindow(window) if isinstance(window, Baskets) else window
        parts = self.partitions or _cores(source)
        if self.prices.anchor == 0.0:
            self.prices.anchor = source.middle_price()
        census = source.census(parts, self.prices.anchor)
        if not census.baskets:
            return self
        if source.timed:
            self._check_span(source.clock, census.first, census.last, allow_late)
        packer = self._make_room(census, source)
        self.forecast.hold(self.product_vectors, self.evidence)
        results = source.learn(parts, packer.parcels(self, census, QUERIES // parts + 1))
        self._take_in(census, packer, [results[part] for part in sorted(results)])
        self.n_windows += 1
        return self

    learn_many = partial_fit

    def _make_room(self, census: Census, window: Window) -> Packer:
        """Rows for all that is new, and prices as of this window; returns who owns which rows."""
        shares = census.shares
        products = _rows(self.product_rows.vocabulary, {part: share.products for part, share in shares.items()})
        users = _rows(self.user_rows.vocabulary, {part: share.users for part, share in shares.items()})
        n_products, n_users = len(self.product_rows.vocabulary), len(self.user_rows.vocabulary)
        self.spaces[0].grow(n_products, n_users)
        if window.attributes is not None:
            self.attributes = window.attributes
        if self.categories:
            self.hierarchy.learn(window.attributes, self.product_rows.vocabulary)
            if len(self.hierarchy.vocabulary):
                self.add_levels(2)
                self.spaces[1].grow(len(self.hierarchy.vocabulary), n_users)
        self.prices.learn(np.empty(0, np.int32), None, n_products)
        self.prices.histogram += census.histogram
        for part, share in shares.items():
            self.prices.sums[products[part]] += share.sums
            self.prices.numbers[products[part]] += share.known
        return Packer(products, users, self._power_law())

    def _take_in(self, census: Census, packer: Packer, results: list[Arrays]) -> None:
        """Add up what the parts counted, and merge what they learned."""
        if self.n_windows:
            self._weigh_clues(results)
        sold = packer.product_counts(census, len(self.product_rows.vocabulary))
        self._judge(packer, results, sold, census.baskets)
        rows = np.flatnonzero(sold).astype(np.int32)
        keys, key_counts = (np.concatenate([result[name] for result in results]) for name in ("keys", "key_counts"))
        oversized = sum(int(result["oversized"][0]) for result in results)
        self.evidence.add(rows, sold[rows], keys, key_counts, census.baskets, oversized)
        for sets, result in zip(packer.sets, results, strict=True):
            self.sets.watched[sets] += result["watched"]
        for level, space in enumerate(self.spaces):
            mine = [_under(result, level) for result in results]
            for users, share, result in zip(packer.users.values(), census.shares.values(), mine, strict=True):
                space.counts[result["met_rows"]] += result["met"]
                space.user_counts[users] += share.visits
                space.users.vectors[users], space.users.squares[users] = result["users"], result["user_squares"]
                memory = space.memory
                memory.rows[users], memory.strength[users] = result["memory_rows"], result["memory_strength"]
                memory.mass[users] = result["memory_mass"]
            changed = [Changed(each["rows"], each["vectors"], each["squares"]) for each in mine]
            merge(space.products.vectors, space.products.squares, changed)
        self.sets.look(self.product_vectors, self.evidence)

    def _weigh_clues(self, results: list[Arrays]) -> None:
        """Queries from the baskets that the parts picked, answered by what was known before the window."""
        sizes = np.concatenate([np.diff(result["asked_offsets"]) for result in results])
        if not self.clues or len(sizes) == 0:
            return
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        items = np.concatenate([result["asked"] for result in results])
        owners = np.concatenate([result["asked_owners"] for result in results])
        rng = np.random.default_rng([self.seed, self.n_windows, 0, 1])
        chosen = rng.permutation(len(sizes))[:QUERIES]
        state = rng.integers(1, 2**63, size=2).astype(np.uint64)
        starts, context, candidates = hide(offsets, items, chosen, RIVALS, state)
        self.blend.learn(self._describe(starts, context, owners[chosen], candidates))

    def _judge(self, packer: Packer, results: list[Arrays], sold: NDArray[np.int64], baskets: int) -> None:
        """Bring what the parts saw of the pairs held by the forecast to it."""
        cohort = self.forecast.cohort
        if self.n_windows and cohort is not None:
            for number, result in enumerate(results):
                cohort.later[packer.held[number]] += result["later"]
                known = packer.rows[number] < len(cohort.sold)
                cohort.sold[packer.rows[number][known]] += result["sold"][known]
                cohort.baskets[1] += result["held_baskets"][0]
        if self.n_windows:
            self.forecast.judge(sold, baskets)


def _rows(vocabulary: Vocabulary, labels: dict[int, Any]) -> dict[int, NDArray[np.int64]]:
    """The rows of each part's labels; new ones are taken in, in the order of the labels as in one process."""
    known = {part: label_list(column) for part, column in labels.items()}
    new = {label for column in known.values() for label in column if label not in vocabulary}
    vocabulary.add(sorted(new, key=_by_kind))
    return {part: vocabulary.find(column).astype(np.int64) for part, column in known.items()}


def _by_kind(label: Label) -> tuple[bool, Label]:
    return isinstance(label, str), label


def _under(result: Arrays, level: int) -> Arrays:
    prefix = f"level{level}."
    return {name.removeprefix(prefix): array for name, array in result.items() if name.startswith(prefix)}


def _cores(window: Window) -> int:
    if isinstance(window, SparkWindow):
        return int(window.frame.sparkSession.sparkContext.defaultParallelism)
    return PARTS
