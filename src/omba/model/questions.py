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
from omba.model.calibration import PLACES, Calibration, describe, fall, log_total
from omba.model.clue_kernels import POPULARITY, find_among, find_cosines, gather
from omba.model.clues import BEHIND, COMPLETE, LIFT, NEXT
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
"""Best sellers that are candidates of every suggestion."""
REMEMBERED, SOLD_MOST = 48, 96
"""Products that a hidden one is told from: of those that the customer remembers, and of the best sellers."""
FIRST_LOOK, SHORTLIST = 2_048, 128
"""Products of a large catalogue that are looked at roughly, those that sell best, and how many of them are chosen."""
EVERY = 2**31 - 1
SMALL = 1_000
"""Up to so many products, all are looked at."""
ANONYMOUS, ASIDE = "anonymous", 4
"""What the calibration of baskets without a customer is called, and of how many suggestions one is made without."""
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
        self.calibrations = {name: Calibration() for name in (*self.blends, ANONYMOUS)}

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

        def ask_complete() -> None:
            self._complete(model, window, baskets[sizes[baskets] > 1][:complete], best, rng)
            self._judge(model, window, baskets[-judged:], best, rng)

        def ask_next() -> None:
            self._next(model, window, baskets[visits > 0][:following], best)

        return [ask_complete, ask_next]

    def _complete(
        self, model: Answers, window: WindowRows, baskets: Longs, best: Rows, rng: np.random.Generator
    ) -> None:
        contexts, targets, users = [], [], []
        for basket, place in zip(baskets.tolist(), rng.random(len(baskets)).tolist(), strict=True):
            items = window.items[window.offsets[basket] : window.offsets[basket + 1]]
            hidden = int(place * len(items))
            if model.product_counts[items[hidden]]:
                contexts += [items[:hidden], items[hidden + 1 :]]
                targets.append(items[hidden : hidden + 1])
                users.append(window.users[basket])
        counts = model.product_counts
        drawn = np.searchsorted(np.cumsum(chances_of_draws(counts)), rng.random((len(users), DRAWN)), side="right")
        inside = np.minimum(drawn, len(counts) - 1).astype(np.int32)
        if len(users):
            (halves, context), customers, none = join(contexts), np.array(users, np.int32), inside[:, :0]
            offsets = np.ascontiguousarray(halves[::2])
            candidates, log_weights, shares = candidates_of(
                model, offsets, context, customers, join(targets), best[:SOLD_MOST], none, inside, REMEMBERED
            )
            features = model.describe(offsets, context, customers, candidates)
            self.blends[COMPLETE.name].learn(features, log_weights, shares)

    def _next(self, model: Answers, window: WindowRows, baskets: Longs, best: Rows) -> None:
        """Suggest to the customers of these baskets, compare it with what they bought, and learn from it.

        A customer's first few visits tell of everybody's chances, but not of what makes a customer come back.
        """
        users = window.users[baskets]
        if len(users) == 0:
            return
        offsets, nothing = np.zeros(len(users) + 1, np.int64), np.empty(0, np.int32)
        others = np.tile(stand_ins(model.product_counts), (len(users), 1))
        candidates, log_weights, _ = candidates_of(
            model, offsets, nothing, users, (offsets, nothing), best, others[:, :0], others
        )
        features = model.describe(offsets, nothing, users, candidates)
        bought = [window.items[window.offsets[basket] : window.offsets[basket + 1]] for basket in baskets.tolist()]
        true = find_among(candidates, *join(bought), len(model.product_counts))
        self._compare(model, NEXT.name, users, features, log_weights, true, np.diff(offsets))
        true[log_weights != 0.0], log_weights[log_weights != 0.0] = False, -np.inf
        known = true.any(axis=1) & (model.spaces[0].memory.totals[users, VISITS] >= KNOWN)
        shares = true * (known / np.maximum(true.sum(axis=1), 1))[:, None]
        self.blends[NEXT.name].learn(features, log_weights, shares)

    def _judge(self, model: Answers, window: WindowRows, baskets: Longs, best: Rows, rng: np.random.Generator) -> None:
        """Compare what would have been suggested, at a moment of each of these visits, with what was bought after it;
        the moment is any after the first product. Some are asked as if nobody knew the customer."""
        hands, later = [], []
        for basket in baskets.tolist():
            items = rng.permutation(window.items[window.offsets[basket] : window.offsets[basket + 1]])
            hand = int(rng.integers(1, len(items) + 1))
            hands.append(items[:hand])
            later.append(items[hand:])
        users = np.where(np.arange(len(baskets)) % ASIDE == 0, np.int32(-1), window.users[baskets])
        if len(users) == 0:
            return
        offsets, context = join(hands)
        candidates, log_weights = shortlists(model, self.blends[COMPLETE.name], offsets, context, users, best)
        features = model.describe(offsets, context, users, candidates)
        true = find_among(candidates, *join(later), len(model.product_counts))
        for these in (users >= 0, users < 0):
            given = users[these], features[these], log_weights[these], true[these], np.diff(offsets)[these]
            self._compare(model, COMPLETE.name, *given)

    def _compare(
        self,
        model: Answers,
        name: str,
        users: Rows,
        features: NDArray[np.float32],
        log_weights: NDArray[np.float64],
        true: NDArray[np.bool_],
        in_hand: Longs,
    ) -> None:
        """Calibrate a question by its suggestions, to known users or without any, and by which of the candidates came
        true."""
        if len(users) == 0:
            return
        utility = self.blends[name].score(features).astype(np.float64)
        total = log_total(utility + log_weights)
        # Those that stand for others are no suggestions.
        utility[log_weights != 0.0] = -np.inf
        places = [place for place in PLACES if place < utility.shape[1]]
        order = np.argsort(-utility, axis=1, kind="stable")[:, places]
        shown = np.take_along_axis(utility, order, axis=1)
        confidence = np.take_along_axis(log_confidence(model, features), order, axis=1)
        clues = describe(shown, utility.max(axis=1), total, expected_sizes(model, users), in_hand, confidence)
        there = np.isfinite(shown)
        came_true = np.take_along_axis(true, order, axis=1)
        self.calibrations[calibration_of(name, int(users[0]))].learn(clues[there], came_true[there], len(users))

    def chances(
        self,
        model: Answers,
        utility: NDArray[np.float64],
        name: str,
        features: NDArray[np.float32],
        total: float,
        user: int,
        in_hand: int,
    ) -> NDArray[np.float64]:
        """The chance of each product with these clues and utilities, given log Σ exp(u) over the catalogue, in the
        order of their utilities. The first of them, as far as any were judged, promise together no more than twice the
        size expected and one product."""
        size = expected_sizes(model, np.array([user]))
        highest, confidence = utility.max(initial=-np.inf, keepdims=True), log_confidence(model, features)
        given = np.array([total]), size, np.array([in_hand]), confidence[None]
        chance = self.calibrations[calibration_of(name, user)].chance(describe(utility[None], highest, *given))[0]
        order = np.argsort(-utility, kind="stable")
        chance[order] = falling = fall(chance[order])
        promised = float(falling[: PLACES[-1] + 1].sum())
        return np.asarray(chance * min(1.0, (2.0 * size[0] + 1.0) / max(promised, 1e-12)))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything learned, as arrays."""
        parts = [("blend", name, blend) for name, blend in self.blends.items()]
        parts += [("calibration", name, one) for name, one in self.calibrations.items()]  # type: ignore[misc]
        arrays = {
            f"{kind}.{name}.{what}": getattr(one, what) for kind, name, one in parts for what in ("weights", "hessian")
        }
        for name, one in self.calibrations.items():
            arrays |= {f"calibration.{name}.{what}": getattr(one, what) for what in ("offset", "seen")}
        return arrays

    def names(self) -> dict[str, list[str]]:
        """The names of the clues of each question, as the weights in `state` have them."""
        return {name: list(blend.names) for name, blend in self.blends.items()}

    def load(self, names: dict[str, list[str]], state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state` and `names`: weights are taken over by the names of their clues."""
        for name, blend in self.blends.items():
            blend.fill(tuple(names[name]), state[f"blend.{name}.weights"], state[f"blend.{name}.hessian"])
        for name, calibration in self.calibrations.items():
            if f"calibration.{name}.seen" not in state:
                # Snapshots of before chances were told by shares of the catalogue: their calibration begins anew.
                continue
            weights, hessian = state[f"calibration.{name}.weights"], state[f"calibration.{name}.hessian"]
            if weights.shape != calibration.weights.shape or hessian.shape != calibration.hessian.shape:
                raise ValueError(f"the calibration of {name!r} has {len(weights)} weights")
            calibration.weights, calibration.hessian = weights, hessian
            calibration.offset = state[f"calibration.{name}.offset"]
            calibration.seen = state[f"calibration.{name}.seen"]


