"""One writer a folder: a second one is refused, and one that comes while a killed one is still going waits for it."""

import subprocess
import sys
import threading

import pytest

from omba.errors import StoreError
from omba.store.lock import Lock


def test_a_second_holder_is_refused_and_told_who_holds_it(tmp_path):
    with Lock(tmp_path, "learns into"), pytest.raises(StoreError, match=r"another process \(process \d+\) learns into"):
        Lock(tmp_path, "learns into")
    Lock(tmp_path, "learns into").release()


@pytest.mark.parametrize("known", [True, False])
def test_a_holder_that_has_ended_or_said_nothing_yet_is_waited_for(tmp_path, known):
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    first = Lock(tmp_path, "learns into")
    (tmp_path / "lock").write_text(f"process {ended.stdout.decode().strip()}\n" if known else "")
    threading.Timer(0.3, first.release).start()
    Lock(tmp_path, "learns into").release()


@pytest.mark.parametrize("holder", ["process", "process 99999999999999999999", "process ²", "\x00"])
def test_a_holder_nobody_knows_is_not_waited_for(tmp_path, holder, monkeypatch):
    monkeypatch.setattr("omba.store.lock.time.sleep", lambda seconds: pytest.fail("it waited"))
    with Lock(tmp_path, "learns into"):
        (tmp_path / "lock").write_text(holder)
        with pytest.raises(StoreError, match="another process"):
            Lock(tmp_path, "learns into")
