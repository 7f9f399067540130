"""Results on disk: files of records that also hold the schedule and what was noted of each game.

Lines are appended as games end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ludo_env.arena.playing import Fault, Played
from ludo_env.arena.results import Results
from ludo_env.arena.schedule import Schedule
from ludo_env.core import record_file
from ludo_env.core.noting import NOTES
from ludo_env.core.record import Record, rolled
from ludo_env.core.rules import Rules


@dataclass(frozen=True)
class Head:
    """What a file's games are.

    Attributes:
        schedule: Who plays whom.
        names: The agents' names.
        max_rolls: Rolls after which a game is cut; 0 for no limit.
        until: The half width at which the match ends; None for all games.
    """

    schedule: Schedule
    names: tuple[str, ...]
    max_rolls: int = 0
    until: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """As plain values."""
        schedule = self.schedule
        return {
            **record_file.head_fields(schedule.rules, self.names),
            "games": schedule.games,
            "seed": schedule.seed,
            "common_dice": schedule.common_dice,
            "max_rolls": self.max_rolls,
            "until": self.until,
            "notes": list(NOTES),
        }


def create(path: Path, head: Head) -> None:
    """Begin a file.

    Raises:
        ValueError: There is one already, or it cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(head.as_dict()) + "\n")
    except FileExistsError:
        raise ValueError(f"{path} exists already; go on with it, or name another") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from error


def append(path: Path, head: Head, games: Iterable[Played]) -> None:
    """Add games to a file; they are with the operating system when this returns."""
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(_line(head, game) for game in games))


def _line(head: Head, game: Played) -> str:
    number = np.array([game.game])
    seed = int(head.schedule.seeds(number)[0])
    players = head.schedule.seating(number)[0].tolist()
    record = record_of(head.schedule.rules, seed, [head.names[k] for k in players], game)
    noted = {
        "notes": game.notes.tolist(),
        "seconds": [round(seconds, 7) for seconds in game.seconds],
        "faults": [[fault.agent, fault.position, fault.what] for fault in game.faults],
    }
    return record_file.line(record_file.game_fields(record, game.game, players) | noted)


def record_of(rules: Rules, seed: int, agents: Sequence[str], game: Played) -> Record:
    """The record of a game of a match."""
    dice = rolled(seed, 0, game.rolls)
    return Record(
        rules, tuple(agents), dice, game.actions, game.places, seed, forfeits=game.forfeits
    )


def read(path: Path) -> tuple[Head, list[Played]]:
    """The head of a file and its games, in the order in which they ended.

    Raises:
        ValueError: It cannot be read, or is no such file.
    """
    first, *lines = record_file.lines_of(path)
    head = _read_head(path, first)
    games: dict[int, Played] = {}
    for number, line in enumerate(lines, 2):
        try:
            game = _read_line(line, head)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise ValueError(f"{path}, line {number}: no game of this match ({error})") from error
        if game.game in games:
            raise ValueError(f"{path}, line {number}: game {game.game} is there twice")
        games[game.game] = game
    return head, list(games.values())


def _read_head(path: Path, line: str) -> Head:
    found = record_file.head_of(path, line)
    try:
        names = tuple(found["agents"])
        schedule = Schedule(
            Rules(**found["rules"]),
            len(names),
            found["games"],
            found["seed"],
            bool(found["common_dice"]),
        )
        if found["notes"] != list(NOTES):
            raise ValueError(f"notes {found['notes']!r}")
        return Head(schedule, names, found["max_rolls"], found["until"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} holds games, and no match ({error!r})") from error


def _read_line(line: str, head: Head) -> Played:
    found = json.loads(line)
    record = record_file.record_of(found, head.schedule.rules, head.names)
    game, number = found["game"], np.array([found["game"]])
    notes = np.array(found["notes"], dtype=np.int64)
    if not 0 <= game < head.schedule.games:
        raise ValueError(f"game {game}")
    if notes.shape != (len(record.places), len(NOTES)):
        raise ValueError(f"notes of shape {notes.shape}")
    seating = head.schedule.seating(number)[0].tolist()
    if record.seed != head.schedule.seeds(number)[0] or found["players"] != seating:
        raise ValueError(f"game {game} is of another schedule")
    return Played(
        game,
        record.places,
        len(record.dice),
        record.actions,
        notes,
        tuple(found["seconds"]),
        record.forfeits,
        tuple(Fault(game, *fault) for fault in found["faults"]),
    )


def has_begun(path: Path) -> bool:
    """Whether there is a file with a whole head."""
    return path.exists() and b"\n" in path.read_bytes()


def cut_broken_end(path: Path) -> None:
    """Take away what follows the last whole line; in place."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)


def load(path: str | Path) -> Results:
    """The results in a file that `play` wrote, whether or not all games have been played.

    Raises:
        ValueError: It cannot be read, or is no such file.
    """
    head, games = read(Path(path))
    return Results.of(head.schedule, head.names, games, head.until)
