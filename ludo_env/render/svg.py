"""The board as SVG."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from ludo_env.core.position import Position
from ludo_env.core.rules import Rules
from ludo_env.render.drawing import (
    NOTHING,
    SIDE,
    Box,
    Disc,
    Extras,
    Polygon,
    Ring,
    Shape,
    Stroke,
    Text,
    board,
    pieces,
)
from ludo_env.render.words import described


def board_svg(
    position: Position, rules: Rules, extras: Extras = NOTHING, size: int | None = 480
) -> str:
    """The board as a picture that needs nothing else.

    Args:
        position: What to draw.
        rules: The rules.
        extras: What to show besides.
        size: Width and height in pixels; None for as large as there is room.

    Raises:
        ValueError: The position is impossible under the rules.
    """
    shapes = "\n".join(map(element, pieces(position, rules, extras)))
    sides = "" if size is None else f' width="{size}" height="{size}"'
    label = escape(described(position))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE:g} {SIDE:g}"{sides} '
        f'role="img" font-family="sans-serif" font-weight="bold" text-anchor="middle">\n'
        f"<title>{label}</title>\n{_background(rules)}\n{shapes}\n</svg>\n"
    )


@lru_cache(maxsize=64)
def _background(rules: Rules) -> str:
    return "\n".join(map(element, board(rules)))


def element(shape: Shape) -> str:
    """A shape as an element of SVG."""
    match shape:
        case Disc(x, y, radius, fill, line, width):
            outline = f' stroke="{line}" stroke-width="{width:g}"' if width else ""
            return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"{outline}/>'
        case Ring(x, y, radius, line, width):
            outline = f'fill="none" stroke="{line}" stroke-width="{width:g}"'
            return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" {outline}/>'
        case Box(x, y, width, height, radius, fill, line, line_width):
            return (
                f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
                f'fill="{fill}" stroke="{line}" stroke-width="{line_width:g}"/>'
            )
        case Polygon(points, fill):
            corners = " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
            return f'<polygon points="{corners}" fill="{fill}"/>'
        case Stroke((x, y), (to_x, to_y), line, width):
            return (
                f'<line x1="{x:.4g}" y1="{y:.4g}" x2="{to_x:.4g}" y2="{to_y:.4g}" '
                f'stroke="{line}" stroke-width="{width:g}" stroke-linecap="round"/>'
            )
        case Text(x, y, words, size, fill):
            return (
                f'<text x="{x:g}" y="{y + 0.36 * size:.4g}" font-size="{size:g}" fill="{fill}">'
                f"{escape(words)}</text>"
            )
