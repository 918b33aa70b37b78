"""Baskets in columns: what goes in comes out, in slices, between moments, and through files."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from omba.baskets import Baskets, Report
from omba.errors import InputError
from omba.sources import read_baskets


@pytest.fixture
def baskets() -> Baskets:
    table = pd.DataFrame(
        {
            "basket_id": ["x", "x", "y", "z", "z"],
            "product": ["pasta", "sauce", "soap", "pasta", "brush"],
            "user_id": ["u1", "u1", None, "u2", "u2"],
            "timestamp": pd.to_datetime(["2017-01-01 08:00"] * 2 + ["2017-01-02 09:30"] + ["2017-01-03 00:00"] * 2),
            "price": [1.5, 2.0, np.nan, 1.0, 30.0],
            "quantity": [1, 2, 1, 1, 1],
            "store_id": [7, 7, 7, 8, 8],
            "department": ["food", "food", "care", "food", "care"],
        }
    )
    return read_baskets(table)


def same(a: Baskets, b: Baskets) -> bool:
    """Whether two are the same in all but how they were read."""

    def equal(name: str) -> bool:
        x, y = getattr(a, name), getattr(b, name)
        return x is y if x is None or y is None else np.array_equal(x, y, equal_nan=x.dtype.kind == "f")

    columns = ("offsets", "items", "user_codes", "store_codes", "times", "prices", "quantities")
    vocabularies = ("product_vocabulary", "user_vocabulary", "store_vocabulary")
    return (
        all(equal(name) for name in columns)
        and all(list(getattr(a, name)) == list(getattr(b, name)) for name in vocabularies)
        and (a.ids, a.clock, a.attributes) == (b.ids, b.clock, b.attributes)
    )


def test_the_contract_of_a_basket(baskets: Baskets) -> None:
    assert (len(baskets), baskets.n_items) == (3, 5)
    assert baskets.products == ["pasta", "sauce", "soap", "brush"]
    assert baskets.users == ["u1", "u2"]
    first, second, third = baskets
    assert (first.id, first.user, first.time, first.store) == ("x", "u1", datetime(2017, 1, 1, 8), 7)
    assert (first.products, first.prices, first.quantities) == (["pasta", "sauce"], [1.5, 2.0], [1.0, 2.0])
    assert second.user is None
    assert np.isnan(second.prices[0])
    assert baskets[-1] == third
    with pytest.raises(IndexError):
        baskets[3]
    assert repr(baskets) == "Baskets(3 baskets, 5 items, 4 products, 2 users)"


def test_between_leaves_the_end_out(baskets: Baskets) -> None:
    def ids(start: object, stop: object) -> list[object]:
        return [basket.id for basket in baskets.between(start, stop)]  # type: ignore[arg-type]

    assert ids("2017-01-01", "2017-01-03") == ["x", "y"]
    assert ids("2017-01-02T09:30", None) == ["y", "z"]
    assert ids(None, date(2017, 1, 2)) == ["x"]
    assert ids("2018-01-01", "2017-01-01") == []
    assert baskets.between() is baskets
    with pytest.raises(InputError, match="these baskets have no time"):
        Baskets.from_lists([["a"]]).between("2017-01-01")


def test_a_slice_shares_memory_and_vocabulary_and_keeps_its_ids(baskets: Baskets) -> None:
    part = baskets.slice(1, 3)
    assert [basket.id for basket in part] == ["y", "z"]
    assert np.shares_memory(part.items, baskets.items)
    assert part.product_vocabulary is baskets.product_vocabulary
    assert part.products == ["pasta", "soap", "brush"]
    assert part.users == ["u2"]
    assert part.offsets[0] == 0
    assert [b.id for b in Baskets.from_lists([["a"], ["b"], ["c"]]).slice(1, 3)] == [1, 2]


def test_the_windows_put_together_again_are_the_whole(baskets: Baskets) -> None:
    assert same(Baskets.concat(list(baskets.windows("1d"))), baskets)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_baskets_written_and_read_back_are_the_same(baskets: Baskets, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"baskets.{kind}"
    baskets.write(path)
    assert same(read_baskets(path), baskets)
    part = baskets.slice(1, 3)
    part.write(path)
    assert [(b.id, b.products) for b in read_baskets(path)] == [("y", ["soap"]), ("z", ["pasta", "brush"])]


def test_lists_and_day_numbers_come_back_too(tmp_path: Path) -> None:
    lists = Baskets.from_lists([["a", "b"], ["c"]])
    lists.write(tmp_path / "lists.csv")
    assert same(read_baskets(tmp_path / "lists.csv"), lists)
    days = read_baskets(pd.DataFrame({"user": [5, 5], "day": [1, 2], "item": ["007", "8"]}))
    days.write(tmp_path / "days.csv")
    assert same(read_baskets(tmp_path / "days.csv"), days)


def test_labels_of_both_kinds_are_written_as_text(tmp_path: Path) -> None:
    Baskets.from_lists([["a", 7]]).write(tmp_path / "mixed.parquet")
    assert read_baskets(tmp_path / "mixed.parquet")[0].products == ["a", "7"]


def test_a_file_of_no_known_kind_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"end the name in \.csv, \.tsv or \.parquet"):
        Baskets.from_lists([["a"]]).write(tmp_path / "baskets.xls")


def test_reports_of_parts_add_up() -> None:
    first, second = Report(rows=3, kept=2, merged=1), Report(rows=2, kept=1, notes=["so"])
    second.dropped["no product"] = 1
    first.add(second)
    first.add(Report(notes=["so"]))
    assert (first.rows, first.kept, first.merged, first.dropped.total(), first.notes) == (5, 3, 1, 1, ["so"])
    assert str(first).splitlines()[:2] == ["5 rows read, 3 kept", "1 merged: the product was already in the basket"]
