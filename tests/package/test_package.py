"""The package: light by default, every extra asked for in a sentence, and metadata that are true."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import omba
from lower_bounds import lower_bounds
from omba.errors import MissingExtraError

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]

LIGHT = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocker())
"""
OUTSIDE = [
    "fastapi", "starlette", "uvicorn", "httptools", "uvloop", "pydantic", "redis", "pyspark", "py4j", "pandas",
    "polars", "python_calamine", "xlsxwriter", "sklearn", "gensim", "implicit", "mlxtend", "matplotlib",
]  # fmt: skip


def run_without(blocked, code, *arguments):
    """Run code in a Python of its own in which some packages cannot be imported."""
    whole = LIGHT.format(blocked=blocked) + code
    return subprocess.run([sys.executable, "-c", whole, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_learning_and_mining_need_no_extra_and_no_web_server():
    done = run_without(
        OUTSIDE,
        "import omba\n"
        "lists = [['pasta', 'sauce'], ['soap', 'brush']] * 200\n"
        "model = omba.OMBA(dim=16).fit(omba.read_baskets(lists), every=100)\n"
        "assert len(omba.mine_rules(model)) and model.rank(['pasta'], n=1)\n"
        "import omba.cli, omba.report, omba.live, omba.store\n"
        "print(omba.rules.MEASURES['lift'], omba.baselines.methods()['lift'])\n",
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", [["serve", "--model", "m"], ["token", "--model", "m"], ["demo", "--serve"]])
def test_what_needs_the_web_server_asks_for_it_in_one_sentence(command):
    done = run_without(["fastapi"], "from omba.cli import main; main()", *command)

    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert "the service needs fastapi: install it with `pip install 'omba[serve]'`" in told
    assert "Traceback" not in told


WITHOUT = {
    "excel": "rules.write('rules.xlsx')",
    "spark": "omba.spark.session()",
    "redis": "from omba.live.redis_feed import RedisFeed; RedisFeed('redis://127.0.0.1/baskets', None)",
    "baselines": "omba.baselines.make('als')",
    "pandas": "rules.to_pandas()",
    "polars": "rules.to_polars()",
}


@pytest.mark.slow
def test_each_extra_that_is_missing_is_asked_for_in_one_sentence():
    lines = [
        "import omba",
        "model = omba.OMBA(dim=16).fit([['pasta', 'sauce'], ['soap', 'brush']] * 50, every=50)",
        "rules = omba.mine_rules(model)",
    ]
    for code in WITHOUT.values():
        lines += ["try:", f"    {code}", "except omba.errors.MissingExtraError as error:", "    print(error)"]
    done = run_without(OUTSIDE, "\n".join(lines))

    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == len(WITHOUT), told
    for extra, sentence in zip(WITHOUT, told, strict=True):
        assert "pip install" in sentence, sentence
        assert extra in sentence.partition("pip install")[2], sentence


def test_every_extra_that_a_sentence_names_is_there():
    named = {
        extra
        for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
        for names in re.findall(r"omba\[([a-z,]+)\]", path.read_text())
        for extra in names.split(",")
    }

    assert named <= EXTRAS.keys()
    assert {"serve", "spark", "redis", "excel", "baselines", "docs", "all"} <= EXTRAS.keys()


def test_the_core_pulls_in_no_web_server():
    core = {re.match(r"[\w.-]+", one)[0] for one in PROJECT["dependencies"]}

    assert not core & {"fastapi", "uvicorn", "httptools", "uvloop", "pandas"}


@pytest.mark.parametrize("name", ["rules.Filter", "rules.MEASURES", "baselines.methods", "datasets.load"])
def test_rooms_come_in_when_they_are_first_asked_for(name):
    code = f"import omba; omba.{name}"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'omba' has no attribute 'nothing'"):
        _ = omba.nothing


def test_the_version_is_the_same_everywhere():
    assert omba.__version__ == PROJECT["version"]
    assert re.search(rf"^## {re.escape(omba.__version__)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_the_changelog_tells_by_version_what_was_added_changed_and_fixed():
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (\d+)\.(\d+)\.(\d+)\b", text, re.MULTILINE)

    assert versions == sorted(versions, key=lambda parts: tuple(map(int, parts)), reverse=True)
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= {
        "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"
    }  # fmt: skip
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        assert not part.partition("### ")[0].partition("\n")[2].strip(), (
            "what changed stands below a heading of its kind"
        )


def test_the_long_description_has_nothing_that_only_shows_in_the_repository():
    text = (ROOT / PROJECT["readme"]).read_text()

    assert "](" not in text
    assert "pip install omba" in text


def test_what_is_vendored_comes_with_its_licence():
    vendor = ROOT / "src/omba/service/static/vendor"
    (pattern,) = [one for one in PROJECT["license-files"] if "vendor" in one]
    licences = {path.name.replace(".LICENSE.txt", "") for path in ROOT.glob(pattern)}

    assert licences == {path.name.replace(".min.js", "") for path in vendor.glob("*.js")}


def test_the_oldest_versions_are_those_of_the_metadata():
    found = lower_bounds(["serve"])

    assert "narwhals==2.22" in found
    assert len(found) == len(PROJECT["dependencies"]) + len(EXTRAS["serve"])


def test_a_missing_extra_is_an_import_error_too():
    assert issubclass(MissingExtraError, ImportError)
