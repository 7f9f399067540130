"""Floor 5: the package's speed, as ratios to yardsticks run in between.

Machines are noisy and differ; a ratio to something measured in the same minute does not.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ludo_env.bench import shares
from ludo_env.bench.tasks import (
    Act,
    Film,
    Match,
    PlayAEC,
    PlayGym,
    Rollout,
    Step,
    StepVector,
    Task,
    TaskUnavailableError,
    Yardstick,
)
from ludo_env.core.scripted import POLICIES
from ludo_env.machine import versions


@dataclass(frozen=True)
class Comparison:
    """Something of ours against a yardstick; the name says where units differ."""

    name: str
    unit: str
    ours: Callable[[], Task]
    yardstick: Callable[[], Task]


@dataclass(frozen=True)
class Quantity:
    """Something of ours that is measured alone; the less the better."""

    name: str
    unit: str
    measure: Callable[[float], float]


def _rollout(players: int, games: int, threads: int = 1) -> Comparison:
    return Comparison(
        f"GameBatch.rollout, {players} players, {_counted(games, 'game')}, "
        f"{_counted(threads, 'thread')}",
        "decisions",
        lambda: Rollout(players, games, threads),
        lambda: Yardstick(players, "scalar", games, threads),
    )


def _policy(policy: str, players: int) -> Comparison:
    return Comparison(
        f"GameBatch.rollout, {policy}, {players} players, 1,024 games, 1 thread",
        "decisions",
        lambda: Rollout(players, 1024, policy=policy),
        lambda: Rollout(players, 1024),
    )


def _match(*agents: str) -> Comparison:
    return Comparison(
        f"arena.play, {', '.join(agents)}, 1,024 games at a time",
        "decisions",
        lambda: Match(agents),
        lambda: Rollout(len(agents), 1024),
    )


def _act(spec: str, threads: int = 1) -> Comparison:
    return Comparison(
        f"agent {spec}: act and step, 4 players, 1,024 games, {_counted(threads, 'thread')}",
        "decisions",
        lambda: Act(spec, threads=threads),
        lambda: Act("random"),
    )


def _step(games: int, threads: int = 1) -> Comparison:
    return Comparison(
        f"GameBatch: step, masks, observations, {_counted(games, 'game')}, "
        f"{_counted(threads, 'thread')}",
        "decisions",
        lambda: Step(games, threads),
        lambda: Yardstick(4, "scalarobs", games, threads),
    )


def _blind_step(games: int) -> Comparison:
    return Comparison(
        f"GameBatch: step, masks, {_counted(games, 'game')}, 1 thread",
        "decisions",
        lambda: Step(games, observes=False),
        lambda: Yardstick(4, "scalar", games),
    )


def _vector(games: int) -> Comparison:
    return Comparison(
        f"VectorEnv, 3 random opponents, {_counted(games, 'game')} (C counts all four's decisions)",
        "learner decisions",
        lambda: StepVector(games, "random"),
        lambda: Yardstick(4, "scalarobs", games),
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("s" if number > 1 else "")


COMPARISONS = (
    *(_rollout(4, games) for games in (1, 64, 1024, 16384)),
    _rollout(2, 1024),
    _rollout(3, 1024),
    _rollout(4, 1024, threads=2),
    *(_policy(policy, players) for policy in ("advance", "careful") for players in (2, 4)),
    _match("random", "advance"),
    _match("random", "advance", "first", "random"),
    *(_act(spec) for spec in (*POLICIES, "expectimax", "td", "td:2")),
    _act("td", threads=2),
    *(_step(games) for games in (1, 64, 1024, 16384)),
    _step(16384, threads=2),
    *(_blind_step(games) for games in (1, 1024)),
    *(_vector(games) for games in (64, 1024, 16384)),
    Comparison(
        "VectorEnv, 3 advance opponents, 1,024 games",
        "learner decisions",
        lambda: StepVector(1024, "advance"),
        lambda: StepVector(1024, "random"),
    ),
    Comparison(
        "raw_env, last() and first legal action",
        "steps",
        lambda: PlayAEC("ludo", "raw_env"),
        lambda: PlayAEC("tictactoe", "raw_env"),
    ),
    Comparison(
        "env() with all wrappers, the same",
        "steps",
        lambda: PlayAEC("ludo", "env"),
        lambda: PlayAEC("tictactoe", "env"),
    ),
    Comparison(
        "ludo_env/Ludo-v0, 2 players, random opponent",
        "steps",
        lambda: PlayGym("ludo_env/Ludo-v0"),
        lambda: PlayGym("CartPole-v1"),
    ),
    Comparison(
        "ludo_env/Ludo-v0, rgb_array at 600 pixels, 4 players",
        "frames",
        lambda: Film("ludo_env/Ludo-v0"),
        lambda: Film("CartPole-v1"),
    ),
)

QUANTITIES = (
    Quantity(
        "MaskablePPO, 64 games: time in the environment", "of wall time", shares.environment_share
    ),
    Quantity("memory of a game in a batch", "bytes", lambda seconds: shares.bytes_per_game()),
)


def run_benchmarks(
    repeats: int, seconds: float, report: Callable[[str], None], only: str = ""
) -> dict[str, Any]:
    """Measure all comparisons and quantities.

    Args:
        repeats: Measurements of each side, taken in turn: ours, yardstick, ours, …
        seconds: Length of each measurement.
        report: Told, in a line each, what is being measured.
        only: Part of the names of those to measure; empty for all.

    Returns:
        What `ludo_env.bench.report.benchmark_table` prints: machine, versions, results (those of
        comparisons with a ``yardstick``) and quantities.

    Raises:
        ValueError: No name contains ``only``.
    """
    comparisons = [c for c in COMPARISONS if only in c.name]
    quantities = [q for q in QUANTITIES if only in q.name]
    if not comparisons and not quantities:
        names = "; ".join([c.name for c in COMPARISONS] + [q.name for q in QUANTITIES])
        raise ValueError(f"only must be part of a name, got {only!r}; the names are {names}")
    results = []
    for comparison in comparisons:
        report(f"measuring {comparison.name} …")
        results.append(_measure(comparison, repeats, seconds))
    alone = []
    for quantity in quantities:
        report(f"measuring {quantity.name} …")
        alone.append(_measure_alone(quantity, repeats, seconds))
    return {
        "machine": versions(),
        "repeats": repeats,
        "seconds": seconds,
        "results": results,
        "quantities": alone,
    }


def _measure(comparison: Comparison, repeats: int, seconds: float) -> dict[str, Any]:
    ours = comparison.ours()
    ours.warm_up()
    try:
        yardstick = comparison.yardstick()
        yardstick.warm_up()
    except TaskUnavailableError as error:
        rates = [ours.rate(seconds) for _ in range(repeats)]
        return _result(comparison, ours, rates, [], str(error))
    pairs = [(ours.rate(seconds), yardstick.rate(seconds)) for _ in range(repeats)]
    rates = [pair[0] for pair in pairs]
    return _result(comparison, ours, rates, [pair[1] for pair in pairs], str(yardstick))


def _result(
    comparison: Comparison, task: Task, ours: list[float], yardstick: list[float], name: str
) -> dict[str, Any]:
    ratios = [a / b for a, b in zip(ours, yardstick, strict=False)]
    rate = statistics.median(ours)
    return {
        "name": comparison.name,
        "unit": f"{comparison.unit}/s",
        "ours": rate,
        "also": {f"{what}/s": rate * each for what, each in task.also.items()},
        "yardstick": statistics.median(yardstick) if yardstick else None,
        "yardstick_name": name,
        "ratio": statistics.median(ratios) if ratios else None,
        "ratio_range": [min(ratios), max(ratios)] if ratios else None,
    }


def _measure_alone(quantity: Quantity, repeats: int, seconds: float) -> dict[str, Any]:
    about: dict[str, Any] = {"name": quantity.name, "unit": quantity.unit, "missing": None}
    try:
        values = [quantity.measure(seconds) for _ in range(repeats)]
    except TaskUnavailableError as error:
        return {**about, "value": None, "range": None, "missing": str(error)}
    return {**about, "value": statistics.median(values), "range": [min(values), max(values)]}
