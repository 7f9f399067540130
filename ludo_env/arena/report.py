"""Results for people and for programs: a table, and a dictionary that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.arena.ratings import rate
from ludo_env.arena.regret import losses
from ludo_env.arena.results import Results
from ludo_env.arena.stats import Interval, block_means, mean_interval, wilson
from ludo_env.core.checks import Ints
from ludo_env.core.noting import NOTES
from ludo_env.solution import Solution

_FORMATS = {"seconds_per_decision": ".1e", "regret_per_choice": ".5f"}

ANCHOR = "random"
"""The agent that has 0 points, where it plays."""


def summary(results: Results, solution: Solution | None = None) -> dict[str, Any]:
    """What a match says of each agent, with intervals of 95 %.

    A game that was cut is among an agent's games and not among its wins. Win rates have Wilson's
    interval where games are independent; where those of a block have the same dice, the interval is
    of the blocks' means.

    Args:
        results: The games.
        solution: Of the games' rules, to tell what agents gave away; None to leave that out.

    Raises:
        ValueError: The solution is of other rules.
    """
    found: dict[str, Any] = {
        "games": len(results),
        "unfinished": int((~results.finished).sum()),
        "seed": results.seed,
        "rules": asdict(results.rules),
        "common_dice": results.schedule.common_dice,
        "rolls_per_game": _mean(results.rolls[results.finished]),
        "agents": [_agent(results, number) for number in range(len(results.names))],
        "faults": [
            {**fault._asdict(), "agent": results.names[fault.agent]} for fault in results.faults
        ],
    }
    if solution is not None:
        lost, choices = losses(results, solution)
        for number, agent in enumerate(found["agents"]):
            own = results.seats_of(number)
            loss = _share(float(lost[own].sum()), int(choices[own].sum()))
            agent["behaviour"]["regret_per_choice"] = loss
    if results.until is not None:
        low, high = results.win_sequence(0)
        found["sequential"] = {"until": results.until, "win_rate_95": [low, high]}
    if len(results.names) > results.rules.num_players:
        found["ratings"] = _ratings(results)
        found["superiority"] = superiority(results)
    return found


def _agent(results: Results, number: int) -> dict[str, Any]:
    rows, players = results.seats_of(number)
    places = results.places[rows, players]
    wins = places == 1
    finished = places > 0
    place, place_interval = _mean_interval(places[finished], results.blocks[rows][finished])
    return {
        "name": results.names[number],
        "games": len(rows),
        "wins": int(wins.sum()),
        "win_rate": _mean(wins),
        "win_rate_95": list(_win_interval(results, wins, results.blocks[rows])),
        "mean_place": place,
        "mean_place_95": list(place_interval),
        "win_rate_by_seat": [
            _mean(wins[players == seat]) for seat in range(results.rules.num_players)
        ],
        "forfeited": int(results.forfeits[rows, players].sum()),
        "behaviour": behaviour(results, number),
    }


def _win_interval(results: Results, wins: NDArray[np.bool_], blocks: Ints) -> Sequence[float]:
    if not len(wins):
        return (0.0, 1.0)
    if not results.schedule.common_dice:
        return wilson(int(wins.sum()), len(wins))
    return _mean_interval(wins, blocks)[1]


def _mean_interval(values: NDArray[Any], blocks: Ints) -> tuple[float | None, Sequence[Any]]:
    """The mean of values and its interval, by the means of blocks; None where there is none."""
    if not len(values):
        return None, (None, None)
    means = block_means(values, blocks)
    if len(means) < 2:
        return _mean(values), (None, None)
    _, (low, high) = mean_interval(means)
    return _mean(values), Interval(low, high)


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if len(values) else None


def behaviour(results: Results, number: int) -> dict[str, float | None]:
    """What an agent does, beside winning or not.

    Returns:
        Decisions in a game; the share of them with a choice; pawns captured and lost in a game; the
        share of captures taken where it was free to take one or not (None where it never was);
        pawns that stand one to six squares ahead of an opponent's after its moves, on average; the
        game's rolls until a first pawn is in the column; seconds of thought for a decision (None
        where compiled code plays).
    """
    rows, players = results.seats_of(number)
    notes = results.notes[rows, players]
    total = dict(zip(NOTES, notes.sum(axis=0).tolist(), strict=True))
    arrived = notes[:, NOTES.index("rolls_to_column")]
    games, decisions = len(rows), total["decisions"]
    seconds = float(results.seconds[rows, players].sum())
    return {
        "decisions_per_game": _share(decisions, games),
        "with_a_choice": _share(total["choices"], decisions),
        "captures_per_game": _share(total["captures"], games),
        "losses_per_game": _share(total["losses"], games),
        "free_captures_taken": _share(total["free_captures_taken"], total["free_captures"]),
        "exposed_pawns": _share(total["exposed"], decisions),
        "rolls_to_column": _mean(arrived[arrived > 0]),
        "seconds_per_decision": _share(seconds, decisions) or None,
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def superiority(results: Results) -> list[list[float | None]]:
    """How often each agent comes before each other one in their games; equals count half.

    Returns:
        A row for each agent, a column for each other; None where they have not met.
    """
    count = len(results.names)
    ahead, met = np.zeros((count, count)), np.zeros((count, count))
    seating, places = results.seating[results.finished], results.places[results.finished]
    for i in range(results.rules.num_players):
        for j in range(results.rules.num_players):
            if i != j:
                pair = seating[:, i], seating[:, j]
                np.add.at(met, pair, 1.0)
                better = np.sign(places[:, j] - places[:, i])
                np.add.at(ahead, pair, (1.0 + better) / 2)
    return [
        [float(ahead[i, j] / met[i, j]) if met[i, j] else None for j in range(count)]
        for i in range(count)
    ]


def _ratings(results: Results) -> dict[str, Any]:
    """Ratings on Elo's scale; the reason where there are none."""
    finished = results.finished
    anchor = results.names.index(ANCHOR) if ANCHOR in results.names else 0
    try:
        ratings = rate(
            results.seating[finished], results.places[finished], results.blocks[finished], anchor
        )
    except ValueError as error:
        return {"anchor": results.names[anchor], "reason": str(error)}
    return {
        "anchor": results.names[anchor],
        "points": [round(points, 6) for points in ratings.points.tolist()],
        "points_95": [[round(low, 6), round(high, 6)] for low, high in ratings.intervals],
    }


