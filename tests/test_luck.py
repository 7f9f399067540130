"""Rewards without the luck of the dice: the same games, nothing taken on average, less noise."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from test_network import network_of

from ludo_env import Rules, make_agent
from ludo_env.agents.expectimax import Expectimax
from ludo_env.sb3 import LudoVecEnv
from training.luck import WithoutLuck

NETWORK = network_of(64, 16, seed=1)
PAST = [Expectimax(1, network_of(64, 16, seed=k), f"past {k}") for k in (2, 3)]
KINDS = [
    Rules(num_players=2),
    Rules(num_players=2, num_pawns=2, home_jumps=True, pawn_on_start=True),
    Rules(num_players=3, mandatory_capture=False),
    Rules(),
]


def games_of(rules: Rules, count: int = 24, auto_forced: bool = True, seed: int = 5) -> LudoVecEnv:
    seats = ["advance", "careful", "random", *PAST]
    others = rules.num_players - 1
    opponents = [[seats[(i + j) % len(seats)] for j in range(others)] for i in range(count)]
    env = LudoVecEnv(
        count, seed=seed, rules=rules, opponents=opponents, seat="random", auto_forced=auto_forced
    )
    env.reset()
    return env


@pytest.mark.parametrize("auto_forced", [True, False])
@pytest.mark.parametrize("rules", KINDS, ids=str)
def test_steps_are_played_by_the_same_dice_and_opponents(rules, auto_forced):
    env = WithoutLuck(games_of(rules, auto_forced=auto_forced))
    batch = env.venv.env.table.batch
    for _ in range(120):
        actions = np.array(env.env_method("action_masks")).argmax(axis=1)
        games, _ = env.played_on(actions, NETWORK.arrays)
        *_, dones, infos = env.step(actions)
        np.testing.assert_array_equal(games[~dones], batch._games[~dones])
        assert not any("illegal_action" in info for info in infos)


def test_steps_are_played_by_the_opponents_of_late():
    env = WithoutLuck(games_of(KINDS[0]))
    batch = env.venv.env.table.batch
    for step in range(150):
        if step % 50 == 49:
            late = Expectimax(1, network_of(64, 16, seed=step), f"step {step}")
            env.set_opponents([[late] for _ in range(24)])
        actions = np.array(env.env_method("action_masks")).argmax(axis=1)
        games, _ = env.played_on(actions, NETWORK.arrays)
        dones = env.step(actions)[2]
        np.testing.assert_array_equal(games[~dones], batch._games[~dones])


def test_a_judge_may_be_greater_than_the_opponents_networks():
    env = WithoutLuck(games_of(KINDS[3]))
    batch = env.venv.env.table.batch
    for _ in range(60):
        actions = env.env_method("action_masks").argmax(axis=1)
        games, luck = env.played_on(actions, network_of(128, 32, seed=4).arrays)
        dones = env.step(actions)[2]
        np.testing.assert_array_equal(games[~dones], batch._games[~dones])
        assert np.isfinite(luck).all()


def test_luck_is_the_same_in_any_number_of_threads():
    envs = [WithoutLuck(games_of(KINDS[3]), threads) for threads in (1, 3)]
    for _ in range(60):
        actions = envs[0].env_method("action_masks").argmax(axis=1)
        (games, luck), (other_games, other_luck) = (
            env.played_on(actions, NETWORK.arrays) for env in envs
        )
        np.testing.assert_array_equal(games, other_games)
        np.testing.assert_array_equal(luck, other_luck)
        for env in envs:
            env.step(actions)


def test_luck_has_mean_zero_and_most_of_the_noise():
    td = make_agent("td").evaluation
    env = WithoutLuck(LudoVecEnv(256, seed=3, num_players=2, opponents="advance", seat="random"))
    env.reset()
    env.judge_by(td)
    paid, lucks = [], []
    for _ in range(400):
        actions = env.env_method("action_masks").argmax(axis=1)
        _, luck = env.played_on(actions, td.arrays)
        rewards = env.step(actions)[1]
        lucks.append(luck)
        paid.append(rewards)
    luck = np.concatenate(lucks)
    assert abs(luck.mean()) < 4 * luck.std() / np.sqrt(luck.size)
    assert luck.std() > 0.01


def test_a_games_rewards_without_luck_are_near_its_players_chance():
    """With a good evaluation the sum over a game says who played better, hardly who rolled well."""
    td = make_agent("td").evaluation

    def returns(fair: bool) -> np.ndarray:
        env = LudoVecEnv(128, seed=3, num_players=2, opponents="advance", seat="random")
        own = WithoutLuck(env) if fair else env
        own.reset()
        if fair:
            own.judge_by(td)
        sums, found = np.zeros(128), []
        while len(found) < 300:
            actions = env.env_method("action_masks").argmax(axis=1)
            _, rewards, dones, _ = own.step(actions)
            sums += rewards
            found.extend(sums[dones].tolist())
            sums[dones] = 0
        return np.array(found)

    plain, fair = returns(False), returns(True)
    assert fair.std() < 0.4 * plain.std()
    assert fair.mean() == pytest.approx(plain.mean(), abs=4 * plain.std() / np.sqrt(len(plain)))


def test_until_it_is_given_an_evaluation_rewards_are_as_they_were():
    plain, fair = games_of(KINDS[0]), WithoutLuck(games_of(KINDS[0]))
    for _ in range(60):
        actions = plain.env_method("action_masks").argmax(axis=1)
        np.testing.assert_array_equal(plain.step(actions)[1], fair.step(actions)[1])


def test_it_is_pickled_with_its_games():
    env = WithoutLuck(games_of(KINDS[0]))
    env.judge_by(NETWORK)
    again = pickle.loads(pickle.dumps(env))
    for _ in range(20):
        actions = env.env_method("action_masks").argmax(axis=1)
        np.testing.assert_array_equal(env.step(actions)[1], again.step(actions)[1])


def test_other_opponents_and_rewards_are_refused():
    for arguments in ({"reward": "place"}, {"reward": "shaped"}, {"max_rolls": 100}):
        with pytest.raises(ValueError, match="reward 'win'"):
            WithoutLuck(LudoVecEnv(2, num_players=2, **arguments))
    env = WithoutLuck(LudoVecEnv(2, num_players=2, opponents=make_agent("td:2")))
    env.reset()
    env.judge_by(NETWORK)
    with pytest.raises(ValueError, match="one choice"):
        env.step(np.array(env.env_method("action_masks")).argmax(axis=1))
