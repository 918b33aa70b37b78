"""Cleaning: what a reader is told, or finds out, of codes that are one product, of lines that are none, of nobodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path

from omba.baskets.identity import Identity
from omba.errors import InputError
from omba.sources.twins import flatten, read_fold

AUTO, NONE = "auto", "none"
"""Ask for all that is found; and that nothing be left out, not even what is no product beyond doubt."""


@dataclass(frozen=True)
class Cleaning:
    """What to fold and to leave out while reading.

    Parameters
    ----------
    fold
        Codes and the ones they are folded into: a mapping, or a CSV file of two columns; `auto` finds them.
    exclude
        Products to leave out: patterns such as `POST` and `gift_*`, in a list, in a text apart by commas, or in a file
        with one a line; `auto` leaves out all that seems to be no product, `none` not even what is none beyond doubt.
    known
        What a model remembers of earlier files; it holds here too.
    """

    fold: Mapping[str, str] | str | Path | None = None
    exclude: Sequence[str] | str | Path | None = None
    known: Identity = field(default_factory=Identity)

    @property
    def folds_itself(self) -> bool:
        """Whether codes to fold are to be found."""
        return self.fold == AUTO

    @property
    def excludes_itself(self) -> bool:
        """Whether what is no product is to be found."""
        return AUTO in self._patterns()

    @property
    def excludes_sure(self) -> bool:
        """Whether what is no product beyond doubt is left out."""
        return NONE not in self._patterns()

    def identity(self) -> Identity:
        """What is known before a row is read."""
        given: dict[str, str] = {}
        if isinstance(self.fold, Mapping):
            given = {str(code): str(target) for code, target in self.fold.items()}
        elif self.fold is not None and self.fold != AUTO:
            given = read_fold(self.fold)
        patterns = [pattern for pattern in self._patterns() if pattern not in (AUTO, NONE)]
        known = self.known
        return Identity(
            dict(known.kinds),
            flatten({**known.fold, **given}),
            list(dict.fromkeys([*known.exclude, *patterns])),
            list(known.nobody),
        )

    def _patterns(self) -> list[str]:
        if self.exclude is None:
            return []
        if not isinstance(self.exclude, str | Path):
            return [str(pattern) for pattern in self.exclude]
        text = str(self.exclude)
        path = Path(text).expanduser()
        if isinstance(self.exclude, Path) or ("," not in text and path.suffix and path.is_file()):
            try:
                lines = path.read_text(encoding="utf-8-sig").splitlines()
            except OSError as error:
                raise InputError(f"the patterns {text!r} cannot be read ({error.strerror}): check the path") from None
            return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        return [pattern.strip() for pattern in text.split(",") if pattern.strip()]


def as_pattern(code: str) -> str:
    """The pattern that a code alone meets."""
    return escape(code)
