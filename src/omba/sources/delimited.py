"""Delimited text: CSV, TSV and their kin. A header names the columns, and every value is text at first."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from glob import escape
from itertools import chain
from pathlib import Path

from omba.errors import InputError
from omba.sources.columns import list_names
from omba.sources.engine import Engine, literal
from omba.sources.files import FileSource, explain_unpacking, open_text, unpack, utf8_error
from omba.sources.formats import is_tabbed

SEPARATORS = ",;\t|"
csv.field_size_limit(sys.maxsize)


class Delimited(FileSource):
    """One or more delimited files under the same header, the columns in any order."""

    untyped = True

    def __init__(self, paths: list[Path], engine: Engine) -> None:
        super().__init__(paths, engine)
        self.headers = {path: read_header(path) for path in paths}
        self.files = {path: unpack(path, engine) for path in paths}
        self.columns = dict.fromkeys(self.headers[paths[0]][1], "VARCHAR")

    def load(self, engine: Engine, names: list[str]) -> str:
        columns = ", ".join(f"c{i} VARCHAR" for i in range(len(names)))
        engine.execute(f"CREATE TABLE text ({columns})")
        for path in self.paths:
            separator, header = self.headers[path]
            places = [_index(name, header, path) for name in names]
            fields = ", ".join(f"'f{i}': 'VARCHAR'" for i in range(len(header)))
            engine.execute(
                f"INSERT INTO text SELECT {', '.join(f'f{place}' for place in places)} "
                f"FROM read_csv({literal(escape(str(self.files[path])))}, auto_detect = false, header = true, "
                f"delim = {literal(separator)}, quote = '\"', escape = '\"', columns = {{{fields}}})"
            )
        if engine.execute("SELECT count(*) FROM text") == [(0,)]:
            raise InputError(f"{self.title} has a header and no rows: give a file with at least a basket in it")
        return "(SELECT *, rowid AS row FROM text)"

    def place(self, engine: Engine, row: int) -> str:
        for path in self.paths:
            for line in _lines(path, self.headers[path][0]):
                if row == 0:
                    return f"line {line:,}{self.among(path)}"
                row -= 1
        raise IndexError(row)

    def explain(self, error: Exception) -> InputError:
        for path in self.paths:
            if broken := utf8_error(path):
                return broken
        said = str(error)
        if "CSV" not in said:
            return super().explain(error)
        line = re.search(r"Error on Line: (\d+)", said)
        fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
        file = re.search(r"^\s*file = (.*)$", said, re.MULTILINE)
        name = repr(file[1].strip()) if file else self.title
        if line and fields:
            return InputError(
                f"line {int(line[1]):,} of {name} has {fields[2]} fields where the header has {fields[1]}: put quotes "
                "around values that hold the separator; where each line is a basket, say form='baskets'"
            )
        where = f"line {int(line[1]):,} of {name}" if line else name
        return InputError(f"{where} is no proper CSV: look for a quote left open, or mixed line ends")


def read_header(path: Path) -> tuple[str, list[str]]:
    """The separator and the names of the columns; a name that comes again gets its number."""
    try:
        with explain_unpacking(path), open_text(path) as stream:
            first = stream.readline()
            separator = "\t" if is_tabbed(path) else find_separator(first)
            names = next(csv.reader(chain([first], stream), delimiter=separator), [])
    except UnicodeDecodeError:
        raise utf8_error(path) or InputError(f"{str(path)!r} is not UTF-8: convert it") from None
    if not any(names):
        raise InputError(f"{str(path)!r} is empty: give a file with at least a basket in it")
    return separator, [name if name not in names[:i] else f"{name}_{i}" for i, name in enumerate(names)]


def find_separator(line: str) -> str:
    """The separator of a header: the one that stands there most often, outside of quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    return max(SEPARATORS, key=bare.count)


def _index(name: str, header: list[str], path: Path) -> int:
    if name not in header:
        raise InputError(
            f"{str(path)!r} has no column {name!r}, which the files before it have: it has {list_names(header)}"
        )
    return header.index(name)


def _lines(path: Path, separator: str) -> Iterator[int]:
    """The number of the line each row begins on; a quoted value may run over several."""
    with open_text(path) as stream:
        reader = csv.reader(stream, delimiter=separator)
        next(reader)
        begin = reader.line_num + 1
        for values in reader:
            if values:
                yield begin
            begin = reader.line_num + 1
