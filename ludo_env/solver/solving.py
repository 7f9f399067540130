"""Solving a game: bounds from below and above until they meet."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.rules import Rules, is_integer
from ludo_env.core.sweep import BEST
from ludo_env.solution import MAX_SOLVED_PAWNS, Solution, solvable
from ludo_env.solver.duel import Duel, Ground, Play, threads_or_all
from ludo_env.tables import as_path, read_header, read_tables, require_target, write_tables

PERFECT = Play(BEST, np.zeros((1, 1), dtype=np.uint16))
"""The best move, whatever the other plays."""

_CHECKPOINT_SECONDS = 300.0
_TELLING = 0.25  # a bound below which its fall tells how it will go on
_KIND = "ludo_env unfinished solution"


@dataclass(frozen=True)
class Sweep:
    """What a sweep has reached.

    Attributes:
        number: Which it is, from 1; sweeps before a resumption count.
        change: The largest change of a chance.
        bound: How far any value is off at most; None where that is not known.
        seconds: How long the sweep took.
        seconds_left: About how long it will still take; None where that is not known.
    """

    number: int
    change: float
    bound: float | None
    seconds: float
    seconds_left: float | None


Report = Callable[[Sweep], None]


def default_tolerance(rules: Rules) -> float:
    """How far values may be off: 1e-12, or 5e-8 where chances are held in 4 bytes."""
    return 1e-12 if rules.num_pawns < MAX_SOLVED_PAWNS else 5e-8


def checked_tolerance(tolerance: Any, default: float) -> float:
    """A tolerance above 0 and below 1.

    Raises:
        ValueError: It is none.
    """
    if tolerance is None:
        return default
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float | np.number):
        raise ValueError(f"tolerance must be a number between 0 and 1, got {tolerance!r}")
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance must be a number between 0 and 1, got {tolerance!r}")
    return float(tolerance)


def solve(
    rules: Rules,
    *,
    tolerance: float | None = None,
    num_threads: int | None = None,
    report: Report | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Solution:
    """Solve a two-player game: the chance to win, with perfect play, in every position.

    A lower and an upper table are improved towards each other; values are their middle, and their
    distance bounds the error (interval iteration: Haddad and Monmege, "Interval iteration algorithm
    for MDPs and IMDPs", Theoretical Computer Science 735, 2018). One pawn takes no time, two take
    seconds, three minutes and 3 GB of memory.

    Args:
        rules: Two players with up to three pawns each; any options.
        tolerance: How far values may be off; None for 1e-12, and 5e-8 for three pawns. Rounding
            allows no less than some 4e-13, 3e-8 for three pawns: see `Solution.error`.
        num_threads: Threads; None for one for each core. The result does not depend on it.
        report: Called after each sweep.
        save: A file to write the solution to. Unfinished work is written beside it, as
            ``PATH.partial``, every five minutes and when the call ends early; the same call goes on
            from there.

    Raises:
        ValueError: An argument is wrong, the file cannot be written, or unfinished work cannot be
            read or is of other rules.
    """
    rules = solvable(rules)
    tolerance = checked_tolerance(tolerance, default_tolerance(rules))
    threads = threads_or_all(num_threads)
    target = None if save is None else as_path("save", save)
    if target is not None:
        require_target("save", target)
    duel = Duel(Ground(rules), PERFECT, PERFECT, threads)
    if target is None:
        return _solved(duel, tolerance, report, None)
    work = Unfinished(partial_path(target), duel)
    work.resume()
    try:
        solution = _solved(duel, tolerance, report, work)
        solution.save(target)
    except BaseException:
        with suppress(ValueError):  # where nothing can be written, the first error says more
            work.save()
        raise
    work.remove()
    return solution


def partial_path(path: Path) -> Path:
    """Where unfinished work of a solution lies."""
    return path.with_name(f"{path.name}.partial")


def _solved(
    duel: Duel, tolerance: float, report: Report | None, work: Unfinished | None
) -> Solution:
    """Sweep until both bounds meet, or rounding keeps them apart."""
    bound, change, number = _bound(duel), 1.0, 0 if work is None else work.sweeps
    while bound > tolerance and change > 0:
        began, before, number = time.perf_counter(), bound, number + 1
        change = duel.sweep()
        bound, seconds = _bound(duel), time.perf_counter() - began
        if work is not None:
            work.swept(number)
        if report is not None:
            left = _sweeps_left(before, bound, tolerance)
            report(Sweep(number, change, bound, seconds, None if left is None else left * seconds))
    return Solution(duel.ground.rules, _middle(duel), bound)


def _bound(duel: Duel) -> float:
    """How far the middle of both tables is off at most: half their distance, and its rounding."""
    return duel.gap() / 2 + 0.5 / duel.ground.scale.one


def _sweeps_left(before: float, bound: float, tolerance: float) -> int | None:
    """How many more it takes if the bound goes on falling as in the last one."""
    if not bound < min(before, _TELLING):
        return None
    return max(0, math.ceil(math.log(bound / tolerance) / math.log(before / bound)))


def _middle(duel: Duel) -> NDArray[Any]:
    """The middle of both tables of rolling, in the place of one of waiting."""
    lower, upper, middle = duel.a.rolls, duel.b.rolls, duel.a.waits
    np.subtract(upper, lower, out=middle)
    np.floor_divide(middle, 2, out=middle)
    np.add(middle, lower, out=middle)
    return middle


class Unfinished:
    """A duel's progress in a file: both tables of rolling.

    Args:
        path: The file.
        duel: A duel of perfect play on both sides.

    Attributes:
        sweeps: How many sweeps the duel has made, before a resumption too.
    """

    def __init__(self, path: Path, duel: Duel) -> None:
        self.sweeps = 0
        self._path = path
        self._duel = duel
        self._saved = time.monotonic()

    @property
    def _tables(self) -> list[NDArray[Any]]:
        return [self._duel.a.rolls, self._duel.b.rolls]

    def resume(self) -> None:
        """Go on from the file, if there is one.

        Raises:
            ValueError: The file cannot be read, or holds something else.
        """
        if not self._path.exists():
            return
        try:
            header = read_header(self._path, _KIND)
            rules, sweeps = header.get("rules"), header.get("sweeps", 0)
            if rules != asdict(self._duel.ground.rules):
                raise ValueError(f"{str(self._path)!r} is of {rules}")
            if not is_integer(sweeps):
                raise ValueError(f"{str(self._path)!r} is damaged: {sweeps!r} sweeps")
            read_tables(self._path, header, self._tables)
        except ValueError as error:
            raise ValueError(f"unfinished work {error}; remove it to begin anew") from error
        self._duel.restore()
        self.sweeps = int(sweeps)

    def swept(self, number: int) -> None:
        """Count a sweep, and `save` if the last time is long ago and the disk allows."""
        self.sweeps = number
        if time.monotonic() - self._saved >= _CHECKPOINT_SECONDS:
            with suppress(ValueError):
                self.save()

    def save(self) -> None:
        """Write the file.

        Raises:
            ValueError: It cannot be written.
        """
        header = {"rules": asdict(self._duel.ground.rules), "sweeps": self.sweeps}
        write_tables(self._path, _KIND, header, self._tables)
        self._saved = time.monotonic()

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)
