"""Wording: what a code is called in a till, and one and many in what is said about it."""

from __future__ import annotations


def number_of(count: int, one: str, many: str) -> str:
    """So many of them, in the number that goes with it.

    >>> number_of(1, "code is", "codes are"), number_of(1_200, "code is", "codes are")
    ('1 code is', '1,200 codes are')
    """
    return f"{count:,} {one if count == 1 else many}"


def usual_name(named: bool, priced: bool) -> str:
    """The SQL of what a product is mostly called, where a0 is the name; NULL where there are none.

    A line that was not paid is called "damaged" or "lost", so those that were paid decide, where there are some.
    """
    if not named:
        return "NULL::VARCHAR"
    return "coalesce(mode(trim(a0)) FILTER (WHERE price > 0), mode(trim(a0)))" if priced else "mode(trim(a0))"
