"""Statistics of results: pure functions."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


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
    z = _quantile(confidence)
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
    half = _quantile(confidence) * float(array.std(ddof=1)) / math.sqrt(len(array))
    return mean, Interval(mean - half, mean + half)


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}")
    return NormalDist().inv_cdf((1 + confidence) / 2)
