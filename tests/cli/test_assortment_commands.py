"""Commands of what to act on: families, bundles, substitutes and what a rule is worth, on the planted shop."""

import json
import re

import pytest

import omba
from omba.cli import run


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop") / "model"
    baskets = omba.datasets.planted_shop(3_000, days=200).baskets
    omba.OMBA(dim=8, epochs=2, clues=False).fit(baskets, every="7d").save(folder)
    return str(folder)


@pytest.fixture
def ask(shop, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")

    def ask(*words):
        assert run([words[0], "--model", shop, *words[1:]]) == 0
        said = capsys.readouterr()
        return said.out + said.err

    return ask


def test_money_has_its_currency_an_interval_and_is_no_promise(ask):
    for command in (["families"], ["bundles", "--floor", "1"], ["rules", "--sort", "expected_revenue"]):
        assert "£" not in ask(*command)
        said = ask(*command, "--currency", "£")
        assert said.count("£") > 5, command
        assert "not what an offer adds" in said, command
        assert " EUR" in ask(*command, "--currency", "EUR"), command
    assert re.search(r"£[\d.,]+ +£[\d.,]+ to £[\d.,]+", ask("rules", "--sort", "expected_revenue", "--currency", "£"))


def test_where_no_money_is_shown_nothing_is_said_of_it(ask):
    assert "not what an offer adds" not in ask("rules")
    assert "not what an offer adds" not in ask("families", "--json", "-")


def test_families_bundles_and_partners_answer_as_python_does(ask):
    towels = next(one for one in json.loads(ask("families", "--json", "-")) if "towel" in one["name"])
    assert towels["size"] == len(towels["products"]) == 3
    bundles = json.loads(ask("bundles", "--floor", "1", "--json", "-"))
    assert {"camping lamp", "tent"} <= {product for bundle in bundles for product in bundle["products"]}
    assert "margarine" in ask("substitutes", "butter")
    assert "bread" in ask("complements", "butter")
