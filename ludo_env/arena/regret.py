"""What agents gave away in the games of a match, where these have been solved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ludo_env.arena.results import Results
from ludo_env.core.batch import GameBatch
from ludo_env.solution import Solution

_GAMES = 4096


def losses(results: Results, solution: Solution) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The win probability that players lost by their decisions, against perfect play.

    Args:
        results: Games that the solution covers.
        solution: The solution.

    Returns:
        The losses of each player of each game, float64 (N, P), and over how many decisions with a
        choice, int64 (N, P).

    Raises:
        ValueError: The games have other rules.
    """
    lost = np.zeros(results.places.shape)
    choices = np.zeros(results.places.shape, dtype=np.int64)
    for first in range(0, len(results), _GAMES):
        part = slice(first, first + _GAMES)
        _follow(results, part, solution, lost[part], choices[part])
    return lost, choices


def _follow(
    results: Results,
    part: slice,
    solution: Solution,
    lost: NDArray[np.float64],
    choices: NDArray[np.int64],
) -> None:
    """Play some games again, and add up what is lost; in place."""
    played = results.actions[part]
    batch = GameBatch(len(played), results.rules, seed=results.seeds[part])
    lengths = np.array([len(actions) for actions in played])
    for decision in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > decision)
        actions = np.array([int(played[row][decision]) for row in rows.tolist()])
        values = solution.action_values(batch, rows)
        movers = batch.players[rows]
        lost[rows, movers] += values.max(axis=1) - values[np.arange(len(rows)), actions]
        choices[rows, movers] += (values >= 0).sum(axis=1) > 1
        batch.play(rows, actions)
