"""Results for people and for programs: a table, and a dictionary that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ludo_env.arena.match import Match
from ludo_env.arena.stats import mean_interval, wilson


def summary(match: Match) -> dict[str, Any]:
    """What a match says of each agent: win rate (95 % Wilson interval), mean place, by seat."""
    return {
        "games": len(match),
        "seed": match.seed,
        "rules": asdict(match.rules),
        "agents": [_agent(match, number) for number in range(len(match.names))],
    }


def _agent(match: Match, number: int) -> dict[str, Any]:
    wins = match.wins[:, number]
    low, high = wilson(int(wins.sum()), len(match))
    place, (place_low, place_high) = mean_interval(match.places[:, number])
    by_seat = [
        float(wins[match.seats[:, number] == seat].mean()) for seat in range(len(match.names))
    ]
    return {
        "name": match.names[number],
        "wins": int(wins.sum()),
        "win_rate": float(wins.mean()),
        "win_rate_95": [low, high],
        "mean_place": place,
        "mean_place_95": [place_low, place_high],
        "win_rate_by_seat": by_seat,
    }


def table(results: dict[str, Any]) -> str:
    """A `summary` as text."""
    rows = [
        ("agent", "games", "win rate", "95 % interval", "mean place", "95 % interval", "by seat")
    ]
    for agent in results["agents"]:
        low, high = agent["win_rate_95"]
        place_low, place_high = agent["mean_place_95"]
        rows.append(
            (
                agent["name"],
                str(results["games"]),
                f"{agent['win_rate']:.4f}",
                f"{low:.4f} - {high:.4f}",
                f"{agent['mean_place']:.3f}",
                f"{place_low:.3f} - {place_high:.3f}",
                " ".join(f"{rate:.3f}" for rate in agent["win_rate_by_seat"]),
            )
        )
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text with their columns aligned, the first row underlined."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])
