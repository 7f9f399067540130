"""No seat is different: turning the board and the mover changes nothing that is seen or allowed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from ludo_env import OBSERVATION, Game, GameBatch, Position, Rules

CORNERS = {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}
OPTIONS = list(product((False, True), repeat=2))
SYMMETRIC = [(2, 1), (4, 1), (4, 2), (4, 3)]
OBSERVATION_LENGTH = max(part.stop for part in OBSERVATION.values())


def turned(position: Position, seats: int) -> Position:
    """The same position with everybody, the mover too, some seats further on."""
    num_players = len(position.pawns)
    pawns = tuple(position.pawns[(player - seats) % num_players] for player in range(num_players))
    return Position(pawns, (position.player + seats) % num_players, position.die)


def positions_from_play(rules: Rules, *, rows: int = 16, seed: int = 5) -> list[Position]:
    """Decisions of games that rows of a batch have played for different numbers of moves."""
    batch, found = GameBatch(rows, rules, seed=seed), []
    for _ in range(12):
        batch.rollout(13)
        found += [batch.position(row) for row in np.flatnonzero(~batch.finished)]
    return found


def rules_with(num_players: int, options: tuple[bool, bool], num_pawns: int = 4) -> Rules:
    mandatory_capture, home_jumps = options
    return Rules(num_players, num_pawns, mandatory_capture, home_jumps)


# Two and four players


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("num_players", "seats"), SYMMETRIC)
def test_a_turned_board_looks_the_same_and_allows_the_same_bit_for_bit(
    num_players: int, seats: int, options: tuple[bool, bool]
) -> None:
    rules = rules_with(num_players, options)
    found = positions_from_play(rules)
    batch = GameBatch.from_positions(found, rules, seed=0)
    other = GameBatch.from_positions([turned(p, seats) for p in found], rules, seed=0)
    assert len({str(position) for position in found}) > 100
    assert other.players.tolist() == [(p + seats) % num_players for p in batch.players]
    np.testing.assert_array_equal(batch.masks(), other.masks())
    np.testing.assert_array_equal(batch.observations(), other.observations())


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("num_players", "seats"), SYMMETRIC)
def test_every_observer_sees_a_turned_board_as_the_player_whose_seat_it_took(
    num_players: int, seats: int, options: tuple[bool, bool]
) -> None:
    rules = rules_with(num_players, options)
    for position in positions_from_play(rules, rows=2):
        game = Game(rules, seed=0, position=position)
        other = Game(rules, seed=0, position=turned(position, seats))
        for player in range(num_players):
            seen = other.observation((player + seats) % num_players)
            np.testing.assert_array_equal(seen, game.observation(player))


@pytest.mark.parametrize("num_pawns", [2, 4])
@pytest.mark.parametrize(("num_players", "seats"), SYMMETRIC)
def test_afterstates_of_a_turned_board_are_the_turned_afterstates(
    num_players: int, seats: int, num_pawns: int
) -> None:
    rules = Rules(num_players, num_pawns)
    found = positions_from_play(rules)
    batch = GameBatch.from_positions(found, rules, seed=0)
    other = GameBatch.from_positions([turned(p, seats) for p in found], rules, seed=0)
    after, other_after = batch.afterstates(), other.afterstates()
    np.testing.assert_array_equal(after.legal, other_after.legal)
    np.testing.assert_array_equal(after.observations(), other_after.observations())
    turned_pawns = np.roll(after.pawns, seats, axis=2)
    np.testing.assert_array_equal(turned_pawns, other_after.pawns)


@pytest.mark.parametrize(("num_players", "seats"), SYMMETRIC)
def test_a_whole_game_from_another_seat_is_the_turned_game(num_players: int, seats: int) -> None:
    rules = Rules(num_players)
    start = Position(((0,) * 4,) * num_players, 0)
    game = Game(rules, seed=8, position=start)
    other = Game(rules, seed=8, position=turned(start, seats))
    chooser = np.random.default_rng(8)
    while game.winner is None:
        assert other.position == turned(game.position, seats)
        for mine, theirs in zip(game.legal_moves(), other.legal_moves(), strict=True):
            assert mine[:3] == theirs[:3]
            assert (mine.captured is None) == (theirs.captured is None)
            if mine.captured is not None:
                assert theirs.captured == (mine.captured + seats) % num_players
        action = chooser.choice(np.flatnonzero(game.action_mask()))
        game.play(action)
        other.play(action)
    assert other.winner == (game.winner + seats) % num_players
    assert other.places() == tuple(np.roll(game.places(), seats))


# Three players: no turn maps the table onto itself, but it is four players' table with one away


def with_an_absent_fourth(position: Position) -> Position:
    return Position((*position.pawns, (0,) * len(position.pawns[0])), position.player, position.die)


def without_the_fourth(view: NDArray[np.int8], observer: int) -> NDArray[np.int8]:
    """What an observer at four players' table would see if the fourth seat were empty."""
    distance = 3 - observer
    view = view.copy()
    for part in ("track", "column", "yard"):
        view[OBSERVATION[f"opponent_{distance}_{part}"]] = 0
    view[OBSERVATION["corners"]][distance - 1] = 0
    return view


