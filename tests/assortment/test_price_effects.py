"""What a price did, in a shop where it is known: butter is a fifth cheaper every fourth week, in one store later.

Jam goes with butter, margarine is bought instead of it, soap has nothing to do with it but sells more and more.
"""

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import omba
from omba.assortment.price_effects import SalesGrid, measure_effect
from omba.cli import app
from omba.errors import SettingError
from omba.model import weekly_sales
from omba.model.weekly_sales import CELLS, STORES, WEEKS, WeeklySales, gather

FACTORS = {"butter": 1.8, "jam": 1.5, "margarine": 0.5, "soap": 1.0}
SHARES = {"butter": 0.2, "jam": 0.15, "margarine": 0.2, "soap": 0.1}
PRICES = {"butter": 2.0, "jam": 3.0, "margarine": 1.5, "soap": 1.0}


def grid(seed, factors, weeks=40, stores=2, baskets=400, trend=True):
    """Sales drawn with these factors in the weeks when the first product is cheap."""
    random = np.random.default_rng(seed)
    week, store = (side.ravel() for side in np.meshgrid(np.arange(weeks), np.arange(stores), indexing="ij"))
    cheap = (week + store) % 4 == 0
    rate = np.array([*SHARES.values()]) * np.where(cheap[:, None], factors, 1.0)
    if trend:
        rate[:, -1] *= 0.5 + week / weeks
    sold = random.poisson(baskets * rate)
    price = np.tile([*PRICES.values()], (len(week), 1)) * random.uniform(0.99, 1.01, (len(week), 4))
    price[cheap, 0] *= 0.8
    return SalesGrid(week, store, np.full(len(week), baskets), sold, price)


def effects(given, **options):
    relative = given.relative_prices()
    return [measure_effect(given, relative, 0, place, **options) for place in range(given.price.shape[1])]


def test_each_planted_factor_is_found_with_an_interval_that_holds_it():
    found = effects(grid(0, [*FACTORS.values()]))

    for effect, factor in zip(found, FACTORS.values(), strict=True):
        assert effect.low < factor < effect.high
        assert effect.factor == pytest.approx(factor, rel=0.1)
    assert found[1].low > 1 > found[2].high
    assert found[0].price == pytest.approx(0.8, abs=0.02)


def test_nine_of_ten_intervals_hold_the_truth_though_weeks_differ_and_sales_grow():
    random, held = np.random.default_rng(1), 0
    for seed in range(150):
        drawn = grid(seed, [1.8, 1.0, 1.0, 1.0], weeks=32, stores=2)
        # What happens in a week happens in all stores.
        good = random.gamma(20, 1 / 20, 32)[drawn.week]
        sold = random.poisson(drawn.sold * good[:, None])
        found = effects(SalesGrid(drawn.week, drawn.store, drawn.baskets, sold, drawn.price))
        held += sum(effect.low <= 1 <= effect.high for effect in found[1:])
    assert 0.86 < held / 450 < 0.95


def test_nothing_is_told_of_too_few_weeks_or_baskets():
    assert effects(grid(0, [*FACTORS.values()], weeks=4, stores=1))[1] is None
    assert effects(grid(0, [*FACTORS.values()], baskets=1))[1] is None
    steady = grid(0, [1, 1, 1, 1])
    steady.price[:, 0] = 2.0
    assert effects(steady) == [None] * 4
    assert effects(grid(0, [*FACTORS.values()]), cheaper=0.3) == [None] * 4


def test_weeks_in_which_the_partner_was_cheaper_itself_are_left_out():
    both = grid(0, [*FACTORS.values()])
    both.price[both.week % 4 == 0, 1] *= 0.8
    both.sold[both.week % 4 == 0, 1] *= 10

    assert effects(both)[1].factor == pytest.approx(1.5, rel=0.15)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A shop of 44 weeks, learned week by week, in which butter is cheap every fourth one."""
    random, rows = np.random.default_rng(4), []
    for trip in range(44 * 150):
        week = trip // 150
        store = int(random.integers(2))
        cheap = (week + store) % 4 == 0
        basket = [p for p, share in SHARES.items() if random.random() < share * (FACTORS[p] if cheap else 1.0)]
        # Jam is mostly taken with butter, so that it is known as its complement.
        basket += ["jam"] if "butter" in basket and "jam" not in basket and random.random() < 0.3 else []
        for product in [*basket, f"w{random.integers(8)}"]:
            price = PRICES.get(product, 1.0) * (0.8 if product == "butter" and cheap else 1.0)
            when = np.datetime64("2024-01-01T09:00:00") + np.timedelta64(7 * week + trip % 7, "D")
            rows.append((trip, f"u{trip % 60}", product, when, price, f"s{store}"))
    names = ("basket_id", "user_id", "product", "timestamp", "price", "store_id")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return omba.OMBA(dim=8, epochs=1, clues=False).fit(omba.read_baskets(pa.table(columns)), every="7d")


def test_a_model_tells_what_a_price_did_to_partners_and_to_the_product_itself(model):
    found = {effect.product: effect for effect in model.price_effects("butter", ["jam", "margarine", "soap"])}

    assert found["butter"].relation == "itself"
    assert found["butter"].change == pytest.approx(0.8, abs=0.3)
    assert found["jam"].low > 0
    assert found["margarine"].high < 0
    assert found["soap"].low < 0 < found["soap"].high
    assert found["jam"].relation == "complement"
    assert {"butter", "jam"} <= {effect.product for effect in model.price_effects("butter")}
    assert model.price_effects("soap") == []
    with pytest.raises(SettingError, match="share of a price"):
        model.price_effects("butter", cheaper=2)


def test_a_saved_model_tells_the_same_and_so_does_the_command(model, tmp_path):
    model.save(tmp_path)
    assert omba.OMBA.load(tmp_path).price_effects("butter") == model.price_effects("butter")

    shown = CliRunner().invoke(app, ["prices", "butter", "--model", str(tmp_path), "--partner", "margarine"])
    assert shown.exit_code == 0
    assert "margarine" in shown.output
    assert "at 80% of its usual price" in shown.output
    nothing = CliRunner().invoke(app, ["prices", "soap", "--model", str(tmp_path)])
    assert nothing.exit_code == 0


def test_sales_by_week_stay_bounded_whatever_the_shop(monkeypatch):
    monkeypatch.setattr(weekly_sales, "CELLS", 100)
    weekly = WeeklySales()
    for week in range(200):
        rows = np.arange(week % 7, 30)
        weekly.add(week, gather(rows, np.ones(len(rows), np.int64), np.ones(len(rows))), np.ones(STORES, np.int64))
        assert sum(len(keys) for keys, _, _ in weekly.weeks.values()) <= 100
    assert max(weekly.weeks) == 199
    assert len(weekly.weeks) <= WEEKS
    assert CELLS * 16 <= 32_000_000


def test_stores_beyond_the_first_count_as_one():
    weekly = WeeklySales()
    labels = [f"store {number}" for number in range(40)]

    assert weekly.number_stores(np.array([0, 1, 1, -1]), labels).tolist() == [0, 1, 1, STORES - 1]
    places = weekly.number_stores(np.arange(40), labels)
    assert places.tolist()[: STORES - 1] == list(range(STORES - 1))
    assert set(places.tolist()[STORES - 1 :]) == {STORES - 1}
