"""The board as ASCII text, three characters to a cell; in colour where a terminal has it."""

from __future__ import annotations

from ludo_env.core.position import Position
from ludo_env.core.rules import TRACK_SQUARES, Rules
from ludo_env.render.scene import (
    GRID_SIZE,
    Cell,
    column_cells,
    pawn_cells,
    start_cells,
    track_cell,
    yard_cell,
    yard_cells,
)

_CELL_WIDTH = 3
_NOTHING = " " * _CELL_WIDTH
_TRACK = " . "
_STARTS = ("[>]", "[v]", "[<]", "[^]")  # by corner: the way the pawns walk from there
_COLUMNS = (" - ", " | ", " - ", " | ")  # by corner: along its arm
_YARD = "( )"
_LEGEND = ". track   [>] start   - | column   ( ) yard   0-{last} pawns"

_LABEL_CELLS = 3
_PLAYER_CODES = ("34", "33", "32", "35")
"""Each player's colour as terminals number them: blue, yellow, green, magenta."""
_LABEL_ROW = 2  # just below a yard at the top, mirrored at the bottom


def board_text(position: Position, rules: Rules) -> str:
    """The board, whose turn it is and a legend; the same number of lines for all positions.

    Pawns are marked by their player's digit. Corners that do not play have no yard, column or
    start square.

    Raises:
        ValueError: The position is impossible under the rules.
    """
    return _assembled(_signs(position, rules), position, rules)


def coloured_text(position: Position, rules: Rules) -> str:
    """`board_text` for terminals: what is a player's is in its colour, its pawns reversed.

    Raises:
        ValueError: The position is impossible under the rules.
    """
    signs, pawns = _signs(position, rules), pawn_cells(position, rules)
    codes = _codes(rules)
    for cell, sign in signs.items():
        left, middle, right = (_painted(char, codes.get(cell)) for char in sign)
        if cell in pawns:
            middle = _painted(sign[1], f"1;7;{_PLAYER_CODES[pawns[cell].player]}")
        signs[cell] = left + middle + right
    return _assembled(signs, position, rules)


def _codes(rules: Rules) -> dict[Cell, str]:
    """The colour of each cell that is a player's."""
    starts = start_cells(rules)
    found: dict[Cell, str] = {}
    for player, corner in enumerate(rules.corners):
        own = [starts[player], *column_cells(corner, rules), *yard_cells(corner, rules)]
        found |= dict.fromkeys([*own, *_label(player, corner)], _PLAYER_CODES[player])
    return found


def _painted(text: str, code: str | None) -> str:
    return text if code is None or text == " " else f"\x1b[{code}m{text}\x1b[0m"


def _signs(position: Position, rules: Rules) -> dict[Cell, str]:
    signs = _empty_board(rules)
    for cell, pawn in pawn_cells(position, rules).items():
        signs[cell] = _occupied(signs[cell], pawn.player)
    return signs


def _assembled(signs: dict[Cell, str], position: Position, rules: Rules) -> str:
    legend = _LEGEND.format(last=rules.num_players - 1)
    return "\n".join([*_lines(signs), "", _status(position), legend])


def _empty_board(rules: Rules) -> dict[Cell, str]:
    signs = {track_cell(square): _TRACK for square in range(TRACK_SQUARES)}
    starts = start_cells(rules)
    for player, corner in enumerate(rules.corners):
        signs[starts[player]] = _STARTS[corner]
        signs |= dict.fromkeys(column_cells(corner, rules), _COLUMNS[corner])
        signs |= dict.fromkeys(yard_cells(corner, rules), _YARD)
        signs |= _label(player, corner)
    return signs


def _label(player: int, corner: int) -> dict[Cell, str]:
    """The player's name beside the yard, cut into cells."""
    row, column = yard_cell(corner, 0)
    left = column == 0
    pad = str.ljust if left else str.rjust
    text = pad(f"player {player}", _LABEL_CELLS * _CELL_WIDTH)
    label_row = _LABEL_ROW if row == 0 else GRID_SIZE - 1 - _LABEL_ROW
    first = 0 if left else GRID_SIZE - _LABEL_CELLS
    return {
        (label_row, first + i): text[_CELL_WIDTH * i : _CELL_WIDTH * (i + 1)]
        for i in range(_LABEL_CELLS)
    }


def _occupied(sign: str, player: int) -> str:
    """The sign with a pawn on it: brackets stay, so start squares and yards stay recognisable."""
    return f"{sign[0]}{player}{sign[-1]}"


def _lines(signs: dict[Cell, str]) -> list[str]:
    return [
        "".join(signs.get((row, column), _NOTHING) for column in range(GRID_SIZE)).rstrip()
        for row in range(GRID_SIZE)
    ]


def _status(position: Position) -> str:
    if position.winner is not None:
        return f"player {position.winner} has won"
    if position.die is None:
        return f"player {position.player} to roll"
    return f"player {position.player} to play a {position.die}"
