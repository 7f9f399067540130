"""Each numbered rule by example: a position text, the dice that follow, and what may be played."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from ludo_env import Game, GameBatch, IllegalMoveError, Rules
from ludo_env.core.game import Captured, Event, Moved, Passed, Roll

CORNERS = {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}
DICE = (1, 2, 3, 4, 5, 6)
TABLES = (2, 3, 4)


def rules_for(text: str, **options: bool) -> Rules:
    """The rules of a position text: as many players and pawns as it shows."""
    board = text.split()[0].split("/")
    return Rules(num_players=len(board), num_pawns=len(board[0].split(".")), **options)


def at(text: str, *, dice: Sequence[int] = (), **options: bool) -> Game:
    return Game(rules_for(text, **options), seed=0, position=text, dice=dice)


def moves(game: Game) -> set[tuple[int, int]]:
    """The legal moves as (source, target); a batch of such games must offer the same actions."""
    batch = GameBatch.from_positions([game.position, game.position], game.rules, seed=0)
    np.testing.assert_array_equal(batch.masks(), [game.action_mask()] * 2)
    return {(move.source, move.target) for move in game.legal_moves()}


def captures(game: Game) -> dict[tuple[int, int], int]:
    """Who would be captured by which move (source, target)."""
    return {
        (move.source, move.target): move.captured
        for move in game.legal_moves()
        if move.captured is not None
    }


def play(game: Game, source: int) -> tuple[Event, ...]:
    """Play the pawn that stands at this progress."""
    return game.play(next(m.action for m in game.legal_moves() if m.source == source))


def rolls(events: Iterable[Event]) -> list[tuple[int, int]]:
    return [(event.player, event.die) for event in events if isinstance(event, Roll)]


def board(game: Game) -> str:
    """The pawns' part of the position text."""
    return str(game.position).split()[0]


def seats(num_players: int) -> list[tuple[int, int]]:
    return [(num_players, player) for player in range(num_players)]


EVERY_SEAT = [seat for num_players in TABLES for seat in seats(num_players)]
EVERY_PAIR = [
    (num_players, player, other)
    for num_players, player in EVERY_SEAT
    for other in range(num_players)
    if other != player
]


def seated(num_players: int, pawns: dict[int, str], turn: str) -> str:
    """A position text from some players' pawns; the others' four wait in their yards."""
    return "/".join(pawns.get(p, "0.0.0.0") for p in range(num_players)) + " " + turn


# The board


@pytest.mark.parametrize(("num_players", "player", "other"), EVERY_PAIR)
def test_r1_r3_every_track_square_has_one_progress_in_each_players_count(
    num_players: int, player: int, other: int
) -> None:
    corners = CORNERS[num_players]
    for target in range(2, 41):
        theirs = (target - 1 + 10 * (corners[player] - corners[other])) % 40 + 1
        pawns = {player: f"{target - 1}.0.0.0", other: f"{theirs}.0.0.0"}
        game = at(seated(num_players, pawns, f"{player} 1"))
        assert captures(game) == {(target - 1, target): other}


def test_r1_start_squares_lie_ten_squares_apart() -> None:
    assert captures(at("10.0.0.0/1.0.0.0/0.0.0.0/0.0.0.0 0 1")) == {(10, 11): 1}
    assert captures(at("20.0.0.0/0.0.0.0/1.0.0.0/0.0.0.0 0 1")) == {(20, 21): 2}
    assert captures(at("30.0.0.0/0.0.0.0/0.0.0.0/1.0.0.0 0 1")) == {(30, 31): 3}


def test_r2_two_players_sit_in_opposite_corners() -> None:
    assert captures(at("20.0.0.0/1.0.0.0 0 1")) == {(20, 21): 1}
    assert captures(at("1.0.0.0/20.0.0.0 1 1")) == {(20, 21): 0}


def test_r2_three_players_leave_the_fourth_corner_empty() -> None:
    assert captures(at("10.0.0.0/1.0.0.0/0.0.0.0 0 1")) == {(10, 11): 1}
    assert captures(at("20.0.0.0/0.0.0.0/1.0.0.0 0 1")) == {(20, 21): 2}
    assert captures(at("1.0.0.0/0.0.0.0/20.0.0.0 2 1")) == {(20, 21): 0}


@pytest.mark.parametrize("num_players", TABLES)
def test_r2_play_goes_clockwise_and_comes_back_to_player_0(num_players: int) -> None:
    game = at(seated(num_players, dict.fromkeys(range(4), "5.0.0.0"), "0 -"), dice=[1] * 20)
    deciders = []
    for _ in range(2 * num_players + 1):
        deciders.append(game.player)
        game.play(0)
    assert deciders == [*range(num_players), *range(num_players), 0]


