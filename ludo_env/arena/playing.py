"""The playing itself: many games at once, the next dealt where one has ended."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludo_env.agents.base import Agent, ask
from ludo_env.agents.scripted import Scripted
from ludo_env.arena.schedule import Schedule
from ludo_env.core import dice
from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints
from ludo_env.core.noting import NOTES
from ludo_env.core.record import with_forfeits
from ludo_env.core.scripted import FIRST, policy_code
from ludo_env.core.watched import WatchedGames


class Fault(NamedTuple):
    """What an agent did that it must not.

    Attributes:
        game: The game's number.
        agent: The agent's number.
        position: The position's text, the die shown.
        what: What was wrong.
    """

    game: int
    agent: int
    position: str
    what: str


class AgentFaultError(ValueError):
    """An agent has failed, and nobody said that it forfeits the game."""


@dataclass(frozen=True)
class Played:
    """Games that have ended, in any order.

    Attributes:
        games: Their numbers, int64 (k,).
        places: Each player's place (R20), those that forfeited last, int64 (k, P); 0 where a game
            was cut.
        rolls: How often was rolled, int64 (k,).
        notes: What each player did, int64 (k, P, K), see `noting.NOTES`.
        seconds: Each player's thinking time, float64 (k, P), no part of what a game comes to.
        forfeits: The players that forfeited their game, bool (k, P).
        actions: The actions of all decisions of each game, as digits.
        faults: What agents did wrong.
    """

    games: Ints
    places: Ints
    rolls: Ints
    notes: Ints
    seconds: NDArray[np.float64]
    forfeits: NDArray[np.bool_]
    actions: Sequence[str]
    faults: tuple[Fault, ...] = ()

    def __len__(self) -> int:
        return len(self.games)

    @classmethod
    def none(cls, players: int) -> Played:
        """No games of so many players."""
        return cls(
            np.zeros(0, dtype=np.int64),
            np.zeros((0, players), dtype=np.int64),
            np.zeros(0, dtype=np.int64),
            np.zeros((0, players, len(NOTES)), dtype=np.int64),
            np.zeros((0, players)),
            np.zeros((0, players), dtype=np.bool_),
            (),
        )

    @classmethod
    def of(cls, parts: Sequence[Played], players: int) -> Played:
        """All games of the parts, by their numbers, and what was done wrong in them."""
        parts = [cls.none(players), *parts]
        games = np.concatenate([part.games for part in parts])
        actions = [own for part in parts for own in part.actions]
        order = np.argsort(games)
        faults = sorted(
            (fault for part in parts for fault in part.faults), key=lambda fault: fault.game
        )
        return cls(
            games[order],
            np.concatenate([part.places for part in parts])[order],
            np.concatenate([part.rolls for part in parts])[order],
            np.concatenate([part.notes for part in parts])[order],
            np.concatenate([part.seconds for part in parts])[order],
            np.concatenate([part.forfeits for part in parts])[order],
            [actions[k] for k in order.tolist()],
            tuple(faults),
        )


class Hall:
    """Where games are played.

    Args:
        agents: The agents.
        names: Their names.
        schedule: Who plays whom.
        batch_size: Games played at the same time.
        max_rolls: Rolls after which a game is cut; 0 for no limit.
        forfeit: Whether an agent that fails loses that game, which the policy ``first`` plays to
            its end in its place, instead of ending the match.
        max_faults: Faults after which an agent is not asked any more.
    """

    def __init__(
        self,
        agents: Sequence[Agent],
        names: Sequence[str],
        schedule: Schedule,
        *,
        batch_size: int,
        max_rolls: int = 0,
        forfeit: bool = False,
        max_faults: int = 10,
    ) -> None:
        self._agents = agents
        self._names = names
        self._schedule = schedule
        self._batch_size = batch_size
        self._max_rolls = max_rolls
        self._forfeit = forfeit
        self._max_faults = max_faults
        scripted = [agent if isinstance(agent, Scripted) else None for agent in agents]
        self._policies = np.array([-1 if a is None else policy_code(a.policy) for a in scripted])
        self._keys = np.array([0 if a is None else dice.policy_key(a.seed) for a in scripted])
        self._faults_of = np.zeros(len(agents), dtype=np.int64)

    def play(self, numbers: Ints) -> Iterator[Played]:
        """Play the games with these numbers (k,); yields those that have ended, again and again.

        Raises:
            AgentFaultError: An agent has failed, and does not forfeit the game for it.
        """
        size = min(self._batch_size, len(numbers))
        self._games = WatchedGames(size, self._schedule.rules, self._max_rolls)
        self._number = np.zeros(size, dtype=np.int64)
        self._seating = np.zeros((size, self._schedule.rules.num_players), dtype=np.int64)
        self._seconds = np.zeros(self._seating.shape)
        self._lost = np.zeros(self._seating.shape, dtype=np.bool_)
        self._faults: dict[int, list[Fault]] = {}
        free, waiting = np.arange(size), numbers
        while True:
            self._deal(free[: len(waiting)], waiting[: len(free)])
            free, waiting = free[: len(waiting)], waiting[len(free) :]
            over = free[self._games.asked[free] < 0]
            under_way = np.flatnonzero(self._games.asked >= 0)
            if not len(over) and len(under_way):
                over = self._play_round(under_way)
            if len(over):
                yield self._ended(over)
            elif not len(under_way):
                return
            free = over

    def _deal(self, rows: Ints, numbers: Ints) -> None:
        if not len(rows):
            return
        seating = self._schedule.seating(numbers)
        self._number[rows], self._seating[rows] = numbers, seating
        self._seconds[rows], self._lost[rows] = 0.0, False
        gone = self._faults_of >= self._max_faults
        self._lost[rows] = gone[seating]
        policies = np.where(gone, FIRST, self._policies)
        self._games.deal(
            rows, self._schedule.seeds(numbers), policies[seating], self._keys[seating]
        )

    def _play_round(self, rows: Ints) -> Ints:
        """Ask once for each of the rows, all waiting for somebody. Returns those that ended."""
        games = self._games
        shown = games.batch.blind()
        players = games.asked[rows]
        to_act = self._seating[rows, players]
        for number in np.unique(to_act).tolist():
            own = rows[to_act == number]
            began = time.perf_counter()
            actions = self._answers(number, shown, own)
            asked = games.asked[own]
            self._seconds[own, asked] += (time.perf_counter() - began) / len(own)
            answered = actions >= 0
            games.play(own[answered], actions[answered])
            for player in np.unique(asked[~answered]).tolist():
                games.replace(own[~answered & (asked == player)], player, FIRST)
        return rows[games.asked[rows] < 0]

    def _answers(self, number: int, shown: GameBatch, rows: Ints) -> Ints:
        """An agent's actions in the rows (k,); −1 in those that it has forfeited."""
        agent, batch = self._agents[number], self._games.batch
        with suppress(Exception, SystemExit):  # whose game is at fault shows below
            actions = ask(agent, shown, rows)
            if batch.legal(rows, actions).all():
                return actions
        actions = np.full(len(rows), -1)
        for k, row in enumerate(rows.tolist()):
            if self._faults_of[number] >= self._max_faults:
                self._lost[row, self._games.asked[row]] = True
                continue
            try:
                answer = ask(agent, batch.blind(), rows[k : k + 1])
                if not batch.legal(rows[k : k + 1], answer).all():
                    raise batch.illegal(row, answer[0])
                actions[k] = answer[0]
            except (Exception, SystemExit) as error:
                what = str(error) if isinstance(error, ValueError) else repr(error)
                self._note_fault(number, row, what)
        return actions

    def _note_fault(self, number: int, row: int, what: str) -> None:
        game, position = int(self._number[row]), str(self._games.batch.position(row))
        if not self._forfeit:
            raise AgentFaultError(
                f"agent {self._names[number]} failed in game {game} at {position!r}: {what}"
            )
        self._faults_of[number] += 1
        self._lost[row, self._games.asked[row]] = True
        self._faults.setdefault(row, []).append(Fault(game, number, position, what))

    def _ended(self, rows: Ints) -> Played:
        games, lost = self._games, self._lost[rows]
        places = games.batch.places(rows).astype(np.int64)  # 0 where a game was cut
        for k in np.flatnonzero(lost.any(axis=1)).tolist():
            places[k] = with_forfeits(places[k].tolist(), np.flatnonzero(lost[k]).tolist())
        faulty = [row for row in self._faults if row in rows]
        return Played(
            self._number[rows],
            places,
            games.batch.rolls[rows],
            games.notes[rows],
            self._seconds[rows],
            lost,
            games.actions(rows),
            tuple(fault for row in faulty for fault in self._faults.pop(row)),
        )
