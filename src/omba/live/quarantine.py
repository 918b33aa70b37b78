"""Quarantine: baskets that the learner has failed at twice, set aside with the reason, so that learning goes on.

A line of JSON each: the basket, its number in the journal, and what happened. The journal is read again after a crash,
and then they are passed over, so that the same is learned again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Any

from omba.disk import replace
from omba.errors import SnapshotError
from omba.store import ModelFolder

log = logging.getLogger("omba")


class Quarantine:
    """The baskets of a model folder that are not learned.

    Parameters
    ----------
    folder
        The model's folder.
    """

    def __init__(self, folder: ModelFolder) -> None:
        self.file, self._suspects = folder.quarantine_file, folder.suspects_file
        self.lines = self.file.read_bytes().splitlines() if self.file.exists() else []
        self.numbers = {number for line in self.lines if (number := _number(line)) is not None}

    def count(self, before: int) -> int:
        """How many there are, of the baskets before a number."""
        return sum(number < before for number in self.numbers)

    def add(self, baskets: Iterable[tuple[int, bytes]], reason: str) -> None:
        """Set baskets aside, each given by its number and its line in the journal."""
        added = [(number, line) for number, line in baskets if number not in self.numbers]
        for number, line in added:
            self.lines.append(json.dumps({"number": number, "reason": reason, "basket": _read(line)}).encode())
            self.numbers.add(number)
        try:
            replace(self.file, b"".join(line + b"\n" for line in self.lines), 0o600)
        except OSError as error:
            raise SnapshotError(
                f"{str(self.file)!r} could not be written ({error.strerror}): make room there"
            ) from error
        log.warning(
            "%d baskets from number %d on go into quarantine, in %r: %s",
            len(added), added[0][0] if added else -1, str(self.file), reason,
        )  # fmt: skip

    def suspect(self, numbers: list[int]) -> bool:
        """Whether a window with these baskets has failed before; it is noted for the next time."""
        marks = f"{numbers[0]} {numbers[-1]} {len(numbers)}".encode()
        before = self._suspects.read_bytes() if self._suspects.exists() else b""
        if before == marks:
            return True
        replace(self._suspects, marks)
        return False


def _number(line: bytes) -> int | None:
    try:
        return int(json.loads(line)["number"])
    except (ValueError, TypeError, KeyError):
        return None


def _read(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line.decode(errors="replace")
