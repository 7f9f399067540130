"""A policy for sb3-contrib's MaskablePPO that judges actions by where they lead."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ludo_env.agents.network import Network
from ludo_env.agents.views import read_views
from ludo_env.core.features import MOST_FEATURES
from ludo_env.core.foresight import MOVER, foresee_rows
from ludo_env.core.rules import MAX_PAWNS, MAX_PLAYERS
from ludo_env.core.vectors import LAYER_COLUMNS, SUM_COLUMNS

try:
    import torch
    from sb3_contrib.common.maskable.distributions import MaskableDistribution
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
except ImportError as error:
    message = "ludo_env.sb3_policy needs sb3-contrib: pip install 'ludo_env[train]'"
    raise ImportError(message) from error

from ludo_env.agents.torch_network import Evaluator, Head, odds

_WINNING = 20.0  # the logit of an action that wins
_NEVER = -1e9
_SB3_DEFAULT = {"pi": [64, 64], "vf": [64, 64]}  # what it fills in for no net_arch


class Foreseen(NamedTuple):
    """The legal actions of some positions, one after another, and what they lead to.

    Attributes:
        places: Which these are, (M,): four times the position plus the action.
        features: The features of all afterstates, one after another.
        starts: Where those of each start, (M,).
        owners: Who has the corners, (M, 4).
        wins: bool (M,).
    """

    places: torch.Tensor
    features: torch.Tensor
    starts: torch.Tensor
    owners: torch.Tensor
    wins: torch.Tensor


class Judgement(NamedTuple):
    """What a policy holds of the actions in some positions.

    Attributes:
        logits: (N, 4), 0 where illegal.
        worth: What actions are worth, (N, 4); where illegal, what a loss is.
        legal: bool (N, 4).
    """

    logits: torch.Tensor
    worth: torch.Tensor
    legal: torch.Tensor

    def values(self) -> torch.Tensor:
        """What legal actions are worth on average over the policy, (N, 1)."""
        chances = self.logits.masked_fill(~self.legal, _NEVER).softmax(dim=1)
        return (chances * self.worth).sum(dim=1, keepdim=True)


def foresee(observations: torch.Tensor) -> Foreseen:
    """What the legal actions in the positions that observations (N, D) show lead to.

    Raises:
        ValueError: These are no observations of players.
    """
    views = np.ascontiguousarray(observations.cpu().numpy(), dtype=np.int8)
    size = (len(views), MAX_PAWNS)
    features = np.empty((*size, MOST_FEATURES), dtype=np.int16)
    counts = np.zeros(size, dtype=np.int64)
    owners = np.zeros((*size, MAX_PLAYERS), dtype=np.int8)
    wins = np.zeros(size, dtype=np.bool_)
    for alike in read_views(views):
        own = (features, counts, owners, wins, alike.rules.compiled)
        foresee_rows(alike.games, alike.rows, *own)
    legal = counts > 0
    given = np.arange(MOST_FEATURES) < counts[legal][:, None]
    return Foreseen(
        torch.from_numpy(np.flatnonzero(legal)),
        torch.from_numpy(features[legal][given].astype(np.int32)),
        torch.from_numpy((np.cumsum(counts[legal]) - counts[legal]).astype(np.int32)),
        torch.from_numpy(owners[legal]),
        torch.from_numpy(wins[legal]),
    )


class AfterstatePolicy(MaskableActorCriticPolicy):
    """Evaluates the positions that actions lead to, as players of board games do.

    The rules are known: an action's logit is the logarithm of the mover's odds to win that a
    network of `ludo_env.core.network` tells for the position after it. A second head on the same
    first layer tells the mover's chance to win, from which a learned gain and shift make what the
    action is worth; a position's value is the mean over the policy. Illegal actions have the logit
    0 and are left to the mask.

    `network` gives the actor to `ludo_env.agents.expectimax.Expectimax`, which at depth 1
    plays what this policy finds most probable, without PyTorch.

    Args:
        *args: See `MaskableActorCriticPolicy`; ``net_arch`` is two widths, [256, 32] if left out.
        **kwargs: The same.

    References:
        R. Sutton, A. Barto, "Reinforcement Learning", 2nd edition (2018), 6.8: afterstates.
    """

    def _build(self, lr_schedule: Any) -> None:
        given = self.net_arch
        widths = [256, 32] if given == _SB3_DEFAULT else given
        first, second = SUM_COLUMNS, LAYER_COLUMNS
        fits = isinstance(widths, list) and len(widths) == 2 and min(widths) > 0
        if not fits or widths[0] % first or widths[1] % second:
            raise ValueError(
                f"net_arch of an AfterstatePolicy must be two multiples of {first} and {second}, "
                f"got {given!r}"
            )
        self.actor = Evaluator(*widths)
        self.critic = Head(*widths)
        self.gain = torch.nn.Parameter(torch.tensor(2.0))
        self.shift = torch.nn.Parameter(torch.tensor(-1.0))
        self.optimizer = self.optimizer_class(
            self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )

    def network(self, about: dict[str, Any] | None = None) -> Network:
        """The network that chooses actions; a copy."""
        return self.actor.network(about)

    def critic_network(self) -> Network:
        """The network that tells chances; a copy."""
        return self.actor.network_with(self.critic)

    def _judge(self, observations: torch.Tensor) -> Judgement:
        """The actions of the positions that observations (N, D) show."""
        foreseen, count = foresee(observations), len(observations)
        first = self.actor.first_layer(foreseen.features, foreseen.starts)
        found = odds(self.actor.head(first), foreseen.owners, MOVER)
        chances = odds(self.critic(first), foreseen.owners, MOVER).sigmoid()
        worth = self.gain * chances.masked_fill(foreseen.wins, 1.0) + self.shift
        logits = found.masked_fill(foreseen.wins, _WINNING)
        flat = torch.zeros(count * MAX_PAWNS)
        judged = Judgement(
            flat.index_copy(0, foreseen.places, logits),
            (flat + self.shift).index_copy(0, foreseen.places, worth),
            flat.bool().index_fill(0, foreseen.places, True),
        )
        return Judgement(*(part.view(count, MAX_PAWNS) for part in judged))

    def _distribution(self, logits: torch.Tensor, masks: Any) -> MaskableDistribution:
        distribution = self.action_dist.proba_distribution(action_logits=logits)
        if masks is not None:
            distribution.apply_masking(masks)
        return distribution

    def forward(
        self, obs: Any, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions (N,), the positions' values (N, 1) and logarithms of probabilities (N,)."""
        judged = self._judge(obs)
        distribution = self._distribution(judged.logits, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, judged.values(), distribution.log_prob(actions)

    def evaluate_actions(
        self, obs: Any, actions: torch.Tensor, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """What the actions are worth (N, 1), logarithms of their probabilities and entropies (N,).

        A return tells of the action that was taken, so it is what that one's worth learns from.
        """
        judged = self._judge(obs)
        distribution = self._distribution(judged.logits, action_masks)
        taken = judged.worth.gather(1, actions.long().view(-1, 1))
        return taken, distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Any, action_masks: Any = None) -> MaskableDistribution:
        """The distribution over actions."""
        return self._distribution(self._judge(obs).logits, action_masks)

    def predict_values(self, obs: Any) -> torch.Tensor:
        """Values of positions, (N, 1)."""
        return self._judge(obs).values()
