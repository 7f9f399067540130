"""Rewards without the luck of the dice, so that less is needed to learn what a decision is worth.

Whether a game is won depends on the dice far more than on any decision, which is why learning from
outcomes takes many games. But the dice are known chances: at every roll between two decisions of
the learner, what an evaluation holds of the roll that came, less its mean over all rolls, is luck
and nothing else. Its mean is 0 whatever the evaluation and whoever plays, so taking it out of the
rewards changes no expected return; with a good evaluation little noise is left.

Sources: M. Zinkevich, M. Bowling, N. Bard, M. Kan, D. Billings, "Optimal unbiased estimators for
evaluating agent performance", AAAI (2006); J. Veness, M. Lanctot, M. Bowling, "Variance reduction
in Monte-Carlo tree search", NIPS (2011).
"""

from __future__ import annotations

import inspect
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnvWrapper

from ludo_env.agents.network import Network
from ludo_env.core import lookahead
from ludo_env.core.checks import Ints
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    legal_destination,
    legal_moves,
    opponents_of,
    play,
    player_of,
    players,
)
from ludo_env.core.network import Arrays
from ludo_env.core.rows import row_of
from ludo_env.core.scripted import chosen_move
from ludo_env.core.threads import Threads
from ludo_env.core.turns import LEARNER, POLICIES_OF
from ludo_env.rewards import Win
from ludo_env.sb3 import LudoVecEnv
from training.lessons import roll_or_pass

_ONE_LEVEL = (0,)
_NANOSECONDS = 100_000.0  # about what a step takes


