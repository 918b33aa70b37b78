"""Gaps: numbers of baskets that the journal lost, and that a person has said to go on without."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from omba.disk import replace

FILE = "gaps.json"
Gap = tuple[int, int]
"""The first basket that is gone, and the first one that is there again."""


def read(folder: Path) -> list[Gap]:
    """The gaps of a journal, in order; none where nobody has accepted one."""
    try:
        return sorted((int(first), int(after)) for first, after in json.loads((folder / FILE).read_bytes()))
    except FileNotFoundError:
        return []
    except (ValueError, TypeError):
        # Without it the gaps are said again, and can be accepted again.
        return []


def write(folder: Path, gaps: Iterable[Gap]) -> None:
    """Keep the gaps of a journal."""
    replace(folder / FILE, json.dumps(sorted(set(gaps))).encode())


def skip(gaps: Iterable[Gap], number: int) -> int:
    """The basket itself, or the first one after the gap it lies in.

    >>> skip([(3, 5), (5, 9)], 4), skip([(3, 5)], 2)
    (9, 2)
    """
    for first, after in sorted(gaps):
        if first <= number < after:
            number = after
    return number
