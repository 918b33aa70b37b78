"""Following files: rows in pieces, whole baskets, each learned once, wherever reading was broken off."""

import json
import os
import re
import signal
import threading
import time
from itertools import pairwise

import pytest

import omba
from omba.baskets.time_spelling import TimeSpelling
from omba.cli import run
from omba.errors import InputError
from omba.live import Inbox, Learner
from omba.live.file_feed import FileFeed
from omba.live.follow import follow
from omba.live.growing_file import GrowingFile
from omba.store.journal import Tail

SETTINGS = {"dim": 8, "epochs": 1, "pairs": 10_000}
HEADER = "basket_id,product,user_id,timestamp,price\n"


@pytest.fixture(scope="module")
def world():
    return omba.datasets.synthetic(baskets=600, products=150, users=20, days=8, pairs=4, seed=4).baskets


class Following:
    """A source being followed, one look at a time."""

    def __init__(self, source, model, since=None, **given):
        self.inbox = Inbox(model)
        self.learner = Learner(model, history=None, settings=SETTINGS)
        self.feed = FileFeed(source, self.inbox, given, since)

    def look(self):
        handed = self.feed.read()
        self.learner.drain()
        return handed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.inbox.close()
        self.learner.close()


def taken(model):
    tail = Tail(model / "journal", 0)
    return [json.loads(line) for frames in iter(tail.read, []) for frame in frames for line in frame.lines[:-1]]


def contents(model):
    return [(one.get("id"), [product["id"] for product in one["products"]]) for one in taken(model)]


def vectors(model):
    return model.products, model.product_vectors.tobytes(), model.user_vectors.tobytes()


def plainly(source):
    """All but the last window, which is still open when a file is followed."""
    windows = list(omba.read_baskets(source).windows("1d"))
    model = omba.OMBA(**SETTINGS)
    for window in windows[:-1]:
        model.partial_fit(window)
    return model


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_a_file_that_grows_by_any_number_of_bytes_is_learned_as_if_read_at_once(world, tmp_path, kind):
    whole, grows = tmp_path / f"whole.{kind}", tmp_path / f"grows.{kind}"
    if kind == "jsonl":
        rows = [{**row, "timestamp": row["timestamp"].isoformat()} for row in world.to_arrow().to_pylist()]
        whole.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        world.write(whole)
    data = whole.read_bytes()
    grows.write_bytes(b"")
    step = len(data) // 23
    for first in range(0, len(data), 3 * step):
        with Following(grows, tmp_path / "model") as following:
            for at in range(first, min(first + 3 * step, len(data)), step):
                with grows.open("ab") as stream:
                    stream.write(data[at : at + step])
                following.look()

    assert vectors(following.learner.model) == vectors(plainly(whole))
    assert following.inbox.accepted == 599
    assert following.feed.counts == {}


def test_a_basket_is_whole_when_another_begins_or_nothing_has_come_for_a_while(tmp_path):
    file, model = tmp_path / "sales.csv", tmp_path / "model"
    file.write_text(HEADER + "1,tea,u,2017-01-01 10:00,2\n1,mi")
    with Following(file, model) as following:
        assert following.look() == 0
        with file.open("a") as stream:
            stream.write("lk,u,2017-01-01 10:00,1\n")
        assert following.look() == 0
        with file.open("a") as stream:
            stream.write("2,soap,u,2017-01-01 11:00,3\n")
        assert following.look() == 1
        assert contents(model) == [(1, ["tea", "milk"])]
        assert following.feed.flush() == 1
        with file.open("a") as stream:
            stream.write("2,brush,u,2017-01-01 11:00,3\n3,tea,u,2017-01-01 12:00,3\n")
        following.look()

    assert contents(model) == [(1, ["tea", "milk"]), (2, ["soap"]), (2, ["brush"])]
    assert following.feed.counts == {"a basket's rows did not follow each other: it was learned in parts": 1}


