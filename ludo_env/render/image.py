"""The board as pixels; needs pygame, and no display."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.position import Position
from ludo_env.core.rules import Rules
from ludo_env.render.drawing import (
    NOTHING,
    SIDE,
    TABLE,
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

try:
    import pygame
    import pygame.font
except ImportError as error:
    message = "pictures of the board need pygame: pip install 'ludo_env[render]'"
    raise ImportError(message) from error

_Compact = Disc | Ring | Box | Polygon | Text

_FINER = 4  # shapes are drawn so many times larger, and made smaller smoothly


def board_image(
    position: Position, rules: Rules, extras: Extras = NOTHING, size: int = 600
) -> NDArray[np.uint8]:
    """The board as pixels, (size, size, 3) uint8; a new array.

    Args:
        position: What to draw.
        rules: The rules.
        extras: What to show besides.
        size: Width and height in pixels.

    Raises:
        ValueError: The position is impossible under the rules.
    """
    surface = board_surface(position, rules, extras, size)
    pixels = np.frombuffer(pygame.image.tobytes(surface, "RGB"), dtype=np.uint8)
    return pixels.reshape(size, size, 3).copy()  # one that may be written on


def board_surface(
    position: Position, rules: Rules, extras: Extras = NOTHING, size: int = 600
) -> pygame.Surface:
    """The board as a surface of pygame's; a new one."""
    surface = _background(rules, size).copy()
    unit = size / SIDE
    for shape in pieces(position, rules, extras):
        _put(surface, shape, unit)
    return surface


@lru_cache(maxsize=8)
def _background(rules: Rules, size: int) -> pygame.Surface:
    surface = pygame.Surface((size, size), depth=32)
    surface.fill(TABLE)
    for shape in board(rules):
        _put(surface, shape, size / SIDE)
    return surface


def _put(surface: pygame.Surface, shape: Shape, unit: float) -> None:
    """Draw a shape on a surface, whose cells have so many pixels."""
    if isinstance(shape, Stroke):  # there are too many different ones to keep
        _blend_stroke(surface, shape, unit)
    else:
        surface.blit(*_sprite(shape, unit))


def _blend_stroke(surface: pygame.Surface, stroke: Stroke, unit: float) -> None:
    """A line with round ends: each pixel is covered as far as its middle lies inside."""
    (x, y), (end_x, end_y) = (np.array(point) * unit - 0.5 for point in (stroke.start, stroke.end))
    along, across, half = end_x - x, end_y - y, stroke.width * unit / 2
    columns, rows = (
        np.arange(max(0, int(min(ends) - half)), int(max(ends) + half) + 2)
        for ends in ((x, end_x), (y, end_y))
    )
    dx, dy = (columns - x)[:, None], (rows - y)[None, :]
    length = along * along + across * across
    share = np.clip((dx * along + dy * across) / length, 0, 1) if length else 0.0
    distance = np.hypot(dx - share * along, dy - share * across)
    covered = np.clip(half - distance + 0.5, 0, 1)[:, :, None]
    pixels = pygame.surfarray.pixels3d(surface)[
        columns[0] : columns[-1] + 1, rows[0] : rows[-1] + 1
    ]
    covered = covered[: pixels.shape[0], : pixels.shape[1]]
    colour = np.array(pygame.Color(stroke.line)[:3])
    pixels[:] = np.rint(pixels + (colour - pixels) * covered)


@lru_cache(maxsize=4096)
def _sprite(shape: _Compact, unit: float) -> tuple[pygame.Surface, tuple[int, int]]:
    """A shape's picture, and where its upper left corner belongs."""
    left, top, width, height = _bounds(shape)
    x, y = int(left * unit) - 1, int(top * unit) - 1
    size = int(width * unit) + 4, int(height * unit) + 4
    large = pygame.Surface((_FINER * size[0], _FINER * size[1]), pygame.SRCALPHA, 32)
    _draw(large, _moved(shape, -x / unit, -y / unit), _FINER * unit)
    return pygame.transform.smoothscale(_spread_colour(large), size), (x, y)


def _spread_colour(surface: pygame.Surface) -> pygame.Surface:
    """Give what is transparent the mean colour of the rest, so that edges do not darken."""
    alpha = pygame.surfarray.pixels_alpha(surface)
    colours = pygame.surfarray.pixels3d(surface)
    seen = alpha > 0
    if seen.any():
        colours[~seen] = colours[seen].mean(axis=0)
    del alpha, colours  # they lock the surface
    return surface


def _bounds(shape: _Compact) -> tuple[float, float, float, float]:
    """Left, top, width and height of what a shape covers."""
    match shape:
        case Disc(x, y, radius, _, _, width) | Ring(x, y, radius, _, width):
            reach = radius + width / 2
            return x - reach, y - reach, 2 * reach, 2 * reach
        case Box(x, y, width, height, _, _, _, line_width):
            half = line_width / 2
            return x - half, y - half, width + line_width, height + line_width
        case Text(x, y, words, size, _):
            width = size * max(1, len(words))
            return x - width / 2, y - size / 2, width, size
        case Polygon(points, _):
            (left, right), (top, bottom) = ((min(a), max(a)) for a in zip(*points, strict=True))
            return left, top, right - left, bottom - top


def _moved(shape: _Compact, dx: float, dy: float) -> _Compact:
    """A shape elsewhere."""
    match shape:
        case Polygon(points, fill):
            return Polygon(tuple((x + dx, y + dy) for x, y in points), fill)
        case _:
            return shape._replace(x=shape.x + dx, y=shape.y + dy)


def _draw(surface: pygame.Surface, shape: _Compact, unit: float) -> None:
    match shape:
        case Disc(x, y, radius, fill, line, width):
            centre = (x * unit, y * unit)
            pygame.draw.circle(surface, line, centre, (radius + width / 2) * unit)
            pygame.draw.circle(surface, fill, centre, (radius - width / 2) * unit)
        case Ring(x, y, radius, line, width):
            outer = (radius + width / 2) * unit
            pygame.draw.circle(surface, line, (x * unit, y * unit), outer, round(width * unit))
        case Box(x, y, width, height, radius, fill, line, line_width):
            for grown, colour in ((line_width / 2, line), (-line_width / 2, fill)):
                sides = (x - grown, y - grown, width + 2 * grown, height + 2 * grown)
                area = pygame.Rect(*(round(side * unit) for side in sides))
                pygame.draw.rect(
                    surface, colour, area, border_radius=round((radius + grown) * unit)
                )
        case Polygon(points, fill):
            pygame.draw.polygon(surface, fill, [(x * unit, y * unit) for x, y in points])
        case Text(x, y, words, size, fill):
            drawn = _font(round(1.25 * size * unit)).render(words, True, fill)
            surface.blit(drawn, drawn.get_rect(center=(x * unit, y * unit)))


@lru_cache(maxsize=64)
def _font(pixels: int) -> pygame.font.Font:
    if not pygame.font.get_init():
        pygame.font.init()
    return pygame.font.Font(None, max(1, pixels))
