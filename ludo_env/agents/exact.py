"""Perfect play from a solved game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints
from ludo_env.solution import TIE, Solution


class ExactAgent:
    """Plays a best action, the first of them, in games that its solution covers.

    Args:
        solution: A `Solution`, or the path of one's file.

    Raises:
        ValueError: The file cannot be read.
    """

    def __init__(self, solution: Solution | str | Path) -> None:
        self.name = "solution" if isinstance(solution, Solution) else str(solution)
        self.solution = solution if isinstance(solution, Solution) else Solution.load(solution)

    def act(self, batch: GameBatch, rows: Ints) -> Ints:
        """See `Agent.act`.

        Raises:
            ValueError: The games have other rules than the solution's.
        """
        if not self.solution.covers(batch.rules):
            raise ValueError(f"{self} solves {self.solution.rules}, not {batch.rules}")
        values = self.solution.action_values(batch, rows)
        best = values.max(axis=1, keepdims=True)
        return np.asarray((values >= best - TIE).argmax(axis=1), dtype=np.int64)

    def __reduce__(self) -> tuple[Any, ...]:
        in_memory = not isinstance(self.solution.table, np.memmap)
        return type(self), (self.solution if in_memory else self.name,)

    def __repr__(self) -> str:
        return f"exact:{self.name}"
