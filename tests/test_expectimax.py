"""The agent that looks ahead with the careful agent's advice."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from test_careful import chances_by_advice

from ludo_env import GameBatch, Rules, make_agent
from ludo_env.arena import play

KINDS = [Rules(num_players=2), Rules(num_players=3, home_jumps=True), Rules()]


def at_decisions(rules: Rules, games: int = 60) -> GameBatch:
    batch = GameBatch(games, rules, seed=4)
    batch.rollout(37)
    batch.reset(batch.finished)
    return batch


def test_the_depth_is_two_where_none_is_named():
    for spec, depth in (("expectimax", 2), ("expectimax:1", 1), ("expectimax:3", 3)):
        assert make_agent(spec).depth == depth
    assert repr(make_agent("expectimax")) == "expectimax:2"


@pytest.mark.parametrize("spec", ["expectimax:0", "expectimax:9", "expectimax:x", "expectimax:"])
def test_other_depths_are_refused(spec):
    with pytest.raises(ValueError, match=r"expectimax|depth"):
        make_agent(spec)


@pytest.mark.parametrize("rules", KINDS, ids=str)
def test_at_depth_one_it_plays_what_leads_to_the_best_chance(rules):
    batch = at_decisions(rules)
    actions = make_agent("expectimax:1").act(batch, np.arange(len(batch)))
    for row, action in enumerate(actions.tolist()):
        player = int(batch.players[row])
        after = batch.afterstates(np.array([row]))
        chances = {}
        for k in np.flatnonzero(after.legal[0]).tolist():
            if after.winner[0, k] >= 0:
                chances[k] = 1.0
                continue
            pawns = tuple(tuple(own) for own in after.pawns[0, k].tolist())
            chances[k] = chances_by_advice(pawns, int(after.player[0, k]), rules)[player]
        assert chances[action] == pytest.approx(max(chances.values()), abs=1e-12)


def test_it_is_the_same_alone_as_in_a_batch():
    batch = at_decisions(Rules())
    agent = make_agent("expectimax")
    together = agent.act(batch, np.arange(len(batch)))
    alone = [int(agent.act(batch, np.array([row]))[0]) for row in range(len(batch))]
    assert together.tolist() == alone


def test_it_is_pickled():
    batch = at_decisions(Rules())
    rows = np.arange(len(batch))
    agent = make_agent("expectimax:1")
    again = pickle.loads(pickle.dumps(agent))
    np.testing.assert_array_equal(agent.act(batch, rows), again.act(batch, rows))


def test_it_beats_advance():
    agents = [make_agent("expectimax"), make_agent("advance")]
    match = play(agents, games=2000, rules=Rules(num_players=2), seed=3)
    assert match.win_rate(0) > 0.54
