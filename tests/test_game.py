"""One game: its events, scripted dice, copies, refused actions and its end."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from ludo_env import OBSERVATION, Game, GameBatch, IllegalMoveError, Position, Rules
from ludo_env.core.game import Captured, Event, Move, Moved, Passed, Roll

TWO = Rules(num_players=2)
THREE = Rules(num_players=3)
SHORT = Rules(num_players=2, num_pawns=1)
ALL_RULES = [
    Rules(players, pawns, mandatory, jumps, on_start)
    for players in (2, 3, 4)
    for pawns in (1, 2, 4)
    for mandatory in (True, False)
    for jumps in (True, False)
    for on_start in (True, False)
]

# Under the rules TWO, with a 3: actions 0 and 1 are legal.
TWO_MOVES = "20.10.0.0/5.0.0.0 0 3"
WON = "44.43.42.41/9.0.0.0 0 -"


def label(value: Any) -> str:
    """The name of a case."""
    return " ".join(repr(value).split())


def play_on(game: Game, actions: int, seed: int = 0) -> Iterator[tuple[Event, ...]]:
    """Play that many random legal actions, or fewer up to the end, telling each one's events."""
    rng = np.random.default_rng(seed)
    for _ in range(actions):
        if game.winner is not None:
            return
        yield game.play(rng.choice(np.flatnonzero(game.action_mask())))


def future(game: Game, actions: int = 40) -> list[tuple[Event, ...]]:
    """What happens from here on, in a game that is left as it is."""
    return list(play_on(game.copy(), actions))


def rolled(game: Game, actions: int = 300, seed: int = 0) -> list[int]:
    """All dice of the game from its beginning on, played at random."""
    told = [game.opening_events, *play_on(game, actions, seed)]
    return [event.die for events in told for event in events if isinstance(event, Roll)]


def dice_of(events: tuple[Event, ...]) -> list[tuple[int, int]]:
    return [tuple(event) for event in events if isinstance(event, Roll)]


def refused(call: Any, *names: str, error: type[ValueError] = ValueError) -> None:
    """The call raises one error of one line that names all these."""
    with pytest.raises(error) as caught:
        call()
    assert "\n" not in str(caught.value)
    for name in names:
        assert name in str(caught.value)


# Beginning


def test_a_game_stands_at_its_first_decision():
    game = Game(TWO, seed=1, dice=[1, 2, 3, 4, 6])
    assert game.rules == TWO
    assert str(game.position) == "0.0.0.0/0.0.0.0 1 6"
    assert (game.player, game.die, game.winner, game.places()) == (1, 6, None, None)
    assert game.legal_moves() == (Move(0, 0, 1, None),)


def test_without_rules_it_is_the_usual_game_of_four():
    assert Game(seed=1).rules == Rules()
    assert len(Game(seed=1).position.pawns) == 4


def test_a_seed_is_a_game_and_no_seed_is_another_each_time():
    assert rolled(Game(seed=5)) == rolled(Game(seed=5))
    assert rolled(Game(seed=np.int64(5))) == rolled(Game(seed=5))
    assert rolled(Game(seed=6)) != rolled(Game(seed=5))
    assert rolled(Game()) != rolled(Game())


@pytest.mark.parametrize("seed", [-1, 2**63, 10**30, 1.0, True, np.True_, "1", [1]], ids=label)
def test_wrong_seeds_are_refused(seed):
    refused(lambda: Game(seed=seed), "seed")


@pytest.mark.parametrize("rules", [None, 2, "Rules()"])
def test_anything_but_rules_is_refused(rules):
    refused(lambda: Game(rules), "rules")


@pytest.mark.parametrize("episode", [-1, 1.5, True, "1", None, 2**70], ids=label)
def test_wrong_episodes_are_refused(episode):
    refused(lambda: Game(seed=1, episode=episode), "episode")


@pytest.mark.parametrize("rules", [SHORT, THREE, Rules()], ids=label)
def test_the_games_of_a_seed_are_those_that_a_batch_plays_one_after_another(rules):
    batch = GameBatch(1, rules, seed=4)
    for episode in range(5):
        game, row = Game(rules, seed=4, episode=episode), batch.copy()
        for _ in range(30):
            assert game.position == row.position(0)
            if game.winner is not None:
                break
            action = game.action_mask().argmax()
            game.play(action)
            row.step([action])
        batch.reset()


# Given positions


