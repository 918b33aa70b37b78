"""The page of a customer: what they buy, what is due, what is new to them, and why."""

import json
from typing import Any

import pytest

from shopfront import Page

CUSTOMER = {
    "id": "customer 7",
    "visits": 45,
    "last": "2024-03-03",
    "expected_size": 5.4,
    "products": [
        {"product": "dairy basics", "name": None, "count": 20, "every": 3.2, "last": "2024-03-01", "due": True},
        *(
            {"product": f"frozen {n}", "name": None, "count": 1, "every": None, "last": "2024-01-05", "due": False}
            for n in range(30)
        ),
    ],
    "rebuy": [{"product": "dairy basics", "name": None, "chance": 0.412, "reasons": []}],
    "discover": [
        {
            "product": "bakery mini",
            "name": None,
            "chance": 0.064,
            "reasons": [{"because": "dairy basics", "share": 1.0}],
        }
    ],
}


@pytest.fixture(params=["wide", "phone"])
def customers(request, browser, server):
    """The dashboard before a service that knows one customer."""
    dashboard = Page(browser, server.address, request.param, "light" if request.param == "wide" else "dark")

    def answer(route: Any) -> None:
        known = route.request.url.endswith("/customers/customer%207")
        body = CUSTOMER if known else {"error": "customer 'nobody' is not known here"}
        route.fulfill(status=200 if known else 404, body=json.dumps(body), content_type="application/json")

    dashboard.page.route("**/customers/*", answer)
    yield dashboard
    dashboard.context.close()
    assert [one for one in dashboard.problems if "404" not in one] == []


def test_a_customer_is_found_by_typing_and_shown_with_what_is_due_what_is_new_and_why(customers):
    page = customers.open("#/customers")
    assert page.locator(".users li").count() == 60
    page.click("[aria-label='Find a customer'] >> nth=0")
    page.keyboard.type("customer 7")
    page.wait_for_selector(".find .found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Customer customer 7')")
    customers.settle()
    assert page.title() == "Customer customer 7 · OMBA"
    assert "45 visits" in page.text_content(".lede")
    assert "about 5.4 products" in page.text_content(".lede")
    due, new = page.locator(".pair section").all()
    assert due.locator(".chance").text_content() == "41%"
    assert "Bought 20 times, about every 3.2 days" in due.locator(".reasons").text_content()
    assert "due again" in due.locator(".reasons").text_content()
    assert new.locator(".chance").text_content() == "6.4%"
    assert new.locator(".reasons").text_content() == "Goes with dairy basics, which they buy."
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".habits tbody tr").count() == 20
    page.click("button:has-text('Show all 31')")
    page.wait_for_function("document.querySelectorAll('.habits tbody tr').length === 31")
    page.click("a:has-text('Start their basket')")
    page.wait_for_selector("h1:has-text('Basket')")
    assert customers.values() == {"user": ["customer 7"]}


def test_an_unknown_customer_gets_a_friendly_sentence(customers):
    page = customers.open("#/customers/nobody")
    assert "Nobody of that name has bought here" in page.text_content(".lede")
    assert page.locator(".error").count() == 0
    assert page.is_visible("[aria-label='Find a customer']")


def test_the_page_shows_what_the_service_knows_of_a_customer(dashboard, server):
    told = server.get("/customers/customer%207")
    page = dashboard.open("#/customers/customer%207")
    assert page.text_content("h1") == "Customer customer 7"
    assert page.text_content(".lede").startswith(f"{told['visits']} visits")
    for place, kind in enumerate(("rebuy", "discover")):
        lines = page.locator(".pair section").nth(place).locator("li")
        listed = lines.evaluate_all("all => all.map((line) => line.dataset.product)")
        assert listed == [one["product"] for one in told[kind]] != []
        assert all(text.endswith("%") for text in lines.locator(".chance").all_text_contents())
        assert all(text.endswith(".") for text in lines.locator(".reasons").all_text_contents())
    assert page.locator(".habits tbody tr").count() == min(20, len(told["products"]))
