"""Itemsets: exact frequent sets, and rules with one consequent, beside every exact miner a user would pick instead.

Each miner has a process of its own, is given the baskets in the form it wants, and is timed from there to what it
returns: sets (and rules) as Python objects or a frame. It runs once on a few baskets before, to load what it needs, and
seconds are the best of its repeats. Memory is the peak of the process (`ru_maxrss`), and what mining added: its
peak from then on (`VmHWM`, reset) less the memory held with libraries loaded and used once and the baskets in the
miner's form. With
`GROCERIES=FILE` in the environment, the Groceries of arules in basket form stand in the first table; without, a world
of the same size does.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from measure import Outcome, Table, apart, tell
from peers import frame, lists

PATIENCE, REPEATS = 40.0, 5
Codes = tuple[Any, Any]


def market(baskets: int, products: int, mean: float, seed: int, planted: int = 60) -> Codes:
    """Baskets with products as popular as in a shop, and sets of two to five that go together."""
    rng = np.random.default_rng(seed)
    popularity = 1 / (np.arange(products) + 6.0) ** 0.9
    popularity /= popularity.sum()
    sets = [rng.choice(products, rng.integers(2, 6), replace=False, p=popularity) for _ in range(planted)]
    often = rng.dirichlet(np.ones(planted)) * 0.35
    rows = []
    for size in 1 + rng.geometric(1 / mean, baskets):
        basket = set(rng.choice(products, size, p=popularity).tolist())
        if (pick := rng.random()) < often.sum():
            basket.update(sets[int(np.searchsorted(np.cumsum(often), pick))].tolist())
        rows.append(sorted(basket))
    return compress(rows)


def dense(rows: int, columns: int, values: int, seed: int) -> Codes:
    """A table of attributes as in the dense sets of FIMI: one value a column, the first by far the commonest."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 4, rows)
    out = []
    for row in range(rows):
        likely = 0.55 + 0.4 * ((np.arange(columns) * 7 + kinds[row]) % 5) / 5
        value = np.where(rng.random(columns) < likely, 0, rng.integers(1, values, columns))
        out.append((np.arange(columns) * values + value).tolist())
    return compress(out)


def compress(rows: list[list[int]]) -> Codes:
    offsets = np.append(0, np.cumsum([len(row) for row in rows])).astype(np.int64)
    return offsets, np.concatenate(rows).astype(np.int32)


def own(codes: Codes) -> Any:
    from omba.patterns import Transactions

    offsets, items = codes
    return Transactions(offsets, items, range(int(items.max()) + 1))


def omba_sets(given: Any, n: int, count: int, confidence: float) -> int:
    import omba

    if not confidence:
        return len(omba.itemsets(given, min_count=count))
    return len(omba.association_rules(given, min_count=count, min_threshold=confidence, max_consequents=1))


def mlxtend_sets(given: Any, n: int, count: int, confidence: float) -> int:
    from mlxtend.frequent_patterns import association_rules, fpgrowth

    found = fpgrowth(given, min_support=(count - 0.5) / n)
    if not confidence:
        return len(found)
    rules = association_rules(found, min_threshold=confidence)
    return int((rules.consequents.map(len) == 1).sum())


def pyfim_sets(given: Any, n: int, count: int, confidence: float) -> int:
    import fim

    if not confidence:
        return len(fim.fpgrowth(given, supp=-count))
    return len(fim.arules(given, supp=-count, conf=100 * confidence, zmin=2, mode="o", report="aSCl"))


def efficient_sets(given: Any, n: int, count: int, confidence: float) -> int:
    from efficient_apriori import apriori, itemsets_from_transactions

    if not confidence:
        return sum(map(len, itemsets_from_transactions(given, min_support=(count - 0.5) / n)[0].values()))
    _, rules = apriori(given, min_support=(count - 0.5) / n, min_confidence=confidence)
    return sum(len(rule.rhs) == 1 for rule in rules)


def rusket_sets(given: Any, n: int, count: int, confidence: float) -> int:
    import rusket

    found = rusket.fpgrowth(given, min_support=(count - 0.5) / n)
    if not confidence:
        return len(found)
    rules = rusket.association_rules(found, num_itemsets=n, metric="confidence", min_threshold=confidence)
    return int((rules["consequents"].map(len) == 1).sum())


def plain(codes: Codes) -> Any:
    return lists(*codes)


def table(codes: Codes) -> Any:
    return frame(*codes)


