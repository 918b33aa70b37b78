"""Every suite of the benchmark runs, on little data: that it runs, not how fast."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "benchmarks" / "bench.py"


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    command = [sys.executable, str(BENCH), "--quick", "--out", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout, {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}


def rows(figures, suite, table=0):
    return figures[1][suite]["tables"][table]["rows"]


@pytest.mark.thorough
def test_every_suite_ends_in_a_table_and_in_json(figures):
    printed, found = figures

    assert set(found) == {"learning", "rules", "itemsets", "current", "scale", "serving", "limit"}
    for suite in found.values():
        assert suite["quick"]
        assert suite["machine"]
        assert suite["seconds"] > 0
        for table in suite["tables"]:
            assert table["rows"]
            assert table["title"] in printed


@pytest.mark.thorough
def test_figures_of_a_quick_run_are_held_to_no_bar(figures):
    printed, found = figures

    assert "the figures mean nothing" in printed
    assert "MISSED" not in printed
    assert "reached" not in printed
    assert not any(table["bars"] for suite in found.values() for table in suite["tables"])


@pytest.mark.thorough
def test_omba_and_its_peers_stand_in_one_table(figures):
    learners = {row["method"] for row in rows(figures, "learning", 1)}
    miners = {row["miner"]: row["ended"] for row in rows(figures, "rules")}

    assert {"OMBA", "gensim CBOW", "gensim skip-gram", "the paper's equations in NumPy"} <= learners
    assert miners["OMBA"] == miners["mlxtend fpgrowth"] == miners["SciPy matrix product"] == "done"
    assert miners["PyFIM eclat"] in ("done", "not installed")


def test_a_suite_that_is_not_known_is_refused_with_those_that_are():
    ended = subprocess.run([sys.executable, str(BENCH), "speed"], capture_output=True, text=True)

    assert ended.returncode == 1
    assert "speed" in ended.stderr
    assert "learning, rules" in ended.stderr
