"""The few exceptions. Each message is one sentence that tells the value, its bound or place, and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class OmbaError(Exception):
    """Anything a user can mend; the command line prints it and exits with status 2."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else type(self).__name__


class InputError(OmbaError, ValueError):
    """Data or an argument that cannot be used as given."""


class SettingError(OmbaError, ValueError):
    """A setting out of its bounds."""


class UnknownError(OmbaError, KeyError):
    """A product, user or name that is not known here."""


class SnapshotError(OmbaError):
    """A saved model that is missing, cut off, tampered with or of another version."""


class StoreError(OmbaError):
    """A journal or a folder that cannot be read, written or shared as it is."""


class SparkError(OmbaError):
    """Work that failed on Spark; the message tells the cause."""


class MissingExtraError(OmbaError, ImportError):
    """A feature whose optional packages are not installed."""


LONGEST = 200
"""Letters of a name that is compared with others, or repeated in a sentence."""


def shorten(name: object) -> str:
    """What was given, as a sentence repeats it: quoted, and cut where it is long.

    >>> shorten("tea"), len(shorten("tea" * 10_000))
    ("'tea'", 201)
    """
    text = repr(name[: LONGEST + 1] if isinstance(name, str) else name)
    return text if len(text) <= LONGEST + 2 else f"{text[:LONGEST]}…"


def nearest(name: object, known: Iterable[object], n: int = 3) -> str:
    """A phrase that suggests the nearest known names, or nothing.

    >>> nearest("prodct", ["product", "price"])
    "; did you mean 'product'?"
    """
    if len(str(name)) > LONGEST:
        return ""
    texts = {text.casefold(): text for text in map(str, known) if len(text) <= LONGEST}
    close = get_close_matches(str(name).casefold(), list(texts), n=n, cutoff=0.6)
    if not close:
        return ""
    return "; did you mean " + " or ".join(repr(texts[c]) for c in close) + "?"
