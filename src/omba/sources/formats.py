"""Formats: which ending of a name means which format and which compression, and who can read it.

This is the one table of formats. Reading whole, streaming, following a growing file and Spark look here, so a new
format is a line in `FORMATS` and a reader of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING

from omba.errors import InputError

if TYPE_CHECKING:
    from omba.sources.files import FileSource


@dataclass(frozen=True)
class Format:
    """What a file may hold.

    Parameters
    ----------
    name
        What the format is called where files of different ones meet.
    endings
        How the names of such files end.
    reader
        The source that reads them, as `module:class` in `omba.sources`.
    begins
        Bytes that such a file begins with, for names that do not tell; text is what is left.
    seeks
        Whether it is read from its end, as Parquet is, and so has to be unpacked first.
    follows
        Whether it can be followed while it grows.
    spark
        The name of Spark's reader; none where Spark does not read it.
    """

    name: str
    endings: tuple[str, ...]
    reader: str
    begins: tuple[bytes, ...] = ()
    seeks: bool = False
    follows: bool = False
    spark: str | None = None

    def load_reader(self) -> type[FileSource]:
        """The class that reads files of this format."""
        module, _, name = self.reader.partition(":")
        found: type[FileSource] = getattr(import_module(f"omba.sources.{module}"), name)
        return found


@dataclass(frozen=True)
class Compression:
    """How a file may be packed: by the last ending of its name.

    Parameters
    ----------
    ending
        The ending, after that of the format.
    duckdb
        Whether DuckDB reads it as it is; the others are unpacked into the scratch folder first.
    spark
        Whether Spark reads it.
    local
        Whether it is read on this machine at all.
    """

    ending: str
    duckdb: bool = False
    spark: bool = False
    local: bool = True


TEXT = Format("text", (".csv", ".txt", ".tsv", ".tab"), "delimited:Delimited", follows=True, spark="csv")
BASKETS = Format("baskets", (".basket", ".baskets", ".dat", ".fimi", ".spmf"), "basket_lines:BasketLines")
PARQUET = Format("parquet", (".parquet", ".pq"), "parquet:Parquet", begins=(b"PAR1",), seeks=True, spark="parquet")
JSON = Format(
    "json", (".jsonl", ".ndjson", ".json"), "jsonlines:JsonLines", begins=(b"{", b"[{"), follows=True, spark="json"
)
EXCEL = Format(
    "spreadsheet", (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "excel:Excel", begins=(b"PK\x03\x04",), seeks=True
)
FORMATS = (TEXT, PARQUET, JSON, BASKETS, EXCEL)

COMPRESSIONS = (
    Compression(".gz", duckdb=True, spark=True),
    Compression(".zst", duckdb=True, spark=True),
    Compression(".bz2", spark=True),
    Compression(".lz4", spark=True),
    Compression(".xz"),
    Compression(".zip"),
    Compression(".snappy", spark=True, local=False),
)

TABBED = (".tsv", ".tab")
"""Endings of text whose separator is the tab; of other text it is found in the header."""


def compression_of(path: str | PurePath) -> Compression | None:
    """How a file is packed, by its name; None where it is not.

    >>> compression_of("sales.csv.GZ").ending
    '.gz'
    """
    ending = PurePath(path).suffix.lower()
    return next((packed for packed in COMPRESSIONS if packed.ending == ending), None)


def format_of(path: str | PurePath) -> Format | None:
    """What a file holds, by its name; None where the name does not tell.

    >>> format_of("sales.csv.gz").name, format_of("sales")
    ('text', None)
    """
    ending = next(reversed(_endings(path)), "")
    return next((one for one in FORMATS if ending in one.endings), None)


def spark_reader(path: str) -> str:
    """The name of the reader that Spark has for a path; a folder is one of Parquet, as Spark writes it.

    >>> spark_reader("sales.tsv.gz"), spark_reader("hdfs:///sales/")
    ('csv', 'parquet')
    """
    plain = PurePath(path.rstrip("/"))
    packed = compression_of(plain)
    found = PARQUET if not plain.suffix else format_of(plain)
    if found is None or found.spark is None or (packed and not packed.spark):
        raise InputError(f"{path!r} is of no kind that is read on Spark: give Parquet, CSV, TSV or JSON lines")
    return found.spark


def is_tabbed(path: str | PurePath) -> bool:
    """Whether the name says that a tab separates the values."""
    return any(ending in TABBED for ending in _endings(path))


def _endings(path: str | PurePath) -> list[str]:
    packed = {one.ending for one in COMPRESSIONS}
    return [ending for suffix in PurePath(path).suffixes if (ending := suffix.lower()) not in packed]
