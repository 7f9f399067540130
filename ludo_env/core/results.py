"""What a `GameBatch` returns besides plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludo_env.core import loops
from ludo_env.core.checks import Ints
from ludo_env.core.kernels import ROW
from ludo_env.core.observation import OBSERVATION_LENGTH
from ludo_env.core.rules import Rules

Int8s = NDArray[np.int8]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class RolloutStats:
    """What `GameBatch.rollout` counted.

    The ``whole_…`` sums are over the games that stood at their first decision when the call began,
    or began in it, and finished in it; means per game come from these alone.

    Attributes:
        decisions: Decisions played.
        rolls: Rolls made, tries included.
        captures: Pawns sent to their yards.
        finished: Games that ended.
        wins: Games won by each player, in player order.
        whole_games: Number of whole games.
        whole_decisions: Their decisions.
        whole_rolls: Their rolls.
        whole_captures: Their captures.
        whole_forced: Their decisions with one legal move.
        whole_legal_moves: Their legal moves, summed over all decisions.
    """

    decisions: int
    rolls: int
    captures: int
    finished: int
    wins: tuple[int, ...]
    whole_games: int
    whole_decisions: int
    whole_rolls: int
    whole_captures: int
    whole_forced: int
    whole_legal_moves: int


class Afterstates:
    """What each action of ``k`` rows leads to, before the next roll; a new set of arrays.

    Attributes:
        pawns: int8 (k, 4, P, n), each player's progresses, most advanced first.
        player: int8 (k, 4), who rolls next (the mover again after a 6); −1 where the move wins.
        winner: int8 (k, 4), −1 where the game goes on.
        legal: bool (k, 4). All else is 0 where an action is illegal.
    """

    def __init__(self, games: NDArray[np.int64], rows: Ints | None, rules: Rules) -> None:
        k = len(games) if rows is None else len(rows)
        self._rules = rules
        self._games = np.zeros((k, 4, ROW), dtype=np.int64)
        self.player: Int8s = np.zeros((k, 4), dtype=np.int8)
        self.winner: Int8s = np.zeros((k, 4), dtype=np.int8)
        self.legal: Bools = np.zeros((k, 4), dtype=np.bool_)
        loops.write_afterstates(
            games, rows, self._games, self.player, self.winner, self.legal, rules.compiled
        )
        self.pawns: Int8s = np.zeros((k * 4, rules.num_players, rules.num_pawns), dtype=np.int8)
        legal_rows = np.flatnonzero(self.legal)
        flat = self._games.reshape(-1, ROW)
        self.pawns[legal_rows] = read_pawns(flat, legal_rows, rules)
        self.pawns = self.pawns.reshape(k, 4, rules.num_players, rules.num_pawns)

    @property
    def boards(self) -> NDArray[np.int64]:
        """Each player's board as kernels hold it, int64 (k, 4, P); zeros where illegal."""
        return self._games[:, :, : self._rules.num_players]

    def observations(self) -> Int8s:
        """What the player next to roll sees: int8 (k, 4, D); zeros where illegal or won."""
        observers = np.where(self.legal, self.player, -1).astype(np.int64).reshape(-1)
        views = np.empty((len(observers), OBSERVATION_LENGTH), dtype=np.int8)
        flat = self._games.reshape(-1, ROW)
        loops.write_observations(flat, None, observers, views, self._rules.compiled)
        return views.reshape(*self.legal.shape, OBSERVATION_LENGTH)


def read_pawns(games: NDArray[np.int64], rows: Ints, rules: Rules) -> Int8s:
    """Each player's progresses, most advanced first, int8 (k, P, n), a new array."""
    pawns = np.empty((len(rows), rules.num_players, rules.num_pawns), dtype=np.int8)
    loops.write_all_pawns(games, rows, pawns, rules.compiled)
    return pawns
