"""Three pawns, solved: some minutes and 3 GB, so only on demand (``pytest -m slow``)."""

from __future__ import annotations

import numpy as np
import pytest
from plain_solver import all_pawns, possible, turn_value

from ludo_env import Rules, solver
from ludo_env.solution import Solution

THREE = Rules(2, 3)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def solution(tmp_path_factory):
    path = tmp_path_factory.mktemp("three") / "three.solution"
    solver.solve(THREE).save(path)
    return Solution.load(path)


def test_the_first_player_wins_a_little_more_often(solution):
    assert solution.start == pytest.approx(0.508944565, abs=1e-7)
    assert solution.error <= 5e-8


def test_values_are_what_the_best_moves_of_the_reference_lead_to(solution):
    boards = list(all_pawns(THREE))
    chooser = np.random.default_rng(1)
    checked = 0
    while checked < 1000:
        own, other = (boards[k] for k in chooser.integers(0, len(boards), 2))
        if not possible(own, other):
            continue

        def rolls(mine, theirs):
            text = f"{'.'.join(map(str, mine))}/{'.'.join(map(str, theirs))} 0 -"
            return solution.value(text)

        def best(_own, _other, _die, after):
            return max(after.values())

        expected = turn_value(THREE, own, other, rolls, best)
        assert rolls(own, other) == pytest.approx(expected, abs=2 * solution.error), (own, other)
        checked += 1


def test_advance_regrets_more_than_perfect_play(solution):
    advance = solver.regret("advance", THREE, solution=solution, games=2000)
    perfect = solver.regret(solution, THREE, solution=solution, games=2000)
    assert perfect.mean < 1e-7 < 1e-3 < advance.mean
