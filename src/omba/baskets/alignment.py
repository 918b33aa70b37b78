"""Alignment: what is known of products, in the order of the vocabulary."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from omba.baskets.vocabulary import Vocabulary


def align(attributes: pa.Table, vocabulary: Vocabulary) -> pa.Table:
    """The attributes with a row for each product of the vocabulary, in its order; null where nothing is known.

    >>> table = pa.table({"product": ["soap", "pasta"], "department": ["care", "food"]})
    >>> align(table, Vocabulary(["pasta", "beer"])).to_pylist()
    [{'product': 'pasta', 'department': 'food'}, {'product': 'beer', 'department': None}]
    """
    codes = vocabulary.find(attributes["product"].to_pylist())
    rows = np.full(len(vocabulary), -1)
    rows[codes[codes >= 0]] = np.flatnonzero(codes >= 0)
    ordered = attributes.take(pa.array(rows, mask=rows < 0)).combine_chunks()
    return ordered.set_column(0, "product", pa.array(list(vocabulary), attributes.schema.field("product").type))
