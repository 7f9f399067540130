"""One thread for every library: several busy threads on few cores only wait for each other."""

import os

os.environ["OMP_NUM_THREADS"] = "1"

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from ludo_env import Rules
from ludo_env.core import threads
from ludo_env.solution import Solution
from ludo_env.solver import solve


@pytest.fixture
def many_threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Makes the least work worth a thread; lists into how many parts each work was shared out."""
    numbers: list[int] = []
    run = threads.Threads.run

    def counted(
        self: threads.Threads, task: Callable[[slice], Any], length: int, nanoseconds: float
    ) -> list[Any]:
        results = run(self, task, length, nanoseconds)
        numbers.append(len(results))
        return results

    monkeypatch.setattr(threads, "_WORTH_A_THREAD", 1)
    monkeypatch.setattr(threads.Threads, "run", counted)
    return numbers


@pytest.fixture(scope="session")
def solved() -> Callable[[Rules], Solution]:
    """Solutions by their rules, each solved once."""
    return cache(solve)
