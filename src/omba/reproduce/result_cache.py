"""Result cache: finished parts kept on disk, so that a run that was stopped goes on where it was.

A part is a JSON file; it is written beside its place and then moved there, so that a stop leaves a whole part or none.
Parts made under different settings (quick or in full, another seed or version) lie in different folders.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from omba.disk import replace
from omba.reproduce.result import Result


class ResultCache:
    """The parts of one setting of the run.

    Parameters
    ----------
    folder
        The folder they lie in.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> Any | None:
        """A part by its name, or None; one that cannot be read is as good as none."""
        try:
            return json.loads(self._path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, name: str, value: Any) -> None:
        """Keep a part."""
        write_whole(self._path(name), json.dumps(finite(value), ensure_ascii=False) + "\n")

    def result(self, name: str) -> Result | None:
        """The result of an experiment, or None where it or one of its pictures is missing."""
        kept = self.get(name)
        try:
            return kept and Result.from_dict(kept, {p["name"]: self._read(p["name"]) for p in kept["pictures"]})
        except (OSError, KeyError, TypeError):
            return None

    def keep(self, name: str, result: Result) -> None:
        """Keep a result: its pictures first, so that they are there when it is."""
        for picture in result.pictures:
            write_whole(self.folder / f"{picture.name}.svg", picture.svg)
        self.put(name, result.to_dict())

    def _read(self, picture: str) -> str:
        return (self.folder / f"{picture}.svg").read_text(encoding="utf-8")

    def _path(self, name: str) -> Path:
        return self.folder / f"{re.sub(r'[^A-Za-z0-9._=-]+', '_', name)}.json"


def write_whole(path: Path, text: str) -> None:
    """Write a file so that others see all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, text.encode())


def finite(value: Any) -> Any:
    """The value with null for every number that JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    return [finite(one) for one in value] if isinstance(value, list | tuple) else value
