"""Every rule of the game, once, as compiled functions on one game's row.

A game is a row of ``ROW`` 64-bit integers, one cache line, and nothing else:

====================  ==========================================================================
columns               content
====================  ==========================================================================
0 … 3                 each player's board in that player's own frame: bit ``p − 1`` is set where
                      a pawn has progress ``p`` (bits 0 … 39 the track, 40 … 43 the column);
                      pawns in the yard are those that no bit shows
``SEED``              the seed of the row's games
``KEY``               the key of the present game's dice, which follows from seed and episode
``COUNTS``            bits 0 … 31 the rolls made, which is the counter of the next roll; bits
                      32 … 62 the decisions played
``TURN``              bits 0 … 2 the die and bits 3, 4 the player: who decides and what was
                      rolled; with die 0 the game is over and the player is the winner. Bits
                      5 … 62 are the episode: which of the seed's games this is, from 0
====================  ==========================================================================

Most of what is played at random turns on chance, so a processor guesses branches wrong; the
functions below prefer arithmetic to branches where both are short.

A move is named by its destination, one bit of the mover's frame. The start square's bit names the
move out of the yard, since no other move can end there.
"""

from __future__ import annotations

import numpy as np

from ludo_env.core import dice
from ludo_env.core.bits import highest_bit, popcount
from ludo_env.core.jit import compiled
from ludo_env.core.rules import (
    CORNERS,
    HOME_JUMPS,
    MANDATORY_CAPTURE,
    MAX_PAWNS,
    NUM_PAWNS,
    PAWN_ON_START,
    SQUARES_PER_CORNER,
    TRACK_SQUARES,
)

ROW = 8
SEED, KEY, COUNTS, TURN = 4, 5, 6, 7
ROLL_BITS = 32
DIE_BITS, PLAYER_BITS = 3, 2
EPISODE_SHIFT = DIE_BITS + PLAYER_BITS

ROLLS_MASK = (1 << ROLL_BITS) - 1
_ONE_DECISION = 1 << ROLL_BITS
DIE_MASK = (1 << DIE_BITS) - 1
PLAYER_MASK = (1 << PLAYER_BITS) - 1
_PLAYER_AND_DIE = (1 << EPISODE_SHIFT) - 1

TRACK = (1 << TRACK_SQUARES) - 1
START_SQUARE = 1


@compiled
def clear(array):
    """Set a row of numbers to 0; in place. A loop compiles in a tenth of a slice's time."""
    for i in range(len(array)):
        array[i] = 0


@compiled
def clear_script(script):
    """Leave a game's rolls to the dice; in place; nothing where it has no script."""
    if script is not None:
        clear(script)


@compiled
def players(rules):
    """Number of players."""
    return len(rules[CORNERS])


@compiled
def player_of(game):
    """Who decides, or who won."""
    return game[TURN] >> DIE_BITS & PLAYER_MASK


@compiled
def die_of(game):
    """The die to be played, or 0 when the game is over."""
    return game[TURN] & DIE_MASK


@compiled
def decider(game):
    """Who decides, or −1 when the game is over."""
    return -1 if is_over(game) else player_of(game)


@compiled
def is_over(game):
    """Whether somebody has won (R19)."""
    return game[TURN] & DIE_MASK == 0


@compiled
def set_turn(game, player, die):
    """Name the player who decides, and the die; in place."""
    game[TURN] = (game[TURN] & ~_PLAYER_AND_DIE) | player << DIE_BITS | die


@compiled
def episode_of(game):
    """Which of its seed's games this is, from 0."""
    return game[TURN] >> EPISODE_SHIFT


@compiled
def rolls_of(game):
    """Rolls made so far."""
    return game[COUNTS] & ROLLS_MASK


@compiled
def decisions_of(game):
    """Decisions played so far."""
    return game[COUNTS] >> ROLL_BITS


@compiled
def player_after(player, places, rules):
    """The player so many places to the left, clockwise (R2)."""
    if players(rules) == 4:
        return (player + places) & 3
    after = player + places
    return after if after < players(rules) else after - players(rules)


@compiled
def in_yard(own, rules):
    """Number of a player's pawns in the yard."""
    return rules[NUM_PAWNS] - popcount(own)


@compiled
def quarter_turns(viewer, other, places, rules):
    """Corners clockwise from one player to another, so many ``places`` to the left (R2)."""
    if players(rules) == 4:
        return places
    return 2 if players(rules) == 2 else (other - viewer) & 3


