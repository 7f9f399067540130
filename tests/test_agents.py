"""Agents: specs and what is wrong with them, how the scripted ones play, saved models."""

from __future__ import annotations

import copy
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from kinds import ALL_RULES

from ludo_env import OBSERVATION, Game, GameBatch, Rules, make_agent
from ludo_env.agents import Agent

TWO = Rules(num_players=2)
FREE = Rules(num_players=2, mandatory_capture=False)
SCRIPTED = ["random", "first", "advance", "careful"]


def label(rules: Rules) -> str:
    """The name of a case."""
    options = (rules.mandatory_capture, rules.home_jumps, rules.pawn_on_start)
    return f"{rules.num_players}x{rules.num_pawns}-{''.join(str(int(on)) for on in options)}"


def rows_of(batch: GameBatch) -> np.ndarray:
    return np.flatnonzero(~batch.finished)


def actions_at(agent: Agent, *positions: str, rules: Rules = FREE) -> list[int]:
    batch = GameBatch.from_positions(positions, rules, seed=1)
    return agent.act(batch, np.arange(len(batch))).tolist()


def assert_plays_legally(agent: Agent, batch: GameBatch, steps: int) -> None:
    """The agent plays everybody's moves; each of them is legal, and choosing changes nothing."""
    for _ in range(steps):
        rows = rows_of(batch)
        shown = batch.blind()
        before = pickle.dumps(shown)
        chosen = agent.act(shown, rows)
        assert pickle.dumps(shown) == before
        assert chosen.shape == rows.shape
        assert chosen.dtype.kind in "iu"
        assert batch.masks(rows)[np.arange(len(rows)), chosen].all()
        actions = np.zeros(len(batch), dtype=np.int64)
        actions[rows] = chosen
        batch.step(actions)


def refusal(spec: Any) -> str:
    """The message of the one clear `ValueError` that the spec gives."""
    with pytest.raises(ValueError, match="agent") as caught:
        make_agent(spec, seed=0)
    message = str(caught.value)
    assert "\n" not in message
    return message


# The scripted agents


@pytest.mark.parametrize("name", SCRIPTED)
def test_a_scripted_agent_is_made_from_its_name(name):
    agent = make_agent(name, seed=3)
    assert isinstance(agent, Agent)
    assert name in repr(agent)


@pytest.mark.parametrize("rules", ALL_RULES, ids=label)
@pytest.mark.parametrize("name", SCRIPTED)
def test_scripted_agents_play_legally_and_leave_the_batch_alone(name, rules):
    assert_plays_legally(make_agent(name, seed=3), GameBatch(12, rules, seed=1), 30)


@pytest.mark.parametrize("name", SCRIPTED)
def test_no_rows_get_no_actions(name):
    agent = make_agent(name, seed=3)
    assert agent.act(GameBatch(3, seed=1), np.arange(0)).shape == (0,)


@pytest.mark.parametrize("name", SCRIPTED)
def test_scripted_agents_can_be_pickled_and_copied(name):
    batch = GameBatch(200, TWO, seed=1)
    batch.rollout(60)
    agent = make_agent(name, seed=3)
    actions = agent.act(batch, rows_of(batch))
    for twin in (pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)):
        np.testing.assert_array_equal(twin.act(batch, rows_of(batch)), actions)


def test_first_plays_the_most_advanced_pawn_that_may_move():
    positions = ["20.10.3.1/0.0.0.0 0 3", "43.42.5.0/0.0.0.0 0 3", "43.42.0.0/0.0.0.0 0 6"]
    assert actions_at(make_agent("first"), *positions) == [0, 2, 2]


def test_first_does_not_care_for_captures():
    assert actions_at(make_agent("first"), "20.10.0.0/33.0.0.0 0 3") == [0]


def test_advance_captures_where_it_can():
    positions = ["20.10.0.0/33.0.0.0 0 3", "20.10.6.2/25.0.0.0 0 3"]
    assert actions_at(make_agent("advance"), *positions) == [1, 3]


def test_advance_captures_with_the_most_advanced_of_several_pawns():
    assert actions_at(make_agent("advance"), "30.20.10.0/33.3.0.0 0 3") == [1]


def test_advance_captures_with_a_pawn_that_leaves_the_yard():
    assert actions_at(make_agent("advance"), "20.10.0.0/21.0.0.0 0 6") == [2]


def test_advance_plays_the_most_advanced_pawn_that_may_move_where_it_cannot_capture():
    positions = ["20.10.3.1/9.0.0.0 0 3", "43.42.5.0/9.0.0.0 0 3"]
    assert actions_at(make_agent("advance"), *positions) == [0, 2]


