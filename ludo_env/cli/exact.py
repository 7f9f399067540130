"""``ludo solve`` and ``ludo regret``."""

from __future__ import annotations

import argparse
import json
import math
import shutil
import signal
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ludo_env.agents.base import Agent
from ludo_env.arena.report import aligned
from ludo_env.cli.common import (
    BadArgumentsError,
    add_json,
    add_options_of_rules,
    checked,
    counted,
    progress,
    rules_of,
    say,
)
from ludo_env.core import checks
from ludo_env.core.boards import number_of_boards
from ludo_env.core.rules import Rules
from ludo_env.machine import versions
from ludo_env.solution import MAX_SOLVED_PAWNS, Solution, scale_of, solvable
from ludo_env.solver.duel import threads_or_all
from ludo_env.solver.policies import as_agent, require_cover, require_plan
from ludo_env.solver.rates import judge
from ludo_env.solver.regret import Regret, regret
from ludo_env.solver.solving import Sweep, checked_tolerance, partial_path, solve
from ludo_env.tables import as_path, require_target


def add_solve(commands: Any) -> None:
    """Add ``ludo solve``."""
    text = "solve a game of two players exactly (2 pawns: seconds; 3: minutes, 3 GB of memory)"
    parser = commands.add_parser("solve", help=text, description=text)
    _add_game(parser)
    parser.add_argument(
        "--save",
        metavar="PATH",
        help="write the solution there; unfinished work beside it (PATH.partial), from where the "
        "same command goes on",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        help="how far values may be off (default: 1e-12, 3 pawns: 5e-8)",
    )
    parser.add_argument("--threads", type=int, help="threads (default: one for each core)")
    add_json(parser)
    parser.set_defaults(run=_solve)


def _add_game(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pawns", type=int, default=2, help=f"1 to {MAX_SOLVED_PAWNS} each (default: 2)"
    )
    add_options_of_rules(parser)


def _solve(options: argparse.Namespace) -> None:
    rules = checked(solvable, rules_of(options, players=2))
    checked(checked_tolerance, options.tolerance, 0.0)
    checked(threads_or_all, options.threads)
    path = None if options.save is None else _target(options.save, rules)
    sweeps: list[Sweep] = []
    with _SweepLine() as line, _stopping(path):

        def report(sweep: Sweep) -> None:
            sweeps.append(sweep)
            line.show(sweep)

        solution = solve(
            rules,
            tolerance=options.tolerance,
            num_threads=options.threads,
            save=path,
            report=report,
        )
    results = _solving(solution, sweeps, path)
    print(json.dumps(results, indent=2) if options.json else _solving_text(results))


def _target(save: str, rules: Rules) -> Path:
    """The path to save to, if it can be written and there is room for all that is written."""
    path: Path = checked(as_path, "--save", save)
    checked(require_target, "--save", path)
    partial = partial_path(path)
    if partial.exists():
        say(f"found unfinished work in {partial}")
    # Unfinished work is written beside what there is of it: two tables each; then the solution.
    tables = 3 if partial.exists() else 5
    needed = tables * scale_of(rules).dtype.itemsize * number_of_boards(rules.num_pawns) ** 2
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise BadArgumentsError(
            f"--save needs {needed / 1e9:.1f} GB of disk for the solution and unfinished work, "
            f"{free / 1e9:.1f} GB are free"
        )
    return path


@contextmanager
def _stopping(path: Path | None) -> Iterator[None]:
    """On Ctrl-C say what happens, and let no further one disturb the writing."""
    before = signal.getsignal(signal.SIGINT)

    def stop(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if path is not None:
            say("stopping; writing unfinished work ...")
        raise KeyboardInterrupt

    if path is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, stop)
    try:
        yield
    except KeyboardInterrupt:
        if path is not None and partial_path(path).exists():
            say(f"the same command goes on from {partial_path(path)}")
        raise
    finally:
        if path is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _solving(solution: Solution, sweeps: list[Sweep], path: Path | None) -> dict[str, Any]:
    results: dict[str, Any] = {
        "rules": asdict(solution.rules),
        "positions": solution.table.size,
        "first_player_wins": solution.start,
        "error": solution.error,
        "sweeps": sweeps[-1].number if sweeps else 0,
        "file": None if path is None else str(path),
        "machine": versions(),
    }
    if sweeps:
        results["sweeps_before"] = sweeps[0].number - 1
        each = statistics.median(sweep.seconds for sweep in sweeps)
        results["seconds"] = sum(sweep.seconds for sweep in sweeps)
        results["nanoseconds_per_position_and_sweep"] = each / solution.table.size * 1e9
        results["times_a_memory_copy"] = each / _copy_seconds(solution.table)
    return results


def _copy_seconds(table: np.ndarray[Any, Any]) -> float:
    """How long a plain copy of the table takes, in memory that is already there."""
    copy = table.copy()
    times = []
    for _ in range(5):
        began = time.perf_counter()
        np.copyto(copy, table)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _solving_text(results: dict[str, Any]) -> str:
    lines = [
        f"{counted(results['rules']['num_pawns'], 'pawn')} each, "
        f"{counted(results['positions'], 'position')}",
        f"the first player wins {results['first_player_wins']:.10f}, "
        f"no value is off by more than {results['error']:.1e}",
    ]
    if "seconds" in results:
        lines.append(
            f"{results['sweeps'] - results['sweeps_before']} sweeps, {results['seconds']:.1f} s"
            f"{_earlier(results['sweeps_before'])}; "
            f"{results['nanoseconds_per_position_and_sweep']:.0f} ns for a position and sweep, "
            f"{results['times_a_memory_copy']:.0f} × a copy in memory"
        )
    if results["file"]:
        lines.append(f"saved as {results['file']}")
    return "\n".join(lines)


