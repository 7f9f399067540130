"""Dice and the draws of policies: even, unrelated to each other, and nobody else's."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ludo_env import Game, GameBatch, Rules, make_agent
from ludo_env.core.dice import game_key, roll, spread_seed
from ludo_env.core.game import Roll

TWO = Rules(num_players=2)
# Under the rules TWO: all four actions are legal.
FOUR_MOVES = "30.20.10.5/0.0.0.0 0 3"
# The same, and player 1 will have a move with any die.
ALWAYS_A_MOVE = "30.20.10.5/23.16.9.2 0 3"

# By degrees of freedom: what a fair generator exceeds once in 10,000 tests. The seeds are fixed.
CHI_SQUARE = {1: 15.1, 3: 21.1, 5: 25.7, 15: 44.3, 25: 60.1, 215: 301.4}


def dice(seed: int, length: int, episode: int = 0) -> np.ndarray:
    """The first rolls of a seed's game."""
    key = game_key(seed, episode)
    return np.array([roll(key, n) for n in range(length)])


def first_rolls(seeds: Any, episode: int = 0) -> np.ndarray:
    """The first roll of each of the seeds' games."""
    return np.array([roll(game_key(seed, episode), 0) for seed in seeds])


def assert_equally_often(counts: np.ndarray) -> None:
    expected = counts.sum() / counts.size
    assert ((counts - expected) ** 2).sum() / expected < CHI_SQUARE[counts.size - 1]


def assert_even(values: np.ndarray) -> None:
    """Dice whose six numbers are about equally frequent."""
    assert set(values) <= set(range(1, 7))
    assert_equally_often(np.bincount(values, minlength=7)[1:])


def assert_unrelated(values: np.ndarray, others: np.ndarray, kinds: int = 6) -> None:
    """Dice ``others`` are spread alike beside each of the values 1 … ``kinds``."""
    table = np.zeros((kinds, 6))
    np.add.at(table, (values - 1, others - 1), 1)
    expected = table.sum(axis=1, keepdims=True) @ table.sum(axis=0, keepdims=True) / table.sum()
    assert ((table - expected) ** 2 / expected).sum() < CHI_SQUARE[(kinds - 1) * 5]


# Even and unrelated


@pytest.mark.parametrize("seed", [0, 1, 2, 2**32, 2**62, 2**63 - 1])
def test_the_rolls_of_a_game_are_even(seed):
    assert_even(dice(seed, 20_000))


@pytest.mark.parametrize("first", [0, 1000, 2**40, 2**63 - 20_000])
def test_the_first_rolls_of_neighbouring_seeds_are_even(first):
    assert_even(first_rolls(range(first, first + 20_000)))


def test_the_first_rolls_of_a_batch_and_of_the_games_of_a_seed_are_even():
    assert_even(first_rolls([spread_seed(3, i) for i in range(20_000)]))
    assert_even(np.array([roll(game_key(3, episode), 0) for episode in range(20_000)]))


@pytest.mark.parametrize("lag", [1, 2, 3, 4, 6, 12])
def test_a_roll_tells_nothing_about_a_later_one(lag):
    rolls = dice(5, 20_000)
    assert_unrelated(rolls[:-lag], rolls[lag:])


@pytest.mark.parametrize("lag", [1, 2, 3, 8, 1024])
def test_a_seed_tells_nothing_about_a_near_one(lag):
    rolls = first_rolls(range(20_000 + lag))
    assert_unrelated(rolls[:-lag], rolls[lag:])


@pytest.mark.parametrize(("seed", "other"), [(5, 6), (0, 1), (0, 2**62), (8, 9)])
def test_the_games_of_two_seeds_are_unrelated(seed, other):
    assert_unrelated(dice(seed, 20_000), dice(other, 20_000))
    assert_unrelated(dice(seed, 20_000)[1:], dice(other, 20_000)[:-1])


@pytest.mark.parametrize("episode", [1, 2, 3, 10])
def test_the_games_of_one_seed_are_unrelated(episode):
    assert_unrelated(dice(5, 20_000), dice(5, 20_000, episode))
    assert_unrelated(first_rolls(range(20_000)), first_rolls(range(20_000), episode))


