"""Learning live: windows by event time, late baskets, what readers see, and disks that are full."""

import contextlib
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import omba
from omba import live
from omba.errors import SnapshotError, StoreError
from omba.live import Inbox, Learner, status
from omba.live import learner as learners
from omba.model.snapshot import load_with, peek
from omba.store.frame import segments
from omba.store.history import History

SETTINGS = {"dim": 8, "epochs": 1, "pairs": 10_000}


def basket(name, when, *products, **more):
    return {"id": name, "time": when, "products": [{"id": product} for product in products or ("tea", "milk")], **more}


@pytest.fixture(scope="module")
def world():
    return omba.datasets.synthetic(baskets=1_000, products=150, users=20, days=10, pairs=4, seed=2).baskets


def told(baskets):
    """Baskets as over HTTP."""
    return [
        {
            "id": basket.id,
            "user": basket.user,
            "time": basket.time.isoformat(),
            "products": [
                {"id": product, "price": price, "quantity": quantity}
                for product, price, quantity in zip(basket.products, basket.prices, basket.quantities, strict=True)
            ],
        }
        for basket in baskets
    ]


@contextlib.contextmanager
def opened(folder, every="1d", lateness="0", history=None, **more):
    inbox = Inbox(folder, every, lateness)
    learner = Learner(folder, every, lateness, history, {**SETTINGS, **more})
    try:
        yield inbox, learner
    finally:
        inbox.close()
        learner.close()


def wait_until(condition):
    begin = time.monotonic()
    while not (found := condition()):
        assert time.monotonic() - begin < 120
        time.sleep(0.02)
    return found


def vectors(model):
    return model.products, model.product_vectors.tobytes(), model.user_vectors.tobytes()


def plainly(baskets, every="1d"):
    return omba.OMBA(**SETTINGS).fit(baskets, every)


def test_live_learning_gives_the_bits_of_learning_from_a_file(world, tmp_path):
    with opened(tmp_path) as (inbox, learner):
        for first in range(0, 1_000, 30):
            inbox.accept(told(world.slice(first, min(first + 30, 1_000))))
            learner.drain()
        last = list(world.windows("1d"))[-1]

    assert vectors(omba.OMBA.load(tmp_path)) == vectors(plainly(world.slice(0, 1_000 - len(last))))
    found = status(tmp_path)
    assert found.pop("heartbeat") < 600
    assert found == {
        "baskets_accepted": 1_000,
        "baskets_learned": 1_000 - len(last),
        "baskets_waiting": len(last),
        "baskets_unread": 0,
        "baskets_late": 0,
        "baskets_of_returns": 0,
        "baskets_quarantined": 0,
        "baskets_lost": 0,
        "baskets_repeated": 0,
        "windows_closed": 9,
        "last_window": {"start": "2017-01-09T00:00:00", "stop": "2017-01-10T00:00:00", "baskets": 105},
        "learning": False,
        "error": None,
        "restarts": 0,
        "failures": 0,
    }


def test_windows_by_number_of_baskets_close_when_they_are_full(world, tmp_path):
    with opened(tmp_path, every=150) as (inbox, learner):
        inbox.accept(told(world))
        learner.drain()

    assert vectors(omba.OMBA.load(tmp_path)) == vectors(plainly(world.slice(0, 900), 150))
    assert status(tmp_path)["baskets_waiting"] == 100


@pytest.mark.parametrize(("lateness", "late"), [("0", 3), ("1h", 2), ("12h", 1), ("1d", 0)])
def test_a_window_waits_for_late_ones_as_long_as_allowed_and_late_ones_are_learned_with_the_next(
    tmp_path, lateness, late
):
    with opened(tmp_path, lateness=lateness) as (inbox, learner):
        times = ("01T10:00", "02T00:30", "01T23:00", "02T10:00", "01T22:00", "02T20:00", "01T21:00")
        for name, when in enumerate(times):
            inbox.accept([basket(name, f"2017-01-{when}")])
            learner.drain()
        assert status(tmp_path)["baskets_late"] == late
        inbox.accept([basket("z", "2017-01-09")])
        learner.drain()

    assert learner.model.n_baskets == 7
    assert status(tmp_path)["windows_closed"] == 2
    assert status(tmp_path)["baskets_learned"] == 7


