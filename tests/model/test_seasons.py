"""Seasons: when in the year products are sold, and what is new rather than of a season."""

from __future__ import annotations

import numpy as np

from omba.model.seasons import FORTNIGHTS, Seasons

START = np.datetime64("2019-01-01").astype(int)
ALWAYS, NOEL, EASTER, NEW, RARE = range(5)


def sold_on(day: int, until: int) -> list[int]:
    """What is sold on a day: one product always, two in their season, one for the last five weeks, one hardly ever."""
    of_year = (day - START) % 365
    return [
        ALWAYS,
        *([NOEL] if 320 <= of_year < 360 else []),
        *([EASTER] if 80 <= of_year < 110 else []),
        *([NEW] if day >= until - 35 else []),
        *([RARE] if of_year == 340 else []),
    ]


def learned(days: int, per_window: int = 1, seasons: Seasons | None = None) -> Seasons:
    seasons = seasons or Seasons()
    for first in range(0, days, per_window):
        span = np.arange(START + first, START + min(first + per_window, days))
        lists = [sold_on(int(day), START + days) for day in span]
        offsets = np.cumsum([0, *map(len, lists)])
        seasons.learn(offsets, np.concatenate(lists).astype(np.int32), span, 5)
    return seasons


def test_a_product_of_a_few_weeks_has_a_season_and_one_of_all_year_has_none() -> None:
    assert learned(730).of([[ALWAYS], [NOEL], [EASTER]]) == ["", "Nov–Dec", "Mar–Apr"]


def test_a_rule_with_a_product_of_a_season_is_of_that_season() -> None:
    assert learned(730).of([[ALWAYS, NOEL], [ALWAYS, ALWAYS], [EASTER, ALWAYS]]) == ["Nov–Dec", "", "Mar–Apr"]
    assert learned(730).of([[NOEL, EASTER]]) == [""], "what is never sold at the same time has no season together"


def test_a_product_that_just_came_is_new_and_not_of_a_season() -> None:
    seasons = learned(600)
    assert seasons.sold[NEW].sum() > 10
    assert seasons.of([[NEW]]) == [""]


def test_nothing_is_said_of_half_a_year_or_of_a_handful_of_baskets() -> None:
    assert learned(160).of([[EASTER]]) == [""]
    assert learned(730).of([[RARE]]) == [""]
    assert Seasons().of([[0, 1]]) == [""]


def test_products_that_come_later_change_nothing_of_what_was_counted_also_after_a_load() -> None:
    whole, grown = Seasons(), Seasons()
    for place in range(40):
        day, sold = START + 20 * place, np.arange(1, place + 2)
        whole.count(day, np.append(sold, np.zeros(39 - place, int)), 1)
        grown.count(day, sold, 1)
        assert len(grown.sold) == len(grown.earlier) == len(grown.first) == place + 1
        if place == 20:
            loaded = Seasons()
            loaded.load({name: array.copy() for name, array in grown.state().items()})
            grown = loaded
    assert whole.earlier.any(), "a year must have passed, or nothing is told of earlier ones"
    for name, array in whole.state().items():
        assert np.array_equal(array, grown.state()[name]), name


def test_windows_of_any_length_and_sums_of_a_day_count_alike() -> None:
    days, weeks, sums = learned(500), learned(500, 7), Seasons()
    for day in range(START, START + 500):
        sums.count(day, np.bincount(sold_on(day, START + 500), minlength=5), 1)
    for name, array in days.state().items():
        assert np.array_equal(array, weeks.state()[name]), name
        assert np.array_equal(array, sums.state()[name]), name


def test_a_year_later_a_basket_weighs_half_and_the_numbers_stay_as_many() -> None:
    one, two = learned(365), learned(730)
    assert two.sold.shape == one.sold.shape == (5, FORTNIGHTS)
    assert two.sold[ALWAYS, 3] == 14 + 7
    assert one.sold[ALWAYS, 3] == 14


def test_seasons_go_on_where_they_were_saved() -> None:
    whole, copy = learned(400), Seasons()
    copy.load({name: array.copy() for name, array in learned(300).state().items()})
    assert copy.sold[ALWAYS].sum() == 300
    for day in range(START + 300, START + 400):
        rows = sold_on(day, START + 400)
        copy.learn(np.array([0, len(rows)]), np.array(rows, np.int32), np.array([day]), 5)
    assert np.array_equal(whole.sold[:NEW], copy.sold[:NEW])


def sold_in(swing: range) -> Seasons:
    """Forty products of 60 baskets a fortnight each for eighteen fortnights; in some of these half of them sell three
    times as much and half a third."""
    seasons, rng = Seasons(), np.random.default_rng(1)
    for fortnight in range(18):
        factor = np.where(np.arange(40) % 2, 3.0, 1 / 3) if fortnight in swing else np.ones(40)
        seasons.count(START + 14 * fortnight, rng.poisson(60 * factor), 3_000)
    return seasons


def test_how_far_sales_of_groups_may_swing_is_told_by_all_the_time_so_far() -> None:
    groups = [np.array([row]) for row in range(40)]
    calm, swung = (sold_in(swing).outlook().sales_spread(groups) for swing in (range(0), range(5, 8)))
    assert np.all((calm > 0.75) & (calm < 1.35))
    # The last quarter was calm, and earlier ones were not.
    assert swung[:, 0].max() < 0.7
    assert swung[:, 2].max() > 1.2


def test_how_far_a_product_may_fall_is_told_by_those_that_sold_as_much() -> None:
    calm, swung = (sold_in(swing).outlook() for swing in (range(0), range(5, 8)))
    pairs = [[0, 1], [2, 3], [0, 99]]
    assert np.all(calm.fallen(pairs) > 0.7)
    assert swung.fallen(pairs)[0] < 0.5
    assert swung.fallen(pairs)[2] > swung.fallen(pairs)[0], "of what is not known nothing is said"


def test_what_is_sold_unevenly_may_swing_farther_and_either_way() -> None:
    """Forty products that sell evenly, and forty that come and go; of late more of those went than came."""
    seasons, rng = Seasons(), np.random.default_rng(2)
    for fortnight in range(18):
        uneven = np.where(rng.random(40) < (0.5 if fortnight < 14 else 0.2), 2.0, 0.3)
        seasons.count(START + 14 * fortnight, rng.poisson(60 * np.append(np.ones(40), uneven)), 3_000)
    spread = seasons.outlook().sales_spread([np.array([row]) for row in range(80)])
    even, uneven = spread[:40], spread[40:]
    assert np.median(uneven[:, 0]) < 0.7 * np.median(even[:, 0])
    assert np.median(uneven[:, 2]) > 1.4 * np.median(even[:, 2])
