"""Whole games of the careful agent with any weights, in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env import arena
from ludo_env.agents.base import make_agent
from ludo_env.agents.expectimax import Expectimax
from ludo_env.core.careful import NUM_VALUES, choose_carefully, value_of
from ludo_env.core.checks import Ints
from ludo_env.core.dice import policy_key
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    ROW,
    SEED,
    deal,
    decisions_of,
    die_of,
    is_over,
    legal_moves,
    opponents_of,
    play,
    player_of,
    players,
    roll_on,
)
from ludo_env.core.loops import spread_seeds
from ludo_env.core.reach import threats_to
from ludo_env.core.rows import row_of
from ludo_env.core.rules import Rules
from ludo_env.core.scripted import chosen_move, policy_code

Weights = tuple[int, ...]
Values = tuple[float, ...]

# Values that count one thing each.
_ONE_OF_EACH = tuple(tuple(float(i == k) for i in range(NUM_VALUES)) for k in range(NUM_VALUES))


def win_rate(weights: Weights, against: str, games: int, rules: Rules, seed: int) -> float:
    """How often the weights win, their seat going round, against a scripted agent elsewhere.

    Args:
        weights: See `ludo_env.core.careful_weights`.
        against: The agent in all other seats.
        games: How many games, each with dice of its own.
        rules: The rules.
        seed: The seed of all dice; the same seed gives all weights the same dice.
    """
    code, key = policy_code(against), policy_key(seed)
    return play_all(_seeded(games, seed), weights, code, key, rules.compiled) / games


class FixedValues:
    """An evaluation by given values, whatever the number of players.

    Args:
        values: See `ludo_env.core.careful_weights`.
    """

    def __init__(self, values: Values) -> None:
        self._values = values

    def leaf(self, num_players: int) -> Values:
        """See `ludo_env.agents.chances.Evaluation`."""
        return self._values


def value_win_rate(values: Values, against: str, games: int, rules: Rules, seed: int) -> float:
    """How often the values win at depth 1, their seat going round.

    Args:
        values: See `ludo_env.core.careful_weights`.
        against: See `win_rate`.
        games: See `win_rate`.
        rules: See `win_rate`.
        seed: See `win_rate`.
    """
    others = [make_agent(against, seed=i) for i in range(1, rules.num_players)]
    agents = [Expectimax(1, FixedValues(values), "values"), *others]
    return arena.play(agents, games=games, rules=rules, seed=seed).win_rate(0)


def counts_and_winners(
    weights: Weights, games: int, rules: Rules, seed: int, every: int = 24
) -> tuple[NDArray[np.float64], Ints]:
    """Positions of games between the weights, and who went on to win.

    Args:
        weights: See `ludo_env.core.careful_weights`.
        games: How many games.
        rules: The rules.
        seed: The seed of all dice.
        every: Decisions from one position of a game to the next.

    Returns:
        What each player has of what an evaluation counts, (N, P, K), and the winners (N,).
    """
    found, winners = [], []
    room = np.zeros((1024, rules.num_players, NUM_VALUES))
    for game in _seeded(games, seed):
        count, winner = note_counts(game, weights, _ONE_OF_EACH, every, room, rules.compiled)
        found.append(room[:count].copy())
        winners.append(np.full(count, winner))
    return np.concatenate(found), np.concatenate(winners)


def fitted_scale(worths: NDArray[np.float64], winners: Ints) -> float:
    """The scale under which the winners are likeliest, chances being as the exponentials of worths.

    The logarithm of the likelihood is concave in the scale: Newton's method finds its top.

    Args:
        worths: What players have, (N, P).
        winners: Who won, (N,).
    """
    scale = 0.0
    own = float(worths[np.arange(len(winners)), winners].mean())
    for _ in range(50):
        chances = _softmax(scale * worths)
        means = (chances * worths).sum(axis=1)
        slope = own - float(means.mean())
        bend = float(((chances * worths**2).sum(axis=1) - means**2).mean())
        scale += slope / max(bend, 1e-12)
    return scale


def _softmax(values: NDArray[Any]) -> NDArray[Any]:
    weights = np.exp(values - values.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def _seeded(games: int, seed: int) -> Ints:
    rows, seeds = np.zeros((games, ROW), dtype=np.int64), np.empty(games, dtype=np.int64)
    spread_seeds(seed, seeds)
    rows[:, SEED] = seeds
    return rows


@compiled
def play_all(games, weights, rival, key, rules):
    """Play the first game of each row; the weights play seat ``row % P``. Returns their wins."""
    wins = 0
    for row in range(len(games)):
        game, seat = row_of(games, row), row % players(rules)
        deal(game, 0, rules)
        roll_on(game, None, None, rules)
        while not is_over(game):
            if player_of(game) == seat:
                move = careful_move(game, weights, rules)
            else:
                opponents = opponents_of(game, player_of(game), rules)
                legal = legal_moves(game, rules)
                move = chosen_move(game, rival, key, legal, opponents, rules)
            if play(game, move, rules):
                roll_on(game, None, None, rules)
        wins += 1 if player_of(game) == seat else 0
    return wins


@compiled
def note_counts(game, weights, one_of_each, every, counts, rules):
    """Play a game between the weights; note what players have before a roll now and then.

    Returns:
        How many positions are noted in ``counts`` (M, P, K), in place, and the winner.
    """
    noted = 0
    deal(game, 0, rules)
    roll_on(game, None, None, rules)
    while not is_over(game):
        if play(game, careful_move(game, weights, rules), rules):
            if decisions_of(game) % every == 0 and noted < len(counts):
                for player in range(players(rules)):
                    for k in range(len(one_of_each)):
                        counts[noted, player, k] = value_of(game, player, one_of_each[k], rules)
                noted += 1
            roll_on(game, None, None, rules)
    return noted, player_of(game)


@compiled
def careful_move(game, weights, rules):
    """What the weights play."""
    player = player_of(game)
    opponents, threats = opponents_of(game, player, rules), threats_to(game, player, rules)
    return choose_carefully(legal_moves(game, rules), die_of(game), opponents, threats, weights)
