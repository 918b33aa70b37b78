"""Export: rules as files for other tools: CSV, Excel, JSON, JSON lines, Parquet, GraphML and PMML."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as xml

import numpy as np
import pyarrow.parquet as pq

from omba.baskets import Label
from omba.errors import InputError
from omba.rules.catalogue import Catalogue
from omba.rules.workbook import write_excel

if TYPE_CHECKING:
    from omba.rules.rules import Rules

Columns = Sequence[str] | None

JOIN = " + "
NAMES = ("antecedent_names", "consequent_names")
"""In a graph and in PMML, names stand with the products and not with the rules."""
RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A cell that begins so is taken for a formula by spreadsheets."""


def write(rules: Rules, path: Path, columns: Columns = None) -> Path:
    """Write the rules in the format the suffix names."""
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"{path.name!r} names no format known here: end it in {', '.join(WRITERS)}")
    writer(rules, path, columns)
    return path


def write_csv(rules: Rules, path: Path, columns: Columns = None) -> None:
    """Comma-separated text, safe to open: a name that a spreadsheet would run as a formula gets a quote before it.

    It begins with a byte order mark, by which spreadsheets know that the text is UTF-8.
    """
    table = rules.to_arrow(columns)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            writer.writerow([cell(value) for value in row])


def cell(value: Any) -> Any:
    """One cell: items joined, text made safe, nothing for what is not known."""
    if isinstance(value, list):
        value = JOIN.join("" if one is None else str(one) for one in value)
    return f"'{value}" if isinstance(value, str) and value.startswith(RISKY) else value


def write_json(rules: Rules, path: Path, columns: Columns = None) -> None:
    """A list of objects, one a rule."""
    text = ",\n".join(json.dumps(row, ensure_ascii=False) for row in records(rules, columns))
    path.write_text(f"[\n{text}\n]\n" if text else "[]\n", encoding="utf-8")


