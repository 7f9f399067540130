"""Looking ahead over all dice, to where something else tells the chances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.agents.chances import Evaluation, roller_chances
from ludo_env.core.batch import GameBatch
from ludo_env.core.careful_weights import VALUES
from ludo_env.core.checks import Ints
from ludo_env.core.leaf import Advice
from ludo_env.core.rules import is_integer

MAX_DEPTH = 4
"""The greatest depth; each costs six to twenty times the one before."""


class CarefulEvaluation:
    """The careful agent's advice as each player's chance to win."""

    def leaf(self, num_players: int) -> Advice:
        """See `Evaluation.leaf`."""
        return VALUES[num_players - 2]


class Expectimax:
    """Plays what is best for the mover, every player being taken to do so, to a depth.

    Depth 1 looks at one's own move, depth 2 also at the next roll and the best move for each die,
    and so on. Chances are means over the dice that may come: those that will are not seen.

    Args:
        depth: From 1 to `MAX_DEPTH`.
        evaluation: Tells each player's chance to win where looking ahead ends: a `Network`, or the
            careful agent's (`CarefulEvaluation`).
        name: What to call the agent; its spec.

    Raises:
        ValueError: The depth is out of range.
    """

    def __init__(self, depth: int, evaluation: Evaluation, name: str) -> None:
        if not is_integer(depth) or not 1 <= depth <= MAX_DEPTH:
            raise ValueError(f"depth must be an integer from 1 to {MAX_DEPTH}, got {depth!r}")
        self.depth = int(depth)
        self.evaluation = evaluation
        self.name = name

    def act(self, batch: GameBatch, rows: Ints) -> Ints:
        """See `Agent.act`."""
        leaf = self.evaluation.leaf(batch.rules.num_players)
        return batch.best_actions(leaf, self.depth, rows)

    def action_chances(self, batch: GameBatch, rows: Ints) -> NDArray[np.float64]:
        """Each player's chance to win after each action, of which the agent plays the mover's best.

        Returns:
            float64 (k, 4, P), NaN where illegal.
        """
        leaf = self.evaluation.leaf(batch.rules.num_players)
        return batch.action_chances(leaf, self.depth, rows)

    def win_probabilities(self, observations: Any) -> NDArray[np.float64]:
        """The chances of players about to roll, by what they see; float64 (k,).

        The agent plays what leads to the best of these for it.

        Args:
            observations: Of players whose die is still to be rolled, (k, D), zeros and ones.

        Raises:
            ValueError: These are no such observations.
        """
        return roller_chances(observations, self.evaluation, self.depth - 1)

    def __repr__(self) -> str:
        return self.name
