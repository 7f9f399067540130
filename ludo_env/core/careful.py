"""The advice that the game's own text gives, as a policy and as an evaluation.

Put a pawn into the shelter of the column before risking the others; do not stop one to six squares
ahead of an opponent's pawn; stay close behind opponents. Each piece of advice is a set of squares,
and what it is worth that a pawn stands there. The policy captures where it may, and else plays the
move whose pawn gains most, the most advanced pawn's where several gain the same.

Sets are bits, so a position is looked at without branches: rollouts play many at once.
"""

from __future__ import annotations

from ludo_env.core.bits import highest_bit, popcount
from ludo_env.core.careful_weights import WEIGHTS
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    distance_of,
    opponents_of,
    player_of,
    players,
    source_of,
)
from ludo_env.core.reach import one_to_six_behind, threats_to
from ludo_env.core.rules import MAX_PAWNS, TRACK_SQUARES
from ludo_env.core.shares import share_one

SETS = (
    "past 20",
    "past 30",
    "past 35",
    "past 40, in the column",
    "past 41",
    "past 42",
    "past 43",
    "at risk past 10",
    "at risk past 20",
    "at risk by a 6 and another roll past 20",
    "one to six behind a pawn",
    "one to six behind two pawns",
    "seven to twelve behind a pawn",
)
"""The sets of squares that have a number in `careful_weights`.

"past p" are the squares from progress p + 1 on; "behind" means opponents' pawns on the track."""

_ON_THE_BOARD, _PROGRESS, _ROLL = range(len(SETS), len(SETS) + 3)
NUM_VALUES = len(SETS) + 3
"""An evaluation also counts pawns on the board, their progress, and who is about to roll."""


def _past(progress: int) -> int:
    return (1 << TRACK_SQUARES + MAX_PAWNS) - (1 << progress)


_PAST = (_past(20), _past(30), _past(35), _past(40), _past(41), _past(42), _past(43))
_PAST_10, _PAST_20 = _past(10), _past(20)


@compiled
def weights_for(rules):
    """The weights for the number of players."""
    return WEIGHTS[players(rules) - 2]


@compiled
def choose_carefully(legal, die, opponents, threats, weights):
    """The move whose pawn gains most, a capture where there is one.

    Args:
        legal: The legal destinations.
        die: The die.
        opponents: Track squares of all opponents, in the player's frame.
        threats: See `reach.threats_to`.
        weights: What the `SETS` are worth.

    Returns:
        One bit of ``legal``, or 0 where that has none.
    """
    captures = legal & opponents
    legal = captures if captures else legal
    context = (die, threats, one_to_six_behind(opponents), _passed(die))
    best = most = 0
    best, most, legal = _compare(legal, best, most, context, weights)  # lanes take no loop inside
    best, most, legal = _compare(legal, best, most, context, weights)
    best, most, legal = _compare(legal, best, most, context, weights)
    best, most, legal = _compare(legal, best, most, context, weights)
    return best


@compiled
def _compare(legal, best, most, context, weights):
    """The better of the best move so far and the hindmost of the others, its gain, and the rest."""
    die, threats, chances, passed = context
    move = legal & -legal
    gain = _worth_of_place(move, passed, weights)
    gain += _worth_among_others(move, threats, chances, weights)
    gain -= _worth_among_others(source_of(move, die), threats, chances, weights)
    better = (move != 0) & ((best == 0) | (gain >= most))
    return move if better else best, gain if better else most, legal ^ move


@compiled
def _passed(die):
    """The squares of each set of places that a move of the die leads into from without."""
    s20, s30, s35, s40, s41, s42, s43 = _PAST
    return (
        s20 & ~(s20 << die),
        s30 & ~(s30 << die),
        s35 & ~(s35 << die),
        s40 & ~(s40 << die),
        s41 & ~(s41 << die),
        s42 & ~(s42 << die),
        s43 & ~(s43 << die),
    )


@compiled
def _worth_of_place(square, places, weights):
    """What a square is worth by how far on it is."""
    s20, s30, s35, s40, s41, s42, s43 = places
    return (
        (weights[0] if square & s20 else 0)
        + (weights[1] if square & s30 else 0)
        + (weights[2] if square & s35 else 0)
        + (weights[3] if square & s40 else 0)
        + (weights[4] if square & s41 else 0)
        + (weights[5] if square & s42 else 0)
        + (weights[6] if square & s43 else 0)
    )


@compiled
def _worth_among_others(square, threats, chances, weights):
    """What a square is worth by where opponents are."""
    soon, later = threats
    one, two = chances
    return (
        (weights[7] if square & soon & _PAST_10 else 0)
        + (weights[8] if square & soon & _PAST_20 else 0)
        + (weights[9] if square & later & _PAST_20 else 0)
        + (weights[10] if square & one else 0)
        + (weights[11] if square & two else 0)
        + (weights[12] if square & one >> 6 else 0)
    )


@compiled
def evaluate_carefully(game, values, chances, rules):
    """Write each player's chance to win, float64 (P,), by the same sets of squares; in place.

    Chances are in proportion to the exponentials of what players have.

    Args:
        game: int64 (ROW,); ``TURN`` names the player about to roll.
        values: See `careful_weights.VALUES`, for the number of players.
        chances: Is written; sums to 1.
        rules: `CompiledRules`.
    """
    for player in range(players(rules)):
        chances[player] = value_of(game, player, values, rules)
    share_one(chances, player_of(game), rules)


@compiled
def value_of(game, player, values, rules):
    """What a player has: its pawns by their squares and progress, and the roll."""
    threats = threats_to(game, player, rules)
    chances = one_to_six_behind(opponents_of(game, player, rules))
    own = game[player]
    total = values[_ON_THE_BOARD] * popcount(own) + values[_PROGRESS] * distance_of(own)
    total += values[_ROLL] if player == player_of(game) else 0.0
    while own:
        square = highest_bit(own)
        own ^= square
        total += _worth_of_place(square, _PAST, values)
        total += _worth_among_others(square, threats, chances, values)
    return total
