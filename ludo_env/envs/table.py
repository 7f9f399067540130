"""Games with a learner at each and opponents inside: what the Gymnasium environments share."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.agents.base import Agent, ask, make_agent
from ludo_env.agents.scripted import Scripted
from ludo_env.core import loops
from ludo_env.core.batch import Bools, GameBatch, IllegalMoveError, Int8s
from ludo_env.core.checks import Ints
from ludo_env.core.rules import is_integer
from ludo_env.core.scripted import POLICIES, policy_code
from ludo_env.envs.options import Settings, beginning

RANDOM_SEAT = -1


@dataclass
class Outcome:
    """What one step did in each of ``k`` games."""

    rewards: NDArray[np.float64]
    terminated: Bools
    truncated: Bools
    illegal: Bools


class Table:
    """``B`` games, each with a learner's seat and opponents who move between its decisions.

    Scripted opponents move in compiled code; others are asked once a round for all games that wait
    on them. Everything drawn follows from the row's seed and the number of its game.

    Args:
        num_games: Number of rows B.
        chosen: The environment's settings.
        opponents: See `set_opponents`.
        seat: The learner's player number, or ``"random"``: drawn for each game.
        illegal_action: ``"lose"`` or ``"raise"``.
        seed: One int or one for each row; None for fresh ones.

    Raises:
        ValueError: An argument is wrong.
    """

    def __init__(
        self,
        num_games: int,
        chosen: Settings,
        *,
        opponents: Any,
        seat: int | str,
        illegal_action: str,
        seed: Any = None,
    ) -> None:
        self.settings = chosen
        self.rules = chosen.rules
        self.seat_choice = _seat(seat, self.rules.num_players)
        if illegal_action not in ("lose", "raise"):
            raise ValueError(f"illegal_action must be 'lose' or 'raise', got {illegal_action!r}")
        self.illegal_loses = illegal_action == "lose"
        shape = (num_games, self.rules.num_players)
        self.batch = GameBatch(num_games, self.rules, seed=seed)
        self.seats = np.zeros(num_games, dtype=np.int64)
        self.skipped = np.zeros(num_games, dtype=np.int64)
        self._potentials = np.zeros(num_games)
        # Who plays each player in the present game: a policy's code, or −1 for one to be asked.
        self._policies = np.full(shape, -1, dtype=np.int8)
        self._keys = np.zeros(shape, dtype=np.int64)
        self._agent_of = np.full(shape, -1, dtype=np.int64)
        self._agents: list[Agent] = []
        self._has_failed = False  # an opponent, so that some games stand in the middle of a turn
        self.set_opponents(opponents)

    def __len__(self) -> int:
        return len(self.batch)

    def set_opponents(self, opponents: Any) -> None:
        """Choose who plays the other seats, from each game's next deal on.

        Args:
            opponents: A spec or an agent that plays all of them; or a list of P−1: number ``j``
                plays player ``(seat + 1 + j) % P``; or one such list for each of the games.

        Raises:
            ValueError: An opponent is unknown, or their number is wrong; nothing has changed.
        """
        lists = _opponent_lists(opponents, len(self), self.rules.num_players - 1)
        made: dict[Any, Any] = {}
        seating = {id(own): [_seated(opponent, made) for opponent in own] for own in lists}
        self._forget_idle_agents()
        coded = {key: [self._coded(seated) for seated in own] for key, own in seating.items()}
        self._next = np.array([coded[id(own)] for own in lists], dtype=np.int64)

    def _forget_idle_agents(self) -> None:
        """Keep only the agents of present games."""
        kept = np.unique(self._agent_of[self._agent_of >= 0])
        renumbered = np.full(len(self._agents) + 1, -1)  # the last entry serves −1
        renumbered[kept] = np.arange(len(kept))
        self._agents = [self._agents[old] for old in kept]
        self._agent_of = renumbered[self._agent_of]

    def _coded(self, seated: Any) -> tuple[int, int, int]:
        """Policy code, agent number and own seed, −1 each where there is none."""
        if isinstance(seated, str):
            return policy_code(seated), -1, -1
        if isinstance(seated, Scripted):
            return policy_code(seated.policy), -1, seated.seed
        known = [i for i, agent in enumerate(self._agents) if agent is seated]
        if not known:
            self._agents.append(seated)
        return -1, known[0] if known else len(self._agents) - 1, -1

    def deal(self, rows: Ints, seeds: Any = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin new games in the rows and play to the learner's first decision.

        A game that ends before is dealt again, and counted in ``skipped``.

        Args:
            rows: int64 (k,).
            seeds: A seed for each of the rows; None for the next game of each row's own.
            options: ``position`` and ``dice``.

        Raises:
            ValueError: An argument is wrong and nothing has changed; or a game from a given
                position ends before the learner's first decision.
        """
        begin = beginning(options, self.rules)
        present = None if begin["position"] is None else self._copied_games()
        self.batch.reset(rows, seeds, **begin)
        if len(rows) == len(self):
            self._has_failed = False
        self.skipped[rows] = 0
        self._seat(rows)
        over = rows[self._play_on(rows, max_rolls=0) == loops.OVER]
        if len(over) and present is not None:
            self.__dict__.update(present)
            position = str(begin["position"])
            raise ValueError(f"position {position!r} ends before the learner's first decision")
        while len(over):
            self.batch.reset(over)
            self.skipped[over] += 1
            self._seat(over)
            over = over[self._play_on(over, max_rolls=0) == loops.OVER]
        self._potentials[rows] = self._potential(rows)

    def _copied_games(self) -> dict[str, Any]:
        """All that a deal changes, to go back to where it is refused."""
        changed = ("batch", "seats", "skipped", "_policies", "_keys", "_agent_of", "_has_failed")
        return {name: copy.copy(getattr(self, name)) for name in changed}

    def play(self, rows: Ints, actions: Ints) -> Outcome:
        """Play the learners' actions (k,) in the rows, and on to their next decisions.

        Raises:
            IllegalMoveError: An action is illegal where that raises; nothing has changed.
        """
        if self._has_failed:
            raise ValueError("an opponent has failed in the middle of a turn: call reset() first")
        illegal = ~self.batch.legal(rows, actions)
        played = np.arange(len(rows))
        if illegal.any():
            first = int(np.argmax(illegal))
            if not self.illegal_loses:
                raise self.batch.illegal(int(rows[first]), actions[first])
            played = np.flatnonzero(~illegal)
        asked = np.full(len(rows), loops.OVER)
        self.batch.play(rows[played], actions[played])
        asked[played] = self._play_on(rows[played], max_rolls=self.settings.max_rolls or 0)
        terminated = asked == loops.OVER
        truncated = asked == loops.CUT
        rewards = self._rewards(rows, terminated, illegal)
        return Outcome(rewards, terminated, truncated, illegal)

    def views(self, rows: Ints) -> Int8s:
        """What the learners of the rows see, int8 (k, D)."""
        return self.batch.observations(self.seats[rows], rows)

    def masks(self, rows: Ints) -> Int8s:
        """The learners' legal actions in the rows, int8 (k, 4)."""
        return self.batch.masks(rows)

    def endings(self, rows: Ints) -> tuple[Ints, Ints]:
        """The learners' places and the winners in ended rows, int64 (k,) each."""
        places = self.batch.places(rows)[np.arange(len(rows)), self.seats[rows]]
        return places.astype(np.int64), self.batch.winners[rows].astype(np.int64)

    def _rewards(self, rows: Ints, terminated: Bools, illegal: Bools) -> NDArray[np.float64]:
        reward = self.settings.reward
        rewards = np.zeros(len(rows))
        if terminated.any():
            over = np.flatnonzero(terminated & ~illegal)
            paid = reward.outcome(self.batch.places(rows[over]))
            rewards[over] = paid[np.arange(len(over)), self.seats[rows[over]]]
            rewards[illegal] = reward.loss(self.rules.num_players)
        if reward.shapes:
            reached = np.where(terminated, 0.0, self._potential(rows))
            rewards += reward.discount * reached - self._potentials[rows]
            self._potentials[rows] = reached
        return rewards

    def _potential(self, rows: Ints) -> NDArray[np.float64]:
        if not self.settings.reward.shapes:
            return np.zeros(len(rows))
        potentials = self.settings.reward.potential(self.batch.pawns(rows))
        return potentials[np.arange(len(rows)), self.seats[rows]]

    def _seat(self, rows: Ints) -> None:
        """Seat the learner and the opponents of the games just dealt."""
        num_players = self.rules.num_players
        seeds, episodes = self.batch.seeds[rows], self.batch.episodes[rows]
        if self.seat_choice == RANDOM_SEAT:
            loops.draw_seats(seeds, episodes, num_players, rows, self.seats)
        else:
            self.seats[rows] = self.seat_choice
        self._policies[rows] = -1
        self._agent_of[rows] = -1
        for j in range(num_players - 1):
            players = (self.seats[rows] + 1 + j) % num_players
            code, agent, own_seed = self._next[rows, j].T
            self._policies[rows, players] = code
            self._agent_of[rows, players] = agent
            loops.seat_keys(seeds, own_seed, players, rows, self._keys)

    def _play_on(self, rows: Ints, max_rolls: int) -> Ints:
        """Play the opponents up to each learner's next decision.

        Returns:
            The learner, `loops.OVER` or `loops.CUT` for each of the rows, int64 (k,).
        """
        asked = np.empty(len(rows), dtype=np.int64)
        waiting = np.arange(len(rows))
        while True:
            answers = self.batch.settle(
                rows[waiting],
                self._policies,
                self._keys,
                skip_forced=self.settings.auto_forced,
                max_rolls=max_rolls,
            )
            asked[waiting] = answers
            waiting = waiting[(answers >= 0) & (answers != self.seats[rows[waiting]])]
            if not len(waiting):
                return asked
            self._ask_agents(rows[waiting], asked[waiting])

    def _ask_agents(self, rows: Ints, players: Ints) -> None:
        """Let every agent play the games that wait on it."""
        self._has_failed = True
        shown = self.batch.blind()
        agents = self._agent_of[rows, players]
        for number in np.unique(agents):
            own = rows[agents == number]
            actions = ask(self._agents[number], shown, own)
            try:
                self.batch.play(own, actions)
            except IllegalMoveError as error:
                raise ValueError(f"opponent {self._agents[number]!r}: {error}") from None
        self._has_failed = False


