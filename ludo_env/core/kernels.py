"""Every rule of the game, once, as compiled functions on one game's row.

A game is a row of ``ROW`` 64-bit integers, one cache line:

====================  ==========================================================================
columns               content
====================  ==========================================================================
0 … 3                 each player's board in that player's own frame: bit ``p − 1`` is set where
                      a pawn has progress ``p`` (bits 0 … 39 the track, 40 … 43 the column);
                      pawns in the yard are those that no bit shows
``KEY``               the key of the game's dice
``ROLLS``             rolls made so far, which is the counter of the next roll
``DECISIONS``         decisions played so far
``TURN``              ``8 · player + die``: who decides and what was rolled; with die 0 the game
                      is over and the player is the winner
====================  ==========================================================================

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
KEY, ROLLS, DECISIONS, TURN = 4, 5, 6, 7

TRACK = (1 << TRACK_SQUARES) - 1
START_SQUARE = 1


def _column_targets(home_jumps: bool, num_pawns: int, die: int, column: int) -> int:
    """Board bits where a pawn may end: any track square, and column squares by R17, R18."""
    targets = TRACK
    for square in range(num_pawns):
        passed = range(max(0, square - die + 1), square)
        if home_jumps or not any(column >> k & 1 for k in passed):
            targets |= 1 << (TRACK_SQUARES + square)
    return targets


def _target_table() -> np.ndarray:
    """`_column_targets` for all arguments: int64 (home_jumps 2, num_pawns 5, die 7, column 16)."""
    table = np.zeros((2, MAX_PAWNS + 1, 7, 1 << MAX_PAWNS), dtype=np.int64)
    for jumps, pawns, die, column in np.ndindex(*table.shape):
        table[jumps, pawns, die, column] = _column_targets(bool(jumps), pawns, die, column)
    return table


_TARGETS = _target_table()


@compiled
def clear(array):
    """Set a row of numbers to 0; in place. A loop compiles in a tenth of a slice's time."""
    for i in range(len(array)):
        array[i] = 0


@compiled
def players(rules):
    """Number of players."""
    return len(rules[CORNERS])


@compiled
def player_of(game):
    """Who decides, or who won."""
    return game[TURN] >> 3 & 3


@compiled
def die_of(game):
    """The die to be played, or 0 when the game is over."""
    return game[TURN] & 7


@compiled
def is_over(game):
    """Whether somebody has won (R19)."""
    return game[TURN] & 7 == 0


@compiled
def next_player(player, rules):
    """The player to the left, clockwise (R2)."""
    return player + 1 if player + 1 < players(rules) else 0


@compiled
def in_yard(own, rules):
    """Number of a player's pawns in the yard."""
    return rules[NUM_PAWNS] - popcount(own)


@compiled
def quarter_turns(viewer, other, rules):
    """Corners clockwise from one player to another (R2)."""
    if players(rules) == 2:
        return 2 * (other - viewer) & 3
    return (other - viewer) & 3


@compiled
def turned(track, quarters):
    """Track squares seen from the corner that lies ``quarters`` corners before their own (R1)."""
    distance = SQUARES_PER_CORNER * quarters
    return ((track << distance) | (track >> (TRACK_SQUARES - distance))) & TRACK


@compiled
def opponents_of(game, player, rules):
    """Track squares of all opponents, in the player's frame."""
    seen = 0
    other = player
    for _ in range(1, players(rules)):
        other = next_player(other, rules)
        seen |= turned(game[other] & TRACK, quarter_turns(player, other, rules))
    return seen


@compiled
def reachable(own, die, rules):
    """Squares where a pawn on the board can end: R5, R10, R17, R18."""
    return (
        (own << die)
        & ~own
        & _TARGETS[rules[HOME_JUMPS], rules[NUM_PAWNS], die, own >> TRACK_SQUARES & 15]
    )


@compiled
def movable(own, die, rules):
    """Moves that the board and the player's own priorities allow: R7, R12, R13, R15."""
    reach = reachable(own, die, rules)
    if in_yard(own, rules) > 0:
        if own & START_SQUARE:
            freed = START_SQUARE << die
            if reach & freed:
                return freed  # R12: free the start square
        elif die == 6:
            return START_SQUARE  # R13: leave the yard
    return reach


