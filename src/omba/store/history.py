"""History: what the rules and the vectors were at earlier dates, in bounded space.

Each entry is a folder named by its time, with the rules (Parquet), the products of then (safetensors: vectors of unit
length in half precision, counts, mean prices, places on a map), the counts of pairs (Parquet) and a few numbers (JSON).
It is written aside, synced and renamed, so a crash leaves it whole or not at all. Labels only ever come in, so they are
kept once, in segments. Old entries are thinned: all of the last few, then one a day, then one a month, never more than
`keep` allows.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from omba.baskets import Clock, Label, Moment, find_label
from omba.disk import ASIDE, FAILURES, reason, remove_asides, remove_folder, replace, replace_folder
from omba.errors import InputError, SettingError, SnapshotError, UnknownError, nearest
from omba.rules.diff import TABLES_ONLY, Diff, compare, diff
from omba.rules.pair_counts import PairCounts
from omba.rules.rules import Rules
from omba.rules.rules_table import rules_table

log = logging.getLogger("omba")

ENTRIES = "at-*"
PAIRS = "pairs.parquet"
DAY, MONTH = 10, 100
"""Windows that stand for a day and a month where a stream has no clock."""


@dataclass(frozen=True)
class Keep:
    """How many entries stay: the last ones, then one a day, then one a month."""

    last: int = 14
    daily: int = 60
    monthly: int = 36

    def __post_init__(self) -> None:
        if self.last < 1 or self.daily < 0 or self.monthly < 0:
            raise SettingError(
                f"a history that keeps {self} is none: keep at least the last entry, and 0 or more others"
            )

    def of(self, ticks: Sequence[int], clock: Clock) -> set[int]:
        """The ticks that stay, of those given."""
        newest = sorted(ticks, reverse=True)
        kept = set(newest[: self.last])
        for most, of in ((self.daily, day), (self.monthly, month)):
            latest: dict[int, int] = {}
            for tick in newest[self.last :]:
                latest.setdefault(of(tick, clock), tick)
            kept |= set(list(latest.values())[:most])
        return kept


def day(tick: int, clock: Clock) -> int:
    """The day a tick falls on."""
    return {Clock.DATETIME: tick // 86_400_000_000, Clock.DAY: tick, Clock.NONE: tick // DAY}[clock]


def month(tick: int, clock: Clock) -> int:
    """The month a tick falls in; day numbers make one of thirty."""
    if clock is Clock.DATETIME:
        return int(np.datetime64(tick, "us").astype("datetime64[M]").astype(np.int64))
    return tick // (30 if clock is Clock.DAY else MONTH)


@dataclass(frozen=True)
class Entry:
    """The state at the end of a window: all baskets before `tick` had been learned."""

    folder: Path
    tick: int
    clock: Clock
    n_labels: int
    n_baskets: int

    @property
    def shown(self) -> str:
        """The time as a person would write it."""
        return str(self.clock.show(self.tick))

    @property
    def rules(self) -> pa.Table:
        """The rules of then, best first."""
        return self._read(lambda: pq.read_table(self.folder / "rules.parquet"))

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The products' vectors of then, of unit length."""
        return np.asarray(self._array("vectors"), np.float32)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Baskets with each product until then."""
        return np.asarray(self._array("counts"), np.int64)

    @property
    def prices(self) -> NDArray[np.float32] | None:
        """The mean price of each product until then, NaN where none was seen; None where prices were not kept."""
        prices: NDArray[np.float32] | None = self._array("prices")
        return prices

    @property
    def places(self) -> NDArray[np.float32] | None:
        """Where each product lay on the map, (products, 2); None where no map was kept."""
        places: NDArray[np.float32] | None = self._array("places")
        return places

    def nearest_places(self) -> NDArray[np.float32] | None:
        """The map of the entry nearest in time that has one, its own at best; None where no map was kept."""
        for entry in sorted(History(self.folder.parent).entries, key=lambda entry: abs(entry.tick - self.tick)):
            if (places := entry.places) is not None:
                return places
        return None

    @property
    def pairs(self) -> PairCounts | None:
        """How often products and pairs had been bought until then; None where that was not kept."""
        file = self.folder / PAIRS
        if not file.exists():
            return None
        pairs: PairCounts = self._read(lambda: PairCounts.read(file, self.n_baskets, self.counts))
        return pairs

    def map_vectors(self) -> NDArray[np.float16]:
        """The vectors as they lie on the disk: rows are read as they are asked for."""

        def place() -> NDArray[np.float16]:
            file = self.folder / "products.safetensors"
            with file.open("rb") as stream:
                # The format: the length of a JSON header in 8 bytes, the header, and then the arrays.
                length = int.from_bytes(stream.read(8), "little")
                vectors = json.loads(stream.read(length))["vectors"]
            first = 8 + length + vectors["data_offsets"][0]
            return np.memmap(file, np.float16, "r", first, tuple(vectors["shape"]))

        return cast(NDArray[np.float16], self._read(place))

    def _array(self, name: str) -> Any:
        """One array of the products', None where it was not kept."""
        return self._read(lambda: self._open(lambda file: file.get_tensor(name) if name in file.keys() else None))  # noqa: SIM118

    def _open(self, reading: Any) -> Any:
        with safe_open(self.folder / "products.safetensors", framework="numpy") as file:
            return reading(file)

    def _read(self, reading: Any) -> Any:
        try:
            return reading()
        except (OSError, ValueError, pa.ArrowException, SafetensorError) as error:
            raise SnapshotError(
                f"the history of {self.shown} in {str(self.folder)!r} cannot be read ({error}): remove that folder"
            ) from error


