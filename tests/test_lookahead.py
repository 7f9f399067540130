"""Looking ahead over all dice, against a slow recursion over the reference game."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from reference import ReferenceGame
from test_network import network_of

from ludo_env import Game, GameBatch, Position, Rules
from ludo_env.agents.expectimax import Expectimax
from ludo_env.core import lookahead
from ludo_env.core.kernels import DIE_BITS, TURN

Pawns = tuple[tuple[int, ...], ...]

NETWORK = network_of(seed=3)
KINDS = [
    Rules(num_players=2),
    Rules(num_players=2, num_pawns=2, home_jumps=True),
    Rules(num_players=3, mandatory_capture=False),
    Rules(num_players=3, num_pawns=3),
    Rules(),
]


class _RollsOnError(Exception):
    """The game asks for another roll."""


def refuse(_: int) -> int:
    raise _RollsOnError


@cache
def replies(rules: Rules, pawns: Pawns, player: int, die: int) -> dict[int, tuple]:
    """What each legal action leads to: pawns, who rolls next, who has won; none without a move."""
    try:
        game = ReferenceGame(rules, refuse, pawns=pawns, player=player, die=die)
    except _RollsOnError:
        return {}
    return {action: game.afterstate(action) for action in game.legal_actions()}


@cache
def leaf(rules: Rules, pawns: Pawns, player: int) -> np.ndarray:
    boards = np.array([[sum(1 << p - 1 for p in own if p) for own in pawns]])
    games = GameBatch.from_boards(boards, player, 0, rules)._games
    chances = np.empty((1, rules.num_players))
    lookahead.look_rows(games, (), NETWORK.arrays, chances, rules.compiled)
    return chances[0]


@cache
def worth(rules: Rules, pawns: Pawns, player: int, depth: int) -> np.ndarray:
    """Each player's chance to win before a roll."""
    if depth == 0:
        return leaf(rules, pawns, player)
    passed = worth(rules, pawns, (player + 1) % rules.num_players, depth - 1)
    by_die = []
    for die in range(1, 7):
        after = best(rules, pawns, player, die, depth)
        by_die.append(None if after is None else after[1])
    chances = passed
    for _ in range(tries(rules, pawns, player)):
        chances = sum(chances if after is None else after for after in by_die) / 6
    return chances


def tries(rules: Rules, pawns: Pawns, player: int) -> int:
    """Rolls that the player has (R9)."""
    dice = Random(1)
    game = ReferenceGame(rules, lambda n: dice.randint(1, 6), pawns=pawns, player=player)
    return 3 if game._has_three_tries(player) else 1


def best(rules: Rules, pawns: Pawns, player: int, die: int, depth: int):
    """The best action and each player's chance after it; None where there is no move."""
    found = []
    for action, (after, following, winner) in replies(rules, pawns, player, die).items():
        if winner is None:
            chances = worth(rules, after, following, depth - 1)
        else:
            chances = np.eye(rules.num_players)[winner]
        found.append((action, chances))
    return max(found, key=lambda pair: pair[1][player]) if found else None


def decisions(rules: Rules, number: int, seed: int = 1) -> GameBatch:
    batch = GameBatch(number, rules, seed=seed)
    batch.rollout(53)
    batch.reset(batch.finished)
    return batch


@pytest.mark.parametrize("rules", KINDS, ids=str)
@pytest.mark.parametrize(("depth", "number"), [(1, 60), (2, 2)])
def test_the_action_is_the_best_of_a_slow_recursion(rules, depth, number):
    batch = decisions(rules, number)
    actions = batch.best_actions(NETWORK.arrays, depth)
    for row, action in enumerate(actions.tolist()):
        position = batch.position(row)
        found = best(rules, position.pawns, position.player, position.die, depth)
        assert action == found[0], str(position)


@pytest.mark.parametrize("rules", KINDS, ids=str)
@pytest.mark.parametrize(("depth", "number"), [(1, 20), (2, 1)])
def test_chances_before_a_roll_are_those_of_a_slow_recursion(rules, depth, number):
    batch = decisions(rules, number, seed=2)
    games = batch._games.copy()
    games[:, TURN] = np.arange(number) % rules.num_players << DIE_BITS
    chances = np.empty((number, rules.num_players))
    lookahead.look_rows(games, (0,) * depth, NETWORK.arrays, chances, rules.compiled)
    for row in range(number):
        pawns = batch.position(row).pawns
        expected = worth(rules, pawns, row % rules.num_players, depth)
        np.testing.assert_allclose(chances[row], expected, atol=1e-12)