@pytest.mark.parametrize("text", [TWO_MOVES, "44.12.1.0/30.2.0.0 1 5", WON])
def test_a_position_may_be_given_as_text_or_as_a_value(text):
    for given in (text, Position.parse(text, TWO)):
        game = Game(TWO, seed=1, position=given)
        assert str(game.position) == text
        assert game.opening_events == ()


def test_pawns_may_be_given_in_any_order():
    given = "0.20.0.10/0.0.5.0 0 3"
    assert str(Game(TWO, seed=1, position=given).position) == TWO_MOVES


def test_a_position_without_a_die_begins_with_a_roll():
    game = Game(TWO, seed=1, position="20.10.0.0/5.0.0.0 1 -", dice=[4])
    assert str(game.position) == "20.10.0.0/5.0.0.0 1 4"
    assert game.opening_events == (Roll(1, 4),)


def test_a_given_die_without_a_move_is_the_first_of_three_tries():
    game = Game(TWO, position="0.0.0.0/5.0.0.0 0 3", dice=[2, 6])
    assert game.opening_events == (Roll(0, 2), Roll(0, 6))
    game = Game(TWO, position="0.0.0.0/5.0.0.0 0 3", dice=[2, 1, 4])
    assert game.opening_events == (Roll(0, 2), Roll(0, 1), Passed(0), Roll(1, 4))


def test_a_given_die_without_a_move_passes_the_turn():
    game = Game(TWO, position="44.43.41.0/5.0.0.0 0 3", dice=[4])
    assert str(game.position) == "44.43.41.0/5.0.0.0 1 4"
    assert game.opening_events == (Passed(0), Roll(1, 4))


@pytest.mark.parametrize(
    "position",
    [5, b"0", ["0"], "", "0/0 0", "0/0 2 -", "42/0 0 1", "5/25 0 1", "41/0 0 3", "41/0 1 -"],
    ids=label,
)
def test_an_impossible_position_is_refused(position):
    refused(lambda: Game(SHORT, position=position), "position")


def test_a_refused_position_names_all_that_is_wrong():
    refused(
        lambda: Game(SHORT, position="45/0.0 2 7"),
        "progress must be 0 to 41, got 45",
        "player 1 must have 1 pawns, got 2",
        "player must be 0 to 1, got 2",
        "die must be 1 to 6 or '-', got 7",
    )


# Legal moves and masks


def test_moves_tell_source_target_and_who_is_captured():
    game = Game(TWO, position="20.10.0.0/36.0.0.0 0 6", seed=1)
    assert game.legal_moves() == (Move(2, 0, 1, None),)
    game = Game(TWO, position="20.10.1.0/36.3.0.0 0 3", seed=1)
    assert game.legal_moves() == (Move(2, 1, 4, None),)
    game = Game(TWO, position="20.10.2.0/33.3.0.0 0 3", seed=1)
    assert game.legal_moves() == (Move(0, 20, 23, 1), Move(1, 10, 13, 1))


def test_pawns_in_the_yard_are_one_move():
    game = Game(TWO, position="5.0.0.0/0.0.0.0 0 6", seed=1)
    assert game.action_mask().tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("rules", ALL_RULES[::5], ids=label)
def test_mask_moves_and_afterstates_name_the_same_actions(rules):
    game = Game(rules, seed=2)
    for _ in play_on(game, 80):
        mask = game.action_mask()
        assert (mask.shape, mask.dtype) == ((4,), np.int8)
        actions = [move.action for move in game.legal_moves()]
        assert actions == np.flatnonzero(mask).tolist()
        assert list(game.afterstates()) == actions
        if game.winner is None:
            pawns = game.position.pawns[game.player]
            assert actions
            assert [pawns[move.action] for move in game.legal_moves()] == [
                move.source for move in game.legal_moves()
            ]


def test_a_mask_is_a_new_array_each_time():
    game = Game(TWO, position=TWO_MOVES, seed=1)
    mask = game.action_mask()
    mask.fill(1)
    assert game.action_mask().tolist() == [1, 1, 0, 0]


# Events


def test_a_move_is_told_and_then_the_rolls_up_to_the_next_decision():
    game = Game(TWO, position=TWO_MOVES, dice=[4])
    assert game.play(1) == (Moved(0, Move(1, 10, 13, None)), Roll(1, 4))


def test_a_capture_is_told_after_its_move():
    game = Game(TWO, position="20.10.0.0/33.0.0.0 0 3", dice=[1, 2, 6])
    assert game.play(1) == (
        Moved(0, Move(1, 10, 13, 1)),
        Captured(1, by=0),
        Roll(1, 1),
        Roll(1, 2),
        Roll(1, 6),
    )
    assert str(game.position) == "20.13.0.0/0.0.0.0 1 6"


