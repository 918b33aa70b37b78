"""Gathering: single baskets, put into columns again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from omba.baskets.baskets import Basket, Baskets
from omba.baskets.clock import Clock
from omba.baskets.vocabulary import Label, Vocabulary
from omba.errors import InputError


def gather(given: Sequence[Basket]) -> Baskets:
    """Baskets in columns, in time order; a column of which some baskets know nothing is left empty there.

    >>> gather([Basket(7, ["pasta", "sauce"], user="ann", time=3), Basket(8, ["soap"], time=1)])
    Baskets(2 baskets, 3 items, 3 products, 1 users)
    """
    clock = _find_clock(given)
    if clock is not Clock.NONE:
        given = sorted(given, key=lambda basket: clock.read(basket.time or 0))
    whole = Baskets.from_lists([basket.products for basket in given])
    if len(whole) != len(given):
        raise InputError("a basket holds no products: leave it out")
    users, stores = Vocabulary(), Vocabulary()
    return replace(
        whole,
        user_vocabulary=users,
        store_vocabulary=stores,
        user_codes=_codes(users, [basket.user for basket in given]),
        store_codes=_codes(stores, [basket.store for basket in given]),
        times=None if clock is Clock.NONE else np.array([clock.read(basket.time or 0) for basket in given], np.int64),
        prices=_figures([(basket.prices, len(basket.products)) for basket in given], np.nan),
        quantities=_figures([(basket.quantities, len(basket.products)) for basket in given], 1),
        clock=clock,
    )


def _find_clock(given: Sequence[Basket]) -> Clock:
    kinds = {type(basket.time) for basket in given}
    if kinds == {type(None)}:
        return Clock.NONE
    if len(kinds) > 1:
        raise InputError("some of the baskets tell time by dates, others by days or not at all: keep to one")
    return Clock.DATETIME if issubclass(kinds.pop(), datetime) else Clock.DAY


def _codes(vocabulary: Vocabulary, labels: list[Label | None]) -> NDArray[np.int32] | None:
    known = [label for label in labels if label is not None]
    if not known:
        return None
    vocabulary.add(dict.fromkeys(known))
    return np.array([-1 if label is None else vocabulary.find([label])[0] for label in labels], np.int32)


def _figures(given: list[tuple[list[float] | None, int]], unknown: float) -> NDArray[np.float32] | None:
    if all(figures is None for figures, _ in given):
        return None
    return np.concatenate(
        [np.full(size, unknown, np.float32) if one is None else np.array(one, np.float32) for one, size in given]
    )
