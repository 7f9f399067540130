"""What a player sees: named slices of a vector of zeros and ones, and its one encoder.

The view is egocentric: squares and players are turned so that the observer comes first, so the
same situation looks the same from every seat.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ludo_env.core.bits import highest_bit, write_bits
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    TRACK,
    die_of,
    in_yard,
    player_after,
    player_of,
    players,
    quarter_turns,
    turned,
)
from ludo_env.core.rows import row_of
from ludo_env.core.rules import (
    HOME_JUMPS,
    LAST_COLUMN,
    MANDATORY_CAPTURE,
    MAX_PAWNS,
    MAX_PLAYERS,
    NUM_PAWNS,
    TRACK_SQUARES,
)

PROGRESSES = LAST_COLUMN + 1
_OPPONENT = TRACK_SQUARES + 2 * MAX_PAWNS


def _layout() -> dict[str, slice]:
    lengths = {f"pawn_{k}": PROGRESSES for k in range(MAX_PAWNS)}
    for distance in range(1, MAX_PLAYERS):
        lengths[f"opponent_{distance}_track"] = TRACK_SQUARES
        lengths[f"opponent_{distance}_column"] = MAX_PAWNS
        lengths[f"opponent_{distance}_yard"] = MAX_PAWNS
    lengths |= {"die": 6, "corners": MAX_PLAYERS - 1, "options": 2}
    slices, start = {}, 0
    for name, length in lengths.items():
        slices[name] = slice(start, start + length)
        start += length
    return slices


OBSERVATION: Mapping[str, slice] = MappingProxyType(_layout())
"""The observation's named slices, in order and without gaps.

========================  ======================================================================
slice                     content
========================  ======================================================================
``pawn_k``                the observer's ``k``-th most advanced pawn: its progress, one-hot over
                          0 … 44; all zeros for a pawn that the rules do without
``opponent_d_track``      the opponent ``d`` corners clockwise: squares it holds on the track,
                          where square ``i`` is where the observer has progress ``i + 1``
``opponent_d_column``     squares it holds in its column, outermost first
``opponent_d_yard``       its pawns in the yard in unary: bit ``i`` is set for more than ``i``
``die``                   the die one-hot; zeros for an observer who is not to decide
``corners``               bit ``d − 1``: whether the corner ``d`` corners clockwise plays
``options``               mandatory capture, home jumps
========================  ======================================================================
"""

OBSERVATION_LENGTH = OBSERVATION["options"].stop
"""Number of values of an observation."""

_FIRST_OPPONENT = OBSERVATION["opponent_1_track"].start
_DIE = OBSERVATION["die"].start
_CORNERS = OBSERVATION["corners"].start
_OPTIONS = OBSERVATION["options"].start


@compiled
def write_observation(game, observer, view, rules):
    """Write what a player sees of a game into ``view``, int8 (OBSERVATION_LENGTH,)."""
    _write_own(game[observer], view, rules)
    for distance in range(1, MAX_PLAYERS):
        write_bits(view, _opponent(distance), 0, _OPPONENT)
    corners = 0
    for places in range(1, players(rules)):
        other = player_after(observer, places, rules)
        distance = quarter_turns(observer, other, places, rules)
        seen = _opponent_bits(game[other], distance, rules)
        write_bits(view, _opponent(distance), seen, _OPPONENT)
        corners |= 1 << distance - 1
    die = die_of(game) if player_of(game) == observer else 0
    options = rules[MANDATORY_CAPTURE] | rules[HOME_JUMPS] << 1
    rest = 1 << die >> 1 | corners << _CORNERS - _DIE | options << _OPTIONS - _DIE
    write_bits(view, _DIE, rest, 8)
    write_bits(view, OBSERVATION_LENGTH - 8, rest >> OBSERVATION_LENGTH - 8 - _DIE, 8)


@compiled
def _write_own(own, view, rules):
    """The observer's pawns, in order: each write runs into the next slice, which follows."""
    for k in range(MAX_PAWNS):
        furthest = highest_bit(own)
        own ^= furthest
        in_the_yard = 1 if k < rules[NUM_PAWNS] else 0
        write_bits(view, PROGRESSES * k, furthest << 1 if furthest else in_the_yard, _OPPONENT)


@compiled
def _opponent(distance):
    """Where the slices of an opponent begin."""
    return _FIRST_OPPONENT + _OPPONENT * (distance - 1)


@compiled
def _opponent_bits(board, distance, rules):
    """An opponent's track squares, column and yard as one number."""
    squares = turned(board & TRACK, distance) | board & ~TRACK
    yard = (1 << in_yard(board, rules)) - 1
    return squares | yard << TRACK_SQUARES + MAX_PAWNS


@compiled
def read_observation(view, game):
    """Read what a player sees back into boards; in place.

    Args:
        view: int8 (OBSERVATION_LENGTH,).
        game: int64, at least (MAX_PLAYERS,); receives the boards by corner, clockwise from the
            observer's own, each in its own player's frame; 0 where nobody plays.

    Returns:
        The number of pawns, from bit 3 the three other corners, from bit 6 the two options.
    """
    own = pawns = 0
    for k in range(MAX_PAWNS):
        seen = _read_bits(view, PROGRESSES * k, PROGRESSES)
        own |= seen >> 1
        pawns += 1 if seen != 0 else 0
    game[0] = own
    for distance in range(1, MAX_PLAYERS):
        seen = _read_bits(view, _opponent(distance), TRACK_SQUARES + MAX_PAWNS)
        game[distance] = turned(seen & TRACK, MAX_PLAYERS - distance) | seen & ~TRACK
    return pawns | _read_bits(view, _CORNERS, OBSERVATION_LENGTH - _CORNERS) << 3


@compiled
def _read_bits(view, start, count):
    bits = 0
    for i in range(count):
        bits |= np.int64(view[start + i]) << i
    return bits


@compiled
def read_observations(views, games, shapes):
    """`read_observation` of each view (k, D) into ``games`` (k, ROW) and ``shapes`` int64 (k,)."""
    for k in range(len(views)):
        shapes[k] = read_observation(row_of(views, k), row_of(games, k))
