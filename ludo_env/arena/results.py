"""What a match came to, game by game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.arena.playing import Fault, Played
from ludo_env.arena.schedule import Schedule
from ludo_env.arena.stats import Interval, block_means, confidence_sequence
from ludo_env.core.checks import Ints
from ludo_env.core.noting import NOTES
from ludo_env.core.record import Record, rolled
from ludo_env.core.rules import Rules


@dataclass(frozen=True)
class Results:
    """The games of a match that have been played, in the order of their numbers.

    Attributes:
        schedule: Who was to play whom.
        names: The agents' names, told apart where they are the same.
        games: The games' numbers, int64 (N,); all of the schedule's if the match is complete.
        seeds: Their seeds, int64 (N,).
        seating: Which agent was which player, int64 (N, P).
        places: The players' places (R20), int64 (N, P); 0 where a game was cut.
        rolls: How often was rolled, int64 (N,).
        notes: What the players did, int64 (N, P, K), see `ludo_env.core.noting.NOTES`.
        seconds: The players' thinking time, float64 (N, P); 0 for scripted agents.
        forfeits: Who forfeited, bool (N, P).
        actions: The actions of all decisions of each game, as digits.
        faults: What agents did wrong.
        until: The half width at which the first agent's interval ended the match; None where all
            games were to be played.
    """

    schedule: Schedule
    names: tuple[str, ...]
    games: Ints
    seeds: Ints
    seating: Ints
    places: Ints
    rolls: Ints
    notes: Ints
    seconds: NDArray[np.float64]
    forfeits: NDArray[np.bool_]
    actions: tuple[str, ...]
    faults: tuple[Fault, ...]
    until: float | None = None

    @classmethod
    def of(
        cls,
        schedule: Schedule,
        names: Sequence[str],
        played: Sequence[Played],
        until: float | None = None,
    ) -> Results:
        """The results of games in any order."""
        ended = Played.of(played, schedule.rules.num_players)
        return cls(
            schedule,
            tuple(names),
            ended.games,
            schedule.seeds(ended.games),
            schedule.seating(ended.games),
            ended.places,
            ended.rolls,
            ended.notes,
            ended.seconds,
            ended.forfeits,
            tuple(ended.actions),
            ended.faults,
            until,
        )

    def __len__(self) -> int:
        return len(self.games)

    @property
    def rules(self) -> Rules:
        """The rules of all games."""
        return self.schedule.rules

    @property
    def seed(self) -> int:
        """The seed that all games' seeds follow from."""
        return self.schedule.seed

    @property
    def is_complete(self) -> bool:
        """Whether all games have been played."""
        return len(self) == self.schedule.games

    @property
    def blocks(self) -> Ints:
        """Which games belong together, int64 (N,), see `Schedule`."""
        return self.schedule.blocks(self.games)

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Which games were played to their end, bool (N,)."""
        return self.places[:, 0] > 0

    def win_sequence(self, agent: int) -> Interval:
        """The interval of an agent's win rate that holds whenever one looks, by blocks of games.

        See `ludo_env.arena.stats.confidence_sequence`.
        """
        rows, players = self.seats_of(agent)
        wins = self.places[rows, players] == 1
        if not len(wins):
            return Interval(0.0, 1.0)
        lows, highs = confidence_sequence(block_means(wins, self.blocks[rows]))
        return Interval(float(lows[-1]), float(highs[-1]))

    def seats_of(self, agent: int) -> tuple[Ints, Ints]:
        """The rows of an agent's games (k,), and which player it was (k,)."""
        rows, players = np.nonzero(self.seating == agent)
        return rows, players

    def places_of(self, agent: int) -> Ints:
        """An agent's places in its games, int64 (k,); 0 where a game was cut."""
        return self.places[self.seats_of(agent)]

    def win_rate(self, agent: int) -> float:
        """The share of its games that an agent has won."""
        return float((self.places_of(agent) == 1).mean())

    def record(self, row: int) -> Record:
        """The record of a game, by its row, from 0."""
        own = self.seating[row].tolist()
        seed, places = int(self.seeds[row]), tuple(self.places[row].tolist())
        return Record(
            self.rules,
            tuple(self.names[agent] for agent in own),
            rolled(seed, 0, int(self.rolls[row])),
            self.actions[row],
            places,
            seed,
            forfeits=tuple(np.flatnonzero(self.forfeits[row]).tolist()),
        )

    def rows(self) -> list[dict[str, Any]]:
        """A row for each player of each game, as plain values."""
        return [
            {
                "game": int(self.games[row]),
                "seed": int(self.seeds[row]),
                "agent": self.names[self.seating[row, player]],
                "player": player,
                "place": int(self.places[row, player]),
                "won": bool(self.places[row, player] == 1),
                "finished": bool(self.finished[row]),
                "forfeited": bool(self.forfeits[row, player]),
                "rolls": int(self.rolls[row]),
                **dict(zip(NOTES, self.notes[row, player].tolist(), strict=True)),
                "seconds": float(self.seconds[row, player]),
            }
            for row in range(len(self))
            for player in range(self.rules.num_players)
        ]

    def frame(self) -> Any:
        """`rows` as a pandas DataFrame.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError as error:
            raise ImportError("Results.frame needs pandas: pip install pandas") from error
        return pandas.DataFrame(self.rows())
