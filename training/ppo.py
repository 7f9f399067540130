"""Train MaskablePPO on the batched environment: one command from recipe to evaluated agent.

    python -m training.ppo --config configs/ppo_quick.yaml
    python -m training.ppo --config configs/ppo_quick.yaml --seeds 3 --learner.learning_rate 5e-4
    python -m training.ppo --resume runs/ppo_quick-…

Ctrl-C ends the run at the next rollout boundary with a checkpoint; a second one ends it at once,
and the last checkpoint stays. `--resume` goes on from it exactly as if nothing had happened.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv
from tqdm import tqdm

from ludo_env.agents.base import make_agent
from ludo_env.agents.network import Network
from ludo_env.agents.sb3 import SB3Agent
from ludo_env.rewards import Shaped
from ludo_env.sb3 import LudoVecEnv
from ludo_env.sb3_policy import AfterstatePolicy
from training import command, curve, evaluation, run_folder
from training.config import PPOConfig
from training.imitation import imitate
from training.luck import WithoutLuck
from training.pool import Pool, snapshot
from training.stopping import StopRequest, counted_games


@dataclass
class Notes:
    """What a seed's training remembers beside the model.

    Attributes:
        pool: The opponents.
        points: The learning curve so far.
        seconds: Time spent on playing and learning.
    """

    pool: Pool
    points: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


class Conductor(BaseCallback):
    """What happens beside learning: progress, opponents, curve points, checkpoints, stopping.

    All but the progress happens at rollout boundaries: after an update, before the next rollout.

    Args:
        config: The run's configuration.
        checkpoints: Where to save.
        notes: The learning curve, the pool and the times so far; in place.
        stop: Whether the user wants to stop.
    """

    def __init__(
        self,
        config: PPOConfig,
        checkpoints: run_folder.Checkpoints,
        notes: Notes,
        stop: StopRequest,
    ) -> None:
        super().__init__()
        self.config = config
        self.checkpoints = checkpoints
        self.notes = notes
        self.stop = stop
        self._luck_judge = luck_judge(config)
        self._bar: tqdm | None = None
        self._began_at: float | None = None

    def _on_training_start(self) -> None:
        if self.num_timesteps == 0:
            self.notes.pool.begin()
        self._bar = tqdm(
            total=self.model._total_timesteps,
            initial=self.num_timesteps,
            unit=" steps",
            unit_scale=True,
            mininterval=1.0,
            desc=f"seed {self.model.seed}",
        )

    def _on_rollout_start(self) -> None:
        self._note_time()
        self._refresh_opponents_if_due()
        self._measure_if_due()
        if isinstance(self.training_env, WithoutLuck):
            self.training_env.judge_by(self._luck_judge or self.model.policy.critic_network())
        self.checkpoints.save_if_due(self.num_timesteps, self._write, self.stop)
        self._began_at = time.perf_counter()

    def _note_time(self) -> None:
        if self._began_at is not None:
            self.notes.seconds += time.perf_counter() - self._began_at
        self._began_at = None

    def _write(self, folder: Path) -> None:
        run_folder.write_checkpoint(self.model, self.notes, folder)

    def _refresh_opponents_if_due(self) -> None:
        pool = self.notes.pool
        if pool.is_due(self.num_timesteps):
            pool.add(self.num_timesteps, snapshot(self.model))
            self.training_env.set_opponents(pool.seat())

    def _measure_if_due(self) -> None:
        every, points = self.config.evaluation.curve_every, self.notes.points
        last = points[-1]["steps"] if points else -every
        if every and self.num_timesteps - last >= every:
            self.measure()

    def measure(self) -> None:
        """Add a point to the learning curve."""
        chosen = self.config.evaluation
        results = evaluation.evaluate(
            SB3Agent(self.model),
            chosen.against,
            games=chosen.curve_games,
            rules=self.config.rules,
            seed=chosen.seed,
        )
        point = evaluation.point(self.model.num_timesteps, results)
        self.notes.points.append(point | {"minutes": self.notes.seconds / 60})
        for opponent, result in point["against"].items():
            self.logger.record(f"evaluation/{opponent}", result["win_rate"])
            if self._bar is not None:
                self._bar.set_postfix({opponent: f"{result['win_rate']:.3f}"}, refresh=False)

    def _on_step(self) -> bool:
        for game in np.flatnonzero(self.locals["dones"]).tolist():
            self.notes.pool.count(game, self.locals["infos"][game].get("place") == 1)
        if self._bar is not None:
            self._bar.update(self.training_env.num_envs)
        return True

    def _on_training_end(self) -> None:
        self._note_time()

    def close(self) -> None:
        """End the progress bar's line."""
        if self._bar is not None:
            self._bar.close()


