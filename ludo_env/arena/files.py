"""Results on disk: files of records that also hold the schedule and what was noted of each game.

Lines are appended as games end.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ludo_env.arena.playing import Fault, Played
from ludo_env.arena.results import Results
from ludo_env.arena.schedule import Schedule
from ludo_env.core import record_file
from ludo_env.core.noting import NOTES
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


def append(path: Path, head: Head, games: Played) -> None:
    """Add games to a file; they are with the operating system when this returns."""
    results = Results.of(head.schedule, head.names, [games])
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(_line(results, row) for row in range(len(results))))


def _line(results: Results, row: int) -> str:
    number = int(results.games[row])
    fields = record_file.game_fields(results.record(row), number, results.seating[row].tolist())
    noted = {
        "notes": results.notes[row].tolist(),
        "seconds": [round(seconds, 7) for seconds in results.seconds[row].tolist()],
        "faults": [
            [fault.agent, fault.position, fault.what]
            for fault in results.faults
            if fault.game == number
        ],
    }
    return record_file.line(fields | noted)


def read(path: Path) -> tuple[Head, Played]:
    """The head of a file and its games.

    Raises:
        ValueError: It cannot be read, or is no such file.
    """
    first, *lines = record_file.lines_of(path)
    head = _read_head(path, first)
    games: dict[int, Played] = {}
    for at, line in enumerate(lines, 2):
        try:
            number, game = _read_line(line, head)
        except (ValueError, KeyError, TypeError, IndexError, OverflowError) as error:
            raise ValueError(f"{path}, line {at}: no game of this match ({error})") from error
        if number in games:
            raise ValueError(f"{path}, line {at}: game {number} is there twice")
        games[number] = game
    return head, Played.of(list(games.values()), head.schedule.rules.num_players)


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


def _read_line(line: str, head: Head) -> tuple[int, Played]:
    """The number of a line's game, and the game."""
    found = json.loads(line)
    schedule = head.schedule
    record = record_file.record_of(found, schedule.rules, head.names)
    number, players = found["game"], len(record.places)
    if not 0 <= number < schedule.games:
        raise ValueError(f"game {number}")
    games = np.array([number])
    seating = schedule.seating(games)[0].tolist()
    if record.seed != schedule.seeds(games)[0] or found["players"] != seating:
        raise ValueError(f"game {number} is of another schedule")
    return number, Played(
        games,
        np.array([record.places], dtype=np.int64),
        np.array([len(record.dice)]),
        _numbers(found, "notes", (players, len(NOTES)), np.int64),
        _numbers(found, "seconds", (players,), np.float64),
        np.array([[player in record.forfeits for player in range(players)]]),
        [record.actions],
        tuple(Fault(number, *fault) for fault in found["faults"]),
    )


def _numbers(found: dict[str, Any], name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """What a line notes by this name, for one game."""
    numbers = np.array([found[name]], dtype=dtype)
    if numbers.shape != (1, *shape):
        raise ValueError(f"{name} of shape {numbers.shape[1:]}")
    return numbers


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
    return Results.of(head.schedule, head.names, [games], head.until)
