"""The board as text, and the cells it is drawn on."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from ludo_env.core.position import Position, track_square
from ludo_env.core.rules import (
    FIRST_COLUMN,
    LAST_COLUMN,
    LAST_TRACK,
    START,
    TRACK_SQUARES,
    YARD,
    Rules,
)
from ludo_env.render.scene import (
    CENTRE,
    GRID_SIZE,
    Cell,
    Pawn,
    column_cell,
    column_cells,
    pawn_cell,
    pawn_cells,
    start_cells,
    track_cell,
    turned,
    yard_cell,
    yard_cells,
)
from ludo_env.render.text import board_text

CORNERS = range(4)
TRACK = range(TRACK_SQUARES)
COLUMN = range(FIRST_COLUMN, LAST_COLUMN + 1)
PLACES = range(4)
ALL_RULES = [Rules(players, pawns) for players in (2, 3, 4) for pawns in (1, 2, 3, 4)]

BOARDS = (Path(__file__).parent / "golden" / "boards.txt").read_text(encoding="utf-8")
"""Boards that were looked at, each below its position."""


def _adjacent(cell: Cell, other: Cell) -> bool:
    return abs(cell[0] - other[0]) + abs(cell[1] - other[1]) == 1


def _random_positions(rules: Rules, count: int = 30) -> list[Position]:
    """Possible positions, many pawns in yard and column: impossible draws are drawn anew."""
    draw = random.Random(f"{rules}")
    column = range(FIRST_COLUMN, rules.last_progress + 1)
    progresses = [YARD, YARD, *range(START, LAST_TRACK + 1), *column, *column]
    found: list[Position] = []
    while len(found) < count:
        players = range(rules.num_players)
        pawns = tuple(tuple(draw.choices(progresses, k=rules.num_pawns)) for _ in players)
        player = draw.choice(players)
        position = Position(pawns, player, draw.choice([None, 1, 2, 3, 4, 5, 6]))
        if not position.problems(rules):
            found.append(position)
    return found


@pytest.mark.parametrize("known", BOARDS.split("\n\n\n"), ids=lambda known: known.split("\n")[0])
def test_the_board_of_a_known_position_is_drawn_to_the_letter(known: str) -> None:
    text, board = known.strip("\n").split("\n\n", 1)
    pawns = text.split(" ")[0].split("/")
    rules = Rules(len(pawns), len(pawns[0].split(".")))
    assert board_text(Position.parse(text, rules), rules) == board


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_any_board_is_ascii_without_trailing_whitespace_and_of_one_height(rules: Rules) -> None:
    texts = [board_text(position, rules) for position in _random_positions(rules)]
    assert all(text.isascii() and text.replace("\n", "").isprintable() for text in texts)
    assert all(line == line.rstrip() for text in texts for line in text.split("\n"))
    assert {len(text.split("\n")) for text in texts} == {GRID_SIZE + 3}


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_every_pawn_is_drawn_as_its_players_digit(rules: Rules) -> None:
    for position in _random_positions(rules):
        rows = board_text(position, rules).split("\n")[:GRID_SIZE]
        board = "".join(rows)
        for player in range(rules.num_players):
            assert board.replace(f"player {player}", "").count(str(player)) == rules.num_pawns


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_an_impossible_position_is_refused_not_drawn(rules: Rules) -> None:
    pawns = ((7,) * rules.num_pawns,) * rules.num_players
    with pytest.raises(ValueError, match="impossible position"):
        board_text(Position(pawns, rules.num_players), rules)


def test_every_square_column_square_and_yard_place_has_its_own_cell_on_the_grid() -> None:
    cells = [track_cell(square) for square in TRACK]
    cells += [column_cell(corner, progress) for corner in CORNERS for progress in COLUMN]
    cells += [yard_cell(corner, place) for corner in CORNERS for place in PLACES]
    assert len(set(cells)) == len(cells) == 40 + 16 + 16
    assert all(0 <= row < GRID_SIZE and 0 <= column < GRID_SIZE for row, column in cells)


def test_neighbours_on_the_track_are_neighbours_on_the_grid() -> None:
    for square in TRACK:
        assert _adjacent(track_cell(square), track_cell((square + 1) % TRACK_SQUARES))


def test_the_track_runs_clockwise_around_the_centre() -> None:
    centred = [(CENTRE - row, column - CENTRE) for row, column in map(track_cell, TRACK)]
    for (up, right), (next_up, next_right) in zip(centred, centred[1:] + centred[:1], strict=True):
        assert right * next_up - up * next_right < 0


@pytest.mark.parametrize("corner", CORNERS)
def test_a_column_leads_in_one_line_from_its_entrance_to_the_centre(corner: int) -> None:
    cells = [pawn_cell(corner, progress, 0) for progress in range(LAST_TRACK, LAST_COLUMN + 1)]
    cells.append((CENTRE, CENTRE))
    steps = {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(cells)}
    assert len(steps) == 1
    assert _adjacent(cells[0], cells[1])


def test_start_squares_and_yards_go_clockwise_from_the_top_left() -> None:
    assert start_cells(Rules(4)) == [(4, 0), (0, 6), (6, 10), (10, 4)]
    assert [yard_cell(corner, 0) for corner in CORNERS] == [(0, 0), (0, 10), (10, 10), (10, 0)]
    assert start_cells(Rules(2)) == [(4, 0), (6, 10)]


@pytest.mark.parametrize("corner", CORNERS)
def test_pawns_of_any_players_on_one_track_square_are_drawn_on_one_cell(corner: int) -> None:
    for progress in range(START, LAST_TRACK + 1):
        square = track_square(corner, progress)
        assert pawn_cell(corner, progress, 0) == track_cell(square)
        for other in CORNERS:
            same = next(p for p in range(START, LAST_TRACK + 1) if track_square(other, p) == square)
            assert pawn_cell(other, same, 0) == pawn_cell(corner, progress, 0)


@pytest.mark.parametrize("corner", CORNERS)
def test_the_next_corner_is_drawn_as_this_one_turned_by_a_quarter(corner: int) -> None:
    following = (corner + 1) % 4
    for progress in range(START, LAST_COLUMN + 1):
        assert pawn_cell(following, progress, 0) == turned(pawn_cell(corner, progress, 0), 1)
    for place in PLACES:
        assert yard_cell(following, place) == turned(yard_cell(corner, place), 1)


def test_a_quarter_turn_takes_the_top_left_to_the_top_right_and_four_change_nothing() -> None:
    assert turned((0, 1), 1) == (1, GRID_SIZE - 1)
    assert turned((3, 2), 4) == turned((3, 2), 0) == (3, 2)
    assert turned((CENTRE, CENTRE), 1) == (CENTRE, CENTRE)


def test_turning_the_seats_of_four_players_turns_the_drawn_pawns() -> None:
    rules = Rules(4)
    for position in _random_positions(rules):
        seats = Position(position.pawns[-1:] + position.pawns[:-1], 0)
        expected = {
            turned(cell, 1): Pawn((pawn.player + 1) % 4, pawn.rank)
            for cell, pawn in pawn_cells(Position(position.pawns, 0), rules).items()
        }
        assert pawn_cells(seats, rules) == expected


def test_pawns_are_told_by_player_and_rank_and_fill_the_yard_from_its_first_place() -> None:
    position = Position.parse("42.5.0.0/1.0.0.0 0 3", Rules(2))
    assert pawn_cells(position, Rules(2)) == {
        (5, 2): Pawn(0, 0),
        (4, 4): Pawn(0, 1),
        (0, 1): Pawn(0, 2),
        (0, 0): Pawn(0, 3),
        (6, 10): Pawn(1, 0),
        (9, 10): Pawn(1, 1),
        (10, 9): Pawn(1, 2),
        (10, 10): Pawn(1, 3),
    }


@pytest.mark.parametrize("num_pawns", [1, 2, 3, 4])
def test_only_the_column_squares_and_yard_places_of_the_game_exist(num_pawns: int) -> None:
    rules = Rules(2, num_pawns)
    assert column_cells(0, rules) == [(5, 1), (5, 2), (5, 3), (5, 4)][:num_pawns]
    assert yard_cells(0, rules) == [(0, 0), (0, 1), (1, 0), (1, 1)][:num_pawns]
