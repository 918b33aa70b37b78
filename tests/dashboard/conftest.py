"""The shop, its server and a browser, once for all tests of the dashboard."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import omba
from omba.live.keeper import Keeper
from shopfront import ARGUMENTS, CHROMIUM, PATIENCE, Page, Server, shop


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """The shop learned day by day, with a window kept every week."""
    folder = tmp_path_factory.mktemp("shop")
    keeper, learner = Keeper(folder, "7d", fresh=True), omba.OMBA(dim=32)
    for window in shop().windows("1d"):
        keeper.learn(learner, window)
    keeper.finish(learner)
    return folder


@pytest.fixture(scope="session")
def server(model) -> Iterator[Server]:
    running = Server("--model", str(model), "--read-only")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser for each file: as long as it is open, no other test can have an event loop."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here, so the dashboard is not tested: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=PATIENCE)
        yield running
        running.close()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("screenshots")
    print(f"screenshots go to {folder}")
    return folder


@pytest.fixture
def dashboard(browser, server) -> Iterator[Page]:
    page = Page(browser, server.address)
    yield page
    page.context.close()
    assert page.problems == []
