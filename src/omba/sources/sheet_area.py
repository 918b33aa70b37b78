"""Sheet area: how far out the cells of a workbook lie, before all that lie within are given room in memory.

A file of a kilobyte can have two cells, the first and the last of a sheet, and 17 billion empty ones between them.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from omba.errors import InputError
from omba.sources.files import RATIO, UNPACKED

CELLS = 50_000_000
"""Cells of a sheet, the empty ones too: a million rows of fifty columns."""
PLACE = re.compile(rb'r="([A-Z]{0,3})([0-9]{1,7})"')
LONGEST = 32
"""Bytes of a place at most, so that one at the end of a part is not cut in two."""


def check_area(path: Path, file: Path) -> None:
    """Refuse a workbook of XML with a cell too far out, or that unpacks to far more than its size lets one expect."""
    if not zipfile.is_zipfile(file):
        return
    with zipfile.ZipFile(file) as book:
        parts = [part for part in book.infolist() if re.fullmatch(r"xl/worksheets/[^/]+\.xml", part.filename)]
        size = file.stat().st_size
        if sum(part.file_size for part in parts) > max(UNPACKED, RATIO * size):
            raise InputError(
                f"{str(path)!r} would unpack to more than {RATIO} times the {size:,} bytes it takes: give it as CSV"
            )
        for part in parts:
            rows, columns = _area(book, part)
            if rows * columns > CELLS:
                raise InputError(
                    f"a sheet of {str(path)!r} reaches over {rows:,} rows and {columns:,} columns, empty ones too: "
                    f"remove what lies far out, so that it has {CELLS:,} cells at most"
                )


def _area(book: zipfile.ZipFile, part: zipfile.ZipInfo) -> tuple[int, int]:
    """The last row and the last column of a sheet that have a cell."""
    rows, columns, left = {0}, {b""}, b""
    with book.open(part) as stream:
        while text := stream.read(1 << 20):
            found = PLACE.findall(left + text)
            columns.update(letters for letters, _ in found)
            rows.add(max((int(number) for number in {digits for _, digits in found}), default=0))
            left = text[-LONGEST:]
    return max(rows), max(map(_number, columns))


def _number(letters: bytes) -> int:
    """The number of a column.

    >>> _number(b"A"), _number(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
