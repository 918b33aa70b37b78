"""Association rules from exact itemsets, with the columns, the order of sides and the values of mlxtend's.

The first argument is a frame of itemsets (ours or mlxtend's), or any source of baskets: then sets are mined first, and
what is asked of the rules bounds the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.baskets.extras import extra
from omba.errors import InputError, SettingError, UnknownError, nearest
from omba.patterns.itemsets import Itemsets, as_frozensets
from omba.patterns.mining import SearchOptions, Threshold, search
from omba.patterns.splits import ANTECEDENT, CONSEQUENT, MOST, NEITHER, Places, Sides, split
from omba.patterns.transactions import Codes, Longs, Transactions
from omba.rules.measures import MEASURES, MLXTEND, measure

Floats = NDArray[np.float64]


class RuleOptions(SearchOptions, total=False):
    """What else can be asked of rules, by name: bounds of the sides, and all that a search of itemsets can be told."""

    min_support: float | None
    min_count: int | None
    max_len: int | None
    max_antecedents: int
    max_consequents: int
    min_antecedents: int
    min_consequents: int
    antecedent: Sequence[Label]
    consequent: Sequence[Label]
    use_colnames: bool | None


def association_rules(
    df: Any,
    num_itemsets: int | None = None,
    df_orig: Any = None,
    null_values: bool = False,
    metric: str = "confidence",
    min_threshold: float = 0.8,
    support_only: bool = False,
    return_metrics: Sequence[str] = MLXTEND,
    **options: Unpack[RuleOptions],
) -> Any:
    """The rules whose `metric` is `min_threshold` or more, as a pandas frame: mlxtend's function, and its answer.

    `df` is a frame of itemsets, or any source that `itemsets` takes; then `min_support`, `min_count`, `max_len`
    and the rest of its options say which sets are mined. `metric` is any measure of `omba.rules`, not only mlxtend's.

    By name: `max_antecedents`, `max_consequents`, `min_antecedents` and `min_consequents` bound the lengths of the
    sides, `antecedent` and `consequent` are products that must stand on one. `num_itemsets` is not needed, and values
    that are not known (`null_values`) are refused.

    Parameters
    ----------
    df
        A frame of itemsets, or a source.
    num_itemsets
        Not needed; mlxtend's, 1 or more.
    df_orig
        Not needed where nothing is unknown; mlxtend's.
    null_values
        Must be false.
    metric
        The measure that is bounded.
    min_threshold
        Its least value; 0 to 1 for shares, from 0 on for lifts.
    support_only
        Leave out every measure but the support.
    return_metrics
        The measures that become columns.
    options
        Bounds of the sides, and the options of `itemsets`.

    >>> rules = association_rules([["tea", "milk"], ["tea", "milk"], ["tea"]], min_count=2, min_threshold=0.9)
    >>> rules[["antecedents", "consequents", "confidence"]].values.tolist()
    [[frozenset({'milk'}), frozenset({'tea'}), 1.0]]
    """
    if null_values or df_orig is not None:
        raise SettingError(
            "null_values: a basket holds a product or does not: fill what is not known, and leave it out"
        )
    metric = "support" if support_only else metric
    for name in (metric, *return_metrics):
        if name not in MEASURES:
            raise UnknownError(f"measure {name!r} is not known{nearest(name, MEASURES)}")
    pandas = extra("pandas", "a frame of rules", "pandas")
    table = _frame_sets(df) if _is_sets(df) else _mined_sets(df, metric, min_threshold, options)
    if not len(table.support):
        return pandas.DataFrame(columns=["antecedents", "consequents", *return_metrics])
    if support_only:
        return _support_only(table, min_threshold, return_metrics, pandas)
    floor = min_threshold if metric == "confidence" else 0.0
    parts = []
    for places in split(table.offsets, table.items, table.support, floor, _sides(table, options)):
        score = _values(metric, table.support, places)
        kept = np.flatnonzero(score >= min_threshold)
        parts.append(tuple(column[kept] for column in places))
    places = _in_order([np.concatenate(column) for column in zip(*parts, strict=True)], table.offsets)
    sets = table.frozensets(places)
    # Measures are written where the frame keeps them: of columns given one by one it would make a copy.
    names = list(dict.fromkeys(return_metrics))
    values = np.empty((len(names), len(places[0])))
    for line, name in zip(values, names, strict=True):
        line[:] = _values(name, table.support, places)
    frame = pandas.DataFrame(values.T, columns=names, copy=False)
    frame.insert(0, "antecedents", sets[places[1]])
    frame.insert(1, "consequents", sets[places[2]])
    return frame


class _Sets:
    """Sets with their supports, and their products as Python sees them."""

    def __init__(self, offsets: Longs, items: Codes, support: Floats, labels: Sequence[Any]) -> None:
        self.offsets, self.items, self.support, self.labels = offsets, items, support, labels
        self.ready: NDArray[Any] | None = None

    def frozensets(self, places: Places) -> NDArray[Any]:
        """The sets as frozensets: those that stand on a side of a rule."""
        if self.ready is not None:
            return self.ready
        there = np.zeros(len(self.support), bool)
        there[places[1]] = there[places[2]] = True
        used = np.flatnonzero(there)
        out = np.empty(len(self.support), object)
        lengths = np.diff(self.offsets)[used]
        for length in np.unique(lengths).tolist():
            rows = used[lengths == length]
            out[rows] = as_frozensets(self.items[self.offsets[rows][:, None] + np.arange(length)], self.labels)
        return out


def _is_sets(source: Any) -> bool:
    columns = getattr(source, "columns", ())
    return hasattr(source, "iloc") and "itemsets" in columns and "support" in columns


def _frame_sets(frame: Any) -> _Sets:
    """The sets of a frame with columns `support` and `itemsets`.

    Products are numbered as they come as sets of one, and stand in that order in each set: the order of a frozenset
    changes from one run of Python to the next.
    """
    sets = frame["itemsets"].to_numpy(object)
    lengths = np.fromiter(map(len, sets), np.int64, len(sets))
    alone = chain.from_iterable(sets[lengths == 1])
    flat = list(chain.from_iterable(sets))
    numbers = {label: number for number, label in enumerate(dict.fromkeys(alone))}
    for label in sorted(set(flat) - numbers.keys(), key=lambda label: (str(type(label)), str(label))):
        numbers[label] = len(numbers)
    items = np.fromiter(map(numbers.__getitem__, flat), np.int32, len(flat))
    keys = np.repeat(np.arange(len(sets)), lengths) * len(numbers) + items
    items = (np.sort(keys) % max(1, len(numbers))).astype(np.int32)
    table = _Sets(np.append(0, np.cumsum(lengths)), items, frame["support"].to_numpy(np.float64), list(numbers))
    table.ready = sets
    return table


def _mined_sets(source: Any, metric: str, threshold: float, options: RuleOptions) -> _Sets:
    """The sets of baskets, as far as rules that pass can come of them."""
    transactions = Transactions.of(source)
    told = {name: options.get(name) for name in ("min_support", "min_count")}
    if options.get("include") or options.get("min_len", 1) > 1:
        raise SettingError("include and min_len leave out parts of sets: of rules, say antecedent= and consequent=")
    asked = Threshold(**told)  # type: ignore[arg-type]
    if metric in ("support", "leverage"):
        # Neither can exceed the support, so that no set below the floor makes a rule.
        least = max(
            asked.least(len(transactions)),
            Threshold(min_support=min(1.0, max(threshold, 1e-12))).least(len(transactions)),
        )
        asked = Threshold(min_count=least)
    sides = _lengths(options)
    longest = min(options.get("max_len") or MOST, sides.antecedents[1] + sides.consequents[1])
    keys = SearchOptions.__annotations__.keys() & options.keys()
    more: Any = {name: options[name] for name in keys}  # type: ignore[literal-required]
    found: Itemsets = search(transactions, asked, max_len=longest, **more)
    names = not transactions.one_hot if options.get("use_colnames") is None else options.get("use_colnames")
    labels = transactions.labels if names else range(len(transactions.labels))
    return _Sets(found.offsets, found.items, found.count / len(transactions), labels)


def _lengths(options: RuleOptions) -> Sides:
    bounds = (
        (options.get("min_antecedents", 1), options.get("max_antecedents", MOST)),
        (options.get("min_consequents", 1), options.get("max_consequents", MOST)),
    )
    for least, most in bounds:
        if least < 1 or most < least:
            raise SettingError(f"{least} to {most} products on a side of a rule are none: give 1 or more, in order")
    return Sides(*bounds)


def _sides(table: _Sets, options: RuleOptions) -> Sides:
    """What may stand on the sides: the lengths, and where products were told to be."""
    lengths = _lengths(options)
    chosen = np.zeros(len(table.labels), np.int8)
    numbers = {label: number for number, label in enumerate(table.labels)}
    for name, code in (("antecedent", ANTECEDENT), ("consequent", CONSEQUENT), ("exclude", NEITHER)):
        for label in options.get(name, ()):  # type: ignore[attr-defined]
            if label not in numbers:
                raise UnknownError(f"product {label!r} is in no set{nearest(label, numbers)}")
            if chosen[numbers[label]]:
                raise InputError(f"product {label!r} cannot be on both sides of a rule, nor on one and left out")
            chosen[numbers[label]] = code
    return Sides(lengths.antecedents, lengths.consequents, chosen)


def _in_order(places: list[Codes], offsets: Longs) -> Places:
    """Rules as mlxtend has them: set after set, the most antecedents first."""
    whole, left, right = places
    order = np.lexsort([-np.diff(offsets)[left], whole])
    return whole[order], left[order], right[order]


def _values(name: str, support: Floats, places: Places) -> Floats:
    whole, left, right = places
    return measure(name, support[whole], support[left], support[right], 1.0)


def _support_only(table: _Sets, threshold: float, names: Sequence[str], pandas: Any) -> Any:
    """Rules with their support alone, of tables that lack the parts of sets."""
    from itertools import combinations

    rows = []
    for n in np.flatnonzero(table.support >= threshold).tolist():
        items = [table.labels[code] for code in table.items[table.offsets[n] : table.offsets[n + 1]].tolist()]
        for size in range(len(items) - 1, 0, -1):
            for some in combinations(items, size):
                rows.append((frozenset(some), frozenset(items) - frozenset(some), table.support[n]))
    frame = pandas.DataFrame(
        {"antecedents": [row[0] for row in rows], "consequents": [row[1] for row in rows]}
        | {name: np.full(len(rows), np.nan) for name in names}
    )
    frame["support"] = [row[2] for row in rows]
    return frame