@pytest.mark.parametrize("num_players", TABLES)
def test_r2_turns_that_pass_go_clockwise_too(num_players: int) -> None:
    game = Game(Rules(num_players=num_players), seed=0, dice=[5] * 3 * num_players + [6])
    rollers = [player for player, _ in rolls(game.opening_events)]
    assert rollers == [player for player in range(num_players) for _ in range(3)] + [0]
    assert (game.player, game.die) == (0, 6)


def test_r3_a_pawn_walks_from_the_yard_over_the_track_into_the_column() -> None:
    assert moves(at("0.0.0.0/0.0.0.0 0 6")) == {(0, 1)}
    assert moves(at("1.0.0.0/0.0.0.0 0 1")) == {(1, 2)}
    assert moves(at("39.0.0.0/0.0.0.0 0 1")) == {(39, 40)}
    assert moves(at("40.0.0.0/0.0.0.0 0 1")) == {(40, 41)}
    assert moves(at("40.0.0.0/0.0.0.0 0 4")) == {(40, 44)}


def test_r3_progress_40_is_the_track_square_just_before_the_start_square() -> None:
    assert captures(at("39.0.0.0/20.0.0.0 0 1")) == {(39, 40): 1}
    assert captures(at("40.0.0.0/19.0.0.0 1 1")) == {(19, 20): 0}


@pytest.mark.parametrize("num_players", TABLES)
def test_r4_all_pawns_begin_in_the_yard(num_players: int) -> None:
    game = Game(Rules(num_players=num_players), seed=0, dice=[6])
    assert str(game.position) == seated(num_players, {}, "0 6")


@pytest.mark.parametrize("num_players", TABLES)
def test_r4_pawn_on_start_begins_with_one_of_each_players_on_its_start_square(
    num_players: int,
) -> None:
    game = Game(Rules(num_players=num_players, pawn_on_start=True), seed=0, dice=[3])
    assert str(game.position) == seated(num_players, dict.fromkeys(range(4), "1.0.0.0"), "0 3")
    assert moves(game) == {(1, 4)}
    batch = GameBatch(2, Rules(num_players=num_players, pawn_on_start=True), seed=0)
    assert batch.pawns().tolist() == [[[1, 0, 0, 0]] * num_players] * 2


# A turn


@pytest.mark.parametrize("die", DICE)
def test_r5_exactly_one_pawn_advances_by_exactly_the_die(die: int) -> None:
    game = at(f"30.20.12.5/0.0.0.0 0 {die}")
    assert moves(game) == {(p, p + die) for p in (30, 20, 12, 5)}
    play(game, 12)
    assert board(game) == f"30.20.{12 + die}.5/0.0.0.0"


def test_r5_a_pawn_passes_over_its_own_on_the_track() -> None:
    assert moves(at("7.6.5.0/0.0.0.0 0 3")) == {(7, 10), (6, 9), (5, 8)}


def test_r5_a_pawn_passes_over_its_own_before_the_column() -> None:
    assert moves(at("40.39.0.0/0.0.0.0 0 2")) == {(40, 42), (39, 41)}


def test_r5_r11_passing_over_opponents_counts_their_squares_and_captures_nothing() -> None:
    game = at("5.0.0.0/27.26.0.0 0 3")
    assert (moves(game), captures(game)) == ({(5, 8)}, {})
    play(game, 5)
    assert board(game) == "8.0.0.0/27.26.0.0"


def test_r6_the_turn_passes_when_no_pawn_can_make_the_move() -> None:
    game = at("44.43.42.40/5.0.0.0 0 -", dice=[3, 2])
    assert game.opening_events == (Roll(0, 3), Passed(0), Roll(1, 2))
    assert (game.player, game.die) == (1, 2)


def test_r6_the_only_pawn_cannot_move_and_the_turn_passes() -> None:
    game = at("40/5 0 -", dice=[2, 5])
    assert game.opening_events == (Roll(0, 2), Passed(0), Roll(1, 5))


def test_r6_a_given_die_that_cannot_be_played_passes_the_turn_and_the_events_tell_it() -> None:
    game = at("44.43.42.40/5.0.0.0 0 3", dice=[2])
    assert (game.player, game.die) == (1, 2)
    assert game.opening_events == (Passed(0), Roll(1, 2))


