"""The engine: one DuckDB connection and one scratch folder a source, gone when the source is."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

STREAM_MEMORY = "1GB"
"""What DuckDB may hold while a file is streamed; beyond it, it sorts on disk."""

STREAM_THREADS = 4
"""Each thread sorts in memory of its own, so many of them would not fit in `STREAM_MEMORY`."""


class Engine:
    """DuckDB with nothing to configure: UTC, no downloads, and with `bounded` a bound on its memory."""

    def __init__(self, bounded: bool) -> None:
        # Here, since commands that read no file should not wait for it.
        import duckdb

        self.bounded = bounded
        self.folder = Path(tempfile.mkdtemp(prefix="omba-"))
        remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        config: dict[str, Any] = {
            "temp_directory": str(self.folder / "spill"),
            "autoinstall_known_extensions": "false",
        }
        if bounded:
            config |= {"memory_limit": STREAM_MEMORY, "threads": min(STREAM_THREADS, os.cpu_count() or 1)}
        # A file, since tables in memory are not compressed and could not be streamed out to disk as well.
        self.connection = duckdb.connect(str(self.folder / "rows.duckdb") if bounded else ":memory:", config=config)
        self.connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        remove.detach()
        self.close = weakref.finalize(self, _close, self.connection, self.folder)

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement and fetch what it gives."""
        rows: list[tuple[Any, ...]] = self.connection.execute(sql).fetchall()
        return rows


def _close(connection: Any, folder: Path) -> None:
    connection.close()
    shutil.rmtree(folder, ignore_errors=True)


def identifier(name: str) -> str:
    """A name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str | Path) -> str:
    """A text quoted for SQL."""
    return "'" + str(value).replace("'", "''") + "'"


def literals(values: list[Path]) -> str:
    """Paths as a SQL list; DuckDB would take *, ? and [ in them for a glob, so they are found before."""
    return "[" + ", ".join(literal(value) for value in values) + "]"
