"""Names: those of all files add up, and a product goes by the one it mostly and lately has."""

from pathlib import Path

import pyarrow as pa
import pytest

from omba import OMBA, read_baskets
from omba.baskets.descriptions import Descriptions
from omba.live import Inbox, Learner


def rows(names: list[tuple[str, str | None]], day: int = 1) -> pa.Table:
    """A basket a row: product and name."""
    return pa.table(
        {
            "basket": [f"{day}-{n}" for n in range(len(names))],
            "product": [product for product, _ in names],
            "description": pa.array([name for _, name in names], pa.string()),
            "timestamp": [f"2017-01-{day:02d}T{n // 60:02d}:{n % 60:02d}" for n in range(len(names))],
        }
    )


def names_of(model: OMBA) -> dict[object, object]:
    assert model.attributes is not None
    return dict(zip(model.attributes["product"].to_pylist(), model.attributes["name"].to_pylist(), strict=True))


def test_learning_a_second_file_keeps_the_names_of_the_first(tmp_path: Path) -> None:
    model = OMBA(dim=4).partial_fit(read_baskets(rows([("A1", "TEA"), ("A2", "POT")])))
    model.partial_fit(read_baskets(rows([("A3", "CUP")], 2)))
    model.save(tmp_path)
    again = OMBA.load(tmp_path).partial_fit(read_baskets(rows([("A4", "JAR"), ("A1", None)], 3)))

    assert names_of(again) == {"A1": "TEA", "A2": "POT", "A3": "CUP", "A4": "JAR"}


def test_a_product_has_the_name_it_mostly_goes_by_not_that_of_its_first_row() -> None:
    table = rows([("A1", "mailout"), *[("A1", "TEA")] * 5, ("A1", "damaged"), ("A1", " TEA ")])

    assert read_baskets(table).attributes["name"].to_pylist() == ["TEA"]


def test_a_name_that_was_given_up_long_ago_gives_way_to_the_new_one() -> None:
    table = rows([("A1", "WHITE HEART")] * 700 + [("A1", "CREAM HEART")] * 500)

    assert read_baskets(table).attributes["name"].to_pylist() == ["CREAM HEART"]


def test_the_votes_of_files_add_up_and_fade() -> None:
    model = OMBA(dim=4).partial_fit(read_baskets(rows([("A1", "TEA")] * 50)))
    model.partial_fit(read_baskets(rows([("A1", "mailout")] * 3, 2)))
    assert names_of(model) == {"A1": "TEA"}

    model.partial_fit(read_baskets(rows([("A1", "GREEN TEA")] * 400, 3)))
    assert names_of(model) == {"A1": "GREEN TEA"}
    assert model.descriptions.conflicts() == 1


@pytest.mark.parametrize("nothing", ["nan", "None", "NULL", "n/a", "-", "?", "??", " ", ""])
def test_what_stands_for_nothing_is_no_name(nothing: str) -> None:
    table = rows([("A1", nothing)] * 5 + [("A1", "TEA"), ("A2", nothing)])

    assert read_baskets(table).attributes["name"].to_pylist() == ["TEA", None]


def test_few_spellings_are_remembered_of_a_product() -> None:
    known = Descriptions()
    for n in range(50):
        known.add(pa.table({"product": ["A1"], "name": [f"name {n}"]}))

    assert len(known.votes["A1", "name"]) == 4
    assert known.table is not None
    assert known.table["name"].to_pylist() == ["name 49"]


def test_a_name_met_once_is_a_vote_though_it_is_not_written_down() -> None:
    known = Descriptions()
    known.add(pa.table({"product": [1, 2], "name": ["TEA", "POT"]}))
    assert known.vote_table().num_rows == 0
    again = Descriptions()
    again.load(known.table, known.vote_table())
    for each in (known, again):
        each.add(pa.table({"product": [1], "name": ["CHAI"]}))
        assert each.conflicts() == 1
        assert set(each.votes["1", "name"]) == {"TEA", "CHAI"}


def test_categories_add_up_too_and_new_products_find_theirs() -> None:
    first = pa.table({"basket": [1, 1, 2, 2], "product": ["a", "b", "c", "d"], "category": ["x", "x", "y", "y"]})
    second = pa.table({"basket": [3, 3], "product": ["a", "b"], "description": ["TEA", "POT"]})
    model = OMBA(dim=4).partial_fit(read_baskets(first)).partial_fit(read_baskets(second))

    assert model.attributes is not None
    assert model.attributes.column_names == ["product", "category", "name"]
    assert model.attributes["category"].to_pylist() == ["x", "x", "y", "y"]


def test_live_baskets_vote_as_well(tmp_path: Path) -> None:
    OMBA(dim=4).partial_fit(read_baskets(rows([("A1", "TEA")] * 5))).save(tmp_path / "model")
    learner, inbox = Learner(tmp_path / "model"), Inbox(tmp_path / "model")
    products = [{"id": "A1", "name": "temp"}, {"id": "A2", "name": "POT"}, {"id": "A3", "name": "nan"}]
    inbox.accept([{"time": f"2017-01-0{day}", "products": products} for day in (2, 3)])
    learner.drain()
    inbox.close()
    learner.close()

    assert names_of(OMBA.load(tmp_path / "model")) == {"A1": "TEA", "A2": "POT"}
