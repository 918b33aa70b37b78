"""The terminal: bars where someone watches, plain lines elsewhere, tables that fit."""

import logging

import pytest
from rich.console import Console

from omba import terminal


@pytest.fixture
def screen(monkeypatch):
    """A terminal of 60 columns in place of both consoles."""
    console = Console(force_terminal=True, width=60, markup=False, emoji=False, highlight=False, record=True)
    monkeypatch.setattr(terminal, "out", console)
    monkeypatch.setattr(terminal, "err", console)
    return console


def test_on_a_terminal_work_shows_a_bar(screen, capsys):
    with terminal.progress("learning", 4) as advance:
        advance(4, "the last day")

    drawn = capsys.readouterr().out
    assert "━" in drawn
    assert "100%" in drawn
    assert "the last day" in drawn


def test_elsewhere_it_shows_plain_lines_now_and_then(monkeypatch, capsys):
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr(terminal, "monotonic", lambda: next(clock))

    with terminal.progress("learning", 10) as advance:
        for day in range(10):
            advance(1, f"day {day}")

    lines = capsys.readouterr().err.splitlines()
    assert 1 < len(lines) < 6
    assert lines[-1] == "learning 100% day 9"
    assert all("\x1b" not in line for line in lines)


def test_work_of_unknown_length_shows_no_share(monkeypatch, capsys):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(terminal, "monotonic", lambda: next(clock))

    with terminal.progress("learning", None) as advance:
        advance(3, "day 1")

    assert capsys.readouterr().err == "learning day 1\n"


def test_notes_of_the_package_are_shown_and_others_are_not(capsys):
    with terminal.notes():
        logging.getLogger("omba").info("recognised product = 'sku'")
        logging.getLogger("elsewhere").warning("nothing to see")
    logging.getLogger("omba").warning("too late")

    assert "recognised product = 'sku'\n" in capsys.readouterr().err


ROWS = [("a rule with quite a few words to read in it ⇒ tea", 12, "5 to 6", 0.5)]


def test_a_narrow_screen_leaves_out_spare_columns_and_folds_no_figures(screen):
    terminal.table("Rules", ("rule", "lift", "90% interval", "cosine"), ROWS, spare=("90% interval", "cosine"))

    drawn = screen.export_text()
    assert "interval" not in drawn
    assert "cosine" in drawn
    assert max(map(len, drawn.splitlines())) <= 60


def test_a_file_gets_the_whole_table_a_line_a_row(capsys):
    terminal.table("Rules", ("rule", "lift", "90% interval", "cosine"), ROWS, spare=("90% interval", "cosine"))

    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split("tea")[1].split() == ["12", "5", "to", "6", "0.5"]
    assert not any(line.endswith(" ") for line in lines)
