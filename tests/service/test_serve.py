"""`omba serve` as people run it: a process that learns what it is sent, survives, and ends when it is told."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from omba.cli import run
from omba.errors import OmbaError
from omba.service.answerer import FORKS
from omba.service.answering import Answering
from omba.service.launch import THREADS, can_fork
from omba.service.server import ServerPlan, bind_socket
from patience import PATIENCE, wait_until
from serving import WORLD, learn, served

SMALL = ["--dim", "16", "--epochs", "2", "--pairs", "20000"]
LEARNER, ANSWERER = "omba.live", "omba.service.answerer"
BARE = {name: value for name, value in os.environ.items() if name not in THREADS}


class Running:
    """A service in processes of its own, and a client of it."""

    def __init__(self, folder, *options):
        command = [
            sys.executable,
            "-c",
            "from omba.cli import main; main()",
            "serve",
            "--model",
            str(folder),
            "--port",
            "0",
            *options,
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=BARE)
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + self.process.stderr.read()
        self.client = httpx.Client(base_url=found[0], timeout=PATIENCE)

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        _, err = self.process.communicate(timeout=PATIENCE)
        self.client.close()
        return self.process.returncode, err

    def until(self, true, path="/status"):
        """The first answer of which something is true."""
        for _ in range(10 * PATIENCE):
            told = self.client.get(path).json()
            if true(told):
                return told
            time.sleep(0.1)
        raise AssertionError(f"never came true; last: {str(told)[:500]}")


@contextlib.contextmanager
def serving(folder, *options):
    service = Running(folder, *options)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.stop(signal.SIGKILL)


def posted(baskets):
    """Baskets as JSON."""
    return [
        {
            "id": str(basket.id),
            "user": basket.user,
            "time": basket.time.isoformat(),
            "products": [
                {"id": product, "price": float(price)}
                for product, price in zip(basket.products, basket.prices, strict=True)
            ],
        }
        for basket in baskets
    ]


def refused(*arguments):
    """What a command says that cannot be carried out."""
    command = [sys.executable, "-c", "from omba.cli import main; main()", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=BARE, timeout=PATIENCE, check=False)
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1, "one sentence"
    return done.stderr


def children(pid, module):
    """The processes that another has started to run a module."""
    listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if module in line]


def another(pid, module, first):
    """The process that takes the place of one that was ended."""
    for _ in range(10 * PATIENCE):
        now = children(pid, module)
        if now and now != [first]:
            return now[0]
        time.sleep(0.1)
    raise AssertionError("nothing took its place")


def gone(pid):
    for _ in range(10 * PATIENCE):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
        if state.stdout.startswith("Z"):
            return True
        time.sleep(0.1)
    return False


def test_a_week_of_baskets_are_learned_as_they_come_and_are_all_there_after_a_restart(tmp_path):
    baskets = posted(WORLD.baskets.between(None, "2017-01-08"))
    folder = tmp_path / "model"
    with serving(folder, *SMALL, "--history", "3d") as service:
        assert service.client.get("/status").json()["baskets_accepted"] == 0
        for at in range(0, len(baskets), 300):
            answer = service.client.post("/baskets", json=baskets[at : at + 300])
            assert answer.status_code == 202
            assert answer.json() == {"accepted": len(baskets[at : at + 300]), "repeated": 0}
        again = service.client.post("/baskets", json=baskets[:10])
        assert again.json() == {"accepted": 0, "repeated": 10}
        # The last day stays open until a basket of the next one comes.
        service.client.post("/baskets", json={"time": "2017-01-08T00:00:00", "products": [{"id": "tea"}]})
        learned = service.until(lambda told: told["baskets_published"] == len(baskets))
        assert learned["windows_closed"] == 7
        assert learned["baskets_accepted"] == len(baskets) + 1
        assert (learned["baskets_learned"], learned["baskets_waiting"]) == (len(baskets), 1)
        assert (learned["baskets_repeated"], learned["baskets_late"]) == (10, 0)
        assert learned["last_window"]["stop"] == "2017-01-08T00:00:00"
        assert len(learned["history"]) >= 2
        before = {path: service.client.get(path).json() for path in ("/rules?limit=1000", "/today", "/map")}
        assert before["/rules?limit=1000"]["total"] > 100
        pair = WORLD.truth.complementary[0]
        page = service.client.get(f"/products/{pair[0]}").json()
        assert pair[1] in [one["id"] for one in page["similar"][:5]]
        assert page["price"] > 0
        status, said = service.stop()
        assert (status, said) == (0, "")
    with serving(folder, *SMALL, "--history", "3d") as service:
        told = service.client.get("/status").json()
        for name in ("baskets_accepted", "baskets_learned", "windows_closed", "products", "users", "rules"):
            assert told[name] == learned[name], name
        assert {path: service.client.get(path).json() for path in before} == before
        assert service.client.get(f"/products/{pair[0]}").json() == page
        assert service.client.post("/baskets", json=baskets[5]).json() == {"accepted": 0, "repeated": 1}
        assert service.stop()[0] == 0


@pytest.mark.skipif(not can_fork(), reason="what a process was started with is told by Linux")
def test_blas_has_one_thread_in_all_processes_without_being_told(tmp_path):
    with serving(tmp_path, *SMALL) as service:
        for module in (LEARNER, ANSWERER):
            (one,) = children(service.process.pid, module)
            given = Path(f"/proc/{one}/environ").read_text().split("\0")
            assert {f"{name}=1" for name in THREADS} <= set(given)


def test_a_learner_that_dies_is_started_again_and_goes_when_the_service_is_killed(tmp_path):
    with serving(tmp_path, *SMALL) as service:
        (first,) = children(service.process.pid, LEARNER)
        os.kill(first, signal.SIGKILL)
        second = another(service.process.pid, LEARNER, first)
        service.client.post("/baskets", json=posted(list(WORLD.baskets)[:400]))
        service.until(lambda told: told["windows_closed"] > 0)
        service.stop(signal.SIGKILL)
        assert gone(second)


def test_questions_are_answered_whichever_process_ends_and_none_outlives_the_service(tmp_path):
    learn(tmp_path)
    with serving(tmp_path, "--read-only") as service:
        asked = {"products": [WORLD.truth.complementary[0][0]], "n": 5}
        told = service.client.post("/rank", json=asked).json()
        assert told["suggestions"]
        (maker,) = children(service.process.pid, ANSWERER)
        for one in children(maker, ANSWERER):
            os.kill(one, signal.SIGKILL)
        wait_until(lambda: service.client.post("/rank", json=asked).json() == told)
        os.kill(maker, signal.SIGKILL)
        second = another(service.process.pid, ANSWERER, maker)
        wait_until(lambda: service.client.post("/rank", json=asked).json() == told)
        service.until(lambda _: children(second, ANSWERER))
        answering = children(second, ANSWERER)
        service.stop(signal.SIGKILL)
        assert all(map(gone, [second, *answering]))


@pytest.mark.skipif(not can_fork(), reason="only where what answers is a process of its own")
def test_a_process_that_hangs_is_told_and_replaced(tmp_path, monkeypatch):
    learn(tmp_path)
    monkeypatch.setattr("omba.service.answering.LIMIT", 1.0)
    monkeypatch.setattr("omba.service.state.held_memory", lambda process: process)
    source, hanging = Answering(tmp_path), set()

    def ask_with_all_hanging():
        for one in source.pids[1:]:
            os.kill(one, signal.SIGSTOP)
            hanging.add(one)
        return client.get("/rank")

    with served(tmp_path, source=source) as client:
        maker, *answering = source.pids
        assert len(answering) == FORKS
        assert client.get("/status").json()["memory"] >= os.getpid() + maker, "of all processes"
        # Others may take their place right then, since the state was made ready.
        wait_until(lambda: (told := ask_with_all_hanging()).status_code == 503 and "answer within 1 s" in told.text)
        wait_until(lambda: client.get("/rank").status_code == 200)
        assert source.pids[0] == maker
        assert not hanging & set(source.pids)
        assert all(map(gone, hanging))
        ask_with_all_hanging()
    assert all(map(gone, hanging)), "also those that hang when the service ends"


def test_baskets_without_a_time_are_of_now_and_one_folder_has_one_learner(tmp_path):
    with serving(tmp_path, *SMALL, "--every", "10") as service:
        (learner,) = children(service.process.pid, LEARNER)
        for number in range(12):
            service.client.post("/baskets", json={"id": number, "products": [{"id": "tea"}, {"id": "milk"}]})
        told = service.until(lambda told: told["windows_closed"] == 1)
        assert told["baskets_learned"] == 10
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        assert service.until(lambda told: told["window"]["stop"], "/today")["window"]["stop"].startswith(today)
        assert str(tmp_path) in refused("serve", "--model", tmp_path, "--port", 0)
        assert service.stop(signal.SIGINT) == (0, "")
        assert gone(learner)


def test_a_model_learned_from_files_goes_on_with_what_comes(tmp_path):
    learn(tmp_path)
    with serving(tmp_path) as service:
        before = service.client.get("/status").json()
        assert before["baskets_learned"] == before["baskets_accepted"] == len(WORLD.baskets)
        service.client.post("/baskets", json={"time": "2017-01-30T10:00", "products": [{"id": "tea"}, {"id": "milk"}]})
        service.client.post("/baskets", json={"time": "2017-02-01T10:00", "products": [{"id": "tea"}]})
        told = service.until(lambda told: told["products"] > before["products"])
        assert told["baskets_accepted"] == before["baskets_accepted"] + 2
        assert told["baskets_learned"] == before["baskets_learned"] + 1
        assert told["windows_closed"] == before["windows_closed"] + 1


def test_a_service_that_only_answers_takes_nothing_and_writes_nothing(tmp_path):
    learn(tmp_path)
    files = sorted(path.name for path in tmp_path.iterdir())
    with serving(tmp_path, "--read-only") as service:
        assert service.client.get("/rules").json()["total"] > 0
        refused = service.client.post("/baskets", json={"products": [{"id": "tea"}]})
        assert refused.status_code == 503
        assert "--read-only" in refused.json()["error"]
        assert children(service.process.pid, LEARNER) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == files


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused("serve", "--model", tmp_path / "m", "--port", port)
    assert f"port {port} of 127.0.0.1 is taken by another program" in said
    assert not (tmp_path / "m").exists()


def test_a_host_that_others_can_reach_asks_for_a_token(tmp_path, capsys):
    assert run(["token", "--model", str(tmp_path), "--scope", "read", "--scope", "write"]) == 0
    said = capsys.readouterr()
    token = said.out.strip()
    assert re.fullmatch(r"[\w-]{43}", token)
    assert token not in said.err
    with serving(tmp_path, *SMALL, "--host", "0.0.0.0") as service:
        port = service.client.base_url.port
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as other:
            assert other.get("/status").status_code == 401
            allowed = {"Authorization": f"Bearer {token}"}
            assert other.get("/status", headers=allowed).status_code == 200
            assert run(["token", "--model", str(tmp_path), "--list"]) == 0
            name = re.search(r"\b[0-9a-f]{8}\b", capsys.readouterr().out)[0]
            assert run(["token", "--model", str(tmp_path), "--revoke", name]) == 0
            assert other.get("/status", headers=allowed).status_code == 403
        assert token not in service.stop()[1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"every": "fortnight"}, "fortnight"),
        ({"lateness": "soon"}, "soon"),
        ({"settings": {"dim": 0}}, "dim"),
        ({"history": "500"}, "history"),
    ],
)
def test_what_the_learner_would_refuse_is_refused_before_it_is_started(tmp_path, options, says):
    with pytest.raises(OmbaError, match=says):
        ServerPlan(tmp_path, **options).check()


def test_an_address_that_is_not_this_machines_cannot_be_listened_at():
    with pytest.raises(OmbaError, match="cannot be listened at"):
        bind_socket("no.such.host.invalid", 0)
