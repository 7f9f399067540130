"""Rollouts against the same games played decision by decision, around the blocks they run in."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from test_batch import positions, told
from test_facts import name_of

from ludo_env import GameBatch, Position, Rules
from ludo_env.core.batch import RolloutStats

Ints = NDArray[np.int64]

RULES = [
    Rules(),
    Rules(num_players=2),
    Rules(num_players=3, home_jumps=True),
    Rules(num_players=2, num_pawns=1),
    Rules(num_players=4, num_pawns=2, pawn_on_start=True),
    Rules(num_players=4, mandatory_capture=False),
]
TWO, SHORT = RULES[1], RULES[3]
POLICIES = ("random", "first", "advance", "careful")
BLOCK = 128  # games that the kernel plays side by side
SIZES = (1, BLOCK - 1, BLOCK, BLOCK + 1, 300)

rules_cases = pytest.mark.parametrize("rules", RULES, ids=name_of)
policies = pytest.mark.parametrize("policy", POLICIES)


class OneByOne:
    """Plays the games of a batch decision by decision, and counts as a rollout does.

    Every count is kept for each row, so that the counts of the first rows alone can be told.

    Args:
        batch: Games without a decision played; it is played on.
    """

    def __init__(self, batch: GameBatch) -> None:
        self.batch = batch
        self.played = np.zeros(len(batch), dtype=np.int64)  # decisions of the present games

    def rollout(self, steps: int, policy: str) -> dict[str, Ints]:
        """What `GameBatch.rollout` counts, by name and row (B,); wins (B, P)."""
        batch, size = self.batch, len(self.batch)
        total = {name: np.zeros(size, dtype=np.int64) for name in RolloutStats.__dataclass_fields__}
        total["wins"] = np.zeros((size, batch.rules.num_players), dtype=np.int64)
        own = {name: np.zeros_like(self.played) for name in ("captures", "forced", "legal_moves")}
        is_whole = self.played == 0
        while (rows := np.flatnonzero(total["decisions"] < steps)).size:
            dealt = rows[batch.finished[rows]]
            batch.reset(dealt)
            total["rolls"][dealt] += batch.rolls[dealt]
            for sums in (self.played, *own.values()):
                sums[dealt] = 0
            is_whole[dealt] = True

            options = batch.masks(rows).sum(axis=1)
            yards, rolls = self._yards(rows), batch.rolls[rows]
            batch.play(rows, batch.scripted_actions(rows, policy))
            # A move out of the yard empties it by one, and a capture fills one of the others'.
            captures = np.maximum(self._yards(rows) - yards, 0).sum(axis=1)
            self.played[rows] += 1
            total["decisions"][rows] += 1
            total["rolls"][rows] += batch.rolls[rows] - rolls
            total["captures"][rows] += captures
            own["captures"][rows] += captures
            own["forced"][rows] += options == 1
            own["legal_moves"][rows] += options

            won = rows[batch.finished[rows]]
            total["finished"][won] += 1
            total["wins"][won, batch.winners[won]] += 1
            whole = won[is_whole[won]]
            total["whole_games"][whole] += 1
            total["whole_decisions"][whole] += self.played[whole]
            total["whole_rolls"][whole] += batch.rolls[whole]
            for name, sums in own.items():
                total[f"whole_{name}"][whole] += sums[whole]
        return total

    def _yards(self, rows: Ints) -> Ints:
        """Pawns in each player's yard, (k, P)."""
        return (self.batch.pawns(rows) == 0).sum(axis=2)


def stats_of(total: dict[str, Ints], size: int) -> RolloutStats:
    """The counts of the first rows."""
    counts = {name: values[:size].sum(axis=0).tolist() for name, values in total.items()}
    return RolloutStats(**{**counts, "wins": tuple(counts["wins"])})


def whole_state(batch: GameBatch) -> dict[str, Any]:
    """All that a batch tells of itself, by row."""
    return {**told(batch), "pawns": batch.pawns(), "rolls": batch.rolls, "episodes": batch.episodes}


class Played(NamedTuple):
    """What two rollouts in a row counted, and how the games stood after each."""

    counts: list[dict[str, Ints]]
    states: list[dict[str, Any]]


def steps_in(rules: Rules) -> int:
    """Decisions, about as many as a game has."""
    return 40 * rules.num_players * rules.num_pawns


@cache
def played_one_by_one(rules: Rules, policy: str) -> Played:
    """The games of the largest batch; those of a smaller one are its first."""
    games = OneByOne(GameBatch(max(SIZES), rules, seed=0))
    counts, states = [], []
    for _ in range(2):
        counts.append(games.rollout(steps_in(rules), policy))
        states.append(whole_state(games.batch))
    return Played(counts, states)


def assert_rolls_out_alike(batch: GameBatch, games: OneByOne, steps: int, policy: str) -> None:
    """A rollout of a batch is what its twin's games come to one by one, to the last bit."""
    counts = games.rollout(steps, policy)
    assert batch.rollout(steps, policy) == stats_of(counts, len(batch))
    assert pickle.dumps(batch) == pickle.dumps(games.batch)


