"""One product under two codes, what is no product, no customer and no sale."""

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from omba import OMBA, read_baskets
from omba.baskets.reasons import EXCLUDED, UNPAID
from omba.cli import run
from omba.errors import InputError
from omba.live import Inbox, Learner
from omba.sources import stream_baskets


def shop(extra: list[tuple[str, str, str, float]], baskets: int = 120) -> pa.Table:
    """A shop of numbered products at usual prices, and rows of (basket, product, name, price) beside them."""
    rows = [
        (f"b{n}", f"{10_000 + n % 90}{'A' if n % 2 else ''}", f"PRODUCT {n % 90}", 2.0 + n % 5) for n in range(baskets)
    ]
    columns = map(list, zip(*(rows + extra), strict=True))
    return pa.table(dict(zip(("basket", "product", "description", "price"), columns, strict=True)))


TWINS = [
    *((f"b{n}", "85123A", "WHITE HEART", 2.5) for n in range(9)),
    *((f"c{n}", "85123a", "WHITE HEART", 2.5) for n in range(4)),
    *((f"d{n}", " 85123A", "White Heart.", 2.5) for n in range(2)),
    *((f"e{n}", "0700", "JAR", 1.0) for n in range(3)),
    *((f"f{n}", "700", "JAR", 1.0) for n in range(5)),
]


def test_codes_that_differ_by_case_spaces_or_zeros_are_folded_into_the_usual_one() -> None:
    with stream_baskets(shop(TWINS), fold="auto") as stream:
        baskets = stream.read()

    assert stream.identity.fold == {"85123a": "85123A", " 85123A": "85123A", "0700": "700"}
    assert {"85123A", "700"} <= set(baskets.products)
    assert not {"85123a", " 85123A", "0700"} & set(baskets.products)
    assert any("folded 3 codes" in note for note in baskets.report.notes)


def test_codes_that_are_bought_together_or_called_otherwise_are_two_products() -> None:
    together = [(f"b{n}", code, "HEART", 2.0) for n in range(9) for code in ("x1", "X1")]
    otherwise = [("b1", "y1", "WHITE HEART", 2.0), ("b2", "Y1", "KITCHEN CLOCK", 2.0)]

    with stream_baskets(shop(together + otherwise), fold="auto") as stream:
        assert stream.identity.fold == {}


def test_a_mapping_file_folds_what_it_says_and_rows_of_one_basket_are_merged(tmp_path: Path) -> None:
    (tmp_path / "fold.csv").write_text("from,to\nold,new\nolder,old\n")
    rows = pa.table({"basket": [1, 1, 2], "product": ["old", "new", "older"], "quantity": [1, 2, 4]})

    baskets = read_baskets(rows, fold=tmp_path / "fold.csv")

    assert [(basket.products, basket.quantities) for basket in baskets] == [(["new"], [3.0]), (["new"], [4.0])]
    assert (baskets.report.rows, baskets.report.kept, baskets.report.merged) == (3, 2, 1)


@pytest.mark.parametrize("content", [b"from,to\n\xff\xfe,b\n", b"from,to\n" + b"a" * 200_000 + b",b\n"])
def test_a_mapping_file_that_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "fold.csv").write_bytes(content)
    before = csv.field_size_limit(100_000)
    try:
        with pytest.raises(InputError, match=r"the mapping '.*fold\.csv' is no CSV in UTF-8"):
            read_baskets(pa.table({"basket": [1], "product": ["a"]}), fold=tmp_path / "fold.csv")
    finally:
        csv.field_size_limit(before)


def test_whole_numbers_are_folded_as_whole_numbers() -> None:
    rows = pa.table({"basket": [1, 2], "product": [7, 8]})

    assert read_baskets(rows, fold={"7": "8"}).products == [8]
    assert read_baskets(rows, fold={"7": "A"}).products == ["A", "8"]


def test_a_mapping_that_goes_in_a_circle_is_refused() -> None:
    with pytest.raises(InputError, match="into itself"):
        read_baskets(pa.table({"basket": [1], "product": ["a"]}), fold={"a": "b", "b": "a"})


def test_products_that_patterns_name_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = pa.table({"basket": [1, 1, 2, 3], "product": ["tea", "POST", "gift_0001_20", "pot"]})
    (tmp_path / "patterns.txt").write_text("# not sold\npost\ngift_*\n")

    for patterns in ("post,gift_*", ["post", "GIFT_*"], tmp_path / "patterns.txt", str(tmp_path / "patterns.txt")):
        baskets = read_baskets(rows, exclude=patterns)
        assert [basket.products for basket in baskets] == [["tea"], ["pot"]]
        assert baskets.report.dropped == {EXCLUDED: 2}


