"""Floor 2: a solved game: what every position is worth, and the file that holds it."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.batch import GameBatch
from ludo_env.core.boards import Boards, number_of_boards
from ludo_env.core.kernels import allowed_tries
from ludo_env.core.position import Position, as_position, start_position
from ludo_env.core.rules import Rules, as_rules
from ludo_env.tables import as_path, map_table, read_header, require_target, write_tables

MAX_SOLVED_PAWNS = 3
TIE = 1e-9
"""Moves whose chances differ by this much at most are equally good."""

_KIND = "ludo_env solution"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """How chances are held: integers from 0 to ``one``.

    Kernels sum at most six chances in 216 cases of 216: ``one`` leaves room for that in 63 bits.
    """

    dtype: np.dtype[Any]
    one: int


WIDE = Scale(np.dtype("<i8"), 1 << 46)
NARROW = Scale(np.dtype("<u4"), (1 << 32) - 1)


def solvable(rules: Any) -> Rules:
    """The given rules, if such games can be solved here.

    Raises:
        ValueError: They are for more than two players, or more than three pawns.
    """
    rules = as_rules(rules)
    if rules.num_players != 2 or rules.num_pawns > MAX_SOLVED_PAWNS:
        raise ValueError(
            f"rules must be for 2 players with 1 to {MAX_SOLVED_PAWNS} pawns each, "
            f"got {rules.num_players} players with {rules.num_pawns}"
        )
    return rules


def scale_of(rules: Rules) -> Scale:
    """How chances are held under the rules: in 8 bytes, or in 4 where the table is large."""
    return WIDE if rules.num_pawns < MAX_SOLVED_PAWNS else NARROW


class Solution:
    """What every position of a two-player game is worth under perfect play.

    Attributes:
        rules: The rules; values do not depend on where the game starts, `Rules.pawn_on_start`.
        table: (N, N) integers by the boards (see `ludo_env.core.boards.Boards`) of the player about
            to roll and of the other: the former's chance to win, times ``one``.
        one: What a chance of 1 is in the table.
        error: How far any value is off at most.
    """

    def __init__(self, rules: Rules, table: NDArray[Any], error: float) -> None:
        self.rules = solvable(rules)
        scale, boards = scale_of(rules), number_of_boards(rules.num_pawns)
        if table.shape != (boards, boards) or table.dtype != scale.dtype:
            wanted = f"{scale.dtype} of shape {(boards, boards)}"
            raise ValueError(f"table must be {wanted}, got {table.dtype} of shape {table.shape}")
        self.table = table
        self.one = scale.one
        self.error = error
        self._boards = Boards(rules.num_pawns)

    def __repr__(self) -> str:
        return f"Solution({self.rules}, error={self.error:.1e})"

    def covers(self, rules: Rules) -> bool:
        """Whether the values hold under these rules.

        Raises:
            ValueError: The argument is no `Rules`.
        """
        return _lasting(as_rules(rules)) == _lasting(self.rules)

    @property
    def start(self) -> float:
        """The win probability of the player who moves first."""
        return self.value(start_position(self.rules))

    def value(self, position: Position | str) -> float:
        """The win probability of the player to move (of the winner, 1), with the die if shown.

        A die that cannot be played is the first roll of its turn (R9).

        Args:
            position: A `Position` or its text.

        Raises:
            ValueError: The position is impossible under the rules.
        """
        position = as_position(position, self.rules)
        if position.winner is not None:
            return 1.0
        if position.die is None:
            return self._roller_wins(position, position.player)
        after = self._values_after(position)
        if after:
            return max(after.values())
        return self._after_idle_roll(position)

    def _after_idle_roll(self, position: Position) -> float:
        """The mover's chance after a first roll without a move, perhaps of three (R9)."""
        passed = 1 - self._roller_wins(position, 1 - position.player)
        by_die = [
            self._values_after(Position(position.pawns, position.player, die))
            for die in range(1, 7)
        ]
        played = sum(max(after.values()) for after in by_die if after)
        chance = passed
        for _ in range(self._tries(position) - 1):
            chance = (played + sum(not after for after in by_die) * chance) / 6
        return chance

    def _tries(self, position: Position) -> int:
        return int(allowed_tries(_bits(position.pawns[position.player]), self.rules.compiled))

    def _roller_wins(self, position: Position, roller: int) -> float:
        own, other = (_bits(position.pawns[player]) for player in (roller, 1 - roller))
        return float(self._chances(np.array([own]), np.array([other]))[0])

    def _chances(self, own: NDArray[np.int64], other: NDArray[np.int64]) -> Floats:
        """Chances of those about to roll, by boards of any shape."""
        held = self.table[self._boards.number(own), self._boards.number(other)]
        return np.asarray(held, dtype=np.float64) / self.one

    def values_after(self, position: Position | str) -> dict[int, float]:
        """The mover's win probability after each legal action; empty where the die has none.

        Args:
            position: A `Position` or its text, with a die.

        Raises:
            ValueError: The position is impossible, shows no die, or is finished.
        """
        position = as_position(position, self.rules)
        if position.die is None:
            raise ValueError(f"position must show a die, got {str(position)!r}")
        return self._values_after(position)

    def _values_after(self, position: Position) -> dict[int, float]:
        boards = np.array([[_bits(own) for own in position.pawns]], dtype=np.int64)
        batch = GameBatch.from_boards(boards, position.player, position.die, self.rules)
        values = self.action_values(batch)[0]
        return {int(action): float(values[action]) for action in np.flatnonzero(values >= 0)}

    def best_actions(self, position: Position | str) -> tuple[int, ...]:
        """The actions of perfect play, all within 1e-9 of the best, in order.

        Args:
            position: A `Position` or its text, with a die that can be played.

        Raises:
            ValueError: The position is impossible, shows no die, is finished, or has no move.
        """
        after = self.values_after(position)
        if not after:
            raise ValueError(f"position must have a legal move, got {str(position)!r}")
        best = max(after.values())
        return tuple(action for action, value in after.items() if value >= best - TIE)

    def action_values(self, batch: GameBatch, rows: Any = None) -> Floats:
        """The mover's win probability after each action, float64 (k, 4); −1 where illegal.

        Args:
            batch: Games under rules that the solution covers.
            rows: Row numbers (k,) or a mask (B,); None for all.

        Raises:
            ValueError: There is no such row, or the games have other rules.
        """
        if not self.covers(batch.rules):
            raise ValueError(f"batch must be of {self.rules}, got {batch.rules}")
        after = batch.afterstates(rows)
        movers = (batch.players if rows is None else batch.players[np.asarray(rows)])[:, None]
        values = np.where(after.legal, 1.0, -1.0)  # what remains of it are wins
        going_on = after.legal & (after.winner < 0)
        boards, roller = after.boards[going_on], after.player[going_on].astype(np.int64)
        each = np.arange(len(boards))
        chances = self._chances(boards[each, roller], boards[each, 1 - roller])
        mover = np.broadcast_to(movers, going_on.shape)[going_on]
        values[going_on] = np.where(roller == mover, chances, 1 - chances)
        return values

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the solution to a file, wholly or not at all (see `ludo_env.tables`).

        Raises:
            ValueError: The file cannot be written.
        """
        target = as_path("path", path)
        require_target("path", target)
        header = {
            "rules": asdict(self.rules),
            "error": self.error,
            "one": self.one,
            "dtype": self.table.dtype.str,
            "boards": len(self.table),
        }
        write_tables(target, _KIND, header, [self.table])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Solution:
        """Read a solution; its table stays on disk and is read where it is looked at.

        Raises:
            ValueError: There is no such file, it is no solution, or it is damaged.
        """
        source = as_path("path", path)
        header = read_header(source, _KIND)
        rules, error = _checked_header(source, header)
        shape = (number_of_boards(rules.num_pawns),) * 2
        return cls(rules, map_table(source, header, scale_of(rules).dtype, shape), error)


def _checked_header(path: Path, header: dict[str, Any]) -> tuple[Rules, float]:
    try:
        rules = solvable(Rules(**header["rules"]))
    except (KeyError, TypeError, ValueError) as wrong:
        raise ValueError(f"{str(path)!r} is damaged: its rules are none ({wrong})") from wrong
    scale = scale_of(rules)
    expected = {"one": scale.one, "dtype": scale.dtype.str}
    expected["boards"] = number_of_boards(rules.num_pawns)
    error = header.get("error")
    if not isinstance(error, float) or any(header.get(k) != v for k, v in expected.items()):
        raise ValueError(f"{str(path)!r} is damaged: its header does not fit its rules")
    return rules, error


def _lasting(rules: Rules) -> tuple[int, int, bool, bool]:
    """What matters once a game is under way."""
    return rules.num_players, rules.num_pawns, rules.mandatory_capture, rules.home_jumps


def _bits(own: tuple[int, ...]) -> int:
    return sum(1 << p - 1 for p in own if p > 0)