@compiled
def corner_of(viewer, places, rules):
    """Corners clockwise from a player to who sits so many places to the left, itself included."""
    other = player_after(viewer, places, rules)
    return quarter_turns(viewer, other, places, rules) if places > 0 else 0


@compiled
def turned(track, quarters):
    """Track squares seen from the corner that lies ``quarters`` corners before their own (R1)."""
    distance = SQUARES_PER_CORNER * quarters
    return ((track << distance) | (track >> (TRACK_SQUARES - distance))) & TRACK


@compiled
def opponents_of(game, player, rules):
    """Track squares of all opponents, in the player's frame."""
    seen = 0
    for places in range(1, players(rules)):
        other = player_after(player, places, rules)
        seen |= turned(game[other] & TRACK, quarter_turns(player, other, places, rules))
    return seen


@compiled
def beyond_own(column, die):
    """Column squares, and more, where a move of the die would pass over an own pawn (R18)."""
    beyond = 0
    for distance in range(1, MAX_PAWNS):  # a move that passes more ends outside the column
        beyond |= column << distance if distance < die else 0
    return beyond


@compiled
def reachable(own, die, rules):
    """Squares where a pawn on the board can end: R5, R10, R17, R18."""
    column = own >> TRACK_SQUARES
    passed = 0 if rules[HOME_JUMPS] else beyond_own(column, die)
    home = ((1 << rules[NUM_PAWNS]) - 1) & ~passed
    return (own << die) & ~own & (TRACK | home << TRACK_SQUARES)


@compiled
def movable(own, die, rules):
    """Moves that the board and the player's own priorities allow: R7, R12, R13, R15."""
    reach = reachable(own, die, rules)
    on_start = own & START_SQUARE
    leaving = START_SQUARE if die == 6 and not on_start else 0  # R13: leave the yard
    freeing = reach & on_start << die  # R12: free the start square
    first = (leaving | freeing) if in_yard(own, rules) > 0 else 0
    return first if first else reach


@compiled
def choices(moves, opponents, rules):
    """What is left to choose from where captures are mandatory (R14), R15 otherwise."""
    captures = moves & opponents if rules[MANDATORY_CAPTURE] else 0
    return captures if captures else moves


@compiled
def board_moves(game, rules):
    """`movable` for the player who decides; 0 when the game is over."""
    if is_over(game):
        return 0
    return movable(game[player_of(game)], die_of(game), rules)


@compiled
def legal_moves(game, rules):
    """The destinations open to the player who decides; 0 when the game is over."""
    return choices(board_moves(game, rules), opponents_of(game, player_of(game), rules), rules)


@compiled
def source_of(destination, die):
    """The square a move starts from, as a bit; 0 is the yard."""
    return 0 if destination == START_SQUARE else destination >> die


@compiled
def action_of(own, destination, die):
    """The action that plays a move: how many own pawns are further on than the one it moves."""
    source = source_of(destination, die)
    return popcount(own) if source == 0 else popcount(own & -(source << 1))


@compiled
def destination_of(own, action, die):
    """Where an action's pawn ends if it may move: a bit, or 0 where there is no such pawn."""
    leaving = START_SQUARE if action == popcount(own) else 0
    for k in range(MAX_PAWNS - 1):
        own ^= highest_bit(own) if k < action else 0
    return highest_bit(own) << die | leaving


@compiled
def chosen_destination(game, action):
    """`destination_of` for the player who decides."""
    return destination_of(game[player_of(game)], action, die_of(game))


@compiled
def legal_destination(game, action, rules):
    """The destination of an action, or 0 if it is illegal."""
    if action < 0 or action >= MAX_PAWNS or is_over(game):
        return 0
    return chosen_destination(game, action) & legal_moves(game, rules)


@compiled
def send_home(game, player, square, rules):
    """Send whichever pawn stands on the player's track square to its yard (R11); in place.

    Nothing happens where the square is 0.
    """
    for places in range(1, players(rules)):
        other = player_after(player, places, rules)
        back = players(rules) - places
        game[other] &= ~turned(square, quarter_turns(other, player, back, rules))


@compiled
def victim_of(game, destination, rules):
    """The player whose pawn stands on the destination, or −1."""
    player = player_of(game)
    for places in range(1, players(rules)):
        other = player_after(player, places, rules)
        quarters = quarter_turns(player, other, places, rules)
        if turned(game[other] & TRACK, quarters) & destination:
            return other
    return -1


@compiled
def has_won(own, rules):
    """Whether all pawns stand on the column's squares (R19)."""
    return own >> TRACK_SQUARES == (1 << rules[NUM_PAWNS]) - 1


