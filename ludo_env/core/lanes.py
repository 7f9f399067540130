"""Many games side by side: the turn as arithmetic without branches.

Games are laid out as lanes: the same quantity of all games side by side, all at the same stage of a
roll. Every lane goes through the same arithmetic and reads and writes the same places, so the
compiler turns a loop over lanes into vector instructions that advance several games at once. The
rules are those of `ludo_env.core.kernels`; what stands here is who rolls next, and how boards are
read and written.

Quantities stand a fixed distance apart in one flat array, the ``width``, which is the number of
lanes: only fixed distances let the compiler see that no two overlap. The boards of all players come
first, from the one who rolls on in turn order, then those named here, then a module's own.
"""

from __future__ import annotations

from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    COUNTS,
    ROLL_BITS,
    TRACK,
    allowed_tries,
    decisions_of,
    die_of,
    has_won,
    player_after,
    player_of,
    players,
    quarter_turns,
    rolls_of,
    set_turn,
    turned,
)
from ludo_env.core.kernels import KEY as GAME_KEY
from ludo_env.core.reach import threats_of
from ludo_env.core.rules import MAX_PLAYERS

COMMON = range(MAX_PLAYERS, MAX_PLAYERS + 6)
"""The quantities that every module's lanes have, after the boards."""
OWN = COMMON.stop
"""The first of a module's own."""

(
    PLAYER,  # who rolls, or who has won
    DIE,  # 0 where it is to be rolled or the game is over
    TRIES,  # rolls that the player has left in this turn
    KEY,  # of the game's dice
    ROLLS,  # of this game so far
    DECISIONS,  # of this game so far
) = COMMON


@compiled
def take_up(lanes, lane, width, game, rules):
    """Lay a game, at a decision or just dealt, into a lane; in place."""
    player = player_of(game)
    for places in range(players(rules)):
        lanes[places * width + lane] = game[player_after(player, places, rules)]
    lanes[PLAYER * width + lane] = player
    lanes[DIE * width + lane] = die_of(game)
    lanes[TRIES * width + lane] = allowed_tries(game[player], rules)
    lanes[KEY * width + lane] = game[GAME_KEY]
    lanes[ROLLS * width + lane] = rolls_of(game)
    lanes[DECISIONS * width + lane] = decisions_of(game)


@compiled
def put_down(lanes, lane, width, game, rules):
    """Write a lane back to its game; in place."""
    player = lanes[PLAYER * width + lane]
    for places in range(players(rules)):
        game[player_after(player, places, rules)] = lanes[places * width + lane]
    game[COUNTS] = lanes[ROLLS * width + lane] | lanes[DECISIONS * width + lane] << ROLL_BITS
    set_turn(game, player, lanes[DIE * width + lane])


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
