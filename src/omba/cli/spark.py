"""`omba learn --engine spark`: the same learning where Spark runs, and the same model folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from omba import terminal
from omba.cli.sources import ColumnOptions
from omba.datasets import is_built_in, load
from omba.errors import SettingError
from omba.model import OMBA
from omba.model.snapshot import CURRENT
from omba.settings import Value
from omba.sources.formats import is_tabbed, spark_reader
from omba.store.keeper import Keeper
from omba.store.lock import LOCK, Lock

LOCAL = "local[*]"


def master_of(engine: str) -> str | None:
    """The master in `spark[:MASTER]`; None where the engine is omba's own.

    >>> master_of("spark:yarn"), master_of("spark"), master_of("omba")
    ('yarn', 'local[*]', None)
    """
    name, _, master = engine.partition(":")
    if name not in ("omba", "spark") or (name == "omba" and master):
        raise SettingError(f"--engine is {engine!r}: it takes omba, spark, or spark:MASTER such as spark:yarn")
    return None if name == "omba" else master or LOCAL


def learn_on_spark(
    source: str,
    folder: Path,
    columns: ColumnOptions,
    every: str,
    until: str | None,
    history: str | None,
    wanted: dict[str, Value],
    new: bool,
    master: str,
    going_on: Callable[[Path, dict[str, Value]], OMBA],
    stop: Callable[[], bool],
) -> OMBA:
    """Learn a source on Spark into the model in a folder."""
    from omba import spark
    from omba.spark.baskets import SparkBaskets

    goes_on = (folder / CURRENT).exists() and not new
    keeper = Keeper(folder, history, fresh=not goes_on)
    lock = Lock(folder / LOCK, "learns into")
    try:
        learner = spark.OMBA.of(going_on(folder, wanted)) if goes_on else spark.OMBA(**wanted)  # type: ignore[arg-type]
        terminal.say(f"starting Spark on {master}", "dim")
        session = spark.session(master)
        frame, named = _frame(session, source), {} if is_built_in(source) else columns.named()
        named.pop("store", None)
        baskets: SparkBaskets = spark.read_baskets(frame, **named).between(None, until)
        if goes_on and baskets.clock is learner.clock:
            baskets = baskets.between(learner.clock.show(learner.last_time + 1))
        with baskets.cut(every) as windows, terminal.progress("learning", sum(map(len, windows))) as advance:
            for window in windows:
                keeper.before(learner, window)  # type: ignore[arg-type]
                learner.partial_fit(window)
                advance(len(window), f"{learner.n_baskets:,} baskets")
                if stop():
                    break
        keeper.end(learner)
    finally:
        lock.release()
    return learner


def _frame(session: Any, source: str) -> Any:
    """A built-in data set or files, as a data frame; Spark reads files wherever it can reach them."""
    from omba.spark.cluster import quietly
    from omba.spark.failures import plainly

    if is_built_in(source):
        with quietly():
            return session.createDataFrame(load(source).to_arrow())
    reader = spark_reader(source)
    sep = "\t" if is_tabbed(source) else ","
    options = {"header": True, "inferSchema": True, "sep": sep} if reader == "csv" else {}
    with plainly(f"reading {source!r}"):
        return session.read.options(**options).format(reader).load(source)
