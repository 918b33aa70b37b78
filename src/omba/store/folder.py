"""Model folder: everything that is kept of one model, and the only place that knows where each part of it lies.

    current, snapshot-N/    the model itself (`omba.model.snapshot`)
    history/                its rules and vectors at earlier dates (`omba.store.history`)
    journal/                baskets that were accepted, until a snapshot has learned them (`omba.store.journal`)
    learner.json            what the learner last said of itself (`omba.live.status`)
    quarantine.jsonl        baskets that the learner has failed at (`omba.live.quarantine`)
    tokens.json             who may ask the service (`omba.service.http.tokens`); beside it, when each was used last
    lock                    held by whoever learns into the folder (`omba.store.lock`)

Without `current` there is no model, and whatever else lies in the folder counts for nothing.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from omba.disk import make_private, replace
from omba.model import OMBA, snapshot
from omba.rules.rules import Rules
from omba.rules.rules_table import rules_table
from omba.store.frame import Synced
from omba.store.history import History
from omba.store.journal import Journal, Tail, forget
from omba.store.lock import Lock
from omba.store.loss import Extent, Loss, refuse_losses
from omba.store.salvage import accept_losses

HISTORY, JOURNAL = "history", "journal"
LEARNER, TOKENS = "learner.json", "tokens.json"
QUARANTINE, SUSPECTS = "quarantine.jsonl", "suspects"
RULES = "rules"
"""The table of rules that a published snapshot carries."""

NAMED = re.compile(r"snapshot-\d+ [0-9a-f]{64}\n?")
"""What `current` says."""

log = logging.getLogger("omba")


@dataclass(frozen=True)
class Stamp:
    """What changes when a learner publishes: which snapshot is current, if one is, and the entries of the history."""

    snapshot: str = ""
    entries: tuple[str, ...] = ()


class ModelFolder:
    """The folder of a model. Making one touches nothing on the disk.

    Parameters
    ----------
    path
        Where it lies; it need not be there yet.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def exists(self) -> bool:
        """Whether there is a model."""
        return snapshot.exists(self.path)

    @property
    def stamp(self) -> Stamp:
        """What a reader compares to know whether it has to look again."""
        return Stamp(snapshot.current(self.path), tuple(self.history.names))

    def lock(self) -> Lock:
        """Become the one that learns into this folder, until the lock is released; a second one is refused."""
        return Lock(self.path, "learns into")

    @contextmanager
    def lock_all(self) -> Iterator[None]:
        """Be the one that learns into this folder and takes in baskets for it: who clears it must be both."""
        with self.lock(), self.lock_journal():
            yield

    def clear(self) -> None:
        """Remove the model and all that belongs to it but the tokens; both locks are to be held."""
        snapshot.remove(self.path)
        self.clear_past()

    def clear_past(self) -> None:
        """Remove what an earlier model has left beside the snapshot: history, journal, what its learner said."""
        for part in (HISTORY, JOURNAL):
            shutil.rmtree(self.path / part, ignore_errors=True)
        for file in (self.learner_file, self.quarantine_file, self.suspects_file):
            file.unlink(missing_ok=True)

    def mend_current(self) -> None:
        """If `current` names no snapshot, have it name the newest whole one; the lock is to be held.

        A snapshot is whole before it is named, and the journal keeps what came after each, so none is learned twice.
        """
        if not self.exists or NAMED.fullmatch(snapshot.current(self.path)):
            return
        for place in sorted(self.path.glob(snapshot.SNAPSHOTS), reverse=True):
            if digest := snapshot.digest_if_whole(place):
                log.warning("%r named no snapshot: it names %r now, the newest whole one", str(self.path), place.name)
                replace(self.path / snapshot.CURRENT, f"{place.name} {digest}\n".encode())
                return

    def load(self) -> OMBA:
        """The model."""
        return snapshot.load(self.path)

    def load_with_rules(self) -> tuple[OMBA, pa.Table | None]:
        """The model, and the table of rules that was published with it, if one was."""
        return snapshot.load_with(self.path, RULES)

    def save(self, model: OMBA, rules: Rules | None = None, keep: int = 1) -> None:
        """Make a model, with its rules, the folder's current snapshot; the last `keep` snapshots stay."""
        snapshot.save(model, self.path, keep, {} if rules is None else {RULES: rules_table(rules)})

    def manifest(self) -> dict[str, Any]:
        """The manifest of the current snapshot, without reading the rest; empty where there is no model."""
        return snapshot.peek(self.path)

    def position(self) -> dict[str, Any]:
        """How far the journal is learned in the current snapshot; empty where it has learned none of it."""
        return self.manifest().get("position") or {}

    @property
    def history(self) -> History:
        """The rules and vectors at earlier dates."""
        return History(self.path / HISTORY)

    def open_journal(self) -> Journal:
        """The journal to write to. One that is new numbers its baskets from where the snapshot has come."""
        with suppress(OSError):
            # Where it cannot be, the journal says so.
            make_private(self.path)
        return Journal(self.path / JOURNAL, Extent.of(self.position()))

    def refuse_losses(self) -> None:
        """Raise where the journal lacks baskets that were accepted and that the snapshot has not learned."""
        refuse_losses(self.path / JOURNAL, Extent.of(self.position()))

    def lock_journal(self) -> Lock:
        """Keep baskets from being taken in, until the lock is released; refused while somebody takes them in."""
        return Lock(self.path / JOURNAL, "takes in baskets for")

    def accept_losses(self) -> list[Loss]:
        """Give up the baskets that are missing from the journal, so that learning can go on; what that was."""
        with self.lock_all():
            return accept_losses(self.path / JOURNAL, Extent.of(self.position()))

    def read_journal(self, number: int) -> Tail:
        """The journal to read from, from a basket on."""
        return Tail(self.path / JOURNAL, number)

    def forget_baskets(self, before: int) -> None:
        """Let the journal go as far as a snapshot has learned it."""
        forget(self.path / JOURNAL, before)

    def read_synced(self) -> Synced | None:
        """How far the journal is on the disk; None where there is none yet."""
        return Synced.read(self.path / JOURNAL)

    @property
    def learner_file(self) -> Path:
        """What the learner says of itself."""
        return self.path / LEARNER

    @property
    def quarantine_file(self) -> Path:
        """The baskets that the learner has failed at, with the reason."""
        return self.path / QUARANTINE

    @property
    def suspects_file(self) -> Path:
        """Which window the learner has failed at last."""
        return self.path / SUSPECTS

    @property
    def tokens_file(self) -> Path:
        """The hashes of the service's tokens."""
        return self.path / TOKENS
