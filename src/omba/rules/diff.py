"""Diff: what changed between two tables of rules: emerged, strengthened, faded, vanished.

Counts add up over a stream, so of a rule in both tables the baskets in between are known exactly: with n_a, n_b and
`count` at both ends, its lift *between* the dates is compared with its lift *before*. A change counts if it is large
(by `RATIO` or more) and beyond chance (`SIGMAS` standard errors, √(1/count before + 1/count between) in the logarithm).
Larger sets are counted from the time they are watched, so what they did in between is not known: they only emerge and
vanish. Rules come and go at the end of a table for no reason but its length, so a rule has emerged only if it is among
the first half of the later table and nowhere in the earlier one, and has vanished only the other way round.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Label
from omba.errors import InputError
from omba.rules.catalogue import Catalogue
from omba.rules.hashing import Hashing
from omba.rules.measures import MEASURES
from omba.rules.rules import Rules

RATIO, SIGMAS = 1.25, 2.0
COLUMNS = (
    "antecedents", "consequents", "count", "n_a", "n_b", "lift", "support", "confidence", "similarity", "status",
    "expected_lift", "expected_lift_low", "expected_lift_high", "probability", "collisions", "value", "p_adjusted",
)  # fmt: skip
"""What is kept of each rule, beside the number of baskets `n`."""

GIVEN = tuple(name for name in COLUMNS[6:] if name not in MEASURES or name == "p_adjusted")
"""Those that do not follow from the counts."""

HASHING = "omba.hashing"
"""Where the metadata of a table tell of the hash tables behind its collisions and probabilities."""

Key = frozenset[Label]


@dataclass(frozen=True)
class Change:
    """One rule, and its lift before and since.

    Parameters
    ----------
    antecedents
        The products it starts from.
    consequents
        The products it leads to.
    before
        Its lift until the earlier table; None where it was not in that, as with all that follow.
    since
        Its lift in the baskets since, or, of a rule that has emerged, over all.
    count_before
        Baskets with all of it until the earlier table.
    count_since
        Baskets with all of it since.
    expected_lift
        The lift to expect next.
    """

    antecedents: tuple[Label, ...]
    consequents: tuple[Label, ...]
    before: float | None
    since: float | None
    count_before: int | None
    count_since: int | None
    expected_lift: float | None

    def __str__(self) -> str:
        rule = f"{', '.join(map(str, self.antecedents))} ⇒ {', '.join(map(str, self.consequents))}"
        if self.before is None:
            return f"{rule}: lift {self.since:.1f} ({self.count_since:,} baskets)"
        if self.since is None:
            return f"{rule}: lift was {self.before:.1f} ({self.count_before:,} baskets)"
        return f"{rule}: lift {self.before:.1f} before, {self.since:.1f} since ({self.count_since:,} baskets)"


@dataclass(frozen=True)
class Diff:
    """The changes, strongest first.

    Parameters
    ----------
    emerged
        Rules of the later table alone.
    strengthened
        Rules of both whose lift has risen beyond chance.
    faded
        Rules of both whose lift has fallen beyond chance.
    vanished
        Rules of the earlier table alone.
    """

    emerged: list[Change]
    strengthened: list[Change]
    faded: list[Change]
    vanished: list[Change]

    def __iter__(self) -> Iterator[tuple[str, list[Change]]]:
        return iter((name, getattr(self, name)) for name in ("emerged", "strengthened", "faded", "vanished"))

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Plain lists and values, for JSON."""
        return {name: [asdict(change) for change in changes] for name, changes in self}

    def __str__(self) -> str:
        return "\n".join(
            "\n".join([f"{name.capitalize()} ({len(changes)})", *(f"  {change}" for change in changes)])
            for name, changes in self
        )


def rules_table(rules: Rules) -> pa.Table:
    """A table of rules with all that a later comparison needs; its F and H stand in the metadata of the schema."""
    table = rules.to_arrow(COLUMNS).append_column("n", pa.array([rules.n] * len(rules), pa.int64()))
    if rules.hashing is None:
        return table
    return table.replace_schema_metadata({HASHING: json.dumps(asdict(rules.hashing))})


