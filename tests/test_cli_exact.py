"""``ludo solve`` and ``ludo regret``."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from ludo_env import Rules
from ludo_env.cli import main
from ludo_env.solution import Solution
from ludo_env.solver import solve


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    path = tmp_path_factory.mktemp("solutions") / "two.solution"
    solve(Rules(2, 2), tolerance=1e-6).save(path)
    return str(path)


def test_solve_prints_the_value_and_the_cost(capsys):
    assert main(["solve", "--pawns", "1"]) == 0
    printed = capsys.readouterr().out
    assert "the first player wins 0.5209155" in printed
    assert "ns for a position and sweep" in printed
    assert "× a copy in memory" in printed


def test_solve_prints_json_and_nothing_else(capsys):
    assert main(["solve", "--pawns", "1", "--pawn-on-start", "--json", "--threads", "1"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert results["first_player_wins"] == pytest.approx(0.52652484, abs=1e-8)
    assert results["positions"] == 42 * 42
    assert results["rules"]["pawn_on_start"] is True
    assert results["error"] <= 1e-12
    assert results["sweeps"] > 10


def test_solve_saves_what_it_found(capsys, tmp_path):
    path = tmp_path / "one.solution"
    assert main(["solve", "--pawns", "1", "--save", str(path), "--tolerance", "1e-4"]) == 0
    assert str(path) in capsys.readouterr().out
    assert Solution.load(path).error <= 1e-4
    assert list(tmp_path.iterdir()) == [path]


# Presses Ctrl-C after the given sweep, and again while unfinished work is written.
INTERRUPTED = """
import os, signal, sys
from ludo_env.cli import exact, main
from ludo_env.solver import solving

show, write_tables = exact._SweepLine.show, solving.write_tables

def show_and_press(line, sweep):
    show(line, sweep)
    if sweep.number == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGINT)

def press_and_write(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    write_tables(*arguments)

exact._SweepLine.show, solving.write_tables = show_and_press, press_and_write
sys.exit(main(["solve", "--save", sys.argv[1], "--json"]))
"""


def test_an_interrupted_solve_goes_on_where_it_stopped(capsys, tmp_path):
    path, partial = tmp_path / "two.solution", tmp_path / "two.solution.partial"
    for stop, reached in ((5, 5), (12, 12)):
        done = subprocess.run(
            [sys.executable, "-c", INTERRUPTED, str(path), str(stop)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "stopping; writing unfinished work" in done.stderr
        assert f"the same command goes on from {partial}" in done.stderr
        assert f'"sweeps": {reached}' in partial.read_bytes()[:4096].decode()
        assert list(tmp_path.iterdir()) == [partial]
    assert main(["solve", "--save", str(path), "--json"]) == 0
    printed = capsys.readouterr()
    assert "found unfinished work" in printed.err
    results = json.loads(printed.out)
    assert results["sweeps_before"] == 12
    assert results["sweeps"] > 30
    assert list(tmp_path.iterdir()) == [path]


def test_a_failing_agent_fails_the_command_by_name(capsys, two, tmp_path, monkeypatch):
    (tmp_path / "failing.py").write_text(
        "class Agent:\n    def act(self, batch, rows):\n        1 / 0\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["regret", "failing:Agent", "--solution", two]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "failing.Agent" in printed.err
    assert "ZeroDivisionError" in printed.err
    assert printed.err.count("\n") == 1


def test_regret_prints_losses_and_the_worst_positions(capsys, two):
    assert main(["regret", "advance", "--solution", two, "--worst", "3"]) == 0
    printed = capsys.readouterr().out
    assert "0.00227 in a decision" in printed
    assert "plays  best" in printed
    assert len(re.findall(r"\d+\.\d+/\d+\.\d+ 0 \d$", printed, re.MULTILINE)) == 3


def test_regret_prints_json_and_nothing_else(capsys, two):
    arguments = ["regret", "random", "--solution", two, "--games", "50", "--seed", "3", "--json"]
    assert main(arguments) == 0
    first = capsys.readouterr().out
    results = json.loads(first)
    assert (results["agent"], results["games"], results["seed"]) == ("random", 50, 3)
    assert results["mean"] > 0
    assert len(results["worst"]) == 10
    assert main(arguments) == 0
    assert capsys.readouterr().out == first


def test_regret_adds_exact_win_rates(capsys, two):
    arguments = ["regret", "advance", "--solution", two, "--win-rates", "--tolerance", "1e-4"]
    assert main([*arguments, "--json"]) == 0
    rates = json.loads(capsys.readouterr().out)["win_rates"]
    assert rates["against_perfect_play"]["mean"] == pytest.approx(0.4544, abs=2e-4)
    assert rates["of_the_best_reply"]["mean"] == pytest.approx(0.5490, abs=2e-4)


def test_regret_solves_what_it_is_not_given(capsys):
    assert main(["regret", "random", "--pawns", "1"]) == 0
    assert "0.00000 in a decision" in capsys.readouterr().out


def test_the_exact_agent_is_evaluated_like_any_other(capsys, two):
    arguments = ["evaluate", f"exact:{two}", "--against", "random", "--pawns", "2", "--json"]
    assert main([*arguments, "--games", "2000", "--seed", "1"]) == 0
    agent = json.loads(capsys.readouterr().out)["agents"][0]
    assert agent["win_rate"] == pytest.approx(0.654, abs=0.04)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["solve", "--pawns", "4"], "1 to 3 pawns"),
        (["solve", "--pawns", "0"], "num_pawns"),
        (["solve", "--pawns", "x"], "invalid int"),
        (["solve", "--tolerance", "0"], "tolerance"),
        (["solve", "--tolerance", "2"], "tolerance"),
        (["solve", "--threads", "0"], "num_threads"),
        (["solve", "--save", "no/such/folder/file"], "--save"),
        (["solve", "--save", "."], "--save"),
        (["regret"], "required"),
        (["regret", "nobody"], "unknown agent"),
        (["regret", "random", "--pawns", "4"], "1 to 3 pawns"),
        (["regret", "random", "--games", "0"], "--games"),
        (["regret", "random", "--worst", "-1"], "--worst"),
        (["regret", "random", "--seed", "-1"], "seed"),
        (["regret", "random", "--tolerance", "0"], "tolerance"),
        (["regret", "random", "--solution", "nothing"], "cannot read"),
        (["regret", "exact:nothing"], "cannot read"),
    ],
)
def test_bad_arguments_are_named_in_one_line(capsys, arguments, why):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert why in printed.err
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err


def test_a_solution_of_other_rules_is_a_bad_argument(capsys, two):
    assert main(["regret", "random", "--solution", two, "--home-jumps"]) == 2
    assert "solves" in capsys.readouterr().err
    assert main(["regret", f"exact:{two}", "--pawns", "1"]) == 2
    assert "solves" in capsys.readouterr().err
