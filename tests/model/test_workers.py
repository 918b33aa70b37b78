"""Workers: all jobs are done, wherever they run, and a failure in any of them is told."""

import threading

import pytest

from omba.model.workers import run


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_every_job_is_done_once(threads, n):
    done = []
    run([lambda i=i: done.append(i) for i in range(n)], threads)
    assert sorted(done) == list(range(n))


def test_two_jobs_run_side_by_side_and_the_first_one_here():
    meeting, where = threading.Barrier(2, timeout=10), []

    def job():
        meeting.wait()
        where.append(threading.current_thread())

    run([job, job], threads=2)
    assert len(set(where)) == 2
    assert threading.current_thread() in where


def test_threads_stay_for_the_next_window():
    names = []
    for _ in range(3):
        meeting = threading.Barrier(2, timeout=10)
        run([meeting.wait, lambda meeting=meeting: names.append(threading.get_ident()) or meeting.wait()], threads=2)
    assert len(set(names)) == 1


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failure_is_told_once_the_others_are_done(failing):
    meeting, done = threading.Barrier(2, timeout=10), []

    def work(number):
        meeting.wait()
        if number == failing:
            raise ZeroDivisionError
        done.append(number)

    with pytest.raises(ZeroDivisionError):
        run([lambda: work(0), lambda: work(1)], threads=2)
    assert done == [1 - failing]
