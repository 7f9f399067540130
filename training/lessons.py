"""Self-play that teaches: positions before a roll, each with the chances it should have had.

At every position that a game passes through, the network's own evaluation V is compared with what
looking one roll ahead makes of it, V'. The difference V' − V is an error in which no luck of the
dice has part. A position's target is its V plus the errors from there on, each weighted by λ for
every step that it lies ahead: TD(λ) without the dice's noise. As λ goes to 1 the target becomes the
game's outcome with the luck subtracted, as rollouts in backgammon are made to vary less.

Sources: R. Sutton, "Learning to predict by the methods of temporal differences", Machine Learning 3
(1988); G. Tesauro, "Temporal difference learning and TD-Gammon", Communications of the ACM 38
(1995); J. Veness, M. Lanctot, M. Bowling, "Variance reduction in Monte-Carlo tree search", NIPS
(2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core import dice, lookahead
from ludo_env.core import network as net
from ludo_env.core.checks import Ints
from ludo_env.core.dice import policy_key
from ludo_env.core.features import MOST_FEATURES, write_features
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    COUNTS,
    KEY,
    ROW,
    SEED,
    allowed_tries,
    clear,
    corner_of,
    deal,
    episode_of,
    legal_moves,
    movable,
    play,
    player_after,
    player_of,
    players,
    rolls_of,
    set_turn,
)
from ludo_env.core.loops import spread_seeds
from ludo_env.core.network import Arrays
from ludo_env.core.rows import row_of
from ludo_env.core.rules import MAX_PLAYERS, Rules
from ludo_env.core.scripted import pick
from ludo_env.core.threads import Threads

_ONE_LEVEL = (0,)
_LOW_32 = (1 << 32) - 1
_NANOSECONDS = 10_000.0  # about what a position takes

# What a step came to: the best move, a move that explores or ends the game, or no move.
_BEST, _APART, _PASSED = range(3)


@dataclass(frozen=True)
class Lessons:
    """Positions and what they should be evaluated as.

    Attributes:
        features: int16 (N, MOST_FEATURES), the numbers of a position's features.
        counts: int64 (N,), how many of these each has.
        targets: float32 (N, 4), chances by corner from the roller's own; −1 where nobody plays.
        error: The mean of |V' − V|.
    """

    features: NDArray[np.int16]
    counts: Ints
    targets: NDArray[np.float32]
    error: float


class SelfPlay:
    """Games under the same rules that a network plays against itself.

    Args:
        rules: The rules.
        games: Games played at the same time, B.
        seed: Their seed, and that of exploring.
        threads: Threads that share them; results do not depend on it.
    """

    def __init__(self, rules: Rules, games: int, seed: int, threads: int = 1) -> None:
        self.rules = rules
        self._key = policy_key(seed)
        self._threads = Threads(threads)
        self.rows = np.zeros((games, ROW), dtype=np.int64)
        seeds = np.empty(games, dtype=np.int64)
        spread_seeds(seed, seeds)
        deal_rows(self.rows, seeds, rules.compiled)

    def teach(self, network: Arrays, steps: int, trace: float, exploring: float) -> Lessons:
        """Play all games on.

        Args:
            network: What evaluates positions.
            steps: Positions of each game, T.
            trace: λ, from 0 to 1.
            exploring: The chance that a move is drawn from the legal ones instead.

        Returns:
            T × B lessons.
        """
        rules, games = self.rules.compiled, len(self.rows)
        features = np.zeros((games, steps, MOST_FEATURES), dtype=np.int16)
        counts = np.zeros((games, steps), dtype=np.int64)
        targets = np.empty((games, steps, MAX_PLAYERS), dtype=np.float32)

        def teach_part(part: slice) -> float:
            notes = _notes(len(self.rows[part]), steps, self.rules.num_players)
            own = (features[part], counts[part], *notes)
            play_rows(self.rows[part], network, exploring, self._key, own, rules)
            write_targets(notes, trace, targets[part], rules)
            return float(np.abs(notes[1] - notes[0]).sum())

        errors = self._threads.run(teach_part, games, steps * _NANOSECONDS)
        return Lessons(
            features.reshape(-1, MOST_FEATURES),
            counts.reshape(-1),
            targets.reshape(-1, MAX_PLAYERS),
            sum(errors) / (games * steps * self.rules.num_players),
        )


def _notes(games: int, steps: int, num_players: int) -> tuple[Any, ...]:
    """Memory for V and V' (B, T, P), who is to roll and what the step came to (B, T)."""
    shape = (games, steps)
    return (
        np.empty((*shape, num_players)),
        np.empty((*shape, num_players)),
        np.empty(shape, dtype=np.int64),
        np.empty(shape, dtype=np.int64),
    )


