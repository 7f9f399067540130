"""A game with somebody in every seat: people, or agents that play when they are told to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ludo_env.agents.base import Agent, ask, make_agent
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
        self._were_choices: list[bool] = []
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
        """Whether a person has had a choice."""
        return any(self._were_choices)

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
        self._were_choices.append(player not in self._agents and len(moves) > 1)
        return self.events

    def play_agent(self) -> tuple[Event, ...]:
        """Let the agent decide whose turn it is; returns the events.

        Raises:
            AgentFailedError: It failed; nothing was played.
            ValueError: It is no agent's turn.
        """
        return self.play(self.asking()())

    def asking(self) -> Callable[[], int]:
        """What asks the agent whose turn it is for its action, of the game as it stands.

        It raises `AgentFailedError` where the agent fails.

        Raises:
            ValueError: It is no agent's turn.
        """
        player = self.game.player
        if player not in self._agents:
            raise ValueError("it is no agent's turn")
        name, agent = f"{self.seats[player]} ({player})", self._agents[player]
        game = self.game.copy()

        def answer() -> int:
            try:
                action = int(ask(agent, game.as_batch().blind(), _ONLY_ROW)[0])
                game.copy().push(action)
            except Exception as error:  # agents may be anybody's
                raise AgentFailedError(f"{name} failed: {error!r}") from error
            return action

        return answer

    def undo(self) -> None:
        """Go back to the last choice that a person made; the dice to come stay the same.

        Raises:
            ValueError: No person has had a choice.
        """
        if not self.can_undo:
            raise ValueError("there is no choice of yours to take back")
        kept = len(self._were_choices) - 1 - self._were_choices[::-1].index(True)
        actions, self._actions, self._were_choices = self._actions[:kept], [], []
        self._deal()
        for action in actions:
            self.play(action)

    def record(self) -> Record:
        """The game so far."""
        return Record.of(
            self._actions, self.seats, rules=self._rules, seed=self._seed, position=self._position
        )