def make_pool(config: PPOConfig, seed: int) -> Pool:
    """The opponents to learn against, no past self among them."""
    env = config.env
    others = config.rules.num_players - 1
    return Pool(config.pool, env.opponents, env.num_envs, others, seed)


def make_env(config: PPOConfig, seed: int) -> VecEnv:
    """The games to learn from; their opponents are the pool's to choose."""
    env = config.env
    reward = Shaped(config.learner.discount) if env.reward == "shaped" else env.reward
    games = LudoVecEnv(
        env.num_envs,
        seed=seed * 1_000_000_007 % 2**62,  # neighbouring training seeds share no game's seed
        rules=config.rules,
        seat=env.seat,
        reward=reward,
        auto_forced=env.auto_forced,
        max_rolls=env.max_rolls,
    )
    return WithoutLuck(games, config.learner.threads) if env.luck_judge else games


def luck_judge(config: PPOConfig) -> Network | None:
    """The network that judges luck; None where that is the learner's critic, or nobody.

    Raises:
        ValueError: What is asked for is no such network, or cannot be loaded.
    """
    spec = config.env.luck_judge
    if spec is None or spec == "critic":
        return None
    network = getattr(make_agent(spec), "evaluation", None)
    if not isinstance(network, Network):
        raise ValueError(f"env.luck_judge must be null, critic, td or td:PATH, got {spec!r}")
    return network