def log_confidence(model: Answers, features: NDArray[np.float32]) -> NDArray[np.float64]:
    """The log of the highest confidence that a product of the basket gives each candidate, shrunk as its lift is."""
    per_basket = np.log(max(int(model.product_counts.sum()), 1) / max(model.n_baskets, 1))
    lift = features[..., LIFT.column - len(BEHIND)]
    return np.asarray(lift + features[..., POPULARITY] + per_basket, np.float64)


def calibration_of(name: str, user: int) -> str:
    """The calibration of a question for a user, −1 for none."""
    return ANONYMOUS if name == COMPLETE.name and user < 0 else name


def expected_size(model: Answers, user: int) -> float:
    """How many products a customer's next basket will hold: the mean of their baskets, the latest counting most."""
    return float(expected_sizes(model, np.array([user]))[0])


def expected_sizes(model: Answers, users: NDArray[np.integer]) -> NDArray[np.float64]:
    """The same of many customers; −1 for nobody known."""
    typical = float(model.product_counts.sum()) / max(model.n_baskets, 1)
    memory = model.spaces[0].memory
    if not memory.places:
        return np.full(len(users), typical)
    visits = (1.0 - FADING ** np.append(memory.totals[:, VISITS], 0)[users]) / (1.0 - FADING)
    return np.asarray((np.append(memory.mass, 0.0)[users] + TYPICAL * typical) / (visits + TYPICAL), np.float64)


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


