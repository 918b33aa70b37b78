"""What goes on in the background stands back for those who ask."""

import os
import subprocess
import sys

import pytest

ASK = """
import os, threading
from omba.live.priority import stand_back
seen = {}
def work(threads):
    stand_back(5, threads)
    seen[threads] = len(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
all_of_them = len(os.sched_getaffinity(0))
for threads in (1, all_of_them):
    one = threading.Thread(target=work, args=(threads,))
    one.start()
    one.join()
print(*seen[1], *seen[all_of_them], len(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, 0))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not bind threads to processors")
def test_a_thread_in_the_background_leaves_a_processor_alone_unless_it_was_promised_all():
    processors, usual = len(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, 0)
    found = [int(word) for word in subprocess.check_output([sys.executable, "-c", ASK], text=True).split()]

    fewer = max(processors - 1, 1)
    assert found == [fewer, min(usual + 5, 19), processors, min(usual + 5, 19), processors, usual]
