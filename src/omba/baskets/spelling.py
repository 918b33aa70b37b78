"""Spelling: which values are labels, which texts are whole numbers, and what a price or a quantity is read as.

Labels are text or whole numbers. Where all is text, as in CSV, a column holds whole numbers only if every value comes
back the same when it is read as one and written again: '1201' does, '01201' and '1,201' do not. A fraction of zero is
none: a customer that a spreadsheet wrote as '13085.0' is 13085, or '13085' among text. Every reader decides that by
`are_whole`, or by the same question in SQL.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

from omba.baskets.vocabulary import Label
from omba.errors import InputError

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
ZERO_FRACTION = r"^(-?[0-9]+)\.0+$"
"""A number with a fraction of zero, as a spreadsheet or a data frame with gaps writes a whole one."""
_ZERO_FRACTION = re.compile(ZERO_FRACTION)
WHOLE_SQL = "CAST(try_cast({x} AS BIGINT) AS STRING) = {x}"
"""`is_whole` in SQL, for DuckDB and Spark: whether the text {x}, without a fraction of zero, is a whole number."""

LEAST, MOST = -(2**63), 2**64 - 1
"""Whole numbers that can be labels: what 64 bits hold, with a sign or without."""


def is_whole(text: str) -> bool:
    """Whether a text is a whole number, written as numbers are.

    >>> [is_whole(text) for text in ("1201", "-7", "01201", "--5", "²", "13085.0", "9223372036854775808")]
    [True, True, False, False, False, True, False]
    """
    text = drop_fraction(text)
    return _WHOLE.fullmatch(text) is not None and LEAST <= int(text) < 2**63


def drop_fraction(text: str) -> str:
    """A text without a fraction of zero.

    >>> drop_fraction("13085.0"), drop_fraction("1.5"), drop_fraction("85123A")
    ('13085', '1.5', '85123A')
    """
    return _ZERO_FRACTION.sub(r"\1", text) if ".0" in text else text


def as_whole(text: str) -> Label:
    """The number that a text spells; the text itself where it spells none."""
    return int(drop_fraction(text)) if is_whole(text) else text


def are_whole(texts: Iterable[str]) -> bool:
    """Whether a column of text, without its gaps, holds whole numbers; a column of gaps does not say."""
    found = False
    for text in texts:
        if not is_whole(text):
            return False
        found = True
    return found


def as_label(value: object, place: str, role: str = "product") -> Label | None:
    """A value as a label; None, NaN and empty text are none. Whole numbers may come as floats, as pandas has them.

    >>> as_label(7.0, "row 1"), as_label("07", "row 1"), as_label("", "row 1")
    (7, '07', None)
    """
    if isinstance(value, str):
        return drop_fraction(str(value)) or None
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        if LEAST <= value <= MOST:
            return int(value)
    elif value is None or value != value:
        return None
    elif isinstance(value, float | np.floating) and abs(float(value)) < 2**63 and float(value).is_integer():
        return int(value)
    raise InputError(f"{place} holds the {role} {value!r}: a {role} is text or a whole number")


def as_number(value: object) -> float | None:
    """A price or a quantity; None where there is none, or it is not finite. Anything else is a ValueError.

    >>> as_number(" 2.50 "), as_number(""), as_number("inf"), as_number(3)
    (2.5, None, None, 3.0)
    """
    if value is None:
        return None
    if isinstance(value, str):
        if not value.strip():
            return None
        if not value.isascii():
            raise ValueError(value)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(value)
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
