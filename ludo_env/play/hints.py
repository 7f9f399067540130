"""What an agent thinks of the moves of a decision, for people to read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ludo_env.agents.base import make_agent
from ludo_env.agents.mind import Thoughts, thoughts
from ludo_env.core.game import Game
from ludo_env.play.sitting import AgentFailedError


class Hint(NamedTuple):
    """What is thought of a move.

    Attributes:
        action: The move's.
        would_play: Whether the agent would play it.
        share: The chance to win after it, or how probable the agent plays it; None from an agent
            that tells neither.
    """

    action: int
    would_play: bool
    share: float | None


class Advice(NamedTuple):
    """What an agent thinks of a decision.

    Attributes:
        agent: The agent's spec.
        means: What a hint's share is.
        hints: One for each legal move.
    """

    agent: str
    means: str
    hints: list[Hint]


def advice(spec: str, game: Game) -> Advice:
    """Ask an agent what it thinks of a game's legal moves.

    Raises:
        AgentFailedError: It failed.
        ValueError: There is no such agent, or the game is over.
    """
    if game.player is None:
        raise ValueError("the game is over")
    agent = make_agent(spec, seed=0)
    try:
        mind = thoughts(agent, game.as_batch(), np.zeros(1, dtype=np.int64))
    except Exception as error:  # agents may be anybody's
        raise AgentFailedError(f"{spec} failed: {error!r}") from error
    return Advice(
        spec,
        "probability" if mind.chances is None else "chance to win",
        [
            Hint(
                move.action,
                bool(mind.actions[0] == move.action),
                _share(mind, game.player, move.action),
            )
            for move in game.legal_moves()
        ],
    )


def _share(mind: Thoughts, player: int, action: int) -> float | None:
    if mind.chances is not None:
        return float(mind.chances[0, action, player])
    if mind.probabilities is not None:
        return float(mind.probabilities[0, action])
    return None