def test_r6_turns_pass_round_the_table_after_a_given_die_and_the_events_tell_each() -> None:
    game = at("40/40/40 1 5", dice=[4, 3, 2, 1])
    assert game.opening_events == (
        *(Passed(1), Roll(2, 4)),
        *(Passed(2), Roll(0, 3)),
        *(Passed(0), Roll(1, 2)),
        *(Passed(1), Roll(2, 1)),
    )


@pytest.mark.parametrize("die", DICE[:5])
def test_r7_only_a_6_leaves_the_yard(die: int) -> None:
    assert moves(at(f"5.0.0.0/0.0.0.0 0 {die}")) == {(5, 5 + die)}
    nobody_out = at(f"0.0.0.0/5.0.0.0 0 {die}", dice=[die, die, 2])
    assert (nobody_out.player, board(nobody_out)) == (1, "0.0.0.0/5.0.0.0")


def test_r7_leaving_the_yard_spends_the_6_and_ends_on_the_start_square() -> None:
    game = at("5.0.0.0/0.0.0.0 0 6", dice=[2])
    assert moves(game) == {(0, 1)}
    play(game, 0)
    assert board(game) == "5.1.0.0/0.0.0.0"


def test_r8_who_plays_a_6_rolls_again() -> None:
    game = at("9.7.5.3/5.0.0.0 0 6", dice=[2])
    events = play(game, 9)
    assert [type(event) for event in events] == [Moved, Roll]
    assert events[-1] == Roll(0, 2)
    assert (game.player, game.die) == (0, 2)


def test_r8_leaving_the_yard_and_capturing_with_a_6_roll_again_once() -> None:
    game = at("0.0.0.0/21.5.0.0 0 6", dice=[2, 3])
    assert rolls(play(game, 0)) == [(0, 2)]
    assert rolls(play(game, 1)) == [(1, 3)]


@pytest.mark.parametrize("die", DICE[:5])
def test_r8_no_other_number_grants_another_roll(die: int) -> None:
    game = at(f"9.7.5.3/5.0.0.0 0 {die}", dice=[2])
    assert play(game, 9)[-1] == Roll(1, 2)
    assert game.player == 1


def test_r8_afterstates_name_who_rolls_next() -> None:
    after_6 = at("9.7.5.3/5.0.0.0 0 6").afterstates()
    assert {position.player for position in after_6.values()} == {0}
    after_5 = at("9.7.5.2/5.0.0.0 0 5").afterstates()
    assert {position.player for position in after_5.values()} == {1}


def test_r8_sixes_in_a_row_have_no_limit() -> None:
    game = Game(Rules(num_players=2), seed=0, dice=[6] * 12 + [1])
    for _ in range(12):
        assert (game.player, game.die) == (0, 6)
        game.play(game.legal_moves()[0].action)
    assert (game.player, game.die) == (0, 1)


def test_r8_a_6_that_cannot_be_played_gives_no_roll() -> None:
    game = at("44.43.38.37/5.0.0.0 0 -", dice=[6, 2])
    assert game.opening_events == (Roll(0, 6), Passed(0), Roll(1, 2))


def test_r9_three_tries_with_all_pawns_in_the_yard() -> None:
    game = at("0.0.0.0/5.0.0.0 0 -", dice=[1, 2, 3, 4])
    assert game.opening_events == (Roll(0, 1), Roll(0, 2), Roll(0, 3), Passed(0), Roll(1, 4))


@pytest.mark.parametrize("failed", [[], [1], [1, 5]])
def test_r9_the_first_6_ends_the_series_and_is_played(failed: list[int]) -> None:
    game = at("0.0.0.0/5.0.0.0 0 -", dice=[*failed, 6, 6, 6])
    assert rolls(game.opening_events) == [(0, die) for die in [*failed, 6]]
    assert (game.player, game.die, moves(game)) == (0, 6, {(0, 1)})


def test_r9_a_pawn_on_the_track_means_one_roll_even_if_it_cannot_move() -> None:
    game = at("40.0.0.0/5.0.0.0 0 -", dice=[5, 2])
    assert game.opening_events == (Roll(0, 5), Passed(0), Roll(1, 2))


@pytest.mark.parametrize("home_jumps", [False, True])
@pytest.mark.parametrize("own", ["44.0.0.0", "44.43.0.0", "44.43.42.0"])
def test_r9_pawns_in_the_column_that_cannot_advance_leave_three_tries(
    own: str, home_jumps: bool
) -> None:
    game = at(f"{own}/5.0.0.0 0 -", dice=[5, 4, 1, 2], home_jumps=home_jumps)
    assert rolls(game.opening_events) == [(0, 5), (0, 4), (0, 1), (1, 2)]


