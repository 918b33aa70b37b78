"""The rules of the dashboard: the table, its filters, the scatter and the network, linked."""

from typing import Any

import numpy as np
import pytest

from shopfront import Page, wait_for_total


def test_rules_sort_by_a_click_on_a_column_both_ways(dashboard, server):
    page = dashboard.open("#/rules")
    for order in ("desc", "asc"):
        page.click(".head .of-confidence button")
        page.wait_for_selector(f".of-confidence[aria-sort={'descending' if order == 'desc' else 'ascending'}]")
        dashboard.settle()
        best = server.get("/rules", sort="confidence", order=order, limit=1)["rules"][0]
        page.wait_for_selector(f".body .row[data-row='0'][data-key='{best['key']}']")
        assert dashboard.values()["order"] == [order]


def test_the_table_shows_the_figures_it_is_sorted_by(dashboard):
    page = dashboard.open("#/rules")
    assert page.get_attribute(".head .of-expected_lift_low", "aria-sort") == "descending"
    shown = [float(text.lstrip("< ").rstrip("×").replace(",", "")) for text in dashboard.rows("expected_lift_low")]
    assert len(shown) > 15
    # Below 1 nothing is promised, and rules that may miss the period stand beside those that are sure to bring little.
    strong = [low for low in shown if low >= 1]
    assert shown[: len(strong)] == sorted(strong, reverse=True)


def test_charts_wait_below_the_table_until_they_are_asked_for(dashboard):
    page = dashboard.open("#/rules")
    assert page.locator(".charts canvas").count() == 0
    page.click("button:has-text('Charts')")
    page.wait_for_selector(".scatter canvas")
    page.wait_for_selector(".network canvas")
    table, charts = (page.locator(name).bounding_box() for name in (".table", ".charts"))
    assert table["y"] + table["height"] <= charts["y"]
    assert charts["y"] + charts["height"] <= 900
    assert dashboard.values() == {"charts": ["shown"]}
    page.click("button:has-text('Charts')")
    page.wait_for_selector(".charts", state="hidden")
    assert dashboard.values() == {}


LINES = """() => {
  const table = document.querySelector(".scroller").getBoundingClientRect();
  const [top, bottom] = [table.top, Math.min(table.bottom, innerHeight)];
  const head = document.querySelector(".row.head").getBoundingClientRect().bottom;
  return [...document.querySelectorAll(".body .row:not(.waiting)")].map((row) => row.getBoundingClientRect())
    .filter((row) => row.top >= Math.max(top, head) - 1 && row.bottom <= bottom + 1).length;
}"""


@pytest.mark.parametrize(
    ("size", "where", "lines"),
    [("wide", "#/rules", 18), ("wide", "#/rules?charts=shown", 9), ("phone", "#/rules", 4)],
)
def test_charts_leave_room_for_lines_of_the_table_without_scrolling(browser, server, size, where, lines):
    dashboard = Page(browser, server.address, size)
    page = dashboard.open(where)
    page.wait_for_timeout(200)
    assert page.evaluate(LINES) >= lines
    dashboard.context.close()
    assert dashboard.problems == []


def test_on_a_phone_a_table_shows_the_lift_to_expect_it_is_sorted_by(browser, server):
    dashboard = Page(browser, server.address, "phone")
    page = dashboard.open("#/rules?sort=expected_lift&order=desc")
    shown = page.locator(".body .row:not(.waiting) .of-expected_lift .figure")
    assert shown.first.is_visible()
    lifts = [float(text.rstrip("×").replace(",", "")) for text in shown.all_text_contents()]
    assert lifts == sorted(lifts, reverse=True)
    dashboard.context.close()


def test_names_in_the_table_keep_the_digit_that_tells_products_apart(dashboard, server):
    rule = server.get("/rules", limit=1)["rules"][0]
    told = [
        {
            **rule,
            "key": f"key-{digit}",
            "antecedents": [f"SIGN{digit}"],
            "consequents": ["SIGN9"],
            "antecedent_names": [f"FRENCH BLUE METAL DOOR SIGN FOR A LONG CORRIDOR OF A COUNTRY HOUSE No {digit}"],
            "consequent_names": ["FRENCH BLUE METAL DOOR SIGN FOR A LONG CORRIDOR OF A COUNTRY HOUSE No 9"],
        }
        for digit in range(5)
    ]
    dashboard.page.route("**/rules?*", lambda route: route.fulfill(json={"total": len(told), "rules": told}))
    page = dashboard.open("#/rules")
    page.wait_for_selector(".body .row[data-key='key-4']")
    cell = page.locator(".body .row[data-key='key-4'] .of-rule").bounding_box()
    ends = page.locator(".body .row[data-key='key-4'] .end")
    assert [text[-1] for text in ends.all_text_contents()] == ["4", "9"]
    for place in range(2):
        box = ends.nth(place).bounding_box()
        assert cell["x"] <= box["x"]
        assert box["x"] + box["width"] <= cell["x"] + cell["width"]
    start = page.locator(".body .row[data-key='key-4'] .start").first
    assert start.evaluate("part => part.scrollWidth > part.clientWidth"), "there is no room for the whole name"


