"""The board as plain shapes: what every picture of it is made of.

Lengths are in cells of the grid of `ludo_env.render.scene`; x goes right, y down. Players have
colours that people with any colour vision tell apart (after Okabe and Ito, 2008), and a sign each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ludo_env.core.game import Move
from ludo_env.core.position import Position
from ludo_env.core.rules import SQUARES_PER_CORNER, TRACK_SQUARES, YARD, Rules
from ludo_env.render.scene import (
    GRID_SIZE,
    column_cells,
    pawn_cell,
    track_cell,
    yard_cells,
)

MARGIN = 0.4
SIDE = GRID_SIZE + 2 * MARGIN
"""Width and height of a board."""

PAPER, TABLE, LINE, INK = "#fffdf8", "#efe6d6", "#b9ab94", "#2b2622"
COLOURS = ("#0072b2", "#d55e00", "#008a63", "#b5548c")
"""The players' colours."""
TINTS = ("#cfe3f1", "#f8dcc6", "#c9e9df", "#f3dbe8")
MARK, ARROW = "#e69f00", "#2b2622"
ARROW_WIDTH, ARROW_HEAD, ARROW_GAP = 0.09, 0.28, 0.36
"""Of the last move's arrow: its line, the length of its head, and what it leaves to its end."""
ARROW_TIP = ((0.0, 0.0), (-ARROW_HEAD, 0.16), (-ARROW_HEAD, -0.16))
"""Its head, where it points right and ends at 0."""
MIDDLE = (SIDE / 2, SIDE / 2)

_YARD_STEP = 1.1  # between the places of a yard
_SIGN_SIDES = (0, 3, 4, 5)  # a disc, a triangle, a square, a star
_PIPS = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}

Point = tuple[float, float]


class Disc(NamedTuple):
    """A filled circle with an outline."""

    x: float
    y: float
    radius: float
    fill: str
    line: str
    width: float = 0.04


class Box(NamedTuple):
    """A filled rectangle with round corners; x and y are its left and upper sides."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    line: str
    line_width: float = 0.04


class Polygon(NamedTuple):
    """A filled polygon without an outline."""

    points: tuple[Point, ...]
    fill: str


class Ring(NamedTuple):
    """A circle that is not filled."""

    x: float
    y: float
    radius: float
    line: str
    width: float


class Stroke(NamedTuple):
    """A line from one point to another."""

    start: Point
    end: Point
    line: str
    width: float


class Text(NamedTuple):
    """A line of text, centred on a point; its size is its height."""

    x: float
    y: float
    words: str
    size: float
    fill: str


Shape = Disc | Box | Polygon | Ring | Stroke | Text


class LastMove(NamedTuple):
    """A move that led to the position: who moved, from and to which progress, and onto a pawn?"""

    player: int
    source: int
    target: int
    captured: bool

    @classmethod
    def of(cls, player: int, move: Move) -> LastMove:
        """A player's move."""
        return cls(player, move.source, move.target, move.captured is not None)


@dataclass(frozen=True)
class Extras:
    """What a picture may show beside the position.

    Attributes:
        legal: The progresses from which the player to move may play.
        shares: For some of them, how probable the move is.
        last: The last move.
    """

    legal: tuple[int, ...] = ()
    shares: Mapping[int, float] = field(default_factory=dict)
    last: LastMove | None = None


NOTHING = Extras()


@lru_cache(maxsize=64)
def board(rules: Rules) -> tuple[Shape, ...]:
    """The board without pawns and die."""
    return tuple(_board(rules))


def _board(rules: Rules) -> Iterator[Shape]:
    yield Box(0.05, 0.05, SIDE - 0.1, SIDE - 0.1, 0.5, TABLE, LINE, 0.05)
    for square in range(TRACK_SQUARES):
        x, y = _centre(track_cell(square))
        yield Disc(x, y, 0.42, PAPER, LINE)
    for player, corner in enumerate(rules.corners):
        colour, tint = COLOURS[player], TINTS[player]
        x, y = _middle_of_yard(corner)
        yield Box(x - 1.35, y - 1.35, 2.7, 2.7, 0.6, tint, colour, 0.06)
        for place, _ in enumerate(yard_cells(corner, rules)):
            yield Disc(*_yard_place(corner, place), 0.42, PAPER, colour)
        x, y = _centre(track_cell(SQUARES_PER_CORNER * corner))
        yield Disc(x, y, 0.42, tint, colour, 0.08)
        yield Polygon(_regular(x, y, 0.2, 3, 90.0 * corner), colour)
        for number, cell in enumerate(column_cells(corner, rules), 1):
            x, y = _centre(cell)
            yield Box(x - 0.42, y - 0.42, 0.84, 0.84, 0.16, tint, colour, 0.05)
            yield Text(x, y, str(number), 0.36, colour)


def pieces(position: Position, rules: Rules, extras: Extras = NOTHING) -> Iterator[Shape]:
    """What lies on the board: the last move, pawns, marks and the die.

    Raises:
        ValueError: The position is impossible under the rules.
    """
    position.check(rules)
    if extras.last is not None:
        yield from _trace(extras.last, rules)
        if extras.last.captured:
            yield from cross(*place_of(extras.last.player, extras.last.target, 0, rules))
    for player, pawns in enumerate(position.pawns):
        for rank, progress in enumerate(pawns):
            x, y = place_of(player, progress, rules.num_pawns - 1 - rank, rules)
            yield from pawn(x, y, player)
    yield from _marks(position, rules, extras)
    yield from _in_the_middle(position)