def make_model(config: PPOConfig, env: VecEnv, seed: int) -> MaskablePPO:
    """A learner that has learned nothing."""
    learner = config.learner
    return MaskablePPO(
        "MlpPolicy" if learner.policy == "mlp" else AfterstatePolicy,
        env,
        learning_rate=LinearSchedule(learner.learning_rate, learner.final_learning_rate, 1.0),
        n_steps=learner.rollout_length,
        batch_size=learner.batch_size,
        n_epochs=learner.epochs,
        gamma=learner.discount,
        gae_lambda=learner.gae_lambda,
        clip_range=learner.clip_range,
        ent_coef=learner.entropy,
        vf_coef=learner.value,
        max_grad_norm=learner.max_grad_norm,
        policy_kwargs={"net_arch": list(learner.hidden), "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
    )


def fresh(config: PPOConfig, seed: int) -> tuple[MaskablePPO, Notes]:
    """A learner that has learned nothing, and games without its opponents."""
    env = make_env(config, seed)
    return make_model(config, env, seed), Notes(make_pool(config, seed))


def seat_first_opponents(model: MaskablePPO, pool: Pool) -> None:
    """Give all games opponents, the learner as it starts among them; in place."""
    if pool.learns_from_itself:
        pool.add(0, snapshot(model))
    model.env.set_opponents(pool.seat())


def begin(config: PPOConfig, seed: int, stop: StopRequest) -> tuple[MaskablePPO, Notes]:
    """A learner with what it starts with, before games with its first opponents.

    Raises:
        RunStoppedError: The user asked for it; nothing is saved.
    """
    model, notes = fresh(config, seed)
    notes.seconds = imitate(model, config, seed, stop)
    seat_first_opponents(model, notes.pool)
    return model, notes


def train(config: PPOConfig, seed: int, folder: Path, stop: StopRequest) -> MaskablePPO:
    """Train one seed, from its newest checkpoint where there is one.

    Raises:
        RunStoppedError: The user asked for it; where learning has begun, a checkpoint is saved.
        ValueError: The checkpoint cannot be read.
    """
    checkpoints = run_folder.Checkpoints(folder, config.keep_checkpoints, config.checkpoint_minutes)
    newest = checkpoints.newest()
    model, notes = begin(config, seed, stop) if newest is None else run_folder.load(newest)
    model.set_logger(configure(str(folder / "tensorboard"), ["tensorboard"]))
    conductor = Conductor(config, checkpoints, notes, stop)
    try:
        model.learn(
            config.total_steps - model.num_timesteps,
            callback=conductor,
            reset_num_timesteps=newest is None,
            use_masking=config.learner.use_masks,
        )
        if config.evaluation.curve_every:
            conductor.measure()
    finally:
        conductor.close()
        model.logger.close()
    run_folder.write_json(notes.points, folder / "learning_curve.json")
    run_folder.write_json(notes.pool.table(), folder / "pool.json")
    model.save(folder / "partial.zip")
    os.replace(folder / "partial.zip", folder / "model.zip")  # there means: training is done
    return model


def judge(
    config: PPOConfig, model: MaskablePPO, seed: int, folder: Path, stop: StopRequest
) -> dict[str, Any]:
    """The final evaluation of one seed; some of its games are kept in the seed's folder.

    Raises:
        RunStoppedError: The user asked for it; the evaluation is to be done again.
    """
    chosen = config.evaluation
    total = chosen.games * len(chosen.against)
    with counted_games(total, f"seed {seed} evaluated", stop) as count:
        return evaluation.evaluate(
            SB3Agent(model),
            chosen.against,
            games=chosen.games,
            rules=config.rules,
            seed=chosen.seed,
            progress=count,
            keep_in=folder / "games",
        )


def run(config: PPOConfig, folder: Path, stop: StopRequest) -> dict[int, Any]:
    """Train and evaluate all seeds that are not done yet; results by seed."""
    torch.set_num_threads(config.learner.threads)
    results: dict[int, Any] = {}
    for seed in range(config.seed, config.seed + config.seeds):
        own = run_folder.seed_folder(folder, seed)
        done = own / "evaluation.json"
        if not done.exists():
            model = run_folder.load_trained(own) or train(config, seed, own, stop)
            run_folder.write_json(judge(config, model, seed, own, stop), done)
        results[seed] = run_folder.read_json(done)
    return results


def conclude(config: PPOConfig, folder: Path, results: dict[int, Any]) -> None:
    """Write the run's results and curve, and print them."""
    everything = {"seeds": results, "spread": evaluation.spreads(results)}
    run_folder.write_json(everything, folder / "evaluation.json")
    points = {
        seed: run_folder.read_json(run_folder.seed_folder(folder, seed) / "learning_curve.json")
        for seed in results
    }
    if all(points.values()):
        curve.draw(points, [1 / config.rules.num_players], folder / "learning_curve.png")
    print(evaluation.results_table(results))
    print(f"\nrun folder {folder}; the trained agents:")
    for seed in results:
        print(f"  sb3:{run_folder.seed_folder(folder, seed) / 'model.zip'}")


def main() -> int:
    """Run the command. Returns the exit code."""
    return command.run(PPOConfig, "training.ppo", rehearse, train_and_judge)


def train_and_judge(config: PPOConfig, folder: Path, stop: StopRequest) -> None:
    """A whole run, or what is left of it."""
    conclude(config, folder, run(config, folder, stop))


def rehearse(config: PPOConfig) -> None:
    """Make all that a run is made of, so that a wrong configuration shows before there is a folder.

    Raises:
        ValueError: An agent, the environment or the learner cannot be made, or the games cannot be
            kept in a checkpoint.
    """
    for spec in config.evaluation.against:
        make_agent(spec)
    if config.imitation.teacher is not None:
        make_agent(config.imitation.teacher)
    luck_judge(config)
    model, notes = fresh(config, config.seed)
    seat_first_opponents(model, notes.pool)
    if isinstance(model.env, WithoutLuck):
        model.env.check_opponents()
    try:
        pickle.dumps((model.env, notes))
    except Exception as error:
        raise ValueError(f"env.opponents cannot be kept in a checkpoint: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