def test_on_a_phone_the_rules_come_first_and_the_other_filters_when_asked_for(browser, server):
    dashboard = Page(browser, server.address, "phone")
    page = dashboard.open("#/rules")
    assert page.locator(".body .row[data-row='2']").bounding_box()["y"] < 844 / 2 + 92
    assert not page.is_visible("[aria-label='Price from']")
    page.click("button:has-text('Filters')")
    assert page.is_visible("[aria-label='Price from']")
    dashboard.context.close()
    assert dashboard.problems == []


def test_filters_narrow_the_table_and_are_in_the_address(dashboard, server):
    page = dashboard.open("#/rules")
    everything = server.get("/rules", families="all", limit=1)["total"]
    page.fill(".filters input[type=search] >> nth=0", "dairy")
    some = server.get("/rules", text="dairy", limit=1)["total"]
    wait_for_total(dashboard, some)
    assert 0 < some < everything
    page.select_option("[aria-label='Measure to bound']", "lift")
    page.fill("[aria-label=Bound]", "3")
    page.click(".filters button:has-text('Add')")
    fewer = server.get("/rules", text="dairy", min_lift=3, limit=1)["total"]
    wait_for_total(dashboard, fewer)
    assert 0 < fewer < some
    assert dashboard.values() == {"text": ["dairy"], "min_lift": ["3"]}
    page.reload()
    dashboard.settle()
    wait_for_total(dashboard, fewer)
    assert page.input_value(".filters input[type=search] >> nth=0") == "dairy"
    page.click(".chip:has-text('lift ≥ 3')")
    wait_for_total(dashboard, some)


def test_filters_by_status_category_and_price(dashboard, server):
    page = dashboard.open("#/rules")
    page.select_option("[aria-label=Status]", "observed")
    wait_for_total(dashboard, server.get("/rules", status="observed", limit=1)["total"])
    page.click("[aria-label=Category] >> nth=0")
    page.keyboard.type("froz")
    page.wait_for_selector(".filters .found li[aria-selected=true]")
    page.keyboard.press("Enter")
    wait_for_total(dashboard, server.get("/rules", status="observed", category="frozen", limit=1)["total"])
    page.fill("[aria-label='Price from']", "1.5")
    page.fill("[aria-label='Price to']", "5")
    asked = {"status": "observed", "category": "frozen", "min_price": 1.5, "max_price": 5}
    wait_for_total(dashboard, server.get("/rules", **asked, limit=1)["total"])


def test_where_nothing_fulfils_the_filters_a_sentence_says_so(dashboard):
    page = dashboard.open("#/rules?min_lift=100000")
    assert "No rule fulfils all of this" in page.text_content(".table")


def test_a_long_table_fetches_its_lines_as_it_is_scrolled(dashboard, server):
    page = dashboard.open("#/rules?families=all&min_count=2")
    total = dashboard.total()
    assert total > 300
    assert page.locator(".body .row").count() < 80
    page.evaluate("document.querySelector('.scroller').scrollTop = 1e9")
    asked = {"families": "all", "min_count": 2, "sort": "expected_lift_low", "order": "desc"}
    last = server.get("/rules", **asked, offset=total - 1, limit=1)["rules"][0]
    page.wait_for_selector(f".body .row[data-row='{total - 1}'][data-key='{last['key']}']")


def test_a_rule_opens_with_its_evidence_interval_words_and_history(dashboard, server):
    page = dashboard.open("#/rules")
    page.click(".body .row[data-row='2'] .of-rule")
    rule = server.get("/rules", limit=3)["rules"][2]
    page.wait_for_selector("#panel .interval")
    panel = page.text_content("#panel")
    assert f"Together in {rule['count']:,} baskets" in panel
    assert "nine chances in ten between" in panel
    assert "were bought together" in page.text_content("#panel .sentence >> nth=0")
    assert f"brought in {rule['revenue']:,.0f} in" in page.text_content("#panel .worth")
    assert "not what an offer adds" in page.text_content("#panel .worth")
    page.wait_for_selector("#panel .plot canvas")
    assert dashboard.values()["open"] == [rule["key"]]
    assert page.locator(".body .row.open").get_attribute("data-key") == rule["key"]
    page.keyboard.press("Escape")
    page.wait_for_selector("#panel", state="hidden")
    assert "open" not in dashboard.values()


