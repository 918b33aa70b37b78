"""Every view of the dashboard in a real browser, by hand and by keyboard.

Each test ends by looking at what the page complained of and whom it asked: no error, and nobody but the server.
Screenshots are left in a folder that pytest names with `-s`.
"""

import csv
import shutil
import urllib.parse
import urllib.request
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from python_calamine import CalamineWorkbook

from shopfront import VIEWS, Page, wait_for_total


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("phone", "dark")])
def test_every_view_draws_without_an_error_and_asks_nobody_but_the_server(browser, server, pictures, size, scheme):
    dashboard = Page(browser, server.address, size, scheme)
    for name, where in VIEWS.items():
        page = dashboard.open(where)
        page.wait_for_timeout(300)
        page.screenshot(path=pictures / f"{name}-{size}-{scheme}.png")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the screen"
    key = server.get("/rules", limit=1)["rules"][0]["key"]
    page = dashboard.open(f"#/rules?open={key}")
    page.wait_for_selector("#panel .interval")
    page.wait_for_timeout(300)
    page.screenshot(path=pictures / f"rule-{size}-{scheme}.png")
    dashboard.context.close()
    assert dashboard.problems == []


def test_what_is_told_of_today_is_what_the_service_says(dashboard, server):
    page = dashboard.open("#/today")
    told = server.get("/today")
    assert f"{told['window']['baskets']:,}" in page.text_content(".summary .facts")
    assert told["emerged"][0]["sentence"] in page.text_content(".changes >> nth=0")
    emerged = page.locator(".changes").filter(has=page.locator("h2", has_text="Emerged"))
    assert emerged.locator("h2 .number").text_content() == str(told["counts"]["emerged"])
    assert emerged.locator("li").count() == min(8, len(told["emerged"])) > 0
    assert "bakery family" in emerged.text_content()


def test_what_became_of_the_rules_can_be_seen_whole(dashboard, server):
    told, rules = server.get("/today"), server.get("/rules", limit=30)["rules"]
    faded = [{**rule, "before": 9.0, "since": 3.0, "sentence": f"change {place}"} for place, rule in enumerate(rules)]
    short = {**told, "since": "2024-02-22", "counts": {**told["counts"], "faded": 30}, "faded": faded[:20]}
    dashboard.page.route("**/today", lambda route: route.fulfill(json=short))
    dashboard.page.route("**/rules/diff?from=2024-02-22*", lambda route: route.fulfill(json={**short, "faded": faded}))
    page = dashboard.open("#/today")
    listed = page.locator(".changes").filter(has=page.locator("h2", has_text="Faded")).locator("li")
    assert listed.count() == 8
    page.click("a[aria-label='Show all 30 that faded']")
    page.wait_for_selector("a[aria-label='Show fewer that faded']")
    assert listed.count() == 30
    assert dashboard.values() == {"all": ["faded"]}
    page.click("a[aria-label='Show fewer that faded']")
    page.wait_for_selector("a[aria-label='Show all 30 that faded']")
    assert listed.count() == 8


def test_a_rule_that_emerged_is_not_listed_again_among_the_strongest(dashboard):
    page = dashboard.open("#/today")
    emerged = set(page.locator(".changes >> nth=0").locator("a.rule").all_text_contents())
    strongest = page.locator(".strong >> nth=0").locator("a.rule").all_text_contents()
    assert len(strongest) == 12
    assert not emerged & set(strongest)


def test_what_baskets_hold_is_called_lines_and_not_products_sold(dashboard, server):
    page = dashboard.open("#/today")
    facts = dict(
        zip(
            page.locator(".summary dt").all_text_contents(),
            page.locator(".summary dd").all_text_contents(),
            strict=True,
        )
    )
    assert facts["lines in them"] == f"{server.get('/today')['window']['products_sold']:,}"
    assert not any("sold" in name for name in facts)


BARS = """async () => {
  const { getInstanceByDom } = await import("/static/vendor/echarts-6.1.0.min.js");
  return getInstanceByDom(document.querySelector(".plot.stream")).getOption().xAxis[0].data;
}"""


def test_bars_are_called_by_the_time_they_cover_so_december_reads_december(dashboard, server):
    told = server.get("/today")
    series = [
        {"at": at, "baskets": 100} for at in ("2010-01-01T00:00:00", "2010-02-01T00:00:00", "2010-03-01T00:00:00")
    ]
    dashboard.page.route("**/today", lambda route: route.fulfill(json={**told, "series": series}))
    page = dashboard.open("#/today")
    page.wait_for_selector(".plot.stream canvas")
    assert page.evaluate(BARS) == ["Dec 2009", "Jan 2010", "Feb 2010"]


