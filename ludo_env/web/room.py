"""The game that pages play: one at a time, changed only by who has seen how it stands."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, fields
from threading import Lock
from typing import Any

from ludo_env.core.record import Record
from ludo_env.core.rules import Rules
from ludo_env.play.hints import advice
from ludo_env.play.sitting import HUMAN, Sitting
from ludo_env.render.drawing import LastMove
from ludo_env.render.words import described, move_name, told_by_turns
from ludo_env.web.board import board_markup, layout

AGENTS = ("random", "first", "advance", "careful", "expectimax", "td", "td:2")
"""The agents that a page may seat. Specs that load files or code come from the command alone."""

_TOLD = 60
"""Turns that a page is told of, the last of them."""


class StaleError(ValueError):
    """The game has changed since the page last saw it; nothing was done."""


class Room:
    """A game for pages; all methods may be called from several threads.

    Every change makes a new version of the game, and is made only for a page that knows the last.

    Args:
        sitting: The first game.
        hinter: The agent that gives hints unless the page asks for another.

    Attributes:
        agents: The specs that pages may choose from.
    """

    def __init__(self, sitting: Sitting, hinter: str) -> None:
        self._lock = Lock()  # of the game; held for moments only
        self._thinking = Lock()  # of the agents, which are asked one at a time
        self.agents = list(dict.fromkeys([*AGENTS, hinter, *sitting.seats]))
        self.agents = [spec for spec in self.agents if spec != HUMAN]
        self.hinter = hinter
        # From the clock on, so that what a page knows of an earlier room is old here.
        self._version = self._number = time.time_ns() // 1_000_000
        self._sit(sitting)

    def _sit(self, sitting: Sitting) -> None:
        self._sitting = sitting
        self._number += 1
        self._version += 1

    def state(self, known: int | None = None) -> dict[str, Any]:
        """How the game stands, as plain values.

        Args:
            known: The number of the game whose board the page has; another comes with its own.
        """
        with self._lock:
            return self._state(known)

    def play(self, version: int, action: int, known: int | None = None) -> dict[str, Any]:
        """A person plays; returns the state.

        Raises:
            StaleError: The game has changed.
            ValueError: It is no person's turn, or the action is illegal.
        """
        with self._lock:
            self._require(version)
            if not self._sitting.is_humans_turn:
                raise ValueError("it is no person's turn")
            self._sitting.play(action)
            self._version += 1
            return self._state(known)

    def play_agent(self, version: int, known: int | None = None) -> dict[str, Any]:
        """The agent whose turn it is plays; returns the state.

        Raises:
            StaleError: The game has changed.
            ValueError: It is no agent's turn, or the agent failed.
        """
        with self._thinking:
            with self._lock:
                self._require(version)
                answer = self._sitting.asking()
            action = answer()  # others may look, take back, or begin anew meanwhile
            with self._lock:
                self._require(version)
                self._sitting.play(action)
                self._version += 1
                return self._state(known)

    def undo(self, version: int, known: int | None = None) -> dict[str, Any]:
        """Take back the last choice of a person; returns the state.

        Raises:
            StaleError: The game has changed.
            ValueError: There is none.
        """
        with self._lock:
            self._require(version)
            self._sitting.undo()
            self._version += 1
            return self._state(known)

    def begin(
        self,
        version: int,
        seats: Any,
        rules: Any,
        seed: int | None = None,
        known: int | None = None,
    ) -> dict[str, Any]:
        """Begin another game; returns the state.

        Args:
            version: Of the present game.
            seats: For each player `HUMAN` or one of `agents`.
            rules: Fields of `Rules`, without the number of players.
            seed: The seed of the dice; None for a fresh one.
            known: See `state`.

        Raises:
            StaleError: The game has changed.
            ValueError: An argument is wrong; the present game goes on.
        """
        with self._lock:
            self._require(version)
            self._sit(Sitting(self._seats(seats), _rules(seats, rules), seed=seed))
            return self._state(known)

    def hint(self, version: int, spec: str | None = None) -> dict[str, Any]:
        """What an agent thinks of the moves.

        Returns:
            ``agent``; ``means``: what a share is; ``moves``: action, would_play and share of each.

        Raises:
            StaleError: The game has changed.
            ValueError: There is no such agent, the game is over, or the agent failed.
        """
        spec = self.hinter if spec is None else spec
        if spec not in self.agents:
            raise ValueError(f"agent must be one of {', '.join(self.agents)}, got {spec!r}")
        with self._thinking:
            with self._lock:
                self._require(version)
                game = self._sitting.game.copy()
            found = advice(spec, game)
        moves = [hint._asdict() for hint in found.hints]
        return {"agent": found.agent, "means": found.means, "moves": moves}

    def record(self) -> Record:
        """The game so far."""
        with self._lock:
            return self._sitting.record()

    def _require(self, version: int) -> None:
        if version != self._version:
            raise StaleError("the game has changed, perhaps in another tab; here is how it stands")

    def _seats(self, seats: Any) -> list[str]:
        allowed = [HUMAN, *self.agents]
        if not isinstance(seats, list) or not 2 <= len(seats) <= 4:
            raise ValueError(f"seats must be a list of 2 to 4, got {seats!r}")
        for spec in seats:
            if spec not in allowed:
                raise ValueError(f"a seat must be one of {', '.join(allowed)}, got {spec!r}")
        return seats

    def _state(self, known: int | None) -> dict[str, Any]:
        sitting = self._sitting
        game, position = sitting.game, sitting.game.position
        state = {
            "version": self._version,
            "game": self._number,
            "seats": sitting.seats,
            "rules": asdict(game.rules),
            "seed": str(game.seed),  # as a number it is too large for JavaScript
            "pawns": position.pawns,
            "player": position.player,
            "die": position.die,
            "winner": position.winner,
            "places": game.places(),
            "label": described(position),
            "told": told_by_turns(sitting.history, sitting.seats)[-_TOLD:],
            "last": _last(sitting),
            "turn": _turn(sitting),
            "legal": _legal(sitting),
            "can_undo": sitting.can_undo,
        }
        if known != self._number:
            state["board"] = {
                "markup": board_markup(game.rules),
                "layout": layout(game.rules),
            }
        return state


def _rules(seats: list[str], given: Any) -> Rules:
    known = [field.name for field in fields(Rules) if field.name != "num_players"]
    if not isinstance(given, Mapping) or not set(given) <= set(known):
        raise ValueError(f"rules must have no other fields than {', '.join(known)}, got {given!r}")
    return Rules(num_players=len(seats), **given)


def _last(sitting: Sitting) -> dict[str, Any] | None:
    return None if sitting.last_move is None else LastMove.of(*sitting.last_move)._asdict()


def _turn(sitting: Sitting) -> str:
    if sitting.is_over:
        return "over"
    return "human" if sitting.is_humans_turn else "agent"


def _legal(sitting: Sitting) -> list[dict[str, Any]]:
    """The moves that a person may choose from."""
    if not sitting.is_humans_turn:
        return []
    return [
        {
            "action": move.action,
            "source": move.source,
            "target": move.target,
            "name": f"{sitting.game.die} {move_name(move)}",
        }
        for move in sitting.game.legal_moves()
    ]
