"""Many games played side by side by one scripted policy, for their statistics.

Blocks of games are laid out as lanes, see `ludo_env.core.lanes`; where a lane's game ends, the next
game of its row is dealt into it.
"""

from __future__ import annotations

import numpy as np

from ludo_env.core import dice
from ludo_env.core.bits import popcount
from ludo_env.core.careful import choose_carefully
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    choices,
    clear_script,
    deal,
    decisions_of,
    episode_of,
    is_over,
    movable,
    player_after,
    players,
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
from ludo_env.core.rows import block_of, row_of
from ludo_env.core.scripted import choose, draw_key

TOTALS = (
    "decisions",
    "rolls",
    "captures",
    "finished",
    "whole_games",
    "whole_decisions",
    "whole_rolls",
    "whole_captures",
    "whole_forced",
    "whole_legal_moves",
)
"""Columns of rollout totals; the wins by player follow the last."""
(
    _DECIDED,
    _ROLLED,
    _CAPTURED,
    _FINISHED,
    _WHOLE_GAMES,
    _WHOLE_DECISIONS,
    _WHOLE_ROLLS,
    _WHOLE_CAPTURES,
    _WHOLE_FORCED,
    _WHOLE_LEGAL,
    _WINS,
) = range(len(TOTALS) + 1)

_LANES = 128
# Where each of the quantities begins.
_PLAYER, _DIE, _TRIES, _KEY, _ROLLS, _DECISIONS = (quantity * _LANES for quantity in COMMON)
(
    _DRAWS,  # the key of the policy's draws
    _LEFT,  # decisions still to be played
    _TALLY,
    _WON,  # whether the last roll has won the game
    _WHOLE,  # whether the game stood at its first decision
    _LENGTH,
) = range(OWN * _LANES, (OWN + 6) * _LANES, _LANES)

# A tally is one number: a game's captures, and from these bits on its forced decisions and legal
# moves. No game is long enough to fill a field; a tally of half a game is never read.
_FORCED, _LEGAL = 20, 40
_FIELD = (1 << _FORCED) - 1


@compiled
def rollout_rows(games, scripts, steps, policy, weights, key, totals, rules):
    """Play ``steps`` decisions in each row, ended games starting anew; in place.

    Args:
        games: int64 (B, ROW).
        scripts: int8 (B, S), scripted rolls, 0 where the dice decide; None where there are none.
        steps: Decisions in each row, at least 1.
        policy: Code of the policy that decides for everyone.
        weights: Those of "careful"; None for any other policy.
        key: The key of its draws.
        totals: int64 (len(TOTALS) + P,), is added to. The whole games are those that stood at their
            first decision when the call began, or began in it, and finished in it.
        rules: `CompiledRules`.
    """
    lanes = np.zeros(_LENGTH, dtype=np.int64)
    for first in range(0, len(games), _LANES):
        block = block_of(games, first, first + _LANES)
        own_scripts = block_of(scripts, first, first + _LANES)
        for lane in range(len(block)):
            game = row_of(block, lane)
            if is_over(game):
                _deal_next(game, row_of(own_scripts, lane), rules)
            lanes[_LEFT + lane] = steps
            _take_up(lanes, lane, game, key, rules)
            totals[_ROLLED] -= lanes[_ROLLS + lane]
        moving = len(block)
        while moving > 0:
            moving, won = _roll_once(lanes, len(block), own_scripts, policy, weights, totals, rules)
            if won > 0:
                _end_games(lanes, block, own_scripts, key, totals, rules)
        for lane in range(len(block)):
            totals[_ROLLED] += lanes[_ROLLS + lane]
            put_down(lanes, lane, _LANES, row_of(block, lane), rules)
    totals[_DECIDED] += steps * len(games)


@compiled
def _deal_next(game, script, rules):
    """Deal the row's next game, without scripted dice; in place."""
    deal(game, episode_of(game) + 1, rules)
    clear_script(script)


@compiled
def _take_up(lanes, lane, game, key, rules):
    """Lay a game, at a decision or just dealt, into a lane; in place."""
    take_up(lanes, lane, _LANES, game, rules)
    lanes[_DRAWS + lane] = draw_key(game, key)
    lanes[_WHOLE + lane] = 1 if decisions_of(game) == 0 else 0
    lanes[_TALLY + lane] = 0