def test_silence_hands_on_the_last_basket_and_closes_its_window(tmp_path):
    file, model, stop = tmp_path / "sales.csv", tmp_path / "model", threading.Event()
    file.write_text(HEADER + "1,tea,u,2017-01-01 10:00,2\n1,milk,u,2017-01-01 10:00,2\n")
    with Following(file, model) as following:

        def progress(handed):
            if following.learner.model.n_baskets:
                stop.set()

        follow(following.feed, following.inbox, following.learner, stop, progress, silence=0.0)

    assert contents(model) == [(1, ["tea", "milk"])]
    assert following.learner.model.n_baskets == 1


def test_without_an_id_a_basket_is_a_users_day_and_whole_when_the_next_day_begins(tmp_path):
    file, model = tmp_path / "sales.csv", tmp_path / "model"
    file.write_text(
        "customer,item,date\nann,tea,2017-01-01\nbob,soap,2017-01-01\nann,milk,2017-01-01\nbob,tea,2017-01-02\n"
    )
    with Following(file, model) as following:
        following.look()
    with Following(file, model) as following:
        with file.open("a") as stream:
            stream.write("bob,milk,2017-01-02\nann,tea,2017-01-03\n")
        following.look()

    assert [(one["user"], [p["id"] for p in one["products"]]) for one in taken(model)] == [
        ("ann", ["tea", "milk"]), ("bob", ["soap"]), ("bob", ["tea", "milk"]),
    ]  # fmt: skip


def test_quoted_values_may_hold_separators_and_ends_of_lines(tmp_path):
    file = tmp_path / "sales.csv"
    file.write_text(HEADER + '1,"tea, green",u,2017-01-01,1\n1,"soap\nblue ""x""",u,2017-01-01,1\n1,"half')
    lines = GrowingFile(file)

    assert [row["product"] for _, _, row in lines.read()] == ["tea, green", 'soap\nblue "x"']
    assert lines.read() == []
    with file.open("a") as stream:
        stream.write('\nway",u,2017-01-01,1\n')
    assert [row["product"] for _, _, row in lines.read()] == ["half\nway"]


def test_a_file_that_is_no_proper_csv_any_more_is_refused_with_the_place(tmp_path):
    file = tmp_path / "sales.csv"
    file.write_text(HEADER + "1,tea,u,2017-01-01,1\n")
    lines = GrowingFile(file)
    assert len(lines.read()) == 1
    with file.open("a", newline="") as stream:
        stream.write("1,so\rap,u,2017-01-01,1\n")

    with pytest.raises(InputError, match=rf"no proper CSV after byte {len(HEADER) + 21}: look for mixed line ends"):
        lines.read()