@pytest.mark.parametrize("where", ["#/today", "#/rules", "#/map"])
def test_the_header_is_one_line_on_a_laptop(dashboard, where):
    page = dashboard.open(where)
    page.wait_for_selector("#timeline output:not(:empty)")
    boxes = page.locator(".top > *").evaluate_all("all => all.map((one) => one.getBoundingClientRect().toJSON())")
    assert max(box["top"] for box in boxes) < min(box["bottom"] for box in boxes)
    assert all(left["right"] <= right["left"] for left, right in pairwise(boxes))
    inside = page.locator("#timeline > *").evaluate_all("all => all.map((one) => one.getBoundingClientRect().toJSON())")
    timeline = boxes[-2]
    assert all(timeline["left"] - 1 <= box["left"] <= box["right"] <= timeline["right"] + 1 for box in inside)


def test_slash_searches_and_enter_opens_the_product(dashboard):
    page = dashboard.open("#/today")
    page.keyboard.press("/")
    page.keyboard.type("frozen swe")
    page.wait_for_selector("#search .found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('frozen sweet')")
    assert "/product/frozen%20sweet" in page.url


def test_the_slider_takes_every_view_back(dashboard, server):
    page = dashboard.open("#/today")
    page.wait_for_selector("#timeline input")
    now = page.text_content("h1")
    history = server.get("/status")["history"]
    page.focus("#timeline input")
    page.keyboard.press("Home")
    page.wait_for_function("location.hash.includes('at=')")
    dashboard.settle()
    at = dashboard.values()["at"][0]
    assert at == history[0]["at"]
    page.wait_for_function("before => document.querySelector('h1').textContent !== before", arg=now)
    for view in ("rules", "map", "basket", "today"):
        page.click(f"nav [data-view={view}]")
        dashboard.settle()
        assert dashboard.values()["at"] == [at]
    page.click("nav [data-view=rules]")
    wait_for_total(dashboard, server.get("/rules", at=at, limit=1)["total"])
    page.click("#timeline [aria-label='A window later']")
    page.wait_for_function("at => !location.hash.includes(at)", arg=urllib.parse.quote_plus(at))
    assert dashboard.values()["at"] == [history[1]["at"]]
    page.click("#timeline .now")
    page.wait_for_function("!location.hash.includes('at=')")


def test_a_product_shows_what_it_goes_with_seen_and_unseen_apart(dashboard, server):
    page = dashboard.open("#/product/dairy%20basics")
    told = server.get("/products/dairy%20basics")
    seen, unseen = page.locator(".pair").first.locator("section").all()
    assert seen.locator("li").count() == len(told["observed"]) > 0
    assert unseen.locator("li").count() == len(told["unseen"])
    assert page.locator(".near li").count() == len(told["similar"])
    page.wait_for_selector(".charts canvas >> nth=1")
    seen.locator("a.rule >> nth=0").click()
    page.wait_for_selector("#panel .interval")