def join(lists: list[Rows]) -> tuple[Longs, Rows]:
    """Lists of rows as one array, and where each begins."""
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return offsets, np.concatenate([np.empty(0, np.int32), *lists]).astype(np.int32)


def chances_of_draws(counts: Longs) -> NDArray[np.float64]:
    """The chance of each product to be drawn, q = ½ share of sales + ½ uniform."""
    return np.asarray(0.5 * counts / max(counts.sum(), 1) + 0.5 / len(counts))


def stand_ins(counts: Longs) -> Rows:
    """Products at even steps along q, each of which stands for 1/(k·q) others: by them the whole is estimated."""
    steps = np.cumsum(chances_of_draws(counts))
    places = np.searchsorted(steps, (np.arange(DRAWN) + 0.5) / DRAWN * steps[-1], side="right")
    return np.asarray(np.minimum(places, len(counts) - 1), np.int32)


def candidates_of(
    model: Answers,
    offsets: Longs,
    context: Rows,
    users: Rows,
    targets: tuple[Longs, Rows],
    best: Rows,
    found: Rows,
    drawn: Rows,
    remembered: int = EVERY,
) -> tuple[Rows, NDArray[np.float64], NDArray[np.float64]]:
    """The candidates of queries, the log of how many products each stands for, and the targets' shares.

    They are the targets, what the customer remembers (so many at most, which stand for the others), the best sellers,
    those found for each query, and those drawn.
    """
    rows, chance = model.spaces[0].memory.rows, chances_of_draws(model.product_counts)
    longest = int(np.diff(targets[0]).max(initial=0))
    width = longest + min(rows.shape[1], remembered) + len(best) + found.shape[1] + drawn.shape[1]
    candidates, (log_weights, shares) = np.empty((len(users), width), np.int32), np.empty((2, len(users), width))
    gather(
        offsets, context, users, *targets, rows, remembered, best, found, drawn, chance,
        candidates, log_weights, shares,
    )  # fmt: skip
    return candidates, log_weights, shares


def shortlists(
    model: Answers, blend: Blend, offsets: Longs, context: Rows, users: Rows, best: Rows
) -> tuple[Rows, NDArray[np.float64]]:
    """Products worth an exact look for each query, −1 where a list is shorter, and the log of how many each stands for:
    all of a small catalogue, of a large one those that a first look finds, what the customer remembers, the best
    sellers, and a few that stand for all others."""
    counts, nothing = model.product_counts, (np.zeros(len(users) + 1, np.int64), np.empty(0, np.int32))
    if len(counts) <= SMALL:
        everything, none = np.arange(len(counts), dtype=np.int32), np.empty((len(users), 0), np.int32)
        return candidates_of(model, offsets, context, users, nothing, everything, none, none)[:2]
    rows = best_sellers(counts, FIRST_LOOK)
    rough = rough_scores(model, blend, offsets, context, users, rows)
    found = rows[np.argpartition(-rough, SHORTLIST, axis=1)[:, :SHORTLIST]]
    drawn = np.tile(stand_ins(counts), (len(users), 1))
    return candidates_of(model, offsets, context, users, nothing, best, found, drawn)[:2]


def rough_scores(
    model: Answers, blend: Blend, offsets: Longs, context: Rows, users: Rows, rows: Rows
) -> NDArray[np.float32]:
    """Approximate scores of some products, (queries, products): cosines to the basket's mean and to the customer,
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
    scores = np.empty((len(users), len(rows)), np.float32)
    find_cosines(rows, space.products.vectors, pull, scores)
    scores += np.float32(weights["popularity"]) * space.sales()[3][rows]
    if len(model.spaces) > 1:
        # A category a line, and one for products that have none.
        parents = model.hierarchy.parents
        groups, place = np.unique(parents[rows], return_inverse=True)
        repeated = np.tile(groups.astype(np.int32), (len(users), 1))
        features = model.spaces[1].describe(QueryRows(offsets, parents[context], users, repeated))
        scores += blend.score(features, level=1)[:, place]
    return np.asarray(scores, np.float32)


def _direction(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12))
