"""The boards of a player, their numbers, and the tables of what a player can do."""

from __future__ import annotations

import numpy as np
import pytest
from plain_solver import all_pawns, outcomes, possible, tries

from ludo_env import Rules
from ludo_env.core.boards import Boards, number_of_boards, tabulate

OPTIONS = [Rules(2, pawns, True, jumps) for pawns in (1, 2, 3) for jumps in (False, True)]


def bits_of(pawns: tuple[int, ...]) -> int:
    return sum(1 << p - 1 for p in pawns if p)


def pawns_of(bits: int, num_pawns: int) -> tuple[int, ...]:
    out = [p for p in range(44, 0, -1) if bits >> p - 1 & 1]
    return tuple(out) + (0,) * (num_pawns - len(out))


@pytest.mark.parametrize(("num_pawns", "number"), [(1, 42), (2, 904), (3, 13_288)])
def test_a_player_can_have_so_many_boards(num_pawns, number):
    boards = Boards(num_pawns)
    assert len(boards) == number_of_boards(num_pawns) == number
    assert sorted(boards.bits) == sorted(bits_of(p) for p in all_pawns(Rules(2, num_pawns)))


@pytest.mark.parametrize("num_pawns", [1, 2, 3])
def test_boards_are_numbered_by_distance_from_the_yard_to_the_end(num_pawns):
    boards = Boards(num_pawns)
    distances = [sum(pawns_of(int(bits), num_pawns)) for bits in boards.bits]
    assert distances == sorted(distances)
    assert boards.bits[0] == 0
    assert pawns_of(int(boards.bits[-1]), num_pawns) == tuple(range(40 + num_pawns, 40, -1))
    for group in range(boards.num_groups):
        assert set(distances[boards.first[group] : boards.first[group + 1]]) <= {group}


def test_numbers_are_found_for_boards_of_any_shape():
    boards = Boards(2)
    shuffled = np.random.default_rng(1).permutation(len(boards)).reshape(8, 113)
    assert (boards.number(boards.bits[shuffled]) == shuffled).all()


@pytest.mark.parametrize("rules", OPTIONS, ids=str)
def test_moves_and_captures_are_those_of_the_reference(rules):
    """R14 is not tabulated, so the reference plays without it."""
    free = Rules(2, rules.num_pawns, False, rules.home_jumps)
    boards = Boards(rules.num_pawns)
    tables = tabulate(boards, rules)
    chooser = np.random.default_rng(3)
    for i, j in chooser.integers(0, len(boards), (300, 2)):
        own, other = (pawns_of(int(boards.bits[k]), rules.num_pawns) for k in (i, j))
        if not possible(own, other):
            continue
        for die in range(1, 7):
            expected = {
                (bits_of(o.own), bits_of(o.other)) for o in outcomes(free, own, other, die).values()
            }
            assert after(tables, i, j, die) == expected, (own, other, die)


def after(tables, i, j, die):
    """Both boards after each move of a die, by the tables."""
    found = set()
    for k in range(tables.choices[i, die - 1]):
        square = tables.square[i, die - 1, k]
        left = tables.without[square, j] if square >= 0 else -1
        other = j if left < 0 else left
        found.add((int(tables.bits[tables.target[i, die - 1, k]]), int(tables.bits[other])))
    return found


@pytest.mark.parametrize("rules", OPTIONS, ids=str)
def test_the_most_advanced_pawns_move_is_the_first(rules):
    tables = tabulate(Boards(rules.num_pawns), rules)
    ranked = tables.bits[tables.target]  # moving a pawn further on gives the larger number
    for k in range(1, rules.num_pawns):
        several = tables.choices > k
        assert (ranked[several, k - 1] > ranked[several, k]).all()


@pytest.mark.parametrize("rules", OPTIONS, ids=str)
def test_dice_and_passes_make_up_all_cases_of_a_turn(rules):
    """R6, R9: with three tries the first 6 is played."""
    boards = Boards(rules.num_pawns)
    tables = tabulate(boards, rules)
    assert (tables.weight.sum(axis=1) + tables.passes == tables.total).all()
    won = len(boards) - 1
    for i in np.random.default_rng(4).integers(0, won, 200):
        own = pawns_of(int(boards.bits[i]), rules.num_pawns)
        thrice = tries(rules, own, (0,) * rules.num_pawns) == 3
        assert tables.total[i] == (216 if thrice else 6)
        if thrice:
            assert tables.weight[i].tolist() == [0, 0, 0, 0, 0, 91]


def test_captures_are_listed_by_square_and_group():
    boards = Boards(2)
    tables = tabulate(boards, Rules(2, 2))
    for square in (0, 17, 39):
        held = np.flatnonzero(boards.bits >> square & 1)
        before, left = tables.captures[square].T
        assert (before == held).all()
        assert (boards.bits[left] == boards.bits[held] & ~(1 << square)).all()
        assert (left == tables.without[square, held]).all()
        ends = tables.first_capture[square]
        for group in range(boards.num_groups):
            inside = before[ends[group] : ends[group + 1]]
            assert ((boards.first[group] <= inside) & (inside < boards.first[group + 1])).all()
        assert ends[-1] == len(before)
