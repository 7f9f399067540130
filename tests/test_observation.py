"""What a player sees, read back by a slow decoder written from the slices' published meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kinds import ALL_RULES

from ludo_env import OBSERVATION, Game, GameBatch, Position, Rules

TWO = Rules(num_players=2)
LENGTH = sum(part.stop - part.start for part in OBSERVATION.values())


def label(rules: Rules) -> str:
    """The name of a case."""
    options = (rules.mandatory_capture, rules.home_jumps, rules.pawn_on_start)
    return f"{rules.num_players}x{rules.num_pawns}-{''.join(str(int(on)) for on in options)}"


# A plain decoder


def read_one_hot(bits: list[int]) -> int | None:
    """Which of the values is 1; None where none is."""
    assert sum(bits) in (0, 1)
    return bits.index(1) if 1 in bits else None


def read_unary(bits: list[int]) -> int:
    """How many values are 1; these come first."""
    assert bits == sorted(bits, reverse=True)
    return sum(bits)


def read_opponent(parts: dict[str, list[int]], distance: int) -> list[int]:
    """Progresses of the opponent that many corners on, in its own frame."""
    # The observer's progress i + 1 is 10 squares for each corner behind the opponent's own.
    track = [i for i, bit in enumerate(parts[f"opponent_{distance}_track"]) if bit]
    on_track = [(square - 10 * distance) % 40 + 1 for square in track]
    column = [41 + i for i, bit in enumerate(parts[f"opponent_{distance}_column"]) if bit]
    yard = read_unary(parts[f"opponent_{distance}_yard"])
    return sorted([*on_track, *column, *[0] * yard], reverse=True)


def decode(view: np.ndarray) -> dict[str, Any]:
    """All that an observation tells."""
    parts = {name: view[part].tolist() for name, part in OBSERVATION.items()}
    own = [read_one_hot(parts[f"pawn_{k}"]) for k in range(4)]
    die = read_one_hot(parts["die"])
    corners = [distance for distance, bit in enumerate(parts["corners"], start=1) if bit]
    return {
        "own": own,
        "opponents": {distance: read_opponent(parts, distance) for distance in corners},
        "empty": {
            distance: read_opponent(parts, distance)
            for distance in (1, 2, 3)
            if distance not in corners
        },
        "die": None if die is None else die + 1,
        "options": parts["options"],
    }


def expected(position: Position, observer: int, rules: Rules) -> dict[str, Any]:
    """What the observer must be told of a position."""
    corners = {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}[rules.num_players]  # R2
    opponents = {
        (corners[player] - corners[observer]) % 4: list(position.pawns[player])
        for player in range(rules.num_players)
        if player != observer
    }
    own = [*position.pawns[observer], *[None] * (4 - rules.num_pawns)]
    return {
        "own": own,
        "opponents": opponents,
        "empty": {distance: [] for distance in (1, 2, 3) if distance not in opponents},
        "die": position.die if observer == position.player else None,
        "options": [int(rules.mandatory_capture), int(rules.home_jumps)],
    }


# The layout


def test_the_slices_tile_the_vector_in_order_and_without_gaps():
    assert isinstance(OBSERVATION["die"], slice)
    stops = [0, *(part.stop for part in OBSERVATION.values())]
    assert [part.start for part in OBSERVATION.values()] == stops[:-1]
    assert all(part.step in (None, 1) and part.stop > part.start for part in OBSERVATION.values())
    assert stops[-1] == LENGTH
    assert Game(seed=1).observation().shape == (LENGTH,)


def test_the_slices_cannot_be_changed():
    with pytest.raises(TypeError):
        OBSERVATION["die"] = slice(0, 1)  # type: ignore[index]


def test_every_number_of_players_and_pawns_has_the_same_length():
    lengths = {GameBatch(1, rules, seed=1).observations().shape for rules in ALL_RULES}
    assert lengths == {(1, LENGTH)}


# The content


@pytest.mark.parametrize("rules", ALL_RULES, ids=label)
def test_every_observer_can_read_the_position_back(rules):
    batch = GameBatch(4, rules, seed=1)
    for _ in range(6):
        for row in range(4):
            position = batch.position(row)
            over = position.winner is not None
            for observer in range(rules.num_players):
                told = decode(batch.observations([observer] * 4)[row])
                assert told == expected(position, observer, rules)
            own = batch.observations()[row]
            assert own.any() != over
            if not over:
                assert decode(own) == expected(position, position.player, rules)
        batch.rollout(30)


@pytest.mark.parametrize("rules", ALL_RULES[::7], ids=label)
def test_a_game_shows_what_its_batch_shows(rules):
    batch = GameBatch(5, rules, seed=1)
    for _ in range(5):
        batch.rollout(30)
        for observer in range(rules.num_players):
            views = batch.observations([observer] * 5)
            for row in range(5):
                game = Game(rules, seed=0, position=batch.position(row))
                np.testing.assert_array_equal(game.observation(observer), views[row])


@pytest.mark.parametrize("rules", ALL_RULES[::5], ids=label)
def test_all_values_are_zeros_and_ones_of_int8(rules):
    batch = GameBatch(20, rules, seed=1)
    for _ in range(5):
        batch.rollout(40)
        views = batch.observations()
        assert views.dtype == np.int8
        assert set(np.unique(views)) <= {0, 1}
        view = Game(rules, seed=1).observation(1)
        assert view.dtype == np.int8


def test_one_position_spelt_out():
    game = Game(Rules(num_players=3), position="12.1.0.0/44.3.0.0/40.20.0.0 1 5", seed=1)
    view = game.observation(1)
    on = {name: np.flatnonzero(view[part]).tolist() for name, part in OBSERVATION.items()}
    assert on == {
        "pawn_0": [44],
        "pawn_1": [3],
        "pawn_2": [0],
        "pawn_3": [0],
        # Player 2 sits one corner on: its start square is the observer's progress 11.
        "opponent_1_track": [9, 29],
        "opponent_1_column": [],
        "opponent_1_yard": [0, 1],
        # The corner opposite of corner 1 is empty.
        "opponent_2_track": [],
        "opponent_2_column": [],
        "opponent_2_yard": [],
        # Player 0 sits three corners on: its start square is the observer's progress 31.
        "opponent_3_track": [1, 30],
        "opponent_3_column": [],
        "opponent_3_yard": [0, 1],
        "die": [4],
        "corners": [0, 2],
        "options": [0],
    }


def test_the_die_is_shown_to_nobody_but_the_player_who_decides():
    batch = GameBatch(30, seed=1)
    for _ in range(20):
        batch.rollout(5)
        for observer in range(4):
            dice = batch.observations([observer] * 30)[:, OBSERVATION["die"]]
            deciding = batch.players == observer
            assert not dice[~deciding].any()
            assert (dice[deciding].argmax(axis=1) + 1 == batch.dice[deciding]).all()
            assert (dice[deciding].sum(axis=1) == 1).all()


def test_after_the_end_everybody_sees_the_board_without_a_die():
    position = Position.parse("44.43.42.41/9.0.0.0 0 -", TWO)
    game = Game(TWO, position=position)
    for observer in range(2):
        assert decode(game.observation(observer)) == expected(position, observer, TWO)


def test_the_encoded_options_are_those_that_change_later_play():
    views = {
        rules: Game(rules, position="12.1.0.0/44.3.0.0 1 5", seed=1).observation()
        for rules in ALL_RULES
        if rules.num_players == 2 and rules.num_pawns == 4
    }
    for rules, view in views.items():
        for other, seen in views.items():
            same = (rules.mandatory_capture, rules.home_jumps) == (
                other.mandatory_capture,
                other.home_jumps,
            )
            assert np.array_equal(view, seen) == same


# Rows and observers of a batch


def test_observers_and_rows_may_be_chosen():
    batch = GameBatch(6, TWO, seed=1)
    whole = [batch.observations([player] * 6) for player in range(2)]
    part = batch.observations([1, 0], rows=[4, 2])
    np.testing.assert_array_equal(part, [whole[1][4], whole[0][2]])
    mask = np.array([False, True, False, False, False, True])
    np.testing.assert_array_equal(batch.observations(rows=mask), batch.observations()[[1, 5]])


def test_an_observer_of_minus_one_sees_zeros():
    batch = GameBatch(3, TWO, seed=1)
    views = batch.observations([-1, 0, -1])
    assert [bool(view.any()) for view in views] == [False, True, False]


@pytest.mark.parametrize(
    "players", [[0, 1, 2], [0, 1, -2], [0, 1], [0.0, 1.0, 1.0], [True, False, True], 0, "001"]
)
def test_wrong_observers_are_refused(players):
    with pytest.raises(ValueError, match="players"):
        GameBatch(3, TWO, seed=1).observations(players)
