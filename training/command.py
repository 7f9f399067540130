"""What the commands that train have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from training import run_folder
from training.config import BAD_ARGUMENTS, Config, fail, parse
from training.stopping import INTERRUPTED, StopRequest, conduct


def run(
    kind: type[Config],
    script: str,
    rehearse: Callable[[Config], None],
    work: Callable[[Config, Path, StopRequest], None],
) -> int:
    """Run a command: read what it is told, make the run's folder, do the work.

    Args:
        kind: The configuration's dataclass.
        script: The script's module.
        rehearse: Raises ValueError where the configuration asks for what cannot be, so that it
            shows before there is a folder.
        work: A whole run, or what is left of it.

    Returns:
        The exit code.
    """
    try:
        config, folder = parse(kind, script)
        rehearse(config)
        if folder is None:
            folder = run_folder.create(config)
    except ValueError as error:
        fail(BAD_ARGUMENTS, str(error))
    except KeyboardInterrupt:
        fail(INTERRUPTED, "stopped before the work began")
    return conduct(script, folder, lambda stop: work(config, folder, stop))
