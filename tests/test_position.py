"""Position texts: what is written is read back, and nothing is read that cannot be."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludo_env import Game, GameBatch, Position, Rules

CORNERS = {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}
FOUR = Rules()
TWO = Rules(num_players=2)
START = "0.0.0.0/0.0.0.0 0 -"

all_rules = st.builds(
    Rules,
    num_players=st.integers(2, 4),
    num_pawns=st.integers(1, 4),
    mandatory_capture=st.booleans(),
    home_jumps=st.booleans(),
    pawn_on_start=st.booleans(),
)


def track_square(rules: Rules, player: int, progress: int) -> int:
    return (10 * CORNERS[rules.num_players][player] + progress - 1) % 40


def is_home(own: list[int]) -> bool:
    return all(progress > 40 for progress in own)


@st.composite
def pawns_of(draw: st.DrawFn, rules: Rules, player: int, taken: set[int]) -> list[int]:
    """One player's pawns off the taken track squares: anywhere, near home, or near square 0."""
    top = 40 + rules.num_pawns
    free = [p for p in range(1, top + 1) if p > 40 or track_square(rules, player, p) not in taken]
    near_home = [p for p in free if p >= 35 or p in (1, 7)]
    in_a_crowd = [p for p in free if p > 40 or (track_square(rules, player, p) + 4) % 40 < 12]
    squares = st.sampled_from(draw(st.sampled_from([free, near_home, in_a_crowd])))
    out = draw(st.integers(0, rules.num_pawns))
    on_board = draw(st.lists(squares, unique=True, min_size=out, max_size=out))
    return on_board + [0] * (rules.num_pawns - out)


@st.composite
def positions(draw: st.DrawFn, rules: Rules) -> Position:
    """Any possible position: a die, a die to come, or a finished game."""
    taken: set[int] = set()
    board: list[list[int]] = []
    for player in range(rules.num_players):
        own = draw(pawns_of(rules, player, taken))
        if is_home(own) and any(map(is_home, board)):
            own = [0] * rules.num_pawns
        taken |= {track_square(rules, player, p) for p in own if 1 <= p <= 40}
        board.append(own)
    pawns = tuple(map(tuple, board))
    winners = [player for player, own in enumerate(board) if is_home(own)]
    if winners:
        return Position(pawns, winners[0], None)
    player = draw(st.integers(0, rules.num_players - 1))
    return Position(pawns, player, draw(st.sampled_from([None, 1, 2, 3, 4, 5, 6])))


rules_and_positions = all_rules.flatmap(lambda r: st.tuples(st.just(r), positions(r)))


def is_possible(position: Position, rules: Rules) -> bool:
    """Whether the position can be, said in another way than the package does."""
    pawns, num_players = position.pawns, rules.num_players
    counts_are_right = len(pawns) == num_players and {len(own) for own in pawns} == {
        rules.num_pawns
    }
    if not counts_are_right or any(not 0 <= p <= 40 + rules.num_pawns for p in sum(pawns, ())):
        return False
    squares = Counter(
        (player if p > 40 else None, p if p > 40 else track_square(rules, player, p))
        for player, own in enumerate(pawns)
        for p in own
        if p > 0
    )
    winners = [player for player, own in enumerate(pawns) if is_home(list(own))]
    if winners:
        ends_well = winners == [position.player] and position.die is None
    else:
        ends_well = position.die is None or 1 <= position.die <= 6
    return (
        max(squares.values(), default=1) == 1 and ends_well and 0 <= position.player < num_players
    )


def onto_an_opponent(rules: Rules, pawns: list[list[int]], player: int) -> int:
    """The player's progress on the square of an opponent's pawn, or its own start square."""
    corner = CORNERS[rules.num_players][player]
    taken = [
        track_square(rules, other, p)
        for other, own in enumerate(pawns[: rules.num_players])
        for p in own
        if other != player and 1 <= p <= 40
    ]
    return (taken[0] - 10 * corner) % 40 + 1 if taken else 1


@st.composite
def spoiled_positions(draw: st.DrawFn) -> tuple[Rules, Position]:
    """A possible position with up to three things changed; most of these cannot be."""
    rules, position = draw(rules_and_positions)
    pawns, player, die = [list(own) for own in position.pawns], position.player, position.die
    home = list(range(41, 41 + rules.num_pawns))
    changes = ["pawn", "twin", "clash", "home", "homes", "more", "table", "player", "die"]
    for _ in range(draw(st.integers(0, 3))):
        index = draw(st.integers(0, rules.num_players - 1))
        own = pawns[index]
        match draw(st.sampled_from(changes)):
            case "pawn":
                own[draw(st.integers(0, len(own) - 1))] = draw(st.integers(0, 47))
            case "twin":
                own[-1] = own[0]
            case "clash":
                own[-1] = onto_an_opponent(rules, pawns, index)
            case "home":
                own[:] = home
            case "homes":
                pawns[0], pawns[1], player, die = home.copy(), home.copy(), 0, None
            case "more":
                own.append(draw(st.integers(0, 44)))
            case "table":
                pawns.append([0] * rules.num_pawns)
            case "player":
                player = draw(st.integers(0, 5))
            case "die":
                die = draw(st.sampled_from([None, 0, 3, 6, 7]))
    return rules, Position(tuple(map(tuple, pawns)), player, die)


