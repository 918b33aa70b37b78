"""Keys: a rule's name in an address: its products, both sides, as text that fits a URL and can be read back."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence

from pydantic_core import to_json

from omba.baskets import Label
from omba.errors import UnknownError

Sides = tuple[tuple[Label, ...], tuple[Label, ...]]


def key_of(antecedents: Sequence[Label], consequents: Sequence[Label]) -> str:
    """The key of a rule; the same products on the same sides give the same key, in any model.

    >>> read_key(key_of(["tea", 7], ["milk"]))
    (('tea', 7), ('milk',))
    """
    text = to_json([list(antecedents), list(consequents)])
    return urlsafe_b64encode(text).decode().rstrip("=")


def read_key(key: str) -> Sides:
    """The products of a rule, by its key."""
    try:
        sides = json.loads(urlsafe_b64decode(key.encode("ascii") + b"=" * (-len(key) % 4)))
        antecedents, consequents = (tuple(side) for side in sides)
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise UnknownError(f"{key[:40]!r} is no key of a rule: take one from /rules") from None
    items = (*antecedents, *consequents)
    if not antecedents or not consequents or not all(type(item) in (str, int) for item in items):
        raise UnknownError(f"{key[:40]!r} is no key of a rule: take one from /rules")
    return antecedents, consequents
