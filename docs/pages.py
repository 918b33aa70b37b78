"""The code of the pages: `python docs/pages.py [PAGE …]` runs it, and writes below it what it prints.

A fence of `python` or `shell` is run, from the top of a page to its end, in a folder that holds `sales.csv` and `shop`,
a model learned from it. A fence of `text` right below it is what it prints; one that ends with … is the beginning of
that. What the tests cannot run says so in its title, with the reason.
"""

import contextlib
import copy
import functools
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.request import Request, urlopen

import notebooks

import omba
from omba.cli import run as run_omba

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
FENCE = re.compile(
    r'^```(python|shell)(?: title="([^"]*)")?\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?', re.MULTILINE | re.DOTALL
)
NOT_RUN = "Not run by the tests: "
MORE = "…\n"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
TARGETS = set(re.findall(r"^([\w-]+)(?: [\w-]+)*:", (ROOT / "Makefile").read_text(), re.MULTILINE))


@dataclass(frozen=True)
class Block:
    """A block of code, its title, and what the page says that it prints."""

    language: str
    title: str
    code: str
    shown: str | None

    @property
    def is_run(self) -> bool:
        """Whether it is run; else its title says why not."""
        return not self.title.startswith(NOT_RUN)


def pages() -> dict[str, Path]:
    """Every page, by its place in the site."""
    return {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))}


def blocks_of(text: str) -> list[Block]:
    """The code of a page, from top to bottom."""
    return [Block(found[1], found[2] or "", found[3], found[4]) for found in FENCE.finditer(text)]


def commands_of(code: str) -> list[list[str]]:
    """The words of each command in a block of shell; a quoted text may go over several lines."""
    commands, open_line = [], ""
    for line in code.splitlines(keepends=True):
        open_line += line
        try:
            words = shlex.split(open_line, comments=True)
        except ValueError:  # a quotation that goes on
            continue
        open_line = ""
        if words:
            commands.append(words)
    return commands


@dataclass
class Reader:
    """Somebody who tries a page from top to bottom, in the current folder."""

    names: dict[str, Any] = field(default_factory=dict)

    def run(self, block: Block) -> str:
        """What a block prints."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            if block.language == "python":
                self.run_python(block.code)
            else:
                for words in commands_of(block.code):
                    run_command(words)
        return "".join(f"{line.rstrip()}\n" for line in printed.getvalue().strip("\n").splitlines())

    def run_python(self, code: str) -> None:
        """The first block of many pages learns the same shop, which is done once."""
        if not self.names and "planted_shop" in code:
            self.names = copy.copy(names_after(code))
            self.names["model"] = copy.deepcopy(self.names.get("model"))
        else:
            exec(compile(code, "page", "exec"), self.names)


@functools.cache
def names_after(code: str) -> dict[str, Any]:
    """The names that there are after some code, which is to print nothing."""
    names: dict[str, Any] = {}
    exec(compile(code, "page", "exec"), names)
    return names


def run_command(words: list[str]) -> None:
    """Run a command of omba, or a request to its service; of what would install or build, see that it is there."""
    tool, *rest = words
    if tool == "omba":
        with mock.patch("omba.service.server.serve"):  # which would not end: its options are read all the same
            assert run_omba(rest) == 0, f"{shlex.join(words)} is refused"
    elif tool == "curl":
        ask_the_service(rest)
    elif tool in ("pip", "pipx", "uvx"):
        for extras in re.findall(r"omba\[([\w,]+)\]", " ".join(rest)):
            assert set(extras.split(",")) <= EXTRAS.keys(), f"{extras} is no extra"
    elif tool == "make":
        assert {word for word in rest if "=" not in word} <= TARGETS, f"{shlex.join(words)} makes nothing"
    elif tool == "python":
        source = (ROOT / rest[0]).read_text()
        for option in rest[1:]:
            assert not option.startswith("--") or f'"{option}"' in source, f"{rest[0]} does not know {option}"
    else:
        raise AssertionError(f"{shlex.join(words)}: what is this? A block that cannot be run says so in its title")


def ask_the_service(words: list[str]) -> None:
    """What curl prints, from a service over the model `shop` at a free port."""
    from omba.live import Inbox
    from omba.service import create_app
    from omba.service.server import bind_socket, make_server

    address = next(word for word in words if "localhost" in word or "127.0.0.1" in word)
    body = words[words.index("-d") + 1].encode() if "-d" in words else None
    up = threading.Event()
    with contextlib.closing(Inbox("shop")) as inbox, bind_socket("127.0.0.1", 0) as door:
        server = make_server(create_app("shop", inbox), up.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
        thread.start()
        try:
            assert up.wait(60), "the service does not start"
            here = re.sub(r"^(http://)?[\w.]+:8000", f"http://127.0.0.1:{door.getsockname()[1]}", address)
            with urlopen(Request(here, body, {"Content-Type": "application/json"})) as answer:
                print(answer.read().decode())
        finally:
            server.should_exit = True
            thread.join()


@contextlib.contextmanager
def prepared() -> Iterator[Path]:
    """A folder with sales and a model of them, to be copied for each page; tables are printed as on a screen of 120."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, COLUMNS="120"):
        place = Path(folder)
        omba.datasets.planted_shop(6_000).baskets.write(place / "sales.csv")
        learn = ["learn", str(place / "sales.csv"), "--model", str(place / "shop"), "--every", "7d", "--dim", "16"]
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            assert run_omba(learn) == 0
        omba.datasets.planted_shop(400, days=100).baskets.between("2020-04-06").write(place / "tomorrow.csv")
        (place / "customers.csv").write_text("u7\nu8\n")
        yield place


@contextlib.contextmanager
def folder_for_a_page(place: Path) -> Iterator[None]:
    """A copy of what was prepared, as the current folder."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(place, folder, dirs_exist_ok=True)
        with contextlib.chdir(folder), contextlib.redirect_stderr(io.StringIO()):
            yield


def outputs(text: str, place: Path) -> list[str]:
    """What each block of a page prints, run from top to bottom; nothing for those that are not run."""
    reader = Reader()
    with folder_for_a_page(place):
        if "omba learn sales.csv --model shop\n" in text:
            shutil.rmtree("shop")  # this page makes it
        return [reader.run(block) if block.is_run else "" for block in blocks_of(text)]


def beginning(shown: str, printed: str) -> str:
    """As much of what was printed as a page shows."""
    if not shown.endswith(MORE):
        return printed
    return "".join(printed.splitlines(keepends=True)[: len(shown.splitlines()) - 1]) + MORE


def differ(shown: str, printed: str) -> bool:
    """Whether a page shows something else than is printed; lines that tie may change places."""
    ordered = [
        "\n".join(sorted(text.splitlines(), key=lambda line: notebooks.NUMBER.sub("0", line)))
        for text in (shown, beginning(shown, printed))
    ]
    return notebooks.differ(*ordered)


def renewed(text: str, printed: list[str]) -> str:
    """The page with what its blocks print now."""
    left = iter(printed)

    def renew(found: re.Match[str]) -> str:
        now = next(left)
        if found[4] is None:
            return found[0]
        return found[0][: found.start(4) - found.start()] + beginning(found[4], now) + "```\n"

    return FENCE.sub(renew, text)


def main(names: list[str]) -> None:
    with prepared() as place:
        for name, path in pages().items():
            if blocks_of(path.read_text()) and (not names or name in names):
                print(name, flush=True)
                path.write_text(renewed(path.read_text(), outputs(path.read_text(), place)))


if __name__ == "__main__":
    main(sys.argv[1:])
