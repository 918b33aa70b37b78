"""Rows: a source with every column in its role and of its type, and a drop reason where a row is left out.

The view `rows` has basket, product, user, time, price, quantity, store, the attributes a0, a1, …, `row`, and
`drop_reason`: why the row is dropped, or null (`omba.baskets.reasons`).
"""

from __future__ import annotations

from omba.baskets import Clock, Report
from omba.baskets.identity import Identity, is_excluded
from omba.baskets.reasons import EXCLUDED, UNPAID, change_conditions, drop_reason_sql
from omba.sources.cleaning import Cleaning, as_pattern
from omba.sources.columns import Columns
from omba.sources.engine import Engine, identifier, literal
from omba.sources.labels import label_sql
from omba.sources.non_products import find_nobodies, find_non_products, has_odd_codes
from omba.sources.numbers import number_sql
from omba.sources.source import Column, Source
from omba.sources.times import read_times
from omba.sources.twins import find_twins, flatten, make_fold_table
from omba.sources.wording import number_of

FEW = 5_000_000
"""Rows up to which what becomes of each is kept, where tables are on the disk."""


def make_rows(
    engine: Engine, source: Source, columns: Columns, cleaning: Cleaning
) -> tuple[Clock, Report, Identity, int]:
    """Make the view `rows` and count what becomes of them; with them, what was folded and left out, and how many rows
    there are in all."""
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
    identity = _clean(engine, sql, clock, cleaning, "name" in columns.attributes, report)
    n_rows = _count(engine, sql, report)
    if n_rows <= FEW and engine.bounded:
        # Each question would decide anew which rows are dropped, and unpack a file that is packed.
        engine.execute("CREATE TABLE decided AS SELECT * FROM rows")
        engine.execute("CREATE OR REPLACE VIEW rows AS SELECT * FROM decided")
    return clock, report, identity, n_rows


def _clean(
    engine: Engine, roles: dict[str, str], clock: Clock, cleaning: Cleaning, named: bool, report: Report
) -> Identity:
    """Make the view `rows`, anew with each thing that is found to be folded or left out."""
    identity = cleaning.identity()
    if {"user", "basket"} <= roles.keys():
        for nobody in find_nobodies(engine):
            if nobody.user not in identity.nobody:
                identity.nobody.append(nobody.user)
            report.notes.append(
                f"customer {nobody.user!r} is nobody: {nobody.baskets:,} baskets ({nobody.share:.0%}) stay, without one"
            )
    _make_view(engine, roles, clock, identity)
    if cleaning.folds_itself and (twins := find_twins(engine, named, "price" in roles)):
        identity.fold = flatten({**identity.fold, **{twin.code: twin.of for twin in twins}})
        shown = ", ".join(f"{twin.code!r} into {twin.of!r}" for twin in twins[:3])
        codes = number_of(len(twins), "code that differs", "codes that differ")
        report.notes.append(f"folded {codes} by case, spaces or zeros alone: {shown}")
        _make_view(engine, roles, clock, identity)
    if _exclude(engine, cleaning, identity, named, "price" in roles, report):
        _make_view(engine, roles, clock, identity)
    if "price" in roles and _find_unpaid(engine):
        _make_view(engine, roles, clock, identity, unpaid=True)
    return identity


def _exclude(engine: Engine, cleaning: Cleaning, identity: Identity, named: bool, priced: bool, report: Report) -> bool:
    """Leave out what is no product: all that is found, where that is asked for, else what is none beyond doubt."""
    if not cleaning.excludes_itself and not (cleaning.excludes_sure and named and has_odd_codes(engine)):
        return False
    found = [one for one in find_non_products(engine, named, priced) if one.sure or cleaning.excludes_itself]
    identity.exclude += [as_pattern(one.code) for one in found if as_pattern(one.code) not in identity.exclude]
    if found:
        shown = ", ".join(f"{one.code!r} ({one.name})" for one in found[:3])
        how = "" if cleaning.excludes_itself else " beyond doubt (--exclude none keeps them)"
        codes = number_of(len(found), "code that is no product", "codes that are no products")
        report.notes.append(f"left out {codes}{how}: {shown}")
    return bool(found)


