"""What is drawn where, whatever the medium: cells (row, column) on an 11x11 grid.

The track is a cross walked clockwise, its arms three cells wide; the middle line of each arm is a
home column. Corners go clockwise from the top left. Only corner 0 is laid out here; every other
corner is the same quarter turned.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from ludo_env.core.position import Position, track_square
from ludo_env.core.rules import LAST_TRACK, SQUARES_PER_CORNER, YARD, Rules

Cell = tuple[int, int]
"""Row and column, 0 … 10 from the top left."""

GRID_SIZE = 11
CENTRE = GRID_SIZE // 2

_YARD_SIDE = 2
_FIRST_START: Cell = (CENTRE - 1, 0)
_RIGHT, _UP = (0, 1), (-1, 0)
_FIRST_STEPS = (_RIGHT,) * 4 + (_UP,) * 4 + (_RIGHT,)


class Pawn(NamedTuple):
    """A pawn: its player, and its rank among the player's pawns, 0 for the most advanced."""

    player: int
    rank: int


def turned(cell: Cell, quarters: int) -> Cell:
    """The cell after clockwise quarter turns of the board."""
    row, column = cell
    for _ in range(quarters % 4):
        row, column = column, GRID_SIZE - 1 - row
    return row, column


def _moved(cell: Cell, step: Cell) -> Cell:
    return cell[0] + step[0], cell[1] + step[1]


_FIRST_QUARTER = tuple(accumulate(_FIRST_STEPS, _moved, initial=_FIRST_START))


def track_cell(square: int) -> Cell:
    """The cell of a track square, 0 … 39 (R1)."""
    quarter, place = divmod(square, SQUARES_PER_CORNER)
    return turned(_FIRST_QUARTER[place], quarter)


def column_cell(corner: int, progress: int) -> Cell:
    """The cell of a corner's column square, progress 41 (outermost) … 44 (R3)."""
    return turned((CENTRE, progress - LAST_TRACK), corner)


def yard_cell(corner: int, place: int) -> Cell:
    """The cell of a corner's yard place, 0 … 3; place 0 is the corner of the grid."""
    return turned(divmod(place, _YARD_SIDE), corner)


def pawn_cell(corner: int, progress: int, place: int) -> Cell:
    """The cell of a pawn of the player in a corner; `place` is used in the yard only."""
    if progress == YARD:
        return yard_cell(corner, place)
    if progress <= LAST_TRACK:
        return track_cell(track_square(corner, progress))
    return column_cell(corner, progress)


def start_cells(rules: Rules) -> list[Cell]:
    """The start square of each player, in player order (R1, R2)."""
    return [track_cell(SQUARES_PER_CORNER * corner) for corner in rules.corners]


def column_cells(corner: int, rules: Rules) -> list[Cell]:
    """The column squares of a corner that exist, outermost first."""
    return [column_cell(corner, p) for p in range(LAST_TRACK + 1, rules.last_progress + 1)]


def yard_cells(corner: int, rules: Rules) -> list[Cell]:
    """The yard places of a corner that exist: one for each pawn."""
    return [yard_cell(corner, place) for place in range(rules.num_pawns)]


def pawn_cells(position: Position, rules: Rules) -> dict[Cell, Pawn]:
    """Which pawn is on which cell; a yard is filled from place 0 on.

    Raises:
        ValueError: The position is impossible under the rules.
    """
    position.check(rules)
    # Pawns are held most advanced first, so those in the yard are the last: counting places from
    # the end fills the yard from its first place.
    return {
        pawn_cell(corner, progress, rules.num_pawns - 1 - rank): Pawn(player, rank)
        for player, corner in enumerate(rules.corners)
        for rank, progress in enumerate(position.pawns[player])
    }