def test_the_map_finds_a_product_zooms_to_it_and_shows_its_neighbours(dashboard, server):
    page = dashboard.open("#/map")
    before = page.evaluate("document.querySelector('canvas.cloud').toDataURL()")
    page.click(".over input")
    page.keyboard.type("frozen sweet")
    page.wait_for_selector(".over .found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".card .near li")
    near = [one["id"] for one in server.get("/products/frozen%20sweet")["similar"][:8]]
    assert page.locator(".card .near .product").all_text_contents() == near
    page.wait_for_function("before => document.querySelector('canvas.cloud').toDataURL() !== before", arg=before)
    assert page.locator(".legend li").count() == len(server.get("/map")["departments"])


def test_the_map_is_coloured_by_neighbourhood_where_that_is_chosen(dashboard, server):
    page = dashboard.open("#/map")
    departments = page.locator(".legend li").all_text_contents()
    page.select_option("[aria-label='Colour by']", "neighbourhood")
    page.wait_for_selector(".legend[aria-label=Neighbourhoods]")
    dashboard.settle()
    neighbourhoods = page.locator(".legend li").all_text_contents()
    assert 1 < len(neighbourhoods) <= 12
    assert neighbourhoods != departments
    assert sum(int(page.text_content(f".legend li >> nth={i} >> .soft")) for i in range(len(neighbourhoods))) == len(
        server.get("/map")["products"]
    )
    assert dashboard.values() == {"by": ["neighbourhood"]}


def test_where_there_is_no_category_the_map_is_coloured_by_neighbourhood_and_names_them(dashboard, server):
    told = server.get("/map")
    plain = {**told, "departments": ["other"], "department": [0] * len(told["products"])}
    dashboard.page.route("**/map", lambda route: route.fulfill(json=plain))
    page = dashboard.open("#/map")
    page.wait_for_selector(".legend[aria-label=Neighbourhoods] li >> nth=1")
    assert not page.is_visible("[aria-label='Colour by']")
    dots = page.locator(".legend .dot").evaluate_all("all => all.map((dot) => dot.style.background)")
    assert len(set(dots)) == len(dots) > 1
    names = page.locator(".legend button > span:nth-child(2)").all_text_contents()
    assert len(set(names)) == len(names)
    words = {word for product in told["products"] for word in product.lower().split()}
    assert all(word.strip(",") in words for name in names for word in name.removeprefix("around ").lower().split())


def test_a_click_on_a_point_of_the_map_chooses_it(dashboard):
    page = dashboard.open("#/map")
    page.wait_for_timeout(200)
    box = page.locator("canvas.cloud").bounding_box()
    for x in np.linspace(0.3, 0.7, 12):
        for y in np.linspace(0.3, 0.7, 12):
            page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
            if page.is_visible(".floating"):
                name = page.text_content(".floating .name")
                page.mouse.down()
                page.mouse.up()
                page.wait_for_selector(".card h2")
                assert page.text_content(".card h2") == name
                page.wait_for_timeout(500)
                page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
                assert not page.is_visible(f".floating:has-text('{name}')"), "its name stands beside it already"
                return
    pytest.fail("no point of the map was under any of 144 places")


def test_an_empty_basket_is_offered_the_best_sellers(dashboard, server):
    page = dashboard.open("#/basket")
    best = [str(one["id"]) for one in server.get("/products", limit=12)["products"]]
    assert page.locator(".suggestions li").evaluate_all("all => all.map((line) => line.dataset.product)") == best
    assert "best sellers" in page.text_content("[role=status]:visible >> nth=0")


def test_a_basket_is_built_and_its_suggestions_move(dashboard, server):
    page = dashboard.open("#/basket")
    page.click("[aria-label='Add a product to the basket'] >> nth=0")
    page.keyboard.type("dairy bas")
    page.wait_for_selector(".split .found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".items .product")
    dashboard.settle()
    first = server.get("/rank", products="dairy basics", n=12)["suggestions"]
    page.wait_for_selector(f".suggestions li:first-child[data-product='{first[0]['product']}']")
    assert "because of dairy basics" in page.text_content(".suggestions li:first-child")
    page.click(".suggestions li:first-child .add")
    page.wait_for_function("document.querySelectorAll('.items .product').length === 2")
    page.wait_for_selector(".rose.up, .rose.down")
    page.click("[aria-label=Customer] >> nth=0")
    page.keyboard.type("customer 7")
    page.wait_for_selector(".found:not([hidden]) li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.includes('user=')")
    held = ["dairy basics", first[0]["product"]]
    assert dashboard.values() == {"p": held, "user": ["customer 7"]}
    theirs = [one["product"] for one in server.get("/rank", products=held, user="customer 7", n=12)["suggestions"]]
    listed = "[...document.querySelectorAll('.suggestions li')].map((line) => line.dataset.product).join()"
    page.wait_for_function(f"theirs => {listed} === theirs", arg=",".join(theirs))
    nobodys = [one["product"] for one in server.get("/rank", products=held, n=12)["suggestions"]]
    assert theirs != nobodys
    page.click("[aria-label='Take dairy basics out']")
    page.wait_for_function("document.querySelectorAll('.items .product').length === 1")


def download(page: Any, what: str, folder: Path) -> Path:
    page.click("#tools button:has-text('Export')")
    with page.expect_download() as started:
        page.click(f".menu button:has-text('{what}')")
    path = folder / started.value.suggested_filename
    started.value.save_as(path)
    return path


def test_what_is_on_screen_goes_into_a_csv_file(dashboard, server, tmp_path):
    page = dashboard.open("#/rules?min_lift=3&status=observed")
    path = download(page, "CSV", tmp_path)
    assert path.name == "omba-rules.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    told = server.get("/rules", min_lift=3, status="observed", sort="expected_lift_low", order="desc", limit=1000)
    assert len(rows) == told["total"]
    assert [float(row["lift"]) for row in rows] == [rule["lift"] for rule in told["rules"]]
    assert rows[0]["antecedents"] == ", ".join(told["rules"][0]["antecedents"])


def test_what_is_on_screen_goes_into_an_excel_file(dashboard, server, tmp_path):
    page = dashboard.open("#/rules?min_lift=3&status=observed")
    path = download(page, "Excel", tmp_path)
    assert path.name == "omba-rules.xlsx"
    told = server.get("/rules", min_lift=3, status="observed", sort="expected_lift_low", order="desc", limit=1000)
    sheet = CalamineWorkbook.from_path(path).get_sheet_by_name("rules").to_python()
    head, rows = sheet[0], [dict(zip(sheet[0], row, strict=True)) for row in sheet[1:]]
    assert len(rows) == told["total"]
    assert [row["lift"] for row in rows] == pytest.approx([rule["lift"] for rule in told["rules"]])
    assert rows[0]["antecedents"] == ", ".join(told["rules"][0]["antecedents"])
    assert head[-1] == "interval"
    assert rows[0]["interval"].strip()[0] in "├●"


@pytest.mark.parametrize("view", ["today", "rules", "product", "map", "basket"])
def test_every_view_goes_into_an_image(dashboard, tmp_path, pictures, view):
    page = dashboard.open(VIEWS[view])
    page.wait_for_timeout(400)
    path = download(page, "PNG", tmp_path)
    picture = path.read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 15_000, "an image of nothing"
    shutil.copy(path, pictures / f"export-{view}.png")
