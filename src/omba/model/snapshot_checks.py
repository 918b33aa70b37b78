"""Snapshot checks: what each array of a snapshot must look like, so that none leads the learner out of bounds.

Checksums tell that a snapshot is as it was written, not that whoever wrote it meant well. So before anything is made of
its arrays, their kinds, shapes, bounds and finiteness are compared with this table. An array that is added to snapshots
gets a line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model.calibration import START
from omba.model.clues import COMPLETE, NEXT
from omba.model.memory import PLACES
from omba.model.network import HIDDEN, TABLES
from omba.model.questions import ANONYMOUS
from omba.model.seasons import FORTNIGHTS, UNMET
from omba.model.weekly_sales import STORES

Size = str | int | None
BLENDS = COMPLETE.name, NEXT.name


@dataclass(frozen=True)
class ArrayCheck:
    """What one array must be.

    Parameters
    ----------
    kind
        The name of its type.
    shape
        The length of each side: a number, the name of a size of the model, or None for any.
    least, below
        Bounds of whole numbers: the least one, and a number or the name of a size that all are below.
    finite
        Whether all its numbers must be finite.
    shorter
        Whether the first side may be shorter than that: what is counted of products only as they come.
    """

    kind: str
    shape: tuple[Size, ...] = (None,)
    least: int | None = None
    below: Size = None
    finite: bool = True
    shorter: bool = False

    def problem(self, array: NDArray[Any], sizes: Mapping[str, int]) -> str | None:
        """What is wrong with an array, if anything is."""
        if array.dtype.name != self.kind:
            return f"holds {array.dtype.name} instead of {self.kind}"
        wanted = [sizes[side] if isinstance(side, str) else side for side in self.shape]
        fits = len(wanted) == array.ndim and all(
            side is None or side == length or (place == 0 and self.shorter and length < side)
            for place, (side, length) in enumerate(zip(wanted, array.shape, strict=True))
        )
        if not fits:
            shown = " x ".join("any" if side is None else f"{side:,}" for side in wanted)
            return f"is {' x '.join(map(str, array.shape))} large instead of {shown}"
        if not array.size:
            return None
        if array.dtype.kind == "f":
            return "holds numbers that are not finite" if self.finite and not np.isfinite(array).all() else None
        below = sizes[self.below] if isinstance(self.below, str) else self.below
        if self.least is not None and array.min() < self.least:
            return f"holds {array.min()}, less than {self.least}"
        return (
            f"holds {array.max()}, which is not below {below}" if below is not None and array.max() >= below else None
        )


def counts(side: Size, shorter: bool = False) -> ArrayCheck:
    """Whole numbers from zero on, one for each."""
    return ArrayCheck("int64", (side,), least=0, shorter=shorter)


def _space(level: int, rows: str) -> dict[str, ArrayCheck]:
    checks = {
        "products": ArrayCheck("float32", (rows, "dim")),
        "squares": ArrayCheck("float32", (rows, "dim")),
        "users": ArrayCheck("float32", ("users", "dim")),
        "user_squares": ArrayCheck("float32", ("users", "dim")),
        "counts": counts(rows),
        "user_counts": counts("users"),
        "recent": ArrayCheck("float64", (rows,)),
        "company": counts(rows),
        "today": ArrayCheck("int64", (1,), least=-(2**31), below=2**31),
        "memory_rows": ArrayCheck("int32", least=0, below=rows),
        "memory_strength": ArrayCheck("float32"),
        **{f"memory_{name}": ArrayCheck("int32", least=0) for name in ("counts", "last_visit")},
        **{f"memory_{name}": ArrayCheck("int32") for name in ("first_day", "last_day")},
        "memory_lengths": counts("users"),
        "memory_mass": ArrayCheck("float32", ("users",)),
        "memory_totals": ArrayCheck("int32", ("users", 3), least=0),
    }
    return {f"space{level}.{name}": check for name, check in checks.items()}


CHECKS: dict[str, ArrayCheck] = {
    **_space(0, "products"),
    **_space(1, "categories"),
    "parents": ArrayCheck("int32", ("products",), least=-1, below="categories", shorter=True),
    "evidence.sizes": counts(4),
    "evidence.counts": counts("products", shorter=True),
    "evidence.keys": ArrayCheck("uint64"),
    "evidence.values": ArrayCheck("uint64"),
    "evidence.trace": ArrayCheck("uint64"),
    "sets.members": ArrayCheck("int32", (None, 3), least=0, below="products"),
    "sets.watched": counts(None),
    "sets.since": counts(None),
    "sets.looked": counts(1),
    "sets.triples": ArrayCheck("int32", (None, 3), least=0, below="products"),
    "sets.values": ArrayCheck("uint64"),
    "sets.sizes": counts(3),
    "sets.let_go": ArrayCheck("float64", (1,)),
    "sets.sellers": ArrayCheck("int32", (None,), least=0, below="products"),
    "sets.sellers_counts": ArrayCheck("uint32", (None,)),
    "sets.sellers_exact": counts(None),
    "sets.told": counts(1),
    "seasons.sold": ArrayCheck("float32", ("products", FORTNIGHTS), shorter=True),
    "seasons.first": ArrayCheck("int32", ("products",), shorter=True),
    "seasons.baskets": ArrayCheck("float64", (FORTNIGHTS,)),
    "seasons.earlier": ArrayCheck("float32", ("products", FORTNIGHTS), shorter=True),
    "seasons.earlier_baskets": ArrayCheck("float64", (FORTNIGHTS,)),
    "seasons.year": ArrayCheck("int64", (FORTNIGHTS,), least=UNMET, below=-UNMET),
    "namesakes.rows": ArrayCheck("int32", least=0, below="products"),
    "namesakes.words": ArrayCheck("int64", least=0, below=2**32),
    "weekly_sales.weeks": ArrayCheck("int64", least=-(2**31), below=2**31),
    "weekly_sales.lengths": counts(None),
    "weekly_sales.baskets": ArrayCheck("int64", (None, STORES), least=0),
    "weekly_sales.keys": counts(None),
    "weekly_sales.sold": ArrayCheck("int32", least=0),
    "weekly_sales.price": ArrayCheck("float32", finite=False),
    "weekly_sales.stores": ArrayCheck("int64", least=0, below=2**32),
    "prices.histogram": counts(None),
    "prices.sums": ArrayCheck("float64", ("products",), shorter=True),
    "prices.numbers": counts("products", shorter=True),
    "prices.more": ArrayCheck("float64", ("products",), shorter=True),
    "prices.anchor": ArrayCheck("float64", (1,)),
    "blend.weights": ArrayCheck("float64"),
    "blend.hessian": ArrayCheck("float64", (None, None)),
    **{f"network.{name}": ArrayCheck("float32", (None, HIDDEN)) for name in TABLES},
    **{f"network.{name}": ArrayCheck("float64") for name in ("mean", "square")},
    "network.counts": counts(2),
    **{
        f"questions.{part}.{name}.{what}": ArrayCheck("float64", sides)
        for part, names in (("blend", BLENDS), ("calibration", (*BLENDS, ANONYMOUS)))
        for name in names
        for what, sides in (("weights", (None,)), ("hessian", (None, None)))
    },
    **{
        f"questions.calibration.{name}.{what}": ArrayCheck("float64", sides)
        for name in (*BLENDS, ANONYMOUS)
        for what, sides in (("offset", (2,)), ("seen", (2, len(START))))
    },
    "forecast.sizes": counts(3),
    "forecast.theta": ArrayCheck("float64"),
    "forecast.information": ArrayCheck("float64", (None, None)),
    "forecast.counting": ArrayCheck("float64"),
    "forecast.counting_information": ArrayCheck("float64", (None, None)),
    "forecast.scored": ArrayCheck("float64", (None, None, None)),
    **{f"forecast.{name}": ArrayCheck("float64") for name in ("rising", "falling", "timing")},
    "forecast.level": ArrayCheck("float64", (1,)),
    "forecast.fair": ArrayCheck("bool"),
    "forecast.foreseen": ArrayCheck("float64"),
    "forecast.even": ArrayCheck("bool"),
    "forecast.recent": ArrayCheck("float64", ("products",), shorter=True),
    "forecast.recent_baskets": ArrayCheck("float64", (1,)),
    "forecast.recent_sizes": ArrayCheck("float64", (2, 3)),
    "forecast.baskets": counts(2),
    "forecast.sold": counts("products", shorter=True),
    "forecast.a": ArrayCheck("int32", least=0, below="products"),
    "forecast.b": ArrayCheck("int32", least=0, below="products"),
    "forecast.cosine": ArrayCheck("float64"),
    **{f"forecast.{name}": counts(None) for name in ("later", "n_a", "n_b", "n_ab")},
}
"""The arrays of a snapshot, by name."""

SAME_LENGTH = (
    ("evidence.keys", "evidence.values"),
    ("sets.members", "sets.watched", "sets.since"),
    ("sets.triples", "sets.values"),
    ("sets.sellers", "sets.sellers_exact"),
    ("prices.sums", "prices.numbers", "prices.more"),
    ("seasons.sold", "seasons.first", "seasons.earlier"),
    ("namesakes.rows", "namesakes.words"),
    ("weekly_sales.weeks", "weekly_sales.lengths", "weekly_sales.baskets"),
    ("weekly_sales.keys", "weekly_sales.sold", "weekly_sales.price"),
    *(tuple(f"space{level}.memory_{name}" for name in PLACES) for level in (0, 1)),
    (
        "forecast.a",
        "forecast.b",
        "forecast.cosine",
        "forecast.later",
        "forecast.n_a",
        "forecast.n_b",
        "forecast.n_ab",
        "forecast.foreseen",
        "forecast.rising",
        "forecast.falling",
        "forecast.timing",
        "forecast.even",
        "forecast.fair",
    ),
)
"""Arrays that are columns of one table."""


def check_arrays(arrays: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]) -> None:
    """Refuse arrays that are not what a model of these sizes has; `sizes` has products, users, categories and dim."""
    for name, array in arrays.items():
        found = CHECKS[name].problem(array, sizes) if name in CHECKS else None
        if found:
            raise ValueError(f"{name} {found}")
    if "space1.counts" in arrays and len(arrays["parents"]) != sizes["products"]:
        # Without a space of categories none are looked up.
        raise ValueError("parents does not tell the category of every product")
    for columns in SAME_LENGTH:
        if len({len(arrays[name]) for name in columns if name in arrays}) > 1:
            raise ValueError(f"{' and '.join(columns)} are not of the same length")
    keys = arrays["evidence.keys"]
    if (
        len(keys)
        and max(int((keys >> np.uint64(32)).max()), int((keys & np.uint64(2**32 - 1)).max())) >= sizes["products"]
    ):
        raise ValueError("evidence.keys tells of pairs of products that are not there")
