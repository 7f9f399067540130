"""The search for the careful agent's numbers."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest
from test_training import StopAfter

from ludo_env import Rules
from ludo_env.core.careful import NUM_VALUES, SETS
from ludo_env.core.careful_weights import VALUES, WEIGHTS
from ludo_env.core.kernels import ROW, SEED
from ludo_env.core.scripted import CAREFUL
from training import careful, matches, run_folder
from training.careful_config import CarefulConfig, JudgeConfig, SearchConfig
from training.config import parse
from training.stopping import RunStoppedError, StopRequest

TWO = Rules(num_players=2)
RECIPE = ["--config", "configs/careful.yaml"]


def tiny(run, **changes):
    given = {
        "run": str(run),
        "players": [2],
        "checkpoint_minutes": 100,
        "search": SearchConfig(generations=3, population=4, games=36),
        "evaluation": JudgeConfig(games=24, curve_every=1, curve_games=12, fitting_games=20),
    }
    return CarefulConfig(**given | changes)


def searched(config, stop=None):
    folder = run_folder.create(config)
    careful.search_and_judge(config, folder, stop or StopRequest())
    return folder


def module_at(path):
    spec = importlib.util.spec_from_file_location("found", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_search_writes_the_module_that_the_core_ships(tmp_path):
    folder = searched(tiny(tmp_path / "run"))
    found = module_at(folder / "careful_weights.py")
    assert [len(row) for row in found.WEIGHTS] == [len(SETS)]
    assert [len(row) for row in found.VALUES] == [NUM_VALUES]
    for name in ("evaluation.json", "learning_curve.json", "learning_curve.png", "versions.json"):
        assert (folder / name).stat().st_size > 0
    points = json.loads((folder / "learning_curve.json").read_text())
    assert [point["steps"] for point in points] == [0, 1, 2, 3]


def test_the_shipped_module_has_that_form():
    weights = dict(zip((2, 3, 4), WEIGHTS, strict=True))
    values = dict(zip((2, 3, 4), VALUES, strict=True))
    path = importlib.util.find_spec("ludo_env.core.careful_weights").origin
    with open(path) as file:
        assert file.read() == careful.module_text(weights, values)


def test_a_search_goes_on_exactly_as_if_nothing_had_happened(tmp_path):
    whole = searched(tiny(tmp_path / "whole"))
    config = tiny(tmp_path / "halves")
    with pytest.raises(RunStoppedError):
        searched(config, StopAfter(3))
    folder = tmp_path / "halves"
    careful.search_and_judge(config, folder, StopRequest())
    for name in ("careful_weights.py", "learning_curve.json", "evaluation.json"):
        assert (whole / name).read_text() == (folder / name).read_text(), name


def test_a_search_finds_what_beats_its_start(tmp_path):
    search = SearchConfig(generations=8, population=8, games=480)
    config = tiny(tmp_path / "run", search=search)
    run = careful.Search(config, run_folder.create(config))
    run.run(StopRequest())
    found = run.found["weights", 2]
    nothing = (0,) * len(SETS)
    rates = [matches.win_rate(own, "advance", 4000, TWO, 9) for own in (nothing, found)]
    assert rates[1] > rates[0] + 0.03


def test_a_damaged_checkpoint_is_refused(tmp_path):
    config = tiny(tmp_path / "run")
    with pytest.raises(RunStoppedError):
        searched(config, StopAfter(1))
    newest = run_folder.Checkpoints(tmp_path / "run", 2, 1.0).newest()
    (newest / "state.pkl").write_bytes(b"no pickle")
    with pytest.raises(ValueError, match="cannot be read"):
        careful.Search(config, tmp_path / "run")


def test_the_seed_alone_decides_the_dice():
    weights = WEIGHTS[0]
    assert matches.win_rate(weights, "advance", 400, TWO, 3) == matches.win_rate(
        weights, "advance", 400, TWO, 3
    )
    assert matches.win_rate(weights, "advance", 400, TWO, 3) != matches.win_rate(
        weights, "advance", 400, TWO, 4
    )


def test_the_weights_seat_goes_round():
    """Against themselves, by the same dice, they win from exactly one of the seats."""
    for rules in (TWO, Rules(num_players=3), Rules()):
        for seed in range(20):
            games = np.zeros((rules.num_players, ROW), dtype=np.int64)
            games[:, SEED] = seed
            own = WEIGHTS[rules.num_players - 2]
            assert matches.play_all(games, own, CAREFUL, 0, rules.compiled) == 1


def test_a_scale_is_the_likeliest():
    generator = np.random.default_rng(0)
    worths = generator.normal(size=(40_000, 3))
    chances = np.exp(0.7 * worths)
    chances /= chances.sum(axis=1, keepdims=True)
    winners = (generator.random(40_000)[:, None] > chances.cumsum(axis=1)).sum(axis=1)
    assert matches.fitted_scale(worths, winners) == pytest.approx(0.7, abs=0.03)


def test_the_recipe_is_read():
    config, resumed = parse(CarefulConfig, "training.careful", RECIPE)
    assert (config.name, resumed) == ("careful", None)


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--search.generations", "0"], "generations"),
        (["--search.population", "1"], "population"),
        (["--search.games", "40"], "games"),
        (["--search.spread", "0"], "spread"),
        (["--search.against", "nobody"], "nobody"),
        (["--evaluation.games", "10"], "games"),
        (["--evaluation.against", "[td]"], "td"),
        (["--players", "[5]"], "players"),
        (["--players", "[2, 2]"], "players"),
        (["--seed", "-1"], "seed"),
        (["--resume", "no_such_run"], "no_such_run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_wrong_configurations_are_refused_by_name_in_one_line(flags, named, capsys):
    with pytest.raises(SystemExit) as stopped:
        parse(CarefulConfig, "training.careful", flags)
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert named in error
    assert error.count("\n") == 1


def test_the_command_runs(tmp_path):
    flags = ["--players", "[2]", "--search.generations", "1", "--search.population", "4"]
    flags += ["--search.games", "12", "--evaluation.games", "12", "--evaluation.curve_games", "12"]
    flags += ["--evaluation.fitting_games", "12", "--run", str(tmp_path / "run")]
    command = [sys.executable, "-m", "training.careful", *RECIPE, *flags]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "careful_weights.py" in done.stdout


def test_a_stop_while_judging_leaves_a_run_that_judges_again(tmp_path):
    config = tiny(tmp_path / "run")
    folder = run_folder.create(config)
    careful.Search(config, folder).run(StopRequest())
    stop = StopRequest()
    stop.made = True
    with pytest.raises(RunStoppedError):
        careful.search_and_judge(config, folder, stop)
    assert not (folder / "evaluation.json").exists()
    careful.search_and_judge(config, folder, StopRequest())
    assert (folder / "careful_weights.py").exists()
