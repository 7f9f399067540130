"""Files of records: JSON lines, a head with the rules and the agents, then a line for each game.

A line is written whole or not at all when it counts: one without its end is passed over, so a file
reads that was cut off while it was written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ludo_env.core import checks
from ludo_env.core.files import write_whole
from ludo_env.core.record import Record
from ludo_env.core.rules import Rules, is_integer

FORMAT, VERSION = "ludo_env.games", 1


def head_fields(rules: Rules, agents: Sequence[str]) -> dict[str, Any]:
    """What a file begins with."""
    return {"format": FORMAT, "version": VERSION, "rules": asdict(rules), "agents": list(agents)}


def game_fields(record: Record, number: int, players: Sequence[int]) -> dict[str, Any]:
    """What a file says of a game.

    Args:
        record: The game.
        number: Its number in the file.
        players: Which of the head's agents each player is.
    """
    return {
        "game": number,
        "players": list(players),
        "seed": record.seed,
        "episode": record.episode,
        "position": record.position,
        "dice": record.dice,
        "actions": record.actions,
        "places": list(record.places),
        "forfeits": list(record.forfeits),
    }


def line(fields: Mapping[str, Any]) -> str:
    """A line of a file."""
    return json.dumps(fields, separators=(",", ":")) + "\n"


def write_records(path: str | Path, records: Sequence[Record]) -> None:
    """Write a file of records, numbered from 0; whole or not at all.

    Raises:
        ValueError: There are none, they are of different rules, or the file cannot be written.
    """
    write_whole(Path(path), records_text(records).encode())


def records_text(records: Sequence[Record]) -> str:
    """What a file of records holds.

    Raises:
        ValueError: There are none, or they are of different rules.
    """
    rules = {record.rules for record in records}
    if len(rules) != 1:
        raise ValueError(f"a file holds games of one set of rules, got {len(rules)}")
    names = list(dict.fromkeys(name for record in records for name in record.agents))
    lines = [line(head_fields(rules.pop(), names))]
    for number, record in enumerate(records):
        players = [names.index(name) for name in record.agents]
        lines.append(line(game_fields(record, number, players)))
    return "".join(lines)


class Records(Mapping[int, Record]):
    """The games in a file by their numbers, each played again when it is looked up.

    Args:
        path: The file: what `write_records`, the arena or ``ludo play`` wrote.

    Raises:
        ValueError: It cannot be read, or is no such file. Looking up a game raises it where the
            game does not follow the rules, and says where.

    Attributes:
        rules: The rules of all games.
        agents: The names of all that play in them.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        first, *lines = lines_of(self.path)
        fields = head_of(self.path, first)
        self.rules = Rules(**fields["rules"])
        self.agents = tuple(fields["agents"])
        self._lines: dict[int, tuple[int, str]] = {}
        for at, text in enumerate(lines, 2):
            number = self._number(at, text)
            if number in self._lines:
                raise ValueError(f"{self.path}, line {at}: game {number} is there twice")
            self._lines[number] = at, text

    def _number(self, at: int, text: str) -> int:
        try:
            return checks.natural("game", json.loads(text)["game"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"{self.path}, line {at}: no game ({error!r})") from error

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[int]:
        return iter(self._lines)

    def __contains__(self, number: object) -> bool:
        return number in self._lines

    def __getitem__(self, number: int) -> Record:
        at, text = self._lines[number]
        try:
            record = record_of(json.loads(text), self.rules, self.agents)
            record.replay()
        except ValueError as error:
            raise ValueError(f"{self.path}, line {at}, game {number}: {error}") from error
        return record


def lines_of(path: Path) -> list[str]:
    """The whole lines of a file.

    Raises:
        ValueError: It cannot be read, or has none.
    """
    try:
        *lines, _ = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    if not lines:
        raise ValueError(f"{path} does not begin as files of games do: it has no whole line")
    return lines


def head_of(path: Path, text: str) -> dict[str, Any]:
    """A file's first line.

    Raises:
        ValueError: It is no head of a file of games.
    """
    try:
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise ValueError(f"its format is {found['format']!r}")
        if found["version"] != VERSION:
            raise ValueError(f"its version is {found['version']!r}; this program reads {VERSION}")
        Rules(**found["rules"])
        names = found["agents"]
        if not isinstance(names, list) or not all(map(_is_name, names)):
            raise ValueError(f"agents must be a list of printable names, got {names!r}")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} does not begin as files of games do: {error}") from error
    return found


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def record_of(fields: Mapping[str, Any], rules: Rules, agents: Sequence[str]) -> Record:
    """The game that a line holds.

    Raises:
        ValueError: Something is missing or of the wrong kind.
    """
    try:
        record = Record(
            rules,
            tuple(agents[_natural(player)] for player in fields["players"]),
            _digits(fields["dice"], "123456"),
            _digits(fields["actions"], "0123"),
            tuple(_natural(place) for place in fields["places"]),
            None if fields["seed"] is None else checks.checked_seed(fields["seed"]),
            checks.episode_number(fields["episode"]),
            fields["position"],
            tuple(_natural(player) for player in fields["forfeits"]),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"no game: {error!r}") from error
    players = rules.num_players
    if len(record.agents) != players or len(record.places) != players:
        raise ValueError(f"agents and places must be {players}, one for each player")
    if not set(record.forfeits) <= set(range(players)):
        raise ValueError(f"forfeits must be players, 0 to {players - 1}, got {record.forfeits}")
    return record


def _natural(value: Any) -> int:
    if not is_integer(value) or value < 0:
        raise ValueError(f"{value!r} is no number from 0 on")
    return int(value)


def _digits(value: Any, allowed: str) -> str:
    if not isinstance(value, str) or not set(value) <= set(allowed):
        raise ValueError(f"{str(value)[:40]!r} has other than the digits {allowed}")
    return value
