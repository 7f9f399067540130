"""How good an agent is, for the curve and at the end."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ludo_env.agents.base import Agent, make_agent
from ludo_env.arena.match import play
from ludo_env.arena.report import aligned, summary
from ludo_env.arena.results import Results
from ludo_env.core.record_file import write_records
from ludo_env.core.rules import Rules

KEPT_GAMES = 100
"""Games of a match that are kept to be looked at."""


def evaluate(
    agent: Agent,
    against: Sequence[str],
    *,
    games: int,
    rules: Rules,
    seed: int,
    progress: Callable[[int], None] | None = None,
    keep_in: Path | None = None,
) -> dict[str, Any]:
    """Play an agent against each of the opponents, who fill all other seats.

    Args:
        agent: The agent.
        against: The opponents.
        games: Games against each.
        rules: The rules.
        seed: The seed of the games.
        progress: Called with the number of games that have just ended.
        keep_in: A folder for the first `KEPT_GAMES` records of each match, in OPPONENT.jsonl.

    Returns:
        For each opponent the `summary` of the match, the agent first.
    """
    results = {}
    for opponent in against:
        others = [make_agent(opponent, seed=i) for i in range(1, rules.num_players)]
        match = play(
            [agent, *others],
            games=games,
            rules=rules,
            seed=seed,
            names=["trained", *[opponent] * len(others)],
            progress=progress,
        )
        results[opponent] = summary(match)
        if keep_in is not None:
            keep(match, keep_in, opponent)
    return results


def keep(match: Results, folder: Path, opponent: str) -> None:
    """Write a match's first records."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', opponent)}.jsonl"
    write_records(path, [match.record(row) for row in range(min(KEPT_GAMES, len(match)))])


def point(steps: int, results: Mapping[str, Any]) -> dict[str, Any]:
    """A point of the learning curve from the results of `evaluate`."""
    against = {
        opponent: {
            "win_rate": result["agents"][0]["win_rate"],
            "interval": result["agents"][0]["win_rate_95"],
        }
        for opponent, result in results.items()
    }
    return {"steps": steps, "against": against}


def results_table(by_seed: Mapping[int, Mapping[str, Any]]) -> str:
    """The final results of all seeds as text, with their spread where there are several."""
    rows = [("seed", "against", "games", "win rate", "95 % interval", "mean place")]
    for seed, results in by_seed.items():
        for opponent, result in results.items():
            own = result["agents"][0]
            low, high = own["win_rate_95"]
            rows.append(
                (
                    str(seed),
                    opponent,
                    str(result["games"]),
                    f"{own['win_rate']:.4f}",
                    f"{low:.4f} - {high:.4f}",
                    f"{own['mean_place']:.3f}",
                )
            )
    lines = [aligned(rows)]
    lines += [_spread_line(opponent, spread) for opponent, spread in spreads(by_seed).items()]
    return "\n".join(lines)


def spreads(by_seed: Mapping[int, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Mean, lowest, highest and standard deviation of the win rates over several seeds."""
    if len(by_seed) < 2:
        return {}
    opponents = next(iter(by_seed.values()))
    found = {}
    for opponent in opponents:
        rates = [results[opponent]["agents"][0]["win_rate"] for results in by_seed.values()]
        found[opponent] = {
            "mean": statistics.mean(rates),
            "lowest": min(rates),
            "highest": max(rates),
            "standard_deviation": statistics.stdev(rates),
        }
    return found


def _spread_line(opponent: str, spread: Mapping[str, float]) -> str:
    return (
        f"against {opponent}, over the seeds: mean {spread['mean']:.4f}, "
        f"{spread['lowest']:.4f} to {spread['highest']:.4f}, "
        f"standard deviation {spread['standard_deviation']:.4f}"
    )