@pytest.mark.parametrize("rules", KINDS, ids=str)
@pytest.mark.parametrize(("depth", "number"), [(1, 20), (2, 1)])
def test_actions_are_worth_what_a_slow_recursion_finds(rules, depth, number):
    batch = decisions(rules, number, seed=4)
    found = batch.action_chances(NETWORK.arrays, depth)
    masks = batch.masks()
    assert found.shape == (number, 4, rules.num_players)
    for row, action in np.ndindex(number, 4):
        position = batch.position(row)
        if not masks[row, action]:
            assert np.isnan(found[row, action]).all()
            continue
        own = position.pawns, position.player, position.die
        after, following, winner = replies(rules, *own)[action]
        expected = (
            worth(rules, after, following, depth - 1)
            if winner is None
            else np.eye(rules.num_players)[winner]
        )
        np.testing.assert_allclose(found[row, action], expected, atol=1e-12)


def test_the_best_action_is_the_one_worth_most():
    batch = decisions(Rules(), 300, seed=5)
    own = batch.action_chances(NETWORK.arrays, 1)[np.arange(300), :, batch.players]
    assert (np.nanargmax(own, axis=1) == batch.best_actions(NETWORK.arrays, 1)).all()


def test_a_winning_move_is_worth_all():
    batch = GameBatch.from_positions(["44.43.42.39/0.0.0.0 0 2"], Rules(num_players=2))
    assert batch.action_chances(NETWORK.arrays, 1)[0, 3].tolist() == [1.0, 0.0]


def test_a_winning_move_is_played_at_any_depth():
    position = "44.43.42.39/0.0.0.0 0 2"
    for depth in (1, 2, 3):
        batch = GameBatch.from_positions([position], Rules(num_players=2))
        assert batch.best_actions(NETWORK.arrays, depth).tolist() == [3]


def test_equal_moves_go_to_the_most_advanced_pawn():
    even = type(NETWORK)(tuple(np.zeros_like(array) for array in NETWORK.arrays))
    batch = decisions(Rules(), 200)
    first = batch.masks().argmax(axis=1)
    assert (batch.best_actions(even.arrays, 1) == first).all()


def test_looking_ahead_sees_no_coming_dice():
    batch = decisions(Rules(num_players=2), 100)
    agent = Expectimax(2, NETWORK, "own")
    rows = np.arange(100)
    assert (agent.act(batch, rows) == agent.act(batch.copy(seed=9), rows)).all()
    scripted = GameBatch.from_positions(
        [batch.position(row) for row in range(100)], batch.rules, dice=[6] * 10
    )
    assert (agent.act(batch, rows) == agent.act(scripted, rows)).all()


def test_looking_ahead_changes_nothing_and_does_not_depend_on_rows_or_threads(many_threads):
    rules = Rules()
    batch, shared = decisions(rules, 96), GameBatch(96, rules, seed=1, num_threads=3)
    shared._games[:] = batch._games
    before = batch._games.copy()
    whole = batch.best_actions(NETWORK.arrays, 2)
    assert (batch._games == before).all()
    assert (shared.best_actions(NETWORK.arrays, 2) == whole).all()
    assert max(many_threads) == 3
    some = np.array([5, 90, 5, 17])
    assert (batch.best_actions(NETWORK.arrays, 2, some) == whole[some]).all()


def test_ended_rows_and_depth_zero_are_refused():
    over = Position.parse("44.43.42.41/3.0.0.0 0 -", Rules(num_players=2))
    batch = GameBatch.from_positions([over], Rules(num_players=2))
    with pytest.raises(ValueError, match="at a decision"):
        batch.best_actions(NETWORK.arrays, 1)
    with pytest.raises(ValueError, match="depth"):
        GameBatch(1).best_actions(NETWORK.arrays, 0)
    for depth in (0, 5, 1.5, "2", True):
        with pytest.raises(ValueError, match="depth must be an integer from 1 to 4"):
            Expectimax(depth, NETWORK, "own")


def test_what_an_agent_plays_leads_to_the_best_of_its_own_win_probabilities():
    rules = Rules(num_players=2)
    for depth in (1, 2):
        agent, batch = Expectimax(depth, NETWORK, "own"), decisions(rules, 80, seed=4)
        for row, action in enumerate(agent.act(batch, np.arange(80)).tolist()):
            game = Game(rules, position=batch.position(row))
            after = batch.afterstates([row])
            chances = agent.win_probabilities(after.observations()[0][after.legal[0]])
            legal = np.flatnonzero(after.legal[0])
            stays = after.player[0][legal] == game.player
            own = np.where(stays, chances, 1 - chances)
            assert after.winner[0].max() >= 0 or own[legal == action] == own.max()
