"""The pool of opponents: who is in it, who is drawn, and that past selves stay what they were."""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections import Counter

import numpy as np
import pytest
from test_training import StopAfter, parameters, tiny, train, untimed_results

from ludo_env import GameBatch, Rules
from ludo_env.agents.expectimax import Expectimax
from ludo_env.agents.sb3 import SB3Agent
from training import ppo
from training.config import EnvConfig, LearnerConfig, PoolConfig
from training.pool import PAST_SELF, Pool, shared_out, snapshot
from training.stopping import RunStoppedError, StopRequest

AFTERSTATE = LearnerConfig(policy="afterstate", hidden=[64, 16], rollout_length=16, batch_size=32)
SELF_PLAY = {
    "learner": AFTERSTATE,
    "env": EnvConfig(num_envs=8, opponents={"advance": 1, PAST_SELF: 3}),
    "pool": PoolConfig(every=128, size=3),
}


class Stub:
    """An agent that never plays."""

    def act(self, batch, rows):
        raise AssertionError


def pool_of(members: int, opponents=None, games: int = 400, others: int = 3, **config) -> Pool:
    pool = Pool(PoolConfig(**config), opponents or {PAST_SELF: 1}, games, others, seed=0)
    for step in range(members):
        pool.add(step, Stub())
    return pool


def test_opponents_share_the_games_as_asked():
    names = shared_out({"random": 1, "advance": 3}, 8)
    assert sorted(names) == ["advance"] * 6 + ["random"] * 2
    assert len(shared_out({"random": 1, "advance": 1, "first": 1}, 64)) == 64


def test_scripted_agents_keep_their_share_beside_past_selves():
    pool = pool_of(2, {"advance": 1, PAST_SELF: 3})
    own = pool.seat()
    assert sum(seats == ["advance"] * 3 for seats in own) == 100
    assert sum(all(isinstance(seat, Stub) for seat in seats) for seats in own) == 300


def test_past_selves_are_drawn_by_how_hard_they_are_to_beat():
    pool = pool_of(3, power=2.0)
    for member, rate in zip(pool.members, (0.0, 0.5, 0.9), strict=True):
        member.win_rate = rate
    drawn = Counter(id(seat) for seats in pool.seat() for seat in seats)
    weights = np.array([1.0, 0.25, 0.01])
    for member, expected in zip(pool.members, weights / weights.sum(), strict=True):
        assert drawn[id(member.agent)] / 1200 == pytest.approx(expected, abs=0.05)


def test_with_power_zero_all_are_drawn_alike():
    pool = pool_of(4, power=0.0)
    pool.members[0].win_rate = 1.0
    drawn = Counter(id(seat) for seats in pool.seat() for seat in seats)
    assert min(drawn.values()) > 1200 / 4 * 0.8


def test_the_easiest_leaves_a_full_pool():
    pool = pool_of(3, size=3)
    pool.members[1].win_rate = 0.8
    pool.add(7, Stub())
    assert [member.step for member in pool.members] == [0, 2, 7]


def test_a_game_counts_for_who_played_it_even_where_others_follow():
    pool = pool_of(1, games=1, others=1)
    pool.seat()
    pool.begin()
    first = pool.members[0]
    pool.add(1, Stub())
    first.win_rate = 1.0  # so that the other is drawn
    pool.seat()
    pool.count(0, True)
    assert (first.games, pool.members[1].games) == (1, 0)
    pool.count(0, False)
    assert (first.games, pool.members[1].games) == (1, 1)


def test_a_member_with_several_seats_counts_a_game_once():
    pool = pool_of(1, games=1, others=3)
    pool.seat()
    pool.begin()
    pool.count(0, True)
    assert pool.members[0].games == 1
    assert pool.members[0].win_rate == (0.25 + 1) / 2  # beforehand a game at chance


def test_win_rates_of_late_follow_the_last_hundred_games_or_so():
    pool = pool_of(1, games=1, others=1)
    pool.seat()
    pool.begin()
    for _ in range(1000):
        pool.count(0, True)
    for _ in range(200):
        pool.count(0, False)
    assert pool.members[0].win_rate == pytest.approx(0.99**200, abs=0.02)


def test_draws_depend_on_the_seed_alone():
    one, other = pool_of(3), pool_of(3)

    def steps(pool: Pool) -> list[int]:
        number = {id(member.agent): member.step for member in pool.members}
        return [number[id(seat)] for seats in pool.seat() for seat in seats]

    assert steps(one) == steps(other)


