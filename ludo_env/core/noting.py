"""The kernels of watched games: scripted players move, and what all players do is counted.

``seats`` is int64 (B, 2 P): each player's scripted policy, or −1 for one who is to be asked, and
the keys of the policies' draws. ``notes`` is int64 (B, P, K), see `NOTES`. ``log`` is int8 (B, L):
the ``n``-th decision's action in a game. All of them are written in place.
"""

from __future__ import annotations

from ludo_env.core import dice
from ludo_env.core.bits import popcount
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    KEY,
    SEED,
    TRACK,
    action_of,
    board_moves,
    choices,
    decisions_of,
    die_of,
    episode_of,
    is_over,
    legal_destination,
    opponents_of,
    play,
    player_of,
    players,
    roll_on,
    rolls_of,
    victim_of,
)
from ludo_env.core.reach import one_to_six_ahead
from ludo_env.core.rows import row_of
from ludo_env.core.rules import TRACK_SQUARES
from ludo_env.core.scripted import chosen_move

OVER, CUT, FULL = -1, -2, -3
"""What a game stands at where nobody is to be asked: its end, the limit of rolls, or the log's."""

NOTES = (
    "decisions",
    "choices",
    "captures",
    "losses",
    "free_captures",
    "free_captures_taken",
    "exposed",
    "rolls_to_column",
)
"""What is counted for each player of a game: decisions; those with more than one legal move; pawns
captured, and lost; decisions where some legal moves capture and some do not, and those of them in
which a capture was played; own pawns that stand one to six squares ahead of an opponent's, summed
over all own moves; the game's rolls when a first pawn has come into the column, 0 before."""

(
    DECISIONS,
    CHOICES,
    CAPTURES,
    LOSSES,
    FREE_CAPTURES,
    FREE_CAPTURES_TAKEN,
    EXPOSED,
    ROLLS_TO_COLUMN,
) = range(len(NOTES))


@compiled
def seat_rows(games, rows, policies, keys, seats, rules):
    """Seat the players of the rows (k,), in place.

    Draws are those that the policy makes as an agent, which is shown other keys than a game's own.

    Args:
        games: int64 (B, ROW), dealt.
        rows: int64 (k,).
        policies: int64 (k, P).
        keys: int64 (k, P), of the policies' draws.
        seats: Receives them.
        rules: The compiled rules.
    """
    for k in range(len(rows)):
        game, own = row_of(games, rows[k]), row_of(seats, rows[k])
        shown = dice.game_key(dice.blind_seed(game[SEED]), episode_of(game))
        for player in range(players(rules)):
            own[player] = policies[k, player]
            own[players(rules) + player] = game[KEY] ^ shown ^ keys[k, player]


@compiled
def take_part(games, rows, actions, seats, notes, log, max_rolls, asked, rules):
    """Play legal actions (k,) in the rows, and `play_on`."""
    for k in range(len(rows)):
        row = rows[k]
        game = row_of(games, row)
        move = legal_destination(game, actions[k], rules)
        opponents = opponents_of(game, player_of(game), rules)
        legal = choices(board_moves(game, rules), opponents, rules)
        _play_noted(game, move, legal, opponents, row_of(notes, row), row_of(log, row), rules)
        asked[row] = _play_on(
            game, row_of(seats, row), row_of(notes, row), row_of(log, row), max_rolls, rules
        )


@compiled
def play_on(games, rows, seats, notes, log, max_rolls, asked, rules):
    """Play scripted players in the rows up to a decision of somebody else.

    Writes that player, `OVER`, `CUT` or `FULL` into ``asked`` (B,).
    """
    for k in range(len(rows)):
        row = rows[k]
        asked[row] = _play_on(
            row_of(games, row),
            row_of(seats, row),
            row_of(notes, row),
            row_of(log, row),
            max_rolls,
            rules,
        )


@compiled
def _play_on(game, seats, notes, log, max_rolls, rules):
    while not is_over(game):
        if 0 < max_rolls <= rolls_of(game):
            return CUT
        if decisions_of(game) >= len(log):
            return FULL
        player = player_of(game)
        policy = seats[player]
        if policy < 0:
            return player
        opponents = opponents_of(game, player, rules)
        legal = choices(board_moves(game, rules), opponents, rules)
        key = seats[players(rules) + player]
        move = chosen_move(game, policy, key, legal, opponents, rules)
        _play_noted(game, move, legal, opponents, notes, log, rules)
    return OVER


@compiled
def _play_noted(game, move, legal, opponents, notes, log, rules):
    """Play a move, note it, and roll on to the next decision; in place."""
    player = player_of(game)
    own = row_of(notes, player)
    log[decisions_of(game)] = action_of(game[player], move, die_of(game))
    captures = legal & opponents
    takes = 1 if move & opponents else 0
    free = 1 if captures != 0 and captures != legal else 0
    own[DECISIONS] += 1
    own[CHOICES] += 1 if legal & (legal - 1) else 0
    own[CAPTURES] += takes
    own[FREE_CAPTURES] += free
    own[FREE_CAPTURES_TAKEN] += free & takes
    if takes:
        row_of(notes, victim_of(game, move, rules))[LOSSES] += 1
    goes_on = play(game, move, rules)
    board = game[player]
    near = one_to_six_ahead(opponents & ~move)
    own[EXPOSED] += popcount(board & TRACK & near)
    if own[ROLLS_TO_COLUMN] == 0 and board >> TRACK_SQUARES:
        own[ROLLS_TO_COLUMN] = rolls_of(game)
    if goes_on:
        roll_on(game, None, None, rules)
