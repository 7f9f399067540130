"""What players' next rolls can reach, as sets of squares.

Counted are the six squares ahead of each pawn and, with pawns in the yard, the start square,
whatever the priorities say.
"""

from __future__ import annotations

from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    START_SQUARE,
    TRACK,
    in_yard,
    player_after,
    players,
    quarter_turns,
    turned,
)


@compiled
def one_to_six_ahead(squares):
    """Track squares one to six ahead of any of some squares."""
    ahead = squares << 1 | squares << 2 | squares << 3
    return (ahead | ahead << 3) & TRACK


@compiled
def threats_of(own, rules):
    """Track squares that a player's next roll can reach, and that a 6 and another roll can."""
    start = START_SQUARE if in_yard(own, rules) > 0 else 0
    track = own & TRACK
    return one_to_six_ahead(track) | start, one_to_six_ahead(track << 6 & TRACK | start)


@compiled
def hits_of(own, rules):
    """Track squares that one roll of a player can reach: in one way at least, in two at least."""
    once = START_SQUARE if in_yard(own, rules) > 0 else 0
    twice = 0
    track = own & TRACK
    for die in range(1, 7):
        reached = track << die & TRACK
        twice |= once & reached
        once |= reached
    return once, twice


@compiled
def threats_to(game, player, rules):
    """`threats_of` all opponents, in the player's frame."""
    soon = later = 0
    for places in range(1, players(rules)):
        other = player_after(player, places, rules)
        quarters = quarter_turns(player, other, places, rules)
        own_soon, own_later = threats_of(game[other], rules)
        soon |= turned(own_soon, quarters)
        later |= turned(own_later, quarters)
    return soon, later


@compiled
def one_to_six_behind(opponents):
    """Track squares one to six behind one opponent's pawn at least, and behind two at least."""
    one = two = 0
    for distance in range(1, 7):
        two |= one & opponents >> distance
        one |= opponents >> distance
    return one, two
