"""A growing file: its rows so far, each with the byte it begins at; half a row at the end is left alone."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omba.errors import InputError
from omba.sources.delimited import read_header
from omba.sources.files import find_format
from omba.sources.formats import JSON, TEXT, Format, compression_of

CHUNK = 1 << 20
"""Bytes looked at in one go."""
Row = dict[str, Any]


class GrowingFile:
    """A CSV, TSV or JSON lines file, from an offset on.

    Parameters
    ----------
    path
        The file.
    offset
        The byte to go on from.
    """

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.path, self.offset = path, offset
        self.format = find_format(path)
        if not self.format.follows or compression_of(path):
            raise InputError(f"{str(path)!r} cannot be followed: CSV, TSV and JSON lines can, unpacked, as they grow")
        self.separator, self.columns = ",", list[str]()
        self.begun = False

    def read(self, last: bool = False) -> list[tuple[int, int, Row]]:
        """(begin, end, row) of the next whole rows; with `last`, a row that ends with the file is whole too."""
        if not self.begun and not self._begin():
            return []
        with self.path.open("rb") as stream:
            stream.seek(self.offset)
            data = stream.read(CHUNK)
            size = self.offset + len(data)
            if last and len(data) < CHUNK and data and not data.endswith(b"\n"):
                data += b"\n"
        before = self.offset
        rows = [(begin, min(end, size), row) for begin, end, row in self._rows(data)]
        self.offset = min(self.offset, size)
        if len(data) >= CHUNK and self.offset == before:
            raise InputError(
                f"{str(self.path)!r} has no end of a row in a million bytes after byte {before:,}: look for a quote "
                "left open"
            )
        return rows

    def _begin(self) -> bool:
        """Read the header, once it is there."""
        with self.path.open("rb") as stream:
            first = stream.readline()
        if not first.endswith(b"\n"):
            return False
        if self.format is TEXT:
            self.separator, self.columns = read_header(self.path)
            self.offset = max(self.offset, len(next(_records(self._start(), TEXT))))
        elif first.startswith(b"\xef\xbb\xbf"):
            self.offset = max(self.offset, 3)
        self.begun = True
        return True

    def _start(self) -> bytes:
        with self.path.open("rb") as stream:
            return stream.read(CHUNK)

    def _rows(self, data: bytes) -> Iterator[tuple[int, int, Row]]:
        records = list(_records(data, self.format))
        ends = self.offset
        values = self._parse(records)
        for record, row in zip(records, values, strict=True):
            begin, ends = ends, ends + len(record)
            self.offset = ends
            if row:
                yield begin, ends, row

    def _parse(self, records: list[bytes]) -> Iterator[Row]:
        if self.format is JSON:
            for record in records:
                yield self._object(record)
            return
        texts = [record.decode("utf-8", "replace") for record in records]
        try:
            for values in csv.reader(texts, delimiter=self.separator):
                yield dict(zip(self.columns, values, strict=False))
        except csv.Error:
            raise InputError(
                f"{str(self.path)!r} is no proper CSV after byte {self.offset:,}: look for mixed line ends, or a quote"
                " left open"
            ) from None

    def _object(self, record: bytes) -> Row:
        if not record.strip():
            return {}
        try:
            row = json.loads(record)
        except ValueError as error:
            raise InputError(
                f"{str(self.path)!r} holds a line that is no JSON ({error}): write one object a line"
            ) from None
        if not isinstance(row, dict):
            raise InputError(f"{str(self.path)!r} holds a line that is no JSON object: write one object a line")
        return row


def _records(data: bytes, format: Format) -> Iterator[bytes]:
    """The whole lines; in CSV a quoted value may run over several."""
    held = b""
    for line in data.split(b"\n")[:-1]:
        held += line + b"\n"
        if format is JSON or held.count(b'"') % 2 == 0:
            yield held
            held = b""
