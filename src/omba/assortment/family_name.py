"""Family name: what a family is called, by the words that its members share and those that tell them apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+(?:['.][^\W_]+)*|&")
LISTED = 4
"""Words that tell members apart are listed up to so many."""
MOST_OF_THEM = 0.8
"""The share of members that a word of the family's name is in."""


def family_name(names: Sequence[str]) -> str:
    """What a family is called; names come with the best seller first.

    >>> family_name(["DOOR SIGN No 2", "DOOR SIGN No 0", "DOOR SIGN No 1"])
    'DOOR SIGN No 0–2'
    >>> family_name(["RED PURSE", "BLUE PURSE"])
    'PURSE RED, BLUE'
    >>> family_name(["CHERRY LIGHTS", "TEA POT", "SPOON"])
    'CHERRY LIGHTS and 2 more'
    """
    split = [_WORD.findall(name) for name in names]
    lower = [[word.casefold() for word in each] for each in split]
    held = Counter(word for each in lower for word in set(each))
    least = max(2.0, MOST_OF_THEM * len(names))
    shared = {word for word, number in held.items() if number >= least}
    kept = [word for word in split[0] if word.casefold() in shared]
    if not any(len(word) > 1 and not word.isdigit() for word in kept):
        others = len(names) - 1
        return f"{names[0]} and {others} more"
    apart = [
        " ".join(w for w, low in zip(*each, strict=True) if low not in shared)
        for each in zip(split, lower, strict=True)
    ]
    return " ".join([" ".join(kept), _variants(apart)]).strip()


def _variants(apart: Sequence[str]) -> str:
    """What tells the members apart, in short."""
    texts = list(dict.fromkeys(text for text in apart if text))
    if texts and len(texts) == len(apart) and all(text.isdigit() for text in texts):
        numbers = sorted(map(int, texts))
        if numbers[-1] - numbers[0] == len(numbers) - 1:
            return f"{numbers[0]}–{numbers[-1]}"
        return _enumerate([str(number) for number in numbers])
    return _enumerate(texts)


def _enumerate(texts: Sequence[str]) -> str:
    if not texts:
        return ""
    if len(texts) <= LISTED and sum(map(len, texts)) <= 40:
        return ", ".join(texts)
    for first in (2, 1):
        shown = ", ".join(texts[:first])
        if len(shown) <= 40:
            return f"{shown}, …"
    return "…"