@compiled
def choices(moves, opponents, rules):
    """What is left to choose from where captures are mandatory (R14), R15 otherwise."""
    captures = moves & opponents
    if captures and rules[MANDATORY_CAPTURE]:
        return captures
    return moves


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
    on_board = popcount(own)
    if action >= on_board:
        return START_SQUARE if action == on_board else 0
    for _ in range(action):
        own ^= highest_bit(own)
    return highest_bit(own) << die


@compiled
def legal_destination(game, action, rules):
    """The destination of an action, or 0 if it is illegal."""
    if action < 0 or action >= MAX_PAWNS or is_over(game):
        return 0
    own = game[player_of(game)]
    return destination_of(own, action, die_of(game)) & legal_moves(game, rules)


@compiled
def send_home(game, player, destination, rules):
    """Send whichever pawn stands on the player's destination to its yard (R11); in place."""
    other = player
    for _ in range(1, players(rules)):
        other = next_player(other, rules)
        game[other] &= ~turned(destination, quarter_turns(other, player, rules))


@compiled
def victim_of(game, destination, rules):
    """The player whose pawn stands on the destination, or −1."""
    player = player_of(game)
    other = player
    for _ in range(1, players(rules)):
        other = next_player(other, rules)
        if turned(game[other] & TRACK, quarter_turns(player, other, rules)) & destination:
            return other
    return -1


@compiled
def has_won(own, rules):
    """Whether all pawns stand on the column's squares (R19)."""
    return own >> TRACK_SQUARES == (1 << rules[NUM_PAWNS]) - 1


@compiled
def allowed_tries(own, rules):
    """Rolls a player has when the turn starts: three where only a 6 could move a pawn (R9)."""
    if own & TRACK:
        return 1
    column = own >> TRACK_SQUARES
    free = ~column & ((1 << rules[NUM_PAWNS]) - 1)
    # The squares that pawns of the column can reach: with jumps all beyond the hindmost pawn.
    ahead = -(column & -column) if rules[HOME_JUMPS] else column << 1
    return 1 if free & ahead else 3


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
    captures = destination & opponents_of(game, player, rules)
    game[player] = own
    game[DECISIONS] += 1
    if captures:
        send_home(game, player, destination, rules)
    if has_won(own, rules):
        game[TURN] = player << 3
        return False
    roller = player if die == 6 else next_player(player, rules)
    game[TURN] = roller << 3
    return True


@compiled
def settle(game, die, tries, script, log, rules):
    """Look at the roller's die, and roll on until some player has a move; in place.

    Args:
        game: int64 (ROW,); ``TURN`` names the player who rolls.
        die: The die already rolled, or 0 for a roll to come.
        tries: Rolls that the roller has in this turn, the given die included (R9).
        script: int8 (S,), roll ``n`` is ``script[n]`` where that exists and is not 0.
        log: int8 (L, 2), receives (player, die) of the first ``L`` rolls made here; or None.
        rules: `CompiledRules`.

    Returns:
        The moves that the board allows: never 0, and before R14.
    """
    player = player_of(game)
    key = game[KEY]
    rolls = game[ROLLS]
    first = rolls
    moves = 0
    if die > 0:
        moves = movable(game[player], die, rules)
        tries -= 1
    while moves == 0:
        if tries == 0:
            player = next_player(player, rules)  # R6
            tries = allowed_tries(game[player], rules)
        die = 0
        if rolls < len(script):
            die = np.int64(script[rolls])
        if die == 0:
            die = dice.roll(key, rolls)
        if log is not None and rolls - first < len(log):
            log[rolls - first, 0] = player
            log[rolls - first, 1] = die
        rolls += 1
        tries -= 1
        moves = movable(game[player], die, rules)
    game[ROLLS] = rolls
    game[TURN] = player << 3 | die
    return moves


@compiled
def roll_on(game, script, log, rules):
    """Begin the turn of the player named by ``TURN`` and `settle` it; in place."""
    return settle(game, 0, allowed_tries(game[player_of(game)], rules), script, log, rules)


@compiled
def deal(game, key, rules):
    """Set up a new game before its first roll (R4); in place."""
    board = START_SQUARE if rules[PAWN_ON_START] else 0
    for player in range(players(rules)):
        game[player] = board
    game[KEY] = key
    game[ROLLS] = 0
    game[DECISIONS] = 0
    game[TURN] = 0


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