# Round trip


@given(rules_and_positions)
@settings(deadline=None)
def test_a_position_is_read_back_from_its_text(given_: tuple[Rules, Position]) -> None:
    rules, position = given_
    assert Position.parse(str(position), rules) == position
    assert str(Position.parse(str(position), rules)) == str(position)


@given(rules_and_positions, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_pawns_are_read_in_any_order_and_held_most_advanced_first(
    given_: tuple[Rules, Position], shuffler: random.Random
) -> None:
    rules, position = given_
    board = "/".join(".".join(map(str, shuffler.sample(own, len(own)))) for own in position.pawns)
    read = Position.parse(f"{board} {str(position).split(maxsplit=1)[1]}", rules)
    assert read == position
    assert all(list(own) == sorted(own, reverse=True) for own in read.pawns)


def test_a_position_text_shows_pawns_player_and_die() -> None:
    position = Position.parse("0.0.12.1/3.44.0.0/0.0.0.0/0.0.0.0 0 6", FOUR)
    assert position == Position(((12, 1, 0, 0), (44, 3, 0, 0), (0,) * 4, (0,) * 4), 0, 6)
    assert str(position) == "12.1.0.0/44.3.0.0/0.0.0.0/0.0.0.0 0 6"


def test_a_die_still_to_be_rolled_is_written_as_a_dash() -> None:
    assert Position.parse(START, TWO).die is None
    assert str(Position(((0, 0), (5, 0)), 1)) == "0.0/5.0 1 -"


def test_a_finished_game_is_written_with_its_winner_and_a_dash() -> None:
    game = Game(TWO, seed=0, position="5.0.0.0/44.43.42.40 1 1")
    game.play(3)
    assert str(game.position) == "5.0.0.0/44.43.42.41 1 -"
    assert Position.parse(str(game.position), TWO).winner == 1


@pytest.mark.parametrize("text", [" 5.0.0.0/0.0.0.0 0 6", "5.0.0.0/0.0.0.0\t0  6\n"])
def test_space_around_the_fields_does_not_matter(text: str) -> None:
    assert str(Position.parse(text, TWO)) == "5.0.0.0/0.0.0.0 0 6"


def test_positions_are_values() -> None:
    one = Position(((0, 12), (5, 0)), 1, 3)
    other = Position(((12, 0), (0, 5)), 1, 3)
    assert one == other
    assert len({one, other, Position(((12, 0), (0, 5)), 1, 4)}) == 2


def test_numpys_integers_become_plain_ones() -> None:
    position = Position(np.array([[0, 12], [5, 0]]), np.int8(1), np.uint8(3))
    assert position == Position(((12, 0), (5, 0)), 1, 3)
    assert repr(position) == repr(Position(((12, 0), (5, 0)), 1, 3))


@given(rules_and_positions)
@settings(max_examples=50, deadline=None)
def test_games_and_batches_take_a_position_or_its_text(given_: tuple[Rules, Position]) -> None:
    rules, position = given_
    told = [
        Game(rules, seed=3, position=position).position,
        Game(rules, seed=3, position=str(position)).position,
        GameBatch.from_positions([position], rules, seed=3).position(0),
        GameBatch.from_positions([str(position)], rules, seed=3).position(0),
    ]
    assert len(set(told)) == 1


# What cannot be


@given(spoiled_positions())
@settings(max_examples=400, deadline=None)
def test_a_position_is_accepted_just_when_it_can_be(given_: tuple[Rules, Position]) -> None:
    rules, position = given_
    if is_possible(position, rules):
        assert position.problems(rules) == []
        assert Position.parse(str(position), rules) == position
        return
    for refuse in (
        lambda: position.check(rules),
        lambda: Position.parse(str(position), rules),
        lambda: Game(rules, seed=0, position=position),
        lambda: Game(rules, seed=0, position=str(position)),
        lambda: GameBatch.from_positions([position], rules, seed=0),
    ):
        with pytest.raises(ValueError, match="position"):
            refuse()


@given(spoiled_positions())
@settings(deadline=None)
def test_the_message_names_every_problem(given_: tuple[Rules, Position]) -> None:
    rules, position = given_
    problems = position.problems(rules)
    if problems:
        with pytest.raises(ValueError, match="impossible position") as refusal:
            position.check(rules)
        assert str(position) in str(refusal.value)
        assert all(problem in str(refusal.value) for problem in problems)


IMPOSSIBLE = {
    "too few players": ("0.0.0.0 0 6", TWO, ["2 players", "got 1"]),
    "too many players": ("0.0.0.0/0.0.0.0/0.0.0.0 0 6", TWO, ["2 players", "got 3"]),
    "too few pawns": ("0.0.0.0/5.0.0 0 6", TWO, ["player 1", "4 pawns", "got 3"]),
    "too many pawns": ("0.0.0.0.0/5.0.0.0 0 6", TWO, ["player 0", "4 pawns", "got 5"]),
    "past the column": ("45.0.0.0/5.0.0.0 0 6", TWO, ["player 0", "0 to 44", "got 45"]),
    "past a smaller game's column": (
        "44.0.0/5.0.0 0 6",
        Rules(num_players=2, num_pawns=3),
        ["player 0", "0 to 43", "got 44"],
    ),
    "two own pawns on the track": ("7.7.0.0/5.0.0.0 0 6", TWO, ["player 0", "2 pawns", "7"]),
    "two own pawns on the start square": ("0.0.0.0/1.1.0.0 0 6", TWO, ["player 1", "2 pawns"]),
    "three own pawns in the column": ("43.43.43.0/5.0.0.0 0 6", TWO, ["player 0", "3 pawns"]),
    "two players on a square": ("21.0.0.0/1.0.0.0 0 6", TWO, ["0 and 1", "square 20"]),
    "two players on square 39": ("40.0.0.0/20.0.0.0 0 6", TWO, ["0 and 1", "square 39"]),
    "three players on a square": (
        "21.0.0.0/11.0.0.0/1.0.0.0 0 6",
        Rules(num_players=3),
        ["0 and 1 and 2", "square 20"],
    ),
    "no such player": ("0.0.0.0/5.0.0.0 2 6", TWO, ["player must be 0 to 1", "got 2"]),
    "no such player among three": (
        "0.0.0.0/5.0.0.0/0.0.0.0 3 6",
        Rules(num_players=3),
        ["player must be 0 to 2", "got 3"],
    ),
    "a die of 0": ("0.0.0.0/5.0.0.0 0 0", TWO, ["die", "1 to 6", "got 0"]),
    "a die of 7": ("0.0.0.0/5.0.0.0 0 7", TWO, ["die", "1 to 6", "got 7"]),
    "two winners": ("44.43.42.41/44.43.42.41 0 -", TWO, ["0 and 1", "won"]),
    "a finished game with a die": ("44.43.42.41/5.0.0.0 0 6", TWO, ["finished", "die", "6"]),
    "a finished game with a loser to move": (
        "44.43.42.41/5.0.0.0 1 -",
        TWO,
        ["finished", "winner", "got 1"],
    ),
}


@pytest.mark.parametrize(("text", "rules", "told"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_impossible_position_is_refused_and_says_why(
    text: str, rules: Rules, told: list[str]
) -> None:
    with pytest.raises(ValueError, match="impossible position") as refusal:
        Position.parse(text, rules)
    assert text in str(refusal.value)
    assert all(words in str(refusal.value) for words in told)
    assert len(Position(*_fields(text)).problems(rules)) == 1


def _fields(text: str) -> tuple[Any, int, int | None]:
    board, player, die = text.split()
    pawns = tuple(tuple(map(int, own.split("."))) for own in board.split("/"))
    return pawns, int(player), None if die == "-" else int(die)


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ValueError, match="impossible position") as refusal:
        Position.parse("7.7.45.0.0/10.26.5/44.43.42.41/44.43.42.41 5 9", TWO)
    for words in (
        "2 players",
        "player 0 must have 4 pawns, got 5",
        "player 1 must have 4 pawns, got 3",
        "got 45",
        "2 pawns on progress 7",
        "2 and 3",
        "player must be 0 to 1",
        "got 9",
    ):
        assert words in str(refusal.value)


def test_every_shared_square_is_named() -> None:
    with pytest.raises(ValueError, match="impossible") as refusal:
        Position.parse("30.21.0.0/20.11.5.0/10.1.0.0/3.3.0.0 0 6", FOUR)
    assert "square 29" in str(refusal.value)
    assert "square 20" in str(refusal.value)
    assert "player 3 has 2 pawns" in str(refusal.value)


def test_a_finished_game_with_both_the_wrong_player_and_a_die_hears_of_both() -> None:
    with pytest.raises(ValueError, match="impossible") as refusal:
        Position.parse("44.43.42.41/5.0.0.0 1 3", TWO)
    assert "winner" in str(refusal.value)
    assert "no die" in str(refusal.value)


# Junk and wrong types


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "junk",
        "0.0.0.0/0.0.0.0",
        "0.0.0.0/0.0.0.0 0",
        "0.0.0.0/0.0.0.0 0 6 6",
        "0.0.0.0/0.0.0.0 - 6",
        "0.0.0.0/0.0.0.0 0 --",
        "0.0.0.0/0.0.0.0 0 x",
        "0.0.0.0/0.0.0.0 x 6",
        "0.0.0.0/0.0.0.0 -1 6",
        "0.0.0.0/0.0.0.0 0 -6",
        "0.0.0.0/0.0.0.0 0 +6",
        "0.0.0.0/0.0.0.0 0 6.0",
        "0.0.0.-1/0.0.0.0 0 6",
        "0.0.0./0.0.0.0 0 6",
        "0.0.0.0/ 0 6",
        "0.0.0.0//0.0.0.0 0 6",
        "0.0.0.0/0.0.0.0/ 0 6",
        "0,0,0,0/0,0,0,0 0 6",
        "0.0.0.0 / 0.0.0.0 0 6",
        "0.0.0.0|0.0.0.0 0 6",
        "0.0.0.0/0.0.0.a 0 6",
        "0.0.0.0x1/0.0.0.0 0 6",
        "0.0.0.1_0/0.0.0.0 0 6",
        "0.0.0.1e1/0.0.0.0 0 6",
        "0.0.0.0/0.0.0.0 0 ６",
        "0.0.0.٣/0.0.0.0 0 6",
        "0.0.0.²/0.0.0.0 0 6",
        "0.0.0.9999999999999999999999/0.0.0.0 0 6",
    ],
)
def test_junk_is_refused_with_the_text_and_its_form(text: str) -> None:
    with pytest.raises(ValueError, match="position text must be") as refusal:
        Position.parse(text, TWO)
    assert repr(text) in str(refusal.value)
    with pytest.raises(ValueError, match="position text must be"):
        Game(TWO, position=text)


