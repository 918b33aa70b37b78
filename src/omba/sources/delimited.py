"""Delimited text: CSV, TSV and their kin. A header names the columns, and every value is text at first."""

from __future__ import annotations

import csv
import io
import os
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
from omba.sources.formats import compression_of, is_tabbed

SEPARATORS = ",;\t|"
MOST_COLUMNS, LONGEST_HEADER = 5_000, 2**20
"""Columns, and letters, of a header: what has more is no header, and would be worked on for minutes."""
LONGEST_LINE = 2_000_000
"""Bytes of a line that DuckDB reads; at the end of a file it passes over a longer one in silence."""
csv.field_size_limit(sys.maxsize)


class Delimited(FileSource):
    """One or more delimited files under the same header, the columns in any order."""

    untyped = True

    def __init__(self, paths: list[Path], engine: Engine) -> None:
        super().__init__(paths, engine)
        self.headers = {path: read_header(path) for path in paths}
        self.files = {path: unpack(path, engine) for path in paths}
        for file in self.files.values():
            check_last_line(file)
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
            lines = _header_lines(stream, path)
            first = next(lines, "")
            separator = "\t" if is_tabbed(path) else find_separator(first)
            names = next(csv.reader(chain([first], lines), delimiter=separator), [])
    except UnicodeDecodeError:
        raise utf8_error(path) or InputError(f"{str(path)!r} is not UTF-8: convert it") from None
    if not any(names):
        raise InputError(f"{str(path)!r} is empty: give a file with at least a basket in it")
    if len(names) > MOST_COLUMNS:
        raise InputError(f"{str(path)!r} has {len(names):,} columns: give a file with {MOST_COLUMNS:,} at most")
    first_of = {name: place for place, name in reversed(list(enumerate(names)))}
    return separator, [name if first_of[name] == i else f"{name}_{i}" for i, name in enumerate(names)]


def _header_lines(stream: io.TextIOWrapper, path: Path) -> Iterator[str]:
    """The first lines of a file, of which a header may need several; they end where no header is that long."""
    left = LONGEST_HEADER
    while left > 0 and (line := stream.readline(left)):
        left -= len(line)
        if left <= 0:
            raise InputError(
                f"the first line of {str(path)!r} has more than {LONGEST_HEADER:,} letters: give a file with a header"
            )
        yield line


def check_last_line(path: Path) -> None:
    """Refuse a file whose last line is too long to be read."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        if size > LONGEST_LINE and compression_of(path) is None:
            stream.seek(size - LONGEST_LINE)
            if b"\n" not in stream.read(LONGEST_LINE - 1):
                raise InputError(
                    f"the last line of {str(path)!r} has more than {LONGEST_LINE:,} bytes: look for a quote left open, "
                    "or correct it"
                )


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