@pytest.mark.parametrize("home_jumps", [False, True])
@pytest.mark.parametrize(
    "own",
    ["43.0.0.0", "42.0.0.0", "41.0.0.0", "43.42.0.0", "44.42.0.0", "44.43.41.0", "43.42.41.0"],
)
def test_r9_a_pawn_in_the_column_that_some_number_could_move_means_one_roll(
    own: str, home_jumps: bool
) -> None:
    game = at(f"{own}/5.0.0.0 0 -", dice=[5, 2], home_jumps=home_jumps)
    assert rolls(game.opening_events) == [(0, 5), (1, 2)]


def test_r9_an_exact_number_moves_the_pawn_in_the_column_on_its_one_roll() -> None:
    assert moves(at("43.0.0.0/5.0.0.0 0 -", dice=[1])) == {(43, 44)}


def test_r9_a_given_die_counts_as_the_first_of_the_three_tries() -> None:
    game = at("0.0.0.0/5.0.0.0 0 1", dice=[2, 3, 4])
    assert game.opening_events == (Roll(0, 2), Roll(0, 3), Passed(0), Roll(1, 4))


def test_r9_a_given_6_is_played_at_once() -> None:
    game = at("0.0.0.0/5.0.0.0 0 6", dice=[2])
    assert (game.opening_events, moves(game)) == ((), {(0, 1)})


def test_r9_who_loses_the_last_pawn_has_three_tries_at_the_next_turn() -> None:
    game = at("5.0.0.0/26.0.0.0 0 1", dice=[2, 3, 4, 1])
    assert rolls(play(game, 5)) == [(1, 2), (1, 3), (1, 4), (0, 1)]


def test_r9_there_are_never_three_tries_after_a_played_6() -> None:
    one_pawn = at("34/5 0 6", dice=[5, 2])
    assert play(one_pawn, 34)[1:] == (Roll(0, 5), Passed(0), Roll(1, 2))
    column_shut = at("44.43.42.34/5.0.0.0 0 6", dice=[2, 3])
    assert play(column_shut, 34)[1:] == (Roll(0, 2), Passed(0), Roll(1, 3))


def test_r9_series_go_on_from_player_to_player_until_a_6_is_rolled() -> None:
    game = Game(Rules(num_players=2), seed=0, dice=[1] * 60 + [6])
    assert [player for player, _ in rolls(game.opening_events)] == ([0] * 3 + [1] * 3) * 10 + [0]
    assert game.opening_events.count(Passed(0)) == game.opening_events.count(Passed(1)) == 10


def test_r10_no_pawn_stops_on_its_own_players_pawn_on_the_track() -> None:
    assert moves(at("8.5.0.0/0.0.0.0 0 3")) == {(8, 11)}


def test_r10_no_pawn_leaves_the_yard_onto_its_own_players_pawn() -> None:
    assert moves(at("1.0.0.0/0.0.0.0 0 6")) == {(1, 7)}


def test_r10_no_pawn_stops_on_its_own_players_pawn_in_the_column() -> None:
    from_track = at("43.40.0.0/5.0.0.0 0 -", dice=[3, 2])
    assert from_track.player == 1
    in_column = at("44.42.0.0/5.0.0.0 0 -", dice=[2, 2])
    assert in_column.player == 1


def test_r11_a_capture_sends_the_pawn_to_its_yard_and_no_other() -> None:
    game = at("5.0.0.0/30.26.3.0 0 1", dice=[2])
    assert captures(game) == {(5, 6): 1}
    move, captured, roll = play(game, 5)
    assert isinstance(move, Moved)
    assert (captured, roll) == (Captured(player=1, by=0), Roll(1, 2))
    assert board(game) == "6.0.0.0/30.3.0.0"


def test_r11_only_the_last_step_captures() -> None:
    game = at("5.0.0.0/30.26.3.0 0 2", dice=[2])
    assert captures(game) == {}


def test_r11_start_squares_are_not_safe_from_opponents_passing_by() -> None:
    game = at("18.0.0.0/1.0.0.0 0 3", dice=[6])
    assert captures(game) == {(18, 21): 1}
    play(game, 18)
    assert board(game) == "21.0.0.0/0.0.0.0"


