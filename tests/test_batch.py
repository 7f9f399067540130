"""Many games at once: seeds, steps, resets, copies, afterstates, threads and rollouts."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ludo_env import OBSERVATION, Game, GameBatch, IllegalMoveError, Position, Rules
from ludo_env.core.game import Move, Roll

MAX_SEED = 2**63 - 1
LENGTH = OBSERVATION["options"].stop
SHORT = Rules(num_players=2, num_pawns=1)
TWO = Rules(num_players=2)
MANY_RULES = [
    Rules(),
    Rules(num_players=3, home_jumps=True),
    Rules(num_players=2, mandatory_capture=False, pawn_on_start=True),
    Rules(num_players=4, num_pawns=2, pawn_on_start=True),
    SHORT,
]


def label(value: Any) -> str:
    """The name of a case."""
    if isinstance(value, Rules):
        return f"{value.num_players} players with {value.num_pawns}"
    return " ".join(repr(value).split())


rules_cases = pytest.mark.parametrize("rules", MANY_RULES, ids=label)

# Under the rules TWO: actions 0 and 1 are legal.
TWO_MOVES = "20.10.0.0/5.0.0.0 0 3"


def told(batch: GameBatch) -> dict[str, Any]:
    """All that a batch tells of itself."""
    return {
        "players": batch.players,
        "dice": batch.dice,
        "winners": batch.winners,
        "finished": batch.finished,
        "places": batch.places(),
        "masks": batch.masks(),
        "observations": batch.observations(),
        "positions": np.array([str(batch.position(row)) for row in range(len(batch))]),
        "seeds": batch.seeds,
    }


def assert_same(batch: GameBatch, other: GameBatch) -> None:
    ours, theirs = told(batch), told(other)
    for name, value in ours.items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)


def assert_same_future(batch: GameBatch, other: GameBatch, steps: int = 60) -> None:
    assert_same(batch, other)
    for actions in played(batch, steps):
        other.step(actions)
        assert_same(batch, other)


def some_legal(batch: GameBatch, rng: np.random.Generator) -> np.ndarray:
    """A legal action in each row, 0 in ended ones."""
    masks = batch.masks()
    return (masks * (1 + rng.random(masks.shape))).argmax(axis=1)


def played(batch: GameBatch, steps: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Play random legal actions, telling those of each step after it."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        actions = some_legal(batch, rng)
        batch.step(actions)
        yield actions


def play(batch: GameBatch, steps: int, seed: int = 0) -> GameBatch:
    for _ in played(batch, steps, seed):
        pass
    return batch


def with_an_ended_row() -> GameBatch:
    """A batch just after a step in which some games ended, and others did not."""
    batch = GameBatch(8, SHORT, seed=3)
    for _ in played(batch, 1000):
        if batch.finished.any() and not batch.finished.all():
            return batch
    raise AssertionError("no game ended")


def positions(batch: GameBatch) -> list[Position]:
    return [batch.position(row) for row in range(len(batch))]


def refused(call: Any, *names: str) -> None:
    """The call raises a `ValueError` that names all these."""
    with pytest.raises(ValueError, match=re.escape(names[0])) as caught:
        call()
    for name in names:
        assert name in str(caught.value)


# Seeds


def test_one_int_is_the_first_rows_seed_and_the_others_lie_well_apart():
    seeds = GameBatch(1000, seed=5).seeds
    assert seeds.shape == (1000,)
    assert seeds.dtype == np.int64
    assert seeds[0] == 5
    assert seeds.min() >= 0
    assert np.diff(np.sort(seeds)).min() > 2**32


def test_neighbouring_seeds_share_no_row():
    seeds = np.concatenate([GameBatch(50, seed=seed).seeds for seed in range(40)])
    assert len(np.unique(seeds)) == 40 * 50


def test_the_first_rows_do_not_depend_on_how_many_follow():
    np.testing.assert_array_equal(GameBatch(3, seed=9).seeds, GameBatch(30, seed=9).seeds[:3])


@pytest.mark.parametrize(
    "seeds",
    [
        [4, 0, MAX_SEED],
        (4, 0, MAX_SEED),
        np.array([4, 0, MAX_SEED]),
        np.array([4, 0, MAX_SEED], dtype=np.uint64),
        [np.int64(4), np.uint8(0), MAX_SEED],
    ],
    ids=["list", "tuple", "int64", "uint64", "numpy integers"],
)
def test_each_row_may_have_its_own_seed(seeds):
    batch = GameBatch(3, seed=seeds)
    assert batch.seeds.tolist() == [4, 0, MAX_SEED]
    assert_same(batch, GameBatch(3, seed=[4, 0, MAX_SEED]))


def test_the_same_seed_in_two_rows_is_the_same_game_twice():
    batch = GameBatch(2, seed=[8, 8])
    for _ in range(50):
        assert batch.position(0) == batch.position(1)
        batch.step(batch.masks().argmax(axis=1))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_numpy_integers_are_seeds(kind):
    assert_same(GameBatch(3, seed=kind(77)), GameBatch(3, seed=77))


def test_without_a_seed_every_batch_and_every_row_is_another():
    seeds = np.concatenate([GameBatch(10).seeds, GameBatch(10).seeds])
    assert len(np.unique(seeds)) == 20
    assert seeds.min() >= 0


@pytest.mark.parametrize("seed", [0, MAX_SEED])
def test_the_smallest_and_the_largest_seed_play(seed):
    batch = GameBatch(2, SHORT, seed=seed)
    assert batch.seeds[0] == seed
    play(batch, 50)


WRONG_SEEDS = [
    -1,
    2**63,
    10**30,
    1.0,
    np.float64(1.0),
    True,
    np.True_,
    "1",
    [1, 2],
    [1, 2, 3, 4],
    [],
    [1, 2.0, 3],
    [1, True, 3],
    [1, -1, 3],
    [1, 2**63, 3],
    [1, None, 3],
    np.array([1.0, 2.0, 3.0]),
    np.array([True, False, True]),
    np.array([[1, 2, 3]]),
    [[1], [2, 3], 4],
    {1, 2, 3},
]


@pytest.mark.parametrize("seed", WRONG_SEEDS, ids=label)
def test_wrong_seeds_are_refused(seed):
    refused(lambda: GameBatch(3, seed=seed), "seed")


@pytest.mark.parametrize("num_games", [0, -1, 1.0, True, "3", None])
def test_wrong_numbers_of_games_are_refused(num_games):
    refused(lambda: GameBatch(num_games), "num_games", repr(num_games))


@pytest.mark.parametrize("num_threads", [0, -1, 1.0, True, None])
def test_wrong_numbers_of_threads_are_refused(num_threads):
    refused(lambda: GameBatch(2, num_threads=num_threads), "num_threads", repr(num_threads))


@pytest.mark.parametrize("rules", [None, 4, "Rules()", Rules])
def test_anything_but_rules_is_refused(rules):
    refused(lambda: GameBatch(2, rules), "rules")


# A row is a game


@rules_cases
def test_every_row_is_the_game_of_its_seed(rules):
    batch = GameBatch(6, rules, seed=11)
    games = [Game(rules, seed=seed) for seed in batch.seeds]
    for actions in played(batch.copy(), 60):
        for row, game in enumerate(games):
            assert batch.position(row) == game.position
            assert batch.players[row] == (-1 if game.player is None else game.player)
            assert batch.dice[row] == (game.die or -1)
            assert batch.masks()[row].tolist() == game.action_mask().tolist()
            assert tuple(batch.places()[row]) == (game.places() or (0,) * rules.num_players)
        if batch.finished.any():
            break
        batch.step(actions)
        for game, action in zip(games, actions, strict=True):
            game.play(action)


def test_a_batch_of_one_is_the_game_of_that_seed():
    batch, game = GameBatch(1, TWO, seed=21), Game(TWO, seed=21)
    for actions in played(batch, 60):
        game.play(actions)
        assert batch.position(0) == game.position
        np.testing.assert_array_equal(batch.observations()[0], game.observation())


@rules_cases
def test_rows_do_not_depend_on_the_size_of_the_batch(rules):
    whole = GameBatch(20, rules, seed=2)
    part = GameBatch(5, rules, seed=whole.seeds[10:15])
    for _ in range(80):
        actions = whole.masks().argmax(axis=1)
        whole.step(actions)
        part.step(actions[10:15])
        np.testing.assert_array_equal(whole.observations()[10:15], part.observations())
    whole.rollout(300)
    part.rollout(300)
    assert positions(whole)[10:15] == positions(part)


# Later games of a row


def test_the_next_game_follows_from_the_seed_alone_however_the_last_was_played():
    batch = GameBatch(8, SHORT, seed=4)
    reset = GameBatch(8, SHORT, seed=4)
    reset.reset()
    restarted = np.zeros(8, dtype=bool)
    for _ in range(400):
        ended = batch.finished & ~restarted
        batch.step(batch.masks().argmax(axis=1))
        for row in np.flatnonzero(ended):
            assert batch.position(row) == reset.position(row)
        restarted |= ended
    assert restarted.all()


def test_games_of_one_seed_differ_from_each_other_and_from_those_of_other_seeds():
    batch = GameBatch(2, seed=[1, 2])
    beginnings = set()
    for _ in range(20):
        beginnings.update(beginning(batch))
        batch.reset()
    assert len(beginnings) == 40


def beginning(batch: GameBatch, steps: int = 12) -> list[tuple[Position, ...]]:
    """What each row comes to in its next steps."""
    future, lines = batch.copy(), []
    for _ in range(steps):
        lines.append(positions(future))
        future.step(future.masks().argmax(axis=1))
    return list(zip(*lines, strict=True))


# Steps


@rules_cases
def test_what_is_told_has_these_shapes_and_types(rules):
    batch = play(GameBatch(7, rules, seed=1), 5)
    for array in (batch.players, batch.dice, batch.winners):
        assert (array.shape, array.dtype) == ((7,), np.int8)
    assert (batch.finished.shape, batch.finished.dtype) == ((7,), np.bool_)
    assert (batch.places().shape, batch.places().dtype) == ((7, rules.num_players), np.int8)
    assert (batch.masks().shape, batch.masks().dtype) == ((7, 4), np.int8)
    assert (batch.observations().shape, batch.observations().dtype) == ((7, LENGTH), np.int8)
    assert isinstance(batch.position(6), Position)
    assert len(batch) == 7
    assert batch.rules == rules
    finished = batch.step(batch.masks().argmax(axis=1))
    assert (finished.shape, finished.dtype) == ((7,), np.bool_)


@rules_cases
def test_a_row_that_goes_on_stands_at_a_decision_and_an_ended_one_tells_its_end(rules):
    batch = GameBatch(16, rules, seed=7)
    batch.rollout(200)
    for _ in played(batch, 2000):
        if batch.finished.any() and not batch.finished.all():
            break
    assert 0 < batch.finished.sum() < 16
    for row, position in enumerate(positions(batch)):
        over = position.winner is not None
        assert batch.finished[row] == over
        assert batch.players[row] == (-1 if over else position.player)
        assert batch.dice[row] == (-1 if over else position.die)
        assert batch.winners[row] == (position.player if over else -1)
        assert batch.masks()[row].any() != over
        assert batch.observations()[row].any() != over
        assert batch.places()[row].min() == (1 if over else 0)
        assert batch.places()[row].any() == over


def test_step_returns_which_rows_have_ended():
    batch = GameBatch(8, SHORT, seed=3)
    seen = set()
    for _ in range(200):
        finished = batch.step(batch.masks().argmax(axis=1))
        np.testing.assert_array_equal(finished, batch.finished)
        seen.update(finished.tolist())
    assert seen == {True, False}


def test_an_ended_row_keeps_its_final_state():
    batch = GameBatch.from_positions(["40/7 0 1", "3/7 0 1"], SHORT, seed=1)
    assert batch.step([0, 0]).tolist() == [True, False]
    assert str(batch.position(0)) == "41/7 0 -"
    assert batch.players[0] == -1
    assert batch.dice[0] == -1
    assert batch.winners[0] == 0
    assert batch.places()[0].tolist() == [1, 2]
    assert batch.masks()[0].tolist() == [0, 0, 0, 0]
    assert not batch.observations()[0].any()


@pytest.mark.parametrize("ignored", [0, 3, 4, -1, 99, -(2**63)])
def test_the_step_after_the_end_ignores_the_action_and_starts_the_next_game(ignored):
    batch = with_an_ended_row()
    ended = batch.finished
    expected = batch.copy()
    expected.reset(ended)
    actions = np.where(ended, ignored, batch.masks().argmax(axis=1))
    finished = batch.step(actions)
    assert not finished[ended].any()
    assert (batch.winners[ended] == -1).all()
    assert (batch.places()[ended] == 0).all()
    for row in np.flatnonzero(ended):
        assert batch.position(row) == expected.position(row)  # dealt, and nothing played in it


def test_the_next_game_does_not_follow_the_script_of_the_last():
    batch = GameBatch.from_positions(["40/7 0 1"] * 40, SHORT, seed=1, dice=[6] * 100)
    assert batch.step([0] * 40).all()
    plain = GameBatch(40, SHORT, seed=1)
    plain.reset()
    batch.step([0] * 40)
    assert_same_future(batch, plain, steps=10)


def test_the_step_after_the_end_plays_on_in_all_other_rows():
    batch = with_an_ended_row()
    before = batch.copy()
    ended = batch.finished
    batch.step(batch.masks().argmax(axis=1))
    for row in np.flatnonzero(~ended):
        game = Game(SHORT, seed=0, position=before.position(row))
        game.play(0)
        assert batch.position(row).pawns == game.position.pawns


@pytest.mark.parametrize(
    "kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
)
def test_actions_may_be_integers_of_any_width(kind):
    batch, other = GameBatch(5, seed=1), GameBatch(5, seed=1)
    for _ in range(20):
        actions = batch.masks().argmax(axis=1)
        batch.step(actions)
        other.step(actions.astype(kind))
    assert_same(batch, other)


def test_actions_may_be_a_list_a_tuple_a_slice_or_read_only():
    batches = [GameBatch(5, seed=1) for _ in range(5)]
    actions = batches[0].masks().argmax(axis=1)
    spaced = np.repeat(actions, 2)[::2]
    locked = actions.copy()
    locked.flags.writeable = False
    for batch, form in zip(
        batches, [actions, actions.tolist(), tuple(actions.tolist()), spaced, locked], strict=True
    ):
        batch.step(form)
        assert_same(batch, batches[0])


@pytest.mark.parametrize("num_threads", [1, 3])
@pytest.mark.parametrize("row", [0, 3, 6])
def test_an_illegal_action_anywhere_raises_and_changes_no_row(row, num_threads, many_threads):
    batch = play(GameBatch(7, TWO, seed=5, num_threads=num_threads), 30)
    before, future = pickle.dumps(batch), batch.copy()
    masked = np.flatnonzero(batch.masks()[row] == 0)
    assert len(masked)
    for action in [*masked, 4, -1, 127, MAX_SEED, -(2**63)]:
        actions = batch.masks().argmax(axis=1)
        actions[row] = action
        with pytest.raises(IllegalMoveError, match=f"row {row}"):
            batch.step(actions)
        assert pickle.dumps(batch) == before
    assert_same_future(batch, future)


def test_an_illegal_action_beside_an_ended_row_does_not_start_its_next_game():
    batch = with_an_ended_row()
    before = pickle.dumps(batch)
    with pytest.raises(IllegalMoveError):
        batch.step([3] * len(batch))
    assert pickle.dumps(batch) == before


def test_the_error_names_the_position_the_die_the_action_and_the_legal_moves():
    batch = GameBatch.from_positions([TWO_MOVES], TWO, seed=5)
    with pytest.raises(IllegalMoveError) as caught:
        batch.step([3])
    message = str(caught.value)
    assert TWO_MOVES in message
    assert "action 3" in message
    assert "with a 3" in message
    assert message.endswith("legal: 0, 1")


WRONG_ACTIONS = [
    None,
    0,
    [0],
    [0, 0, 0],
    [[0], [0]],
    [[0, 0]],
    [0.0, 0.0],
    [False, False],
    ["0", "0"],
    [None, None],
    [0, None],
    [0, 2**70],
    [[0], [0, 0]],
    np.zeros(2, dtype=np.float32),
    np.zeros(2, dtype=np.bool_),
    np.zeros((2, 1), dtype=np.int64),
    np.zeros(0, dtype=np.int64),
    np.zeros(2, dtype=object),
]


@pytest.mark.parametrize("actions", WRONG_ACTIONS, ids=label)
def test_actions_of_another_form_are_refused_and_change_nothing(actions):
    batch = GameBatch.from_positions([TWO_MOVES] * 2, TWO, seed=5)
    before = pickle.dumps(batch)
    refused(lambda: batch.step(actions), "actions", "(2,)")
    assert pickle.dumps(batch) == before


@pytest.mark.parametrize("row", [-1, 1, 10**30, 0.0, None, "0", False, True, [0]], ids=label)
def test_the_position_of_no_row_is_refused(row):
    batch = GameBatch(1, seed=1)
    refused(lambda: batch.position(row), "row")


# Resets


@rules_cases
def test_reset_with_a_seed_is_a_new_batch_of_that_seed(rules):
    batch = GameBatch(4, rules, seed=1)
    batch.rollout(300)
    batch.reset(seeds=9)
    assert_same_future(batch, GameBatch(4, rules, seed=9))


def test_reset_with_a_seed_begins_at_its_first_game_again():
    batch = GameBatch(4, seed=9)
    batch.reset()
    batch.reset()
    batch.reset(seeds=batch.seeds)
    assert_same_future(batch, GameBatch(4, seed=9))


def test_reset_without_seeds_deals_the_next_game_of_every_row():
    batch, twin = GameBatch(4, seed=9), GameBatch(4, seed=9)
    lines = []
    for _ in range(3):
        assert_same_future(batch.copy(), twin.copy(), steps=10)
        lines.append(beginning(batch))
        batch.reset()
        play(twin, 3).reset()
    assert lines[0] != lines[1] != lines[2] != lines[0]
    assert batch.seeds.tolist() == GameBatch(4, seed=9).seeds.tolist()


ROWS_FORMS = [
    [1, 3],
    (1, 3),
    np.array([1, 3]),
    np.array([1, 3], dtype=np.uint8),
    np.array([False, True, False, True]),
    [False, True, False, True],
]


@pytest.mark.parametrize("rows", ROWS_FORMS, ids=label)
def test_reset_of_some_rows_leaves_the_others_alone(rows):
    batch = play(GameBatch(4, seed=9), 20)
    whole, before = batch.copy(), batch.copy()
    batch.reset(rows)
    whole.reset()
    for _ in range(30):
        assert positions(batch) == [
            (whole if row in (1, 3) else before).position(row) for row in range(4)
        ]
        for one in (batch, whole, before):
            one.step(one.masks().argmax(axis=1))


def test_reset_gives_each_of_the_rows_its_seed_in_their_order():
    batch = play(GameBatch(4, seed=9), 20)
    batch.reset([3, 1], seeds=[70, 80])
    assert batch.seeds[[3, 1]].tolist() == [70, 80]
    assert batch.position(3) == Game(seed=70).position
    assert batch.position(1) == Game(seed=80).position


def test_reset_spreads_one_seed_over_the_rows_as_a_new_batch_does():
    batch = play(GameBatch(4, seed=9), 20)
    batch.reset([2, 0], seeds=70)
    assert batch.seeds[[2, 0]].tolist() == GameBatch(2, seed=70).seeds.tolist()


def test_reset_starts_ended_rows_too():
    batch = with_an_ended_row()
    batch.reset(batch.finished)
    assert not batch.finished.any()


@pytest.mark.parametrize("seeds", [None, 5, []])
def test_reset_of_no_row_changes_nothing(seeds):
    batch = play(GameBatch(4, seed=9), 20)
    for rows in ([], np.zeros(0, dtype=np.int64), np.zeros(4, dtype=np.bool_)):
        before = pickle.dumps(batch)
        batch.reset(rows, seeds)
        assert pickle.dumps(batch) == before


WRONG_ROWS = [
    [4],
    [-1],
    [0.0],
    ["0"],
    [None],
    0,
    "0",
    1.5,
    [[0, 1]],
    [[0], [1, 2]],
    [True, False],
    [2**70],
    np.ones((4, 1), dtype=np.bool_),
]


@pytest.mark.parametrize("rows", [*WRONG_ROWS, [0, 0]], ids=label)
def test_reset_refuses_wrong_rows_and_changes_nothing(rows):
    batch = play(GameBatch(4, seed=9), 20)
    before = pickle.dumps(batch)
    refused(lambda: batch.reset(rows), "rows")
    refused(lambda: batch.reset(rows, seeds=5), "rows")
    assert pickle.dumps(batch) == before


@pytest.mark.parametrize("seeds", WRONG_SEEDS, ids=label)
def test_reset_refuses_wrong_seeds_and_changes_nothing(seeds):
    batch = play(GameBatch(3, seed=9), 20)
    before = pickle.dumps(batch)
    refused(lambda: batch.reset(seeds=seeds), "seed")
    refused(lambda: batch.reset([0, 2, 1], seeds=seeds), "seed")
    assert pickle.dumps(batch) == before


# Given positions


def test_given_positions_stand_as_they_were_given_as_text_or_value():
    texts = [TWO_MOVES, "44.12.1.0/30.2.0.0 1 5", "43.42.41.40/9.8.7.6 0 1"]
    values = [Position.parse(text, TWO) for text in texts]
    for given in (texts, values, [texts[0], values[1], texts[2]], tuple(texts), np.array(texts)):
        batch = GameBatch.from_positions(given, TWO, seed=1)
        assert [str(position) for position in positions(batch)] == texts


@rules_cases
def test_a_given_position_plays_on_as_the_game_does(rules):
    given = positions(play(GameBatch(6, rules, seed=1), 12))
    undecided = [Position(p.pawns, p.player) for p in given if p.winner is None]
    batch = GameBatch.from_positions(undecided, rules, seed=8)
    games = [
        Game(rules, seed=seed, position=p) for seed, p in zip(batch.seeds, undecided, strict=True)
    ]
    assert batch.seeds[0] == 8
    for _ in range(20):
        assert positions(batch) == [game.position for game in games]
        batch.step(batch.masks().argmax(axis=1))
        for game in games:
            game.play(game.action_mask().argmax())
        if batch.finished.any():
            break


def test_given_positions_without_a_move_are_played_through():
    batch = GameBatch.from_positions(["0.0.0.0/0.0.0.0 1 3", "0.0.0.0/0.0.0.0 0 -"], TWO, seed=1)
    assert batch.dice.tolist() == [6, 6]
    assert batch.masks().tolist() == [[1, 0, 0, 0]] * 2


def test_a_finished_position_is_an_ended_row_and_is_followed_by_a_game_from_the_start():
    batch = GameBatch.from_positions(["41/7 0 -", "3/7 0 1"], SHORT, seed=1)
    assert batch.finished.tolist() == [True, False]
    assert batch.winners.tolist() == [0, -1]
    assert batch.places()[0].tolist() == [1, 2]
    batch.step([0, 0])
    assert batch.position(0).pawns == ((0,), (0,))


def test_given_positions_take_seeds_as_a_new_batch_does():
    seeds = GameBatch.from_positions([TWO_MOVES] * 3, TWO, seed=4).seeds
    assert seeds.tolist() == GameBatch(3, TWO, seed=4).seeds.tolist()
    own = GameBatch.from_positions([TWO_MOVES] * 3, TWO, seed=[1, 2, 3])
    assert own.seeds.tolist() == [1, 2, 3]
    fresh = GameBatch.from_positions([TWO_MOVES] * 3, TWO)
    assert len(np.unique(fresh.seeds)) == 3


@pytest.mark.parametrize(
    "given",
    [[], (), "0/0 0 -", None, 5, Position(((0,), (0,)), 0), [None], [5], ["0/0"], [b"0/0 0 -"]],
    ids=label,
)
def test_anything_but_a_sequence_of_positions_is_refused(given):
    refused(lambda: GameBatch.from_positions(given, SHORT), "position")


def test_an_impossible_position_is_refused_with_all_that_is_wrong():
    with pytest.raises(ValueError, match="impossible") as caught:
        GameBatch.from_positions(["3/7 0 1", "45/7 2 9"], SHORT)
    for wrong in ("45", "player must", "die must"):
        assert wrong in str(caught.value)


@pytest.mark.parametrize("seed", WRONG_SEEDS, ids=label)
def test_given_positions_with_wrong_seeds_are_refused(seed):
    refused(lambda: GameBatch.from_positions([TWO_MOVES] * 3, TWO, seed=seed), "seed")


# Copies and pickles

DUPLICATES = {
    "copy": lambda batch: batch.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda batch: pickle.loads(pickle.dumps(batch)),
    "oldest pickle": lambda batch: pickle.loads(pickle.dumps(batch, protocol=0)),
}
duplicates = pytest.mark.parametrize("duplicate", DUPLICATES.values(), ids=DUPLICATES.keys())


@duplicates
@rules_cases
def test_a_duplicate_has_the_same_future(duplicate, rules, many_threads):
    batch = play(GameBatch(5, rules, seed=3, num_threads=2), 30)
    other = duplicate(batch)
    assert other.rules == rules
    assert other.num_threads == 2
    assert_same_future(batch, other, steps=100)


@duplicates
def test_a_duplicate_is_independent(duplicate):
    batch = play(GameBatch(5, SHORT, seed=3), 30)
    batch.reset([0, 2], dice=[6, 4, 6, 1] * 30)
    other = duplicate(batch)
    before = pickle.dumps(batch)
    other.rollout(50)
    other.reset(seeds=8)
    assert pickle.dumps(batch) == before
    before = pickle.dumps(other)
    batch.rollout(50)
    batch.reset()
    assert pickle.dumps(other) == before


@duplicates
def test_a_duplicate_keeps_scripted_dice(duplicate):
    batch = GameBatch(3, TWO, seed=3)
    batch.reset([0, 2], dice=[6, 4, 6, 1, 6, 2, 6, 3, 6, 5])
    assert_same_future(batch, duplicate(batch))


@duplicates
def test_a_duplicate_of_ended_rows_starts_the_same_next_games(duplicate):
    batch = with_an_ended_row()
    assert_same_future(batch, duplicate(batch), steps=5)


def test_a_copy_with_a_seed_stands_where_the_batch_stands_and_has_another_future():
    batch = play(GameBatch(30, seed=3), 30)
    other = batch.copy(seed=99)
    assert positions(other) == positions(batch)
    assert other.seeds.tolist() == GameBatch(30, seed=99).seeds.tolist()
    for one in (batch, other):
        one.step(one.masks().argmax(axis=1))
    different = [a != b for a, b in zip(positions(batch), positions(other), strict=True)]
    assert sum(different) > 15


def test_a_copy_with_the_same_seed_again_has_the_same_future():
    batch = play(GameBatch(5, seed=3), 30)
    before = pickle.dumps(batch)
    assert_same_future(batch.copy(seed=99), batch.copy(seed=99))
    assert_same_future(batch.copy(seed=[5, 4, 3, 2, 1]), batch.copy(seed=[5, 4, 3, 2, 1]))
    assert pickle.dumps(batch) == before


def test_a_copy_with_a_seed_does_not_follow_scripted_dice():
    batch = GameBatch(40, TWO, seed=3)
    batch.reset(dice=[6] * 50)
    batch.step(batch.masks().argmax(axis=1))
    other = batch.copy(seed=8)
    for one in (batch, other):
        one.step(one.masks().argmax(axis=1))
    assert (batch.dice == 6).all()
    assert (other.dice != 6).any()


@pytest.mark.parametrize("seed", [s for s in WRONG_SEEDS if s is not None], ids=label)
def test_a_copy_with_a_wrong_seed_is_refused(seed):
    refused(lambda: GameBatch(3, seed=1).copy(seed=seed), "seed")


# Blind copies


def test_a_blind_copy_shows_the_same_positions():
    batch = play(GameBatch(20, seed=3), 40)
    shown = batch.blind()
    assert positions(shown) == positions(batch)
    np.testing.assert_array_equal(shown.masks(), batch.masks())
    np.testing.assert_array_equal(shown.observations(), batch.observations())


def test_a_blind_copy_hides_the_coming_dice():
    batch = GameBatch.from_positions(["20.10.0.0/15.5.0.0 0 3"] * 3000, TWO, seed=4)
    shown = batch.blind()
    shown_to_others = shown.copy()
    assert not set(shown.seeds.tolist()) & set(batch.seeds.tolist())
    for one in (batch, shown, shown_to_others):
        one.step([0] * 3000)
    agree = np.mean(batch.dice == shown.dice)
    assert abs(agree - 1 / 6) < 0.035  # dice that are independent agree once in six
    np.testing.assert_array_equal(shown.dice, shown_to_others.dice)


def test_a_blind_copy_hides_scripted_dice():
    batch = GameBatch(40, TWO, seed=3)
    batch.reset(dice=[6] * 50)
    shown = batch.blind()
    for _ in range(2):
        shown.step(shown.masks().argmax(axis=1))
    assert (shown.dice != 6).any()


def test_a_blind_copy_hides_the_next_games_of_ended_rows():
    batch = GameBatch.from_positions(["41.42.43.44/0.0.0.0 0 -"] * 200, TWO, seed=4)
    shown = batch.blind()
    for one in (batch, shown):
        for _ in range(3):
            one.step(one.masks().argmax(axis=1))
    assert 0.1 < np.mean(batch.players == shown.players) < 0.9


def test_a_blind_copy_is_independent_and_the_same_each_time():
    batch = play(GameBatch(5, seed=3), 40)
    before = pickle.dumps(batch)
    shown = batch.blind()
    shown.rollout(100)
    assert pickle.dumps(batch) == before
    assert_same_future(batch.blind(), batch.blind())


# Afterstates


def after_move(position: Position, action: int) -> tuple[tuple[int, ...], ...]:
    """The pawns after a legal action, worked out from the move and its capture."""
    rules = Rules(num_players=len(position.pawns), num_pawns=len(position.pawns[0]))
    game = Game(rules, seed=0, position=position)
    move = next(move for move in game.legal_moves() if move.action == action)
    pawns = [list(own) for own in position.pawns]
    pawns[position.player].remove(move.source)
    pawns[position.player].append(move.target)
    if move.captured is not None:
        corners = rules.corners
        turn = 10 * (corners[position.player] - corners[move.captured])
        hit = (move.target - 1 + turn) % 40 + 1
        pawns[move.captured].remove(hit)
        pawns[move.captured].append(0)
    return tuple(tuple(sorted(own, reverse=True)) for own in pawns)


@rules_cases
def test_afterstates_have_these_shapes_and_types(rules):
    batch = play(GameBatch(5, rules, seed=1), 10)
    after = batch.afterstates()
    shape = (5, 4, rules.num_players, rules.num_pawns)
    assert (after.pawns.shape, after.pawns.dtype) == (shape, np.int8)
    assert (after.player.shape, after.player.dtype) == ((5, 4), np.int8)
    assert (after.winner.shape, after.winner.dtype) == ((5, 4), np.int8)
    assert (after.legal.shape, after.legal.dtype) == ((5, 4), np.bool_)
    views = after.observations()
    assert (views.shape, views.dtype) == ((5, 4, LENGTH), np.int8)


@rules_cases
def test_afterstates_are_zero_where_an_action_is_illegal(rules):
    batch = play(GameBatch(30, rules, seed=1), 30)
    after = batch.afterstates()
    np.testing.assert_array_equal(after.legal, batch.masks().astype(bool))
    assert not after.legal.all()
    illegal = ~after.legal
    for array in (after.pawns, after.player, after.winner, after.observations()):
        assert not array[illegal].any()


@rules_cases
def test_afterstates_agree_with_playing_the_action(rules):
    batch = GameBatch(12, rules, seed=1)
    for _ in range(8):
        batch.rollout(25)
        after = batch.afterstates()
        views = after.observations()
        for row, action in np.argwhere(after.legal):
            game = Game(rules, seed=0, position=batch.position(row))
            roller = game.player if game.die == 6 else (game.player + 1) % rules.num_players
            game.play(action)  # rolls without a move leave the pawns where they are
            assert after.pawns[row, action].tolist() == [list(own) for own in game.position.pawns]
            if game.winner is not None:
                assert after.winner[row, action] == game.winner
                assert after.player[row, action] == -1
                continue
            assert after.winner[row, action] == -1
            assert after.player[row, action] == roller
            view = game.observation(roller)
            view[OBSERVATION["die"]] = 0  # the next roll is still to come
            np.testing.assert_array_equal(views[row, action], view)


@pytest.mark.parametrize("rules", [TWO, Rules(num_players=3), Rules()], ids=label)
def test_afterstates_move_the_pawn_and_send_the_captured_one_home(rules):
    batch = GameBatch(10, rules, seed=2)
    captures = 0
    for _ in range(10):
        batch.rollout(30)
        after = batch.afterstates()
        for row, action in np.argwhere(after.legal):
            position = batch.position(row)
            expected = after_move(position, action)
            assert after.pawns[row, action].tolist() == [list(own) for own in expected]
            captures += sum(map(sum, expected)) < sum(map(sum, position.pawns))
    assert captures


def test_after_a_six_the_mover_rolls_next():
    batch = GameBatch.from_positions(["20.0.0.0/0.0.0.0 1 6", "20.10.0.0/0.0.0.0 0 5"], TWO, seed=1)
    assert batch.afterstates().player[[0, 1], [0, 0]].tolist() == [1, 1]


def test_a_winning_action_names_the_winner_and_nobody_next():
    rules = Rules(num_players=2, num_pawns=2)
    batch = GameBatch.from_positions(["42.35/7.0 0 6", "7.0/42.40 1 1"], rules, seed=1)
    after = batch.afterstates()
    assert after.winner[0, 1] == 0
    assert after.player[0, 1] == -1
    assert after.winner[1].tolist() == [0, 1, 0, 0]
    assert after.player[1].tolist() == [0, -1, 0, 0]
    assert after.pawns[1, 1].tolist() == [[7, 0], [42, 41]]


@pytest.mark.parametrize("rows", [[4, 1], np.array([4, 1]), np.array([4, 1], dtype=np.int8)])
def test_afterstates_of_some_rows_come_in_their_order(rows):
    batch = play(GameBatch(6, seed=1), 30)
    whole, part = batch.afterstates(), batch.afterstates(rows)
    np.testing.assert_array_equal(part.pawns, whole.pawns[[4, 1]])
    np.testing.assert_array_equal(part.player, whole.player[[4, 1]])
    np.testing.assert_array_equal(part.winner, whole.winner[[4, 1]])
    np.testing.assert_array_equal(part.legal, whole.legal[[4, 1]])
    np.testing.assert_array_equal(part.observations(), whole.observations()[[4, 1]])


def test_afterstates_of_a_mask_and_of_no_row():
    batch = play(GameBatch(6, seed=1), 30)
    mask = np.array([True, False, False, True, False, False])
    np.testing.assert_array_equal(batch.afterstates(mask).pawns, batch.afterstates([0, 3]).pawns)
    assert batch.afterstates([]).pawns.shape == (0, 4, 4, 4)
    assert batch.afterstates([]).observations().shape == (0, 4, LENGTH)


@pytest.mark.parametrize("rows", WRONG_ROWS, ids=label)
def test_afterstates_of_wrong_rows_are_refused(rows):
    batch = GameBatch(4, seed=1)
    refused(lambda: batch.afterstates(rows), "rows")


def test_ended_rows_have_no_afterstates():
    batch = with_an_ended_row()
    after = batch.afterstates(batch.finished)
    for array in (after.legal, after.pawns, after.player, after.winner, after.observations()):
        assert not array.any()


def test_afterstates_change_nothing_and_do_not_change_with_the_batch():
    batch = play(GameBatch(6, seed=1), 30)
    before = pickle.dumps(batch)
    after = batch.afterstates()
    views = after.observations()
    arrays = [after.pawns, after.player, after.winner, after.legal, views]
    kept = [array.copy() for array in arrays]
    assert pickle.dumps(batch) == before
    batch.rollout(50)
    for array, was in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, was)
    np.testing.assert_array_equal(after.observations(), views)


# Threads, and what is returned


@pytest.mark.parametrize("num_games", [1, 3, 37])
@rules_cases
def test_threads_change_no_result(rules, num_games, many_threads):
    one, two, four = (GameBatch(num_games, rules, seed=6, num_threads=t) for t in (1, 2, 4))
    for actions in played(one, 40):
        finished = one.finished
        for other in (two, four):
            np.testing.assert_array_equal(other.step(actions), finished)
            np.testing.assert_array_equal(other.masks(), one.masks())
            np.testing.assert_array_equal(other.observations(), one.observations())
    for policy in ("random", "first", "advance", "careful"):
        stats = one.rollout(150, policy)
        for other in (two, four):
            assert other.rollout(150, policy) == stats
            assert_same(other, one)
    assert set(many_threads) == {1, min(2, num_games), min(4, num_games)}


def test_returned_arrays_never_change_later(many_threads):
    batch = GameBatch(9, SHORT, seed=6, num_threads=2)
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(60):
        finished = batch.step(some_legal(batch, rng))
        arrays = [finished, *told(batch).values()]
        kept.append((arrays, [array.copy() for array in arrays]))
    batch.rollout(50)
    batch.reset()
    for arrays, copies in kept:
        for array, was in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, was)


def test_writing_into_returned_arrays_changes_no_game():
    batch = play(GameBatch(6, SHORT, seed=6), 25)
    before = pickle.dumps(batch)
    for array in told(batch).values():
        array.fill(1)
    batch.afterstates().pawns.fill(1)
    assert pickle.dumps(batch) == before


def test_the_given_seeds_and_actions_stay_the_callers():
    seeds = np.array([4, 5, 6])
    batch = GameBatch(3, seed=seeds)
    actions = batch.masks().argmax(axis=1)
    before = actions.copy()
    batch.step(actions)
    batch.reset(seeds=7)
    np.testing.assert_array_equal(actions, before)
    assert seeds.tolist() == [4, 5, 6]
    seeds[:] = 0
    assert batch.seeds[0] == 7


# Rollouts


def first(moves: tuple[Move, ...]) -> Move:
    return moves[0]


def advance(moves: tuple[Move, ...]) -> Move:
    """A capture if there is one, else any move: of the most advanced pawn."""
    captures = [move for move in moves if move.captured is not None]
    return (captures or moves)[0]


def count_rolls(events: tuple[Any, ...]) -> int:
    return sum(isinstance(event, Roll) for event in events)


def one_by_one(rules: Rules, seed: int, decisions: int, choose: Any) -> tuple[Counter[str], str]:
    """What the games of a seed come to in that many decisions, and where they stand then."""
    counts: Counter[str] = Counter()
    game = Game(rules, seed=seed)
    own = Counter(rolls=count_rolls(game.opening_events))
    for _ in range(decisions):
        if game.winner is not None:
            game = Game(rules, seed=seed, episode=game.episode + 1)
            own = Counter(rolls=count_rolls(game.opening_events))
            counts["rolls"] += own["rolls"]
        moves = game.legal_moves()
        move = choose(moves)
        rolled = count_rolls(game.play(move.action))
        captured = int(move.captured is not None)
        counts.update(decisions=1, rolls=rolled, captures=captured)
        own.update(decisions=1, rolls=rolled, captures=captured)
        own.update(forced=int(len(moves) == 1), legal_moves=len(moves))
        if game.winner is not None:
            counts.update({"finished": 1, f"won by {game.winner}": 1, "whole_games": 1})
            counts.update({f"whole_{name}": value for name, value in own.items()})
    return counts, str(game.position)


def as_counts(stats: Any) -> Counter[str]:
    values = dataclasses.asdict(stats)
    wins = {f"won by {player}": value for player, value in enumerate(values.pop("wins"))}
    return Counter(values | wins)


@pytest.mark.parametrize("choose", [first, advance])
@rules_cases
def test_a_rollout_is_that_many_decisions_played_one_by_one(rules, choose):
    batch = GameBatch(4, rules, seed=6)
    counts = as_counts(batch.rollout(130, choose.__name__))
    expected: Counter[str] = Counter()
    for row, seed in enumerate(batch.seeds):
        own, end = one_by_one(rules, seed, 130, choose)
        expected.update(own)
        assert str(batch.position(row)) == end
    assert counts == expected  # a count that is missing counts as 0


@pytest.mark.parametrize("policy", ["random", "first", "advance", "careful"])
@rules_cases
def test_rollouts_of_one_step_each_add_up_to_one_rollout(rules, policy):
    batch, stepwise = GameBatch(5, rules, seed=6), GameBatch(5, rules, seed=6)
    counts = as_counts(batch.rollout(90, policy))
    parts = [as_counts(stepwise.rollout(1, policy)) for _ in range(90)]
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    for name in counts:
        if not name.startswith("whole"):
            assert total[name] == counts[name], name
    assert_same_future(batch, stepwise)


def test_whole_games_are_those_that_began_and_ended_within_the_call():
    batch = GameBatch(30, SHORT, seed=6)
    batch.rollout(10, "first")
    stats = batch.rollout(30, "first")
    assert 0 < stats.whole_games < stats.finished
    longer = GameBatch(30, SHORT, seed=6).rollout(40, "first")
    assert longer.whole_games == longer.finished == stats.finished
    assert longer.whole_decisions > stats.whole_decisions


def test_the_counts_of_a_rollout_are_plain_integers_that_fit_together():
    stats = GameBatch(20, SHORT, seed=6).rollout(200)
    assert stats.decisions == 4000
    assert sum(stats.wins) == stats.finished > 0
    assert len(stats.wins) == 2
    assert stats.rolls > stats.decisions
    assert stats.whole_games <= stats.finished
    assert stats.whole_legal_moves >= stats.whole_decisions >= stats.whole_forced
    for value in [*dataclasses.asdict(stats).values(), *stats.wins]:
        assert type(value) in (int, tuple)


def test_a_rollout_begins_the_next_games_of_ended_rows():
    batch = GameBatch.from_positions(["41/7 0 -"] * 3, SHORT, seed=1)
    stats = batch.rollout(1, "first")
    assert stats.decisions == 3
    assert not batch.finished.any()
    assert batch.winners.tolist() == [-1] * 3


@pytest.mark.parametrize("steps", [0, -1, 1.0, True, None, "3", 2**70], ids=label)
def test_a_rollout_of_a_wrong_number_of_steps_is_refused(steps):
    batch = GameBatch(2, seed=1)
    before = pickle.dumps(batch)
    refused(lambda: batch.rollout(steps), "steps")
    assert pickle.dumps(batch) == before


@pytest.mark.parametrize("policy", ["", "RANDOM", "td", None, 0, ["random"]], ids=label)
def test_a_rollout_of_an_unknown_policy_is_refused(policy):
    batch = GameBatch(2, seed=1)
    before = pickle.dumps(batch)
    refused(lambda: batch.rollout(3, policy), "policy", "random", "first", "advance", "careful")
    assert pickle.dumps(batch) == before


@pytest.mark.parametrize("rows", [[3], [-1], [10**9], [0.0], [[0]], "0", None])
def test_rows_and_actions_of_a_play_are_checked(rows):
    batch = GameBatch(3, seed=1)
    before = pickle.dumps(batch)
    for call in (batch.legal, batch.play):
        with pytest.raises(ValueError, match=r"rows must|actions must"):
            call(rows, np.array([0]))
    assert pickle.dumps(batch) == before


@pytest.mark.parametrize("actions", [[], [0], [0, 0, 0], [0.0, 0.0], [[0, 0]]])
def test_a_play_takes_one_action_for_each_row(actions):
    batch = GameBatch(3, seed=1)
    for call in (batch.legal, batch.play):
        with pytest.raises(ValueError, match="actions must be integers of shape"):
            call(np.array([0, 1]), actions)


def test_scripted_actions_are_for_rows_that_stand_at_a_decision():
    batch = GameBatch.from_positions(["41/1 0 -", "3/7 1 2"], SHORT, seed=1)
    for rows in ([0], [0, 1]):
        with pytest.raises(ValueError, match="must stand at a decision"):
            batch.scripted_actions(np.array(rows), "random")
    for rows in ([2], [-1], [0.5]):
        with pytest.raises(ValueError, match="rows must"):
            batch.scripted_actions(rows, "random")


def test_a_shallow_copy_is_a_copy():
    batch = GameBatch(3, seed=1)
    twin, before = copy.copy(batch), pickle.dumps(batch)
    twin.step(twin.masks().argmax(axis=1))
    assert pickle.dumps(batch) == before


# Numbers that do not fit


@pytest.mark.parametrize("number", [2**63, 2**64 - 1])
def test_numbers_beyond_int64_are_refused_as_they_came(number):
    batch = GameBatch(2, seed=1)
    numbers = np.full(2, number, dtype=np.uint64)
    refused(lambda: batch.step(numbers), "actions", str(number))
    refused(lambda: batch.observations(numbers), "players", str(number))


@pytest.mark.parametrize("episode", [2**58, 2**60, 2**62 - 1])
def test_an_episode_that_a_game_cannot_hold_is_refused(episode):
    refused(lambda: Game(seed=1, episode=episode), "episode", str(episode), "2**58 - 1")
    assert Game(seed=1, episode=2**58 - 1).episode == 2**58 - 1


def test_no_rows_and_no_actions_play_nothing():
    batch = GameBatch(2, seed=1)
    before = pickle.dumps(batch)
    batch.play([], [])
    assert batch.legal([], []).shape == (0,)
    assert pickle.dumps(batch) == before
