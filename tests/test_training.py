import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from sb3_contrib import MaskablePPO

from ludo_env import make_agent
from ludo_env.arena import play
from ludo_env.core.record_file import Records
from ludo_env.sb3 import LudoVecEnv
from training import curve, ppo, run_folder, stopping
from training.config import EnvConfig, EvaluationConfig, LearnerConfig, PPOConfig, parse
from training.stopping import RunStoppedError, StopRequest
from training.td_config import TDConfig

RECIPES = sorted(Path("configs").glob("ppo_*.yaml"))
TINY = {
    "total_steps": 512,
    "checkpoint_minutes": 100,
    "env.num_envs": 8,
    "learner.rollout_length": 16,
    "learner.batch_size": 32,
    "learner.hidden": "[16]",
    "evaluation.games": 4,
    "evaluation.curve_every": 256,
    "evaluation.curve_games": 4,
}
TINY_FLAGS = [f"--{name}={value}" for name, value in TINY.items()]


def tiny(run, **changes):
    config, _ = parse(PPOConfig, "training.ppo", [*TINY_FLAGS, "--run", str(run)])
    return PPOConfig(**{**config.__dict__, **changes})


def train(config, stop=None):
    folder = run_folder.create(config)
    results = ppo.run(config, folder, stop or StopRequest())
    ppo.conclude(config, folder, results)
    return folder


def parameters(folder, seed=0):
    model = MaskablePPO.load(folder / f"seed_{seed}" / "model.zip", device="cpu")
    return {name: value.numpy() for name, value in model.policy.state_dict().items()}


def untimed_results(folder):
    """A seed's final results but for the seconds of thought, which no seed decides."""

    def untimed(part):
        return {key: value for key, value in part.items() if key != "seconds_per_decision"}

    text = (folder / "seed_0" / "evaluation.json").read_text()
    return json.loads(text, object_hook=untimed)


class StopAfter(StopRequest):
    """Asks to stop at the given rollout boundary."""

    def __init__(self, boundary):
        self.left = boundary

    @property
    def made(self):
        self.left -= 1  # looked at once at each boundary
        return self.left < 0


def test_a_run_folder_holds_all_that_is_promised(tmp_path, capsys):
    folder = train(tiny(tmp_path / "run"))
    for name in ("config.yaml", "versions.json", "evaluation.json", "learning_curve.png"):
        assert (folder / name).stat().st_size > 0
    assert any((folder / "seed_0" / "tensorboard").iterdir())
    curve_points = json.loads((folder / "seed_0" / "learning_curve.json").read_text())
    assert [point["steps"] for point in curve_points] == [0, 256, 512]
    results = json.loads((folder / "evaluation.json").read_text())
    assert results["seeds"]["0"]["random"]["games"] == 4
    assert "win rate" in capsys.readouterr().out
    games = Records(folder / "seed_0" / "games" / "random.jsonl")
    assert [games[number].agents for number in games] == [
        ("trained", "random"),
        ("random", "trained"),
    ] * 2


def test_resuming_goes_on_exactly_as_if_nothing_had_happened(tmp_path):
    whole = train(tiny(tmp_path / "whole"))
    config = tiny(tmp_path / "halves")
    with pytest.raises(RunStoppedError):
        train(config, StopAfter(2))
    folder = tmp_path / "halves"
    assert run_folder.Checkpoints(folder / "seed_0", 2, 1.0).newest().name == "step_000000000256"
    ppo.conclude(config, folder, ppo.run(config, folder, StopRequest()))
    for name, value in parameters(whole).items():
        np.testing.assert_array_equal(value, parameters(folder)[name], err_msg=name)
    runs = (whole, folder)
    curves = [json.loads((run / "seed_0" / "learning_curve.json").read_text()) for run in runs]
    untimed = [[point | {"minutes": 0} for point in points] for points in curves]
    assert untimed[0] == untimed[1]
    assert untimed_results(whole) == untimed_results(folder)


