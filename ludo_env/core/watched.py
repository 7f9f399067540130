"""Games that are watched: who plays, what all players do, and every action."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ludo_env.core import noting
from ludo_env.core.batch import GameBatch
from ludo_env.core.careful_weights import WEIGHTS
from ludo_env.core.checks import Ints
from ludo_env.core.rules import Rules
from ludo_env.core.scripted import CAREFUL

_LOG = 512  # decisions that there is room for at first


class WatchedGames:
    """The games of a batch in which scripted players move in compiled code and others are asked.

    Args:
        num_games: Number of rows B.
        rules: The rules of all games.
        max_rolls: Rolls after which a game is cut; 0 for no limit.

    Attributes:
        batch: The games; none is dealt at first.
        asked: int64 (B,), the player to be asked in each row, `noting.OVER` or `noting.CUT`.
        notes: int64 (B, P, K), what each player has done in its game, see `noting.NOTES`.
    """

    def __init__(self, num_games: int, rules: Rules, max_rolls: int = 0) -> None:
        players = rules.num_players
        self.batch = GameBatch(num_games, rules, seed=0)
        self.asked = np.full(num_games, noting.OVER, dtype=np.int64)
        self.notes = np.zeros((num_games, players, len(noting.NOTES)), dtype=np.int64)
        self._max_rolls = max_rolls
        self._seats = np.zeros((num_games, 2 * players), dtype=np.int64)
        self._log = np.zeros((num_games, _LOG), dtype=np.uint8)

    def deal(self, rows: Ints, seeds: Ints, policies: Ints, keys: Ints) -> None:
        """Deal the first games of some seeds, and play on to where somebody is to be asked.

        Args:
            rows: int64 (k,), different row numbers.
            seeds: int64 (k,).
            policies: int64 (k, P), the players' scripted policies; −1 for those to be asked.
            keys: int64 (k, P), of the policies' draws.
        """
        self.batch.reset(rows, seeds)
        self.notes[rows] = 0
        rules = self.batch.rules.compiled
        noting.seat_rows(self.batch._games, rows, policies, keys, self._seats, rules)
        self._play_on(rows)

    def play(self, rows: Ints, actions: Ints) -> None:
        """Play legal actions (k,) of who was asked in the rows (k,), and on to the next to ask."""
        self._play_on(rows, actions)

    def replace(self, rows: Ints, player: int, policy: int) -> None:
        """Let a scripted policy go on in a player's place, and play on; in place."""
        self._seats[rows, player] = policy
        self._play_on(rows)

    def _play_on(self, rows: Ints, actions: Ints | None = None) -> None:
        rules = self.batch.rules
        is_careful = (self._seats[rows, : rules.num_players] == CAREFUL).any()
        noting.play_on(
            self.batch._games,
            rows,
            actions,
            self._seats,
            WEIGHTS[rules.num_players - 2] if is_careful else None,
            self.notes,
            self._log,
            self._max_rolls,
            self.asked,
            rules.compiled,
        )
        full = rows[self.asked[rows] == noting.FULL]
        if len(full):
            self._log = np.concatenate([self._log, np.zeros_like(self._log)], axis=1)
            self._play_on(full)

    def actions(self, rows: Ints) -> list[str]:
        """Every action of the rows' games so far, as digits."""
        counts = self.notes[rows, :, noting.DECISIONS].sum(axis=1)
        written = np.empty(counts.sum(), dtype=np.uint8)
        noting.write_actions(self._log, rows, counts, written)
        text, ends = written.tobytes().decode(), counts.cumsum().tolist()
        return [text[first:last] for first, last in pairwise([0, *ends])]
