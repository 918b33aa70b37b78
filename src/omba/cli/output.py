"""Output: a result as JSON where that was asked for, else, or as well, as a table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from omba import terminal


def write_json(value: Any, to: Path | None) -> bool:
    """Write a result as JSON, if asked; True where it took standard output, which then holds nothing else."""
    if to is None:
        return False
    text = json.dumps(_finite(value), indent=1, ensure_ascii=False, default=str)
    if str(to) != "-":
        to.write_text(text + "\n", encoding="utf-8")
        return False
    print(text)
    return True


def give(
    records: Sequence[dict[str, Any]],
    to: Path | None,
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    left: int = 1,
    spare: Sequence[str] = (),
) -> None:
    """The records as JSON, if asked, and the rows as a table unless standard output is taken."""
    if not write_json(records, to):
        terminal.table(title, columns, rows, left, spare)


def _finite(value: Any) -> Any:
    """The value with null for every number that JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value