@pytest.mark.parametrize("rules", ALL_RULES[::5], ids=label)
def test_first_and_advance_play_as_described_at_every_decision(rules):
    batch = GameBatch(8, rules, seed=2)
    first, advance = make_agent("first"), make_agent("advance")
    for _ in range(6):
        batch.rollout(20)
        rows = rows_of(batch)
        for row, by_first, by_advance in zip(
            rows, first.act(batch, rows), advance.act(batch, rows), strict=True
        ):
            moves = Game(rules, seed=0, position=batch.position(row)).legal_moves()
            captures = [move for move in moves if move.captured is not None]
            assert by_first == max(moves, key=lambda move: move.source).action
            assert by_advance == max(captures or moves, key=lambda move: move.source).action


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, True, "1"])
@pytest.mark.parametrize("name", SCRIPTED)
def test_wrong_seeds_are_refused(name, seed):
    with pytest.raises(ValueError, match="seed"):
        make_agent(name, seed=seed)


# Agents of the user's own

OWN = """
import numpy as np

class Lowest:
    def act(self, batch, rows):
        return 3 - batch.masks(rows)[:, ::-1].argmax(axis=1)

class Needy(Lowest):
    def __init__(self, needed):
        pass

class Broken:
    def __init__(self):
        raise RuntimeError("the\\nreason")

    def act(self, batch, rows):
        pass

class Wrong:
    act = 3

lowest = Lowest()
wrong = Wrong()
number = 5
nothing = None

def make_lowest():
    return Lowest()

def make_class():
    return Lowest

def make_number():
    return 5

def make_nothing():
    return None

def needy(what):
    return Lowest()
"""