class History:
    """The entries of one model, in a folder of their own."""

    def __init__(self, folder: str | Path, keep: Keep | None = None) -> None:
        self.folder, self.keep = Path(folder), keep or Keep()

    def record(
        self,
        rules: Rules,
        labels: Sequence[Label],
        vectors: NDArray[np.floating],
        counts: NDArray[np.integer],
        n_baskets: int,
        tick: int,
        clock: Clock = Clock.NONE,
        prices: NDArray[np.floating] | None = None,
        places: NDArray[np.floating] | None = None,
        pairs: PairCounts | None = None,
    ) -> Entry:
        """Leave an entry for the window that ended at `tick`; the same window again replaces its entry.

        Without a clock, `tick` is the number of the window. `prices` are the mean prices so far, `places` the
        products' coordinates on a map, both a row a product and both optional. Without `pairs`, only pairs that are
        among the rules can be compared with what they were at other moments.
        """
        try:
            self._keep_labels(labels)
            arrays = {
                "vectors": (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)).astype(
                    np.float16
                ),
                "counts": np.ascontiguousarray(counts, np.int64),
            }
            for name, column in (("prices", prices), ("places", places)):
                if column is not None:
                    arrays[name] = np.ascontiguousarray(column, np.float32)
            entry = self._write(rules, arrays, pairs, n_baskets, tick, clock)
            self._thin(clock)
        except FAILURES as error:
            raise SnapshotError(
                f"the history could not be written to {str(self.folder)!r} ({reason(error)}): "
                "give a folder with room that can be written to"
            ) from error
        return entry

    @property
    def names(self) -> list[str]:
        """The names of all entries, oldest first, without reading them."""
        return sorted(place.name for place in self.folder.glob(ENTRIES) if place.suffix != ASIDE)

    @property
    def entries(self) -> list[Entry]:
        """All entries that can be read, oldest first."""
        found = []
        for name in self.names:
            place = self.folder / name
            try:
                facts = json.loads((place / "entry.json").read_text())
                numbers = int(facts["labels"]), int(facts["baskets"])
                found.append(Entry(place, int(facts["tick"]), Clock(facts["clock"]), *numbers))
            except (OSError, ValueError, KeyError, TypeError) as error:
                # It may have been thinned meanwhile; if it is there, it is damaged, and the others are as good as ever.
                if place.exists():
                    warn_once(f"the entry {str(place)!r} cannot be read ({error}) and is left out: remove that folder")
        return found

    def at(self, moment: Moment) -> Entry:
        """The last entry at or before a moment: what was known when it began."""
        entries = self.entries
        if not entries:
            raise InputError(f"there is no history in {str(self.folder)!r}: it is written while a model learns")
        tick = read(moment, entries[-1].clock)
        known = [entry for entry in entries if entry.tick <= tick]
        if not known:
            raise InputError(
                f"{moment!r} is before the history, which begins at {entries[0].shown}: give that or a later moment"
            )
        return known[-1]

    def diff(self, start: Moment, stop: Moment) -> Diff:
        """What happened to pairs of products between two moments, by the baskets of each period."""
        first, second = self.at(start), self.at(stop)
        if first.tick >= second.tick:
            raise InputError(
                f"{start!r} and {stop!r} both lead to {first.shown}, the same entry or an earlier one: "
                "give two moments with a window between them, the earlier first"
            )
        before, after = first.pairs, second.pairs
        if before is None or after is None:
            old = (first if before is None else second).shown
            return dataclasses.replace(diff(first.rules, second.rules), note=TABLES_ONLY.format(old))
        return compare(before, after, self.labels)

    def similar_at(self, product: Label, moment: Moment, n: int = 10) -> list[tuple[Label, float]]:
        """The nearest products by cosine as of a moment; those met only once until then are left out."""
        entry = self.at(moment)
        labels = self.labels[: entry.n_labels]
        label = find_label(product, labels)
        if label is None:
            raise UnknownError(f"product {product!r} was not known at {entry.shown}{nearest(product, labels)}")
        row, vectors = labels.index(label), entry.vectors
        cosine = np.where(entry.counts > 1, vectors @ vectors[row], -np.inf)
        cosine[row] = -np.inf
        best = np.argsort(-cosine, kind="stable")[:n].tolist()
        return [(labels[other], float(cosine[other])) for other in best if np.isfinite(cosine[other])]

    @property
    def labels(self) -> list[Label]:
        """All products' labels, in the order of the rows."""
        out: list[Label] = []
        for segment in sorted(self.folder.glob("labels-*.parquet")):
            try:
                if int(segment.stem.removeprefix("labels-")) != len(out):
                    raise ValueError(f"it does not follow on {len(out)} labels")
                table = pq.read_table(segment)
                pairs = zip(table["label"].to_pylist(), table["whole"].to_pylist(), strict=True)
                out += [int(label) if whole else label for label, whole in pairs]
            except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
                raise SnapshotError(
                    f"the labels in {str(segment)!r} cannot be read ({error}): remove that file"
                ) from error
        return out

    def _known_labels(self, labels: Sequence[Label]) -> list[Label]:
        """The labels that are kept; where they cannot be read, those of the model are kept in their place."""
        try:
            return self.labels
        except SnapshotError as error:
            warn_once(f"{error}; it is written anew")
            self._write_labels(0, labels)
            for segment in sorted(self.folder.glob("labels-*.parquet"))[1:]:
                segment.unlink()
            return list(labels)

    def _keep_labels(self, labels: Sequence[Label]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        known = self._known_labels(labels)
        common = min(len(known), len(labels))
        if [str(label) for label in known[:common]] == labels[:common] != known[:common]:
            self._turn_to_text()
        elif known[:common] != list(labels[:common]):
            raise SnapshotError(
                f"the history in {str(self.folder)!r} belongs to another model, whose products are others: "
                "remove it, or give another folder"
            )
        new = list(labels[len(known) :])
        if new:
            self._write_labels(len(known), new)

    def _write_labels(self, first: int, new: Sequence[Label]) -> None:
        whole = pa.array([isinstance(label, int) for label in new], pa.bool_())
        table = pa.table({"label": pa.array([str(label) for label in new], pa.string()), "whole": whole})
        replace(self.folder / f"labels-{first:012d}.parquet", _parquet(table))

    def _turn_to_text(self) -> None:
        """The model spells its products as text from now on: so do the rules of before, and last the labels."""
        for entry in self.entries:
            table = entry.rules
            for place, name in enumerate(table.column_names):
                if name in ("antecedents", "consequents"):
                    table = table.set_column(place, name, table[name].cast(pa.list_(pa.string())))
            replace(entry.folder / "rules.parquet", _parquet(table))
        for segment in sorted(self.folder.glob("labels-*.parquet")):
            table = pq.read_table(segment)
            whole = pa.array([False] * len(table), pa.bool_())
            replace(segment, _parquet(table.set_column(1, "whole", whole)))

    def _write(
        self,
        rules: Rules,
        arrays: dict[str, NDArray[Any]],
        pairs: PairCounts | None,
        n_baskets: int,
        tick: int,
        clock: Clock,
    ) -> Entry:
        # Times before 1970 are negative: counted from 2^63 on, names sort as times do.
        n_labels = len(arrays["vectors"])
        entry = Entry(self.folder / f"at-{tick + 2**63:020d}", tick, clock, n_labels, n_baskets)
        facts = {"tick": tick, "time": entry.shown, "clock": clock.value, "labels": n_labels, "baskets": n_baskets}
        remove_asides(self.folder, ENTRIES)
        with replace_folder(entry.folder, "history entry") as place:
            save_file(arrays, place / "products.safetensors")
            pq.write_table(rules_table(rules), place / "rules.parquet")
            if pairs is not None:
                pairs.write(place / PAIRS)
            (place / "entry.json").write_text(json.dumps(facts, indent=1))
        return entry

    def _thin(self, clock: Clock) -> None:
        entries = self.entries
        kept = self.keep.of([entry.tick for entry in entries], clock)
        for entry in entries:
            if entry.tick not in kept:
                remove_folder(entry.folder)


_said: set[str] = set()


def warn_once(sentence: str) -> None:
    """Say what is wrong, once a process: it is found again at every look."""
    if sentence not in _said:
        _said.add(sentence)
        log.warning("%s", sentence)


def _parquet(table: pa.Table) -> bytes:
    content = pa.BufferOutputStream()
    pq.write_table(table, content)
    return cast(bytes, content.getvalue().to_pybytes())


def read(moment: Moment, clock: Clock) -> int:
    """A moment as a tick; without a clock, the number of a window."""
    if clock is not Clock.NONE:
        return clock.read(moment)
    try:
        return int(moment)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{moment!r} is no number of a window: this stream has no time, so count windows") from None
