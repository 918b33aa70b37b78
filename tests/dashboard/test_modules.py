"""The dashboard's modules where they compute: their tests, in unit/, run by the browser's own engine.

A file of unit/ gets a page of its own, which imports it, and each of its tests is reported by its name. No server is
needed: what the page asks for is read from the disk.
"""

import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import omba.service
from shopfront import PATIENCE

UNIT = Path(__file__).parent / "unit"
FOLDERS = {"static": Path(omba.service.__file__).parent / "static", "unit": UNIT}
FILES = [path for path in sorted(UNIT.glob("*.js")) if path.name != "check.js"]
TESTS = [(path.name, name) for path in FILES for name in re.findall(r'^test\("(.+?)", ', path.read_text(), re.M)]
RUN = """async (file) => {
  const { run } = await import("/unit/check.js");
  await import(`/unit/${file}`);
  return run();
}"""


def answer(route):
    """What the page asks for: an empty page at first, then the modules and their tests."""
    folder, _, name = urlsplit(route.request.url).path.removeprefix("/").partition("/")
    file = FOLDERS.get(folder, UNIT) / (name or "no such file")
    if folder == "":
        route.fulfill(body="<!doctype html><title>unit tests</title>", content_type="text/html")
    elif file.is_file():
        route.fulfill(path=file, content_type="text/javascript")
    else:
        route.fulfill(status=404)


@pytest.fixture(scope="module")
def results(browser):
    """What was wrong with each test of a file, by its name."""

    @cache
    def of(file):
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.route("**/*", answer)
        page.goto("http://unit.test/")
        found = page.evaluate(RUN, file)
        page.close()
        return found

    return of


@pytest.mark.parametrize(("file", "name"), TESTS, ids=[f"{file}: {name}" for file, name in TESTS])
def test_module(results, file, name):
    assert results(file)[name] is None, results(file)[name]


@pytest.mark.parametrize("file", [path.name for path in FILES])
def test_every_test_of_a_file_is_reported(results, file):
    assert list(results(file)) == [name for found, name in TESTS if found == file]
