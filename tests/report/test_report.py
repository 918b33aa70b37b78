"""The report: one file that needs nothing else, says what was found, and is safe whatever the products are called."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omba
from omba import report
from omba.cli import run
from omba.report.charts import Axis, columns
from omba.report.findings import Cloud, Weeks, weeks
from omba.rules import Filter

VOID = {"meta"}
SHAPES = {"path", "circle", "rect", "polyline", "text"}


class Balance(HTMLParser):
    """Every tag is closed in its turn, and nothing is fetched from anywhere."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def world():
    return omba.datasets.synthetic(baskets=2_000, products=150, users=60, days=40, pairs=4, seed=3)


@pytest.fixture(scope="module")
def found(world):
    model = omba.OMBA(dim=16, epochs=3).fit(world.baskets)
    unseen = omba.mine_rules(model, top=5, where=Filter(status="unseen"))
    return report.findings("A <small> world", model, world.baskets, omba.mine_rules(model, top=10), unseen)


@pytest.fixture(scope="module")
def page(found):
    return report.render(found)


def parsed(page):
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    return parser.seen


def test_the_page_is_well_formed_and_fetches_nothing(page):
    tags = parsed(page)

    assert {"script", "link", "img", "iframe"}.isdisjoint(tag for tag, _ in tags)
    assert not any({"src", "href"} & attributes.keys() for _, attributes in tags)
    assert "http" not in page
    assert "@import" not in page
    assert "url(" not in page


def test_the_page_follows_light_and_dark_and_fits_a_phone(page):
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport" content="width=device-width' in page
    assert page.count('class="wide"') == page.count('class="narrow"') == 3


def test_the_page_tells_what_was_learned_and_every_rule_with_its_evidence(page, found, world):
    text = re.sub(r"<[^>]+>", "", page).replace("&lt;", "<").replace("&gt;", ">")

    assert "1 January 2017 to 9 February 2017" in page
    assert f"{len(world.baskets):,}" in page
    assert "A <small> world" in text
    for rule in [*found.strongest, *found.unseen]:
        assert str(rule) in text
    assert f">{found.strongest[0].count:,}</td>" in page


def test_each_unseen_pair_comes_with_what_both_are_bought_with(page, found):
    assert len(found.reasons) == len(found.unseen) == 5
    assert all(reason.startswith("both go with p") for reason in found.reasons)
    assert all(reason in page for reason in found.reasons)


def test_a_product_called_like_a_script_is_only_a_name(found):
    evil = '<script>alert("tea")</script>'
    strongest = replace(found.strongest, antecedents=[(evil,)] * len(found.strongest))

    page = report.render(replace(found, strongest=strongest, reasons=[evil] * len(found.unseen)))

    assert "script" not in {tag for tag, _ in parsed(page)}
    assert "&lt;script&gt;" in page


def test_every_number_that_is_drawn_is_finite(page):
    numbers = [value for tag, attributes in parsed(page) for value in attributes.values() if tag in SHAPES]

    assert len(numbers) > 100
    assert not any("nan" in value or "inf" in value for value in numbers)


def test_baskets_without_times_users_or_unseen_pairs_make_a_shorter_page():
    baskets = omba.Baskets.from_lists([["tea", "milk"], ["bread", "butter", "tea"], ["soap", "brush"]] * 40)
    model = omba.OMBA(dim=8).fit(baskets, every=20)
    rules = omba.mine_rules(model, top=3)

    page = report.render(report.findings("Lists", model, baskets, rules, rules[:0]))

    parsed(page)
    assert "in the order they came" in page
    assert "Never bought together" not in page
    assert "The stream" not in page
    assert "shoppers" not in page


def test_a_page_is_written_with_the_folders_it_needs(found, page, tmp_path):
    path = report.write(found, tmp_path / "a" / "b" / "report.html")

    assert path.read_text(encoding="utf-8") == page


def test_weeks_begin_on_monday_and_empty_ones_count_none():
    rows = {"basket": [1, 2, 3], "product": ["a", "b", "c"], "time": ["2017-01-01", "2017-01-02", "2017-01-17"]}
    frame = pytest.importorskip("pandas").DataFrame(rows)

    counted = weeks(omba.read_baskets(frame))

    assert list(counted.names) == ["2016-12-26", "2017-01-02", "2017-01-09", "2017-01-16"]
    assert counted.baskets.tolist() == [1, 1, 0, 1]


def test_names_of_months_never_run_into_each_other():
    names = [str(np.datetime64("2016-12-26") + 7 * week) for week in range(120)]
    drawn = columns(Weeks(names, np.ones(120, np.int64)), 380)

    places = sorted(float(x) for x in re.findall(r'x="([\d.]+)"[^>]*>[A-Z][a-z]{2}<', drawn))

    assert len(places) > 3
    assert min(np.diff(places)) > 30


@given(
    low=st.floats(1e-9, 1e3),
    ratio=st.floats(10, 1e6),
    log=st.booleans(),
)
def test_ticks_lie_on_their_axis_in_order_and_are_not_too_many(low, ratio, log):
    axis = Axis(low, low * ratio, 10, 500, log)

    ticks = axis.ticks()

    assert ticks == sorted(set(ticks))
    assert 1 <= len(ticks) <= 20
    assert all(axis.low * 0.999 <= tick <= axis.high * 1.001 for tick in ticks)
    assert np.all(np.diff(axis.place(ticks)) > 0)


def test_the_cloud_holds_real_pairs_only(found, world):
    assert isinstance(found.cloud, Cloud)
    assert len(found.cloud.lift) == min(found.cloud.total, 900)
    assert (found.cloud.support * len(world.baskets)).round().min() >= 5
    assert np.isfinite(found.cloud.lift).all()


def test_a_model_has_a_report_of_its_own_with_names(world, tmp_path):
    model = omba.OMBA(dim=16, epochs=3).fit(world.baskets)
    label = omba.mine_rules(model, top=1).antecedents[0][0]
    model.attributes = pa.table({"product": [label], "name": ["JUMBO BAG"]})
    model.save(tmp_path / "model")
    assert run(["report", "--model", str(tmp_path / "model"), "--out", str(tmp_path / "mine.html")]) == 0
    page = (tmp_path / "mine.html").read_text(encoding="utf-8")
    parsed(page)
    assert f"JUMBO BAG ({label})" in page
    assert "<h1>model</h1>" in page