@pytest.mark.parametrize(("num_players", "player", "other"), EVERY_PAIR)
def test_r11_leaving_the_yard_captures_the_opponent_on_the_start_square(
    num_players: int, player: int, other: int
) -> None:
    corners = CORNERS[num_players]
    there = 10 * (corners[player] - corners[other]) % 40 + 1
    game = at(seated(num_players, {other: f"{there}.0.0.0"}, f"{player} 6"), dice=[1])
    assert captures(game) == {(0, 1): other}
    assert Captured(player=other, by=player) in play(game, 0)
    assert board(game) == seated(num_players, {player: "1.0.0.0"}, "").strip()


def test_r11_captures_reach_over_the_end_of_the_squares_numbering() -> None:
    assert captures(at("1.0.0.0/30.0.0.0/0.0.0.0/0.0.0.0 1 1")) == {(30, 31): 0}
    assert captures(at("2.0.0.0/29.0.0.0/0.0.0.0/0.0.0.0 1 3")) == {(29, 32): 0}
    assert captures(at("40.0.0.0/29.0.0.0/0.0.0.0/0.0.0.0 1 1")) == {(29, 30): 0}


def test_r11_a_captured_pawn_needs_another_6() -> None:
    game = at("5.0.0.0/26.0.0.0 0 1", dice=[5, 6])
    play(game, 5)
    assert (game.player, game.die, moves(game)) == (1, 6, {(0, 1)})


# The priorities


@pytest.mark.parametrize("die", DICE)
def test_r12_pawn_on_start_must_move_while_pawns_wait_in_the_yard(die: int) -> None:
    assert moves(at(f"12.1.0.0/0.0.0.0 0 {die}")) == {(1, 1 + die)}


def test_r12_freeing_the_start_square_comes_before_a_capture() -> None:
    assert moves(at("12.1.0.0/34.0.0.0 0 2")) == {(1, 3)}


def test_r12_freeing_the_start_square_may_capture_itself() -> None:
    assert captures(at("12.1.0.0/34.23.0.0 0 2")) == {(1, 3): 1}


def test_r12_without_pawns_in_the_yard_the_pawn_on_start_is_free_to_stay() -> None:
    assert moves(at("12.9.5.1/0.0.0.0 0 2")) == {(12, 14), (9, 11), (5, 7), (1, 3)}


def test_r12_pawns_in_the_column_do_not_count_as_waiting() -> None:
    assert moves(at("44.43.12.1/0.0.0.0 0 2")) == {(12, 14), (1, 3)}


def test_r12_a_blocked_pawn_on_start_leaves_the_choice_to_the_others() -> None:
    assert moves(at("20.4.1.0/0.0.0.0 0 3")) == {(20, 23), (4, 7)}


def test_r12_blocked_on_a_6_nobody_leaves_the_yard_and_any_move_will_do() -> None:
    assert moves(at("20.7.1.0/0.0.0.0 0 6")) == {(20, 26), (7, 13)}


def test_r12_blocked_on_a_6_a_capture_must_be_played() -> None:
    text = "20.7.1.0/33.0.0.0 0 6"
    assert moves(at(text)) == {(7, 13)}
    assert moves(at(text, mandatory_capture=False)) == {(20, 26), (7, 13)}


def test_r13_a_6_must_bring_a_pawn_out_of_the_yard() -> None:
    assert moves(at("20.12.5.0/0.0.0.0 0 6")) == {(0, 1)}


def test_r13_leaving_the_yard_comes_before_a_capture() -> None:
    assert moves(at("12.0.0.0/38.0.0.0 0 6")) == {(0, 1)}


def test_r13_an_opponent_on_the_start_square_does_not_keep_a_pawn_in_the_yard() -> None:
    assert moves(at("12.0.0.0/21.0.0.0 0 6")) == {(0, 1)}


def test_r13_with_an_empty_yard_a_6_is_played_like_any_number() -> None:
    assert moves(at("12.9.5.2/0.0.0.0 0 6")) == {(12, 18), (9, 15), (5, 11), (2, 8)}


def test_r13_pawns_in_the_yard_are_one_move() -> None:
    assert at("12.0.0.0/0.0.0.0 0 6").action_mask().tolist() == [0, 1, 0, 0]
    assert at("0.0.0.0/0.0.0.0 0 6").action_mask().tolist() == [1, 0, 0, 0]
    with pytest.raises(IllegalMoveError):
        at("12.0.0.0/0.0.0.0 0 6").play(2)


def test_r14_a_possible_capture_must_be_played() -> None:
    game = at("12.5.0.0/34.0.0.0 0 2")
    assert (moves(game), captures(game)) == ({(12, 14)}, {(12, 14): 1})


def test_r14_among_several_captures_the_player_chooses() -> None:
    game = at("12.5.2.0/34.27.0.0 0 2")
    assert captures(game) == {(12, 14): 1, (5, 7): 1}
    assert moves(game) == {(12, 14), (5, 7)}


