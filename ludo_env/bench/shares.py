"""What is measured without a yardstick: the environment's share of a training, and memory."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

from ludo_env.bench.tasks import TaskUnavailableError
from ludo_env.core.batch import GameBatch

NUM_ENVS, ROLLOUT_LENGTH = 64, 128


def environment_share(seconds: float) -> float:
    """The share of a MaskablePPO training's wall time that is spent in `LudoVecEnv`.

    Sixty-four games of two players against ``random``, one thread, a net of two layers of 128, and
    an update of four epochs in batches of 2,048 after each 128 steps.

    Args:
        seconds: How long to train, at least; whole updates are made.

    Raises:
        TaskUnavailableError: A package for training is missing.
    """
    learner, timed = _learner()
    learner.learn(NUM_ENVS * ROLLOUT_LENGTH)  # compiles, and fills caches
    timed.spent, began = 0.0, time.perf_counter()
    while (elapsed := time.perf_counter() - began) < seconds:
        learner.learn(NUM_ENVS * ROLLOUT_LENGTH, reset_num_timesteps=False)
    return timed.spent / elapsed


def _learner() -> tuple[Any, Any]:
    try:
        import torch
        from sb3_contrib import MaskablePPO

        from ludo_env.sb3 import LudoVecEnv
    except ImportError as error:
        message = f"training needs {error.name}: pip install 'ludo_env[train]'"
        raise TaskUnavailableError(message) from None

    class TimedVecEnv(LudoVecEnv):
        """Counts the time spent in it."""

        spent = 0.0

        def step_wait(self) -> Any:
            began = time.perf_counter()
            answer = super().step_wait()
            self.spent += time.perf_counter() - began
            return answer

        def env_method(self, *arguments: Any, **keywords: Any) -> Any:
            began = time.perf_counter()
            answer = super().env_method(*arguments, **keywords)
            self.spent += time.perf_counter() - began
            return answer

    torch.set_num_threads(1)
    env = TimedVecEnv(NUM_ENVS, seed=1, num_players=2, opponents="random")
    learner = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=ROLLOUT_LENGTH,
        batch_size=2048,
        n_epochs=4,
        policy_kwargs={"net_arch": [128, 128]},
        device="cpu",
        seed=1,
    )
    return learner, env


def bytes_per_game(games: int = 100_000) -> float:
    """Memory that a batch holds, divided by its games."""
    GameBatch(games, seed=1)  # compiles
    tracemalloc.start()
    try:
        batch = GameBatch(games, seed=1)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return held / len(batch)
