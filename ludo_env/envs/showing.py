"""What environments show of a game."""

from __future__ import annotations

from typing import Any

import numpy as np

from ludo_env.core.game import Game
from ludo_env.core.position import Position
from ludo_env.core.results import Int8s
from ludo_env.core.rules import Rules
from ludo_env.envs.options import RENDER_FRAMES, Settings
from ludo_env.render.drawing import Extras, LastMove
from ludo_env.render.text import board_text


class Screen:
    """Shows positions as the render mode wants it; copies have no window of their own yet.

    Args:
        chosen: The environment's settings.
    """

    def __init__(self, chosen: Settings) -> None:
        self._chosen = chosen
        self._window: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Screen, (self._chosen,)

    @property
    def shows_moves(self) -> bool:
        """Whether it wants to know of the last move."""
        return self._chosen.render_mode in ("rgb_array", "human")

    def show(self, position: Position, mask: Int8s, last: LastMove | None) -> Any:
        """The board as text, or as pixels (size, size, 3) uint8; None where a window shows it.

        Args:
            position: The position.
            mask: int8 (4,), who decides may play these pawns, which pictures mark.
            last: The move that pictures show as an arrow.

        Raises:
            ImportError: Pictures are wanted, and pygame is not installed.
            RuntimeError: A window is wanted, and there is no display.
        """
        chosen = self._chosen
        if chosen.render_mode == "ansi":
            return board_text(position, chosen.rules)
        from ludo_env.render.image import board_image, board_surface

        pawns = position.pawns[position.player]
        legal = tuple(pawns[k] for k in np.flatnonzero(mask[: len(pawns)]).tolist())
        shown = position, chosen.rules, Extras(legal=legal, last=last), chosen.render_size
        if chosen.render_mode == "rgb_array":
            return board_image(*shown)
        self._opened().show(board_surface(*shown))
        return None

    def _opened(self) -> Any:
        from ludo_env.render.window import BoardWindow

        if self._window is None:
            self._window = BoardWindow("petits chevaux", self._chosen.render_size, RENDER_FRAMES)
        return self._window

    def close(self) -> None:
        """Take the window away, if there is one; the next position opens another."""
        if self._window is not None:
            self._window.close()
        self._window = None


def move_of(position: Position, action: int, rules: Rules) -> LastMove | None:
    """What an action moved; None where it was illegal."""
    for move in Game(rules, position=position, seed=0).legal_moves():
        if move.action == action:
            return LastMove.of(position.player, move)
    return None
