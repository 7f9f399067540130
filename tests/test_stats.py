import math

import numpy as np
import pytest

from ludo_env.arena.stats import block_means, confidence_sequence, mean_interval, wilson


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


def test_means_of_blocks_in_any_order():
    assert block_means([1, 0, 0, 1, 1], [7, 2, 7, 2, 9]).tolist() == [0.5, 0.5, 1.0]


def test_a_confidence_sequence_as_its_source_defines_it():
    """Step by step, as theorem 2 is written."""
    values = np.random.default_rng(1).choice([0.0, 0.5, 1.0], 60)
    lows, highs = confidence_sequence(values, 0.9)
    bets = paid = gained = 0.0
    low, high = 0.0, 1.0
    spread, mean, alpha = 0.25, 0.5, 1 - 0.9
    for t in range(1, 61):
        x = values[t - 1]
        bet = min(math.sqrt(2 * math.log(2 / alpha) / (spread * t * math.log(1 + t))), 0.5)
        psi = (-math.log(1 - bet) - bet) / 4
        paid += 4 * (x - mean) ** 2 * psi
        bets += bet
        gained += bet * x
        half = (math.log(2 / alpha) + paid) / bets
        low, high = max(low, gained / bets - half), min(high, gained / bets + half)
        assert (lows[t - 1], highs[t - 1]) == pytest.approx((low, high))
        mean = (0.5 + values[:t].sum()) / (t + 1)
        means = [(0.5 + values[:i].sum()) / (i + 1) for i in range(1, t + 1)]
        spread = (0.25 + sum((values[i] - means[i]) ** 2 for i in range(t))) / (t + 1)


def test_a_confidence_sequence_holds_all_the_time():
    rng = np.random.default_rng(2)
    for chances in ([0.3, 0.0, 0.7], [0.05, 0.1, 0.85]):
        mean = chances[1] / 2 + chances[2]
        held = 0
        for _ in range(300):
            values = rng.choice([0.0, 0.5, 1.0], 2000, p=chances)
            lows, highs = confidence_sequence(values)
            held += (lows <= mean).all() and (mean <= highs).all()
        assert held / 300 >= 0.95


def test_a_confidence_sequence_narrows():
    lows, highs = confidence_sequence(np.random.default_rng(3).random(20_000) < 0.4)
    widths = highs - lows
    assert (np.diff(widths) <= 0).all()
    assert widths[-1] < 0.04


@pytest.mark.parametrize("values", [[0.5, 1.5], [-0.1], [[0.5]], [float("nan")]])
def test_values_out_of_range_have_no_confidence_sequence(values):
    with pytest.raises(ValueError, match="values must be from 0 to 1"):
        confidence_sequence(values)
