"""What is under deploy: files that name what is there, and commands that omba knows."""

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
    re.findall(r"^ +(?:\w.* )?omba ((?:token|serve|demo|rules) .*)$", (ROOT / "docs/deploy.md").read_text(), re.M),
)
def test_the_page_shows_commands_that_are(line):
    check_command(shlex.split(line))
