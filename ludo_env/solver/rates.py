"""Exact win rates of policies against each other, and against the best reply."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ludo_env.core.rules import Rules
from ludo_env.solution import MAX_SOLVED_PAWNS, solvable
from ludo_env.solver.duel import Duel, Ground, Play, threads_or_all
from ludo_env.solver.policies import Progress, as_agent, play_of
from ludo_env.solver.solving import PERFECT, Report, Sweep, checked_tolerance


class WinRates(NamedTuple):
    """How often a policy wins, moving first and moving second."""

    first: float
    second: float

    @property
    def mean(self) -> float:
        """The mean of both seats."""
        return (self.first + self.second) / 2


def win_probability(
    a: Any,
    b: Any,
    rules: Rules,
    *,
    tolerance: float | None = None,
    num_threads: int | None = None,
    report: Report | None = None,
    progress: Progress | None = None,
) -> WinRates:
    """How often policy ``a`` wins against ``b``, exactly.

    Both are bounded from below and above, in two runs; the middle is returned.

    Args:
        a: A spec, an agent, a `Solution`, or a function that takes a `GameBatch` and rows (k,) and
            returns actions (k,), as `Agent.act` does.
        b: Another.
        rules: Two players with up to three pawns each; any options.
        tolerance: How far the rates may be off; None for 1e-10, and 1e-6 for three pawns.
        num_threads: Threads; None for one for each core.
        report: Called after each sweep of a run.
        progress: Called with the share done while a policy is asked about all positions.

    Raises:
        ValueError: An argument is wrong, or a policy is no function of the position: see
            `ludo_env.solver.policies.play_of`.
    """
    agents = as_agent(a), as_agent(b)
    ground = Ground(solvable(rules))
    threads = threads_or_all(num_threads)
    own = play_of(agents[0], ground, threads, progress)
    theirs = own if agents[1] is agents[0] else play_of(agents[1], ground, threads, progress)
    return _bounded(own, theirs, ground, tolerance, threads, report)


def best_response(
    policy: Any,
    rules: Rules,
    *,
    tolerance: float | None = None,
    num_threads: int | None = None,
    report: Report | None = None,
    progress: Progress | None = None,
) -> WinRates:
    """How often the best reply to a policy wins against it, exactly: its exploitability.

    The best reply knows how the policy will play in every position. Arguments and errors are those
    of `win_probability`.
    """
    agent = as_agent(policy)
    ground = Ground(solvable(rules))
    threads = threads_or_all(num_threads)
    theirs = play_of(agent, ground, threads, progress)
    return _bounded(PERFECT, theirs, ground, tolerance, threads, report)


def _bounded(
    own: Play,
    theirs: Play,
    ground: Ground,
    tolerance: float | None,
    threads: int,
    report: Report | None,
) -> WinRates:
    default = 1e-10 if ground.rules.num_pawns < MAX_SOLVED_PAWNS else 1e-6
    wanted = checked_tolerance(tolerance, default)
    enough = wanted
    while True:
        low = _run(lambda: Duel(ground, own, theirs, threads), enough, report)
        high = _run(lambda: Duel(ground, theirs, own, threads), enough, report)
        # In the second run the policy is the side ``b``, whose chances come from above.
        lower, upper = WinRates(low[0], 1 - low[1]), WinRates(high[1], 1 - high[0])
        rates = WinRates(*((x + y) / 2 for x, y in zip(lower, upper, strict=True)))
        error = max(y - x for x, y in zip(lower, upper, strict=True)) / 2
        if error <= wanted or enough < 1e-3 / ground.scale.one:
            return rates
        enough /= 16


def _run(begin: Callable[[], Duel], enough: float, report: Report | None) -> tuple[float, float]:
    """Both sides' chances where they roll at the start, once sweeps change little."""
    duel = begin()
    change, number = 1.0, 0
    while change > enough / 4:
        began, number = time.perf_counter(), number + 1
        change = duel.sweep()
        if report is not None:
            report(Sweep(number, change, None, time.perf_counter() - began, None))
    start, one = duel.ground.start, duel.ground.scale.one
    return float(duel.a.rolls[start, start] / one), float(duel.b.rolls[start, start] / one)
