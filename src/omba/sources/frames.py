"""Data frames: pandas, polars, Arrow and whatever else narwhals or the Arrow interface can see."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from omba.errors import InputError
from omba.sources.engine import Engine
from omba.sources.source import Source


def is_frame(source: object) -> bool:
    """Whether the source is a table of some kind."""
    known = nw.dependencies.is_into_dataframe(source) or nw.dependencies.is_into_lazyframe(source)
    return known or hasattr(source, "__arrow_c_stream__")


class FrameSource(Source):
    """A data frame; only the columns in use are converted.

    Parameters
    ----------
    frame
        Anything that narwhals knows, or that has the Arrow interface.
    """

    title = "the data frame"

    def __init__(self, frame: Any) -> None:
        super().__init__()
        try:
            known = nw.dependencies.is_into_dataframe(frame) or nw.dependencies.is_into_lazyframe(frame)
            self.frame: Any = nw.from_native(frame if known else pa.table(frame))
        except nw.exceptions.NarwhalsError as error:
            said = " ".join(str(error).split())
            raise InputError(f"the data frame cannot be read ({said}): give it plain, distinct column names") from None
        if isinstance(self.frame, nw.LazyFrame):
            self.frame = self.frame.collect("pyarrow")
        if len(self.frame) == 0:
            raise InputError("the data frame has no rows: give one with at least a basket in it")
        self.keys = {str(name): name for name in self.frame.columns}
        self.columns = {
            name: "[]" if _holds_lists(self.frame.get_column(key)) else "" for name, key in self.keys.items()
        }

    def load(self, engine: Engine, names: list[str]) -> str:
        arrays = [self._arrow(name) for name in names]
        rows = pa.array(np.arange(len(self.frame)))
        table = pa.table([*arrays, rows], [*(f"c{i}" for i in range(len(names))), "row"])
        engine.connection.register("frame", table)
        self.columns |= {name: kind[1] for name, kind in zip(names, engine.execute("DESCRIBE frame"), strict=False)}
        return "frame"

    def place(self, engine: Engine, row: int) -> str:
        return f"row {row + 1:,}"

    def _arrow(self, name: str) -> pa.Array:
        column = self.frame.get_column(self.keys[name])
        if column.dtype != nw.Object:
            native = column.to_native()
            return native if isinstance(native, pa.ChunkedArray) else column.to_arrow()
        values = column.to_list()
        if any(isinstance(value, datetime) and value.tzinfo for value in values):
            # As text, since Arrow would take times without a zone for UTC among times with one.
            return pa.array([value.isoformat() if isinstance(value, datetime) else None for value in values])
        try:
            return pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            self.notes.append(f"{name!r} mixes numbers and text: all of it was taken as text")
            return pa.array([None if value is None or value != value else str(value) for value in values])


def _holds_lists(column: Any) -> bool:
    if column.dtype == nw.Object:
        return isinstance(next(iter(column.drop_nulls().head(1).to_list()), None), list | tuple | np.ndarray)
    return column.dtype in (nw.List, nw.Array)