ODD_LINES = [
    *((f"b{n}", "POST", "POSTAGE", float(1 + n**2)) for n in range(30)),
    *((f"b{n}", "M", "Manual", 0.5 + n**3) for n in range(25)),
    ("b1", "ADJUST", "Adjustment by john", -5.0),
    ("b2", "BANK CHARGES", "Bank Charges", 15.0),
    ("b3", "gift_0001_20", "Gift Voucher", 20.0),
    ("b4", "PADS", "PADS TO MATCH ALL CUSHIONS", 1.0),
    ("b5", "22001", "SAMPLE BOOK", 2.0),
]


def test_lines_that_are_no_products_are_known_by_two_clues_of_three() -> None:
    with stream_baskets(shop(ODD_LINES), exclude="auto") as stream:
        products = set(stream.read().products)

    assert sorted(stream.identity.exclude) == ["ADJUST", "BANK CHARGES", "M", "POST", "gift_0001_20"]
    assert {"PADS", "22001"} <= products
    assert not {"POST", "M"} & products


def test_a_product_named_without_digits_is_no_oddity_where_all_are() -> None:
    rows = pa.table({"basket": [1, 1, 2], "product": ["tea", "sample tea", "pot"]})

    with stream_baskets(rows, exclude="auto") as stream:
        assert stream.identity.exclude == []


@pytest.mark.parametrize(("user", "share"), [("guest", 10), ("nan", 10), ("0", 10)])
def test_a_customer_who_is_nobody_goes_and_his_baskets_stay(user: str, share: int) -> None:
    users = [user if n % share == 0 else str(1_000 + n) for n in range(200)]
    rows = pa.table({"basket": list(range(200)), "product": ["tea"] * 200, "user": users})

    baskets = read_baskets(rows)

    assert len(baskets) == 200
    assert user not in baskets.users
    assert any(f"customer {user!r} is nobody: 20 baskets (10%)" in note for note in baskets.report.notes)


def test_a_customer_0_who_buys_like_others_is_one() -> None:
    users = [n % 10 for n in range(200)]
    rows = pa.table({"basket": list(range(200)), "product": ["tea"] * 200, "user": users})

    assert 0 in read_baskets(rows).users


def test_baskets_of_nothing_but_zero_prices_are_dropped_unless_prices_are_not_told() -> None:
    rows = pa.table({"basket": [1, 1, 2, 2, 3], "product": list("abaab"), "price": [0.0, 0.0, 0.0, 2.0, 1.0]})
    baskets = read_baskets(rows)
    assert [basket.id for basket in baskets] == [2, 3]
    assert baskets.report.dropped == {UNPAID: 2}

    untold = rows.set_column(2, "price", pa.array([0.0] * 5))
    assert len(read_baskets(untold)) == 3


def test_what_was_folded_and_left_out_is_remembered_for_live_baskets_and_later_files(tmp_path: Path) -> None:
    users = ["guest" if n % 5 == 0 else f"u{n}" for n in range(120 + len(TWINS) + len(ODD_LINES))]
    table = shop(TWINS + ODD_LINES)
    parquet.write_table(table.append_column("user", pa.array(users)), tmp_path / "a.parquet")
    learn = ["--model", str(tmp_path / "model"), "--dim", "4", "--fold", "--exclude", "auto"]
    assert run(["learn", str(tmp_path / "a.parquet"), *learn]) == 0
    before = OMBA.load(tmp_path / "model")

    learner, inbox = Learner(tmp_path / "model"), Inbox(tmp_path / "model")
    products = [{"id": "85123a"}, {"id": "85123A"}, {"id": "post"}]
    inbox.accept([{"time": f"2017-01-0{day}", "user": "guest", "products": products} for day in (2, 3, 4)])
    learner.drain()
    inbox.close()
    learner.close()
    model = OMBA.load(tmp_path / "model")
    assert model.products == before.products
    assert model.users == before.users
    row = model.row("85123a")
    assert model.product_counts[row] == before.product_counts[row] + 2

    model.partial_fit(read_baskets([["85123a", "85123A", "POST"], ["M"]]))
    assert model.products == before.products
    assert model.product_counts[row] == before.product_counts[row] + 3
    assert "85123A" not in dict(model.rank(["85123a"]))
