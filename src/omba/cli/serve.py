"""`omba serve` and `omba token`: the HTTP service with its dashboard, and the tokens that others need to reach it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from omba import terminal
from omba.cli import options
from omba.errors import InputError


@options.with_settings
def serve(
    model: options.ModelPath,
    host: Annotated[str, typer.Option(help="Address to listen at; any but this machine's own needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")] = 8000,
    every: options.Every = "1d",
    lateness: Annotated[
        str, typer.Option(metavar="SPAN", help="How long a window waits for late baskets: 2h, 1d; or 0.")
    ] = "0",
    history: Annotated[
        str, typer.Option(metavar="SPAN", help="Keep the rules of the end of each such span; or none.")
    ] = "1d",
    rate: Annotated[float, typer.Option(min=1, help="Requests a second that one client may make.")] = 5_000,
    read_only: Annotated[bool, typer.Option("--read-only", help="Only answer: take no baskets.")] = False,
    **settings: Any,
) -> None:
    """Serve a model over HTTP with its dashboard, and learn the baskets that come in; where none is, one begins."""
    from omba.service.launch import can_fork, launch, limit_blas

    limit_blas()
    wanted = options.read_settings(settings)
    answerer = launch() if can_fork() else None
    try:
        from omba.service.http.limits import Limits
        from omba.service.server import ServerPlan
        from omba.service.server import serve as run

        kept = None if history == "none" else history
        plan = ServerPlan(model, host, port, every, lateness, kept, read_only, Limits(rate=rate), wanted)
        run(plan, lambda address: terminal.show(f"{model} is served at {address} (Ctrl-C stops)"), answerer)
    finally:
        if answerer is not None:
            with answerer:
                answerer.kill()


def token(
    model: options.ModelPath,
    scope: Annotated[list[str], typer.Option(help="What it allows: read or write; give it twice for both.")] = ["read"],  # noqa: B006
    revoke: Annotated[str | None, typer.Option(metavar="NAME", help="Let this token hold no longer.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the tokens by name.")] = False,
    name: Annotated[str | None, typer.Option(help="What to call it; else it is named by its first letters.")] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="END", help="When it ends: 90d, 12h, or a date; without, never.")
    ] = None,
) -> None:
    """Make a token for a service that others can reach, and print it this once."""
    from omba.service.http.tokens import LETTERS, Tokens, digest

    tokens = Tokens(model)
    if revoke is not None:
        tokens.revoke(revoke)
        terminal.say(f"token {revoke} holds no longer", "dim")
    elif listed:
        used = tokens.last_uses()
        rows = [
            (one.name, " + ".join(one.scopes), one.made, one.expires or "never", used.get(one.hash, "never"))
            for one in tokens.all
        ]
        if not rows:
            raise InputError(f"there are no tokens for {str(model)!r}: 'omba token --model {model}' makes one")
        terminal.table("tokens", ("name", "allows", "made", "ends", "last used"), rows, left=5)
    else:
        made = tokens.make(scope, name, expires)
        terminal.show(made)
        allows = " and ".join(scope)
        called = name or digest(made)[:LETTERS]
        terminal.say(f"it allows to {allows}, under the name {called}; it is not shown again", "dim")