def _make_view(engine: Engine, roles: dict[str, str], clock: Clock, identity: Identity, unpaid: bool = False) -> None:
    values = _fold(engine, identity, "user" in roles)
    basket = "*" if "basket" in roles else f"""*, "user" || ' ' || {_day(clock)} AS basket"""
    reason = drop_reason_sql(roles, identifier)
    more = []
    if identity.exclude:
        products = engine.execute(f"SELECT DISTINCT product::VARCHAR FROM {values} WHERE product IS NOT NULL")
        excluded = [product for (product,) in products if is_excluded(product, identity.exclude)]
        engine.execute("CREATE OR REPLACE TABLE excluded (product VARCHAR)")
        if excluded:
            engine.execute(f"INSERT INTO excluded VALUES {', '.join(f'({literal(one)})' for one in excluded)}")
        more.append(f"CASE WHEN product::VARCHAR IN (FROM excluded) THEN '{EXCLUDED}' END")
    if unpaid:
        more.append(f"CASE WHEN basket IN (FROM unpaid) THEN '{UNPAID}' END")
    whole = f"coalesce({', '.join([reason, *more])})" if more else reason
    engine.execute(
        f"CREATE OR REPLACE VIEW rows AS SELECT *, {whole} AS drop_reason FROM (SELECT {basket} FROM {values})"
    )


def _fold(engine: Engine, identity: Identity, with_users: bool) -> str:
    """The values with each product under the code it goes by, and users only who are customers."""
    changes = []
    if identity.nobody and with_users:
        nobodies = ", ".join(literal(user) for user in identity.nobody)
        changes.append(f"""CASE WHEN "user"::VARCHAR NOT IN ({nobodies}) THEN "user" END AS "user\"""")
    join = ""
    if identity.fold:
        make_fold_table(engine, identity.fold)
        kind = next(kind for name, kind, *_ in engine.execute("DESCRIBE value") if name == "product")
        if engine.execute(f"SELECT 1 FROM folded WHERE try_cast(target AS {kind}) IS NULL LIMIT 1"):
            kind = "VARCHAR"
        changes.append(f"coalesce(target::{kind}, product::{kind}) AS product")
        join = " LEFT JOIN folded ON product::VARCHAR = origin"
    if not changes:
        return "value"
    return f"(SELECT value.* REPLACE ({', '.join(changes)}) FROM value{join})"


def _find_unpaid(engine: Engine) -> bool:
    """Make the table `unpaid`: baskets whose prices are all zero or less; whether there are some, and they are few."""
    kept = "FROM rows WHERE drop_reason IS NULL"
    if not engine.execute(f"SELECT 1 {kept} AND price <= 0 LIMIT 1"):
        return False
    engine.execute(
        f"CREATE TABLE unpaid AS SELECT basket {kept} AND basket IN (SELECT basket {kept} AND price <= 0) "
        "GROUP BY basket HAVING bool_and(coalesce(price, 1) <= 0)"
    )
    (unpaid,), (baskets,) = engine.execute(
        f"SELECT count(*) FROM unpaid UNION ALL SELECT count(DISTINCT basket) {kept}"
    )
    # Where most baskets have no price above zero, prices are not told, and say nothing about sales.
    return 0 < 2 * int(unpaid) <= int(baskets)


def _day(clock: Clock) -> str:
    """The day of a row, as `Clock.day` has it, for the id of what a user bought on it."""
    return "time" if clock is Clock.DAY else "make_timestamp(time)::DATE"


def _count(engine: Engine, roles: dict[str, str], report: Report) -> int:
    """Count what becomes of the rows; how many there are."""
    changes = change_conditions(roles, identifier)
    counts = "".join(f", count(*) FILTER (WHERE {condition})" for condition in changes.values())
    found = engine.execute(f"SELECT drop_reason, count(*){counts} FROM rows GROUP BY drop_reason ORDER BY drop_reason")
    for reason, count, *changed in found:
        if reason is None:
            report.changed.update({change: n for change, n in zip(changes, changed, strict=True) if n})
        else:
            report.dropped[reason] = count
    report.rows = report.dropped.total()
    return sum(count for _, count, *_ in found)