def pawn(x: float, y: float, player: int) -> Iterator[Shape]:
    """A pawn: its player's colour, and the player's sign in it."""
    yield Disc(x, y, 0.33, COLOURS[player], INK, 0.05)
    sides = _SIGN_SIDES[player]
    if sides == 0:
        yield Disc(x, y, 0.12, PAPER, PAPER)
    elif sides == 5:
        yield Polygon(_star(x, y, 0.21), PAPER)
    else:
        yield Polygon(_regular(x, y, 0.2 if sides == 3 else 0.19, sides, -90.0), PAPER)


def _trace(last: LastMove, rules: Rules) -> Iterator[Shape]:
    """The last move as an arrow."""
    start, end = (place_of(last.player, at, 0, rules) for at in (last.source, last.target))
    length = math.dist(start, end)
    if length < 0.5:
        return
    along = ((end[0] - start[0]) / length, (end[1] - start[1]) / length)
    tip = (end[0] - ARROW_GAP * along[0], end[1] - ARROW_GAP * along[1])
    root = (tip[0] - ARROW_HEAD * along[0], tip[1] - ARROW_HEAD * along[1])
    yield Stroke(start, root, ARROW, ARROW_WIDTH)
    yield Polygon(
        tuple(
            (tip[0] + x * along[0] - y * along[1], tip[1] + x * along[1] + y * along[0])
            for x, y in ARROW_TIP
        ),
        ARROW,
    )


def cross(x: float, y: float) -> Iterator[Shape]:
    """Where a pawn was captured; the arms reach out below the pawn that did it."""
    for sign in (-1, 1):
        reach = 0.46
        yield Stroke((x - reach, y - sign * reach), (x + reach, y + sign * reach), ARROW, 0.07)


def _marks(position: Position, rules: Rules, extras: Extras) -> Iterator[Shape]:
    """Rings around the pawns that may move, and how probable their moves are."""
    for progress in extras.legal:
        place = position.pawns[position.player].count(YARD) - 1 if progress == YARD else 0
        x, y = place_of(position.player, progress, place, rules)
        yield mark(x, y)
        if progress in extras.shares:
            yield from label(x, y, f"{100 * extras.shares[progress]:.0f}%")


def mark(x: float, y: float) -> Shape:
    """A ring around a pawn that may move."""
    return Ring(x, y, 0.44, MARK, 0.1)


def label(x: float, y: float, words: str) -> Iterator[Shape]:
    """Words below a pawn."""
    yield Box(x - 0.42, y + 0.3, 0.84, 0.34, 0.12, PAPER, MARK, 0.03)
    yield Text(x, y + 0.47, words, 0.26, INK)


def _in_the_middle(position: Position) -> Iterator[Shape]:
    if position.winner is not None:
        return crown(*MIDDLE, position.winner)
    return die(*MIDDLE, position.die, position.player)


def die(x: float, y: float, value: int | None, player: int) -> Iterator[Shape]:
    """The die, in the colour of whose turn it is; None where it is still to be rolled."""
    colour = COLOURS[player]
    yield Box(x - 0.42, y - 0.42, 0.84, 0.84, 0.2, PAPER, colour, 0.11)
    if value is None:
        yield Text(x, y, "?", 0.5, colour)
    for dx, dy in _PIPS.get(value or 0, ()):
        yield Disc(x + 0.2 * dx, y + 0.2 * dy, 0.075, INK, INK, 0.0)


def crown(x: float, y: float, player: int) -> Iterator[Shape]:
    """The winner's star, where the die was."""
    yield Disc(x, y, 0.46, COLOURS[player], INK, 0.05)
    yield Polygon(_star(x, y, 0.34), PAPER)


def place_of(player: int, progress: int, place: int, rules: Rules) -> Point:
    """The centre of a player's pawn; ``place`` counts in the yard only, from 0."""
    corner = rules.corners[player]
    if progress == YARD:
        return _yard_place(corner, place)
    return _centre(pawn_cell(corner, progress, place))


def _centre(cell: tuple[int, int]) -> Point:
    row, column = cell
    return MARGIN + column + 0.5, MARGIN + row + 0.5


def _middle_of_yard(corner: int) -> Point:
    near, far = MARGIN + 1.75, MARGIN + GRID_SIZE - 1.75
    return ((near, near), (far, near), (far, far), (near, far))[corner]


def _yard_place(corner: int, place: int) -> Point:
    x, y = _middle_of_yard(corner)
    row, column = divmod(place, 2)
    return x + (column - 0.5) * _YARD_STEP, y + (row - 0.5) * _YARD_STEP


def _regular(x: float, y: float, radius: float, sides: int, degrees: float) -> tuple[Point, ...]:
    """A regular polygon; its first corner lies in the direction given, clockwise from the right."""
    turn = 45.0 if sides == 4 else 0.0
    angles = [math.radians(degrees + turn + 360 * k / sides) for k in range(sides)]
    return tuple((x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles)


def _star(x: float, y: float, radius: float) -> tuple[Point, ...]:
    angles = [math.radians(-90 + 36 * k) for k in range(10)]
    reach = [radius if k % 2 == 0 else 0.42 * radius for k in range(10)]
    return tuple(
        (x + r * math.cos(a), y + r * math.sin(a)) for r, a in zip(reach, angles, strict=True)
    )
