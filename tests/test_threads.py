"""Threads that share rows: what they are given, what they give back, and where they live on."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ludo_env import GameBatch, Rules
from ludo_env.core import threads
from ludo_env.core.threads import Threads

MUCH = 1e9  # nanoseconds of work in a row
SECONDS = 20.0  # after which what should have come is taken for stuck


def part_of(part: slice) -> slice:
    return part


def thread_of(part: slice) -> int:
    return threading.get_ident()


def started(number: int) -> Threads:
    """Threads that have all been at work."""
    team = Threads(number)
    meeting = threading.Barrier(number, timeout=SECONDS)
    team.run(lambda part: meeting.wait(), number, MUCH)
    return team


# Parts


@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 100, 1001])
@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_the_parts_are_all_rows_once_and_in_order(number, length):
    rows = np.arange(length)
    parts = Threads(number).run(part_of, length, MUCH)
    np.testing.assert_array_equal(np.concatenate([rows[part] for part in parts]), rows)
    assert len(parts) == max(1, min(number, length))
    sizes = [len(rows[part]) for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_results_come_in_the_order_of_the_rows_whoever_is_done_first():
    waits = [threading.Event() for _ in range(4)]
    waits[3].set()

    def from_behind(part: slice) -> int:
        assert waits[part.start].wait(SECONDS)
        waits[part.start - 1].set()
        return part.start

    assert Threads(4).run(from_behind, 4, MUCH) == [0, 1, 2, 3]


def test_all_parts_are_worked_on_at_the_same_time_the_first_by_the_caller():
    meeting = threading.Barrier(3, timeout=SECONDS)

    def meet(part: slice) -> int:
        meeting.wait()
        return threading.get_ident()

    workers = Threads(3).run(meet, 30, MUCH)
    assert len(set(workers)) == 3
    assert workers[0] == threading.get_ident()


def test_there_are_never_more_threads_than_asked_for():
    team = Threads(3)
    seen = {thread for _ in range(50) for thread in team.run(thread_of, 30, MUCH)}
    assert 2 <= len(seen) <= 3


@pytest.mark.parametrize(("worth", "parts"), [(0.9, 1), (1.9, 1), (2.1, 2), (3.1, 3), (99, 4)])
def test_there_are_no_more_parts_than_the_work_is_worth(worth, parts):
    nanoseconds = worth * threads._WORTH_A_THREAD / 1000
    assert len(Threads(4).run(part_of, 1000, nanoseconds)) == parts


@pytest.mark.parametrize(
    ("number", "length", "nanoseconds"), [(8, 1000, 1.0), (8, 1, MUCH), (8, 0, MUCH), (1, 9, MUCH)]
)
def test_little_work_is_the_callers_alone_and_starts_no_thread(number, length, nanoseconds):
    before = threading.enumerate()
    assert Threads(number).run(thread_of, length, nanoseconds) == [threading.get_ident()]
    assert threading.enumerate() == before


# Failures


@pytest.mark.parametrize("failing", range(4))
def test_what_a_part_raises_comes_out_after_all_parts_have_ended(failing):
    ended = []

    def work(part: slice) -> None:
        if part.start == failing:
            raise KeyError(f"part {part.start}")
        time.sleep(0.05)
        ended.append(part.start)

    team = Threads(4)
    with pytest.raises(KeyError, match=f"part {failing}"):
        team.run(work, 4, MUCH)
    assert sorted(ended) == [part for part in range(4) if part != failing]
    assert team.run(part_of, 4, MUCH) == [slice(k, k + 1) for k in range(4)]


def test_parts_for_which_no_thread_can_start_are_the_callers(monkeypatch):
    team = started(3)
    submit = team._pool.submit

    def submit_once(*arguments: Any) -> Any:
        monkeypatch.setattr(team._pool, "submit", refuse)
        return submit(*arguments)

    def refuse(*arguments: Any) -> Any:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(team._pool, "submit", submit_once)
    assert team.run(part_of, 3, MUCH) == [slice(k, k + 1) for k in range(3)]
    threads_of_parts = Threads.run(team, thread_of, 3, MUCH)
    assert threads_of_parts == [threading.get_ident()] * 3


def test_what_little_work_raises_comes_out():
    with pytest.raises(ZeroDivisionError):
        Threads(4).run(lambda part: 1 // 0, 1, 1.0)


# Copies and forks

DUPLICATES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda team: pickle.loads(pickle.dumps(team)),
}


@pytest.mark.parametrize("duplicate", DUPLICATES.values(), ids=DUPLICATES.keys())
def test_a_duplicate_has_threads_of_its_own(duplicate):
    team = started(3)
    other = duplicate(team)
    assert other.number == 3
    me = threading.get_ident()
    ours, theirs = (set(one.run(thread_of, 3, MUCH)) - {me} for one in (team, other))
    assert ours
    assert theirs
    assert not ours & theirs


def test_a_pickle_does_not_tell_whether_threads_were_used():
    assert pickle.dumps(started(3)) == pickle.dumps(Threads(3))


def in_a_fork(check: Callable[[], None]) -> int | None:
    """The exit code of a forked process that makes a check; None where it is stuck."""
    child = multiprocessing.get_context("fork").Process(target=check, daemon=True)
    child.start()
    child.join(SECONDS)
    if child.is_alive():
        child.kill()
        child.join()
        return None
    return child.exitcode


def needs_forks(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")(
        pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")(test)
    )


@needs_forks
def test_a_fork_gets_its_results_though_no_thread_came_along():
    team = started(3)

    def check() -> None:
        for _ in range(2):
            assert team.run(part_of, 30, MUCH) == [slice(0, 10), slice(10, 20), slice(20, 30)]

    assert in_a_fork(check) == 0
    check()


@needs_forks
def test_the_fork_of_a_fork_gets_its_results_too():
    team = started(2)

    def check() -> None:
        assert team.run(part_of, 2, MUCH) == [slice(0, 1), slice(1, 2)]

    def check_and_fork() -> None:
        check()
        pid = os.fork()
        if pid == 0:
            signal.alarm(int(SECONDS / 2))  # nobody else would end it
            check()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0

    assert in_a_fork(check_and_fork) == 0


@needs_forks
def test_a_batch_plays_on_in_a_fork_as_it_does_here(many_threads):
    batch = GameBatch(9, Rules(num_players=2, num_pawns=1), seed=1, num_threads=3)
    batch.rollout(5)
    alone = batch.copy()
    actions = batch.masks().argmax(axis=1)
    alone.step(actions)
    stats = alone.rollout(50)
    assert many_threads[-1] == 3

    def check() -> None:
        batch.step(actions)
        assert batch.rollout(50) == stats
        assert [batch.position(row) for row in range(9)] == [
            alone.position(row) for row in range(9)
        ]

    assert in_a_fork(check) == 0
