"""Attributes of products kept in a table of their own, put beside the baskets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from omba.baskets import Baskets


def with_attributes(baskets: Baskets, known: pa.Table) -> Baskets:
    """The baskets with what is known of their products, in the order of the vocabulary."""
    codes = baskets.product_vocabulary.find(known["product"].to_pylist())
    rows = np.flatnonzero(codes >= 0)
    return replace(baskets, attributes=known.take(pa.array(rows[np.argsort(codes[rows])])).combine_chunks())
