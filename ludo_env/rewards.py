"""What players are paid: replaceable reward objects.

An environment pays ``outcome`` once, when the game ends, and between a player's own decisions the
change of ``potential``, if there is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.rules import LAST_TRACK

Floats = NDArray[np.float64]


class Reward:
    """A reward: what the end of a game is worth, and a potential that shapes the way there.

    Subclasses define `outcome`; those that shape define `potential` and set `shapes`.

    Attributes:
        discount: γ of the shaping; it must equal the learner's.
        shapes: Whether `potential` is paid for.
    """

    discount: float = 1.0
    shapes: bool = False

    def outcome(self, places: NDArray[np.int8]) -> Floats:
        """Every player's payment at the end.

        Args:
            places: int (k, P), each player's place in ``k`` games, 1 is best (R20).

        Returns:
            float64 (k, P).
        """
        raise NotImplementedError

    def potential(self, pawns: NDArray[np.int8]) -> Floats:
        """Φ for every player.

        Args:
            pawns: int8 (k, P, n), progresses in ``k`` games.

        Returns:
            float64 (k, P).
        """
        raise NotImplementedError

    def loss(self, num_players: int) -> float:
        """The payment of a player who comes last alone."""
        return float(self.outcome(np.arange(1, num_players + 1, dtype=np.int8)[None])[0, -1])

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Win(Reward):
    """+1 to the winner, −1/(P−1) to each other player, at the end."""

    def outcome(self, places: NDArray[np.int8]) -> Floats:
        """See `Reward.outcome`."""
        others = -1.0 / (places.shape[1] - 1)
        return np.where(places == 1, 1.0, others)


class Place(Reward):
    """From +1 for the first to −1 for the last, linear in place, at the end.

    Players who share a place get the mean of the places they cover, so the payments sum to 0.
    """

    def outcome(self, places: NDArray[np.int8]) -> Floats:
        """See `Reward.outcome`."""
        sharing = (places[:, :, None] == places[:, None, :]).sum(axis=2)
        mean_place = places + (sharing - 1) / 2
        return 1.0 - 2.0 * (mean_place - 1) / (places.shape[1] - 1)


class Shaped(Win):
    """`Win`, plus γΦ(s′) − Φ(s) between a player's own consecutive decisions.

    Φ is the player's distance travelled less the mean of the opponents', as a share of the whole
    way. It is 0 once the game has ended, so optimal play is unchanged (Ng, Harada and Russell,
    "Policy invariance under reward transformations", ICML 1999), provided that γ is the learner's.

    Args:
        discount: γ, above 0 and at most 1.

    Raises:
        ValueError: The discount is out of range.
    """

    shapes = True

    def __init__(self, discount: float = 1.0) -> None:
        if isinstance(discount, bool) or not isinstance(discount, int | float | np.floating):
            raise ValueError(f"discount must be a number above 0 and at most 1, got {discount!r}")
        if not 0.0 < discount <= 1.0:
            raise ValueError(f"discount must be above 0 and at most 1, got {discount!r}")
        self.discount = float(discount)

    def potential(self, pawns: NDArray[np.int8]) -> Floats:
        """See `Reward.potential`."""
        num_players, num_pawns = pawns.shape[1:]
        whole_way = num_pawns * LAST_TRACK + num_pawns * (num_pawns + 1) / 2
        travelled = pawns.sum(axis=2) / whole_way
        others = (travelled.sum(axis=1, keepdims=True) - travelled) / (num_players - 1)
        return travelled - others

    def __repr__(self) -> str:
        return f"Shaped(discount={self.discount})"


REWARDS = {"win": Win, "place": Place, "shaped": Shaped}
"""The rewards that environments know by name."""


def as_reward(reward: Any) -> Reward:
    """A reward object from its name or itself.

    Raises:
        ValueError: The argument is neither.
    """
    if isinstance(reward, Reward):
        return reward
    if not isinstance(reward, str) or reward not in REWARDS:
        names = ", ".join(map(repr, REWARDS))
        raise ValueError(
            f"reward must be one of {names} or a ludo_env.rewards.Reward, got {reward!r}"
        )
    return REWARDS[reward]()
