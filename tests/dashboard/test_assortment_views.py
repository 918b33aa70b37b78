"""Calendar, bundles, relations and prices in a real browser, on a planted shop in its second November."""

import pytest

import omba
from omba.datasets.planted_shop import CAMPING, CHRISTMAS, planted_shop
from shopfront import Page, Server


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    baskets = planted_shop(baskets=8_000).baskets.between(None, "2021-11-05")
    omba.OMBA(dim=8, epochs=1, clues=False, pairs=20_000).fit(baskets, every="14d").save(folder)
    running = Server("--model", str(folder), "--read-only")
    yield running
    running.stop()


@pytest.fixture
def dashboard(browser, planted):
    page = Page(browser, planted.address)
    yield page
    page.context.close()
    assert page.problems == []


def test_the_calendar_shows_what_comes_up_and_a_row_of_the_year_for_each_family_and_rule(dashboard):
    page = dashboard.open("#/calendar?of=rules")
    first = page.locator(".coming li").first.text_content()
    assert all(product in first for product in CHRISTMAS)
    assert "Nov–Dec" in first
    row = page.locator("table.calendar tbody tr").filter(has_text=CHRISTMAS[0]).filter(has_text=CHRISTMAS[1]).first
    assert row.locator("svg.weeks rect").count() == 26
    assert "more than usual" in row.locator("svg.weeks").get_attribute("aria-label")
    page.select_option("[aria-label=Rows]", "")
    page.select_option("[aria-label=Season]", "all")
    page.wait_for_selector("table.calendar:has-text('bath towel')")
    assert page.locator("table.calendar tbody tr").count() == 2


def test_bundles_have_money_and_the_discount_follows_what_is_typed(dashboard):
    page = dashboard.open("#/bundles?currency=£")
    first = page.locator("table.bundles tbody tr").first.text_content()
    assert {name for name in CAMPING if name in first} >= {*CAMPING[:2]}
    assert "£" in first
    assert "16%" in page.text_content(".note") or "17%" in page.text_content(".note")
    page.fill("label:has-text('Margin') input", "30")
    page.wait_for_selector(".note:has-text('5.0%')")
    assert dashboard.values()["margin"] == ["30"]


def test_a_currency_that_was_told_once_stands_before_the_money_of_families_and_rules(dashboard):
    page = dashboard.open("#/families")
    page.fill("[aria-label=Currency]", "£")
    page.wait_for_selector("td:has-text('£')")
    revenue, ahead = (
        page.locator(f"td[data-title='{name}']").first.text_content() for name in ("revenue", "revenue to expect")
    )
    assert revenue.startswith("£")
    assert ahead.count("£") == 3
    assert "not what an offer adds" in page.text_content(".note")
    page = dashboard.open("#/rules")
    page.click(".body .row[data-row='0'] .of-rule")
    page.wait_for_selector("#panel .worth:has-text('£')")


def test_rules_show_their_relation_and_season_and_are_filtered_by_them(dashboard):
    page = dashboard.open("#/rules?families=all")
    assert "complement" in dashboard.rows("relation")
    page.select_option("[aria-label=Season]", "Dec")
    page.wait_for_selector(".body .row:first-child:has(.season)")
    assert all("only" in rule for rule in dashboard.rows())
    assert any(all(product in rule for product in CHRISTMAS) for rule in dashboard.rows())


def test_the_page_of_a_product_tells_what_its_price_did(dashboard):
    page = dashboard.open("#/product/butter")
    page.wait_for_selector(".prices .effects")
    lines = {line.split(" ")[0]: line for line in page.locator(".effects tbody tr").all_text_contents()}
    assert "+" in lines["the"]
    assert "substitute" in next(line for name, line in lines.items() if name.startswith("margarine"))
    assert page.locator(".related").filter(has_text="Bought instead of it").locator("li").count() >= 1
