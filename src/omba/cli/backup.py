"""`omba backup` and `omba restore`: a copy of all that is kept of a model, also while it is served."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omba import terminal
from omba.cli import options
from omba.cli.output import write_json
from omba.store import ModelFolder

To = Annotated[Path, typer.Argument(metavar="TO", help="Folder of the copy.", show_default=False)]
From = Annotated[Path, typer.Argument(metavar="FROM", help="Folder of the copy.", show_default=False)]


def backup(to: To, model: options.ModelPath, json: options.Json = None) -> None:
    """Copy a model, also while it is served; what has not changed since the last time is not copied again."""
    from omba.store.backup import backup as copy

    copied = copy(ModelFolder(model), to)
    if not write_json(vars(copied), json):
        terminal.show(
            f"{model} is in {to}, up to basket {copied.baskets:,}, and was read back: {copied.files:,} files copied "
            f"({copied.bytes / 1e6:,.1f} MB), {copied.kept:,} were there already"
        )


def restore(source: From, model: options.ModelPath, json: options.Json = None) -> None:
    """Put a copy in the place of a model; what was there is kept beside it."""
    from omba.store.backup import restore as copy

    copied = copy(ModelFolder(model), source)
    if not write_json(vars(copied), json):
        terminal.show(
            f"{model} is as it was in {source}, up to basket {copied.baskets:,}; 'omba serve' goes on from there"
        )
