"""Many learners' games advanced together, as Gymnasium's `VectorEnv`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ludo_env.core import checks
from ludo_env.core.checks import Ints
from ludo_env.core.results import Bools, Int8s
from ludo_env.core.rules import MAX_PAWNS, Rules
from ludo_env.envs.options import LEARNERS, RENDER_FRAMES, settings, view_space
from ludo_env.envs.showing import Screen, move_of
from ludo_env.envs.table import NO_ENDINGS, Endings, Table
from ludo_env.render.drawing import LastMove


@dataclass(frozen=True)
class Advance:
    """What a step did to all N games.

    Attributes:
        views: What the learners see, int8 (N, D); of the next game where one has ended.
        masks: Their legal actions, int8 (N, 4).
        rewards: float64 (N,).
        terminated: Where a game has ended, bool (N,).
        truncated: Where a game was cut off, bool (N,).
        endings: How the games have ended.
        ended: Rows of the games that have ended or were cut off, int64 (k,).
        last_views: What the learners saw at the end of these, int8 (k, D).
    """

    views: Int8s
    masks: Int8s
    rewards: NDArray[np.float64]
    terminated: Bools
    truncated: Bools
    endings: Endings
    ended: Ints
    last_views: Int8s


_RENDER_MODES = ("ansi", "rgb_array")  # a window shows one game


class LudoVectorEnv(VectorEnv[Int8s, Ints, NDArray[Any]]):
    """`ludo_env/Ludo-v0` for many learners at once; each equals a single environment so seeded.

    Autoreset is SAME_STEP: a game that ends is followed by the next in the same step, its last
    observation and info stand in ``infos["final_obs"]`` and ``infos["final_info"]``. The int seed
    ``s`` gives game ``i`` the seed ``s + i``.

    Args:
        num_envs: Number of games N.
        opponents: As for `LudoEnv`, or one list for each of the games.
        seat: See `LudoEnv`, as all others.
        illegal_action: See `LudoEnv`.
        rules: See `LudoEnv`.
        reward: See `LudoEnv`.
        auto_forced: See `LudoEnv`.
        max_rolls: See `LudoEnv`.
        render_mode: See `LudoEnv`.
        **fields_of_rules: Fields of `Rules`.

    Raises:
        ValueError: An argument is wrong.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own form)
        "render_modes": list(_RENDER_MODES),
        "render_fps": RENDER_FRAMES,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        opponents: Any = "random",
        seat: int | str = 0,
        illegal_action: str = "lose",
        **arguments: Any,
    ) -> None:
        chosen = settings(besides=LEARNERS, render_modes=_RENDER_MODES, **arguments)
        self.num_envs = checks.positive("num_envs", num_envs)
        self.render_mode = chosen.render_mode
        self._screen = Screen(chosen)
        self.single_observation_space = view_space()
        self.single_action_space = spaces.Discrete(4)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.table = Table(
            self.num_envs, chosen, opponents=opponents, seat=seat, illegal_action=illegal_action
        )
        self._has_begun = False
        self._last_moves: list[LastMove | None] = [None] * self.num_envs

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Int8s, dict[str, Any]]:
        """Begin all games.

        Args:
            seed: An int ``s`` for the seeds ``s + i``, or one for each of the games; None for the
                next game of each game's last seed.
            options: ``position`` and ``dice`` for all games; other keys are ignored.

        Returns:
            Observations int8 (N, D), and infos.

        Raises:
            ValueError: An argument is wrong.
        """
        self.table.deal(None, self._seeds(seed), options)
        self._has_begun = True
        self._last_moves = [None] * self.num_envs
        views, masks = self.table.seating.views()
        everywhere = np.arange(self.num_envs)
        skipped = self._column("skipped_games", everywhere, self.table.skipped)
        return views, self._infos(masks) | skipped

    def _seeds(self, seed: int | Sequence[int] | None) -> list[int] | None:
        if seed is None:
            return None
        if np.ndim(seed) == 0:
            first = checks.checked_seed(seed)
            checks.checked_seed(first + self.num_envs - 1)
            super().reset(seed=first)
            return [first + i for i in range(self.num_envs)]
        return list(seed)  # type: ignore[arg-type]

    def step(self, actions: Any) -> tuple[Int8s, NDArray[np.float64], Bools, Bools, dict[str, Any]]:
        """Play every learner's action, and on to its next decision or its next game.

        Args:
            actions: Integers (N,).

        Returns:
            Observations int8 (N, D), rewards float64 (N,), terminations and truncations bool (N,),
            infos; all new arrays.

        Raises:
            IllegalMoveError: With ``illegal_action="raise"``: an action is illegal; nothing has
                changed.
            ValueError: The actions are no integers of that shape, or no game has begun.
        """
        played = self.advance(actions)
        infos = self._infos(played.masks)
        if len(played.ended):
            infos |= self._final_infos(played)
            skipped = self.table.skipped[played.ended]
            infos |= self._column("skipped_games", played.ended, skipped)
        return played.views, played.rewards, played.terminated, played.truncated, infos

    def advance(self, actions: Any) -> Advance:
        """`step`, told in no library's form.

        Raises:
            ValueError: See `step`.
        """
        if not self._has_begun:
            raise ValueError("no game has begun: call reset() first")
        numbers = checks.integers("actions", actions, self.num_envs)
        last_moves = self._moves_of(numbers) if self._screen.shows_moves else None
        endings = self.table.play(numbers)
        if last_moves is not None:
            self._last_moves = last_moves
        rewards = self.table.rewards(endings)
        terminated = np.zeros(self.num_envs, dtype=np.bool_)
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        if endings is NO_ENDINGS:
            views, masks = self.table.seating.views()
            return Advance(
                views, masks, rewards, terminated, truncated, endings, endings.over, views[:0]
            )
        terminated[endings.over] = terminated[endings.illegal] = True
        truncated[endings.cut] = True
        ended = (terminated | truncated).nonzero()[0]
        last_views, _ = self.table.seating.views(ended)
        self.table.deal(ended)
        for row in ended.tolist():
            self._last_moves[row] = None
        views, masks = self.table.seating.views()
        return Advance(views, masks, rewards, terminated, truncated, endings, ended, last_views)

    def _moves_of(self, actions: Ints) -> list[LastMove | None]:
        batch = self.table.batch
        return [
            move_of(batch.position(row), action, self.rules)
            for row, action in enumerate(actions.tolist())
        ]

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self.table.rules

    def action_masks(self) -> Bools:
        """The legal actions of every learner, bool (N, 4), a new array."""
        if not self._has_begun:
            return np.zeros((self.num_envs, MAX_PAWNS), dtype=np.bool_)
        return self.table.batch.masks().view(np.bool_)

    def set_opponents(self, opponents: Any) -> None:
        """Choose who plays the other seats, from each game's next deal on.

        Raises:
            ValueError: An opponent is unknown, or their number is wrong.
        """
        self.table.set_opponents(opponents)

    def render(self) -> tuple[Any, ...] | None:
        """Every board, as the render mode wants it."""
        if self.render_mode is None:
            return None
        if not self._has_begun:
            raise ValueError("no game has begun: call reset() first")
        batch = self.table.batch
        masks = batch.masks()
        return tuple(
            self._screen.show(batch.position(row), masks[row], last)
            for row, last in enumerate(self._last_moves)
        )

    def _infos(self, masks: Int8s) -> dict[str, Any]:
        """The masks of all games."""
        return {"action_mask": masks, "_action_mask": np.ones(self.num_envs, dtype=np.bool_)}

    def _final_infos(self, played: Advance) -> dict[str, Any]:
        """The last views and infos of the games that have ended."""
        endings, at_ended = played.endings, played.terminated | played.truncated
        views = np.empty(self.num_envs, dtype=object)  # of None
        for row, view in zip(played.ended.tolist(), played.last_views, strict=True):
            views[row] = view
        final = {
            "action_mask": np.zeros((self.num_envs, MAX_PAWNS), dtype=np.int8),
            "_action_mask": at_ended.copy(),
        }
        if len(endings.over):
            final |= self._column("place", endings.over, endings.learner_places())
            final |= self._column("winner", endings.over, endings.winners())
        if len(endings.illegal):
            yes = np.ones(len(endings.illegal), dtype=np.bool_)
            final |= self._column("illegal_action", endings.illegal, yes)
        return {
            "final_obs": views,
            "_final_obs": at_ended,
            "final_info": final,
            "_final_info": at_ended.copy(),
        }

    def _column(self, key: str, rows: Ints, values: NDArray[Any]) -> dict[str, Any]:
        """A value in some rows, in Gymnasium's form: an array, and a mask under ``_key``."""
        column = np.zeros(self.num_envs, dtype=values.dtype)
        column[rows] = values
        marked = np.zeros(self.num_envs, dtype=np.bool_)
        marked[rows] = True
        return {key: column, f"_{key}": marked}
