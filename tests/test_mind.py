"""What agents think of their actions is told for all players, and is what they play by."""

from __future__ import annotations

import numpy as np
import pytest
from sb3_contrib import MaskablePPO

from ludo_env import GameBatch, Rules, make_agent
from ludo_env.agents.exact import ExactAgent
from ludo_env.agents.mind import thoughts
from ludo_env.agents.sb3 import SB3Agent
from ludo_env.sb3 import LudoVecEnv

ROWS = np.arange(40)


def decisions(rules: Rules) -> GameBatch:
    batch = GameBatch(60, rules, seed=3)
    batch.rollout(31)
    batch.reset(batch.finished)
    return batch


@pytest.mark.parametrize("spec", ["td", "td:2", "expectimax:1"])
def test_agents_that_look_ahead_tell_chances_and_play_the_best(spec):
    batch = decisions(Rules(num_players=3))
    mind = thoughts(make_agent(spec), batch, ROWS)
    own = mind.chances[ROWS, :, batch.players[ROWS]]
    assert (np.nanargmax(own, axis=1) == mind.actions).all()
    assert (np.isnan(own) == (batch.masks(ROWS) == 0)).all()
    np.testing.assert_allclose(np.nansum(mind.chances, axis=2)[~np.isnan(own)], 1, atol=1e-5)
    assert mind.probabilities is None


def test_perfect_play_tells_the_exact_chances(solved):
    rules = Rules(2, 2)
    solution, batch = solved(rules), decisions(rules)
    mind = thoughts(ExactAgent(solution), batch, ROWS)
    for row in ROWS.tolist():
        position = batch.position(row)
        for action, value in solution.values_after(position).items():
            told = mind.chances[row, action]
            assert told[position.player] == pytest.approx(value)
            assert told.sum() == pytest.approx(1)


def test_models_tell_the_probabilities_of_legal_actions():
    env = LudoVecEnv(4, num_players=2, opponents="random", seed=1)
    agent = SB3Agent(MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu", seed=1))
    batch = decisions(Rules(num_players=2))
    mind = thoughts(agent, batch, ROWS)
    assert mind.chances is None
    assert (mind.probabilities[batch.masks(ROWS) == 0] == 0).all()
    np.testing.assert_allclose(mind.probabilities.sum(axis=1), 1, atol=1e-6)
    assert (mind.probabilities.argmax(axis=1) == mind.actions).all()


def test_an_agent_that_does_not_tell_is_asked_what_it_plays():
    batch = decisions(Rules())
    mind = thoughts(make_agent("first"), batch, ROWS)
    assert (mind.chances, mind.probabilities) == (None, None)
    assert (mind.actions == batch.masks(ROWS).argmax(axis=1)).all()


def test_what_an_agent_tells_must_have_the_right_shape():
    class Odd:
        def act(self, batch, rows):
            return batch.masks(rows).argmax(axis=1)

        def action_probabilities(self, batch, rows):
            return np.ones(len(rows))

    with pytest.raises(ValueError, match=r"action_probabilities of .* must be of shape \(40, 4\)"):
        thoughts(Odd(), decisions(Rules()), ROWS)
