"""Exact win rates of policies against each other, and against the best reply."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from ludo_env.agents.base import Agent
from ludo_env.core.rules import Rules
from ludo_env.solution import MAX_SOLVED_PAWNS, Solution, solvable
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

    It is bounded from below and above, in two runs; the middle is returned.

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
        ValueError: An argument is wrong, a policy is no function of the position (see
            `ludo_env.solver.policies.play_of`), or rounding keeps the bounds further apart.
    """
    duels = _Duels(rules, tolerance, num_threads, report)
    agents = as_agent(a), as_agent(b)
    own = duels.play_of(agents[0], progress)
    theirs = own if agents[1] is agents[0] else duels.play_of(agents[1], progress)
    return duels.rates(own, theirs)


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
    duels = _Duels(rules, tolerance, num_threads, report)
    return duels.rates(PERFECT, duels.play_of(as_agent(policy), progress))


def judge(
    policy: Any,
    solution: Solution,
    *,
    tolerance: float | None = None,
    num_threads: int | None = None,
    report: Report | None = None,
    progress: Progress | None = None,
) -> tuple[WinRates, WinRates]:
    """How often a policy wins against perfect play, and the best reply against the policy.

    As `win_probability` and `best_response`, with the policy asked once.
    """
    duels = _Duels(solution.rules, tolerance, num_threads, report)
    own = duels.play_of(as_agent(policy), progress)
    perfect = duels.play_of(as_agent(solution), None)
    return duels.rates(own, perfect), duels.rates(PERFECT, own)


class _Duels:
    """Duels under the same rules, to the same tolerance."""

    def __init__(
        self,
        rules: Rules,
        tolerance: float | None,
        num_threads: int | None,
        report: Report | None,
    ) -> None:
        rules = solvable(rules)
        default = 1e-10 if rules.num_pawns < MAX_SOLVED_PAWNS else 1e-6
        self._tolerance = checked_tolerance(tolerance, default)
        self._threads = threads_or_all(num_threads)
        self._report = report
        self._ground = Ground(rules)

    def play_of(self, agent: Agent, progress: Progress | None) -> Play:
        return play_of(agent, self._ground, self._threads, progress)

    def rates(self, own: Play, theirs: Play) -> WinRates:
        """How often the one play wins against the other."""
        enough = self._tolerance / 4
        while True:
            low = self._run(own, theirs, enough)
            high = self._run(theirs, own, enough)
            # In the second run the one play is the side ``b``, whose chances come from above.
            lower = WinRates(low.a, 1 - low.b)
            upper = WinRates(high.b, 1 - high.a)
            error = max(upper.first - lower.first, upper.second - lower.second) / 2
            if error <= self._tolerance:
                return WinRates((lower.first + upper.first) / 2, (lower.second + upper.second) / 2)
            if low.settled and high.settled:
                raise ValueError(
                    f"tolerance must be at least {error:.1e}, which rounding leaves, got "
                    f"{self._tolerance:.1e}"
                )
            enough /= 16

    def _run(self, a: Play, b: Play, enough: float) -> _Run:
        """Sweep until little changes. Two duels of three pawns would not fit into memory."""
        duel = Duel(self._ground, a, b, self._threads)
        change, number = 1.0, 0
        while change > enough and change > 0:
            began, number = time.perf_counter(), number + 1
            change = duel.sweep()
            if self._report is not None:
                self._report(Sweep(number, change, None, time.perf_counter() - began, None))
        start, one = self._ground.start, self._ground.scale.one
        a_rolls, b_rolls = (side.rolls[start, start] / one for side in (duel.a, duel.b))
        return _Run(float(a_rolls), float(b_rolls), change == 0)


class _Run(NamedTuple):
    """Both sides' chances where they move first, and whether no sweep would change any."""

    a: float
    b: float
    settled: bool