def _earlier(sweeps: int) -> str:
    return f", {sweeps} sweeps before" if sweeps else ""


class _SweepLine:
    """The last sweep on stderr: a line that is written over, or one every ten seconds."""

    def __init__(self) -> None:
        self._over = sys.stderr.isatty()
        self._shown = time.monotonic()

    def __enter__(self) -> _SweepLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._over:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def show(self, sweep: Sweep) -> None:
        """Show a sweep."""
        text = f"sweep {sweep.number}: largest change {sweep.change:.1e}"
        if sweep.bound is not None:
            text += f", error at most {sweep.bound:.1e}"
        if sweep.seconds_left is not None and math.isfinite(sweep.seconds_left):
            text += f", about {_duration(sweep.seconds_left)} left"
        if self._over:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._shown >= 10:
            say(text)
            self._shown = time.monotonic()


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def add_regret(commands: Any) -> None:
    """Add ``ludo regret``."""
    text = "how much win probability an agent loses against perfect choices, for two players"
    parser = commands.add_parser("regret", help=text, description=text)
    parser.add_argument("agent", help="an agent, see `ludo agents`")
    _add_game(parser)
    parser.add_argument(
        "--solution", metavar="PATH", help="what `ludo solve --save` wrote (default: solve first)"
    )
    parser.add_argument(
        "--games",
        type=int,
        help="games of perfect self-play that positions are taken from (default: 1 or 2 pawns, "
        "computed frequencies; 3 pawns, 20000)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of these games (default: 0)")
    parser.add_argument(
        "--worst", type=int, default=10, help="worst positions to list (default: 10)"
    )
    parser.add_argument(
        "--win-rates",
        action="store_true",
        help="also exact win rates: against perfect play, and of the best reply (3 pawns: minutes)",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        help="how far win rates may be off (default: 1e-10, 3 pawns: 1e-6)",
    )
    add_json(parser)
    parser.set_defaults(run=_regret)


def _regret(options: argparse.Namespace) -> None:
    rules = checked(solvable, rules_of(options, players=2))
    agent: Agent = checked(as_agent, options.agent)
    checked(require_cover, agent, rules)
    checked(checked_tolerance, options.tolerance, 0.0)
    checked(checks.checked_seed, options.seed)
    checked(checks.natural, "--worst", options.worst)
    if options.games is not None:
        checked(checks.positive, "--games", options.games)
    if options.win_rates:
        checked(require_plan, agent, rules)
    solution = _solution(options.solution, rules)
    rates = _win_rates(agent, solution, rules, options.tolerance) if options.win_rates else None
    with _share() as share:
        found = regret(
            agent,
            rules,
            solution=solution,
            games=options.games,
            seed=options.seed,
            examples=options.worst,
            progress=share,
        )
    results = {
        "agent": options.agent,
        "rules": asdict(rules),
        "seed": None if found.games is None else options.seed,
        **asdict(found),
    }
    if rates is not None:
        results["win_rates"] = rates
    text = _regret_text(options.agent, found, results)
    print(json.dumps(results, indent=2) if options.json else text)


def _solution(path: str | None, rules: Rules) -> Solution:
    if path is None:
        with _SweepLine() as line:
            return solve(rules, report=line.show)
    solution: Solution = checked(Solution.load, path)
    if not solution.covers(rules):
        raise BadArgumentsError(f"{path} solves {solution.rules}, not {rules}")
    return solution


def _win_rates(
    agent: Agent, solution: Solution, rules: Rules, tolerance: float | None
) -> dict[str, dict[str, float]]:
    start = Solution(rules, solution.table, solution.error)  # where these games start
    with _share() as share, _SweepLine() as line:
        own, reply = judge(agent, start, tolerance=tolerance, report=line.show, progress=share)
    return {
        "against_perfect_play": {**own._asdict(), "mean": own.mean},
        "of_the_best_reply": {**reply._asdict(), "mean": reply.mean},
    }


class _share:  # noqa: N801 (used as a function)
    """A progress bar for a share of 1."""

    def __init__(self) -> None:
        self._bar = progress(100, "%")

    def __enter__(self) -> Any:
        advance, shown = self._bar.__enter__(), [0]

        def show(share: float) -> None:
            percent = int(100 * share)
            advance(percent - shown[0])
            shown[0] = percent

        return show

    def __exit__(self, *error: object) -> None:
        self._bar.__exit__(*error)


def _regret_text(name: str, found: Regret, results: dict[str, Any]) -> str:
    where = "computed" if found.games is None else f"counted in {counted(found.games, 'game')}"
    off = f" ± {1.96 * found.standard_error:.5f}" if found.standard_error else ""
    lines = [
        f"{name} loses, where perfect play against itself would meet it (frequencies {where}):",
        f"{found.mean:.5f}{off} in a decision, {found.mean_of_choices:.5f} in one with a choice",
        f"{found.per_game:.4f} in a game of {found.decisions:.1f} decisions, "
        f"{found.choices:.1f} of them with a choice",
    ]
    if found.worst:
        rows = [("loses", "plays", "best", "visits a game", "position")]
        for blunder in found.worst:
            played = "any" if blunder.played is None else str(blunder.played)
            best = " ".join(map(str, blunder.best))
            numbers = f"{blunder.loss:.4f}", played, best, f"{blunder.visits:.5f}"
            rows.append((*numbers, blunder.position))
        lines += ["", aligned(rows)]
    if "win_rates" in results:
        rates = [("win rate", "moving first", "moving second", "mean")]
        for title, rate in results["win_rates"].items():
            rates.append((title.replace("_", " "), *(f"{x:.6f}" for x in rate.values())))
        lines += ["", aligned(rates)]
    return "\n".join(lines)
