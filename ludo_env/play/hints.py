"""What an agent thinks of the moves of a decision, for people to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ludo_env.agents.mind import Thoughts
from ludo_env.core.game import Move


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


def hints(mind: Thoughts, player: int, moves: Iterable[Move]) -> list[Hint]:
    """A hint for each move of the only decision that an agent has thought about.

    Args:
        mind: Its thoughts, of one row.
        player: Who decides.
        moves: The legal moves.
    """
    return [
        Hint(move.action, bool(mind.actions[0] == move.action), _share(mind, player, move.action))
        for move in moves
    ]


def _share(mind: Thoughts, player: int, action: int) -> float | None:
    if mind.chances is not None:
        return float(mind.chances[0, action, player])
    if mind.probabilities is not None:
        return float(mind.probabilities[0, action])
    return None


def share_means(mind: Thoughts) -> str:
    """What a hint's share is."""
    return "chance to win" if mind.chances is not None else "probability"