def test_arrows_walk_the_table_and_enter_opens(dashboard, server):
    page = dashboard.open("#/rules")
    page.focus(".scroller")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel .interval")
    rules = server.get("/rules", limit=5)["rules"]
    assert dashboard.values()["open"] == [rules[4]["key"]]
    assert dashboard.values()["sel"] == [rules[3]["key"]]


CHART = """async ([element, value]) => {
  const { getInstanceByDom } = await import("/static/vendor/echarts-6.1.0.min.js");
  const plot = document.querySelector(element), box = plot.getBoundingClientRect();
  const [x, y] = getInstanceByDom(plot).convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, value);
  return [box.x + x, box.y + y];
}"""


def place_of(page: Any, support: float, lift: float) -> list[float]:
    """Where a point of the scatter is on the screen."""
    place: list[float] = page.evaluate(CHART, [".scatter .plot", [support, lift]])
    return place


def test_a_point_of_the_scatter_opens_its_rule(dashboard, server):
    page = dashboard.open("#/rules?charts=shown&min_lift=4")
    page.wait_for_selector(".scatter canvas")
    page.wait_for_selector(".network canvas")
    rules = server.get("/rules", min_lift=4, limit=500)["rules"]
    far = max(rules, key=lambda rule: rule["lift"])
    page.mouse.click(*place_of(page, far["support"], far["lift"]))
    page.wait_for_selector("#panel .interval")
    opened = next(rule for rule in rules if [rule["key"]] == dashboard.values()["open"])
    assert (opened["support"], opened["lift"]) == (far["support"], far["lift"])


def test_a_rectangle_on_the_scatter_filters_the_table(dashboard, server):
    page = dashboard.open("#/rules?charts=shown")
    page.wait_for_selector(".scatter canvas")
    page.wait_for_timeout(400)
    seen = [rule for rule in server.get("/rules", limit=500)["rules"] if rule["count"]]
    low, high = (float(np.quantile([rule["support"] for rule in seen], q)) for q in (0.3, 0.8))
    least, most = (float(np.quantile([rule["lift"] for rule in seen], q)) for q in (0.4, 0.9))
    everything = dashboard.total()
    page.mouse.move(*place_of(page, low, most))
    page.mouse.down()
    page.mouse.move(*place_of(page, (low + high) / 2, (least + most) / 2), steps=4)
    page.mouse.move(*place_of(page, high, least), steps=4)
    page.mouse.up()
    page.wait_for_function("location.hash.includes('area=')")
    left, right, bottom, top = map(float, dashboard.values()["area"][0].split(","))
    assert (left, right, bottom, top) == pytest.approx((low, high, least, most), rel=0.1)
    within = server.get("/rules", min_support=left, max_support=right, min_lift=bottom, max_lift=top, limit=1)["total"]
    wait_for_total(dashboard, within)
    assert 0 < within < everything
    page.click(".chip:has-text('support')")
    wait_for_total(dashboard, everything)


NETWORK = """() => {
  const cy = document.querySelector(".network .plot")._cyreg.cy;
  const marked = cy.edges(".marked").map((edge) => edge.data("key"));
  return { products: cy.nodes().map((node) => node.data("label")), marked };
}"""


def test_the_network_shows_the_chosen_rules_and_marks_the_open_one(dashboard, server):
    page = dashboard.open("#/rules?charts=shown")
    page.wait_for_selector(".network canvas")
    rules = server.get("/rules", limit=3)["rules"]
    for place in (0, 2):
        page.click(f".body .row[data-row='{place}'] .of-rule", modifiers=["Control"])
    page.wait_for_function("document.querySelector('.network figcaption').textContent === 'The 2 rules chosen.'")
    chosen = {name for place in (0, 2) for name in rules[place]["antecedents"] + rules[place]["consequents"]}
    assert set(page.evaluate(NETWORK)["products"]) == chosen
    page.click(".body .row[data-row='2'] .of-rule")
    page.wait_for_selector("#panel .interval")
    assert rules[2]["key"] in page.evaluate(NETWORK)["marked"]