@compiled
def allowed_tries(own, rules):
    """Rolls a player has when the turn starts: three where only a 6 could move a pawn (R9)."""
    column = own >> TRACK_SQUARES
    free = ~column & ((1 << rules[NUM_PAWNS]) - 1)
    # The squares that pawns of the column can reach: with jumps all beyond the hindmost pawn.
    ahead = -(column & -column) if rules[HOME_JUMPS] else column << 1
    return 1 if (own & TRACK) | (free & ahead) else 3


@compiled
def play(game, destination, rules):
    """Play a legal move up to before the next roll; in place.

    Sets the turn to the player who rolls next (R8), with the die still to come, or to the winner.

    Returns:
        Whether the game goes on.
    """
    player = player_of(game)
    die = die_of(game)
    own = game[player] ^ (destination | source_of(destination, die))
    captured = destination & opponents_of(game, player, rules)
    game[player] = own
    game[COUNTS] += _ONE_DECISION
    send_home(game, player, captured, rules)
    goes_on = not has_won(own, rules)
    set_turn(game, player_after(player, 1, rules) if goes_on and die != 6 else player, 0)
    return goes_on


@compiled
def settle(game, die, tries, script, log, rules):
    """Look at the roller's die, and roll on until some player has a move; in place.

    Args:
        game: int64 (ROW,); ``TURN`` names the player who rolls.
        die: The die already rolled, or 0 for a roll to come.
        tries: Rolls that the roller has in this turn, the given die included (R9).
        script: int8 (S,), roll ``n`` is ``script[n]`` where that exists and is not 0; or None.
        log: int8 (L, 2), receives (player, die) of the first ``L`` rolls made here; or None.
        rules: `CompiledRules`.

    Returns:
        The moves that the board allows: never 0, and before R14.
    """
    player = player_of(game)
    key = game[KEY]
    first = rolls_of(game)
    rolls = first
    moves = 0
    if die > 0:
        moves = movable(game[player], die, rules)
        tries -= 1
    while moves == 0:
        if tries == 0:
            player = player_after(player, 1, rules)  # R6
            tries = allowed_tries(game[player], rules)
        die = dice.roll(key, rolls)
        if script is not None and rolls < len(script) and script[rolls] > 0:
            die = np.int64(script[rolls])
        if log is not None and rolls - first < len(log):
            log[rolls - first, 0] = player
            log[rolls - first, 1] = die
        rolls += 1
        tries -= 1
        moves = movable(game[player], die, rules)
    game[COUNTS] += rolls - first
    set_turn(game, player, die)
    return moves


@compiled
def roll_on(game, script, log, rules):
    """Begin the turn of the player named by ``TURN`` and `settle` it; in place."""
    return settle(game, 0, allowed_tries(game[player_of(game)], rules), script, log, rules)


@compiled
def begin_episode(game, episode):
    """Name the episode, with player 0 to roll, and nothing counted yet; in place."""
    game[COUNTS] = 0
    game[TURN] = episode << EPISODE_SHIFT


@compiled
def deal(game, episode, rules):
    """Set up the ``episode``-th game of the row's seed before its first roll (R4); in place."""
    board = START_SQUARE if rules[PAWN_ON_START] else 0
    for player in range(players(rules)):
        game[player] = board
    begin_episode(game, episode)
    game[KEY] = dice.game_key(game[SEED], episode)


@compiled
def distance_of(own):
    """Sum of a player's progresses (R20)."""
    total = 0
    while own:
        furthest = highest_bit(own)
        total += popcount(furthest - 1) + 1
        own ^= furthest
    return total


@compiled
def standing(own):
    """A number that orders players as R20 does: pawns in the column, then distance."""
    return popcount(own >> TRACK_SQUARES) << 8 | distance_of(own)


@compiled
def write_places(game, places, rules):
    """Write each player's place (R20) into ``places`` (P,); 0 before the end."""
    for player in range(players(rules)):
        places[player] = 0
    if not is_over(game):
        return
    winner = player_of(game)
    for player in range(players(rules)):
        place = 1
        for other in range(players(rules)):
            ahead = standing(game[other]) > standing(game[player])
            if other != player and player != winner and (ahead or other == winner):
                place += 1
        places[player] = place


@compiled
def write_pawns(own, pawns):
    """Write a player's progresses, most advanced first, into ``pawns`` (n,)."""
    for k in range(len(pawns)):
        pawns[k] = 0
        if own:
            furthest = highest_bit(own)
            pawns[k] = popcount(furthest - 1) + 1
            own ^= furthest
