"""The engine against a slow game written from the rules alone, decision by decision."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Afterstate, ReferenceGame, text
from test_position import all_rules, positions, rules_and_positions

from ludo_env import Game, GameBatch, Position, Rules
from ludo_env.core.dice import game_key, roll
from ludo_env.core.game import Captured, Event, Moved, Passed, Roll

TABLES = list(product((2, 3, 4), (1, 2, 3, 4)))
OPTIONS = list(product((False, True), repeat=3))
DECISIONS_WITH_EACH_RULES = 1050

assert len(TABLES) * len(OPTIONS) * DECISIONS_WITH_EACH_RULES >= 100_000


def seeded(seed: int, script: Sequence[int] = (), *, episode: int = 0) -> Callable[[int], int]:
    """The published dice of a seed's game, after scripted ones."""
    key = game_key(seed, episode)
    return lambda n: script[n] if n < len(script) else roll(key, n)


def reference_at(position: Position, rules: Rules, dice: Callable[[int], int]) -> ReferenceGame:
    return ReferenceGame(
        rules, dice, pawns=position.pawns, player=position.player, die=position.die
    )


def told(events: Iterable[Event]) -> list[tuple[str | int, ...]]:
    """The engine's events in the reference's words."""
    words: list[tuple[str | int, ...]] = []
    for event in events:
        match event:
            case Roll(player, die):
                words.append(("roll", player, die))
            case Moved(player, move):
                words.append(("move", player, move.action, move.source, move.target))
            case Captured(player, by):
                words.append(("capture", player, by))
            case Passed(player):
                words.append(("pass", player))
    return words


def reference_move(
    reference: ReferenceGame, action: int, after: Afterstate
) -> tuple[int, int, int, int | None]:
    """Action, source, target and victim, seen by what the move changes."""
    own, own_after = reference.pawns[reference.player], after[0][reference.player]
    (target,) = set(own_after) - set(own)
    victims = [
        player
        for player, pawns in enumerate(reference.pawns)
        if player != reference.player and tuple(pawns) != after[0][player]
    ]
    return action, own[action], target, victims[0] if victims else None


def told_afterstate(after: Position) -> Afterstate:
    """An afterstate in the reference's words: pawns, next to roll, winner."""
    assert after.die is None
    return after.pawns, None if after.winner is not None else after.player, after.winner


def assert_same_decision(game: Game, reference: ReferenceGame) -> list[int]:
    """Compare all there is to see; returns the legal actions."""
    assert str(game.position) == text(reference)
    assert (game.player, game.die, game.winner) == (
        reference.player,
        reference.die,
        reference.winner,
    )
    assert game.rolls == reference.rolls
    mask = reference.action_mask()
    assert game.action_mask().tolist() == mask
    after = {action: reference.afterstate(action) for action in range(4) if mask[action]}
    moves = [reference_move(reference, action, after[action]) for action in after]
    assert list(game.legal_moves()) == moves
    told_after = {action: told_afterstate(found) for action, found in game.afterstates().items()}
    assert told_after == after
    return list(after)


def assert_same_play(game: Game, reference: ReferenceGame, action: int) -> None:
    already_told = len(reference.log)
    events = game.play(action)
    reference.play(action)
    assert told(events) == reference.log[already_told:]


def compare_whole_game(rules: Rules, seed: int) -> int:
    """Play one random game on both; returns the number of decisions."""
    game, reference = Game(rules, seed=seed), ReferenceGame(rules, seeded(seed))
    assert told(game.opening_events) == reference.log
    chooser = random.Random(seed)
    decisions = 0
    while legal := assert_same_decision(game, reference):
        assert_same_play(game, reference, chooser.choice(legal))
        decisions += 1
    assert game.winner == reference.winner is not None
    assert game.places() == reference.places() is not None
    return decisions


@pytest.mark.parametrize(
    "options", OPTIONS, ids=lambda options: "".join(map("-+".__getitem__, options))
)
@pytest.mark.parametrize(("num_players", "num_pawns"), TABLES)
def test_whole_random_games_go_as_in_the_reference(
    num_players: int, num_pawns: int, options: tuple[bool, bool, bool]
) -> None:
    rules = Rules(num_players, num_pawns, *options)
    compared, seed = 0, 0
    while compared < DECISIONS_WITH_EACH_RULES:
        compared += compare_whole_game(rules, seed)
        seed += 1
    assert compared >= DECISIONS_WITH_EACH_RULES


scripts = st.lists(st.integers(1, 6), max_size=24)
choices = st.lists(st.integers(0, 3), max_size=8)