MINERS: dict[str, tuple[Callable[[Codes], Any], Callable[[Any, int, int, float], int]]] = {
    "OMBA": (own, omba_sets),
    "PyFIM": (plain, pyfim_sets),
    "rusket": (table, rusket_sets),
    "efficient-apriori": (plain, efficient_sets),
    "mlxtend": (table, mlxtend_sets),
}


def groceries() -> Codes:
    """The Groceries where their file is named, else a world of their size: 9,835 baskets of 169 products."""
    path = os.environ.get("GROCERIES")
    if not path:
        return market(9_835, 169, 3.4, seed=1)
    import omba

    baskets = omba.read_baskets(path, form="baskets")
    return baskets.offsets, baskets.items


def journey(level: str) -> Codes:
    import omba

    baskets = omba.datasets.complete_journey(level=level)
    return baskets.offsets, baskets.items


def suite(quick: bool = False) -> list[Table]:
    named = "Groceries" if os.environ.get("GROCERIES") else "A market of the size of Groceries"
    worlds: dict[str, tuple[Callable[[], Codes], int, float]] = {
        f"{named}, in 10 baskets or more, rules at 0.5": (groceries, 10, 0.5),
        "Sparse, 50,000 baskets of 2,000 products, in 50 or more": (lambda: market(50_000, 2_000, 9, 2, 300), 50, 0.0),
        "Dense, 3,000 rows of 24 attributes, in 900 or more": (lambda: dense(3_000, 24, 5, 3), 900, 0.0),
        "Complete Journey, product types, in 500 baskets or more": (lambda: journey("product_type"), 500, 0.0),
        "Complete Journey, product types, in 50 baskets or more": (lambda: journey("product_type"), 50, 0.0),
        "Complete Journey, products, in 50 baskets or more": (lambda: journey("product_id"), 50, 0.0),
    }
    if quick:
        worlds = {"A small market": (lambda: market(500, 40, 4, 1), 5, 0.5)}
    return [measure(title, *given, 10.0 if quick else PATIENCE) for title, given in worlds.items()]


def measure(title: str, make: Callable[[], Codes], count: int, confidence: float, patience: float) -> Table:
    found: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "baskets.npz"
        offsets, items = make()
        np.savez(data, offsets=offsets, items=items)
        for miner in MINERS:
            found[miner] = apart("itemsets.py", miner, data, count, confidence, seconds=patience)
    what = "rules" if confidence else "sets"
    made = Table(title, ("miner", what, "seconds", "× OMBA", "peak GB", "added GB", "ended"))
    ours = found["OMBA"]
    for miner, outcome in found.items():
        number = outcome.findings.get("found", float("nan"))
        made.rows.append(
            (
                miner,
                number,
                outcome.seconds,
                outcome.seconds / ours.seconds,
                outcome.gigabytes,
                outcome.findings.get("added", float("nan")),
                outcome.ended,
            )
        )
    if ours.done and found["PyFIM"].done:
        made.bar("seconds by PyFIM's", ours.seconds / found["PyFIM"].seconds, "at most", 2.0)
    peers = [outcome for miner, outcome in found.items() if miner != "OMBA" and outcome.done]
    if ours.done and peers:
        least = min(peer.findings["added"] for peer in peers)
        made.bar("MB that mining added", 1024 * ours.findings["added"], "at most", 1024 * least)
    if ours.done and found["mlxtend"].ended != "not installed":
        made.bar("times faster than mlxtend", found["mlxtend"].seconds / ours.seconds, "at least", 20.0)
    return made


def main(miner: str, data: str, count: str, confidence: str, out: str) -> None:
    """One miner in this process."""
    with np.load(data) as file:
        codes = file["offsets"], file["items"]
    prepare, mine = MINERS[miner]
    small = compress([[0, 1, 2], [0, 1], [1, 2, 3], [0, 1, 2]] * 25)
    mine(prepare(small), 100, 10, float(confidence))
    given, n = prepare(codes), len(codes[0]) - 1
    before = memory_from_now()
    spent: list[float] = []
    while len(spent) < REPEATS and sum(spent) < 3:
        start = time.perf_counter()
        found = mine(given, n, int(count), float(confidence))
        spent.append(time.perf_counter() - start)
    tell(out, min(spent), found=found, added=memory("VmHWM") - before)


def memory(line: str) -> float:
    """What Linux says of the memory of this process, in GB: `VmRSS` as it is, `VmHWM` at its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(text.split()[1]) for text in lines if text.startswith(line)) / 2**20


def memory_from_now() -> float:
    """The memory of this process, from which its peak is told from now on."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    if len(sys.argv) > 3:
        main(*sys.argv[1:])
    else:
        for one in suite("--quick" in sys.argv):
            print(f"\n{one}", flush=True)
