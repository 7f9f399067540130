"""What environments show of a game."""

from __future__ import annotations

from typing import Any

import numpy as np

from ludo_env.core.position import Position
from ludo_env.core.results import Int8s
from ludo_env.envs.options import Settings
from ludo_env.render.text import board_text


def shown(position: Position, mask: Int8s, chosen: Settings) -> Any:
    """A position as the render mode wants it: text, or pixels (size, size, 3) uint8.

    Args:
        position: The position.
        mask: int8 (4,), who decides may play these pawns, which pictures mark.
        chosen: The environment's settings; they have a render mode.

    Raises:
        ImportError: Pictures are wanted, and pygame is not installed.
    """
    if chosen.render_mode == "ansi":
        return board_text(position, chosen.rules)
    from ludo_env.render.drawing import Extras
    from ludo_env.render.image import board_image

    pawns = position.pawns[position.player]
    legal = tuple(pawns[k] for k in np.flatnonzero(mask[: len(pawns)]).tolist())
    return board_image(position, chosen.rules, Extras(legal=legal), chosen.render_size)