@pytest.mark.parametrize("options", OPTIONS)
def test_three_players_see_and_may_do_what_they_would_beside_an_idle_fourth(
    options: tuple[bool, bool],
) -> None:
    three, four = rules_with(3, options), rules_with(4, options)
    for position in positions_from_play(three, rows=4):
        game = Game(three, seed=0, position=position)
        beside = Game(four, seed=0, position=with_an_absent_fourth(position))
        assert game.legal_moves() == beside.legal_moves()
        for observer in range(3):
            expected = without_the_fourth(beside.observation(observer), observer)
            np.testing.assert_array_equal(game.observation(observer), expected)
        for action, after in beside.afterstates().items():
            assert game.afterstates()[action].pawns == after.pawns[:3]


@pytest.mark.parametrize("seats", [1, 2, 3])
def test_three_players_at_any_three_neighbouring_corners_play_alike(seats: int) -> None:
    three, four = Rules(3), Rules(4)
    for position in positions_from_play(three, rows=4):
        game = Game(three, seed=0, position=position)
        elsewhere = Game(four, seed=0, position=turned(with_an_absent_fourth(position), seats))
        assert game.action_mask().tolist() == elsewhere.action_mask().tolist()
        view = without_the_fourth(elsewhere.observation(), position.player)
        np.testing.assert_array_equal(game.observation(), view)


def test_the_corners_that_play_are_seen_from_each_seat() -> None:
    def corners(num_players: int) -> list[list[int]]:
        game = Game(Rules(num_players), seed=0)
        part = OBSERVATION["corners"]
        return [game.observation(player)[part].tolist() for player in range(num_players)]

    assert corners(2) == [[0, 1, 0], [0, 1, 0]]
    assert corners(3) == [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    assert corners(4) == [[1, 1, 1]] * 4


# What is seen, said plainly


def plain_view(position: Position, observer: int, rules: Rules) -> NDArray[np.int8]:
    """The observation written out from the position, slice by slice."""
    view = np.zeros(OBSERVATION_LENGTH, dtype=np.int8)
    for k, progress in enumerate(position.pawns[observer]):
        view[OBSERVATION[f"pawn_{k}"]][progress] = 1
    corners = CORNERS[rules.num_players]
    for other, own in enumerate(position.pawns):
        distance = (corners[other] - corners[observer]) % 4
        if other == observer:
            continue
        view[OBSERVATION["corners"]][distance - 1] = 1
        view[OBSERVATION[f"opponent_{distance}_yard"]][: own.count(0)] = 1
        for progress in own:
            if progress > 40:
                view[OBSERVATION[f"opponent_{distance}_column"]][progress - 41] = 1
            elif progress > 0:
                square = (progress - 1 + 10 * distance) % 40
                view[OBSERVATION[f"opponent_{distance}_track"]][square] = 1
    if position.die is not None and observer == position.player:
        view[OBSERVATION["die"]][position.die - 1] = 1
    view[OBSERVATION["options"]] = rules.mandatory_capture, rules.home_jumps
    return view


@pytest.mark.parametrize("num_pawns", [1, 3, 4])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_each_player_sees_the_position_turned_to_its_own_corner(
    num_players: int, num_pawns: int
) -> None:
    rules = rules_with(num_players, (num_pawns > 1, num_pawns > 3), num_pawns)
    found = positions_from_play(rules, rows=8)
    batch = GameBatch.from_positions(found, rules, seed=0)
    for observer in range(num_players):
        views = batch.observations(players=[observer] * len(found))
        expected = [plain_view(position, observer, rules) for position in found]
        np.testing.assert_array_equal(views, expected)


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_an_afterstate_is_seen_by_the_player_next_to_roll(num_players: int) -> None:
    rules = Rules(num_players)
    found = positions_from_play(rules, rows=8)
    views = GameBatch.from_positions(found, rules, seed=0).afterstates().observations()
    for row, position in enumerate(found):
        game = Game(rules, seed=0, position=position)
        expected = np.zeros((4, OBSERVATION_LENGTH), dtype=np.int8)
        for action, after in game.afterstates().items():
            if after.winner is None:
                expected[action] = plain_view(after, after.player, rules)
        np.testing.assert_array_equal(views[row], expected)
