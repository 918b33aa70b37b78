"""Measure: work timed in turns, or in a process of its own within limits, and told as a table and as JSON."""

from __future__ import annotations

import json
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PATIENCE = 120.0
"""Seconds a peer has for what OMBA does in one."""


@dataclass(frozen=True)
class Seconds:
    """Repeats of one piece of work: the first call apart, since it compiles and fills caches."""

    first: float
    repeats: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.repeats)

    @property
    def spread(self) -> float:
        """Half the distance from the quickest to the slowest repeat, as a share of the median."""
        return (max(self.repeats) - min(self.repeats)) / 2 / self.median

    def __str__(self) -> str:
        return f"{number(self.median)} ±{self.spread:.0%}"


def announce(what: str) -> None:
    """Tell what is under way, on standard error: a line that the next one takes the place of, or lines in a file."""
    shown = f"\r\033[K… {what}" if sys.stderr.isatty() else f"… {what}\n"
    print(shown[:120], end="", file=sys.stderr, flush=True)


def time_of(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turns(sides: dict[str, Callable[[], Any]], repeats: int) -> dict[str, Seconds]:
    """Seconds of each side, run in turns: whatever else the machine does falls on all of them alike."""
    first = {}
    for name, work in sides.items():
        announce(f"{name}, first call")
        first[name] = time_of(work)
    found: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(repeats):
        for name, work in sides.items():
            announce(f"{name}, {number + 1} of {repeats}")
            found[name].append(time_of(work))
    return {name: Seconds(first[name], found[name]) for name in sides}


@dataclass(frozen=True)
class Outcome:
    """What became of a process: its own figures, its peak memory, and how it ended."""

    ended: str
    seconds: float
    gigabytes: float
    findings: dict[str, Any] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return self.ended == "done"


def apart(script: str, *arguments: object, seconds: float = 600.0, gigabytes: float = 16.0) -> Outcome:
    """Run a script of this folder in a process of its own, within limits on time and memory.

    The script writes what it has to tell as JSON to the path in its last argument.
    """
    announce(" ".join(argument for argument in map(str, (script, *arguments)) if not argument.startswith("/")))
    with tempfile.TemporaryDirectory() as folder:
        findings = Path(folder) / "findings.json"
        command = [sys.executable, str(HERE / script), *map(str, arguments), str(findings)]

        def limit() -> None:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_DATA, (int(gigabytes * 2**30),) * 2)

        start = time.perf_counter()
        process = subprocess.Popen(
            command, preexec_fn=limit, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            _, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Outcome(f"stopped after {seconds:.0f} s", seconds, float("nan"))
        spent = time.perf_counter() - start
        if process.returncode:
            return Outcome(reason(process.returncode, errors, gigabytes), spent, float("nan"))
        found = json.loads(findings.read_text())
    return Outcome("done", found.pop("seconds"), found.pop("gigabytes"), found)


def reason(code: int, errors: str, gigabytes: float) -> str:
    """Why a process ended, in a few words."""
    last = errors.strip().splitlines()[-1] if errors.strip() else ""
    if "MemoryError" in errors or "ArrayMemoryError" in errors or "bad_alloc" in errors or code in (-9, -6):
        return f"out of memory at {gigabytes:g} GB"
    if "ModuleNotFoundError" in last:
        return "not installed"
    return last[:80] or f"ended with {code}"


def tell(path: str, seconds: float, **more: Any) -> None:
    """In a process of its own: leave what was found for the one that started it."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    Path(path).write_text(json.dumps({"seconds": seconds, "gigabytes": peak, **more}))


@dataclass
class Table:
    """A table of a suite: what it shows in one sentence, columns, rows, and which bars were set and met."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[Any]] = field(default_factory=list)
    bars: list[tuple[str, float, str, float]] = field(default_factory=list)
    """(what, measured, "at least" or "at most", bar)"""

    def bar(self, what: str, measured: float, how: str, wanted: float) -> None:
        self.bars.append((what, float(measured), how, wanted))

    def __str__(self) -> str:
        cells = [list(self.columns), *([number(cell) for cell in row] for row in self.rows)]
        widths = [max(len(line[k]) for line in cells) for k in range(len(self.columns))]
        lines = [self.title, ""]
        for line in cells:
            first, *others = (
                cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            lines.append("  " + "  ".join([first, *others]).rstrip())
        for what, measured, how, wanted in self.bars:
            met = measured >= wanted if how == "at least" else measured <= wanted
            lines.append(f"  {'reached ' if met else 'MISSED  '} {what}: {number(measured)}, {how} {number(wanted)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        rows = [dict(zip(self.columns, (plain(cell) for cell in row), strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "bars": self.bars}


def plain(cell: Any) -> Any:
    return asdict(cell) | {"median": cell.median} if isinstance(cell, Seconds) else cell


def number(cell: Any) -> str:
    """Three digits that tell, thousands apart."""
    if not isinstance(cell, float):
        return f"{cell:,}" if isinstance(cell, int) else str(cell)
    if cell != cell:
        return "–"
    return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"


def machine() -> str:
    """The machine in a line."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {cores} cores, {memory:.0f} GB, Python {platform.python_version()}"
