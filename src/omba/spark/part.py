"""Part: what one partition does with its users' baskets of a window. Free of Spark: tables in, tables out.

The rows a part needs arrive in a payload, numbered anew in the order of the model's own rows, so that the kernels run
on small tables as they would on the whole. What the part returns is what it changed, and what it counted. All random
numbers follow from the seed, the window and the part: a task that is run again returns the same bytes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from omba.errors import InputError
from omba.model import counting
from omba.model.evidence import LARGEST, empty_table
from omba.model.prices import Prices
from omba.model.row_index import sort_baskets
from omba.model.space import Pace, Space, WindowRows, count_items
from omba.spark import pairing
from omba.spark.payload import Arrays, at_level, labels_of


def learn(payload: Arrays, baskets: pa.Table) -> Arrays:
    """Learn a part's baskets: the changed rows and the counts, in the model's own rows."""
    window = read(payload, baskets)
    rng = random(payload)
    result = count(payload, window) | pick_queries(payload, window)
    levels = [window]
    if "level1.rows" in payload:
        levels.append(window.roll_up(payload["parents"]))
    for level, rows in enumerate(levels):
        result |= {f"level{level}.{name}": array for name, array in train(payload, level, rows, rng).items()}
    return result


def random(payload: Arrays, *more: int) -> np.random.Generator:
    """The random numbers of a part; those of the first are what one process would draw."""
    seed, window, part = payload["seed"].tolist()
    return np.random.default_rng([seed, window, *([part] if part else []), *more])


def read(payload: Arrays, baskets: pa.Table) -> WindowRows:
    """The baskets in the part's own rows, in the order of their times."""
    baskets = baskets.sort_by([("time", "ascending"), ("basket", "ascending")])
    lists = baskets["products"].combine_chunks()
    offsets = np.concatenate([[0], np.cumsum(pc.list_value_length(lists).to_numpy())]).astype(np.int64)
    known = labels_of(payload["labels"])
    place = pc.index_in(pc.list_flatten(lists), value_set=known)
    if place.null_count:
        raise InputError("a part met products that the window did not have when it was counted: the data changed")
    items = payload["label_rows"][place.to_numpy()]
    known_users = labels_of(payload["user_labels"])
    users = pc.index_in(baskets["user"].combine_chunks(), value_set=known_users).fill_null(-1)
    order = sort_baskets(offsets, items)
    prices = pc.list_flatten(baskets["prices"]).to_numpy().astype(np.float32)[order]
    weights = read_prices(payload).weigh(items[order], prices, *payload["power_law"].tolist())
    day = int(payload["day"][0])
    times = baskets["time"].to_numpy()
    days = times // day if day else np.full(len(times), payload["seed"][1])
    return WindowRows(offsets, items[order], weights, users.to_numpy().astype(np.int32), days.astype(np.int32))


def read_prices(payload: Arrays) -> Prices:
    """The prices known so far, in the part's rows."""
    prices = Prices()
    prices.sums, prices.numbers, prices.anchor = payload["sums"], payload["numbers"], float(payload["anchor"][0])
    return prices


def count(payload: Arrays, window: WindowRows) -> Arrays:
    """Count pairs, watched triples, and the forecast's pairs over the part's baskets."""
    rows = payload["level0.rows"].astype(np.int32)
    keys, key_counts, oversized = pairs(payload, window)
    watched = np.zeros(len(payload["sets"]), np.int64)
    if len(watched):
        starts = np.searchsorted(payload["sets"][:, 0], np.arange(len(rows) + 1))
        marks = np.full(len(rows), -1, np.int64)
        counting.count_sets(window.offsets, window.items, starts, payload["sets"], marks, watched)
    later, sold = np.zeros(len(payload["held_a"]), np.int64), np.zeros(len(rows), np.int64)
    table = empty_table(2 * len(later) + 1)
    counting.insert(
        counting.pack_pairs(payload["held_a"], payload["held_b"]), np.arange(len(later), dtype=np.uint64), table
    )
    watched_baskets = counting.count_held(window.offsets, window.items, LARGEST, table, later, sold)
    return {
        "keys": keys,
        "key_counts": key_counts,
        "oversized": np.array([oversized]),
        "watched": watched,
        "later": later,
        "sold": sold,
        "held_baskets": np.array([watched_baskets]),
        "squares": np.array([(np.diff(window.offsets).astype(np.float64) ** 2).sum()]),
    }


