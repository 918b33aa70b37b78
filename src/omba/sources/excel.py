"""Spreadsheets: .xlsx, .xls and .ods, by calamine. A sheet is read as text is, numbers and dates by how they look.

So a number that was stored as text is the number, and a customer 13085.0 is 13085.
"""

from __future__ import annotations

import datetime as dt
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from omba.errors import InputError, MissingExtraError, nearest
from omba.sources.columns import list_names
from omba.sources.engine import Engine
from omba.sources.files import FileSource, unpack
from omba.sources.sheet_area import check_area

ALL = "*"
"""Asks for all sheets with the header of the first."""


class Excel(FileSource):
    """Sheets of one or more workbooks under the same header, the columns in any order.

    Parameters
    ----------
    paths
        The workbooks.
    engine
        Where compressed ones are unpacked.
    sheet
        The name of a sheet or its number, counted from 1; several apart by commas; `*` for all. The first unless given.
    """

    untyped = True

    def __init__(self, paths: list[Path], engine: Engine, sheet: str | int | None = None) -> None:
        super().__init__(paths, engine)
        self.places: list[tuple[Path, str, int]] = []
        """The workbook, the sheet and the line of the header of each part."""
        self.parts: list[tuple[list[str], list[list[Any]]]] = []
        for path in paths:
            self._read(path, unpack(path, engine, seeks=True), sheet)
        if not any(rows for _, rows in self.parts):
            raise InputError(f"{self.title} has no rows: give a sheet with at least a basket in it")
        self.columns = dict.fromkeys(self.parts[0][0], "VARCHAR")

    def _read(self, path: Path, file: Path, wanted: str | int | None) -> None:
        book = _open(path, file)
        names = _find_sheets(book.sheet_names, wanted, path)
        for name in names:
            lines = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            begin = next((n for n, line in enumerate(lines) if sum(cell != "" for cell in line) > 1), None)
            if begin is None:
                if len(names) == 1:
                    raise InputError(f"sheet {name!r} of {str(path)!r} is empty: name another with sheet")
                continue
            header = [str(cell).strip() or f"column {i + 1}" for i, cell in enumerate(lines[begin])]
            if self.parts and not set(self.parts[0][0]) <= set(header):
                missing = next(column for column in self.parts[0][0] if column not in header)
                raise InputError(
                    f"sheet {name!r} of {str(path)!r} has no column {missing!r}, which the sheet before it has: name "
                    "the sheets that belong together"
                )
            self.places.append((path, name, begin + 1))
            self.parts.append((header, lines[begin + 1 :]))
        others = [name for name in book.sheet_names if name not in names]
        if wanted is None and others:
            self.notes.append(
                f"read the sheet {names[0]!r}; there is also {list_names(others)}: sheet names one, {ALL!r} takes all"
            )

    def load(self, engine: Engine, names: list[str]) -> str:
        columns: list[list[str | None]] = [[] for _ in names]
        for header, rows in self.parts:
            for column, name in zip(columns, names, strict=True):
                place = header.index(name)
                column.extend(_text(row[place]) for row in rows)
        arrays = [pa.array(column, pa.string()) for column in columns]
        table = pa.table(
            [*arrays, pa.array(np.arange(len(columns[0])))], [*(f"c{i}" for i in range(len(names))), "row"]
        )
        engine.connection.register("sheet", table)
        return "sheet"

    def place(self, engine: Engine, row: int) -> str:
        for (path, name, begin), (_, rows) in zip(self.places, self.parts, strict=True):
            if row < len(rows):
                return f"line {begin + row + 1:,} of sheet {name!r}{self.among(path)}"
            row -= len(rows)
        return "the end"


def _open(path: Path, file: Path) -> Any:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MissingExtraError(
            f"{str(path)!r} is a spreadsheet, and what reads it is not installed: pip install 'omba[excel]'"
        ) from None
    try:
        check_area(path, file)
        return CalamineWorkbook.from_path(str(file))
    except (CalamineError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{str(path)!r} is no spreadsheet that can be read ({error}): save it again") from None


def _find_sheets(names: list[str], wanted: str | int | None, path: Path) -> list[str]:
    """The sheets that were asked for; a name is taken before a number, and whole before its parts."""
    if wanted is None:
        return names[:1]
    if wanted == ALL:
        return names
    if str(wanted) in names:
        return [str(wanted)]
    found = []
    for one in str(wanted).split(","):
        name = one.strip()
        if name not in names and name.isascii() and name.isdigit() and 1 <= int(name) <= len(names):
            name = names[int(name) - 1]
        if name not in names:
            remedy = nearest(name, names) or ": name one of these, or its number from 1 on"
            raise InputError(f"{str(path)!r} has no sheet {name!r} among {list_names(names)}{remedy}")
        found.append(name)
    return found


def _text(cell: Any) -> str | None:
    """A cell as a CSV file would have it."""
    if cell == "" or cell is None:
        return None
    if isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**63 else repr(cell)
    if isinstance(cell, dt.datetime | dt.date):
        return cell.isoformat()
    return str(cell)
