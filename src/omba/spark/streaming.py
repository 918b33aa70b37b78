"""Streaming: batches of Structured Streaming learned exactly once.

Spark may give a batch a second time after a crash, with the same number. The number of the last batch is part of the
model's snapshot, which is written whole or not at all: a batch that the snapshot has is passed over, any other is
learned from the snapshot as it is. So a restarted query goes on where it was, whatever moment it was stopped at.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from omba import model
from omba.errors import SparkError
from omba.spark.baskets import read_baskets
from omba.spark.failures import plainly
from omba.spark.omba import OMBA
from omba.store import ModelFolder

log = logging.getLogger("omba")

BATCH, QUERY = "spark_batch", "spark_checkpoint"


class BatchLearner:
    """What `foreachBatch` calls: each batch into the model in a folder, by windows of `every`.

    A basket must be whole in its batch, as it is where each arriving file holds whole baskets. Baskets that are older
    than what was learned are learned as they come.

    Parameters
    ----------
    folder
        Where the model is kept.
    checkpoint
        Where Spark keeps the state of the query.
    every
        The length of a window.
    partitions
        Parts of each window; None takes as many as Spark has cores.
    columns
        The arguments of `omba.spark.read_baskets`.
    settings
        Those of a new model.
    """

    def __init__(
        self,
        folder: str | Path,
        checkpoint: str | Path,
        every: str | int = "1d",
        partitions: int | None = None,
        columns: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.folder, self.checkpoint, self.every = Path(folder), str(checkpoint), every
        self.columns = columns or {}
        if ModelFolder(self.folder).exists:
            self.model = OMBA.of(model.OMBA.load(self.folder), partitions)
        else:
            self.model = OMBA(partitions=partitions, **settings)

    def __call__(self, frame: Any, batch: int) -> None:
        """Learn a batch, unless the model has it, and save the model with the number of the batch."""
        known = self.model.position.get(BATCH)
        if known is not None and self.model.position.get(QUERY) != self.checkpoint:
            raise SparkError(
                f"the model in {str(self.folder)!r} was learned by the query with the checkpoint "
                f"{self.model.position.get(QUERY)!r}, not {self.checkpoint!r}: give that one, or another folder"
            )
        if known is not None and batch <= known:
            log.info("batch %d is in the model already and is passed over", batch)
            return
        for window in read_baskets(frame, identity=self.model.identity, **self.columns).windows(self.every):
            self.model.partial_fit(window, allow_late=True)
        self.model.position |= {BATCH: batch, QUERY: self.checkpoint}
        self.model.save(self.folder)


def learn_stream(
    frame: Any,
    folder: str | Path,
    checkpoint: str | Path,
    every: str | int = "1d",
    *,
    partitions: int | None = None,
    available_now: bool = False,
    columns: dict[str, Any] | None = None,
    **settings: Any,
) -> Any:
    """Start a query that learns a streaming data frame into the model in a folder; Spark's query is given back.

    With `available_now` the query ends once all that is there has been learned. `settings` are those of a new model.

    Parameters
    ----------
    frame
        A streaming data frame, a row a product; a basket has to be whole in its batch.
    folder
        Where the model is kept.
    checkpoint
        Where Spark keeps how far it is.
    every
        How long a window is; 1 or more baskets where it is a number.
    partitions
        Parts of each window; None takes as many as Spark has cores; 1 or more.
    available_now
        End once all that is there has been learned.
    columns
        Arguments of `read_baskets`.
    settings
        Those of a new model.

    >>> query = learn_stream(sales, "shop", checkpoint="shop-checkpoint")  # doctest: +SKIP
    """
    learner = BatchLearner(folder, checkpoint, every, partitions, columns, **settings)
    writer = frame.writeStream.foreachBatch(learner).option("checkpointLocation", str(checkpoint))
    with plainly("starting the stream"):
        return (writer.trigger(availableNow=True) if available_now else writer).start()
