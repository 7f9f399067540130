"""The learned agent: its specs and weights, what it is taught, and its training runs."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from kinds import ALL_RULES
from test_network import network_of

from ludo_env import GameBatch, Rules, make_agent
from ludo_env.agents.expectimax import Expectimax
from ludo_env.agents.network import Network
from ludo_env.arena import play
from ludo_env.core.features import MOST_FEATURES
from ludo_env.core.record_file import Records
from training import lessons, run_folder, td
from training.config import parse
from training.lessons import SelfPlay
from training.stopping import RunStoppedError, StopRequest
from training.td_config import TDConfig

TWO = Rules(num_players=2)
TINY = [
    "--total_positions=2048",
    '--tables=[{"games": 8, "rules": {"num_players": 2}}, {"games": 8}]',
    "--learner.steps=32",
    "--learner.widths=[64, 16]",
    "--learner.batch_size=64",
    "--learner.threads=1",
    "--evaluation.games=4",
    "--evaluation.curve_every=1024",
    "--evaluation.curve_games=4",
    "--checkpoint_minutes=100",
]


# The agent


def test_the_packages_own_weights_are_small_and_say_how_they_were_made():
    agent = make_agent("td")
    about = agent.evaluation.about
    assert {"config", "versions", "positions", "minutes", "results"} <= set(about)
    assert sum(array.nbytes for array in agent.evaluation.arrays) < 2_000_000
    assert about["results"]["advance, 2 players"]["win_rate"] > 0.6


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_it_plays_legally_under_all_rules(rules):
    agent, batch = make_agent("td"), GameBatch(64, rules, seed=3)
    for _ in range(30):
        rows = np.flatnonzero(~batch.finished)
        chosen = agent.act(batch.blind(), rows)
        assert batch.legal(rows, chosen).all()
        actions = np.zeros(64, dtype=np.int64)
        actions[rows] = chosen
        batch.step(actions)


@pytest.mark.parametrize(("players", "bar"), [(2, 0.8), (4, 0.5)])
def test_it_beats_random_players(players, bar):
    others = [make_agent("random", seed=i) for i in range(1, players)]
    match = play([make_agent("td"), *others], games=600, rules=Rules(num_players=players), seed=5)
    assert match.win_rate(0) > bar


def test_specs_name_the_depth_and_the_file(tmp_path):
    path = tmp_path / "own.npz"
    network_of().save(path)
    for spec, depth in (("td", 1), ("td:2", 2), (f"td:{path}", 1), (f"td:{path}:3", 3)):
        agent = make_agent(spec)
        assert (agent.depth, str(agent)) == (depth, spec)
        again = pickle.loads(pickle.dumps(agent))
        assert (again.depth, str(again)) == (depth, spec)


@pytest.mark.parametrize("spec", ["td:0", "td:9", "td:none.npz", "td:"])
def test_wrong_specs_are_refused(spec):
    if spec == "td:":
        with pytest.raises(ValueError, match="unknown agent"):
            make_agent(spec)
    else:
        with pytest.raises(ValueError, match=r"depth|no network file"):
            make_agent(spec)


# What it is taught


@pytest.mark.parametrize("rules", [TWO, Rules(num_players=3), Rules()], ids=str)
def test_without_trace_a_target_is_one_roll_of_looking_ahead(rules):
    network = network_of()
    games = SelfPlay(rules, 16, seed=1)
    before = GameBatch.from_boards(games.rows[:, : rules.num_players], 0, 0, rules)
    taught = games.teach(network.arrays, 1, 0.0, 0.0)
    agent = Expectimax(2, network, "own")  # evaluates by looking one roll ahead
    expected = agent.win_probabilities(before.observations(np.zeros(16, dtype=int)))
    np.testing.assert_allclose(taught.targets[:, 0], expected, atol=1e-6)


def notes_of(games, steps, rules):
    """What playing on notes down: features, counts, V, V', who is to roll, what came of it."""
    shape = (games, steps)
    return (
        np.zeros((*shape, MOST_FEATURES), dtype=np.int16),
        np.zeros(shape, dtype=np.int64),
        np.zeros((*shape, rules.num_players)),
        np.zeros((*shape, rules.num_players)),
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
    )


