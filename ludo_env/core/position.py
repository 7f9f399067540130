"""A position as a value, and its text: ``12.1.0.0/44.3.0.0/0.0.0.0/0.0.0.0 0 6``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ludo_env.core.rules import (
    FIRST_COLUMN,
    LAST_TRACK,
    SQUARES_PER_CORNER,
    START,
    TRACK_SQUARES,
    YARD,
    Rules,
    as_rules,
    is_integer,
)

_FORM = (
    "pawns of each player split by '/', progress split by '.', then the player, then the die or '-'"
)


@dataclass(frozen=True)
class Position:
    """Where all pawns stand, who is to move, and the die.

    Args:
        pawns: Each player's progresses (R3), in any order; held most advanced first.
        player: The player to move, 0-based; the winner in a finished game.
        die: 1 … 6; None where it is still to be rolled (a new turn begins, R9) or the game is
            over.

    Raises:
        ValueError: A value is no integer. Whether a position is possible depends on the rules: see
            `problems`.
    """

    pawns: tuple[tuple[int, ...], ...]
    player: int
    die: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pawns", tuple(_progresses(own) for own in _iterable(self.pawns)))
        object.__setattr__(self, "player", _integer("player", self.player))
        if self.die is not None:
            object.__setattr__(self, "die", _integer("die", self.die))

    def __str__(self) -> str:
        pawns = "/".join(".".join(map(str, own)) for own in self.pawns)
        return f"{pawns} {self.player} {'-' if self.die is None else self.die}"

    @classmethod
    def parse(cls, text: str, rules: Rules) -> Position:
        """Read a position text and check it.

        Raises:
            ValueError: The text is not of the form, or the position is impossible under the rules;
                the message says all that is wrong.
        """
        position = cls._read(text)
        position.check(rules)
        return position

    @classmethod
    def _read(cls, text: str) -> Position:
        if not isinstance(text, str):
            raise ValueError(f"position text must be {_FORM}; got {text!r}")
        fields = text.split()
        try:
            board, player, die = fields
            pawns = tuple(tuple(_number(p) for p in own.split(".")) for own in board.split("/"))
            return cls(pawns, _number(player), None if die == "-" else _number(die))
        except ValueError:
            raise ValueError(f"position text must be {_FORM}; got {text!r}") from None

    @property
    def winner(self) -> int | None:
        """The first player with all pawns in the column (R19), or None."""
        return next(iter(_winners(self.pawns)), None)

    def problems(self, rules: Rules) -> list[str]:
        """All that makes the position impossible under the rules; empty where it is possible."""
        rules = as_rules(rules)
        found = [
            *_wrong_counts(self, rules),
            *_wrong_progress(self, rules),
            *_shared_squares(self, rules),
        ]
        if not 0 <= self.player < rules.num_players:
            found.append(f"player must be 0 to {rules.num_players - 1}, got {self.player}")
        if self.die is not None and not 1 <= self.die <= 6:
            found.append(f"die must be 1 to 6 or '-', got {self.die}")
        return [*found, *_wrong_end(self)]

    def check(self, rules: Rules) -> None:
        """Refuse an impossible position.

        Raises:
            ValueError: The message lists all `problems`.
        """
        found = self.problems(rules)
        if found:
            raise ValueError(f"impossible position {str(self)!r}: {'; '.join(found)}")


def as_position(value: Any, rules: Rules) -> Position:
    """A checked position from a `Position` or its text.

    Raises:
        ValueError: The value is neither, or the position is impossible.
    """
    if isinstance(value, str):
        return Position.parse(value, rules)
    if not isinstance(value, Position):
        raise ValueError(f"position must be a ludo_env.Position or its text, got {value!r}")
    value.check(rules)
    return value


def start_position(rules: Rules) -> Position:
    """Where a game starts (R4), before its first roll."""
    on_start = int(rules.pawn_on_start)
    own = (START,) * on_start + (YARD,) * (rules.num_pawns - on_start)
    return Position((own,) * rules.num_players, 0)


def _iterable(value: Any) -> Iterable[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"pawns must be a sequence of progresses for each player, got {value!r}")
    return value


def _integer(name: str, value: Any) -> int:
    if not is_integer(value):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    return int(value)


def _progresses(own: Any) -> tuple[int, ...]:
    return tuple(sorted((_integer("progress", p) for p in _iterable(own)), reverse=True))


def _number(digits: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 4):
        raise ValueError
    return int(digits)


def _winners(pawns: tuple[tuple[int, ...], ...]) -> list[int]:
    return [player for player, own in enumerate(pawns) if own and min(own) >= FIRST_COLUMN]


def _wrong_counts(position: Position, rules: Rules) -> Iterable[str]:
    if len(position.pawns) != rules.num_players:
        yield f"{rules.num_players} players expected, got {len(position.pawns)}"
    for player, own in enumerate(position.pawns):
        if len(own) != rules.num_pawns:
            yield f"player {player} must have {rules.num_pawns} pawns, got {len(own)}"


def _wrong_progress(position: Position, rules: Rules) -> Iterable[str]:
    for player, own in enumerate(position.pawns):
        for progress in sorted(set(own), reverse=True):
            if not YARD <= progress <= rules.last_progress:
                allowed = f"0 to {rules.last_progress}"
                yield f"player {player}: progress must be {allowed}, got {progress}"


def _shared_squares(position: Position, rules: Rules) -> Iterable[str]:
    for player, own in enumerate(position.pawns):
        for progress, count in Counter(own).items():
            if progress != YARD and count > 1:
                yield f"player {player} has {count} pawns on progress {progress}"
    on_track: dict[int, set[int]] = {}
    for player, own in enumerate(position.pawns[: rules.num_players]):
        for progress in own:
            if START <= progress <= LAST_TRACK:
                on_track.setdefault(track_square(rules.corners[player], progress), set()).add(
                    player
                )
    for square, owners in sorted(on_track.items()):
        if len(owners) > 1:
            names = " and ".join(map(str, sorted(owners)))
            yield f"players {names} share track square {square}"


def _wrong_end(position: Position) -> Iterable[str]:
    winners = _winners(position.pawns)
    if len(winners) > 1:
        yield f"players {' and '.join(map(str, winners))} have both won"
    elif winners and position.player != winners[0]:
        yield f"a finished game's player is its winner {winners[0]}, got {position.player}"
    if winners and position.die is not None:
        yield f"a finished game has no die, got {position.die}"


def square_name(progress: int) -> str:
    """A progress in words: ``yard``, or its number."""
    return "yard" if progress == YARD else str(progress)


def track_square(corner: int, progress: int) -> int:
    """The track square, 0 … 39, of a pawn at progress 1 … 40 of the player in a corner (R3)."""
    return (SQUARES_PER_CORNER * corner + progress - 1) % TRACK_SQUARES
