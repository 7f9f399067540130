"""How much agents give away, where perfect self-play would meet it."""

from __future__ import annotations

import numpy as np
import pytest

from ludo_env import GameBatch, Rules, solver
from ludo_env.agents.exact import ExactAgent
from ludo_env.solver.duel import Ground
from ludo_env.solver.visits import computed_visits, counted_visits

ONE, TWO = Rules(2, 1), Rules(2, 2)


@pytest.fixture(scope="module")
def of_advance(solved):
    return solver.regret("advance", TWO, solution=solved(TWO))


def test_perfect_play_has_no_regret(solved):
    found = solver.regret(solved(TWO), TWO, solution=solved(TWO))
    assert found.mean == pytest.approx(0, abs=1e-12)
    assert found.worst == ()


def test_with_one_pawn_there_is_nothing_to_regret():
    found = solver.regret("random", ONE)
    assert (found.mean, found.choices, found.worst) == (0, 0, ())
    assert found.decisions == pytest.approx(24.898, abs=1e-3)


def test_visits_are_those_of_games(solved):
    ground, solution = Ground(TWO), solved(TWO)
    computed = computed_visits(ground, solution)
    counted = counted_visits(ground, solution, games=20_000, seed=1)
    assert computed.decisions == pytest.approx(counted.decisions, rel=0.01)
    assert computed.often.sum() == pytest.approx(counted.often.sum(), rel=0.01)
    expected = dict(zip(keys(computed), computed.often, strict=True))
    for key, often in zip(keys(counted), counted.often, strict=True):
        assert key in expected
        if expected[key] > 0.005:  # visits to one position are rare: about a Poisson number
            assert abs(often - expected[key]) < 6 * np.sqrt(expected[key] / 20_000)


def keys(visits):
    columns = (visits.own.tolist(), visits.other.tolist(), visits.die.tolist())
    return list(zip(*columns, strict=True))


def test_each_game_of_the_sample_is_counted_whole(solved):
    counted = counted_visits(Ground(TWO), solved(TWO), games=50, seed=3)
    agent, batch = ExactAgent(solved(TWO)), GameBatch(50, TWO, seed=3)
    decisions, choices = np.zeros(50, dtype=int), np.zeros(50, dtype=int)
    while not batch.finished.all():
        rows = np.flatnonzero(~batch.finished)
        decisions[rows] += 1
        choices[rows] += batch.masks(rows).sum(axis=1) > 1
        batch.play(rows, agent.act(batch, rows))
    assert (counted.sample.decisions == decisions).all()
    assert (np.bincount(counted.sample.game, minlength=50) == choices).all()


def test_counted_regret_agrees_with_computed(solved, of_advance):
    counted = solver.regret("advance", TWO, solution=solved(TWO), games=4000, seed=2)
    assert counted.games == 4000
    assert 0 < counted.standard_error < 1e-4
    assert abs(counted.mean - of_advance.mean) < 4 * counted.standard_error
    again = solver.regret("advance", TWO, solution=solved(TWO), games=4000, seed=2)
    assert counted == again


def test_a_single_game_tells_no_standard_error(solved):
    found = solver.regret("random", TWO, solution=solved(TWO), games=1)
    assert found.games == 1
    assert found.standard_error is None


def test_regret_adds_up(of_advance):
    assert of_advance.games is None
    assert of_advance.standard_error == 0
    assert of_advance.per_game == pytest.approx(of_advance.mean * of_advance.decisions)
    assert of_advance.per_game == pytest.approx(of_advance.mean_of_choices * of_advance.choices)
    assert float(of_advance) == of_advance.mean
    assert 0.0022 < of_advance.mean < 0.0023


def test_regret_is_the_mean_loss_by_the_solution(solved):
    """Counted by hand in the same games."""
    solution, rules = solved(TWO), TWO
    batch, agent = GameBatch(100, rules, seed=4), ExactAgent(solution)
    lost, decisions = 0.0, 0
    while not batch.finished.all():
        for row in np.flatnonzero(~batch.finished):
            after = solution.values_after(batch.position(row))
            action = int(batch.scripted_actions([row], "first")[0])
            lost += max(after.values()) - after[action]
            decisions += 1
        rows = np.flatnonzero(~batch.finished)
        batch.play(rows, agent.act(batch, rows))
    found = solver.regret("first", rules, solution=solution, games=100, seed=4)
    assert found.mean == pytest.approx(lost / decisions, abs=1e-12)


def test_the_worst_positions_can_be_looked_up(solved, of_advance):
    assert len(of_advance.worst) == 10
    losses = [blunder.loss for blunder in of_advance.worst]
    assert losses == sorted(losses, reverse=True)
    for blunder in of_advance.worst:
        after = solved(TWO).values_after(blunder.position)
        assert blunder.best == solved(TWO).best_actions(blunder.position)
        assert blunder.loss == pytest.approx(max(after.values()) - after[blunder.played])
        assert blunder.visits >= 1e-4


def test_random_loses_the_mean_of_its_moves(solved):
    found = solver.regret("random", TWO, solution=solved(TWO), examples=3)
    assert len(found.worst) == 3
    for blunder in found.worst:
        after = solved(TWO).values_after(blunder.position)
        assert blunder.played is None
        assert blunder.loss == pytest.approx(max(after.values()) - np.mean(list(after.values())))


def test_a_weaker_agent_regrets_more(solved, of_advance):
    def least_advanced(batch, rows):
        return 3 - batch.masks(rows)[:, ::-1].argmax(axis=1)

    random = solver.regret("random", TWO, solution=solved(TWO))
    last = solver.regret(least_advanced, TWO, solution=solved(TWO))
    assert of_advance.mean < random.mean < last.mean


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"games": 0}, "games"),
        ({"games": 1.5}, "games"),
        ({"seed": -1}, "seed"),
        ({"examples": -1}, "examples"),
        ({"solution": "two.solution"}, "solution"),
        ({"policy": "nobody"}, "unknown agent"),
        ({"policy": lambda batch, rows: np.full(len(rows), 3)}, "illegal"),
        ({"policy": lambda batch, rows: None}, "must return integers"),
    ],
)
def test_wrong_arguments_are_refused_by_name(solved, arguments, why):
    given = {"policy": "random", "solution": solved(TWO), **arguments}
    with pytest.raises(ValueError, match=why):
        solver.regret(given.pop("policy"), TWO, **given)


def test_a_solution_of_other_rules_is_refused(solved):
    with pytest.raises(ValueError, match="solution must be a Solution that covers"):
        solver.regret("random", Rules(2, 2, False), solution=solved(TWO))
