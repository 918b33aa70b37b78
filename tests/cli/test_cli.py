"""The command line: real commands on small files, and one clear sentence for every mistake."""

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest

import omba
from omba.cli import COMMANDS, app, run
from omba.settings import SETTINGS

SMALL = ["--dim", "16", "--epochs", "2", "--pairs", "20000"]
WORLD = omba.datasets.synthetic(baskets=1_500, products=150, users=60, days=20, pairs=4, seed=3)


@pytest.fixture(scope="module")
def sales(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("sales") / "sales.csv"
    WORLD.baskets.write(path)
    return path


@pytest.fixture(scope="module")
def model(sales) -> Path:
    folder = sales.parent / "model"
    assert run(["learn", str(sales), "--model", str(folder), *SMALL]) == 0
    return folder


def test_learning_says_what_it_recognised_what_it_read_and_where_the_model_is(sales, tmp_path, capsys):
    status = run(["learn", str(sales), "--model", str(tmp_path / "m"), *SMALL])

    said = capsys.readouterr()
    assert status == 0
    assert "recognised basket = 'basket_id', product = 'product', user = 'user_id', time = 'timestamp'" in said.err
    assert f"{WORLD.baskets.n_items:,} rows read, {WORLD.baskets.n_items:,} kept" in said.err
    assert said.err.count("recognised") == 1
    assert "1,500 baskets in 20 windows" in said.out
    assert f"omba rules --model {tmp_path / 'm'}" in said.out
    assert omba.OMBA.load(tmp_path / "m").n_baskets == 1_500


def test_a_bar_over_a_file_knows_how_many_baskets_there_are(sales):
    with omba.stream_baskets(str(sales)) as stream:
        assert stream.total == sum(map(len, stream.windows())) == 1_500


def test_rows_that_are_dropped_are_told_of(tmp_path, capsys):
    path = tmp_path / "sales.csv"
    path.write_text("basket_id,product,quantity\n1,tea,1\n1,milk,1\n2,,1\n2,tea,-1\n2,milk,2\n")

    assert run(["learn", str(path), "--model", str(tmp_path / "m"), *SMALL]) == 0

    said = capsys.readouterr().err
    assert "5 rows read, 3 kept" in said
    assert "1 dropped: no product" in said
    assert "1 dropped: quantity zero or negative: a return or a correction" in said


@pytest.mark.slow
def test_a_csv_of_a_data_set_gives_the_same_model_as_the_data_set(tmp_path):
    weeks = omba.datasets.complete_journey().between(None, "2017-01-06")
    weeks.write(tmp_path / "weeks.csv")

    assert run(["learn", str(tmp_path / "weeks.csv"), "--model", str(tmp_path / "a"), *SMALL]) == 0
    assert run(["learn", "complete-journey", "--until", "2017-01-06", "--model", str(tmp_path / "b"), *SMALL]) == 0

    a, b = (omba.OMBA.load(tmp_path / name) for name in "ab")
    assert a.products == b.products
    assert a.n_baskets == b.n_baskets == len(weeks)
    assert np.array_equal(a.product_vectors, b.product_vectors)
    assert np.array_equal(a.user_vectors, b.user_vectors)


def test_learning_in_two_goes_gives_the_same_model_as_in_one(sales, model, tmp_path, capsys):
    command = ["learn", str(sales), "--model", str(tmp_path / "m")]
    assert run([*command, *SMALL, "--until", "2017-01-08"]) == 0
    half = omba.OMBA.load(tmp_path / "m").n_baskets
    capsys.readouterr()

    assert run(command) == 0

    said = capsys.readouterr().err
    assert f"which has learned {half:,} baskets" in said
    assert f"{half:,} baskets up to 2017-01-07 were passed over" in said
    assert np.array_equal(omba.OMBA.load(tmp_path / "m").product_vectors, omba.OMBA.load(model).product_vectors)


def test_learning_the_same_again_changes_nothing_and_new_starts_over(sales, tmp_path, capsys):
    command = ["learn", str(sales), "--model", str(tmp_path / "m"), "--until", "2017-01-05"]
    assert run([*command, *SMALL]) == 0
    before = omba.OMBA.load(tmp_path / "m")

    assert run(command) == 0
    assert np.array_equal(omba.OMBA.load(tmp_path / "m").product_vectors, before.product_vectors)

    assert run([*command, "--new", "--dim", "8"]) == 0
    again = omba.OMBA.load(tmp_path / "m")
    assert again.dim == 8
    assert again.n_baskets == before.n_baskets


def test_baskets_without_time_are_all_new_to_a_model_that_goes_on(tmp_path, capsys):
    path = tmp_path / "lines.basket"
    path.write_text("tea,milk\ntea,milk,bread\nsoap,brush\n")
    command = ["learn", str(path), "--model", str(tmp_path / "m")]

    assert run([*command, *SMALL]) == 0
    assert run(command) == 0

    assert "no time" in capsys.readouterr().err
    assert omba.OMBA.load(tmp_path / "m").n_baskets == 6


def test_a_model_goes_on_with_its_own_settings_only(sales, model, capsys):
    assert run(["learn", str(sales), "--model", str(model), "--dim", "17"]) == 2

    assert "was learned with dim = 16, not 17: leave --dim out" in capsys.readouterr().err


def test_ctrl_c_stops_after_the_window_and_the_same_command_goes_on(sales, model, tmp_path, monkeypatch, capsys):
    learn, windows = omba.OMBA.partial_fit, 0

    def interrupted(self, window):
        nonlocal windows
        windows += 1
        if windows == 3:
            signal.raise_signal(signal.SIGINT)
        return learn(self, window)

    command = ["learn", str(sales), "--model", str(tmp_path / "m")]
    with monkeypatch.context() as patch:
        patch.setattr(omba.OMBA, "partial_fit", interrupted)
        assert run([*command, *SMALL]) == 130
    assert omba.OMBA.load(tmp_path / "m").n_windows == 3
    assert "goes on from here" in capsys.readouterr().err

    assert run(command) == 0
    assert np.array_equal(omba.OMBA.load(tmp_path / "m").product_vectors, omba.OMBA.load(model).product_vectors)


def test_every_setting_of_the_learner_is_an_option(sales, tmp_path):
    changed = {
        "dim": 8, "learning_rate": 0.07, "negatives": 2, "tau": 0.2, "epochs": 1, "seed": 5, "threads": 2, "power": 0.9,
        "user_share": 0.4, "user_targets": True, "value": (2.3, 10.0), "memory": 16, "categories": False,
        "clues": False, "pairs": 30_000,
    }  # fmt: skip
    assert changed.keys() == SETTINGS.keys()
    options = []
    for name, value in changed.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            options += [f"--{flag}" if value else f"--no-{flag}"]
        else:
            options += [f"--{flag}", "2.3,10" if name == "value" else str(value)]

    assert run(["learn", str(sales), "--model", str(tmp_path / "m"), "--until", "2017-01-03", *options]) == 0

    assert omba.OMBA.load(tmp_path / "m").get_params() == changed


def test_the_papers_settings_can_be_had_by_name_and_changed_singly(sales, tmp_path):
    command = ["learn", str(sales), "--model", str(tmp_path / "m"), "--until", "2017-01-03"]

    assert run([*command, "--paper", "--dim", "8"]) == 0

    assert omba.OMBA.load(tmp_path / "m").get_params() == omba.OMBA.paper(dim=8).get_params()


def test_learning_tells_in_json_what_it_learned(sales, tmp_path, capsys):
    assert run(["learn", str(sales), "--model", str(tmp_path / "m"), *SMALL, "--json", "-"]) == 0

    facts = json.loads(capsys.readouterr().out)
    assert facts["baskets"] == 1_500
    assert facts["windows"] == 20
    assert facts["products"] == len(WORLD.baskets.products)
    assert facts["settings"]["dim"] == 16


def test_rules_are_printed_and_hold_what_is_planted(model, capsys):
    assert run(["rules", "--model", str(model), "--top", "5"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert any("5 rules from 1,500 baskets" in line for line in lines)
    table = [line for line in lines if "⇒" in line]
    assert len(table) == 5
    assert all(len(line.split("⇒")) == 2 and ("observed" in line or "rare" in line) for line in table)


def test_json_on_standard_output_is_all_there_is_on_it(model, capsys):
    assert run(["rules", "--model", str(model), "--top", "7", "--json", "-"]) == 0

    records = json.loads(capsys.readouterr().out)
    assert len(records) == 7
    assert {"antecedents", "consequents", "support", "confidence", "lift", "status", "expected_lift"} <= records[
        0
    ].keys()


def test_json_in_a_file_comes_beside_the_table(model, tmp_path, capsys):
    assert run(["rules", "--model", str(model), "--top", "3", "--json", str(tmp_path / "rules.json")]) == 0

    assert len(json.loads((tmp_path / "rules.json").read_text())) == 3
    assert capsys.readouterr().out.count("⇒") == 3


def test_where_no_rule_passes_one_sentence_says_so_and_no_empty_table_is_drawn(model, capsys):
    assert run(["rules", "--model", str(model), "--min", "lift=1000000"]) == 0

    said = capsys.readouterr()
    assert "0 rules from" in said.out
    assert "confidence" not in said.out
    assert "No rule passes all the filters" in said.err


def test_rules_are_filtered_sorted_and_written(model, tmp_path, capsys):
    product = WORLD.truth.complementary[0][0]
    command = ["rules", "--model", str(model), "--product", product, "--top", "4", "--min", "lift=1.5", "--sort"]

    assert run([*command, "conviction", "--out", str(tmp_path / "rules.parquet"), "--status", "observed"]) == 0

    rules = parquet.read_table(tmp_path / "rules.parquet").to_pylist()
    assert rules
    assert all(product in rule["antecedents"] + rule["consequents"] for rule in rules)
    assert all(rule["lift"] >= 1.5 and rule["status"] == "observed" for rule in rules)
    convictions = [rule["conviction"] for rule in rules]
    assert convictions == sorted(convictions, reverse=True)
    assert "conviction" in capsys.readouterr().out


def test_similar_and_rank_answer_as_the_model_does(model, capsys):
    a, b = WORLD.truth.complementary[0]
    learned = omba.OMBA.load(model)

    assert run(["similar", a, "--model", str(model), "--top", "3", "--json", "-"]) == 0
    assert [r["product"] for r in json.loads(capsys.readouterr().out)] == [p for p, _ in learned.similar(a, 3)]

    user = learned.users[0]
    assert run(["rank", "--model", str(model), "--basket", f"{a}, {b}", "--user", user, "--json", "-"]) == 0
    assert [r["product"] for r in json.loads(capsys.readouterr().out)] == [p for p, _ in learned.rank([a, b], user, 10)]


def test_who_and_what_is_not_known_is_told_where_the_answer_is(model, capsys):
    a, _ = WORLD.truth.complementary[0]
    assert run(["rank", "--model", str(model), "--basket", f"{a}, soup of stones", "--user", "nobody"]) == 0
    title = next(line for line in capsys.readouterr().out.splitlines() if line.strip())
    assert title.startswith(f"goes with {a} (left out, not known to the model: 'soup of stones')")
    assert "for anybody: user 'nobody' is not known to the model" in title

    assert run(["rank", "--model", str(model), "--basket", a, "--user", "nobody", "--json", "-"]) == 0
    assert {record["user"] for record in json.loads(capsys.readouterr().out)} == {None}


def test_the_next_baskets_of_a_file_of_customers_come_as_a_table(model, tmp_path, capsys):
    learned = omba.OMBA.load(model)
    known, file, out = learned.users[0], tmp_path / "customers.csv", tmp_path / "next.csv"
    file.write_text(f"user,since\n{known},2020\nnobody,2021\n{known},2020\n")
    assert run(["next", "--model", str(model), "--users", str(file), "--top", "4", "--out", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["user"] for row in rows] == [str(known)] * 4 + ["nobody"] * 4
    assert [row["product"] for row in rows[:4]] == [str(product) for product, _ in learned.next_basket(known, 4)]
    assert {row["kind"] for row in rows[4:]} == {"unknown customer"}
    due = {str(one.product): str(one.due) for one in learned.customer(known).products}
    assert all(row["due"] == due.get(row["product"], "False") for row in rows[:4])
    capsys.readouterr()
    assert run(["next", "--model", str(model), "--user", str(known), "--top", "2"]) == 0
    assert f"for {known} (about" in capsys.readouterr().out


def test_what_is_no_list_of_names_is_refused_in_a_sentence(model, tmp_path, capsys):
    assert run(["rank", "--model", str(model), "--basket", "tea\rmilk"]) == 2
    assert "is no list of products" in capsys.readouterr().err
    before = csv.field_size_limit(1_000)
    try:
        (tmp_path / "customers.csv").write_text("user\n" + "a" * 2_000 + "\n")
        assert run(["next", "--model", str(model), "--users", str(tmp_path / "customers.csv")]) == 2
    finally:
        csv.field_size_limit(before)
    assert "is no CSV" in capsys.readouterr().err


def test_a_pair_is_explained_in_words_and_in_json(model, capsys):
    (a, b), bridge = WORLD.truth.bridged[0], WORLD.truth.bridges[0]

    assert run(["explain", a, b, "--model", str(model)]) == 0
    said = capsys.readouterr().out
    assert f"{a} and {b} were never bought together in 1,500 baskets" in said
    assert bridge in said

    assert run(["explain", a, b, "--model", str(model), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "unseen"
    assert bridge in [each["product"] for each in found["bridges"]]


def test_the_past_can_be_asked_about(sales, tmp_path, capsys):
    folder = tmp_path / "m"
    assert run(["learn", str(sales), "--model", str(folder), *SMALL, "--history", "7d"]) == 0
    early = omba.OMBA(dim=16, epochs=2, pairs=20_000).fit(WORLD.baskets.between(None, "2017-01-12"))
    product = WORLD.truth.complementary[0][0]
    capsys.readouterr()

    assert run(["similar", product, "--model", str(folder), "--at", "2017-01-13", "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    expected = early.similar(product, 10)
    assert [each["product"] for each in told][:3] == [label for label, _ in expected][:3]
    assert told[0]["similarity"] == pytest.approx(expected[0][1], abs=1e-3)

    assert run(["diff", "--model", str(folder), "--from", "2017-01-12", "--to", "2017-02-01"]) == 0
    said = capsys.readouterr().out
    assert "before 2017-01-12 00:00:00" in said
    assert "until 2017-01-20" in said
    assert all(kind in said for kind in ("emerged (", "strengthened (", "faded (", "vanished ("))

    assert run(["diff", "--model", str(folder), "--from", "2017-01-12", "--to", "2017-02-01", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"emerged", "strengthened", "faded", "vanished"}


def test_products_that_are_numbers_are_found_by_their_digits(tmp_path, capsys):
    path = tmp_path / "sales.csv"
    rows = "".join(f"{i},{p}\n" for i in range(40) for p in ((11, 12) if i % 2 else (13, 14)))
    path.write_text("basket_id,product_id\n" + rows)
    assert run(["learn", str(path), "--model", str(tmp_path / "m"), *SMALL]) == 0
    capsys.readouterr()

    assert run(["similar", "11", "--model", str(tmp_path / "m"), "--json", "-"]) == 0

    assert json.loads(capsys.readouterr().out)[0]["product"] == 12


def test_labels_cannot_move_the_cursor_or_be_read_as_markup(tmp_path, capsys):
    path = tmp_path / "sales.csv"
    rows = "".join(f"{i},{p}\n" for i in range(40) for p in ("[red]tea[/red]", "milk\x1b[2J"))
    path.write_text("basket_id,product\n" + rows)
    assert run(["learn", str(path), "--model", str(tmp_path / "m"), *SMALL]) == 0

    assert run(["similar", "[red]tea[/red]", "--model", str(tmp_path / "m")]) == 0

    said = capsys.readouterr().out
    assert "nearest to [red]tea[/red]" in said
    assert "\x1b" not in said
    assert "milk\ufffd[2J" in said


@pytest.mark.slow
def test_methods_are_evaluated_side_by_side(sales, capsys):
    command = ["evaluate", str(sales), "--methods", "pop, lift", "--windows", "3", "--seed", "1"]

    assert run([*command, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["method"] for row in found["rows"]} == {"pop", "lift"}
    expected = omba.evaluate(["lift"], omba.read_baskets(str(sales)), windows=3, seed=1)["lift"].mrr
    assert next(row["mrr"] for row in found["rows"] if row["method"] == "lift") == expected

    assert run(command) == 0
    said = capsys.readouterr().out
    assert f"{expected:.4f}" in said
    assert "guessing has an MRR of" in said


MISTAKES = {
    "no such file": ("learn nowhere.csv --model {tmp}/m", "nowhere.csv"),
    "a glob that matches nothing": ("learn {tmp}/*.csv --model {tmp}/m", "*.csv"),
    "no such column": ("learn {sales} --model {tmp}/m --product produkt", "did you mean 'product'?"),
    "a built-in misspelt": ("learn complete-journey:product --model {tmp}/m", "product"),
    "a column of a built-in": ("learn complete-journey --model {tmp}/m --basket x", "leave it out"),
    "a date that is none": ("learn {sales} --model {tmp}/m --until soon", "'soon' is not a date"),
    "a window that is none": ("learn {sales} --model {tmp}/m --every fortnight", "'fortnight' is not known"),
    "a setting out of bounds": ("learn {sales} --model {tmp}/m --dim 0", "from 2 to 4096"),
    "a setting that is no number": ("learn {sales} --model {tmp}/m --dim many", "'--dim'"),
    "a value that is none": ("learn {sales} --model {tmp}/m --value high", "--value is 'high'"),
    "a model under a file": ("learn {sales} --model {sales}/m", "sales.csv"),
    "no model": ("rules --model {tmp}/nothing", "there is no model in"),
    "an unknown product": ("similar p9999 --model {model}", "'p9999' is not known"),
    "a product explained by itself": ("explain p001 p001 --model {model}", "asked about twice"),
    "a moment before the history": ("similar p001 --model {model} --at 2016-12-01", "is before the history"),
    "moments too close": ("diff --model {model} --from 2017-03-01 --to 2017-03-02", "lead to"),
    "no history": ("diff --model {tmp} --from 2017-03-01 --to 2017-03-02", "there is no history in"),
    "a history of so many baskets": ("learn {sales} --model {tmp}/m --history 500", "give a span of time"),
    "an empty basket": ("rank --model {model} --basket ,", "holds no product"),
    "an unknown status": ("rules --model {model} --status often", "'often' is not known"),
    "an unknown column": ("rules --model {model} --sort lifft", "did you mean 'lift'"),
    "a bound that is none": ("rules --model {model} --min lift", "write it as in lift=5"),
    "a file of no known kind": ("rules --model {model} --out {tmp}/rules.docx", "rules.docx"),
    "a folder that is not there": ("rules --model {model} --json {tmp}/a/b.json", "No such file or directory"),
    "an unknown method": ("evaluate {sales} --methods magic", "there is no method 'magic'"),
    "an unknown option": ("rules --model {model} --tip 3", "--tip"),
    "a missing argument": ("similar --model {model}", "Missing argument 'product': see omba similar --help"),
    "a missing option": ("rules", "Missing option '--model'"),
    "an unknown command": ("learns", "learns"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_sentence_and_exit_status_2(mistake, sales, model, tmp_path, capsys):
    command, told = MISTAKES[mistake]
    arguments = command.format(sales=sales, model=model, tmp=tmp_path).split()

    status = run(arguments)

    said = capsys.readouterr()
    errors = [line for line in said.err.splitlines() if line.startswith("omba: ")]
    assert status == 2
    assert said.out == ""
    assert len(errors) == 1
    assert told in errors[0]
    assert "Traceback" not in said.err


def test_a_damaged_model_gets_a_sentence_too(model, tmp_path, capsys):
    (tmp_path / "current").write_text("snapshot-000000")

    assert run(["rules", "--model", str(tmp_path)]) == 2

    assert "does not name a snapshot" in capsys.readouterr().err


def test_truth_tells_which_rules_held(tmp_path, capsys):
    omba.datasets.synthetic(baskets=3_000, products=200, users=100, days=20, seed=0).write(tmp_path / "world.parquet")

    assert run(["truth", str(tmp_path / "world.parquet"), "--json", "-"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert {row["ranking"] for row in figures["held"]} >= {"expected_lift_low", "highest lift"}
    assert run(["truth", str(tmp_path / "world.parquet"), "--until", "1900-01-01"]) == 2


def test_without_a_command_there_is_help(capsys):
    assert run([]) == 0

    said = capsys.readouterr().out
    assert all(name in said for name in ("demo", "learn", "rules", "explain", "similar", "rank", "diff", "evaluate"))


def test_each_command_alone_has_the_help_that_it_has_among_all(capsys):
    for name in COMMANDS:
        assert run([name, "--help"]) == 0
        alone = capsys.readouterr().out
        app([name, "--help"], prog_name="omba", standalone_mode=False)
        assert capsys.readouterr().out == alone
        assert alone.split()[:3] == ["Usage:", "omba", name]


def test_a_rank_does_not_wait_for_pandas(model):
    asked = "import sys; from omba.cli import run; run(sys.argv[1:]); print('pandas' in sys.modules)"
    given = ["rank", "--model", str(model), "--basket", str(omba.OMBA.load(model).products[0])]
    done = subprocess.run([sys.executable, "-c", asked, *given], capture_output=True, text=True, check=True)

    assert done.stdout.split()[-1] == "False"


def test_the_installed_command_tells_its_version_and_refuses_nonsense():
    command = Path(sys.executable).parent / "omba"

    told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    refused = subprocess.run([command, "rules", "--model", "nowhere"], capture_output=True, text=True)

    assert told.stdout.strip() == omba.__version__
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert refused.stderr.startswith("omba: there is no model in 'nowhere'")
