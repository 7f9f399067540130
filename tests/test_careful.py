"""The careful agent: the advice it follows, and its bits against plain lists of progresses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kinds import ALL_RULES
from reference import CORNERS

from ludo_env import GameBatch, Position, Rules, make_agent
from ludo_env.arena import play
from ludo_env.core.careful import NUM_VALUES, SETS, evaluate_carefully
from ludo_env.core.careful_weights import VALUES, WEIGHTS
from ludo_env.core.kernels import DIE_BITS, TURN

TWO = Rules(num_players=2)
FREE = Rules(num_players=2, mandatory_capture=False)


def squares_ahead(position: Position, player: int, other: int, rules: Rules) -> int:
    """How far the other's start lies beyond the player's, clockwise."""
    corners = CORNERS[rules.num_players]
    return 10 * ((corners[other] - corners[player]) % 4)


def others_of(position: Position, player: int, rules: Rules) -> list[tuple[int, tuple[int, ...]]]:
    return [
        (squares_ahead(position, player, other, rules), own)
        for other, own in enumerate(position.pawns)
        if other != player
    ]


def stands_in(position: Position, player: int, progress: int, rules: Rules) -> list[bool]:
    """Which of the sets a pawn of that progress stands in."""
    soon = later = False
    near = far = 0
    for ahead, own in others_of(position, player, rules):
        there = (progress - 1 - ahead) % 40 + 1  # the square as the other counts
        from_yard = [1] if 0 in own else []
        track = [p for p in own if 1 <= p <= 40]
        if progress <= 40:
            soon |= any(1 <= there - p <= 6 for p in track) or (0 in own and there == 1)
            after_six = [p + 6 for p in track if p + 6 <= 40] + from_yard
            later |= any(1 <= there - p <= 6 for p in after_six)
        seen = [(p - 1 + ahead) % 40 + 1 for p in track]
        near += sum(1 <= p - progress <= 6 for p in seen)
        far += sum(7 <= p - progress <= 12 for p in seen)
    return [
        *[progress > limit for limit in (20, 30, 35, 40, 41, 42, 43)],
        soon and progress > 10,
        soon and progress > 20,
        later and progress > 20,
        near >= 1,
        near >= 2,
        far >= 1,
    ]


def plain_worth(position: Position, player: int, progress: int, rules: Rules) -> int:
    if progress == 0:
        return 0
    weights = WEIGHTS[rules.num_players - 2]
    inside = stands_in(position, player, progress, rules)
    assert len(inside) == len(SETS) == len(weights)
    return sum(weight for weight, is_in in zip(weights, inside, strict=True) if is_in)


def plain_action(position: Position, legal: list[int], rules: Rules) -> int:
    """What the agent plays, from lists of progresses."""
    player, own = position.player, position.pawns[position.player]
    gains = []
    for action in legal:
        source = own[action]
        target = source + position.die if source else 1
        gain = plain_worth(position, player, target, rules)
        gain -= plain_worth(position, player, source, rules)
        captures = target <= 40 and any(
            (p - 1 + ahead) % 40 + 1 == target
            for ahead, others in others_of(position, player, rules)
            for p in others
            if 1 <= p <= 40
        )
        gains.append((captures, gain, target, action))
    return max(gains)[-1]


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_it_plays_what_plain_lists_say(rules):
    batch = GameBatch(60, rules, seed=5)
    batch.rollout(31)
    rows = np.flatnonzero(~batch.finished)
    actions = batch.scripted_actions(rows, "careful")
    masks = batch.masks()
    for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
        legal = np.flatnonzero(masks[row]).tolist()
        assert action == plain_action(batch.position(row), legal, rules)


def chances_by_advice(pawns: tuple, roller: int, rules: Rules) -> list[float]:
    """Each player's chance before a roll, from lists of progresses."""
    values = VALUES[rules.num_players - 2]
    position = Position(pawns, roller, None)
    sums = []
    for player, own in enumerate(pawns):
        total = sum(
            value
            for progress in own
            if progress
            for value, is_in in zip(
                values, stands_in(position, player, progress, rules), strict=False
            )
            if is_in
        )
        total += values[-3] * sum(p > 0 for p in own) + values[-2] * sum(own)
        sums.append(total + (values[-1] if player == roller else 0))
    shares = [math.exp(own) for own in sums]
    return [share / sum(shares) for share in shares]


@pytest.mark.parametrize("rules", [TWO, Rules(num_players=3), Rules()], ids=str)
def test_its_evaluation_is_the_sum_over_pawns_as_chances(rules):
    batch = GameBatch(40, rules, seed=2)
    batch.rollout(43)
    for row in np.flatnonzero(~batch.finished).tolist():
        position = batch.position(row)
        game = batch._games[row].copy()
        game[TURN] = position.player << DIE_BITS
        chances = np.empty(rules.num_players)
        evaluate_carefully(game, VALUES[rules.num_players - 2], chances, rules.compiled)
        expected = chances_by_advice(position.pawns, position.player, rules)
        np.testing.assert_allclose(chances, expected, atol=1e-12)


def move_of(text: str, rules: Rules = TWO) -> int:
    """The progress that the pawn it plays comes from."""
    batch = GameBatch.from_positions([text], rules)
    action = int(make_agent("careful").act(batch, np.array([0]))[0])
    position = batch.position(0)
    return position.pawns[position.player][action]


def test_it_takes_shelter_in_the_column():
    assert move_of("39.12.0.0/15.0.0.0 0 3") == 39


def test_it_does_not_stop_within_reach_of_an_opponent():
    assert move_of("20.9.43.42/2.44.43.42 0 5") == 9  # the other is on 22 as this player counts


def test_it_leaves_a_square_within_reach_of_an_opponent():
    assert move_of("28.9.43.42/5.44.43.42 0 5") == 28  # on 25


def test_it_does_not_stop_where_an_opponent_leaves_the_yard():
    assert move_of("18.9.43.42/40.44.43.0 0 3") == 9


def test_it_stays_behind_an_opponent():
    assert move_of("30.11.43.42/40.44.43.42 0 6") == 30
    assert move_of("30.11.43.42/13.44.43.42 0 6") == 11  # on 33, three squares ahead


def test_it_captures_where_it_may():
    assert move_of("22.5.0.0/6.44.43.42 0 4", FREE) == 22


def test_it_beats_advance():
    match = play([make_agent("careful"), make_agent("advance")], games=4000, rules=TWO, seed=3)
    assert match.win_rate(0) > 0.55


def test_every_number_of_players_has_its_weights():
    assert {len(weights) for weights in WEIGHTS} == {len(SETS)}
    assert {len(values) for values in VALUES} == {NUM_VALUES}
    assert len(WEIGHTS) == len(VALUES) == 3