@given(rules_and_positions, scripts, choices, st.integers(0, 2**63 - 1))
@settings(max_examples=600, deadline=None)
def test_any_position_goes_on_as_in_the_reference(
    given_: tuple[Rules, Position], script: list[int], chosen: list[int], seed: int
) -> None:
    rules, position = given_
    game = Game(rules, seed=seed, position=position, dice=script)
    reference = reference_at(position, rules, seeded(seed, script))
    for choice in chosen:
        legal = assert_same_decision(game, reference)
        if not legal:
            break
        assert_same_play(game, reference, legal[choice % len(legal)])
    assert_same_decision(game, reference)
    assert game.places() == reference.places()


@given(rules_and_positions, scripts, st.integers(0, 2**63 - 1))
@settings(max_examples=300, deadline=None)
def test_any_position_opens_with_the_events_of_the_reference(
    given_: tuple[Rules, Position], script: list[int], seed: int
) -> None:
    rules, position = given_
    game = Game(rules, seed=seed, position=position, dice=script)
    reference = reference_at(position, rules, seeded(seed, script))
    assert told(game.opening_events) == reference.log


# Batches


def assert_same_row(batch: GameBatch, row: int, game: Game) -> None:
    assert batch.position(row) == game.position
    assert batch.players[row] == (-1 if game.player is None else game.player)
    assert batch.dice[row] == (-1 if game.die is None else game.die)
    assert batch.winners[row] == (-1 if game.winner is None else game.winner)
    assert batch.finished[row] == (game.winner is not None)
    places = game.places() or (0,) * batch.rules.num_players
    assert tuple(batch.places()[row].tolist()) == places
    if game.player is not None:
        assert batch.observations()[row].tolist() == game.observation().tolist()


def assert_rows_are_games(
    batch: GameBatch, games: Sequence[Game], references: Sequence[ReferenceGame]
) -> list[list[int]]:
    """Compare each row with its game and its reference; returns the legal actions of each."""
    masks, after = batch.masks().tolist(), batch.afterstates()
    legal = []
    for row, (game, reference) in enumerate(zip(games, references, strict=True)):
        assert_same_row(batch, row, game)
        legal.append(assert_same_decision(game, reference))
        assert masks[row] == reference.action_mask()
        assert after.legal[row].tolist() == list(map(bool, masks[row]))
        for action in legal[row]:
            pawns, player, winner = reference.afterstate(action)
            assert after.pawns[row, action].tolist() == [list(own) for own in pawns]
            assert after.player[row, action] == (-1 if player is None else player)
            assert after.winner[row, action] == (-1 if winner is None else winner)
    return legal


@pytest.mark.parametrize("num_pawns", [1, 2, 4])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_batch_rows_are_the_games_of_their_seeds_one_after_another(
    num_players: int, num_pawns: int
) -> None:
    rules = Rules(num_players, num_pawns)
    batch = GameBatch(4, rules, seed=11)
    episodes = [0] * len(batch)
    games = [Game(rules, seed=seed) for seed in batch.seeds]
    references = [ReferenceGame(rules, seeded(seed)) for seed in batch.seeds]
    chooser = random.Random(1)
    for _ in range(80):
        legal = assert_rows_are_games(batch, games, references)
        actions = [chooser.choice(row) if row else 0 for row in legal]
        finished = batch.step(actions)
        for row, action in enumerate(actions):
            if legal[row]:
                assert_same_play(games[row], references[row], action)
            else:
                episodes[row] += 1
                seed = int(batch.seeds[row])
                games[row] = Game(rules, seed=seed, episode=episodes[row])
                references[row] = ReferenceGame(rules, seeded(seed, episode=episodes[row]))
        assert finished.tolist() == [game.winner is not None for game in games]
    assert num_pawns > 1 or min(episodes) > 0


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_batch_rows_go_on_from_any_positions_as_games_do(data: st.DataObject) -> None:
    rules = data.draw(all_rules)
    given_ = data.draw(st.lists(positions(rules), min_size=1, max_size=4))
    seed, script = data.draw(st.integers(0, 2**63 - 1)), data.draw(scripts)
    batch = GameBatch.from_positions(given_, rules, seed, dice=script)
    games = [
        Game(rules, seed=seed, position=position, dice=script)
        for seed, position in zip(batch.seeds, given_, strict=True)
    ]
    references = [
        reference_at(position, rules, seeded(seed, script))
        for seed, position in zip(batch.seeds, given_, strict=True)
    ]
    for _ in range(3):
        legal = assert_rows_are_games(batch, games, references)
        if not all(legal):
            return
        batch.step([row[-1] for row in legal])
        for game, reference, row in zip(games, references, legal, strict=True):
            assert_same_play(game, reference, row[-1])
