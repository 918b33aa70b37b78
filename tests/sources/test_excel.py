"""Spreadsheets: sheets by name or number, dates, and numbers stored as text."""

import sys
from datetime import datetime
from pathlib import Path

import pytest
import xlsxwriter

from omba import read_baskets
from omba.errors import InputError, MissingExtraError

HEADER = ["Invoice", "StockCode", "Description", "InvoiceDate", "Price", "Customer ID"]
FIRST = [
    [489434, "85123A", "HEART", datetime(2009, 12, 1, 7, 45), 2.5, 13085.0],
    [489434, 22423, "CAKESTAND", datetime(2009, 12, 1, 7, 45), 12.75, 13085.0],
    ["489435", "22423", "CAKESTAND", datetime(2009, 12, 2, 9), "10.95", None],
]
SECOND = [[489436, 22424, "JAR", datetime(2010, 12, 1), 1.5, "13086"]]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Two years on two sheets, and one that is no data; the first begins with a title."""
    path = tmp_path / "sales.xlsx"
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd hh:mm"}) as workbook:
        for name, head, rows in (("2009", [["All sales"], [], HEADER], FIRST), ("2010", [HEADER[::-1]], SECOND)):
            sheet = workbook.add_worksheet(name)
            for place, row in enumerate([*head, *(row if name == "2009" else row[::-1] for row in rows)]):
                sheet.write_row(place, 0, row)
        workbook.add_worksheet("notes").write_row(0, 0, ["who", "what"])
    return path


def test_the_first_sheet_is_read_with_dates_and_numbers_however_they_are_stored(book: Path) -> None:
    baskets = read_baskets(book)

    assert [(b.id, b.user, b.time, b.products) for b in baskets] == [
        (489434, 13085, datetime(2009, 12, 1, 7, 45), ["85123A", "22423"]),
        (489435, None, datetime(2009, 12, 2, 9), ["22423"]),
    ]
    assert baskets.prices.tolist() == [2.5, 12.75, pytest.approx(10.95)]
    assert any("there is also '2010', 'notes'" in note for note in baskets.report.notes)


@pytest.mark.parametrize("sheet", ["2010", 2])
def test_a_sheet_is_named_or_numbered(book: Path, sheet: str | int) -> None:
    assert read_baskets(book, sheet=sheet).products == [22424]


def test_sheets_with_the_same_header_add_up(book: Path) -> None:
    baskets = read_baskets(book, sheet="2009,2010")

    assert [basket.id for basket in baskets] == [489434, 489435, 489436]
    assert baskets.products == ["85123A", "22423", "22424"]
    assert baskets.users == [13085, 13086]


def test_a_sheet_with_another_header_or_that_is_not_there_is_refused(book: Path) -> None:
    with pytest.raises(InputError, match=r"sheet 'notes' .* has no column 'Invoice'"):
        read_baskets(book, sheet="*")
    with pytest.raises(InputError, match=r"has no sheet '2011' among '2009', '2010', 'notes'"):
        read_baskets(book, sheet="2011")


def test_a_missing_reader_is_one_sentence_with_the_command_that_mends_it(book: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'omba\[excel\]'"):
        read_baskets(book)


def test_what_is_no_workbook_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_text("basket,product\n1,2\n")

    with pytest.raises(InputError, match="no spreadsheet"):
        read_baskets(tmp_path / "a.xlsx")
