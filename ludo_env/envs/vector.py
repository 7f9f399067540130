"""Many learners' games advanced together, as Gymnasium's `VectorEnv`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ludo_env.core import checks, loops
from ludo_env.core.checks import Ints
from ludo_env.core.results import Bools, Int8s
from ludo_env.core.rules import MAX_PAWNS
from ludo_env.envs.options import RENDER_MODES, settings, view_space
from ludo_env.envs.table import Table
from ludo_env.render.text import board_text

_NO_ROWS = np.zeros(0, dtype=np.int64)


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
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
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
        chosen = settings(**arguments)
        self.num_envs = checks.positive("num_envs", num_envs)
        self.render_mode = chosen.render_mode
        self.single_observation_space = view_space()
        self.single_action_space = spaces.Discrete(4)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.table = Table(
            self.num_envs, chosen, opponents=opponents, seat=seat, illegal_action=illegal_action
        )
        self._has_begun = False

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
        views, masks = self.table.seating.views()
        return views, self._infos(masks, np.arange(self.num_envs))

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
        if not self._has_begun:
            raise ValueError("no game has begun: call reset() first")
        elsewhere = self.table.play(checks.integers("actions", actions, self.num_envs))
        rewards = self.table.rewards()
        truncated = self.table.asked == loops.CUT
        terminated = (self.table.asked < 0) & ~truncated
        done = np.flatnonzero(self.table.asked < 0) if elsewhere else _NO_ROWS
        infos: dict[str, Any] = {}
        if len(done):
            infos = self._final_infos(done)
            self.table.deal(done)
        views, masks = self.table.seating.views()
        return views, rewards, terminated, truncated, infos | self._infos(masks, done)

    def action_masks(self) -> Bools:
        """The legal actions of every learner, bool (N, 4), a new array."""
        return self.table.batch.masks().astype(bool)

    def set_opponents(self, opponents: Any) -> None:
        """Choose who plays the other seats, from each game's next deal on.

        Raises:
            ValueError: An opponent is unknown, or their number is wrong.
        """
        self.table.set_opponents(opponents)

    def render(self) -> tuple[str, ...] | None:
        """Every board as text for ``render_mode="ansi"``."""
        if self.render_mode is None:
            return None
        batch = self.table.batch
        return tuple(board_text(batch.position(row), self.table.rules) for row in range(len(batch)))

    def _infos(self, masks: Int8s, dealt: Ints) -> dict[str, Any]:
        """Masks of all games, and how many games were skipped where new ones were dealt."""
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        infos = {"action_mask": masks, "_action_mask": everywhere}
        if len(dealt):
            infos |= self._column("skipped_games", dealt, self.table.skipped[dealt])
        return infos

    def _final_infos(self, done: Ints) -> dict[str, Any]:
        """The last views and infos of the games that have ended."""
        at_done = self._at(done)
        views = np.full(self.num_envs, None, dtype=object)
        for row, view in zip(done.tolist(), self.table.seating.views(done)[0], strict=True):
            views[row] = view
        final = {
            "action_mask": np.zeros((self.num_envs, MAX_PAWNS), dtype=np.int8),
            "_action_mask": at_done.copy(),
        }
        ended = np.flatnonzero(self.table.asked == loops.OVER)
        if len(ended):
            places, winners = self.table.endings(ended)
            final |= self._column("place", ended, places)
            final |= self._column("winner", ended, winners)
        illegal = np.flatnonzero(self.table.asked == loops.ILLEGAL)
        if len(illegal):
            final |= self._column("illegal_action", illegal, np.ones(len(illegal), dtype=np.bool_))
        return {
            "final_obs": views,
            "_final_obs": at_done,
            "final_info": final,
            "_final_info": at_done.copy(),
        }

    def _at(self, rows: Ints) -> Bools:
        marked = np.zeros(self.num_envs, dtype=np.bool_)
        marked[rows] = True
        return marked

    def _column(self, key: str, rows: Ints, values: NDArray[Any]) -> dict[str, Any]:
        """A value in some rows, in Gymnasium's form: an array, and a mask under ``_key``."""
        column = np.zeros(self.num_envs, dtype=values.dtype)
        column[rows] = values
        return {key: column, f"_{key}": self._at(rows)}
