"""The dashboard's modules where they compute: their tests, in unit/, run by the browser's own engine.

A file of unit/ gets a page of its own, which imports it from a server of plain files. Each of its tests is reported by
its name.
"""

import re
import threading
from functools import cache
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import omba.service

UNIT = Path(__file__).parent / "unit"
STATIC = Path(omba.service.__file__).parent / "static"
FILES = [path for path in sorted(UNIT.glob("*.js")) if path.name != "check.js"]
TESTS = [(path.name, name) for path in FILES for name in re.findall(r'^test\("(.+?)", ', path.read_text(), re.M)]
RUN = """async (file) => {
  const { run } = await import("/unit/check.js");
  await import(`/unit/${file}`);
  return run();
}"""


class Files(SimpleHTTPRequestHandler):
    """The modules and their tests, and an empty page to run them in."""

    def do_GET(self):
        if self.path == "/":
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>unit tests</title>")
        else:
            super().do_GET()

    def translate_path(self, path):
        _, folder, name = path.partition("?")[0].split("/", 2)
        return str({"static": STATIC, "unit": UNIT}.get(folder, UNIT / "nowhere") / name)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def results(browser):
    """What was wrong with each test of a file, by its name."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    @cache
    def of(file):
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        found = page.evaluate(RUN, file)
        page.close()
        return found

    yield of
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(("file", "name"), TESTS, ids=[f"{file}: {name}" for file, name in TESTS])
def test_module(results, file, name):
    assert results(file)[name] is None, results(file)[name]


@pytest.mark.parametrize("file", [path.name for path in FILES])
def test_every_test_of_a_file_is_reported(results, file):
    assert list(results(file)) == [name for found, name in TESTS if found == file]
