"""The network that tells chances: what it computes, its symmetry, and its files."""

from __future__ import annotations

import json
import math
import pickle
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from kinds import RULES_OF_PLAY

from ludo_env import OBSERVATION, GameBatch, Rules
from ludo_env.agents.chances import roller_chances
from ludo_env.agents.network import NAMES, Network
from ludo_env.core import lookahead
from ludo_env.core.features import MOST_FEATURES, NUM_FEATURES, write_features
from ludo_env.core.kernels import DIE_BITS, TURN


def network_of(first: int = 64, second: int = 16, seed: int = 0) -> Network:
    """A network of random numbers."""
    generator = np.random.default_rng(seed)
    shapes = [(NUM_FEATURES, first), (first,), (first, second), (second,), (second, 4), (4,)]
    return Network(tuple((generator.normal(size=s) * 0.3).astype(np.float32) for s in shapes))


def rolling(rules: Rules, games: int = 64, seed: int = 1) -> np.ndarray:
    """Rows of games in which each player in turn is about to roll."""
    batch = GameBatch(games, rules, seed=seed)
    batch.rollout(37)
    rows = batch._games[~batch.finished].copy()
    rows[:, TURN] = np.arange(len(rows)) % rules.num_players << DIE_BITS
    return rows


def chances_of(network: Network, rows: np.ndarray, rules: Rules) -> np.ndarray:
    """Each player's chance in each row."""
    chances = np.empty((len(rows), rules.num_players))
    lookahead.look_rows(rows, (), network.arrays, chances, rules.compiled)
    return chances


def plain_chances(network: Network, row: np.ndarray, rules: Rules) -> list[float]:
    """The same with whole matrices, in double precision."""
    table, bias, hidden, hidden_bias, output, output_bias = (
        array.astype(np.float64) for array in network.arrays
    )
    found = np.zeros(MOST_FEATURES, dtype=np.int64)
    has = np.zeros(NUM_FEATURES)
    has[found[: write_features(row, found, rules.compiled)]] = 1
    second = np.maximum(has @ table + bias, 0) @ hidden + hidden_bias
    outputs = np.maximum(second, 0) @ output + output_bias
    roller = int(row[TURN]) >> DIE_BITS
    corners = [(corner - rules.corners[roller]) % 4 for corner in rules.corners]
    weights = [math.exp(outputs[corner]) for corner in corners]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("rules", RULES_OF_PLAY, ids=str)
def test_chances_are_those_of_plain_matrix_products(rules):
    network, rows = network_of(), rolling(rules)
    chances = chances_of(network, rows, rules)
    expected = [plain_chances(network, row, rules) for row in rows]
    np.testing.assert_allclose(chances, expected, atol=1e-5)
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-12)


def test_a_position_is_evaluated_alike_to_the_last_bit_in_any_batch():
    network, rows = network_of(), rolling(Rules(), 300)
    together = chances_of(network, rows, Rules())
    apart = [chances_of(network, rows[i : i + 1], Rules())[0] for i in range(len(rows))]
    assert together.tobytes() == np.array(apart).tobytes()


@pytest.mark.parametrize("players", [2, 4])
def test_chances_turn_with_the_board(players):
    rules, network = Rules(num_players=players), network_of()
    rows = rolling(rules)
    turned = rows.copy()
    turned[:, :players] = np.roll(rows[:, :players], 1, axis=1)
    turned[:, TURN] = ((rows[:, TURN] >> DIE_BITS) + 1) % players << DIE_BITS
    chances = np.roll(chances_of(network, rows, rules), 1, axis=1)
    assert (chances == chances_of(network, turned, rules)).all()


# Chances from observations


@pytest.mark.parametrize("rules", RULES_OF_PLAY, ids=str)
def test_chances_read_from_observations_are_those_of_the_games(rules):
    network, rows = network_of(), rolling(rules)
    rollers = rows[:, TURN] >> DIE_BITS
    batch = GameBatch.from_boards(rows[:, : rules.num_players], rollers, 0, rules)
    views = batch.observations(rollers)
    expected = chances_of(network, rows, rules)[np.arange(len(rows)), rollers]
    assert (roller_chances(views, network, 0) == expected).all()


