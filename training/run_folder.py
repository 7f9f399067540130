"""A run's folder: what was asked for, what it ran on, checkpoints, curve and results.

RUN/config.yaml            the resolved configuration
RUN/versions.json          package versions and machine
RUN/evaluation.json        results of all seeds, and their spread
RUN/learning_curve.png     all seeds
RUN/seed_K/tensorboard/    the learner's own log
RUN/seed_K/checkpoints/    step_N/model.zip (usable as sb3:PATH) and step_N/state.pkl
RUN/seed_K/model.zip       the trained agent
RUN/seed_K/evaluation.json, learning_curve.json
RUN/seed_K/games/          some games of the evaluation, OPPONENT.jsonl
RUN/seed_K/pool.json       past selves: when they were, games against them, win rate of late
"""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from ludo_env.machine import versions
from training.config import write_config
from training.stopping import RunStoppedError, StopRequest

PACKAGES = ("cmaes", "torch", "stable-baselines3", "sb3-contrib", "jsonargparse")


def create(config: Any) -> Path:
    """Make the folder of a new run of a configuration with ``name``, ``run`` and ``seed``.

    Raises:
        ValueError: It exists already.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folder = Path(config.run or f"runs/{config.name}-{stamp}")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        message = f"run {folder} exists already: choose another, or go on with it by --resume"
        raise ValueError(message) from None
    except OSError as error:
        raise ValueError(f"run {folder} cannot be made: {error.strerror}") from None
    write_config(config, folder / "config.yaml")
    used = versions() | {package: metadata.version(package) for package in PACKAGES}
    seeds = [config.seed + i for i in range(getattr(config, "seeds", 1))]
    write_json({**used, "seeds": seeds}, folder / "versions.json")
    return folder


def seed_folder(run: Path, seed: int) -> Path:
    """The folder of one seed's training."""
    return run / f"seed_{seed}"


def write_json(content: Any, path: Path) -> None:
    """Write a file whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(content, indent=2) + "\n")
    os.replace(partial, path)


def read_json(path: Path) -> Any:
    """What a file holds that `write_json` wrote.

    Raises:
        ValueError: It is damaged.
    """
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error


class Checkpoints:
    """A run's or a seed's checkpoints: everything that its next step depends on.

    Args:
        folder: The folder of the run or the seed.
        keep: How many are kept.
        minutes: From one to the next.
    """

    def __init__(self, folder: Path, keep: int, minutes: float) -> None:
        self.folder = folder / "checkpoints"
        self.keep = keep
        self.minutes = minutes
        self._saved_at = time.monotonic()

    def save_if_due(self, step: int, write: Callable[[Path], None], stop: StopRequest) -> None:
        """Save a checkpoint where it is time to, or where the user wants to stop.

        Args:
            step: See `save`.
            write: See `save`.
            stop: Whether the user wants to stop.

        Raises:
            RunStoppedError: The user does; the checkpoint is saved.
        """
        asked_to_stop = stop.made
        if asked_to_stop or time.monotonic() - self._saved_at > 60 * self.minutes:
            self.save(step, write)
            self._saved_at = time.monotonic()
        if asked_to_stop:
            raise RunStoppedError

    def save(self, step: int, write: Callable[[Path], None]) -> None:
        """Save a checkpoint, whole or not at all.

        Args:
            step: How far the run has come.
            write: Writes the checkpoint's files into a folder.
        """
        target = self.folder / f"step_{step:012d}"
        partial = self.folder / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        write(partial)
        if target.exists():
            shutil.rmtree(target)
        os.replace(partial, target)
        for old in self.all()[: -self.keep]:
            shutil.rmtree(old)

    def all(self) -> list[Path]:
        """The whole checkpoints, oldest first."""
        return sorted(self.folder.glob("step_*"))

    def newest(self) -> Path | None:
        """The newest checkpoint, if there is one."""
        return next(reversed(self.all()), None)


def unreadable(checkpoint: Path, error: Exception) -> ValueError:
    """What to raise where restoring a checkpoint failed, whatever a damaged file provoked."""
    return ValueError(
        f"checkpoint {checkpoint} cannot be read, or does not fit the run's config.yaml "
        f"({error!r}); delete it to go on from the one before"
    )


def write_checkpoint(model: MaskablePPO, notes: Any, folder: Path) -> None:
    """Write a model at a rollout boundary: itself, games, generators and the training's notes."""
    model.save(folder / "model.zip")
    state = {"env": model.env, "generators": _generators(), "notes": notes}
    (folder / "state.pkl").write_bytes(pickle.dumps(state))


def load(checkpoint: Path) -> tuple[MaskablePPO, Any]:
    """The model and the notes of a checkpoint; the generators go back to where it left them.

    Raises:
        ValueError: A file is missing or damaged.
    """
    try:
        state = pickle.loads((checkpoint / "state.pkl").read_bytes())
        path = checkpoint / "model.zip"
        model = MaskablePPO.load(path, state["env"], "cpu", force_reset=False)
        _restore_generators(state["generators"])
        return model, state["notes"]
    except Exception as error:
        raise unreadable(checkpoint, error) from error


def load_trained(folder: Path) -> MaskablePPO | None:
    """The trained model of a seed whose training is done, if it is.

    Raises:
        ValueError: The file is damaged.
    """
    path = folder / "model.zip"
    if not path.exists():
        return None
    try:
        return MaskablePPO.load(path, device="cpu")
    except Exception as error:
        raise ValueError(f"{path} cannot be read ({error!r})") from error


def _generators() -> dict[str, Any]:
    """The states of the generators that Stable-Baselines3 draws from."""
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002 (SB3's own choice)
        "torch": torch.get_rng_state(),
    }


def _restore_generators(states: dict[str, Any]) -> None:
    """Put the generators back where a checkpoint left them."""
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])  # noqa: NPY002
    torch.set_rng_state(states["torch"])
