"""The kernels of watched games: scripted players move, and what all players do is counted.

``seats`` is int64 (B, 2 P): each player's scripted policy, or −1 for one who is to be asked, and
the keys of the policies' draws. ``notes`` is int64 (B, P, K), see `NOTES`. ``log`` is uint8 (B, L):
the ``n``-th decision's action in a game, as a digit's character. All are written in place.

Games are played as lanes, see `ludo_env.core.lanes`. What a lane notes is packed into a word for
each player, and its actions into one, which are emptied into the arrays every few rolls.
"""

from __future__ import annotations

import numpy as np

from ludo_env.core import dice
from ludo_env.core.bits import popcount
from ludo_env.core.careful import choose_carefully
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    KEY,
    SEED,
    TRACK,
    action_of,
    choices,
    decisions_of,
    episode_of,
    is_over,
    legal_destination,
    movable,
    player_after,
    player_of,
    players,
    rolls_of,
    source_of,
)
from ludo_env.core.lanes import (
    COMMON,
    OWN,
    opponents_in,
    put_down,
    square_seen_by,
    take_up,
    threats_in,
    tries_left,
    what_follows,
)
from ludo_env.core.reach import one_to_six_ahead
from ludo_env.core.rows import row_of
from ludo_env.core.rules import MAX_PLAYERS, TRACK_SQUARES
from ludo_env.core.scripted import CAREFUL, choose, draw_key

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

_LANES = 32
# Where each of the quantities begins.
_PLAYER, _DIE, _TRIES, _KEY, _ROLLS, _DECISIONS = (quantity * _LANES for quantity in COMMON)
_NOTED = OWN * _LANES  # what players have done, from the one who rolls on in turn order
_DRAWS = (OWN + MAX_PLAYERS) * _LANES  # the keys of the players' draws, from player 0 on
(
    _POLICIES,  # of all players, four bits each
    _GIVEN,  # the move of who was asked; 0 for none
    _ACTIONS,  # played since the lane was emptied, two bits each, the last one lowest
    _STANDS,  # whether the lane has come to where it is to be taken out
    _LENGTH,
) = range((OWN + 2 * MAX_PLAYERS) * _LANES, (OWN + 2 * MAX_PLAYERS + 5) * _LANES, _LANES)

_NOBODY = -1
"""The row of a lane that holds no game."""

_POLICY_BITS = 4
_ASKED = (1 << _POLICY_BITS) - 1

# A word of notes has fields of what a player did in so many rolls, each wide enough for all; of the
# rolls when a first pawn came into the column it has the last bits, after one that says so.
_ROLLS_IN_A_WORD = 32
_COUNT, _EXPOSURES = (1 << 6) - 1, (1 << 8) - 1
_DECISION, _CHOICE, _CAPTURE, _LOSS, _FREE, _FREE_TAKEN, _EXPOSURE = range(0, 42, 6)
_COLUMN = _EXPOSURE + 8
_ROLLS_TO_COLUMN = _COLUMN + 1

_ACTION_BITS = 2
_ACTION = (1 << _ACTION_BITS) - 1
_ZERO = ord("0")


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
def play_on(games, rows, actions, seats, weights, notes, log, max_rolls, asked, rules):
    """Play scripted players in the rows up to a decision of somebody else, the next to be asked.

    Args:
        games: int64 (B, ROW).
        rows: int64 (k,), different row numbers.
        actions: (k,), legal actions of who was asked in the rows, which are played first; or None.
        seats: See above.
        weights: Those of "careful"; None where no player is.
        notes: Is added to.
        log: Receives the actions. A game stops where it has no room for one more.
        max_rolls: Rolls after which a game is cut at its next decision; 0 for no limit.
        asked: int64 (B,), receives that player, `OVER`, `CUT` or `FULL`.
        rules: `CompiledRules`.
    """
    lanes = np.zeros(_LENGTH, dtype=np.int64)
    held = np.full(_LANES, _NOBODY)
    taken = _take_up_next(lanes, held, games, rows, 0, actions, seats, rules)
    rolls = 0
    while held.max() != _NOBODY:
        stopped = 0
        while stopped == 0:
            if rolls == _ROLLS_IN_A_WORD:
                _empty_all(lanes, held, notes, log, rules)
                rolls = 0
            stopped = _roll_once(lanes, weights, max_rolls, log.shape[1], rules)
            rolls += 1
        _put_down_standing(lanes, held, games, notes, log, max_rolls, asked, rules)
        taken = _take_up_next(lanes, held, games, rows, taken, actions, seats, rules)


