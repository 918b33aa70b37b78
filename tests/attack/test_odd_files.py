"""Odd files and options get one sentence and exit status 2, or are read; never a traceback, nor silence."""

import gzip
import lzma
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

import omba
from omba.cli import run
from omba.errors import InputError

ROWS = 120
BASE = {
    "basket_id": [i // 3 for i in range(ROWS)],
    "timestamp": [f"2017-01-{1 + i // 30:02d}" for i in range(ROWS)],
    "product": [f"p{i * i % 12}" for i in range(ROWS)],
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd") / "model"
    omba.OMBA(dim=8, epochs=1, pairs=10_000).fit(omba.read_baskets(pa.table(BASE)), "1d").save(folder)
    return str(folder)


@pytest.fixture
def sales(tmp_path):
    pq.write_table(pa.table(BASE), tmp_path / "sales.parquet")
    return str(tmp_path / "sales.parquet")


def refused(capsys, *arguments):
    """Whether a command ends with status 2 and a line; what it says."""
    assert run(arguments) == 2, arguments
    said = capsys.readouterr().err.strip().splitlines()
    assert said[-1].startswith("omba: ")
    return said[-1]


@pytest.mark.parametrize("label", ["²", "--5", "٣", "9" * 5_000, "\x1b[2J", "'"])
def test_an_odd_label_is_unknown_to_every_command(model, capsys, label):
    for arguments in (["similar", "--model", model, "--", label], ["explain", "--model", model, "--", label, "p1"]):
        refused(capsys, *arguments)
    refused(capsys, "rules", "--model", model, f"--product={label}")
    for arguments in ([f"--basket={label}"], ["--basket=p1", f"--user={label}"]):
        assert run(["rank", "--model", model, *arguments]) in (0, 2)


def test_a_bound_on_a_column_of_words_is_refused(model, capsys):
    assert "antecedents" in refused(capsys, "rules", "--model", model, "--min", "antecedents=5")


@pytest.mark.parametrize("span", ["99999999999d", "9" * 30 + "h", "99999999999week", "99999999999month", "9" * 20])
def test_a_window_of_absurd_length_is_refused(sales, tmp_path, capsys, span):
    for option in ("--every", "--history"):
        refused(capsys, "learn", sales, "--model", str(tmp_path / "m"), option, span)


@pytest.mark.parametrize("option", ["--dim 1", "--dim 0", "--dim=-5", "--dim 9999999", "--epochs 0", "--every 0s"])
@pytest.mark.parametrize("follow", [[], ["--follow"]])
def test_a_setting_out_of_bounds_is_refused(sales, tmp_path, capsys, option, follow):
    refused(capsys, "learn", sales, "--model", str(tmp_path / "m"), *option.split(), *follow)


@pytest.mark.parametrize("lateness", ["99999999d", "9" * 30 + "h", "-1d", "²"])
def test_a_lateness_of_absurd_length_is_refused(sales, tmp_path, capsys, lateness):
    refused(capsys, "learn", sales, "--follow", "--model", str(tmp_path / "m"), f"--lateness={lateness}")
    refused(capsys, "serve", "--port", "0", "--model", str(tmp_path / "m"), f"--lateness={lateness}")


@pytest.mark.parametrize("date", ["99999-01-01", "-0001-01-01", "²", "1e999", "0001-01-01T00:00+14:00"])
def test_a_date_out_of_range_is_refused_as_an_option_and_in_a_file(sales, tmp_path, model, capsys, date):
    refused(capsys, "learn", sales, "--model", str(tmp_path / "m"), "--until", date)
    refused(capsys, "diff", "--model", model, "--from", date, "--to", "2017-01-05")
    odd = tmp_path / "odd.csv"
    odd.write_text("basket_id,timestamp,product\n" + "".join(f"{i},{date},p{i % 3}\n" for i in range(9)))
    refused(capsys, "learn", str(odd), "--model", str(tmp_path / "m"))


NESTED = {
    "list": [["a"]] * ROWS,
    "struct": [{"a": 1}] * ROWS,
    "map": pa.array([[("a", 1)]] * ROWS, pa.map_(pa.string(), pa.int64())),
}


@pytest.mark.parametrize("kind", NESTED)
def test_a_category_of_several_values_is_left_out_and_that_is_told(tmp_path, kind):
    file = tmp_path / "nested.parquet"
    pq.write_table(pa.table({**BASE, "category": NESTED[kind]}), file)
    baskets = omba.read_baskets(file)
    assert any("category" in note and "left out" in note for note in baskets.report.notes)
    assert run(["learn", str(file), "--model", str(tmp_path / "m"), "--dim", "8", "--epochs", "1"]) == 0


@pytest.mark.parametrize("text", ['{"basket_id": 1, "product": "a", "x": %s}\n', "%s"])
def test_json_nested_without_end_is_refused(tmp_path, capsys, text):
    file = tmp_path / "deep.jsonl"
    file.write_text(text % ("[" * 5_000 + "]" * 5_000))
    assert "line 1" in refused(capsys, "learn", str(file), "--model", str(tmp_path / "m"))


@pytest.mark.parametrize("name", ["file_row_number", "File_Index"])
@pytest.mark.parametrize("values", [[f"x{i}" for i in range(ROWS)], [7] * ROWS])
def test_parquet_may_have_columns_named_as_the_reader_names_its_own(tmp_path, name, values):
    file = tmp_path / "own.parquet"
    pq.write_table(pa.table({**BASE, name: values}), file)
    wanted = omba.read_baskets(pa.table(BASE))
    found = omba.read_baskets(file)
    assert [basket.products for basket in found] == [basket.products for basket in wanted]


def test_a_last_row_too_long_to_be_read_is_told(tmp_path):
    file = tmp_path / "long.csv"
    for end in ("", "\n"):
        file.write_text("basket_id,product\n1,a\n1,b\n2," + "x" * 5_000_000 + end)
        with pytest.raises(InputError, match=r"long\.csv"):
            omba.read_baskets(file)


def test_a_small_file_that_unpacks_to_a_line_without_end_is_refused(tmp_path):
    file = tmp_path / "bomb.csv.gz"
    with gzip.open(file, "wb", 1) as out:
        for _ in range(64):
            out.write(b"x" * 2**20)
    with pytest.raises(InputError, match="first line"):
        omba.read_baskets(file)


@pytest.mark.parametrize("name", ["bomb-{}.csv.gz", "bomb-{}.csv.zip", "bomb-{}.jsonl.gz", "bomb-{}.basket.xz"])
def test_small_files_that_unpack_without_end_are_refused_together(tmp_path, monkeypatch, capsys, name):
    monkeypatch.setattr("omba.sources.files.UNPACKED", 2**22)
    line = b'{"basket_id": 1, "product": "a"}\n' if "json" in name else b"1,a\n"
    if "basket." in name:  # each line is a basket of its own, so longer ones
        line = b",".join(b"p%d" % number for number in range(40)) + b"\n"
    first = b"" if "json" in name else b"basket_id,product\n"
    for number in range(2):
        write_packed(tmp_path / name.format(number), first + line * (3 * 2**20 // len(line)))
    assert run(["learn", str(tmp_path / name.format(1)), "--model", str(tmp_path / "m"), "--dim", "8"]) == 0
    capsys.readouterr()
    said = refused(capsys, "learn", str(tmp_path / name.format("*")), "--model", str(tmp_path / "n"))
    assert "would unpack to more than 4,194,304 bytes" in said


def test_a_workbook_with_a_cell_far_out_is_refused_before_it_is_given_room(tmp_path, capsys):
    file = tmp_path / "far.xlsx"
    with xlsxwriter.Workbook(file) as workbook:
        sheet = workbook.add_worksheet()
        for line, row in enumerate((["basket_id", "product"], [1, "a"], [1, "b"])):
            sheet.write_row(line, 0, row)
        workbook.add_worksheet().write(1_048_575, 16_383, 1)
    assert "1,048,576 rows and 16,384 columns" in refused(capsys, "check", str(file))


def test_a_small_workbook_that_unpacks_without_end_is_refused(tmp_path, monkeypatch, capsys):
    file = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 2**22)
    monkeypatch.setattr("omba.sources.sheet_area.UNPACKED", 2**20)
    assert "would unpack to more than 100 times" in refused(capsys, "check", str(file))


def write_packed(file, content):
    if file.suffix == ".zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(file.stem, content)
    else:
        file.write_bytes((lzma if file.suffix == ".xz" else gzip).compress(content))


def test_a_header_of_too_many_columns_is_refused(tmp_path):
    file = tmp_path / "wide.csv"
    for columns, said in ((20_000, "20,002 columns"), (2_000_000, "first line")):
        file.write_text("basket_id,product," + ",".join(["c"] * columns) + "\n1,a\n")
        with pytest.raises(InputError, match=said):
            omba.read_baskets(file)


def test_a_word_is_said_before_very_many_rules_are_looked_for(model, tmp_path, capsys):
    assert run(["rules", "--model", model, "--top", "1000000", "--json", str(tmp_path / "rules.json")]) == 0
    assert "1,000,000 rules" in capsys.readouterr().err
