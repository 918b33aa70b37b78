"""Learning: all of a fit, products a second and seconds to quality, beside what a user would pick instead.

    python benchmarks/learning.py --profile             where the time of a default fit goes
    python benchmarks/learning.py --profile product_id  the same at the level of single products
    python benchmarks/learning.py --profile product_type 2017-03-02     the same, until a day

Rates are of the passes alone: vocabulary and tables stand ready on every side. Quality is the paper's retrieval test on
three windows of the second half, MRR: OMBA learns the stream once, the others are trained on what came before each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import omba
from measure import PATIENCE, Seconds, Table, announce, apart, in_turns, time_of
from omba.baselines import make
from omba.baskets import Baskets
from omba.evaluation.metrics import mrr, ranks
from omba.evaluation.retrieval import Task, queries
from omba.model import evidence, forecast, hidden_products, oracle, questions, sets, space
from rules import write_codes

LIKE_GENSIM: dict[str, Any] = {"negatives": 3, "epochs": 1, "clues": False, "categories": False, "memory": 0}
GOOD = 0.60
"""The MRR that counts as quality reached."""

GIVES = {
    "OMBA": "vectors of products and customers, pairs, sets, forecast of lifts, suggestions with their chances",
    "gensim CBOW": "vectors of products",
    "implicit ALS": "vectors of products and customers",
}
"""What a user has once a method is done."""

PARTS: dict[str, list[tuple[Any, str]]] = {
    "passes": [(space, "learn_baskets")],
    "forecast": [(forecast.Forecast, "hold"), (forecast.Forecast, "follow")],
    "clues of a score": [(hidden_products.HiddenProducts, "describe"), (omba.OMBA, "_weigh_clues")],
    "questions over the catalogue": [(questions.Questions, name) for name in ("_complete", "_next", "_judge")],
    "sets": [(sets.Sets, "update"), (sets.Sets, "look")],
    "reading a window into rows": [(omba.OMBA, "_read")],
    "evidence": [(evidence.Evidence, "update")],
    "sales and users' memory": [(space.Space, "count_sold"), (space.Space, "remember"), (omba.OMBA, "_count_weeks")],
}
"""The parts of a fit, and the functions whose time each is."""


def world(quick: bool) -> Baskets:
    if quick:
        return omba.datasets.synthetic(baskets=600, products=150, users=60, days=8, pairs=5, seed=0).baskets
    return omba.datasets.complete_journey()


def sentences(baskets: Baskets) -> list[list[str]]:
    return [[str(p) for p in basket.products] for basket in baskets]


def passes(baskets: Baskets, dim: int, threads: int) -> Callable[[], None]:
    """One pass of OMBA over all days."""
    model = omba.OMBA(dim=dim, user_targets=True, threads=threads, **LIKE_GENSIM).fit(baskets)
    own, rng = model.spaces[0], np.random.default_rng(0)
    pace = replace(model._pace(), threads=threads, together=space.TOGETHER)
    parts = [model._read(window) for window in baskets.windows("1d")]

    def work() -> None:
        for part in parts:
            own.train(part, pace, rng)

    return work


def gensim(corpus: list[list[str]], dim: int, threads: int, skip_gram: bool) -> Callable[[], Any]:
    from gensim.models import Word2Vec

    ready = Word2Vec(
        vector_size=dim, window=1000, negative=3, min_count=1, sample=0, sg=int(skip_gram), workers=threads, seed=1
    )
    ready.build_vocab(corpus)
    return lambda: ready.train(corpus, total_examples=len(corpus), epochs=1)


def implicit(baskets: Baskets, name: str, dim: int, threads: int, iterations: int = 1) -> Callable[[], Any]:
    """Some iterations of ALS or BPR on the matrix of users and products."""
    import implicit as library
    from scipy.sparse import coo_matrix
    from threadpoolctl import threadpool_limits

    assert baskets.user_codes is not None
    users = np.repeat(baskets.user_codes, np.diff(baskets.offsets))
    shape = int(users.max()) + 1, int(baskets.items.max()) + 1
    matrix = coo_matrix((np.ones(len(users), np.float32), (users, baskets.items)), shape).tocsr()
    kind = {
        "ALS": library.als.AlternatingLeastSquares,
        "BPR": library.bpr.BayesianPersonalizedRanking,
    }[name]

    def work() -> None:
        with threadpool_limits(1, "blas"):
            learner = kind(factors=dim, iterations=iterations, num_threads=threads, random_state=0)
            learner.fit(matrix, show_progress=False)

    return work


def plain(baskets: Baskets, dim: int) -> tuple[Callable[[], None], int]:
    """The paper's equations in NumPy, target by target, on some baskets; and how many products those hold."""
    some, rng = baskets.slice(0, min(60, len(baskets))), np.random.default_rng(0)
    n, users = len(baskets.products), len(baskets.users)
    tables = [oracle.PlainTable(rng.random((size, dim)) / dim, np.full((size, dim), 1e-8)) for size in (n, users)]

    def work() -> None:
        for k, products in enumerate(oracle.baskets(some.offsets, some.items)):
            drawn = [rng.integers(0, n, 3).tolist() for _ in products]
            user = int(some.user_codes[k]) if some.user_codes is not None else -1
            oracle.learn_basket(products, np.ones(len(products)), user, *tables, drawn, 0.05, 0.5)

    return work, some.n_items