@compiled
def _take_up_next(lanes, held, games, rows, taken, actions, seats, rules):
    """Fill free lanes with the rows from number ``taken`` on; in place. Returns the next number."""
    for lane in range(_LANES):
        if held[lane] == _NOBODY and taken < len(rows):
            row = rows[taken]
            game = row_of(games, row)
            given = 0 if actions is None else legal_destination(game, actions[taken], rules)
            _take_up(lanes, lane, game, row_of(seats, row), given, rules)
            held[lane] = row
            taken += 1
    return taken


@compiled
def _put_down_standing(lanes, held, games, notes, log, max_rolls, asked, rules):
    """Write the lanes that stand back to their games, and who is to be asked; in place."""
    for lane in range(_LANES):
        row = held[lane]
        if row != _NOBODY and lanes[_STANDS + lane] > 0:
            game = row_of(games, row)
            _empty(lanes, lane, row_of(notes, row), row_of(log, row), rules)
            put_down(lanes, lane, _LANES, game, rules)
            asked[row] = _standing(game, max_rolls, log.shape[1])
            held[lane] = _NOBODY


@compiled
def _standing(game, max_rolls, room):
    """Who is to be asked, or why nobody is."""
    if is_over(game):
        return OVER
    if 0 < max_rolls <= rolls_of(game):
        return CUT
    return FULL if decisions_of(game) >= room else player_of(game)


@compiled
def _take_up(lanes, lane, game, seats, given, rules):
    """Lay a game into a lane, and the move that is played first, 0 for none; in place."""
    take_up(lanes, lane, _LANES, game, rules)
    policies = 0
    for places in range(players(rules)):
        lanes[_NOTED + places * _LANES + lane] = 0
        lanes[_DRAWS + places * _LANES + lane] = draw_key(game, seats[players(rules) + places])
        policies |= (seats[places] & _ASKED) << _POLICY_BITS * places
    lanes[_POLICIES + lane] = policies
    lanes[_GIVEN + lane] = given
    lanes[_ACTIONS + lane] = 0
    lanes[_STANDS + lane] = 0


@compiled
def _empty_all(lanes, held, notes, log, rules):
    """`_empty` every lane that holds a game."""
    for lane in range(_LANES):
        row = held[lane]
        if row != _NOBODY:
            _empty(lanes, lane, row_of(notes, row), row_of(log, row), rules)


@compiled
def _empty(lanes, lane, notes, log, rules):
    """Move what a lane has noted into its game's notes and log; in place."""
    fresh = 0
    for places in range(players(rules)):
        player = player_after(lanes[_PLAYER + lane], places, rules)
        fresh += _unpack(lanes, lane, places, row_of(notes, player))
    decisions = lanes[_DECISIONS + lane]
    for k in range(fresh):
        action = lanes[_ACTIONS + lane] >> _ACTION_BITS * k & _ACTION
        log[decisions - 1 - k] = _ZERO + action
    lanes[_ACTIONS + lane] = 0


@compiled
def _unpack(lanes, lane, places, own):
    """Add a player's word to its notes, and clear it; in place. Returns its decisions."""
    word = lanes[_NOTED + places * _LANES + lane]
    lanes[_NOTED + places * _LANES + lane] = 0
    own[DECISIONS] += word >> _DECISION & _COUNT
    own[CHOICES] += word >> _CHOICE & _COUNT
    own[CAPTURES] += word >> _CAPTURE & _COUNT
    own[LOSSES] += word >> _LOSS & _COUNT
    own[FREE_CAPTURES] += word >> _FREE & _COUNT
    own[FREE_CAPTURES_TAKEN] += word >> _FREE_TAKEN & _COUNT
    own[EXPOSED] += word >> _EXPOSURE & _EXPOSURES
    if word >> _COLUMN:
        ago = lanes[_ROLLS + lane] - (word >> _ROLLS_TO_COLUMN) & _COUNT
        own[ROLLS_TO_COLUMN] = lanes[_ROLLS + lane] - ago
    return word >> _DECISION & _COUNT