def test_a_checkpoint_is_an_agent(tmp_path):
    with pytest.raises(RunStoppedError):
        train(tiny(tmp_path / "run"), StopAfter(1))
    checkpoint = run_folder.Checkpoints(tmp_path / "run" / "seed_0", 2, 1.0).newest()
    agent = make_agent(f"sb3:{checkpoint / 'model.zip'}")
    match = play([agent, make_agent("random")], games=2, rules=tiny(tmp_path / "x").rules, seed=1)
    assert len(match) == 2


def start_training(run):
    flags = [*TINY_FLAGS, "--total_steps=20480", "--learner.rollout_length=128", f"--run={run}"]
    flags += ["--learner.batch_size=512"]
    flags += ["--evaluation.curve_every=0"]
    return subprocess.Popen(
        [sys.executable, "-m", "training.ppo", *flags], stderr=subprocess.PIPE, text=True
    )


def wait_for(condition, seconds=120):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_ctrl_c_ends_with_a_checkpoint_and_resume_finishes(tmp_path):
    run = tmp_path / "run"
    process = start_training(run)
    wait_for(lambda: any(run.glob("seed_0/tensorboard/*")))
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == stopping.INTERRUPTED
    assert f"--resume {run}" in errors
    assert "Traceback" not in errors
    assert run_folder.Checkpoints(run / "seed_0", 2, 1.0).newest() is not None
    command = [sys.executable, "-m", "training.ppo", "--resume", str(run)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    model = MaskablePPO.load(run / "seed_0" / "model.zip", device="cpu")
    assert model.num_timesteps == 20480


def test_several_seeds_come_with_their_spread(tmp_path, capsys):
    folder = train(tiny(tmp_path / "run", seeds=2, seed=5, total_steps=128))
    results = json.loads((folder / "evaluation.json").read_text())
    assert set(results["seeds"]) == {"5", "6"}
    assert results["spread"]["random"]["lowest"] <= results["spread"]["random"]["highest"]
    assert "over the seeds" in capsys.readouterr().out
    first, second = parameters(folder, 5), parameters(folder, 6)
    assert any((first[name] != second[name]).any() for name in first)


def test_the_same_seed_trains_the_same_agent(tmp_path):
    first = parameters(train(tiny(tmp_path / "a", total_steps=256)))
    again = parameters(train(tiny(tmp_path / "b", total_steps=256)))
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name])


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_read(path):
    config, resumed = parse(PPOConfig, "training.ppo", ["--config", str(path)])
    assert config.name == path.stem
    assert resumed is None


