"""Basket lines: lines of products, a line a basket: arules' basket form, and the integers of FIMI and SPMF."""

from __future__ import annotations

import re
from glob import escape
from itertools import islice
from pathlib import Path

from omba.errors import InputError
from omba.sources.delimited import read_header
from omba.sources.engine import Engine, literal
from omba.sources.files import FileSource, open_text, unpack, utf8_error

LOOK = 1_000
"""Lines looked at to tell what a file holds."""
INTEGERS = re.compile(r"\s*\d+(\s+\d+)*\s*|[#%@].*\s*")
"""A line of integers, or one of SPMF's remarks."""


def looks_like_lines(path: Path) -> bool:
    """Whether a text file is better read a line a basket: all integers, or as many values as it likes a line."""
    lines, separator = _look(path)
    counts = {re.sub(r'"[^"]*"', "", line).count(separator) for line in lines}
    return len(counts) > 1 or all(INTEGERS.fullmatch(line) for line in lines)


class BasketLines(FileSource):
    """Files with a basket a line: products apart by spaces where all are integers, else by the separator."""

    untyped = True

    def __init__(self, paths: list[Path], engine: Engine) -> None:
        super().__init__(paths, engine)
        lines, self.separator = _look(paths[0])
        self.integers = all(INTEGERS.fullmatch(line) for line in lines)
        self.files = ", ".join(literal(escape(str(unpack(path, engine)))) for path in paths)
        self.columns = {"basket": "BIGINT", "product": "VARCHAR"}
        if any(line.startswith("@ITEM=") for line in lines):
            self.columns["name"] = "VARCHAR"
        apart = "spaces" if self.integers else repr(self.separator)
        self.notes.append(f"read with a basket a line, products apart by {apart}")

    def load(self, engine: Engine, names: list[str]) -> str:
        engine.execute(
            f"CREATE TABLE line AS SELECT * FROM read_csv([{self.files}], auto_detect = false, header = false, "
            f"delim = '\x1f', quote = '', escape = '', columns = {{'line': 'VARCHAR'}})"
        )
        remark = "line[1] IN ('#', '%', '@')" if self.integers else "false"
        engine.execute(
            f"CREATE TABLE item AS SELECT rowid AS basket, unnest({self._split('line')}) AS product "
            f"FROM line WHERE NOT ({remark}) AND trim(line) <> ''"
        )
        engine.execute(
            "CREATE VIEW named AS SELECT regexp_extract(line, '^@ITEM=([^=]*)=', 1) AS product, "
            "regexp_extract(line, '^@ITEM=[^=]*=(.*)$', 1) AS name FROM line WHERE starts_with(line, '@ITEM=')"
        )
        columns = ", ".join(f"{name} AS c{i}" for i, name in enumerate(names))
        joined = "LEFT JOIN named USING (product)" if "name" in names else ""
        return f"(SELECT {columns}, item.rowid AS row FROM item {joined})"

    def _split(self, line: str) -> str:
        if self.integers:
            return f"string_split_regex(trim({line}), '\\s+')"
        comma = literal(self.separator)
        field = literal(f"""{re.escape(self.separator)}\\s*("(?:[^"]|"")*"|[^{re.escape(self.separator)}]*)""")
        unquoted = """CASE WHEN v[1] = '"' THEN replace(v[2:-2], '""', '"') ELSE trim(v) END"""
        # A separator put in front makes every field begin with one, the empty ones too.
        quoted = f"list_transform(regexp_extract_all({comma} || {line}, {field}, 1), lambda v: {unquoted})"
        plain = f"list_transform(string_split({line}, {comma}), lambda v: trim(v))"
        return f"""CASE WHEN contains({line}, '"') THEN {quoted} ELSE {plain} END"""

    def place(self, engine: Engine, row: int) -> str:
        (basket,) = engine.execute(f"SELECT basket FROM item WHERE rowid = {row}")[0]
        return f"basket {basket + 1:,}"

    def explain(self, error: Exception) -> InputError:
        return next(filter(None, map(utf8_error, self.paths)), None) or super().explain(error)


def _look(path: Path) -> tuple[list[str], str]:
    """The first lines that hold something, and the separator."""
    separator, _ = read_header(path)
    with open_text(path) as stream:
        return [line for line in islice(stream, LOOK) if line.strip()], separator
