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
    surface.blit(*_sprite(shape, unit))


@lru_cache(maxsize=4096)
def _sprite(shape: Shape, unit: float) -> tuple[pygame.Surface, tuple[int, int]]:
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


def _bounds(shape: Shape) -> tuple[float, float, float, float]:
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
        case Stroke(start, end, _, width):
            points: tuple[tuple[float, float], ...] = (start, end)
        case Polygon(points, _):
            width = 0.0
    (left, right), (top, bottom) = ((min(axis), max(axis)) for axis in zip(*points, strict=True))
    half = width / 2
    return left - half, top - half, right - left + width, bottom - top + width


def _moved(shape: Shape, dx: float, dy: float) -> Shape:
    """A shape elsewhere."""
    match shape:
        case Polygon(points, fill):
            return Polygon(tuple((x + dx, y + dy) for x, y in points), fill)
        case Stroke((x, y), (to_x, to_y), line, width):
            return Stroke((x + dx, y + dy), (to_x + dx, to_y + dy), line, width)
        case _:
            return shape._replace(x=shape.x + dx, y=shape.y + dy)


def _draw(surface: pygame.Surface, shape: Shape, unit: float) -> None:
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
        case Stroke((x, y), (to_x, to_y), line, width):
            _draw_stroke(
                surface, (x * unit, y * unit), (to_x * unit, to_y * unit), line, width * unit
            )
        case Text(x, y, words, size, fill):
            drawn = _font(round(1.25 * size * unit)).render(words, True, fill)
            surface.blit(drawn, drawn.get_rect(center=(x * unit, y * unit)))


def _draw_stroke(
    surface: pygame.Surface,
    start: tuple[float, float],
    end: tuple[float, float],
    line: str,
    width: float,
) -> None:
    """A line with round ends, as a polygon: pygame's own thick lines have slanting ends."""
    along = pygame.Vector2(end) - pygame.Vector2(start)
    if along.length() > 0:
        across = along.rotate(90).normalize() * width / 2
        corners = (start + across, end + across, end - across, start - across)
        pygame.draw.polygon(surface, line, corners)
    for point in (start, end):
        pygame.draw.circle(surface, line, point, width / 2)


@lru_cache(maxsize=64)
def _font(pixels: int) -> pygame.font.Font:
    if not pygame.font.get_init():
        pygame.font.init()
    return pygame.font.Font(None, max(1, pixels))
