"""Rows: a source with every column in its role and of its type, and the fate of each row told.

The view `rows` has basket, product, user, time, price, quantity, store, the attributes a0, a1, …, `row`, and
`fate`: why the row is dropped, or null.
"""

from __future__ import annotations

from omba.baskets import Clock, Report
from omba.baskets import report as why
from omba.sources.columns import Columns
from omba.sources.engine import Engine, identifier, literal
from omba.sources.labels import label
from omba.sources.numbers import number
from omba.sources.source import Column, Source
from omba.sources.times import times


def make_rows(engine: Engine, source: Source, columns: Columns) -> tuple[Clock, Report]:
    """Make the view `rows` and count what becomes of them."""
    names = columns.names
    relation = source.load(engine, names)
    roles = {
        role: Column(engine, source, relation, name, f"c{names.index(name)}") for role, name in columns.roles.items()
    }
    report = Report(columns=dict(columns.roles), notes=list(source.notes))
    sql = {role: label(column) for role, column in roles.items() if role in ("basket", "product", "user", "store")}
    sql |= {role: number(column, role) for role, column in roles.items() if role in ("price", "quantity")}
    clock = Clock.NONE
    if "time" in roles:
        read = times(roles["time"])
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
    fates = [("product IS NULL", why.NO_PRODUCT)]
    if "basket" in roles:
        fates.append(("basket IS NULL", why.NO_BASKET))
    else:
        fates.append(('"user" IS NULL', why.NO_USER))
    if "time" in roles:
        fates.append(("time IS NULL", why.NO_TIME))
    if "quantity" in roles:
        fates.append(("quantity <= 0", why.RETURNED))
    fate = " ".join(f"WHEN {condition} THEN {literal(reason)}" for condition, reason in fates)
    basket = "*" if "basket" in roles else f"""*, "user" || ' ' || {_day(clock)} AS basket"""
    engine.execute(f"CREATE VIEW rows AS SELECT {basket}, CASE {fate} END AS fate FROM value")


def _day(clock: Clock) -> str:
    return "time" if clock is Clock.DAY else "make_timestamp(time)::DATE"


def _count(engine: Engine, roles: dict[str, str], report: Report) -> None:
    changes: dict[str, str] = {}
    if "price" in roles:
        changes |= {why.PRICE_MISSING: "price IS NULL", why.PRICE_NOT_POSITIVE: "price <= 0"}
    if "quantity" in roles:
        changes |= {why.QUANTITY_MISSING: "quantity IS NULL"}
    counts = "".join(f", count(*) FILTER (WHERE {condition})" for condition in changes.values())
    for fate, count, *changed in engine.execute(f"SELECT fate, count(*){counts} FROM rows GROUP BY fate ORDER BY fate"):
        if fate is None:
            report.changed.update({reason: n for reason, n in zip(changes, changed, strict=True) if n})
        else:
            report.dropped[fate] = count
    report.rows = report.dropped.total()