@compiled
def deal_rows(games, seeds, rules):
    """Deal the first game of each seed, before its first roll; in place."""
    for row in range(len(games)):
        games[row, SEED] = seeds[row]
        deal(row_of(games, row), 0, rules)


@compiled
def play_rows(games, network, exploring, key, notes, rules):
    """Play each game on and note all positions on the way; in place.

    Args:
        games: int64 (B, ROW), before a roll.
        network: The network's arrays.
        exploring: The chance that a move is drawn from the legal ones.
        key: The key of these draws.
        notes: Features (B, T, MOST_FEATURES), their counts (B, T), V and V' (B, T, P), who is to
            roll and what the step came to (B, T).
        rules: `CompiledRules`.
    """
    features, counts, values, backups, rollers, steps_came_to = notes
    memory = lookahead.scratch(_ONE_LEVEL, network, rules)
    written = np.empty(MOST_FEATURES, dtype=np.int64)
    chances = np.empty(players(rules), dtype=np.float64)
    for row in range(len(games)):
        game = row_of(games, row)
        came_to = _APART
        for step in range(features.shape[1]):
            counts[row, step] = write_features(game, written, rules)
            for k in range(counts[row, step]):
                features[row, step, k] = written[k]
            rollers[row, step] = player_of(game)
            if came_to != _BEST:  # else deciding has evaluated it
                net.evaluate(game, network, memory[2], chances, rules)
            lookahead.copy(chances, row_of(row_of(values, row), step))
            backup = row_of(row_of(backups, row), step)
            lookahead.look(game, _ONE_LEVEL, network, memory, backup, rules)
            came_to = _move_on(game, network, memory, exploring, key, chances, rules)
            steps_came_to[row, step] = came_to


@compiled
def _move_on(game, network, memory, exploring, key, chances, rules):
    """Roll and play up to before the next roll; a game that ends is followed by the next.

    Writes what is expected after the best move into ``chances``. Returns what the step came to.
    """
    if not roll_or_pass(game, rules):
        return _PASSED
    best = lookahead.decide(game, _ONE_LEVEL, network, memory, chances, rules)
    move = best
    word = dice.word(game[KEY] ^ key, rolls_of(game))
    if word & _LOW_32 < exploring * (1 << 32):
        move = pick(legal_moves(game, rules), dice.mix(word))
    if play(game, move, rules):
        return _BEST if move == best else _APART
    deal(game, episode_of(game) + 1, rules)
    return _APART


@compiled
def roll_or_pass(game, rules):
    """Roll for the player whose turn it is, or pass. Returns whether there is a move."""
    die = _roll(game, rules)
    player = player_of(game)
    set_turn(game, player if die > 0 else player_after(player, 1, rules), die)
    return die > 0


@compiled
def _roll(game, rules):
    """Roll as often as the player may until there is a move (R9). Returns the die, 0 for none."""
    own = game[player_of(game)]
    for _ in range(allowed_tries(own, rules)):
        die = dice.roll(game[KEY], rolls_of(game))
        game[COUNTS] += 1
        if movable(own, die, rules):
            return die
    return 0


@compiled
def write_targets(notes, trace, targets, rules):
    """Write the targets by corner, float32 (B, T, 4); in place. Errors stop where a game is left.

    Args:
        notes: V and V' (B, T, P), who is to roll and what the step came to (B, T).
        trace: λ.
        targets: Is written; −1 where nobody plays.
        rules: `CompiledRules`.
    """
    values, backups, rollers, steps_came_to = notes
    rows, steps = rollers.shape
    ahead = np.empty(players(rules), dtype=np.float64)
    for row in range(rows):
        clear(ahead)
        for step in range(steps - 1, -1, -1):
            kept = 0.0 if steps_came_to[row, step] == _APART else trace
            value, backup = row_of(row_of(values, row), step), row_of(row_of(backups, row), step)
            for player in range(players(rules)):
                ahead[player] = (backup[player] - value[player]) + kept * ahead[player]
            target = row_of(row_of(targets, row), step)
            _write_target(value, ahead, rollers[row, step], target, rules)


@compiled
def _write_target(value, ahead, roller, target, rules):
    """Chances that are corrected by the errors ahead, from 0 to 1 and with sum 1; in place."""
    total = 0.0
    for player in range(players(rules)):
        total += min(max(value[player] + ahead[player], 0.0), 1.0)
    for corner in range(len(target)):
        target[corner] = -1.0
    for places in range(players(rules)):
        player = player_after(roller, places, rules)
        corner = corner_of(roller, places, rules)
        target[corner] = min(max(value[player] + ahead[player], 0.0), 1.0) / total
