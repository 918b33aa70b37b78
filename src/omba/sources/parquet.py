"""Parquet files, read in place: a row is known by its file and its number there."""

from __future__ import annotations

from glob import escape
from pathlib import Path

from omba.errors import InputError
from omba.sources.engine import Engine, identifier, literal
from omba.sources.files import FileSource, unpack
from omba.sources.formats import PARQUET

FILE_BITS = 40
"""Bits of a row's number that count within its file."""

OWN = {"file_index", "file_row_number"}
"""Columns that DuckDB adds to those of a file, unless the file has them itself."""


class Parquet(FileSource):
    """One or more Parquet files; columns are matched by name."""

    def __init__(self, paths: list[Path], engine: Engine) -> None:
        import duckdb

        super().__init__(paths, engine)
        files = ", ".join(literal(escape(str(unpack(path, engine, PARQUET.seeks)))) for path in paths)
        self.sql = f"read_parquet([{files}], union_by_name = true, binary_as_string = true)"
        try:
            described = engine.execute(f"DESCRIBE SELECT * FROM {self.sql}")
            (rows,) = engine.execute(f"SELECT count(*) FROM {self.sql}")[0]
        except duckdb.Error as error:
            raise self.explain(error) from None
        if not rows:
            raise InputError(f"{self.title} has no rows: give a file with at least a basket in it")
        self.columns = {name: kind for name, kind, *_ in described}

    def load(self, engine: Engine, names: list[str]) -> str:
        columns = ", ".join(f"{identifier(name)} AS c{i}" for i, name in enumerate(names))
        if OWN & {name.casefold() for name in self.columns}:
            # The file's own columns hide those of DuckDB: the rows are copied, and known by their place in the copy.
            engine.execute(f"CREATE TABLE parquet AS SELECT {columns} FROM {self.sql}")
            return "(SELECT *, rowid AS row FROM parquet)"
        row = f"(file_index::BIGINT << {FILE_BITS}) + file_row_number AS row"
        engine.execute(f"CREATE VIEW parquet AS SELECT {columns}, {row} FROM {self.sql}")
        return "parquet"

    def place(self, engine: Engine, row: int) -> str:
        path, number = self.paths[row >> FILE_BITS], row & ((1 << FILE_BITS) - 1)
        return f"row {number + 1:,}{self.among(path)}"

    def explain(self, error: Exception) -> InputError:
        said = str(error).split("\n")[0].strip()
        name = next((repr(str(path)) for path in self.paths if str(path) in said), self.title)
        return InputError(f"{name} is cut off, or is no Parquet file ({said}): fetch or write it again")