def test_r14_captures_of_different_opponents_are_all_open() -> None:
    game = at("20.12.2.0/3.0.0.0/1.0.0.0/0.0.0.0 0 1")
    assert captures(game) == {(20, 21): 2, (12, 13): 1}


def test_option_mandatory_capture_off_leaves_the_choice_free() -> None:
    game = at("12.5.2.0/34.27.0.0 0 2", mandatory_capture=False)
    assert moves(game) == {(12, 14), (5, 7), (2, 4)}
    assert captures(game) == {(12, 14): 1, (5, 7): 1}


def test_option_mandatory_capture_off_keeps_r12_and_r13() -> None:
    assert moves(at("12.1.0.0/34.0.0.0 0 2", mandatory_capture=False)) == {(1, 3)}
    assert moves(at("12.0.0.0/38.0.0.0 0 6", mandatory_capture=False)) == {(0, 1)}


def test_r15_otherwise_any_possible_move_may_be_chosen() -> None:
    assert moves(at("42.30.12.0/5.0.0.0 0 2")) == {(42, 44), (30, 32), (12, 14)}


# Home


@pytest.mark.parametrize(("num_players", "player"), EVERY_SEAT)
def test_r16_after_a_full_lap_every_player_turns_into_its_own_column(
    num_players: int, player: int
) -> None:
    game = at(seated(num_players, {player: "38.0.0.0"}, f"{player} 5"), dice=[1, 1, 1, 1])
    assert moves(game) == {(38, 43)}
    play(game, 38)
    assert game.position.pawns[player] == (43, 0, 0, 0)


def test_r16_nothing_in_a_column_is_captured() -> None:
    assert captures(at("42.0.0.0/21.0.0.0 1 1")) == {}
    game = at("44.43.42.20/22.21.20.0 1 2", dice=[1])
    assert captures(game) == {}
    play(game, 21)
    assert board(game) == "44.43.42.20/23.22.20.0"


def test_r16_a_pawn_that_enters_its_column_captures_nobody() -> None:
    game = at("39.0.0.0/24.23.22.21 0 3", dice=[1])
    assert (moves(game), captures(game)) == ({(39, 42)}, {})
    play(game, 39)
    assert board(game) == "42.0.0.0/24.23.22.21"


def test_r16_opponents_walk_past_the_column_along_the_track() -> None:
    assert moves(at("41.0.0.0/20.0.0.0 1 1")) == {(20, 21)}
    assert moves(at("41.0.0.0/18.0.0.0 1 4")) == {(18, 22)}


@pytest.mark.parametrize(("die", "possible"), [(1, True), (4, True), (5, False)])
def test_r17_the_count_home_must_be_exact_from_the_track(die: int, possible: bool) -> None:
    game = at(f"40.0.0.0/5.0.0.0 0 {die}", dice=[1])
    assert moves(game) == ({(40, 40 + die)} if possible else {(5, 6)})


@pytest.mark.parametrize("die", [2, 3, 4, 5])
def test_r17_the_count_home_must_be_exact_in_the_column(die: int) -> None:
    assert moves(at("43.0.0.0/5.0.0.0 0 1")) == {(43, 44)}
    assert at(f"43.0.0.0/5.0.0.0 0 {die}", dice=[1]).player == 1


def test_r17_a_6_takes_a_pawn_home_only_by_exact_count() -> None:
    assert moves(at("38.20.7.1/0.0.0.0 0 6")) == {(38, 44), (20, 26), (7, 13)}
    assert moves(at("39.20.7.1/0.0.0.0 0 6")) == {(20, 26), (7, 13)}


def test_r18_a_pawn_in_the_column_does_not_pass_over_its_own() -> None:
    assert at("43.42.0.0/5.0.0.0 0 2", dice=[1]).player == 1
    assert at("42.41.0.0/5.0.0.0 0 3", dice=[1]).player == 1
    assert moves(at("42.41.0.0/5.0.0.0 0 2")) == {(42, 44)}


def test_r18_a_pawn_from_the_track_does_not_pass_over_its_own_in_the_column() -> None:
    assert at("42.40.0.0/5.0.0.0 0 3", dice=[1]).player == 1
    assert at("41.38.0.0/5.0.0.0 0 4", dice=[1]).player == 1
    assert moves(at("42.38.0.0/5.0.0.0 0 3")) == {(38, 41)}


