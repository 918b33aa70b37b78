"""The dashboard in a real browser: every view, by hand and by keyboard, on a small shop served for the purpose.

Each test ends by looking at what the page complained of and whom it asked: no error, and nobody but the server.
Screenshots are left in a folder that pytest names with `-s`.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.store.keeper import Keeper

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-quic",
]  # fmt: skip
OMBA = str(Path(sys.executable).parent / "omba")
EVIL = "<img src=x onerror=alert(1)>"
SIZES = {"wide": (1440, 900), "phone": (390, 844)}

if CHROMIUM is None and not os.environ.get("OMBA_CI"):
    pytest.skip("no Chromium here, so the dashboard is not tested: apt-get install chromium", allow_module_level=True)


# The shop


def shop() -> omba.Baskets:
    """Nine weeks of a shop of 97 products: pairs that belong together, one of them only in the last weeks."""
    rng = np.random.default_rng(0)
    departments = ("bakery", "dairy", "produce", "pantry", "frozen", "drinks", "household", "care")
    names = [f"{place} {kind}" for place in departments for kind in KINDS]
    department = {name: name.split()[0] for name in names} | {EVIL: "care"}
    names.append(EVIL)
    pairs = [(names[12 * i + j], names[(12 * i + 25 + 3 * j) % 96]) for i in range(8) for j in range(3)]
    late = (names[5], names[90])
    chance = 1.0 / np.arange(3, len(names) + 3)
    chance /= chance.sum()
    rows: list[tuple[Any, ...]] = []
    for basket in range(3_600):
        day = basket // 57
        held = set(rng.choice(len(names), rng.integers(2, 7), p=chance).tolist())
        items = [names[i] for i in held]
        if rng.random() < 0.5:
            items += pairs[rng.integers(len(pairs))]
        if rng.random() < 0.6:
            items.append(names[40 + basket % 80 // 2])  # the customer's favourite
        if rng.random() < 0.1:
            items += [EVIL, pairs[0][0]]
        if day > 52 and rng.random() < 0.12:
            items += late
        time = np.datetime64("2024-01-01T08:00:00") + np.timedelta64(day, "D") + np.timedelta64(basket % 57 * 9, "m")
        for name in dict.fromkeys(items):
            price = round(1 + 7 * ((hash_of(name) % 97) / 97) * (1 + day / 400), 2)
            rows.append((basket, f"customer {basket % 80}", time, name, price, department[name]))
    columns = ("basket_id", "user_id", "timestamp", "product", "price", "department")
    return omba.read_baskets(pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))))


KINDS = (
    "basics",
    "classic",
    "organic",
    "value",
    "premium",
    "family",
    "mini",
    "light",
    "spicy",
    "sweet",
    "fresh",
    "mixed",
)


def hash_of(name: str) -> int:
    return sum(map(ord, name))


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    """The shop learned day by day, with a window kept every week."""
    folder = tmp_path_factory.mktemp("shop")
    keeper, learner = Keeper(folder, "7d", fresh=True), omba.OMBA(dim=32)
    for window in shop().windows("1d"):
        keeper.before(learner, window)
        learner.partial_fit(window)
    keeper.end(learner)
    return folder


class Server:
    """`omba serve` on a free port, until it is told to stop."""

    def __init__(self, *arguments: str) -> None:
        command = [OMBA, "serve", "--port", "0", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout
        said = ""
        for line in self.process.stdout:
            said += line
            if found := re.search(r"http://[\w.:]+", said):
                self.address = found[0].rstrip("/")
                return
        raise AssertionError(f"omba serve did not start: {said}")

    def get(self, path: str, **values: Any) -> Any:
        with urllib.request.urlopen(f"{self.address}{path}?{urllib.parse.urlencode(values, doseq=True)}") as answer:
            return json.load(answer)

    def post(self, path: str, value: Any) -> Any:
        body, kind = json.dumps(value).encode(), {"Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(self.address + path, body, kind)) as answer:
            return json.load(answer)

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=20)


@pytest.fixture(scope="module")
def server(model) -> Iterator[Server]:
    running = Server("--model", str(model), "--read-only")
    yield running
    running.stop()


# The browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.fail("no Chromium here, and this is CI: the dashboard must be tested (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def pictures(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("screenshots")
    print(f"screenshots go to {folder}")
    return folder


class Page:
    """A page of the dashboard, and what it complained of."""

    def __init__(self, browser: Any, address: str, size: str = "wide", scheme: str = "light") -> None:
        width, height = SIZES[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        self.page, self.address, self.problems = self.context.new_page(), address, []
        self.page.set_default_timeout(40_000)
        self.page.on("console", lambda said: said.type in ("error", "warning") and self.problems.append(said.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.problems.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("request", self._asked)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((f"{self.address}/", "blob:")):
            self.problems.append(f"asked {request.url}")

    def open(self, where: str) -> Any:
        self.page.goto(f"{self.address}/{where}")
        return self.settle()

    def settle(self) -> Any:
        self.page.wait_for_selector("main[aria-busy=false]")
        return self.page

    def values(self) -> dict[str, list[str]]:
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.page.url).fragment.partition("?")[2])

    def total(self) -> int:
        return int(self.page.text_content(".filters .total").split()[0].replace(",", ""))

    def rows(self, column: str = "rule") -> list[str]:
        return self.page.locator(f".body .row:not(.waiting) .of-{column}").all_text_contents()


@pytest.fixture
def dashboard(browser, server) -> Iterator[Page]:
    page = Page(browser, server.address)
    yield page
    page.context.close()
    assert page.problems == []


def wait_for_total(dashboard: Page, total: int) -> None:
    text = f"{total:,} rule{'' if total == 1 else 's'}"
    dashboard.page.wait_for_function("text => document.querySelector('.filters .total').textContent === text", arg=text)


VIEWS = {
    "today": "#/today",
    "rules": "#/rules",
    "product": "#/product/dairy%20basics",
    "products": "#/product",
    "map": "#/map?product=dairy%20basics",
    "basket": "#/basket?p=dairy%20basics&p=bakery%20basics&user=customer%207",
}


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("wide", "dark"), ("phone", "light")])
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
    emerged = page.locator(".changes").filter(has=page.locator("h2", has_text="Emerged"))
    assert emerged.locator("h2 .number").text_content() == str(told["counts"]["emerged"])
    assert emerged.locator("li").count() == min(8, len(told["emerged"])) > 0
    assert "bakery family" in emerged.text_content()


def test_slash_searches_and_enter_opens_the_product(dashboard):
    page = dashboard.open("#/today")
    page.keyboard.press("/")
    page.keyboard.type("frozen swe")
    page.wait_for_selector("#search .found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('frozen sweet')")
    assert "/product/frozen%20sweet" in page.url


def test_rules_sort_by_a_click_on_a_column_both_ways(dashboard, server):
    page = dashboard.open("#/rules")
    for order in ("desc", "asc"):
        page.click(".head .of-confidence button")
        page.wait_for_selector(f".of-confidence[aria-sort={'descending' if order == 'desc' else 'ascending'}]")
        dashboard.settle()
        best = server.get("/rules", sort="confidence", order=order, limit=1)["rules"][0]
        page.wait_for_selector(f".body .row[data-row='0'][data-key='{best['key']}']")
        assert dashboard.values()["order"] == [order]


def test_filters_narrow_the_table_and_are_in_the_address(dashboard, server):
    page = dashboard.open("#/rules")
    everything = dashboard.total()
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
    page = dashboard.open("#/rules")
    total = dashboard.total()
    assert total > 300
    assert page.locator(".body .row").count() < 80
    page.evaluate("document.querySelector('.scroller').scrollTop = 1e9")
    last = server.get("/rules", sort="expected_lift_low", order="desc", offset=total - 1, limit=1)["rules"][0]
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
    page = dashboard.open("#/rules?min_lift=4")
    page.wait_for_selector(".scatter canvas")
    page.wait_for_selector(".network canvas")
    rules = server.get("/rules", min_lift=4, limit=500)["rules"]
    far = max(rules, key=lambda rule: rule["lift"])
    page.mouse.click(*place_of(page, far["support"], far["lift"]))
    page.wait_for_selector("#panel .interval")
    opened = next(rule for rule in rules if [rule["key"]] == dashboard.values()["open"])
    assert (opened["support"], opened["lift"]) == (far["support"], far["lift"])


def test_a_rectangle_on_the_scatter_filters_the_table(dashboard, server):
    page = dashboard.open("#/rules")
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
    page = dashboard.open("#/rules")
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
    seen, unseen = page.locator(".pair section").all()
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
                return
    pytest.fail("no point of the map was under any of 144 places")


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


@pytest.mark.parametrize("view", ["today", "rules", "product", "map", "basket"])
def test_every_view_goes_into_an_image(dashboard, tmp_path, pictures, view):
    page = dashboard.open(VIEWS[view])
    page.wait_for_timeout(400)
    path = download(page, "PNG", tmp_path)
    picture = path.read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 15_000, "an image of nothing"
    shutil.copy(path, pictures / f"export-{view}.png")


def test_a_product_named_as_markup_stays_text_everywhere(dashboard):
    name = urllib.parse.quote(EVIL, safe="")
    for where in (
        "#/rules?text=onerror",
        f"#/product/{name}",
        f"#/map?product={name}",
        f"#/basket?p={name}",
        "#/today",
    ):
        page = dashboard.open(where)
        page.wait_for_timeout(300)
        assert page.locator("img").count() == 0
    page = dashboard.open("#/rules?text=onerror")
    page.click(".body .row[data-row='0'] .of-rule")
    page.wait_for_selector("#panel .interval")
    assert EVIL in page.text_content("#panel .title")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("onerror")
    page.wait_for_selector("#search .found li[aria-selected=true]")
    assert EVIL in page.text_content("#search .found")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1")
    page.wait_for_function("name => document.querySelector('h1').textContent === name", arg=EVIL)
    assert page.locator("img").count() == 0


def test_products_known_by_a_number_are_shown_by_their_names(browser, tmp_path):
    rng = np.random.default_rng(0)
    rows = [(basket, 1000 + i) for basket in range(400) for i in rng.choice(30, 4, replace=False)]
    rows += [(basket, product) for basket in range(0, 400, 3) for product in (1030, 1031)]
    names = [f"article {product % 1000} in words" for _, product in rows]
    columns = {"basket_id": [b for b, _ in rows], "product": [p for _, p in rows], "product_name": names}
    model = omba.OMBA(dim=8)
    model.fit(omba.read_baskets(pa.table(columns)), every="100")
    model.save(tmp_path)
    server = Server("--model", str(tmp_path), "--read-only")
    dashboard = Page(browser, server.address)
    try:
        dashboard.open("#/rules")
        dashboard.page.wait_for_selector(".body .row:has-text('article 30 in words')")
        dashboard.page.click(".body .row[data-row='0'] .of-rule")
        dashboard.page.wait_for_selector("#panel .sentence:has-text('article 31 in words')")
        dashboard.open("#/product/1031")
        assert dashboard.page.text_content("h1") == "article 31 in words"
        assert "product 1031" in dashboard.page.text_content(".kicker")
        dashboard.open("#/map?product=1030")
        dashboard.page.wait_for_selector(".card h2:has-text('article 30 in words')")
        assert dashboard.problems == []
    finally:
        server.stop()
    dashboard.context.close()


def test_an_unknown_product_is_told_with_one_that_is_like_it(browser, server):
    dashboard = Page(browser, server.address)
    page = dashboard.open("#/product/dairy%20basicks")
    assert "dairy basics" in page.text_content(".state.error")
    dashboard.context.close()
    # A browser notes every 404 in its console; nothing else may be there.
    assert all("404" in problem for problem in dashboard.problems)


def test_a_service_that_others_can_reach_asks_for_its_token_once(browser, tmp_path):
    made = subprocess.run([OMBA, "token", "--model", str(tmp_path)], capture_output=True, text=True, check=True)
    server = Server("--model", str(tmp_path), "--read-only", "--host", "0.0.0.0")
    dashboard = Page(browser, server.address.replace("0.0.0.0", "127.0.0.1"))
    try:
        page = dashboard.open("#/today")
        assert "a token is needed here" in page.text_content("main").lower()
        page.fill("[aria-label=Token]", made.stdout.strip())
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('Nothing learned yet')")
        page.reload()
        page.wait_for_selector("h1:has-text('Nothing learned yet')")
    finally:
        server.stop()
    dashboard.context.close()
    assert all("401" in problem for problem in dashboard.problems)


def test_the_chosen_theme_stays(dashboard):
    page = dashboard.open("#/today")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("[aria-label='Light or dark']")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.reload()
    dashboard.settle()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_a_new_model_says_how_to_begin_fills_as_baskets_come_and_says_when_the_service_stopped(browser, tmp_path):
    server = Server("--model", str(tmp_path / "new"), "--every", "50", "--dim", "16")
    dashboard = Page(browser, server.address)
    try:
        page = dashboard.open("#/today")
        assert "Nothing learned yet" in page.text_content("main")
        for view in ("rules", "product", "map", "basket", "today"):
            page.click(f"nav [data-view={view}]")
            dashboard.settle()
            assert page.locator(".error:visible").count() == 0
        rng = np.random.default_rng(0)
        baskets = [{"products": [{"id": f"p{i}"} for i in rng.choice(20, 4, replace=False)]} for _ in range(220)]
        server.post("/baskets", baskets)
        page.wait_for_selector("h1:has-text('Today')")
        page.wait_for_function("document.querySelector('.summary')?.textContent.includes('200')")
        page.wait_for_selector("#notice:has-text('20 baskets waiting')")
        page.click("nav [data-view=rules]")
        dashboard.settle()
        drawn = page.text_content(".body .row[data-row='0']")
        server.post("/baskets", [{"products": [{"id": "p1"}, {"id": "p2"}]}] * 80)
        page.click("#notice button:has-text('Show what is new')")
        page.wait_for_function("drawn => document.querySelector('.body .row')?.textContent !== drawn", arg=drawn)
        assert dashboard.problems == []
    finally:
        server.stop()
    page.wait_for_selector("#notice.error:has-text('does not answer')")
    dashboard.context.close()
