"""The rules a game is played by, and the constants of the board."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

TRACK_SQUARES = 40
"""Squares of the closed track (R1)."""
SQUARES_PER_CORNER = 10
"""Track squares from one start square to the next (R1)."""
MAX_PLAYERS = 4
MAX_PAWNS = 4

# A pawn's progress (R3).
YARD = 0
START = 1
LAST_TRACK = TRACK_SQUARES
FIRST_COLUMN = TRACK_SQUARES + 1
LAST_COLUMN = TRACK_SQUARES + MAX_PAWNS


# Rules as the kernels take them: a plain tuple with these fields (a named one costs more than a
# microsecond a call). Kernels read the number of players from the length of the corners' tuple,
# which is part of its compiled type, so loops over players are unrolled for each number of players.
CORNERS, NUM_PAWNS, MANDATORY_CAPTURE, HOME_JUMPS, PAWN_ON_START = range(5)
CompiledRules = tuple[tuple[int, ...], int, int, int, int]


@dataclass(frozen=True)
class Rules:
    """The number of players and pawns, and the options.

    Args:
        num_players: 2, 3 or 4 (R1).
        num_pawns: Pawns of each player, 1 to 4; the column has as many squares.
        mandatory_capture: Whether a possible capture must be played (R14).
        home_jumps: Whether pawns may pass over their own in the column (R18).
        pawn_on_start: Whether each player begins with a pawn on the start square (R4).

    Raises:
        ValueError: A field is out of range or of the wrong type.
    """

    num_players: int = 4
    num_pawns: int = 4
    mandatory_capture: bool = True
    home_jumps: bool = False
    pawn_on_start: bool = False

    def __post_init__(self) -> None:
        _require_int("num_players", self.num_players, 2, MAX_PLAYERS)
        _require_int("num_pawns", self.num_pawns, 1, MAX_PAWNS)
        for name in ("mandatory_capture", "home_jumps", "pawn_on_start"):
            _require_bool(name, getattr(self, name))
        for field in fields(self):  # numpy's numbers and booleans become plain ones
            plain = int if field.name.startswith("num_") else bool
            object.__setattr__(self, field.name, plain(getattr(self, field.name)))

    @cached_property
    def corners(self) -> tuple[int, ...]:
        """The corner of each player, in turn order (R2)."""
        return (0, 2) if self.num_players == 2 else tuple(range(self.num_players))

    @cached_property
    def compiled(self) -> CompiledRules:
        """The same rules in the form that kernels take."""
        return (
            self.corners,
            self.num_pawns,
            int(self.mandatory_capture),
            int(self.home_jumps),
            int(self.pawn_on_start),
        )

    @property
    def last_progress(self) -> int:
        """Progress of the innermost column square."""
        return LAST_TRACK + self.num_pawns


def _require_int(name: str, value: Any, low: int, high: int) -> None:
    if not is_integer(value) or not low <= int(value) <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, got {value!r}")


def _require_bool(name: str, value: Any) -> None:
    if type(value).__name__ not in ("bool", "bool_"):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def is_integer(value: Any) -> bool:
    """Whether a value is a single integer (Python's or numpy's) and no boolean."""
    if type(value) is int:
        return True
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return True
    if isinstance(value, np.integer):
        return True
    return isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in "iu"


def as_rules(rules: Any) -> Rules:
    """The given rules, checked.

    Raises:
        ValueError: The argument is no `Rules`.
    """
    if not isinstance(rules, Rules):
        raise ValueError(f"rules must be a ludo_env.Rules, got {rules!r}")
    return rules
