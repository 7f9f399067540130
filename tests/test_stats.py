import math

import numpy as np
import pytest

from ludo_env.arena.stats import mean_interval, wilson


def test_wilson_interval_of_ten_wins_in_twenty_games_as_computed_by_hand():
    low, high = wilson(10, 20)
    z = 1.959963984540054
    half = z / (1 + z * z / 20) * math.sqrt(0.25 / 20 + z * z / 1600)
    assert low == pytest.approx(0.5 - half)
    assert high == pytest.approx(0.5 + half)


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [(0, 10, 0.0, 0.27753), (10, 10, 0.72247, 1.0), (1, 29, 0.00612, 0.17176)],
)
def test_wilson_interval_agrees_with_published_values(wins, games, low, high):
    assert wilson(wins, games) == pytest.approx((low, high), abs=5e-5)


def test_wilson_intervals_cover_the_true_rate_as_often_as_they_say():
    rng = np.random.default_rng(5)
    covered = [
        low <= 0.3 <= high for low, high in (wilson(w, 500) for w in rng.binomial(500, 0.3, 2000))
    ]
    assert 0.935 < np.mean(covered) < 0.965


def test_mean_interval_is_the_mean_and_its_standard_errors():
    mean, (low, high) = mean_interval([1, 2, 3, 4])
    error = np.std([1, 2, 3, 4], ddof=1) / 2
    assert mean == 2.5
    assert (low, high) == pytest.approx((2.5 - 1.959964 * error, 2.5 + 1.959964 * error))


@pytest.mark.parametrize(("wins", "games"), [(3, 2), (-1, 2), (0, 0)])
def test_impossible_counts_are_refused(wins, games):
    with pytest.raises(ValueError, match="wins must be 0 to games"):
        wilson(wins, games)


def test_a_confidence_outside_zero_to_one_is_refused():
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        wilson(1, 2, confidence=95)


def test_a_mean_needs_two_values():
    with pytest.raises(ValueError, match="at least two"):
        mean_interval([1.0])
