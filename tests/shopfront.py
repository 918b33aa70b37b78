"""A small shop, served for the purpose, and a page of its dashboard in a real browser: what those tests share."""

import json
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import omba

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-quic",
]  # fmt: skip
PATIENCE = 120_000
"""Milliseconds until the browser is given up: only a test that fails waits for so long, however busy the machine is."""
OMBA = str(Path(sys.executable).parent / "omba")
EVIL = "<img src=x onerror=alert(1)>"
SIZES = {"wide": (1440, 900), "phone": (390, 844)}
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
VIEWS = {
    "today": "#/today",
    "rules": "#/rules",
    "families": "#/families",
    "bundles": "#/bundles?floor=1",
    "calendar": "#/calendar",
    "product": "#/product/dairy%20basics",
    "products": "#/product",
    "map": "#/map?product=dairy%20basics",
    "basket": "#/basket?p=dairy%20basics&p=bakery%20basics&user=customer%207",
    "customers": "#/customers/customer%207",
}


def shop() -> omba.Baskets:
    """Nine weeks of a shop of 97 products: pairs that belong together, one of them met only in the last weeks."""
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
        if day <= 52 and late[0] in (names[i] for i in held):
            held.discard(names.index(late[1]))
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


def hash_of(name: str) -> int:
    return sum(map(ord, name))


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
        self.process.communicate(timeout=PATIENCE / 1000)


class Page:
    """A page of the dashboard, and what it complained of."""

    def __init__(self, browser: Any, address: str, size: str = "wide", scheme: str = "light") -> None:
        width, height = SIZES[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        self.page, self.address, self.problems = self.context.new_page(), address, []
        self.page.set_default_timeout(PATIENCE)
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


def wait_for_total(dashboard: Page, total: int) -> None:
    text = f"{total:,} rule{'' if total == 1 else 's'}"
    dashboard.page.wait_for_function("text => document.querySelector('.filters .total').textContent === text", arg=text)
