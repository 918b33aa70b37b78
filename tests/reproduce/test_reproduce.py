"""Every experiment on a few days of real baskets, and the report of them: whole, resumable, honest about its scale."""

import csv
import json
import re

import pytest

from omba.baskets import Baskets
from omba.cli import run as run_command
from omba.datasets.instacart import FILES
from omba.errors import MissingExtraError, UnknownError
from omba.reproduce import IDS, Scale, choose, experiments, recall_at_k, reproduce, style, table2, table3b
from omba.reproduce.experiment import MODULES
from omba.reproduce.scale import CJ, PRODUCTS, TF

TINY = Scale(
    "tiny",
    windows=2,
    few=1,
    until=((CJ, "2017-01-06"), (PRODUCTS, "2017-01-04"), (TF, "2000-11-04")),
    split="2017-01-04",
    dates=("2017-01-03", "2017-01-05"),
    sweeps=(("dim", (50, 300)), ("negatives", (3,)), ("tau", (0.1,))),
    pairs=2_000,
    methods=("pop", "lift", "triple2vec", "omba-no-value", "omba-paper", "omba"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All experiments at the smallest scale, in this process."""
    return reproduce(out=tmp_path_factory.mktemp("whole"), scale=TINY, processes=1)


@pytest.mark.thorough
def test_every_table_and_figure_gives_claims_tables_and_an_honest_sentence(whole):
    assert [experiment.id for experiment, _ in whole.report.parts] == list(IDS)
    for experiment, result in whole.report.parts:
        assert all([result.claims, result.tables, len(result.differs) > 60, result.settings]), experiment.id
        for table in result.tables:
            assert table.rows, table.title
            assert {len(row) for row in table.rows} == {len(table.columns)}, table.title


@pytest.mark.thorough
def test_each_figure_of_the_paper_has_a_picture(whole):
    drawn = {experiment.id for experiment, result in whole.report.parts if result.pictures}

    assert {"fig1a", "fig1b", "fig1c", "table3b", "fig4a", "supp2", "supp3", "supp4", "supp5", "beyond2"} <= drawn


@pytest.mark.thorough
def test_the_report_is_there_as_html_markdown_json_csv_and_images(whole):
    images = {path.stem for path in (whole.folder / "images").glob("*.svg")}
    page, text = whole.page.read_text(), (whole.folder / "report.md").read_text()
    kept = json.loads((whole.folder / "report.json").read_text())

    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert all(f'id="{id}"' in page and f"## {id}: " in text for id in IDS)
    assert list(kept["experiments"]) == list(IDS)
    assert {picture.name for _, result in whole.report.parts for picture in result.pictures} == images
    assert set(re.findall(r"images/([\w-]+)\.svg", text)) == images
    with (whole.folder / "tables" / "fig4a.csv").open() as file:
        assert next(csv.reader(file)) == ["miner", *map(str, range(1, 11))]


@pytest.mark.thorough
def test_links_of_the_markdown_lead_to_its_headings(whole):
    text = (whole.folder / "report.md").read_text()
    headings = {
        re.sub(r"[^\w-]", "", line.removeprefix("## ").lower().replace(" ", "-"))
        for line in text.splitlines()
        if line.startswith("## ")
    }

    assert set(re.findall(r"\]\(#([^)]+)\)", text)) == headings


@pytest.mark.thorough
def test_a_run_that_is_not_in_full_says_so_on_every_page(whole):
    page, text = whole.page.read_text(), (whole.folder / "report.md").read_text()

    assert "2 windows in place of 20" in TINY.words
    assert page.count('class="quick"') == text.count(TINY.words + "\n") == len(IDS) + 1
    assert not Scale("full").words


@pytest.mark.thorough
def test_the_papers_figures_are_printed_as_they_are(whole):
    text = (whole.folder / "report.md").read_text()

    for method in ("pop", "lift", "triple2vec"):
        for data in ("CJ", "TF"):
            assert " | ".join(f"{figure:.4f}" for figure in table2.PAPER[method][data]) in text
    for with_, without in zip(table3b.WITH, table3b.WITHOUT, strict=True):
        assert f"| {with_:.4f} | {without:.4f} |" in text
    assert "| 0.4326 | 0.5969 | 0.6967 | 0.7724 | 0.8328 |" in text
    assert "lift 52.36 and 43.45" in text


@pytest.mark.parametrize("data", ["CJ", "IC", "TF"])
def test_the_papers_figures_agree_with_each_other(data):
    ours = max(table2.PAPER[name][data][0] for name in ("omba", "omba-info"))
    best = max(table2.PAPER[name][data][0] for name in ("lift", "triple2vec", "nmf", "item2vec", "prod2vec"))

    assert 100 * (ours / best - 1) == pytest.approx(table2.MARGINS[data], abs=0.01)
    assert table3b.WITH[0] == table2.PAPER["omba"]["CJ"][0]
    for method, recall in recall_at_k.RECALL[data].items():
        assert recall[0] == pytest.approx(table2.PAPER[method][data][1], abs=1e-4)
        assert list(recall) == sorted(recall)


@pytest.mark.thorough
def test_what_is_finished_is_not_done_again(whole, monkeypatch):
    for experiment in experiments():
        monkeypatch.setattr(f"omba.reproduce.{MODULES[experiment.id]}.EXPERIMENT", _replaced(experiment, _fail))

    again = reproduce(out=whole.folder, scale=TINY, processes=1)

    assert again.report.to_dict() == whole.report.to_dict()


def test_a_stop_keeps_finished_parts_and_their_report_and_the_next_run_goes_on(tmp_path, monkeypatch):
    def stop(context):
        raise KeyboardInterrupt

    first, second = choose(["fig1a", "fig1b"])
    monkeypatch.setattr("omba.reproduce.fig1b.EXPERIMENT", _replaced(second, stop))
    with pytest.raises(KeyboardInterrupt):
        reproduce(["fig1a", "fig1b"], tmp_path, scale=TINY, processes=1)
    assert 'id="fig1a"' in (tmp_path / "report.html").read_text()

    monkeypatch.setattr("omba.reproduce.fig1a.EXPERIMENT", _replaced(first, _fail))
    monkeypatch.setattr("omba.reproduce.fig1b.EXPERIMENT", second)
    run = reproduce(["fig1a", "fig1b"], tmp_path, scale=TINY, processes=1)

    assert [experiment.id for experiment, _ in run.report.parts] == ["fig1a", "fig1b"]
    assert "Not in this report yet: table1, fig1c, table2" in run.page.read_text()


@pytest.mark.thorough
def test_parts_of_another_seed_are_not_taken_for_these(whole):
    run = reproduce(["supp1"], whole.folder, scale=TINY, seed=1, processes=1)

    assert len(run.report.parts) == 1
    assert run.report.parts[0][1].tables != dict(_by_id(whole))["supp1"].tables


def test_without_matplotlib_pictures_name_the_extra_and_the_others_go_on(tmp_path, monkeypatch):
    def missing(module, extra):
        raise MissingExtraError(f"{module} is not installed: pip install 'omba[{extra}]' brings it")

    monkeypatch.setattr(style, "extra", missing)
    run = reproduce(["fig1a", "table1"], tmp_path, scale=TINY, processes=1)

    assert [experiment.id for experiment, _ in run.report.parts] == ["table1"]
    assert "omba[reproduce]" in run.report.left_out["fig1a"]
    assert "omba[reproduce]" in run.page.read_text()


def test_an_unknown_id_lists_the_known_ones():
    with pytest.raises(UnknownError, match=r"did you mean 'table1'.*beyond3"):
        choose(["tabel1"])


def test_the_command_refuses_an_unknown_id_with_a_sentence(capsys):
    assert run_command(["reproduce", "fig9"]) == 2
    assert "there is nothing called 'fig9' to reproduce" in capsys.readouterr().err


def test_the_command_lists_all_there_is(capsys):
    assert run_command(["reproduce", "--list", "--json", "-"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)] == list(IDS)


def test_the_command_prints_claims_and_where_the_report_is(tmp_path, capsys):
    assert run_command(["reproduce", "fig1a", "--quick", "--out", str(tmp_path)]) == 0

    printed = capsys.readouterr().out
    assert "Quick run: 2 windows in place of 20" in printed
    assert "sales fall with the price" in printed
    assert "report.html" in printed.replace("\n", "")


def test_the_instacart_files_take_part_where_they_are_given(tmp_path, monkeypatch):
    baskets = Baskets.from_lists([["tea", "milk"], ["tea"], ["milk", "bread", "tea"]])
    monkeypatch.setattr("omba.reproduce.contender.datasets.load", lambda name: baskets)
    monkeypatch.setattr("omba.reproduce.contender.load", lambda source: baskets)

    for name in FILES:
        (tmp_path / f"{name}.csv").touch()
    run = reproduce(["table1"], tmp_path / "out", scale=TINY, instacart=tmp_path, processes=1)

    assert ("Instacart, the files given, here", 0, 3, 6, 3) in map(tuple, run.report.parts[0][1].tables[0].rows)


def test_a_folder_without_the_instacart_files_is_refused_before_any_work(tmp_path, capsys):
    assert run_command(["reproduce", "--instacart", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "has no orders.csv" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_stopped_command_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def stop(context):
        raise KeyboardInterrupt

    (experiment,) = choose(["fig1a"])
    monkeypatch.setattr("omba.reproduce.fig1a.EXPERIMENT", _replaced(experiment, stop))

    assert run_command(["reproduce", "fig1a", "--out", str(tmp_path)]) == 130
    assert "the same command goes on" in capsys.readouterr().err.replace("\n", " ")


def _by_id(run):
    return [(experiment.id, result) for experiment, result in run.report.parts]


def _fail(context):
    raise AssertionError("this was finished before")


def _replaced(experiment, measure):
    from dataclasses import replace

    return replace(experiment, measure=measure)


@pytest.mark.thorough
def test_random_numbers_of_the_seed_alone_decide(whole, tmp_path):
    run = reproduce(["supp1"], tmp_path, scale=TINY, processes=1)
    first, second = run.report.parts[0][1].tables[0].rows, dict(_by_id(whole))["supp1"].tables[0].rows

    assert list(map(list, first)) == list(map(list, second))