def test_a_pawn_that_leaves_the_yard_captures_on_the_start_square():
    game = Game(TWO, position="0.0.0.0/21.0.0.0 0 6", dice=[5])
    assert game.play(0) == (Moved(0, Move(0, 0, 1, 1)), Captured(1, by=0), Roll(0, 5))


def test_a_six_rolls_again():
    game = Game(TWO, position="20.0.0.0/5.0.0.0 0 6", dice=[4])
    assert game.play(1) == (Moved(0, Move(1, 0, 1, None)), Roll(0, 4))
    assert game.player == 0


@pytest.mark.parametrize("die", [2, 5, 6])
def test_the_turn_passes_where_the_roll_after_a_six_has_no_move(die):
    game = Game(TWO, position="44.43.42.34/5.0.0.0 0 6", dice=[die, 4])
    moved = Moved(0, Move(3, 34, 40, None))
    assert game.play(3) == (moved, Roll(0, die), Passed(0), Roll(1, 4))


def test_three_tries_are_told_one_by_one_with_the_passes_between():
    game = Game(THREE, dice=[1, 2, 3, 4, 5, 5, 4, 3, 6])
    assert game.opening_events == (
        *(Roll(0, 1), Roll(0, 2), Roll(0, 3), Passed(0)),
        *(Roll(1, 4), Roll(1, 5), Roll(1, 5), Passed(1)),
        *(Roll(2, 4), Roll(2, 3), Roll(2, 6)),
    )


@pytest.mark.parametrize("rules", ALL_RULES, ids=label)
def test_events_tell_the_whole_way_from_one_decision_to_the_next(rules):
    game = Game(rules, seed=8)
    check_rolls(game.opening_events, 0, game, rules)
    for _ in range(60):
        if game.winner is not None:
            break
        moves, mover, die = game.legal_moves(), game.player, game.die
        events = next(play_on(game, 1, seed=die))
        moved, *rest = events
        assert moved.player == mover
        assert moved.move in moves
        if moved.move.captured is not None:
            assert rest.pop(0) == Captured(moved.move.captured, by=mover)
        assert moved.move.target in game.position.pawns[mover]
        if game.winner is not None:
            assert not rest
            break
        check_rolls(rest, mover if die == 6 else (mover + 1) % rules.num_players, game, rules)


def check_rolls(events: Any, roller: int, game: Game, rules: Rules) -> None:
    """Rolls begin with the roller, a pass stands between turns, and the last die is the game's."""
    tries = 0
    for event in events:
        assert event.player == roller
        if isinstance(event, Passed):
            assert tries in (1, 3)
            roller, tries = (roller + 1) % rules.num_players, 0
        else:
            tries += 1
    assert events[-1] == Roll(game.player, game.die)


@pytest.mark.parametrize("rolls", [1, 15, 16, 17, 18, 33, 100, 500])
def test_any_number_of_rolls_before_the_first_decision_is_told(rolls):
    script = [1 + n % 5 for n in range(rolls - 1)] + [6]
    game = Game(TWO, dice=script)
    assert [die for _, die in dice_of(game.opening_events)] == script
    assert [player for player, _ in dice_of(game.opening_events)] == [
        n // 3 % 2 for n in range(rolls)
    ]
    assert len(game.opening_events) == rolls + (rolls - 1) // 3


