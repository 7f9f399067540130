"""What many games weigh while they are played: 64 bytes each, and little besides."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from test_package import output_of

from ludo_env import OBSERVATION, GameBatch

MANY = 100_000
BYTES_IN_A_GAME = 64
GAMES = MANY * BYTES_IN_A_GAME
MEGABYTE = 10**6


class Buffers:
    """All that stepping needs to be given, for so many games."""

    def __init__(self, num_games: int) -> None:
        self.finished = np.empty(num_games, dtype=np.bool_)
        self.masks = np.empty((num_games, 4), dtype=np.int8)
        self.views = np.empty((num_games, OBSERVATION["options"].stop), dtype=np.int8)
        self.actions = np.empty(num_games, dtype=np.int64)

    def step(self, batch: GameBatch, steps: int) -> None:
        for _ in range(steps):
            batch.masks(out=self.masks)
            batch.observations(out=self.views)
            self.masks.argmax(axis=1, out=self.actions)
            batch.step(self.actions, out=self.finished)


def peak_of(work: Callable[[], object]) -> int:
    """The most bytes that were allocated at once, arrays and objects, while the work was done."""
    tracemalloc.reset_peak()
    work()
    return tracemalloc.get_traced_memory()[1]


@pytest.mark.parametrize("num_threads", [1, 2])
def test_many_games_are_stepped_in_64_bytes_each_and_a_tenth_of_a_megabyte(num_threads):
    buffers = Buffers(MANY)
    small = GameBatch(5, seed=0)
    Buffers(5).step(small, 2)  # what is compiled here is not weighed
    small.rollout(2)
    tracemalloc.start()
    try:
        batch = GameBatch(MANY, seed=0, num_threads=num_threads)
        assert tracemalloc.get_traced_memory()[0] >= GAMES
        assert tracemalloc.get_traced_memory()[1] < GAMES + MEGABYTE
        assert peak_of(lambda: buffers.step(batch, 40)) < GAMES + MEGABYTE / 10
        assert peak_of(lambda: batch.rollout(20)) < GAMES + MEGABYTE / 10
    finally:
        tracemalloc.stop()
    assert (batch.rolls >= 60).all()


# The system's own count of a process's largest resident memory, which a child does not inherit as
# it does that of `resource.getrusage`; it begins again where the kernel lets it.
ROLL_OUT_MANY = """
from contextlib import suppress
from pathlib import Path
from ludo_env import GameBatch

def peak():
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").open())
    return 1024 * int(status["VmHWM"].split()[0])

GameBatch(200, seed=0).rollout(1000)
with suppress(OSError):
    Path("/proc/self/clear_refs").write_text("5")
before = peak()
batch = GameBatch({games}, seed=0)
decisions = batch.rollout(1000).decisions
print(decisions, peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory of a process")
def test_many_games_of_a_thousand_decisions_take_little_memory_of_the_machine():
    printed = output_of(ROLL_OUT_MANY.format(games=MANY))
    decisions, grown = map(int, printed.split())
    assert decisions == 1000 * MANY
    assert GAMES / 2 < grown < 30 * MEGABYTE
