"""Kernels that tabulate a player's moves by board and die (see `boards`)."""

from __future__ import annotations

from ludo_env.core.bits import highest_bit, popcount
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    TRACK,
    allowed_tries,
    has_won,
    movable,
    source_of,
    turned,
)

OPPOSITE = 2
"""Corners from a player to the other of two (R2)."""


@compiled
def board_choices(own, die, rules):
    """What a board's player may do with a die but for captures (R14); nothing once it has won."""
    return 0 if has_won(own, rules) else movable(own, die, rules)


@compiled
def write_moves(bits, count, after, square, rules):
    """Write `Tables.choices`, ``square``, and the boards ``after`` the moves, int64 (N, 6, n)."""
    for i in range(len(bits)):
        for die in range(6):
            left = board_choices(bits[i], die + 1, rules)
            count[i, die] = popcount(left)
            for k in range(popcount(left)):
                destination = highest_bit(left)
                left ^= destination
                after[i, die, k] = bits[i] ^ (destination | source_of(destination, die + 1))
                if destination & TRACK:
                    square[i, die, k] = popcount(turned(destination, OPPOSITE) - 1)


@compiled
def write_weights(bits, count, weight, passes, total, rules):
    """Write `Tables.weight`, ``passes`` and ``total``: the first roll with a move is played."""
    for i in range(len(bits)):
        tries = allowed_tries(bits[i], rules)
        idle = 0
        for die in range(6):
            idle += 1 if count[i, die] == 0 else 0
        cases = 0  # in which the first roll with a move is a given one
        for k in range(tries):
            cases += idle**k * 6 ** (tries - 1 - k)
        for die in range(6):
            weight[i, die] = cases if count[i, die] else 0
        passes[i] = idle**tries
        total[i] = 6**tries
