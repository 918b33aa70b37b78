"""Late columns: columns of a table of which some are worked out when they are first asked for.

To count in how many hash tables two products collide takes longer than all else that a table of today's rules needs,
and most tables are never asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from omba.rules.rule_columns import Column


class LateColumns(Mapping[str, Column]):
    """Columns by name.

    Parameters
    ----------
    ready
        Those that are there.
    late
        What works out each of the others; it is called once at most.

    >>> columns = LateColumns({"count": np.array([3, 5])}, {"twice": lambda: np.array([6, 10])})
    >>> columns.take(np.array([1]))["twice"].tolist(), sorted(columns)
    ([10], ['count', 'twice'])
    """

    def __init__(self, ready: Mapping[str, Column], late: Mapping[str, Callable[[], Column]]) -> None:
        self._ready, self._late = dict(ready), dict(late)

    def __getitem__(self, name: str) -> Column:
        if name not in self._ready and name in self._late:
            self._ready[name] = self._late[name]()
        return self._ready[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._ready, *self._late)))

    def __len__(self) -> int:
        return len(self._ready.keys() | self._late.keys())

    def take(self, rows: NDArray[np.integer]) -> LateColumns:
        """The columns at these places; what is late stays so."""
        late = {name: partial(_take_late, self, name, rows) for name in self._late if name not in self._ready}
        return LateColumns({name: values[rows] for name, values in self._ready.items()}, late)


def _take_late(columns: LateColumns, name: str, rows: NDArray[np.integer]) -> Column:
    return np.asarray(columns[name][rows])
