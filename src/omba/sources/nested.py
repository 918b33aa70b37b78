"""Nested products: a row a basket, its products in a list, of labels or of objects with price and quantity."""

from __future__ import annotations

from collections.abc import Mapping

from omba.errors import InputError
from omba.sources.columns import recognise
from omba.sources.engine import Engine, literal
from omba.sources.source import Source

ROW = "(row)"
"""The number of the row, for baskets that have no other name."""


class Nested(Source):
    """Another source with its list of products unrolled, a row a product."""

    def __init__(self, source: Source, column: str, engine: Engine) -> None:
        super().__init__()
        self.source, self.title = source, source.title
        names = list(source.columns)
        relation = source.load(engine, names)
        self.notes = [*source.notes, f"read with a basket a row, its products in {column!r}"]
        self.columns = {name: source.columns[name] for name in names if name != column} | {ROW: "BIGINT"}
        self.sql = {name: f"c{i}" for i, name in enumerate(names) if name != column} | {ROW: "parent"}
        kept = ", ".join([*(sql for sql in self.sql.values() if sql != "parent"), "row AS parent"])
        engine.execute(f"CREATE TABLE nested AS SELECT {kept}, unnest(c{names.index(column)}) AS e FROM {relation}")
        kind = str(engine.execute("DESCRIBE nested")[-1][1])
        if kind.startswith("STRUCT"):
            self._add_fields(engine, column)
        else:
            self.columns[column], self.sql[column] = kind, "e"

    def _add_fields(self, engine: Engine, column: str) -> None:
        fields = {name: kind for name, kind, *_ in engine.execute("DESCRIBE SELECT unnest(e) FROM nested")}
        product = recognise("product", list(fields)) or ("id" if "id" in fields else None)
        if product is None:
            raise InputError(f"the objects in {column!r} of {self.title} have no product: give each one an 'id'")
        for name, kind in fields.items():
            key = column if name == product else name if name not in self.columns else f"{column}.{name}"
            self.columns[key], self.sql[key] = kind, f"struct_extract(e, {literal(name)})"

    def with_basket(self, given: Mapping[str, str | None], column: str) -> dict[str, str | None]:
        """What the caller named, and the basket: a column known as one, else `id`, else the row itself."""
        basket = given.get("basket") or recognise("basket", [name for name in self.columns if name != column])
        return {**given, "product": column, "basket": basket or ("id" if "id" in self.columns else ROW)}

    def load(self, engine: Engine, names: list[str]) -> str:
        columns = ", ".join(f"{self.sql[name]} AS c{i}" for i, name in enumerate(names))
        return f"(SELECT {columns}, rowid AS row FROM nested)"

    def place(self, engine: Engine, row: int) -> str:
        (parent,) = engine.execute(f"SELECT parent FROM nested WHERE rowid = {row}")[0]
        return self.source.place(engine, parent)

    def explain(self, error: Exception) -> InputError:
        return self.source.explain(error)
