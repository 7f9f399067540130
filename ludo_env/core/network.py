"""A small network that tells each player's chance to win in a position before a roll.

The first layer sums the rows of a table for the features that a position has; rectified, it feeds
one hidden layer and an output for each corner, of which those that play share one in proportion to
their exponentials.

All sums run in a fixed order, position by position, so that a position is evaluated alike in any
batch, and without reassociation, so that machines agree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.features import MOST_FEATURES, write_features
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import corner_of, player_after, player_of, players
from ludo_env.core.rows import block_of
from ludo_env.core.rules import MAX_PLAYERS
from ludo_env.core.shares import share_one
from ludo_env.core.vectors import add_layer, sum_rows

# A network as the kernels take it: a plain tuple of float32 arrays.
Arrays = tuple[NDArray[np.float32], ...]
TABLE, BIAS, HIDDEN, HIDDEN_BIAS, OUTPUT, OUTPUT_BIAS = range(6)
"""(F, H), (H,), (H, K), (K,), (K, 4), (4,)."""


@compiled
def workspace(network):
    """The memory that evaluating takes: features, both layers, outputs."""
    return (
        np.empty(MOST_FEATURES, dtype=np.int64),
        np.empty(len(network[BIAS]), dtype=np.float32),
        np.empty(len(network[HIDDEN_BIAS]), dtype=np.float32),
        np.empty(MAX_PLAYERS, dtype=np.float32),
    )


@compiled
def evaluate(game, network, work, chances, rules):
    """Write each player's chance to win, float64 (P,), in player order; in place.

    Args:
        game: int64 (ROW,); ``TURN`` names the player about to roll.
        network: The network's arrays.
        work: Its `workspace`.
        chances: Is written; sums to 1.
        rules: `CompiledRules`.
    """
    features, first, hidden, outputs = work
    count = write_features(game, features, rules)
    sum_rows(network[TABLE], network[BIAS], block_of(features, 0, count), first)
    add_layer(first, network[HIDDEN], network[HIDDEN_BIAS], hidden)
    _read_out(hidden, network[OUTPUT], network[OUTPUT_BIAS], outputs)
    roller = player_of(game)
    for places in range(players(rules)):
        output = outputs[corner_of(roller, places, rules)]
        chances[player_after(roller, places, rules)] = float(output)
    share_one(chances, roller, rules)


@compiled
def _read_out(hidden, weights, bias, outputs):
    """The output layer over rectified hidden units; in place."""
    _copy(bias, outputs)
    for i in range(len(hidden)):
        given = max(hidden[i], np.float32(0))
        for j in range(len(outputs)):
            outputs[j] += given * weights[i, j]


@compiled
def _copy(values, target):
    for j in range(len(target)):
        target[j] = values[j]
