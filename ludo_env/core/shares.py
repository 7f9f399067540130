"""Chances to win that sum to 1, from logarithms."""

from __future__ import annotations

import math

from ludo_env.core.jit import compiled
from ludo_env.core.kernels import player_after, players


@compiled
def share_one(chances, roller, rules):
    """Turn logarithms, up to a common term, into chances by player that sum to 1; in place.

    Sums run from the roller on, not by seat, or seats would differ in the last bit.
    """
    highest = -math.inf
    for player in range(players(rules)):
        highest = max(highest, chances[player])
    total = 0.0
    for places in range(players(rules)):
        player = player_after(roller, places, rules)
        chances[player] = math.exp(chances[player] - highest)
        total += chances[player]
    for player in range(players(rules)):
        chances[player] /= total
