"""Rules of three products: of those that exact counts give, how many a model finds in the stream, and where the others
are lost.

    python benchmarks/triples.py [--source complete-journey] [--room 4000000]     a file, or a built-in data set

Exact are all sets of three products in ten baskets or more with a direction that beats both its parts, by Fisher's
test: each at 1% for itself, or as many as Benjamini and Hochberg's procedure lets through at 5%, with as many
directions tried in both. The stream is the same baskets, a day at a time, counted in bounded memory by what a model
counts with; vectors play no part. A set is lost where its triple is not in the table in the end, or was counted less
than ten times, since it came in late; or where it was counted too seldom for the test.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import omba
from measure import Table, announce
from omba.baskets import Baskets
from omba.model import triples
from omba.model.evidence import Evidence
from omba.model.sets import Sets
from omba.rules import frequent_sets
from omba.rules.counts import Counts
from omba.rules.frequent_sets import FrequentSets
from omba.rules.grow import OFTEN
from omba.rules.productive import highest_p, tested_sets, tried_triples

LEAST = (10, 15, 20, 30, 50, 100)
FALSE = {"5% of all false": 0.05, "each at 1%": 1.0}
Rows = NDArray[Any]


def number(sets: Rows) -> Rows:
    """Each set as one number."""
    rows = np.sort(sets, axis=1).astype(np.int64)
    return (rows[:, 0] << 42) | (rows[:, 1] << 21) | rows[:, 2]


def passing(counts: Rows, sets: Rows, count: Rows, count_of: Any, pairs: Rows) -> dict[str, Rows]:
    """Which sets make a rule, by how many of the rules may be there by chance."""
    tested = tested_sets(counts, sets, count, count_of)
    tried = 3 * tried_triples(pairs[:, 0], pairs[:, 1], len(counts))
    found = {}
    for name, false in FALSE.items():
        rules = np.zeros(len(sets), bool)
        rules[tested.places] = (tested.p <= highest_p(tested.p, tried, false)).any(axis=0)
        found[name] = rules
    return found


def exactly(baskets: Baskets) -> tuple[Rows, Rows, dict[str, Rows]]:
    """All sets of three, their counts, and which of them make a rule."""
    frequent_sets.MOST = 2**31 - 2
    counts = Counts.of(baskets)
    frequent = FrequentSets(counts, OFTEN, 3)
    (pairs, _), (sets, count) = frequent.of_size(2)
    return sets, count, passing(counts.counts, sets, count, frequent.counts, pairs)


def in_the_stream(baskets: Baskets, room: int) -> tuple[Evidence, Sets, float]:
    """What a model counts of them, and the seconds of CPU that the triples took."""
    triples.ROOM = room
    evidence, sets, spent = Evidence(), Sets(), 0.0
    sets.triples = triples.Triples(room)
    for window in baskets.windows("1d"):
        evidence.update(window.offsets, window.items)
        start = process_time()
        sets.update(window.offsets, window.items, evidence)
        spent += process_time() - start
    return evidence, sets, spent


def compare(source: str, room: int) -> Table:
    baskets = omba.read_baskets(source) if Path(source).exists() else omba.datasets.load(source)
    announce("exact counts")
    sets, count, exact = exactly(baskets)
    announce("the stream")
    evidence, counted, spent = in_the_stream(baskets, room)
    met, often = counted.observed(OFTEN)
    left, right, _ = evidence.observed(OFTEN)
    online = passing(
        evidence.counts, met, often, lambda rows: counted.counts(rows, evidence), np.column_stack([left, right])
    )
    known, keys = counted.triples.counts(sets), number(sets)
    table = Table(
        f"Rules of three products of {source}, in a table of {room:,} triples ({counted.triples.nbytes / 1e6:.0f} MB), "
        f"{spent:.1f} s of CPU",
        (
            "rules",
            "in baskets",
            "by exact counts",
            "found",
            "not in the table",
            "counted below 10",
            "by the test",
            "false",
        ),
    )
    for name in FALSE:
        found = np.isin(keys, number(met[online[name]]))
        for least in LEAST:
            rules = exact[name] & (count >= least)
            late = (known > 0) & (known < OFTEN)
            lost = [(known == 0), late, (known >= OFTEN) & ~found]
            wrong = (found & ~exact[name]).sum() / max(1, found.sum())
            shares = [float(part[rules].mean()) for part in (found, *lost)]
            table.rows.append((name, least, int(rules.sum()), *shares, float(wrong)))
        table.bar(f"found, {name}", float(found[exact[name]].mean()), "at least", 0.8)
    return table


def suite(quick: bool) -> list[Table]:
    return [] if quick else [compare("complete-journey", triples.ROOM)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default="complete-journey")
    parser.add_argument("--room", type=int, default=triples.ROOM)
    asked = parser.parse_args()
    print(f"\n{compare(asked.source, asked.room)}")
