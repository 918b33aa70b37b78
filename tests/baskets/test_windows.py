"""Windows: every basket in one of them, in time order, wherever the stream begins."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import groupby, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omba.baskets import Baskets, Clock, Every
from omba.baskets.windows import DEFAULT_COUNT
from omba.errors import InputError
from omba.sources import read_baskets


def timed(moments: list[datetime]) -> Baskets:
    """A basket of one product at each moment, without going through a reader."""
    ticks = np.sort(np.array(moments, "datetime64[us]").astype(np.int64))
    one = Baskets.from_lists([["a"]] * len(moments))
    return Baskets(one.offsets, one.items, one.product_vocabulary, times=ticks, clock=Clock.DATETIME)


PLAIN = {
    "1d": lambda t: t.date(),
    "1h": lambda t: (t.date(), t.hour),
    "week": lambda t: t.isocalendar()[:2],
    "month": lambda t: (t.year, t.month),
    "2 months": lambda t: (t.year, (t.month - 1) // 2),
    "7d": lambda t: (t - datetime(1970, 1, 1)).days // 7,
    "30m": lambda t: (t.date(), t.hour, t.minute // 30),
}


@settings(deadline=None)
@given(st.lists(st.datetimes(datetime(1960, 1, 1), datetime(2040, 1, 1)), min_size=1), st.sampled_from(sorted(PLAIN)))
def test_windows_are_what_the_calendar_says(moments: list[datetime], every: str) -> None:
    windows = list(timed(moments).windows(every))
    expected = [len(list(group)) for _, group in groupby(sorted(moments), PLAIN[every])]
    assert [len(window) for window in windows] == expected
    for window in windows:
        assert window.start is not None
        assert window.stop is not None
        assert window.start <= window.times.min() <= window.times.max() < window.stop
    assert all(a.stop <= b.start for a, b in pairwise(windows))


def test_weeks_begin_on_monday_and_months_on_the_first() -> None:
    (week,) = timed([datetime(2017, 1, 4)]).windows("week")
    assert (week.clock.show(week.start), week.clock.show(week.stop)) == (datetime(2017, 1, 2), datetime(2017, 1, 9))
    (month,) = timed([datetime(2017, 2, 4)]).windows("month")
    assert (month.clock.show(month.start), month.clock.show(month.stop)) == (datetime(2017, 2, 1), datetime(2017, 3, 1))


def test_spans_with_no_basket_are_passed_over() -> None:
    day = datetime(2017, 1, 1)
    assert [len(w) for w in timed([day, day + timedelta(days=9)]).windows("1d")] == [1, 1]


def test_day_numbers_are_cut_by_days() -> None:
    baskets = read_baskets(pd.DataFrame({"basket": range(5), "product": "a", "day": [0, 1, 6, 7, 30]}))
    assert [len(w) for w in baskets.windows("1d")] == [1, 1, 1, 1, 1]
    assert [(len(w), w.start, w.stop) for w in baskets.windows("7d")] == [(3, 0, 7), (1, 7, 14), (1, 28, 35)]
    assert [(len(w), w.start, w.stop) for w in baskets.windows("month")] == [(4, 0, 30), (1, 30, 60)]
    with pytest.raises(InputError, match="finer than these baskets, which count whole days"):
        list(baskets.windows("1h"))


def test_without_a_clock_a_window_is_a_number_of_baskets() -> None:
    baskets = Baskets.from_lists([["a"]] * (DEFAULT_COUNT + 1))
    assert [len(w) for w in baskets.windows("1d")] == [DEFAULT_COUNT, 1]
    assert [len(w) for w in baskets.slice(0, 5).windows(2)] == [2, 2, 1]
    assert [len(w) for w in baskets.slice(0, 5).windows("4")] == [4, 1]


@pytest.mark.parametrize("every", ["", "0d", "1y", "day 1", "-1", 0, "1.5h", "fortnight"])
def test_a_span_that_is_not_known_gets_a_sentence(every: str | int) -> None:
    with pytest.raises(InputError, match="is not known: write '1d', '1h', '7d', 'week', 'month', or a number"):
        Every.parse(every)


@pytest.mark.parametrize(("text", "span"), [("d", Every(1, "d")), ("2 weeks", Every(2, "week")), ("3H", Every(3, "h"))])
def test_spans_are_read_as_people_write_them(text: str, span: Every) -> None:
    assert Every.parse(text) == span