def test_wherever_it_is_restarted_late_and_open_baskets_are_learned_once_and_to_the_same_bits(world, tmp_path):
    chance = np.random.default_rng(5)
    baskets = told(world)
    # Up to half a day out of order: with two hours of lateness many come late, and windows overlap.
    order = np.argsort(world.times + chance.integers(0, 43_200_000_000, len(world)), kind="stable")
    baskets = [baskets[place] for place in order.tolist()] + [basket("last", "2017-03-01")]
    inbox = Inbox(tmp_path / "once", "6h", "2h")
    for first in range(0, len(baskets), 7):
        inbox.accept(baskets[first : first + 7])
    inbox.close()
    shutil.copytree(tmp_path / "once", tmp_path / "often")
    once = Learner(tmp_path / "once", "6h", "2h", None, SETTINGS)
    once.drain()
    assert once.windows.late > 50

    for _ in range(20):
        again = Learner(tmp_path / "often", "6h", "2h", None, SETTINGS)
        left = int(chance.integers(1, 150))
        for frame in again.tail.read():
            again._frame(frame)
            left -= frame.count
            if left < 0:
                break
        if again.changed:
            again.publish()
        again.close()
    last = Learner(tmp_path / "often", "6h", "2h", None, SETTINGS)
    last.drain()

    assert vectors(last.model) == vectors(once.model)
    assert last.model.n_baskets == 1_000
    assert last.windows.position() == once.windows.position()
    for learner in (once, last):
        learner.close()


def test_another_length_of_windows_after_a_restart_loses_nothing(world, tmp_path):
    parts = [
        ("1d", world.slice(0, 333)),
        ("1h", world.slice(333, 501)),
        (50, world.slice(501, 777)),
        ("7d", world.slice(777, 1_000)),
    ]
    for every, part in parts:
        with opened(tmp_path, every=every) as (inbox, learner):
            inbox.accept(told(part))
            learner.drain()
    with opened(tmp_path, every="7d") as (inbox, learner):
        inbox.accept([basket("last", "2017-03-01")])
        learner.drain()

    assert learner.model.n_baskets == 1_000
    assert np.array_equal(np.sort(learner.model.product_counts), np.sort(plainly(world).product_counts))


def test_a_model_learned_from_files_goes_on_live(world, tmp_path):
    half = world.between(None, "2017-01-06")
    plainly(half).save(tmp_path)
    with opened(tmp_path) as (inbox, learner):
        inbox.accept([*told(world.between("2017-01-06", None)), basket("last", "2017-03-01")])
        learner.drain()

    assert vectors(learner.model) == vectors(plainly(world))


def test_silence_closes_the_last_window_and_a_restart_sees_the_same(tmp_path):
    with opened(tmp_path) as (inbox, learner):
        inbox.accept([basket("a", "2017-01-01T10:00"), basket("b", "2017-01-01T11:00")])
        learner.drain()
        assert learner.model.n_baskets == 0
        assert inbox.mark(silence=0)
        learner.drain()
        assert learner.model.n_baskets == 2
    with opened(tmp_path) as (inbox, learner):
        learner.drain()
        inbox.accept([basket("c", "2017-01-01T12:00")])
        learner.drain()
        assert (learner.model.n_baskets, learner.windows.late) == (2, 1)


def test_returns_and_repeated_products_are_learned_as_in_files(tmp_path):
    products = [{"id": "tea", "quantity": 2, "price": 3.0}, {"id": "tea", "price": 5.0}, {"id": "soap", "quantity": -1}]
    with opened(tmp_path) as (inbox, learner):
        inbox.accept([{"id": 1, "time": 3, "products": products}, {"id": 2, "time": 3, "products": products[2:]}])
        inbox.accept([basket(3, 5)])
        learner.drain()

    assert learner.model.products == ["tea"]
    assert learner.model.prices.means.tolist() == [4.0]
    assert status(tmp_path)["baskets_learned"] == 2


