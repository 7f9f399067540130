"""The kernels of games with a learner at each: opponents move between its decisions.

Arrays are those of `ludo_env.core.loops`.
"""

from __future__ import annotations

from ludo_env.core import dice
from ludo_env.core.bits import write_bits
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    SEED,
    board_moves,
    choices,
    episode_of,
    is_over,
    opponents_of,
    play,
    player_after,
    player_of,
    players,
    roll_on,
    rolls_of,
)
from ludo_env.core.loops import mask_bits, num_rows, play_action, row_number
from ludo_env.core.observation import write_observation
from ludo_env.core.rows import row_of
from ludo_env.core.scripted import chosen_move

OVER, CUT, ILLEGAL = -1, -2, -3
"""What the kernels answer instead of a player to be asked: the game is over, it was cut off, or
the action was illegal and nothing was played."""

LEARNER, POLICIES_OF = 0, 1
"""Columns of a seating: the learner's player number, and where the players' policies begin."""


@compiled
def settle_decisions(game, script, seats, skip_forced, max_rolls, rules):
    """Play scripted players, and forced moves if asked to, up to a decision of somebody else.

    Args:
        game: int64 (ROW,), at a decision or its end; in place.
        script: int8 (S,), the row's scripted rolls; or None.
        seats: int64 (1 + 2 P,), a row of the seating (see `settle_rows`).
        skip_forced: Whether the only legal move is played for whoever has no other.
        max_rolls: Rolls after which no further decision is reached; 0 for no limit.
        rules: The compiled rules.

    Returns:
        The player to be asked, `OVER` or `CUT`.
    """
    while not is_over(game):
        if 0 < max_rolls <= rolls_of(game):
            return CUT
        player = player_of(game)
        policy = seats[POLICIES_OF + player]
        if policy < 0 and not skip_forced:
            return player
        opponents = opponents_of(game, player, rules)
        legal = choices(board_moves(game, rules), opponents, rules)
        if skip_forced and legal & (legal - 1) == 0:
            move = legal
        elif policy >= 0:
            key = seats[POLICIES_OF + players(rules) + player]
            move = chosen_move(game, policy, key, legal, opponents, rules)
        else:
            return player
        if play(game, move, rules):
            roll_on(game, script, None, rules)
    return OVER


@compiled
def settle_rows(games, rows, scripts, seating, skip_forced, max_rolls, asked, rules):
    """`settle_decisions` in the rows (k,); writes their ``asked``.

    Args:
        games: int64 (B, ROW), at a decision or its end; in place.
        rows: The rows.
        scripts: Their scripted rolls.
        seating: int64 (B, 1 + 2 P), who plays: the learner, every player's scripted policy or −1
            for one who is to be asked, and the keys of the policies' draws.
        skip_forced: See `settle_decisions`.
        max_rolls: See `settle_decisions`.
        asked: int64 (B,), receives the player to be asked, `OVER` or `CUT`.
        rules: The compiled rules.

    Returns:
        How many of the rows do not stand at their learner's decision.
    """
    elsewhere = 0
    for k in range(num_rows(games, rows)):
        row = row_number(rows, k)
        asked[row] = settle_decisions(
            row_of(games, row),
            row_of(scripts, row),
            row_of(seating, row),
            skip_forced,
            max_rolls,
            rules,
        )
        elsewhere += 1 if asked[row] != seating[row, LEARNER] else 0
    return elsewhere


@compiled
def take_turns(games, scripts, actions, seating, skip_forced, max_rolls, asked, rules):
    """Play the learners' actions (B,) and `settle_rows` all games.

    Where an action is illegal nothing is played, and ``asked`` receives `ILLEGAL`.

    Returns:
        How many of the games do not stand at their learner's decision.
    """
    elsewhere = 0
    for row in range(len(games)):
        game = row_of(games, row)
        script = row_of(scripts, row)
        if play_action(game, actions[row], script, None, rules):
            asked[row] = settle_decisions(
                game, script, row_of(seating, row), skip_forced, max_rolls, rules
            )
        else:
            asked[row] = ILLEGAL
        elsewhere += 1 if asked[row] != seating[row, LEARNER] else 0
    return elsewhere


@compiled
def write_views(games, rows, asked, seating, views, masks, rules):
    """What the learners of the rows (k,) see: observations (k, D), and masks (k, 4).

    A mask is all zeros where not the learner is ``asked``, (B,).
    """
    for k in range(num_rows(games, rows)):
        row = row_number(rows, k)
        game = row_of(games, row)
        learner = seating[row, LEARNER]
        write_observation(game, learner, row_of(views, k), rules)
        bits = mask_bits(game, rules) if asked[row] == learner else 0
        write_bits(row_of(masks, k), 0, bits, 4)


@compiled
def draw_learners(games, rows, seating, rules):
    """Draw the learners of the rows from their games' seeds and episodes."""
    for k in range(num_rows(games, rows)):
        row = row_number(rows, k)
        key = dice.policy_key(games[row, SEED])
        seating[row, LEARNER] = dice.below(
            dice.word(key, episode_of(row_of(games, row))), players(rules)
        )


@compiled
def seat_opponents(games, rows, following, seating, rules):
    """Seat the rows' opponents beside their learners, who must be seated.

    Args:
        games: int64 (B, ROW).
        rows: The rows.
        following: int64 (B, P − 1, 2), of the opponents in turn order after the learner: the policy
            or −1, and the policy's own seed or −1 for one that follows from the game's.
        seating: int64 (B, 1 + 2 P), see `settle_rows`; in place.
        rules: The compiled rules.
    """
    for k in range(num_rows(games, rows)):
        row = row_number(rows, k)
        seats = row_of(seating, row)
        seats[POLICIES_OF + seats[LEARNER]] = -1
        for j in range(players(rules) - 1):
            player = player_after(seats[LEARNER], j + 1, rules)
            seed = following[row, j, 1]
            if seed < 0:
                seed = dice.spread_seed(games[row, SEED], player + 1)
            seats[POLICIES_OF + player] = following[row, j, 0]
            seats[POLICIES_OF + players(rules) + player] = dice.policy_key(seed)