@pytest.mark.parametrize("policy", ["mlp", "afterstate"])
def test_a_past_self_does_not_change_when_the_learner_does(policy, tmp_path):
    learner = LearnerConfig(policy=policy, hidden=[64, 16], rollout_length=16, batch_size=32)
    config = tiny(tmp_path / "run", learner=learner)
    model, _ = ppo.fresh(config, 0)
    batch = GameBatch(300, Rules(num_players=2), seed=1)
    batch.rollout(40)
    rows = np.flatnonzero(~batch.finished)
    past = snapshot(model)
    before = past.act(batch, rows)
    np.testing.assert_array_equal(before, SB3Agent(model).act(batch, rows))
    model.learn(512)
    np.testing.assert_array_equal(past.act(batch, rows), before)
    assert (SB3Agent(model).act(batch, rows) != before).any()


def test_all_games_get_their_opponents_at_once(tmp_path):
    config = tiny(tmp_path / "run", **SELF_PLAY)
    given = []

    class Listening(ppo.LudoVecEnv):
        def set_opponents(self, opponents):
            given.append(opponents)
            super().set_opponents(opponents)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ppo, "LudoVecEnv", Listening)
        folder = train(config)
    assert [len(own) for own in given] == [8] * len(given)
    assert len(given) >= 512 // 128
    members = json.loads((folder / "seed_0" / "pool.json").read_text())
    assert [member["step"] for member in members][-1] == 384
    assert len(members) == 3


def test_the_pool_is_told_who_won(tmp_path, monkeypatch):
    paid, told = [], []

    class Listening(ppo.LudoVecEnv):
        def step_wait(self):
            answer = super().step_wait()
            paid.extend((game, answer[1][game] > 0) for game in np.flatnonzero(answer[2]))
            return answer

    monkeypatch.setattr(ppo, "LudoVecEnv", Listening)
    monkeypatch.setattr(Pool, "count", lambda pool, game, has_won: told.append((game, has_won)))
    train(tiny(tmp_path / "run", **SELF_PLAY))
    assert told == paid
    assert {has_won for _, has_won in told} == {True, False}


@pytest.mark.parametrize("luck_judge", [None, "critic", "td"])
def test_self_play_goes_on_exactly_as_if_nothing_had_happened(luck_judge, tmp_path):
    env = dataclasses.replace(SELF_PLAY["env"], luck_judge=luck_judge)
    settings = SELF_PLAY | {"env": env}
    whole = train(tiny(tmp_path / "whole", **settings))
    config = tiny(tmp_path / "halves", **settings)
    with pytest.raises(RunStoppedError):
        train(config, StopAfter(2))
    folder = tmp_path / "halves"
    ppo.conclude(config, folder, ppo.run(config, folder, StopRequest()))
    for name, value in parameters(whole).items():
        np.testing.assert_array_equal(value, parameters(folder)[name], err_msg=name)
    members = [(run / "seed_0" / "pool.json").read_text() for run in (whole, folder)]
    assert members[0] == members[1]
    assert untimed_results(whole) == untimed_results(folder)


def test_a_checkpoint_keeps_past_selves_and_who_plays_them():
    pool = pool_of(0, games=4, others=1)
    network = ppo.make_model(
        tiny("unused", **SELF_PLAY), ppo.make_env(tiny("unused", **SELF_PLAY), 0), 0
    ).policy.network()
    pool.add(0, Expectimax(1, network, "first"))
    seats = pool.seat()
    pool.begin()
    again, same = pickle.loads(pickle.dumps((pool, seats)))
    assert same[0][0] is again.members[0].agent
    again.count(0, True)
    assert again.members[0].games == 1


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"every": 0}, "pool.every"), ({"size": 0}, "pool.size"), ({"power": -1.0}, "pool.power")],
)
def test_wrong_pools_are_refused_by_name(wrong, named):
    with pytest.raises(ValueError, match=named):
        PoolConfig(**wrong)


@pytest.mark.parametrize("judge", ["advance", "expectimax", "td:no_such_file", "nobody"])
def test_other_judges_of_luck_are_refused_before_there_is_a_run(judge):
    env = dataclasses.replace(SELF_PLAY["env"], luck_judge=judge)
    with pytest.raises(ValueError, match=judge.removeprefix("td:")):
        ppo.rehearse(tiny("unused", **(SELF_PLAY | {"env": env})))


@pytest.mark.parametrize("opponent", ["expectimax:1", "td:2", "td"])
def test_opponents_whose_luck_cannot_be_judged_are_refused_before_there_is_a_run(opponent):
    env = dataclasses.replace(
        SELF_PLAY["env"], luck_judge="critic", opponents={opponent: 1, PAST_SELF: 1}
    )
    with pytest.raises(ValueError, match="where luck is judged"):
        ppo.rehearse(tiny("unused", **(SELF_PLAY | {"env": env})))


def test_a_new_past_self_is_taken_to_be_an_equal():
    for others in (1, 2, 3):
        assert pool_of(1, others=others).members[0].win_rate == 1 / (others + 1)
