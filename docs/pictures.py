"""The pictures of the dashboard and the report: `python docs/pictures.py --model DIR` takes them anew from a model.

Those in the repository show a year of The Complete Journey: `omba learn complete-journey --model DIR`.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parent / "images"
SERVE = "from omba.cli import main; main()"
VIEWS = {
    "dashboard-rules": "#/rules?charts=shown",
    "dashboard-map": "#/map",
    "dashboard-calendar": "#/calendar",
    "dashboard-bundles": "#/bundles",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a folder that omba learn has filled")
    parser.add_argument("--out", type=Path, default=IMAGES, help="where the pictures go")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", SERVE, "serve", "--port", "0", "--read-only", "--model", str(asked.model)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        take(address_of(server), write_report(asked.model), asked.out)
    finally:
        server.terminate()
        server.wait(60)


def address_of(server: subprocess.Popen[str]) -> str:
    """Where the service says that it can be reached."""
    assert server.stdout is not None
    said = ""
    for line in server.stdout:
        said += line
        if found := re.search(r"http://[\w.:]+", line):
            return found[0]
    raise SystemExit(f"omba serve did not start: {said}")


def write_report(model: Path) -> str:
    """The address of the model's report, written into a folder of its own."""
    page = Path(tempfile.mkdtemp()) / "report.html"
    subprocess.run([sys.executable, "-c", SERVE, "report", "--model", str(model), "--out", str(page)], check=True)
    return page.as_uri()


def take(address: str, report: str, folder: Path) -> None:
    """A picture of the report and of each view, 1440 × 900; of the rules with the first of them open."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(report)
        page.screenshot(path=folder / "report.png")
        for name, where in VIEWS.items():
            show(page, f"{address}/{where}")
            page.screenshot(path=folder / f"{name}.png")
            print(folder / f"{name}.png")
        browser.close()
    for name in ("report", *VIEWS):
        shrink(folder / f"{name}.png")


def shrink(path: Path) -> None:
    """A picture in 128 colours, which is a third of its size and looks the same."""
    from PIL import Image

    picture = Image.open(path).convert("RGB")
    picture.quantize(128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)


def show(page: Any, address: str) -> None:
    """Opens a view and waits until all of it is drawn."""
    page.goto(address)
    page.wait_for_selector("main[aria-busy=false]")
    if "charts" in address:
        page.wait_for_selector(".network canvas")
        page.click(".body .row[data-row='0'] .of-rule")
        page.wait_for_selector("#panel .interval")
    page.wait_for_timeout(2_000)


if __name__ == "__main__":
    main()
