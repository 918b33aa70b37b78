"""Rules as files: read back by other tools, and safe to open."""

import csv
import json
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from omba.errors import InputError
from omba.rules import Rules

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
    with rules.write(tmp_path / "rules.csv").open(encoding="utf-8", newline="") as file:
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
    assert path.read_text(encoding="utf-8").splitlines()[0] == "consequents,phi"


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
    with pytest.raises(InputError, match=r"'rules.xlsx' names no format known here: end it in .csv"):
        rules.write(tmp_path / "rules.xlsx")
