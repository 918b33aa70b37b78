"""The command line: `omba COMMAND`. A mistake gets one sentence on standard error and exit status 2."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from omba.cli.ask import rank, similar
from omba.cli.backup import backup, restore
from omba.cli.bundles import bundles
from omba.cli.check import check
from omba.cli.coming_up import coming_up
from omba.cli.demo import demo
from omba.cli.diff import diff
from omba.cli.doctor import doctor
from omba.cli.evaluate import evaluate
from omba.cli.families import families
from omba.cli.itemsets import itemsets
from omba.cli.learn import learn
from omba.cli.next import next_basket
from omba.cli.prices import prices
from omba.cli.relations import complements, substitutes
from omba.cli.report import report
from omba.cli.reproduce import reproduce
from omba.cli.rules import explain, rules
from omba.cli.serve import serve, token
from omba.cli.truth import truth
from omba.errors import OmbaError
from omba.terminal import notes, say

__all__ = ["app", "main", "run"]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
for command in (
    demo,
    check,
    itemsets,
    learn,
    rules,
    families,
    bundles,
    coming_up,
    substitutes,
    complements,
    prices,
    explain,
    similar,
    rank,
    next_basket,
    diff,
    report,
    evaluate,
    truth,
    reproduce,
    serve,
    token,
    doctor,
    backup,
    restore,
):
    app.command("next" if command is next_basket else None)(command)


@app.callback(invoke_without_command=True)
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
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status: 0, 2 for a mistake, 130 where it was interrupted."""
    with notes():
        try:
            return app(args=_complete(arguments), prog_name="omba", standalone_mode=False) or 0
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
