"""What follows from the rules: invariants of every game, and the statistics of random play."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from ludo_env import Game, GameBatch, Position, Rules
from ludo_env.core.batch import RolloutStats

CORNERS = {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}
TABLES = list(product((2, 3, 4), (1, 2, 3, 4)))
OPTIONS = list(product((False, True), repeat=3))
ALL_RULES = [Rules(*table, *options) for table in TABLES for options in OPTIONS]

Ints = NDArray[np.int64]


def name_of(rules: Rules) -> str:
    options = (rules.mandatory_capture, rules.home_jumps, rules.pawn_on_start)
    return f"{rules.num_players}x{rules.num_pawns}" + "".join("-+"[on] for on in options)


every_rules = pytest.mark.parametrize("rules", ALL_RULES, ids=name_of)


class Played(NamedTuple):
    """Many moves: pawns (k, P, n), all else (k,)."""

    before: Ints
    player: Ints
    die: Ints
    action: Ints
    after: Ints
    finished: NDArray[np.bool_]


@cache
def random_play(rules: Rules) -> Played:
    """Moves of random games; a row's game is followed by its next."""
    batch, chooser = GameBatch(40, rules, seed=3), np.random.default_rng(3)
    batch.rollout(5000)  # some games on, so that the rows stand at all stages of a game
    steps = []
    for _ in range(100):
        masks = batch.masks()
        actions = (masks * (1 + chooser.random(masks.shape))).argmax(axis=1)
        live = ~batch.finished
        seen = batch.pawns(), batch.players, batch.dice, actions
        finished = batch.step(actions)
        steps.append([values[live] for values in (*seen, batch.pawns(), finished)])
    *numbers, finished = map(np.concatenate, zip(*steps, strict=True))
    return Played(*(values.astype(np.int64) for values in numbers), finished)


def squares_of(pawns: Ints) -> Ints:
    """A number for each pawn's square, the yard's places included: (k, P · n)."""
    k, num_players, num_pawns = pawns.shape
    corners = np.array(CORNERS[num_players])[:, None]
    places = np.arange(num_players * num_pawns).reshape(num_players, num_pawns)
    track = (10 * corners + pawns - 1) % 40
    column = 100 * (1 + corners) + pawns
    squares = np.where(pawns == 0, 1000 + places, np.where(pawns > 40, column, track))
    return squares.reshape(k, -1)


def most_advanced_first(pawns: Ints) -> Ints:
    return -np.sort(-pawns, axis=-1)


def expected_after(play: Played) -> Ints:
    """The mover's pawn goes on by the die, or out; the opponent where it ends goes to its yard."""
    rows = np.arange(len(play.player))
    players = np.arange(play.before.shape[1])
    source = play.before[rows, play.player, play.action]
    target = np.where(source == 0, 1, source + play.die)
    after = play.before.copy()
    after[rows, play.player, play.action] = target
    squares = squares_of(after).reshape(after.shape)
    ends_on = squares[rows, play.player, play.action]
    is_hit = (squares == ends_on[:, None, None]) & (
        players[None, :, None] != play.player[:, None, None]
    )
    return most_advanced_first(np.where(is_hit, 0, after))


def is_in_three_tries(own: tuple[int, ...], rules: Rules) -> bool:
    """R9, said once more: nobody on the track, and nobody in the column who could move."""
    column = [p for p in own if p > 40]
    home = range(41, 41 + rules.num_pawns)
    if any(1 <= p <= 40 for p in own):
        return False
    return not any(
        square > p
        and square not in column
        and (rules.home_jumps or not any(p < passed < square for passed in column))
        for p in column
        for square in home
    )


# Invariants


@every_rules
def test_at_most_one_pawn_stands_on_any_square(rules: Rules) -> None:
    squares = np.sort(squares_of(random_play(rules).after), axis=1)
    assert (np.diff(squares, axis=1) > 0).all()


@every_rules
def test_a_pawn_moves_only_by_its_die_or_to_the_yard_by_capture(rules: Rules) -> None:
    play = random_play(rules)
    np.testing.assert_array_equal(play.after, expected_after(play))


