"""Rows sorted into baskets in time order by DuckDB, on disk where memory does not do.

Two tables are read side by side: the visits, one row a basket, numbered in time order, and the items, sorted
by visit. Equal times keep the order in which the baskets begin in the source; the products of a basket keep
theirs. Reading a source whole is reading all of its stream, so both give the same baskets and the same codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Baskets, Clock, Every, Vocabulary
from omba.errors import InputError
from omba.sources.attributes import read_attributes
from omba.sources.cleaning import Cleaning
from omba.sources.columns import Columns
from omba.sources.engine import Engine, identifier
from omba.sources.items import Items, merge
from omba.sources.rows import make_rows
from omba.sources.source import Source
from omba.sources.stream import BasketStream

CHUNK = 1_000_000
"""Rows taken from DuckDB at a time: few enough to be small, enough for array code to be quick."""


class SortedStream(BasketStream):
    """The stream of a source that DuckDB reads.

    Parameters
    ----------
    engine
        Where it is read and sorted.
    source
        What is read.
    columns
        Which column is what.
    every
        How long a window is.
    cleaning
        What to fold and to leave out.
    """

    def __init__(
        self,
        engine: Engine,
        source: Source,
        columns: Columns,
        every: str | int | Every = "1d",
        cleaning: Cleaning | None = None,
    ) -> None:
        super().__init__(every)
        self.engine, self.source, self.columns = engine, source, columns
        self.run: _Run | None = None
        with self._plainly():
            made = make_rows(engine, source, columns, cleaning or Cleaning())
            self.clock, self.report, self.identity, self.n_rows = made
            self._make_visits()
            self.total = int(engine.execute("SELECT count(*) FROM visits")[0][0])
            self._read_attributes()

    def close(self) -> None:
        if self.run:
            self.run.end()
        self.engine.close()

    def chunks(self) -> Iterator[Baskets]:
        self.report.rows, self.report.kept, self.report.merged = self.report.dropped.total(), 0, 0
        price_and_quantity = "".join(f", {role}" for role in ("price", "quantity") if role in self.columns.roles)
        with self._plainly():
            # A connection gives one result at a time, hence a second one for the visits.
            cursor = self.engine.connection.cursor()
            visits = _Taker(cursor.sql("SELECT * FROM visits ORDER BY rowid").to_arrow_reader(CHUNK))
            items = self._run(
                f"SELECT visits.rowid AS visit, product{price_and_quantity} FROM rows JOIN visits USING (basket) "
                "WHERE drop_reason IS NULL ORDER BY visits.rowid, rows.row"
            )
            for part in _whole_visits(items):
                visit = part["visit"].to_numpy()
                yield self._chunk(part, visits.take(visit[-1] - visit[0] + 1 if len(visit) else 0))
            cursor.close()

    def _run(self, sql: str) -> _Run:
        """Start to read the items; a run that was left half way ends here."""
        if self.run:
            self.run.end()
        self.run = _Run(self.engine.connection.sql(sql).to_arrow_reader(CHUNK))
        return self.run

    def _chunk(self, rows: pa.Table, visits: pa.Table) -> Baskets:
        """Rows of whole visits, and those visits, as baskets."""
        visit = rows["visit"].to_numpy() - (rows["visit"][0].as_py() if len(rows) else 0)
        codes = self.product_vocabulary.encode(rows["product"].combine_chunks())
        items = merge(Items(visit, codes, _floats(rows, "price"), _floats(rows, "quantity")))
        self.report.rows += len(rows)
        self.report.kept += len(items.codes)
        self.report.merged += len(rows) - len(items.codes)
        return Baskets(
            offsets=np.searchsorted(items.visits, np.arange(len(visits) + 1)).astype(np.int64),
            items=items.codes,
            product_vocabulary=self.product_vocabulary,
            user_vocabulary=self.user_vocabulary,
            store_vocabulary=self.store_vocabulary,
            user_codes=_codes(self.user_vocabulary, visits, "user"),
            store_codes=_codes(self.store_vocabulary, visits, "store"),
            times=visits["time"].to_numpy() if self.clock is not Clock.NONE else None,
            prices=None if items.prices is None else items.prices.astype(np.float32),
            quantities=None if items.quantities is None else items.quantities.astype(np.float32),
            ids=visits["basket"].combine_chunks(),
            clock=self.clock,
            attributes=self.attributes,
            votes=self.votes,
            report=self.report,
        )

    def _make_visits(self) -> None:
        """A row a basket in time order; where its rows differ, the first that knows a thing counts."""
        roles = [role for role in self.columns.roles if role in ("time", "user", "store")]
        counts = self._group_visits(roles)
        for role, count in zip(roles, counts, strict=True):
            if count:
                self.report.notes.append(f"{count:,} baskets have rows with different {role}s: the first one counts")
        order = "time, first" if self.clock is not Clock.NONE else "first"
        self.engine.execute(f"CREATE TABLE visits AS SELECT * FROM visit ORDER BY {order}")
        self.engine.execute("DROP TABLE visit")
        found = (
            "SELECT bool_or(first < before) FROM (SELECT first, lag(first) OVER (ORDER BY rowid) AS before FROM visits)"
        )
        if self.engine.execute(found) == [(True,)]:
            self.report.notes.append("rows were not in time order: they were sorted")

    def _group_visits(self, roles: list[str]) -> tuple[int, ...]:
        """Make the table `visit`, and count the baskets whose rows differ in each role."""
        names = [identifier(role) for role in roles]
        key = "SELECT basket, min(row) AS first"
        same = f"{key}{''.join(f', min({name}) AS {name}' for name in names)}"
        first = f"{key}{''.join(f', arg_min({name}, row) AS {name}' for name in names)}"
        differ = [f"min({name}) <> max({name})" for name in names]
        rows = "FROM rows WHERE drop_reason IS NULL"
        # The first value of each basket is dear to find, and where all are the same any of them is the first.
        flags = "".join(f", {condition} AS differ_{role}" for role, condition in zip(roles, differ, strict=True))
        self.engine.execute(f"CREATE TABLE visit AS {same}{flags} {rows} GROUP BY basket")
        if not roles:
            return ()
        counts = self.engine.execute(f"SELECT {', '.join(f'count_if(differ_{role})' for role in roles)} FROM visit")[0]
        if any(counts):
            condition = " OR ".join(f"differ_{role}" for role in roles)
            self.engine.execute(f"CREATE TABLE mixed AS SELECT basket FROM visit WHERE {condition}")
            self.engine.execute("DELETE FROM visit WHERE basket IN (FROM mixed)")
            unflagged = ", NULL" * len(roles)
            self.engine.execute(
                f"INSERT INTO visit {first}{unflagged} {rows} AND basket IN (FROM mixed) GROUP BY basket"
            )
        return counts

    def _read_attributes(self) -> None:
        if self.columns.attributes:
            order = "time DESC, row DESC" if self.clock is not Clock.NONE else "row DESC"
            self.attributes, self.votes = read_attributes(self.engine, list(self.columns.attributes), order)

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise InputError(
                f"{self.source.title} needs more memory than there is: free some, or read it with stream_baskets"
            ) from None
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise self.source.explain(error) from None


class _Run:
    """The batches of a result, until it is ended."""

    def __init__(self, reader: Any) -> None:
        self.reader, self.schema, self.ended = reader, reader.schema, False

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while not self.ended:
            batch = next(self.reader, None)
            if batch is None:
                return
            yield batch
        raise InputError(
            "this run of the stream is over, for it was closed or started again: take its windows in one go"
        )

    def end(self) -> None:
        self.reader.close()
        self.ended = True


class _Taker:
    """Batches taken by as many rows as are wanted."""

    def __init__(self, reader: Any) -> None:
        self.reader = reader
        self.left = reader.schema.empty_table()

    def take(self, count: int) -> pa.Table:
        parts = [self.left]
        while sum(map(len, parts)) < count:
            parts.append(pa.Table.from_batches([next(self.reader)]))
        table = pa.concat_tables(parts)
        self.left = table.slice(count)
        return table.slice(0, count)


def _whole_visits(reader: Any) -> Iterator[pa.Table]:
    """The batches, each cut where a visit ends; one empty one if there are none."""
    left, some = reader.schema.empty_table(), False
    while batches := _next_batches(reader):
        table = pa.concat_tables([left, pa.Table.from_batches(batches)])
        visit = table["visit"].to_numpy()
        cut = int(np.searchsorted(visit, visit[-1]))
        if cut:
            some = True
            yield table.slice(0, cut)
        left = table.slice(cut)
    if len(left) or not some:
        yield left


def _next_batches(reader: Any) -> list[pa.RecordBatch]:
    """The next `CHUNK` rows or so; DuckDB gives batches as small as it likes."""
    batches: list[pa.RecordBatch] = []
    for batch in reader:
        batches.append(batch)
        if sum(map(len, batches)) >= CHUNK:
            break
    return [batch for batch in batches if len(batch)]


def _floats(table: pa.Table, name: str) -> NDArray[np.float64] | None:
    if name not in table.column_names:
        return None
    values: NDArray[np.float64] = table[name].combine_chunks().to_numpy(zero_copy_only=False)
    return values.astype(np.float64)


def _codes(vocabulary: Vocabulary, table: pa.Table, name: str) -> NDArray[np.int32] | None:
    return vocabulary.encode(table[name].combine_chunks()) if name in table.column_names else None