def everything(baskets: Baskets, quick: bool) -> Table:
    """A default fit as a user calls it, and what a user would have others do for a part of the same end."""
    from gensim.models import Word2Vec

    table = Table(
        f"Fit, everything included, {len(baskets):,} baskets, d = 300",
        ("method", "threads", "seconds", "over gensim CBOW", "what it gives"),
    )
    corpus = sentences(baskets)
    settings = {"vector_size": 300, "window": 1000, "negative": 5, "min_count": 1, "sample": 0, "sg": 0, "epochs": 5}
    for threads in (1, 2):
        sides: dict[str, Callable[[], Any]] = {
            "OMBA": partial(whole, baskets, threads),
            "gensim CBOW": partial(Word2Vec, corpus, workers=threads, seed=1, **settings),
            "implicit ALS": implicit(baskets, "ALS", 300, threads, iterations=15),
        }
        found = in_turns(sides, 1)
        reference = found["gensim CBOW"].median
        table.rows += [(name, threads, str(one), one.median / reference, GIVES[name]) for name, one in found.items()]
        table.bar(f"over gensim CBOW, {threads} threads", found["OMBA"].median / reference, "at most", 1.0)
    with tempfile.TemporaryDirectory() as folder:
        data = write_codes(baskets, Path(folder))
        for miner in ("SciPy matrix product",) if quick else ("PyFIM eclat", "rusket eclat", "mlxtend fpgrowth"):
            one = apart("peers.py", miner, data, 10, seconds=PATIENCE / 4)
            gives = "pairs in ten baskets or more" if one.done else one.ended
            table.rows.append((miner, 1, one.seconds, one.seconds / reference, gives))
    return table


def timed(function: Callable[..., Any], part: str, spent: Counter[str]) -> Callable[..., Any]:
    """The same function, which adds its own thread's seconds to those of a part."""

    def work(*arguments: Any, **named: Any) -> Any:
        start = time.thread_time()
        try:
            return function(*arguments, **named)
        finally:
            spent[part] += time.thread_time() - start

    return work


def profile(level: str = "product_type", until: str | None = None) -> Table:
    """Where the processor's seconds of a default fit with one thread go."""
    baskets, spent = omba.datasets.complete_journey(level=level).between(None, until), Counter[str]()
    omba.OMBA().fit(baskets.slice(0, 2_000))
    for part, functions in PARTS.items():
        for owner, name in functions:
            setattr(owner, name, timed(getattr(owner, name), part, spent))
    start = time.thread_time()
    omba.OMBA().fit(baskets)
    total = time.thread_time() - start
    table = Table(
        f"A default fit, {len(baskets):,} baskets, {baskets.n_items:,} products bought", ("part", "seconds", "share")
    )
    rows = [*spent.most_common(), ("everything else", total - spent.total()), ("all of fit", total)]
    table.rows = [(part, seconds, seconds / total) for part, seconds in rows]
    return table


def rates(baskets: Baskets, quick: bool) -> Table:
    table = Table(
        f"Products learned a second, {len(baskets):,} baskets, three negatives",
        ("method", "d", "threads", "thousand a second", "spread", "over gensim CBOW", "first call, s"),
    )
    corpus, words = sentences(baskets), baskets.n_items
    for dim in (16,) if quick else (100, 300):
        for threads in (1, 2):
            sides = {
                "OMBA": passes(baskets, dim, threads),
                "gensim CBOW": gensim(corpus, dim, threads, skip_gram=False),
                "gensim skip-gram": gensim(corpus, dim, threads, skip_gram=True),
                "implicit ALS": implicit(baskets, "ALS", dim, threads),
                "implicit BPR": implicit(baskets, "BPR", dim, threads),
            }
            found = in_turns(sides, 1 if quick else 3)
            reference = found["gensim CBOW"].median
            table.rows += [rate_row(name, dim, threads, one, words, reference) for name, one in found.items()]
            if dim != 100:
                table.bar(f"over gensim CBOW, {threads} threads", reference / found["OMBA"].median, "at least", 1.3)
        work, products = plain(baskets, dim)
        slow = in_turns({"": work}, 1)[""]
        table.rows.append(
            rate_row("the paper's equations in NumPy", dim, 1, slow, products, reference * products / words)
        )
    return table


