"""One identity over all files and doors: a model knows how its labels are spelt, for good."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from omba import OMBA, read_baskets
from omba.cli import run
from omba.live import Inbox, Learner
from omba.live.file_feed import FileFeed
from omba.store import ModelFolder

HEADER = "basket_id,product,user_id,timestamp\n"


def write(path: Path, day: int, products: list[str], user: str = "13085.0", times: int = 12) -> Path:
    """Baskets of one day, each with all of these products."""
    rows = [
        f"{day}-{n},{product},{user},2017-01-{day:02d}T{n % 24:02d}:00" for n in range(times) for product in products
    ]
    path.write_text(HEADER + "\n".join(rows) + "\n")
    return path


def learn(source: Path, model: Path, *options: str) -> None:
    assert run(["learn", str(source), "--model", str(model), "--dim", "8", *options]) == 0


def test_digits_in_a_later_file_are_the_products_that_a_file_with_letters_knows(tmp_path: Path) -> None:
    learn(write(tmp_path / "a.csv", 1, ["85123A", "22423"]), tmp_path / "model")
    learn(write(tmp_path / "b.csv", 2, ["22423", "22424"]), tmp_path / "model")

    model = OMBA.load(tmp_path / "model")
    assert model.products == ["22423", "85123A", "22424"]
    assert model.users == [13085]
    assert model.product_counts.tolist() == [24, 12, 12]


def test_letters_after_digits_turn_all_products_to_text_and_say_so(tmp_path: Path, capsys) -> None:
    learn(write(tmp_path / "a.csv", 1, ["22423", "22424"]), tmp_path / "model")
    learn(write(tmp_path / "b.csv", 2, ["22423", "85123A"]), tmp_path / "model", "--history", "1d")

    said = capsys.readouterr().err
    assert "products were whole numbers until now, and '85123A' is text" in " ".join(said.split())
    model = OMBA.load(tmp_path / "model")
    assert model.products == ["22423", "22424", "85123A"]
    assert model.product_counts.tolist() == [24, 12, 12]
    assert model.identity.kinds == {"product": "text", "user": "whole"}
    assert ModelFolder(tmp_path / "model").manifest()["identity"]["kinds"]["product"] == "text"


def test_the_history_of_before_is_respelt_with_the_model(tmp_path: Path) -> None:
    learn(write(tmp_path / "a.csv", 1, ["22423", "22424"]), tmp_path / "model", "--history", "1d")
    learn(write(tmp_path / "b.csv", 2, ["22423", "85123A"]), tmp_path / "model", "--history", "1d")

    history = ModelFolder(tmp_path / "model").history
    assert history.labels == ["22423", "22424", "85123A"]
    assert len(history.entries) >= 2
    for entry in history.entries:
        assert {type(label) for side in entry.rules["antecedents"].to_pylist() for label in side} <= {str}
    assert run(["similar", "22423", "--model", str(tmp_path / "model"), "--at", "2017-01-02"]) == 0


def test_turning_to_text_changes_no_vector(tmp_path: Path) -> None:
    first = read_baskets(write(tmp_path / "a.csv", 1, ["22423", "22424"]))
    whole = OMBA(dim=8).partial_fit(first)
    vectors = whole.product_vectors.copy()

    whole.identity.admit(["85123A"], "product", whole.product_rows.vocabulary)

    assert whole.products == ["22423", "22424"]
    assert (whole.product_vectors == vectors).all()
    assert (whole.vector(22423) == whole.vector("22423")).all()


@pytest.mark.parametrize("known", [["22423", "22424"], ["22423", "85123A"]])
@pytest.mark.parametrize("sent", [22423, "22423", 22423.0, "22423.0"])
def test_baskets_over_http_and_redis_mean_the_products_that_the_model_knows(tmp_path: Path, known, sent) -> None:
    learn(write(tmp_path / "a.csv", 1, known), tmp_path / "model")
    learner = Learner(tmp_path / "model")
    inbox = Inbox(tmp_path / "model")
    before = learner.model.products
    inbox.accept(
        [{"time": f"2017-01-0{day}", "user": "13085.0", "products": [{"id": sent}, {"id": 22423}]} for day in (2, 3, 4)]
    )
    learner.drain()
    inbox.close()
    learner.close()

    model = OMBA.load(tmp_path / "model")
    assert model.products == before
    assert model.users == [13085]
    assert model.product_counts.tolist()[model.row("22423")] == 14


def test_a_followed_file_of_digits_means_the_products_of_a_model_of_text(tmp_path: Path) -> None:
    learn(write(tmp_path / "a.csv", 1, ["85123A", "22423"]), tmp_path / "model")
    learner = Learner(tmp_path / "model")
    inbox = Inbox(tmp_path / "model")
    feed = FileFeed(write(tmp_path / "b.csv", 3, ["22423", "22424"]), inbox, {})
    feed.read()
    feed.flush()
    inbox.accept([{"time": "2017-01-05", "products": [{"id": "85123A"}]}])
    learner.drain()
    inbox.close()
    learner.close()

    assert OMBA.load(tmp_path / "model").products == ["22423", "85123A", "22424"]


def test_customers_as_doubles_with_gaps_in_parquet_are_whole_numbers(tmp_path: Path) -> None:
    table = pa.table({"basket": ["a", "b", "c"], "product": ["x", "y", "x"], "user": [13085.0, None, 7.0]})
    parquet.write_table(table, tmp_path / "a.parquet")

    assert read_baskets(tmp_path / "a.parquet").users == [13085, 7]


def test_a_product_is_never_recommended_to_itself(tmp_path: Path, capsys) -> None:
    learn(write(tmp_path / "a.csv", 1, ["85123A", "22423", "22424"]), tmp_path / "model")
    learn(write(tmp_path / "b.csv", 2, ["22423", "22424"]), tmp_path / "model")
    capsys.readouterr()
    assert run(["rank", "--model", str(tmp_path / "model"), "--basket", "22423", "--json", "-"]) == 0

    assert {row["product"] for row in json.loads(capsys.readouterr().out)} == {"85123A", "22424"}


def test_both_spellings_in_one_basket_are_one_product() -> None:
    model = OMBA(dim=4).fit(read_baskets([["a", 7, "7"], ["a", "7"]]), every=1)

    assert model.products == ["7", "a"]
    assert model.product_counts.tolist() == [2, 2]


def test_a_user_is_found_by_either_spelling(tmp_path: Path) -> None:
    model = OMBA(dim=8).fit(read_baskets(write(tmp_path / "a.csv", 1, ["85123A", "22423"])))

    scores = [model.score(["22423"], user=user).tolist() for user in (13085, "13085", "13085.0")]
    assert scores[0] == scores[1] == scores[2] != model.score(["22423"]).tolist()