def test_r18_any_free_square_of_the_column_is_a_place_to_stop() -> None:
    for die in DICE[:4]:
        assert moves(at(f"40.0.0.0/5.0.0.0 0 {die}")) == {(40, 40 + die)}
    assert moves(at("44.40.0.0/5.0.0.0 0 2")) == {(40, 42)}


def test_r18_a_pawn_leaves_its_place_in_the_column_later() -> None:
    for die in DICE[:3]:
        assert moves(at(f"41.0.0.0/5.0.0.0 0 {die}")) == {(41, 41 + die)}
    assert moves(at("44.41.40.0/5.0.0.0 0 2")) == {(41, 43)}


def test_option_home_jumps_lets_a_pawn_pass_over_its_own_in_the_column() -> None:
    assert moves(at("43.42.0.0/5.0.0.0 0 2", home_jumps=True)) == {(42, 44)}
    assert moves(at("42.40.0.0/5.0.0.0 0 3", home_jumps=True)) == {(40, 43)}
    assert moves(at("44.41.40.0/5.0.0.0 0 2", home_jumps=True)) == {(41, 43), (40, 42)}


def test_option_home_jumps_lets_no_pawn_stop_on_its_own_or_go_too_far() -> None:
    assert at("43.40.0.0/5.0.0.0 0 3", dice=[1], home_jumps=True).player == 1
    assert at("43.40.0.0/5.0.0.0 0 5", dice=[1], home_jumps=True).player == 1


@pytest.mark.parametrize(("num_players", "player"), EVERY_SEAT)
def test_r19_the_fourth_pawn_home_wins_at_once_from_every_seat(
    num_players: int, player: int
) -> None:
    game = at(seated(num_players, {player: "44.43.42.40"}, f"{player} 1"), dice=[2])
    events = play(game, 40)
    assert [type(event) for event in events] == [Moved]
    assert (game.winner, game.player, game.die) == (player, None, None)
    assert str(game.position) == seated(num_players, {player: "44.43.42.41"}, f"{player} -")


@pytest.mark.parametrize("text", ["44.43.42.35/5.0.0.0 0 6", "43.42.41.38/5.0.0.0 0 6"])
def test_r19_a_game_won_with_a_6_gives_no_further_roll(text: str) -> None:
    game = at(text, dice=[2], home_jumps=True)
    events = game.play(3)
    assert [type(event) for event in events] == [Moved]
    assert game.winner == 0


def test_r19_nothing_can_be_played_after_the_end() -> None:
    game = at("44.43.42.41/5.0.0.0 0 -")
    assert (game.legal_moves(), game.afterstates(), game.opening_events) == ((), {}, ())
    assert game.action_mask().tolist() == [0, 0, 0, 0]
    with pytest.raises(IllegalMoveError, match="over"):
        game.play(0)


def test_r19_three_pawns_home_do_not_win() -> None:
    game = at("44.43.40.12/5.0.0.0 0 2", dice=[1])
    play(game, 40)
    assert (game.winner, game.places()) == (None, None)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("44.43.42.41/44.43.0.0/44.43.0.0/44.0.0.0 0 -", (1, 2, 2, 4)),
        ("44.43.42.41/44.0.0.0/44.43.0.0/44.0.0.0 0 -", (1, 3, 2, 3)),
        ("44.43.42.41/0.0.0.0/0.0.0.0/0.0.0.0 0 -", (1, 2, 2, 2)),
        ("5.0.0.0/5.0.0.0/44.43.42.41/5.0.0.0 2 -", (2, 2, 1, 2)),
        ("3.0.0.0/4.0.0.0/5.0.0.0/44.43.42.41 3 -", (4, 3, 2, 1)),
        ("3.0.0.0/44.43.42.41/3.0.0.0 1 -", (2, 1, 2)),
        ("0.0.0.0/44.43.42.41 1 -", (2, 1)),
    ],
)
def test_r20_equals_share_their_place(text: str, places: tuple[int, ...]) -> None:
    assert at(text).places() == places
    batch = GameBatch.from_positions([text, text], rules_for(text), seed=0)
    assert batch.places().tolist() == [list(places)] * 2


def test_r20_pawns_in_the_column_come_before_distance() -> None:
    assert at("44.43.42.41/40.39.38.37/41.0.0.0 0 -").places() == (1, 3, 2)


def test_r20_distance_decides_between_equally_many_pawns_in_the_column() -> None:
    assert at("44.43.42.41/41.4.0.0/42.2.0.0 0 -").places() == (1, 2, 3)
    assert at("44.43.42.41/41.4.0.0/42.3.0.0 0 -").places() == (1, 2, 2)
    assert at("44.43.42.41/43.42.0.0/44.42.0.0 0 -").places() == (1, 3, 2)