@every_rules
def test_a_pawn_leaves_the_yard_only_on_a_6(rules: Rules) -> None:
    play = random_play(rules)
    dice_out = play.die[play.before[np.arange(len(play.die)), play.player, play.action] == 0]
    assert len(dice_out) > 0
    assert set(dice_out) == {6}


@every_rules
def test_a_game_ends_just_when_the_mover_has_all_pawns_home(rules: Rules) -> None:
    play = random_play(rules)
    is_home = (play.after > 40).all(axis=2)
    assert play.finished.any()
    np.testing.assert_array_equal(is_home[np.arange(len(play.die)), play.player], play.finished)
    np.testing.assert_array_equal(is_home.sum(axis=1), play.finished)


@every_rules
def test_three_tries_never_follow_a_played_6_in_play(rules: Rules) -> None:
    play = random_play(rules)
    after_6 = np.flatnonzero((play.die == 6) & ~play.finished)
    owns = {tuple(own) for own in play.after[after_6, play.player[after_6]].tolist()}
    assert len(owns) > 1
    assert not any(is_in_three_tries(own, rules) for own in owns)


def own_pawns(num_pawns: int) -> list[tuple[int, ...]]:
    """Every way to place a player's pawns that has not won."""
    squares = range(1, 41 + num_pawns)
    return [
        tuple(reversed(out)) + (0,) * (num_pawns - len(out))
        for number in range(num_pawns + 1)
        for out in combinations(squares, number)
        if len([p for p in out if p > 40]) < num_pawns
    ]


@pytest.mark.parametrize("home_jumps", [False, True])
@pytest.mark.parametrize("num_pawns", [1, 2, 3])
def test_three_tries_never_follow_a_played_6_from_any_own_pawns(
    num_pawns: int, home_jumps: bool
) -> None:
    rules = Rules(2, num_pawns, home_jumps=home_jumps)
    nobody = (0,) * num_pawns
    starts = [Position((own, nobody), 0, 6) for own in own_pawns(num_pawns)]
    batch = GameBatch.from_positions(starts, rules, seed=0)
    playable = np.flatnonzero(batch.rolls == 0)
    after = batch.afterstates(playable)
    goes_on = after.legal & (after.winner < 0)
    assert (after.player[goes_on] == 0).all()
    owns = {tuple(own) for own in after.pawns[goes_on][:, 0].tolist()}
    assert len(owns) > 1
    assert not any(is_in_three_tries(own, rules) for own in owns)


@pytest.mark.parametrize("home_jumps", [False, True])
@pytest.mark.parametrize(("num_players", "num_pawns"), TABLES)
def test_in_three_tries_a_6_is_always_playable_and_nothing_else(
    num_players: int, num_pawns: int, home_jumps: bool
) -> None:
    rules = Rules(num_players, num_pawns, home_jumps=home_jumps)
    there = -10 * CORNERS[num_players][-1] % 40 + 1  # the last player's, on the start square
    others = (*((0,) * num_pawns,) * (num_players - 2), (there, *(0,) * (num_pawns - 1)))
    for at_home in range(num_pawns):
        own = (*range(40 + num_pawns, 40 + num_pawns - at_home, -1), *(0,) * (num_pawns - at_home))
        assert is_in_three_tries(own, rules)
        game = Game(rules, seed=0, position=Position((own, *others), 0, 6))
        assert (game.player, game.die, game.rolls) == (0, 6, 0)
        assert [(move.source, move.target) for move in game.legal_moves()] == [(0, 1)]
        for die in range(1, 6):
            game = Game(rules, seed=0, position=Position((own, *others), 0, die), dice=[6])
            assert (game.player, game.die, game.rolls) == (0, 6, 1)


one_pawn = pytest.mark.parametrize(
    "rules", [rules for rules in ALL_RULES if rules.num_pawns == 1], ids=name_of
)


@one_pawn
def test_with_one_pawn_each_nobody_ever_has_a_choice(rules: Rules) -> None:
    stats = GameBatch(16, rules, seed=1).rollout(2000)
    assert stats.whole_games > 100
    assert stats.whole_decisions == stats.whole_forced == stats.whole_legal_moves