def pairs(payload: Arrays, window: WindowRows) -> tuple[NDArray[np.uint64], NDArray[np.int64], int]:
    """The pairs of the part's baskets in the model's rows, packed, with counts; and the baskets too large for all.

    Of those only `LARGEST` products are paired, drawn by the numbers of the part.
    """
    sizes, items = np.diff(window.offsets), payload["level0.rows"].astype(np.int32)[window.items]
    offsets, giant = window.offsets, np.flatnonzero(sizes > LARGEST)
    if len(giant):
        keep, rng = np.ones(len(items), bool), random(payload, 3)
        for basket in giant:
            first, after = offsets[basket], offsets[basket + 1]
            keep[first:after] = False
            keep[first + rng.choice(after - first, LARGEST, replace=False)] = True
        offsets, items = np.concatenate([[0], np.cumsum(np.minimum(sizes, LARGEST))]), items[keep]
    found = [(np.empty(0, np.uint64), np.empty(0, np.int64)), *pairing.pairs(offsets, items)]
    keys, numbers = (np.concatenate(column) for column in zip(*found, strict=True))
    return keys, numbers, len(giant)


def pick_queries(payload: Arrays, window: WindowRows) -> Arrays:
    """A few baskets, by which the driver weighs the clues before it takes in what was learned of them.

    Those that hide a product of a basket have at least two; those that are asked of the whole catalogue may have one.
    """
    sizes, (queries, asked) = np.diff(window.offsets), payload["queries"].tolist()
    many, any_size = np.flatnonzero(sizes > 1), np.arange(len(sizes))
    hidden = pick(payload, window, random(payload, 1).permutation(many)[:queries])
    whole = pick(payload, window, random(payload, 4).permutation(any_size)[:asked])
    return {f"query_{name}": array for name, array in hidden.items()} | {
        f"asked_{name}": array for name, array in whole.items()
    }


def pick(payload: Arrays, window: WindowRows, baskets: NDArray[np.int64]) -> Arrays:
    """Some baskets in the model's own rows."""
    chosen = np.sort(baskets)
    sizes = np.diff(window.offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.arange(offsets[-1]) + np.repeat(window.offsets[chosen] - offsets[:-1], sizes)
    users = np.append(payload["user_rows"], -1)[window.users[chosen]]
    items = payload["level0.rows"][window.items[places]]
    return {"items": items.astype(np.int32), "offsets": offsets, "users": users.astype(np.int32)}


def train(payload: Arrays, level: int, window: WindowRows, rng: np.random.Generator) -> Arrays:
    """Train one level; the rows that changed, and what was counted."""
    mine = at_level(payload, level)
    vectors, squares = mine["products"].copy(), mine["squares"].copy()
    places = int(payload["pace_whole"][3])
    space = Space(mine["products"].shape[1], 0, level, places)
    space.products.load(mine["products"], mine["squares"])
    space.users.load(mine["users"], mine["user_squares"])
    space.counts, space.user_counts = mine["counts"], mine["user_counts"]
    users = np.arange(len(mine["users"]))
    space.memory.grow(len(users))
    space.memory.put(users, {name.removeprefix("memory_"): mine[name] for name in mine if name.startswith("memory_")})
    visits = window.users[window.users >= 0]
    if places and len(visits):
        # Memory holds rows of the whole model, because it lives on after the part.
        space.memory.learn(window.offsets, mine["rows"].astype(np.int32)[window.items], window.users, window.days)
    space.train(window, pace(payload, level), rng)
    now, here = space.products, np.unique(window.items)
    sold, sizes = count_items(window.offsets, window.items, len(mine["rows"]))
    changed = np.flatnonzero((now.squares != squares).any(axis=1) | (now.vectors != vectors).any(axis=1))
    return {
        "rows": mine["rows"][changed],
        "vectors": now.vectors[changed],
        "squares": now.squares[changed],
        "users": space.users.vectors,
        "user_squares": space.users.squares,
        "met_rows": mine["rows"][here],
        "met": sold[here],
        "met_sizes": sizes[here],
    } | {f"memory_{name}": array for name, array in space.memory.select(users).items()}


def pace(payload: Arrays, level: int) -> Pace:
    """The settings of the kernels. Where negatives come from a pool, its counts are draws already."""
    negatives, epochs, user_targets, _, together = payload["pace_whole"].tolist()
    rate, tau, power, share = payload["pace"].tolist()
    known = Pace(negatives, rate, tau, epochs, power, share, bool(user_targets), 1, together=together)
    return replace(known, power=1.0) if payload[f"level{level}.pooled"][0] else known
