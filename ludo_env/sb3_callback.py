"""Matches while Stable-Baselines3 trains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ludo_env.agents.base import make_agent
from ludo_env.arena.match import play
from ludo_env.arena.report import summary
from ludo_env.core import checks
from ludo_env.core.rules import Rules

try:
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError as error:
    message = "ludo_env.sb3_callback needs stable-baselines3: pip install 'ludo_env[train]'"
    raise ImportError(message) from error

from ludo_env.agents.sb3 import SB3Agent


class ArenaCallback(BaseCallback):
    """Plays the learner against agents now and then, from all seats, choosing greedily.

    Masks are used whatever the training does; games have dice of their own, so that training goes
    on as it would without. Win rates are logged as ``arena/AGENT``.

    Args:
        against: Opponents' specs; each fills all other seats.
        every: Steps of the learner between two matches; the first is at once.
        games: Games against each, a multiple of the players.
        rules: The rules; None for those of the training's games.
        seed: The seed of all matches.

    Attributes:
        points: For each time the steps, and the `summary` of the match against each opponent.

    Raises:
        ValueError: An argument is wrong.
    """

    def __init__(
        self,
        against: Sequence[str] = ("random", "advance"),
        *,
        every: int = 50_000,
        games: int = 400,
        rules: Rules | None = None,
        seed: int = 1,
    ) -> None:
        super().__init__()
        for spec in against:
            make_agent(spec)
        self.against = list(against)
        self.every = checks.positive("every", every)
        self.games = checks.positive("games", games)
        self.rules = rules
        self.seed = checks.checked_seed(seed)
        self.points: list[dict[str, Any]] = []

    def _on_rollout_start(self) -> None:
        last = self.points[-1]["steps"] if self.points else -self.every
        if self.num_timesteps - last >= self.every:
            self.measure()

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        if not self.points or self.points[-1]["steps"] < self.num_timesteps:
            self.measure()

    def measure(self) -> None:
        """Play the matches, and note what they came to."""
        rules = self.rules or self.training_env.get_attr("rules")[0]
        point: dict[str, Any] = {"steps": self.num_timesteps, "against": {}}
        for opponent in self.against:
            others = [make_agent(opponent, seed=k) for k in range(1, rules.num_players)]
            names = ["learner", *[opponent] * len(others)]
            agents = [SB3Agent(self.model), *others]
            results = play(agents, games=self.games, rules=rules, seed=self.seed, names=names)
            point["against"][opponent] = found = summary(results)
            self.logger.record(f"arena/{opponent}", found["agents"][0]["win_rate"])
        self.points.append(point)
