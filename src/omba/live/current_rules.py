"""Current rules: what is published of a model, worked out once per state and kept current as windows come.

What is published is the best rules, and after them the best of the rare and of the unseen, which hardly ever are among
those. The best are kept by `Standing`, which scores only the pairs that a window has changed; the rare and the unseen
are mined when they are asked for. Every `LOOK` windows all is exactly as a look over everything finds it. In between at
least 99 of 100 rules are the same, which a test holds on a synthetic world; where a model has learned so little that
many rules are equal, others of these may come last.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from omba.baskets import Baskets
from omba.errors import InputError
from omba.model import OMBA
from omba.rules.filter import Filter
from omba.rules.from_model import mining_input
from omba.rules.mine import mine
from omba.rules.mining_input import MiningInput
from omba.rules.nearest import MIN_COUNT
from omba.rules.rules import Rules, join_tables
from omba.rules.standing import Standing

RULES = 1_000
"""Rules published: enough to tell one that has gone from one that slipped a few places."""
SELDOM = 10
"""One of so many is a rare rule, and another an unseen one."""
KNOWN = 1_000
"""Both products of an unseen pair were in a basket of so many: of rarer ones, that they never met says little."""
LOOK = 30
"""Windows after which all pairs are looked at again."""


class CurrentRules:
    """The rules of a model that goes on learning. Asked twice of one state, they are worked out once.

    Parameters
    ----------
    every
        Windows after which all pairs are looked at again.
    """

    def __init__(self, every: int = LOOK) -> None:
        self._standing = Standing(best_count(), every)
        self._state: tuple[int, int] | None = None
        self._noted, self._follows = 0, False
        self._rules: Rules | None = None

    def note(self, model: OMBA, window: Baskets) -> None:
        """Take note of a window that the model has just learned, so that only what it changed need be scored."""
        self._standing.note(model, window)
        self._noted, self._follows = self._noted + 1, True

    def on_the_way(self, model: OMBA) -> Rules | None:
        """The rules to remember of a moment in the middle of learning: all of them where they are kept current anyway,
        else the best alone, since others follow at once."""
        return self.of(model) if self._follows else look_over(model, seldom=False)

    def of(self, model: OMBA) -> Rules | None:
        """The rules of the model as it is; None where it has hardly begun."""
        state = (model.n_windows, model.n_baskets)
        if state != self._state:
            if self._state is None or self._state[0] + self._noted != model.n_windows:
                # Something was learned without a note of it: any pair may have changed.
                self._standing.forget()
            self._rules = (
                compose(model, lambda given: self._standing.rules(model, given)) if self._follows else look_over(model)
            )
            self._state, self._noted = state, 0
        return self._rules


def look_over(model: OMBA, seldom: bool = True) -> Rules | None:
    """The rules to be published of a model of which nothing is known yet: all its pairs are looked at.

    Without the `seldom` ones, rare and unseen, it takes half the time.
    """
    return compose(model, lambda given: mine(given, best_count()), seldom)


def compose(model: OMBA, best: Callable[[MiningInput], Rules], seldom: bool = True) -> Rules | None:
    """The best rules, as they are found, and the rare and unseen ones after them; None where there are none yet.

    All are mined from one input, so that the nearest pairs are looked for once, and F and H are the same in all.
    """
    with suppress(InputError), quietly():
        given = mining_input(model)
        tables = [best(given)]
        asked = (("rare", MIN_COUNT), ("unseen", max(MIN_COUNT, model.n_baskets // KNOWN))) if seldom else ()
        for status, least in asked:
            with suppress(InputError):
                tables.append(mine(given, RULES // SELDOM, where=Filter(status=status), min_count=least))
        return join_tables(tables)
    return None


def best_count() -> int:
    """How many of the rules are the best ones; the others are rare or unseen."""
    return RULES - 2 * (RULES // SELDOM)


@contextmanager
def quietly() -> Iterator[None]:
    """Leave out notes on how many rules there are: nobody has asked for them here."""
    logger = logging.getLogger("omba")
    logger.addFilter(hush)
    try:
        yield
    finally:
        logger.removeFilter(hush)


def hush(record: logging.LogRecord) -> bool:
    return False
