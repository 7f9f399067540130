"""Games read back from what players see of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.checks import Ints
from ludo_env.core.kernels import DIE_BITS, ROW, TURN
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


class Alike(NamedTuple):
    """Positions under the same rules, seen from the same seat.

    Attributes:
        rows: Which of the observations these are, int64 (k,).
        games: int64 (k, ROW), the boards, the observer's turn and the die; no dice and no seeds.
        rules: Their rules.
        observer: The player number of who sees them.
    """

    rows: Ints
    games: Ints
    rules: Rules
    observer: int


def checked_views(observations: Any) -> NDArray[np.int8]:
    """Observations as int8 (k, D).

    Raises:
        ValueError: They are of another shape or hold other than zeros and ones.
    """
    views = np.asarray(observations)
    if views.ndim != 2 or views.shape[1] != OBSERVATION_LENGTH:
        raise ValueError(
            f"observations must be of shape (k, {OBSERVATION_LENGTH}), got {views.shape}"
        )
    if not np.isin(views, (0, 1)).all():
        raise ValueError("observations must be zeros and ones")
    return np.ascontiguousarray(views, dtype=np.int8)


def read_views(views: NDArray[np.int8]) -> Iterator[Alike]:
    """The positions that observations int8 (k, D) show, those that are alike together.

    Raises:
        ValueError: An observation is of no game's player.
    """
    boards = np.zeros((len(views), ROW), dtype=np.int64)
    shapes = np.empty(len(views), dtype=np.int64)
    read_observations(views, boards, shapes)
    dice = views[:, OBSERVATION["die"]] @ np.arange(1, 7)
    for shape in np.unique(shapes).tolist():
        rows = np.flatnonzero(shapes == shape)
        rules, observer = _rules_and_seat(shape)
        games = np.zeros((len(rows), ROW), dtype=np.int64)
        for player, corner in enumerate(rules.corners):
            games[:, player] = boards[rows, (corner - rules.corners[observer]) % 4]
        games[:, TURN] = observer << DIE_BITS | dice[rows]
        yield Alike(rows, games, rules, observer)


def _rules_and_seat(shape: int) -> tuple[Rules, int]:
    """The rules that a view tells of, and the observer's player number."""
    pawns = shape & 7
    others = tuple(distance for distance in (1, 2, 3) if shape >> 2 + distance & 1)
    if not 1 <= pawns <= MAX_PAWNS or others not in _SEATS:
        raise ValueError("observations must be of a game's players, got a view of none")
    players, observer = _SEATS[others]
    return Rules(players, pawns, bool(shape >> 6 & 1), bool(shape >> 7 & 1)), observer
