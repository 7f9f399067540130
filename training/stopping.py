"""How a run is stopped: Ctrl-C waits for a point from which the run can go on."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from training.config import fail

FAILED, INTERRUPTED = 1, 130


class RunStoppedError(Exception):
    """The user asked the run to stop; a checkpoint has been saved."""


class StopRequest:
    """Ctrl-C, remembered until the next point to go on from; the second one interrupts at once."""

    def __init__(self) -> None:
        self.made = False

    def __call__(self, *_: object) -> None:
        """The signal's handler."""
        if self.made:
            raise KeyboardInterrupt
        self.made = True
        tqdm.write("stopping at the next point to go on from (Ctrl-C again: at once)", sys.stderr)


def conduct(script: str, folder: Path, work: Callable[[StopRequest], None]) -> int:
    """Do a run's work, which may be stopped and may fail. Returns the exit code.

    Args:
        script: The script's module, to go on with.
        folder: The run's folder.
        work: Looks at the request now and then, and raises `RunStoppedError` where it is made.
    """
    with stop_on_interrupt() as stop:
        try:
            work(stop)
        except (RunStoppedError, KeyboardInterrupt):
            print(f"stopped; go on with: python -m {script} --resume {folder}", file=sys.stderr)
            return INTERRUPTED
        except Exception as error:  # an agent's, or the disk's
            fail(FAILED, str(error) if isinstance(error, ValueError) else repr(error))
    return 0


@contextmanager
def stop_on_interrupt() -> Iterator[StopRequest]:
    """Turn SIGINT and SIGTERM into a `StopRequest`."""
    request = StopRequest()
    old = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


@contextmanager
def counted_games(
    total: int, description: str, stop: StopRequest
) -> Iterator[Callable[[int], None]]:
    """A progress bar over games, as the function that counts them.

    That function raises `RunStoppedError` where the user asked to stop.
    """
    with tqdm(total=total, unit=" games", mininterval=1, desc=description) as bar:

        def count(games: int) -> None:
            bar.update(games)
            if stop.made:
                raise RunStoppedError

        yield count
