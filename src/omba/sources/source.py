"""A source: rows with named columns that DuckDB can read, and the questions asked of a column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from omba.errors import InputError
from omba.sources.engine import Engine


class Source(ABC):
    """What is read: a file or several, a data frame, lines of products."""

    title: str
    """What to call it in a sentence."""
    columns: dict[str, str]
    """The name and the DuckDB type of each column, as far as it is known before loading."""
    untyped = False
    """All is text, as in CSV, and numbers are known by how they look."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    @abstractmethod
    def load(self, engine: Engine, names: list[str]) -> str:
        """SQL to select from: the named columns, called c0, c1, …, and `row`, their order."""

    @abstractmethod
    def place(self, engine: Engine, row: int) -> str:
        """Where a person finds the row."""

    def explain(self, error: Exception) -> InputError:
        """What DuckDB says about the source, as one sentence."""
        said = str(error).split("\n")[0].strip()
        return InputError(f"{self.title} cannot be read ({said}): mend that, and read it again")


@dataclass(frozen=True)
class Column:
    """A column of a loaded source: `sql` is its name in `relation`."""

    engine: Engine
    source: Source
    relation: str
    name: str
    sql: str

    @property
    def type(self) -> str:
        return self.source.columns[self.name]

    def ask(self, *questions: str) -> tuple[int, ...]:
        """The number of rows for which each condition on `x`, the value, holds."""
        counts = ", ".join(f"count(*) FILTER (WHERE {question})" for question in questions)
        return self.engine.execute(f"SELECT {counts} FROM (SELECT {self.sql} AS x FROM {self.relation})")[0]

    def all(self, condition: str) -> bool:
        """Whether the condition holds for every value there is."""
        # Asked for one that does not, since that is mostly found at once.
        values = f"SELECT {self.sql} AS x FROM {self.relation}"
        return not self.engine.execute(
            f"SELECT 1 FROM ({values}) WHERE x IS NOT NULL AND ({condition}) IS NOT TRUE LIMIT 1"
        )

    def first(self, condition: str) -> str:
        """The first value that meets the condition, and its place."""
        found = f"SELECT x::VARCHAR, row FROM (SELECT {self.sql} AS x, row FROM {self.relation}) WHERE {condition}"
        value, row = self.engine.execute(f"{found} ORDER BY row LIMIT 1")[0]
        return f"first: {value!r}, {self.source.place(self.engine, row)}"

    def total(self) -> int:
        """All rows of the source."""
        return int(self.engine.execute(f"SELECT count(*) FROM {self.relation}")[0][0])
