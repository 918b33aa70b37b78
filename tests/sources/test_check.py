"""Check: what is in a source and what is odd about it, each with a figure, an example and the option for it."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import omba
from omba.cli import run


def odd_shop() -> pa.Table:
    """A shop of a hundred days with one of everything that is odd."""
    rows = [
        (
            f"b{n}",
            f"{10_000 + n % 20}A",
            f"PRODUCT {n % 20}",
            f"2017-{1 + n // 28:02d}-{1 + n % 28:02d}",
            2.0,
            1,
            1 + n % 40,
        )
        for n in range(112)
    ]
    rows += [(f"c{n}", "10001a", "PRODUCT 1", "2017-03-05", 2.0, 1, n) for n in range(3)]
    rows += [(f"b{n}", "GIFT1", "GIFT VOUCHER OF A FRIEND", "2017-01-05", 10.0, 1, 1) for n in range(5)]
    rows += [(f"b{n}", "10900A", "PRODUCT 1", "2017-01-06", 2.0, 1, 1) for n in range(2)]
    rows += [(f"b{n}", "POST", "POSTAGE", "2017-01-05", float(1 + n**2), 1, 1) for n in range(30)]
    rows += [("d1", "10002A", "PRODUCT 2", "2017-03-05", 2.0, 1, 7)] * 3
    rows += [("d2", "10002A", "mailout", "2017-03-05", 900.0, 1, 7), ("d3", "10003A", "?", "2017-03-05", 0.0, 5, 7)]
    rows += [
        ("d4", "10004A", "PRODUCT 4", "2017-03-05", 2.0, -1, 7),
        ("d5", "10005A", "PRODUCT 5", "2017-09-05", 2.0, 1, 7),
    ]
    rows += [("d6", "10777A", "nan", "2017-03-06", 3.0, 1, 7)]
    rows += [(f"g{n}", "10006A", "PRODUCT 6", "2017-03-07", 3.0, 1, 0) for n in range(200)]
    names = ("invoice", "stock_code", "description", "date", "price", "quantity", "customer_id")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def test_a_check_finds_everything_that_is_odd_with_a_figure_an_example_and_a_remedy() -> None:
    found = omba.check(odd_shop())

    kinds = {finding.kind: finding for finding in found}
    assert set(kinds) == {
        "gaps", "duplicates", "returns", "no sales", "prices out of line", "two codes", "not a product", "nobody",
        "names in conflict", "no name", "left out", "one name, several codes",
    }  # fmt: skip
    assert kinds["gaps"].example.endswith("days after 2017-04-28")
    assert (kinds["duplicates"].count, kinds["duplicates"].example) == (2, "'10002A' 3 times in 'd1'")
    assert kinds["returns"].count == 1
    assert (kinds["no sales"].count, kinds["no sales"].example) == (1, "basket 'd3'")
    assert kinds["two codes"].example == "'10001a' and '10001A'"
    assert "--fold" in kinds["two codes"].remedy
    assert kinds["not a product"].example.startswith("'GIFT1', GIFT VOUCHER")
    assert (kinds["left out"].count, kinds["left out"].example) == (30, "'POST'"), "of postage there is no doubt"
    assert "--exclude none" in kinds["left out"].remedy
    assert kinds["one name, several codes"].example == "'PRODUCT 1': '10001A', '10001a', '10900A'"
    assert "--exclude" in kinds["not a product"].remedy
    assert kinds["nobody"].example == "customer '0'"
    assert "'PRODUCT 2', 'mailout'" in kinds["names in conflict"].example
    assert kinds["no name"].example == "'10777A'"
    assert all(finding.count and finding.example and finding.remedy for finding in found)
    assert found.facts["span"].startswith("2017-01-01")
    assert "basket = 'invoice'" in found.facts["columns"]


def test_what_is_folded_and_left_out_is_odd_no_more() -> None:
    kinds = {finding.kind for finding in omba.check(odd_shop(), fold="auto", exclude="auto")}

    assert not kinds & {"two codes", "not a product"}
    assert "left out" in kinds


def test_what_was_never_paid_does_not_say_what_a_product_is_called() -> None:
    rows = [(f"b{n}", f"{10_000 + n % 20}A", f"PRODUCT {n % 20}", 2.0) for n in range(40)]
    rows += [("c1", "10001a", "PRODUCT 1", 2.0), ("c1", "GIFT1", "GIFT VOUCHER OF A FRIEND", 10.0)]
    rows += [(f"d{n}", code, "lost in the post room", 0.0) for n in range(3) for code in ("10001a", "GIFT1")]
    table = pa.table(dict(zip(("invoice", "stock_code", "description", "price"), zip(*rows, strict=True), strict=True)))

    kinds = {finding.kind: finding for finding in omba.check(table)}
    assert kinds["two codes"].sentence == (
        "1 code is another one's product by spelling and name, and never in its baskets (1 basket)"
    )
    assert kinds["not a product"].sentence == "1 code seems to be no product, in 1 basket"
    again = omba.check(table, fold="auto", exclude="auto")
    assert not {"two codes", "not a product"} & {finding.kind for finding in again}, "nothing is left to be found"


def test_nothing_is_left_out_unasked_where_that_is_said() -> None:
    kinds = {finding.kind: finding for finding in omba.check(odd_shop(), exclude="none")}

    assert "left out" not in kinds
    assert kinds["not a product"].example.startswith("'POST', POSTAGE")


def test_a_clean_file_has_nothing_odd(tmp_path: Path, capsys) -> None:
    (tmp_path / "a.csv").write_text("basket,product,price\n1,tea,2\n1,pot,3\n2,tea,2\n")

    assert run(["check", str(tmp_path / "a.csv")]) == 0
    assert "Nothing is odd about it." in capsys.readouterr().out


def test_the_command_prints_findings_writes_json_and_a_page(tmp_path: Path, capsys) -> None:
    parquet.write_table(odd_shop(), tmp_path / "shop.parquet")

    page = tmp_path / "check.html"
    assert run(["check", str(tmp_path / "shop.parquet"), "--page", str(page), "--json", "-"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [finding["kind"] for finding in said["findings"]][:2] == ["gaps", "duplicates"]
    assert "--fold folds them" in page.read_text()
    assert run(["check", str(tmp_path / "shop.parquet")]) == 0
    assert "'POST'" in capsys.readouterr().out


@pytest.mark.slow
def test_learning_says_what_bears_on_the_rules_in_short(tmp_path: Path, capsys) -> None:
    parquet.write_table(odd_shop(), tmp_path / "shop.parquet")

    assert run(["learn", str(tmp_path / "shop.parquet"), "--model", str(tmp_path / "m"), "--dim", "4"]) == 0
    said = capsys.readouterr().err
    assert "two codes: 1 code is another one's product" in said
    assert "not a product: 1 more code seems to be no product" in said
    assert "left out 1 code that is no product beyond doubt (--exclude none keeps them): 'POST' (POSTAGE)" in said
    assert "one name, several codes: 1 name is of" in said
    assert "customer '0' is nobody" in said