def write_jsonl(rules: Rules, path: Path, columns: Columns = None) -> None:
    """One object a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in records(rules, columns))


def records(rules: Rules, columns: Columns = None) -> Iterator[dict[str, Any]]:
    """Each rule as a dictionary that JSON can hold: what is not known or not finite is null."""
    for row in rules.to_arrow(columns).to_pylist():
        yield {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in row.items()
        }


def write_parquet(rules: Rules, path: Path, columns: Columns = None) -> None:
    """Parquet; items are lists."""
    pq.write_table(rules.to_arrow(columns), path)


def write_graphml(rules: Rules, path: Path, columns: Columns = None) -> None:
    """A directed graph: products are nodes, a rule is an edge that carries its columns.

    Several antecedents stand as a node of kind `set`, to which its members point.
    """
    names = [name for name in columns or rules.columns if name not in ("antecedents", "consequents", *NAMES)]
    root = xml.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for name, kind in (
        ("label", "string"),
        ("kind", "string"),
        *((("name", "string"),) if rules.catalogue.named else ()),
    ):
        xml.SubElement(root, "key", {"id": name, "for": "node", "attr.name": name, "attr.type": kind})
    for k, name in enumerate(names):
        kind = {"status": "string", "count": "long", "collisions": "long"}.get(name, "double")
        xml.SubElement(root, "key", {"id": f"c{k}", "for": "edge", "attr.name": name, "attr.type": kind})
    graph = xml.SubElement(root, "graph", id="rules", edgedefault="directed")
    nodes: dict[tuple[Label, ...], str] = {}
    for row, (antecedents, consequents) in zip(records(rules, names), rules.sides, strict=True):
        source, target = (_graph_node(graph, nodes, side, rules.catalogue) for side in (antecedents, consequents))
        edge = xml.SubElement(graph, "edge", source=source, target=target)
        for k, name in enumerate(names):
            if row[name] is not None:
                xml.SubElement(edge, "data", key=f"c{k}").text = str(row[name])
    _save(root, path)


def _graph_node(
    graph: xml.Element, nodes: dict[tuple[Label, ...], str], items: tuple[Label, ...], catalogue: Catalogue
) -> str:
    """The id of the node for these items, made with the edges from its members where it is new."""
    if items not in nodes:
        members = [_graph_node(graph, nodes, (item,), catalogue) for item in items] if len(items) > 1 else []
        nodes[items] = f"n{len(nodes)}"
        node = xml.SubElement(graph, "node", id=nodes[items])
        xml.SubElement(node, "data", key="label").text = legal(JOIN.join(map(str, items)))
        xml.SubElement(node, "data", key="kind").text = "set" if members else "product"
        if catalogue.named:
            named = JOIN.join(catalogue.name(item) or str(item) for item in items)
            xml.SubElement(node, "data", key="name").text = legal(named)
        for member in members:
            xml.SubElement(graph, "edge", source=member, target=nodes[items])
    return nodes[items]


def write_pmml(rules: Rules, path: Path, columns: Columns = None) -> None:
    """A PMML 4.4 association model; the columns beyond its own go along as extensions of each rule."""
    sets = list(dict.fromkeys(items for sides in rules.sides for items in sides))
    items = list(dict.fromkeys(item for members in sets for item in members))
    supports = dict(zip(rules.antecedents, rules["antecedent support"].tolist(), strict=True))
    supports |= dict(zip(rules.consequents, rules["consequent support"].tolist(), strict=True))
    root = xml.Element("PMML", version="4.4", xmlns="http://www.dmg.org/PMML-4_4")
    xml.SubElement(xml.SubElement(root, "Header", description="Association rules"), "Application", name="omba")
    fields = xml.SubElement(root, "DataDictionary", numberOfFields="2")
    model = _association_model(root, rules, len(items), len(sets))
    schema = xml.SubElement(model, "MiningSchema")
    for name, usage in (("basket", "group"), ("product", "active")):
        xml.SubElement(fields, "DataField", name=name, optype="categorical", dataType="string")
        xml.SubElement(schema, "MiningField", name=name, usageType=usage)
    for k, item in enumerate(items):
        entry = xml.SubElement(model, "Item", id=f"i{k}", value=legal(str(item)))
        called = rules.catalogue.name(item)
        if called is not None:
            entry.set("mappedValue", legal(called))
    places = {item: f"i{k}" for k, item in enumerate(items)}
    for k, members in enumerate(sets):
        entry = xml.SubElement(
            model, "Itemset", id=f"s{k}", support=_share(supports[members]), numberOfItems=str(len(members))
        )
        for item in members:
            xml.SubElement(entry, "ItemRef", itemRef=places[item])
    _association_rules(model, rules, {members: f"s{k}" for k, members in enumerate(sets)}, columns)
    _save(root, path)


def _association_model(root: xml.Element, rules: Rules, items: int, sets: int) -> xml.Element:
    least = {name: min((_number(v) for v in rules[name].tolist()), default=0.0) for name in ("support", "confidence")}
    return xml.SubElement(
        root,
        "AssociationModel",
        functionName="associationRules",
        algorithmName="OMBA",
        numberOfTransactions=str(rules.n),
        minimumSupport=_share(least["support"]),
        minimumConfidence=_share(least["confidence"]),
        numberOfItems=str(items),
        numberOfItemsets=str(sets),
        numberOfRules=str(len(rules)),
    )


def _association_rules(model: xml.Element, rules: Rules, sets: dict[Any, str], columns: Columns) -> None:
    own = ("antecedents", "consequents", *NAMES, "support", "confidence", "lift", "leverage")
    lifts, leverages = rules["lift"].tolist(), rules["leverage"].tolist()
    supports, confidences = rules["support"].tolist(), rules["confidence"].tolist()
    for k, (row, (antecedents, consequents)) in enumerate(zip(records(rules, columns), rules.sides, strict=True)):
        entry = xml.SubElement(
            model, "AssociationRule", id=str(k), antecedent=sets[antecedents], consequent=sets[consequents]
        )
        entry.set("support", _share(supports[k]))
        entry.set("confidence", _share(confidences[k]))
        entry.set("lift", repr(_number(lifts[k])))
        entry.set("leverage", repr(_number(leverages[k])))
        for name, value in row.items():
            if name not in own and value is not None:
                xml.SubElement(entry, "Extension", name=name, value=str(value))


def _number(value: float) -> float:
    """A number where the format has no place for none: what is not known counts as nothing."""
    return float(value) if np.isfinite(value) else 0.0


def _share(value: float) -> str:
    return repr(min(1.0, max(0.0, _number(value))))


def legal(name: str) -> str:
    """The name without the control characters that XML has no way to write."""
    return "".join(
        c for c in name if c in "\t\n\r" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")
    )


def _save(root: xml.Element, path: Path) -> None:
    xml.indent(root)
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


WRITERS: dict[str, Callable[[Rules, Path, Columns], None]] = {
    ".csv": write_csv,
    ".xlsx": write_excel,
    ".json": write_json,
    ".jsonl": write_jsonl,
    ".parquet": write_parquet,
    ".graphml": write_graphml,
    ".pmml": write_pmml,
}
