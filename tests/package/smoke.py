"""What an installed omba must be able to do, in half a minute: learn, mine, report and serve, from any folder.

Run by `make package` with the Python of a fresh environment: `python smoke.py FOLDER`.
"""

import csv
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

PAIRS = [("pasta", "sauce"), ("bread", "butter"), ("soap", "brush"), ("tea", "milk"), ("beer", "crisps")]


def write_sales(path: Path) -> None:
    """A month of baskets in which the planted pairs go together four times in five."""
    rng = random.Random(1)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["basket_id", "customer_id", "date", "product", "price"])
        for basket in range(1_500):
            first, second = rng.choice(PAIRS)
            products = [first, second if rng.random() < 0.8 else rng.choice(PAIRS)[1], rng.choice(PAIRS)[0]]
            for product in dict.fromkeys(products):
                day = f"2026-03-{1 + basket // 50:02}"
                rows.writerow([basket, f"c{rng.randrange(100)}", day, product, rng.randrange(1, 9)])


def omba(*arguments: str) -> str:
    """What a command prints."""
    script = Path(sys.executable).with_name("omba")
    done = subprocess.run([str(script), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask_the_service(model: Path) -> None:
    """Serve the model, and fetch rules, the dashboard and the scripts it comes with."""
    script = Path(sys.executable).with_name("omba")
    arguments = [str(script), "serve", "--model", str(model), "--port", "0"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            address = next(found[0] for line in server.stdout if (found := re.findall(r"http://[\w.:]+", line)))
            assert len(json.load(urlopen(f"{address}/rules"))["rules"]) > 3
            page = urlopen(address).read().decode()
            static = Path(__import__("omba").__file__).parent / "service" / "static"
            assert "omba" in page.lower()
            scripts = sorted(static.glob("vendor/*.js"))
            assert scripts
            for script in scripts:
                assert urlopen(f"{address}/static/vendor/{script.name}").read() == script.read_bytes()
                assert script.with_name(script.name.replace(".min.js", ".LICENSE.txt")).exists()
        finally:
            server.terminate()
            server.communicate()


def main(folder: Path) -> None:
    import omba as package

    sales, model = folder / "sales.csv", folder / "shop"
    write_sales(sales)
    omba("learn", str(sales), "--model", str(model), "--dim", "16")
    omba("rules", "--model", str(model), "--out", str(folder / "rules.csv"))
    assert "sauce" in (folder / "rules.csv").read_text()
    omba("report", "--model", str(model), "--out", str(folder / "report.html"))
    assert (folder / "report.html").stat().st_size > 10_000
    assert package.OMBA.load(model).similar("pasta", n=1)[0][0] == "sauce"
    assert package.rules.Filter is not None
    assert "omba" in package.baselines.methods()
    ask_the_service(model)
    print(f"omba {package.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