@compiled
def _roll_once(lanes, length, scripts, policy, weights, totals, rules):
    """Play the die of each lane, if it allows a move, and roll the next; in place.

    A lane waits once it has no decisions left and is at one, or at its game's end.

    Returns:
        How many lanes go on, and how many games were won.
    """
    moving = won = captures = 0
    for lane in range(length):
        own, die, left = lanes[lane], lanes[_DIE + lane], lanes[_LEFT + lane]
        player, tries = lanes[_PLAYER + lane], lanes[_TRIES + lane]
        opponents = opponents_in(lanes, lane, _LANES, player, rules)
        moves = movable(own, die, rules)
        legal = choices(moves, opponents, rules) if left > 0 else 0
        move = _decide(lanes, lane, policy, weights, legal, opponents, rules)
        own ^= move | source_of(move, die)
        captured = move & opponents

        decides = move != 0
        waits = (left == 0) & ((moves != 0) | (die == 0))
        wins, rolls_on, tries_again, stays = what_follows(own, move, die, tries, waits, rules)
        _pass_on(lanes, lane, player, own, captured, stays, rules)
        lanes[_PLAYER + lane] = player if stays else player_after(player, 1, rules)
        lanes[_TRIES + lane] = tries_left(lanes[lane], tries, tries_again, rolls_on, rules)
        next_die = _next_die(lanes, lane, scripts)
        lanes[_DIE + lane] = next_die if rolls_on else (0 if wins else die)
        lanes[_ROLLS + lane] += 1 if rolls_on else 0
        lanes[_DECISIONS + lane] += 1 if decides else 0
        lanes[_LEFT + lane] = left - (1 if decides else 0)
        lanes[_TALLY + lane] += _tally(legal, captured)
        lanes[_WON + lane] = 1 if wins else 0
        captures += 1 if captured != 0 else 0
        moving += 0 if waits else 1
        won += 1 if wins else 0
    totals[_CAPTURED] += captures
    return moving, won


@compiled
def _decide(lanes, lane, policy, weights, legal, opponents, rules):
    if weights is None:
        return choose(policy, lanes[_DRAWS + lane], lanes[_DECISIONS + lane], legal, opponents)
    threats = threats_in(lanes, lane, _LANES, lanes[_PLAYER + lane], rules)
    return choose_carefully(legal, lanes[_DIE + lane], opponents, threats, weights)


@compiled
def _pass_on(lanes, lane, player, own, captured, stays, rules):
    """Write all boards, the next player's at the front unless the player stays there; in place.

    Each is written once and whole: to write some boards only where a game needs it is slow.
    """
    board = own
    for places in range(players(rules)):
        follower = own
        if places + 1 < players(rules):
            square = square_seen_by(player, places + 1, captured, rules)  # R11
            follower = lanes[(places + 1) * _LANES + lane] & ~square
        lanes[places * _LANES + lane] = board if stays else follower
        board = follower


@compiled
def _next_die(lanes, lane, scripts):
    rolls = lanes[_ROLLS + lane]
    if scripts is not None and rolls < scripts.shape[1] and scripts[lane, rolls] > 0:
        return np.int64(scripts[lane, rolls])
    return dice.roll(lanes[_KEY + lane], rolls)


@compiled
def _tally(legal, captured):
    """What a decision adds to a game's tally; 0 for none."""
    is_forced = 1 if popcount(legal) == 1 else 0
    is_capture = 1 if captured != 0 else 0
    return is_capture | is_forced << _FORCED | popcount(legal) << _LEGAL


@compiled
def _end_games(lanes, games, scripts, key, totals, rules):
    """Count the games that were just won, and deal the next where decisions are left; in place."""
    for lane in range(len(games)):
        if lanes[_WON + lane] == 0:
            continue
        _count(lanes, lane, totals)
        if lanes[_LEFT + lane] > 0:
            game = row_of(games, lane)
            totals[_ROLLED] += lanes[_ROLLS + lane]
            _deal_next(game, row_of(scripts, lane), rules)
            _take_up(lanes, lane, game, key, rules)


@compiled
def _count(lanes, lane, totals):
    """Add a game that was just won to the totals; in place."""
    totals[_FINISHED] += 1
    totals[_WINS + lanes[_PLAYER + lane]] += 1
    if lanes[_WHOLE + lane]:
        totals[_WHOLE_GAMES] += 1
        totals[_WHOLE_DECISIONS] += lanes[_DECISIONS + lane]
        totals[_WHOLE_ROLLS] += lanes[_ROLLS + lane]
        totals[_WHOLE_CAPTURES] += lanes[_TALLY + lane] & _FIELD
        totals[_WHOLE_FORCED] += lanes[_TALLY + lane] >> _FORCED & _FIELD
        totals[_WHOLE_LEGAL] += lanes[_TALLY + lane] >> _LEGAL
