"""Looking ahead: what the best move is worth, over all dice, to a depth (expectimax).

A position's worth is each player's chance to win. Before a roll it is the mean over the dice, and
where a die is shown that of the move that is best for who plays it. A pass is played like a move.
The depth counts choices: at depth 0, before a roll, a leaf tells the chances. Coming dice are
never seen.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from ludo_env.core import leaf as leaves
from ludo_env.core.bits import highest_bit
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    ROW,
    action_of,
    allowed_tries,
    clear,
    die_of,
    is_over,
    legal_destination,
    legal_moves,
    play,
    player_after,
    player_of,
    players,
    set_turn,
)
from ludo_env.core.loops import num_rows, row_number
from ludo_env.core.rows import row_of
from ludo_env.core.rules import MAX_PAWNS

NO_SIX_IN_THREE = (5 / 6) ** 3
"""The chance that three tries pass without a 6 (R9)."""


@compiled
def scratch(levels, leaf, rules):
    """The memory that looking ahead takes: two rows and three lists of chances for each level."""
    return (
        np.empty((2 * len(levels) + 2, ROW), dtype=np.int64),
        np.empty((3 * len(levels) + 3, players(rules)), dtype=np.float64),
        leaves.workspace(leaf),
    )


def look(game, levels, leaf, memory, chances, rules):
    """Write each player's chance to win before a roll, float64 (P,), by looking ahead; in place.

    Args:
        game: int64 (ROW,); ``TURN`` names the player about to roll.
        levels: A tuple as long as the depth.
        leaf: Tells the chances where looking ahead ends (see `ludo_env.core.leaf`).
        memory: `scratch` for at least as many levels.
        chances: Is written.
        rules: `CompiledRules`.
    """
    if levels:
        _look_further(game, levels, leaf, memory, chances, rules)
    else:
        _look_no_further(game, levels, leaf, memory, chances, rules)


@overload(look)
def _compiled_look(game, levels, leaf, memory, chances, rules):
    return _look_further if len(levels) else _look_no_further


def _look_no_further(game, levels, leaf, memory, chances, rules):
    leaves.evaluate(game, leaf, memory[2], chances, rules)


def _look_further(game, levels, leaf, memory, chances, rules):
    """The mean over the dice of what `decide` finds, and of passing (R6, R9)."""
    player = player_of(game)
    shown, mean = row_of(memory[0], 2 * len(levels)), row_of(memory[1], 3 * len(levels))
    found = row_of(memory[1], 3 * len(levels) + 1)
    three = allowed_tries(game[player], rules) == 3
    each = (1 - NO_SIX_IN_THREE) if three else 1 / 6
    passes = NO_SIX_IN_THREE if three else 0.0
    clear(mean)
    copy(game, shown)
    for die in range(6 if three else 1, 7):
        set_turn(shown, player, die)
        if decide(shown, levels, leaf, memory, found, rules):
            _add(found, each, mean)
        else:
            passes += each
    if passes > 0:
        set_turn(shown, player_after(player, 1, rules), 0)
        look(shown, levels[1:], leaf, memory, found, rules)
        _add(found, passes, mean)
    copy(mean, chances)


def decide(game, levels, leaf, memory, chances, rules):
    """The best move at a decision, by its destination, by looking ahead; 0 where there is none.

    Args:
        game: int64 (ROW,), with a die.
        levels: As for `look`, at least one.
        leaf: As for `look`.
        memory: As for `look`.
        chances: Each player's chance to win, float64 (P,), after that move; is written.
        rules: `CompiledRules`.
    """
    after = row_of(memory[0], 2 * len(levels) + 1)
    found = row_of(memory[1], 3 * len(levels) + 2)
    player = player_of(game)
    moves = legal_moves(game, rules)
    best, most = 0, -1.0
    while moves:
        move = highest_bit(moves)
        moves ^= move
        copy(game, after)
        if play(after, move, rules):
            look(after, levels[1:], leaf, memory, found, rules)
        else:
            _win(player, found)
        if found[player] > most:
            best, most = move, found[player]
            copy(found, chances)
    return best


@overload(decide)
def _compiled_decide(game, levels, leaf, memory, chances, rules):
    return decide


@compiled
def copy(values, target):
    """Copy a row; in place. A loop compiles in a tenth of a slice's time."""
    for j in range(len(target)):
        target[j] = values[j]


@compiled
def _win(player, chances):
    clear(chances)
    chances[player] = 1.0


@compiled
def _add(values, weight, total):
    for j in range(len(total)):
        total[j] += weight * values[j]


@compiled
def decide_rows(games, rows, levels, leaf, actions, rules):
    """The actions (k,) that `decide` finds in the rows. Returns whether all stand at a decision."""
    memory = scratch(levels, leaf, rules)
    chances = np.empty(players(rules), dtype=np.float64)
    for k in range(num_rows(games, rows)):
        game = row_of(games, row_number(rows, k))
        if is_over(game):
            return False
        move = decide(game, levels, leaf, memory, chances, rules)
        actions[k] = action_of(game[player_of(game)], move, die_of(game))
    return True


@compiled
def appraise_rows(games, rows, levels, leaf, worth, rules):
    """Write what `decide` compares in the rows: each player's chance to win after each action.

    Args:
        games: int64 (B, ROW).
        rows: int64 (k,); None for all.
        levels: As for `look`, at least one.
        leaf: As for `look`.
        worth: float64 (k, 4, P), is written where actions are legal.
        rules: `CompiledRules`.
    """
    memory = scratch(levels, leaf, rules)
    after = np.empty(ROW, dtype=np.int64)
    for k in range(num_rows(games, rows)):
        game = row_of(games, row_number(rows, k))
        for action in range(MAX_PAWNS):
            move = legal_destination(game, action, rules)
            if move == 0:
                continue
            found = row_of(row_of(worth, k), action)
            copy(game, after)
            if play(after, move, rules):
                look(after, levels[1:], leaf, memory, found, rules)
            else:
                _win(player_of(game), found)


@compiled
def look_rows(games, levels, leaf, chances, rules):
    """What `look` finds in each row, before a roll: chances, float64 (B, P)."""
    memory = scratch(levels, leaf, rules)
    for row in range(len(games)):
        look(row_of(games, row), levels, leaf, memory, row_of(chances, row), rules)