@pytest.mark.parametrize("rules", [TWO, Rules()], ids=str)
def test_positions_are_noted_alike_however_far_is_played_at_once(rules):
    network, compiled = network_of().arrays, rules.compiled
    together, apart = (SelfPlay(rules, 8, seed=4).rows for _ in range(2))
    whole = notes_of(8, 50, rules)
    lessons.play_rows(together, network, 0.1, 7, whole, compiled)
    for step in range(50):
        single = notes_of(8, 1, rules)
        lessons.play_rows(apart, network, 0.1, 7, single, compiled)
        for noted, alone in zip(whole[:-1], single[:-1], strict=True):
            assert (noted[:, step] == alone[:, 0]).all()
    assert (together == apart).all()


def test_a_target_adds_the_errors_ahead_up_to_where_the_game_is_left():
    generator, rules, trace = np.random.default_rng(1), Rules(), 0.9
    values, backups = generator.dirichlet([9] * 4, (2, 5, 20))
    rollers = generator.integers(0, 4, (5, 20))
    came_to = generator.choice([lessons._BEST, lessons._APART, lessons._PASSED], (5, 20))
    targets = np.zeros((5, 20, 4), dtype=np.float32)
    lessons.write_targets((values, backups, rollers, came_to), trace, targets, rules.compiled)
    for row in range(5):
        for step in range(20):
            target, weight = values[row, step].copy(), 1.0
            for ahead in range(step, 20):
                target += weight * (backups[row, ahead] - values[row, ahead])
                weight *= trace
                if came_to[row, ahead] == lessons._APART:
                    break
            target = target.clip(0, 1) / target.clip(0, 1).sum()
            by_corner = np.roll(target, -rollers[row, step])
            np.testing.assert_allclose(targets[row, step], by_corner, atol=1e-6)


def test_targets_are_chances_of_those_who_play():
    for rules, corners in ((TWO, [True, False, True, False]), (Rules(), [True] * 4)):
        taught = SelfPlay(rules, 32, seed=1).teach(network_of().arrays, 64, 0.97, 0.1)
        assert ((taught.targets >= 0) == corners).all()
        np.testing.assert_allclose(taught.targets.clip(0).sum(axis=1), 1, atol=1e-5)


def test_lessons_do_not_depend_on_threads(many_threads):
    found = []
    for threads in (1, 3):
        games = SelfPlay(Rules(), 24, seed=2, threads=threads)
        _, taught = (games.teach(network_of().arrays, 20, 0.9, 0.2) for _ in range(2))
        found.append((taught.features, taught.targets, games.rows))
    for one, other in zip(*found, strict=True):
        assert (one == other).all()
    assert max(many_threads) == 3


def test_exploring_games_are_others_than_the_best_ones():
    rows = []
    for exploring in (0.0, 1.0):
        games = SelfPlay(TWO, 24, seed=2)
        games.teach(network_of().arrays, 60, 0.9, exploring)
        rows.append(games.rows.copy())
    assert (rows[0] != rows[1]).any()


# Training


def tiny(folder, *flags):
    config, _ = parse(TDConfig, "training.td", [*TINY, "--run", str(folder), *flags])
    return config


def trained(config, stop=None):
    folder = run_folder.create(config)
    run = td.Run(config, folder)
    run.train(stop or StopRequest())
    run.conclude(StopRequest())
    return folder


class StopAt(StopRequest):
    """Asks to stop after so many rounds, each of which looks once."""

    def __init__(self, rounds):
        self.left = rounds

    @property
    def made(self):
        self.left -= 1
        return self.left <= 0


