"""Streaming a file larger than memory: peak memory, and time against DuckDB's own scan and sort of the file.

    python benchmarks/streaming.py                   30 million rows of Parquet
    python benchmarks/streaming.py --rows 1000000    a quick look

The file is a synthetic world, not in time order, made in a scratch folder and removed at the end. Each side runs
in a process of its own, so that its peak resident memory is its own; DuckDB gets the same bound on its memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BOUND = 2_000
"""Megabytes that streaming 30 million rows must stay under."""
ROWS_A_BASKET = 7.1
"""What a basket of the synthetic world holds, on average."""


def make(path: Path, rows: int) -> int:
    """Write about so many rows; their number."""
    import pyarrow.parquet as parquet

    from omba.datasets import synthetic

    synthetic(baskets=max(1, round(rows / ROWS_A_BASKET)), products=20_000, users=100_000, days=365).write(path)
    return int(parquet.ParquetFile(path).metadata.num_rows)


def stream(path: Path) -> int:
    """Learn nothing, but see every window."""
    from omba.sources import stream_baskets

    with stream_baskets(path, every="1d") as windows:
        return sum(window.n_items for window in windows)


def scan_and_sort(path: Path) -> int:
    """The same file through DuckDB alone: all columns, by time and basket."""
    from omba.sources.engine import Engine, literal

    engine = Engine(bounded=True)
    found = engine.connection.sql(f"SELECT * FROM {literal(path)} ORDER BY timestamp, basket_id")
    rows = sum(len(batch) for batch in found.to_arrow_reader(1_000_000))
    engine.close()
    return rows


SIDES = {"stream": stream, "scan-and-sort": scan_and_sort}


def measure(step: str, path: Path, rows: int) -> dict[str, float]:
    """Run one step in a process of its own, started from this one while it is still small."""
    print(f"{step} …", end=" ", flush=True)
    command = [sys.executable, __file__, "--step", step, "--file", str(path), "--rows", str(rows)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout)
    print(f"{found['rows']:,} rows in {found['seconds']:.1f} s, peak memory {found['megabytes']:,.0f} MB", flush=True)
    return found


def run_step(step: str, path: Path, rows: int) -> None:
    begin = time.perf_counter()
    seen = make(path, rows) if step == "make" else SIDES[step](path)
    seconds = time.perf_counter() - begin
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024 / 1e6
    print(json.dumps({"rows": seen, "seconds": seconds, "megabytes": megabytes}))


def compare(rows: int, repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "world.parquet"
        made = measure("make", path, rows)["rows"]
        runs = [{side: measure(side, path, rows) for side in SIDES} for _ in range(repeat)]
    ours, theirs = ([run[side] for run in runs] for side in SIDES)
    if {run["rows"] for run in ours + theirs} != {made}:
        raise SystemExit("rows were lost")
    ratio = min(run["seconds"] for run in ours) / min(run["seconds"] for run in theirs)
    peak = max(run["megabytes"] for run in ours)
    print(f"streaming takes {ratio:.2f} times as long as DuckDB's scan and sort, and {peak:,.0f} MB at its peak")
    if peak > BOUND:
        raise SystemExit(f"the peak of {peak:,.0f} MB is over the bound of {BOUND:,} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=30_000_000, help="about how many rows the file has")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each side, in turn; the quickest counts")
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        run_step(options.step, options.file, options.rows)
    else:
        compare(options.rows, options.repeat)


if __name__ == "__main__":
    main()
