"""Workers: all jobs are done, wherever they run, and a failure in any of them is told."""

import os
import threading

import pytest

from omba.model.workers import WorkItem, crew, run


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


@pytest.mark.parametrize("again", range(20))
def test_a_task_comes_after_what_it_needs_whoever_does_them(again):
    done = []
    tasks = [WorkItem(lambda: done.append(0))]
    for number in range(1, 6):
        tasks.append(WorkItem(lambda number=number: done.append(number), tasks[-1:]))
    crew(2).add(tasks[::-1])
    crew(2).finish(tasks[-1:])
    assert done == list(range(6))


def test_a_task_goes_on_while_others_are_done_and_urgent_ones_begin_first():
    begun, go, done = threading.Event(), threading.Event(), []
    long = WorkItem(lambda: (begun.set(), go.wait(10), done.append("long")))
    later, urgent = (WorkItem(lambda name=name: done.append(name)) for name in ("later", "urgent"))
    crew(2).add([long])
    assert begun.wait(10)
    run([lambda: done.append("first"), lambda: done.append("second")], threads=2)
    assert done == ["first", "second"]
    crew(2).add([later])
    crew(2).add([urgent], urgent=True)
    go.set()
    crew(2).settle()
    assert done[2:] == ["long", "urgent", "later"]


def test_whoever_waits_while_all_threads_are_busy_does_the_task_itself():
    begun, go, done = threading.Event(), threading.Event(), []
    busy = WorkItem(lambda: (begun.set(), go.wait(10)))
    mine = WorkItem(lambda: done.append(threading.current_thread()))
    crew(2).add([busy])
    assert begun.wait(10)
    crew(2).add([mine])
    crew(2).finish([mine])
    assert done == [threading.current_thread()]
    go.set()
    crew(2).finish([busy])


def test_a_failed_task_is_told_once_and_what_comes_after_it_is_done():
    done = []
    failing = WorkItem(lambda: 1 // 0)
    following = WorkItem(lambda: done.append("done"), [failing])
    crew(2).add([failing, following])
    crew(2).finish([following])
    with pytest.raises(ZeroDivisionError):
        crew(2).finish([failing])
    crew(2).finish([failing])
    assert done == ["done"]


def test_a_forked_process_has_nothing_to_wait_for():
    done = []
    task = WorkItem(lambda: done.append(1))
    crew(2).add([task])
    if (child := os.fork()) == 0:
        crew(2).finish([task])
        run([lambda: done.append(2), lambda: done.append(3)], threads=2)
        os._exit(0 if sorted(done) == [1, 2, 3] else 1)
    assert os.waitpid(child, 0)[1] == 0
