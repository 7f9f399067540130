"""Golden dice and golden games: the same for ever, compiled or not.

The games come from the slow reference game fed with the package's dice, so they do not depend on
the compiled rules. After a deliberate change of the dice or the rules, write the data anew with

    python tests/test_golden.py write

and read the difference. `python tests/test_golden.py replay` replays all of it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numba
import pytest
from reference import ReferenceGame, text

from ludo_env import Game, GameBatch, Rules
from ludo_env.core.dice import game_key, roll
from ludo_env.core.game import Roll

DATA = Path(__file__).parent / "golden"
DICE_FILE, GAMES_FILE = DATA / "dice.json", DATA / "games.json"
ROLLS = 20
MAX_SEED = 2**63 - 1

Record = dict[str, Any]


# Writing


def dice_to_record() -> list[tuple[int, int]]:
    """Seeds and episodes."""
    seeds = (0, 1, 2, 42, 123_456_789, 2**32, 2**62 + 1, MAX_SEED)
    return [(seed, 0) for seed in seeds] + [(0, 1), (42, 1), (42, 2), (MAX_SEED, 1)]


def games_to_record() -> list[tuple[Rules, int]]:
    """Rules and seeds: each number of players, each option, and smaller games."""
    return [
        (Rules(num_players=2), 0),
        (Rules(num_players=3), 1),
        (Rules(num_players=4), 2),
        (Rules(num_players=2, home_jumps=True), 3),
        (Rules(num_players=4, mandatory_capture=False), MAX_SEED),
        (Rules(num_players=3, pawn_on_start=True), 5),
        (Rules(4, 4, mandatory_capture=False, home_jumps=True, pawn_on_start=True), 6),
        (Rules(num_players=2, num_pawns=1), 7),
        (Rules(num_players=3, num_pawns=2, home_jumps=True), 8),
        (Rules(num_players=4, num_pawns=3, mandatory_capture=False), 9),
    ]


def dice_record(seed: int, episode: int) -> Record:
    key = game_key(seed, episode)
    rolls = "".join(str(int(roll(key, n))) for n in range(ROLLS))
    return {"seed": seed, "episode": episode, "rolls": rolls}


def game_record(rules: Rules, seed: int) -> Record:
    """A whole random game of the reference."""
    key = game_key(seed, 0)
    game = ReferenceGame(rules, lambda n: int(roll(key, n)))
    chooser, actions = random.Random(seed), ""
    while game.winner is None:
        action = chooser.choice(game.legal_actions())
        game.play(action)
        actions += str(action)
    rolls = "".join(str(event[2]) for event in game.log if event[0] == "roll")
    return {
        "rules": asdict(rules),
        "seed": seed,
        "actions": actions,
        "rolls": rolls,
        "winner": game.winner,
        "places": list(game.places() or ()),
        "final": text(game),
    }


def write() -> None:
    DATA.mkdir(exist_ok=True)
    write_lines(DICE_FILE, [dice_record(*numbers) for numbers in dice_to_record()])
    write_lines(GAMES_FILE, [game_record(*game) for game in games_to_record()])


def write_lines(path: Path, records: list[Record]) -> None:
    """A JSON list with one record a line."""
    lines = ",\n".join(json.dumps(record, separators=(",", ":")) for record in records)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


# Replaying


def read(path: Path) -> list[Record]:
    return json.loads(path.read_text(encoding="utf-8"))


def replayed(record: Record) -> Record:
    """The record of a game that plays the recorded actions."""
    rules = Rules(**record["rules"])
    game = Game(rules, seed=record["seed"])
    events = list(game.opening_events)
    for action in record["actions"]:
        events += game.play(int(action))
    return {
        "rules": asdict(rules),
        "seed": game.seed,
        "actions": record["actions"],
        "rolls": "".join(str(event.die) for event in events if isinstance(event, Roll)),
        "winner": game.winner,
        "places": list(game.places() or ()),
        "final": str(game.position),
    }


def replay() -> None:
    """Replay all golden data and say what was done."""
    dice, games = read(DICE_FILE), read(GAMES_FILE)
    assert [dice_record(record["seed"], record["episode"]) for record in dice] == dice
    assert [replayed(record) for record in games] == games
    how = "not compiled" if numba.config.DISABLE_JIT else "compiled"
    print(f"{len(dice)} dice and {len(games)} games replayed, {how}")


# Tests


@pytest.fixture(params=dice_to_record(), ids="{0[0]}-{0[1]}".format)
def dice(request: pytest.FixtureRequest) -> Record:
    return read(DICE_FILE)[dice_to_record().index(request.param)]


@pytest.fixture(params=games_to_record(), ids=lambda game: name_of(game[0]))
def game(request: pytest.FixtureRequest) -> Record:
    return read(GAMES_FILE)[games_to_record().index(request.param)]


def name_of(rules: Rules) -> str:
    options = [name for name, value in asdict(rules).items() if value is True]
    return "-".join([f"{rules.num_players}x{rules.num_pawns}", *options])


def test_dice_are_the_golden_ones(dice: Record) -> None:
    assert dice_record(dice["seed"], dice["episode"]) == dice


def test_golden_dice_cover_both_ends_of_the_seeds_and_later_episodes() -> None:
    assert [(record["seed"], record["episode"]) for record in read(DICE_FILE)] == dice_to_record()
    rolls = [record["rolls"] for record in read(DICE_FILE)]
    assert len(set(rolls)) == len(rolls)
    assert {len(row) for row in rolls} == {ROLLS}


def test_a_game_replays_the_golden_one(game: Record) -> None:
    assert replayed(game) == game


def test_a_batch_row_replays_the_golden_game(game: Record) -> None:
    batch = GameBatch(2, Rules(**game["rules"]), seed=[game["seed"], 99])
    for action in game["actions"]:
        other = int(batch.masks()[1].argmax())
        batch.step([int(action), other])
    assert batch.rolls[0] == len(game["rolls"])
    assert batch.winners[0] == game["winner"]
    assert batch.places()[0].tolist() == game["places"]
    assert str(batch.position(0)) == game["final"]


def test_the_reference_still_plays_the_golden_game(game: Record) -> None:
    assert game_record(Rules(**game["rules"]), game["seed"]) == game


def test_golden_games_replay_without_compiling_and_without_warnings() -> None:
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [sys.executable, "-W", "error", __file__, "replay"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    told = (
        f"{len(dice_to_record())} dice and {len(games_to_record())} games replayed, not compiled\n"
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, told, "")


if __name__ == "__main__":
    {"write": write, "replay": replay}[sys.argv[1]]()
