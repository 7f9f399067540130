"""Two matches by the same dice: what the first agent of one has before that of the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ludo_env.arena.results import Results
from ludo_env.arena.stats import Interval, block_means, mean_interval


@dataclass(frozen=True)
class Difference:
    """How far apart the win rates of two agents are.

    Attributes:
        mean: The first match's win rate less the second's.
        interval: Of 95 %, by the differences within blocks.
        variance_left: The differences' variance as a share of what it would be if the two matches
            had nothing in common.
    """

    mean: float
    interval: Interval
    variance_left: float


def compare(one: Results, other: Results) -> Difference:
    """Compare the first agents of two matches that were played by the same dice.

    Play both with the same seed, rules and number of games, against the same opponents: each block
    of games then tells a difference in which the dice that both had take no part.

    Raises:
        ValueError: The matches have other games, or fewer than two blocks.
    """
    if one.rules != other.rules or not np.array_equal(one.seeds, other.seeds):
        raise ValueError("matches must have the same rules, seed and games to be compared")
    own, others = (_by_block(results) for results in (one, other))
    mean, interval = mean_interval(own - others)
    apart = own.var(ddof=1) + others.var(ddof=1)
    left = float((own - others).var(ddof=1) / apart) if apart else 0.0
    return Difference(mean, interval, left)


def _by_block(results: Results) -> np.ndarray:
    rows, players = results.seats_of(0)
    return block_means(results.places[rows, players] == 1, results.blocks[rows])