def test_baskets_as_over_http_a_line_each(tmp_path):
    file, model = tmp_path / "sales.jsonl", tmp_path / "model"
    lines = [
        {"id": n, "user": "u", "time": f"2017-01-0{n}", "products": [{"id": "tea", "price": 1.5}, {"id": 7}]}
        for n in (1, 2, 3)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Following(file, model) as following:
        assert following.look() == 3

    assert contents(model) == [(1, ["tea", 7]), (2, ["tea", 7]), (3, ["tea", 7])]
    assert following.learner.model.n_baskets == 2


def test_rows_that_cannot_be_used_are_counted_and_the_rest_is_learned(tmp_path):
    file = tmp_path / "sales.csv"
    file.write_text(
        HEADER + "1,tea,u,2017-01-01,1\n1,,u,2017-01-01,1\n,tea,u,2017-01-01,1\n1,milk,u,2017-01-01,free\n"
        "2,tea,u,,1\n3,tea,u,soon,1\n4,tea,u,2099-01-01,1\n5,tea,u,2017-01-02,1\n6,tea,u,2017-01-03,1\n"
    )
    with (
        pytest.raises(InputError, match="has the time 'soon', and no spelling reads it and the others"),
        Following(file, tmp_path / "refused") as following,
    ):
        following.look()
    file.write_text(file.read_text().replace("3,tea,u,soon,1\n", ""))
    with Following(file, tmp_path / "model") as following:
        following.look()
        with file.open("a") as stream:
            stream.write("7,tea,u,soon,1\n8,tea,u,2017-01-04,1\n")
        following.look()

    assert [name for name, _ in contents(tmp_path / "model")] == [1, 5, 6]
    counts = following.feed.counts
    assert {reason: n for reason, n in counts.items() if not reason.startswith("baskets")} == {
        "dropped: no product": 1,
        "dropped: no basket": 1,
        "dropped: no time": 2,
        "price is no number: taken as not known": 1,
    }
    assert [n for reason, n in counts.items() if "basket 4 is of 2099-01-01" in reason] == [1]


def test_whole_numbers_are_what_they_were_in_the_rows_that_came_first(tmp_path):
    file, model = tmp_path / "sales.csv", tmp_path / "model"
    file.write_text(HEADER + "1,17,01,2017-01-01,1\n2,18,02,2017-01-01,1\n")
    with Following(file, model) as following:
        following.look()
    with Following(file, model) as following:
        with file.open("a") as stream:
            stream.write("3,019,3,2017-01-02,1\nx4,20,4,2017-01-03,1\n5,17,5,2017-01-04,1\n")
        following.look()

    assert contents(model) == [(1, [17]), (2, [18]), (3, ["019"]), ("x4", [20])]
    assert [one["user"] for one in taken(model)] == ["01", "02", "3", "4"]


@pytest.mark.parametrize(
    ("times", "name"),
    [
        (["2017-01-31 08:30", "2017-02-01"], "iso"),
        (["31/01/2017", "01/02/2017"], "%d/%m/%Y"),
        (["20170131", "20170201"], "%Y%m%d"),
        (["17", "-3"], "days"),
        (["1500000000", "1500000000.5"], "seconds"),
    ],
)
def test_times_are_read_by_the_first_spelling_that_reads_them_all(times, name):
    assert TimeSpelling.of(times, "a file").name == name


def test_a_folder_is_read_in_the_order_of_names_and_baskets_may_run_over(world, tmp_path, caplog):
    folder, model = tmp_path / "sales", tmp_path / "model"
    folder.mkdir()
    world.write(tmp_path / "whole.csv")
    header, *rows = (tmp_path / "whole.csv").read_text().splitlines()
    cuts = [0, 500, 501, 1_700, len(rows)]
    for number, (first, after) in enumerate(pairwise(cuts)):
        # The last row of a file may lack its end, and notes beside the files do not matter.
        (folder / f"part-{number}.csv").write_text("\n".join([header, *rows[first:after]]))
        (folder / "README").write_text("not rows")
        with Following(folder, model) as following:
            following.look()
            following.look()
    (folder / "part-00.csv").write_text(f"{header}\n")
    with Following(folder, model) as following:
        following.look()
        (folder / "part-01.csv").write_text(f"{header}\n")
        following.look()

    assert vectors(following.learner.model) == vectors(plainly(tmp_path / "whole.csv"))
    assert "'part-01.csv' came after 'part-3.csv' was begun and is passed over" in caplog.text


@pytest.mark.parametrize("how", ["cut", "replaced"])
@pytest.mark.parametrize("when", ["while followed", "between"])
def test_a_file_that_was_cut_off_or_replaced_is_refused_in_one_sentence(tmp_path, how, when):
    file, model = tmp_path / "sales.csv", tmp_path / "model"
    rows = "".join(f"{n},tea,u,2017-01-01,1\n" for n in range(20))
    file.write_text(HEADER + rows)
    changed = HEADER + ("" if how == "cut" else rows.replace("tea", "ale") * 2)
    sentence = (
        "bytes, and .* were read of it: it was cut off" if how == "cut" else "begins otherwise than when it was read"
    )
    with Following(file, model) as following:
        following.look()
        if when == "while followed":
            file.write_text(changed)
            with pytest.raises(InputError, match=sentence) as said:
                following.look()
    if when == "between":
        file.write_text(changed)
        with pytest.raises(InputError, match=sentence) as said:
            Following(file, model)
    assert "\n" not in str(said.value)


def test_what_the_model_learned_from_the_file_before_is_passed_over(world, tmp_path):
    file = tmp_path / "sales.csv"
    world.write(file)
    model = omba.OMBA(**SETTINGS).fit(world.between(None, "2017-01-04"))
    model.save(tmp_path / "model")

    with Following(file, tmp_path / "model", since=model.last_time) as following:
        following.look()
    with Following(file, tmp_path / "model", since=model.last_time) as following:
        following.look()

    assert vectors(following.learner.model) == vectors(plainly(file))


def test_killed_at_random_while_following_every_basket_is_learned_once(nursery, world, tmp_path):
    whole, grows = tmp_path / "whole.csv", tmp_path / "grows.csv"
    world.write(whole)
    data = whole.read_bytes()
    grows.write_bytes(b"")
    orders = {"folder": str(tmp_path / "model"), "source": str(grows), "settings": SETTINGS}
    child = nursery.start("follow", **orders, until=10**9)
    for place in range(15):
        with grows.open("ab") as stream:
            stream.write(data[place * len(data) // 15 : (place + 1) * len(data) // 15])
        time.sleep(0.1)
        os.kill(child, signal.SIGKILL)
        assert nursery.wait(child) == -signal.SIGKILL
        child = nursery.start("follow", **orders, until=10**9 if place < 14 else 599)
    assert nursery.wait(child) == 0

    ids = [name for name, _ in contents(tmp_path / "model")]
    assert len(ids) == len(set(ids)) == 599
    assert vectors(omba.OMBA.load(tmp_path / "model")) == vectors(plainly(whole))


def test_the_command_follows_until_it_is_stopped_and_goes_on(world, tmp_path, capfd):
    file, model = tmp_path / "sales.csv", tmp_path / "model"
    world.between(None, "2017-01-04").write(file)
    command = ["learn", str(file), "--follow", "--model", str(model), "--dim", "8", "--epochs", "1", "--history", "1d"]

    def stop_when(learned):
        begin = time.monotonic()
        while omba.live.status(model)["baskets_learned"] < learned and time.monotonic() - begin < 120:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    for until in ("2017-01-04", "2017-01-06"):
        wanted = omba.read_baskets(file).between(None, f"2017-01-0{int(until[-1]) - 1}")
        thread = threading.Thread(target=stop_when, args=(len(wanted),))
        thread.start()
        assert run(command) == 130
        thread.join()
        assert omba.OMBA.load(model).n_baskets == len(wanted)
        later = tmp_path / "later.csv"
        world.between(until, "2017-01-06").write(later)
        with file.open("a") as stream:
            stream.write("".join(later.read_text().splitlines(keepends=True)[1:]))
    shown = capfd.readouterr()
    assert "recognised basket = 'basket_id'" in shown.err
    assert "stopped: what was learned is kept, and the same command goes on from here" in shown.err
    assert f"in {4} windows" in shown.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["complete-journey"], "'complete-journey' is built in and does not grow: leave --follow out"),
        (["nowhere.csv"], "there is no file or folder 'nowhere.csv' to follow"),
        (["sales.csv", "--until", "2017-01-01"], "--until '2017-01-01' and --follow contradict each other"),
        (["sales.csv", "--lateness", "soon"], "a lateness of 'soon' is not known: write '0', '30m', '2h' or '1d'"),
        (["sales.csv", "--lateness", "3"], "a lateness of '3' is not known"),
        (["sales.parquet"], "cannot be followed: CSV, TSV and JSON lines can"),
        (["redis://localhost/"], "names no stream: write redis://HOST:PORT/STREAM"),
        (["redis://localhost:1/s"], "redis://localhost:1/s does not answer (.*): start the server, or correct"),
        (["redis://localhost/s", "--user", "u"], "--user 'u' names a column, but entries of a stream have none"),
    ],
)
def test_a_mistake_gets_one_sentence(tmp_path, monkeypatch, capfd, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_text(HEADER)
    (tmp_path / "sales.parquet").write_bytes(b"PAR1")

    assert run(["learn", *arguments, "--follow", "--model", "model"]) == 2

    last = capfd.readouterr().err.strip().splitlines()[-1]
    assert re.search(sentence if "(.*)" in sentence else re.escape(sentence), last)
