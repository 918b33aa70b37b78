"""Failing baskets: which baskets of a window are those that the model fails at, found by halving it.

A window that fails as a whole mostly does so because of one basket in it. Its baskets are learned for a trial, from the
last snapshot and in parts, and only those parts that fail are halved again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from omba.baskets import Baskets, Clock
from omba.live.item_attributes import Attributes
from omba.live.open_window import OpenWindow, Vocabularies
from omba.live.records import tick_of
from omba.model import OMBA

TRIALS = 100
"""Parts that are tried at most: enough for one basket of any window, or for half a dozen of a small one."""


@dataclass(frozen=True)
class WindowTrial:
    """A window of the journal that can be learned in parts, each time by a model of its own.

    Parameters
    ----------
    lines
        Its baskets as they stand in the journal, by number.
    clock, start, stop
        The time it tells and the bounds of the window.
    load
        Gives a model as it was before the window, or nearly.
    """

    lines: Mapping[int, bytes]
    clock: Clock
    start: int | None
    stop: int | None
    load: Callable[[], OMBA]

    def fails(self, numbers: Sequence[int]) -> bool:
        """Whether a model fails at these baskets."""
        model = self.load()
        try:
            model.partial_fit(self._window(model, numbers), allow_late=True)
        except MemoryError:
            raise
        except Exception:
            return True
        return False

    def _window(self, model: OMBA, numbers: Sequence[int]) -> Baskets:
        part, attributes = OpenWindow(Vocabularies()), Attributes()
        for number in numbers:
            basket = model.identity.basket(json.loads(self.lines[number]))
            attributes.add(basket)
            part.add(number, tick_of(basket["time"]), basket)
        return attributes.on(part.window(self.clock, self.start, self.stop))


def find_failing(numbers: Sequence[int], fails: Callable[[Sequence[int]], bool], trials: int = TRIALS) -> list[int]:
    """The numbers that a trial fails with. What fails only together stays together, and so does what is left when there
    were enough trials; where the whole does not fail this time, all of it is given back.

    >>> find_failing(range(1_000), lambda part: 700 in part)
    [700]
    """
    found: list[int] = []
    parts = [list(numbers)]
    while parts:
        part = parts.pop()
        if len(part) == 1:
            found += part
            continue
        halves = [part[: len(part) // 2], part[len(part) // 2 :]]
        trials -= 2
        failing = [half for half in halves if fails(half)] if trials >= 0 else []
        if failing:
            parts += reversed(failing)
        else:
            found += part
    return found
