"""The game as a Gymnasium environment, with the opponents inside."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import logger, spaces
from numpy.typing import NDArray

from ludo_env.core import checks
from ludo_env.core.batch import Int8s
from ludo_env.core.position import Position
from ludo_env.core.rules import MAX_PAWNS, Rules
from ludo_env.envs.options import LEARNERS, RENDER_FRAMES, RENDER_MODES, settings, view_space
from ludo_env.envs.showing import Screen, move_of
from ludo_env.envs.table import NO_ENDINGS, Table
from ludo_env.render.drawing import LastMove


class LudoEnv(gymnasium.Env[Any, Any]):
    """Petits chevaux (a Ludo) for one learner and one to three opponents.

    ## Description

    Each player races pawns around a track of 40 squares into a column of their own. A 6 brings a
    pawn out of the yard and gives another roll; landing on an opponent sends that pawn back. The
    opponents move inside `step`: the learner always stands at a decision of its own.

    ## Action space

    `Discrete(4)`: move the k-th most advanced pawn. Which actions are legal stands in
    `info["action_mask"]` (int8) and in `action_masks()` (bool).

    ## Observation space

    `Box(0, 1, (D,), int8)`: what the learner sees, in the slices of `ludo_env.OBSERVATION`.

    ## Rewards

    `"win"` pays +1 for a win and −1/(P−1) for a loss, at the end; `"place"` from +1 for the first
    to −1 for the last; `"shaped"` adds a potential to `"win"` (see `ludo_env.rewards`).

    ## Starting state

    All pawns in the yard, or a `position` from the options; the dice are rolled, and the opponents
    play, until the learner has a decision. A game that ends before is dealt again and counted in
    `info["skipped_games"]`; from a given position `reset` raises instead.

    ## Episode end

    Terminated with the game, whoever wins it: the final info has `place` (the learner's, 1 is best)
    and `winner` (a player's number). An illegal action ends the episode with the losing reward and
    `info["illegal_action"]`. Truncated with `max_rolls`, at the first decision a step reaches after
    that many rolls.

    ## Arguments

    Args:
        opponents: A spec, an agent, or a list: number ``j`` plays player ``(seat + 1 + j) % P``.
        seat: The learner's player number, or ``"random"``: drawn at each reset.
        illegal_action: ``"lose"``, or ``"raise"`` an `IllegalMoveError` and stay as it was.
        rules: The rules; or give fields of `Rules` as keyword arguments.
        reward: ``"win"``, ``"place"``, ``"shaped"`` or a `ludo_env.rewards.Reward`.
        auto_forced: Whether decisions with one legal move are played through.
        max_rolls: Rolls after which the game is truncated; None for no limit.
        render_mode: None, ``"ansi"``, the board as text, or ``"rgb_array"``, its pixels,
            or ``"human"``, a window that follows the game (both need pygame).
        render_size: Width and height of these in pixels.
        **fields_of_rules: Fields of `Rules`.

    Raises:
        ValueError: An argument is wrong.

    ## Reset options

    `position` (a `Position` or its text) and `dice` (scripted rolls); other keys are ignored.

    ## Version history

    * v0: first version
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own form)
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FRAMES,
    }

    def __init__(
        self,
        *,
        opponents: Any = "random",
        seat: int | str = 0,
        illegal_action: str = "lose",
        **arguments: Any,
    ) -> None:
        chosen = settings(besides=LEARNERS, **arguments)
        self.render_mode = chosen.render_mode
        self._screen = Screen(chosen)
        self.observation_space = view_space()
        self.action_space = spaces.Discrete(4)
        self._table = Table(
            1, chosen, opponents=opponents, seat=seat, illegal_action=illegal_action
        )
        self._action = np.zeros(1, dtype=np.int64)
        self._has_begun = False
        self._is_over = False
        self._last_move: LastMove | None = None

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self._table.rules

    @property
    def seat(self) -> int:
        """The learner's player number in the present game."""
        return int(self._table.learners[0])

    @property
    def position(self) -> Position:
        """Where all pawns stand, who decides, and the die."""
        return self._table.batch.position(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Int8s, dict[str, Any]]:
        """Begin a game and play to the learner's first decision.

        Args:
            seed: 0 … 2**63 − 1, the seed of the dice and of all draws; None for the next game of
                the last seed.
            options: ``position`` and ``dice``; other keys are ignored.

        Raises:
            ValueError: An argument is wrong, or the game from a given position ends before the
                learner's first decision.
        """
        seeds = None if seed is None else [checks.checked_seed(seed)]
        super().reset(seed=None if seeds is None else seeds[0])
        self._table.deal(None, seeds, options)
        self._has_begun, self._is_over, self._last_move = True, False, None
        if self.render_mode == "human":
            self.render()
        views, masks = self._table.seating.views()
        return views[0], {"action_mask": masks[0], "skipped_games": int(self._table.skipped[0])}

    def step(self, action: Any) -> tuple[Int8s, float, bool, bool, dict[str, Any]]:
        """Play the learner's action, and on to its next decision or the end.

        Args:
            action: 0 … 3; an integer of any kind.

        Returns:
            Observation int8 (D,), reward, terminated, truncated, info.

        Raises:
            IllegalMoveError: With ``illegal_action="raise"``: the mask forbids the action; nothing
                has changed.
            ValueError: The action is no integer, or no game is under way.
        """
        if not self._has_begun or self._is_over:
            raise ValueError("no game is under way: call reset() first")
        self._action[0] = self._number(action)
        before = self.position if self._screen.shows_moves else None
        endings = self._table.play(self._action)
        if before is not None:
            self._last_move = move_of(before, int(self._action[0]), self.rules)
        if self.render_mode == "human":
            self.render()
        views, masks = self._table.seating.views()
        info: dict[str, Any] = {"action_mask": masks[0]}
        if endings is NO_ENDINGS and not self._table.settings.reward.shapes:
            return views[0], 0.0, False, False, info
        reward = float(self._table.rewards(endings)[0])
        truncated = len(endings.cut) > 0
        terminated = len(endings.over) > 0 or len(endings.illegal) > 0
        self._is_over = terminated or truncated
        if len(endings.illegal):
            info["illegal_action"] = True
        if len(endings.over):
            info["place"] = int(endings.learner_places()[0])
            info["winner"] = int(endings.winners()[0])
        return views[0], reward, terminated, truncated, info

    def _number(self, action: Any) -> int:
        """The action as a number; −1 for one that no game knows, of whatever size it was."""
        number = checks.as_action(action)
        if 0 <= number < MAX_PAWNS:
            return number
        if not self._table.illegal_loses:
            raise self._table.batch.illegal(0, number)
        return -1

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool (4,), a new array; what sb3-contrib asks for."""
        return self._mask().astype(bool)

    def set_opponents(self, opponents: Any) -> None:
        """Choose who plays the other seats from the next reset on.

        Raises:
            ValueError: An opponent is unknown, or their number is wrong.
        """
        self._table.set_opponents(opponents)

    def render(self) -> Any:
        """The board, as the render mode wants it; nothing, with a warning, without a mode."""
        if self.render_mode is None:
            logger.warn(
                "render() was called without a render_mode; give one to gymnasium.make(...)"
            )
            return None
        if not self._has_begun:
            raise ValueError("no game is under way: call reset() first")
        return self._screen.show(self.position, self._mask(), self._last_move)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._screen.close()

    def _mask(self) -> Int8s:
        if self._is_over or not self._has_begun:
            return np.zeros(4, dtype=np.int8)
        return self._table.batch.masks()[0]
