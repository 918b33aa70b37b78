"""Rules: the table of rules, in columns, with the names that mlxtend's users know (paper, section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Label
from omba.baskets.extras import extra
from omba.errors import InputError, nearest
from omba.rules import display, export
from omba.rules.catalogue import Catalogue
from omba.rules.filter import Filter, FilterOptions
from omba.rules.late_columns import LateColumns
from omba.rules.order import rank_numbers
from omba.rules.rule import Rule
from omba.rules.rule_columns import (
    AT_LEAST,
    ATTRIBUTES,
    COLUMNS,
    FORECAST,
    NAMES,
    RELATION,
    RISING,
    SEASON,
    SPELLINGS,
    Column,
    Items,
    arrow_column,
    items_array,
    rule_column,
)
from omba.rules.rule_relations import rule_relations
from omba.rules.worth import by_chance, spent

if TYPE_CHECKING:
    from omba.rules.explain import Explainer, Explanation
    from omba.rules.explain_set import SetExplanation
    from omba.rules.hashing import Hashing


@dataclass(frozen=True, eq=False, repr=False)
class Rules:
    """Rules in columns: `rules["lift"]` is a column, `rules[0]` a `Rule`, `rules[:10]` a shorter table.

    A column is an attribute too, and a mask leaves the rules where it is true: `rules[rules.lift > 5]`.

    Parameters
    ----------
    antecedents
        The products each rule starts from.
    consequents
        The products it leads to.
    count
        Baskets with all products of each rule.
    n_a
        Baskets with its antecedents.
    n_b
        Baskets with its consequents.
    n
        Baskets in all, 1 or more; every measure is derived from these four.
    given
        The columns that are not, NaN (or −1) where there is nothing to tell.
    catalogue
        What is known of the products: their labels, prices and categories.
    explainer
        Tells why two products belong together; None for rules that were not mined from a model.
    hashing
        The hash tables that `collisions` and `probability` speak of; None where it is not known.

    >>> table = Rules([("tea",)], [("milk",)], count=np.array([3]), n_a=np.array([4]), n_b=np.array([6]), n=12)
    >>> table["lift"].tolist(), table["status"].tolist()
    ([1.5], ['rare'])
    """

    antecedents: Sequence[Items]
    consequents: Sequence[Items]
    count: NDArray[np.int64]
    n_a: NDArray[np.int64]
    n_b: NDArray[np.int64]
    n: int
    given: Mapping[str, Column] = field(default_factory=dict)
    catalogue: Catalogue = field(default_factory=Catalogue)
    explainer: Explainer | None = None
    hashing: Hashing | None = None

    def __len__(self) -> int:
        return len(self.antecedents)

    def __iter__(self) -> Iterator[Rule]:
        at_least = self.at_least
        statuses, forecast = self.column("status"), [self.column(name) for name in FORECAST]
        seasons, relations = self.seasons, zip(*(column.tolist() for column in self.relations), strict=True)
        for row, ((antecedents, consequents), (relation, likely)) in enumerate(zip(self.sides, relations, strict=True)):
            names = (self._names(antecedents), self._names(consequents)) if self.catalogue.named else ((), ())
            expected, low, high = (float(column[row]) for column in forecast)
            yield Rule(
                antecedents, consequents, int(self.count[row]), int(self.n_a[row]), int(self.n_b[row]), self.n,
                *names, bool(at_least[row]), str(statuses[row]), expected, low, high,
                season=seasons[row], relation=relation or "", relation_probability=likely,
            )  # fmt: skip

    @overload
    def __getitem__(self, key: int) -> Rule: ...
    @overload
    def __getitem__(self, key: slice | NDArray[np.bool_]) -> Rules: ...
    @overload
    def __getitem__(self, key: str) -> Column: ...
    def __getitem__(self, key: int | slice | str | NDArray[np.bool_]) -> Rule | Rules | Column:
        if isinstance(key, str):
            return self.column(key)
        if isinstance(key, np.ndarray):
            if key.dtype != bool or key.shape != (len(self),):
                raise InputError(f"a mask of these rules has {len(self)} truth values, as in rules[rules.lift > 5]")
            return self.take(np.flatnonzero(key))
        if isinstance(key, slice):
            return self.take(np.arange(len(self))[key])
        return next(iter(self.take(np.arange(len(self))[[key]])))

    def __getattr__(self, name: str) -> Column:
        """Columns are attributes too: `rules.lift`, `rules.expected_lift_low`."""
        if SPELLINGS.get(name, name) in ATTRIBUTES:
            return self.column(name)
        raise AttributeError(f"rules have no column or attribute {name!r}{nearest(name, ATTRIBUTES)}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table unless others are asked for: names are among them where products have some, seasons
        where rules do, and whether a count is a lower bound where one is."""
        names = tuple(NAMES) if self.catalogue.named else ()
        seasons, bounds = (SEASON,) if any(self.seasons) else (), (AT_LEAST,) if self.at_least.any() else ()
        relations = RELATION if self.catalogue.find_relations is not None else ()
        return (*COLUMNS[:2], *names, *COLUMNS[2:], *relations, *seasons, *bounds)

    @property
    def at_least(self) -> NDArray[np.bool_]:
        """Whether each count is a lower bound."""
        return np.asarray(self.column(AT_LEAST), bool)

    def _names(self, items: Items) -> tuple[str | None, ...]:
        return tuple(map(self.catalogue.name, items))

    @property
    def sides(self) -> Iterable[tuple[Items, Items]]:
        return zip(self.antecedents, self.consequents, strict=True)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Products in each rule, both sides together."""
        return np.array([len(a) + len(c) for a, c in self.sides], np.int64)

    @cached_property
    def seasons(self) -> list[str]:
        """When in the year the products of each rule are mostly sold together, such as "Nov–Dec"; "" for any time."""
        return self.catalogue.season([(*a, *c) for a, c in self.sides])

    @cached_property
    def texts(self) -> list[str]:
        """The labels and names of each rule's products, to search in."""
        name = self.catalogue.name
        return ["\n".join(f"{label}\n{name(label) or ''}" for label in (*a, *c)).casefold() for a, c in self.sides]

    @cached_property
    def price_range(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest price of each rule's products, NaN where one is not known."""
        price = self.catalogue.price
        prices = [[price(label) for label in (*a, *c)] for a, c in self.sides]
        # Python's min and max would pass NaN by; numpy's keep it.
        return np.array([np.min(each) for each in prices]), np.array([np.max(each) for each in prices])

    def column(self, name: str) -> Column:
        """Any column by name: items, counts, every measure, and what mining added.

        Parameters
        ----------
        name
            One of `columns`, any measure of `MEASURES`, or `length`, `price`, `season`, `revenue` and the like.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> table.column("confidence").tolist()
        [0.75, 1.0]
        """
        return rule_column(self, name)

    @cached_property
    def relations(self) -> tuple[Column, Column]:
        """What the products of each rule are to each other, and how likely; None and NaN where that is not known."""
        return rule_relations(self)

    @cached_property
    def by_chance(self) -> NDArray[np.float64]:
        """Baskets with all products of each rule that chance would make, at the sales to come."""
        return by_chance(self)

    @cached_property
    def spent(self) -> NDArray[np.float64]:
        """What the products of each rule bring in a basket, together."""
        return spent(self)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers by name, NaN where there is nothing to tell; one of text is refused.

        Parameters
        ----------
        name
            As in `column`.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> table.numbers("count").tolist()
        [3.0, 9.0]
        """
        values = self.column(name)
        if values.dtype.kind in "OU":
            raise InputError(f"column {name!r} holds no numbers that could be bounded: give another, such as lift")
        numbers = values.astype(np.float64)
        return np.where(numbers < 0, np.nan, numbers) if name == "collisions" else numbers

    def take(self, rows: NDArray[np.integer]) -> Rules:
        """The rules at these places, in this order.

        Parameters
        ----------
        rows
            Places from 0 on.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> table.take(np.array([1]))[0].antecedents
        ('soap',)
        """
        return replace(
            self,
            antecedents=[self.antecedents[row] for row in rows],
            consequents=[self.consequents[row] for row in rows],
            count=self.count[rows],
            n_a=self.n_a[rows],
            n_b=self.n_b[rows],
            given=_take(self.given, rows),
        )

    def head(self, n: int = 10) -> Rules:
        """The first n rules.

        Parameters
        ----------
        n
            How many, at most; 0 or more.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> len(table.head(1))
        1
        """
        return self[:n]

    def sort(self, column: str, order: str | None = None) -> Rules:
        """Best first by any column: highest, but for p-values lowest; or in the `order` given, 'asc' or 'desc'. What
        is not known comes last, whichever it is.

        Parameters
        ----------
        column
            As in `column`.
        order
            'asc' or 'desc'; None for the best first.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> table.sort("count")["count"].tolist()
        [9, 3]
        """
        return self.take(self.ranking(column, order))

    def ranking(self, column: str, order: str | None = None) -> NDArray[np.int64]:
        """The places of all rules in the order of a column; see `sort`.

        Parameters
        ----------
        column, order
            As in `sort`.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> table.ranking("count").tolist()
        [1, 0]
        """
        if order not in (None, "asc", "desc"):
            raise InputError(f"order {order!r} is not known: give 'asc' or 'desc', or leave it out for the best first")
        values = self.column(column)
        if values.dtype.kind in "OU":
            texts = [str(value).casefold() for value in values]
            return np.array(sorted(range(len(self)), key=texts.__getitem__, reverse=order == "desc"), np.int64)
        falling = column not in RISING if order is None else order == "desc"
        numbers = rank_numbers(column, self.numbers(column))
        return np.argsort(-numbers if falling else numbers, kind="stable")

    def filter(self, **wanted: Unpack[FilterOptions]) -> Rules:
        """The rules that fulfil all that is asked: `status="rare"`, `minimum={"lift": 5}`, …; see `Filter`.

        Parameters
        ----------
        wanted
            The options of `Filter`, by name.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> len(table.filter(minimum={"count": 5}))
        1
        """
        return self.where(Filter.of(wanted))

    def where(self, wanted: Filter) -> Rules:
        """The rules that fulfil a filter.

        Parameters
        ----------
        wanted
            What is asked.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> len(table.where(Filter(minimum={"lift": 6})))
        1
        """
        return self.take(np.flatnonzero(wanted.keep(self)))

    @overload
    def explain(self, a: Label, b: Label) -> Explanation: ...
    @overload
    def explain(self, a: list[Label] | tuple[Label, ...], b: Label) -> SetExplanation: ...
    def explain(self, a: Label | list[Label] | tuple[Label, ...], b: Label) -> Explanation | SetExplanation:
        """In words: what the rule between two products rests on; or, from several, what it says beyond shorter ones.

        Parameters
        ----------
        a
            A product, or a list of products for a rule of several.
        b
            The product it leads to.

        >>> import omba
        >>> model = omba.OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> "pasta" in str(omba.mine_rules(model).explain("pasta", "sauce"))
        True
        """
        if self.explainer is None:
            raise InputError("these rules cannot be explained: only rules mined from a model know how they came about")
        if isinstance(a, str | int):
            return self.explainer.explain(self.catalogue.find(a), self.catalogue.find(b))
        return self.explainer.explain_set(a, b)

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """An Arrow table; items are lists, what is not known is null.

        Parameters
        ----------
        columns
            Which; None for `columns`.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> table.to_arrow(["antecedents", "lift"]).num_rows
        2
        """
        return pa.table({name: arrow_column(self, name) for name in columns or self.columns})

    def to_pandas(self, columns: Sequence[str] | None = None) -> Any:
        """A pandas DataFrame as mlxtend makes it: antecedents and consequents are frozensets.

        Parameters
        ----------
        columns
            Which; None for `columns`.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> table.to_pandas(["antecedents", "count"])["count"].tolist()
        [3, 9]
        """
        frame = {name: self.column(name) for name in columns or self.columns}
        for name in {"antecedents", "consequents"} & frame.keys():
            frame[name] = items_array([frozenset(items) for items in frame[name]])
        if "collisions" in frame and (frame["collisions"] < 0).any():
            frame["collisions"] = np.where(frame["collisions"] < 0, np.nan, frame["collisions"])
        return extra("pandas", "to_pandas", "pandas").DataFrame(frame)

    def to_polars(self, columns: Sequence[str] | None = None) -> Any:
        """A polars DataFrame; antecedents and consequents are lists.

        Parameters
        ----------
        columns
            Which; None for `columns`.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> table.to_polars(["antecedents", "count"])["count"].to_list()
        [3, 9]
        """
        return extra("polars", "to_polars", "polars").from_arrow(self.to_arrow(columns))

    def write(self, path: str | Path, columns: Sequence[str] | None = None) -> Path:
        """Write a file by its suffix: .csv, .xlsx, .json, .jsonl, .parquet, .graphml or .pmml.

        Parameters
        ----------
        path
            Where to; a file that is there is replaced.
        columns
            Which; None for `columns`.

        >>> count, n_a, n_b = np.array([3, 9]), np.array([4, 9]), np.array([6, 9])
        >>> table = Rules([("tea",), ("soap",)], [("milk",), ("brush",)], count, n_a, n_b, n=50)
        >>> import tempfile
        >>> table.write(tempfile.mkdtemp() + "/rules.csv").name
        'rules.csv'
        """
        return export.write(self, Path(path), columns)

    def __repr__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)


def _take(given: Mapping[str, Column], rows: NDArray[np.integer]) -> Mapping[str, Column]:
    if isinstance(given, LateColumns):
        return given.take(rows)
    return {name: values[rows] for name, values in given.items()}


def join_tables(tables: Sequence[Rules]) -> Rules:
    """Tables of one space one after another; a rule that comes again is left out."""
    first = tables[0]
    given = [name for name in first.given if all(name in table.given for table in tables)]
    whole = replace(
        first,
        antecedents=[items for table in tables for items in table.antecedents],
        consequents=[items for table in tables for items in table.consequents],
        count=np.concatenate([table.count for table in tables]),
        n_a=np.concatenate([table.n_a for table in tables]),
        n_b=np.concatenate([table.n_b for table in tables]),
        given={name: np.concatenate([table.given[name] for table in tables]) for name in given},
    )
    rows: dict[tuple[Items, Items], int] = {}
    for row, sides in enumerate(whole.sides):
        rows.setdefault(sides, row)
    return whole if len(rows) == len(whole) else whole.take(np.array(list(rows.values()), np.int64))