class WithoutLuck(VecEnvWrapper):
    """Takes the luck of the dice out of the rewards of `LudoVecEnv`.

    Every step is played once more, on copies, by the same dice and the same opponents. Until
    `judge_by` is called rewards are left as they are.

    Args:
        venv: The games; their reward is "win", their opponents are scripted or look one choice
            ahead with networks of one size, and no game is cut.
        threads: Threads that share the games; results do not depend on it.

    Raises:
        ValueError: The environment's settings are others.
    """

    def __init__(self, venv: LudoVecEnv, threads: int = 1) -> None:
        super().__init__(venv)
        self._threads = Threads(threads)
        table = venv.env.table
        if type(table.settings.reward) is not Win or table.settings.max_rolls:
            raise ValueError("luck is taken out of the reward 'win' alone, without max_rolls")
        others = table.rules.num_players - 1
        self._stake = (others + 1) / others  # from losing to winning
        self._evaluation: Arrays | None = None
        self._luck = np.zeros(venv.num_envs)
        self._agents: list[Any] = []
        self._networks: Arrays | None = None  # of these agents

    def __getstate__(self) -> dict[str, Any]:
        kept = dict(self.__dict__)
        del kept["class_attributes"]  # SB3's own note of the class, which cannot be pickled
        return kept | {"_agents": [], "_networks": None}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self.class_attributes = dict(inspect.getmembers(type(self)))

    def judge_by(self, evaluation: Network) -> None:
        """Judge the rolls of the coming steps by a network."""
        self._evaluation = evaluation.arrays

    def check_opponents(self) -> None:
        """Refuse opponents, of the games to be dealt next, that cannot be played on copies.

        Raises:
            ValueError: Some look further, or without a network, or their networks' sizes differ.
        """
        _together(self.venv.env.table.agents, ())

    def reset(self) -> Any:
        """See `LudoVecEnv.reset`."""
        return self.venv.reset()

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions that `step_wait` plays."""
        if self._evaluation is not None:
            self._luck = self.played_on(actions, self._evaluation)[1]
        self.venv.step_async(actions)

    def step_wait(self) -> Any:
        """See `LudoVecEnv.step_wait`; the infos tell what the game itself paid."""
        views, rewards, dones, infos = self.venv.step_wait()
        fair = rewards - (self._stake * self._luck).astype(np.float32)
        return views, fair, dones, infos

    def played_on(self, actions: Any, evaluation: Arrays) -> tuple[Ints, NDArray[np.float64]]:
        """Play the learners' actions on copies; nothing changes.

        Args:
            actions: Integers (N,).
            evaluation: What rolls are judged by.

        Returns:
            The games at the learners' next decisions or their ends, int64 (N, ROW), and what the
            rolls up to there gave to the learners' chances, float64 (N,).
        """
        table = self.venv.env.table
        games = table.batch._games.copy()
        luck = np.zeros(len(games))
        chosen = np.asarray(actions, dtype=np.int64)
        networks = self._networks_of(table.agents, evaluation)

        def play_part(part: slice) -> None:
            play_on(
                games[part],
                chosen[part],
                table.seating.seats[part],
                table.agent_of[part],
                networks,
                evaluation,
                table.settings.auto_forced,
                luck[part],
                table.rules.compiled,
            )

        self._threads.run(play_part, len(games), _NANOSECONDS)
        return games, luck

    def _networks_of(self, agents: list[Any], otherwise: Arrays) -> Arrays:
        """`_together`, put together again only where the agents have changed."""
        same = len(agents) == len(self._agents) and all(map(operator.is_, agents, self._agents))
        if self._networks is None or not same:
            self._networks, self._agents = _together(agents, otherwise), list(agents)
        return self._networks


def _together(agents: list[Any], otherwise: Arrays) -> Arrays:
    """The networks of agents as one, a row for each of them; where there are none, another one."""
    for agent in agents:
        evaluation = getattr(agent, "evaluation", None)
        if getattr(agent, "depth", None) != 1 or not isinstance(evaluation, Network):
            raise ValueError(
                "where luck is judged, opponents must be scripted or look one choice ahead with a "
                f"network, got {agent!r}"
            )
    networks = [agent.evaluation.arrays for agent in agents] or [otherwise]
    if len({tuple(part.shape for part in own) for own in networks}) > 1:
        names = ", ".join(map(repr, agents))
        raise ValueError(
            f"where luck is judged, opponents' networks must have one size; those of {names} differ"
        )
    return tuple(np.stack(part) for part in zip(*networks, strict=True))


@compiled
def play_on(games, actions, seats, agent_of, networks, evaluation, skip_forced, luck, rules):
    """Play actions and on to the learners' next decisions or the games' ends; in place.

    Args:
        games: int64 (N, ROW), at the learners' decisions.
        actions: int64 (N,); nothing is played where they are illegal.
        seats: See `Seating.seats`.
        agent_of: int64 (N, P), who plays a seat that no scripted policy has: a row of the networks.
        networks: The networks' arrays, one after another.
        evaluation: The arrays that rolls are judged by.
        skip_forced: Whether decisions with one legal move are played through.
        luck: float64 (N,), is written.
        rules: `CompiledRules`.
    """
    memory = lookahead.scratch(_ONE_LEVEL, evaluation, rules)
    memory_of_opponents = lookahead.scratch(_ONE_LEVEL, _network_at(networks, 0), rules)
    chances = np.empty(players(rules), dtype=np.float64)
    for row in range(len(games)):
        game, learner = row_of(games, row), seats[row, LEARNER]
        move = legal_destination(game, actions[row], rules)
        luck[row] = 0.0
        while move != 0 and play(game, move, rules):
            move = 0
            while move == 0:
                lookahead.look(game, _ONE_LEVEL, evaluation, memory, chances, rules)
                luck[row] -= chances[learner]
                if roll_or_pass(game, rules):
                    lookahead.decide(game, _ONE_LEVEL, evaluation, memory, chances, rules)
                    move = legal_moves(game, rules)
                else:
                    lookahead.look(game, (), evaluation, memory, chances, rules)
                luck[row] += chances[learner]
            if skip_forced and move & (move - 1) == 0:
                continue
            player = player_of(game)
            if player == learner:
                break
            policy = seats[row, POLICIES_OF + player]
            if policy >= 0:
                key = seats[row, POLICIES_OF + players(rules) + player]
                opponents = opponents_of(game, player, rules)
                move = chosen_move(game, policy, key, move, opponents, rules)
            else:
                network = _network_at(networks, agent_of[row, player])
                move = lookahead.decide(
                    game, _ONE_LEVEL, network, memory_of_opponents, chances, rules
                )


@compiled
def _network_at(networks, k):
    table, bias, hidden, hidden_bias, output, output_bias = networks
    return table[k], bias[k], hidden[k], hidden_bias[k], output[k], output_bias[k]
