"""What agents think of their actions, where they can tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludo_env.agents.base import Agent, ask
from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints
from ludo_env.core.rules import MAX_PAWNS


class Thoughts(NamedTuple):
    """An agent's view of some decisions.

    Attributes:
        actions: What it would play, int64 (k,).
        chances: Each player's chance to win after each action, float64 (k, 4, P), NaN where
            illegal; None from an agent that does not tell.
        probabilities: How probable each action is, float64 (k, 4); None from an agent that does
            not tell.
    """

    actions: Ints
    chances: NDArray[np.float64] | None
    probabilities: NDArray[np.float64] | None


def thoughts(agent: Agent, batch: GameBatch, rows: Ints) -> Thoughts:
    """Ask an agent what it would play in the rows (k,), all at a decision, and why.

    Agents tell by methods of their own: ``action_chances(batch, rows)`` and
    ``action_probabilities(batch, rows)``.

    Raises:
        ValueError: What it answers has another shape.
    """
    shown = batch.blind()
    actions = ask(agent, shown, rows)
    size = (len(rows), MAX_PAWNS)
    chances = _told(agent, "action_chances", shown, rows, (*size, batch.rules.num_players))
    return Thoughts(actions, chances, _told(agent, "action_probabilities", shown, rows, size))


def _told(
    agent: Agent, name: str, batch: GameBatch, rows: Ints, shape: tuple[int, ...]
) -> NDArray[np.float64] | None:
    if not hasattr(agent, name):
        return None
    found = np.asarray(getattr(agent, name)(batch, rows), dtype=np.float64)
    if found.shape != shape:
        raise ValueError(f"{name} of {agent} must be of shape {shape}, got {found.shape}")
    return found
