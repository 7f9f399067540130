"""The network of `ludo_env.core.network` in PyTorch, to be trained."""

from __future__ import annotations

from typing import Any

from ludo_env.agents.network import Network
from ludo_env.core.features import NUM_FEATURES
from ludo_env.core.rules import MAX_PLAYERS

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as error:
    message = "ludo_env.agents.torch_network needs PyTorch: pip install 'ludo_env[train]'"
    raise ImportError(message) from error

_NOBODY = -1e9


class Head(nn.Module):
    """All but a network's first layer.

    Args:
        first: Units of the first layer.
        second: Units of the second, a multiple of 16.
    """

    def __init__(self, first: int, second: int) -> None:
        super().__init__()
        self.hidden = nn.Parameter(torch.randn(first, second) * (2 / first) ** 0.5)
        self.hidden_bias = nn.Parameter(torch.zeros(second))
        self.output = nn.Parameter(torch.randn(second, MAX_PLAYERS) * 0.05)
        self.output_bias = nn.Parameter(torch.zeros(MAX_PLAYERS))

    def forward(self, first: torch.Tensor) -> torch.Tensor:
        """The outputs by corner, clockwise from that of the player about to roll, (N, 4).

        Args:
            first: What the first layer gives, (N, H).
        """
        second = functional.relu(first) @ self.hidden + self.hidden_bias
        return functional.relu(second) @ self.output + self.output_bias


class Evaluator(nn.Module):
    """A network of a position before a roll.

    Args:
        first: Units of the first layer, a multiple of 64.
        second: Units of the second, a multiple of 16.
    """

    def __init__(self, first: int, second: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(NUM_FEATURES, first) * 0.1)
        self.bias = nn.Parameter(torch.zeros(first))
        self.head = Head(first, second)

    def first_layer(self, features: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
        """What the first layer gives, (N, H).

        Args:
            features: The features of all positions, one after another.
            starts: Where those of each position start, (N,).
        """
        return functional.embedding_bag(features, self.table, starts, mode="sum") + self.bias

    def forward(
        self, features: torch.Tensor, starts: torch.Tensor, plays: torch.Tensor
    ) -> torch.Tensor:
        """Logarithms of chances by corner, (N, 4).

        Args:
            features: See `first_layer`.
            starts: See `first_layer`.
            plays: Which corners play, bool (N, 4).
        """
        outputs = self.head(self.first_layer(features, starts))
        return functional.log_softmax(outputs.masked_fill(~plays, _NOBODY), dim=1)

    def network(self, about: dict[str, Any] | None = None) -> Network:
        """The network as it is; a copy."""
        return self.network_with(self.head, about)

    def network_with(self, head: Head, about: dict[str, Any] | None = None) -> Network:
        """The network with another head on its first layer; a copy."""
        parts = (head.hidden, head.hidden_bias, head.output, head.output_bias)
        arrays = (part.detach().cpu().numpy().copy() for part in (self.table, self.bias, *parts))
        return Network(tuple(arrays), about or {})


def odds(outputs: torch.Tensor, owners: torch.Tensor, owner: int) -> torch.Tensor:
    """The logarithm of one owner's chance against all others', (N,).

    Args:
        outputs: By corner, (N, 4).
        owners: Who has the corners, (N, 4), 0 for nobody.
        owner: Whose chance; each row has one corner of this owner.
    """
    own = outputs.masked_fill(owners != owner, 0.0).sum(dim=1)
    rest = outputs.masked_fill((owners == owner) | (owners == 0), _NOBODY)
    return own - rest.logsumexp(dim=1)
