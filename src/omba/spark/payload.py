"""Payload: named arrays as bytes, cut into pieces that fit the cell of a data frame. No pickle, as in snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from safetensors.numpy import load, save

from omba.baskets import Label

Arrays = dict[str, NDArray[Any]]

PIECE = 1 << 24
"""Bytes of a piece: a cell is copied a few times on its way, and small ones can be freed early."""


def to_bytes(arrays: Arrays) -> bytes:
    """Arrays as bytes.

    >>> from_pieces(pieces(to_bytes({"a": np.arange(3)})))["a"].tolist()
    [0, 1, 2]
    """
    content: bytes = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    return content


def pieces(content: bytes) -> list[bytes]:
    """A payload's bytes, cut into pieces."""
    return [content[start : start + PIECE] for start in range(0, len(content), PIECE)]


def from_pieces(parts: Sequence[bytes]) -> Arrays:
    """The arrays of a payload, from its pieces in order; they can be written to."""
    return {name: np.array(array) for name, array in load(b"".join(parts)).items()}


def at_level(arrays: Arrays, level: int) -> Arrays:
    """Those arrays that belong to one level of products, without the prefix that says so.

    >>> list(at_level({"seed": np.zeros(1), "level1.rows": np.zeros(1)}, 1))
    ['rows']
    """
    prefix = f"level{level}."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def label_bytes(labels: Iterable[Label], kind: pa.DataType) -> NDArray[np.uint8]:
    """Labels as an array that travels with the others."""
    table = pa.table({"label": pa.array(list(labels), kind)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)


def labels_of(array: NDArray[np.uint8]) -> pa.Array:
    """The reverse of `label_bytes`."""
    return pa.ipc.open_stream(pa.py_buffer(array.tobytes())).read_all()["label"].combine_chunks()
