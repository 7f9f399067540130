"""Work on many rows, shared by threads: kernels release Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import pairwise
from typing import Any, TypeVar

Result = TypeVar("Result")

_ALL = slice(None)
_WORTH_A_THREAD = 400_000  # nanoseconds of work; waking a thread may take half as long


class Threads:
    """Runs tasks on consecutive parts of the rows, in as many threads as the work is worth.

    Args:
        number: Threads at most, the caller's own included; the others start when first needed.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None, "_process": 0}

    def run(self, task: Callable[[slice], Result], length: int, nanoseconds: float) -> list[Result]:
        """Run a task on parts of ``length`` rows, and wait for all. Returns their results in order.

        Args:
            task: Takes the part of the rows that it is to work on.
            length: Number of rows.
            nanoseconds: About how long a row takes.

        Raises:
            Exception: What the first part to fail has raised, after all have ended.
        """
        parts = min(self.number, length, int(length * nanoseconds / _WORTH_A_THREAD))
        if parts <= 1:
            return [task(_ALL)]
        ends = [length * i // parts for i in range(parts + 1)]
        own, *others = (slice(low, high) for low, high in pairwise(ends))
        pool = self._started_pool()
        waiting: list[Future[Result]] = []
        with suppress(RuntimeError):  # no thread starts when the program ends, or no more can
            waiting.extend(pool.submit(task, part) for part in others)
        try:
            first = task(own)
            left = [task(part) for part in others[len(waiting) :]]
        finally:
            wait(waiting)
        return [first, *(result.result() for result in waiting), *left]

    def _started_pool(self) -> ThreadPoolExecutor:
        """The pool of this process: a fork inherits the object, but not its threads."""
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(self.number - 1, thread_name_prefix="ludo_env")
            self._process = os.getpid()
        return self._pool
