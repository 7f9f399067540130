"""Floor 5: the package's speed, as ratios to yardsticks run in between.

Machines are noisy and differ; a ratio to something measured in the same minute does not.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ludo_env.bench.tasks import (
    PlayAEC,
    PlayGym,
    Rollout,
    StepAndObserve,
    Task,
    TaskUnavailableError,
    Yardstick,
)
from ludo_env.machine import versions


@dataclass(frozen=True)
class Comparison:
    """Something of ours against a yardstick, both counted in the same unit."""

    name: str
    unit: str
    ours: Callable[[], Task]
    yardstick: Callable[[], Task]


COMPARISONS = (
    Comparison(
        "GameBatch.rollout, random, 4 players, 1,024 games, 1 thread",
        "decisions",
        lambda: Rollout(players=4, games=1024),
        lambda: Yardstick(players=4, mode="scalar", games=1024),
    ),
    Comparison(
        "GameBatch.rollout, random, 2 players, 1,024 games, 1 thread",
        "decisions",
        lambda: Rollout(players=2, games=1024),
        lambda: Yardstick(players=2, mode="scalar", games=1024),
    ),
    Comparison(
        "GameBatch step + masks + observations (335 int8; the C writes 180 floats), 4 players",
        "decisions",
        lambda: StepAndObserve(players=4, games=1024),
        lambda: Yardstick(players=4, mode="scalarobs", games=1024),
    ),
    Comparison(
        "raw_env, last() and first legal action",
        "steps",
        lambda: PlayAEC("ludo"),
        lambda: PlayAEC("tictactoe"),
    ),
    Comparison(
        "ludo_env/Ludo-v0, 2 players, random opponent",
        "steps",
        lambda: PlayGym("ludo_env/Ludo-v0"),
        lambda: PlayGym("CartPole-v1"),
    ),
)


def run_benchmarks(repeats: int, seconds: float, report: Callable[[str], None]) -> dict[str, Any]:
    """Measure all comparisons.

    Args:
        repeats: Measurements of each side, taken in turn: ours, yardstick, ours, …
        seconds: Length of each measurement.
        report: Told, in a line each, what is being measured.

    Returns:
        What `ludo_env.bench.report.benchmark_table` prints: machine, versions and results.
    """
    results = []
    for comparison in COMPARISONS:
        report(f"measuring {comparison.name} …")
        results.append(_measure(comparison, repeats, seconds))
    return {
        "machine": versions(),
        "repeats": repeats,
        "seconds": seconds,
        "results": results,
    }


def _measure(comparison: Comparison, repeats: int, seconds: float) -> dict[str, Any]:
    ours = comparison.ours()
    ours.warm_up()
    try:
        yardstick = comparison.yardstick()
        yardstick.warm_up()
    except TaskUnavailableError as error:
        rates = [ours.rate(seconds) for _ in range(repeats)]
        return _result(comparison, rates, [], str(error))
    pairs = [(ours.rate(seconds), yardstick.rate(seconds)) for _ in range(repeats)]
    rates = [pair[0] for pair in pairs]
    return _result(comparison, rates, [pair[1] for pair in pairs], str(yardstick))


def _result(
    comparison: Comparison, ours: list[float], yardstick: list[float], name: str
) -> dict[str, Any]:
    ratios = [a / b for a, b in zip(ours, yardstick, strict=False)]
    return {
        "name": comparison.name,
        "unit": f"{comparison.unit}/s",
        "ours": statistics.median(ours),
        "yardstick": statistics.median(yardstick) if yardstick else None,
        "yardstick_name": name,
        "ratio": statistics.median(ratios) if ratios else None,
        "ratio_range": [min(ratios), max(ratios)] if ratios else None,
    }
