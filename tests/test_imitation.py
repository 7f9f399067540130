"""Imitation: what a teacher shows is what it does, and the learner comes to do it too."""

from __future__ import annotations

import numpy as np
import pytest
from test_pool import AFTERSTATE
from test_training import StopAfter, parameters, tiny, train

from ludo_env import Game, GameBatch, Rules, make_agent
from ludo_env.agents.sb3 import SB3Agent
from ludo_env.rewards import as_reward
from training import imitation, ppo
from training.config import EnvConfig, ImitationConfig, LearnerConfig, PPOConfig
from training.pool import PAST_SELF
from training.stopping import RunStoppedError, StopRequest

TAUGHT = {"imitation": ImitationConfig("advance", decisions=500)}
THREE = Rules(num_players=3)


def test_a_teacher_shows_what_it_does_where_it_has_a_choice():
    """Against the games played one by one."""
    seeds = GameBatch(6, THREE, seed=5).seeds
    teacher = make_agent("careful")
    expected = []
    for seed in seeds:
        game, noted = Game(THREE, seed=seed), []
        batch = GameBatch(1, THREE, seed=[seed])
        while game.winner is None:
            action = int(teacher.act(batch, np.array([0]))[0])
            if game.action_mask().sum() > 1:
                view = batch.observations()[0].tobytes()
                noted.append((view, game.action_mask().tobytes(), action, game.player))
            game.play(action)
            batch.step([action])
        expected += [
            (view, mask, action, 1.0 if player == game.winner else -0.5)
            for view, mask, action, player in noted
        ]
    shown = imitation.watch(teacher, 6, THREE, as_reward("win"), seed=5)
    found = zip(shown.observations, shown.masks, shown.actions, shown.returns, strict=True)
    rows = [(view.tobytes(), mask.tobytes(), int(a), float(paid)) for view, mask, a, paid in found]
    assert sorted(rows) == sorted(expected)


def test_places_are_paid_where_the_reward_is_place():
    shown = imitation.watch(make_agent("random"), 20, THREE, as_reward("place"), seed=5)
    assert set(np.unique(shown.returns)) <= {-1.0, -0.5, 0.0, 0.5, 1.0}
    assert {-1.0, 0.0, 1.0} <= set(np.unique(shown.returns))


@pytest.mark.parametrize("learner", [LearnerConfig(hidden=[64], batch_size=256), AFTERSTATE])
def test_the_learner_comes_to_do_what_the_teacher_does(learner):
    config = tiny("unused", learner=learner, imitation=ImitationConfig("advance", decisions=40_000))
    model, _ = ppo.begin(config, 0, StopRequest())
    shown = imitation.watch(make_agent("advance"), 50, config.rules, as_reward("win"), seed=9)
    views, masks = shown.observations, shown.masks.astype(bool)
    chosen, _ = model.predict(views, action_masks=masks, deterministic=True)
    untaught, _ = ppo.fresh(config, 0)
    guessed, _ = untaught.predict(views, action_masks=masks, deterministic=True)
    assert (chosen == shown.actions).mean() > max(0.85, 0.1 + (guessed == shown.actions).mean())
    worth = model.policy.predict_values(model.policy.obs_to_tensor(views)[0]).detach().numpy()
    assert np.corrcoef(worth[:, 0], shown.returns)[0, 1] > 0.3


def test_the_first_past_self_is_the_learner_as_taught():
    config = tiny(
        "unused",
        learner=AFTERSTATE,
        env=EnvConfig(num_envs=8, opponents={PAST_SELF: 1}),
        imitation=ImitationConfig("advance", decisions=5000),
    )
    model, notes = ppo.begin(config, 0, StopRequest())
    batch = GameBatch(64, config.rules, seed=1)
    rows = np.arange(64)
    own = SB3Agent(model).act(batch, rows)
    np.testing.assert_array_equal(notes.pool.members[0].agent.act(batch, rows), own)


def same(folder, other) -> bool:
    first, second = parameters(folder), parameters(other)
    return all(np.array_equal(first[name], second[name]) for name in first)


def test_a_taught_run_goes_on_exactly_as_if_nothing_had_happened(tmp_path):
    whole = train(tiny(tmp_path / "whole", **TAUGHT))
    config = tiny(tmp_path / "parts", **TAUGHT)
    with pytest.raises(RunStoppedError):
        train(config, StopAfter(4))
    ppo.run(config, tmp_path / "parts", StopRequest())
    assert same(whole, tmp_path / "parts")
    assert not same(whole, train(tiny(tmp_path / "untaught")))


def test_a_stop_while_the_teacher_plays_leaves_a_run_that_begins_again(tmp_path):
    config, stop = tiny(tmp_path / "stopped", **TAUGHT), StopRequest()
    stop()
    with pytest.raises(RunStoppedError):
        train(config, stop)
    ppo.run(config, tmp_path / "stopped", StopRequest())
    assert same(tmp_path / "stopped", train(tiny(tmp_path / "whole", **TAUGHT)))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"learner": LearnerConfig(discount=0.99)}, "learner.discount 1"),
        ({"env": EnvConfig(reward="shaped")}, "env.reward win or place"),
        ({"rules": Rules(num_players=2, num_pawns=1)}, "rules.num_pawns above 1"),
    ],
)
def test_what_cannot_be_taught_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        PPOConfig(imitation=ImitationConfig("advance"), **changed)


@pytest.mark.parametrize("wrong", [{"decisions": 0}, {"learning_rate": 0.0}])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="imitation"):
        ImitationConfig("advance", **wrong)


def test_an_unknown_teacher_is_refused_before_there_is_a_run():
    with pytest.raises(ValueError, match="unknown agent 'nobody'"):
        ppo.rehearse(tiny("unused", imitation=ImitationConfig("nobody")))
