"""The opponents to learn against: scripted agents, and what the learner was before.

At stated steps the learner is copied into the pool, and all games get their opponents anew, from
their next deal on. Games are shared out among the scripted agents and the past selves; in a past
selves' game every seat is drawn by how hard they are to beat. A past self is a copy that plays
greedily, so opponents never change while the learner does.

Source: O. Vinyals and others, "Grandmaster level in StarCraft II using multi-agent reinforcement
learning", Nature 575 (2019): prioritised fictitious self-play, past selves weighted by
(1 − p)^k for a chance p of beating them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO

from ludo_env.agents.base import Agent
from ludo_env.agents.expectimax import Expectimax
from ludo_env.agents.sb3 import SB3Agent
from ludo_env.sb3_policy import AfterstatePolicy
from training.config import PoolConfig

PAST_SELF = "past_self"

_MEMORY = 0.99  # what each further game leaves of a member's win rate
_LEAST = 1e-3  # so that no member is forgotten


@dataclass
class Member:
    """A past self.

    Attributes:
        step: When it was the learner.
        agent: Plays as it did, greedily.
        win_rate: The learner's against it, of late; at first what equals have.
        games: The learner's games in which it had a seat.
    """

    step: int
    agent: Agent
    win_rate: float
    games: int = 0

    def count(self, has_won: bool) -> None:
        """Note a game's end; in place."""
        self.games += 1
        kept = min(_MEMORY, 1 - 1 / (self.games + 1))  # the mean while games are few
        self.win_rate += (1 - kept) * (has_won - self.win_rate)


class Pool:
    """The pool, and who plays in which game.

    Args:
        config: How past selves are kept and drawn.
        opponents: Agents' specs, `PAST_SELF` among them, with their shares of the games.
        num_games: Games of the learner.
        others: Opponents in each game, P − 1.
        seed: The seed of the draws.

    Attributes:
        members: The past selves, oldest first.
    """

    def __init__(
        self,
        config: PoolConfig,
        opponents: Mapping[str, float],
        num_games: int,
        others: int,
        seed: int,
    ) -> None:
        self.config = config
        self.members: list[Member] = []
        self._kinds = shared_out(opponents, num_games)
        self._others = others
        self._generator = np.random.default_rng(seed)
        self._taken_at = 0
        self._playing: list[list[Any]] = []
        self._following: list[list[Any]] = []

    @property
    def learns_from_itself(self) -> bool:
        """Whether past selves play at all."""
        return PAST_SELF in self._kinds

    def is_due(self, step: int) -> bool:
        """Whether it is time for a snapshot."""
        return self.learns_from_itself and step - self._taken_at >= self.config.every

    def add(self, step: int, agent: Agent) -> None:
        """Take a past self in; where the pool is full, the easiest leaves it; in place."""
        self._taken_at = step
        if len(self.members) == self.config.size:
            self.members.remove(max(self.members, key=lambda member: member.win_rate))
        self.members.append(Member(step, agent, 1 / (self._others + 1)))

    def seat(self) -> list[list[Any]]:
        """Draw the opponents that all games get from their next deal on: P − 1 each."""
        self._following = [self._draw(kind) for kind in self._kinds]
        return [
            [drawn.agent if isinstance(drawn, Member) else drawn for drawn in own]
            for own in self._following
        ]

    def _draw(self, kind: str) -> list[Any]:
        if kind != PAST_SELF:
            return [kind] * self._others
        chances = np.array([(1 - m.win_rate) ** self.config.power + _LEAST for m in self.members])
        drawn = self._generator.choice(
            len(self.members), size=self._others, p=chances / chances.sum()
        )
        return [self.members[number] for number in drawn]

    def begin(self) -> None:
        """All games have been dealt: the opponents drawn last play; in place."""
        self._playing = self._following

    def count(self, game: int, has_won: bool) -> None:
        """Note that the learner's game has ended, and that the next is dealt; in place."""
        met = {id(drawn): drawn for drawn in self._playing[game] if isinstance(drawn, Member)}
        for member in met.values():
            member.count(has_won)
        self._playing[game] = self._following[game]

    def table(self) -> list[dict[str, Any]]:
        """The members as plain values."""
        return [
            {"step": m.step, "games": m.games, "win_rate_of_late": round(m.win_rate, 4)}
            for m in self.members
        ]


def snapshot(model: MaskablePPO) -> Agent:
    """A copy of the learner that plays greedily."""
    if isinstance(model.policy, AfterstatePolicy):
        name = f"step_{model.num_timesteps}"
        return Expectimax(1, model.policy.network(), name)  # the same choices, compiled
    return copy.deepcopy(SB3Agent(model))


def shared_out(shares: Mapping[str, float], count: int) -> list[str]:
    """Names for ``count`` games, as near to the shares as whole games can be."""
    total = sum(shares.values())
    given = dict.fromkeys(shares, 0)
    names = []
    for i in range(1, count + 1):
        name = max(shares, key=lambda n: shares[n] / total * i - given[n])
        given[name] += 1
        names.append(name)
    return names