def read_rules(table: pa.Table, catalogue: Catalogue | None = None) -> Rules:
    """The reverse of `rules_table`; columns that an older table lacks come back as not known."""
    given = {name: _column(table, name) for name in GIVEN if name in table.column_names}
    count, n_a, n_b = (table[name].to_numpy().astype(np.int64) for name in ("count", "n_a", "n_b"))
    antecedents, consequents = (
        [tuple(items) for items in table[name].to_pylist()] for name in ("antecedents", "consequents")
    )
    n = int(table["n"][0].as_py()) if len(table) else 0
    described = (table.schema.metadata or {}).get(HASHING.encode())
    hashing = None if described is None else Hashing(**json.loads(described))
    return Rules(antecedents, consequents, count, n_a, n_b, n, given, catalogue or Catalogue(), hashing=hashing)


def _column(table: pa.Table, name: str) -> NDArray[Any]:
    if name == "status":
        return np.array(table[name].to_pylist(), object)
    if name == "collisions":
        return np.asarray(table[name].fill_null(-1).to_numpy())
    return np.asarray(table[name].to_numpy(), np.float64)


def diff(before: Rules | pa.Table, after: Rules | pa.Table) -> Diff:
    """What changed from one table of rules, best first, to a later one of the same stream."""
    old, new = by_products(before), by_products(after)
    first = dict(list(old.items())[: max(1, len(old) // 2)])
    latest = dict(list(new.items())[: max(1, len(new) // 2)])
    emerged = [change(None, row) for key, row in latest.items() if key not in old]
    vanished = [change(row, None) for key, row in first.items() if key not in new]
    moved = [(shift(old[key], new[key]), change(old[key], new[key])) for key in old if key in new and len(key) == 2]
    up = sorted(((by, one) for by, one in moved if by > 0), key=lambda pair: -pair[0])
    down = sorted(((by, one) for by, one in moved if by < 0), key=lambda pair: pair[0])
    return Diff(emerged, [one for _, one in up], [one for _, one in down], vanished)


def by_products(rules: Rules | pa.Table) -> dict[Key, dict[str, Any]]:
    """Rules by their products, in order, whichever way round they point."""
    table = rules_table(rules) if isinstance(rules, Rules) else rules
    missing = {"antecedents", "consequents", "count", "n_a", "n_b", "n"} - set(table.column_names)
    if missing:
        raise InputError(f"the table of rules has no column {sorted(missing)[0]!r}: give one made by rules_table")
    out: dict[Key, dict[str, Any]] = {}
    for row in table.to_pylist():
        out.setdefault(frozenset((*row["antecedents"], *row["consequents"])), row)
    return out


def lift(count: float, n_a: int, n_b: int, n: int) -> float:
    return count * n / (n_a * n_b) if n_a and n_b else 0.0


def between(old: dict[str, Any], new: dict[str, Any]) -> tuple[int, int, int, int]:
    """(count, n_a, n_b, n) of the baskets that came in between."""
    # A rule may have turned round since; then its sides are read the other way.
    turned = set(old["antecedents"]) == set(new["consequents"])
    old_a, old_b = (old["n_b"], old["n_a"]) if turned else (old["n_a"], old["n_b"])
    return new["count"] - old["count"], new["n_a"] - old_a, new["n_b"] - old_b, new["n"] - old["n"]


def shift(old: dict[str, Any], new: dict[str, Any]) -> float:
    """How far the logarithm of the lift has moved, 0 where it is not much or may be chance."""
    count, n_a, n_b, n = between(old, new)
    chance = n_a * n_b / n if n > 0 else 0.0
    before = lift(old["count"], old["n_a"], old["n_b"], old["n"])
    if chance <= 0 or before <= 0:
        return 0.0
    # Half a basket stands in for none, so that a rule that stopped altogether has a logarithm.
    moved = math.log(max(count, 0.5) / chance / before)
    error = math.sqrt(1 / max(count, 0.5) + 1 / old["count"])
    # What was to come counts too: none where one was expected proves nothing.
    enough = max(count, chance * before) >= 5
    return moved if enough and abs(moved) >= math.log(RATIO) and abs(moved) >= SIGMAS * error else 0.0


def change(old: dict[str, Any] | None, new: dict[str, Any] | None) -> Change:
    """One line of the comparison."""
    row = new or old
    assert row is not None
    before = None if old is None else lift(old["count"], old["n_a"], old["n_b"], old["n"])
    since, count = None, None
    if new is not None and old is None:
        since, count = lift(new["count"], new["n_a"], new["n_b"], new["n"]), new["count"]
    elif new is not None and old is not None:
        count, n_a, n_b, n = between(old, new)
        since = lift(count, n_a, n_b, n)
    return Change(
        tuple(row["antecedents"]), tuple(row["consequents"]), before, since,
        None if old is None else old["count"], count, None if new is None else new.get("expected_lift"),
    )  # fmt: skip