def test_observations_under_different_rules_may_be_mixed():
    network = network_of()
    kinds = [Rules(num_players=2), Rules(num_players=3, num_pawns=2), Rules(home_jumps=True)]
    views, expected = [], []
    for rules in kinds:
        rows = rolling(rules, 20)
        rollers = rows[:, TURN] >> DIE_BITS
        batch = GameBatch.from_boards(rows[:, : rules.num_players], rollers, 0, rules)
        views.append(batch.observations(rollers))
        expected.append(chances_of(network, rows, rules)[np.arange(len(rows)), rollers])
    mixed = np.random.default_rng(1).permutation(sum(map(len, views)))
    found = roller_chances(np.concatenate(views)[mixed], network, 0)
    assert (found == np.concatenate(expected)[mixed]).all()


def test_what_is_no_observation_is_refused():
    network = network_of()
    batch = GameBatch(3, Rules(num_players=2), seed=1)
    views = batch.observations(np.zeros(3, dtype=int))
    views[:, OBSERVATION["die"]] = 0
    assert roller_chances(views, network, 0).shape == (3,)
    shown = views.copy()
    shown[1, OBSERVATION["die"].start] = 1
    for wrong, said in (
        (views[0], "shape"),
        (views[:, 1:], "shape"),
        (views + 1, "zeros and ones"),
        (shown, "still to be rolled"),
        (np.zeros_like(views), "a game's players"),
    ):
        with pytest.raises(ValueError, match=said):
            roller_chances(wrong, network, 0)


# Files


def test_a_network_comes_back_from_its_file_as_it_was(tmp_path):
    network = Network(network_of().arrays, {"made": "by hand", "results": [1, 2]})
    network.save(tmp_path / "own.npz")
    again = Network.load(tmp_path / "own.npz")
    assert all((a == b).all() for a, b in zip(network.arrays, again.arrays, strict=True))
    assert again.about == network.about
    assert [path.name for path in tmp_path.iterdir()] == ["own.npz"]


def spoiled(tmp_path: Path, **changes: np.ndarray) -> Path:
    content = dict(zip(NAMES, network_of().arrays, strict=True))
    content |= {"about": np.array(json.dumps({}))} | changes
    path = tmp_path / "spoiled.npz"
    np.savez(path, **{name: array for name, array in content.items() if array is not None})
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"table": None}, "table"),
        ({"about": np.array("{")}, "no network"),
        ({"bias": np.zeros(32, np.float32)}, "bias must be"),
        ({"bias": np.zeros(64)}, "float32"),
        ({"bias": np.full(64, np.nan, np.float32)}, "finite"),
        ({"table": np.zeros((3, 64), np.float32)}, "table must be"),
        ({"hidden_bias": np.zeros(5, np.float32)}, "multiples"),
        ({"about": np.array([{}], dtype=object)}, "no network"),
    ],
)
def test_a_file_that_is_no_network_is_refused_by_name(tmp_path, changes, said):
    with pytest.raises(ValueError, match=said) as caught:
        Network.load(spoiled(tmp_path, **changes))
    assert "spoiled.npz" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damaged_missing_and_foreign_files_are_refused(tmp_path):
    whole = tmp_path / "whole.npz"
    network_of().save(whole)
    (tmp_path / "cut.npz").write_bytes(whole.read_bytes()[:-500])
    (tmp_path / "text.npz").write_text("no archive")
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps([1]))
    (tmp_path / "folder.npz").mkdir()
    np.save(tmp_path / "array.npy", np.zeros(3))
    for name in ("cut.npz", "text.npz", "pickle.npz", "folder.npz", "array.npy", "none.npz"):
        with pytest.raises(ValueError, match=name.replace(".", r"\.")) as caught:
            Network.load(tmp_path / name)
        assert "pickle" not in str(caught.value).replace("pickle.npz", "")


def test_a_file_with_any_byte_damaged_is_refused_or_a_network(tmp_path):
    """Whatever an archive's reader makes of it; checksums find what lies within arrays."""
    path = tmp_path / "own.npz"
    network_of(64, 16).save(path)
    whole, rng = path.read_bytes(), np.random.default_rng(1)
    directory = whole.rindex(b"PK\x01\x02")
    places = [*range(60), *range(directory - 200, len(whole)), *rng.integers(0, len(whole), 100)]
    for place in places:
        content = bytearray(whole)
        content[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(content))
        with suppress(ValueError):
            Network.load(path)


@pytest.mark.parametrize("about", [None, 3, [1]])
def test_what_is_known_of_a_network_is_a_dictionary(about, tmp_path):
    with pytest.raises(ValueError, match="about"):
        Network.load(spoiled(tmp_path, about=np.array(json.dumps(about))))


def test_weights_that_would_overflow_are_refused(tmp_path):
    with pytest.raises(ValueError, match="output must be finite, 1e"):
        Network.load(spoiled(tmp_path, output=np.full((16, 4), 3e38, dtype=np.float32)))
