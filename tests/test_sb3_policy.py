"""The policy that judges actions by where they lead."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from kinds import RULES_OF_PLAY
from sb3_contrib import MaskablePPO

from ludo_env import GameBatch, Position, Rules
from ludo_env.agents.chances import roller_chances
from ludo_env.agents.expectimax import Expectimax
from ludo_env.agents.sb3 import SB3Agent
from ludo_env.core.features import MOST_FEATURES, write_features
from ludo_env.core.rules import MAX_PAWNS
from ludo_env.sb3 import LudoVecEnv
from ludo_env.sb3_policy import AfterstatePolicy, foresee

TWO = Rules(num_players=2)


def model_of(rules: Rules = TWO, **settings) -> MaskablePPO:
    """A learner whose networks are random, with opinions strong enough to tell actions apart."""
    env = LudoVecEnv(8, seed=1, rules=rules, auto_forced=True)
    settings = {"n_steps": 16, "batch_size": 32, "n_epochs": 1, "seed": 0} | settings
    model = MaskablePPO(
        AfterstatePolicy, env, policy_kwargs={"net_arch": [64, 16]}, device="cpu", **settings
    )
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def at_decisions(rules: Rules, games: int = 48) -> GameBatch:
    batch = GameBatch(games, rules, seed=3)
    batch.rollout(29)
    while batch.finished.any():
        batch.reset(np.flatnonzero(batch.finished))
    return batch


def features_of(row: np.ndarray, rules: Rules) -> list[int]:
    found = np.zeros(MOST_FEATURES, dtype=np.int64)
    return found[: write_features(row, found, rules.compiled)].tolist()


@pytest.mark.parametrize("rules", RULES_OF_PLAY, ids=str)
def test_what_is_foreseen_from_a_view_is_what_the_batch_tells_of_afterstates(rules):
    batch = at_decisions(rules)
    foreseen = foresee(torch.from_numpy(batch.observations()))
    after = batch.afterstates()
    places = np.flatnonzero(after.legal)
    assert foreseen.places.tolist() == places.tolist()
    ends = [*foreseen.starts.tolist()[1:], len(foreseen.features)]
    for i, place in enumerate(places.tolist()):
        row, action = divmod(place, MAX_PAWNS)
        has_won = after.winner[row, action] >= 0
        assert bool(foreseen.wins[i]) == has_won
        mover, roller = int(batch.players[row]), int(after.player[row, action])
        if has_won:
            continue
        corners = [
            (rules.corners[player] - rules.corners[roller]) % 4
            for player in range(rules.num_players)
        ]
        owners = [0] * 4
        for player, corner in enumerate(corners):
            owners[corner] = 2 if player == mover else 1
        assert foreseen.owners[i].tolist() == owners
        position = Position(
            tuple(tuple(own) for own in after.pawns[row, action].tolist()), roller, None
        )
        boards = [[sum(1 << p - 1 for p in own if p) for own in position.pawns]]
        alone = GameBatch.from_boards(np.array(boards), roller, 0, rules)._games[0]
        own = foreseen.features[foreseen.starts[i] : ends[i]].tolist()
        assert own == features_of(alone, rules)


@pytest.mark.parametrize("rules", [TWO, Rules(num_players=3), Rules()], ids=str)
def test_the_policy_plays_what_its_network_plays_without_pytorch(rules):
    model, batch = model_of(rules), at_decisions(rules, 400)
    rows = np.arange(len(batch))
    compiled = Expectimax(1, model.policy.network(), "the same").act(batch, rows)
    np.testing.assert_array_equal(SB3Agent(model).act(batch, rows), compiled)


def test_a_winning_action_is_the_most_probable():
    batch = GameBatch.from_positions(["44.43.42.40/10.5.0.0 0 1", "44.43.42.30/9.0.0.0 0 3"], TWO)
    model = model_of()
    chances = model.policy.get_distribution(torch.from_numpy(batch.observations()))
    assert chances.distribution.probs[0, 3] > 0.9


def test_a_position_is_worth_the_mean_over_its_actions():
    model, batch = model_of(), at_decisions(TWO)
    views = torch.from_numpy(batch.observations())
    masks = batch.masks().astype(bool)
    policy = model.policy
    after = batch.afterstates()
    seen = after.observations()  # by who is next to roll
    worth = np.zeros((len(views), MAX_PAWNS))
    for row, action in np.argwhere(after.legal):
        chance = 1.0
        if after.winner[row, action] < 0:
            own = roller_chances(seen[row, action][None], policy.critic_network(), 0)[0]
            moves_again = after.player[row, action] == batch.players[row]
            chance = own if moves_again else 1 - own
        worth[row, action] = policy.gain.item() * chance + policy.shift.item()
    with torch.no_grad():
        chances = policy.get_distribution(views, masks).distribution.probs.numpy()
        np.testing.assert_allclose(
            policy.predict_values(views)[:, 0], (chances * worth).sum(axis=1), atol=1e-5
        )
        actions, values, logarithms = policy.forward(views, action_masks=masks)
        taken, repeated, entropy = policy.evaluate_actions(views, actions, torch.from_numpy(masks))
    torch.testing.assert_close(values, policy.predict_values(views))
    np.testing.assert_allclose(taken[:, 0], worth[np.arange(len(views)), actions], atol=1e-5)
    torch.testing.assert_close(logarithms, repeated)
    assert masks[np.arange(len(views)), actions].all()
    assert (entropy >= 0).all()


def test_actions_that_cannot_be_told_apart_by_the_view_are_left_to_the_mask():
    batch = at_decisions(TWO)
    logits = model_of().policy.get_distribution(torch.from_numpy(batch.observations()))
    illegal = ~batch.masks().astype(bool)
    raw = logits.distribution.logits - logits.distribution.logits[:, :1]
    for row in np.flatnonzero(illegal.sum(axis=1) > 1):
        own = raw[row][torch.from_numpy(illegal[row])]
        torch.testing.assert_close(own, own[:1].expand_as(own), atol=1e-5, rtol=0)


def test_a_model_with_the_policy_is_saved_and_loaded_and_goes_on_learning(tmp_path):
    model = model_of()
    model.learn(128)
    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip", device="cpu")
    batch = at_decisions(TWO)
    rows = np.arange(len(batch))
    np.testing.assert_array_equal(
        SB3Agent(model).act(batch, rows),
        SB3Agent(tmp_path / "model.zip").act(batch, rows),
    )
    again.set_env(LudoVecEnv(8, seed=2, rules=TWO))
    again.learn(128, reset_num_timesteps=False)
    assert again.num_timesteps == 256


def test_both_networks_learn():
    model = model_of(ent_coef=0.01)
    before = {name: p.detach().clone() for name, p in model.policy.named_parameters()}
    model.learn(128)
    changed = {
        name.split(".")[0]
        for name, p in model.policy.named_parameters()
        if not torch.equal(p, before[name])
    }
    assert changed == {"actor", "critic", "gain", "shift"}


def test_its_network_is_a_network_file(tmp_path):
    model = model_of()
    model.policy.network({"steps": 0}).save(tmp_path / "own.npz")
    content = io.BytesIO((tmp_path / "own.npz").read_bytes())
    assert len(np.load(content)["table"][0]) == 64


@pytest.mark.parametrize(
    "widths", [[64], [64, 16, 16], {"pi": [64], "vf": [64]}, [10, 10], [0, 16]]
)
def test_widths_must_be_two(widths):
    with pytest.raises(ValueError, match="two multiples of 64 and 16"):
        MaskablePPO(AfterstatePolicy, LudoVecEnv(2), policy_kwargs={"net_arch": widths})


def test_widths_left_out_are_the_policys_own():
    env = LudoVecEnv(2, num_players=2, seed=1)
    model = MaskablePPO(AfterstatePolicy, env, n_steps=8, batch_size=16, device="cpu")
    assert model.policy.network().arrays[0].shape[1] == 256
