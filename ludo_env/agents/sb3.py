"""A saved MaskablePPO as an agent, always asked with its mask."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints
from ludo_env.core.observation import OBSERVATION_LENGTH


class SB3Agent:
    """A MaskablePPO that plays its most probable legal action.

    Args:
        model: A path to a file that ``MaskablePPO.save`` wrote, or a loaded model.

    Raises:
        ValueError: The file is missing, is no such model, or its spaces are not this game's; or
            sb3-contrib is not installed.
    """

    def __init__(self, model: Any) -> None:
        self.name = str(model) if isinstance(model, str | Path) else "model"
        self.model = _load(Path(model)) if isinstance(model, str | Path) else model
        shape = getattr(self.model.observation_space, "shape", None)
        actions = getattr(self.model.action_space, "n", None)
        if shape != (OBSERVATION_LENGTH,) or actions != 4:
            raise ValueError(
                f"{self.name} was trained on other spaces: observation {shape}, "
                f"{actions} actions; needed are ({OBSERVATION_LENGTH},) and 4"
            )

    def act(self, batch: GameBatch, rows: Ints) -> Ints:
        """See `Agent.act`."""
        if not len(rows):  # the model takes no empty batch
            return np.zeros(0, dtype=np.int64)
        views = batch.observations(rows=rows)
        masks = batch.masks(rows).astype(bool)
        actions, _ = self.model.predict(views, deterministic=True, action_masks=masks)
        return np.asarray(actions, dtype=np.int64)

    def action_probabilities(self, batch: GameBatch, rows: Ints) -> NDArray[np.float64]:
        """How probable the policy holds each action; float64 (k, 4), 0 where illegal."""
        views, masks = batch.observations(rows=rows), batch.masks(rows).astype(bool)
        policy = self.model.policy
        shown, _ = policy.obs_to_tensor(views)
        distribution = policy.get_distribution(shown, action_masks=masks).distribution
        return np.asarray(distribution.probs.detach().cpu(), dtype=np.float64)

    def __reduce__(self) -> tuple[Any, ...]:
        file = io.BytesIO()  # a model may hold functions that only its own saving can pickle
        self.model.save(file)
        return _restored, (file.getvalue(), self.name)

    def __repr__(self) -> str:
        return f"sb3:{self.name}"


def _restored(content: bytes, name: str) -> SB3Agent:
    agent = SB3Agent(_maskable_ppo().load(io.BytesIO(content), device="cpu"))
    agent.name = name
    return agent


def _maskable_ppo() -> Any:
    try:
        from sb3_contrib import MaskablePPO
    except ImportError:
        message = "sb3 agents need Stable-Baselines3: pip install 'ludo_env[train]'"
        raise ValueError(message) from None
    return MaskablePPO


def _load(path: Path) -> Any:
    model_class = _maskable_ppo()
    if not path.is_file() and not path.with_name(path.name + ".zip").is_file():
        raise ValueError(f"no model file {str(path)!r}")
    try:
        return model_class.load(path, device="cpu")
    except Exception as error:  # whatever a foreign or damaged file provokes
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ValueError(f"{str(path)!r} is no readable MaskablePPO model ({reason})") from error
