"""Options that several commands share, and those that come from the table of settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from omba.errors import SettingError
from omba.settings import SETTINGS, Setting, Value

Source = Annotated[
    str,
    typer.Argument(
        help="A file or a glob (CSV, TSV, Parquet, JSON lines, Excel), or a built-in: complete-journey, "
        "complete-journey:product_id, ta-feng, instacart:FOLDER, next-basket:FOLDER.",
        show_default=False,
    ),
]
ModelPath = Annotated[Path, typer.Option("--model", help="Folder of the model.", show_default=False)]
Json = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON; - for standard output.")
]
Every = Annotated[str, typer.Option(help="A window: 1d, 1h, 7d, week, month, or a number of baskets.")]
Until = Annotated[str | None, typer.Option(metavar="DATE", help="Leave out baskets from this moment on.")]
Currency = Annotated[str, typer.Option(help="Written with amounts of money: £, EUR.")]
Count = Annotated[int, typer.Option("-n", "--top", min=1, help="How many to show.")]


def _column(role: str, what: str) -> Any:
    return Annotated[str | None, typer.Option(f"--{role}", metavar="COLUMN", help=what, rich_help_panel="Columns")]


BasketColumn = _column("basket", "The basket's id; without one, a basket is a user's day.")
ProductColumn = _column("product", "The product.")
UserColumn = _column("user", "Who bought it.")
TimeColumn = _column("time", "When: a timestamp, a date or an integer day.")
PriceColumn = _column("price", "The price of one piece.")
QuantityColumn = _column("quantity", "How many pieces.")
StoreColumn = _column("store", "Where it was bought.")
Sheet = Annotated[
    str | None,
    typer.Option("--sheet", metavar="NAME", help="Sheet of a workbook, by name or number; * for all.",
                 rich_help_panel="Columns"),
]  # fmt: skip
Fold = Annotated[
    str | None,
    typer.Option("--fold", metavar="[FILE]", rich_help_panel="Columns",
                 help="Fold codes of one product: those found, or a CSV file of two columns, from and to."),
]  # fmt: skip
Exclude = Annotated[
    str | None,
    typer.Option("--exclude", metavar="PATTERNS", rich_help_panel="Columns",
                 help="Leave out what is no product: 'POST,gift_*', a file of patterns, or auto."),
]  # fmt: skip
COLUMNS = {
    "basket": BasketColumn, "product": ProductColumn, "user": UserColumn, "time": TimeColumn, "price": PriceColumn,
    "quantity": QuantityColumn, "store": StoreColumn, "sheet": Sheet, "fold": Fold, "exclude": Exclude,
}  # fmt: skip
"""The option of each column that a source can have, and of what is folded and left out."""


def with_columns(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes `columns` one option for each of them; it gets all in one `ColumnOptions`."""
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "columns"]
    options = [
        inspect.Parameter(role, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for role, annotation in COLUMNS.items()
    ]

    @wraps(command)
    def gather(**given: Any) -> None:
        # Not for commands that read no sales, which would wait for it.
        from omba.cli.sources import ColumnOptions

        command(columns=ColumnOptions(**{role: given.pop(role) for role in COLUMNS}), **given)

    return _declare(gather, [*own, *options])


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes `**settings` one option for each setting of the learner; those not given are None."""
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "settings"]
    options = [_parameter(setting) for setting in SETTINGS.values()]
    return _declare(command, [*own, *options])


def _declare(command: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """The command with these parameters for all who look at its signature."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def read_settings(given: dict[str, Any]) -> dict[str, Value]:
    """The settings that were given, each as the learner takes it."""
    return {name: _value(name, value) for name, value in given.items() if value is not None}


def _parameter(setting: Setting) -> inspect.Parameter:
    kind = str if setting.choices else type(setting.default)
    default = "none" if setting.default is None else str(setting.default).lower()
    flag = f"--{setting.name.replace('_', '-')}"
    flags = [f"{flag}/--no-{flag[2:]}"] if kind is bool else [flag]
    option = typer.Option(
        *flags,
        help=f"{setting.help} [default: {default}]",
        rich_help_panel="Settings of the learner",
        show_default=False,
    )
    annotation = Annotated[kind | None, option]  # type: ignore[valid-type]
    return inspect.Parameter(setting.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _value(name: str, value: Any) -> Value:
    """A word or two numbers where the setting takes those (`none`, `fit`, `2.3,10`), else the value as it is."""
    if not SETTINGS[name].choices or not isinstance(value, str):
        return value  # type: ignore[no-any-return]
    if value in ("none", *(choice for choice in SETTINGS[name].choices if choice)):
        return None if value == "none" else value
    try:
        first, second = map(float, value.split(","))
    except ValueError:
        words = ", ".join("none" if choice is None else choice for choice in SETTINGS[name].choices)
        raise SettingError(f"--{name} is {value!r}: it takes {words}, or two numbers such as 2.3,10") from None
    return first, second
