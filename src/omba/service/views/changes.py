"""Changes: what happened to pairs of products between two views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from omba.rules import Rules
from omba.rules.diff import TABLES_ONLY, Change, Diff, compare, diff
from omba.service.views.rule_index import records_of
from omba.service.views.rule_key import key_of
from omba.service.views.view import View

NAMES = ("emerged", "strengthened", "faded", "vanished")
NOTHING = Diff([], [], [], [])


def changes(first: View, second: View) -> Diff:
    """What happened between two views, by the baskets of each period; worked out once."""
    if not first.n_baskets or not second.n_baskets:
        return NOTHING
    return second.cache(f"changes since {first.tick}", lambda: _compare(first, second))


def _compare(first: View, second: View) -> Diff:
    before, after = first.pair_counts, second.pair_counts
    if before is not None and after is not None:
        return compare(before, after, second.catalogue.labels)
    note = TABLES_ONLY.format((first if before is None else second).at)
    found = diff(first.rule_index.table, second.rule_index.table)
    return Diff(found.emerged, found.strengthened, found.faded, found.vanished, note)


def change_records(listed: Sequence[Change], view: View) -> list[dict[str, Any]]:
    """Changes as plain values: each pair as it stands in the view, with both periods and a sentence."""
    index, records = view.rule_index, {}
    for change in listed:
        place = index.places.get(key_of(change.antecedents, change.consequents))
        if place is not None:
            records[change] = index.records[place]
    other = [change for change in listed if change not in records]
    made = {record["key"]: record for record in records_of(_rules(other, view))} if other else {}
    out = []
    for change in listed:
        record = records.get(change) or made[key_of(change.antecedents, change.consequents)]
        both = {name: value for name, value in asdict(change).items() if name not in record}
        out.append({**record, **both, "sentence": change.sentence()})
    return out


def _rules(changes: Sequence[Change], view: View) -> Rules:
    """Pairs that are not among the kept rules: of the present with their forecast, of the past by their counts."""
    antecedents, consequents = [one.antecedents for one in changes], [one.consequents for one in changes]
    rows = view.catalogue.rows
    left, right = (np.array([rows[a] for (a,) in side], np.int64) for side in (antecedents, consequents))
    if view.pair_index is not None:
        return view.pair_index.pairs(left, right)
    counts = view.product_index.counts.astype(np.int64)
    together = np.array([change.count_before + change.count_since for change in changes], np.int64)
    return Rules(antecedents, consequents, together, counts[left], counts[right], view.n_baskets, {}, view.catalogue)