def _seat(seat: Any, num_players: int) -> int:
    if isinstance(seat, str) and seat == "random":
        return RANDOM_SEAT
    if not is_integer(seat) or not 0 <= int(seat) < num_players:
        raise ValueError(f"seat must be 0 to {num_players - 1} or 'random', got {seat!r}")
    return int(seat)


def _opponent_lists(opponents: Any, num_games: int, needed: int) -> list[list[Any]]:
    if not isinstance(opponents, list | tuple):
        return [[opponents] * needed] * num_games
    if any(isinstance(own, list | tuple) for own in opponents):
        if len(opponents) != num_games:
            raise ValueError(
                f"opponents must be one list for each of {num_games} games, got {len(opponents)}"
            )
        return [_opponent_list(own, needed) for own in opponents]
    return [_opponent_list(opponents, needed)] * num_games


def _opponent_list(opponents: Any, needed: int) -> list[Any]:
    if not isinstance(opponents, list | tuple):
        return [opponents] * needed
    if len(opponents) == 1:
        return list(opponents) * needed
    if len(opponents) != needed:
        raise ValueError(
            f"opponents must be one or a list of {needed}, got {len(opponents)}: {opponents!r}"
        )
    return list(opponents)


def _seated(opponent: Any, made: dict[Any, Any]) -> Any:
    """A scripted policy's name, whose draws come from the environment's seed, or an agent."""
    if isinstance(opponent, str) and opponent in POLICIES:
        return opponent
    key = opponent if isinstance(opponent, str) else id(opponent)
    if key not in made:
        made[key] = make_agent(opponent, seed=0)
    return made[key]
