"""Chances to win, read from observations."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ludo_env.agents.views import checked_views, read_views
from ludo_env.core import lookahead
from ludo_env.core.leaf import Leaf
from ludo_env.core.observation import OBSERVATION


class Evaluation(Protocol):
    """What tells chances where looking ahead ends."""

    def leaf(self, num_players: int) -> Leaf:
        """It as the kernels take it, for a number of players."""
        ...


def roller_chances(observations: Any, evaluation: Evaluation, depth: int) -> NDArray[np.float64]:
    """The chances to win of players about to roll, by what they see; float64 (k,).

    Args:
        observations: Zeros and ones (k, D), the die still to be rolled; any rules among them.
        evaluation: Tells the chances where looking ahead ends.
        depth: Choices to look ahead, 0 for none.

    Raises:
        ValueError: These are no such observations.
    """
    views = checked_views(observations)
    if views[:, OBSERVATION["die"]].any():
        raise ValueError("observations must be of players whose die is still to be rolled")
    found = np.empty(len(views), dtype=np.float64)
    for alike in read_views(views):
        chances = np.empty((len(alike.games), alike.rules.num_players), dtype=np.float64)
        leaf, levels = evaluation.leaf(alike.rules.num_players), (0,) * depth
        lookahead.look_rows(alike.games, levels, leaf, chances, alike.rules.compiled)
        found[alike.rows] = chances[:, alike.observer]
    return found
