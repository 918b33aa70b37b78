"""Structured Streaming: each batch is learned once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import omba
from omba import spark
from omba.baskets import Baskets
from omba.errors import SparkError
from omba.spark.streaming import BatchLearner
from sparks import framed, same


def stream(
    session: Any, folder: Path, checkpoint: Path, learner: BatchLearner | None = None, model: Path | None = None
) -> None:
    """Run a query over the files of a folder until all are learned."""
    schema = framed(session, pq.read_table(next(folder.glob("*.parquet"))).slice(0, 1)).schema
    frame = session.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    learner = learner or BatchLearner(model or "", checkpoint, partitions=2, dim=8)
    query = frame.writeStream.foreachBatch(learner).option("checkpointLocation", str(checkpoint))
    query = query.trigger(availableNow=True).start()
    query.awaitTermination()


class Crash(Exception):
    pass


@pytest.mark.parametrize("moment", [pytest.param("before the model is saved", marks=pytest.mark.thorough), "after it"])
def test_a_restarted_stream_learns_each_batch_once(session: Any, world: Baskets, tmp_path: Path, moment: str) -> None:
    files, days = tmp_path / "files", list(world.windows("1d"))[:3]
    files.mkdir()
    for number, day in enumerate(days):
        pq.write_table(day.to_arrow(), files / f"{number}.parquet")
        os.utime(files / f"{number}.parquet", (number, number))

    class Crashing(BatchLearner):
        def __call__(self, frame: Any, batch: int) -> None:
            save = self.model.save

            def crash(folder: Any) -> None:
                if moment == "after it":
                    save(folder)
                raise Crash("the power failed")

            if batch == 1:
                self.model.save = crash  # type: ignore[method-assign]
            super().__call__(frame, batch)

    from pyspark.errors import StreamingQueryException

    crashing = Crashing(tmp_path / "model", tmp_path / "checkpoint", partitions=2, dim=8)
    with pytest.raises(StreamingQueryException, match="the power failed"):
        stream(session, files, tmp_path / "checkpoint", crashing)
    stream(session, files, tmp_path / "checkpoint", model=tmp_path / "model")
    learned = omba.OMBA.load(tmp_path / "model")
    straight = spark.OMBA(partitions=2, dim=8)
    for day in days:
        straight.partial_fit(day)
    assert learned.n_windows == 3
    assert learned.position["spark_batch"] == 2
    assert same(learned, straight)


def test_a_model_of_another_stream_is_refused(world: Baskets, tmp_path: Path) -> None:
    first = BatchLearner(tmp_path / "model", tmp_path / "one", partitions=2, dim=8)
    first.model.partial_fit(next(world.windows("1d")))
    first.model.position |= {"spark_batch": 0, "spark_checkpoint": str(tmp_path / "one")}
    first.model.save(tmp_path / "model")
    with pytest.raises(SparkError, match="give that one, or another folder"):
        BatchLearner(tmp_path / "model", tmp_path / "two")(None, 1)
