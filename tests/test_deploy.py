"""What is under deploy: files that name what is there, and commands that omba knows."""

import json
import re
import shlex
from pathlib import Path

import pytest
import typer
import yaml

from omba.cli import app

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
COMMANDS = typer.main.get_command(app).commands


def check_command(words):
    """Refuse a command or an option that omba does not have."""
    known = {flag for parameter in COMMANDS[words[0]].params for flag in parameter.opts}
    assert {word for word in words[1:] if word.startswith("--")} <= known


def test_the_container_copies_what_is_there_and_runs_a_command_that_is():
    text = (DEPLOY / "Containerfile").read_text()

    for line in re.findall(r"^COPY (?!--from)(.*) \./?\S*$", text, re.MULTILINE):
        for name in line.split():
            assert (ROOT / name).exists(), name
    (command,) = re.findall(r'^CMD \["serve"(.*)\]$', text, re.MULTILINE)
    check_command(["serve", *re.findall(r'"([^"]*)"', command)])
    assert re.search(r"^USER omba$", text, re.MULTILINE)


KNOWN = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}


def test_the_containerfile_is_one_that_a_builder_would_take():
    text = re.sub(r"^ *#.*\n", "", (DEPLOY / "Containerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    steps = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    words = [word for word, _ in steps]

    assert set(words) <= KNOWN
    assert words[0] == "FROM"
    assert words.index("USER") < words.index("CMD")
    assert words.count("CMD") == words.count("ENTRYPOINT") == words.count("HEALTHCHECK") == 1
    for word, rest in steps:
        if word == "FROM":
            assert re.fullmatch(r"[\w./-]+:[\w.-]+(?: AS \w+)?", rest), "an image is named with its version"
            assert ":latest" not in rest
        if word in ("ENTRYPOINT", "CMD", "EXEC"):
            assert isinstance(json.loads(rest), list)
        if "pip install" in rest:
            assert "--no-cache-dir" in rest


def test_the_compose_file_mounts_what_is_there_and_keeps_the_service_from_the_host():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]

    assert "ports" not in services["omba"]
    assert (DEPLOY / services["omba"]["build"]["context"] / services["omba"]["build"]["dockerfile"]).exists()
    assert (DEPLOY / services["proxy"]["volumes"][0].partition(":")[0]).exists()
    assert "reverse_proxy omba:8000" in (DEPLOY / "Caddyfile").read_text()


def test_the_unit_starts_a_command_that_is():
    (line,) = re.findall(r"^ExecStart=(.*)$", (DEPLOY / "omba.service").read_text(), re.MULTILINE)

    check_command(shlex.split(line)[1:])


@pytest.mark.parametrize(
    "line",
    re.findall(r"^(?:\w.* )?omba ((?:token|serve|demo|rules) .*)$", (ROOT / "docs/deploy.md").read_text(), re.M),
)
def test_the_page_shows_commands_that_are(line):
    check_command(shlex.split(line))
