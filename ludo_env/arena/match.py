"""Agents against each other: the door to the arena."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from ludo_env.agents.base import make_agent
from ludo_env.arena import files
from ludo_env.arena.playing import Hall, Played
from ludo_env.arena.results import Results
from ludo_env.arena.schedule import Schedule
from ludo_env.core import checks
from ludo_env.core.checks import Ints
from ludo_env.core.rules import Rules, as_rules

Progress = Callable[[int], None]

_PART = 2048  # games that a process is given at a time
_ROUND = 2048  # games between two looks at an interval


def play(
    agents: Sequence[Any],
    *,
    games: int,
    rules: Rules = Rules(),
    seed: int | None = None,
    names: Sequence[str] | None = None,
    common_dice: bool = False,
    until: float | None = None,
    max_rolls: int | None = None,
    forfeit: bool = False,
    max_faults: int = 10,
    file: str | Path | None = None,
    resume: bool = False,
    processes: int = 1,
    batch_size: int = 1024,
    progress: Progress | None = None,
) -> Results:
    """Play agents against each other, every agent in every seat equally often.

    As many agents as players play one match; more of them a tournament, in which all choices of
    agents meet (see `Schedule`). Agents are shown copies of games whose coming dice are not those
    that will be rolled. Results depend neither on the batch size nor on the processes.

    An interrupt (Ctrl-C) ends the match: the games that have ended are returned.

    Args:
        agents: Agents or their specs, at least one for each player.
        games: Games in all, a multiple of the players times the tables.
        rules: The rules.
        seed: The seed of all games; None for a fresh one. Agents made from specs have their place
            in the list as theirs.
        names: What to call the agents.
        common_dice: Whether the games through which agents change seats have the same dice.
        until: Ends the match once the interval of the first agent's win rate that holds whenever
            one looks (`Results.win_sequence`) reaches no further than this to each side; it is
            looked at after every 2,048 games. ``games`` are then the most there may be.
        max_rolls: Rolls after which a game is cut, and counted as unfinished; None for no limit.
        forfeit: Whether an agent that raises or answers with anything but legal actions loses that
            game, which the policy ``first`` plays to its end for it; else the match ends.
        max_faults: Faults after which an agent is not asked any more, and forfeits all its games
            that have not ended; counted by each process for itself.
        file: Where every game is noted as it ends, in JSON lines (see `load`); None for nowhere.
        resume: Whether to go on with the file's match, which must be the same, if there is one.
        processes: Processes that share the games.
        batch_size: Games that a process plays at the same time.
        progress: Called with the number of games that have just ended.

    Raises:
        AgentFaultError: An agent has failed, and does not forfeit the game for it.
        ValueError: An argument is wrong.
    """
    rules = as_rules(rules)
    seed = checks.seed_or_fresh(seed)
    made = [make_agent(agent, seed=number) for number, agent in enumerate(agents)]
    if len(made) < rules.num_players:
        raise ValueError(
            f"agents must be {rules.num_players} at least, one for each player; got {len(made)}"
        )
    given = [str(agent) for agent in made] if names is None else list(names)
    if len(given) != len(made):
        raise ValueError(f"names must be {len(made)}, one for each agent; got {names!r}")
    schedule = Schedule(rules, len(made), games, seed, common_dice)
    limit = 0 if max_rolls is None else checks.positive("max_rolls", max_rolls)
    told_apart = distinct(given)
    hall = Hall(
        made,
        told_apart,
        schedule,
        batch_size=checks.positive("batch_size", batch_size),
        max_rolls=limit,
        forfeit=forfeit,
        max_faults=checks.positive("max_faults", max_faults),
    )
    processes = checks.positive("processes", processes)
    if until is not None and not 0 < until < 0.5:
        raise ValueError(f"until must be a half width above 0 and below 0.5, got {until!r}")
    if until is not None and len(schedule.tables) > 1:
        raise ValueError("until ends a match of as many agents as players, no tournament")
    head = files.Head(schedule, told_apart, limit, until)
    begun = _begun(file, head, resume)
    ended = [begun]
    if progress is not None and len(begun):
        progress(len(begun))
    with suppress(KeyboardInterrupt):
        for games_of_round in _rounds(schedule, until):
            left = games_of_round[~np.isin(games_of_round, begun.games)]
            for some in _shared_out(hall, left, processes):
                if file is not None:
                    files.append(Path(file), head, some)
                ended.append(some)
                if progress is not None:
                    progress(len(some))
            if until is not None and _half_width(schedule, ended) <= until:
                break
    return Results.of(schedule, head.names, ended, until)


def _rounds(schedule: Schedule, until: float | None) -> list[Ints]:
    """The numbers of the games that are played before one looks whether to end the match."""
    size = schedule.games
    if until is not None:
        size = schedule.rules.num_players * (_ROUND // schedule.rules.num_players)
    return [
        np.arange(first, min(first + size, schedule.games))
        for first in range(0, schedule.games, size)
    ]


def _half_width(schedule: Schedule, ended: list[Played]) -> float:
    low, high = Results.of(schedule, (), ended).win_sequence(0)
    return (high - low) / 2


def _begun(file: str | Path | None, head: files.Head, resume: bool) -> Played:
    """The games that a file has already, which is begun where there is none."""
    none = Played.none(head.schedule.rules.num_players)
    if file is None:
        if resume:
            raise ValueError("resume needs a file to go on with")
        return none
    path = Path(file)
    if resume and path.exists() and not files.has_begun(path):
        path.unlink()  # ended before its head was written
    if not resume or not path.exists():
        files.create(path, head)
        return none
    found, ended = files.read(path)
    differing = _differences(found.as_dict(), head.as_dict())
    if differing:
        raise ValueError(f"{path} is of another match: {differing}")
    files.cut_broken_end(path)
    return ended


def _differences(found: dict[str, Any], asked: dict[str, Any]) -> str:
    return "; ".join(
        f"{name} was {found[name]}, is {asked[name]}"
        for name in found
        if found[name] != asked[name]
    )


def _shared_out(hall: Hall, games: Ints, processes: int) -> Iterator[Played]:
    """Play games in this process, or in several others."""
    if not len(games):
        return
    if processes == 1:
        yield from hall.play(games)
        return
    size = min(_PART, -(-len(games) // processes))
    parts = [games[first : first + size] for first in range(0, len(games), size)]
    with _pool(hall, processes) as pool:
        for future in as_completed([pool.submit(_play_part, part) for part in parts]):
            yield from future.result()


@contextmanager
def _pool(hall: Hall, processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that know the hall; those parts that have not begun are left when it closes."""
    try:
        pickle.dumps(hall)
    except Exception as error:
        raise ValueError(f"agents must be picklable to play in processes: {error}") from error
    pool = ProcessPoolExecutor(
        processes, get_context("spawn"), initializer=_enter, initargs=(hall,)
    )
    try:
        yield pool
    except BrokenProcessPool as error:
        raise ValueError(f"a process of the match has ended: {error}") from error
    finally:
        pool.shutdown(cancel_futures=True)


_hall: Hall


def _enter(hall: Hall) -> None:
    """Remember the hall in a new process."""
    global _hall
    _hall = hall


def _play_part(games: Ints) -> list[Played]:
    return list(_hall.play(games))


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names told apart: the second ``x`` is ``x (2)``."""
    return tuple(
        name if name not in names[:i] else f"{name} ({names[: i + 1].count(name)})"
        for i, name in enumerate(names)
    )
