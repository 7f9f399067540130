"""What the learned evaluation starts from, against a plain list of the same facts."""

from __future__ import annotations

import numpy as np
import pytest
from kinds import RULES_OF_PLAY
from reference import CORNERS

from ludo_env import GameBatch, Position, Rules
from ludo_env.core import features as ft
from ludo_env.core.kernels import DIE_MASK, TURN

TWO = Rules(num_players=2)


def written(row: np.ndarray, rules: Rules) -> set[int]:
    """The features that a game's row has."""
    found = np.zeros(ft.MOST_FEATURES, dtype=np.int64)
    count = ft.write_features(row, found, rules.compiled)
    assert len(set(found[:count].tolist())) == count, "a feature is written twice"
    return set(found[:count].tolist())


def features_of(text: str, rules: Rules = TWO) -> set[int]:
    """The features of a position, the die still to be rolled."""
    position = Position.parse(text, rules)
    boards = [[sum(1 << p - 1 for p in own if p) for own in position.pawns]]
    batch = GameBatch.from_boards(np.array(boards), position.player, 0, rules)
    return written(batch._games[0], rules)


def plain(position: Position, rules: Rules) -> set[int]:
    """The same from lists of progresses."""
    found, roller = set(), position.player
    corners = CORNERS[rules.num_players]
    for player, own in enumerate(position.pawns):
        corner = (corners[player] - corners[roller]) % 4
        block = corner * ft.BLOCK
        found |= {block + ft.PLACE + p - 1 for p in own if p}
        found |= {block + ft.YARD + i for i in range(own.count(0))}
        if player != roller:
            found.add(ft.CORNERS_AT + corner - 1)
        for p in own:
            if 1 <= p <= 40:
                found |= {block + kind + p - 1 for kind in hits(position, player, p, rules)}
    found.add(ft.PAWNS_AT + rules.num_pawns - 1)
    found |= {ft.OPTIONS_AT} if rules.mandatory_capture else set()
    return found | ({ft.OPTIONS_AT + 1} if rules.home_jumps else set())


def hits(position: Position, player: int, progress: int, rules: Rules) -> set[int]:
    """How a pawn can be captured by one roll."""
    roller = position.player
    by = {
        other: ways(position, other, player, progress, rules)
        for other in range(rules.num_players)
        if other != player
    }
    at_once = sum(by.values()) if player == roller else by[roller]
    later = 0 if player == roller else sum(n for other, n in by.items() if other != roller)
    found = {ft.HIT} if at_once else set()
    found |= {ft.HIT_TWICE} if at_once > 1 else set()
    return found | ({ft.HIT_LATER} if later else set())


def ways(position: Position, hunter: int, player: int, progress: int, rules: Rules) -> int:
    """In how many ways a hunter's roll reaches a pawn's square."""
    corners = CORNERS[rules.num_players]
    square = (10 * corners[player] + progress - 1) % 40
    count = 0
    for p in position.pawns[hunter]:
        if 1 <= p <= 40:
            ends = [p + die for die in range(1, 7) if p + die <= 40]
            count += sum((10 * corners[hunter] + end - 1) % 40 == square for end in ends)
    own = position.pawns[hunter]
    leaves = 0 in own and square == 10 * corners[hunter]
    return count + leaves


def at(corner: int, kind: int, progress: int) -> int:
    """The number of a feature."""
    return corner * ft.BLOCK + kind + progress - 1


@pytest.mark.parametrize("rules", RULES_OF_PLAY, ids=str)
def test_the_features_are_those_of_a_plain_list_of_facts(rules):
    batch = GameBatch(64, rules, seed=5)
    for _ in range(4):
        batch.rollout(17)
        rows = np.flatnonzero(~batch.finished)
        for row in rows:
            position = batch.position(int(row))
            game = batch._games[row].copy()
            game[TURN] &= ~DIE_MASK
            assert written(game, rules) == plain(position, rules), str(position)


def test_a_pawn_one_to_six_squares_ahead_of_the_roller_can_be_hit_and_no_other():
    for distance in range(1, 10):
        # The other's progress 10 is the roller's 30.
        found = features_of(f"{30 - distance}.0.0.0/10.0.0.0 0 -")
        assert (at(2, ft.HIT, 10) in found) == (distance <= 6), distance


def test_the_rollers_own_pawns_are_hit_by_the_opponents_next_roll():
    assert at(0, ft.HIT, 30) in features_of("30.0.0.0/7.0.0.0 0 -")
    assert at(0, ft.HIT, 30) not in features_of("30.0.0.0/3.0.0.0 0 -")


def test_a_start_square_can_be_hit_from_the_yard():
    assert at(0, ft.HIT, 21) in features_of("21.0.0.0/0.0.0.0 0 -")
    assert at(0, ft.HIT, 21) not in features_of("21.0.0.0/44.43.42.30 0 -")


def test_two_ways_of_being_hit_are_told_apart_from_one():
    once, twice = features_of("30.0.0.0/8.0.0.0 0 -"), features_of("30.0.0.0/8.7.0.0 0 -")
    assert at(0, ft.HIT_TWICE, 30) not in once
    assert at(0, ft.HIT_TWICE, 30) in twice


def test_nothing_is_hit_in_a_column_or_by_a_pawn_that_turns_into_its_own():
    # The other's progress 38 is the roller's 18; four on is its column, not the roller's 22.
    found = features_of("22.0.0.0/38.0.0.0 0 -")
    assert at(0, ft.HIT, 22) not in found
    assert at(2, ft.HIT, 38) not in found


def test_an_opponents_pawn_that_another_opponent_can_hit_is_marked_as_such():
    # Player 1's progress 20 is square 29, three ahead of player 2's 7 (square 26).
    found = features_of("0.0.0.0/20.0.0.0/7.0.0.0/0.0.0.0 0 -", Rules())
    assert at(1, ft.HIT_LATER, 20) in found
    assert at(1, ft.HIT, 20) not in found


@pytest.mark.parametrize("players", [2, 4])
def test_the_features_are_the_same_from_every_seat(players):
    rules = Rules(num_players=players)
    pawns = ["30.11.0.0", "25.0.0.0", "41.3.0.0", "7.6.0.0"][:players]
    seen = {
        frozenset(features_of("/".join(turn(pawns, shift)) + f" {shift} -", rules))
        for shift in range(players)
    }
    assert len(seen) == 1


def turn(items: list[str], shift: int) -> list[str]:
    """The items, moved on by so many places."""
    return items[len(items) - shift :] + items[: len(items) - shift]


def test_no_position_has_more_features_than_there_is_room_for():
    crowded = "6.5.4.3/6.5.4.3/6.5.4.3/6.5.4.3 0 -"
    assert len(features_of(crowded, Rules())) <= ft.MOST_FEATURES
