"""What the dashboard shows where things are not as usual: odd names, no token, nothing there, nobody answering."""

import subprocess
import urllib.parse
import urllib.request

import numpy as np
import pyarrow as pa

import omba
from shopfront import EVIL, OMBA, Page, Server


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
        assert not dashboard.page.is_visible("[aria-label='Colour by']")
        assert dashboard.page.get_attribute(".legend", "aria-label") == "Neighbourhoods"
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
        for view in ("rules", "product", "map", "basket", "customers", "today"):
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
