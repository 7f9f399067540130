"""What each legal action leads to, as the features that an evaluation starts from."""

from __future__ import annotations

import numpy as np

from ludo_env.core.features import MOST_FEATURES, write_features
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    ROW,
    corner_of,
    legal_destination,
    play,
    player_after,
    player_of,
    players,
)
from ludo_env.core.lookahead import copy
from ludo_env.core.rows import row_of
from ludo_env.core.rules import MAX_PAWNS

OTHER, MOVER = 1, 2
"""Who has a corner of an afterstate; 0 for nobody."""


@compiled
def foresee_rows(games, rows, features, counts, owners, wins, rules):
    """Write the features of the position after each legal action, before the next roll; in place.

    Args:
        games: int64 (k, ROW), at a decision.
        rows: int64 (k,), where each game's results are written.
        features: int16 (B, 4, MOST_FEATURES), see `write_features`.
        counts: int64 (B, 4), how many of these there are; stays as it is where illegal.
        owners: int8 (B, 4, 4), who has the corners, clockwise from that of the next to roll.
        wins: bool (B, 4), whether the action wins.
        rules: `CompiledRules`.
    """
    after = np.empty(ROW, dtype=np.int64)
    written = np.empty(MOST_FEATURES, dtype=np.int64)
    for k in range(len(games)):
        game, row = row_of(games, k), rows[k]
        mover = player_of(game)
        for action in range(MAX_PAWNS):
            destination = legal_destination(game, action, rules)
            if destination == 0:
                continue
            copy(game, after)
            wins[row, action] = not play(after, destination, rules)
            count = write_features(after, written, rules)
            counts[row, action] = count
            own = row_of(row_of(features, row), action)
            for i in range(count):
                own[i] = written[i]
            _write_owners(player_of(after), mover, row_of(row_of(owners, row), action), rules)


@compiled
def _write_owners(roller, mover, owners, rules):
    for places in range(players(rules)):
        player = player_after(roller, places, rules)
        owners[corner_of(roller, places, rules)] = MOVER if player == mover else OTHER
