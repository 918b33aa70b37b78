"""The journal: what is synced is there after a crash, what is torn is cut, what is damaged is said."""

import os
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omba.errors import StoreError
from omba.store import journal as journals
from omba.store.frame import Synced, segments
from omba.store.ids import Ids, key
from omba.store.journal import Journal, Tail, forget
from omba.store.loss import Extent


def lines(count, first=0):
    return [f'{{"id": {number}}}'.encode() for number in range(first, first + count)]


def keys(count, first=0):
    return [key(number) for number in range(first, first + count)]


def read(folder, number=0):
    """The number and the line of each basket from one on."""
    tail = Tail(folder, number)
    return [
        (place, line)
        for frames in iter(tail.read, [])
        for frame in frames
        for place, line in enumerate(frame.lines[:-1], frame.first)
        if place >= number
    ]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "journal"


@pytest.fixture
def filled(folder):
    journal = Journal(folder)
    for first in range(0, 12, 3):
        journal.append(keys(3, first), lines(3, first), b"%d" % first)
    journal.close()
    return folder


def last(folder):
    return folder / f"segment-{segments(folder)[-1]:020d}"


def test_what_was_appended_is_read_back_from_any_basket_on(filled):
    everything = list(enumerate(lines(12)))

    assert [read(filled, number) for number in range(13)] == [everything[number:] for number in range(13)]


def test_the_last_state_and_the_ids_are_known_after_a_restart(filled):
    journal = Journal(filled)

    assert (journal.end, journal.state) == (12, b"9")
    assert journal.ids.contain([key(0), key(11), key(12), 0]) == [True, True, False, False]
    journal.close()


@settings(max_examples=40)
@given(st.integers(1, 10_000), st.sampled_from(["cut", "zeros", "noise"]))
def test_a_torn_tail_is_cut_wherever_the_tear_is(tmp_path_factory, tear, damage):
    folder = tmp_path_factory.mktemp("journal")
    journal = Journal(folder)
    journal.append(keys(3), lines(3), b"first")
    whole, told = journal.size, (folder / "synced").read_bytes()
    journal.append(keys(50, 3), lines(50, 3), b"second")
    journal.close()
    # Power failed before the frame was on the disk, so nobody was told of it.
    (folder / "synced").write_bytes(told)
    data = last(folder).read_bytes()
    tear = whole + tear % (len(data) - whole)
    left = {"cut": b"", "zeros": bytes(len(data) - tear), "noise": os.urandom(len(data) - tear)}[damage]
    last(folder).write_bytes(data[:tear] + left)

    journal = Journal(folder)

    assert (journal.end, journal.state, journal.size) == (3, b"first", whole)
    assert last(folder).stat().st_size == whole
    assert journal.append(keys(1, 3), lines(1, 3)) == 3
    journal.close()
    assert read(folder) == list(enumerate(lines(4)))


@pytest.mark.parametrize("where", ["length", "number", "checksum", "basket"])
def test_damage_before_a_whole_frame_is_said_in_one_sentence_and_nothing_is_cut(filled, where):
    data = bytearray(last(filled).read_bytes())
    at = data.index(b"OMBA", 20) + {"length": 5, "number": 9, "checksum": 30, "basket": 60}[where]
    data[at] ^= 0x11
    last(filled).write_bytes(data)

    with pytest.raises(StoreError, match=r"segment-0+' is damaged at byte \d+, and baskets come after it: put") as said:
        Journal(filled)

    assert "\n" not in str(said.value)
    assert last(filled).read_bytes() == bytes(data)
    with pytest.raises(StoreError, match="is damaged at byte"):
        read(filled)


def test_a_reader_sees_nothing_that_is_not_synced(filled):
    journal, tail = Journal(filled), Tail(filled, 12)
    journal.append(keys(1, 12), lines(1, 12))
    with last(filled).open("ab") as stream:
        stream.write(journals.encode(13, keys(1, 13), lines(1, 13), b"", 0))

    assert [frame.first for frame in tail.read()] == [12]
    assert tail.read() == []
    journal.close()


def test_segments_are_sealed_and_go_once_they_are_covered(folder, monkeypatch):
    monkeypatch.setattr(journals, "SEGMENT_BASKETS", 5)
    journal = Journal(folder)
    for first in range(0, 24, 3):
        journal.append(keys(3, first), lines(3, first), b"state")
    assert segments(folder) == [0, 6, 12, 18, 24]
    assert read(folder) == list(enumerate(lines(24)))

    forget(folder, 13)

    assert segments(folder) == [12, 18, 24]
    assert read(folder, 13) == list(enumerate(lines(24)))[13:]
    with pytest.raises(StoreError, match="does not hold basket 5, from which on the model is to learn"):
        read(folder, 5)
    journal.close()
    again = Journal(folder)
    assert (again.end, again.state) == (24, b"state")
    assert all(again.ids.contain(keys(24)))
    again.close()


