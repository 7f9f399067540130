"""Who plays whom, in which seats, by which dice: known before the first game."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from ludo_env.core import checks, loops
from ludo_env.core.checks import Ints
from ludo_env.core.rules import Rules

MAX_GAMES = 100_000_000
MAX_TABLES = 100_000


@dataclass(frozen=True)
class Schedule:
    """The games that some agents play.

    Agents meet at tables, one for every choice of as many agents as there are players. A block is
    ``P`` games of one table in a row, through which its agents move from seat to seat, so that each
    has every seat once; blocks go round the tables. A game's number says all about it.

    Args:
        rules: The rules of all games.
        agents: Number of agents A, at least the players.
        games: Number of games N, a multiple of the players and the tables.
        seed: The seed that all games' seeds follow from.
        common_dice: Whether the games of a block have the same seed, so that each agent plays the
            same dice from every seat; else every game has a seed of its own.

    Raises:
        ValueError: An argument is out of range.
    """

    rules: Rules
    agents: int
    games: int
    seed: int
    common_dice: bool = False

    def __post_init__(self) -> None:
        players = self.rules.num_players
        if self.agents < players:
            raise ValueError(
                f"agents must be {players} at least, one for each player; got {self.agents}"
            )
        games = checks.positive("games", self.games)
        if games > MAX_GAMES:
            raise ValueError(f"games must be at most {MAX_GAMES}, got {games}")
        tables = comb(self.agents, players)
        if tables > MAX_TABLES:
            raise ValueError(f"agents must make at most {MAX_TABLES} tables, got {tables}")
        if games % (players * tables):
            what = "" if tables == 1 else f" at {tables} tables"
            raise ValueError(
                f"games must be a multiple of {players * tables}, for {players} players{what}; "
                f"got {games}"
            )

    @cached_property
    def tables(self) -> Ints:
        """The agents of each table, int64 (T, P)."""
        players = self.rules.num_players
        return np.array(list(combinations(range(self.agents), players)), dtype=np.int64)

    @cached_property
    def _seeds(self) -> Ints:
        """Seeds by block, or by game."""
        count = self.games // self.rules.num_players if self.common_dice else self.games
        seeds = np.empty(count + 1, dtype=np.int64)
        loops.spread_seeds(self.seed, seeds)
        return seeds[1:]

    def seeds(self, games: Ints) -> Ints:
        """Seeds of the games with these numbers (k,), int64 (k,)."""
        return self._seeds[self.blocks(games) if self.common_dice else games]

    def blocks(self, games: Ints) -> Ints:
        """The blocks that the games with these numbers (k,) belong to, int64 (k,)."""
        return games // self.rules.num_players

    def seating(self, games: Ints) -> Ints:
        """Which agent is which player, int64 (k, P): agent ``a`` of a table is ``(a + i) % P``."""
        players = self.rules.num_players
        tables = self.tables[self.blocks(games) % len(self.tables)]
        order = (np.arange(players) - games[:, None]) % players
        return np.take_along_axis(tables, order, axis=1)
