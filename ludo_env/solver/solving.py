"""Solving a game: bounds from below and above until they meet."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.rules import Rules
from ludo_env.core.sweep import BEST
from ludo_env.solution import MAX_SOLVED_PAWNS, Solution, solvable, write_whole
from ludo_env.solver.duel import Duel, Ground, Play

PERFECT = Play(BEST, np.zeros((1, 1), dtype=np.uint16))
"""The best move, whatever the other plays."""

_CHECKPOINT_SECONDS = 300.0


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
    checkpoint: str | os.PathLike[str] | None = None,
) -> Solution:
    """Solve a two-player game: the chance to win, with perfect play, in every position.

    A lower and an upper table are improved towards each other; values are their middle, and their
    distance bounds the error (interval iteration: Haddad and Monmege, "Interval iteration algorithm
    for MDPs and IMDPs", Theoretical Computer Science 735, 2018). One pawn takes no time, two take
    seconds, three minutes and 3 GB of memory.

    Args:
        rules: Two players with up to three pawns each; any options.
        tolerance: How far values may be off; None for 1e-12, and 5e-8 for three pawns. About
            2e-8 is the least that three pawns' rounded values can reach.
        num_threads: Threads; None for one for each core. The result does not depend on it.
        report: Called after each sweep.
        checkpoint: A file for unfinished work: read where it exists, written every five minutes
            and when interrupted, removed at the end.

    Raises:
        ValueError: An argument is wrong, or the checkpoint cannot be read or is of other rules.
    """
    rules = solvable(rules)
    tolerance = checked_tolerance(tolerance, default_tolerance(rules))
    duel = Duel(Ground(rules), PERFECT, PERFECT, num_threads)
    work = Unfinished(Path(checkpoint), duel) if checkpoint is not None else None
    number = work.resume() if work is not None else 0
    bound, change = _bound(duel), 1.0
    while bound > tolerance and change > 0:
        try:
            began, before, number = time.perf_counter(), bound, number + 1
            change = duel.sweep()
            bound, seconds = _bound(duel), time.perf_counter() - began
            if report is not None:
                left = seconds * _sweeps_left(before, bound, tolerance)
                report(Sweep(number, change, bound, seconds, left))
            if work is not None:
                work.save_now_and_then(number)
        except BaseException:
            if work is not None:
                work.save(number - 1)
            raise
    solution = Solution(rules, _middle(duel), bound)
    if work is not None:
        work.remove()
    return solution


def _bound(duel: Duel) -> float:
    """How far the middle of both tables is off at most: half their distance, and its rounding."""
    return duel.gap() / 2 + 0.5 / duel.ground.scale.one


def _sweeps_left(before: float, bound: float, tolerance: float) -> float:
    """How many more it takes if the bound goes on falling as in the last one."""
    if not 0 < bound < before:
        return math.inf
    return max(0.0, math.ceil(math.log(bound / tolerance) / math.log(before / bound)))


def _middle(duel: Duel) -> NDArray[Any]:
    """The middle of both tables; in place, since there may be no room for another."""
    lower, upper = duel.a.rolls, duel.b.rolls
    np.subtract(upper, lower, out=upper)
    np.floor_divide(upper, 2, out=upper)
    np.add(upper, lower, out=upper)
    return upper


class Unfinished:
    """A file that holds a duel's progress: a line of JSON and both tables of rolling.

    Args:
        path: The file.
        duel: A duel of perfect play on both sides.
    """

    def __init__(self, path: Path, duel: Duel) -> None:
        self._path = path
        self._duel = duel
        self._saved = time.monotonic()

    def _header(self) -> dict[str, Any]:
        return {"ludo_env": "unfinished solution", "rules": asdict(self._duel.ground.rules)}

    def resume(self) -> int:
        """Go on from the file, if there is one. Returns the number of sweeps it holds.

        Raises:
            ValueError: The file cannot be read, or holds something else.
        """
        if not self._path.exists():
            return 0
        try:
            with self._path.open("rb") as file:
                return self._read(file)
        except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(self._refusal(f"cannot be read ({error})")) from error

    def _read(self, file: BinaryIO) -> int:
        header = json.loads(file.readline(4096))
        sweeps = header.pop("sweeps")
        if header != self._header():
            raise ValueError(self._refusal(f"is of {header.get('rules')}"))
        lower, upper = self._duel.a.rolls, self._duel.b.rolls
        if self._path.stat().st_size != file.tell() + lower.nbytes + upper.nbytes:
            raise ValueError(self._refusal("is damaged"))
        for table in (lower, upper):
            file.readinto(table.data.cast("B"))  # type: ignore[attr-defined]
        self._duel.restore()
        return int(sweeps)

    def _refusal(self, why: str) -> str:
        return f"the unfinished work in {str(self._path)!r} {why}; delete it to begin anew"

    def save_now_and_then(self, sweeps: int) -> None:
        """`save`, if the last time is long ago."""
        if time.monotonic() - self._saved >= _CHECKPOINT_SECONDS:
            self.save(sweeps)

    def save(self, sweeps: int) -> None:
        """Write the file."""
        write_whole(self._path, lambda file: self._write(file, sweeps))
        self._saved = time.monotonic()

    def _write(self, file: BinaryIO, sweeps: int) -> None:
        file.write(json.dumps({**self._header(), "sweeps": sweeps}).encode() + b"\n")
        self._duel.a.rolls.tofile(file)
        self._duel.b.rolls.tofile(file)

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)
