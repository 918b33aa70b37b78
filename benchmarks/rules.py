"""Rules: the 1,000 strongest of OMBA beside those of every miner a user would pick instead, and how many hold.

OMBA's model has learned the baskets already, as it does every day; the others count them from scratch. Each of them is
given the support it needs to reach rules as rare as ours, in a process of its own with a limit on time and memory.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import omba
from measure import PATIENCE, Outcome, Table, announce, apart, tell
from omba.baskets import Baskets
from omba.rules import Counts
from peers import MINERS, TOP

UNTIL = "2017-10-01"
RARE = 0.05
"""The share of our rules that may be rarer than what the others are asked for."""


def world(quick: bool, level: str) -> tuple[Baskets, Baskets]:
    """Baskets to mine, and those after, by which rules are judged."""
    if quick:
        made = omba.datasets.synthetic(baskets=4_000, products=300, users=100, days=40, seed=0).baskets
        return made.slice(0, 3_000), made.slice(3_000, len(made))
    baskets = omba.datasets.complete_journey(level=level)
    return baskets.between(None, UNTIL), baskets.between(UNTIL, None)


def learn(past: Baskets, folder: Path, quick: bool) -> omba.OMBA:
    """The model of the past, saved for processes of their own."""
    model = omba.OMBA(dim=32, epochs=1, threads=2) if quick else omba.OMBA(threads=2)
    model.fit(past)
    model.save(folder / "model")
    return model


def write_codes(past: Baskets, folder: Path) -> Path:
    """The baskets as plain codes, for miners that know nothing of ours."""
    data = folder / "baskets.npz"
    np.savez(data, offsets=past.offsets - past.offsets[0], items=past.items[past.offsets[0] : past.offsets[-1]])
    return data


def holds(pairs: list[list[str | int]], after: Baskets, lift: float = 5.0) -> float:
    """The share of pairs whose lift is above 5 in the baskets after."""
    counts = Counts.of(after, after.products)
    row = {label: place for place, label in enumerate(after.products)}
    known = [(row[a], row[b]) for a, b in pairs if a in row and b in row]
    if not known or not pairs:
        return float("nan") if not pairs else 0.0
    a, b = np.array(known).T
    chance = counts.counts[a] * counts.counts[b] / counts.n_baskets
    return float((counts.pairs(a, b) > lift * chance).sum() / len(pairs))


def ours(folder: str, out: str) -> None:
    """In a process of its own: the model is loaded, then rules are mined for the first time."""
    model = omba.OMBA.load(folder)
    # All pairs, as the others mine them: miners know nothing of families, of which ours would tell one pair each.
    start = time.perf_counter()
    rules = omba.mine_rules(model, TOP, antecedents=1, within_families=True)
    cold = time.perf_counter() - start
    again = time.perf_counter()
    omba.mine_rules(model, TOP, antecedents=1, within_families=True)
    warm = time.perf_counter() - again
    pairs = [[a[0], c[0]] for a, c in rules.sides]
    tell(out, cold, warm=warm, pairs=pairs, counts=np.asarray(rules["count"]).tolist())


def compare(level: str, quick: bool) -> Table:
    announce(f"reading {level}")
    past, after = world(quick, level)
    table = Table(
        f"The {TOP:,} strongest pairs of {len(past):,} baskets, {level}: {len(past.products):,} products",
        ("miner", "least count", "seconds", "ratio", "peak GB", "hold after", "ended"),
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        announce(f"learning {level}")
        learn(past, folder, quick)
        data = write_codes(past, folder)
        own = apart("rules.py", folder / "model")
        least = max(2, int(np.quantile(own.findings["counts"], RARE)))
        kept = holds(own.findings["pairs"], after)
        table.rows.append(("OMBA", "–", own.seconds, 1.0, own.gigabytes, kept, own.ended))
        table.rows.append(
            (
                "OMBA, once more",
                "–",
                own.findings["warm"],
                own.findings["warm"] / own.seconds,
                own.gigabytes,
                kept,
                "done",
            )
        )
        labels = past.product_vocabulary
        found: dict[str, Outcome] = {}
        for miner in MINERS:
            one = found[miner] = apart("peers.py", miner, data, least, seconds=PATIENCE)
            pairs = [[labels[a], labels[b]] for a, b in one.findings.get("pairs", [])]
            kept_too = holds(pairs, after) if one.done else float("nan")
            table.rows.append(
                (miner, least, one.seconds, one.seconds / own.seconds, one.gigabytes, kept_too, one.ended)
            )
    slow = [found[m].seconds for m in MINERS if m.startswith("mlxtend") and found[m].ended != "not installed"]
    if slow:
        table.bar("times faster than mlxtend's quicker", min(slow) / own.seconds, "at least", 10.0)
    exact = [one.seconds for one in found.values() if one.done]
    if exact:
        table.bar("times the quickest exact miner, cold", own.seconds / min(exact), "at most", 3.0)
    return table


def suite(quick: bool) -> list[Table]:
    return [compare(level, quick) for level in (("synthetic",) if quick else ("product_type", "product_id"))]


if __name__ == "__main__":
    ours(*sys.argv[1:])