def test_a_run_leaves_all_that_is_promised(tmp_path):
    folder = trained(tiny(tmp_path / "run"))
    for name in ("config.yaml", "versions.json", "evaluation.json", "learning_curve.png"):
        assert (folder / name).stat().st_size > 0
    points = json.loads((folder / "learning_curve.json").read_text())
    assert [point["steps"] for point in points] == [0, 1024, 2048]
    assert make_agent(f"td:{folder / 'td.npz'}").evaluation.about["positions"] == 2048
    assert "trained" in Records(folder / "games" / "4_players" / "advance.jsonl")[0].agents


def test_resuming_goes_on_exactly_as_if_nothing_had_happened(tmp_path):
    whole = Network.load(trained(tiny(tmp_path / "whole")) / "td.npz")
    config = tiny(tmp_path / "halves")
    folder = run_folder.create(config)
    with pytest.raises(RunStoppedError):
        td.Run(config, folder).train(StopAt(2))
    run = td.Run(config, folder)
    assert 0 < run.learner.positions < 2048
    run.train(StopRequest())
    run.conclude(StopRequest())
    again = Network.load(folder / "td.npz")
    assert all((a == b).all() for a, b in zip(whole.arrays, again.arrays, strict=True))


def test_a_finished_run_that_is_resumed_is_judged_again_and_not_trained(tmp_path):
    config = tiny(tmp_path / "run")
    folder = trained(config)
    before = Network.load(folder / "td.npz")
    run = td.Run(config, folder)
    assert run.learner.positions == 2048
    run.train(StopRequest())
    run.conclude(StopRequest())
    after = Network.load(folder / "td.npz")
    assert all((a == b).all() for a, b in zip(before.arrays, after.arrays, strict=True))


def test_a_damaged_checkpoint_is_named(tmp_path):
    config = tiny(tmp_path / "run")
    folder = run_folder.create(config)
    with pytest.raises(RunStoppedError):
        td.Run(config, folder).train(StopAt(1))
    (checkpoint,) = run_folder.Checkpoints(folder, 1, 1.0).all()
    (checkpoint / "state.pt").write_bytes(b"no state")
    with pytest.raises(ValueError, match="cannot be read"):
        td.Run(config, folder)


@pytest.mark.parametrize(
    "flag",
    [
        "--learner.trace=2",
        "--learner.averaging=1",
        "--learner.widths=[60, 16]",
        "--learner.batch_size=100000",
        "--evaluation.players=[5]",
        "--evaluation.games=3",
        "--tables=[]",
        "--no.such=1",
    ],
)
def test_wrong_configurations_give_one_line_and_code_2(tmp_path, capsys, flag):
    with pytest.raises(SystemExit) as left:
        tiny(tmp_path / "run", flag)
    assert left.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_it_learns_the_two_pawn_game_in_seconds_and_not_from_shuffled_targets(tmp_path):
    rates = []
    for shuffled in (False, True):
        flags = [
            "--total_positions=300000",
            '--tables=[{"games": 128, "rules": {"num_players": 2, "num_pawns": 2}}]',
            "--learner.steps=64",
            "--learner.batch_size=256",
        ]
        learner = td.Learner(tiny(tmp_path / "unused", *flags))
        if shuffled:
            learner.tables = [Shuffled(table) for table in learner.tables]
        while learner.positions < 300_000:
            learner.improve()
        agent = Expectimax(1, learner.average.network(), "own")
        rules = Rules(num_players=2, num_pawns=2)
        match = play([agent, make_agent("random")], games=2000, rules=rules, seed=1)
        rates.append(match.win_rate(0))
    assert rates[0] > 0.6  # the best reply has 0.656
    assert rates[1] < 0.57


class Shuffled:
    """Lessons whose targets belong to other positions."""

    def __init__(self, table):
        self.table = table

    def teach(self, *arguments):
        taught = self.table.teach(*arguments)
        np.random.default_rng(0).shuffle(taught.targets)
        return taught
