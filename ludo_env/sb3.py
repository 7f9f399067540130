"""The batched environment for Stable-Baselines3 and sb3-contrib."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ludo_env.core.batch import Int8s
from ludo_env.core.checks import Ints, checked_seed
from ludo_env.core.dice import fresh_seed
from ludo_env.envs.vector import Advance, LudoVectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    message = "ludo_env.sb3 needs Stable-Baselines3: pip install 'ludo_env[train]'"
    raise ImportError(message) from error


class LudoVecEnv(VecEnv):
    """`ludo_env/Ludo-v0` for many learners at once, in Stable-Baselines3's form.

    A game that ends is followed by the next in the same step; its info then has
    ``terminal_observation``, ``TimeLimit.truncated`` and ``episode`` (return, length and time, as
    ``Monitor`` writes them). ``env_method("action_masks")`` answers for all games in one call.

    Args:
        num_envs: Number of games N.
        seed: The first game's seed, the others follow one by one; None for a fresh one.
        **kwargs: The arguments of `LudoVectorEnv`.

    Raises:
        ValueError: An argument is wrong.
    """

    def __init__(self, num_envs: int, *, seed: int | None = None, **kwargs: Any) -> None:
        self.env = LudoVectorEnv(num_envs, **kwargs)
        super().__init__(
            self.env.num_envs, self.env.single_observation_space, self.env.single_action_space
        )
        self._began = time.time()
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)
        self._actions: Ints | None = None
        self.seed(seed)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed all games from their next reset on: game ``i`` gets ``seed + i``.

        Args:
            seed: None for a fresh one from the operating system.

        Raises:
            ValueError: The seed is no integer from 0 to 2**63 − 1.
        """
        first = fresh_seed() // 2 if seed is None else checked_seed(seed)
        checked_seed(first + self.num_envs - 1)
        self._seeds = [first + i for i in range(self.num_envs)]
        return list(self._seeds)

    def reset(self) -> Int8s:
        """Begin all games. Returns observations int8 (N, D)."""
        seeds = None if self._seeds[0] is None else [int(s) for s in self._seeds if s is not None]
        views, infos = self.env.reset(seed=seeds, options=_common(self._options))
        self._note_deals(infos["action_mask"], range(self.num_envs))
        self._returns[:] = 0
        self._lengths[:] = 0
        self._reset_seeds()
        self._reset_options()
        return views

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions (N,) that `step_wait` plays."""
        self._actions = np.array(actions)

    def step_wait(self) -> tuple[Int8s, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play the actions. Returns observations, rewards (N,), dones (N,) and infos."""
        played = self.env.advance(self._actions)
        self._returns += played.rewards
        self._lengths += 1
        told: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if len(played.ended):
            self._tell_endings(played, told)
            self._note_deals(played.masks, played.ended.tolist())
            self._returns[played.ended] = 0
            self._lengths[played.ended] = 0
        rewards = played.rewards.astype(np.float32)
        return played.views, rewards, played.terminated | played.truncated, told

    def _note_deals(self, masks: Int8s, rows: Iterable[int]) -> None:
        skipped = self.env.table.skipped
        for row in rows:
            self.reset_infos[row] = {
                "action_mask": masks[row].copy(),
                "skipped_games": int(skipped[row]),
            }

    def _tell_endings(self, played: Advance, told: list[dict[str, Any]]) -> None:
        """Write the infos of the games that have ended into ``told``."""
        endings = played.endings
        places, winners = endings.learner_places().tolist(), endings.winners().tolist()
        for row, place, winner in zip(endings.over.tolist(), places, winners, strict=True):
            told[row] |= {"place": place, "winner": winner}
        for row in endings.illegal.tolist():
            told[row]["illegal_action"] = True
        seconds = round(time.time() - self._began, 6)
        for row, view in zip(played.ended.tolist(), played.last_views, strict=True):
            told[row]["terminal_observation"] = view
            told[row]["TimeLimit.truncated"] = bool(played.truncated[row])
            told[row]["episode"] = {
                "r": round(float(self._returns[row]), 6),
                "l": int(self._lengths[row]),
                "t": seconds,
            }

    def close(self) -> None:
        """Nothing is held open."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the batched environment, once for each of the games asked for."""
        return [getattr(self.env, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the games share one environment."""
        raise ValueError(
            f"cannot set {attr_name!r}: give arguments to LudoVecEnv, or set_opponents()"
        )

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> Any:
        """Call a method once for all games.

        ``action_masks`` gives bool (k, 4). Any other method's answer is repeated for each of the
        games asked for.
        """
        if method_name == "action_masks":
            masks = self.env.action_masks()
            return masks if indices is None else masks[list(self._get_indices(indices))]
        answer = getattr(self.env, method_name)(*method_args, **method_kwargs)
        return [answer for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Never wrapped one by one; episodes are reported as ``Monitor`` does."""
        return [False for _ in self._get_indices(indices)]

    def set_opponents(self, opponents: Any) -> None:
        """Choose who plays the other seats, from each game's next deal on (see `LudoVectorEnv`)."""
        self.env.set_opponents(opponents)


def _common(options: list[dict[str, Any]]) -> dict[str, Any]:
    if any(own != options[0] for own in options):
        raise ValueError("options must be the same for all games")
    return options[0]
