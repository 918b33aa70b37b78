"""Rows: a source with every column in its role and of its type, and a drop reason where a row is left out.

The view `rows` has basket, product, user, time, price, quantity, store, the attributes a0, a1, …, `row`, and
`drop_reason`: why the row is dropped, or null (`omba.baskets.reasons`).
"""

from __future__ import annotations

from omba.baskets import Clock, Report
from omba.baskets.reasons import change_conditions, drop_reason_sql
from omba.sources.columns import Columns
from omba.sources.engine import Engine, identifier
from omba.sources.labels import label_sql
from omba.sources.numbers import number_sql
from omba.sources.source import Column, Source
from omba.sources.times import read_times


def make_rows(engine: Engine, source: Source, columns: Columns) -> tuple[Clock, Report]:
    """Make the view `rows` and count what becomes of them."""
    names = columns.names
    relation = source.load(engine, names)
    roles = {
        role: Column(engine, source, relation, name, f"c{names.index(name)}") for role, name in columns.roles.items()
    }
    report = Report(columns=dict(columns.roles), notes=list(source.notes))
    sql = {role: label_sql(column) for role, column in roles.items() if role in ("basket", "product", "user", "store")}
    sql |= {role: number_sql(column, role) for role, column in roles.items() if role in ("price", "quantity")}
    clock = Clock.NONE
    if "time" in roles:
        read = read_times(roles["time"])
        clock, sql["time"] = read.clock, read.sql
        report.notes += [read.note] if read.note else []
    sql |= {f"a{i}": f"c{names.index(name)}" for i, name in enumerate(columns.attributes.values())}
    values = ", ".join(f"{expression} AS {identifier(name)}" for name, expression in sql.items())
    # Text is turned into values once, and kept; what has types already is looked at where it lies.
    kept = "TABLE" if source.untyped else "VIEW"
    engine.execute(f"CREATE {kept} value AS SELECT {values}, row FROM {relation}")
    _make_view(engine, sql, clock)
    _count(engine, sql, report)
    return clock, report


def _make_view(engine: Engine, roles: dict[str, str], clock: Clock) -> None:
    basket = "*" if "basket" in roles else f"""*, "user" || ' ' || {_day(clock)} AS basket"""
    reason = drop_reason_sql(roles, identifier)
    engine.execute(f"CREATE VIEW rows AS SELECT {basket}, {reason} AS drop_reason FROM value")


def _day(clock: Clock) -> str:
    """The day of a row, as `Clock.day` has it, for the id of what a user bought on it."""
    return "time" if clock is Clock.DAY else "make_timestamp(time)::DATE"


def _count(engine: Engine, roles: dict[str, str], report: Report) -> None:
    changes = change_conditions(roles, identifier)
    counts = "".join(f", count(*) FILTER (WHERE {condition})" for condition in changes.values())
    found = engine.execute(f"SELECT drop_reason, count(*){counts} FROM rows GROUP BY drop_reason ORDER BY drop_reason")
    for reason, count, *changed in found:
        if reason is None:
            report.changed.update({change: n for change, n in zip(changes, changed, strict=True) if n})
        else:
            report.dropped[reason] = count
    report.rows = report.dropped.total()
