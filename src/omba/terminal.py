"""Terminal: what a person sees while and after a command runs: notes, progress, tables.

Results go to standard output, all else to standard error. On a terminal work shows a bar, elsewhere a plain
line now and then. Labels come from anybody's data, so they are never read as markup or control codes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

Advance = Callable[[int, str], None]
"""Called with the work done since the last call and a word on where it stands."""

PLAIN_WIDTH = 200
"""Columns of a table that goes to a file or a pipe, where nothing has to be cut to fit."""
PLAIN_PAUSE = 5.0
"""Seconds between two lines of progress that nobody may be watching."""

WORDS = 40
"""Columns of a screen that the words of a table should have, where they need them."""

out = Console(markup=False, emoji=False, highlight=False)
err = Console(markup=False, emoji=False, highlight=False, stderr=True)


class Notes(logging.Handler):
    """Shows what the package logs, dimly, above any bar."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage(), style="yellow" if record.levelno >= logging.WARNING else "dim")


@contextmanager
def notes() -> Iterator[None]:
    """Show the notes of the package as long as this lasts."""
    logger, handler = logging.getLogger("omba"), Notes()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def say(sentence: str, style: str = "") -> None:
    """A line on standard error, left whole where it is not for a screen."""
    err.print(Text(plain(sentence), style), soft_wrap=not err.is_terminal)


def show(text: str = "", style: str = "") -> None:
    """A line on standard output."""
    out.print(Text(plain(text), style), soft_wrap=not out.is_terminal)


def plain(label: object) -> str:
    """A label as text that cannot move the cursor or change colours.

    >>> plain("tea\\x1b[2J")
    'tea�[2J'
    """
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in str(label))


def table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1, spare: Sequence[str] = ()
) -> None:
    """A table on standard output: the first `left` columns are words, the others figures.

    On a narrow screen the columns named in `spare` are left out, one by one, until the words have room. Of a table
    without rows the title says all there is.
    """
    cells = [[plain(cell) for cell in row] for row in rows]
    if not cells:
        show(f"\n{title}", "bold")
        return
    heads = [name if place < left else name.replace(" ", "\n") for place, name in enumerate(columns)]
    shown = list(range(len(columns)))
    if out.is_terminal:
        _fit(shown, [columns.index(name) for name in spare], [_width(heads, cells, place) for place in shown], left)
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    lines = max((head.count("\n") for head in heads), default=0)
    for place in shown:
        head, words = heads[place], place < left
        above = "\n" * (lines - head.count("\n"))
        grid.add_column(
            Text(above + head, "dim"), justify="left" if words else "right", no_wrap=not words, overflow="fold"
        )
    for row in cells:
        grid.add_row(*(Text(row[place]) for place in shown))
    show(f"\n{title}\n", "bold")
    if out.is_terminal:
        out.print(grid)
    else:
        wide = Console(file=out.file, width=PLAIN_WIDTH)
        with wide.capture() as drawn:
            wide.print(grid)
        show("\n".join(line.rstrip() for line in drawn.get().splitlines()))


def _width(heads: Sequence[str], cells: Sequence[Sequence[str]], place: int) -> int:
    """The widest line of a column."""
    return max(cell_len(line) for text in (heads[place], *(row[place] for row in cells)) for line in text.split("\n"))


def _fit(shown: list[int], spare: list[int], widths: list[int], left: int) -> None:
    """Leave out spare columns until the words, which may fold, have room."""
    for place in spare:
        figures = sum(widths[other] + 2 for other in shown if other >= left)
        if min(WORDS, sum(widths[:left])) <= out.width - figures - 2 * left:
            return
        shown.remove(place)


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Advance]:
    """Show how far work has come; `total` is None where that is not known."""
    if err.is_terminal:
        with _bar(title, total) as advance:
            yield advance
    else:
        yield _lines(title, total)


@contextmanager
def _bar(title: str, total: int | None) -> Iterator[Advance]:
    columns = (
        SpinnerColumn(finished_text="[green]✓[/]"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=32),
        TaskProgressColumn(show_speed=False),
        TextColumn("{task.fields[note]}", style="dim", markup=False),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with Progress(*columns, console=err) as bar:
        task = bar.add_task(title, total=total, note="")

        def advance(amount: int, note: str) -> None:
            bar.update(task, advance=amount, note=plain(note))

        yield advance


def _lines(title: str, total: int | None) -> Advance:
    done, spoke = 0, monotonic()

    def advance(amount: int, note: str) -> None:
        nonlocal done, spoke
        done += amount
        if done == total or monotonic() - spoke > PLAIN_PAUSE:
            spoke = monotonic()
            share = f" {done / total:4.0%}" if total else ""
            say(f"{title}{share} {note}".rstrip())

    return advance
