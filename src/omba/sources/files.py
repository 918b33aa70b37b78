"""Files: found by path or glob, unpacked where they must be, and opened by what they hold."""

from __future__ import annotations

import io
import lzma
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob, has_magic
from pathlib import Path
from typing import IO, Literal

import pyarrow as pa

from omba.errors import InputError, nearest
from omba.sources.engine import Engine
from omba.sources.formats import FORMATS, TEXT, Format, compression_of, format_of
from omba.sources.source import Source

Form = Literal["rows", "baskets"]

UNPACKED, RATIO = 2**28, 100
"""Bytes that packed files may hold in any case, and how many times their own size beyond that. Sales shrink to a tenth
or a thirtieth; what shrinks to a thousandth was made to fill the memory or the disk of whoever opens it."""


class FileSource(Source):
    """A source of one or more files.

    Parameters
    ----------
    paths
        The files, in the order they are read.
    engine
        Where they are read, and unpacked if they must be.
    """

    def __init__(self, paths: list[Path], engine: Engine) -> None:
        super().__init__()
        check_unpacked(paths)
        self.paths = paths
        self.title = repr(str(paths[0])) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")

    def among(self, path: Path) -> str:
        """Which of several files, to end a place with."""
        return f" of {str(path)!r}" if len(self.paths) > 1 else ""


def find_files(source: str | Path) -> list[Path]:
    """The files behind a path or a glob, in the order of their names."""
    path = Path(source).expanduser()
    if path.is_dir():
        raise InputError(f"{str(source)!r} is a folder: give the files in it, for instance '{path}/*.parquet'")
    if path.is_file():
        return [path]
    if not has_magic(str(source)):
        near = nearest(path.name, (p.name for p in path.parent.iterdir())) if path.parent.is_dir() else ""
        raise InputError(f"there is no file {str(source)!r}{near or ': check the path'}")
    # Path.glob takes no absolute pattern.
    found = [Path(name) for name in sorted(glob(str(path), recursive=True)) if Path(name).is_file()]  # noqa: PTH207
    if not found:
        raise InputError(f"no file matches {str(source)!r}: check the pattern, and the folder it starts from")
    return found


def find_format(path: Path) -> Format:
    """What a file holds, by the ending of its name, else by its first bytes."""
    known = format_of(path)
    if known:
        return known
    with explain_unpacking(path), open_bytes(path) as stream:
        start = stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    return next((one for one in FORMATS if one.begins and start.startswith(one.begins)), TEXT)


def unpack(path: Path, engine: Engine, seeks: bool = False) -> Path:
    """A path DuckDB can read: itself, or its content unpacked into the scratch folder."""
    if path.stat().st_size == 0:
        raise InputError(f"{str(path)!r} is empty: give a file with at least a basket in it")
    packed = compression_of(path)
    if packed is None or (packed.duckdb and not seeks):
        return path
    target = engine.folder / "unpacked" / path.with_suffix("").name
    target.parent.mkdir(exist_ok=True)
    with explain_unpacking(path), open_bytes(path) as stream, target.open("wb") as out:
        shutil.copyfileobj(stream, out, 1 << 20)
    return target


def check_unpacked(paths: list[Path]) -> None:
    """Refuse packed files that hold far more than their size lets one expect; no more of them is read than that."""
    packed = [path for path in paths if compression_of(path) is not None]
    size = sum(path.stat().st_size for path in packed)
    most, held = max(UNPACKED, RATIO * size), 0
    for path in packed:
        with explain_unpacking(path), open_bytes(path) as stream:
            while part := stream.read(1 << 20):
                held += len(part)
                if held > most:
                    what = repr(str(path)) + (" and the packed files before it" if len(packed) > 1 else "")
                    raise InputError(
                        f"{what} would unpack to more than {most:,} bytes, over {RATIO} times the {size:,} they take: "
                        "if that is right, unpack them first, and give what comes out"
                    )


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked on the way."""
    packed = compression_of(path)
    if packed is not None and not packed.local:
        raise InputError(f"{str(path)!r} is packed as {packed.ending}, which Spark alone reads: unpack it first")
    ending = packed.ending if packed else ""
    if ending == ".zip":
        archive = zipfile.ZipFile(path)
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise InputError(f"{str(path)!r} holds {len(names)} files: unpack it, and give those that hold baskets")
        return archive.open(names[0])
    if ending == ".xz":
        return lzma.open(path)
    return io.BufferedReader(pa.input_stream(str(path)))


def open_text(path: Path) -> io.TextIOWrapper:
    """The text of a file, without a byte order mark."""
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="")


def utf8_error(path: Path) -> InputError | None:
    """A sentence on the first bytes that are not UTF-8, or None."""
    with explain_unpacking(path), open_bytes(path) as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                shown = line[max(0, error.start - 20) : error.end + 10].decode("utf-8", "replace").strip()
                likely = "utf-16" if line.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin1"
                return InputError(
                    f"{str(path)!r} is not UTF-8 (byte 0x{line[error.start]:02X} near {shown!r}, line {number:,}): "
                    f"convert it, for instance with: iconv -f {likely} -t utf-8"
                )
    return None


@contextmanager
def explain_unpacking(path: Path) -> Iterator[None]:
    """A sentence in place of what the unpackers raise on a file that is not what its name says, or cut off."""
    try:
        yield
    except (OSError, EOFError, zipfile.BadZipFile, lzma.LZMAError) as error:
        raise InputError(f"{str(path)!r} cannot be opened or unpacked ({error}): fetch or write it again") from None
