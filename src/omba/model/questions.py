"""Questions over the whole catalogue: what else goes into a basket, and what a customer will buy next.

The weights that tell a product from others drawn as they are sold leave its sales out: p(c) ∝ sales(c) · exp(w·x(c)).
So these two questions have blends of their own. Both are fitted before a window is learned, by some of its baskets.

*Complete* hides a product of a basket and looks for it among what the customer remembers, the best sellers, and
products drawn by q = ½ share of sales + ½ uniform, each of which stands for 1/(k·q) others: a softmax over all products
at the price of a few hundred. *Next* looks for a customer's whole basket among what they remember and the best sellers
alone: its first few are what is asked for. Then the suggestions that would have been made are compared with what was
bought, so that each carries the chance that it comes true (`model.calibration`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omba.model import effort
from omba.model.blend import Blend
from omba.model.calibration import SHOWN, Calibration, describe
from omba.model.clues import COMPLETE, NEXT
from omba.model.kernels import gather
from omba.model.memory import FADING, VISITS
from omba.model.space import QueryRows, WindowRows
from omba.model.workers import Job

if TYPE_CHECKING:
    from omba.model.answers import Answers

Rows = NDArray[np.int32]
Longs = NDArray[np.int64]

DRAWN = 64
"""Products drawn for a query of the whole catalogue."""
BEST_SELLERS = 128
"""Best sellers that are candidates of every query."""
SHORTLIST = 128
"""Products that a first look at all of a large catalogue chooses."""
SMALL = 1_000
"""Up to so many products, all are looked at."""
KNOWN = 2
"""Visits after which a customer's next basket teaches something."""
TYPICAL = 2.0
"""Visits' worth of everybody's basket that a customer's expected basket starts with."""