def test_the_snapshot_has_its_rules_its_position_and_one_before_it(world, tmp_path):
    with opened(tmp_path, history="7d") as (inbox, learner):
        for part in world.windows("1d"):
            inbox.accept(told(part))
            learner.drain()

    model, rules = load_with(tmp_path, "rules")
    assert rules.num_rows > 10
    assert peek(tmp_path)["position"]["learned"] == model.n_baskets == status(tmp_path)["baskets_learned"]
    assert len(list(tmp_path.glob("snapshot-*"))) == 2
    (entry,) = History(tmp_path / "history").entries
    assert entry.shown == "2017-01-05 00:00:00"
    assert entry.n_baskets == len(world.between(None, "2017-01-05"))
    assert entry.places is not None


def test_the_journal_lets_go_of_what_was_learned(world, tmp_path, monkeypatch):
    monkeypatch.setattr("omba.store.journal.SEGMENT_BASKETS", 100)
    with opened(tmp_path) as (inbox, learner):
        for first in range(0, 1_000, 20):
            inbox.accept(told(world.slice(first, first + 20)))
        assert len(segments(tmp_path / "journal")) == 11
        learner.drain()

    assert segments(tmp_path / "journal") == [800, 900, 1_000]
    assert peek(tmp_path)["position"]["from"] == 1_000 - len(list(world.windows("1d"))[-1])


def test_readers_always_find_a_whole_window_while_they_are_learned_and_published(world, tmp_path, monkeypatch):
    monkeypatch.setattr(learners, "PUBLISH", 0.0)
    monkeypatch.setattr(learners, "SHARE", 0.0)
    ends = {len(world.between(None, f"2017-01-{day:02d}")) for day in range(1, 12)}
    with opened(tmp_path) as (inbox, learner):
        inbox.accept(told(world))
        first = threading.Event()

        def drain():
            learner.drain()
            first.set()

        thread = threading.Thread(target=drain)
        thread.start()
        seen = []
        while not first.is_set():
            with contextlib.suppress(SnapshotError):
                model, rules = load_with(tmp_path, "rules")
                seen.append(model.n_baskets)
                assert model.n_baskets in ends
                assert model.position["learned"] == model.n_baskets
                assert rules is None or set(rules["n"].to_pylist()) <= {model.n_baskets}
        thread.join()

    assert sorted(seen) == seen
    assert len(set(seen)) > 2


def test_two_learners_in_one_folder_are_refused(tmp_path):
    with (
        opened(tmp_path),
        pytest.raises(StoreError, match=r"another process \(process \d+\) learns into .*: stop it first"),
    ):
        Learner(tmp_path)


@pytest.fixture
def small(tmp_path):
    """A folder on a disk of four megabytes, where this may be had."""
    place = tmp_path / "small"
    place.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)):
        pytest.skip("a small disk can only be mounted by root; what a full one does to the journal is tested without")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def mount(*arguments):
    found = shutil.which("mount")
    return bool(found) and subprocess.run([found, *arguments], capture_output=True).returncode == 0


def test_a_full_disk_gives_one_sentence_loses_nothing_and_learning_goes_on_when_there_is_room(world, small):
    with opened(small / "model") as (inbox, learner):
        inbox.accept(told(world.slice(0, 500)))
        learner.drain()
        before = vectors(omba.OMBA.load(small / "model"))
        (small / "big").write_bytes(bytes(os.statvfs(small).f_bavail * 4096 - 8192))

        with pytest.raises(
            StoreError, match=r"could not be written \(No space left on device\): nothing of what came"
        ) as said:
            inbox.accept(told(world.slice(500, 900)))
        assert "\n" not in str(said.value)
        (small / "big").write_bytes(bytes((small / "big").stat().st_size - 262_144))
        inbox.accept(told(world.slice(500, 900)))
        stop = threading.Event()
        learners.RETRY, kept = 0.05, learners.RETRY
        try:
            thread = threading.Thread(target=learner.drain, args=(stop,))
            thread.start()
            error = wait_until(lambda: status(small / "model")["error"])
            assert "No space left on device): what was saved there before is untouched" in error
            assert vectors(omba.OMBA.load(small / "model")) == before
            (small / "big").unlink()
            thread.join()
        finally:
            learners.RETRY = kept
        assert status(small / "model")["error"] is None
        inbox.accept([*told(world.slice(900, 1_000)), basket("last", "2017-03-01")])
        learner.drain()

    assert vectors(omba.OMBA.load(small / "model")) == vectors(plainly(world))


