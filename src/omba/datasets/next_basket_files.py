"""Next-basket files: histories and the basket to find, as the public code of next-basket studies keeps them.

A folder has three JSON files, `NAME_history.json` (user → baskets in order), `NAME_future.json` (user → the basket to
find) and `NAME_keyset.json` (the users of `val` and `test`); a user's baskets are framed by `[-1]`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from omba.baskets import Baskets, Label, Vocabulary
from omba.errors import InputError


@dataclass(frozen=True)
class NextBasketFiles:
    """All baskets of a folder, and whose last ones are to be found.

    Parameters
    ----------
    baskets
        Every user's baskets in order, the one to find last; all of those come after everything else.
    test, validation
        Users whose last basket a reported figure is made of, and those that settings are chosen by.
    """

    baskets: Baskets
    test: tuple[Label, ...]
    validation: tuple[Label, ...]


def next_basket(folder: str | Path) -> NextBasketFiles:
    """The files of a folder. They have no dates: the i-th of a user's n visits stands at the moment i / (n + 1).

    That makes one stream of all users, in which each buys from its beginning to its end.
    """
    histories, futures, keys = (_load(Path(folder), kind) for kind in ("history", "future", "keyset"))
    missing = [user for user in histories if user not in futures]
    if missing:
        raise InputError(f"{str(folder)!r} has no basket to find for {len(missing):,} users (first: {missing[0]!r})")
    users = Vocabulary(list(histories))
    visits: list[tuple[float, int, list[Any]]] = []
    for code, user in enumerate(histories):
        past = _inside(histories[user], user)
        moments = [place / (len(past) + 1) for place in range(1, len(past) + 1)]
        visits += zip(moments, [code] * len(past), past, strict=True)
        visits += ((1.0, code, basket) for basket in _inside(futures[user], user)[:1])
    visits.sort(key=lambda visit: visit[:2])
    baskets = Baskets.from_lists(products for _, _, products in visits)
    codes = np.array([code for _, code, products in visits if products], np.int32)
    return NextBasketFiles(
        replace(baskets, user_codes=codes, user_vocabulary=users), tuple(keys["test"]), tuple(keys["val"])
    )


def _load(folder: Path, kind: str) -> dict[str, Any]:
    found = sorted(folder.glob(f"*{kind}.json"))
    if len(found) != 1:
        there = "none" if not found else ", ".join(path.name for path in found)
        raise InputError(f"{str(folder)!r} needs one file that ends in {kind}.json, and has {there}")
    try:
        content = json.loads(found[0].read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{found[0].name} cannot be read as JSON: {error}") from None
    needed = ("test", "val") if kind == "keyset" else ()
    if not isinstance(content, dict) or any(name not in content for name in needed):
        raise InputError(f"{found[0].name} is no object{' with test and val' if needed else ' of users'}")
    return content


def _inside(framed: Any, user: str) -> list[list[Any]]:
    """A user's baskets without their frame, each product once."""
    if not isinstance(framed, list) or not all(isinstance(basket, list) for basket in framed):
        raise InputError(f"user {user!r} has no list of baskets but {str(framed)[:40]!r}")
    return [list(dict.fromkeys(basket)) for basket in framed if basket and basket != [-1]]