class Questions:
    """The blends and the calibrations of the questions *complete* and *next*.

    Parameters
    ----------
    fitted
        Whether they learn; otherwise they stay the paper's.
    among
        The blend of the question among candidates, whose answer is a clue.
    """

    def __init__(self, fitted: bool, among: Blend) -> None:
        self.blends = {question.name: Blend(question, fitted, match=among) for question in (COMPLETE, NEXT)}
        self.calibrations = {name: Calibration() for name in self.blends}

    def grow(self, levels: int) -> None:
        """Make room for the clues of so many levels of products."""
        for blend in self.blends.values():
            blend.grow(levels)

    def learn(self, model: Answers, window: WindowRows, size: int, rng: np.random.Generator) -> None:
        """Predict a window and learn from it, before the model does.

        `window` may hold some of its baskets only; `size` is how many it has in all.
        """
        for job in self.jobs(model, window, size, rng):
            job()

    def jobs(self, model: Answers, window: WindowRows, size: int, rng: np.random.Generator) -> list[Job]:
        """What `learn` does, a job for each question: they share no weights, and only the first draws numbers."""
        efforts = effort.COMPLETE, effort.NEXT, effort.JUDGE
        complete, following, judged = (each.queries(size, model.n_baskets) for each in efforts)
        if not judged:
            return []
        sizes, best = np.diff(window.offsets), best_sellers(model.product_counts)
        baskets = rng.permutation(len(window.users))
        baskets = baskets[sizes[baskets] > 0]
        visits = np.append(model.spaces[0].memory.totals[:, VISITS], 0)[window.users[baskets]]
        lengths = row_lengths(model.product_vectors) if len(model.product_counts) > SMALL else None

        def ask_complete() -> None:
            self._complete(model, window, baskets[sizes[baskets] > 1][:complete], best, rng)
            self._judge(model, COMPLETE.name, window, baskets[-judged:], lengths, rng)

        def ask_next() -> None:
            self._next(model, window, baskets[visits >= KNOWN][:following], best)
            self._judge(model, NEXT.name, window, baskets[visits > 0][-judged:], lengths, None)

        return [ask_complete, ask_next]

    def _complete(
        self, model: Answers, window: WindowRows, baskets: Longs, best: Rows, rng: np.random.Generator
    ) -> None:
        contexts, targets, users = [], [], []
        for basket, place in zip(baskets.tolist(), rng.random(len(baskets)).tolist(), strict=True):
            items = window.items[window.offsets[basket] : window.offsets[basket + 1]]
            hidden = int(place * len(items))
            if model.product_counts[items[hidden]]:
                contexts.append(np.delete(items, hidden))
                targets.append(items[hidden : hidden + 1])
                users.append(window.users[basket])
        counts = model.product_counts
        chance = 0.5 * counts / counts.sum() + 0.5 / len(counts)
        drawn = np.searchsorted(np.cumsum(chance), rng.random((len(users), DRAWN)), side="right")
        inside = np.minimum(drawn, len(counts) - 1).astype(np.int32)
        self._fit(model, COMPLETE.name, contexts, np.array(users, np.int32), targets, best, inside)

    def _next(self, model: Answers, window: WindowRows, baskets: Longs, best: Rows) -> None:
        targets, users = [], []
        for basket in baskets.tolist():
            user, items = window.users[basket], window.items[window.offsets[basket] : window.offsets[basket + 1]]
            head = items[is_in(items, best) | is_in(items, model.spaces[0].memory.rows[user])]
            if len(head):
                targets.append(head)
                users.append(user)
        drawn = np.empty((len(users), 0), np.int32)
        nothing = [np.empty(0, np.int32)] * len(users)
        self._fit(model, NEXT.name, nothing, np.array(users, np.int32), targets, best, drawn)

    def _fit(
        self, model: Answers, name: str, contexts: list[Rows], users: Rows, targets: list[Rows], best: Rows, drawn: Rows
    ) -> None:
        """Fit a blend to queries whose baskets and targets are given."""
        if len(users) == 0:
            return
        offsets, context = join(contexts)
        candidates, log_weights, shares = candidates_of(model, offsets, context, users, join(targets), best, drawn)
        self.blends[name].learn(model.describe(offsets, context, users, candidates), log_weights, shares)

    def _judge(
        self,
        model: Answers,
        name: str,
        window: WindowRows,
        baskets: Longs,
        lengths: NDArray[np.float32] | None,
        rng: np.random.Generator | None,
    ) -> None:
        """Compare what would have been suggested, at a moment of each of these visits, with what was bought after it.

        With random numbers the moment is any after the first product, else the beginning.
        """
        hands, later = [], []
        for basket in baskets.tolist():
            items = window.items[window.offsets[basket] : window.offsets[basket + 1]]
            if rng is not None:
                items = rng.permutation(items)
            hand = 0 if rng is None else int(rng.integers(1, len(items) + 1))
            hands.append(items[:hand])
            later.append(items[hand:])
        users = window.users[baskets]
        if len(users) == 0:
            return
        offsets, context = join(hands)
        candidates = shortlists(model, self.blends[name], offsets, context, users, lengths)
        utility = self.blends[name].score(model.describe(offsets, context, users, candidates)).astype(np.float64)
        utility[candidates < 0] = -np.inf
        clues, true = [], []
        for q, user in enumerate(users.tolist()):
            top = np.argsort(-utility[q], kind="stable")[:SHOWN]
            top = top[np.isfinite(utility[q, top])]
            own = memory_of(model, user)
            mine = utility[q][is_in(candidates[q], own)]
            size = expected_size(model, user)
            clues.append(describe(utility[q, top], utility[q, top], mine, size, len(hands[q])))
            true.append(is_in(candidates[q, top], later[q]))
        self.calibrations[name].learn(np.concatenate(clues), np.concatenate(true), len(users))

    def chances(
        self, model: Answers, name: str, utility: NDArray[np.float64], rows: Rows, user: int, in_hand: int
    ) -> NDArray[np.float64]:
        """The chance of each of these rows, given the utility of every row that was looked at; the two are aligned."""
        shown = np.sort(utility)[::-1][:SHOWN]
        mine = utility[np.isin(rows, memory_of(model, user))]
        clues = describe(utility, shown[np.isfinite(shown)], mine, expected_size(model, user), in_hand)
        return self.calibrations[name].chance(clues)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything learned, as arrays."""
        parts = [("blend", name, blend) for name, blend in self.blends.items()]
        parts += [("calibration", name, one) for name, one in self.calibrations.items()]  # type: ignore[misc]
        arrays = {
            f"{kind}.{name}.{what}": getattr(one, what) for kind, name, one in parts for what in ("weights", "hessian")
        }
        return arrays | {f"calibration.{name}.offset": one.offset for name, one in self.calibrations.items()}

    def names(self) -> dict[str, list[str]]:
        """The names of the clues of each question, as the weights in `state` have them."""
        return {name: list(blend.names) for name, blend in self.blends.items()}

    def load(self, names: dict[str, list[str]], state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state` and `names`: weights are taken over by the names of their clues."""
        for name, blend in self.blends.items():
            blend.fill(tuple(names[name]), state[f"blend.{name}.weights"], state[f"blend.{name}.hessian"])
        for name, calibration in self.calibrations.items():
            weights, hessian = state[f"calibration.{name}.weights"], state[f"calibration.{name}.hessian"]
            if weights.shape != calibration.weights.shape or hessian.shape != calibration.hessian.shape:
                raise ValueError(f"the calibration of {name!r} has {len(weights)} weights")
            calibration.weights, calibration.hessian = weights, hessian
            # Snapshots of before the offset have none.
            calibration.offset = state.get(f"calibration.{name}.offset", calibration.offset)


def expected_size(model: Answers, user: int) -> float:
    """How many products a customer's next basket will hold: the mean of their baskets, the latest counting most."""
    typical = float(model.product_counts.sum()) / max(model.n_baskets, 1)
    memory = model.spaces[0].memory
    if user < 0 or not memory.places:
        return typical
    visits = (1.0 - FADING ** int(memory.totals[user, VISITS])) / (1.0 - FADING)
    return float((memory.mass[user] + TYPICAL * typical) / (visits + TYPICAL))