@pytest.fixture
def own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that a user may have written."""
    sources = {
        "my_agents": OWN,
        "my_failing": "raise RuntimeError('the reason')",
        "my_unreadable": "def (",
        "my_needs": "import no_such_package_anywhere",
        "my_misspelt": "from math import no_such_function",
    }
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(source)
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "inner.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("own_modules")
@pytest.mark.parametrize(
    "spec",
    [
        "my_agents:lowest",
        "my_agents:Lowest",
        "my_agents:make_lowest",
        "my_package.inner:lowest",
    ],
)
def test_an_own_agent_is_an_object_a_class_or_a_factory(spec):
    agent = make_agent(spec, seed=0)
    assert actions_at(agent, "20.10.0.0/9.0.0.0 0 3") == [1]


def test_an_agent_is_returned_as_it_is():
    agent = make_agent("first")
    assert make_agent(agent) is agent
    assert make_agent(agent, seed=4) is agent


@pytest.mark.parametrize(
    "spec", ["", "nobody", "Random", " random", "random:", ":", ":x", "x:", "sb3", "sb3:"]
)
def test_an_unknown_spec_is_refused_with_all_that_are_known(spec):
    message = refusal(spec)
    assert repr(spec) in message
    for known in (*SCRIPTED, "sb3:PATH", "MODULE:ATTRIBUTE"):
        assert known in message


@pytest.mark.parametrize("spec", ["random:1", "careful:2", "advance:x"])
def test_an_agent_without_settings_is_told_to_stand_alone(spec):
    assert f"{spec.split(':')[0]} stands alone" in refusal(spec)


@pytest.mark.parametrize("spec", [None, 5, True, b"random", object(), ["random"], type])
def test_anything_but_a_spec_or_an_agent_is_refused(spec):
    assert "act(batch, rows)" in refusal(spec)


@pytest.mark.usefixtures("own_modules")
def test_a_class_is_no_agent_until_it_is_called():
    import my_agents  # type: ignore[import-not-found]

    assert "act(batch, rows)" in refusal(my_agents.Lowest)


@pytest.mark.parametrize("spec", ["no_such_module:x", "json.no_such_part:x", "no.such.module:x"])
def test_a_missing_module_is_named_beside_all_known_specs(spec):
    message = refusal(spec)
    assert f"no module {spec.split(':')[0]!r}" in message
    assert "MODULE:ATTRIBUTE" in message


@pytest.mark.parametrize("spec", [".relative:x", "..:x", "json.:x", "a b:x", "1:x", "json/x:y"])
def test_what_cannot_be_a_module_is_refused(spec):
    assert repr(spec) in refusal(spec)


@pytest.mark.parametrize("spec", ["json:nothing_there", "json:loads.nothing", "json:a:b"])
def test_a_missing_attribute_is_named(spec):
    message = refusal(spec)
    assert repr(spec) in message
    assert f"no attribute {spec.split(':', 1)[1]!r}" in message


@pytest.mark.usefixtures("own_modules")
@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("my_failing:x", "the reason"),
        ("my_unreadable:x", "SyntaxError"),
        ("my_needs:x", "no_such_package_anywhere"),
        ("my_misspelt:x", "no_such_function"),
        ("my_agents:Broken", "reason"),
        ("my_agents:Needy", "needed"),
        ("my_agents:needy", "what"),
    ],
)
def test_a_failing_import_or_call_is_told_with_its_reason(spec, reason):
    message = refusal(spec)
    assert repr(spec) in message
    assert reason in message


@pytest.mark.usefixtures("own_modules")
@pytest.mark.parametrize(
    "name", ["number", "nothing", "wrong", "Wrong", "make_number", "make_nothing", "make_class"]
)
def test_an_object_that_cannot_act_is_refused(name):
    message = refusal(f"my_agents:{name}")
    assert "act(batch, rows)" in message
    assert f"my_agents:{name}" in message


# Saved models


class Stub(gymnasium.Env):
    """An environment that only has spaces."""

    def __init__(self, length: int, num_actions: int) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 1, (length,), np.int8)
        self.action_space = gymnasium.spaces.Discrete(num_actions)


def untrained(algorithm: Any, length: int, num_actions: int = 4) -> Any:
    return algorithm(
        "MlpPolicy",
        Stub(length, num_actions),
        learning_rate=lambda left: 1e-3 * left,  # which plain pickle refuses
        n_steps=8,
        batch_size=8,
        policy_kwargs={"net_arch": [8]},
        device="cpu",
        seed=0,
    )


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with saved models, good and bad."""
    contrib = pytest.importorskip("sb3_contrib")
    baselines = pytest.importorskip("stable_baselines3")
    folder = tmp_path_factory.mktemp("models")
    length = OBSERVATION["options"].stop
    untrained(contrib.MaskablePPO, length).save(folder / "good")
    untrained(contrib.MaskablePPO, 3).save(folder / "short")
    untrained(contrib.MaskablePPO, length, 5).save(folder / "five")
    untrained(baselines.PPO, length).save(folder / "maskless")
    whole = (folder / "good.zip").read_bytes()
    (folder / "cut.zip").write_bytes(whole[: len(whole) // 2])
    (folder / "text.zip").write_text("no model")
    (folder / "empty.zip").write_bytes(b"")
    with zipfile.ZipFile(folder / "foreign.zip", "w") as foreign:
        foreign.writestr("a.txt", "no model")
    with zipfile.ZipFile(folder / "hollow.zip", "w") as hollow:
        hollow.writestr("data", "{}")
    return folder


@pytest.mark.parametrize("name", ["good", "good.zip"])
def test_a_saved_model_plays_legally_even_untrained(models, name):
    agent = make_agent(f"sb3:{models / name}")
    assert isinstance(agent, Agent)
    assert_plays_legally(agent, GameBatch(64, seed=1), 60)


@pytest.mark.parametrize("rules", ALL_RULES[::9], ids=label)
def test_one_model_plays_under_all_rules(models, rules):
    assert_plays_legally(make_agent(f"sb3:{models / 'good'}"), GameBatch(16, rules, seed=1), 10)


def test_a_saved_model_plays_a_row_the_same_in_any_company(models):
    agent = make_agent(f"sb3:{models / 'good'}")
    batch = GameBatch(64, seed=1)
    batch.rollout(60)
    rows = rows_of(batch)
    actions = agent.act(batch, rows)
    np.testing.assert_array_equal(agent.act(batch, rows[::-1]), actions[::-1])
    for row, action in list(zip(rows, actions, strict=True))[:10]:
        assert agent.act(batch, np.array([row])).tolist() == [action]


def test_a_saved_model_is_asked_about_no_rows(models):
    agent = make_agent(f"sb3:{models / 'good'}")
    assert agent.act(GameBatch(3, seed=1), np.arange(0)).shape == (0,)


def test_a_saved_model_does_not_take_its_moves_from_global_generators(models):
    import torch

    agent = make_agent(f"sb3:{models / 'good'}")
    batch = GameBatch(64, seed=1)
    state = torch.random.get_rng_state()
    actions = agent.act(batch, rows_of(batch))
    assert torch.equal(torch.random.get_rng_state(), state)
    np.testing.assert_array_equal(agent.act(batch, rows_of(batch)), actions)


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_a_pickled_model_plays_the_same(models, twin_of):
    agent = make_agent(f"sb3:{models / 'good'}")
    twin = twin_of(agent)
    assert repr(twin) == repr(agent)
    batch = GameBatch(64, seed=1)
    for _ in range(20):
        rows = rows_of(batch)
        actions = agent.act(batch, rows)
        np.testing.assert_array_equal(twin.act(batch, rows), actions)
        batch.step(actions)


def refused_file(path: Path) -> str:
    with pytest.raises(ValueError, match=r"model|spaces") as caught:
        make_agent(f"sb3:{path}")
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


def test_a_missing_file_is_named(tmp_path):
    pytest.importorskip("sb3_contrib")
    assert "no model file" in refused_file(tmp_path / "missing")
    assert "no model file" in refused_file(tmp_path)


@pytest.mark.parametrize("name", ["cut", "text", "empty", "foreign", "hollow", "maskless"])
def test_a_file_that_is_no_such_model_is_named(models, name):
    assert "MaskablePPO" in refused_file(models / f"{name}.zip")


@pytest.mark.parametrize(("name", "own"), [("short", "(3,)"), ("five", "5 actions")])
def test_a_model_with_other_spaces_is_told_both(models, name, own):
    message = refused_file(models / name)
    assert own in message
    assert f"({OBSERVATION['options'].stop},) and 4" in message


def test_without_stable_baselines_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    with pytest.raises(ValueError, match=r"ludo_env\[train\]"):
        make_agent(f"sb3:{tmp_path / 'any'}")
