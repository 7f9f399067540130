"""Statistics of results: pure functions."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def wilson(wins: int, games: int, confidence: float = 0.95) -> Interval:
    """The Wilson score interval of a win rate over independent games.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    Journal of the American Statistical Association 22 (1927).

    Raises:
        ValueError: There are no games, or not 0 ≤ wins ≤ games, or not 0 < confidence < 1.
    """
    if not 0 <= wins <= games or games < 1:
        raise ValueError(f"wins must be 0 to games, games at least 1; got {wins} of {games}")
    z = quantile(confidence)
    rate = wins / games
    scale = 1 + z * z / games
    middle = (rate + z * z / (2 * games)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / games + z * z / (4 * games * games))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, Interval]:
    """The mean of independent values and its interval by the normal approximation.

    Raises:
        ValueError: There are fewer than two values, or not 0 < confidence < 1.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"values must be at least two in a row, got shape {array.shape}")
    mean = float(array.mean())
    half = quantile(confidence) * float(array.std(ddof=1)) / math.sqrt(len(array))
    return mean, Interval(mean - half, mean + half)


def block_means(values: ArrayLike, blocks: ArrayLike) -> NDArray[np.float64]:
    """The mean of the values (N,) of each block, by the numbers (N,) of their blocks; (B,)."""
    number = np.unique(np.asarray(blocks), return_inverse=True)[1]
    sums = np.bincount(number, weights=np.asarray(values, dtype=np.float64))
    means: NDArray[np.float64] = sums / np.bincount(number)
    return means


def confidence_sequence(
    values: ArrayLike, confidence: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intervals of a mean that all hold at once, however often they are looked at.

    Interval ``t`` comes of the first ``t`` values; with the stated confidence the mean lies in
    every one of them, so that looking and stopping when one is narrow enough keeps what it says.

    Args:
        values: Independent, from 0 to 1, with one mean; (N,).
        confidence: Of all intervals together.

    Returns:
        Lower and upper ends, (N,); lower ends never fall, upper ends never rise.

    Source: I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting",
    Journal of the Royal Statistical Society B 86 (2024), theorem 2: the predictable plug-in
    empirical Bernstein confidence sequence.

    Raises:
        ValueError: A value is not from 0 to 1, or not 0 < confidence < 1.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not ((x >= 0) & (x <= 1)).all():
        raise ValueError(f"values must be from 0 to 1 in a row, got {values!r}")
    quantile(confidence)
    t = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (t + 1)
    spreads = (0.25 + np.cumsum((x - means) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], spreads])[:-1]
    means_before = np.concatenate([[0.5], means])[:-1]
    bet = np.minimum(
        np.sqrt(2 * math.log(2 / (1 - confidence)) / (before * t * np.log(1 + t))), 0.5
    )
    paid = (x - means_before) ** 2 * (-np.log1p(-bet) - bet)  # 4 ψ_E(λ) of the paper
    total = np.cumsum(bet)
    middle = np.cumsum(bet * x) / total
    half = (math.log(2 / (1 - confidence)) + np.cumsum(paid)) / total
    low = np.maximum.accumulate(np.clip(middle - half, 0.0, 1.0))
    high = np.minimum.accumulate(np.clip(middle + half, 0.0, 1.0))
    return low, high


def quantile(confidence: float) -> float:
    """How many standard errors a two-sided interval reaches to each side.

    Raises:
        ValueError: Not 0 < confidence < 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}")
    return NormalDist().inv_cdf((1 + confidence) / 2)
