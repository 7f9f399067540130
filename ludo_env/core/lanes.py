"""Many games side by side: the turn as arithmetic without branches.

Games are laid out as lanes: the same quantity of all games side by side, all at the same stage of a
roll. Every lane goes through the same arithmetic and reads and writes the same places, so the
compiler turns a loop over lanes into vector instructions that advance several games at once. The
rules are those of `ludo_env.core.kernels`; what stands here is who rolls next, and how boards are
read and written.

A quantity's lanes stand a fixed distance apart in one flat array: only fixed distances let the
compiler see that no two overlap. The boards of all players come first, from the one who rolls on in
turn order.
"""

from __future__ import annotations

from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    TRACK,
    allowed_tries,
    has_won,
    player_after,
    players,
    quarter_turns,
    turned,
)
from ludo_env.core.reach import threats_of


@compiled
def opponents_in(lanes, lane, width, player, rules):
    """Track squares of all opponents, in the player's frame."""
    seen = 0
    for places in range(1, players(rules)):
        other = player_after(player, places, rules)
        quarters = quarter_turns(player, other, places, rules)
        seen |= turned(lanes[places * width + lane] & TRACK, quarters)
    return seen


@compiled
def threats_in(lanes, lane, width, player, rules):
    """What opponents threaten, see `reach.threats_to`."""
    soon = later = 0
    for places in range(1, players(rules)):
        other = player_after(player, places, rules)
        quarters = quarter_turns(player, other, places, rules)
        own_soon, own_later = threats_of(lanes[places * width + lane], rules)
        soon |= turned(own_soon, quarters)
        later |= turned(own_later, quarters)
    return soon, later


@compiled
def square_seen_by(player, places, square, rules):
    """A player's track square in the frame of who sits so many places to the left."""
    other = player_after(player, places, rules)
    return turned(square, quarter_turns(other, player, players(rules) - places, rules))


@compiled
def what_follows(own, move, die, tries, waits, rules):
    """What a roll comes to, once its move, if there is any, has been played.

    Args:
        own: The roller's board.
        move: The move played; 0 for none.
        die: The die.
        tries: Rolls that the player has left in this turn.
        waits: Whether the lane stands still.
        rules: `CompiledRules`.

    Returns:
        Whether the game is won (R19), whether somebody rolls, and whether the turn is the player's
        still: to try again (R9), or for any reason.
    """
    wins = (move != 0) & has_won(own, rules)
    tries_again = (move == 0) & (tries > 0)  # R9
    stays = wins | waits | tries_again | ((move != 0) & (die == 6))  # R8, else R6
    return wins, not (wins | waits), tries_again, stays


@compiled
def tries_left(own, tries, tries_again, rolls_on, rules):
    """Rolls that who rolls, with this board, has left in the turn after this one."""
    return (tries if tries_again else allowed_tries(own, rules)) - (1 if rolls_on else 0)