def test_any_field_is_a_flag_and_the_resolved_configuration_reads_back(tmp_path):
    flags = [
        "--learner.learning_rate",
        "0.5",
        "--rules.num_players",
        "3",
        "--evaluation.games",
        "6",
    ]
    more = ["--evaluation.curve_games", "3", "--run", str(tmp_path / "run")]
    config, _ = parse(PPOConfig, "training.ppo", ["--config", str(RECIPES[0]), *flags, *more])
    assert config.learner.learning_rate == 0.5
    assert config.rules.num_players == 3
    folder = run_folder.create(config)
    again, resumed = parse(PPOConfig, "training.ppo", ["--resume", str(folder)])
    assert again == config
    assert resumed == folder


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--learner.speed", "1"], "learner.speed"),
        (["--total_steps", "many"], "total_steps"),
        (["--total_steps", "0"], "total_steps"),
        (["--rules.num_players", "7"], "num_players"),
        (["--learner.discount", "1.5"], "discount"),
        (["--env.opponents", "{}"], "opponents"),
        (["--env.opponents", '{"random": .nan}'], "opponents"),
        (["--learner.batch_size", "1000"], "batch_size"),
        (["--learner.learning_rate", "-1"], "learning_rate"),
        (["--evaluation.against", "[]"], "against"),
        (["--evaluation.seed", "-1"], "seed"),
        (["--seed", "5000000000"], "seed"),
        (["--env.opponents", '{"advance": -1}'], "opponents"),
        (["--learner.policy", "linear"], "policy"),
        (["--learner.policy", "afterstate", "--learner.hidden", "[64]"], "hidden"),
        (["--learner.hidden", "[]"], "hidden"),
        (["--pool.every", "0"], "pool.every"),
        (["--env.luck_judge", "critic"], "luck_judge"),
        (
            [
                *["--env.luck_judge", "critic", "--env.reward", "place"],
                *["--learner.policy", "afterstate"],
            ],
            "luck_judge",
        ),
        (["--evaluation.games", "3"], "games"),
        (["--config", "no_such_file.yaml"], "no_such_file.yaml"),
        (["--resume", "no_such_run"], "no_such_run"),
        (["--resume", "no_such_run", "--seed", "1"], "no other flag"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_wrong_configurations_are_refused_by_name_in_one_line(flags, named, capsys):
    with pytest.raises(SystemExit) as stopped:
        parse(PPOConfig, "training.ppo", flags)
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert named in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "content",
    ["", "3", "speed: 1", "learner: {speed: 1}", "total_steps: x", "rules: 3", "[", "- 1"],
)
def test_wrong_files_are_refused_in_one_line(content, tmp_path, capsys):
    path = tmp_path / "recipe.yaml"
    path.write_text(content)
    with pytest.raises(SystemExit) as stopped:
        parse(PPOConfig, "training.ppo", ["--config", str(path)])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "flags",
    [
        ["--env.opponents", '{"nobody": 1}'],
        ["--env.seat", "9"],
        ["--env.reward", "x"],
        ["--evaluation.against", "[nobody]"],
        ["--env.opponents", '{"pickle:Unpickler": 1}'],
    ],
)
def test_what_the_environment_refuses_makes_no_run_folder(flags, tmp_path, monkeypatch, capsys):
    run = tmp_path / "run"
    monkeypatch.setattr(sys, "argv", ["ppo", *TINY_FLAGS, "--run", str(run), *flags])
    with pytest.raises(SystemExit) as stopped:
        ppo.main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not run.exists()


@pytest.mark.parametrize(
    ("content", "held"), [("", "holds nothing"), ("- 1", "holds [1]"), ("3", "holds 3")]
)
def test_a_file_without_settings_is_told_what_it_holds(content, held, tmp_path, capsys):
    path = tmp_path / "recipe.yaml"
    path.write_text(content)
    for flags in (["--config", str(path)], [f"--config={path}"]):
        with pytest.raises(SystemExit):
            parse(PPOConfig, "training.ppo", flags)
        assert held in capsys.readouterr().err


def test_a_run_of_another_script_is_not_gone_on_with(tmp_path, capsys):
    folder = run_folder.create(tiny(tmp_path / "run"))
    with pytest.raises(SystemExit) as stopped:
        parse(TDConfig, "training.td", ["--resume", str(folder)])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert "is no configuration of python -m training.td" in error
    assert error.count("\n") == 1


def test_a_damaged_result_is_named_when_a_run_is_gone_on_with(tmp_path):
    config = tiny(tmp_path / "run")
    damaged = train(config) / "seed_0" / "evaluation.json"
    damaged.write_text('{"random": ')
    with pytest.raises(ValueError, match=rf"{damaged} is damaged"):
        ppo.run(config, tmp_path / "run", StopRequest())


