"""Descriptions: what products are called and which categories they are in, by the votes of all rows of all files.

A till writes `mailout`, `temp` or `?` into the column of names on some days. So every row that names a product is a
vote, votes fade as more rows come, and a product goes by the name it mostly and lately had. Few spellings are
remembered of each product, so the votes take no more room than the names themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa

from omba.baskets.vocabulary import Label

NOTHING = ("", "nan", "none", "null", "n/a", "na", "n.a.", "nil", "<na>", "#n/a", "unknown", "undefined")
"""What stands where there is no name, in small letters."""
MARKS = r"[?.\-_*#!/\s]*"
"""Neither is text of marks alone."""
HALF = 200
"""Rows of a product after which what it was called before counts half."""
MOST = 4
"""Spellings remembered of each product."""

_MARKS = re.compile(MARKS)
Meaning = Callable[[Label], Label | None]


def is_nothing(value: object) -> bool:
    """Whether a text says that there is no name.

    >>> [is_nothing(text) for text in ("nan", " N/A ", "??", "tea", "NA 7")]
    [True, True, True, False, False]
    """
    return isinstance(value, str) and (value.strip().lower() in NOTHING or _MARKS.fullmatch(value) is not None)


def nothing_sql(x: str) -> str:
    """`is_nothing` in SQL."""
    words = ", ".join(f"'{word}'" for word in NOTHING)
    return f"(lower(trim({x})) IN ({words}) OR regexp_full_match({x}, '{MARKS}'))"


def vote_table(votes: Iterable[tuple[Label, str, str, float, int]]) -> pa.Table:
    """Votes as a table: the product, the column, the value it has there, the weight, and how many rows that were."""
    columns: list[tuple[Any, ...]] = list(zip(*votes, strict=True)) or [()] * 5
    types = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.int64())
    names = ("product", "column", "value", "weight", "rows")
    values = [[str(label) for label in columns[0]], *columns[1:]]
    return pa.table([pa.array(list(each), kind) for each, kind in zip(values, types, strict=True)], names=names)


class Descriptions:
    """All that is known of products, over all files and baskets that described them.

    >>> known = Descriptions()
    >>> first = pa.table({"product": [1, 2], "name": ["TEA", "POT"], "department": ["food", None]})
    >>> known.add(first)
    >>> known.add(pa.table({"product": [2, 3], "name": ["nan", "CUP"]}))
    >>> known.table.to_pydict()
    {'product': [1, 2, 3], 'name': ['TEA', 'POT', 'CUP'], 'department': ['food', None, None]}
    """

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        """The columns of each product, by the text of its label."""
        self.votes: dict[tuple[str, str], dict[str, float]] = {}
        """The weight of each value that a product has in a column; a value that was met once, and alone, is in the row
        only."""
        self.types: dict[str, pa.DataType] = {}

    def add(self, attributes: pa.Table, votes: pa.Table | None = None, meaning: Meaning = lambda label: label) -> None:
        """Take in how a file or some baskets describe products; without votes each description is one.

        `meaning` is the product that a label means; None leaves it out.
        """
        for name in attributes.column_names:
            if self.types.get(name, pa.null()) == pa.null():
                self.types[name] = attributes.schema.field(name).type
        voted = set() if votes is None else self._vote(votes, meaning)
        labels = attributes["product"].to_pylist()
        products = [meaning(label) for label in labels]
        rows = [None if p is None else self.rows.setdefault(str(p), {"product": p}) for p in products]
        texts = [str(label) for label in labels], [str(product) for product in products]
        for name in attributes.column_names:
            if name != "product":
                self._describe(name, rows, *texts, attributes[name].to_pylist(), voted)

    def _describe(
        self,
        column: str,
        rows: list[dict[str, Any] | None],
        labels: list[str],
        products: list[str],
        values: list[Any],
        voted: set[tuple[str, str]],
    ) -> None:
        """Take in one column: its value for each label and the product that the label means, with that one's row."""
        empty: dict[str, bool] = {}
        for row, label, product, value in zip(rows, labels, products, values, strict=True):
            if row is None or value is None:
                continue
            if isinstance(value, str):
                if value not in empty:
                    empty[value] = is_nothing(value)
                if empty[value]:
                    continue
                if (label, column) not in voted:
                    if column not in row:
                        row[column] = value
                        continue
                    self._count(product, column, {value: 1.0}, 1)
            row[column] = self._winner(product, column, value)

    def _vote(self, votes: pa.Table, meaning: Meaning) -> set[tuple[str, str]]:
        """Count votes; for which products and columns there were some."""
        given: dict[tuple[str, str], tuple[dict[str, float], list[int]]] = {}
        for product, column, value, weight, rows in zip(*votes.to_pydict().values(), strict=True):
            if not is_nothing(value):
                found, counts = given.setdefault((product, column), ({}, []))
                found[value] = found.get(value, 0.0) + weight
                counts.append(rows)
        for (product, column), (found, counts) in given.items():
            meant = meaning(product)
            if meant is not None:
                self._count(str(meant), column, found, sum(counts))
        return set(given)

    def _count(self, product: str, column: str, found: Mapping[str, float], rows: int) -> None:
        """Let what was known fade by so many rows, add what is new, and keep the few strongest."""
        fading = 0.5 ** (rows / HALF)
        held = {value: weight * fading for value, weight in self._votes_of(product, column).items()}
        # The latest come first, so that they are before their equals.
        joined = {value: held.get(value, 0.0) + weight for value, weight in found.items()}
        joined |= {value: weight for value, weight in held.items() if value not in joined}
        best = sorted(joined, key=lambda value: -joined[value])[:MOST]
        self.votes[product, column] = {value: joined[value] for value in best}

    def _votes_of(self, product: str, column: str) -> dict[str, float]:
        held = self.votes.get((product, column))
        if held is None:
            alone = self.rows.get(product, {}).get(column)
            held = {alone: 1.0} if isinstance(alone, str) else {}
        return held

    def _winner(self, product: str, column: str, value: Any) -> Any:
        held = self.votes.get((product, column)) if isinstance(value, str) else None
        return max(held, key=held.__getitem__) if held else value

    def conflicts(self, column: str = "name") -> int:
        """Products that go by more than one value of a column."""
        return sum(len(held) > 1 for (_, name), held in self.votes.items() if name == column)

    def spell(self, spelling: Callable[[Label], Label]) -> pa.Table | None:
        """The table, its products spelt as a model spells them; None where nothing is known."""
        if not self.rows:
            return None
        rows = list(self.rows.values())
        columns = {"product": pa.array([spelling(row["product"]) for row in rows])}
        for name, kind in self.types.items():
            if name != "product":
                columns[name] = _array([row.get(name) for row in rows], kind)
        return pa.table(columns)

    @property
    def table(self) -> pa.Table | None:
        """A row a product, in the order they were described; null where nothing is known."""
        return self.spell(lambda label: label)

    def vote_table(self) -> pa.Table:
        """The votes, as a snapshot keeps them."""
        return vote_table(
            (product, column, value, weight, 0)
            for (product, column), held in self.votes.items()
            for value, weight in held.items()
        )

    def load(self, attributes: pa.Table | None, votes: pa.Table | None) -> None:
        """Go on from what a snapshot kept."""
        if attributes is not None:
            self.add(attributes, votes)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