def test_ids_are_remembered_until_enough_others_have_come(folder, monkeypatch):
    monkeypatch.setattr(journals, "SEGMENT_BASKETS", 10)
    journal = Journal(folder, remembered=50)
    for first in range(0, 205, 5):
        journal.append(keys(5, first), lines(5, first))
        assert all(journal.ids.contain(keys(min(50, first + 5), max(0, first - 45))))

    assert len(journal.ids) <= 60
    assert not any(journal.ids.contain(keys(100)))
    journal.close()
    again = Journal(folder, remembered=50)
    assert all(again.ids.contain(keys(50, 155)))
    again.close()
    assert len(list(folder.glob("ids-*"))) <= 6


def test_a_damaged_file_of_ids_is_left_out_with_a_word(tmp_path, caplog):
    ids = Ids(tmp_path)
    ids.add([1, 2, 3])
    ids.keep(0, ids.active)
    (file,) = tmp_path.glob("ids-*")
    file.write_bytes(file.read_bytes()[:-1] + b"x")

    again = Ids(tmp_path)
    again.load()

    assert not any(again.contain([1, 2, 3]))
    assert "is damaged and left out" in caplog.text


def test_where_the_journal_is_gone_numbers_go_on_from_what_the_snapshot_has_learned(folder):
    journal = Journal(folder, Extent(77, 77))

    assert journal.append(keys(1), lines(1)) == 77
    journal.close()
    assert read(folder, 77) == [(77, lines(1)[0])]


def test_a_second_writer_is_refused_in_one_sentence(folder):
    first = Journal(folder)

    with pytest.raises(
        StoreError, match=rf"another process \(process {os.getpid()}\) takes in baskets for .*: stop it"
    ):
        Journal(folder)

    first.close()
    Journal(folder).close()


def test_a_write_that_fails_leaves_nothing_and_the_next_one_follows_on(filled):
    journal = Journal(filled)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (journal.size + 40, limit[1]))
    try:
        with pytest.raises(
            StoreError, match=r"could not be written \(File too large\): nothing of what came was taken"
        ):
            journal.append(keys(5, 12), lines(5, 12))
        assert last(filled).stat().st_size == journal.size + 40
        with pytest.raises(StoreError, match="could not be written"):
            journal.append(keys(5, 12), lines(5, 12))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    assert not any(journal.ids.contain(keys(5, 12)))
    assert journal.append(keys(5, 12), lines(5, 12)) == 12
    journal.close()
    assert read(filled) == list(enumerate(lines(17)))


def test_a_sync_that_fails_takes_its_frame_back(filled, monkeypatch):
    journal = Journal(filled)

    def fails(handle):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(journals, "datasync", fails)
    with pytest.raises(StoreError, match="Input/output error"):
        journal.append(keys(1, 12), lines(1, 12))
    monkeypatch.undo()

    assert Synced.read(filled).end == 12
    assert journal.append(keys(1, 50), lines(1, 50)) == 12
    journal.close()
    assert read(filled, 12) == [(12, lines(1, 50)[0])]


def test_a_word_on_progress_that_is_half_written_is_not_believed(filled):
    (filled / "synced").write_bytes((filled / "synced").read_bytes()[:-1] + b"x")

    assert Synced.read(filled) is None
    assert read(filled) == []


def test_a_frame_that_was_acknowledged_and_is_torn_now_is_missed_and_nothing_is_cut(filled):
    data = last(filled).read_bytes()
    for left in (data[:-1], data[: len(data) // 2], data[:-9] + b"x" + data[-8:]):
        last(filled).write_bytes(left)

        with pytest.raises(StoreError, match=r"\d baskets from number \d on are missing: .*--accept-loss") as said:
            Journal(filled)

        assert "\n" not in str(said.value)
        assert last(filled).read_bytes() == left


def test_a_segment_that_is_gone_is_missed_by_writer_and_reader(folder, monkeypatch):
    monkeypatch.setattr(journals, "SEGMENT_BASKETS", 5)
    journal = Journal(folder)
    for first in range(0, 24, 3):
        journal.append(keys(3, first), lines(3, first), b"state")
    journal.close()
    (folder / f"segment-{12:020d}").unlink()

    with pytest.raises(StoreError, match=r"6 baskets from number 12 on are missing: what leads up to 'segment-0+18'"):
        Journal(folder, Extent(3, 9))
    with pytest.raises(StoreError, match="6 baskets from number 12 on are missing"):
        read(folder)
    Journal(folder, Extent(18, 20)).close()


def test_a_journal_that_ends_before_what_the_model_has_learned_is_an_older_copy(filled):
    with pytest.raises(StoreError, match=r"88 baskets from number 12 on are missing: .* older copy than the model"):
        Journal(filled, Extent(8, 100))


def test_a_copy_that_a_person_has_left_beside_the_segments_is_not_looked_at(filled):
    for name in ("segment-00000000000000000000.bak", "segment-old", "ids-copy"):
        (filled / name).write_bytes(b"whatever")

    Journal(filled).close()
    assert len(read(filled)) == 12
