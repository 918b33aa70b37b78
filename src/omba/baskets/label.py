"""Label: what somebody typed, read as the label of a product or a user. Every door reads labels here."""

from __future__ import annotations

import re
from collections.abc import Container

from omba.baskets.spelling import drop_fraction
from omba.baskets.vocabulary import Label

WHOLE = re.compile("-?[0-9]{1,20}")
"""A whole number of 64 bits, in plain digits: `str.isdigit` would let '²' and digits of other scripts pass."""


def find_label(name: Label, known: Container[Label]) -> Label | None:
    """The known label that a name stands for: itself, the number a text spells, or the text of a number; else None.

    >>> find_label("7", {7: 0}), find_label("7", {"7": 0, 7: 1}), find_label(7, {"7": 0}), find_label("7.0", {7: 0})
    (7, '7', '7', 7)
    >>> [find_label(name, {5: 0}) for name in ("²", "--5", "5" * 5000)]
    [None, None, None]
    """
    if name in known:
        return name
    text = drop_fraction(str(name))
    if text in known:
        return text
    if WHOLE.fullmatch(text) and (number := int(text)) in known:
        return number
    return None
