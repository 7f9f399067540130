"""A position before a roll as the few numbers that an evaluation starts from.

A feature is something that is or is not so; a position is written as the list of those that are.
All is seen from the player about to roll: players by the corners clockwise from that player's own,
pawns by their own progress, so that every seat and every number of players share one meaning.

Each corner has a block of features:

=============  =================================================================================
offset         content
=============  =================================================================================
``PLACE``      44, a pawn has progress ``i + 1``
``YARD``       4 in unary, more than ``i`` pawns are in the yard
``HIT``        40, a pawn on the track that one roll can capture: an opponent's by the player
               about to roll, that player's own by any opponent
``HIT_TWICE``  40, the same, by two different numbers or pawns
``HIT_LATER``  40, an opponent's pawn that one roll of another opponent can capture
=============  =================================================================================

After the blocks of the four corners stand which of the three others play, the number of pawns
one-hot, mandatory capture and home jumps. What a roll can capture counts the six squares ahead of
each pawn and, with pawns in the yard, the start square, whatever the priorities say.
"""

from __future__ import annotations

from ludo_env.core.bits import highest_bit, popcount
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    TRACK,
    in_yard,
    player_after,
    player_of,
    players,
    quarter_turns,
    turned,
)
from ludo_env.core.reach import hits_of
from ludo_env.core.rules import (
    HOME_JUMPS,
    MANDATORY_CAPTURE,
    MAX_PAWNS,
    MAX_PLAYERS,
    NUM_PAWNS,
    TRACK_SQUARES,
)

PLACE = 0
YARD = PLACE + TRACK_SQUARES + MAX_PAWNS
HIT = YARD + MAX_PAWNS
HIT_TWICE = HIT + TRACK_SQUARES
HIT_LATER = HIT_TWICE + TRACK_SQUARES
BLOCK = HIT_LATER + TRACK_SQUARES

CORNERS_AT = MAX_PLAYERS * BLOCK
PAWNS_AT = CORNERS_AT + MAX_PLAYERS - 1
OPTIONS_AT = PAWNS_AT + MAX_PAWNS
NUM_FEATURES = OPTIONS_AT + 2
"""Number of features."""

MOST_FEATURES = 4 * MAX_PLAYERS * MAX_PAWNS + MAX_PLAYERS + 2
"""How many of them a position can have at most."""


@compiled
def write_features(game, features, rules):
    """Write the numbers of the features that a position before a roll has, in a fixed order.

    Args:
        game: int64 (ROW,); ``TURN`` names the player about to roll.
        features: int64 (MOST_FEATURES,), filled from the front; in place.
        rules: `CompiledRules`.

    Returns:
        How many there are.
    """
    roller = player_of(game)
    count = _write_board(game[roller], 0, features, 0, rules)
    count = _write_hits_on_roller(game, roller, features, count, rules)
    for places in range(1, players(rules)):
        other = player_after(roller, places, rules)
        corner = quarter_turns(roller, other, places, rules)
        count = _write_board(game[other], corner * BLOCK, features, count, rules)
        count = _write_hits_on_other(game, roller, places, corner, features, count, rules)
        features[count] = CORNERS_AT + corner - 1
        count += 1
    features[count] = PAWNS_AT + rules[NUM_PAWNS] - 1
    count += 1
    for k in range(2):
        features[count] = OPTIONS_AT + k
        count += rules[MANDATORY_CAPTURE] if k == 0 else rules[HOME_JUMPS]
    return count


@compiled
def _write_board(own, block, features, count, rules):
    """A player's places and yard. Returns the number of features written so far."""
    count = _write_set(own, block + PLACE, features, count)
    for i in range(in_yard(own, rules)):
        features[count] = block + YARD + i
        count += 1
    return count


@compiled
def _write_set(bits, first, features, count):
    """One feature for each set bit. Returns the number of features written so far."""
    while bits:
        highest = highest_bit(bits)
        features[count] = first + popcount(highest - 1)
        count += 1
        bits ^= highest
    return count


@compiled
def _write_hits_on_roller(game, roller, features, count, rules):
    """The roller's pawns that opponents' next rolls can capture. Returns the number so far."""
    once = twice = 0
    for places in range(1, players(rules)):
        other = player_after(roller, places, rules)
        quarters = quarter_turns(roller, other, places, rules)
        by_one, by_two = hits_of(game[other], rules)
        seen = turned(by_one, quarters)
        twice |= once & seen | turned(by_two, quarters)
        once |= seen
    own = game[roller] & TRACK
    count = _write_set(own & once, HIT, features, count)
    return _write_set(own & twice, HIT_TWICE, features, count)


@compiled
def _write_hits_on_other(game, roller, places, corner, features, count, rules):
    """An opponent's pawns that others can capture. Returns the number of features so far."""
    other = player_after(roller, places, rules)
    own = game[other] & TRACK
    back = quarter_turns(other, roller, players(rules) - places, rules)
    by_one, by_two = hits_of(game[roller], rules)
    first = corner * BLOCK
    count = _write_set(own & turned(by_one, back), first + HIT, features, count)
    count = _write_set(own & turned(by_two, back), first + HIT_TWICE, features, count)
    later = 0
    for others in range(1, players(rules)):
        third = player_after(other, others, rules)
        if third != roller:
            quarters = quarter_turns(other, third, others, rules)
            later |= turned(hits_of(game[third], rules)[0], quarters)
    return _write_set(own & later, first + HIT_LATER, features, count)
