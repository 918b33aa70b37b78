"""The table of rules: columns, order, filters, and what a person sees."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from omba.errors import InputError, MissingExtraError, UnknownError
from omba.model import likelihood
from omba.rules import Catalogue, Rule, Rules
from omba.rules.measures import MEASURES, MLXTEND
from omba.rules.order import TRACE
from omba.rules.rule_columns import COLUMNS, OURS
from omba.rules.rules import join_tables

LABELS = ["pasta", "sauce", "cheese", "wine", "soap", "<b>bread</b>"]


def some_rules(**changes) -> Rules:
    """Four rules over six products: a strong one, a large one, one never seen, one with two antecedents."""
    attributes = pa.table(
        {
            "product": LABELS,
            "department": ["Grocery", "Grocery", "Dairy", "Drinks", "Drugs", "Bakery"],
            "size": [1, 2, 3, 4, 5, 6],
        }
    )
    table = {
        "antecedents": [("pasta",), ("wine",), ("soap",), ("pasta", "sauce")],
        "consequents": [("sauce",), ("cheese",), ("<b>bread</b>",), ("cheese",)],
        "count": np.array([30, 4, 0, 12]),
        "n_a": np.array([50, 20, 9, 30]),
        "n_b": np.array([60, 100, 8, 100]),
        "n": 1000,
        "given": {"similarity": np.array([0.9, 0.4, 0.7, 0.5]), "expected_lift_low": np.array([8.0, 1.5, np.nan, 3.0])},
        "catalogue": Catalogue(LABELS, np.array([2.0, 3.0, 8.0, 12.0, np.nan, 2.5]), attributes),
    }
    return Rules(**(table | changes))


def names(rules: Rules) -> list[str]:
    return [str(rule) for rule in rules]


def test_the_table_is_a_sequence_of_rules():
    rules = some_rules()
    assert len(rules) == 4
    assert rules[0] == Rule(("pasta",), ("sauce",), count=30, n_a=50, n_b=60, n=1000)
    assert rules[-1].antecedents == ("pasta", "sauce")
    assert names(rules.head(2)) == names(rules[:2]) == ["pasta ⇒ sauce", "wine ⇒ cheese"]
    assert [rule.lift for rule in rules] == pytest.approx(rules["lift"])


def test_every_measure_is_a_column_and_an_unknown_one_gets_a_suggestion():
    rules = some_rules()
    for name in (*COLUMNS, *MEASURES):
        assert len(rules[name]) == 4
    assert rules["confidence"].tolist() == [0.6, 0.2, 0.0, 0.4]
    with pytest.raises(UnknownError, match="did you mean 'confidence'"):
        rules["confidense"]


def test_what_mining_did_not_tell_is_there_but_empty():
    rules = some_rules(given={})
    assert np.isnan(rules["expected_lift"]).all()
    assert rules.to_arrow()["collisions"].to_pylist() == [None] * 4
    assert rules.to_pandas()["collisions"].isna().all()


def test_a_rule_is_observed_rare_or_unseen_by_its_count():
    assert some_rules(count=np.array([5, 4, 0, 1]))["status"].tolist() == ["observed", "rare", "unseen", "rare"]


def test_sorting_puts_the_best_first_and_the_unknown_last():
    rules = some_rules()
    assert rules.sort("similarity")["similarity"].tolist() == [0.9, 0.7, 0.5, 0.4]
    assert names(rules.sort("expected_lift_low"))[-1] == "soap ⇒ <b>bread</b>"
    assert (np.diff(rules.sort("fishers_p")["fishers_p"]) >= 0).all()
    assert names(rules.sort("antecedents"))[0] == "pasta + sauce ⇒ cheese"
    assert names(rules)[0] == "pasta ⇒ sauce"  # the table itself stays as it was


def test_p_values_stay_adjusted_for_all_rules_that_were_looked_at():
    whole = some_rules()
    kept = some_rules(given={"p_adjusted": whole["p_adjusted"]}).filter(product="pasta")
    assert kept["p_adjusted"].tolist() == whole["p_adjusted"][[0, 3]].tolist()


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [
        ({"product": "pasta"}, [0, 3]),
        ({"product": "cheese"}, [1, 3]),
        ({"antecedent": "sauce"}, [3]),
        ({"consequent": "sauce"}, [0]),
        ({"category": "dairy"}, [1, 3]),
        ({"min_price": 2.5}, [1]),
        ({"max_price": 8}, [0, 3]),
        ({"min_price": 3, "max_price": 12}, [1]),
        ({"status": "rare"}, [1]),
        ({"status": "unseen"}, [2]),
        ({"length": 3}, [3]),
        ({"minimum": {"lift": 3}}, [0, 3]),
        ({"minimum": {"lift": 3, "similarity": 0.6}}, [0]),
        ({"maximum": {"fishers_p": 0.001}}, [0, 3]),
        ({"product": "pasta", "length": 2}, [0]),
        ({}, [0, 1, 2, 3]),
    ],
)
def test_filters_keep_what_they_say(wanted, kept):
    rules = some_rules()
    assert names(rules.filter(**wanted)) == [names(rules)[row] for row in kept]
    assert rules.filter(**wanted)["similarity"].tolist() == rules["similarity"][kept].tolist()


def test_a_product_given_as_text_is_found_among_numbers():
    rules = some_rules(
        antecedents=[(1,), (2,), (3,), (4,)],
        consequents=[(5,), (6,), (7,), (8,)],
        catalogue=Catalogue(list(range(10))),
    )
    assert len(rules.filter(product="6")) == 1


@pytest.mark.parametrize(
    ("wanted", "error", "says"),
    [
        ({"product": "pasat"}, UnknownError, "did you mean 'pasta'"),
        ({"category": "dary"}, UnknownError, "did you mean 'Dairy'"),
        ({"status": "seldom"}, InputError, "observed, rare, unseen"),
        ({"min_price": 5, "max_price": 2}, InputError, "nothing lies between"),
        ({"minimum": {"lft": 2}}, UnknownError, "did you mean 'lift'"),
    ],
)
def test_a_filter_that_cannot_work_says_why(wanted, error, says):
    with pytest.raises(error, match=says):
        some_rules().filter(**wanted)


def test_filters_on_what_nobody_told_are_refused():
    bare = some_rules(catalogue=Catalogue(LABELS))
    with pytest.raises(InputError, match="nothing but the labels"):
        bare.filter(category="Dairy")
    with pytest.raises(InputError, match="no prices are known"):
        bare.filter(min_price=1)


def test_pandas_gets_mlxtends_columns_and_frozensets():
    frame = some_rules().to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert tuple(frame.columns) == ("antecedents", "consequents", *MLXTEND, *OURS)
    assert frame.antecedents[3] == frozenset({"pasta", "sauce"})
    assert frame["count"].tolist() == [30, 4, 0, 12]
    assert tuple(some_rules().to_pandas(["consequents", "phi"]).columns) == ("consequents", "phi")


def test_polars_and_arrow_get_lists():
    frame = some_rules().to_polars()
    assert isinstance(frame, pl.DataFrame)
    assert frame["antecedents"].to_list()[3] == ["pasta", "sauce"]
    table = some_rules().to_arrow()
    assert table.column_names == list(COLUMNS)
    assert table["expected_lift_low"].to_pylist() == [8.0, 1.5, None, 3.0]


def test_without_pandas_or_polars_only_their_frames_are_missing():
    code = (
        "import sys\nclass Absent:\n    def find_spec(self, name, *rest):\n"
        "        if name.split('.')[0] in ('pandas', 'polars'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import numpy as np\nfrom omba.rules import Rules\nfrom omba.errors import MissingExtraError\n"
        "one = np.array([1])\nrules = Rules([('a',)], [('b',)], count=one, n_a=one, n_b=one, n=2)\n"
        "assert rules.to_arrow().num_rows == 1\n"
        "for make in (rules.to_pandas, rules.to_polars):\n"
        "    try: make()\n"
        "    except MissingExtraError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "to_pandas needs pandas: install it with `pip install pandas`" in done.stdout
    assert "to_polars needs polars" in done.stdout
    assert issubclass(MissingExtraError, ImportError)


def test_a_person_sees_the_first_rules_in_aligned_columns():
    seen = repr(some_rules())
    lines = seen.splitlines()
    assert lines[0] == "Rules(4 rules from 1,000 baskets)"
    assert lines[2].startswith("pasta ⇒ sauce ")
    assert "expected_lift" not in seen  # nothing is known of it
    many = some_rules().take(np.arange(40) % 4)
    assert repr(many).endswith("… and 30 more")
    assert repr(some_rules().filter(minimum={"lift": 1e9})) == "Rules(0 rules from 1,000 baskets)"


def test_a_notebook_shows_names_as_text_never_as_markup():
    shown = some_rules()._repr_html_()
    assert "&lt;b&gt;bread&lt;/b&gt;" in shown
    assert "<b>bread" not in shown
    assert shown.count("<tr>") == 5


def test_explaining_is_left_to_the_one_who_knows():
    class Knows:
        def explain(self, a, b):
            return f"{a} and {b}"

    assert some_rules(explainer=Knows()).explain("pasta", "wine") == "pasta and wine"
    with pytest.raises(UnknownError, match="did you mean 'pasta'"):
        some_rules(explainer=Knows()).explain("pastta", "wine")
    with pytest.raises(InputError, match="cannot be explained"):
        some_rules().explain("pasta", "wine")


def test_tables_are_joined_without_rules_that_come_again():
    whole = some_rules()
    again = join_tables([whole[:2], whole[1:]])
    assert again.to_arrow().equals(whole.to_arrow())
    assert again["similarity"].tolist() == whole["similarity"].tolist()


def test_rules_of_a_season_have_a_column_and_can_be_asked_for():
    def seasons(rows):
        return ["Nov–Jan" if 2 in row else "" for row in rows.tolist()]

    table = Rules(
        [("tea",), ("tree",)], [("milk",), ("star",)], count=np.array([3, 3]), n_a=np.array([4, 4]),
        n_b=np.array([6, 6]), n=12, catalogue=Catalogue(["tea", "milk", "tree", "star"], seasons=seasons),
    )  # fmt: skip
    assert table["season"].tolist() == ["", "Nov–Jan"]
    assert table.columns[-1] == "season"
    assert table.to_arrow()["season"].to_pylist() == ["", "Nov–Jan"]
    assert [len(table.filter(season=asked)) for asked in ("any", "none", "Dec", "Jan", "Feb")] == [1, 1, 1, 1, 0]
    assert "season" not in table.filter(season="none").columns
    with pytest.raises(InputError, match="season 'winter' is not known"):
        table.filter(season="winter")


def test_columns_are_attributes_and_masks_leave_the_rules_where_they_are_true():
    rules = Rules(
        [("a",), ("b",), ("a", "b")], [("c",), ("c",), ("c",)],
        count=np.array([3, 2, 1]), n_a=np.array([4, 4, 2]), n_b=np.array([5, 5, 5]), n=20,
        given={"expected_lift_low": np.array([1.5, 0.5, np.nan])},
    )  # fmt: skip
    assert rules.lift.tolist() == rules["lift"].tolist()
    assert rules.antecedent_support.tolist() == [0.2, 0.2, 0.1]
    assert [str(rule) for rule in rules[rules.lift > 2.5]] == ["a ⇒ c"]
    assert len(rules[rules.length == 3]) == len(rules.filter(length=3)) == 1
    assert (rules[0].status, rules[0].expected_lift_low, rules[1].expected_lift_low) == ("rare", 1.5, 0.5)
    with pytest.raises(InputError, match="3 truth values"):
        rules[np.array([True])]
    with pytest.raises(AttributeError, match="did you mean 'lift'"):
        rules.lft  # noqa: B018


def test_a_strong_rule_that_may_not_occur_ranks_between_sure_rules_and_those_that_promise_nothing():
    low = np.array([0.4, 0.9 * TRACE, 2.0, 0.1 * TRACE, 1.1])
    table = Rules(
        [(x,) for x in "abcde"], [("z",)] * 5, count=np.full(5, 3), n_a=np.full(5, 4), n_b=np.full(5, 6), n=12,
        given={"expected_lift_low": low},
    )  # fmt: skip
    assert "".join(a for (a,) in table.sort("expected_lift_low").antecedents) == "cebad"
    assert "".join(a for (a,) in table.sort("expected_lift_low", "asc").antecedents) == "dabec"
    assert likelihood.TRACE == TRACE
