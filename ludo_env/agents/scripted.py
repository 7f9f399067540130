"""The scripted policies as agents."""

from __future__ import annotations

from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints, checked_seed
from ludo_env.core.scripted import policy_code


class Scripted:
    """A scripted policy; environments and rollouts play it without asking it.

    Args:
        policy: Its name.
        seed: The seed of its own draws.

    Raises:
        ValueError: There is no such policy, or the seed is none.
    """

    def __init__(self, policy: str, seed: int = 0) -> None:
        policy_code(policy)
        self.policy = policy
        self.seed = checked_seed(seed)

    def act(self, batch: GameBatch, rows: Ints) -> Ints:
        """See `Agent.act`."""
        return batch.scripted_actions(rows, self.policy, self.seed)

    def __repr__(self) -> str:
        return self.policy
