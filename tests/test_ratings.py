"""Ratings: known answers, whatever the order of games, and intervals that hold."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from ludo_env.arena.ratings import ranking, rate, stages


def duels(wins: int, losses: int, ties: int = 0):
    """Games of agents 0 and 1: who played, places, and a block each."""
    count = wins + losses + ties
    places = np.array([[1, 2]] * wins + [[2, 1]] * losses + [[1, 1]] * ties)
    return np.array([[0, 1]] * count), places, np.arange(count)


def drawn(strengths, games: int, rng, players: int = 4):
    """Rankings drawn one place after another, in proportion to strengths."""
    strengths = np.asarray(strengths)
    agents = np.array([rng.choice(len(strengths), players, replace=False) for _ in range(games)])
    # Who is first to fall in a race of exponentials is chosen in proportion to the rates.
    times = rng.exponential(1 / strengths[agents])
    return agents, times.argsort(axis=1).argsort(axis=1) + 1, np.arange(games)


def test_two_agents_differ_by_the_logarithm_of_their_odds():
    ratings = rate(*duels(75, 25))
    assert ratings.points[0] == 0
    assert ratings.points[1] == pytest.approx(-400 * math.log10(3))
    half = 1.959964 * math.sqrt(1 / 75 + 1 / 25) * 400 / math.log(10)
    low, high = ratings.intervals[1]
    assert (low, high) == pytest.approx((ratings.points[1] - half, ratings.points[1] + half))
    assert ratings.intervals[0] == (0.0, 0.0)


def test_ties_of_two_are_davidsons():
    """With one parameter for ties, wins, losses and ties are all fitted exactly."""
    ratings = rate(*duels(40, 10, 50))
    assert ratings.points[1] == pytest.approx(-400 * math.log10(4))


def test_ties_do_not_part_equals():
    assert rate(*duels(5, 5, 20)).points == pytest.approx([0.0, 0.0])
    with pytest.raises(ValueError, match="no top"):  # ties are infinitely likely then
        rate(*duels(0, 0, 20))


def test_the_likelihood_has_its_top_there():
    """Against the likelihood as its definition says it, over all rankings of three."""
    rng = np.random.default_rng(1)
    agents, places, blocks = drawn([1.0, 2.0, 5.0], 400, rng, players=3)
    points = rate(agents, places, blocks).points

    def likelihood(points) -> float:
        strengths = 10 ** (np.asarray(points) / 400)
        total = 0.0
        for own, order in zip(agents, places, strict=True):
            ordered = strengths[own[np.argsort(order)]]
            total += sum(math.log(ordered[i] / ordered[i:].sum()) for i in range(len(ordered)))
        return total

    top = likelihood(points)
    for change in ([0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]):
        assert likelihood(points + np.array(change)) < top


def test_strengths_come_back_from_games_drawn_by_them():
    rng = np.random.default_rng(2)
    strengths = [1.0, 2.0, 4.0, 0.5, 3.0]
    ratings = rate(*drawn(strengths, 20_000, rng))
    expected = 400 * np.log10(strengths)
    assert np.abs(ratings.points - expected).max() < 12
    for (low, high), point in zip(ratings.intervals[1:], ratings.points[1:], strict=True):
        assert low < point < high
        assert high - low < 30


def test_intervals_hold_as_often_as_they_say():
    rng = np.random.default_rng(3)
    held = []
    for _ in range(300):
        ratings = rate(*drawn([1.0, 2.0, 3.0], 150, rng, players=3))
        expected = 400 * np.log10([2.0, 3.0])
        held += [
            low <= e <= high for (low, high), e in zip(ratings.intervals[1:], expected, strict=True)
        ]
    assert 0.92 < np.mean(held) < 0.975


def test_games_that_repeat_each_other_count_once():
    """A block of four equal games says no more than one of them."""
    agents, places, _ = duels(30, 20)
    once = rate(agents, places, np.arange(50))
    again = rate(*(np.repeat(part, 4, axis=0) for part in (agents, places)), np.arange(200) // 4)
    assert again.points[1] == pytest.approx(once.points[1])
    assert again.intervals[1] == pytest.approx(once.intervals[1])


def test_ratings_do_not_depend_on_the_order_of_games():
    rng = np.random.default_rng(4)
    agents, places, blocks = drawn([1.0, 2.0, 4.0, 0.5, 3.0], 500, rng)
    places[rng.random(500) < 0.1, :] = [1, 2, 2, 4]
    first = rate(agents, places, blocks)
    for _ in range(5):
        order = rng.permutation(500)
        again = rate(agents[order], places[order], blocks[order])
        assert np.round(again.points, 6).tolist() == np.round(first.points, 6).tolist()
        assert np.round(again.intervals, 6).tolist() == np.round(first.intervals, 6).tolist()


def test_the_order_of_seats_says_nothing():
    rng = np.random.default_rng(5)
    agents, places, blocks = drawn([1.0, 2.0, 4.0], 200, rng, players=3)
    first = rate(agents, places, blocks)
    for order in permutations(range(3)):
        again = rate(agents[:, order], places[:, order], blocks)
        assert again.points == pytest.approx(first.points)


def test_the_anchor_has_no_points_and_differences_stay():
    rng = np.random.default_rng(6)
    games = drawn([1.0, 2.0, 4.0], 500, rng, players=2)
    first, second = rate(*games, anchor=0).points, rate(*games, anchor=2).points
    assert second[2] == 0
    assert second - second[0] == pytest.approx(first)


def test_an_agent_that_never_lost_cannot_be_rated():
    with pytest.raises(ValueError, match="never behind"):
        rate(*duels(10, 0))
    agents = np.array([[0, 1], [1, 0], [2, 0], [2, 1]])
    places = np.array([[1, 2], [1, 2], [1, 2], [1, 2]])
    with pytest.raises(ValueError, match="never behind"):
        rate(agents, places, np.arange(4))


def test_without_games_there_are_no_ratings():
    with pytest.raises(ValueError, match="at least one"):
        rate(np.zeros((0, 2), dtype=int), np.zeros((0, 2), dtype=int), np.zeros(0, dtype=int))


def test_a_ranking_is_the_choices_it_is_made_of():
    groups = ranking([7, 3, 5, 1], [2, 1, 2, 4])
    assert groups == ((3,), (5, 7), (1,))
    assert stages(groups) == [((1, 3, 5, 7), (3,)), ((1, 5, 7), (5, 7))]
    assert stages(((1,), (2, 3))) == [((1, 2, 3), (1,)), ((2, 3), (2, 3))]