def table(found: dict[str, Any]) -> str:
    """A `summary` as text."""
    parts = [aligned(win_rows(found))]
    if "points" in found.get("ratings", ()):
        parts.append(aligned(ratings_rows(found)))
    elif "ratings" in found:
        parts.append(found["ratings"]["reason"])
    return "\n\n".join(parts)


def win_rows(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """What a `summary` says of wins, as a table's rows."""
    head = ("agent", "games", "win rate", "95 % interval", "mean place", "95 % interval", "by seat")
    return [head, *(_row(agent) for agent in found["agents"])]


def _row(agent: dict[str, Any]) -> tuple[str, ...]:
    return (
        agent["name"],
        str(agent["games"]),
        _number(agent["win_rate"], 4),
        _range(agent["win_rate_95"], 4),
        _number(agent["mean_place"], 3),
        _range(agent["mean_place_95"], 3),
        " ".join(_number(rate, 3) for rate in agent["win_rate_by_seat"]),
    )


def ratings_rows(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """What a `summary` says of ratings, as a table's rows, the strongest first."""
    names = [agent["name"] for agent in found["agents"]]
    ratings = found["ratings"]
    order = sorted(range(len(names)), key=lambda k: -ratings["points"][k])
    rows = [("agent", "points", "95 % interval", *(f"before {names[k]}" for k in order))]
    rows += [
        (
            names[k],
            f"{ratings['points'][k]:.0f}",
            _range(ratings["points_95"][k], 0),
            *("" if j == k else _number(found["superiority"][k][j], 3) for j in order),
        )
        for k in order
    ]
    return rows


def behaviour_rows(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """What a `summary` says of agents' behaviour, as a table's rows."""
    rows = [("", *(agent["name"] for agent in found["agents"]))]
    for name in found["agents"][0]["behaviour"]:
        values = (agent["behaviour"][name] for agent in found["agents"])
        shown = (_formatted(value, _FORMATS.get(name, ".3f")) for value in values)
        rows.append((name.replace("_", " "), *shown))
    return rows


def _number(value: float | None, digits: int) -> str:
    return _formatted(value, f".{digits}f")


def _formatted(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _range(interval: Sequence[float | None], digits: int) -> str:
    low, high = interval
    return f"{_number(low, digits)} - {_number(high, digits)}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text with their columns aligned, the first row underlined."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])
