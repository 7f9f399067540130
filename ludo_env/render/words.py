"""Positions, moves and events in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from ludo_env.core.game import Captured, Event, Move, Moved, Passed, Roll
from ludo_env.core.position import Position, square_name


def described(position: Position) -> str:
    """The position in a sentence or two, for those who cannot see it."""
    pawns = (", ".join(map(square_name, own)) for own in position.pawns)
    names = [f"player {player}: {own}" for player, own in enumerate(pawns)]
    if position.winner is not None:
        turn = f"player {position.winner} has won"
    elif position.die is None:
        turn = f"player {position.player} is to roll"
    else:
        turn = f"player {position.player} plays a {position.die}"
    return f"{turn}; " + "; ".join(names)


def move_name(move: Move) -> str:
    """A move as records have it, such as ``yard-1`` or ``3-7 x2``."""
    captured = "" if move.captured is None else f" x{move.captured}"
    return f"{square_name(move.source)}-{move.target}{captured}"


def told(events: Iterable[Event], names: Sequence[str]) -> str:
    """Events as sentences; the players by their names and numbers."""
    return " ".join(told_by_turns(events, names))


def told_by_turns(events: Iterable[Event], names: Sequence[str]) -> list[str]:
    """Events as sentences, those of a player's turn together."""
    turns = groupby(events, key=lambda e: e.by if isinstance(e, Captured) else e.player)
    return [" ".join(_sentence(event, names) for event in turn) for _, turn in turns]


def _sentence(event: Event, names: Sequence[str]) -> str:
    who = f"{names[event.player]} ({event.player})"
    match event:
        case Roll(_, die):
            return f"{who} rolls {die}."
        case Moved(_, move):
            return f"{who} moves from {square_name(move.source)} to {move.target}."
        case Captured(_, by):
            return f"{who} loses a pawn to {names[by]} ({by})."
        case Passed(_):
            return f"{who} passes."
