"""Rules as files: read back by other tools, and safe to open."""

import csv
import json
import sys
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from omba.errors import InputError, MissingExtraError
from omba.rules import Catalogue, Rules

PMML = "{http://www.dmg.org/PMML-4_4}"
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture
def rules() -> Rules:
    return Rules(
        [("pasta",), ("pasta", "wine"), ('=cmd|"/C calc"!A1',), ("Käse, «jung»",)],
        [("sauce",), ("sauce",), ("a\x01b",), ("pasta",)],
        count=np.array([30, 12, 0, 10]),
        n_a=np.array([50, 12, 9, 20]),
        n_b=np.array([60, 60, 8, 50]),
        n=1000,
        given={"collisions": np.array([3, 2, -1, 5])},
    )


def test_csv_opens_in_a_spreadsheet_without_running_anything(rules, tmp_path):
    with rules.write(tmp_path / "rules.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["antecedents"] for row in rows] == ["pasta", "pasta + wine", '\'=cmd|"/C calc"!A1', "Käse, «jung»"]
    assert not any(cell.startswith(("=", "+", "@", "\t")) for row in rows for cell in row.values())
    assert float(rows[2]["leverage"]) < 0  # a negative number is a number, not a formula
    assert float(rows[0]["lift"]) == pytest.approx(10.0)
    assert rows[2]["collisions"] == ""


def test_json_and_json_lines_hold_the_same_rules(rules, tmp_path):
    whole = json.loads(rules.write(tmp_path / "rules.json").read_text(encoding="utf-8"))
    lines = rules.write(tmp_path / "rules.jsonl").read_text(encoding="utf-8").splitlines()
    assert whole == [json.loads(line) for line in lines]
    assert whole[1]["antecedents"] == ["pasta", "wine"]
    assert whole[1]["conviction"] is None  # infinite, which JSON cannot say
    assert whole[3]["antecedents"] == ["Käse, «jung»"]
    assert json.loads(rules[:0].write(tmp_path / "none.json").read_text()) == []


def test_parquet_keeps_types_and_lists(rules, tmp_path):
    path = rules.write(tmp_path / "rules.parquet")
    assert pq.read_table(path).equals(rules.to_arrow())
    assert pl.read_parquet(path)["antecedents"].to_list()[1] == ["pasta", "wine"]


def test_only_the_columns_asked_for_are_written(rules, tmp_path):
    path = rules.write(tmp_path / "rules.csv", ["consequents", "phi"])
    assert path.read_text(encoding="utf-8-sig").splitlines()[0] == "consequents,phi"


def test_graphml_has_a_node_a_product_and_an_edge_a_rule(rules, tmp_path):
    root = ElementTree.parse(rules.write(tmp_path / "rules.graphml")).getroot()
    graph = root.find(f"{GRAPHML}graph")
    keys = {key.get("attr.name"): key.get("id") for key in root.findall(f"{GRAPHML}key")}
    nodes = {}
    for node in graph.findall(f"{GRAPHML}node"):
        data = {item.get("key"): item.text for item in node.findall(f"{GRAPHML}data")}
        nodes[node.get("id")] = (data["label"], data["kind"])
    edges = graph.findall(f"{GRAPHML}edge")
    assert ("pasta + wine", "set") in nodes.values()
    assert ("ab", "product") in nodes.values()  # XML has no way to write the control character
    assert all(edge.get("source") in nodes and edge.get("target") in nodes for edge in edges)
    proper = [edge for edge in edges if edge.findall(f"{GRAPHML}data")]
    assert len(proper) == len(rules)
    assert len(edges) == len(rules) + 2  # pasta and wine are members of their set
    first = {item.get("key"): item.text for item in proper[0].findall(f"{GRAPHML}data")}
    assert float(first[keys["lift"]]) == pytest.approx(10.0)
    assert nodes[proper[0].get("source")] == ("pasta", "product")


def test_pmml_is_an_association_model_whose_parts_refer_to_each_other(rules, tmp_path):
    root = ElementTree.parse(rules.write(tmp_path / "rules.pmml")).getroot()
    assert (root.tag, root.get("version")) == (f"{PMML}PMML", "4.4")
    assert [child.tag for child in root] == [
        f"{PMML}{name}" for name in ("Header", "DataDictionary", "AssociationModel")
    ]
    model = root.find(f"{PMML}AssociationModel")
    order = [child.tag.removeprefix(PMML) for child in model]
    ranks = [("MiningSchema", "Item", "Itemset", "AssociationRule").index(name) for name in order]
    assert ranks == sorted(ranks)
    items = {item.get("id"): item.get("value") for item in model.findall(f"{PMML}Item")}
    sets = {
        entry.get("id"): frozenset(items[ref.get("itemRef")] for ref in entry.findall(f"{PMML}ItemRef"))
        for entry in model.findall(f"{PMML}Itemset")
    }
    found = model.findall(f"{PMML}AssociationRule")
    assert sets[found[1].get("antecedent")] == {"pasta", "wine"}
    assert float(found[0].get("lift")) == pytest.approx(10.0)
    for name, number in (("Items", items), ("Itemsets", sets), ("Rules", found)):
        assert model.get(f"numberOf{name}") == str(len(number))
    assert model.get("numberOfTransactions") == "1000"
    shares = [float(rule.get(name)) for rule in found for name in ("support", "confidence")]
    assert all(0 <= share <= 1 for share in shares)
    assert float(model.get("minimumConfidence")) == min(shares[1::2])
    extra = {item.get("name"): item.get("value") for item in found[0].findall(f"{PMML}Extension")}
    assert extra["status"] == "observed"


def test_numbers_as_products_are_written_too(tmp_path):
    one = np.array([1])
    rules = Rules([(7,)], [(8,)], count=one, n_a=one, n_b=one, n=2)
    for suffix in ("csv", "json", "jsonl", "parquet", "graphml", "pmml"):
        assert rules.write(tmp_path / f"rules.{suffix}").stat().st_size > 0
    assert pq.read_table(tmp_path / "rules.parquet")["antecedents"].to_pylist() == [[7]]


def test_a_name_without_a_known_format_is_refused(rules, tmp_path):
    with pytest.raises(InputError, match=r"'rules.docx' names no format known here: end it in .csv"):
        rules.write(tmp_path / "rules.docx")


@pytest.fixture
def named(rules) -> Rules:
    """The same rules, of products that have names; two of them the same one."""
    names = {"pasta": "Spaghetti", "sauce": "Sugo", "wine": "=HYPERLINK(1)", "Käse, «jung»": "Sugo"}
    attributes = pa.table({"product": list(names), "name": list(names.values())})
    labels = ["pasta", "wine", "sauce", '=cmd|"/C calc"!A1', "a\x01b", "Käse, «jung»"]
    return replace(rules, catalogue=Catalogue(labels, attributes=attributes))


def test_names_stand_beside_the_labels_in_every_file(named, tmp_path):
    with named.write(tmp_path / "rules.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["antecedent_names"] for row in rows] == ["Spaghetti", "Spaghetti + =HYPERLINK(1)", "", "Sugo"]
    (first, *_) = json.loads(named.write(tmp_path / "rules.json").read_text(encoding="utf-8"))
    assert (first["antecedents"], first["antecedent_names"], first["consequent_names"]) == (
        ["pasta"], ["Spaghetti"], ["Sugo"],
    )  # fmt: skip
    assert pq.read_table(named.write(tmp_path / "rules.parquet"))["consequent_names"].to_pylist()[2] == [None]
    graph = ElementTree.parse(named.write(tmp_path / "rules.graphml"))
    assert "Spaghetti" in {data.text for data in graph.iter(f"{GRAPHML}data") if data.get("key") == "name"}
    items = ElementTree.parse(named.write(tmp_path / "rules.pmml")).iter(f"{PMML}Item")
    assert {item.get("value"): item.get("mappedValue") for item in items}["sauce"] == "Sugo"


def test_two_products_of_one_name_are_told_apart_by_their_labels(named):
    shown = [str(rule) for rule in named]
    assert shown[0] == "Spaghetti (pasta) ⇒ Sugo (sauce)"
    assert shown[3] == "Sugo (Käse, «jung») ⇒ Spaghetti (pasta)"
    assert shown[0] in repr(named)
    assert "Spaghetti (pasta)" in named._repr_html_()
    assert named.to_pandas()["consequent_names"].tolist()[0] == ("Sugo",)


def test_a_table_without_names_has_the_columns_it_always_had(rules, tmp_path):
    assert "antecedent_names" not in rules.to_arrow().column_names
    assert str(rules[0]) == "pasta ⇒ sauce"
    assert "name" not in {key.get("id") for key in ElementTree.parse(rules.write(tmp_path / "r.graphml")).iter()}


def test_rules_are_found_by_words_of_their_names(named, rules):
    assert len(named.filter(text="spagh")) == 3
    assert len(named.filter(text="SUGO spaghetti")) == 3
    assert len(rules.filter(text="spagh")) == 0


def test_csv_begins_with_a_byte_order_mark_and_reads_back(named, tmp_path):
    path = named.write(tmp_path / "rules.csv")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    frame = pd.read_csv(path)
    assert frame["antecedents"].str.removeprefix("'").tolist()[2] == '=cmd|"/C calc"!A1'
    assert frame["lift"].tolist() == pytest.approx(named["lift"].tolist())


def test_excel_holds_names_numbers_and_a_drawn_interval(named, tmp_path):
    calamine = pytest.importorskip("python_calamine")
    pytest.importorskip("xlsxwriter")
    given = {
        f"expected_lift{end}": np.array([value] * 4) for end, value in (("", 10.0), ("_low", 2.0), ("_high", 50.0))
    }
    path = replace(named, given=named.given | given).write(tmp_path / "rules.xlsx")
    head, *rows = calamine.CalamineWorkbook.from_path(str(path)).get_sheet_by_name("rules").to_python()
    cells = dict(zip(head, rows[1], strict=True))
    assert cells["antecedents"] == "pasta + wine"
    assert cells["antecedent names"] == "Spaghetti + =HYPERLINK(1)"
    assert cells["count"] == 12
    assert cells["lift"] == pytest.approx(named["lift"][1])
    assert cells["interval"].strip().startswith("├")
    assert "●" in cells["interval"]
    with zipfile.ZipFile(path) as parts:
        sheet = parts.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet, "no name is a formula"
    assert 'state="frozen"' in sheet
    assert "dataBar" in sheet


def test_excel_without_its_package_says_what_to_install(rules, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtraError, match=r"install it with `pip install 'omba\[excel\]'`"):
        rules.write(tmp_path / "rules.xlsx")
