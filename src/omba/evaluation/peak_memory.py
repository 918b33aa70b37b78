"""Memory: the most this process holds while a method works, above what it held before."""

from __future__ import annotations

import ctypes
import gc
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

try:
    import resource
except ImportError:  # Windows has none
    resource = None  # type: ignore[assignment]

STATUS = Path("/proc/self/status")


class PeakMemory:
    """The growth of resident memory to its peak, in bytes.

    On Linux the kernel's own mark is set back at the start (`clear_refs`) and read at the end, so no peak is
    missed and nothing slows down. Elsewhere it is the growth of the highest mark since the process began,
    which says 0 for a method that stays below an earlier one; None where there is no such mark.

    >>> with PeakMemory() as peak:
    ...     block = bytearray(64_000_000)
    >>> peak.bytes > 60_000_000
    True
    """

    bytes: int | None = None

    def __enter__(self) -> Self:
        gc.collect()
        with suppress(AttributeError, OSError):  # glibc keeps freed memory, and a method would be given it for nothing
            ctypes.CDLL(None).malloc_trim(0)
        try:
            Path("/proc/self/clear_refs").write_text("5")
            self._before, self._reset = _status("VmRSS"), True
        except OSError:
            self._before, self._reset = _highest(), False
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        highest = _status("VmHWM") if self._reset else _highest()
        if self._before is not None and highest is not None:
            self.bytes = max(highest - self._before, 0)


def _status(field: str) -> int | None:
    for line in STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return None


def _highest() -> int | None:
    if resource is None:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
