"""The board for pages: its parts as SVG, and where they go; ``assets/board.js`` puts them there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib import resources
from typing import Any

from ludo_env.core.rules import YARD, Rules
from ludo_env.render import drawing
from ludo_env.render.drawing import Shape
from ludo_env.render.svg import element


def board_markup(rules: Rules) -> str:
    """The empty board as an SVG element with all parts that may be put on it."""
    background = "".join(map(element, drawing.board(rules)))
    defs = "".join(_group(name, shapes) for name, shapes in _parts(rules))
    return (
        f'<svg id="board" viewBox="0 0 {drawing.SIDE:g} {drawing.SIDE:g}" role="img" '
        'aria-labelledby="board-title" font-family="sans-serif" font-weight="bold" '
        'text-anchor="middle"><title id="board-title">The board</title>'
        f"<defs>{defs}</defs>{background}</svg>"
    )


def _parts(rules: Rules) -> Iterable[tuple[str, Iterable[Shape]]]:
    yield "mark", [drawing.mark(0, 0)]
    yield "cross", drawing.cross(0, 0)
    yield "tip", [drawing.Polygon(drawing.ARROW_TIP, drawing.ARROW)]
    for player in range(rules.num_players):
        yield f"pawn{player}", drawing.pawn(0, 0, player)
        yield f"crown{player}", drawing.crown(0, 0, player)
        for value in (None, *range(1, 7)):
            yield f"die{player}-{value or 0}", drawing.die(0, 0, value, player)


def _group(name: str, shapes: Iterable[Shape]) -> str:
    return f'<g id="{name}">{"".join(map(element, shapes))}</g>'


def layout(rules: Rules) -> dict[str, Any]:
    """Where things are on the board, in its own units.

    Returns:
        ``squares[player][progress]`` and ``yards[player][place]`` are points (x, y), as is
        ``middle``; ``arrow`` has the measures of the last move's, ``label`` those of words.
    """

    def place(player: int, progress: int, number: int = 0) -> list[float]:
        return [round(z, 3) for z in drawing.place_of(player, progress, number, rules)]

    players = range(rules.num_players)
    progresses = range(1, rules.last_progress + 1)
    box, words = drawing.label(0, 0, "")
    return {
        "squares": [[None, *(place(player, p) for p in progresses)] for player in players],
        "yards": [[place(player, YARD, k) for k in range(rules.num_pawns)] for player in players],
        "middle": list(drawing.MIDDLE),
        "arrow": {
            "colour": drawing.ARROW,
            "width": drawing.ARROW_WIDTH,
            "head": drawing.ARROW_HEAD,
            "gap": drawing.ARROW_GAP,
        },
        "label": {"box": box._asdict(), "words": words._asdict()},
    }


def asset(name: str) -> str:
    """The text of a file in ``assets/``."""
    return (resources.files("ludo_env.web") / "assets" / name).read_text(encoding="utf-8")


def filled(name: str, **markup: str) -> str:
    """The text of a file in ``assets/`` with markup where it has ``{{names}}``."""
    return re.sub(r"{{(\w+)}}", lambda found: markup[found[1]], asset(name))


def embedded(data: Any) -> str:
    """Data as JSON that may stand in a page's script."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