@given(st.text(alphabet="0123456./- x", max_size=24))
@settings(deadline=None)
def test_random_text_is_read_as_written_or_refused(text: str) -> None:
    try:
        position = Position.parse(text, TWO)
    except ValueError:
        return
    assert is_possible(position, TWO)
    assert _fields(str(position)) == _sorted_fields(text)


def _sorted_fields(text: str) -> tuple[Any, int, int | None]:
    pawns, player, die = _fields(text)
    return tuple(tuple(sorted(own, reverse=True)) for own in pawns), player, die


@pytest.mark.parametrize("text", [None, 5, 3.5, START.encode(), [START], Position(((0,),), 0)])
def test_parse_refuses_what_is_no_text(text: Any) -> None:
    with pytest.raises(ValueError, match="text"):
        Position.parse(text, TWO)


@pytest.mark.parametrize("rules", [None, 2, "rules", Rules])
def test_parse_refuses_what_are_no_rules(rules: Any) -> None:
    with pytest.raises(ValueError, match="rules"):
        Position.parse(START, rules)


@pytest.mark.parametrize(
    ("pawns", "player", "die", "named"),
    [
        (5, 0, None, "pawns"),
        ("0.0.0.0/0.0.0.0", 0, None, "pawns"),
        ((5, 6), 0, None, "pawns"),
        ({0: 1}, 0, None, "pawns"),
        (((0.0, 0), (0, 0)), 0, None, "progress"),
        (((True, 0), (0, 0)), 0, None, "progress"),
        ((("1", 0), (0, 0)), 0, None, "progress"),
        (((None, 0), (0, 0)), 0, None, "progress"),
        (((0, 0), (0, 0)), None, None, "player"),
        (((0, 0), (0, 0)), "0", None, "player"),
        (((0, 0), (0, 0)), False, None, "player"),
        (((0, 0), (0, 0)), 0.0, None, "player"),
        (((0, 0), (0, 0)), 0, "6", "die"),
        (((0, 0), (0, 0)), 0, 6.0, "die"),
        (((0, 0), (0, 0)), 0, True, "die"),
    ],
)
def test_a_position_refuses_values_of_the_wrong_type_by_name(
    pawns: Any, player: Any, die: Any, named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        Position(pawns, player, die)


@pytest.mark.parametrize("pawns", [((-1, 0), (0, 0)), ((0, 0), (-40, 5))])
def test_progress_below_the_yard_is_impossible(pawns: tuple[tuple[int, ...], ...]) -> None:
    rules = Rules(num_players=2, num_pawns=2)
    with pytest.raises(ValueError, match="0 to 42"):
        Game(rules, position=Position(pawns, 0))


@pytest.mark.parametrize("position", [5, 3.5, START.encode(), [START], ((0, 0), 0, None)])
def test_games_and_batches_refuse_what_is_no_position(position: Any) -> None:
    with pytest.raises(ValueError, match="position"):
        Game(TWO, position=position)
    with pytest.raises(ValueError, match="position"):
        GameBatch.from_positions([START, position], TWO)
