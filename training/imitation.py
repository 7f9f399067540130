"""A start for PPO: the learner is shown how a teacher plays before it plays itself.

The teacher has all seats of games that are played to their ends. The learner is taught which
actions it takes, by their likelihood, and how its games end, as what these actions are worth.

Source: D. Silver and others, "Mastering the game of Go with deep neural networks and tree search",
Nature 529 (2016): supervised learning before reinforcement learning.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from torch.nn import functional
from tqdm import tqdm

from ludo_env import GameBatch, Rules
from ludo_env.agents.base import Agent, ask, make_agent
from ludo_env.core.checks import Ints
from ludo_env.rewards import Reward, as_reward
from training.config import LearnerConfig, PPOConfig
from training.stopping import RunStoppedError, StopRequest

_GAMES = 512  # played at the same time


class Choices(NamedTuple):
    """What a teacher did where it had a choice.

    Attributes:
        observations: int8 (N, D).
        masks: int8 (N, 4).
        actions: int64 (N,).
        returns: float32 (N,), what the games' ends paid.
    """

    observations: NDArray[np.int8]
    masks: NDArray[np.int8]
    actions: Ints
    returns: NDArray[np.float32]


def watch(teacher: Agent, games: int, rules: Rules, reward: Reward, seed: int) -> Choices:
    """Let a teacher play all seats of some games, and note what it does where it has a choice."""
    batch = GameBatch(games, rules, seed=seed)
    under_way = np.arange(games)
    seen: list[tuple[NDArray[np.int8], NDArray[np.int8], Ints, Ints, NDArray[np.int8]]] = []
    while len(under_way):
        actions = ask(teacher, batch.blind(), under_way)
        masks = batch.masks(under_way)
        free = masks.sum(axis=1) > 1
        rows = under_way[free]
        players = batch.players[rows].copy()
        seen.append((batch.observations(rows=rows), masks[free], actions[free], rows, players))
        batch.play(under_way, actions)
        under_way = under_way[~batch.finished[under_way]]
    views, masks, actions, rows, players = map(np.concatenate, zip(*seen, strict=True))
    paid = reward.outcome(batch.places())[rows, players]
    return Choices(views, masks, actions, paid.astype(np.float32))


def imitate(model: MaskablePPO, config: PPOConfig, seed: int, stop: StopRequest) -> float:
    """Teach a learner what the configured teacher plays; in place.

    Args:
        model: The learner.
        config: The run's configuration; without a teacher nothing is taught.
        seed: The training seed.
        stop: Whether the user wants to stop.

    Returns:
        The seconds that it took.

    Raises:
        RunStoppedError: The user asked for it; the start is to be made again.
    """
    chosen = config.imitation
    if chosen.teacher is None:
        return 0.0
    began, shown = time.perf_counter(), 0
    teacher = make_agent(chosen.teacher, seed=seed)
    reward = as_reward(config.env.reward)
    generator = np.random.default_rng(seed)
    with tqdm(total=chosen.decisions, unit=" decisions", unit_scale=True) as bar:
        bar.set_description(f"seed {seed} watches {chosen.teacher}")
        while shown < chosen.decisions:
            if stop.made:
                raise RunStoppedError
            games_seed = int(generator.integers(2**62))
            choices = watch(teacher, _GAMES, config.rules, reward, games_seed)
            order = generator.permutation(len(choices.actions))
            firsts = shown + np.arange(0, len(order), config.learner.batch_size)
            ends = [chosen.learning_rate, config.learner.learning_rate]
            rates = np.interp(firsts / chosen.decisions, [0, 1], ends).tolist()
            learn(model, choices, order, rates, config.learner)
            shown += len(order)
            bar.update(len(order))
    return time.perf_counter() - began


def learn(
    model: MaskablePPO, choices: Choices, order: Ints, rates: list[float], learner: LearnerConfig
) -> None:
    """One pass over some choices; in place.

    Args:
        model: The learner.
        choices: What to learn from.
        order: Their order.
        rates: The learning rate of each minibatch; the last may be smaller than the others.
        learner: The learner's settings.
    """
    policy = model.policy
    policy.set_training_mode(True)
    for number, rate in enumerate(rates):
        batch = order[number * learner.batch_size : (number + 1) * learner.batch_size]
        for group in policy.optimizer.param_groups:
            group["lr"] = rate
        worth, logarithms, _ = policy.evaluate_actions(
            torch.from_numpy(choices.observations[batch]),
            torch.from_numpy(choices.actions[batch]),
            action_masks=choices.masks[batch].astype(np.bool_),
        )
        off = functional.mse_loss(worth.flatten(), torch.from_numpy(choices.returns[batch]))
        loss = learner.value * off - logarithms.mean()
        policy.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), learner.max_grad_norm)
        policy.optimizer.step()
    policy.set_training_mode(False)
