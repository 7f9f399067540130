"""All the boards that one player can have, and what each die makes of each.

With two players a position is a pair of boards, the roller's and the other's, each in its owner's
frame (see `kernels`). Boards are numbered by the distance they have travelled: a move leads to a
higher number, a capture to a lower one. Boards of the same distance are a group, and the distance
is the group's number. The priorities R12 and R13 look at the mover's pawns alone, so moves are
tabulated by board and die, and a capture is a small table of the other board.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludo_env.core import moves
from ludo_env.core.checks import Ints
from ludo_env.core.rules import TRACK_SQUARES, Rules


def number_of_boards(num_pawns: int) -> int:
    """How many boards a player with so many pawns can have."""
    squares = TRACK_SQUARES + num_pawns
    return sum(comb(squares, out) for out in range(num_pawns + 1))


class Boards:
    """The boards of a player with ``n`` pawns, numbered from 0.

    Within a group, boards with few pawns out come first, so that what captures lead to lies close
    together.

    Attributes:
        bits: int64 (N,), the boards; the first is a full yard, the last one has won.
        first: int64 (G + 1,), group ``g`` is the boards ``first[g]`` … ``first[g + 1] - 1``.
    """

    def __init__(self, num_pawns: int) -> None:
        squares = range(1, TRACK_SQUARES + num_pawns + 1)
        held = [out for pawns in range(num_pawns + 1) for out in combinations(squares, pawns)]
        held.sort(key=lambda out: (sum(out), len(out), out))
        distances = [sum(out) for out in held]
        self.bits: Ints = np.array([sum(1 << p - 1 for p in out) for out in held], dtype=np.int64)
        self.first: Ints = np.searchsorted(distances, np.arange(distances[-1] + 2))
        self._in_order = np.argsort(self.bits)

    def __len__(self) -> int:
        return len(self.bits)

    @property
    def num_groups(self) -> int:
        """The number of groups G, the won one included."""
        return len(self.first) - 1

    def number(self, bits: Any) -> Ints:
        """The numbers of boards of any shape, int64 of that shape; all must be such boards."""
        places = np.searchsorted(self.bits, bits, sorter=self._in_order)
        return np.asarray(self._in_order[places])


class Tables(NamedTuple):
    """What a player can do: N boards in G groups, 6 dice, n pawns.

    Attributes:
        bits: int64 (N,), see `Boards`.
        first: int64 (G + 1,), see `Boards`.
        choices: int8 (N, 6), how many moves the player's own priorities leave; none to the winner.
        target: int32 (N, 6, n), the board after each move, the most advanced pawn's move first.
        square: int8 (N, 6, n), the track square where each move ends as the other player sees it,
            0 … 39 (its progress there less 1); −1 for a move into the column.
        weight: int64 (N, 6), in how many of ``total`` cases each die is what the turn's rolls end
            with and is played (R9).
        passes: int64 (N,), in how many of them the turn passes (R6).
        total: int64 (N,), 6 with one roll in a turn, 216 with three.
        without: int32 (40, N), the board without its pawn on a track square; −1 where none is.
        captures: int32 (40, M, 2), the M boards with a pawn on a square, each before and after its
            capture.
        first_capture: int64 (40, G + 1), where each group begins among them.
    """

    bits: Ints
    first: Ints
    choices: NDArray[np.int8]
    target: NDArray[np.int32]
    square: NDArray[np.int8]
    weight: Ints
    passes: Ints
    total: Ints
    without: NDArray[np.int32]
    captures: NDArray[np.int32]
    first_capture: Ints


def tabulate(boards: Boards, rules: Rules) -> Tables:
    """The tables of a two-player game under the rules."""
    size = len(boards)
    after = np.zeros((size, 6, rules.num_pawns), dtype=np.int64)
    square = np.full(after.shape, -1, dtype=np.int8)
    count = np.zeros((size, 6), dtype=np.int8)
    moves.write_moves(boards.bits, count, after, square, rules.compiled)
    weight = np.zeros((size, 6), dtype=np.int64)
    passes, total = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    moves.write_weights(boards.bits, count, weight, passes, total, rules.compiled)
    squares = np.int64(1) << np.arange(TRACK_SQUARES)[:, None]
    holds = (boards.bits & squares) != 0
    left = boards.number(boards.bits & ~squares)
    holders = np.nonzero(holds)[1].reshape(TRACK_SQUARES, -1)
    captures = np.stack([holders, np.take_along_axis(left, holders, axis=1)], axis=2)
    return Tables(
        bits=boards.bits,
        first=boards.first,
        choices=count,
        target=boards.number(after).astype(np.int32),
        square=square,
        weight=weight,
        passes=passes,
        total=total,
        without=np.where(holds, left, -1).astype(np.int32),
        captures=captures.astype(np.int32),
        first_capture=np.array([np.searchsorted(held, boards.first) for held in holders]),
    )