def test_r20_the_start_square_counts_one() -> None:
    assert at("44.43.42.41/0.0.0.0/1.0.0.0 0 -").places() == (1, 3, 2)
    assert at("44.43.42.41/3.0.0.0/2.1.0.0 0 -").places() == (1, 2, 2)


def test_r20_there_are_no_places_before_the_end() -> None:
    text = "44.43.42.40/5.0.0.0 0 1"
    assert at(text).places() is None
    batch = GameBatch.from_positions([text], rules_for(text), seed=0)
    assert batch.places().tolist() == [[0, 0]]


def test_r20_a_game_played_to_its_end_places_everybody() -> None:
    game = at("44.43.42.40/44.0.0.0/7.0.0.0/44.0.0.0 0 1")
    play(game, 40)
    assert game.places() == (1, 2, 4, 2)


# Smaller games


@pytest.mark.parametrize("num_pawns", [1, 2, 3, 4])
@pytest.mark.parametrize("num_players", TABLES)
def test_smaller_games_begin_with_as_many_pawns_as_asked_for(
    num_players: int, num_pawns: int
) -> None:
    game = Game(Rules(num_players=num_players, num_pawns=num_pawns), seed=0, dice=[6])
    assert game.position.pawns == ((0,) * num_pawns,) * num_players
    assert moves(game) == {(0, 1)}


@pytest.mark.parametrize("num_pawns", [1, 2, 3])
def test_smaller_games_have_a_column_of_as_many_squares(num_pawns: int) -> None:
    own = ".".join(["40"] + ["0"] * (num_pawns - 1))
    other = ".".join(["5"] + ["0"] * (num_pawns - 1))
    for die in DICE[:5]:
        game = at(f"{own}/{other} 0 {die}", dice=[1])
        assert moves(game) == ({(40, 40 + die)} if die <= num_pawns else {(5, 6)})


@pytest.mark.parametrize(
    ("text", "source"), [("40/5 0 1", 40), ("42.40/5.0 0 1", 40), ("43.42.35/5.0.0 0 6", 35)]
)
def test_smaller_games_are_won_with_all_pawns_home(text: str, source: int) -> None:
    game = at(text)
    play(game, source)
    assert (game.winner, game.places()) == (0, (1, 2))


@pytest.mark.parametrize("text", ["42.0/5.0 0 -", "43.0.0/5.0.0 0 -", "43.42.0/5.0.0 0 -"])
def test_smaller_games_give_three_tries_when_the_pawns_home_cannot_advance(text: str) -> None:
    game = at(text, dice=[1, 2, 3, 4])
    assert rolls(game.opening_events) == [(0, 1), (0, 2), (0, 3), (1, 4)]


@pytest.mark.parametrize("text", ["41.0/5.0 0 -", "42.0.0/5.0.0 0 -", "43.41.0/5.0.0 0 -"])
def test_smaller_games_give_one_roll_when_a_pawn_in_the_column_can_advance(text: str) -> None:
    game = at(text, dice=[5, 4])
    assert rolls(game.opening_events) == [(0, 5), (1, 4)]


def test_smaller_games_keep_r12_to_r18() -> None:
    assert moves(at("12.1.0/0.0.0 0 2")) == {(1, 3)}
    assert moves(at("12.0/0.0 0 6")) == {(0, 1)}
    assert moves(at("12.5/34.0 0 2")) == {(12, 14)}
    assert at("41.40/5.0 0 2", dice=[1]).player == 1
    assert moves(at("41.40/5.0 0 2", home_jumps=True)) == {(40, 42)}


# Refusals


@pytest.mark.parametrize("action", [0, 2, 3, -1, 4, 2**40])
def test_a_move_that_the_mask_forbids_is_refused_and_nothing_changes(action: int) -> None:
    game = at("12.1.0.0/34.0.0.0 0 2", dice=[5, 3])
    with pytest.raises(IllegalMoveError) as refusal:
        game.play(action)
    assert "12.1.0.0/34.0.0.0 0 2" in str(refusal.value)
    assert "legal: 1" in str(refusal.value)
    assert (str(game.position), game.rolls) == ("12.1.0.0/34.0.0.0 0 2", 0)
    assert play(game, 1)[-1] == Roll(1, 5)


def test_an_action_too_large_for_any_array_is_refused_like_any_other() -> None:
    with pytest.raises(IllegalMoveError):
        at("12.1.0.0/34.0.0.0 0 2").play(2**70)
