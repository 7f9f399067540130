"""Who plays the games of a batch: in each a learner, and opponents, scripted or to be asked."""

from __future__ import annotations

import numpy as np

from ludo_env.core import turns
from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints
from ludo_env.core.observation import OBSERVATION_LENGTH
from ludo_env.core.results import Int8s
from ludo_env.core.rules import MAX_PAWNS


class Seating:
    """The seats of a batch's games, and how these go on to their learners' decisions.

    Scripted players move in compiled code. Everything drawn follows from a game's seed and episode.

    Args:
        batch: The games, in place.
        skip_forced: Whether decisions with one legal move are played through.

    Attributes:
        seats: int64 (B, 1 + 2 P), see `turns.settle_rows`.
        asked: int64 (B,), the player to be asked in each game; `turns.OVER` or `turns.CUT` where
            nobody is, `turns.ILLEGAL` where the learner's last action was.
    """

    def __init__(self, batch: GameBatch, *, skip_forced: bool) -> None:
        opponents = batch.rules.num_players - 1
        self._batch = batch
        self._skip_forced = skip_forced
        self.seats = np.zeros((len(batch), 3 + 2 * opponents), dtype=np.int64)
        self._following = np.zeros((len(batch), opponents, 2), dtype=np.int64)
        self.asked = np.zeros(len(batch), dtype=np.int64)

    @property
    def learners(self) -> Ints:
        """Each learner's player number, int64 (B,); a view."""
        return self.seats[:, turns.LEARNER]

    def follow(self, policies: Ints, seeds: Ints) -> None:
        """Choose the opponents of each game's next deal.

        Args:
            policies: int64 (B, P − 1), in turn order after the learner: the code of a scripted
                policy, or −1 for one who is to be asked.
            seeds: int64 (B, P − 1), the policies' own seeds; −1 for draws that follow from the
                game's seed.
        """
        self._following = np.stack([policies, seeds], axis=2)

    def seat(self, rows: Ints | None, learner: int | None) -> None:
        """Seat the players of the rows' games (None for all).

        Args:
            rows: int64 (k,).
            learner: The learner's player number; None to draw it for each game.
        """
        games, rules = self._batch._games, self._batch.rules.compiled
        if learner is None:
            turns.draw_learners(games, rows, self.seats, rules)
        else:
            self.seats[:, turns.LEARNER] = learner
        turns.seat_opponents(games, rows, self._following, self.seats, rules)

    def settle(self, rows: Ints | None, max_rolls: int) -> int:
        """Play on to where somebody is to be asked, in the rows (None for all); in place.

        Args:
            rows: int64 (k,).
            max_rolls: Rolls after which a game is cut; 0 for no limit.

        Returns:
            How many of these games do not stand at their learner's decision.
        """
        batch = self._batch
        return turns.settle_rows(
            batch._games,
            rows,
            batch._scripts,
            self.seats,
            self._skip_forced,
            max_rolls,
            self.asked,
            batch.rules.compiled,
        )

    def take_turns(self, actions: Ints, max_rolls: int) -> int:
        """Play the learners' actions (B,) and `settle` all games; an illegal one plays nothing."""
        batch = self._batch
        return turns.take_turns(
            batch._games,
            batch._scripts,
            actions,
            self.seats,
            self._skip_forced,
            max_rolls,
            self.asked,
            batch.rules.compiled,
        )

    def views(self, rows: Ints | None = None) -> tuple[Int8s, Int8s]:
        """What the learners of the rows (None for all) see: observations (k, D), masks (k, 4).

        A mask is all zeros where the learner is not asked.
        """
        batch = self._batch
        length = len(batch) if rows is None else len(rows)
        views = np.empty((length, OBSERVATION_LENGTH), dtype=np.int8)
        masks = np.empty((length, MAX_PAWNS), dtype=np.int8)
        rules = batch.rules.compiled
        turns.write_views(batch._games, rows, self.asked, self.seats, views, masks, rules)
        return views, masks