def test_a_folder_that_may_not_be_written_to_gives_one_sentence_and_what_is_there_can_be_read(world, tmp_path):
    with opened(tmp_path / "model") as (inbox, learner):
        inbox.accept(told(world.slice(0, 500)))
        learner.drain()
    before = vectors(learner.model)
    if os.getuid() == 0:
        if not mount("--bind", str(tmp_path), str(tmp_path)) or not mount("-o", "remount,bind,ro", str(tmp_path)):
            pytest.skip("root may write everywhere, and a read-only disk cannot be mounted here")
    else:
        for place in (tmp_path / "model", tmp_path / "model" / "journal"):
            place.chmod(0o555)
            (place / "lock").chmod(0o444)
    try:
        for start in (Inbox, Learner):
            with pytest.raises(StoreError, match=r"cannot be written to \(.*\): give a folder that can") as said:
                start(tmp_path / "model")
            assert "\n" not in str(said.value)
        assert vectors(omba.OMBA.load(tmp_path / "model")) == before
        with pytest.raises(SnapshotError, match=r"could not be written to .* \(.*\): what was saved there before"):
            learner.model.save(tmp_path / "model")
        assert vectors(omba.OMBA.load(tmp_path / "model")) == before
    finally:
        if os.getuid() == 0:
            subprocess.run(["umount", str(tmp_path)], check=True)
        else:
            for place in (tmp_path / "model", tmp_path / "model" / "journal"):
                place.chmod(0o755)
                (place / "lock").chmod(0o644)


def test_the_learner_in_its_own_process_learns_is_started_again_and_ends_with_its_parent(world, tmp_path, monkeypatch):
    monkeypatch.setattr("omba.live.process.PAUSES", (0.01,))
    inbox = Inbox(tmp_path)
    process = live.start(tmp_path, history=None, settings=SETTINGS)
    try:
        inbox.accept(told(world.slice(0, 500)))
        first = process.pid
        wait_until(lambda: status(tmp_path)["windows_closed"] >= 4)
        os.kill(first, 9)
        inbox.accept([*told(world.slice(500, 1_000)), basket("last", "2017-03-01")])
        wait_until(lambda: status(tmp_path)["windows_closed"] >= 10)
        assert process.pid not in (None, first)
    finally:
        process.stop()
        inbox.close()

    assert process.pid is None
    assert vectors(omba.OMBA.load(tmp_path)) == vectors(plainly(world))


def test_a_damaged_journal_stops_the_learner_with_a_sentence_in_the_status(world, tmp_path):
    with opened(tmp_path) as (inbox, _):
        inbox.accept(told(world.slice(0, 10)))
        inbox.accept(told(world.slice(10, 20)))
    (file,) = (tmp_path / "journal").glob("segment-*")
    data = bytearray(file.read_bytes())
    data[100] ^= 1
    file.write_bytes(data)

    with pytest.raises(StoreError, match="is damaged at byte 16, and baskets come after it"):
        Inbox(tmp_path)
    process = live.start(tmp_path)
    error = wait_until(lambda: status(tmp_path)["error"])
    process.stop()

    assert "is damaged at byte 16, and baskets come after it" in error
    assert file.read_bytes() == bytes(data)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc to read it from")
def test_the_learner_gives_large_arrays_back_to_the_system_unless_told_otherwise(tmp_path, monkeypatch):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "7")
    process = live.start(tmp_path, settings=SETTINGS)
    try:
        environment = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
    finally:
        process.stop()
    assert {b"MALLOC_MMAP_THRESHOLD_=1048576", b"MALLOC_ARENA_MAX=7"} <= set(environment)