def memory_of(model: Answers, user: int) -> Rows:
    """The rows of what a customer remembers."""
    if user < 0:
        return np.empty(0, np.int32)
    rows = model.spaces[0].memory.rows[user]
    return np.asarray(rows[rows >= 0])


def best_sellers(counts: Longs, n: int = BEST_SELLERS) -> Rows:
    """The rows bought most often, best first."""
    # A number for each row that no other has, so that the best need not be found by sorting all.
    key = -counts * len(counts) + np.arange(len(counts))
    top = np.argpartition(key, n)[:n] if n < len(counts) else np.arange(len(counts))
    return top[np.argsort(key[top])].astype(np.int32)


def is_in(rows: Rows, few: Rows) -> NDArray[np.bool_]:
    """Whether each row is among a few."""
    return np.asarray((rows[:, None] == few).any(axis=1))


def join(lists: list[Rows]) -> tuple[Longs, Rows]:
    """Lists of rows as one array, and where each begins."""
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return offsets, np.concatenate([np.empty(0, np.int32), *lists]).astype(np.int32)


def candidates_of(
    model: Answers,
    offsets: Longs,
    context: Rows,
    users: Rows,
    targets: tuple[Longs, Rows],
    best: Rows,
    drawn: Rows,
) -> tuple[Rows, NDArray[np.float64], NDArray[np.float64]]:
    """The candidates of queries, the log of how many products each stands for, and the targets' shares."""
    rows = model.spaces[0].memory.rows
    counts = model.product_counts
    chance = 0.5 * counts / max(counts.sum(), 1) + 0.5 / len(counts)
    longest = int(np.diff(targets[0]).max(initial=0))
    shape = (len(users), longest + rows.shape[1] + len(best) + drawn.shape[1])
    candidates, log_weights, shares = np.empty(shape, np.int32), np.empty(shape), np.empty(shape)
    gather(offsets, context, users, *targets, rows, best, drawn, chance, candidates, log_weights, shares)
    return candidates, log_weights, shares


def shortlists(
    model: Answers, blend: Blend, offsets: Longs, context: Rows, users: Rows, lengths: NDArray[np.float32] | None
) -> Rows:
    """Products worth an exact look for each query, −1 where a list is shorter: all of a small catalogue, of a large
    one those that a first look finds, what the customer remembers, and the best sellers.

    `lengths` are those of the products' vectors; a small catalogue needs none.
    """
    n, nothing = len(model.product_counts), (np.zeros(len(users) + 1, np.int64), np.empty(0, np.int32))
    if lengths is None:
        chosen = np.tile(np.arange(n, dtype=np.int32), (len(users), 1))
        return candidates_of(model, offsets, context, users, nothing, np.empty(0, np.int32), chosen)[0]
    rough = rough_scores(model, blend, offsets, context, users, lengths)
    found = np.argpartition(-rough, SHORTLIST, axis=1)[:, :SHORTLIST].astype(np.int32)
    return candidates_of(model, offsets, context, users, nothing, best_sellers(model.product_counts), found)[0]


def row_lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The length of each vector, none quite 0."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)) + np.float32(1e-12))


def rough_scores(
    model: Answers, blend: Blend, offsets: Longs, context: Rows, users: Rows, lengths: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Approximate scores of all products, (queries, products): cosines to the basket's mean and to the customer,
    popularity, and the clues of categories. The closeness to the nearest product is taken for its mean."""
    space, weights = model.spaces[0], blend.weights_at(0)
    pull = np.zeros((len(users), space.products.dim), np.float32)
    for q, user in enumerate(users.tolist()):
        seen = space.products.vectors[context[offsets[q] : offsets[q + 1]]]
        if len(seen):
            reach = np.linalg.norm(seen, axis=1, keepdims=True) + 1e-12
            pull[q] += weights["context"] * _direction(seen.sum(axis=0))
            pull[q] += weights["nearest"] * (seen / reach).mean(axis=0)
        if user >= 0:
            pull[q] += weights["user"] * _direction(space.users.vectors[user])
    vectors = space.products.vectors
    scores = pull @ vectors.T / lengths + np.float32(weights["popularity"]) * np.log(space.shares()).astype(np.float32)
    if len(model.spaces) > 1:
        # A category a line, and one for products that have none.
        parents = model.hierarchy.parents
        groups = np.arange(-1, len(model.hierarchy.vocabulary), dtype=np.int32)
        repeated = np.tile(groups, (len(users), 1))
        features = model.spaces[1].describe(QueryRows(offsets, parents[context], users, repeated))
        scores += blend.score(features, level=1)[:, parents + 1]
    return np.asarray(scores, np.float32)


def _direction(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12))
