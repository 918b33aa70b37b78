"""`omba learn --engine spark`: the same learning where Spark runs, and the same model folder."""

from __future__ import annotations

from typing import Any

from omba import terminal
from omba.cli.job import LearningJob, StopRequest, learn_windows
from omba.datasets import is_built_in, load
from omba.errors import SettingError
from omba.model import OMBA
from omba.sources.formats import is_tabbed, spark_reader

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


def learn_on_spark(job: LearningJob, master: str, stop: StopRequest) -> OMBA:
    """Learn a source on Spark, but for what the model knows already."""
    from omba import spark
    from omba.spark.baskets import SparkBaskets

    with stop.on_interrupt(), job.begin() as (begun, keeper):
        job.columns.refuse_sheet(job.source)
        job.remember(begun)
        model = spark.OMBA.of(begun)
        terminal.say(f"starting Spark on {master}", "dim")
        named = {} if is_built_in(job.source) else job.columns.names()
        named.pop("store", None)
        frame = _frame(spark.session(master), job.source, named)
        baskets: SparkBaskets = spark.read_baskets(frame, **named, identity=model.identity).between(None, job.until)
        if model.n_windows and baskets.clock is model.clock:
            baskets = baskets.between(model.clock.show(model.last_time + 1))
        with baskets.cut(job.every) as windows:
            total = sum(map(len, windows))
            learn_windows(model, keeper, ((window, len(window)) for window in windows), total, stop)
    return model


def _frame(session: Any, source: str, named: dict[str, Any]) -> Any:
    """A built-in data set or files, as a data frame; Spark reads files wherever it can reach them."""
    from omba.spark.cluster import quietly
    from omba.spark.delimited import read_delimited
    from omba.spark.failures import plainly

    if is_built_in(source):
        with quietly():
            return session.createDataFrame(load(source).to_arrow())
    reader = spark_reader(source)
    with plainly(f"reading {source!r}"):
        if reader == "csv":
            return read_delimited(session, source, "\t" if is_tabbed(source) else ",", named)
        return session.read.format(reader).load(source)
