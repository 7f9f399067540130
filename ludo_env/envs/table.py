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
from ludo_env.core import turns
from ludo_env.core.batch import GameBatch, IllegalMoveError
from ludo_env.core.checks import Ints
from ludo_env.core.rules import MAX_PLAYERS, is_integer
from ludo_env.core.scripted import POLICIES, policy_code
from ludo_env.core.seating import Seating
from ludo_env.envs.options import Settings, beginning

RANDOM_SEAT = -1


@dataclass(frozen=True)
class Endings:
    """Which games have ended in a step, and how.

    Attributes:
        over: Rows of games that somebody has won, int64 (k,).
        places: Everybody's places in these, int8 (k, P).
        learners: The learners' player numbers in these, int64 (k,).
        illegal: Rows that an illegal action of the learner has ended.
        cut: Rows whose games were cut off.
    """

    over: Ints
    places: NDArray[np.int8]
    learners: Ints
    illegal: Ints
    cut: Ints

    def learner_places(self) -> Ints:
        """The learners' places in the games that are over, int64 (k,)."""
        return self.places[np.arange(len(self.over)), self.learners].astype(np.int64)

    def winners(self) -> Ints:
        """Who won the games that are over, int64 (k,)."""
        return self.places.argmin(axis=1)


_NO_ROWS = np.zeros(0, dtype=np.int64)
NO_ENDINGS = Endings(
    _NO_ROWS, np.zeros((0, MAX_PLAYERS), dtype=np.int8), _NO_ROWS, _NO_ROWS, _NO_ROWS
)


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

    Attributes:
        agents: The agents of present and coming games.
        agent_of: int64 (B, P), who of them plays whom; −1 for a scripted policy or the learner.
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
        self._seat_choice = _seat(seat, self.rules.num_players)
        if illegal_action not in ("lose", "raise"):
            raise ValueError(f"illegal_action must be 'lose' or 'raise', got {illegal_action!r}")
        self.illegal_loses = illegal_action == "lose"
        self._max_rolls = chosen.max_rolls or 0
        self.batch = GameBatch(num_games, self.rules, seed=seed)
        self.seating = Seating(self.batch, skip_forced=chosen.auto_forced)
        self.skipped = np.zeros(num_games, dtype=np.int64)
        self._potentials = np.zeros(num_games)
        self.agents: list[Agent] = []
        self.agent_of = np.full((num_games, self.rules.num_players), -1)
        self._has_failed = False  # an opponent or the reward, so that games stand in mid-step
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
        policies, agents, seeds = np.moveaxis(np.array([coded[id(own)] for own in lists]), 2, 0)
        self._next_agents = agents
        self.seating.follow(policies, seeds)

    def _forget_idle_agents(self) -> None:
        """Keep only the agents of present games."""
        kept = np.unique(self.agent_of[self.agent_of >= 0])
        renumbered = np.full(len(self.agents) + 1, -1)  # the last entry serves −1
        renumbered[kept] = np.arange(len(kept))
        self.agents = [self.agents[old] for old in kept]
        self.agent_of = renumbered[self.agent_of]

    def _coded(self, seated: Any) -> tuple[int, int, int]:
        """Policy code, agent number and own seed, −1 each where there is none."""
        if isinstance(seated, str):
            return policy_code(seated), -1, -1
        if isinstance(seated, Scripted):
            return policy_code(seated.policy), -1, seated.seed
        known = [i for i, agent in enumerate(self.agents) if agent is seated]
        if not known:
            self.agents.append(seated)
        return -1, known[0] if known else len(self.agents) - 1, -1

    def deal(
        self,
        rows: Ints | None = None,
        seeds: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin new games in the rows and play to the learner's first decision.

        A game that ends before is dealt again, and counted in ``skipped``.

        Args:
            rows: int64 (k,), different numbers; None for all.
            seeds: A seed for each of the rows; None for the next game of each row's own.
            options: ``position`` and ``dice``.

        Raises:
            ValueError: An argument is wrong and nothing has changed; or a game from a given
                position ends before the learner's first decision.
        """
        begin = beginning(options, self.rules)
        present = None if begin["position"] is None else copy.deepcopy(self._games())
        if seeds is None and options is None:
            self.batch.next_games(rows)
        else:
            self.batch.reset(rows, seeds, **begin)
        if rows is None:
            self._has_failed = False
            self.skipped[:] = 0
        else:
            self.skipped[rows] = 0
        over = self._over_before_the_first_decision(rows)
        if len(over) and present is not None:
            self.__dict__.update(present)
            position = str(begin["position"])
            raise ValueError(f"position {position!r} ends before the learner's first decision")
        while len(over):
            self.batch.next_games(over)
            self.skipped[over] += 1
            over = self._over_before_the_first_decision(over)
        if self.settings.reward.shapes:
            dealt = slice(None) if rows is None else rows
            self._potentials[dealt] = self._potential(rows)

    def _games(self) -> dict[str, Any]:
        """All that a deal changes, to go back to where it is refused."""
        changed = ("batch", "seating", "skipped", "agent_of", "_has_failed")
        return {name: getattr(self, name) for name in changed}

    def _over_before_the_first_decision(self, rows: Ints | None) -> Ints:
        """Seat the players of games just dealt, and play on. Returns the rows that have ended."""
        learner = None if self._seat_choice == RANDOM_SEAT else self._seat_choice
        self.seating.seat(rows, learner)
        if self.agents:
            self._seat_agents(np.arange(len(self)) if rows is None else rows)
        if self.seating.settle(rows, max_rolls=0) == 0:
            return _NO_ROWS
        self._wait_for_agents(max_rolls=0)
        over = np.flatnonzero(self.asked == turns.OVER)
        return over if rows is None else np.intersect1d(over, rows)

    def _seat_agents(self, rows: Ints) -> None:
        num_players = self.rules.num_players
        self.agent_of[rows] = -1
        for j in range(num_players - 1):
            players = (self.learners[rows] + 1 + j) % num_players
            self.agent_of[rows, players] = self._next_agents[rows, j]

    def play(self, actions: Ints) -> Endings:
        """Play the learners' actions (B,), and on to their next decisions.

        Returns:
            Which games have ended, and how.

        Raises:
            IllegalMoveError: An action is illegal where that raises; nothing has changed.
            ValueError: An opponent's answer is wrong, or something has failed in an earlier step;
                what an opponent raises comes out as it is.
        """
        if self._has_failed:
            raise ValueError("an opponent or the reward has failed in a step: call reset() first")
        if not self.illegal_loses:
            self._refuse_illegal(actions)
        if self.seating.take_turns(actions, self._max_rolls) == 0:
            return NO_ENDINGS
        if self.agents:
            self._wait_for_agents(self._max_rolls)
        return self._endings()

    def _endings(self) -> Endings:
        ended = (self.asked < 0).nonzero()[0]
        if not len(ended):
            return NO_ENDINGS
        why = self.asked[ended]
        over = ended[why == turns.OVER]
        return Endings(
            over,
            self.batch.places(over),
            self.learners[over],
            ended[why == turns.ILLEGAL],
            ended[why == turns.CUT],
        )

    def _refuse_illegal(self, actions: Ints) -> None:
        legal = self.batch.legal(None, actions)
        if not legal.all():
            row = int(np.argmin(legal))
            raise self.batch.illegal(row, actions[row])

    @property
    def asked(self) -> Ints:
        """Who is to be asked in each game, int64 (B,): see `Seating`."""
        return self.seating.asked

    @property
    def learners(self) -> Ints:
        """Each learner's player number, int64 (B,)."""
        return self.seating.learners

    def rewards(self, endings: Endings) -> NDArray[np.float64]:
        """What the learners are paid for the last `play`, float64 (B,); to be asked for once."""
        self._has_failed = True
        rewards = self._paid(endings)
        self._has_failed = False
        return rewards

    def _paid(self, endings: Endings) -> NDArray[np.float64]:
        reward = self.settings.reward
        rewards = np.zeros(len(self))
        if len(endings.over):
            paid = reward.outcome(endings.places)
            rewards[endings.over] = paid[np.arange(len(paid)), endings.learners]
        if len(endings.illegal):
            rewards[endings.illegal] = reward.loss(self.rules.num_players)
        if reward.shapes:
            reached = self._potential(None)
            reached[endings.over] = reached[endings.illegal] = 0.0
            rewards += reward.discount * reached - self._potentials
            self._potentials = reached
        return rewards

    def _potential(self, rows: Ints | None) -> NDArray[np.float64]:
        potentials = self.settings.reward.potential(self.batch.pawns(rows))
        learners = self.learners if rows is None else self.learners[rows]
        return potentials[np.arange(len(potentials)), learners]

    def _wait_for_agents(self, max_rolls: int) -> None:
        """Let agents move until every game stands at its learner's decision, or has ended."""
        while True:
            rows = np.flatnonzero((self.asked >= 0) & (self.asked != self.learners))
            if not len(rows):
                return
            self._ask_agents(rows)
            self.seating.settle(rows, max_rolls)

    def _ask_agents(self, rows: Ints) -> None:
        """Let every agent play the games that wait on it."""
        self._has_failed = True
        shown = self.batch.blind()
        agents = self.agent_of[rows, self.asked[rows]]
        for number in np.unique(agents):
            own = rows[agents == number]
            actions = ask(self.agents[number], shown, own.copy())
            try:
                self.batch.play(own, actions)
            except IllegalMoveError as error:
                raise ValueError(f"opponent {self.agents[number]!r}: {error}") from None
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
