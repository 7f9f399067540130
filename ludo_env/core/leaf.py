"""What tells the chances where looking ahead ends: a network, or the careful agent's advice.

`Advice` is one row of `careful_weights.VALUES`.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from ludo_env.core import network as net
from ludo_env.core.careful import evaluate_carefully
from ludo_env.core.network import Arrays

Advice = tuple[float, ...]
Leaf = Arrays | Advice


def workspace(leaf):
    """The memory that evaluating takes."""
    return net.workspace(leaf) if isinstance(leaf[0], np.ndarray) else ()


@overload(workspace)
def _compiled_workspace(leaf):
    if _is_network(leaf):
        return lambda leaf: net.workspace(leaf)
    return lambda leaf: ()


def evaluate(game, leaf, work, chances, rules):
    """Write each player's chance to win, float64 (P,), in player order; in place.

    Args:
        game: int64 (ROW,); ``TURN`` names the player about to roll.
        leaf: A network's arrays, or advice.
        work: Its `workspace`.
        chances: Is written; sums to 1.
        rules: `CompiledRules`.
    """
    if isinstance(leaf[0], np.ndarray):
        net.evaluate(game, leaf, work, chances, rules)
    else:
        evaluate_carefully(game, leaf, chances, rules)


@overload(evaluate)
def _compiled_evaluate(game, leaf, work, chances, rules):
    return _by_network if _is_network(leaf) else _by_advice


def _by_network(game, leaf, work, chances, rules):
    net.evaluate(game, leaf, work, chances, rules)


def _by_advice(game, leaf, work, chances, rules):
    evaluate_carefully(game, leaf, chances, rules)


def _is_network(leaf):
    return isinstance(leaf[0], types.Array)
