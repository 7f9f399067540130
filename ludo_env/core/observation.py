"""What a player sees: named slices of a vector of zeros and ones, and its one encoder.

The view is egocentric: squares and players are turned so that the observer comes first, so the
same situation looks the same from every seat.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ludo_env.core.bits import popcount
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    TRACK,
    clear,
    die_of,
    in_yard,
    next_player,
    player_of,
    players,
    quarter_turns,
    turned,
)
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
    clear(view)
    _write_own(game[observer], view, rules)
    other = observer
    for _ in range(1, players(rules)):
        other = next_player(other, rules)
        distance = quarter_turns(observer, other, rules)
        _write_opponent(game[other], distance, view, rules)
        view[_CORNERS + distance - 1] = 1
    if die_of(game) > 0 and player_of(game) == observer:
        view[_DIE + die_of(game) - 1] = 1
    view[_OPTIONS] = rules[MANDATORY_CAPTURE]
    view[_OPTIONS + 1] = rules[HOME_JUMPS]


@compiled
def _write_own(own, view, rules):
    k = rules[NUM_PAWNS] - 1
    for _ in range(in_yard(own, rules)):
        view[PROGRESSES * k] = 1
        k -= 1
    while own:
        view[PROGRESSES * k + popcount((own & -own) - 1) + 1] = 1
        own &= own - 1
        k -= 1


@compiled
def _write_opponent(board, distance, view, rules):
    base = _FIRST_OPPONENT + _OPPONENT * (distance - 1)
    squares = turned(board & TRACK, distance) | board & ~TRACK
    while squares:
        view[base + popcount((squares & -squares) - 1)] = 1
        squares &= squares - 1
    for i in range(in_yard(board, rules)):
        view[base + TRACK_SQUARES + MAX_PAWNS + i] = 1