@compiled
def _roll_once(lanes, weights, max_rolls, room, rules):
    """Play and note the die of each lane, if it allows a move, and roll the next; in place.

    Returns:
        How many lanes have come to stand.
    """
    stopped = 0
    for lane in range(_LANES):
        own, die, given = lanes[lane], lanes[_DIE + lane], lanes[_GIVEN + lane]
        player, tries = lanes[_PLAYER + lane], lanes[_TRIES + lane]
        rolls, decisions = lanes[_ROLLS + lane], lanes[_DECISIONS + lane]
        policy = lanes[_POLICIES + lane] >> _POLICY_BITS * player & _ASKED
        opponents = opponents_in(lanes, lane, _LANES, player, rules)
        moves = movable(own, die, rules)
        is_cut = (max_rolls > 0) & (rolls >= max_rolls)
        holds = (given == 0) & ((policy == _ASKED) | is_cut | (decisions >= room))
        waits = (die == 0) | ((moves != 0) & holds)
        legal = 0 if waits else choices(moves, opponents, rules)
        chosen = _choose(lanes, lane, policy, weights, legal, opponents, rules)
        move = given if given else chosen
        action = action_of(own, move, die)
        had_column = own >> TRACK_SQUARES
        own ^= move | source_of(move, die)
        captured = move & opponents
        noted = _noted(own, move, legal, opponents)
        enters = (had_column == 0) & (own >> TRACK_SQUARES != 0)
        noted |= (1 << _COLUMN | (rolls & _COUNT) << _ROLLS_TO_COLUMN) if enters else 0

        decides = move != 0
        wins, rolls_on, tries_again, stays = what_follows(own, move, die, tries, waits, rules)
        _pass_on(lanes, lane, player, own, noted, captured, stays, rules)
        lanes[_PLAYER + lane] = player if stays else player_after(player, 1, rules)
        lanes[_TRIES + lane] = tries_left(lanes[lane], tries, tries_again, rolls_on, rules)
        next_die = dice.roll(lanes[_KEY + lane], rolls)
        lanes[_DIE + lane] = next_die if rolls_on else (0 if wins else die)
        lanes[_ROLLS + lane] = rolls + (1 if rolls_on else 0)
        lanes[_DECISIONS + lane] = decisions + (1 if decides else 0)
        lanes[_GIVEN + lane] = 0
        actions = lanes[_ACTIONS + lane]
        lanes[_ACTIONS + lane] = (actions << _ACTION_BITS | action) if decides else actions
        stopped += 1 if waits & (lanes[_STANDS + lane] == 0) else 0
        lanes[_STANDS + lane] = 1 if waits else 0
    return stopped


@compiled
def _choose(lanes, lane, policy, weights, legal, opponents, rules):
    """The move that a lane's policy plays; 0 where none is legal."""
    player = lanes[_PLAYER + lane]
    key = lanes[_DRAWS + lane]
    for other in range(1, players(rules)):
        own_key = lanes[_DRAWS + other * _LANES + lane]
        key = own_key if player == other else key
    move = choose(policy, key, lanes[_DECISIONS + lane], legal, opponents)
    if weights is None:
        return move
    threats = threats_in(lanes, lane, _LANES, player, rules)
    carefully = choose_carefully(legal, lanes[_DIE + lane], opponents, threats, weights)
    return carefully if policy == CAREFUL else move


@compiled
def _noted(own, move, legal, opponents):
    """What a move adds to the word of who played it; 0 for none.

    Args:
        own: The player's board after the move.
        move: The move; 0 for none.
        legal: What was legal; 0 for nothing.
        opponents: Track squares of all opponents before the move.
    """
    captures = legal & opponents
    takes = 1 if move & opponents else 0
    free = 1 if (captures != 0) & (captures != legal) else 0
    near = one_to_six_ahead(opponents & ~move)
    exposed = popcount(own & TRACK & near) if move else 0
    return (
        (1 if move else 0) << _DECISION
        | (1 if legal & (legal - 1) else 0) << _CHOICE
        | takes << _CAPTURE
        | free << _FREE
        | (free & takes) << _FREE_TAKEN
        | exposed << _EXPOSURE
    )


@compiled
def _pass_on(lanes, lane, player, own, noted, captured, stays, rules):
    """Write all boards and notes, the next player's at the front unless the player stays there.

    In place. Each is written once and whole: to write some only where a game needs it is slow.
    """
    own_word = lanes[_NOTED + lane] + noted
    board, word = own, own_word
    for places in range(players(rules)):
        follower, follower_word = own, own_word
        if places + 1 < players(rules):
            follower = lanes[(places + 1) * _LANES + lane]
            square = square_seen_by(player, places + 1, captured, rules)
            lost = 1 if follower & square else 0
            follower &= ~square  # R11
            follower_word = lanes[_NOTED + (places + 1) * _LANES + lane] + (lost << _LOSS)
        lanes[places * _LANES + lane] = board if stays else follower
        lanes[_NOTED + places * _LANES + lane] = word if stays else follower_word
        board, word = follower, follower_word


@compiled
def write_actions(log, rows, counts, actions):
    """Write the first actions of each of the rows, so many, one row's after another's; in place."""
    written = 0
    for k in range(len(rows)):
        own = row_of(log, rows[k])
        for decision in range(counts[k]):
            actions[written + decision] = own[decision]
        written += counts[k]