@one_pawn
def test_with_one_pawn_each_every_policy_gives_the_same_games(rules: Rules) -> None:
    wins = {
        policy: GameBatch(16, rules, seed=1).rollout(2000, policy)
        for policy in ("random", "first", "advance")
    }
    assert wins["random"] == wins["first"] == wins["advance"]


# Statistics


class Measured(NamedTuple):
    """A mean over independent batches and its standard error."""

    mean: float
    error: float


def measured(values: list[float]) -> Measured:
    return Measured(float(np.mean(values)), float(np.std(values, ddof=1) / len(values) ** 0.5))


def assert_close(name: str, found: Measured, known: float, digits: int) -> None:
    """Within four standard errors, and half a unit of the known number's last digit."""
    allowed = 4 * found.error + 0.5 * 10.0**-digits
    assert abs(found.mean - known) <= allowed, (name, found, known)


# Uniformly random play by the default rules, from 2 million games for each number of players.
RANDOM_PLAY = {
    2: {
        "decisions": 179.9,
        "rolls": 214.1,
        "forced": 0.495,
        "legal moves": 1.829,
        "captures": 11.7,
        "wins": (0.505, 0.495),
    },
    3: {
        "decisions": 346.9,
        "rolls": 420.9,
        "forced": 0.610,
        "legal moves": 1.580,
        "captures": 35.9,
        "wins": (0.337, 0.348, 0.315),
    },
    4: {
        "decisions": 570.5,
        "rolls": 717.3,
        "forced": 0.688,
        "legal moves": 1.434,
        "captures": 73.8,
        "wins": (0.252, 0.251, 0.249, 0.248),
    },
}
SAMPLES, ROWS, GAMES_IN_A_ROW = 64, 2, 400

QUANTITIES: dict[str, tuple[int, Callable[[RolloutStats], float]]] = {
    "decisions": (1, lambda stats: stats.whole_decisions / stats.whole_games),
    "rolls": (1, lambda stats: stats.whole_rolls / stats.whole_games),
    "captures": (1, lambda stats: stats.whole_captures / stats.whole_games),
    "forced": (3, lambda stats: stats.whole_forced / stats.whole_decisions),
    "legal moves": (3, lambda stats: stats.whole_legal_moves / stats.whole_decisions),
}


@pytest.fixture(scope="module", params=sorted(RANDOM_PLAY))
def samples(request: pytest.FixtureRequest) -> list[RolloutStats]:
    """Independent samples of long runs, so that cutting off each last game weighs nothing."""
    rules = Rules(num_players=request.param)
    steps = int(RANDOM_PLAY[request.param]["decisions"] * GAMES_IN_A_ROW)
    return [GameBatch(ROWS, rules, seed=1000 + i).rollout(steps) for i in range(SAMPLES)]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_random_play_has_the_known_means(samples: list[RolloutStats], quantity: str) -> None:
    known = RANDOM_PLAY[len(samples[0].wins)][quantity]
    digits, value = QUANTITIES[quantity]
    assert sum(stats.whole_games for stats in samples) > 40_000
    assert_close(quantity, measured([value(stats) for stats in samples]), known, digits)


def test_random_play_is_won_as_often_as_known_from_each_seat(samples: list[RolloutStats]) -> None:
    known = RANDOM_PLAY[len(samples[0].wins)]["wins"]
    assert all(sum(stats.wins) == stats.finished for stats in samples)
    for player, share in enumerate(known):
        found = measured([stats.wins[player] / stats.finished for stats in samples])
        assert_close(f"wins of player {player}", found, share, 3)


@pytest.mark.parametrize(("pawn_on_start", "known"), [(False, 0.52091555), (True, 0.52652484)])
def test_the_first_of_two_players_with_one_pawn_wins_with_the_exact_probability(
    pawn_on_start: bool, known: float
) -> None:
    batch = GameBatch(100, Rules(2, 1, pawn_on_start=pawn_on_start), seed=7)
    finished = won = 0
    while finished < 400_000:
        stats = batch.rollout(20_000)
        finished += stats.finished
        won += stats.wins[0]
    error = (known * (1 - known) / finished) ** 0.5
    assert abs(won / finished - known) <= 4 * error