def test_training_without_its_packages_is_told_what_to_install(tmp_path):
    hide = "import sys; sys.modules['cmaes'] = sys.modules['torch'] = None; import training.ppo"
    done = subprocess.run([sys.executable, "-c", hide], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: training needs torch, cmaes: pip install -e '.[train]'\n"


def test_a_run_folder_is_never_written_over(tmp_path):
    config = tiny(tmp_path / "run")
    run_folder.create(config)
    with pytest.raises(ValueError, match="exists already"):
        run_folder.create(config)


def test_flags_override_a_recipe_wherever_it_is_named():
    flags = ["--total_steps=7", "--config", str(RECIPES[0])]
    config, _ = parse(PPOConfig, "training.ppo", flags)
    assert config.total_steps == 7


def test_a_seat_may_be_a_number():
    config, _ = parse(PPOConfig, "training.ppo", ["--env.seat", "1"])
    assert config.env.seat == 1


def test_an_interrupted_evaluation_is_done_again_without_training_again(tmp_path):
    config = tiny(tmp_path / "run")
    folder = train(config)
    model = (folder / "seed_0" / "model.zip").read_bytes()
    (folder / "seed_0" / "evaluation.json").unlink()
    stop = StopRequest()
    stop.made = True
    with pytest.raises(RunStoppedError):
        ppo.run(config, folder, stop)
    assert ppo.run(config, folder, StopRequest())[0]["random"]["games"] == 4
    assert (folder / "seed_0" / "model.zip").read_bytes() == model


@pytest.mark.parametrize("damage", ["state.pkl", "model.zip"])
def test_a_checkpoint_without_a_file_is_refused(damage, tmp_path):
    config = tiny(tmp_path / "run")
    with pytest.raises(RunStoppedError):
        train(config, StopAfter(1))
    checkpoint = run_folder.Checkpoints(tmp_path / "run" / "seed_0", 2, 1.0).newest()
    (checkpoint / damage).unlink()
    with pytest.raises(ValueError, match="cannot be read"):
        ppo.run(config, tmp_path / "run", StopRequest())


def test_a_damaged_checkpoint_is_refused(tmp_path):
    config = tiny(tmp_path / "run")
    with pytest.raises(RunStoppedError):
        train(config, StopAfter(1))
    checkpoint = run_folder.Checkpoints(tmp_path / "run" / "seed_0", 2, 1.0).newest()
    os.truncate(checkpoint / "state.pkl", 100)
    with pytest.raises(ValueError, match="cannot be read"):
        ppo.run(config, tmp_path / "run", StopRequest())


LEARNING = PPOConfig(
    total_steps=65_536,
    env=EnvConfig(opponents={"advance": 1.0}),
    learner=LearnerConfig(rollout_length=64, hidden=[64]),
    evaluation=EvaluationConfig(games=1000, curve_every=0),
)


class WorthlessRewards(LudoVecEnv):
    """Tosses a fair coin for the reward of every ended game, so nothing can be learned from it."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.coin = np.random.default_rng(7)

    def step_wait(self):
        views, rewards, dones, infos = super().step_wait()
        rewards[dones] = self.coin.choice([-1, 1], dones.sum())
        return views, rewards, dones, infos


def learned_win_rate(tmp_path, monkeypatch, env_class):
    monkeypatch.setattr(ppo, "LudoVecEnv", env_class)
    torch.set_num_threads(1)
    folder = tmp_path / "seed_0"
    model = ppo.train(LEARNING, 0, folder, StopRequest())
    results = ppo.judge(LEARNING, model, 0, folder, StopRequest())
    return results["advance"]["agents"][0]["win_rate"]


def test_a_short_training_reaches_a_level_that_worthless_rewards_do_not(tmp_path, monkeypatch):
    level = 0.42
    assert learned_win_rate(tmp_path / "right", monkeypatch, LudoVecEnv) > level
    assert learned_win_rate(tmp_path / "wrong", monkeypatch, WorthlessRewards) < level


def test_the_learning_curve_is_drawn_for_several_seeds(tmp_path):
    points = [
        {"steps": s, "against": {"random": {"win_rate": 0.5, "interval": [0.4, 0.6]}}}
        for s in (0, 100)
    ]
    curve.draw({0: points, 1: points}, [0.5], tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_recipes_are_plain_yaml():
    for path in RECIPES:
        assert isinstance(yaml.safe_load(path.read_text()), dict)


def test_an_agent_that_fails_while_training_is_told_in_one_line(tmp_path):
    (tmp_path / "broken.py").write_text(
        "class Agent:\n    def act(self, batch, rows):\n        raise RuntimeError('lost')\n"
    )
    flags = [*TINY_FLAGS, f"--run={tmp_path / 'run'}", '--env.opponents={"broken:Agent": 1}']
    done = subprocess.run(
        [sys.executable, "-m", "training.ppo", *flags],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path.cwd()}"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.strip().split("\n")[-1].startswith("error: ")
    assert "lost" in done.stderr
