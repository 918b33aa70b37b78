"""Clocks: a moment as a person writes it, as the integer the data hold."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omba.baskets import Clock
from omba.errors import InputError

NOON = 1_483_272_000_000_000  # 2017-01-01 12:00 UTC


@pytest.mark.parametrize(
    "moment",
    [
        "2017-01-01T12:00",
        "2017-01-01 12:00:00",
        "2017-01-01T13:00:00+01:00",
        datetime(2017, 1, 1, 12),
        datetime(2017, 1, 1, 12, tzinfo=UTC),
        datetime(2017, 1, 1, 14, tzinfo=timezone(timedelta(hours=2))),
        np.datetime64("2017-01-01T12"),
    ],
)
def test_the_same_moment_reads_the_same_however_it_is_written(moment: datetime | str | np.datetime64) -> None:
    assert Clock.DATETIME.read(moment) == NOON


def test_a_date_is_its_first_moment() -> None:
    midnight = NOON - 43_200_000_000
    assert Clock.DATETIME.read(date(2017, 1, 1)) == Clock.DATETIME.read("2017-01-01") == midnight


@given(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)))
def test_showing_undoes_reading(moment: datetime) -> None:
    assert Clock.DATETIME.show(Clock.DATETIME.read(moment)) == moment


def test_days_are_whole_numbers() -> None:
    assert Clock.DAY.read(12) == Clock.DAY.read("12") == 12
    assert Clock.DAY.show(12) == 12
    with pytest.raises(InputError, match="'2017-01-01' is not a day number"):
        Clock.DAY.read("2017-01-01")


@pytest.mark.parametrize(
    ("clock", "moment", "said"),
    [
        (Clock.DATETIME, 5, "5 is a number, but these baskets have dates: give one such as '2017-10-01'"),
        (Clock.DATETIME, "soon", "'soon' is not a date: write it as '2017-10-01'"),
        (Clock.NONE, "2017-01-01", "these baskets have no time: give a time column"),
    ],
)
def test_a_moment_of_another_clock_gets_a_sentence(clock: Clock, moment: str | int, said: str) -> None:
    with pytest.raises(InputError) as caught:
        clock.read(moment)
    assert said in str(caught.value)
