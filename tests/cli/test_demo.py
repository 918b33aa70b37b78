"""The demo: a few days of real groceries, from data to rules, report and model."""

import contextlib
import io
import json
import shlex
from pathlib import Path

import pytest

import omba
from omba.cli import run
from serving import served


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def printed(folder):
    """What a demo of ten days prints, on standard output and beside it."""
    said, aside = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(said), contextlib.redirect_stderr(aside):
        assert run(["demo", "--until", "2017-01-11", "--json", "rules.json"]) == 0
    return said.getvalue(), aside.getvalue()


def test_the_demo_prints_strong_rules_and_unseen_pairs(printed):
    out, _ = printed
    strong, unseen = out.split("Never bought together")

    assert strong.count("⇒") == 12
    assert unseen.count("⇒") == 12


def test_the_demo_leaves_a_report_and_a_model_and_says_where(printed, folder):
    out, _ = printed

    assert "omba-demo/report.html" in out
    assert "omba rules --model omba-demo/model" in out
    assert (folder / "omba-demo" / "report.html").read_text().startswith("<!doctype html>")
    assert omba.OMBA.load(folder / "omba-demo" / "model").n_windows == 10


def test_the_demo_says_what_became_of_the_rows(printed):
    _, aside = printed

    assert "1,469,307 rows read, 1,236,437 kept" in aside
    assert "dropped: nothing was paid" in aside


def test_the_rules_of_the_demo_come_as_json_too(printed, folder):
    tables = json.loads((folder / "rules.json").read_text())

    assert len(tables["strongest"]) == 25
    assert all(rule["status"] == "unseen" and rule["count"] == 0 for rule in tables["unseen"])


def test_the_commands_the_demo_ends_with_work(printed, folder, monkeypatch, capsys):
    out, _ = printed
    monkeypatch.chdir(folder)
    commands = [shlex.split(line) for line in out.splitlines() if line.strip().startswith("omba ")]

    assert [command[1] for command in commands] == ["rules", "explain", "similar", "rank", "serve"]
    for command in commands[:-1]:
        assert run(command[1:]) == 0
        assert capsys.readouterr().out


def test_the_dashboard_opens_on_what_the_demo_left(printed, folder):
    line = next(line for line in printed[0].splitlines() if "omba serve" in line)
    with contextlib.chdir(folder), served(Path(shlex.split(line)[-1])) as client:
        told = client.get("/status").json()
        assert (told["windows_closed"], told["products"] > 1_000, len(told["history"])) == (10, True, 1)
        assert client.get("/today").json()["strongest"]
