"""Value iteration over all positions of two players, in compiled sweeps shared by threads."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludo_env.core import checks, sweep
from ludo_env.core.boards import Boards, Tables, tabulate
from ludo_env.core.checks import Ints
from ludo_env.core.rules import Rules
from ludo_env.core.sweep import Side
from ludo_env.core.threads import Threads
from ludo_env.solution import Scale, scale_of

_NANOSECONDS = 60.0  # about what a position takes in a sweep, for one side


class Play(NamedTuple):
    """How a side plays: ``kind`` is one of `ludo_env.core.sweep`'s, ``plan`` its plan."""

    kind: int
    plan: NDArray[np.uint16]


class Ground:
    """What all duels under the same rules share.

    Attributes:
        rules: The rules, for two players.
        boards: The boards of a player.
        tables: What a player can do.
        scale: How chances are held.
        start: The number of the board that both players begin with.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.boards = Boards(rules.num_pawns)
        self.tables: Tables = tabulate(self.boards, rules)
        self.scale: Scale = scale_of(rules)
        self.start = int(self.boards.number(int(rules.pawn_on_start)))

    def __len__(self) -> int:
        return len(self.boards)

    def groups(self, level: int) -> Ints:
        """The groups of one side's board in a level, but for finished games; int64 (k,)."""
        top = self.boards.num_groups - 2
        return np.arange(max(0, level - top), min(top, level) + 1)

    @property
    def levels(self) -> range:
        """The levels of games that go on, from the lowest."""
        return range(2 * self.boards.num_groups - 3)

    def starts(self, level: int) -> Ints:
        """Where each group's tile of the level begins in a level's sums; int64 (G + 1,)."""
        sizes = np.diff(self.boards.first)
        groups = self.groups(level)
        tiles = np.zeros(len(sizes) + 1, dtype=np.int64)
        tiles[groups + 1] = sizes[groups] * sizes[level - groups]
        return np.cumsum(tiles)

    def filled(self, chance: int) -> NDArray[Any]:
        """A table (N, N) of one chance, but 1 where its side has won and 0 where the other has."""
        table = np.full((len(self), len(self)), chance, dtype=self.scale.dtype)
        table[:, -1] = 0
        table[-1, :] = self.scale.one
        return table


class Duel:
    """Two sides' chances in all positions, approached by sweeps.

    Side ``a``'s chances begin at 0 and only grow, ``b``'s begin at 1 and only fall: at any time the
    former are at most, the latter at least what the sides' plays are worth.

    Args:
        ground: What is played.
        a: How the side plays whose chances are approached from below.
        b: How the other plays.
        num_threads: Threads that share a sweep; results do not depend on it.
    """

    def __init__(self, ground: Ground, a: Play, b: Play, num_threads: int | None = None) -> None:
        self.ground = ground
        self._threads = Threads(threads_or_all(num_threads))
        self.a = self._side(a, up=False)
        self.b = self._side(b, up=True)
        most = max(int(ground.starts(level)[-1]) for level in ground.levels)
        self._sums = np.empty((2, most), dtype=np.int64)

    def _side(self, play: Play, up: bool) -> Side:
        chance = self.ground.scale.one if up else 0
        tables = self.ground.filled(chance), self.ground.filled(chance)
        return Side(*tables, play.kind, play.plan, up)

    def sweep(self) -> float:
        """Improve all chances once; in place. Returns the largest change."""
        change = max(self._sweep_level(level) for level in reversed(self.ground.levels))
        return change / self.ground.scale.one

    def _sweep_level(self, level: int) -> int:
        ground = self.ground
        sums_a, sums_b = self._sums
        starts = ground.starts(level)
        groups = _dealt(ground.groups(level), self._threads.number)
        nanoseconds = _NANOSECONDS * float(starts[-1]) / len(groups)
        rules, tables, one = ground.rules.compiled, ground.tables, ground.scale.one
        width = int(np.diff(ground.boards.first).max())

        def add(part: slice) -> None:
            row = np.empty(width, dtype=ground.scale.dtype)
            sweep.sum_level(
                level, groups[part], starts, self.a, self.b, sums_a, sums_b, row, tables, rules
            )

        def finish(part: slice) -> int:
            return sweep.finish_level(
                level, groups[part], starts, self.a, self.b, sums_a, sums_b, one, tables
            )

        self._threads.run(add, len(groups), 2 * nanoseconds)
        return max(self._threads.run(finish, len(groups), nanoseconds))

    def gap(self) -> float:
        """How far the sides' chances of rolling are apart at most, where they play alike."""

        def part_gap(part: slice) -> int:
            return sweep.largest_gap(self.a.rolls[part], self.b.rolls[part])

        gaps = self._threads.run(part_gap, len(self.ground), float(len(self.ground)))
        return max(gaps) / self.ground.scale.one

    def restore(self) -> None:
        """Make the chances of waiting follow from those of rolling; in place."""
        mirror(self.b.rolls, self.ground.scale.one, self.a.waits)
        mirror(self.a.rolls, self.ground.scale.one, self.b.waits)


def mirror(table: NDArray[Any], one: int, out: NDArray[Any]) -> None:
    """Write the chances of those who wait: ``one`` less the other's of rolling, (N, N)."""
    block = 512  # rows; so that what is read across stays in the cache
    for begin in range(0, len(table), block):
        part = slice(begin, begin + block)
        np.subtract(one, table[:, part].T, out=out[part], casting="unsafe")


def threads_or_all(number: Any) -> int:
    """A number of threads, one for each core where none is given."""
    if number is not None:
        return checks.positive("num_threads", number)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux has it
        return os.cpu_count() or 1


def _dealt(groups: Ints, threads: int) -> Ints:
    """The groups in an order whose consecutive parts take about equally long."""
    return np.concatenate([groups[k::threads] for k in range(min(threads, len(groups)))])
