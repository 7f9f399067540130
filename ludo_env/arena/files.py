"""Results on disk: JSON lines, a head that tells what is played and a line for each game.

Lines are appended as games end. A file that was cut off in the middle of a line still reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ludo_env.arena.playing import Fault, Played
from ludo_env.arena.results import Results
from ludo_env.arena.schedule import Schedule
from ludo_env.core.noting import NOTES
from ludo_env.core.rules import Rules

FORMAT, VERSION = "ludo_env.arena", 1


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
            "format": FORMAT,
            "version": VERSION,
            "rules": asdict(schedule.rules),
            "agents": list(self.names),
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


def append(path: Path, games: Iterable[Played]) -> None:
    """Add games to a file; they are with the operating system when this returns."""
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(_line(game) for game in games))


def _line(game: Played) -> str:
    fields = {
        "game": game.game,
        "places": game.places,
        "rolls": game.rolls,
        "actions": game.actions,
        "notes": game.notes.tolist(),
        "seconds": [round(seconds, 7) for seconds in game.seconds],
        "forfeits": game.forfeits,
        "faults": [[fault.agent, fault.position, fault.what] for fault in game.faults],
    }
    return json.dumps(fields, separators=(",", ":")) + "\n"


def read(path: Path) -> tuple[Head, list[Played]]:
    """The head of a file and its games, in the order in which they ended.

    Raises:
        ValueError: It cannot be read, or is no such file.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    head = _read_head(path, lines[0])
    games: dict[int, Played] = {}
    for number, line in enumerate(lines[1:-1], 2):  # the last has no end: empty, or cut off
        try:
            game = _read_line(line, head)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise ValueError(f"{path}, line {number}: no game of this match ({error})") from error
        if game.game in games:
            raise ValueError(f"{path}, line {number}: game {game.game} is there twice")
        games[game.game] = game
    return head, list(games.values())


def _read_head(path: Path, line: str) -> Head:
    try:
        found = json.loads(line)
        if found["format"] != FORMAT:
            raise ValueError(f"format {found['format']!r}")
        if found["version"] != VERSION or found["notes"] != list(NOTES):
            raise ValueError(f"version {found['version']!r}; this program reads {VERSION}")
        names = tuple(found["agents"])
        schedule = Schedule(
            Rules(**found["rules"]),
            len(names),
            found["games"],
            found["seed"],
            bool(found["common_dice"]),
        )
        return Head(schedule, names, found["max_rolls"], found["until"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} does not begin as results of this package do: {error}") from error


def _read_line(line: str, head: Head) -> Played:
    found = json.loads(line)
    game, players = found["game"], head.schedule.rules.num_players
    notes = np.array(found["notes"], dtype=np.int64)
    if not 0 <= game < head.schedule.games:
        raise ValueError(f"game {game}")
    if len(found["places"]) != players or notes.shape != (players, len(NOTES)):
        raise ValueError(f"places {found['places']!r}")
    return Played(
        game,
        tuple(found["places"]),
        found["rolls"],
        found["actions"],
        notes,
        tuple(found["seconds"]),
        tuple(found["forfeits"]),
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
