"""The way onward: the Python of the page on itemsets runs, and tells what it says it does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mlxtend.frequent_patterns import association_rules, fpgrowth

PAGE = Path(__file__).parents[2] / "docs" / "itemsets.md"
CHANGED, ONWARD = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_one_changed_line_is_all_it_takes():
    names = {}
    exec(compile(CHANGED, PAGE.name, "exec"), names)
    theirs = fpgrowth(names["onehot"], min_support=0.25, use_colnames=True)
    assert set(names["sets"].itemsets) == set(theirs.itemsets)
    assert len(names["rules"]) == len(association_rules(theirs, metric="confidence", min_threshold=0.5)) == 2


@pytest.mark.slow
def test_from_the_exact_table_to_ours_it_is_a_line_each():
    names = {}
    exec(compile(ONWARD, PAGE.name, "exec"), names)
    assert 0 < len(names["held"]) <= len(names["exact"])
    assert 0 < len(names["luck"]) < len(names["rules"])
    assert set(names["unseen"]["status"]) == {"unseen"}
    assert len(names["changed"])
