"""A game with somebody in every seat: people, or agents that play when they are told to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ludo_env.agents.base import Agent, ask, make_agent
from ludo_env.agents.mind import Thoughts, thoughts
from ludo_env.core import checks
from ludo_env.core.game import Event, Game, Move
from ludo_env.core.position import Position
from ludo_env.core.record import Record
from ludo_env.core.rules import Rules

HUMAN = "human"
"""What stands for a person among the specs of agents."""

_ONLY_ROW = np.zeros(1, dtype=np.int64)


class AgentFailedError(ValueError):
    """An agent raised something, or answered what cannot be played; nothing was played."""


class Sitting:
    """A game from its deal on, with moves that can be taken back.

    Args:
        seats: Who plays, in player order: an agent or its spec, or `HUMAN`.
        rules: The rules.
        seed: The seed of the dice and of the agents' draws; None for a fresh one.
        position: Where the game begins; None for the start.

    Raises:
        ValueError: An argument is wrong.

    Attributes:
        seats: Who plays, as text.
        game: The game as it stands.
        events: What happened since the last decision; since the deal before the first.
        history: All that happened since the deal.
    """

    def __init__(
        self,
        seats: Sequence[str | Agent],
        rules: Rules = Rules(),
        *,
        seed: int | None = None,
        position: Position | str | None = None,
    ) -> None:
        if len(seats) != rules.num_players:
            raise ValueError(f"seats must be {rules.num_players}, one a player, got {len(seats)}")
        self.seats = tuple(map(str, seats))
        self._seed = checks.seed_or_fresh(seed)
        self._agents: dict[int, Agent] = {
            player: make_agent(spec, seed=player)
            for player, spec in enumerate(seats)
            if spec != HUMAN
        }
        self._rules, self._position = rules, position
        self._actions: list[int] = []
        self._deciders: list[int] = []
        self._deal()

    def _deal(self) -> None:
        self.game = Game(self._rules, seed=self._seed, position=self._position)
        self.events: tuple[Event, ...] = self.game.opening_events
        self.history = [*self.events]

    @property
    def is_over(self) -> bool:
        """Whether somebody has won."""
        return self.game.winner is not None

    @property
    def is_humans_turn(self) -> bool:
        """Whether a person is to decide."""
        player = self.game.player
        return player is not None and player not in self._agents

    @property
    def last_move(self) -> tuple[int, Move] | None:
        """Who made the last decision, and the move; None before the first."""
        return self._last_move if self._actions else None

    @property
    def can_undo(self) -> bool:
        """Whether a person has decided anything."""
        return any(player not in self._agents for player in self._deciders)

    def play(self, action: int) -> tuple[Event, ...]:
        """Play for whoever is to decide, and roll on to the next decision; returns the events.

        Raises:
            IllegalMoveError: The action is illegal, or the game is over; nothing was played.
            ValueError: The action is no integer.
        """
        game = self.game
        player, moves = game.player, {move.action: move for move in game.legal_moves()}
        self.events = game.play(action)
        self.history += self.events
        assert player is not None
        self._last_move = player, moves[int(action)]
        self._actions.append(int(action))
        self._deciders.append(player)
        return self.events

    def play_agent(self) -> tuple[Event, ...]:
        """Let the agent decide whose turn it is; returns the events.

        Raises:
            AgentFailedError: It failed; nothing was played.
            ValueError: It is no agent's turn.
        """
        player = self.game.player
        if player not in self._agents:
            raise ValueError("it is no agent's turn")
        try:
            shown = self.game.as_batch().blind()
            return self.play(int(ask(self._agents[player], shown, _ONLY_ROW)[0]))
        except Exception as error:  # agents may be anybody's
            raise AgentFailedError(f"{self.seats[player]} ({player}) failed: {error!r}") from error

    def undo(self) -> None:
        """Go back to the last decision that a person made; the dice to come stay the same.

        Raises:
            ValueError: No person has decided anything.
        """
        if not self.can_undo:
            raise ValueError("there is no move of yours to take back")
        while self._deciders.pop() in self._agents:
            self._actions.pop()
        self._actions.pop()
        actions, self._actions, self._deciders = self._actions, [], []
        self._deal()
        for action in actions:
            self.play(action)

    def thoughts(self, agent: Agent) -> Thoughts:
        """What an agent thinks of the decision at hand, arrays of one row.

        Raises:
            AgentFailedError: The agent failed.
            ValueError: The game is over.
        """
        if self.is_over:
            raise ValueError("the game is over")
        try:
            return thoughts(agent, self.game.as_batch(), _ONLY_ROW)
        except Exception as error:
            raise AgentFailedError(f"{agent} failed: {error!r}") from error

    def record(self) -> Record:
        """The game so far."""
        return Record.of(
            self._actions, self.seats, rules=self._rules, seed=self._seed, position=self._position
        )
