"""JSON lines: an object a row, or an object a basket with its products in a list."""

from __future__ import annotations

import json
import re
from glob import escape
from pathlib import Path

from omba.errors import InputError
from omba.sources.engine import Engine, identifier, literal
from omba.sources.files import FileSource, open_text, unpack, utf8_error

GUESSES = r"\b(DATE|TIME|TIMESTAMP[A-Z_]*( WITH TIME ZONE)?|UUID|JSON)\b(?=[\[\],)]|$)"
"""Types DuckDB reads into text by how it looks. In JSON text is text; times are read later, by us."""


class JsonLines(FileSource):
    """One or more files of JSON objects."""

    def __init__(self, paths: list[Path], engine: Engine) -> None:
        import duckdb

        super().__init__(paths, engine)
        self.files = ", ".join(literal(escape(str(unpack(path, engine)))) for path in paths)
        try:
            found = engine.execute(f"DESCRIBE SELECT * FROM read_json([{self.files}], sample_size = -1)")
        except duckdb.Error as error:
            raise self.explain(error) from None
        self.columns = {name: re.sub(GUESSES, "VARCHAR", kind) for name, kind, *_ in found}
        if list(self.columns) == ["json"]:
            raise InputError(
                f"{self.title} holds no JSON objects: write one a line, as in {{'basket': 1, 'product': 2}}"
            )

    def load(self, engine: Engine, names: list[str]) -> str:
        types = ", ".join(f"{literal(name)}: {literal(self.columns[name])}" for name in names)
        columns = ", ".join(f"{identifier(name)} AS c{i}" for i, name in enumerate(names))
        engine.execute(f"CREATE TABLE json AS SELECT {columns} FROM read_json([{self.files}], columns = {{{types}}})")
        return "(SELECT *, rowid AS row FROM json)"

    def place(self, engine: Engine, row: int) -> str:
        for path in self.paths:
            with open_text(path) as stream:
                for number, line in enumerate(stream, 1):
                    if row == 0 and line.strip():
                        return f"line {number:,}{self.among(path)}"
                    row -= bool(line.strip())
        return "the end"

    def explain(self, error: Exception) -> InputError:
        for path in self.paths:
            if broken := utf8_error(path) or _json_error(path):
                return broken
        return super().explain(error)


def _json_error(path: Path) -> InputError | None:
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            try:
                json.loads(line or "{}")
            except (ValueError, RecursionError) as error:
                return InputError(
                    f"line {number:,} of {str(path)!r} is no JSON object ({error}): write one object a line"
                )
    return None