def test_the_next_game_of_a_seed_is_not_the_game_of_the_next_seed():
    for seed in range(50):
        assert dice(seed, 60, episode=1).tolist() != dice(seed + 1, 60).tolist()


def test_no_two_games_of_any_seeds_have_the_same_key():
    seeds = {0, 3, *(2**power for power in range(63)), *(2**power - 1 for power in range(1, 64))}
    keys = {game_key(seed, episode) for seed in seeds for episode in range(100)}
    assert len(keys) == 100 * len(seeds)


def test_three_rolls_in_a_row_are_even():
    rolls = dice(7, 60_000).reshape(-1, 3) - 1
    assert_equally_often(np.bincount(rolls @ [36, 6, 1], minlength=216))


@pytest.mark.parametrize("seed", [0, 5, 2**63 - 1])
def test_a_game_is_played_with_these_rolls(seed):
    game = Game(seed=seed)
    events = list(game.opening_events)
    while game.winner is None:
        events.extend(game.play(game.action_mask().argmax()))
    told = [event.die for event in events if isinstance(event, Roll)]
    assert len(told) > 100
    assert told == dice(seed, len(told)).tolist()


# Nobody else's generator


def global_states() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), name, keys.tolist(), rest


def seed_global_generators(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002


@pytest.fixture
def generators_restored() -> Iterator[None]:
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    yield
    random.setstate(python)
    np.random.set_state(numpy)  # noqa: NPY002


def a_bit_of_everything(seed: int | None) -> list[Any]:
    """Use every part that draws; with a seed, the result follows from it alone."""
    batch = GameBatch(4, TWO, seed=seed, num_threads=2)
    agents = [make_agent(name, seed=seed) for name in ("random", "first", "advance")]
    told = []
    for _ in range(10):
        for agent in agents:
            batch.step(agent.act(batch.blind(), np.arange(4)))
            told.append(batch.observations().tolist())
        batch.reset([0, 2])
    told.append(batch.rollout(200))
    other = batch.copy(seed=seed)
    other.reset(seeds=seed)
    given = GameBatch.from_positions([FOUR_MOVES], TWO, seed=seed)
    game = Game(TWO, seed=seed).copy(seed=seed)
    game.play(game.action_mask().argmax())
    given.step([1])
    return [*told, batch.masks().tolist(), game.position, given.position(0)]


@pytest.mark.usefixtures("generators_restored")
@pytest.mark.parametrize("seed", [None, 3])
def test_no_global_generator_is_touched(seed):
    before = global_states()
    a_bit_of_everything(seed)
    assert global_states() == before


@pytest.mark.usefixtures("generators_restored")
def test_seeds_of_global_generators_have_no_influence():
    told, fresh = [], []
    for seed in (0, 0, 1):
        seed_global_generators(seed)
        told.append(a_bit_of_everything(3))
        seed_global_generators(seed)
        fresh.append(GameBatch(20).seeds.tolist())
    assert told[0] == told[1] == told[2]
    assert fresh[0] != fresh[1]


# The draws of the random policy


def agree(values: np.ndarray, others: np.ndarray) -> float:
    return float(np.mean(values == others))


def rows_of(batch: GameBatch) -> np.ndarray:
    return np.arange(len(batch))


def test_draws_take_every_legal_move_equally_often():
    batch = GameBatch.from_positions([FOUR_MOVES] * 4000, TWO, seed=1)
    actions = make_agent("random", seed=0).act(batch, rows_of(batch))
    assert_equally_often(np.bincount(actions, minlength=4))


def test_draws_of_one_game_differ_from_decision_to_decision():
    batch = GameBatch.from_positions([ALWAYS_A_MOVE] * 4000, TWO, seed=1)
    agent = make_agent("random", seed=0)
    draws = agent.act(batch, rows_of(batch))
    batch.step([0] * 4000)
    four = batch.masks().sum(axis=1) == 4
    assert four.sum() > 2000
    next_draws = agent.act(batch, rows_of(batch))
    assert abs(agree(draws[four], next_draws[four]) - 1 / 4) < 0.05


def test_draws_do_not_consume_dice():
    batch = GameBatch.from_positions([FOUR_MOVES] * 50, TWO, seed=1)
    asked = batch.copy()
    for _ in range(3):
        make_agent("random", seed=0).act(asked, rows_of(asked))
    for _ in range(10):
        actions = batch.masks().argmax(axis=1)
        for one in (batch, asked):
            one.step(actions)
        assert batch.dice.tolist() == asked.dice.tolist()
        assert batch.observations().tolist() == asked.observations().tolist()


def test_draws_tell_nothing_about_the_coming_die():
    batch = GameBatch.from_positions([ALWAYS_A_MOVE] * 20_000, TWO, seed=1)
    actions = make_agent("random", seed=0).act(batch, rows_of(batch))
    batch.step(actions)
    assert (batch.players == 1).all()
    assert_unrelated(actions + 1, batch.dice, kinds=4)


def test_draws_depend_on_the_agents_seed():
    batch = GameBatch.from_positions([FOUR_MOVES] * 2000, TWO, seed=1)
    by_seed = [make_agent("random", seed=s).act(batch, rows_of(batch)) for s in (0, 1, 2**63 - 1)]
    for one in range(3):
        assert abs(agree(by_seed[one], by_seed[one - 1]) - 1 / 4) < 0.05
    fresh = [make_agent("random").act(batch, rows_of(batch)) for _ in range(2)]
    assert agree(*fresh) < 0.5


def test_draws_depend_on_the_games_seed_but_not_on_its_neighbours():
    batch = GameBatch.from_positions([FOUR_MOVES] * 2001, TWO, seed=list(range(2001)))
    actions = make_agent("random", seed=0).act(batch, rows_of(batch))
    assert abs(agree(actions[1:], actions[:-1]) - 1 / 4) < 0.05


@pytest.mark.parametrize("seed", [0, 7])
def test_draws_are_the_same_in_any_batch_and_for_any_rows(seed):
    batch = GameBatch(40, seed=6)
    agent = make_agent("random", seed=seed)
    for _ in range(20):
        actions = agent.act(batch, rows_of(batch))
        again = make_agent("random", seed=seed)
        shuffled = np.random.default_rng(0).permutation(40)
        assert again.act(batch, shuffled).tolist() == actions[shuffled].tolist()
        assert again.act(batch, np.array([33, 5])).tolist() == actions[[33, 5]].tolist()
        assert agent.act(batch, rows_of(batch)).tolist() == actions.tolist()
        batch.step(actions)


def test_draws_in_a_batch_are_those_of_each_game_alone():
    batch = GameBatch(10, TWO, seed=6)
    alone = [GameBatch(1, TWO, seed=seed) for seed in batch.seeds]
    agent = make_agent("random", seed=3)
    for _ in range(40):
        actions = agent.act(batch, rows_of(batch))
        for row, single in enumerate(alone):
            assert agent.act(single, np.array([0])).tolist() == [actions[row]]
            single.step([actions[row]])
        batch.step(actions)
        assert not batch.finished.any()


def test_draws_can_be_repeated_by_an_agent_who_is_shown_a_blind_copy():
    told = []
    for num_games in (10, 20):
        batch = GameBatch(num_games, TWO, seed=6)
        agent = make_agent("random", seed=3)
        for _ in range(40):
            batch.step(agent.act(batch.blind(), rows_of(batch)))
        told.append([str(batch.position(row)) for row in range(10)])
    assert told[0] == told[1]


def test_a_rollout_at_random_plays_every_legal_move_equally_often():
    batch = GameBatch.from_positions([FOUR_MOVES] * 4000, TWO, seed=1)
    batch.rollout(1, "random")
    boards = [batch.position(row).pawns[0] for row in range(4000)]
    moved = [{30: 0, 20: 1, 10: 2, 5: 3}[({30, 20, 10, 5} - set(own)).pop()] for own in boards]
    assert_equally_often(np.bincount(moved, minlength=4))
