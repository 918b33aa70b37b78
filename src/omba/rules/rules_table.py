"""Rules table: rules as an Arrow table that holds all of them, to be kept and read back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.rules.catalogue import Catalogue
from omba.rules.hashing import Hashing
from omba.rules.measures import MEASURES
from omba.rules.rule_columns import AT_LEAST
from omba.rules.rules import Rules

COLUMNS = (
    "antecedents", "consequents", "count", "n_a", "n_b", "lift", "support", "confidence", "similarity", "status",
    "expected_lift", "expected_lift_low", "expected_lift_high", "probability", "collisions", "value", "p_adjusted",
    "count_at_least",
)  # fmt: skip
"""What is kept of each rule, beside the number of baskets `n`."""

GIVEN = tuple(name for name in COLUMNS[6:] if name not in MEASURES or name == "p_adjusted")
"""Those that do not follow from the counts."""

HASHING = "omba.hashing"
"""Where the metadata of a table tell of the hash tables behind its collisions and probabilities."""


def rules_table(rules: Rules) -> pa.Table:
    """A table of rules with all that a later comparison needs; its F and H stand in the metadata of the schema."""
    table = rules.to_arrow(COLUMNS).append_column("n", pa.array([rules.n] * len(rules), pa.int64()))
    if rules.hashing is None:
        return table
    return table.replace_schema_metadata({HASHING: json.dumps(asdict(rules.hashing))})


def read_rules(table: pa.Table, catalogue: Catalogue | None = None) -> Rules:
    """The reverse of `rules_table`; columns that an older table lacks come back as not known."""
    given = {name: _column(table, name) for name in GIVEN if name in table.column_names}
    count, n_a, n_b = (table[name].to_numpy().astype(np.int64) for name in ("count", "n_a", "n_b"))
    antecedents, consequents = (
        [tuple(items) for items in table[name].to_pylist()] for name in ("antecedents", "consequents")
    )
    n = int(table["n"][0].as_py()) if len(table) else 0
    described = (table.schema.metadata or {}).get(HASHING.encode())
    hashing = None if described is None else Hashing(**json.loads(described))
    return Rules(antecedents, consequents, count, n_a, n_b, n, given, catalogue or Catalogue(), hashing=hashing)


def _column(table: pa.Table, name: str) -> NDArray[Any]:
    if name == "status":
        return np.array(table[name].to_pylist(), object)
    if name == AT_LEAST:
        return np.array(table[name].to_pylist(), bool)
    if name == "collisions":
        return np.asarray(table[name].fill_null(-1).to_numpy())
    return np.asarray(table[name].to_numpy(), np.float64)
