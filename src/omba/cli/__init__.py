"""The command line: `omba COMMAND`. A mistake gets one sentence on standard error and exit status 2."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import Annotated

import typer

from omba.errors import OmbaError
from omba.terminal import notes, say

__all__ = ["app", "main", "run"]

COMMANDS = {
    "demo": "demo", "check": "check", "itemsets": "itemsets", "learn": "learn", "rules": "rules",
    "families": "families", "bundles": "bundles", "coming-up": "coming_up", "substitutes": "relations",
    "complements": "relations", "prices": "prices", "explain": "rules", "similar": "ask", "rank": "ask", "next": "next",
    "diff": "diff", "report": "report", "evaluate": "evaluate", "truth": "truth", "reproduce": "reproduce",
    "serve": "serve", "token": "serve", "doctor": "doctor", "backup": "backup", "restore": "backup",
}  # fmt: skip
"""The module of each command, in the order of the help; only that of the command that is run is read."""


@lru_cache
def make_app(*names: str) -> typer.Typer:
    """An app of some of the commands."""
    made = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    made.callback(invoke_without_command=True)(omba)
    for name in names:
        function = "next_basket" if name == "next" else name.replace("-", "_")
        made.command(name)(getattr(import_module(f"omba.cli.{COMMANDS[name]}"), function))
    return made


def __getattr__(name: str) -> typer.Typer:
    """`app`, with all commands, when it is first asked for."""
    if name != "app":
        raise AttributeError(f"module 'omba.cli' has no attribute {name!r}")
    return make_app(*COMMANDS)


def omba(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Tell the version and stop.")] = False,
) -> None:
    """Online market basket analysis: what belongs together, learned from a stream of baskets."""
    if version:
        from omba import __version__

        typer.echo(__version__)
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """The entry point of the `omba` command."""
    status = run(sys.argv[1:])
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        sys.exit(status)
    # Taking apart all that was imported takes as long as an answer; the system does it at once.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status: 0, 2 for a mistake, 130 where it was interrupted."""
    chosen = make_app(arguments[0]) if arguments and arguments[0] in COMMANDS else make_app(*COMMANDS)
    with notes():
        try:
            return chosen(args=_complete(arguments), prog_name="omba", standalone_mode=False) or 0
        except typer.TyperException as error:
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "omba"
            return _refuse(f"{error.format_message().rstrip('.')}: see {command} --help")
        except OmbaError as error:
            return _refuse(str(error))
        except BrokenPipeError:
            # Whoever read the output has seen enough; nothing more may be written, not even on exit.
            sys.stdout = None
            return 0
        except OSError as error:
            return _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _complete(arguments: Sequence[str]) -> list[str]:
    """The arguments with `auto` after a --fold that stands alone.

    >>> _complete(["learn", "a.csv", "--fold", "--model", "m"])
    ['learn', 'a.csv', '--fold', 'auto', '--model', 'm']
    """
    given: list[str] = []
    for argument, following in zip(arguments, [*arguments, "-"][1:], strict=True):
        given += [argument, "auto"] if argument == "--fold" and following.startswith("-") else [argument]
    return given


def _refuse(sentence: str) -> int:
    say(f"omba: {sentence}", style="red")
    return 2
