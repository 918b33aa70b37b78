"""Written safely: whatever is being written when the power fails is afterwards as it was before, or as it is now."""

import os
import stat

import pytest

from omba import disk
from omba.reproduce.result_cache import ResultCache
from omba.service.http.tokens import Tokens
from omba.store import History

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes that are killed are forked first")


def state(folder):
    """What a reader finds: tokens, the part kept, and each entry of the history, read in full."""
    history = History(folder / "entries")
    entries = [
        (entry.tick, entry.n_baskets, entry.rules.num_rows, len(entry.vectors), *history.labels[: entry.n_labels][-1:])
        for entry in history.entries
    ]
    return {"tokens": len(Tokens(folder).all), "part": ResultCache(folder / "parts").get("part"), "entries": entries}


@pytest.mark.slow
def test_killed_at_any_step_of_a_write_each_thing_is_as_before_or_as_after(nursery, tmp_path):
    assert nursery.run("write", folder=str(tmp_path)) == 0
    before, after = state(tmp_path / "before"), state(tmp_path / "after")
    killed = [place for place in tmp_path.iterdir() if place.name[0].isdigit() and not place.name.endswith("again")]
    steps = {place.name[3:] for place in killed}
    for kind in ("tokens.json", "part.json", "labels-", "history entry"):
        assert sum(step.startswith(kind) for step in steps) >= 2

    for place in killed:
        found = state(place)
        assert found["tokens"] in (before["tokens"], after["tokens"]), place.name
        assert found["part"] in (before["part"], after["part"]), place.name
        assert set(found["entries"]) <= {*before["entries"], *after["entries"]}, place.name
        again = place.with_name(f"{place.name} again")
        assert state(again) == after, place.name
        assert not [left for left in again.rglob(f"*{disk.ASIDE}") if left.is_dir()]


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    file = tmp_path / "file"
    disk.replace(file, b"before")
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        disk.replace(file, b"after")
    assert file.read_bytes() == b"before"


def test_a_file_for_its_owner_is_never_readable_by_others(tmp_path, monkeypatch):
    modes = []
    monkeypatch.setattr(disk, "hook", lambda name: modes.extend(p.stat().st_mode for p in tmp_path.iterdir()))
    disk.replace(tmp_path / "secret", b"hash", 0o600)
    assert {stat.S_IMODE(mode) for mode in modes} == {0o600}
