"""Folding: a window as a model means it: other codes of a product folded into one, and what is left out left out.

Files are folded where they are read, and live baskets as they come. What reaches a model otherwise, such as baskets
that a program made, is folded here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from omba.baskets.baskets import Baskets
from omba.baskets.identity import Identity


def fold_window(window: Baskets, identity: Identity) -> Baskets:
    """The window with each product under the code it goes by; baskets with nothing left are left out.

    >>> window = Baskets.from_lists([["85123a", "tea"], ["POST"], ["85123A", "85123a"]])
    >>> found = fold_window(window, Identity(fold={"85123a": "85123A"}, exclude=["post"]))
    >>> [basket.products for basket in found]
    [['85123A', 'tea'], ['85123A']]
    """
    if not identity.changes:
        return window
    meant = identity.product_codes(window.product_vocabulary, window.items)
    users = window.user_codes
    if users is not None:
        users = np.append(identity.user_codes(window.user_vocabulary, users), np.int32(-1))[users]
    items = meant[window.items]
    if (items == window.items).all():
        return window if users is None or (users == window.user_codes).all() else replace(window, user_codes=users)
    basket = np.repeat(np.arange(len(window)), window.sizes)
    _, first = np.unique(basket * (int(items.max()) + 2) + items, return_index=True)
    kept = np.sort(first[items[first] >= 0])
    sizes = np.bincount(basket[kept], minlength=len(window))
    some = np.flatnonzero(sizes)
    return replace(
        window,
        offsets=np.append(0, np.cumsum(sizes[some])),
        items=items[kept],
        user_codes=None if users is None else users[some],
        store_codes=None if window.store_codes is None else window.store_codes[some],
        times=None if window.times is None else window.times[some],
        prices=None if window.prices is None else window.prices[kept],
        quantities=None if window.quantities is None else window.quantities[kept],
        ids=None if window.ids is None else window.ids.take(some),
    )
