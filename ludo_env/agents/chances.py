"""Chances to win, read from observations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core import lookahead
from ludo_env.core.checks import Ints
from ludo_env.core.kernels import DIE_BITS, ROW, TURN
from ludo_env.core.network import Arrays
from ludo_env.core.observation import OBSERVATION, OBSERVATION_LENGTH, read_observations
from ludo_env.core.rules import MAX_PAWNS, Rules

# Which corners others have, from the observer's own clockwise, by players and the observer's seat.
_SEATS = {
    (2,): (2, 0),
    (1, 2): (3, 0),
    (1, 3): (3, 1),
    (2, 3): (3, 2),
    (1, 2, 3): (4, 0),
}


def roller_chances(observations: Any, network: Arrays, depth: int) -> NDArray[np.float64]:
    """The chances to win of players about to roll, by what they see; float64 (k,).

    Args:
        observations: Zeros and ones (k, D), the die still to be rolled; any rules among them.
        network: The arrays that tell the chances where looking ahead ends.
        depth: Choices to look ahead, 0 for none.

    Raises:
        ValueError: These are no such observations.
    """
    views = _views(observations)
    games = np.zeros((len(views), ROW), dtype=np.int64)
    shapes = np.empty(len(views), dtype=np.int64)
    read_observations(views, games, shapes)
    chances = np.empty(len(views), dtype=np.float64)
    for shape in np.unique(shapes).tolist():
        rows = np.flatnonzero(shapes == shape)
        chances[rows] = _alike(games[rows], shape, network, depth)
    return chances


def _views(observations: Any) -> NDArray[np.int8]:
    views = np.asarray(observations)
    if views.ndim != 2 or views.shape[1] != OBSERVATION_LENGTH:
        raise ValueError(
            f"observations must be of shape (k, {OBSERVATION_LENGTH}), got {views.shape}"
        )
    if not np.isin(views, (0, 1)).all():
        raise ValueError("observations must be zeros and ones")
    if views[:, OBSERVATION["die"]].any():
        raise ValueError("observations must be of players whose die is still to be rolled")
    return np.ascontiguousarray(views, dtype=np.int8)


def _alike(boards: Ints, shape: int, network: Arrays, depth: int) -> NDArray[np.float64]:
    """Chances (k,) where the rules and the observer's seat are the same."""
    rules, observer = _rules_and_seat(shape)
    games = np.zeros_like(boards)
    for player, corner in enumerate(rules.corners):
        games[:, player] = boards[:, (corner - rules.corners[observer]) % 4]
    games[:, TURN] = observer << DIE_BITS
    chances = np.empty((len(games), rules.num_players), dtype=np.float64)
    lookahead.look_rows(games, (0,) * depth, network, chances, rules.compiled)
    return chances[:, observer]


def _rules_and_seat(shape: int) -> tuple[Rules, int]:
    """The rules that a view tells of, and the observer's player number."""
    pawns = shape & 7
    others = tuple(distance for distance in (1, 2, 3) if shape >> 2 + distance & 1)
    if not 1 <= pawns <= MAX_PAWNS or others not in _SEATS:
        raise ValueError("observations must be of a game's players, got a view of none")
    players, observer = _SEATS[others]
    return Rules(players, pawns, bool(shape >> 6 & 1), bool(shape >> 7 & 1)), observer