@pytest.mark.parametrize("rolls", [1, 15, 16, 17, 18, 33, 100, 500])
def test_any_number_of_rolls_between_two_decisions_is_told(rolls):
    script = [1 + n % 5 for n in range(rolls - 1)] + [6, 6]
    game = Game(TWO, position="40.0.0.0/0.0.0.0 0 4", dice=script)
    follower = game.copy()
    events = game.play(0)
    assert events[0] == Moved(0, Move(0, 40, 44, None))
    assert [die for _, die in dice_of(events)] == script[:-1]
    assert [player for player, _ in dice_of(events)] == [(1 + n // 3) % 2 for n in range(rolls)]
    assert len(events) == 1 + rolls + (rolls - 1) // 3
    assert game.play(game.action_mask().argmax())[-1].die == 6
    follower.play(0)
    assert follower.position.die == 6


def test_long_streaks_of_seeded_rolls_are_told_without_a_gap():
    openings = [dice_of(Game(TWO, seed=seed).opening_events) for seed in range(300)]
    longest = max(range(300), key=lambda seed: len(openings[seed]))
    dice = [die for _, die in openings[longest]]
    assert len(dice) > 16
    assert 6 not in dice[:-1]
    # On another way through the same dice they are told in small pieces.
    pieces = rolled(Game(TWO, seed=longest, dice=[6]))
    assert pieces[1 : len(dice)] == dice[1:]


# Scripted dice


def test_each_single_roll_takes_the_next_of_the_script():
    script = [1, 2, 3, 6, 5, 6, 4, 1, 6, 3]
    game = Game(TWO, dice=script)
    assert rolled(game, actions=20)[: len(script)] == script


def test_a_die_given_with_the_position_takes_none_of_the_script():
    game = Game(TWO, position=TWO_MOVES, dice=[5, 2])
    assert game.die == 3
    assert game.play(0)[-1] == Roll(1, 5)
    assert game.play(0)[-1] == Roll(0, 2)


@pytest.mark.parametrize("length", [0, 1, 2, 7, 30])
def test_after_the_script_the_seeded_rolls_go_on_at_their_own_number(length):
    seeded = rolled(Game(seed=5), actions=300)
    script = [1 + n % 6 for n in range(length)]
    dice = rolled(Game(seed=5, dice=script), actions=300)
    common = min(len(seeded), len(dice))
    assert common > 100
    assert dice[:length] == script
    assert dice[length:common] == seeded[length:common]


def test_the_seeded_rolls_are_the_same_however_the_game_is_played():
    ways = [rolled(Game(seed=5), seed=way) for way in range(4)]
    common = min(map(len, ways))
    assert all(way[:common] == ways[0][:common] for way in ways)


@pytest.mark.parametrize(
    "dice", [[6, 3], (6, 3), np.array([6, 3]), np.array([6, 3], np.uint8)], ids=label
)
def test_a_script_may_be_any_sequence_of_integers(dice):
    game = Game(TWO, seed=1, dice=dice)
    assert game.die == 6
    assert game.play(0)[-1] == Roll(0, 3)


def test_a_script_stays_the_callers():
    script = [6, 6, 6]
    game = Game(TWO, seed=1, dice=script)
    script[1] = 1
    assert game.play(0)[-1] == Roll(0, 6)


@pytest.mark.parametrize(
    "dice",
    [[0], [7], [6, -1], [6.0], ["6"], "66", [True], [None], [[6]], 6.5, np.array(6)],
    ids=label,
)
def test_anything_but_dice_is_refused(dice):
    refused(lambda: Game(TWO, dice=dice), "dice")


# Actions

ZEROS = [
    0,
    *(kind(0) for kind in (np.int8, np.uint8, np.int32, np.uint64, np.int64)),
    np.array(0),
    np.array([0]),
    np.array([0], dtype=np.uint8),
]


@pytest.mark.parametrize("action", ZEROS, ids=label)
def test_an_action_is_an_integer_or_an_array_of_one(action):
    game = Game(TWO, position=TWO_MOVES, seed=1)
    moved = game.play(action)[0]
    assert moved == Moved(0, Move(0, 20, 23, None))
    assert type(moved.move.action) is int


class Foreign:
    """An array of another library."""

    dtype = "foreign"
    shape = ()

    def __repr__(self) -> str:
        return "Foreign()"


NO_ACTIONS = [
    None,
    0.0,
    False,
    True,
    "0",
    b"0",
    (),
    {},
    np.float32(0),
    np.True_,
    np.array(0.0),
    np.array([True]),
    np.array([0, 1]),
    np.array([], dtype=np.int64),
    np.array(["0"]),
    Foreign(),
]
NO_PAWNS = [4, 5, -1, -4, 127, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30]


def check_refused(action: Any, error: type[ValueError], *names: str) -> None:
    game = Game(TWO, position=TWO_MOVES, seed=1)
    told, before = future(game), pickle.dumps(game)
    refused(lambda: game.play(action), "action", *names, error=error)
    assert pickle.dumps(game) == before
    assert str(game.position) == TWO_MOVES
    assert future(game) == told  # the coming dice too


@pytest.mark.parametrize("action", NO_ACTIONS, ids=label)
def test_anything_but_an_integer_is_refused_and_changes_nothing(action):
    check_refused(action, ValueError)


@pytest.mark.parametrize("action", NO_PAWNS, ids=label)
def test_an_action_out_of_range_is_refused_and_changes_nothing(action):
    check_refused(action, ValueError, str(action))


@pytest.mark.parametrize("action", [2, 3, 4, -1])
def test_an_illegal_action_names_position_die_and_legal_moves_and_changes_nothing(action):
    check_refused(action, IllegalMoveError, TWO_MOVES, "with a 3", "legal: 0, 1", f"{action}")


def test_an_illegal_action_does_not_roll_where_a_legal_one_would():
    game = Game(seed=3)
    for _ in play_on(game.copy(), 30):
        before = pickle.dumps(game)
        for action in np.flatnonzero(game.action_mask() == 0):
            with pytest.raises(IllegalMoveError):
                game.play(action)
        assert pickle.dumps(game) == before
        next(play_on(game, 1))


# Afterstates


def test_afterstates_name_the_next_to_roll_and_show_no_die():
    game = Game(TWO, position="20.10.2.0/33.3.0.0 0 3", seed=1)
    assert {action: str(after) for action, after in game.afterstates().items()} == {
        0: "23.10.2.0/33.0.0.0 1 -",
        1: "20.13.2.0/3.0.0.0 1 -",
    }


def test_after_a_six_the_mover_rolls_next():
    game = Game(TWO, position="20.0.0.0/3.0.0.0 0 6", seed=1)
    assert {action: str(after) for action, after in game.afterstates().items()} == {
        1: "20.1.0.0/3.0.0.0 0 -"
    }


def test_the_afterstate_of_a_won_game_names_the_winner():
    game = Game(TWO, position="9.0.0.0/44.43.42.40 1 1", seed=1)
    after = game.afterstates()[3]
    assert str(after) == "9.0.0.0/44.43.42.41 1 -"
    assert after.winner == 1


@pytest.mark.parametrize("rules", ALL_RULES[::3], ids=label)
def test_afterstates_agree_with_playing_and_change_nothing(rules):
    game = Game(rules, seed=3)
    for _ in play_on(game, 40):
        before = pickle.dumps(game)
        afterstates = game.afterstates()
        assert pickle.dumps(game) == before
        for action, after in afterstates.items():
            assert type(action) is int
            played = game.copy()
            events = played.play(action)
            assert after.die is None
            assert after.pawns == played.position.pawns
            assert after.winner == played.winner
            if played.winner is None:
                assert after.player == dice_of(events)[0][0]
            after.check(rules)


# The end


def test_a_won_game_ends_at_once_even_with_a_six():
    game = Game(TWO, position="44.43.42.35/9.0.0.0 0 6", seed=1)
    assert game.play(3) == (Moved(0, Move(3, 35, 41, None)),)
    assert str(game.position) == "44.43.42.41/9.0.0.0 0 -"


@pytest.mark.parametrize("played", [False, True], ids=["given", "played"])
def test_at_the_end_nobody_decides_and_there_is_nothing_to_play(played):
    game = Game(TWO, position="44.43.42.40/9.0.0.0 0 1" if played else WON)
    if played:
        game.play(3)
    before = pickle.dumps(game)
    assert (game.player, game.die, game.winner) == (None, None, 0)
    assert str(game.position) == WON
    assert game.action_mask().tolist() == [0, 0, 0, 0]
    assert game.action_mask().dtype == np.int8
    assert game.legal_moves() == ()
    assert game.afterstates() == {}
    assert game.places() == (1, 2)
    for action in range(-1, 5):
        refused(partial(game.play, action), "action", "over", WON, error=IllegalMoveError)
    refused(lambda: game.play(None), "action")
    assert pickle.dumps(game) == before


@pytest.mark.parametrize(
    ("others", "places"),
    [
        ("5.0.0.0/4.0.0.0/3.0.0.0", (1, 2, 3, 4)),
        ("3.0.0.0/4.0.0.0/5.0.0.0", (1, 4, 3, 2)),
        ("5.0.0.0/5.0.0.0/3.0.0.0", (1, 2, 2, 4)),
        ("3.0.0.0/5.0.0.0/5.0.0.0", (1, 4, 2, 2)),
        ("5.0.0.0/3.0.0.0/3.0.0.0", (1, 2, 3, 3)),
        ("0.0.0.0/0.0.0.0/0.0.0.0", (1, 2, 2, 2)),
        ("30.29.0.0/41.0.0.0/0.0.0.0", (1, 3, 2, 4)),
        ("42.41.0.0/44.40.0.0/0.0.0.0", (1, 2, 3, 4)),
        ("42.3.0.0/41.4.0.0/0.0.0.0", (1, 2, 2, 4)),
    ],
)
def test_places_go_by_pawns_in_the_column_then_by_distance_and_equals_share(others, places):
    game = Game(position=f"44.43.42.41/{others} 0 -")
    assert game.places() == places
    assert all(type(place) is int for place in game.places())


def test_the_winner_is_first_from_any_seat():
    assert Game(TWO, position="44.43.42.38/44.43.42.41 1 -").places() == (2, 1)
    assert Game(THREE, position="0.0.0.0/9.0.0.0/44.43.42.41 2 -").places() == (3, 2, 1)


def test_there_are_no_places_before_the_end():
    game = Game(SHORT, seed=1)
    for _ in play_on(game, 1000):
        assert (game.places() is None) == (game.winner is None)
    assert sorted(game.places()) == [1, 2]


# Copies

DUPLICATES = {
    "copy": Game.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy within": lambda game: copy.deepcopy([game])[0],
    "pickle": lambda game: pickle.loads(pickle.dumps(game)),
    "oldest pickle": lambda game: pickle.loads(pickle.dumps(game, protocol=0)),
}
duplicates = pytest.mark.parametrize("duplicate", DUPLICATES.values(), ids=DUPLICATES.keys())


def game_in_the_middle(kind: str) -> Game:
    beginnings = {
        "seeded": {},
        "scripted": {"dice": [6, 5, 1, 2, 6] * 9},
        "given": {"position": TWO_MOVES},
        "over": {"position": WON},
    }
    game = Game(TWO, seed=4, **beginnings[kind])
    for _ in play_on(game, 8):
        pass
    return game


@duplicates
@pytest.mark.parametrize("kind", ["seeded", "scripted", "given", "over"])
def test_a_duplicate_is_independent_and_has_the_same_future(duplicate, kind):
    game = game_in_the_middle(kind)
    other, third = duplicate(game), duplicate(game)
    before = pickle.dumps(game)
    assert other.rules == game.rules
    assert other.opening_events == game.opening_events
    assert list(play_on(other, 50)) == future(game, 50)
    assert list(play_on(duplicate(third), 50)) == list(play_on(third, 50))
    assert pickle.dumps(game) == before


def test_a_duplicate_made_of_a_duplicate_still_plays_its_own_game():
    game = Game(seed=4)
    other = pickle.loads(pickle.dumps(copy.deepcopy(game.copy())))
    other.play(other.action_mask().argmax())
    assert other.position != game.position
    assert other.observation().tolist() != game.observation().tolist()


def test_a_copy_with_a_seed_stands_here_and_has_other_dice():
    game = Game(seed=4)
    for _ in play_on(game, 20):
        pass
    before = pickle.dumps(game)
    other = game.copy(seed=99)
    assert other.position == game.position
    assert future(other) != future(game)
    assert future(other) == future(game.copy(seed=99))
    assert future(other) != future(game.copy(seed=98))
    assert pickle.dumps(game) == before


def test_a_copy_with_a_seed_does_not_follow_the_script():
    game = Game(TWO, position=TWO_MOVES, dice=[1] * 500, seed=4)
    dice = [die for events in future(game.copy(seed=5)) for _, die in dice_of(events)]
    assert set(dice) == {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, True, "1"], ids=label)
def test_a_copy_with_a_wrong_seed_is_refused(seed):
    refused(lambda: Game(seed=1).copy(seed=seed), "seed")


# Observations


@pytest.mark.parametrize("player", [-1, 4, 1.0, True, "0", [0], 2**70, np.array([0, 1])], ids=label)
def test_there_is_no_observation_for_somebody_who_does_not_play(player):
    refused(lambda: Game(seed=1).observation(player), "player")


def test_at_the_end_an_observer_has_to_be_named():
    game = Game(TWO, position=WON)
    refused(game.observation, "player")
    assert game.observation(1).any()
    assert not game.observation(1)[OBSERVATION["die"]].any()


def test_an_observation_is_a_new_array_and_for_whom_decides_unless_named():
    game = Game(TWO, position=TWO_MOVES, seed=1)
    view = game.observation()
    assert view.tolist() == game.observation(0).tolist() == game.observation(np.int64(0)).tolist()
    assert view.tolist() != game.observation(1).tolist()
    view.fill(1)
    assert game.observation().tolist() != view.tolist()


def test_the_text_of_a_game_tells_its_position():
    assert TWO_MOVES in repr(Game(TWO, position=TWO_MOVES))
