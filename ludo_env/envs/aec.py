"""The game as a PettingZoo AEC environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from gymnasium import logger, spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from ludo_env.core import checks
from ludo_env.core.game import Game
from ludo_env.core.observation import OBSERVATION, OBSERVATION_LENGTH
from ludo_env.core.rules import MAX_PAWNS, MAX_PLAYERS
from ludo_env.envs.options import RENDER_FRAMES, RENDER_MODES, beginning, settings, view_space
from ludo_env.envs.showing import Screen, move_of
from ludo_env.render.drawing import LastMove

Observation = dict[str, NDArray[np.int8]]


class raw_env(AECEnv[str, Observation, int | None]):  # noqa: N801 (PettingZoo's own form)
    """Petits chevaux (a Ludo) for two to four players.

    ## Description

    Each player races pawns around a track of 40 squares into a column of their own. A 6 brings a
    pawn out of the yard and gives another roll; landing on an opponent sends that pawn back. Rolls
    are chance: agents act only where a rolled die leaves at least one legal move, so there is no
    "pass", and an agent may act several times in a row.

    ## Spaces

    | | |
    | --- | --- |
    | action | `Discrete(4)`: move the k-th most advanced pawn |
    | observation | `Dict(observation=Box(0, 1, (D,), int8), action_mask=Box(0, 1, (4,), int8))` |

    The observation's parts are the slices of `ludo_env.OBSERVATION`. The mask is all zeros for an
    agent who is not to decide; it also stands in `infos[agent]["action_mask"]`. Spaces are equal
    for every agent and every number of players.

    ## Rewards

    `"win"` pays +1 to the winner and −1/(P−1) to each other agent at the end; `"place"` from +1 for
    the first to −1 for the last; `"shaped"` adds a potential to `"win"` (see `ludo_env.rewards`).

    ## Termination and truncation

    The game ends for all agents with the first to bring all pawns home; `infos[agent]` then has
    `place` (1 is best) and `winner` (a player's number). With `max_rolls` it is truncated at the
    first decision reached, by a step, after that many rolls.

    ## Arguments

    Args:
        rules: The rules; or give fields of `Rules` as keyword arguments.
        reward: `"win"`, `"place"`, `"shaped"` or a `ludo_env.rewards.Reward`.
        auto_forced: Whether decisions with one legal move are played through.
        max_rolls: Rolls after which the game is truncated; None for no limit.
        render_mode: None, `"ansi"`, the board as text, or `"rgb_array"`, its pixels, or
            `"human"`, a window that follows the game (both need pygame).
        render_size: Width and height of these in pixels.
        **fields_of_rules: Fields of `Rules`.

    Raises:
        ValueError: An argument is wrong.

    ## Reset options

    `position` (a `Position` or its text) and `dice` (scripted rolls); other keys are ignored.

    ## Version history

    * v0: first version
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo's own form)
        "render_modes": list(RENDER_MODES),
        "name": "ludo_v0",
        "is_parallelizable": False,
        "render_fps": RENDER_FRAMES,
    }

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        chosen = settings(**arguments)
        self.rules = chosen.rules
        self.reward = chosen.reward
        self.auto_forced = chosen.auto_forced
        self.max_rolls = chosen.max_rolls
        self.render_mode = chosen.render_mode
        self._screen = Screen(chosen)
        self.possible_agents = [f"player_{i}" for i in range(self.rules.num_players)]
        self.agents: list[str] = []
        self._numbers = {agent: i for i, agent in enumerate(self.possible_agents)}
        mask_space = spaces.Box(0, 1, (4,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": view_space(), "action_mask": mask_space})
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(4) for agent in self.possible_agents}
        self.state_space = spaces.Box(0, 1, (OBSERVATION_LENGTH + MAX_PLAYERS,), np.int8)
        self.game: Game | None = None
        self._asked: str | None = None  # the agent to decide, while there is one
        self._mask = np.zeros(4, dtype=np.int8)
        self._last_move: LastMove | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's observation space; the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's action space; the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a game.

        Args:
            seed: The seed of the dice, 0 … 2**63 − 1; None for the next game of the last seed.
            options: ``position`` and ``dice``; other keys are ignored.

        Raises:
            ValueError: An argument is wrong; the present game goes on.
        """
        self.game = self._next_game(seed, options)
        self._last_move = None
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: _no_mask() for agent in self.agents}
        self._skip_agent_selection = None
        self._potentials: dict[str, float] = {}
        self._ask(self.game, cast(int, self.game.player), self.game.action_mask())
        if self.render_mode == "human":
            self.render()

    def _next_game(self, seed: int | None, options: Mapping[str, Any] | None) -> Game:
        """The next game at its first decision; one that has none is dealt again."""
        begin = beginning(options, self.rules)
        if seed is None and self.game is not None:
            game = Game(self.rules, seed=self.game.seed, episode=self.game.episode + 1, **begin)
        else:
            game = Game(self.rules, seed=seed, **begin)
        if self.auto_forced:
            game.push_forced()
        while game.winner is not None:
            if begin["position"] is not None:
                raise ValueError("position must leave a decision: its forced moves end the game")
            game = Game(self.rules, seed=game.seed, episode=game.episode + 1)
            game.push_forced()
        return game

    def step(self, action: int | None) -> None:
        """Play the selected agent's action; in place.

        Args:
            action: A legal action; None for an agent whose game has ended.

        Raises:
            IllegalMoveError: The mask forbids the action; nothing has changed.
            ValueError: The action is no integer, or no agent is left to act.
        """
        game = self._game()
        if not self.agents:
            raise ValueError("no agent is left to act: call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        before = game.position if self._screen.shows_moves else None
        mask = game.push(action)
        if before is not None:
            self._last_move = move_of(before, checks.as_action(action), self.rules)
        if self.auto_forced:
            game.push_forced(self.max_rolls)
            mask = game.action_mask()
        player = game.player
        self._asked = None
        self._cumulative_rewards[agent] = 0.0
        if self.reward.shapes:  # without, all rewards before the end are 0
            self._clear_rewards()
        self.infos[agent] = _no_mask()
        if player is None:
            self._end(game)
        elif self.max_rolls is not None and game.rolls >= self.max_rolls:
            self._cut(game)
        else:
            self._ask(game, player, mask)
        if self.render_mode == "human":
            self.render()
        if self.reward.shapes or player is None:
            self._accumulate_rewards()

    def _game(self) -> Game:
        if self.game is None:
            raise ValueError("no game has begun: call reset() first")
        return self.game

    def _ask(self, game: Game, player: int, mask: NDArray[np.int8]) -> None:
        agent = self.possible_agents[player]
        self.agent_selection = self._asked = agent
        self._mask = mask
        self.infos[agent] = {"action_mask": mask.copy()}
        if self.reward.shapes:
            potential = self._potential(game)
            self._pay_potential(agent, potential)
            self._potentials[agent] = float(potential[self._numbers[agent]])

    def _cut(self, game: Game) -> None:
        self.agent_selection = self.possible_agents[cast(int, game.player)]
        self.truncations = dict.fromkeys(self.agents, True)
        if self.reward.shapes:
            potential = self._potential(game)
            for agent in self.agents:
                self._pay_potential(agent, potential)

    def _end(self, game: Game) -> None:
        places = game.places()
        paid = self.reward.outcome(np.array([places], dtype=np.int8))[0].tolist()
        for agent, place, payment in zip(
            self.agents, cast(tuple[int, ...], places), paid, strict=True
        ):
            self.rewards[agent] = payment - self._potentials.get(agent, 0.0)
            self.terminations[agent] = True
            self.infos[agent] = {**_no_mask(), "place": place, "winner": game.winner}
        after = (cast(int, game.winner) + 1) % self.rules.num_players
        self.agent_selection = self.agents[after]

    def _potential(self, game: Game) -> NDArray[np.float64]:
        """Φ for every player, float64 (P,)."""
        pawns = np.array([game.position.pawns], dtype=np.int8)
        return self.reward.potential(pawns)[0]

    def _pay_potential(self, agent: str, potential: NDArray[np.float64]) -> None:
        """Pay γΦ(s′) − Φ(s) since the agent's last own decision s, if it had one."""
        if agent in self._potentials:
            reached = self.reward.discount * float(potential[self._numbers[agent]])
            self.rewards[agent] += reached - self._potentials[agent]

    def observe(self, agent: str) -> Observation:
        """What an agent sees: new arrays; the mask is all zeros unless it is to decide.

        Raises:
            ValueError: There is no such agent, or no game has begun.
        """
        game = self._game()
        number = self._numbers.get(agent)
        if number is None:
            known = ", ".join(self.possible_agents)
            raise ValueError(f"agent must be one of {known}, got {agent!r}")
        is_asked = agent == self._asked and not self.terminations.get(agent, True)
        mask = self._mask.copy() if is_asked else np.zeros(MAX_PAWNS, dtype=np.int8)
        return {"observation": game.observation(number), "action_mask": mask}

    def state(self) -> NDArray[np.int8]:
        """The whole game for central critics, int8 (D + 4,), a new array.

        The observation of player 0 with the die shown whoever is to decide, then the player to
        decide, one-hot.
        """
        game = self._game()
        decider = np.zeros(MAX_PLAYERS, dtype=np.int8)
        view = game.observation(0)
        if game.player is not None and game.die is not None:
            decider[game.player] = 1
            view[OBSERVATION["die"].start + game.die - 1] = 1
        return np.concatenate([view, decider])

    def render(self) -> Any:
        """The board, as the render mode wants it; nothing, with a warning, without a mode."""
        if self.render_mode is None:
            logger.warn("render() was called without a render_mode; give one to env(...)")
            return None
        game = self._game()
        return self._screen.show(game.position, game.action_mask(), self._last_move)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._screen.close()


def _no_mask() -> dict[str, Any]:
    return {"action_mask": np.zeros(4, dtype=np.int8)}
