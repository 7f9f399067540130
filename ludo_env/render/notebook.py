"""Games and positions show themselves as pictures in notebooks.

What is drawn lies above the games, which know nothing of it: so they are told here.
"""

from __future__ import annotations

from ludo_env.core.game import Game
from ludo_env.core.position import Position
from ludo_env.core.rules import Rules
from ludo_env.render.drawing import Extras
from ludo_env.render.svg import board_svg


def register() -> None:
    """Give games and positions their pictures."""
    Game._repr_svg_ = _game_svg  # type: ignore[attr-defined]
    Position._repr_svg_ = _position_svg  # type: ignore[attr-defined]


def _game_svg(game: Game) -> str:
    legal = tuple(move.source for move in game.legal_moves())
    return board_svg(game.position, game.rules, Extras(legal=legal))


def _position_svg(position: Position) -> str:
    rules = Rules(num_players=len(position.pawns), num_pawns=len(position.pawns[0]))
    return board_svg(position, rules)