def rate_row(name: str, dim: int, threads: int, one: Seconds, words: int, reference: float) -> tuple[Any, ...]:
    thousand = words / one.median / 1e3
    return name, dim, threads, thousand, f"±{one.spread:.0%}", reference / one.median, one.first


def quality(baskets: Baskets, quick: bool) -> Table:
    table = Table("Seconds of learning and what they bring", ("method", "passes", "seconds", "MRR"))
    asked = queries(baskets, Task(2 if quick else 3, 10, "1d", "one", "window", None), 0)

    def ours(epochs: int, categories: bool) -> tuple[float, float]:
        announce(f"OMBA, {epochs} passes")
        model, found, marks = omba.OMBA(categories=categories, epochs=epochs, negatives=3), [], iter(asked)
        query, place, spent = next(marks), 0, 0.0
        for window in baskets.windows("1d"):
            if query is not None and place == query.first:
                found.append(ranks(model.score_queries(query)))
                query = next(marks, None)
            spent += time_of(lambda window=window: model.partial_fit(window))
            place += len(window)
        return spent, mrr(np.concatenate(found))

    def theirs(name: str, **settings: Any) -> tuple[float, float]:
        seconds, found = [], []
        for query in asked:
            announce(f"{name} {settings.get('epochs', '')}, basket {query.first:,}")
            method = make(name, seed=0, **settings)
            seconds.append(time_of(lambda query=query, method=method: method.fit(baskets.slice(0, query.first))))
            found.append(ranks(method.score_queries(query)))
        return float(np.mean(seconds)), mrr(np.concatenate(found))

    best_gensim, reached = (0.0, 0.0), None
    for epochs in (1,) if quick else (1, 5):
        seconds, score = ours(epochs, categories=False)
        table.rows.append(("OMBA, whole stream, without categories", epochs, seconds, score))
        if score >= GOOD and reached is None:
            reached = seconds
    for epochs in (1,) if quick else (5, 10, 20):
        seconds, score = theirs("item2vec", epochs=epochs)
        table.rows.append(("gensim (Item2Vec), one training", epochs, seconds, score))
        best_gensim = max(best_gensim, (score, seconds))
    for name in ("als", "triple2vec"):
        table.rows.append((f"{name}, one training", "its own", *theirs(name)))
    if reached is not None:
        table.bar(f"seconds to MRR {GOOD} over gensim's to its own best", reached / best_gensim[1], "at most", 0.5)
    return table


def threads(baskets: Baskets, quick: bool) -> Table:
    """Two threads against one, over the whole of learning."""
    found = in_turns({str(n): partial(whole, baskets, n) for n in (1, 2)}, 1 if quick else 3)
    ratio = found["1"].median / found["2"].median
    table = Table("Two threads over one", ("what", "one thread", "two threads", "ratio"))
    table.rows.append(("all of fit", str(found["1"]), str(found["2"]), ratio))
    table.bar("all of fit, two threads over one", ratio, "at least", 1.6)
    return table


def whole(baskets: Baskets, threads: int) -> None:
    omba.OMBA(threads=threads).fit(baskets)


START = """
import time
start = time.perf_counter()
import omba
omba.OMBA(dim=300).partial_fit(omba.Baskets.from_lists([["a", "b"], ["b", "c"]] * 20))
print(time.perf_counter() - start)
"""


def start(quick: bool) -> Table:
    """The first process compiles; later ones find the compiled kernels on disk, as both do in a quick run."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ} if quick else {**os.environ, "NUMBA_CACHE_DIR": cache}
        first, second = (float(subprocess.check_output([sys.executable, "-c", START], env=env)) for _ in range(2))
    table = Table(
        "From nothing to a first window learned", ("process", "seconds"), [("first", first), ("next", second)]
    )
    table.bar("first process", first, "at most", 15.0)
    table.bar("next process", second, "at most", 3.0)
    return table


def suite(quick: bool) -> list[Table]:
    baskets = world(quick)
    some = baskets if quick else baskets.between(None, "2017-03-01")
    return [everything(baskets, quick), rates(some, quick), quality(baskets, quick), threads(some, quick), start(quick)]


if __name__ == "__main__":
    if sys.argv[1:2] != ["--profile"]:
        raise SystemExit("give --profile, or run the suite by: python benchmarks/bench.py learning")
    print(profile(*sys.argv[2:4]))