@policies
@rules_cases
def test_a_batch_of_any_size_plays_the_games_that_its_rows_are_one_by_one(rules, policy):
    expected = played_one_by_one(rules, policy)
    for size in SIZES:
        batch = GameBatch(size, rules, seed=0)
        for counts, state in zip(*expected, strict=True):
            assert batch.rollout(steps_in(rules), policy) == stats_of(counts, size)
            for name, values in whole_state(batch).items():
                np.testing.assert_array_equal(values, state[name][:size], err_msg=name)


@rules_cases
def test_the_games_compared_begin_end_and_go_on_at_all_stages(rules):
    expected = played_one_by_one(rules, "random")
    first, second = (stats_of(counts, max(SIZES)) for counts in expected.counts)
    assert first.whole_games == first.finished > 0
    assert 0 < second.whole_games < second.finished
    for stats in (first, second):
        assert stats.whole_captures > 0
        assert min(stats.wins) > 0
        assert (stats.whole_forced < stats.whole_decisions) == (rules.num_pawns > 1)


@policies
@rules_cases
def test_a_rollout_plays_what_single_steps_play(rules, policy):
    batch, stepped = GameBatch(1, rules, seed=5), GameBatch(1, rules, seed=5)
    batch.rollout(2 * steps_in(rules), policy)
    for _ in range(2 * steps_in(rules)):
        if stepped.finished[0]:
            stepped.step([0])  # deals the next game
        stepped.step(stepped.scripted_actions(None, policy))
    assert pickle.dumps(batch) == pickle.dumps(stepped)
    assert batch.episodes[0] > 0


# Where games begin


def both(make: Callable[..., GameBatch], *args: Any) -> tuple[GameBatch, OneByOne]:
    """The same games twice."""
    return make(*args), OneByOne(make(*args))


def given_positions(rules: Rules, size: int) -> list[Position]:
    """Positions at all stages: ended, before a roll, and with any die, playable or not."""
    batch = GameBatch(size, rules, seed=1)
    batch.rollout(steps_in(rules))
    own = [
        Position(position.pawns, position.player, die)
        for position, die in zip(positions(batch), [None, 1, 2, 3, 4, 5, 6] * size, strict=False)
        if position.winner is None
    ]
    over = [position for position in positions(batch) if position.winner is not None]
    return [*over[:1], *own, *positions(batch)][:size]


@policies
@rules_cases
def test_games_go_on_from_given_positions(rules, policy):
    given = given_positions(rules, 300)
    batch, games = both(GameBatch.from_positions, given, rules, 2)
    assert len(set(positions(batch))) > 100
    for steps in (1, steps_in(rules) // 2):
        assert_rolls_out_alike(batch, games, steps, policy)


@pytest.mark.parametrize("size", SIZES)
def test_ended_rows_begin_their_next_games(size):
    given = ["41/7 0 -", "40/7 0 1", "3/41 1 -"] * size
    batch, games = both(GameBatch.from_positions, given[:size], SHORT, 2)
    assert batch.finished.sum() == size - (size + 1) // 3
    for steps in (1, 1, steps_in(SHORT), 1):
        assert_rolls_out_alike(batch, games, steps, "random")
    assert (batch.episodes > 0).all()


# Scripted dice


def partly_scripted(rules: Rules, size: int, num_threads: int = 1) -> GameBatch:
    """Rows with a script that outlasts games, with none, and with one soon used up, in turn."""
    rng = np.random.default_rng(4)
    batch = GameBatch.from_positions(
        given_positions(rules, size),
        rules,
        seed=2,
        dice=rng.integers(1, 7, 4 * steps_in(rules)),
        num_threads=num_threads,
    )
    rows = np.arange(size)
    batch.reset(rows[rows % 3 == 1])
    batch.reset(rows[rows % 3 == 2], dice=[6, 6, 5, 4, 6, 1])
    return batch


@policies
@pytest.mark.parametrize("rules", [TWO, SHORT], ids=name_of)
def test_scripted_dice_are_rolled_while_they_last_in_their_rows_alone(rules, policy):
    for size in SIZES:
        batch, games = both(partly_scripted, rules, size)
        for steps in (3, steps_in(rules)):
            assert_rolls_out_alike(batch, games, steps, policy)


def test_threads_share_rows_together_with_their_scripts(many_threads):
    batch, games = partly_scripted(SHORT, 300, num_threads=3), OneByOne(partly_scripted(SHORT, 300))
    for steps in (3, steps_in(SHORT)):
        counts = games.rollout(steps, "random")
        assert batch.rollout(steps, "random") == stats_of(counts, 300)
        assert many_threads[-1] == 3
        for name, values in whole_state(games.batch).items():
            np.testing.assert_array_equal(whole_state(batch)[name], values, err_msg=name)


def test_the_scripts_compared_are_followed():
    batch, plain = partly_scripted(TWO, 300), partly_scripted(TWO, 300)
    plain = plain.copy(plain.seeds)  # a copy with seeds does without scripts
    for one in (batch, plain):
        one.rollout(3, "first")
    same = np.array([a == b for a, b in zip(positions(batch), positions(plain), strict=True)])
    assert same[1::3].all()
    assert same[0::3].mean() < 0.5
    assert same[2::3].mean() < 0.5
