"""Perfect play from a solved game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints
from ludo_env.core.rules import Rules
from ludo_env.solution import TIE, Solution
from ludo_env.tables import as_path


class ExactAgent:
    """Plays a best action, the first of them, in games that its solution covers.

    Args:
        solution: A `Solution`, or the path of one's file.

    Raises:
        ValueError: The file cannot be read.
    """

    def __init__(self, solution: Solution | str | Path) -> None:
        self._path: Path | None = None
        if isinstance(solution, Solution):
            self.name, self.solution = "solution", solution
        else:
            self.name, self._path = str(solution), as_path("solution", solution)
            self.solution = Solution.load(self._path)

    def act(self, batch: GameBatch, rows: Ints) -> Ints:
        """See `Agent.act`.

        Raises:
            ValueError: The games have other rules than the solution's.
        """
        self.require_cover(batch.rules)
        values = self.solution.action_values(batch, rows)
        best = values.max(axis=1, keepdims=True)
        return np.asarray((values >= best - TIE).argmax(axis=1), dtype=np.int64)

    def action_chances(self, batch: GameBatch, rows: Ints) -> NDArray[np.float64]:
        """Each player's chance to win after each action, if both play perfectly from there on.

        Returns:
            float64 (k, 4, 2), NaN where illegal.

        Raises:
            ValueError: The games have other rules than the solution's.
        """
        self.require_cover(batch.rules)
        values = self.solution.action_values(batch, rows)
        values[values < 0] = np.nan
        first_moves = (batch.players[rows] == 0)[:, None]
        return np.stack(
            [np.where(first_moves, values, 1 - values), np.where(first_moves, 1 - values, values)],
            axis=2,
        )

    def require_cover(self, rules: Rules) -> None:
        """Refuse rules that the solution does not cover.

        Raises:
            ValueError: These are such.
        """
        if not self.solution.covers(rules):
            raise ValueError(f"{self} solves {self.solution.rules}, not {rules}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._path or self.solution,)

    def __repr__(self) -> str:
        return f"exact:{self.name}"
