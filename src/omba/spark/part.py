"""Part: what one partition does with its users' baskets of a window. Free of Spark: tables in, tables out.

The rows a part needs arrive in a parcel, numbered anew in the order of the model's own rows, so that the kernels run
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
from omba.model.rows import lifted, sort_baskets
from omba.model.space import Pace, Part, Space
from omba.spark import pairing
from omba.spark.parcel import Arrays, labels_of


def learn(parcel: Arrays, baskets: pa.Table) -> Arrays:
    """Learn a part's baskets: the changed rows and the counts, in the model's own rows."""
    part = read(parcel, baskets)
    rng = random(parcel)
    result = counted(parcel, part) | asked(parcel, part)
    parts = [part]
    if "level1.rows" in parcel:
        offsets, items = lifted(part.offsets, part.items, parcel["parents"])
        parts.append(Part(offsets, items, np.ones(len(items), np.float32), part.owners))
    for level, each in enumerate(parts):
        result |= {f"level{level}.{name}": array for name, array in trained(parcel, level, each, rng).items()}
    return result


def random(parcel: Arrays, *more: int) -> np.random.Generator:
    """The random numbers of a part; those of the first are what one process would draw."""
    seed, window, part = parcel["seed"].tolist()
    return np.random.default_rng([seed, window, *([part] if part else []), *more])


def read(parcel: Arrays, baskets: pa.Table) -> Part:
    """The baskets in the part's own rows, in the order of their times."""
    baskets = baskets.sort_by([("time", "ascending"), ("basket", "ascending")])
    lists = baskets["products"].combine_chunks()
    offsets = np.concatenate([[0], np.cumsum(pc.list_value_length(lists).to_numpy())]).astype(np.int64)
    known = labels_of(parcel["labels"])
    place = pc.index_in(pc.list_flatten(lists), value_set=known)
    if place.null_count:
        raise InputError("a part met products that the window did not have when it was counted: the data changed")
    items = parcel["label_rows"][place.to_numpy()]
    users = pc.index_in(baskets["user"].combine_chunks(), value_set=labels_of(parcel["user_labels"]))
    owners = users.fill_null(-1).to_numpy().astype(np.int32)
    order = sort_baskets(offsets, items)
    prices = pc.list_flatten(baskets["prices"]).to_numpy().astype(np.float32)[order]
    weights = weigher(parcel).weigh(items[order], prices, *parcel["power_law"].tolist())
    return Part(offsets, items[order], weights, owners)


def weigher(parcel: Arrays) -> Prices:
    """The prices known so far, in the part's rows."""
    prices = Prices()
    prices.sums, prices.numbers, prices.anchor = parcel["sums"], parcel["numbers"], float(parcel["anchor"][0])
    return prices


def counted(parcel: Arrays, part: Part) -> Arrays:
    """Pairs, watched triples, and the forecast's pairs, counted over the part."""
    rows = parcel["level0.rows"].astype(np.int32)
    keys, key_counts, oversized = pairs(parcel, part)
    watched = np.zeros(len(parcel["sets"]), np.int64)
    if len(watched):
        starts = np.searchsorted(parcel["sets"][:, 0], np.arange(len(rows) + 1))
        marks = np.full(len(rows), -1, np.int64)
        counting.count_sets(part.offsets, part.items, starts, parcel["sets"], marks, watched)
    later, sold = np.zeros(len(parcel["held_a"]), np.int64), np.zeros(len(rows), np.int64)
    table = empty_table(2 * len(later) + 1)
    counting.insert(counting.packed(parcel["held_a"], parcel["held_b"]), np.arange(len(later), dtype=np.uint64), table)
    held = counting.count_held(part.offsets, part.items, LARGEST, table, later, sold)
    return {
        "keys": keys,
        "key_counts": key_counts,
        "oversized": np.array([oversized]),
        "watched": watched,
        "later": later,
        "sold": sold,
        "held_baskets": np.array([held]),
    }


def pairs(parcel: Arrays, part: Part) -> tuple[NDArray[np.uint64], NDArray[np.int64], int]:
    """The pairs of the part's baskets in the model's rows, packed, with counts; and the baskets too large for all.

    Of those only `LARGEST` products are paired, drawn by the numbers of the part.
    """
    sizes, items = np.diff(part.offsets), parcel["level0.rows"].astype(np.int32)[part.items]
    offsets, giant = part.offsets, np.flatnonzero(sizes > LARGEST)
    if len(giant):
        keep, rng = np.ones(len(items), bool), random(parcel, 3)
        for basket in giant:
            first, after = offsets[basket], offsets[basket + 1]
            keep[first:after] = False
            keep[first + rng.choice(after - first, LARGEST, replace=False)] = True
        offsets, items = np.concatenate([[0], np.cumsum(np.minimum(sizes, LARGEST))]), items[keep]
    found = [(np.empty(0, np.uint64), np.empty(0, np.int64)), *pairing.pairs(offsets, items)]
    keys, numbers = (np.concatenate(column) for column in zip(*found, strict=True))
    return keys, numbers, len(giant)


def asked(parcel: Arrays, part: Part) -> Arrays:
    """A few baskets, for the driver to weigh the clues by: as they are, before anything was learned of them."""
    many = np.flatnonzero(np.diff(part.offsets) > 1)
    chosen = np.sort(random(parcel, 1).permutation(many)[: int(parcel["queries"][0])])
    sizes = np.diff(part.offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.arange(offsets[-1]) + np.repeat(part.offsets[chosen] - offsets[:-1], sizes)
    owners = np.append(parcel["user_rows"], -1)[part.owners[chosen]]
    items = parcel["level0.rows"][part.items[places]]
    return {"asked": items.astype(np.int32), "asked_offsets": offsets, "asked_owners": owners.astype(np.int32)}


def trained(parcel: Arrays, level: int, part: Part, rng: np.random.Generator) -> Arrays:
    """Train one level and tell what has changed."""
    mine = {name.partition(".")[2]: array for name, array in parcel.items() if name.startswith(f"level{level}.")}
    vectors, squares = mine["products"].copy(), mine["squares"].copy()
    places = mine["memory_rows"].shape[1]
    space = Space(mine["products"].shape[1], 0, level, places)
    space.load(mine)
    visits = part.owners[part.owners >= 0]
    if places and len(visits):
        # Memory holds rows of the whole model, for it outlasts the part.
        whole = Part(part.offsets, mine["rows"].astype(np.int32)[part.items], part.weights, part.owners)
        space.memory.learn(whole.offsets, whole.items, whole.owners)
    space.train(part, pace(parcel, level), rng)
    now = space.products
    changed = np.flatnonzero((now.squares != squares).any(axis=1) | (now.vectors != vectors).any(axis=1))
    return {
        "rows": mine["rows"][changed],
        "vectors": now.vectors[changed],
        "squares": now.squares[changed],
        "users": space.users.vectors,
        "user_squares": space.users.squares,
        "memory_rows": space.memory.rows,
        "memory_strength": space.memory.strength,
        "memory_mass": space.memory.mass,
        "met_rows": mine["rows"][np.unique(part.items)],
        "met": np.unique(part.items, return_counts=True)[1],
    }


def pace(parcel: Arrays, level: int) -> Pace:
    """The settings of the kernels. Where negatives come from a pool, its counts are draws already."""
    negatives, epochs, user_targets = parcel["pace_whole"].tolist()
    rate, tau, power, share = parcel["pace"].tolist()
    known = Pace(negatives, rate, tau, epochs, power, share, bool(user_targets), 1)
    return replace(known, power=1.0) if parcel[f"level{level}.pooled"][0] else known
